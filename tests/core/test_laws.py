"""Laws of the engine over the whole space of windows and semantics: each is a sentence with its
preconditions. tools/laws.py makes the list of docs/laws.md from them.

A law is tried on draws that fulfil its preconditions by construction, so that none is thrown away;
it says of each whether it told anything, and enough must. It is shown to be no empty phrase twice:
wrong engines break it, and so does the right engine beyond each precondition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise, product
from math import ceil, floor, lcm
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from conftest import PROFILE
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from conformance.wrong_engines import WRONG_ENGINES, WrongEngine
from refengine import (
    Between,
    Body,
    Element,
    OneOf,
    Query,
    Relation,
    Stream,
    Window,
    WindowKind,
    literal,
    profile,
    row,
)
from refengine.core import engine, r2r, r2s, tick, window
from refengine.core.engine import Report
from refengine.core.firings import FiringSchedule
from refengine.core.profiles import PLAIN
from refengine.core.semantics import Semantics
from refengine.core.tick import is_due as right_due
from refengine.core.values import (
    R2S,
    T0,
    Base,
    ChangeBaseline,
    ChangeScope,
    CloseRule,
    Closure,
    Condition,
    Empty,
    ExpirySeen,
    MissedInstants,
    Partial,
    Slide,
    Tick,
)
from refengine.model import compare
from refengine.model.elements import XSD, Bag, Dataset
from refengine.model.errors import RefengineError
from refengine.sparql.functions import TIMESTAMP
from refengine.strategies import inputs, queries, semantics, triples

PAGE = Path(__file__).resolve().parents[2] / "docs" / "laws.md"
DRAWS = {"ci": 60, "fuzz": 20_000}.get(PROFILE, 2000)
CLOSE, CHANGE, NON_EMPTY, PERIODIC, ARRIVAL = Condition
BOTH = frozenset([CHANGE, CLOSE])
WITHOUT_ARRIVAL = (CLOSE, CHANGE, NON_EMPTY, PERIODIC)
REPORTS = [
    frozenset(c for c, on in zip(WITHOUT_ARRIVAL, f"{bits:04b}", strict=True) if on == "1")
    for bits in range(1, 16)
]
BY_TIME = [WindowKind(kind) for kind in ("time", "range", "now", "unbounded", "landmark")]
ACTIVE = tuple(kind for kind in WindowKind if kind is not WindowKind.SESSION)
NOT_TUPLES = [kind for kind in ACTIVE if kind is not WindowKind.TUPLE]
FROM_0 = (T0.FLINK, T0.STORM, T0.KAFKA_STREAMS)  # formulas
ANYWHERE = (Between(-8, 8), *(t0 for t0 in T0 if t0 not in FROM_0))


def objects(dataset: Dataset) -> Bag:
    """A row a triple: bags with more than one row of a kind."""
    return Counter(row({"o": statement[2]}) for statement in dataset)


def count(dataset: Dataset) -> Bag:
    """One row always: an answer that is not monotone and never empty."""
    return Counter([row({"n": literal(str(len(dataset)), XSD + "integer")})])


# An element without triples is content, too.
TRIPLES = [(f"<urn:{s}>", f"<urn:{p}>", f"<urn:{o}>") for s, p, o in ("apx", "bpx", "apy", "aqx")]
SOME = st.sampled_from(
    [
        *(frozenset([triple]) for triple in TRIPLES),
        frozenset(),
        frozenset(TRIPLES[:2]),
        frozenset(TRIPLES[1:3]),
    ]
)
ANSWERS = {
    Body("SELECT ?o { ?s ?p ?o }"): objects,
    Body("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"): count,
}


TIMES = Body(f"SELECT (<{TIMESTAMP}>(?s, ?p, ?o) AS ?t) {{ ?s ?p ?o }}")


def cheap_answer(body: Body, dataset: Dataset) -> Relation:
    """The answer to one of ANSWERS, without SPARQL."""
    if body not in ANSWERS:
        return r2r.defined_answer(body, dataset)
    return Relation(body.variables, ANSWERS[body](dataset))


@dataclass(frozen=True)
class Trial:
    """A query, its streams and a semantics."""

    query: Query
    streams: Mapping[str, Stream]
    semantics: Semantics

    def but(self, **fields: Any) -> Trial:
        return replace(self, semantics=replace(self.semantics, **fields))

    def with_semantics(self, semantics: Semantics) -> Trial:
        return Trial(self.query, self.streams, semantics)

    def reports(self, static: Dataset = frozenset()) -> list[Report]:
        """What is emitted, with a cheap answer in the place of SPARQL's."""
        taken = engine.evaluate(
            self.query,
            self.streams,
            self.semantics,
            static=static,
            answer=cheap_answer,
        )
        return list(taken)

    def evaluations(self) -> list[tuple]:
        """(t, arrival, what each window holds) of every evaluation."""
        found = engine.evaluations(engine.plan(self.query, self.streams, self.semantics))
        return [
            (at.t, at.arrival, tuple((held.n, tuple(held.content)) for held in at.windows))
            for at in found
        ]

    def arrivals(self) -> list[tuple[str, Element]]:
        """(stream, element) in the order of arrival over all streams."""
        return sorted(
            ((name, e) for name, elements in self.streams.items() for e in elements),
            key=lambda arrival: arrival[1].sys,
        )

    def arriving(self, arrivals: Sequence[tuple[str, Element]]) -> Trial:
        """The trial with other arrivals."""
        return replace(
            self,
            streams={
                name: Stream(tuple(e for of, e in arrivals if of == name)) for name in self.streams
            },
        )


@cache
def small_queries(
    kinds: tuple[WindowKind, ...], most: int, r2s: tuple[Any, ...], lags: tuple[int, ...]
) -> st.SearchStrategy[Query]:
    """Return queries of at most so many small windows. They are made once: Hypothesis takes longer
    to look at a new strategy than to draw.
    """
    return queries(
        kinds=kinds,
        max_windows=most,
        streams=["s", "r"],
        r2s=r2s,
        bodies=st.sampled_from([*ANSWERS]),
        sizes=st.integers(1, 6),
        slides=st.integers(1, 7),
        lags=st.sampled_from(lags),
    )


