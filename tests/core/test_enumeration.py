"""The engine's windows, reports and differences are those of the enumeration
(`refengine/enumeration`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, combinations, zip_longest
from pathlib import Path
from random import Random

import pytest
from conftest import PROFILE
from hypothesis import given, settings
from hypothesis import strategies as st

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
    literal,
    row,
    stream,
)
from refengine.core import engine
from refengine.core import window as core_window
from refengine.core.profiles import PLAIN
from refengine.core.query import BORDERED, COUNTING, LAGGING, SIZED, SLIDING, Unit
from refengine.core.query import CLOSING as CLOSING_KINDS
from refengine.core.semantics import ENUMS, Semantics, show
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
from refengine.enumeration import Enumeration
from refengine.enumeration import windows as enumeration_of_windows
from refengine.enumeration.inputs import EmittedRelation, QueryReport
from refengine.model.elements import Bag, Dataset, Triple
from refengine.model.errors import InvalidSemantics


def objects(dataset: Dataset) -> Bag:
    """A row for each triple of one predicate in the default graph: bags with more than one row of a
    kind.
    """
    return Counter(
        row({"o": quad[2]}) for quad in dataset if quad[1] == "<urn:p>" and len(quad) == 3
    )


def count(dataset: Dataset) -> Bag:
    """One row always: an answer that is not monotone and never empty."""
    return Counter([row({"n": literal(str(len(dataset)))})])


def graphs(dataset: Dataset) -> Bag:
    """A row for each triple of a named graph, with its name."""
    return Counter(row({"g": quad[3], "o": quad[2]}) for quad in dataset if len(quad) == 4)


pytestmark = pytest.mark.xdist_group("drawn")  # one worker draws for all

BODIES = {
    objects: Body("SELECT ?o { ?s <urn:p> ?o }"),
    count: Body("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"),
    graphs: Body("SELECT ?g ?o { GRAPH ?g { ?s ?p ?o } }"),
}
TRIPLES: list[Triple] = [
    (f"<urn:{s}>", f"<urn:{p}>", f"<urn:{o}>") for s, p, o in ("apx", "bpx", "apy", "aqx")
]
GRAPHS = [frozenset(graph) for size in (1, 1, 0, 2) for graph in combinations(TRIPLES, size)]
KEYED = [frozenset([triple]) for triple in TRIPLES[:3]]  # graphs with every key
STATIC = [
    frozenset(),
    frozenset(),
    frozenset([TRIPLES[0], (*TRIPLES[1], "<urn:w1>"), (*TRIPLES[2], "<urn:g>")]),
]
KEYS = [("subject",), ("object",), ("urn:p",), ("subject", "urn:p"), ("predicate",)]
REPORTS = [frozenset(report) for size in range(1, 6) for report in combinations(Condition, size)]
KINDS = [kind for kind in WindowKind if kind not in (WindowKind.TUPLE, WindowKind.SESSION)]
CLOSING = Semantics(
    **PLAIN | {"t0": 0, "closure": "[)", "report": "window-close,non-empty", "tick": "tuple"},
    empty="emit",
    horizon="flush",
    instant="close",
)
NOT_EACH = {
    name: PLAIN[name]
    for name in (
        "exact_gap",
        "expired_session",
        "session_border",
        "reported_windows",
        "early_count",
        "early_period",
        "panes",
        "late_for",
        "watermark",
        "watermark_delay",
        "expiry_rule",
        "clock",
    )
}
INTEGERS = {"offset": (-1, 4), "not_before": (-11, 17), "period": (1, 4), "anchor": (-3, 3)}
CHOICES: dict[str, object] = {
    **{
        name: [value for value in kind if name != "t0" or not is_formula(value)]
        for name, kind in ENUMS.items()
        if name != "consumption"  # R2R, as a body is: test_consumption.py draws it
        and name not in NOT_EACH  # test_each_window.py draws them
    },
    "report": REPORTS,
    "period": range(1, 5),
    "kind": [kind for kind in WindowKind if kind is not WindowKind.SESSION],
    "late_for": [LateFor.STREAM, LateFor.NOTHING],
    "stated": [None, *R2S],
    "windows": range(1, 4),
    "unit": Unit,
    "lag": [False, True],
    "intervals": [False, True],
    "late": [False, True],
    "static": [False, True],
    "named": [False, True],
}


@dataclass(frozen=True)
class Case:
    """A drawn case: a query, its streams, a semantics, the static data and the answer in the place
    of the body's.
    """

    query: Query
    streams: dict[str, Stream]
    semantics: Semantics
    static: Dataset
    answer: Callable[[Dataset], Bag]

    def features(self) -> Iterator[tuple[str, object]]:
        """The values of all choices."""
        windows, elements = (
            self.query.windows,
            [e for w in self.query.windows for e in self.streams[w.stream]],
        )
        yield from vars(self.semantics).items()
        yield from [
            ("stated", self.query.r2s),
            ("windows", len(windows)),
            ("static", bool(self.static)),
        ]
        yield from (("kind", window.kind) for window in windows)
        yield from (("unit", window.unit) for window in windows)
        yield from (("lag", window.lag > 0) for window in windows)
        yield from (("named", window.name is not None) for window in windows)
        yield ("intervals", any(e.end not in (None, e.app) for e in elements))
        yield ("late", bool(enumerated(self).late))


def enumerated(case: Case, enumeration: type[Enumeration] = Enumeration) -> Enumeration:
    """The enumeration for a case."""
    streams = {name: elements.elements for name, elements in case.streams.items()}
    query = case.query
    return enumeration(
        query.windows, streams, case.semantics, registered=query.registered, static=case.static
    )


# Draws. Python's own random numbers draw in a tenth of Hypothesis's time; with those of Hypothesis,
# `CASES`, what fails shrinks.


def draw_windows(rng: Random) -> tuple[Window, ...]:
    """One to three windows of any kinds over one or two streams; a tuple-based one is alone
    (QRY-5).
    """
    alone = rng.randint(0, 3) == 0
    windows = []
    for number in range(1 if alone else rng.choice((1, 1, 2, 2, 3))):
        kind = rng.choice((WindowKind.TUPLE, WindowKind.TIME) if alone else KINDS)
        slide = None
        if kind in (WindowKind.TIME, WindowKind.TUPLE):
            slide = rng.randint(1, 8)
        elif kind in SLIDING:
            slide = rng.choice((rng.randint(1, 8), None))
        windows.append(
            Window(
                rng.choice("ssr"),
                kind,
                rng.randint(1, 6) if kind in SIZED else None,
                slide,
                rng.choice(list(Unit)) if kind in COUNTING else Unit.ELEMENTS,
                rng.choice(KEYS) if kind is WindowKind.PARTITION else (),
                f"urn:w{number}" if rng.randint(0, 3) == 0 else None,
                rng.choice((False, True)),
                rng.choice((0, 0, rng.randint(1, 7))) if kind in LAGGING else 0,
            )
        )
    return tuple(windows)


def draw_place(rng: Random, t0: int, size: int, slide: int) -> int:
    """A time soon after t0, or near the border of a window."""
    if rng.choice((False, True)):
        return rng.randint(t0 - 5, t0 + 20)
    return t0 + rng.randint(0, 4) * slide + rng.randint(0, 1) * size + rng.randint(-1, 1)


def draw_stream(
    rng: Random, windows: tuple[Window, ...], t0: int, ordered: bool, batched: bool
) -> Stream:
    """0 to 8 elements with ties, gaps and elements on borders, in order or not, some of them valid
    over an interval.
    """
    length, window = rng.randint(rng.choice((0, 4)), 8), rng.choice(windows)
    size, slide = window.size or 0, window.slide or 1
    apps = [draw_place(rng, t0, size, slide) for _ in range(length)]
    apps = (
        sorted(apps)
        if ordered
        else [app for _, app in sorted((app + rng.randint(0, 6), app) for app in apps)]
    )
    sys = accumulate(rng.randint(1, 3) for _ in apps)
    batches = (
        [1 + b for b in accumulate(rng.randint(0, 2) for _ in apps)] if batched else [None] * length
    )
    pool = KEYED if any(w.by for w in windows) else GRAPHS
    long = rng.choice((False, True))
    ends = [app + rng.choice((0, 0, 1, 3, 7)) if long else None for app in apps]
    drawn = [rng.choice(pool) for _ in apps]
    return Stream(tuple(map(Element, drawn, apps, sys, batches, ends)))


def draw_case(rng: Random) -> Case:
    """A small query and streams under the whole of `Semantics`, as far as SEM-2 and QRY-5 let it
    mean something.
    """

    def member(kind: Iterable[object]) -> object:
        return rng.choice(list(kind))

    windows, near = draw_windows(rng), rng.randint(-8, 8)
    policies = [T0.FIRST, T0.REACH, T0.EPOCH, T0.EPOCH_LATEST, T0.REGISTRATION]
    alone = windows[0].kind is WindowKind.TUPLE
    start = near if not alone or rng.choice((False, True)) else near % 4 - 3
    t0 = rng.choice([*[start] * 4, *policies])
    is_aligned = t0 in (T0.EPOCH, T0.EPOCH_LATEST)
    earliest = rng.choice((None, None, None, start + rng.randint(-3, 9)))
    registered = near
    if t0 is not T0.REGISTRATION:
        registered = rng.choice((None, rng.randint(near - 4, near + 8)))
    closes = all(window.kind in CLOSING_KINDS for window in windows)
    report = rng.choice([r for r in REPORTS if closes or Condition.CLOSE not in r])
    periodic, tick = Condition.PERIODIC in report, member(Tick)
    r2s = member(R2S)
    disorder = rng.choice((AllowedLateness.REJECT, rng.randint(0, 5)))
    batched = tick is Tick.BATCH or rng.choice((False, True))
    over = {
        name: tuple(window for window in windows if window.stream == name) or windows
        for name in "rs"
    }
    ordered = disorder is AllowedLateness.REJECT
    streams = {name: draw_stream(rng, over[name], near, ordered, batched) for name in over}
    if disorder is AllowedLateness.REJECT and not alone and rng.randint(0, 3) == 0:
        not_each = {**NOT_EACH, "late_for": LateFor.NOTHING}
        streams = {name: draw_stream(rng, over[name], near, False, batched) for name in over}
    else:
        not_each = NOT_EACH
    apps = [element.app for elements in streams.values() for element in elements]
    after = rng.randint(1, 12) + max(apps, default=near)
    narrowest = min((window.span for window in windows if window.span), default=2)
    is_bordered = any(window.kind in BORDERED for window in windows)
    of_instants = any(condition.is_on_instants for condition in report)
    is_marked = any(window.triggers for window in windows)
    semantics = Semantics(
        **not_each,
        t0=t0,
        offset=rng.choice((rng.randint(-1, 4), rng.randint(-1, 4), member(Offset)))
        if is_aligned
        else None,
        closure=member(c for c in Closure if narrowest >= c.least_size) if is_bordered else None,
        slide=member(Slide),
        partial=Partial.SUPPRESSED if earliest is not None else member(Partial),
        not_before=earliest,
        report=report,
        close_rule=member(CloseRule),
        period=rng.randint(1, 4) if periodic else None,
        anchor=rng.choice((rng.randint(-3, 3), member(Anchor))) if periodic else None,
        change_baseline=member(ChangeBaseline),
        change_scope=member(ChangeScope),
        expiry_seen=member(ExpirySeen),
        missed_instants=member(MissedInstants) if of_instants else MissedInstants.ALL,
        tick=tick,
        trigger=member(t for t in Trigger if t is not Trigger.EXPLICIT or is_marked),
        collection=member(Collection),
        consumption=Consumption.UNRESTRICTED,
        r2s=r2s,
        base=member(Base) if r2s in (R2S.ISTREAM, R2S.DSTREAM) else None,
        empty=member(Empty),
        horizon=rng.choice((*End, after)),
        instant=member(Instant),
        allowed_lateness=disorder,
    )
    stated = rng.choice((None, member(R2S if semantics.base else (R2S.RSTREAM, R2S.APPEND))))
    named = any(window.name for window in windows)
    answer = rng.choice((objects, objects, count, graphs) if named else (objects, objects, count))
    return Case(
        Query(windows, BODIES[answer], stated, registered),
        streams,
        semantics,
        rng.choice(STATIC),
        answer,
    )


def draw_case_of_each_window(rng: Random) -> Case:
    """A query of one window, under a semantics by which each window is reported on its own."""
    near = rng.randint(-8, 8)
    kind = rng.choice((WindowKind.TIME, WindowKind.SESSION))
    slide = rng.randint(1, 8) if kind is WindowKind.TIME else None
    by = () if rng.randint(0, 4) else rng.choice(KEYS)
    windows = (Window("s", kind, rng.randint(1, 6), slide, by=by),)

    def member(kind: Iterable[object]) -> object:
        return rng.choice(list(kind))

    late_for = rng.choice((LateFor.STREAM, LateFor.WINDOW))
    is_window = late_for is LateFor.WINDOW
    ticks = (Tick.TUPLE, Tick.TIME) if is_window else tuple(Tick)
    disorder = rng.choice((AllowedLateness.REJECT, rng.randint(0, 5)))
    if is_window:
        disorder = rng.choice((0, 0, rng.randint(0, 8)))
    elements = draw_stream(
        rng, windows, near, disorder is AllowedLateness.REJECT, batched=rng.choice((False, True))
    )
    tick = member(ticks if all(e.batch is not None for e in elements) else ticks[:2])
    of_arrivals = rng.randint(0, 3) == 0
    report = member(r for r in REPORTS if of_arrivals or Condition.ARRIVAL not in r)
    t0 = rng.choice([near, near, T0.FIRST, T0.REACH, T0.EPOCH, T0.EPOCH_LATEST])
    is_aligned = t0 in (T0.EPOCH, T0.EPOCH_LATEST)
    is_time = kind is WindowKind.TIME
    earliest = rng.choice((None, None, None, near + rng.randint(-3, 9))) if is_time else None
    after = rng.randint(1, 12) + max((e.app for e in elements), default=near)
    semantics = Semantics(
        t0=t0,
        offset=rng.choice((rng.randint(-3, 9), member(Offset))) if is_aligned else None,
        closure=member(c for c in Closure if windows[0].span >= c.least_size)
        if is_time
        else Closure.RIGHT_OPEN,
        slide=member(Slide),
        partial=Partial.SUPPRESSED if earliest is not None else member(Partial),
        not_before=earliest,
        exact_gap=member(ExactGap),
        expired_session=member(ExpiredSession),
        session_border=member(SessionBorder),
        report=report,
        close_rule=CloseRule.REACHED if is_window else member(CloseRule),
        period=rng.randint(1, 4) if Condition.PERIODIC in report else None,
        anchor=rng.choice((rng.randint(-3, 3), member(Anchor)))
        if Condition.PERIODIC in report
        else None,
        change_baseline=ChangeBaseline.LAST,
        change_scope=member(ChangeScope),
        expiry_seen=ExpirySeen.REPLAYED,
        missed_instants=MissedInstants.ALL,
        tick=tick,
        trigger=Trigger.ANY,
        reported_windows=ReportedWindows.EVERY,
        early_count=rng.choice((None, None, rng.randint(1, 3))),
        early_period=rng.choice((None, None, rng.randint(1, 4))),
        panes=member(Panes),
        collection=member(Collection),
        consumption=Consumption.UNRESTRICTED,
        r2s=R2S.RSTREAM,
        base=None,
        empty=member((Empty.EMIT, Empty.SUPPRESS)),
        horizon=rng.choice((*End, End.FLUSH, after)),
        instant=member(Instant),
        allowed_lateness=disorder,
        late_for=late_for,
        watermark=member([Watermark.GREATEST, *Watermark]) if is_window else None,
        watermark_delay=rng.choice((0, 0, rng.randint(0, 4))) if is_window else None,
        expiry_rule=member(ExpiryRule) if is_window else None,
        clock=member(Clock),
    )
    answer = rng.choice((objects, count))
    query = Query(windows, BODIES[answer])
    return Case(query, {"s": elements, "r": Stream(())}, semantics, rng.choice(STATIC), answer)


@pytest.fixture(autouse=True)
def a_day_is_short(monkeypatch: pytest.MonkeyPatch):
    """So that midnights lie among the elements. A case has a day of 24 hours (WIN-10)."""
    monkeypatch.setattr(core_window, "DAY", 11)
    monkeypatch.setattr(enumeration_of_windows, "DAY", 11)


CASES = st.randoms(use_true_random=False).map(draw_case)


def windows(case: Case) -> Iterator[tuple]:
    """What the engine reports, before any query is asked."""
    plan = engine.plan(case.query, case.streams, case.semantics)
    return (
        (e.t, e.arrival, tuple((w.n, tuple(w.content), w.key) for w in e.windows), e.takes_back)
        for e in engine.evaluations(plan)
    )


def relations(case: Case) -> Iterator[EmittedRelation]:
    """What the engine emits for a query, with the cheap answer in the place of SPARQL's."""
    admitted = enumerated(case).elements
    indices = [
        {e.sys: i for i, e in enumerate(admitted[window.stream])} for window in case.query.windows
    ]
    reports = evaluate(
        case.query,
        case.streams,
        case.semantics,
        static=case.static,
        answer=lambda body, dataset: Relation(body.variables, case.answer(dataset)),
    )
    for r in reports:
        contents = tuple(
            tuple(index[e.sys] for e in content)
            for index, content in zip(indices, r.contents, strict=True)
        )
        yield EmittedRelation(
            r.evaluation,
            r.trigger,
            tuple(r.windows),
            r.instant,
            contents,
            r.late,
            r.relation.rows,
            r.takes_back,
            r.key,
        )


