"""Values that no stream can tell apart: each sentence of SPEC.md's list is a law here, and the list
has no other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TypeVar

import pytest
from conftest import PROFILE, draws
from hypothesis import Phase, given, reject, settings
from hypothesis import strategies as st
from independent_draws import BACKEND

from refengine import (
    Body,
    Element,
    OneOf,
    Query,
    Relation,
    Stream,
    Unit,
    Window,
    WindowKind,
    evaluate,
    row,
)
from refengine.core import engine, r2r
from refengine.core.semantics import (
    R2S,
    Anchor,
    Base,
    ChangeBaseline,
    ChangeScope,
    CloseRule,
    Closure,
    Collection,
    Condition,
    Empty,
    ExpirySeen,
    MissedInstants,
    Partial,
    Semantics,
    Slide,
    Tick,
    Trigger,
)
from refengine.model.elements import Bag, Triple
from refengine.strategies import semantics, streams, windows

SPEC = Path(__file__).resolve().parents[2] / "SPEC.md"
BODY = Body("SELECT ?o { ?s ?p ?o }")
CLOSE, CHANGE, NON_EMPTY, PERIODIC = (
    Condition.CLOSE,
    Condition.CHANGE,
    Condition.NON_EMPTY,
    Condition.PERIODIC,
)


Result = TypeVar("Result")


def remembered(function: Callable[[Side], Result]) -> Callable[[Side], Result]:
    """Return a function that remembers its results, since many laws ask for those of one side.

    Where mutants are tried it does not: results of the right code would hide their mistakes.
    """
    return function if PROFILE == "mutation" else cache(function)


@dataclass(frozen=True)
class Side:
    """A window, a stream and a semantics."""

    window: Window
    stream: Stream
    semantics: Semantics

    def but(self, **fields: object) -> Side:
        return replace(self, semantics=replace(self.semantics, **fields))

    def sized(self, **fields: int) -> Side:
        return replace(self, window=replace(self.window, **fields))

    def batched(self, key: Callable[[Element], object]) -> Side:
        """The stream with a batch id that rises wherever the key changes."""
        keys = [key(element) for element in self.stream]
        ids = accumulate((a != b for a, b in pairwise(keys)), initial=1)
        return replace(
            self,
            stream=Stream(
                tuple(e._replace(batch=n) for e, n in zip(self.stream, ids, strict=False))
            ),
        )

    @property
    def query(self) -> Query:
        return Query((self.window,), BODY)

    @remembered
    def seen(self) -> list[tuple[int, tuple[int, ...]]]:
        """The arrival and the content of each evaluation, in order."""
        planned = engine.plan(self.query, {"s": self.stream}, self.semantics)
        return [(at.arrival, tuple(at.content)) for at in engine.evaluations(planned)]

    def contents(self) -> list[tuple[int, ...]]:
        """The contents that are evaluated, in order."""
        return [content for _, content in self.seen()]

    def graphs(
        self, seen: list[tuple[int, tuple[int, ...]]]
    ) -> list[tuple[int, frozenset[Triple]]]:
        """The same with the graph of each content."""
        return [
            (arrival, r2r.dataset(self.stream.elements[i] for i in content))
            for arrival, content in seen
        ]

    @remembered
    def outputs(self) -> list[Bag]:
        """The relations that are emitted, in order."""
        reports = evaluate(self.query, {"s": self.stream}, self.semantics, answer=objects)
        return [report.relation.rows for report in reports]


def objects(body: Body, graph: frozenset) -> Relation:
    """BODY's answer, without SPARQL: a row a triple."""
    return Relation(("o",), Counter(row({"o": o}) for _, _, o in graph))


def triple(name: str) -> Triple:
    return "<urn:s>", "<urn:p>", f"<urn:{name}>"


ABC = st.sampled_from([triple(name) for name in "abc"])


# made once: Hypothesis takes longer to look at a new strategy than to draw
WINDOWS = windows(kinds=["time"], sizes=st.integers(1, 5), slides=st.integers(1, 6), triggers=False)