@st.composite
def trials(
    draw: st.DrawFn,
    *,
    kinds: Sequence[WindowKind] = ACTIVE,
    most: int = 3,
    r2s: Sequence = (None, *R2S),
    late: bool = True,
    elements: Mapping[str, Any] = MappingProxyType({}),
    **fields: Any,
) -> Trial:
    """Small windows of the kinds, in one query, under the semantics that the fields allow, and
    streams for them. `elements` are keywords of `inputs`. The active window is reported, and late
    elements are late for their stream, if no field says otherwise.
    """
    fields = {"reported_windows": "active"} | fields
    if fields["reported_windows"] == "active":
        fields = {"late_for": "stream"} | fields
    lags = (0,) if fields["reported_windows"] == "every" else (0, 0, 0, 1, 4)  # REP-14
    query = draw(small_queries(tuple(kinds), most, tuple(r2s), lags))
    chosen = draw(semantics(query, **fields))
    keyed = any(spec.by for spec in query.windows)
    apart = chosen
    if (
        not late
        and len({spec.stream for spec in query.windows}) > 1
        and isinstance(chosen.allowed_lateness, int)
    ):
        # inputs() are late by up to 2 more than is allowed
        apart = replace(
            chosen,
            allowed_lateness="reject"
            if chosen.allowed_lateness < 2
            else chosen.allowed_lateness - 2,
        )
    options = {"payloads": SOME, "intervals": True} | dict(elements)
    if keyed:
        options["payloads"] = None
    streams = draw(inputs(query, apart, **options))
    return Trial(query, streams, chosen)


# Registering a law


@dataclass(frozen=True)
class Law:
    """A law: what is drawn for it, the check (which asserts it and returns whether the draw told
    anything), the wrong engines that break it, what lies beyond its preconditions, where the engine
    itself breaks it, and the least share of draws that tell.
    """

    check: Callable[..., bool]
    drawn: st.SearchStrategy[tuple]
    wrong: tuple[WrongEngine, ...]
    beyond: Mapping[str, st.SearchStrategy[tuple]] = field(default_factory=dict)
    least: float = 1 / 6


LAWS: dict[str, Law] = {}


def law(
    drawn: st.SearchStrategy,
    *wrong: WrongEngine,
    because: str,
    theorems: Sequence[str] | None = None,
    **more: Any,
) -> Callable:
    """A law has the name of its function, and says its docstring. `because` and `theorems` are for
    docs/laws.md: a theorem that proves the law has its function's name if none is named.
    """

    def known(check: Callable[..., bool]) -> Callable[..., bool]:
        LAWS[check.__name__.replace("_", " ")] = Law(check, drawn, wrong, **more)
        return check

    return known


def wrong_engine(rule: str, name: str) -> WrongEngine:
    """A wrong engine of conformance/wrong_engines/."""
    [found] = [one for one in WRONG_ENGINES if rule in one.rules and one.name == name]
    return found


def wrong(right: Callable, function: Callable) -> WrongEngine:
    """A wrong engine of these tests alone."""
    return WrongEngine((), right, function)


# The laws


@st.composite
def shifts(
    draw: st.DrawFn,
    *,
    multiples: bool = True,
    staying: str = "",
    body: Body | None = None,
    **more: Any,
) -> tuple[Trial, int, str]:
    """A trial, how far its instants move, and the field of one that stays."""
    trial = draw(trials(**{"kinds": NOT_TUPLES, "t0": OneOf(ANYWHERE)} | more))
    if body is not None:
        trial = replace(trial, query=replace(trial.query, body=body))
    steps = [window.with_slide(spec, trial.semantics.slide).step for spec in trial.query.windows]
    aligned = multiples and trial.semantics.t0 in (T0.CORAL8, T0.ORACLE_CEP)
    by = draw(st.integers(-9, 9) | st.just(10**12)) * (lcm(*steps) if aligned else 1)
    return trial, by, staying


def moved(value: Any, by: int) -> Any:
    """An instant moved; other values as they are."""
    return value + by if isinstance(value, int) else value


def shifted(trial: Trial, by: int, staying: str = "") -> Trial:
    """A trial with all its instants moved, but for one that stays."""
    streams = {
        name: Stream(
            tuple(
                e._replace(
                    app=e.app + by * (staying != "app"), end=moved(e.end, by * (staying != "end"))
                )
                for e in s
            )
        )
        for name, s in trial.streams.items()
    }
    instants = {
        name: moved(getattr(trial.semantics, name), by * (staying != name))
        for name in ("t0", "offset", "not_before", "anchor", "horizon")
    }
    query = replace(
        trial.query, registered=moved(trial.query.registered, by * (staying != "registered"))
    )
    return Trial(query, streams, replace(trial.semantics, **instants))


def origin_of_even_instants(spec, semantics, first, registered=None, right=window.origin):
    """WIN-10, wrong: windows start at even instants only."""
    found = right(spec, semantics, first, registered)
    return None if found is None else found // 2 * 2


