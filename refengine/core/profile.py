"""§2 A profile: a semantics that may leave choices open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import product
from types import MappingProxyType
from typing import Any, Literal, TypedDict, Unpack

from refengine.core.semantics import (
    ENUMS,
    FIELDS,
    INTEGRAL,
    OPTIONAL,
    Semantics,
    known_field,
    parse_field,
    show,
)
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
    Panes,
    Partial,
    ReportedWindows,
    SessionBorder,
    Slide,
    Tick,
    Trigger,
    Watermark,
)
from refengine.model.errors import InvalidSemantics, UnknownField
from refengine.model.messages import display


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
    exact_gap: ExactGap | OneOf | Literal["joins", "parts"] | Unknown
    expired_session: ExpiredSession | OneOf | Literal["gone", "joined"] | Unknown
    session_border: SessionBorder | OneOf | Literal["gap", "last", "next"] | Unknown
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
    reported_windows: ReportedWindows | OneOf | Literal["active", "every"] | Unknown
    early_count: int | Between | OneOf | Literal["none"] | Unknown | None
    early_period: _Span | Literal["none"] | Unknown | None
    panes: (
        Panes | OneOf | Literal["accumulating", "discarding", "retracting", "replacing"] | Unknown
    )
    collection: Collection | OneOf | Literal["bag", "set"] | Unknown
    consumption: Consumption | OneOf | Literal["unrestricted", "recent", "chronological"] | Unknown
    r2s: R2S | OneOf | Literal["Rstream", "Istream", "Dstream", "append"] | Unknown
    base: Base | OneOf | Literal["previous", "previous-new", "none"] | Unknown | None
    empty: Empty | OneOf | Literal["emit", "suppress", "once"] | Unknown
    horizon: _Time | End | Literal["none", "flush"] | Unknown
    instant: Instant | OneOf | Literal["close", "evaluation", "trigger", "eager"] | Unknown
    allowed_lateness: _Span | AllowedLateness | Literal["reject"] | Unknown
    late_for: LateFor | OneOf | Literal["stream", "window", "nothing"] | Unknown
    watermark: Watermark | OneOf | Literal["greatest", "punctuation", "none"] | Unknown | None
    watermark_delay: _Span | Literal["none"] | Unknown | None
    expiry_rule: ExpiryRule | OneOf | Literal["reached", "passed", "none"] | Unknown | None
    clock: Clock | OneOf | Literal["stream", "key"] | Unknown


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
