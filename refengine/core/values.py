"""§2 The values of the fields of a `Semantics` that have names, and the questions about them."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self, TypeGuard, get_args


class NamedValue(StrEnum):
    """A value of a field of `Semantics` that has a name: the word, the `rule` of SPEC.md that says
    what it means, and the `sentence` by which a page says that an engine has it. The sentence is
    empty if no diagnosis tries the field.

    A property of a value asks one question. Its `match` names every member, so that mypy reports a
    new one for which the question has no answer.
    """

    rule: str
    sentence: str

    # without the defaults, type checkers would refuse `Tick("time")`
    def __new__(cls, word: str, rule: str = "", sentence: str = "") -> Self:
        """Return a member from its word, its rule and its sentence."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.rule = rule
        member.sentence = sentence
        return member


class Closure(NamedValue):
    """Which borders belong to a window (WIN-2)."""

    RIGHT_OPEN = "[)", "WIN-2", "It counts the lower border of each window, and not the upper one"
    LEFT_OPEN = "(]", "WIN-2", "It counts the upper border of each window, and not the lower one"
    CLOSED = "[]", "WIN-2", "It counts both borders of each window"
    OPEN = "()", "WIN-2", "It counts neither border of a window"

    @property
    def is_right_open(self) -> bool:
        """Whether the lower border belongs to a window, and the upper one does not."""
        match self:
            case Closure.RIGHT_OPEN:
                return True
            case Closure.LEFT_OPEN | Closure.CLOSED | Closure.OPEN:
                return False

    @property
    def is_left_open(self) -> bool:
        """Whether the upper border belongs to a window, and the lower one does not."""
        match self:
            case Closure.LEFT_OPEN:
                return True
            case Closure.RIGHT_OPEN | Closure.CLOSED | Closure.OPEN:
                return False

    @property
    def least_size(self) -> int:
        """QRY-5: The least size of a window that has an instant."""
        match self:
            case Closure.RIGHT_OPEN | Closure.LEFT_OPEN | Closure.CLOSED:
                return 1
            case Closure.OPEN:
                return 2

    @property
    def has_lower_border(self) -> bool:
        """Whether the lower border belongs to a window."""
        match self:
            case Closure.RIGHT_OPEN | Closure.CLOSED:
                return True
            case Closure.LEFT_OPEN | Closure.OPEN:
                return False


class Condition(NamedValue):
    """The report conditions (REP-1 to REP-4, REP-13). Pages have sentences for sets of them."""

    CLOSE = "window-close", "REP-1"
    CHANGE = "content-change", "REP-2"
    NON_EMPTY = "non-empty", "REP-3"
    PERIODIC = "periodic", "REP-4"
    ARRIVAL = "arrival", "REP-13"

    @property
    def needs_period(self) -> bool:
        """Whether the condition counts instants by a period."""
        match self:
            case Condition.PERIODIC:
                return True
            case Condition.CLOSE | Condition.CHANGE | Condition.NON_EMPTY | Condition.ARRIVAL:
                return False

    @property
    def is_on_instants(self) -> bool:
        """REP-5: Whether the condition asks for an instant, and not for a content (REP-6)."""
        match self:
            case Condition.CLOSE | Condition.PERIODIC | Condition.ARRIVAL:
                return True
            case Condition.CHANGE | Condition.NON_EMPTY:
                return False


class Tick(NamedValue):
    """Which arrivals are looked at (TICK-1 to TICK-3)."""

    TUPLE = "tuple", "TICK-1", "It looks at its windows at every element, also at simultaneous ones"
    TIME = "time", "TICK-2", "It looks at its windows once for all elements of an instant"
    BATCH = "batch", "TICK-3", "It looks at its windows once for each batch"

    @property
    def is_by_time(self) -> bool:
        """Whether an arrival is looked at iff time has advanced, so that all elements of the
        instants before are there.
        """
        match self:
            case Tick.TIME:
                return True
            case Tick.TUPLE | Tick.BATCH:
                return False

    @property
    def needs_batches(self) -> bool:
        """Whether every element needs a batch id."""
        match self:
            case Tick.BATCH:
                return True
            case Tick.TUPLE | Tick.TIME:
                return False


