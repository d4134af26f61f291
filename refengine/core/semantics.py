"""§2 Semantics: every choice in one frozen value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import chain
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_type_hints

from refengine.core.values import (
    R2S,
    T0,
    AllowedLateness,
    Anchor,
    Base,
    ChangeBaseline,
    ChangeScope,
    Clock,
    CloseRule,
    Closure,
    Collection,
    Condition,
    Conditions,
    Consumption,
    Empty,
    End,
    ExactGap,
    ExpiredSession,
    ExpiryRule,
    ExpirySeen,
    Instant,
    LateFor,
    MissedInstants,
    NamedValue,
    Offset,
    Panes,
    Partial,
    ReportedWindows,
    SessionBorder,
    Slide,
    Tick,
    Trigger,
    Watermark,
    is_formula,
)
from refengine.model.elements import TIME_BOUND, require_64_bits
from refengine.model.errors import InvalidSemantics
from refengine.model.held import as_length
from refengine.model.messages import did_you_mean, display, integer, nearest


@dataclass(frozen=True, kw_only=True)
class Semantics:
    """SEM-1: The complete choice: a value for every field, of which none has a default. Two engines
    differ iff a field of theirs does.

    Where windows lie, and what they hold:

    - `t0`: where window 0 opens: an instant, a policy or a published formula (WIN-7, WIN-10).
    - `offset`: what windows are aligned with if t0 is `epoch` or `epoch-latest`: an instant, the
      `first-element`, the `last-element`, or the midnight before the first or after the last, `day`
      or `day-end`; otherwise None (WIN-10).
    - `closure`: which borders belong to a window: `[)`, `(]`, `[]` or `()`; None if no window has
      borders (WIN-2).
    - `slide`: whether a stated slide is honoured: `stated`, or `ignored`, so that it is 1 (WIN-17).
    - `partial`: what becomes of windows that t0 cuts: `suppressed`, `reported` or `clipped`
      (WIN-11).
    - `not_before`: the instant before which no window opens; None if there is none (WIN-21).
    - `exact_gap`: whether an element exactly a gap after a session `joins` it, or `parts` from it
      (WIN-23).
    - `expired_session`: whether an expired session is `gone`, or can be `joined` (WIN-23).
    - `session_border`: where a session is said to close: a `gap` after its last element, at the
      `last` one, or at the `next` instant (WIN-23).

    When they are reported:

    - `report`: the conditions that must all hold: some of `window-close`, `content-change`,
      `non-empty`, `periodic` and `arrival` (REP-1 to REP-6, REP-13).
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
    - `reported_windows`: which windows are reported: the `active` one, or `every` one (REP-14).
    - `early_count`: a window with so many new elements is reported before it closes; or None
      (REP-15).
    - `early_period`: an open window is also reported where the border instant is a multiple of
      this, counted from 0; or None (REP-15).
    - `panes`: what a window shows when it is reported again: all, `accumulating`; what is new,
      `discarding`; all, after it has taken back what it showed before, `retracting`; or as
      `retracting`, but only if the borders changed, `replacing` (REP-16).
    - `horizon`: the instant to which time goes on after the last arrival: an instant, `none`,
      `flush`, which closes every window, or `last-window`, which closes those of the last element
      (ENG-1).

    What is answered, and emitted:

    - `collection`: whether an answer is a `bag` or a `set` (R2R-9).
    - `consumption`: whether an element of one match can be part of another: `unrestricted`; if not,
      the `recent` or the `chronological` match has it (R2R-22).
    - `r2s`: what is emitted of an answer: all of it, `Rstream`; what is new, `Istream`; what is
      gone, `Dstream`; or what only new elements give, `append` (R2S-1 to R2S-3, R2S-7).
    - `base`: what Istream and Dstream compare with: the `previous` answer, or the last one that had
      rows beyond its own base, `previous-new`; otherwise None (R2S-4, R2S-8).
    - `empty`: whether an empty output is emitted: `emit`, `suppress`, or `once` after an output
      that is not empty (R2S-5, R2S-9).
    - `instant`: what a report is stamped with: the border instant at the evaluation, `close`; the
      instant of the `evaluation`, that of its `trigger`, or that of the arrival before, `eager`
      (ENG-4).

    Which elements are late, and who brings time:

    - `allowed_lateness`: by how much an element may be earlier than one before it, or `reject`
      (MOD-2); for `late_for=window` the grace of a window (WIN-22).
    - `late_for`: for what an element is late: for the `stream` (MOD-2), for a `window`, or for
      `nothing` (MOD-5).
    - `watermark`: what a watermark is read from: the `greatest` app, or that of a `punctuation`;
      None unless `late_for` is `window` (MOD-5).
    - `watermark_delay`: how far the watermark is behind the greatest app; None unless `late_for` is
      `window` (MOD-5).
    - `expiry_rule`: whether a watermark at the instant after the last one of a window, and the
      grace, expires it, `reached`, or only a later one, `passed`; None unless `late_for` is
      `window` (WIN-22).
    - `clock`: whose elements bring time to a window with a key: all of the `stream`, or those of
      the same `key` (WIN-24).
    """

    t0: int | T0
    offset: int | Offset | None
    closure: Closure | None
    slide: Slide
    partial: Partial
    not_before: int | None
    exact_gap: ExactGap
    expired_session: ExpiredSession
    session_border: SessionBorder
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
    reported_windows: ReportedWindows
    early_count: int | None
    early_period: int | None
    panes: Panes
    collection: Collection
    consumption: Consumption
    r2s: R2S
    base: Base | None
    empty: Empty
    horizon: int | End
    instant: Instant
    allowed_lateness: int | AllowedLateness
    late_for: LateFor
    watermark: Watermark | None
    watermark_delay: int | None
    expiry_rule: ExpiryRule | None
    clock: Clock

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

    def with_values(self, **values: Any) -> Semantics:
        """Return the semantics with some fields replaced."""
        return replace(self, **values)

    @property
    def reads_punctuations(self) -> bool:
        """MOD-5: Whether elements without triples bring the watermark, and are in no window."""
        return self.watermark is not None and self.watermark.is_of_punctuations

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
        ("offset", is_aligned, f"t0 is {semantics.t0 if is_aligned else 'epoch'}", "0"),
        ("base", is_difference, "r2s is Istream or Dstream", "previous"),
        ("watermark", semantics.late_for.is_window, "late_for is window", "greatest"),
        ("watermark_delay", semantics.late_for.is_window, "late_for is window", "0"),
        ("expiry_rule", semantics.late_for.is_window, "late_for is window", "reached"),
    )


def value_without_meaning(semantics: Semantics) -> str | None:
    """SEM-2: Return why a value means nothing beside the others; None if all have a meaning."""
    is_left_open = semantics.closure is None or semantics.closure.is_left_open
    if is_formula(semantics.t0) and not is_left_open:
        return (
            f"t0={semantics.t0} is a formula over windows (o, c]; write closure=(] or an integer t0"
        )
    has_partial = not semantics.partial.is_without_partial_windows
    if semantics.not_before is not None and has_partial:
        return (
            f"partial={semantics.partial} adds windows that open before window 0, and none opens "
            f"before not_before={semantics.not_before}; write partial=suppressed"
        )
    if semantics.period is not None and semantics.period <= 0:
        return f"period must be > 0, got {semantics.period}"
    on_instants = any(condition.is_on_instants for condition in semantics.report)
    if semantics.missed_instants.needs_instants and not on_instants:
        return (
            f"missed_instants={semantics.missed_instants} needs instants to choose from: "
            "window-close, periodic or arrival; write missed_instants=all"
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
    return next(
        chain(
            _too_small(semantics), _beside_every_window(semantics), _beside_late_windows(semantics)
        ),
        None,
    )


def _too_small(semantics: Semantics) -> Iterator[str]:
    """SEM-2: Yield each count, period or delay that is too small."""
    for name, least in (("early_count", 1), ("early_period", 1), ("watermark_delay", 0)):
        value = getattr(semantics, name)
        if value is not None and value < least:
            yield f"{name} must be >= {least}, got {value}"


def _beside_every_window(semantics: Semantics) -> Iterator[str]:
    """SEM-2: Yield what means nothing where every window is reported, or only there."""
    if not semantics.reported_windows.is_every:
        only_each = {
            "early_count": semantics.early_count is None,
            "early_period": semantics.early_period is None,
            "panes": semantics.panes.is_whole_content,
            "late_for": not semantics.late_for.is_window,
        }
        for name, is_plain in only_each.items():
            if not is_plain:
                value = show(getattr(semantics, name))
                yield f"{name}={value} needs every window to be reported; {WRITE_EVERY}"
        return
    plain: dict[str, NamedValue] = {
        "late_for": semantics.late_for if semantics.late_for.is_window else LateFor.STREAM,
        "r2s": R2S.RSTREAM,
        "change_baseline": ChangeBaseline.LAST,
        "expiry_seen": ExpirySeen.REPLAYED,
        "missed_instants": MissedInstants.ALL,
    }
    for name, needed in plain.items():
        value = getattr(semantics, name)
        if value is not needed:
            yield f"reported_windows=every has no {name}={value}; write {name}={needed}"
    if semantics.empty.reads_last_output:
        yield f"reported_windows=every has no empty={semantics.empty}; write empty=suppress"


def _beside_late_windows(semantics: Semantics) -> Iterator[str]:
    """SEM-2: Yield what means nothing where a window decides which elements are late."""
    has_bound = isinstance(semantics.allowed_lateness, int)
    if semantics.late_for.keeps_arrival_order and not semantics.late_for.is_window and has_bound:
        yield "under late_for=nothing no element is late; write allowed_lateness=reject"
    if not semantics.late_for.is_window:
        return
    if not has_bound:
        yield "late_for=window needs a grace; write allowed_lateness=0"
    if semantics.tick.needs_batches:
        yield "late_for=window has no tick=batch; write tick=tuple"
    if semantics.close_rule.needs_later_arrival:
        yield "late_for=window has no close_rule=passed; write close_rule=reached"


WRITE_EVERY = "write reported_windows=every"
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