def numbered(reported: QueryReport) -> tuple:
    """A report of the enumeration as the engine shows it: without borders."""
    return (
        reported.t,
        reported.arrival,
        tuple((held.number, held.content, held.key) for held in reported.windows),
        reported.takes_back,
    )


def divergence(
    case: Case, reports: Iterable[QueryReport], emitted: Iterable[EmittedRelation]
) -> str | None:
    """The first report in which the engine differs from what the enumeration says of a case,
    windows first, then relations.
    """
    for expected, got in (
        (map(numbered, reports), windows(case)),
        (emitted, relations(case)),
    ):
        for number, (want, have) in enumerate(zip_longest(expected, got), 1):
            if want != have:
                return f"report {number}: expected {want}, got {have}"
    return None


def test_engine_and_enumeration_agree():
    """SPEC §4 to §6, §8, §9: the same reports and relations.

    On what is drawn for all tests here. Where that disagrees, or is fewer draws than the profile
    asks for, Hypothesis draws itself, and looks for the smallest.
    """

    @given(CASES)
    def agree(case: Case) -> None:
        found = divergence(case, *outputs(case))
        assert found is None, found

    if PROFILE == "ci":
        found = list(filter(None, (divergence(*draw) for draw in drawn())))
    if PROFILE != "ci" or found:
        agree()
        assert PROFILE != "ci", found