class R2S(NamedValue):
    """The relation-to-stream operators (R2S-1 to R2S-3, R2S-7)."""

    RSTREAM = "Rstream", "R2S-1", "It sends the whole answer each time (Rstream)"
    ISTREAM = "Istream", "R2S-2", "It sends only the rows that are new (Istream)"
    DSTREAM = "Dstream", "R2S-3", "It sends only the rows that are gone (Dstream)"
    APPEND = "append", "R2S-7", "It sends only rows that rest on a new element"

    @property
    def emits_whole_answers(self) -> bool:
        """Whether each output is the answer, which is compared with no other."""
        match self:
            case R2S.RSTREAM:
                return True
            case R2S.ISTREAM | R2S.DSTREAM | R2S.APPEND:
                return False

    @property
    def needs_base(self) -> bool:
        """Whether the field `base` says what an answer is compared with."""
        match self:
            case R2S.ISTREAM | R2S.DSTREAM:
                return True
            case R2S.RSTREAM | R2S.APPEND:
                return False

    @property
    def emits_new_rows_of_answers(self) -> bool:
        """Whether an output is what an answer has more than its base."""
        match self:
            case R2S.ISTREAM:
                return True
            case R2S.RSTREAM | R2S.DSTREAM | R2S.APPEND:
                return False

    @property
    def reads_kept_content(self) -> bool:
        """Whether an answer is compared with that over what was in the content before and still
        is.
        """
        match self:
            case R2S.APPEND:
                return True
            case R2S.RSTREAM | R2S.ISTREAM | R2S.DSTREAM:
                return False


class Base(NamedValue):
    """What Istream and Dstream compare with (R2S-4, R2S-8)."""

    PREVIOUS = "previous", "R2S-4"
    NEW = "previous-new", "R2S-8"

    @property
    def may_be_older(self) -> bool:
        """Whether the base may be an answer before that of the previous evaluation."""
        match self:
            case Base.NEW:
                return True
            case Base.PREVIOUS:
                return False


class Empty(NamedValue):
    """Whether an empty output is emitted: always or never (R2S-5), or once after an output that is
    not empty (R2S-9).
    """

    EMIT = "emit", "R2S-5", "It sends every empty output"
    SUPPRESS = "suppress", "R2S-5", "It sends no empty output"
    ONCE = "once", "R2S-9", "It sends an empty output only after one with rows"

    @property
    def is_always(self) -> bool:
        """Whether every empty output is emitted."""
        match self:
            case Empty.EMIT:
                return True
            case Empty.SUPPRESS | Empty.ONCE:
                return False

    @property
    def is_never(self) -> bool:
        """Whether no empty output is emitted."""
        match self:
            case Empty.SUPPRESS:
                return True
            case Empty.EMIT | Empty.ONCE:
                return False

    @property
    def reads_last_output(self) -> bool:
        """Whether an empty output is emitted or not depending on the output before it.

        If so, a part of a stream needs the last two evaluations before it (ENG-7), and arrival
        orders that were not recorded are not searched (ORA-7).
        """
        match self:
            case Empty.EMIT | Empty.SUPPRESS:
                return False
            case Empty.ONCE:
                return True


class Collection(NamedValue):
    """What an answer is (R2R-9)."""

    BAG = "bag", "R2R-9", "It keeps equal rows of an answer"
    SET = "set", "R2R-9", "It drops equal rows of an answer"

    @property
    def drops_equal_rows(self) -> bool:
        """Whether of equal rows one is kept."""
        match self:
            case Collection.SET:
                return True
            case Collection.BAG:
                return False


class Consumption(NamedValue):
    """Whether an element that was part of a match can be part of another, and if not, which of
    several matches that wait is joined: the last or the first (R2R-22).
    """

    UNRESTRICTED = "unrestricted", "R2R-22", "It uses an element in any number of matches"
    RECENT = "recent", "R2R-22", "It uses an element once, with the latest that wait"
    CHRONOLOGICAL = (
        "chronological",
        "R2R-22",
        "It uses an element once, with the earliest that wait",
    )

    @property
    def uses_up_elements(self) -> bool:
        """Whether matches use up the elements that they are made of."""
        match self:
            case Consumption.UNRESTRICTED:
                return False
            case Consumption.RECENT | Consumption.CHRONOLOGICAL:
                return True


class Instant(NamedValue):
    """The output instant that a report is stamped with (ENG-4)."""

    CLOSE = "close", "ENG-4"
    EVALUATION = "evaluation", "ENG-4"
    TRIGGER = "trigger", "ENG-4"
    EAGER = "eager", "ENG-4"


