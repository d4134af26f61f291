"""§2 Semantics: every choice in one frozen value, and the profiles that name known choices.

Sources: CSRBench = Dell'Aglio et al., ISWC 2013, Table 1; SECRET = Botan et al., PVLDB 2010 and VLDB Journal 2013,
with the t0 formulas of the authors' simulator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from itertools import product
from types import MappingProxyType
from typing import Any

from refengine.errors import InvalidSemantics, UnknownField, nearest


class Closure(StrEnum):
    """Which borders belong to a window (WIN-2)."""

    RIGHT_OPEN = "[)"
    LEFT_OPEN = "(]"
    CLOSED = "[]"


class Condition(StrEnum):
    """The report conditions (REP-1 to REP-4)."""

    CLOSE = "window-close"
    CHANGE = "content-change"
    NON_EMPTY = "non-empty"
    PERIODIC = "periodic"


class Tick(StrEnum):
    """Which arrivals are looked at (TICK-1 to TICK-3)."""

    TUPLE = "tuple"
    TIME = "time"
    BATCH = "batch"


class R2S(StrEnum):
    """The relation-to-stream operators (R2S-1 to R2S-3)."""

    RSTREAM = "Rstream"
    ISTREAM = "Istream"
    DSTREAM = "Dstream"


class Empty(StrEnum):
    """What becomes of an empty answer (R2S-5)."""

    EMIT = "emit"
    SUPPRESS = "suppress"


class Instant(StrEnum):
    """The output instant that a report is stamped with (ENG-4)."""

    CLOSE = "close"
    EVALUATION = "evaluation"
    TRIGGER = "trigger"
    EAGER = "eager"


class T0(StrEnum):
    """Published formulas for the start of window 0 (WIN-7); an integer is the other kind of value."""

    CORAL8 = "coral8"
    ORACLE_CEP = "oracle-cep"
    STREAM = "stream"
    FLINK = "flink"
    STORM = "storm"
    KAFKA_STREAMS = "kafka-streams"


class End(StrEnum):
    """What follows the last arrival (ENG-1); an integer horizon is the other kind of value."""

    NONE = "none"
    FLUSH = "flush"


Report = frozenset[Condition]


@dataclass(frozen=True, kw_only=True)
class Semantics:
    """SEM-1: the complete choice. No field has a default; two engines differ iff their values differ."""

    t0: int | T0
    closure: Closure
    report: Report
    period: int | None
    anchor: int | None
    tick: Tick
    r2s: R2S
    empty: Empty
    horizon: int | End
    instant: Instant

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, parse_field(name, value))
        contradictions(self)

    def __str__(self) -> str:
        return " ".join(f"{f.name}={show(getattr(self, f.name))}" for f in fields(self))


def contradictions(semantics: Semantics) -> None:
    """SEM-2: a period and an anchor are given iff the report is periodic, a period is positive, and a formula for t0
    comes with the closure that it was published for."""
    periodic = Condition.PERIODIC in semantics.report
    for name in ("period", "anchor"):
        given = getattr(semantics, name) is not None
        if given != periodic:
            reason = f"report is periodic but no {name} is given" if periodic else f"{name} given, but report is not periodic"
            form = f"write {name}={'1000' if name == 'period' else '0'}" if periodic else f"write {name}=none"
            raise InvalidSemantics(f"{reason}; {form}", rule="SEM-2")
    if isinstance(semantics.t0, T0) and semantics.closure is not Closure.LEFT_OPEN:
        reason = f"t0={semantics.t0} is a formula over windows (o, c]; write closure=(] or an integer t0"
        raise InvalidSemantics(reason, rule="SEM-2")
    if semantics.period is not None and semantics.period <= 0:
        raise InvalidSemantics(f"period must be > 0, got {semantics.period}", rule="SEM-2")


FIELDS: tuple[str, ...] = tuple(f.name for f in fields(Semantics))
ENUMS: Mapping[str, type[StrEnum]] = MappingProxyType(
    {"closure": Closure, "tick": Tick, "r2s": R2S, "empty": Empty, "instant": Instant, "t0": T0, "horizon": End}
)


def parse_field(name: str, value: Any) -> Any:
    """SEM-1: one field's value from its value or its text (`report=window-close,non-empty`, `t0=-3`)."""
    known_field(name)
    if name == "report":
        return _report(value)
    integral = name in ("t0", "horizon", "period", "anchor")
    if integral and isinstance(value, str) and value.lstrip("-").isdecimal():
        value = int(value)
    if integral and isinstance(value, int) and not isinstance(value, bool):
        return value
    if name in ("period", "anchor"):
        if value is None or value == "none":
            return None
        raise InvalidSemantics(f"{name} must be an integer or none, got {value!r}", rule="SEM-1")
    enum = ENUMS[name]
    words = [str(member) for member in enum]
    if not isinstance(value, str) or value not in words:
        kind = "an integer or one of" if integral else "one of"
        raise InvalidSemantics(f"{name} must be {kind} {', '.join(words)}, got {value!r}", rule="SEM-1")
    return enum(value)


def known_field(name: str) -> None:
    """SEM-1: there are no fields but these."""
    if name not in FIELDS:
        raise InvalidSemantics(f"unknown key {name!r}{nearest(name, FIELDS)}", rule="SEM-1")


def _report(value: Any) -> Report:
    words = value.split(",") if isinstance(value, str) else value
    valid = [str(c) for c in Condition]
    try:
        words = [str(word).strip() for word in words]
    except TypeError:
        words = []
    for word in words:
        if word not in valid:
            raise InvalidSemantics(f"unknown report condition {word!r}{nearest(word, valid)}", rule="SEM-1")
    if not words:
        raise InvalidSemantics(f"report must name at least one of {', '.join(valid)}", rule="SEM-1")
    return frozenset(Condition(word) for word in words)


