"""§2 Semantics: every choice in one frozen value; and profiles, which may leave choices open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import product
from types import MappingProxyType, NoneType
from typing import Any, Literal, Self, TypedDict, TypeGuard, Unpack, get_args, get_type_hints

from refengine.model.elements import TIME_BOUND, require_64_bits
from refengine.model.errors import InvalidSemantics, UnknownField
from refengine.model.held import as_length
from refengine.model.messages import did_you_mean, display, integer, nearest


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

    @property
    def is_left_open(self) -> bool:
        """Whether the upper border belongs to a window, and the lower one does not."""
        match self:
            case Closure.LEFT_OPEN:
                return True
            case Closure.RIGHT_OPEN | Closure.CLOSED:
                return False


class Condition(NamedValue):
    """The report conditions (REP-1 to REP-4). Pages have sentences for sets of them."""

    CLOSE = "window-close", "REP-1"
    CHANGE = "content-change", "REP-2"
    NON_EMPTY = "non-empty", "REP-3"
    PERIODIC = "periodic", "REP-4"

    @property
    def is_on_instants(self) -> bool:
        """REP-5: Whether the condition asks for an instant, and not for a content (REP-6)."""
        match self:
            case Condition.CLOSE | Condition.PERIODIC:
                return True
            case Condition.CHANGE | Condition.NON_EMPTY:
                return False


class Tick(NamedValue):
    """Which arrivals are looked at (TICK-1 to TICK-3)."""

    TUPLE = "tuple", "TICK-1", "It looks at its windows at every element, also at simultaneous ones"
    TIME = "time", "TICK-2", "It looks at its windows once for all elements of an instant"
    BATCH = "batch", "TICK-3", "It looks at its windows once for each batch"

    @property
    def is_each_arrival(self) -> bool:
        """Whether every arrival is looked at."""
        match self:
            case Tick.TUPLE:
                return True
            case Tick.TIME | Tick.BATCH:
                return False

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
    EPOCH = "epoch", "WIN-10", "It aligns its windows with time 0, before the first element as well"
    CORAL8 = "coral8", "WIN-7", "It begins its windows by Coral8's formula"
    ORACLE_CEP = "oracle-cep", "WIN-7", "It begins its windows by Oracle CEP's formula"
    STREAM = "stream", "WIN-7", "It begins its windows by STREAM's formula"
    FLINK = "flink", "WIN-7", "It begins its windows by Flink's formula"
    STORM = "storm", "WIN-7", "It begins its windows by Storm's formula"
    KAFKA_STREAMS = "kafka-streams", "WIN-7", "It begins its windows by Kafka Streams' formula"

    @property
    def is_formula(self) -> bool:
        """WIN-7: Whether it is a published formula, and no policy."""
        match self:
            case T0.FIRST | T0.REACH | T0.REGISTRATION | T0.EPOCH:
                return False
            case T0.CORAL8 | T0.ORACLE_CEP | T0.STREAM | T0.FLINK | T0.STORM | T0.KAFKA_STREAMS:
                return True

    @property
    def needed_instant(self) -> Literal["offset", "registered"] | None:
        """WIN-10: The name of the instant that must be given with it; None if none must."""
        match self:
            case T0.EPOCH:
                return "offset"
            case T0.REGISTRATION:
                return "registered"
            case T0.FIRST | T0.REACH:
                return None
            case T0.CORAL8 | T0.ORACLE_CEP | T0.STREAM | T0.FLINK | T0.STORM | T0.KAFKA_STREAMS:
                return None


def is_formula(t0: object) -> TypeGuard[T0]:
    """WIN-7: Return whether a t0 is one of the published formulas, and neither a policy nor an
    integer.
    """
    return isinstance(t0, T0) and t0.is_formula


POLICIES = frozenset(t0 for t0 in T0 if not t0.is_formula)


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
    def are_left_out(self) -> bool:
        """Whether window 0 is the first one."""
        match self:
            case Partial.SUPPRESSED:
                return True
            case Partial.REPORTED | Partial.CLIPPED:
                return False

    @property
    def begin_at_t0(self) -> bool:
        """Whether these windows are there, without what is before t0."""
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

    @property
    def is_of_previous_instant(self) -> bool:
        """Whether it is the content at the previous instant, reported or not."""
        match self:
            case ChangeBaseline.PREVIOUS:
                return True
            case ChangeBaseline.LAST:
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
    def leaves_some_out(self) -> bool:
        """Whether some of several instants are not reported."""
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

    @property
    def is_last_arrival(self) -> bool:
        """Whether nothing follows the last arrival."""
        match self:
            case End.NONE:
                return True
            case End.FLUSH:
                return False


class AllowedLateness(NamedValue):
    """What becomes of elements out of order (MOD-2); a bound is the other kind of value."""

    REJECT = "reject", "MOD-2"


Conditions = frozenset[Condition]


@dataclass(frozen=True, kw_only=True)
class Semantics:
    """SEM-1: The complete choice: a value for every field, of which none has a default. Two engines
    differ iff a field of theirs does.

    Where windows lie, and what they hold:

    - `t0`: where window 0 opens: an instant, a policy or a published formula (WIN-7, WIN-10).
    - `offset`: what windows are aligned with if t0 is `epoch`; otherwise None (WIN-10).
    - `closure`: which borders belong to a window: `[)`, `(]` or `[]`; None if no window has borders
      (WIN-2).
    - `slide`: whether a stated slide is honoured: `stated`, or `ignored`, so that it is 1 (WIN-17).
    - `partial`: what becomes of windows that t0 cuts: `suppressed`, `reported` or `clipped`
      (WIN-11).

    When they are reported:

    - `report`: the conditions that must all hold: some of `window-close`, `content-change`,
      `non-empty` and `periodic` (REP-1 to REP-6).
    - `close_rule`: which arrival closes a window [o, c): one at c, `reached`, or one later than c,
      `passed` (TICK-6).
    - `period`: the time between the instants at which `periodic` holds; otherwise None (REP-4).
    - `anchor`: what a period counts from: an instant, `t0` or `first-element`; otherwise None
      (REP-11).
    - `change_baseline`: what a content must differ from: the content of the `last-report`, or that
      at the `previous-instant` (REP-8).
    - `change_scope`: what makes two contents different: other `elements`, or another `graph`
      (REP-9).
    - `expiry_seen`: when it is seen that elements leave a window at the instant of an arrival: with
      the arrival, `replayed`, or before it, `eager` (TICK-7).
    - `missed_instants`: which instants between two arrivals are reported: `all`, or the `latest`
      (REP-10).
    - `tick`: which arrivals are looked at: each one, `tuple`; the first of an instant, `time`; or
      the first of a `batch` (TICK-1 to TICK-3).
    - `trigger`: which of several windows must fulfil the conditions: `any`, `all`, the first one,
      `leading`, or those that are marked, `explicit` (REP-12).
    - `horizon`: the instant to which time goes on after the last arrival: an instant, `none`, or
      `flush`, which closes every window (ENG-1).

    What is answered, and emitted:

    - `collection`: whether an answer is a `bag` or a `set` (R2R-9).
    - `consumption`: whether an element of one match can be part of another: `unrestricted`; if not,
      the `recent` or the `chronological` match has it (R2R-22).
    - `r2s`: what is emitted of an answer: all of it, `Rstream`; what is new, `Istream`; what is
      gone, `Dstream`; or what only new elements give, `append` (R2S-1 to R2S-3, R2S-7).
    - `base`: what Istream and Dstream compare with: the `previous` answer, or the one before the
      last output that was not empty, `previous-new`; otherwise None (R2S-4, R2S-8).
    - `empty`: whether an empty output is emitted: `emit`, `suppress`, or `once` after an output
      that is not empty (R2S-5, R2S-9).
    - `instant`: what a report is stamped with: the window's `close`, the instant of the
      `evaluation`, that of its `trigger`, or that of the arrival before, `eager` (ENG-4).
    - `allowed_lateness`: by how much an element may be earlier than one before it, or `reject`
      (MOD-2).
    """

    t0: int | T0
    offset: int | None
    closure: Closure | None
    slide: Slide
    partial: Partial
    report: Conditions
    close_rule: CloseRule
    period: int | None
    anchor: int | Anchor | None
    change_baseline: ChangeBaseline
    change_scope: ChangeScope
    expiry_seen: ExpirySeen
    missed_instants: MissedInstants
    tick: Tick
    trigger: Trigger
    collection: Collection
    consumption: Consumption
    r2s: R2S
    base: Base | None
    empty: Empty
    horizon: int | End
    instant: Instant
    allowed_lateness: int | AllowedLateness

    def __new__(cls, *values: object, **fields: object) -> Semantics:
        """SEM-1: Refuse a field that is not there, and one that is missing."""
        if values or fields.keys() != NAMES:
            refuse_no_names(values, fields)
        return super().__new__(cls)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        return (), dict(vars(self))

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            # as most are: the oracle makes thousands of a profile's values
            if type(value) is not ENUMS.get(name) and not is_parsed(name, value):
                object.__setattr__(self, name, parse_field(name, value))
        contradictions(self)

    def __str__(self) -> str:
        return " ".join(f"{f.name}={show(getattr(self, f.name))}" for f in fields(self))

    @property
    def is_consuming(self) -> bool:
        """R2R-22: Whether matches use up the elements that they are made of."""
        return self.consumption.uses_up_elements


def refuse_no_names(values: tuple[object, ...], fields: Mapping[str, object]) -> None:
    """SEM-1: Refuse values that have other names than the fields of a semantics. Raises
    InvalidSemantics.
    """
    if values:
        reason = f"fields are given by their names, got {display(values[0])}; write t0=0"
        raise InvalidSemantics(reason, rule="SEM-1")
    for name in fields:
        known_field(name)
    missing = ", ".join(name for name in FIELDS if name not in fields)
    reason = f"{missing} missing; write profile(…).but(…).semantics(), where a profile has them"
    raise _FieldsMissing(reason, rule="SEM-1")


class _FieldsMissing(InvalidSemantics, TypeError):
    """A semantics without some of its fields. Python has a TypeError for it."""


def contradictions(semantics: Semantics) -> None:
    """SEM-2: Refuse values that mean nothing together, and name a form that has a meaning. Raises
    InvalidSemantics.
    """
    for name, is_needed, what, example in companions(semantics):
        is_stated = getattr(semantics, name) is not None
        if is_needed and not is_stated:
            reason = f"{what} but no {name} is given; write {name}={example}"
            raise InvalidSemantics(reason, rule="SEM-2")
        if is_stated and not is_needed:
            otherwise = what.replace(" is ", " is not ")
            reason = f"{name} given, but {otherwise}; write {name}=none"
            raise InvalidSemantics(reason, rule="SEM-2")
    problem = value_without_meaning(semantics)
    if problem is not None:
        raise InvalidSemantics(problem, rule="SEM-2")


def companions(semantics: Semantics) -> tuple[tuple[str, bool, str, str], ...]:
    """SEM-2: Return the fields that must be given iff another field has a certain value. Each comes
    with whether the other field has that value, with that in words, and with an example of a value.
    """
    is_periodic = Condition.PERIODIC in semantics.report
    is_difference = semantics.r2s.needs_base
    is_aligned = isinstance(semantics.t0, T0) and semantics.t0.needed_instant == "offset"
    return (
        ("period", is_periodic, "report is periodic", "1000"),
        ("anchor", is_periodic, "report is periodic", "0"),
        ("offset", is_aligned, "t0 is epoch", "0"),
        ("base", is_difference, "r2s is Istream or Dstream", "previous"),
    )


def value_without_meaning(semantics: Semantics) -> str | None:
    """SEM-2: Return why a value means nothing beside the others; None if all have a meaning."""
    is_left_open = semantics.closure is None or semantics.closure.is_left_open
    if is_formula(semantics.t0) and not is_left_open:
        return (
            f"t0={semantics.t0} is a formula over windows (o, c]; write closure=(] or an integer t0"
        )
    if semantics.period is not None and semantics.period <= 0:
        return f"period must be > 0, got {semantics.period}"
    on_instants = any(condition.is_on_instants for condition in semantics.report)
    if semantics.missed_instants.leaves_some_out and not on_instants:
        return (
            f"missed_instants={semantics.missed_instants} needs instants to choose from: "
            "window-close or periodic; write missed_instants=all"
        )
    if isinstance(semantics.allowed_lateness, int) and semantics.allowed_lateness < 0:
        return (
            f"allowed_lateness must be >= 0, got {semantics.allowed_lateness}; "
            "write allowed_lateness=reject"
        )
    is_by_arrival = semantics.r2s.reads_kept_content and semantics.report == {Condition.CHANGE}
    if semantics.is_consuming and not is_by_arrival:
        return (
            f"consumption={semantics.consumption} is of matches that go out as they are completed; "
            "write r2s=append report=content-change"
        )
    return None


FIELDS: tuple[str, ...] = tuple(f.name for f in fields(Semantics))
NAMES = frozenset(FIELDS)
_KINDS = {
    name: get_args(hint) or (hint,)
    for name, hint in get_type_hints(Semantics).items()
    if name != "report"
}
ENUMS: Mapping[str, type[NamedValue]] = MappingProxyType(
    {n: k for n, kinds in _KINDS.items() for k in kinds if issubclass(k, NamedValue)}
)
INTEGRAL = frozenset(name for name, kinds in _KINDS.items() if int in kinds)
OPTIONAL = frozenset(name for name, kinds in _KINDS.items() if NoneType in kinds)


def is_parsed(name: str, value: object) -> bool:
    """Return whether a value is one that `parse_field` would return as it is. False may also be
    returned for such a value, which is then parsed.
    """
    if value is None:
        return name in OPTIONAL
    if type(value) is int:
        # t0 may be one that a policy gives or the oracle tries, before every time
        return name == "t0" or (name in INTEGRAL and -TIME_BOUND <= value < TIME_BOUND)
    if name == "report" and type(value) is frozenset and value:
        return all(type(condition) is Condition for condition in value)
    return False


def parse_field(name: str, value: Any) -> Any:
    """SEM-1: Return a field's value from its value or its text, such as `window-close,non-empty`
    for report or `-3` for t0. A datetime with a zone and a timedelta are milliseconds. Raises
    InvalidSemantics for what is no value of the field, and for an integer beyond 64 bits.
    """
    known_field(name)
    if name in INTEGRAL:
        value = as_length(value, name, InvalidSemantics, rule="SEM-1")
    if name == "report":
        return parse_report(value)
    if name in OPTIONAL and value in (None, "none"):
        return None
    if name in INTEGRAL and isinstance(value, int | str) and not isinstance(value, bool):
        number = integer(value)
        if number is not None:
            return require_64_bits(name, number, InvalidSemantics, "SEM-1")
    words = [str(member) for member in ENUMS.get(name, ())]
    if isinstance(value, str) and value in words:
        return ENUMS[name](value)
    if name in OPTIONAL:
        words.append("none")
    kinds = described_values(name, words)
    reason = f"{name} must be {kinds}, got {display(value)}{did_you_mean(value, words)}"
    raise InvalidSemantics(reason, rule="SEM-1")


def described_values(name: str, words: list[str]) -> str:
    """Return the values that a field can have, in words for a message: `an integer or one of
    first-element, …`.
    """
    kinds = []
    if name in INTEGRAL:
        kinds.append("an integer")
    if len(words) > 1:
        kinds.append("one of " + ", ".join(words))
    else:
        kinds += words
    return " or ".join(kinds)


def known_field(name: str) -> None:
    """SEM-1: Refuse a name that no field has."""
    if name not in FIELDS:
        raise InvalidSemantics(f"unknown key {name!r}{nearest(name, FIELDS)}", rule="SEM-1")


def parse_report(value: Any) -> Conditions:
    """SEM-1: Return the report conditions that are named, in a list or in one text with commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, Iterable):
        value = ()
    words = [str(word).strip() for word in value]
    valid = [str(condition) for condition in Condition]
    for word in words:
        if word not in valid:
            reason = f"unknown report condition {word!r}{nearest(word, valid)}"
            raise InvalidSemantics(reason, rule="SEM-1")
    if not words:
        raise InvalidSemantics(f"report must name at least one of {', '.join(valid)}", rule="SEM-1")
    return frozenset(Condition(word) for word in words)