@st.composite
def sides(draw: st.DrawFn) -> Side:
    """One window over time, and a stream of up to 8 points with ties, gaps and elements on
    borders.
    """
    window = draw(WINDOWS)
    t0 = draw(st.integers(-4, 4))
    stream = draw(streams(window, t0=t0, payloads=ABC))
    last = stream.elements[-1].app if stream.elements else t0
    drawn = semantics(
        Query((window,), BODY),
        t0=t0,
        slide="stated",
        tick=OneOf((Tick.TUPLE, Tick.TIME)),
        horizon=last + draw(st.integers(1, 12)),
        instant="evaluation",
        allowed_lateness="reject",
    )
    return Side(window, stream, draw(drawn))


def without_recurrence(side: Side) -> Side:
    """Return a side in whose stream each element has a triple of its own."""
    own = tuple(
        element._replace(graph=frozenset({triple(f"n{element.sys}")})) for element in side.stream
    )
    return replace(side, stream=Stream(own))


class Beyond(Exception):
    """A side that a law says nothing of."""


def assume(holds: object) -> None:
    """Raise Beyond for a side without what a law presumes."""
    if not holds:
        raise Beyond


LAWS: dict[str, Callable[[Side], None]] = {}


def law(sentence: str) -> Callable:
    """A law is known by its sentence in SPEC.md."""

    def known(check: Callable[[Side], None]) -> Callable[[Side], None]:
        LAWS[sentence] = check
        return check

    return known


def with_report(side: Side, *conditions: Condition) -> Side:
    """The side under another report without a period."""
    gap = side.semantics.missed_instants if CLOSE in conditions else MissedInstants.ALL
    return side.but(report=frozenset(conditions), period=None, anchor=None, missed_instants=gap)