class T0(NamedValue):
    """The start of window 0 by a policy (WIN-10) or a published formula (WIN-7); an integer is the
    other kind of value.
    """

    FIRST = "first-element", "WIN-10", "It begins its first window at the first element"
    REACH = (
        "first-reach",
        "WIN-10",
        "It begins its first window so that it ends at the first element",
    )
    REGISTRATION = (
        "registration",
        "WIN-10",
        "It begins its first window when the query is registered",
    )
    EPOCH = (
        "epoch",
        "WIN-10",
        "It aligns its windows with time 0 or an offset, not with the first element",
    )
    EPOCH_LATEST = (
        "epoch-latest",
        "WIN-10",
        "It begins with the last of its aligned windows that holds the first element",
    )
    CORAL8 = "coral8", "WIN-7", "It begins its windows by Coral8's formula"
    ORACLE_CEP = "oracle-cep", "WIN-7", "It begins its windows by Oracle CEP's formula"
    STREAM = "stream", "WIN-7", "It begins its windows by STREAM's formula"
    FLINK = "flink", "WIN-7", "It begins its windows by Flink's formula"
    STORM = "storm", "WIN-7", "It begins its windows by Storm's formula"
    KAFKA_STREAMS = "kafka-streams", "WIN-7", "It begins its windows by Kafka Streams' formula"

    @property
    def needed_instant(self) -> Literal["offset", "registered"] | None:
        """WIN-10: The name of the instant that must be given with it; None if none must."""
        match self:
            case T0.EPOCH | T0.EPOCH_LATEST:
                return "offset"
            case T0.REGISTRATION:
                return "registered"
            case T0.FIRST | T0.REACH:
                return None
            case T0.CORAL8 | T0.ORACLE_CEP | T0.STREAM | T0.FLINK | T0.STORM | T0.KAFKA_STREAMS:
                return None


class Offset(NamedValue):
    """What windows are aligned with (WIN-10); an integer is the other kind of value."""

    FIRST = "first-element", "WIN-10"
    LAST = "last-element", "WIN-10"
    DAY = "day", "WIN-10"
    DAY_END = "day-end", "WIN-10"

    @property
    def needs_last_element(self) -> bool:
        """Whether windows lie where the last element says, so that the stream is needed whole."""
        match self:
            case Offset.LAST | Offset.DAY_END:
                return True
            case Offset.FIRST | Offset.DAY:
                return False


Formula = Literal[T0.CORAL8, T0.ORACLE_CEP, T0.STREAM, T0.FLINK, T0.STORM, T0.KAFKA_STREAMS]


def is_formula(t0: object) -> TypeGuard[Formula]:
    """WIN-7: Return whether a t0 is one of the published formulas, and neither a policy nor an
    integer.
    """
    return isinstance(t0, T0) and t0 in get_args(Formula)


class Slide(NamedValue):
    """Whether a stated slide is honoured (WIN-17)."""

    STATED = "stated", "WIN-17", "It moves its windows by the slide of the query"
    IGNORED = (
        "ignored",
        "WIN-17",
        "It ignores the slide of the query: windows move with every instant",
    )


class Partial(NamedValue):
    """What becomes of the windows that t0 cuts (WIN-11)."""

    SUPPRESSED = "suppressed", "WIN-11", "It leaves out the windows that open before t0"
    REPORTED = "reported", "WIN-11", "It reports windows that open before t0"
    CLIPPED = "clipped", "WIN-11", "It reports windows that open before t0, cut off there"

    @property
    def is_without_partial_windows(self) -> bool:
        """Whether no window is there that t0 cuts, so that window 0 is the first."""
        match self:
            case Partial.SUPPRESSED:
                return True
            case Partial.REPORTED | Partial.CLIPPED:
                return False

    @property
    def is_cut_at_t0(self) -> bool:
        """Whether such a window is there without its instants before window 0."""
        match self:
            case Partial.CLIPPED:
                return True
            case Partial.SUPPRESSED | Partial.REPORTED:
                return False


class CloseRule(NamedValue):
    """Which arrival closes a window [o, c): one at c, or one past it (TICK-6)."""

    REACHED = "reached", "TICK-6", "It closes a window as soon as an element reaches its end"
    PASSED = "passed", "TICK-6", "It closes a window only when an element has passed its end"

    @property
    def needs_later_arrival(self) -> bool:
        """Whether an arrival at c does not close the window."""
        match self:
            case CloseRule.PASSED:
                return True
            case CloseRule.REACHED:
                return False


