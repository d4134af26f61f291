"""The semantics that a card thinks of: each aspect of a semantics with the values that it may have.

An aspect is a field, or some fields that have a meaning only together, such as t0 and the offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from conformance.card.questions import BATCHES, KEYS, LATE, OVER_TIME, RANGES, ROWS, SESSIONS
from refengine.core.semantics import Semantics
from refengine.core.values import (
    ChangeBaseline,
    ChangeScope,
    Clock,
    CloseRule,
    Closure,
    Collection,
    Condition,
    Empty,
    ExactGap,
    ExpiredSession,
    ExpirySeen,
    LateFor,
    MissedInstants,
    Panes,
    Partial,
    ReportedWindows,
    SessionBorder,
    Slide,
    Tick,
    Watermark,
)
from refengine.model.errors import InvalidSemantics

Fields = Mapping[str, Any]
ENDLESS = 2**63 - 1  # of a lateness that no element exceeds
DELAY = 3  # of a watermark, and a grace, in a question


@dataclass(frozen=True)
class Aspect:
    """One aspect: its name, the values that are thought of, each as the fields that it sets, and
    the group of questions that is about it.
    """

    name: str
    values: tuple[Fields, ...]
    group: str = OVER_TIME

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its fields."""
        return tuple(self.values[0])

    @property
    def is_of_elements_in_order(self) -> bool:
        """Whether answers about a stream in order, without keys or sessions, depend on it."""
        return self.group in (OVER_TIME, ROWS)

    def of(self, semantics: Semantics) -> dict[str, Any]:
        """Return the fields of the aspect as a semantics has them."""
        return {name: getattr(semantics, name) for name in self.fields}

    def others(self, semantics: Semantics) -> Iterator[Semantics]:
        """Yield a semantics with each other value of the aspect that has a meaning in it."""
        for value in self.values:
            other = with_fields(semantics, value)
            if other is not None and other != semantics:
                yield other


def with_fields(semantics: Semantics, fields: Fields) -> Semantics | None:
    """Return a semantics with other values of some fields; None if they mean nothing together."""
    try:
        return Semantics(**{**vars(semantics), **fields})
    except InvalidSemantics:
        return None


def _each(name: str, values: Iterable[Any], group: str = OVER_TIME) -> Aspect:
    """Return the aspect that is a field by itself."""
    return Aspect(name, tuple({name: value} for value in values), group)