@settings(max_examples=40)
@given(CASES)
def test_a_few_draws_agree(case: Case) -> None:
    """The same, a few times: a wrong engine seldom takes more, and `make
    mutants` asks this first.
    """
    found = divergence(case, *outputs(case))
    assert found is None, found


@pytest.mark.parametrize("formula", [t0 for t0 in T0 if is_formula(t0)])
def test_engine_and_enumeration_agree_on_published_formulas(formula: T0):
    """WIN-7: On the draws over whose closure the formulas were published, with t0 by a formula."""
    reporting = 0
    for case, *_ in drawn()[::2]:
        is_of_ids = case.query.windows[0].kind is WindowKind.TUPLE
        if case.semantics.closure not in (Closure.LEFT_OPEN, None):
            continue
        if is_of_ids and formula is T0.KAFKA_STREAMS:
            continue  # which has no formula for tuple-based windows
        semantics = replace(case.semantics, t0=formula, offset=None)
        by_formula = replace(case, semantics=semantics)
        reports, emitted = outputs(by_formula)
        assert divergence(by_formula, reports, emitted) is None
        reporting += bool(reports)
    assert reporting > 100


def test_the_drawing_exercises_every_choice():
    """Most draws report, and every value of every choice is in one that does."""
    reporting = [case for case, reports, _ in drawn() if reports]
    assert 2 * len(reporting) > len(drawn())
    exercised = {feature for case in reporting for feature in case.features()}
    for name, values in CHOICES.items():
        assert {(name, value) for value in values} <= exercised, (
            f"not every {name} is in a draw that reports"
        )