@law(
    shifts(),
    wrong(window.origin, origin_of_even_instants),
    wrong_engine("REP-11", "every period is anchored at 0"),
    beyond={
        "t0 by a formula that names 0": shifts(t0=OneOf(FROM_0)),
        "a shift that is no multiple of the slides": shifts(
            multiples=False, t0=OneOf((T0.CORAL8, T0.ORACLE_CEP)), kinds=[WindowKind.TIME]
        ),
        "tuple-based windows": shifts(kinds=[WindowKind.TUPLE], tick="time", t0=Between(-8, 8)),
        "a body that asks for times": shifts(body=TIMES, kinds=[WindowKind.TIME], most=1),
        "an app that stays": shifts(staying="app", t0=Between(-8, 8)),
        "an end that stays": shifts(staying="end", t0=Between(-8, 8)),
        "a t0 that stays": shifts(staying="t0", t0=Between(-8, 8)),
        "an offset that stays": shifts(staying="offset", t0="epoch", kinds=[WindowKind.TIME]),
        "an anchor that stays": shifts(
            staying="anchor", report="periodic", anchor=Between(-4, 4), t0=Between(-8, 8)
        ),
        "a horizon that stays": shifts(staying="horizon", horizon=Between(9, 40)),
        "a registration that stays": shifts(
            staying="registered", t0=OneOf((T0.REGISTRATION, T0.FIRST))
        ),
    },
    because=(
        "the rules compare instants with one another and with these integers alone; the "
        "other formulas for t0 name the instant 0, or round to multiples of β (WIN-7)."
    ),
)
def time_shift(trial: Trial, by: int, staying: str) -> bool:
    """If every instant moves by d (the app and end of all elements, and, where they are given as
    integers, t0, offset, `not_before`, anchor, horizon and the instant of registration), the
    instants of all reports, their windows' borders and their elements' instants move by d, and
    nothing else changes: for windows that are not tuple-based, a body that does not ask for times
    (R2R-21), and t0 an integer, a policy or `stream`, an offset other than `day` and `day-end`, or
    `coral8` or `oracle-cep` if d is a multiple of every window's β (1 where a slide is ignored).
    """
    before, after = trial.reports(), shifted(trial, by, staying).reports()
    expected = [
        replace(
            report,
            evaluation=report.evaluation + by,
            trigger=report.trigger + by,
            instant=report.instant + by,
            windows=tuple(
                borders and (borders[0] + by, borders[1] + by) for borders in report.windows
            ),
            contents=tuple(
                tuple(e._replace(app=e.app + by, end=moved(e.end, by)) for e in c)
                for c in report.contents
            ),
        )
        for report in before
    ]
    assert after == expected, f"moved by {by}: {after} for {expected}"
    return by != 0 and bool(before)


@st.composite
def permutations(draw: st.DrawFn, **more: Any) -> tuple[Trial, Trial]:
    trial = draw(trials(**{"kinds": BY_TIME, "tick": "time", "late": False} | more))
    arrivals = trial.arrivals()
    runs = list(accumulate((a[1].app != b[1].app for a, b in pairwise(arrivals)), initial=0))
    order = sorted(draw(st.permutations(range(len(arrivals)))), key=lambda i: runs[i])
    pairs = zip((place for _, place in arrivals), (arrivals[i] for i in order), strict=True)
    return trial, trial.arriving(
        [(name, e._replace(sys=place.sys, batch=place.batch)) for place, (name, e) in pairs]
    )


def without_order(report: Report) -> tuple:
    """A report without its elements' places in the order of arrival."""
    contents = tuple(
        Counter((e.graph, e.app, e.end) for e in content) for content in report.contents
    )
    return replace(report, contents=()), contents


def late_beside_another_stream() -> st.SearchStrategy:
    """The late element of s at 0 arrives before, or after, the one of r at 0, whose reports count
    it, or not (MOD-2).
    """
    spec = Window("s", WindowKind.TIME, 1, 1)
    early, at_0 = Element(frozenset(), 5, 1), Element(frozenset(), 0, 2)
    fields = PLAIN | {
        "t0": -1,
        "closure": "[)",
        "report": "window-close",
        "tick": "time",
        "allowed_lateness": 0,
    }
    chosen = Semantics(**fields, empty="emit", horizon="none", instant="close")
    query = Query((spec, replace(spec, stream="r")), next(iter(ANSWERS)))
    trial = Trial(query, {"s": Stream((early, at_0)), "r": Stream((at_0._replace(sys=3),))}, chosen)
    return st.just(
        (
            trial,
            replace(
                trial, streams={"s": Stream((early, at_0._replace(sys=3))), "r": Stream((at_0,))}
            ),
        )
    )


def consumed_in_order() -> st.SearchStrategy:
    """Of two elements at 0 the one that comes first is joined with that of 1 (R2R-22)."""
    body = Body("SELECT ?x { ?x <urn:p> ?u . ?y <urn:q> ?v }")
    spec = Window("s", WindowKind.RANGE, 2)
    one, other, later = (
        Element(frozenset([triple]), app, place)
        for place, (triple, app) in enumerate(
            ((TRIPLES[0], 0), (TRIPLES[1], 0), (TRIPLES[3], 1)), 1
        )
    )
    chosen = profile("etalis").but(closure="[]", consumption="chronological", tick="time")
    trial = Trial(Query((spec,), body), {"s": Stream((one, other, later))}, chosen.semantics())
    swapped = Stream((other._replace(sys=1), one._replace(sys=2), later))
    return st.just((trial, replace(trial, streams={"s": swapped})))


def content_of_latest(view, t, arrived, right=window.content):
    """WIN-8, wrong: of simultaneous elements a window holds the last that arrived."""
    found = right(view, t, arrived)
    return tuple(
        i for i in found if i + 1 not in found or view.times[i] != view.times[i + 1]
    ) or range(0)


@law(
    permutations(),
    wrong_engine("TICK-2", "every arrival"),
    wrong(window.content, content_of_latest),
    beyond={
        "the tuple tick": permutations(tick="tuple"),
        "rows": permutations(kinds=[WindowKind.ROWS]),
        "partitions": permutations(kinds=[WindowKind.PARTITION]),
        "tuple-based windows": permutations(kinds=[WindowKind.TUPLE]),
        "late elements beside another stream's": st.deferred(late_beside_another_stream),
        "elements that are consumed": st.deferred(consumed_in_order),
    },
    because=(
        "only complete instants are looked at (TICK-2, TICK-4), and such a window holds a "
        "set of elements (WIN-8, WIN-18). Late elements are counted by arrival (MOD-2)."
    ),
)
def simultaneous_arrivals(trial: Trial, permuted: Trial) -> bool:
    """Under the time tick simultaneous elements that arrive one after another, of one stream, or of
    several if none is late, can arrive in any other order among themselves: nothing changes but the
    order in which a content lists them. For windows of the kinds `time`, `range`, `now`,
    `unbounded` and `landmark`, where no element is consumed.
    """
    before, after = trial.reports(), permuted.reports()
    assert list(map(without_order, before)) == list(map(without_order, after)), (
        f"{before} and {after}"
    )
    return bool(before) and trial != permuted