def show(value: Any) -> str:
    """Return a field's value as its text; the inverse of `parse_field`."""
    if isinstance(value, frozenset):
        return ",".join(sorted(value))
    if value is None:
        return "none"
    return str(value)


def semantics_to_json(semantics: Semantics) -> dict[str, int | str]:
    """Return the fields of a semantics as a JSON object: integers, and all other values as their
    text.
    """
    return {
        name: value if isinstance(value, int) else show(value)
        for name, value in vars(semantics).items()
    }


@dataclass(frozen=True)
class Between:
    """An integer of which only the bounds are known, both included."""

    lo: int
    hi: int


@dataclass(frozen=True)
class OneOf:
    """A field's value of which only the possible values are known."""

    values: tuple[Any, ...]

    @staticmethod
    def every(name: str) -> OneOf:
        """Return all values of an enumerated field, None among them if the field may be none."""
        values: tuple[Any, ...] = tuple(ENUMS[name])
        if name in OPTIONAL:
            values += (None,)
        return OneOf(values)


UNKNOWN: Literal["unknown"] = "unknown"
OPEN = (Between, OneOf)


Unknown = Literal["unknown"]
_ConditionWord = Literal["window-close", "content-change", "non-empty", "periodic"]
_ReportWord = Literal[
    _ConditionWord,
    "window-close,content-change",
    "window-close,non-empty",
    "window-close,periodic",
    "content-change,window-close",
    "content-change,non-empty",
    "content-change,periodic",
    "non-empty,window-close",
    "non-empty,content-change",
    "non-empty,periodic",
    "periodic,window-close",
    "periodic,content-change",
    "periodic,non-empty",
]
_Time = int | datetime | Between | OneOf
_Span = int | timedelta | Between | OneOf
_T0Word = Literal[
    "first-element",
    "first-reach",
    "registration",
    "epoch",
    "coral8",
    "oracle-cep",
    "stream",
    "flink",
    "storm",
    "kafka-streams",
]