def outputs(
    case: Case, enumeration: type[Enumeration] = Enumeration
) -> tuple[list[QueryReport], list[EmittedRelation]]:
    """All that the enumeration says of a case."""
    one = enumerated(case, enumeration)
    reports = list(one.reports())
    one.reports = lambda: iter(reports)  # `emitted` asks for them, too
    return reports, list(one.emitted(case.answer, case.query.r2s))


Drawn = tuple[Case, list[QueryReport], list[EmittedRelation]]


@cache
def drawn_once(number: int) -> Drawn:
    """A draw, the same each time, with what the enumeration says of it."""
    case = draw_case(Random(number))
    return case, *outputs(case)


def drawn() -> list[Drawn]:
    """1,000 draws, which are five times as many as a property gets, or 3,000 in the long runs."""
    return [drawn_once(number) for number in range(1000 if PROFILE == "ci" else 3000)]


def noticed(
    changed: Callable[[Case], Case | None],
    enumeration: type[Enumeration] = Enumeration,
    most: int = 4000,
) -> bool:
    """Whether some draw, of `most` at most, is told apart from what it is changed to, or from what
    another enumeration says of it.
    """
    for case, *expected in map(drawn_once, range(most)):
        other = changed(case)
        if other is not None and list(outputs(other, enumeration)) != expected:
            return True
    return False


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", ["experiments", "vectors"])
def test_enumeration_reproduces_the_simulator(secret_vectors: Path, name: str):
    """SECRET: what the authors' own simulator reports, arrival by arrival and content by content,
    is what is enumerated.
    """
    for number, line in enumerate((secret_vectors / f"{name}.jsonl").read_text().splitlines(), 1):
        vector = json.loads(line)
        period = vector.get("period")
        semantics = replace(
            CLOSING,
            t0=vector["t0"],
            closure="(]",
            report=vector["report"],
            tick=vector["tick"],
            horizon="none",
            period=period,
            anchor=None if period is None else 0,
        )
        window = Window("s", WindowKind(vector["window"]), vector["size"], vector["slide"])
        elements = [
            Element(frozenset(), app, sys, batch) for sys, _, app, batch in vector["stream"]
        ]
        found = [
            {
                "tsys": elements[r.arrival].sys,
                "content": [vector["stream"][index][1] for index in r.windows[0].content],
            }
            for r in Enumeration([window], {"s": elements}, semantics).reports()
        ]
        if name == "experiments":
            assert [r["content"] for r in found] == vector["contents"], f"line {number}"
        else:
            assert found == vector["reports"], f"line {number}"