@st.composite
def rebatched(draw: st.DrawFn, *, anew: bool = False, **more: Any) -> tuple[Trial, Trial]:
    trial = draw(trials(**more))
    arrivals = trial.arrivals()
    ids = (
        [draw(st.integers(0, 2)) for _ in arrivals]
        if anew or trial.semantics.tick is not Tick.BATCH
        else []
    )
    if not ids:  # the same batches with other numbers
        known = sorted({e.batch for _, e in arrivals})
        numbers = dict(zip(known, accumulate(draw(st.integers(1, 5)) for _ in known), strict=False))
        return trial, trial.arriving(
            [(name, e._replace(batch=numbers[e.batch])) for name, e in arrivals]
        )
    given = accumulate(ids, initial=1)
    return trial, trial.arriving(
        [(name, e._replace(batch=batch)) for (name, e), batch in zip(arrivals, given, strict=False)]
    )


def without_batches(report: Report) -> Report:
    return replace(
        report,
        contents=tuple(
            tuple(e._replace(batch=None) for e in content) for content in report.contents
        ),
    )


def due_by_any_batch(tick, arrival, app, batch):
    """TICK-1, TICK-2, wrong: an element of the batch that was looked at is not looked at again,
    whatever the tick.
    """
    return right_due(tick, arrival, app, batch) and (arrival.batch is None or arrival.batch > batch)


def due_by_consecutive_batches(tick, arrival, app, batch):
    """TICK-3, wrong: batches are expected to be numbered 1, 2, 3."""
    return right_due(tick, arrival, app, batch) and (
        tick is not Tick.BATCH or arrival.batch == batch + 1
    )


@law(
    rebatched(),
    wrong(tick.is_due, due_by_any_batch),
    wrong(tick.is_due, due_by_consecutive_batches),
    beyond={"other batches under the batch tick": rebatched(tick="batch", anew=True)},
    because="TICK-3 alone reads batch ids, and compares them.",
)
def batches(trial: Trial, other: Trial) -> bool:
    """Under the batch tick batch ids count as an order only: with ids that rise and stay where they
    did, over all streams together, nothing changes but the ids. Under the other ticks a stream can
    be split into batches in any other way, or in none.
    """
    before, after = trial.reports(), other.reports()
    assert list(map(without_batches, before)) == list(map(without_batches, after)), (
        f"{before} and {after}"
    )
    return bool(before) and trial != other


CLOSES = {
    "report": OneOf(([CLOSE], [CLOSE, NON_EMPTY])),
    "missed_instants": "all",
    "horizon": "flush",
}
POINTS = {"intervals": False}
ONE_WINDOW = {"kinds": [WindowKind.TIME, WindowKind.RANGE], "most": 1, "elements": POINTS}


@st.composite
def tumbling(draw: st.DrawFn, **more: Any) -> tuple[Trial]:
    trial = draw(
        trials(**ONE_WINDOW | CLOSES | {"closure": OneOf(("[)", "(]")), "slide": "stated"} | more)
    )
    [spec] = trial.query.windows
    return (replace(trial, query=replace(trial.query, windows=(replace(spec, slide=spec.size),))),)


@st.composite
def alone(draw: st.DrawFn, **more: Any) -> tuple[Trial]:
    return (draw(trials(**more)),)


@st.composite
def counted(draw: st.DrawFn, *, with_late: bool = False, **more: Any) -> tuple[Trial, bool]:
    """A trial, and whether late elements count, too."""
    return draw(trials(**ONE_WINDOW | CLOSES | more)), with_late


def held(trial: Trial) -> tuple[window.WindowView, Counter]:
    """The one window's view, and in how many evaluations' contents each of its elements is, by
    index.
    """
    [view] = engine.plan(trial.query, trial.streams, trial.semantics).views
    return view, Counter(i for _, _, ((_, content),) in trial.evaluations() for i in content)


@law(
    tumbling(),
    wrong_engine("WIN-2", "both borders belong to every window"),
    wrong_engine("WIN-2", "border elements are lost"),
    wrong_engine("WIN-8", "nothing expires"),
    beyond={
        "closed windows": tumbling(closure="[]"),
        "a slide that is ignored": tumbling(slide="ignored"),
        "elements with intervals": tumbling(elements={}),
        "the latest of a gap": tumbling(missed_instants="latest"),
        "nothing after the last arrival": tumbling(horizon="none"),
        "content change of graphs": tumbling(
            report="window-close,content-change", change_scope="graph"
        ),
        "windows that do not tumble": alone(
            **ONE_WINDOW | CLOSES | {"closure": OneOf(("[)", "(]")), "slide": "stated"}
        ),
    },
    because=(
        "each instant from window 0's first on is in exactly one such window, which is "
        "evaluated once, at its last instant (REP-1)."
    ),
)
def tumbling_windows(trial: Trial) -> bool:
    """Tumbling windows partition the stream: each element that is not late is in the content of
    exactly one evaluation if it is not before window 0's first instant (moved back by a lag), and
    else of none. For one window of the kind `time` or `range` with β = ω, a slide as stated, `[)`
    or `(]`, points, {close} or {close, non-empty}, all windows of a gap, and the horizon `flush`.
    """
    view, times = held(trial)
    low = window.borders(trial.semantics.closure)[0] - view.spec.lag
    for i, app in enumerate(view.times):
        expected = int(app >= view.t0 + low)
        assert times[i] == expected, f"the element at {app} is in {times[i]} windows for {expected}"
    return len(set(view.times)) > 1 and len(times) > 1