@law(
    "Under a report with window close, content change against the last report and all "
    "windows of a gap, the three ticks."
)
def ticks(side: Side) -> None:
    side = side.but(
        report=side.semantics.report | {CLOSE},
        change_baseline=ChangeBaseline.LAST,
        missed_instants=MissedInstants.ALL,
    )
    batched = side.batched(lambda element: element.sys // 3)
    found = [batched.but(tick=tick).contents() for tick in Tick]
    assert found[0] == found[1] == found[2]


@law("A batch for each element, and the tuple tick.")
def batch_of_each_element(side: Side) -> None:
    batched = side.batched(lambda element: element.sys)
    assert batched.but(tick=Tick.BATCH).contents() == side.but(tick=Tick.TUPLE).contents()


@law("A batch for each instant, and the time tick, where no arrival's own instant is s0.")
def batch_of_each_instant(side: Side) -> None:
    """With t0 = 2, `[)` and `passed`, s0 is 1, and so is the own instant of an element at 2. After
    an element at 0, which only the batch tick looks at, it is evaluated at 1 under the time tick
    alone.
    """
    semantics = side.semantics
    s0 = semantics.t0 - (semantics.closure is not Closure.LEFT_OPEN)
    shift = 0  # from the time of an arrival to its own instant (TICK-6)
    if semantics.closure is Closure.RIGHT_OPEN and semantics.close_rule is CloseRule.PASSED:
        shift = -1
    instants = [*(element.app for element in side.stream), semantics.horizon]
    assume(all(instant + shift != s0 for instant in instants))
    batched = side.batched(lambda element: element.app)
    assert batched.but(tick=Tick.BATCH).contents() == side.but(tick=Tick.TIME).contents()


@law(
    "`periodic` with period 1 beside other conditions, and those conditions alone (for a "
    "stream with elements, if the anchor is the first)."
)
def period_of_one(side: Side) -> None:
    others = side.semantics.report - {PERIODIC}
    assume(others and (side.semantics.missed_instants is MissedInstants.ALL or CLOSE in others))
    anchor = (
        0
        if side.semantics.anchor is Anchor.FIRST and not side.stream.elements
        else side.semantics.anchor or 0
    )
    every = side.but(report=others | {PERIODIC}, period=1, anchor=anchor)
    assert every.contents() == with_report(side, *others).contents()


@law(
    "{close, non-empty, content change} and {close, non-empty}, for β ≥ ω (β > ω for "
    "`[]`), change of elements against the last report, and windows n ≥ 0."
)
def change_of_disjoint_windows(side: Side) -> None:
    assume(side.window.slide > side.window.size - (side.semantics.closure is not Closure.CLOSED))
    side = side.but(
        change_scope=ChangeScope.ELEMENTS,
        change_baseline=ChangeBaseline.LAST,
        partial=Partial.SUPPRESSED,
    )
    assert (
        with_report(side, CLOSE, NON_EMPTY, CHANGE).contents()
        == with_report(side, CLOSE, NON_EMPTY).contents()
    )


@law(
    "`(]` with t0, and `[)` with t0 + 1, where windows close when reached, an integer "
    "anchor is moved by 1 too, and none is the first element."
)
def shifted_closure(side: Side) -> None:
    semantics, anchor = side.semantics, side.semantics.anchor
    assume(not isinstance(anchor, Anchor) or anchor is Anchor.T0)
    moved = anchor + 1 if isinstance(anchor, int) and not isinstance(anchor, Anchor) else anchor
    left = side = side.but(closure=Closure.LEFT_OPEN, close_rule=CloseRule.REACHED)
    assert (
        left.contents()
        == side.but(closure=Closure.RIGHT_OPEN, t0=semantics.t0 + 1, anchor=moved).contents()
    )


@law(
    "`[]` with ω, and `[)` with ω + 1, where windows close when reached, without "
    "`periodic` and without partial windows."
)
def longer_window(side: Side) -> None:
    assume(PERIODIC not in side.semantics.report)
    side = side.but(partial=Partial.SUPPRESSED, close_rule=CloseRule.REACHED)
    longer = side.sized(size=side.window.size + 1)
    assert (
        side.but(closure=Closure.CLOSED).contents()
        == longer.but(closure=Closure.RIGHT_OPEN).contents()
    )


@law(
    "t0 and t0 − β, where no window before window 0 holds an element, reports of empty "
    "contents are not made, there are no partial windows and no anchor at t0."
)
def earlier_origin(side: Side) -> None:
    first = side.stream.elements[0].app if side.stream.elements else side.semantics.t0
    anchor = 0 if side.semantics.anchor is Anchor.T0 else side.semantics.anchor
    t0 = first - 1 - max(0, side.window.size - side.window.slide)
    side = side.but(
        t0=t0, anchor=anchor, partial=Partial.SUPPRESSED, report=side.semantics.report | {NON_EMPTY}
    )
    side = side.but(horizon=max(side.semantics.horizon, first + 1))
    assert side.contents() == side.but(t0=t0 - side.window.slide).contents()


@law(
    "Rstream, Istream and append, for ω = β, {close, non-empty}, `[)` or `(]`, and rows "
    "that never recur."
)
def operators_of_tumbling_windows(side: Side) -> None:
    assume(side.semantics.closure is not Closure.CLOSED)
    side = with_report(side.sized(slide=side.window.size), CLOSE, NON_EMPTY).but(
        partial=Partial.SUPPRESSED, r2s=R2S.RSTREAM, base=None
    )
    found = [side.but(r2s=R2S.ISTREAM, base=base).outputs() for base in Base] + [
        side.but(r2s=R2S.APPEND).outputs()
    ]
    assert all(outputs == side.outputs() for outputs in found)


@law("append and Istream, and `bag` and `set`, for rows that never recur.")
def rows_that_never_recur(side: Side) -> None:
    assert (
        side.but(r2s=R2S.APPEND, base=None).outputs()
        == side.but(r2s=R2S.ISTREAM, base=Base.PREVIOUS).outputs()
    )
    assert (
        side.but(collection=Collection.SET).outputs()
        == side.but(collection=Collection.BAG).outputs()
    )


@law(
    "Content change against the last report and against the previous instant, where it "
    "is the only condition."
)
def change_alone(side: Side) -> None:
    side = with_report(side, CHANGE)
    assert (
        side.but(change_baseline=ChangeBaseline.LAST).contents()
        == side.but(change_baseline=ChangeBaseline.PREVIOUS).contents()
    )


@law("Content change by element and by graph, where every element has a triple and none recurs.")
def change_of_what(side: Side) -> None:
    assert (
        side.but(change_scope=ChangeScope.GRAPH).contents()
        == side.but(change_scope=ChangeScope.ELEMENTS).contents()
    )


@law(
    "Expiry replayed and eager, where no window takes another's place at an arrival's "
    "own instant, or under window close with content change, if any, against the last report."
)
def expiry(side: Side) -> None:
    last = side.semantics.t0 + side.window.size - (side.semantics.closure is Closure.RIGHT_OPEN)
    # an arrival's own instant is the one before it where the close of [o, c) must be passed (WIN-6)
    is_passed = side.semantics.close_rule is CloseRule.PASSED
    before = int(is_passed and side.semantics.closure is Closure.RIGHT_OPEN)
    arrivals = {element.app for element in side.stream} | {side.semantics.horizon}
    instants = {app - before for app in arrivals}
    shifts = any((app - last - 1) % side.window.slide == 0 for app in instants)
    assume(
        not shifts
        or (
            CLOSE in side.semantics.report
            and (
                CHANGE not in side.semantics.report
                or side.semantics.change_baseline is ChangeBaseline.LAST
            )
        )
    )
    assert (
        side.but(expiry_seen=ExpirySeen.EAGER).contents()
        == side.but(expiry_seen=ExpirySeen.REPLAYED).contents()
    )


@law("All windows of a gap and the latest, where `all` reports no gap twice.")
def gaps(side: Side) -> None:
    assume(side.semantics.report & {CLOSE, PERIODIC})
    every, latest = (
        side.but(missed_instants=MissedInstants.ALL).seen(),
        side.but(missed_instants=MissedInstants.LATEST).seen(),
    )
    # then that is of the same graph, by other elements
    if CHANGE in side.semantics.report and side.semantics.change_scope is ChangeScope.GRAPH:
        every, latest = side.graphs(every), side.graphs(latest)
    twice = max(Counter(arrival for arrival, _ in every).values(), default=0) > 1
    assert (every == latest) != twice


@law("Partial windows reported and clipped, where no element precedes window 0's first instant.")
def partial_windows(side: Side) -> None:
    low = 1 if side.semantics.closure is Closure.LEFT_OPEN else 0
    assume(all(element.app >= side.semantics.t0 + low for element in side.stream))
    assert (
        side.but(partial=Partial.CLIPPED).contents()
        == side.but(partial=Partial.REPORTED).contents()
    )


@law("The values of `empty`, where no output is empty.")
def no_empty_answers(side: Side) -> None:
    assume(all(side.but(empty=Empty.EMIT).outputs()))
    found = [side.but(empty=empty).outputs() for empty in Empty]
    assert all(outputs == found[0] for outputs in found)


@law("The triggers any, all and leading, with one window.")
def triggers(side: Side) -> None:
    found = [
        side.but(trigger=trigger).contents()
        for trigger in Trigger
        if trigger is not Trigger.EXPLICIT
    ]
    assert found[0] == found[1] == found[2]


@law(
    "Under Istream with empty answers suppressed: content change, non-empty, both, and "
    "period 1, for β ≤ ω and rows that never recur."
)
def istream_of_changes(side: Side) -> None:
    assume(side.window.slide <= side.window.size)
    side = side.but(r2s=R2S.ISTREAM, base=Base.PREVIOUS, empty=Empty.SUPPRESS)
    found = [
        with_report(side, *report).outputs()
        for report in ((CHANGE,), (NON_EMPTY,), (CHANGE, NON_EMPTY))
    ]
    found.append(
        side.but(
            report=frozenset({PERIODIC}), period=1, anchor=0, missed_instants=MissedInstants.ALL
        ).outputs()
    )
    assert found[0] == found[1] == found[2] == found[3]


@law("Windows closed by an arrival at c and by one past it, for `(]` and `[]`.")
def closing(side: Side) -> None:
    assume(side.semantics.closure is not Closure.RIGHT_OPEN)
    assert (
        side.but(close_rule=CloseRule.PASSED).contents()
        == side.but(close_rule=CloseRule.REACHED).contents()
    )


@law(
    "`periodic` with period β, anchored where window 0 closes, and window close, under "
    "the time tick, for ω < β (ω + 1 < β for `[]`)."
)
def period_of_closes(side: Side) -> None:
    assume(side.window.size + (side.semantics.closure is Closure.CLOSED) < side.window.slide)
    side = side.but(
        tick=Tick.TIME, expiry_seen=ExpirySeen.REPLAYED, missed_instants=MissedInstants.ALL
    )
    anchor = side.semantics.t0 + side.window.size
    periodic = side.but(
        report=frozenset({PERIODIC, NON_EMPTY}), period=side.window.slide, anchor=anchor
    )
    assert periodic.contents() == with_report(side, CLOSE, NON_EMPTY).contents()


@law("Disorder refused, and reordered within any bound, for streams in order.")
def order(side: Side) -> None:
    assert (
        side.but(allowed_lateness=0).contents()
        == side.but(allowed_lateness=5).contents()
        == side.contents()
    )


@law("Ids that count elements, and triples, where every element has one.")
def units(side: Side) -> None:
    side = with_report(side, CHANGE).but(closure=None, close_rule=CloseRule.REACHED)
    rows = replace(side, window=replace(side.window, kind=WindowKind.ROWS, lag=0))
    assert (
        rows.contents() == replace(rows, window=replace(rows.window, unit=Unit.TRIPLES)).contents()
    )


@law("A slide that is ignored, and a stated slide of 1.")
def slides(side: Side) -> None:
    assert side.but(slide=Slide.IGNORED).contents() == side.sized(slide=1).contents()


# laws of triples that do not recur
ONCE = {rows_that_never_recur, operators_of_tumbling_windows, change_of_what, istream_of_changes}


@cache
def drawn(recurring: bool) -> list[Side]:
    """Draw the sides that all laws are tried on: drawing one takes as long as trying thirty laws.
    Each law is beyond some. The sides without recurring triples are those with them, changed.
    """
    if not recurring:
        return list(map(without_recurrence, drawn(recurring=True)))
    found: list[Side] = []

    # of 90, which mutants would have, chance decides how many a law says something of
    @settings(max_examples=max(3 * draws(300), 150), phases=[Phase.generate], backend=BACKEND)
    @given(sides())
    def collect(side: Side) -> None:
        found.append(side)

    collect()
    return found


def is_told(check: Callable[[Side], None], side: Side) -> bool:
    """Whether a law says something of a side. Raises AssertionError where that is wrong."""
    try:
        check(side)
    except Beyond:
        return False
    return True


@pytest.mark.xdist_group("equivalences")  # one worker draws for all
@pytest.mark.parametrize("sentence", LAWS)
def test_no_stream_tells_them_apart(sentence: str):
    """Nothing of what is drawn breaks the law; where something does, the smallest such is looked
    for.
    """
    check = LAWS[sentence]
    recurring = check not in ONCE
    strategy = sides() if recurring else sides().map(without_recurrence)

    @given(strategy)
    def smallest(side: Side) -> None:
        if not is_told(check, side):
            reject()

    try:
        told = sum(is_told(check, side) for side in drawn(recurring))
    except AssertionError:
        smallest()
        raise
    assert told >= draws(300), f"the law says something of {told} draws only"


def test_the_specification_lists_these_laws_and_no_other():
    section = (
        SPEC.read_text(encoding="utf-8")
        .split("## What no stream can tell apart")[1]
        .split("\n## ")[0]
    )
    listed = [
        sentence for sentence, _ in re.findall(r"^- (.*?) \*Because\* (.*)$", section, re.MULTILINE)
    ]
    assert listed == list(LAWS)