def swapped(name: str, value: object, other: object) -> Callable[[Case], Case | None]:
    """The change of one value of a field of the semantics to another, where that means something
    (SEM-2, QRY-5).
    """

    def changed(case: Case) -> Case | None:
        if getattr(case.semantics, name) != value:
            return None
        try:
            semantics = replace(case.semantics, **{name: other})
            engine.check_meaning(case.query, semantics)
            return replace(case, semantics=semantics)
        except InvalidSemantics:
            return None

    return changed


def pairs() -> Iterator[tuple[str, object, object]]:
    """All pairs of values of a field, each of which means something in the other's place in some
    semantics.
    """
    for name in ENUMS:
        if name not in CHOICES:
            continue
        values = [value for value in CHOICES[name] if name != "t0" or value in (T0.FIRST, T0.REACH)]
        yield from (
            (name, a, b)
            for a in values
            for b in values
            if a != b and {a, b} != {R2S.ISTREAM, R2S.RSTREAM}
        )
    yield from (
        ("report", a, a ^ {c})
        for a in REPORTS
        for c in Condition
        if a ^ {c} and c is not Condition.PERIODIC
    )
    yield from (("allowed_lateness", a, a + 1) for a in range(5))
    yield from [
        ("t0", T0.REACH, 0),
        ("t0", T0.FIRST, 0),
        ("t0", 0, T0.FIRST),
        ("t0", 0, 1),
        ("t0", T0.REGISTRATION, T0.FIRST),
    ]
    yield from [("anchor", a, 0) for a in (1, *Anchor)] + [
        ("period", 2, 3),
        ("offset", 0, 1),
        ("horizon", End.FLUSH, 30),
    ]


LEGAL = [
    (name, a, b)
    for name, a, b in pairs()
    if name != "r2s" or {a, b} in ({R2S.ISTREAM, R2S.DSTREAM}, {R2S.RSTREAM, R2S.APPEND})
]


@pytest.mark.parametrize(("name", "value", "other"), LEGAL, ids=show)
def test_no_value_passes_for_another(name: str, value: object, other: object):
    """Each value of each choice is told apart from the others by some draw: taken for another it
    does not go unnoticed.
    """
    assert noticed(swapped(name, value, other)), f"{name}: {value} passes for {other}"


def of_windows(**changes: object) -> Callable[[Case], Case | None]:
    """The change of all windows that have these keys, to other values."""

    def changed(case: Case) -> Case | None:
        altered = [
            replace(w, **{k: v for k, v in changes.items() if getattr(w, k)})
            for w in case.query.windows
        ]
        # a window of the other kind may have borders, where none of the query's had any
        closed = replace(case.semantics, closure=case.semantics.closure or Closure.CLOSED)
        query = replace(case.query, windows=tuple(altered))
        return replace(case, query=query, semantics=closed)

    return changed


def of_kind(kind: WindowKind, other: WindowKind) -> Callable[[Case], Case | None]:
    """The change of windows of one kind to another."""

    def changed(case: Case) -> Case | None:
        if any(
            w.kind is WindowKind.TUPLE or kind not in {w.kind for w in case.query.windows}
            for w in case.query.windows
        ):
            return None
        altered = [
            w
            if w.kind is not kind
            else Window(
                w.stream,
                other,
                (w.size or 2) if other in SIZED else None,
                (w.slide or 1) if other in SLIDING else None,
                name=w.name,
                by=("subject",) if other is WindowKind.PARTITION else (),
                triggers=w.triggers,
                lag=w.lag if other in LAGGING else 0,
            )
            for w in case.query.windows
        ]
        if other is WindowKind.PARTITION and any(
            len(e.graph) != 1 for elements in case.streams.values() for e in elements
        ):
            return None
        # a window of the other kind may have borders, where none of the query's had any
        closed = replace(case.semantics, closure=case.semantics.closure or Closure.CLOSED)
        query = replace(case.query, windows=tuple(altered))
        return replace(case, query=query, semantics=closed)

    return changed