@law(
    counted(),
    wrong_engine("WIN-17", "the slide is ignored"),
    wrong_engine("WIN-8", "nothing expires"),
    wrong_engine("WIN-4", "open for an instant more"),
    beyond={
        "elements with intervals": counted(elements={}),
        "the latest of a gap": counted(missed_instants="latest"),
        "nothing after the last arrival": counted(horizon="none"),
        "late elements": counted(with_late=True, allowed_lateness=Between(0, 2)),
        "content change of graphs": counted(
            report="window-close,content-change", change_scope="graph"
        ),
    },
    because=(
        "the windows that hold an instant open within w instants, and one opens every β (WIN-3)."
    ),
    theorems=("coverage", "coverage_whole"),
)
def coverage(trial: Trial, with_late: bool) -> bool:
    """With w the number of a window's instants (ω, ω + 1 for `[]`, ω − 1 for `()`) and β as
    honoured, each element that is not late is in the contents of at most ⌈w/β⌉ evaluations, and
    from window 0's last instant (moved back by a lag) on in at least ⌊w/β⌋: in ω/β of them where
    that is a whole number and w is ω. For one window of the kind `time` or `range`, points,
    {close} or {close, non-empty}, all windows of a gap, and the horizon `flush`.
    """
    (spec,) = trial.query.windows
    low, high = window.borders(trial.semantics.closure)
    view, times = held(trial)
    if not view.times:
        return False
    slide = 1 if trial.semantics.slide is Slide.IGNORED else spec.slide or 1
    ratio, last = (
        Fraction(spec.size + high - low + 1, slide),
        view.t0 + spec.size + high - spec.lag,
    )
    if with_late:
        dropped = [e for _, e in trial.arrivals() if e not in view.elements]
        assert ratio < 1 or all(e.app < last for e in dropped), (
            f"{dropped} are late, and in no window"
        )
    for i, app in enumerate(view.times):
        least = floor(ratio) if app >= last else 0
        assert least <= times[i] <= ceil(ratio), (
            f"the element at {app} is in {times[i]} windows, of {ratio}"
        )
    return ratio != 1 and any(app >= last for app in view.times)


ONE = (("1", "integer"), ("01", "integer"), ("1.0", "decimal"), ("1e0", "double"))
SPELT = [literal(text, XSD + kind) for text, kind in (*ONE, ("2", "integer"))]
EMPTY_OFTEN = ("window-close", "content-change")
REPORTED_OFTEN = ("non-empty", "content-change", "content-change,non-empty")
NEAR = [literal(text, XSD + "double") for text in ("1.0", "1.0000000009", "1.0000000018")]


def numbers(terms: Sequence[str]) -> st.SearchStrategy:
    """Graphs with these objects, of which some are the same by value."""
    return st.frozensets(
        st.tuples(
            st.sampled_from(["<urn:a>", "<urn:b>"]), st.just("<urn:p>"), st.sampled_from(terms)
        ),
        max_size=3,
    )


@st.composite
def differences(
    draw: st.DrawFn, terms: Sequence[str] = SPELT, least: int = 0, **more: Any
) -> tuple[Trial]:
    operators = {} if "base" in more else {"base": OneOf(tuple(Base))}
    trial = draw(
        trials(
            elements={"payloads": numbers(terms), "min_size": least, "max_size": 8},
            **{"r2s": [None], "empty": "emit"} | operators | more,
        )
    )
    return (trial,)


@law(
    # of few elements, or of few reports, hardly anything goes
    differences(least=8)
    | differences(least=8, report=OneOf(REPORTED_OFTEN), horizon="flush", tick="tuple"),
    wrong_engine("R2S-2", "every operator is rstream"),
    wrong_engine("R2S-2", "r2s over sets"),
    wrong_engine("R2S-4", "no base"),
    wrong_engine("R2S-8", "the base grows"),
    beyond={
        "numbers that are near, and not equal": differences(
            terms=NEAR, kinds=[WindowKind.TIME], most=1, report="content-change"
        ),
        "a query that states an operator": differences(r2s=[R2S.RSTREAM]),
        "empty answers suppressed": differences(empty="suppress"),
    },
    because=(
        "A = B − (B − A) + (A − B) for bags (R2S-2, R2S-3, R2S-8). Nearness is not transitive."
    ),
)
def istream_and_dstream(trial: Trial) -> bool:
    """Istream and Dstream together reconstruct Rstream: with B empty at first, the answer of each
    evaluation is, by value (CMP-1), the bag B − D + I, where I and D are its outputs under Istream
    and Dstream; for the base `previous` B is then that answer, for `previous-new` only where I is
    not empty. For a query that states no operator, empty answers emitted, and answers in which
    numbers that are near (CMP-2) are equal.
    """
    base = trial.semantics.base
    whole = [r.relation.rows for r in trial.but(r2s=R2S.RSTREAM, base=None).reports()]
    come, gone = (
        [r.relation.rows for r in trial.but(r2s=operator, base=base).reports()]
        for operator in (R2S.ISTREAM, R2S.DSTREAM)
    )
    assert len(whole) == len(come) == len(gone)
    known: Bag = Counter()
    for number, (answer, new, old) in enumerate(zip(whole, come, gone, strict=True), 1):
        left, missing = compare.difference(known, old)
        assert not missing, f"report {number}: Dstream takes away {missing} from {known}"
        found = left + new
        assert compare.equal(found, answer), (
            f"report {number}: {known} − {old} + {new} for {answer}"
        )
        known = found if base is Base.PREVIOUS or new else known
    return any(gone) and sum(map(bool, come)) > 1


@st.composite
def with_static(draw: st.DrawFn, **more: Any) -> tuple[Trial, Dataset]:
    named = st.tuples(triples(), st.sampled_from(["urn:w1", "urn:g"])).map(
        lambda pair: (*pair[0], f"<{pair[1]}>")
    )
    return draw(trials(**{"empty": "emit", "consumption": "unrestricted"} | more)), draw(
        st.frozensets(triples() | named, min_size=1, max_size=3)
    )


@law(
    with_static(),
    wrong_engine("R2R-8", "static data is content"),
    wrong_engine("R2S-5", "empty is never sent"),
    beyond={"empty answers suppressed": with_static(empty="suppress")},
    because=(
        "static data is part of the dataset alone (R2R-8); beside consumed elements it is "
        "refused (QRY-5)."
    ),
)
def static_data(trial: Trial, static: Dataset) -> bool:
    """Static data never affects the condition non-empty, nor any other, nor a content: with it and
    without there are the same reports but for their relations. For empty answers emitted, since
    static data may make an answer empty, or not, and where no element is consumed.
    """
    without, along = trial.reports(), trial.reports(static)
    assert [replace(r, relation=None) for r in without] == [
        replace(r, relation=None) for r in along
    ]
    return any(a.relation != b.relation for a, b in zip(without, along, strict=True))