class FieldValues(TypedDict, total=False):
    """What `Profile.but` takes for each field of a Semantics: a value, its word, what leaves it
    open, or `unknown`. Type checkers find a field that is not there and a word that is none.
    """

    t0: _Time | T0 | _T0Word | Unknown
    offset: _Time | Literal["none"] | Unknown | None
    closure: Closure | OneOf | Literal["[)", "(]", "[]", "none"] | Unknown | None
    slide: Slide | OneOf | Literal["stated", "ignored"] | Unknown
    partial: Partial | OneOf | Literal["suppressed", "reported", "clipped"] | Unknown
    report: Iterable[Condition] | Sequence[_ConditionWord] | OneOf | _ReportWord | Unknown
    close_rule: CloseRule | OneOf | Literal["reached", "passed"] | Unknown
    period: _Span | Literal["none"] | Unknown | None
    anchor: _Time | Anchor | Literal["t0", "first-element", "none"] | Unknown | None
    change_baseline: ChangeBaseline | OneOf | Literal["last-report", "previous-instant"] | Unknown
    change_scope: ChangeScope | OneOf | Literal["elements", "graph"] | Unknown
    expiry_seen: ExpirySeen | OneOf | Literal["replayed", "eager"] | Unknown
    missed_instants: MissedInstants | OneOf | Literal["all", "latest"] | Unknown
    tick: Tick | OneOf | Literal["tuple", "time", "batch"] | Unknown
    trigger: Trigger | OneOf | Literal["any", "all", "leading", "explicit"] | Unknown
    collection: Collection | OneOf | Literal["bag", "set"] | Unknown
    consumption: Consumption | OneOf | Literal["unrestricted", "recent", "chronological"] | Unknown
    r2s: R2S | OneOf | Literal["Rstream", "Istream", "Dstream", "append"] | Unknown
    base: Base | OneOf | Literal["previous", "previous-new", "none"] | Unknown | None
    empty: Empty | OneOf | Literal["emit", "suppress", "once"] | Unknown
    horizon: _Time | End | Literal["none", "flush"] | Unknown
    instant: Instant | OneOf | Literal["close", "evaluation", "trigger", "eager"] | Unknown
    allowed_lateness: _Span | AllowedLateness | Literal["reject"] | Unknown