def of_streams(**values: object) -> Callable[[Case], Case]:
    """The change of a field of all elements."""
    return lambda case: replace(
        case,
        streams={
            name: Stream(tuple(e._replace(**values) for e in elements))
            for name, elements in case.streams.items()
        },
    )


CHANGES = {
    "triples are no elements": of_windows(unit=Unit.ELEMENTS),
    "names make no difference": of_windows(name=None),
    "all windows are over one stream": of_windows(stream="s"),
    "another key": of_windows(by=("object",)),
    "sizes": of_windows(size=3),
    "slides": of_windows(slide=2),
    "lags": of_windows(lag=0),
    "another lag": of_windows(lag=3),
    "triggers": lambda case: (
        of_windows(triggers=False)(case) if case.semantics.trigger is Trigger.EXPLICIT else None
    ),
    "intervals are points": of_streams(end=None),
    "static data": lambda case: replace(case, static=frozenset()),
    "the operator stated": lambda case: replace(case, query=replace(case.query, r2s=None)),
    "registration": lambda case: (
        replace(case, query=replace(case.query, registered=3)) if case.query.registered else None
    ),
    **{f"{a} is no {b}": of_kind(a, b) for a in KINDS for b in KINDS if a != b},
}


@pytest.mark.parametrize("name", CHANGES)
def test_no_query_passes_for_another(name: str):
    """What a query and its streams say is in the comparison: another kind, size, key, name or
    interval is noticed.
    """
    assert noticed(CHANGES[name]), f"not noticed: {name}"


class BothBordersIn(Enumeration):
    """Breaks WIN-2: the closing border is in under every closure."""

    def is_inside(self, window, o, t, c):
        return super().is_inside(window, o, t, c) or t == c


class EpochBeforeTheFirst(Enumeration):
    """Breaks WIN-10: window 0 is the aligned window a slide before."""

    def t0(self, window):
        found = super().t0(window)
        return (
            found - self.slide(window)
            if self.semantics.t0 is T0.EPOCH and found is not None
            else found
        )


class LatestStarted(Enumeration):
    """Breaks WIN-4: of the open windows the one that started last is active."""

    def current(self, window, t):
        found = super().current(window, t)
        if found is None or window.kind is not WindowKind.TIME:
            return found
        return next((e for e in reversed(self.sequences[window]) if t in e.instants), found)


class PartOfTheWhole(Enumeration):
    """Breaks WIN-12: of CQL's windows the earliest that has not ended is shown, up to t."""

    def latest_ended(self, window, t):
        if window.kind is WindowKind.RANGE:
            return self.active(window, t)
        return super().latest_ended(window, t)


class BeforeTheStart(Enumeration):
    """Breaks WIN-5: instants before s0 are evaluated as well."""

    def interval(self, before, now):
        return [t for t in self.integers if before <= t < now or before == t == now]


class CutWindowsWhole(Enumeration):
    """Breaks WIN-11: where partial windows are reported, one that closes exactly at t0 is partial,
    too.
    """

    def least(self, window):
        number = super().least(window)
        cut = (
            self.semantics.partial is Partial.REPORTED
            and self.closing(window, number - 1) == self.t0s[window]
        )
        return number - 1 if cut and window.size else number


class RowsWithoutSlide(Enumeration):
    """Breaks WIN-14: the latest rows, whatever the slide."""

    def rows(self, window, arrived):
        if window.unit is Unit.ELEMENTS:
            return tuple(arrived[-window.size :])
        return super().rows(window, arrived)


class NoKeys(Enumeration):
    """Breaks WIN-15: size counts all elements, of whatever key."""

    def key(self, window, index):
        return []


class ScopeWithoutLag(Enumeration):
    """Breaks WIN-20: what is in scope does not lag."""

    def scope(self, window, t):
        return frozenset(instant + window.lag for instant in super().scope(window, t))


class BordersWithoutLag(Enumeration):
    """Breaks WIN-20: the borders of a window do not lag."""

    def report(self, t, k):
        shown = super().report(t, k)
        found = []
        for window, each in zip(self.windows, shown.windows, strict=True):
            borders = each.borders and tuple(border + window.lag for border in each.borders)
            found.append(each._replace(borders=borders))
        return shown._replace(windows=tuple(found))


class FlushWithoutLag(Enumeration):
    """Breaks ENG-1: the horizon `flush` does not wait for what lags."""

    def reach(self, window):
        return super().reach(window) - window.lag


class FirstElementLags(Enumeration):
    """Breaks WIN-20: t0 by the first element is that element's instant and the lag."""

    def earliest(self, window):
        found = super().earliest(window)
        return found and found + window.lag


class LagBeforePartial(Enumeration):
    """Breaks WIN-20: of a clipped window what is left begins with window 0 of a window without a
    lag.
    """

    def scope(self, window, t):
        found = super().scope(window, t)
        if self.semantics.partial is Partial.CLIPPED and window in self.s0s:
            return frozenset(t for t in found if t > self.s0s[window])
        return found


class StartsOnly(Enumeration):
    """Breaks WIN-18: an interval is in a scope iff its start is."""

    def instants(self, window, index):
        return super().instants(window, index)[:1]


class EndExcluded(Enumeration):
    """Breaks MOD-3: the end of an interval is no part of it."""

    def valid(self, element):
        found = super().valid(element)
        return found[:-1] or found


class LateIsAdded(Enumeration):
    """Breaks MOD-2: nothing is late."""

    def is_late(self, element, before):
        return False


class LateByThePrevious(Enumeration):
    """Breaks MOD-2: lateness is measured from the element just before, not
    from the greatest app.
    """

    def is_late(self, element, before):
        return super().is_late(element, before[-1:])


