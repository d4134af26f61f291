"""What each cause that a diagnosis can find says of the engine, in one plain sentence.

A cause is named by a value of a field (`closure=[]`), by a wrong engine, or by a few words. A
reader of a page knows none of them. `heading_of` writes the sentence with the name behind it.
"""

from __future__ import annotations

import re

LONGEST = 80  # characters of a sentence
T0_IS_A_NUMBER = re.compile("t0=([0-9]+)")
# how the reason of a cause is written, with the name of the cause
OF_A_FIELD = re.compile("its semantics is (.*)")
OF_A_WRONG_ENGINE = re.compile(r"does as the wrong engine (['\"])(.*?)\1 \(made to .*\)")

FIELDS = {
    "closure=[)": "It counts the lower border of each window, and not the upper one",
    "closure=(]": "It counts the upper border of each window, and not the lower one",
    "closure=[]": "It counts both borders of each window",
    "r2s=Rstream": "It sends the whole answer each time (Rstream)",
    "r2s=Istream": "It sends only the rows that are new (Istream)",
    "r2s=Dstream": "It sends only the rows that are gone (Dstream)",
    "r2s=append": "It sends only rows that rest on a new element",
    "empty=emit": "It sends every empty output",
    "empty=suppress": "It sends no empty output",
    "empty=once": "It sends an empty output only after one with rows",
    "report=content-change": "It reports whenever the content of a window changes",
    "report=non-empty": "It reports at every instant at which a window holds an element",
    "report=window-close": "It reports each window as it closes",
    "report=content-change,non-empty": "It reports changed contents that are not empty",
    "report=content-change,window-close": "It reports a window as it closes if its content changed",
    "report=non-empty,window-close": "It reports a window as it closes if it holds an element",
    "report=content-change,non-empty,window-close": (
        "It reports a window as it closes if its content changed and is not empty"
    ),
    "horizon=none": "It reports nothing after the last element",
    "horizon=flush": "It reports the windows that are still open at the end",
    "missed_instants=all": "It reports each window that ends between two arrivals",
    "missed_instants=latest": "It reports only the last window that ends between two arrivals",
    "tick=tuple": "It looks at its windows at every element, also at simultaneous ones",
    "tick=time": "It looks at its windows once for all elements of an instant",
    "tick=batch": "It looks at its windows once for each batch",
    "partial=suppressed": "It leaves out the windows that open before t0",
    "partial=reported": "It reports windows that open before t0",
    "partial=clipped": "It reports windows that open before t0, cut off there",
    "collection=bag": "It keeps equal rows of an answer",
    "collection=set": "It drops equal rows of an answer",
    "consumption=unrestricted": "It uses an element in any number of matches",
    "consumption=recent": "It uses an element once, with the latest that wait",
    "consumption=chronological": "It uses an element once, with the earliest that wait",
    "expiry_seen=replayed": "It sees an element expire only together with the next arrival",
    "expiry_seen=eager": "It sees elements expire before the arrival of the same instant",
    "change_scope=elements": "It takes a repeated triple for a change of the content",
    "change_scope=graph": "It takes a repeated triple for no change of the content",
    "close_rule=reached": "It closes a window as soon as an element reaches its end",
    "close_rule=passed": "It closes a window only when an element has passed its end",
    "slide=stated": "It moves its windows by the slide of the query",
    "slide=ignored": "It ignores the slide of the query: windows move with every instant",
    "t0=first-element": "It begins its first window at the first element",
    "t0=first-reach": "It begins its first window so that it ends at the first element",
    "t0=registration": "It begins its first window when the query is registered",
    "t0=epoch": "It aligns its windows with time 0, before the first element as well",
    "t0=coral8": "It begins its windows by Coral8's formula",
    "t0=oracle-cep": "It begins its windows by Oracle CEP's formula",
    "t0=stream": "It begins its windows by STREAM's formula",
    "t0=flink": "It begins its windows by Flink's formula",
    "t0=storm": "It begins its windows by Storm's formula",
    "t0=kafka-streams": "It begins its windows by Kafka Streams' formula",
}

DEFECTS = {
    "windows that slide by their size": "Its windows tumble: they slide by their size",
    "Istream given as Dstream, and Dstream as Istream": "It confuses Istream and Dstream",
    "each report sent twice": "It sends each report twice",
    "each row sent twice": "It sends each row twice",
    "the last output never sent, or each one sent an evaluation late": (
        "It never sends the last output, or sends each one an evaluation late"
    ),
    "each output sent one evaluation late, and an empty one first": (
        "It sends an empty output first, and each other one evaluation late"
    ),
    "one row sent of each output": "It sends one row of each output",
    "wrong windows in its reports": "It states wrong windows in its reports",
    "wrong instants in its reports": "It states wrong instants in its reports",
}