def subsequence(few: Sequence, many: Sequence) -> bool:
    """Whether few are some of many, in the same order."""
    rest = iter(many)
    return all(any(a == b for b in rest) for a in few)


def once_is_first(empty: Empty, output: Bag, last: Bag) -> bool:
    """R2S-9, wrong: once is the first answer that is not empty, and none after it."""
    return empty is Empty.EMIT or (bool(output) and (empty is Empty.SUPPRESS or not last))


@law(
    # With fewer elements hardly any answer is empty after one that is not.
    alone(elements={"min_size": 4}) | alone(elements={"min_size": 4}, report=OneOf(EMPTY_OFTEN)),
    wrong_engine("R2S-4", "the base is what was sent"),
    wrong(r2s.emits_output, once_is_first),
    wrong_engine("R2S-5", "zeros are empty"),
    wrong_engine("R2S-5", "empty is always sent"),
    because=(
        "R2S-5 and R2S-9 decide on a report that is made, and the base moves on with "
        "every evaluation (R2S-4)."
    ),
    theorems=("suppress_is_emit_without_empty", "once_is_emit_without_repeated_empties"),
)
def empty_answers(trial: Trial) -> bool:
    """What becomes of empty answers never changes the others: `suppress` gives the reports of
    `emit` whose relation is not empty, and `once` gives these and, of the empty ones, each that
    directly follows one that is not empty in `emit`. For every query and semantics.
    """
    emitted = trial.but(empty=Empty.EMIT).reports()
    suppressed = [report for report in emitted if report.relation]
    after = [False, *(bool(report.relation) for report in emitted)]
    once = [
        report
        for report, follows in zip(emitted, after, strict=False)
        if report.relation or follows
    ]
    expected = {Empty.EMIT: emitted, Empty.SUPPRESS: suppressed, Empty.ONCE: once}
    for empty in Empty:
        found = trial.but(empty=empty).reports()
        assert [report for report in found if report.relation] == suppressed
        assert found == expected.get(empty, found)
    return 0 < len(suppressed) < len(emitted)


@st.composite
def refined(
    draw: st.DrawFn, *, on_instants: bool | None = None, change: bool = False, **more: Any
) -> tuple[Trial, Trial]:
    """A trial with two or more conditions, and with fewer: without conditions on the instant only
    where that is sound, and never with content change, unless asked for.
    """
    on_instants = draw(st.booleans()) if on_instants is None else on_instants
    stronger = [
        r
        for r in REPORTS
        if len(r) > 1 and (not change or CHANGE in r) and (on_instants or r & {CHANGE, NON_EMPTY})
    ]
    sound = (
        {"missed_instants": "all", "kinds": NOT_TUPLES}
        if on_instants
        else draw(st.sampled_from(({"missed_instants": "all"}, {"kinds": [WindowKind.TUPLE]})))
    )
    fields = {"report": OneOf(tuple(stronger))} | sound | more
    trial = draw(trials(**fields))
    report = trial.semantics.report
    kept = report & {CLOSE, PERIODIC} if not on_instants else frozenset()
    weaker = [r for r in REPORTS if kept <= r < report and (CHANGE in r) == change]
    chosen = draw(st.sampled_from(weaker))
    periodic = {} if PERIODIC in chosen else {"period": None, "anchor": None}
    gap = {} if chosen & {CLOSE, PERIODIC} else {"missed_instants": MissedInstants.ALL}
    return trial.but(report=chosen, **periodic, **gap), trial


@law(
    refined(),
    wrong_engine("REP-6", "one condition is enough"),
    beyond={
        "content change in the weaker one": refined(change=True, on_instants=True),
        "the latest of a gap, and a condition on the instant": refined(
            on_instants=True,
            missed_instants="latest",
            kinds=[WindowKind.TIME],
            report="window-close,periodic",
        ),
        "the latest of a gap, and one on the content": refined(
            on_instants=False, missed_instants="latest", kinds=[WindowKind.TIME]
        ),
        "tuple-based windows, and a condition on the instant": refined(
            on_instants=True, kinds=[WindowKind.TUPLE], tick="time"
        ),
    },
    because=(
        "conditions other than content change hold or not whatever was reported before "
        "(REP-6). The latest instant of a gap or a tick may be another one (REP-7, REP-10)."
    ),
)
def refinement(weaker: Trial, stronger: Trial) -> bool:
    """A report with more conditions (none is `arrival`) gives a subsequence of the evaluations,
    with the same contents, where the one with fewer does not name content change. For all windows
    of a gap and windows that are not tuple-based; or for tuple-based ones, if what is added is
    non-empty or content change, or both.
    """
    many, few = weaker.evaluations(), stronger.evaluations()
    assert subsequence(few, many), f"{few} is no part of {many}"
    return 0 < len(few) < len(many)


EACH = {"kinds": [WindowKind.TIME, WindowKind.SESSION], "most": 1, "r2s": [None]}
EACH |= {"reported_windows": "every", "t0": Between(-3, 3)}


@st.composite
def panes(draw: st.DrawFn, kind: str, **more: Any) -> tuple[Trial, Trial]:
    """A trial whose windows accumulate, and the same with other panes."""
    trial = draw(trials(**EACH | {"panes": "accumulating", "horizon": "flush"} | more))
    return trial, trial.but(panes=kind)


def standing(trial: Trial) -> list[tuple[tuple, tuple[Element, ...]]]:
    """Return the borders and the content of what was reported, in order, without what was taken
    back. Raises ValueError if what is taken back was not there.
    """
    found: list[tuple[tuple, tuple[Element, ...]]] = []
    for report in trial.reports():
        shown = report.windows, tuple(report.contents[0])
        if report.takes_back:
            found.remove(shown)
        else:
            found.append(shown)
    return found