class Anchor(NamedValue):
    """What a period counts from (REP-11); an integer is the other kind of value."""

    T0 = "t0", "REP-11"
    FIRST = "first-element", "REP-11"


class ChangeBaseline(NamedValue):
    """What content change compares with (REP-8)."""

    LAST = "last-report", "REP-8"
    PREVIOUS = "previous-instant", "REP-8"

    @property
    def is_of_last_report(self) -> bool:
        """Whether it is the content last reported."""
        match self:
            case ChangeBaseline.LAST:
                return True
            case ChangeBaseline.PREVIOUS:
                return False


class ChangeScope(NamedValue):
    """What content change compares (REP-9)."""

    ELEMENTS = "elements", "REP-9", "It takes a repeated triple for a change of the content"
    GRAPH = "graph", "REP-9", "It takes a repeated triple for no change of the content"

    @property
    def reads_graphs(self) -> bool:
        """Whether the triples of the contents are compared."""
        match self:
            case ChangeScope.GRAPH:
                return True
            case ChangeScope.ELEMENTS:
                return False


class ExpirySeen(NamedValue):
    """When an expiry at the instant of an arrival is seen (TICK-7)."""

    REPLAYED = "replayed", "TICK-7", "It sees an element expire only together with the next arrival"
    EAGER = "eager", "TICK-7", "It sees elements expire before the arrival of the same instant"

    @property
    def is_before_arrival(self) -> bool:
        """Whether it is seen before the arrival of the same instant."""
        match self:
            case ExpirySeen.EAGER:
                return True
            case ExpirySeen.REPLAYED:
                return False


class MissedInstants(NamedValue):
    """Which instants between two arrivals are reported (REP-10)."""

    ALL = "all", "REP-10", "It reports each window that ends between two arrivals"
    LATEST = "latest", "REP-10", "It reports only the last window that ends between two arrivals"

    @property
    def needs_instants(self) -> bool:
        """SEM-2: Whether it chooses among instants, so that the report must name a condition on
        them.
        """
        match self:
            case MissedInstants.ALL:
                return False
            case MissedInstants.LATEST:
                return True

    @property
    def leaves_some_out(self) -> bool:
        """ENG-7: Whether an instant at which all conditions hold may go unreported, so that a part
        cannot know which content was last reported.
        """
        match self:
            case MissedInstants.ALL:
                return False
            case MissedInstants.LATEST:
                return True


class Trigger(NamedValue):
    """Which of several windows make a query be evaluated (REP-12)."""

    ANY = "any", "REP-12"
    ALL = "all", "REP-12"
    LEADING = "leading", "REP-12"
    EXPLICIT = "explicit", "REP-12"

    @property
    def is_any_window(self) -> bool:
        """Whether any window is enough."""
        match self:
            case Trigger.ANY:
                return True
            case Trigger.ALL | Trigger.LEADING | Trigger.EXPLICIT:
                return False

    @property
    def needs_marked_windows(self) -> bool:
        """Whether the query says which windows count."""
        match self:
            case Trigger.EXPLICIT:
                return True
            case Trigger.ANY | Trigger.ALL | Trigger.LEADING:
                return False


class End(NamedValue):
    """What follows the last arrival (ENG-1); an integer horizon is the other kind of value."""

    NONE = "none", "ENG-1", "It reports nothing after the last element"
    FLUSH = "flush", "ENG-1", "It reports the windows that are still open at the end"
    LAST_WINDOW = (
        "last-window",
        "ENG-1",
        "It ends when the last window of the last element has closed",
    )

    @property
    def is_last_arrival(self) -> bool:
        """Whether nothing follows the last arrival."""
        match self:
            case End.NONE:
                return True
            case End.FLUSH | End.LAST_WINDOW:
                return False

    @property
    def depends_on_windows(self) -> bool:
        """Whether the horizon is another one where windows lie elsewhere."""
        match self:
            case End.NONE | End.FLUSH:
                return False
            case End.LAST_WINDOW:
                return True


class AllowedLateness(NamedValue):
    """What becomes of elements out of order (MOD-2); a bound is the other kind of value."""

    REJECT = "reject", "MOD-2"


class ReportedWindows(NamedValue):
    """Which windows a report is about (REP-14): the active one, or each one that is there."""

    ACTIVE = "active", "REP-14"
    EVERY = "every", "REP-14"

    @property
    def is_every(self) -> bool:
        """Whether every window is reported."""
        match self:
            case ReportedWindows.ACTIVE:
                return False
            case ReportedWindows.EVERY:
                return True