class LateAfterTheTrigger(Enumeration):
    """Breaks MOD-2: elements that are dropped later are counted, too."""

    def late_before(self, trigger):
        return len(self.late)


class OwnContent(Enumeration):
    """Breaks WIN-8: the arrival is in the content that it triggers."""

    def content(self, window, t, k):
        return super().content(window, t, k + 1)


class StreamAfterStream(Enumeration):
    """Breaks ENG-5: simultaneous elements of two streams come by stream, not by sys."""

    def merged(self):
        named = list(self.elements)
        return sorted(
            super().merged(), key=lambda arrival: (arrival.app, named.index(arrival.stream))
        )


class OtherStreamFirst(Enumeration):
    """Breaks ENG-5: of elements with one app and sys the stream named last comes first."""

    def merged(self):
        named = list(self.elements)
        return sorted(
            super().merged(),
            key=lambda arrival: (arrival.app, arrival.sys, -named.index(arrival.stream)),
        )


class NothingWithoutScope(Enumeration):
    """Breaks ENG-5: a window has no content where a window of the query has no scope."""

    def contents(self, t, k):
        scopes = [self.current(window, t) for window in self.windows]
        return tuple(() for _ in scopes) if None in scopes else super().contents(t, k)


class ConditionsWithoutScope(Enumeration):
    """Breaks ENG-5: a window without a scope has conditions on the instant, too."""

    def worthy(self, number, t, k):
        of_content = [c for c in self.semantics.report if not c.is_on_instants]
        return all(self.holds(c, number, t, k) for c in of_content)

    def timely(self, number, instants, k):
        window = self.windows[number]
        periodic = self.semantics.report == {Condition.PERIODIC} and self.anchor(window) is not None
        before = [t for t in instants if periodic and self.current(window, t) is None]
        beats = [
            t for t in before if (self.border(t) - self.anchor(window)) % self.semantics.period == 0
        ]
        return beats + super().timely(number, instants, k)


class TickOnTies(Enumeration):
    """Breaks TICK-2: the time-driven tick looks at simultaneous elements too."""

    def is_looked_at(self, before, now):
        return super().is_looked_at(before, now) or (
            self.semantics.tick is Tick.TIME and now.app == before.app
        )


class OwnInstant(Enumeration):
    """Breaks TICK-4: the interval includes the arrival's own instant."""

    def interval(self, before, now):
        return [t for t in self.integers if self.start <= t and before <= t <= now]


class PassedForAll(Enumeration):
    """Breaks TICK-6: every closure has to be passed."""

    def own(self, arrival):
        found = super().own(arrival)
        other = self.semantics.close_rule is CloseRule.PASSED and self.semantics.closure in (
            Closure.LEFT_OPEN,
            Closure.CLOSED,
            None,
        )
        return found - other * (self.windows[0].kind is not WindowKind.TUPLE)


class ExpiryWithoutMove(Enumeration):
    """Breaks TICK-7: the arrival's own instant is evaluated without it even where nothing moves."""

    def moves(self, t):
        return True


class FirstWindowMoves(Enumeration):
    """Breaks TICK-7: only the first window's scope can move."""

    def moves(self, t):
        return bool(self.scope(self.windows[0], t - 1) - self.scope(self.windows[0], t))


class CloseAtOnce(Enumeration):
    """Breaks REP-1: a window closes with an arrival at its last instant."""

    def closes(self, window, t, k):
        return t == self.current(window, t).instants[-1]


class PeriodOfInstants(Enumeration):
    """Breaks REP-4: the evaluation instant, not the border instant, is a multiple of the period."""

    def is_periodic(self, window, t):
        return super().is_periodic(window, t - (self.border(t) - t))


class EveryId(Enumeration):
    """Breaks REP-7: every id of the tick is tested and reported on its own."""

    def by_tick(self, ids, k):
        return self.by_instant(ids, k)


class ChangeWhereReported(Enumeration):
    """Breaks REP-7: change and non-empty are tested at the id that is reported, not at the tick's
    largest.
    """

    def by_tick(self, ids, k):
        return self.by_instant(self.timely(0, ids, k)[-1:], k)


class LatestBeforeContent(Enumeration):
    """Breaks REP-10: the last instant at which the conditions on the instant hold, and then the
    content is asked.
    """

    def timely(self, number, instants, k):
        found = super().timely(number, instants, k)
        return found[-1:] if self.semantics.missed_instants is MissedInstants.LATEST else found


class LatestOfAll(Enumeration):
    """Breaks REP-10: content change in a gap is compared as if all were reported, though the last
    alone is.
    """

    def by_instant(self, instants, k):
        latest, self.semantics = (
            self.semantics.missed_instants is MissedInstants.LATEST,
            replace(self.semantics, missed_instants=MissedInstants.ALL),
        )
        found = list(super().by_instant(instants, k))
        yield from found[-1:] if latest else found
        self.semantics = replace(
            self.semantics, missed_instants=MissedInstants.LATEST if latest else MissedInstants.ALL
        )


class LatestWindowByWindow(Enumeration):
    """Breaks REP-10: each window has its latest instant, and the trigger chooses among them."""

    def by_instant(self, instants, k):
        if self.semantics.missed_instants is MissedInstants.ALL:
            yield from super().by_instant(instants, k)
            return
        before, lasts = self.previous, []
        for number in range(len(self.windows)):
            timely, self.previous, found = self.timely(number, instants, k), before, []
            for t in instants:
                found += [t] if t in timely and self.worthy(number, t, k) else []
                self.previous = self.contents(t, k)
            lasts.append(found[-1:])
        for t in instants:
            if self.fires([t in last for last in lasts]):
                yield self.report(t, k)