def last_contents(trial: Trial) -> dict[tuple, tuple[Element, ...]]:
    """Return the content that each window showed last, by its borders. A session stands for those
    that it is made of.
    """
    last: dict[tuple, tuple[Element, ...]] = {}
    for borders, content in standing(trial):
        if trial.query.windows[0].kind is WindowKind.SESSION:
            last = {key: held for key, held in last.items() if not set(held) <= set(content)}
        last[borders] = content
    return last


def pane_of_the_newest(schedule, held, right=FiringSchedule.pane):
    """REP-16, wrong: only the newest of the new elements is shown."""
    return right(schedule, held)[-1:]


@law(
    panes("discarding", elements={"min_size": 6}, empty="emit"),
    wrong(FiringSchedule.pane, pane_of_the_newest),
    beyond={"panes that are replaced": panes("replacing")},
    because="a report shows what the window holds and has not shown (REP-16).",
    theorems=(),
)
def discarding_panes_add_up(trial: Trial, other: Trial) -> bool:
    """The contents that a window shows with discarding panes, put together, are the last content
    that it shows with accumulating ones, and no element is shown twice, if empty answers are
    emitted; a session shows what each session has shown that it is made of.
    """
    last = last_contents(trial)
    is_session = trial.query.windows[0].kind is WindowKind.SESSION
    shown = [(borders, list(content)) for borders, content in standing(other)]
    for borders, whole in last.items():
        parts = [p for of, p in shown if (set(p) <= set(whole) if is_session else of == borders)]
        found = [element for part in parts for element in part]
        assert len(found) == len(set(found)) and set(found) == set(whole), f"{borders}: {shown}"
    return len(shown) > len(last) > 0


@law(
    panes("retracting", kinds=[WindowKind.TIME]),
    wrong_engine("REP-16", "nothing is taken back"),
    beyond={
        "sessions that had expired": panes(
            "retracting",
            kinds=[WindowKind.SESSION],
            expired_session="joined",
            late_for="window",
            allowed_lateness=0,
            watermark_delay=Between(0, 1),
            early_period=1,
            report="non-empty,window-close",
        ),
        "panes that are replaced": panes("replacing", kinds=[WindowKind.TIME]),
    },
    because=(
        "a report takes back what the window showed last; a session may be made of one that has "
        "expired, and what that showed stays said (REP-16)."
    ),
    theorems=(),
)
def retracting_panes_give_the_last(trial: Trial, other: Trial) -> bool:
    """What is reported with retracting panes, without what is taken back, is the last report of
    each window with accumulating ones: for windows of the kind `time`.
    """
    last = last_contents(trial)
    assert sorted(standing(other)) == sorted(last.items())
    return len(standing(trial)) > len(last)


@st.composite
def closing(draw: st.DrawFn, *, delay: int = 0, in_order: bool = True, **more: Any) -> tuple:
    """A trial that reports the active window, and the same with every window."""
    close = [frozenset([CLOSE]), frozenset([CLOSE, NON_EMPTY])]
    fields = {"report": OneOf(tuple(close)), "close_rule": "reached", "missed_instants": "all"}
    fields |= {"kinds": [WindowKind.TIME], "most": 1, "r2s": [None, R2S.RSTREAM]}
    fields |= {"change_baseline": "last-report", "expiry_seen": "replayed", "t0": Between(-3, 3)}
    fields |= {"empty": OneOf(("emit", "suppress")), "tick": OneOf(("tuple", "time"))}
    fields |= {"consumption": "unrestricted", "allowed_lateness": "reject"} | more
    trial = draw(trials(**fields))
    [spec] = trial.query.windows
    trial = replace(trial, query=replace(trial.query, windows=(replace(spec, lag=0),), r2s=None))
    trial = trial.but(r2s="Rstream", base=None)
    if not in_order:
        arrivals = trial.arrivals()
        order = draw(st.permutations(arrivals))
        pairs = zip(arrivals, order, strict=True)
        moved = [(name, e._replace(sys=place.sys)) for (_, place), (name, e) in pairs]
        trial = trial.but(allowed_lateness=0).arriving(moved)
    late = {"late_for": "window", "watermark": "greatest", "watermark_delay": delay}
    late |= {"allowed_lateness": draw(GRACES)}
    late |= {"expiry_rule": draw(st.sampled_from(("reached", "passed")))}
    return trial, trial.but(reported_windows="every", **late)


GRACES = st.integers(0, 6)


@law(
    closing(),
    wrong_engine("REP-14", "a window is there only with elements"),
    wrong_engine("REP-14", "one condition is enough for a window"),
    beyond={
        "a delay": closing(delay=2),
        "elements out of order": closing(in_order=False),
        "content change": closing(report="content-change", empty="emit"),
    },
    because=(
        "the watermark is then the app of the arrival, and of the windows that close in a gap each "
        "has an instant of its own, at which it is active (WIN-4)."
    ),
    theorems=("every_is_active",),
)
def every_window_closes_as_the_active_one(trial: Trial, other: Trial) -> bool:
    """Over a stream in order `every` window reports what the `active` one does, whatever the grace,
    if windows decide what is late and there is no delay: for one window of the kind `time`, {close}
    or {close, non-empty}, when a close is reached, all windows of a gap, and ticks by tuple and by
    time.
    """
    one, two = trial.reports(), other.reports()
    assert one == two, f"{two} for {one}"
    return bool(one)


@law(
    shifts(**EACH | {"early_period": "none", "t0": OneOf(ANYWHERE)}),
    wrong(window.origin, origin_of_even_instants),
    beyond={
        "an early period": shifts(**EACH | {"early_period": Between(2, 4)}),
        "an app that stays": shifts(**EACH, staying="app"),
        "a horizon that stays": shifts(**EACH | {"horizon": Between(9, 40)}, staying="horizon"),
    },
    because="watermarks, gaps and graces are differences of instants (MOD-5, WIN-22, WIN-23).",
    theorems=(),
)
def sessions_shift(trial: Trial, by: int, staying: str) -> bool:
    """If every instant moves by d, as in the law of the time shift, the reports of windows that are
    each reported on their own move by d, sessions among them, if there is no early period.
    """
    return time_shift(trial, by, staying)


# The tests


class Broken(Exception):
    """A draw that breaks a law."""


