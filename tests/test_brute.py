"""The engine's windows, reports and differences are those of the definition by enumeration (`brute.py`)."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate, combinations, zip_longest
from pathlib import Path

import pytest
from brute import ON_INSTANTS, Brute, Emitted, Reported
from hypothesis import Phase, event, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from refengine import (
    Body,
    Element,
    Query,
    Relation,
    Stream,
    TooManyReports,
    Window,
    WindowKind,
    evaluate,
    evaluations,
    literal,
    row,
    stream,
)
from refengine.model import Bag, Triple
from refengine.semantics import R2S, Closure, Condition, Empty, End, Instant, Semantics, Tick


def objects(graph: frozenset[Triple]) -> Bag:
    """A row for each triple of one predicate: bags with more than one row of a kind."""
    return Counter(row({"o": o}) for _, p, o in graph if p == "<urn:p>")


def count(graph: frozenset[Triple]) -> Bag:
    """One row always: an answer that is not monotone and never empty."""
    return Counter([row({"n": literal(str(len(graph)))})])


BODIES = {
    objects: Body("SELECT ?o { ?s <urn:p> ?o }"),
    count: Body("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"),
}
TRIPLES = [(f"<urn:{s}>", f"<urn:{p}>", f"<urn:{o}>") for s, p, o in ("apx", "bpx", "apy", "aqx")]
GRAPHS = [frozenset(graph) for size in (1, 1, 0, 2) for graph in combinations(TRIPLES, size)]
REPORTS = [frozenset(report) for size in range(1, 5) for report in combinations(Condition, size)]
CLOSING = Semantics(
    t0=0, closure="[)", report="window-close,non-empty", period=None, anchor=None, tick="tuple", r2s="Rstream", empty="emit",
    horizon="flush", instant="close",
)  # fmt: skip
CHOICES = {
    "t0": range(-8, 9),
    "closure": Closure,
    "report": REPORTS,
    "period": range(1, 5),
    "anchor": range(-3, 4),
    "tick": Tick,
    "r2s": R2S,
    "empty": Empty,
    "horizon": End,
    "instant": Instant,
    "kind": WindowKind,
    "stated": [None, *R2S],
}


@dataclass(frozen=True)
class Case:
    """A drawn case: a window, a stream, a semantics, the operator that the query states and what it answers."""

    window: Window
    stream: Stream
    semantics: Semantics
    stated: R2S | None
    answer: Callable[[frozenset[Triple]], Bag]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Streams of 0 to 8 elements, with ties, gaps and elements on borders, under the whole of `Semantics`."""
    kind = draw(st.sampled_from(WindowKind))
    size, slide, length = draw(st.integers(1, 6)), draw(st.integers(1, 8)), draw(st.integers(0, 8) | st.integers(4, 8))
    t0 = draw(st.integers(-8, 8) if kind is WindowKind.TIME else st.integers(-8, 8) | st.integers(-3, 1))
    near_border = st.builds(
        lambda n, side, off: t0 + n * slide + side * size + off, st.integers(0, 4), st.integers(0, 1), st.integers(-1, 1)
    )
    apps = sorted(draw(st.integers(t0 - 5, t0 + 20) | near_border) for _ in range(length))
    tick = draw(st.sampled_from(Tick))
    batched = tick is Tick.BATCH or draw(st.booleans())
    batches = [1 + b for b in accumulate(draw(st.integers(0, 2)) for _ in apps)] if batched else None
    graphs = [draw(st.sampled_from(GRAPHS)) for _ in apps]
    report = draw(st.sampled_from(REPORTS))
    periodic = Condition.PERIODIC in report
    after = apps[-1] + draw(st.integers(1, 12)) if apps else t0 + draw(st.integers(-4, 12))
    semantics = Semantics(
        t0=t0,
        closure=draw(st.sampled_from(Closure)),
        report=report,
        period=draw(st.integers(1, 4)) if periodic else None,
        anchor=draw(st.integers(-3, 3)) if periodic else None,
        tick=tick,
        r2s=draw(st.sampled_from(R2S)),
        empty=draw(st.sampled_from(Empty)),
        horizon=draw(st.sampled_from([End.NONE, End.FLUSH, after])),
        instant=draw(st.sampled_from(Instant)),
    )
    return Case(
        Window("s", kind, size, slide),
        stream(zip(graphs, apps, batches, strict=True) if batches else zip(graphs, apps, strict=True)),
        semantics,
        draw(st.none() | st.sampled_from(R2S)),
        draw(st.sampled_from(list(BODIES))),
    )