@dataclass(frozen=True)
class Profile:
    """A named Semantics that may leave fields open: their values are `UNKNOWN`, `Between` or
    `OneOf`. The oracle tries every value of an open field.
    """

    name: str
    source: str
    fields: Mapping[str, Any]

    def __post_init__(self) -> None:
        refuse_no_fields(self.fields)

    def __hash__(self) -> int:
        return hash((self.name, self.source, frozenset(self.fields.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_profile, (self.name, self.source, dict(self.fields))

    def __repr__(self) -> str:
        values = " ".join(f"{name}={show_open(value)}" for name, value in self.fields.items())
        return f"Profile({self.name}: {values})"

    def but(self, /, **overrides: Unpack[FieldValues]) -> Profile:
        """Return the profile with some fields replaced; the value `unknown` opens a field. Raises
        InvalidSemantics for what is no value of a field, and for a range whose ends are in the
        wrong order.

        >>> from refengine import profile
        >>> profile("csparql").but(t0=0, horizon="none").semantics().horizon
        <End.NONE: 'none'>
        """
        return self.with_fields(overrides)

    def with_fields(self, fields: Mapping[str, Any]) -> Profile:
        """Do what `but` does with fields whose names and values are not known before, such as those
        of a file.
        """
        refuse_no_fields(fields)
        parsed: dict[str, Any] = {}
        for name, value in fields.items():
            known_field(name)
            if isinstance(value, Between):
                refuse_empty_range(name, value)
            if isinstance(value, OneOf):
                refuse_no_choices(name, value)
                parsed[name] = OneOf(tuple(parse_field(name, each) for each in value.values))
            elif is_open(value):
                parsed[name] = value
            else:
                parsed[name] = parse_field(name, value)
        return replace(self, fields=MappingProxyType({**self.fields, **parsed}))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the open fields, in field order."""
        return tuple(name for name in FIELDS if is_open(self.fields.get(name, UNKNOWN)))

    def semantics(self) -> Semantics:
        """SEM-3: Return the complete value. Raises UnknownField, with the names of the open fields,
        if there are any.
        """
        if self.unknown:
            missing = ", ".join(self.unknown)
            forms = " ".join(f"{name}=…" for name in self.unknown)
            reason = f"profile {self.name!r} leaves {missing} unknown; give {forms}"
            raise UnknownField(reason, rule="SEM-3")
        return Semantics(**self.fields)

    def assignments(self, t0s: tuple[int, ...]) -> Iterator[dict[str, Any]]:
        """Yield the fields of every assignment. An open t0 takes the values `t0s` (ORA-2), each
        other open field all of its values. Some assignments may contradict themselves (SEM-2).
        """
        for values in product(*(self.choices(name, t0s) for name in FIELDS)):
            yield dict(zip(FIELDS, values, strict=True))

    def choices(self, name: str, t0s: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the values that a field may have; `t0s` are those of an open t0."""
        value = self.fields.get(name, UNKNOWN)
        if not is_open(value):
            return (value,)
        match value:
            case OneOf(values):
                return values
            case Between(lo, hi) if name != "t0":
                return tuple(range(lo, hi + 1))
            case _ if name == "t0":
                return t0s
            case _ if name in ENUMS and name not in INTEGRAL:
                return OneOf.every(name).values
            case _:
                reason = (
                    f"{name} is open without bounds, so not every value can be tried; give {name}=…"
                )
                raise UnknownField(reason, rule="SEM-3")


def _make_profile(name: str, source: str, fields: Mapping[str, Any]) -> Profile:
    return Profile(name, source, MappingProxyType(dict(fields)))


def show_open(value: Any) -> str:
    """Return the text of a profile's value, also of one that leaves a field open."""
    match value:
        case Between(lo, hi):
            return f"{lo}..{hi}"
        case OneOf(values):
            return "|".join(map(show, values))
        case _:
            return show(value)


def refuse_no_fields(value: object) -> None:
    """SEM-1: Refuse what is no mapping from fields to values. Raises InvalidSemantics."""
    if not isinstance(value, Mapping):
        reason = f'fields are given by their names, got {display(value)}; write {{"t0": 0}}'
        raise InvalidSemantics(reason, rule="SEM-1", place="fields")
    for name in value:
        known_field(name)


def refuse_no_choices(name: str, value: OneOf) -> None:
    """ORA-2: Refuse several possible values that are no tuple, or none. Raises InvalidSemantics."""
    if not isinstance(value.values, tuple) or not value.values:
        reason = f"OneOf has a tuple with a value or more, got {display(value.values)}"
        raise InvalidSemantics(f"{name}: {reason}; write OneOf((…, …))", rule="ORA-2")


def refuse_empty_range(name: str, value: Between) -> None:
    """ORA-2: Refuse a range without a value, whose ends are in the wrong order. Raises
    InvalidSemantics.
    """
    if name not in INTEGRAL:
        reason = f"{name} has no range, got {display(value)}; write OneOf((…, …))"
        raise InvalidSemantics(reason, rule="ORA-2")
    if type(value.lo) is not int or type(value.hi) is not int:
        reason = f"a range of {name} has two integers, got {display(value)}; write Between(0, 9)"
        raise InvalidSemantics(reason, rule="ORA-2")
    if value.lo > value.hi:
        raise InvalidSemantics(
            f"{name} must be in a range with at least one value, got {value.lo} to {value.hi}; "
            f"write the lower end first, {value.hi} to {value.lo}",
            rule="ORA-2",
        )


def refuse_incomplete(value: object) -> None:
    """SEM-3: Refuse what is not a complete semantics. Raises UnknownField for a profile, with the
    names of its open fields, and InvalidSemantics for one without open fields and for other values.
    """
    if isinstance(value, Semantics):
        return
    if isinstance(value, Profile):
        value.semantics()  # raises UnknownField if a field is open
        reason = (
            f"the profile {value.name!r} is given where a semantics is needed; "
            "write .semantics() after it"
        )
        raise InvalidSemantics(reason, rule="SEM-3")
    reason = (
        f"a semantics must be a Semantics, got {display(value)}; "
        'write profile("csparql").but(t0=0).semantics()'
    )
    raise InvalidSemantics(reason, rule="SEM-3")


def refuse_no_profile(value: object) -> None:
    """SEM-3: Refuse what is no profile, where one is needed. Raises InvalidSemantics."""
    if isinstance(value, Profile):
        return
    advice = 'write profile("csparql")'
    if isinstance(value, Semantics):
        advice = "leave .semantics() out"
    elif isinstance(value, str):
        advice = f"write profile({display(value)})"
    reason = (
        f"judge takes a Profile, of which it tries the open fields, got {display(value)}; {advice}"
    )
    raise InvalidSemantics(reason, rule="SEM-3")


def is_open(value: Any) -> bool:
    """Return whether a profile's value for a field leaves the field open."""
    return isinstance(value, OPEN) or value == UNKNOWN