def show(value: Any) -> str:
    """A field's value as its text; the inverse of `parse_field`."""
    if isinstance(value, frozenset):
        return ",".join(sorted(value))
    return "none" if value is None else str(value)


@dataclass(frozen=True)
class Between:
    """An integer that is only known to lie in [lo, hi]."""

    lo: int
    hi: int


@dataclass(frozen=True)
class OneOf:
    """A field that is only known to have one of these values."""

    values: tuple

    @staticmethod
    def every(name: str) -> OneOf:
        """All values of an enumerated field."""
        return OneOf(tuple(ENUMS[name]))


UNKNOWN = "unknown"


@dataclass(frozen=True)
class Profile:
    """A named Semantics in which fields may be open: `UNKNOWN`, `Between` or `OneOf`. The oracle quantifies those."""

    name: str
    source: str
    fields: Mapping[str, Any]

    def but(self, /, **overrides: Any) -> Profile:
        """The profile with some fields replaced; `unknown` opens one."""
        parsed = {}
        for name, value in overrides.items():
            known_field(name)
            parsed[name] = value if _open(value) else parse_field(name, value)
        return replace(self, fields=MappingProxyType({**self.fields, **parsed}))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the fields that are open, in field order."""
        return tuple(name for name in FIELDS if _open(self.fields.get(name, UNKNOWN)))

    def semantics(self) -> Semantics:
        """SEM-3: the complete value; a profile that leaves a field open has none, and the field is named."""
        if self.unknown:
            missing = ", ".join(self.unknown)
            raise UnknownField(
                f"profile {self.name!r} leaves {missing} unknown; give {' '.join(f'{n}=…' for n in self.unknown)}",
                rule="SEM-3",
            )
        return Semantics(**self.fields)

    def assignments(self, t0s: tuple[int, ...]) -> Iterator[Semantics]:
        """Every Semantics of the profile; an open t0 takes the given values (ORA-2), other fields all of theirs.
        Values that contradict each other are left out; if all do, that is the error."""
        choices = [self._choices(name, t0s) for name in FIELDS]
        contradiction, some = None, False
        for values in product(*choices):
            try:
                semantics = Semantics(**dict(zip(FIELDS, values, strict=True)))
            except InvalidSemantics as error:
                contradiction = contradiction or error
                continue
            some = True
            yield semantics
        if contradiction is not None and not some:
            raise contradiction

    def _choices(self, name: str, t0s: tuple[int, ...]) -> tuple:
        value = self.fields.get(name, UNKNOWN)
        match value:
            case OneOf(values):
                return values
            case Between(lo, hi) if name != "t0":
                return tuple(range(lo, hi + 1))
            case _ if name == "t0" and _open(value):
                return t0s
            case _ if _open(value) and name in ENUMS and name != "horizon":
                return OneOf.every(name).values
            case _ if _open(value):
                raise UnknownField(f"{name} cannot be quantified without bounds; give {name}=…", rule="SEM-3")
            case _:
                return (value,)


def _open(value: Any) -> bool:
    return isinstance(value, Between | OneOf) or value == UNKNOWN


def _profile(name: str, source: str, **values: Any) -> Profile:
    return Profile(name, source, {}).but(**{"period": None, "anchor": None, **values})


def _csrbench(name: str, report: str, r2s: R2S, empty: Empty, instant: Instant) -> Profile:
    source = "CSRBench, Table 1; horizon and output instant decided here"
    common = {"t0": UNKNOWN, "closure": "[)", "tick": "tuple", "horizon": End.FLUSH}
    return _profile(name, source, report=report, r2s=r2s, empty=empty, instant=instant, **common)


def _secret(name: str, t0: T0, report: str, tick: str, **more: Any) -> Profile:
    source = "SECRET, VLDB Journal 2013, and the authors' simulator"
    common = {"r2s": R2S.RSTREAM, "empty": Empty.EMIT, "horizon": End.NONE, "instant": Instant.TRIGGER, "closure": "(]"}
    return _profile(name, source, t0=t0, report=report, tick=tick, **common, **more)


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            _csrbench("csparql", "window-close,non-empty", R2S.RSTREAM, Empty.EMIT, Instant.CLOSE),
            _csrbench("cqels", "content-change", R2S.ISTREAM, Empty.SUPPRESS, Instant.EAGER),
            _csrbench("sparqlstream", "window-close,non-empty", R2S.RSTREAM, Empty.SUPPRESS, Instant.CLOSE),
            _secret("coral8", T0.CORAL8, "content-change,non-empty", "batch"),
            _secret("streambase", T0.CORAL8, "window-close,non-empty", "tuple"),
            _secret("oracle-cep", T0.ORACLE_CEP, "content-change,window-close", "time"),
            _secret("stream", T0.STREAM, "content-change,window-close,non-empty", "time"),
            _secret("flink", T0.FLINK, "window-close,non-empty", "time"),
            _secret("flink-tuple", T0.FLINK, "window-close,non-empty", "tuple"),
            _secret("dataflow", T0.FLINK, "window-close,non-empty", "time"),
            _secret("storm", T0.STORM, "window-close,non-empty", "time"),
            _secret("storm-tuple", T0.STORM, "window-close,non-empty", "tuple"),
            _secret("kafka-streams", T0.KAFKA_STREAMS, "non-empty,periodic", "tuple", period=1, anchor=0),
            _secret("spark-1.6", T0.FLINK, "window-close", "time"),
        )
    }
)


def profile(name: str) -> Profile:
    """The profile of that name."""
    if name not in PROFILES:
        raise InvalidSemantics(f"unknown profile {name!r}{nearest(name, PROFILES)}", rule="SEM-1")
    return PROFILES[name]