def breaks(held: Law, drawn: st.SearchStrategy, most: int = 1500) -> bool:
    """Whether some draw breaks a law. A crash is none."""

    @settings(
        derandomize=True,
        max_examples=most,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )
    @given(drawn)
    def tried(arguments: tuple) -> None:
        try:
            held.check(*arguments)
        except AssertionError:
            raise Broken from None
        except RefengineError:  # the wrong engine does not take the draw: that breaks no law
            pass

    try:
        tried()
    except Broken:
        return True
    return False


@pytest.mark.parametrize("name", LAWS)
def test_the_law_holds(name: str):
    """And enough draws tell something: a law of reports that are never made would hold, too."""
    held, told = LAWS[name], []

    @settings(max_examples=DRAWS)
    @given(held.drawn)
    def holds(drawn: tuple) -> None:
        told.append(held.check(*drawn))

    holds()
    print(
        f"{name}: {len(told)} draws, of which {sum(told)} told something "
        f"({sum(told) / len(told):.0%})"
    )
    assert sum(told) >= held.least * len(told), (
        f"only {sum(told)} of {len(told)} draws told something"
    )


@pytest.mark.parametrize(
    ("name", "mistaken"),
    [(n, m) for n, known in LAWS.items() for m in known.wrong],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_wrong_engine_breaks_the_law(name: str, mistaken: WrongEngine):
    with mistaken.installed():
        assert breaks(LAWS[name], LAWS[name].drawn), (
            f"no draw of the law {name!r} notices: {mistaken.name}"
        )


@pytest.mark.parametrize(
    ("name", "beyond"), [(n, b) for n, known in LAWS.items() for b in known.beyond]
)
def test_the_precondition_is_needed(name: str, beyond: str):
    """Beyond each precondition the engine itself breaks the law: none is there only to be safe."""
    assert breaks(LAWS[name], LAWS[name].beyond[beyond]), (
        f"the law {name!r} holds for {beyond}, too"
    )


# The smallest counterexamples of refinement with content change


@dataclass(frozen=True, order=True)
class Small:
    """One window [0, ω) and so on, and the instants of points: smaller are fewer elements, then a
    smaller ω, then a smaller β, then an element nearer to t0 = 0.
    """

    elements: int
    size: int
    slide: int
    distance: int
    app: int | None = field(compare=False, default=None)

    def trial(self, **fields: Any) -> Trial:
        chosen = PLAIN | {
            "t0": 0,
            "report": "content-change",
            "tick": "tuple",
            "empty": "emit",
            "horizon": "flush",
            "instant": "close",
        }
        points = () if self.app is None else (Element(frozenset(TRIPLES[:1]), self.app, 1, 1),)
        query = Query((Window("s", WindowKind.TIME, self.size, self.slide),), next(iter(ANSWERS)))
        return Trial(query, {"s": Stream(points)}, Semantics(**chosen | fields))


def small(bound: int = 3) -> Iterator[Small]:
    """All up to one element, with ω, β and the distance from t0 up to a
    bound, the smallest first.
    """
    for size, slide in product(range(1, bound + 1), repeat=2):
        yield Small(0, size, slide, 0)
    for size, slide, distance in product(
        range(1, bound + 1), range(1, bound + 1), range(bound + 1)
    ):
        yield from (
            Small(1, size, slide, distance, app)
            for app in sorted({distance, -distance}, reverse=True)
        )


def evaluated(trial: Trial) -> list[tuple[int, int]]:
    """(t, how many elements the window holds) of every evaluation."""
    return [(t, len(content)) for t, _, ((_, content),) in trial.evaluations()]


def refutes(stronger: Trial, weaker: Trial) -> bool:
    """Whether the evaluations of `stronger` are no subsequence of those of `weaker`: the same trial
    under {content change, window close} and under {content change}.
    """
    return not subsequence(evaluated(stronger), evaluated(weaker))


def every_other_choice() -> Iterator[dict[str, Any]]:
    """All values of the fields that evaluations of one window at t0 = 0
    depend on, but the closure.
    """
    choices = {
        "slide": Slide,
        "partial": Partial,
        "close_rule": CloseRule,
        "change_baseline": ChangeBaseline,
        "change_scope": ChangeScope,
        "expiry_seen": ExpirySeen,
        "tick": Tick,
        "horizon": ("none", "flush", 20),
    }
    yield from (dict(zip(choices, values, strict=True)) for values in product(*choices.values()))


SHOWN = re.findall(
    r"^\| `(..)` \| (\d) \| (\d) \| (\d) \| (.*?) \| (.*?) \|$",
    PAGE.read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_every_closure_has_a_smallest_counterexample():
    assert [closure for closure, *_ in SHOWN] == list(Closure)


@pytest.mark.parametrize(
    ("closure", "size", "slide", "app", "change", "both"), SHOWN, ids=lambda text: text
)
def test_the_counterexample_is_one_and_the_smallest(
    closure: str, size: str, slide: str, app: str, change: str, both: str
):
    """As it is written; and no smaller one is one, whatever the other choices."""
    shown = Small(1, int(size), int(slide), int(app), int(app))
    weaker = shown.trial(closure=closure)
    stronger = weaker.but(report=BOTH)
    for text, trial in ((change, weaker), (both, stronger)):
        written = [
            (int(t), int(holds == "{a}")) for t, holds in re.findall(r"(\d+): ({a}|∅)", text)
        ]
        assert written == evaluated(trial)
    assert refutes(stronger, weaker)

    smaller = [
        other for other in small() if other < shown and other.size >= Closure(closure).least_size
    ]
    assert any(other.elements == 0 for other in smaller)
    trials_of_smaller = [(other, other.trial(closure=closure)) for other in smaller]
    for choice in every_other_choice():
        weaker_semantics = weaker.but(**choice).semantics
        stronger_semantics = stronger.but(**choice).semantics
        for other, trial in trials_of_smaller:
            is_smaller_counterexample = refutes(
                trial.with_semantics(stronger_semantics), trial.with_semantics(weaker_semantics)
            )
            assert not is_smaller_counterexample, f"{other} is smaller, under {choice}"