class FirstElementAnywhere(Enumeration):
    """Breaks REP-11, WIN-10: t1 is the first app of all streams."""

    def earliest(self, window):
        return min((e.app for elements in self.elements.values() for e in elements), default=None)


class OnlyTheFiring(Enumeration):
    """Breaks REP-12: only the first window's content counts as reported."""

    def report(self, t, k):
        before = self.reported
        found = super().report(t, k)
        self.reported = self.reported[:1] + before[1:]
        return found


class NamedInDefault(Enumeration):
    """Breaks R2R-8: a named window is part of the default graph, too."""

    def dataset(self, contents):
        found = super().dataset(contents)
        return found | {quad[:3] for quad in found}


class ContentWithStatic(Enumeration):
    """Breaks R2R-8: a content with static data is not empty."""

    def is_non_empty(self, window, t, k):
        return super().is_non_empty(window, t, k) or bool(self.static)


class NoEnd(Enumeration):
    """Breaks ENG-1: nothing follows the last arrival."""

    def sentinel(self):
        return []


class FlushFromTheLast(Enumeration):
    """Breaks ENG-1: flush counts from the last app, not from the last end."""

    def sentinel(self):
        found = super().sentinel()
        if not found or self.semantics.horizon is not End.FLUSH:
            return found
        app = (
            max(arrival.app for arrival in self.merged())
            + max(window.size or 0 for window in self.windows)
            + 2
        )
        return [found[0]._replace(app=app)]


class SuppressedIsNoBase(Enumeration):
    """Breaks R2S-4: an evaluation whose empty output is suppressed leaves the base as it was."""

    def emits(self, output, before):
        self.is_suppressed = not super().emits(output, before)
        return not self.is_suppressed

    def rebase(self, base, answer):
        return base if self.is_suppressed else super().rebase(base, answer)


class AppendOfArrivals(Enumeration):
    """Breaks R2S-7: rows over the new elements alone, without a join with the old ones."""

    def still_there(self, contents, before):
        return tuple(() for _ in contents)


class OnceAtFirst(Enumeration):
    """Breaks R2S-9: the first empty output is emitted, too."""

    def emits(self, output, before):
        if self.semantics.empty is not Empty.ONCE:
            return super().emits(output, before)
        found = bool(output) or self.first
        self.first = bool(output)
        return found

    first = True


class CollectedAfter(Enumeration):
    """Breaks R2R-9: the answer is never collected."""

    def collect(self, answer):
        return answer


def test_the_right_enumeration_is_not_noticed():
    """What is noticed below are the rules: the enumeration told apart from itself would show
    nothing.
    """
    assert not noticed(lambda case: case, most=len(drawn()))


@pytest.mark.parametrize("broken", Enumeration.__subclasses__(), ids=lambda broken: broken.__name__)
def test_a_broken_enumeration_is_noticed(broken: type[Enumeration]):
    """The comparison can fail: with one rule broken, the draws are enough to see it."""
    assert noticed(lambda case: case, broken), f"not noticed: {broken.__doc__}"


EPOCH = 1_700_000_000_000
SPARSE = [EPOCH + app for app in (1, 999, 1000, 5_000_000, 5_000_999, 86_400_000)]


def apart(apps: list[int]) -> Stream:
    """One element at each of the times."""
    return stream((TRIPLES[0], app) for app in apps)


def reports(window: Window, elements: Stream, semantics: Semantics) -> list[tuple]:
    """What the engine reports of one window."""
    return list(
        windows(
            Case(Query((window,), BODIES[count]), {"s": elements}, semantics, frozenset(), count)
        )
    )


@pytest.mark.parametrize("kind", [WindowKind.TIME, WindowKind.RANGE])
@pytest.mark.parametrize("closure", Closure)
@pytest.mark.parametrize(
    ("report", "gap"),
    [
        (report, gap)
        for report in ("window-close,non-empty", "window-close,content-change")
        for gap in MissedInstants
    ]
    + [("content-change", MissedInstants.ALL)],
)
def test_a_gap_costs_nothing(kind: WindowKind, closure: Closure, report: str, gap: MissedInstants):
    """ENG-2: from t0 = 0 to epoch milliseconds in no time, with the reports of the stream moved to
    0, windows renumbered.
    """
    window, semantics = (
        Window("s", kind, 1000, 1000),
        replace(CLOSING, closure=closure, report=report, missed_instants=gap),
    )
    late = reports(window, apart(SPARSE), semantics)  # visiting every instant would take days
    early = reports(window, apart([app - EPOCH for app in SPARSE]), semantics)
    renumbered = [
        (t + EPOCH, k, tuple((n + EPOCH // 1000, *more) for n, *more in held), takes_back)
        for t, k, held, takes_back in early
    ]
    assert late[len(late) - len(renumbered) :] == renumbered != []


def test_too_many_reports_name_the_gap():
    """ENG-3: close alone reports every empty window between two arrivals; past the bound that is an
    error, not a wait.
    """
    window, semantics = (
        Window("s", WindowKind.TIME, 1000, 1000),
        replace(CLOSING, report="window-close"),
    )
    with pytest.raises(TooManyReports, match=rf"^ENG-3: .*\b5\b.*\b{EPOCH}\b"):
        reports(window, apart([5, EPOCH]), semantics)
