"""What the values on a card mean, in sentences that need no other word of this project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from conformance.card.card import Card
from conformance.card.space import ENDLESS
from refengine.core.semantics import ENUMS, parse_field
from refengine.core.values import Condition

# of values that have no sentence of their own
SENTENCES: Mapping[tuple[str, str], str] = {
    ("closure", "[)"): "An element at the lower border is in the window, one at the upper is not",
    ("closure", "(]"): "An element at the upper border is in the window, one at the lower is not",
    ("closure", "[]"): "Elements at both borders of a window are in it",
    ("closure", "()"): "An element at a border of a window is not in it",
    ("horizon", "last-window"): "No window comes out after the last one that holds an element",
    ("reported_windows", "every"): "Each window is reported by itself",
    ("missed_instants", "all"): "",
    ("partial", "suppressed"): "",
    ("slide", "stated"): "",
    ("expired_session", "gone"): "A session that has ended takes no more elements",
    ("expired_session", "joined"): "A late element can still join a session that has ended",
    ("exact_gap", "joins"): "An element exactly a gap later joins the session",
    ("exact_gap", "parts"): "An element exactly a gap later begins another session",
    ("session_border", "gap"): "A session is said to close a gap after its last element",
    ("session_border", "last"): "A session is said to close at its last element",
    ("session_border", "next"): "A session is said to close one instant after its last element",
    ("clock", "stream"): "Elements of any key bring time to the windows of all keys",
    ("clock", "key"): "Only elements of the same key bring time to its windows",
    ("panes", "discarding"): "Reported again, a window shows only what is new",
    ("panes", "retracting"): "Reported again, a window first takes back what it showed",
    ("panes", "replacing"): "Where its borders change, a window first takes back what it showed",
    ("not_before", "0"): "No window opens before 0",
}
OFFSETS = {
    "first-element": "the earliest element",
    "last-element": "the latest element",
    "day": "midnight of the earliest element's day",
    "day-end": "the end of the latest element's day",
    "0": "0 (1970-01-01)",
}
STAMPS = {
    "opening": "A window is named by its lower border",
    "close": "A window is named by its upper border",
    "first-element": "A window is named by its first element",
    "another": "A window is named by another instant than its borders",
}


class Section(Enum):
    """A question that a user has of windows: a heading, the question, and the fields that answer
    it, those whose stream is shown first.
    """

    BORDERS = "Borders", "which border belongs to a window?", ("closure",)
    BEGINNING = (
        "Beginning",
        "where do windows begin?",
        ("t0", "offset", "partial", "not_before", "slide"),
    )
    NAMES = "Names", "which instant names a window?", ()
    EMPTY = (
        "Firing",
        "which windows come out, and when?",
        (
            "report",
            "period",
            "close_rule",
            "missed_instants",
            "tick",
            "reported_windows",
            "change_baseline",
            "expiry_seen",
        ),
    )
    LATE = (
        "Order",
        "what becomes of an element that comes late?",
        ("allowed_lateness", "late_for", "watermark_delay", "expiry_rule", "panes"),
    )
    END = "End", "what happens when no more elements come?", ("horizon",)
    SESSIONS = "Sessions", "where do they end?", ("exact_gap", "expired_session", "session_border")
    KEYS = "Keys", "whose elements bring time?", ("clock",)
    ROWS = (
        "Rows",
        "what is sent of an answer?",
        ("r2s", "base", "empty", "collection", "change_scope"),
    )

    def __init__(self, heading: str, question: str, names: tuple[str, ...]) -> None:
        self.heading = heading
        self.question = question
        self.names = names


def sentences_of(
    section: Section, values: Mapping[str, str], takes_whole_table: bool = False
) -> Iterator[str]:
    """Yield the sentences that say what the values of a section's fields mean. `values` has those
    that are known. A library that takes a whole table sees no time go on.
    """
    if takes_whole_table and section is Section.EMPTY:
        yield "It takes a whole table, and all windows come at once"
        if "report" in values:
            yield whether_empty_in_words(values["report"])
        return
    is_endless = values.get("allowed_lateness") == str(ENDLESS)
    if takes_whole_table and section is Section.LATE and is_endless:
        yield "Elements need not be in the order of time: each is in the windows of its time"
        return
    if section is Section.BEGINNING and "t0" in values:
        yield beginning_in_words(values["t0"], values.get("offset", "none"))
    if "report" in values and section is Section.EMPTY:
        yield report_in_words(values["report"], values.get("period", "none"))
    if section is Section.LATE and "late_for" in values:
        yield lateness_in_words(values)
    for name in section.names:
        if name in values and (text := sentence_of(name, values[name])):
            yield text


def sentence_of(name: str, value: str) -> str:
    """Return the sentence of a field's value; nothing if it goes without saying, or is said with
    that of another field.
    """
    if (name, value) in SENTENCES:
        return SENTENCES[name, value]
    if name in ("t0", "offset", "report") or name not in ENUMS:
        return ""
    return getattr(parse_field(name, value), "sentence", "")


def beginning_in_words(t0: str, offset: str) -> str:
    """Return where windows begin, in words."""
    if t0 in ("epoch", "epoch-latest"):
        where = OFFSETS.get(offset, f"0 (1970-01-01) and the offset, so at {offset}")
        first = "earliest that holds an element"
        if t0 == "epoch-latest":
            first = "latest that holds the earliest element"
        return (
            f"Windows open at {where}, and whole steps before and after it; the first one that "
            f"comes out is the {first}"
        )
    if t0.lstrip("-").isdigit():
        return f"The first window opens at {t0}, and no element before it is in a window"
    return getattr(parse_field("t0", t0), "sentence", t0)


def report_in_words(report: str, period: str) -> str:
    """Return when a window is reported, in words."""
    conditions = {Condition(word) for word in report.split(",")}
    whens = {
        Condition.CLOSE: "when it is over",
        Condition.CHANGE: "when its content has changed",
        Condition.PERIODIC: f"every {period}",
        Condition.ARRIVAL: "at each element",
    }
    chosen = " and ".join(text for condition, text in whens.items() if condition in conditions)
    empty = "also if it is empty"
    if Condition.NON_EMPTY in conditions:
        empty = "unless it is empty"
    return f"A window is reported {chosen or 'at every instant'}, {empty}"


def whether_empty_in_words(report: str) -> str:
    """Return whether empty windows come out, in words."""
    if Condition.NON_EMPTY in {Condition(word) for word in report.split(",")}:
        return "Empty windows do not come out"
    return "Empty windows come out as well"


def lateness_in_words(values: Mapping[str, str]) -> str:
    """Return what becomes of elements out of order, in words."""
    allowed = values.get("allowed_lateness", "")
    match values["late_for"]:
        case "nothing":
            return "Elements are taken in the order in which they come, whatever their times"
        case "window":
            grace = "" if allowed == "0" else f", and {allowed} longer"
            return f"A late element is taken in as long as its window is not over{grace}"
    if allowed == "reject":
        return "A late element is refused"
    if allowed == str(ENDLESS):
        return "A late element is put in its place, however late it is"
    if allowed == "0":
        return "An element that is earlier than one before it is dropped"
    return f"An element that is more than {allowed} earlier than one before it is dropped"


def names_on(card: Card) -> dict[str, str]:
    """Return the fields that a card's answers show, with their values."""
    return {one.name: one.value for one in card.fields if one.shown_by is not None}