HABITS = {
    "ENG-1 one report follows the end": (
        "It makes one report after the last element, and loses the others"
    ),
    "ENG-2 a window as the one before is left out": (
        "It leaves out a window that holds what the one before held"
    ),
    "ENG-2 the first report is lost": "It loses the first report",
    "ENG-2 the last report comes twice": "It sends the last report twice",
    "R2R-10 languages are lost": "It gives literals without their languages",
    "MOD-1 a repeated triple is lost": "It loses a triple that came before in the stream",
    "MOD-1 an element at 0 is lost": "It loses elements at the instant 0",
    "MOD-1 an element without triples is lost": "It loses elements without triples",
    "MOD-1 the first at an instant is kept": (
        "It keeps the first of several elements at one instant"
    ),
    "MOD-1 the last at an instant is kept": "It keeps the last of several elements at one instant",
    "MOD-1 times are cut to thousands": "It cuts times to multiples of 1000",
    "MOD-1 times are single floats": (
        "It keeps times in single precision, so large ones are rounded"
    ),
    "MOD-1 times have 32 bits": "It keeps times in 32 bits, so large ones overflow",
    "QRY-2 static data is not read": "It leaves static data out",
    "QRY-4 all streams are one": "It puts the elements of all streams into each window",
    "R2R-1 one triple of an element is read": (
        "It reads one triple of an element, and loses the others"
    ),
    "R2R-2 a row with an unbound variable is lost": "It loses rows with an unbound variable",
    "R2R-2 an unbound variable is empty text": "It gives the empty text for an unbound variable",
    "R2R-9 a row of an output comes once": "It gives equal rows of an output once",
    "R2S-1 a repeated output is empty": (
        "It gives an output without rows where it repeats the one before"
    ),
    "R2S-1 a row comes once in all": "It never gives an equal row again in a case",
    "R2S-2 the first rows are not new": (
        "It takes the first rows for the baseline, and does not send them"
    ),
    "R2S-4 an empty answer is no baseline": "It compares with the last answer that had rows",
    "R2S-5 a repeated output is not sent": "It does not send an output that repeats the one before",
    "REP-10 an arrival closes one window": (
        "It closes one window at each arrival, and loses those that wait"
    ),
    "REP-10 an arrival reports the first of a gap": (
        "It reports only the first of the windows that an arrival closes"
    ),
    "REP-10 an arrival reports the last of a gap": (
        "It reports only the last of the windows that an arrival closes"
    ),
    "REP-10 the first of a gap is reported": (
        "It reports only the first of the windows that close at once"
    ),
    "REP-2 only a new element evaluates": (
        "It evaluates when elements come, and not when they leave"
    ),
    "WIN-1 all windows are as the first": "It gives all windows of a query the extent of the first",
    "WIN-14 a window holds its latest element": "It keeps only the latest element of a window",
    "WIN-14 a window holds three elements": "It keeps only the latest three elements of a window",
    "WIN-2 the last instant is lost": "It loses elements at the last instant before the border",
    "WIN-3 the size is cut to slides": "It cuts the size of a window to a multiple of its slide",
    "WIN-3 the size is the slide": "Its windows are as long as their slide",
    "WIN-3 there is no window 0": "It opens its first window one slide too late",
    "WIN-3 windows with gaps close up": (
        "It closes the gaps between windows whose slide exceeds the size"
    ),
    "WIN-8 a reported element is gone": (
        "It drops the elements of a reported window, so later ones lack them"
    ),
    "WIN-8 an expired triple takes later ones along": (
        "It lets a triple expire although a later element has it"
    ),
    "WIN-8 elements expire before windows close": (
        "It expires elements at an arrival before it closes windows"
    ),
    "WIN-8 elements stay a slide too long": "It keeps elements in its windows one slide too long",
    "WIN-8 the closing element is in the window": (
        "It counts the element that closes a window in it"
    ),
    "WIN-8 the first element after a gap is lost": "It loses the first element after a gap",
}

