"""Names the defects of the natural engine, and says what is wrong with each."""

DEFECTS: dict[str, str] = {
    # borders and extents
    "upper-border-included": (
        "An element exactly at a window's upper border is counted in that window."
    ),
    "lower-border-excluded": (
        "An element exactly at a window's lower border is missing from that window."
    ),
    "arrival-in-closing-window": (
        "The element that closes a window is counted in it, however late it is."
    ),
    "division-towards-zero": "Elements shortly before 0 are counted in the window that opens at 0.",
    "slide-taken-as-size": "Windows tumble by their size; the query's slide is ignored.",
    "size-taken-as-slide": "Windows are only as long as the slide; the query's size is ignored.",
    "size-rounded-to-slides": "A window's size is cut to a multiple of the slide.",
    "hops-closed-up": "Where the slide exceeds the size, windows follow one another without gaps.",
    "windows-before-zero-reported": "Windows that open before t0 are reported as well.",
    "window-zero-skipped": "The first window, which opens at t0, does not exist.",
    "windows-begin-at-first-element": "The first window opens at the first element, not at 0.",
    "windows-realigned-after-gap": (
        "After a long silence windows are aligned anew to the next element."
    ),
    # when elements leave
    "expires-a-slide-late": "Elements stay one slide too long; windows begin one slide too early.",
    "expires-an-instant-early": (
        "An element at a window's lower border is left out after its own instant."
    ),
    "purged-before-closing": (
        "An arrival removes old elements before it closes windows, which lose them."
    ),
    "cleared-after-report": (
        "A reported window empties the buffer, so overlapping windows lose shared elements."
    ),
    "expiry-removes-repeated-triple": (
        "An old element that expires takes its triple from later elements with it."
    ),
    "leaving-not-noticed": (
        "Answers are computed when elements arrive, and never when elements leave."
    ),
    # what becomes of an element
    "simultaneous-last-kept": "Of the elements at one instant only the last is kept.",
    "simultaneous-first-kept": "Of the elements at one instant only the first is kept.",
    "repeated-triple-dropped": (
        "A triple that the stream brought before is ignored when it comes again."
    ),
    "repeated-triple-keeps-first-time": (
        "A triple that comes again while held keeps its first time."
    ),
    "buffer-of-three-elements": "A window holds its latest three elements and forgets the others.",
    "only-first-triple-of-element": "Of an element with several triples only the first is read.",
    "element-at-zero-ignored": "An element whose time is 0 is ignored.",
    "element-without-triples-ignored": (
        "An element without triples does not count as content of a window."
    ),
    "time-in-32-bits": "Times beyond 32 bits overflow, so these elements fall into wrong windows.",
    "time-in-whole-seconds": "Times are cut to whole seconds, so milliseconds are lost.",
    "time-in-single-precision": "Times beyond 2^24 lose their last digits.",
    "late-element-accepted": (
        "A late element is taken into the open windows, where it must be refused."
    ),
    "late-element-dropped": "A late element is dropped in silence, where it must be refused.",
    # which windows are reported
    "gap-reports-first-window-only": (
        "Of several windows closed by one arrival only the first is reported."
    ),
    "gap-reports-last-window-only": (
        "Of several windows closed by one arrival only the last is reported."
    ),
    "one-close-for-each-arrival": (
        "One arrival closes one window; those that wait at the end are lost."
    ),
    "empty-windows-reported": "Windows that hold no element are reported, with empty answers.",
    "unchanged-window-skipped": (
        "A window with the same elements as the one before is not reported."
    ),
    "only-first-four-reports": "After four reports the engine is silent.",
    "first-report-lost": "The first report of the query is missing.",
    "last-report-lost": "The last report of the query is missing.",
    "last-report-repeated": "The last report of the query comes twice.",
    "no-report-at-the-end": (
        "Nothing is reported after the last element: windows open then are lost."
    ),
    "one-report-at-the-end": "After the last element one report follows; further windows are lost.",
    "full-windows-only-at-the-end": "At the end only windows that are already over are reported.",
    "simultaneous-evaluated-once": (
        "Elements of one instant are evaluated together, not one after the other."
    ),
    "window-named-by-last-instant": (
        "Rows are right, but the stated window ends one instant too early."
    ),
    # several windows and streams
    "one-window-for-each-stream": "Of two windows over one stream only the last exists.",
    "first-extent-for-all-windows": "All windows of a query have the first one's size and slide.",
    "only-first-window-reports": "Only the first window of a query causes reports.",
    "time-of-each-stream-apart": "An arrival moves only its own stream's windows on.",
    "streams-not-told-apart": "Each window holds the elements of all streams.",
    "join-with-latest-element-only": (
        "Of the query's second window only the latest element is joined."
    ),
    "named-window-in-default-graph": "A named window's triples are in the default graph as well.",
    "blank-nodes-of-streams-merged": (
        "Equal blank node labels of two streams are taken as one node."
    ),
    # static data and what is kept between queries
    "static-data-ignored": "Static data is not part of the dataset.",
    "static-data-kept-between-queries": "Static data of earlier queries is still in the dataset.",
    "base-kept-between-queries": (
        "The first answer is compared with the last answer of an earlier query."
    ),
    # what goes out
    "rows-as-a-set": "A row that an answer has twice is given once.",
    "row-never-given-again": "A row that was given once is never given again.",
    "unchanged-answer-is-empty": "An answer equal to the one before is given without rows.",
    "compared-with-last-answer-with-rows": (
        "Answers are compared with the last one with rows, passing over empty ones."
    ),
    "first-answer-taken-as-base": (
        "The first answer with rows is not news; it only sets the comparison."
    ),
    "difference-of-sets": "A further copy of a row that was there is no news.",
    "dstream-reversed": "Dstream gives the new rows, where it should give the vanished ones.",
    "empty-answer-once": "Of several empty answers in a row only the first is sent.",
    "empty-answer-not-sent": "Answers without rows are not sent.",
    "empty-answer-sent": "Answers without rows are sent, which should be suppressed.",
    # SPARQL and terms
    "datatype-dropped": "Literals of the answer have lost their datatypes.",
    "language-dropped": "Literals of the answer have lost their language tags.",
    "integers-rewritten": "Numbers of the answer are rewritten: 01 or 1.0 becomes 1.",
    "unbound-as-empty-text": "An unbound variable is given as an empty string.",
    "distinct-ignored": "SELECT DISTINCT keeps duplicate rows.",
    "no-group-over-nothing": "An aggregate over no solutions gives no row.",
    "average-of-integers-truncated": "The average of integers is cut to an integer.",
    "optional-as-join": "OPTIONAL drops the solutions that its pattern does not extend.",
    "product-gives-first-partner": (
        "Patterns without a common variable are joined with one partner only."
    ),
    "repeated-variable-not-compared": (
        "A variable used twice in patterns takes its last value, unjoined."
    ),
    "numbers-match-by-value": "A pattern with 1 also matches 01: numbers match by value.",
    "filter-error-is-true": "A FILTER that ends in an error keeps the solution.",
    "filter-compares-text": "FILTER compares numbers as texts, so 9 is greater than 10.",
}