def windows(case: Case) -> list[Reported]:
    """What the engine reports, before any query is asked."""
    t0, size, slide = case.semantics.t0, case.window.size, case.window.slide
    return [
        Reported(e.t, e.arrival, e.n, (t0 + e.n * slide, t0 + e.n * slide + size), tuple(e.content))
        for e in evaluations(case.window, case.stream.elements, case.semantics)
    ]


def relations(case: Case) -> list[Emitted]:
    """What the engine emits for a query, with the cheap answer in the place of SPARQL's."""
    query = Query((case.window,), BODIES[case.answer], case.stated)
    reports = evaluate(
        query, {"s": case.stream}, case.semantics, answer=lambda body, graph: Relation(body.variables, case.answer(graph))
    )
    place = {element.sys: index for index, element in enumerate(case.stream)}
    return [
        Emitted(r.evaluation, r.trigger, r.window, r.instant, tuple(place[e.sys] for e in r.content), r.relation.rows)
        for r in reports
    ]


def divergence(case: Case, definition: type[Brute] = Brute) -> str | None:
    """The first report in which engine and definition differ, windows first, then relations."""
    brute = definition(case.window, case.stream.elements, case.semantics)
    stated = case.stated or case.semantics.r2s  # R2S-6
    for expected, got in ((brute.reports(), windows(case)), (brute.emitted(case.answer, stated), relations(case))):
        for number, (want, have) in enumerate(zip_longest(expected, got), 1):
            if want != have:
                return f"report {number}: expected {want}, got {have}"
    return None


def test_engine_and_enumeration_agree():
    """SPEC §4 to §6, §8, ENG-1, ENG-2, ENG-4: the same reports and relations; most draws report, every choice does."""
    reporting: Counter[bool] = Counter()
    exercised: set[tuple[str, object]] = set()

    @given(cases())
    def agree(case: Case) -> None:
        found = divergence(case)
        assert found is None, found
        reports = len(windows(case))
        event(f"reports: {min(reports, 5)}{'+' * (reports > 4)}")
        reporting[reports > 0] += 1
        if reports:
            exercised.update(vars(case.semantics).items(), [("kind", case.window.kind), ("stated", case.stated)])

    agree()
    assert 2 * reporting[True] > reporting.total(), reporting
    for name, values in CHOICES.items():
        assert {(name, value) for value in values} <= exercised, f"not every {name} is in a draw that reports"


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", ["experiments", "vectors"])
def test_enumeration_reproduces_the_simulator(shared: Path, name: str):
    """SECRET: what the authors' own simulator reports, arrival by arrival and content by content, is what is enumerated."""
    for number, line in enumerate((shared / "data/secret" / f"{name}.jsonl").read_text().splitlines(), 1):
        vector = json.loads(line)
        period = vector.get("period")
        semantics = replace(
            CLOSING, t0=vector["t0"], closure="(]", report=vector["report"], tick=vector["tick"], horizon="none",
            period=period, anchor=None if period is None else 0,
        )  # fmt: skip
        window = Window("s", WindowKind(vector["window"]), vector["size"], vector["slide"])
        elements = [Element(frozenset(), app, sys, batch) for sys, _, app, batch in vector["stream"]]
        found = [
            {"tsys": elements[r.arrival].sys, "content": [vector["stream"][index][1] for index in r.content]}
            for r in Brute(window, elements, semantics).reports()
        ]
        if name == "experiments":
            assert [r["content"] for r in found] == vector["contents"], f"line {number}"
        else:
            assert found == vector["reports"], f"line {number}"


class BothBordersIn(Brute):
    """Breaks WIN-2: the closing border is in under every closure."""

    def inside(self, o, c, t):
        return super().inside(o, c, t) or t == c


class LatestStarted(Brute):
    """Breaks WIN-4: of the open windows the one that started last is active."""

    def active(self, t):
        return next((e for e in reversed(self.extents) if t in e.instants), super().active(t))


class BeforeTheStart(Brute):
    """Breaks WIN-5: instants before s0 are evaluated as well."""

    def interval(self, before, now):
        return [t for t in self.integers if before <= t < now or before == t == now]


class OwnContent(Brute):
    """Breaks WIN-8: the arrival is in the content that it triggers."""

    def content(self, t, k):
        return super().content(t, k + 1)


class TickOnTies(Brute):
    """Breaks TICK-2: the time-driven tick looks at simultaneous elements too."""

    def ticks(self, before, now):
        return super().ticks(before, now) or (self.semantics.tick is Tick.TIME and now.app == before.app)


class OwnInstant(Brute):
    """Breaks TICK-4: the interval includes the arrival's own instant."""

    def interval(self, before, now):
        return [t for t in self.integers if self.start <= t and before <= t <= now]