ALIGNED = [
    {"t0": t0, "offset": offset}
    for t0, offset in (
        ("epoch", 0),
        ("first-element", None),
        ("first-reach", None),
        (0, None),
        ("epoch-latest", 0),
        ("epoch", "first-element"),
        ("epoch", "last-element"),
        ("epoch", "day"),
        ("epoch", "day-end"),
        ("coral8", None),
        ("oracle-cep", None),
        ("stream", None),
        ("flink", None),
        ("storm", None),
        ("kafka-streams", None),
    )
]
BEGINNING = Aspect("t0", tuple(ALIGNED))
CLOSURE = _each("closure", Closure)
_PLAIN = [one for one in Condition if not one.needs_period]
_REPORTS = [frozenset(chosen) for count in range(1, 5) for chosen in combinations(_PLAIN, count)]
REPORT = Aspect(
    "report", tuple({"report": each, "period": None, "anchor": None} for each in _REPORTS)
)
PERIODIC = Aspect(
    "report",
    tuple(
        {"report": frozenset({Condition.PERIODIC, *more}), "period": period, "anchor": 0}
        for more in ((), (Condition.NON_EMPTY,))
        for period in (1, 5, 10)
    ),
)
TICK = _each("tick", (Tick.TUPLE, Tick.TIME))
HORIZON = _each("horizon", ("flush", "none", "last-window"))
_NO_WINDOW_LATE = {"watermark": None, "watermark_delay": None, "expiry_rule": None}
LATENESS = Aspect(
    "lateness",
    (
        *(
            {
                "reported_windows": "active",
                "late_for": "stream",
                "allowed_lateness": late,
                **_NO_WINDOW_LATE,
            }
            for late in ("reject", 0, ENDLESS, DELAY)
        ),
        *(
            {
                "reported_windows": "every",
                "late_for": LateFor.WINDOW,
                "allowed_lateness": grace,
                "watermark": Watermark.GREATEST,
                "watermark_delay": delay,
                "expiry_rule": rule,
            }
            for grace in (0, DELAY)
            for delay in (0, DELAY)
            for rule in ("reached", "passed")
        ),
        *(
            {
                "reported_windows": each,
                "late_for": late_for,
                "allowed_lateness": late,
                **_NO_WINDOW_LATE,
            }
            for each in ReportedWindows
            for late_for, late in (("nothing", "reject"), ("stream", 0), ("stream", ENDLESS))
        ),
    ),
    LATE,
)
R2S = Aspect(
    "r2s",
    tuple(
        {"r2s": r2s, "base": base, "empty": empty}
        for r2s, base in (
            ("Rstream", None),
            ("Istream", "previous"),
            ("append", None),
            ("Dstream", "previous"),
            ("Istream", "previous-new"),
            ("Dstream", "previous-new"),
        )
        for empty in ("emit", "suppress", "once")
    ),
    ROWS,
)
# an empty window that is not reported is like an empty answer that is not sent
EMPTY = Aspect(
    "empty",
    tuple({**report, "empty": empty} for report in REPORT.values for empty in Empty),
    ROWS,
)
# windows that are cut may make up for another beginning
PARTIAL = Aspect(
    "partial",
    tuple({"partial": partial, **aligned} for aligned in ALIGNED[:6] for partial in Partial),
)
CLOSING = Aspect(
    "close_rule",
    tuple(
        {"close_rule": rule, "missed_instants": missed}
        for rule in CloseRule
        for missed in MissedInstants
    ),
)
# those on which the answer to almost any question depends
COARSE = (BEGINNING, CLOSURE, REPORT, TICK, HORIZON)
# the same for an engine with R2S that claims nothing: fewer values of each, and R2S
SIMPLE = (
    Aspect("t0", tuple(ALIGNED[:4])),
    CLOSURE,
    Aspect(
        "report",
        tuple(
            {"report": frozenset(chosen), "period": None, "anchor": None}
            for one in (Condition.CLOSE, Condition.CHANGE, Condition.ARRIVAL)
            for chosen in ((one,), (one, Condition.NON_EMPTY))
        ),
    ),
    TICK,
    _each("horizon", ("flush", "none")),
    Aspect(
        "r2s",
        tuple(
            {"r2s": r2s, "base": base, "empty": empty}
            for r2s, base in (("Rstream", None), ("Istream", "previous"), ("append", None))
            for empty in ("emit", "suppress", "once")
        ),
    ),
)
# those that a few questions show, of which an engine rarely has another value than its claim
FINE = (
    CLOSING,
    R2S,
    EMPTY,
    PERIODIC,
    PARTIAL,
    LATENESS,
    _each("slide", Slide, RANGES),
    _each("not_before", (None, 0)),
    _each("expiry_seen", ExpirySeen),
    _each("change_baseline", ChangeBaseline),
    _each("panes", Panes, LATE),
    _each("collection", Collection, ROWS),
    _each("change_scope", ChangeScope, ROWS),
    _each("exact_gap", ExactGap, SESSIONS),
    _each("expired_session", ExpiredSession, SESSIONS),
    _each("session_border", SessionBorder, SESSIONS),
    _each("clock", Clock, KEYS),
    _each("tick", Tick, BATCHES),
)
# the groups of aspects that no content shows: those of a body's answers, and of batches
OF_RDF = (BATCHES, ROWS)


def widened(some: Iterable[Semantics], aspect: Aspect) -> Iterator[Semantics]:
    """Yield some semantics, and each with every other value of an aspect that has a meaning."""
    for one in some:
        yield one
        yield from aspect.others(one)


def product(start: Semantics, aspects: Iterable[Aspect]) -> list[Semantics]:
    """Return a semantics with all values of some aspects that mean something together, each once.
    A value may mean something only with that of an aspect that comes later.
    """
    every: list[dict[str, Any]] = [dict(vars(start))]
    for aspect in aspects:
        every = [{**fields, **value} for fields in every for value in aspect.values]
    found: dict[Semantics, None] = {start: None}
    for fields in every:
        try:
            found[Semantics(**fields)] = None
        except InvalidSemantics:
            continue
    return list(found)