class Panes(NamedValue):
    """What a window shows when it is reported again (REP-16)."""

    ACCUMULATING = "accumulating", "REP-16"
    DISCARDING = "discarding", "REP-16"
    RETRACTING = "retracting", "REP-16"
    REPLACING = "replacing", "REP-16"

    @property
    def is_whole_content(self) -> bool:
        """Whether a report shows all that a window holds, and nothing is taken back."""
        match self:
            case Panes.ACCUMULATING:
                return True
            case Panes.DISCARDING | Panes.RETRACTING | Panes.REPLACING:
                return False

    @property
    def shows_only_new(self) -> bool:
        """Whether a report shows only what the window has not shown before."""
        match self:
            case Panes.DISCARDING:
                return True
            case Panes.ACCUMULATING | Panes.RETRACTING | Panes.REPLACING:
                return False

    def takes_back(self, before: tuple[int, int] | None, now: tuple[int, int] | None) -> bool:
        """Return whether what was shown with the borders `before` is taken back where the same
        window is shown with the borders `now`.
        """
        match self:
            case Panes.RETRACTING:
                return True
            case Panes.REPLACING:
                return before != now
            case Panes.ACCUMULATING | Panes.DISCARDING:
                return False


class LateFor(NamedValue):
    """For what an element out of order is late (MOD-5): for its stream, for a window, or for
    nothing.
    """

    STREAM = "stream", "MOD-5"
    WINDOW = "window", "MOD-5"
    NOTHING = "nothing", "MOD-5"

    @property
    def is_window(self) -> bool:
        """Whether each window decides whether an element is late."""
        match self:
            case LateFor.STREAM | LateFor.NOTHING:
                return False
            case LateFor.WINDOW:
                return True

    @property
    def keeps_arrival_order(self) -> bool:
        """Whether elements stay in the order in which they arrive."""
        match self:
            case LateFor.STREAM:
                return False
            case LateFor.WINDOW | LateFor.NOTHING:
                return True


class Watermark(NamedValue):
    """What a watermark is read from (MOD-5): the greatest app of the elements, or of those without
    triples, which are in no window.
    """

    GREATEST = "greatest", "MOD-5"
    PUNCTUATION = "punctuation", "MOD-5"

    @property
    def is_of_punctuations(self) -> bool:
        """Whether elements without triples bring it, and no others."""
        match self:
            case Watermark.GREATEST:
                return False
            case Watermark.PUNCTUATION:
                return True


class Clock(NamedValue):
    """Whose elements bring time to a window with a key (WIN-24)."""

    STREAM = "stream", "WIN-24"
    KEY = "key", "WIN-24"

    @property
    def reads_key_alone(self) -> bool:
        """Whether only elements of a window's own key bring time to it."""
        match self:
            case Clock.STREAM:
                return False
            case Clock.KEY:
                return True


class ExpiryRule(NamedValue):
    """Which watermark expires a window (WIN-22): one that reaches the instant after the last one of
    the window, and the grace, or one past it.
    """

    REACHED = "reached", "WIN-22"
    PASSED = "passed", "WIN-22"

    @property
    def needs_later_watermark(self) -> bool:
        """Whether a watermark at that instant does not expire the window."""
        match self:
            case ExpiryRule.REACHED:
                return False
            case ExpiryRule.PASSED:
                return True


class ExactGap(NamedValue):
    """Whether an element exactly a gap after a session joins it (WIN-23)."""

    JOINS = "joins", "WIN-23"
    PARTS = "parts", "WIN-23"

    @property
    def joins_at_gap(self) -> bool:
        """Whether such an element joins."""
        match self:
            case ExactGap.JOINS:
                return True
            case ExactGap.PARTS:
                return False


class ExpiredSession(NamedValue):
    """Whether an element can still join a session that has expired (WIN-23)."""

    GONE = "gone", "WIN-23"
    JOINED = "joined", "WIN-23"

    @property
    def can_be_joined(self) -> bool:
        """Whether an element can join it."""
        match self:
            case ExpiredSession.GONE:
                return False
            case ExpiredSession.JOINED:
                return True


class SessionBorder(NamedValue):
    """Where a session is said to close (WIN-23): a gap after its last element, at this element, or
    at the next instant.
    """

    GAP = "gap", "WIN-23"
    LAST = "last", "WIN-23"
    NEXT = "next", "WIN-23"


Conditions = frozenset[Condition]