class CloseAtOnce(Brute):
    """Breaks REP-1: a window closes with an arrival at its last instant."""

    def holds(self, condition, t, k):
        if condition is Condition.CLOSE:
            return t == max(self.active(t).instants)
        return super().holds(condition, t, k)


class ChangeSincePreviousInstant(Brute):
    """Breaks REP-2: the content is compared with that of the instant before, reported or not."""

    def by_instant(self, instants, k):
        for t in instants:
            yield from super().by_instant([t], k)
            self.last = self.content(t, k)


class PeriodOfInstants(Brute):
    """Breaks REP-4: the evaluation instant, not the border instant, is a multiple of the period."""

    def holds(self, condition, t, k):
        return super().holds(condition, t - (condition is Condition.PERIODIC) * (self.border(t) - t), k)


class EveryId(Brute):
    """Breaks REP-7: every id of the tick is tested and reported on its own."""

    def by_tick(self, ids, k):
        return self.by_instant(ids, k)


class ChangeWhereReported(Brute):
    """Breaks REP-7: change and non-empty are tested at the id that is reported, not at the tick's largest."""

    def by_tick(self, ids, k):
        timely = [t for t in ids if all(self.holds(c, t, k) for c in self.semantics.report & ON_INSTANTS)]
        return self.by_instant(timely[-1:], k)


class NoEnd(Brute):
    """Breaks ENG-1: nothing follows the last arrival."""

    def sentinel(self):
        return []


class SuppressedIsNoBase(Brute):
    """Breaks R2S-4: an evaluation whose empty output is suppressed leaves the base as it was."""

    def rebase(self, base, answer, output):
        return base if not output and self.semantics.empty is Empty.SUPPRESS else answer


@pytest.mark.parametrize("broken", Brute.__subclasses__(), ids=lambda broken: broken.__name__)
def test_a_broken_definition_is_noticed(broken: type[Brute]):
    """The comparison can fail: with one rule broken, 3,000 draws are enough to see it."""
    fixed = settings(derandomize=True, max_examples=3000, database=None, deadline=None, phases=[Phase.generate])
    try:
        find(cases(), lambda case: divergence(case, broken) is not None, settings=fixed)
    except NoSuchExample:
        pytest.fail(f"not noticed: {broken.__doc__}")


EPOCH = 1_700_000_000_000
SPARSE = [EPOCH + app for app in (1, 999, 1000, 5_000_000, 5_000_999, 86_400_000)]


def apart(apps: list[int]) -> Stream:
    """One element at each of the times."""
    return stream((TRIPLES[0], app) for app in apps)


@pytest.mark.parametrize("closure", Closure)
@pytest.mark.parametrize("report", ["window-close,non-empty", "window-close,content-change", "content-change"])
def test_a_gap_costs_nothing(closure: Closure, report: str):
    """ENG-2: from t0 = 0 to epoch milliseconds in no time, with the reports of the stream moved to 0, windows renumbered."""
    window, semantics = Window("s", WindowKind.TIME, 1000, 1000), replace(CLOSING, closure=closure, report=report)
    began = time.perf_counter()
    late = list(evaluations(window, apart(SPARSE).elements, semantics))
    assert time.perf_counter() - began < 1
    early = evaluations(window, apart([app - EPOCH for app in SPARSE]).elements, semantics)
    assert late == [e._replace(t=e.t + EPOCH, n=e.n + EPOCH // 1000) for e in early] != []


@given(cases(), st.integers(-(10**12), 10**12))
def test_only_differences_of_times_count(case: Case, moved: int):
    """WIN-3, REP-4: moving all times, t0 and the anchor among them, moves the reports and changes nothing else."""
    window = replace(case.window, kind=WindowKind.TIME)
    times = {name: value for name in ("t0", "anchor", "horizon") if type(value := getattr(case.semantics, name)) is int}
    later = replace(case.semantics, **{name: value + moved for name, value in times.items()})
    elements = [element._replace(app=element.app + moved) for element in case.stream]
    early = evaluations(window, case.stream.elements, case.semantics)
    assert list(evaluations(window, elements, later)) == [e._replace(t=e.t + moved) for e in early]


def test_too_many_reports_name_the_gap():
    """ENG-3: close alone reports every empty window between two arrivals; past the bound that is an error, not a wait."""
    window, semantics = Window("s", WindowKind.TIME, 1000, 1000), replace(CLOSING, report="window-close")
    with pytest.raises(TooManyReports, match=rf"^ENG-3: .*\b5\b.*\b{EPOCH}\b"):
        list(evaluations(window, apart([5, EPOCH]).elements, semantics))