WRONG_ENGINES = {
    "ADA-1 any window is taken": "It accepts any window of a join, whatever its fields say",
    "ADA-2 a watermark reaches its own record": "It moves the watermark before the record arrives",
    "ADA-3 a record meets its own stream": "It joins records of one stream with each other",
    "ADA-4 windows open at records": "It opens each window at the first record in it",
    "ADA-5 windows never adapt": "It never adapts the length of its windows",
    "BND-2 windows and conditions of one side are not asked": (
        "It joins bindings that have expired or fail their own conditions"
    ),
    "BND-3 a full memory stays as it is": "It stores nothing more once its memory is full",
    "BND-4 scores are not read": "It evicts bindings whatever their scores are",
    "BND-6 nothing is removed or dropped": "It removes no old binding and sheds no load",
    "BND-8 every arrival counts": "It counts the warm-up, and takes each arrival for stress",
    "CMP-1 datatypes are not read": "It reads no datatypes",
    "CMP-1 dates of iso 8601": "It reads dates by ISO 8601, not by XML Schema",
    "CMP-1 numbers only": "It compares rows by their numbers alone",
    "CMP-1 terms are compared": "It compares numbers as terms: 1 and 01 differ",
    "CMP-2 by subtraction": "It compares all numbers as doubles, by their difference",
    "CMP-2 exactly": "It compares computed numbers without a tolerance",
    "DIA-5 iris lose their end": "It drops an empty query or fragment of an IRI",
    "ENG-1 a tuple window is alone and filled at the end": (
        "It drops the windows beside a tuple-based one, which it closes at the end"
    ),
    "ENG-1 nothing follows": "It ends with the last element: windows open then are lost",
    "ENG-1 the end is a flush": "It closes the open windows at the end of the stream",
    "ENG-2 arrivals only": "It sees nothing that happens between two arrivals",
    "ENG-2 latest of a gap": "It reports only the last of the windows that one arrival closes",
    "ENG-3 the bound is one too low and stamps one too late": (
        "It stamps each report one instant too late"
    ),
    "ENG-5 ready without a scope": "It reports although one of its windows has not begun",
    "ENG-5 the arrival order alone": "It takes elements as they arrive, so time can go back",
    "ENG-8 elements join at once": "It uses an element before those that come before it",
    "IO-1 a query replaces the last segment": "It resolves `?query` against the folder of the base",
    "IO-1 files have seconds and an order": "It reads times as seconds, and skips what has no time",
    "IO-1 labels are of the folder": "It takes a blank node label for one node in all files",
    "IO-2 languages are dropped": "It drops the language of a literal",
    "IO-2 recordings are rows": "It drops repeated rows and empty outputs of recordings",
    "IO-3 an element is what stands by itself": "It reads each quad as an element",
    "MOD-1 application time must increase": "It refuses two elements of one time",
    "MOD-1 time is a double": "It keeps time as a double, so instants far from 0 become one",
    "MOD-2 late elements are added": "It takes late elements in, however late they are",
    "MOD-2 late elements are not counted": "It drops late elements without a word",
    "MOD-3 the end is not read": "It takes an element for a point, whatever its end is",
    "MOD-4 any text is a term": "It accepts any text as a term",
    "MOD-4 escapes are letters": "It reads an escaped character as the letter after the backslash",
    "ORA-3 sorted by timestamp": "It sorts the outputs by their timestamps",
    "QRY-1 any body is given as written": "It accepts a body that is not SPARQL",
    "QRY-1 names are forgotten": "It forgets the names of windows",
    "QRY-1 names have one dot": "It refuses a prefixed name with more than one dot",
    "QRY-1 no window is needed": "It accepts a query without windows",
    "QRY-1 words are made to fit": "It accepts malformed queries, and makes them fit",
    "QRY-2 anything is local": "It evaluates SERVICE and FROM over its own data",
    "QRY-2 updates are syntax errors": "It refuses an update as a syntax error",
    "QRY-3 every choice is open": "It refuses an answer wherever an evaluator has a choice",
    "QRY-3 nothing is known of a tag": "It refuses questions about a language tag with a region",
    "QRY-3 nothing is known of a uuid": "It refuses every question about a UUID",
    "QRY-4 any stream will do": "It reads the first stream for every window",
    "QRY-4 the last of several windows counts": "It knows only the last window of a query",
    "QRY-5 query and semantics are not compared": "It accepts a query that its semantics excludes",
    "R2R-1 the newest triple": "It shows the query one triple of the newest element only",
    "R2R-10 terms are the same by value": "It takes 0 and -0 for one term",
    "R2R-11 errors are false": "It takes an error in a condition for false",
    "R2R-11 errors spread": "It makes `||` and `&&` an error if one operand is one",
    "R2R-12 values are equal as terms": "It compares with `=` by terms, not by values",
    "R2R-13 decimals have digits enough": "It gives a rounded decimal as if it were exact",
    "R2R-14 unknown functions are errors": "It evaluates an unknown function to an error",
    "R2R-16 errors are counted": "It counts errors, and leaves them out of other aggregates",
    "R2R-17 nothing is too deep": "It accepts brackets that are nested to any depth",
    "R2R-18 a cycle is not closed": "It drops a repeated path that comes back to its beginning",
    "R2R-19 nothing is substituted": "It evaluates EXISTS without the current solution",
    "R2R-2 sets of solutions": "It drops equal solutions of SELECT",
    "R2R-2 unbound is empty text": "It gives an unbound variable as an empty string",
    "R2R-20 limits need order by": "It refuses LIMIT without ORDER BY",
    "R2R-20 terms are ordered as they are written": "It orders terms as they are written",
    "R2R-21 an unknown triple is false": "It gives a triple that no window holds the time false",
    "R2R-21 the first time counts": "It gives a triple the time of its first element",
    "R2R-22 nothing is consumed and recent is chronological": (
        "It uses elements again that it has matched"
    ),
    "R2R-22 unrestricted consumes": "It uses an element up in its first match",
    "R2R-3 results leave out false and literals": (
        "It gives no row for a false ASK, and no literals of CONSTRUCT"
    ),
    "R2R-4 any triple": "It gives triples of CONSTRUCT that RDF does not allow",
    "R2R-5 all must confirm its terms": "It refuses answers that a witness writes in other digits",
    "R2R-5 what pyoxigraph answers is right": "It answers as pyoxigraph does",
    "R2R-5 what rdflib answers is right": "It answers as rdflib does",
    "R2R-6 groups need no members": "It gives an empty group where a key has no solutions",
    "R2R-6 no group without members": "It gives no group for an aggregate over no solutions",
    "R2R-7 every node is new": "It renames the blank nodes of the data at every evaluation",
    "R2R-7 made nodes are data": "It gives a blank node of the query one label at all evaluations",
    "R2R-8 labels are shared": "It takes a blank node label for one node in all streams",
    "R2R-8 names are merged": "It merges all windows into the default graph, named ones included",
    "R2R-8 static data is content": "It lets static data expire like an element",
    "R2R-9 sets after r2s": "It drops equal rows after R2S, not before",
    "R2S-1 only news": "It sends only new rows where Rstream asks for all",
    "R2S-2 every operator is rstream": "It sends the whole answer for Istream and Dstream as well",
    "R2S-2 r2s over sets": "It compares answers as sets for Istream and Dstream",
    "R2S-4 no base": "It compares every answer with nothing, so all rows are new",
    "R2S-4 the base is what was sent": "It compares an answer with the last one that was sent",
    "R2S-5 empty is always sent": "It sends every empty answer, whatever it claims",
    "R2S-5 empty is never sent": "It sends no answer without rows, nor one of zeros alone",
    "R2S-6 the text is not asked": "It ignores the R2S operator of the query",
    "R2S-7 append of new elements or of all": "It answers over the new elements alone",
    "R2S-8 the base grows": "It never sends a row again that it has sent before",
    "REP-1 close by length": "It closes a window one instant late, when the next is active",
    "REP-10 all of a gap": "It reports every evaluation between two arrivals",
    "REP-11 every period is anchored at 0": "It counts every period from 0",
    "REP-12 explicit is all and else any": "It reports as soon as any one window is ready",
    "REP-12 only the first to fire counts": "It counts only windows that are ready by themselves",
    "REP-12 purged when it receives": "It purges a window only when its own stream goes on",
    "REP-2 expiry is no change": "It sees no change of the content where an element expires",
    "REP-3 empty windows pass": "It takes empty windows for non-empty ones",
    "REP-4 beats beside the border": "It counts its period one instant beside the border",
    "REP-5 close outdoes periodic": "It ignores its period where windows report as they close",
    "REP-6 empty windows are never reported": "It never reports an empty window",
    "REP-6 one condition is enough": "It reports a window if one condition holds, instead of all",
    "REP-7 tested where reported": "It tests the content at the id that it reports",
    "REP-8 against nothing": "It compares every content with an empty one",
    "REP-9 graphs differ": "It compares contents by their triples, not by their elements",
    "SEM-1 an unknown value becomes the first": "It replaces an unknown value by the field's first",
    "SEM-2 only window close is looked at": "It accepts semantics that contradict themselves",
    "SEM-2 what is missing has a default": "It fills in what a semantics lacks",
    "SEM-3 profiles are fixed": "It ignores the fields that are given beside a profile",
    "SEM-3 what is unknown is zero": "It takes 0, or the first value, for an open field",
    "TICK-1 complete instants only": "It looks only at the first of simultaneous elements",
    "TICK-2 every arrival": "It looks at every arrival, whatever it claims",
    "TICK-4 only the instant before": "It evaluates an arrival only at the instant before it",
    "TICK-5 after the arrival": "It misses the instant of the arrival looked at before",
    "TICK-5 from the first arrival": "It looks at nothing before the first arrival",
    "TICK-6 closed when passed": "It closes a window one arrival late, by an element after its end",
    "TICK-6 closed when reached": "It closes a window by an element at its end, whatever it claims",
    "TICK-7 every arrival is expected": "It evaluates every arrival once more without the arrival",
    "TICK-7 expiry has a timer": "It drops expired elements before it sees an arrival",
    "WIN-1 any extent": "It accepts any size, slide and keys",
    "WIN-1 windows tumble only": "It refuses a slide other than the size",
    "WIN-10 the epoch is t0": "It begins aligned windows at the offset, whatever comes first",
    "WIN-10 windows wait for the first element": "It begins windows only with the first element",
    "WIN-10 without elements t1 is 0": "It takes 0 for the first element of an empty stream",
    "WIN-11 partial windows are lost": "It loses the windows that t0 cuts",
    "WIN-11 partial windows are there": "It reports the windows that t0 cuts",
    "WIN-12 the latest that has begun": "It takes the latest window that has begun, not ended",
    "WIN-14 rows tumble": "It looks at a window of N rows at every N-th arrival only",
    "WIN-15 a partition without keys": "It keeps the latest N elements, whatever their keys are",
    "WIN-15 those without a key are one": "It puts elements without the key into one partition",
    "WIN-16 elements are triples": "It counts triples where elements are to be counted",
    "WIN-16 ids are list indices": "It numbers elements by 1, whatever is to be counted",
    "WIN-17 rows slide where it is ignored": "It moves windows of rows with every element",
    "WIN-17 the slide is ignored": "It ignores the stated slide",
    "WIN-2 border elements are lost": "It loses an element on the border between two windows",
    "WIN-2 both borders belong to every window": "It counts an element on a border in two windows",
    "WIN-2 every window is right open": "It leaves out the upper border of every window",
    "WIN-2 elements on any border are lost": "It loses an element on a border of any window",
    "WIN-20 a lag is ignored": "It ignores the lag of a window",
    "WIN-20 a window with a lag is reported early": "It reports a window with a lag too early",
    "WIN-3 t0 is 0": "It places windows at the multiples of the slide",
    "WIN-3 there is a window before window 0": "It opens a window one slide too early",
    "WIN-4 open for an instant more": "It keeps a window open for one instant too long",
    "WIN-4 the distance has no sign": "It counts windows backwards before the first close",
    "WIN-5 scopes begin or end elsewhere": "It shows whole windows, even what is still to come",
    "WIN-7 always the first element": "It begins its windows at the first element, by no formula",
    "WIN-8 an element waits for the next": "It shows an element only when the next one has come",
    "WIN-8 content is looked up at the trigger": (
        "It takes the content of the time at which the report comes"
    ),
    "WIN-8 nothing expires": "It never lets an element expire",
    "WIN-8 the arriving element is in and rows expire": (
        "It counts the arriving element in the window that it closes"
    ),
    "WIN-9 a content lasts until the next arrival": "It keeps a content until the next arrival",
    "WIN-9 expiry is not seen": "It sees no element expire between two arrivals",
}

SENTENCES = {**FIELDS, **DEFECTS, **HABITS, **WRONG_ENGINES}


def sentence_of(name: str) -> str:
    """Return the sentence of a cause, by its name; empty if there is none."""
    if number := T0_IS_A_NUMBER.fullmatch(name):
        return f"It begins its first window at {number[1]}"
    return SENTENCES.get(name, "")


def heading_of(reason: str) -> str:
    """Return the sentence for the reason of a cause, with its name in brackets. Any other reason,
    such as that of a known deviation, is returned as it is.

    >>> heading_of("its semantics is closure=[]")
    'It counts both borders of each window (closure=[])'
    """
    name = reason
    if match := OF_A_FIELD.fullmatch(reason):
        name = match[1]
    elif match := OF_A_WRONG_ENGINE.fullmatch(reason):
        name = match[2]
    sentence = sentence_of(name)
    if not sentence:
        return reason
    return sentence if name in DEFECTS else f"{sentence} ({name})"
