"""Values that no stream can tell apart. Each is a law; tools/laws.py makes the list of docs/laws.md
from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise
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
from refengine.core.semantics import Semantics
from refengine.core.values import (
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
    Slide,
    Tick,
    Trigger,
)
from refengine.model.elements import Bag, Triple
from refengine.strategies import semantics, streams, windows

BODY = Body("SELECT ?o { ?s ?p ?o }")
CLOSE, CHANGE, NON_EMPTY, PERIODIC = Condition


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

    @property
    def own_instants(self) -> set[int]:
        """The own instants of all arrivals (TICK-6), the one at the horizon included."""
        shift = 0
        if (
            self.semantics.closure is Closure.RIGHT_OPEN
            and self.semantics.close_rule is CloseRule.PASSED
        ):
            shift = -1
        arrivals = [*(element.app for element in self.stream), self.semantics.horizon]
        return {app + shift for app in arrivals}

    def borders(self, n: int) -> tuple[int, int]:
        """The first and the last instant of window n, without the lag."""
        opens = self.semantics.t0 + n * self.window.slide
        return (
            opens + (self.semantics.closure is Closure.LEFT_OPEN),
            opens + self.window.size - (self.semantics.closure is Closure.RIGHT_OPEN),
        )

    def is_partial(self, n: int) -> bool:
        """Whether window n is partial (WIN-11)."""
        opens = n * self.window.slide
        return opens < 0 < opens + self.window.size

    def holds_an_element(self, n: int) -> bool:
        """Whether an element is in window n."""
        first, last = self.borders(n)
        return any(first <= element.app + self.window.lag <= last for element in self.stream)

    def near_the_first(self, before: int, after: int) -> range:
        """Instants from so many before the first element, as the window sees it, to so many
        after it.
        """
        seen = self.semantics.t0
        if self.stream.elements:
            seen = self.stream.elements[0].app + self.window.lag
        return range(seen - before, seen + after)

    def reversed(self) -> Side:
        """The side with the last element first."""
        apps = [element.app for element in self.stream][::-1]
        moved = [e._replace(app=app, end=None) for e, app in zip(self.stream, apps, strict=True)]
        return replace(self, stream=Stream(tuple(moved)))

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


def triple(name: str, subject: str = "s") -> Triple:
    return f"<urn:{subject}>", "<urn:p>", f"<urn:{name}>"


# of one triple mostly, of none or two sometimes
GRAPHS = st.sampled_from(
    [
        *(frozenset({triple(name)}) for name in "aaabbbcc"),
        frozenset(),
        frozenset({triple("a"), triple("b")}),
        frozenset({triple("a", "r")}),
        frozenset({triple("a"), triple("a", "r")}),
    ]
)


# made once: Hypothesis takes longer to look at a new strategy than to draw
WINDOWS = windows(
    kinds=["time"],
    sizes=st.integers(1, 5),
    slides=st.integers(1, 6),
    lags=st.sampled_from((0, 0, 0, 0, 1, 3)),
    triggers=False,
)


@st.composite
def sides(draw: st.DrawFn) -> Side:
    """One window over time, and a stream of up to 8 points with ties, gaps and elements on
    borders.
    """
    window = draw(WINDOWS)
    t0 = draw(st.integers(-4, 4))
    stream = draw(streams(window, t0=t0, payloads=GRAPHS))
    last = stream.elements[-1].app if stream.elements else t0
    drawn = semantics(
        Query((window,), BODY),
        t0=t0,
        slide="stated",
        reported_windows="active",
        tick=OneOf((Tick.TUPLE, Tick.TIME)),
        horizon=last + draw(st.integers(1, 12)),
        instant="evaluation",
        allowed_lateness="reject",
        late_for="stream",
    )
    return Side(window, stream, draw(drawn))


def without_recurrence(side: Side, least: int = 0) -> Side:
    """Return a side in whose stream each element has triples of its own, at least so many."""
    own = tuple(
        element._replace(
            graph=frozenset(
                triple(f"n{element.sys}.{i}") for i in range(max(least, len(element.graph)))
            )
        )
        for element in side.stream
    )
    return replace(side, stream=Stream(own))


class Beyond(Exception):
    """A side that a law says nothing of."""


class Clauses:
    """The clauses of the law that is tried. All count but the one that is `waived`: to see that it
    is needed.
    """

    waived = ""

    def counts(self, clause: str) -> bool:
        return clause != self.waived

    def assume(self, clause: str, holds: object) -> None:
        """Raise Beyond for a side without what a clause presumes."""
        if self.counts(clause) and not holds:
            raise Beyond

    def presume(self, clause: str, side: Side, **fields: object) -> Side:
        """Return a side with the values that a clause presumes."""
        return side.but(**fields) if self.counts(clause) else side

    def once(self, clause: str, side: Side, least: int = 0) -> Side:
        """Return a side whose rows never recur, as a clause presumes."""
        return without_recurrence(side, least) if self.counts(clause) else side


clauses = Clauses()
assume, presume, once = clauses.assume, clauses.presume, clauses.once


@dataclass(frozen=True)
class Law:
    """What a sentence says of a side, and the words of its clauses."""

    check: Callable[[Side], None]
    clauses: tuple[str, ...]


LAWS: dict[str, Law] = {}


def law(
    sentence: str, *words: str, because: str, theorems: Sequence[str] | None = None
) -> Callable:
    """A law is known by its sentence. Its clauses are words of that, without each of which the law
    would be wrong. `because` and `theorems` are for docs/laws.md: a theorem that proves the law
    has its function's name if none is named.
    """

    def known(check: Callable[[Side], None]) -> Callable[[Side], None]:
        LAWS[sentence] = Law(check, words)
        return check

    return known


def with_report(side: Side, *conditions: Condition) -> Side:
    """The side under another report without a period."""
    gap = side.semantics.missed_instants if CLOSE in conditions else MissedInstants.ALL
    return side.but(report=frozenset(conditions), period=None, anchor=None, missed_instants=gap)


def without(side: Side, condition: Condition) -> Side:
    """The side without a condition of its report, if another one is left. Raises Beyond."""
    others = side.semantics.report - {condition}
    if not others:
        raise Beyond
    gap = side.semantics.missed_instants if others & {CLOSE, PERIODIC} else MissedInstants.ALL
    fields = {} if PERIODIC in others else {"period": None, "anchor": None}
    return side.but(report=others, missed_instants=gap, **fields)


@law(
    "Under a report with window close, with content change, if any, against the last report, and "
    "with all windows of a gap: the three ticks.",
    "with window close",
    "with content change, if any, against the last report",
    "with all windows of a gap",
    because=(
        "close holds only before the arrival's own instant (REP-1), where all that is in "
        "scope has arrived."
    ),
)
def three_ticks(side: Side) -> None:
    side = presume("with window close", side, report=side.semantics.report | {CLOSE})
    side = presume(
        "with content change, if any, against the last report",
        side,
        change_baseline=ChangeBaseline.LAST,
    )
    side = presume("with all windows of a gap", side, missed_instants=MissedInstants.ALL)
    found = [side.but(tick=tick).contents() for tick in (Tick.TUPLE, Tick.TIME)]
    for size in (1, 2, 3):
        batched = side.batched(lambda element, size=size: element.sys // size)
        found.append(batched.but(tick=Tick.BATCH).contents())
    assert all(contents == found[0] for contents in found)


@law(
    "A batch for each element, and the tuple tick.",
    "A batch for each element",
    because="batch ids then rise at every arrival (TICK-1, TICK-3).",
)
def a_batch_for_each_element(side: Side) -> None:
    size = 1 if clauses.counts("A batch for each element") else 2
    batched = side.batched(lambda element: element.sys // size)
    assert batched.but(tick=Tick.BATCH).contents() == side.but(tick=Tick.TUPLE).contents()


@law(
    "A batch for each instant, and the time tick, where no arrival's own instant is s0.",
    "A batch for each instant",
    "where no arrival's own instant is s0",
    because=(
        "batch ids then rise where app does (TICK-2, TICK-3), but for arrivals whose app is "
        "at most s0, which the batch tick alone looks at (TICK-5)."
    ),
)
def a_batch_for_each_instant(side: Side) -> None:
    """With t0 = 2, `[)` and `passed`, s0 is 1, and so is the own instant of an element at 2. After
    an element at 0, which only the batch tick looks at, it is evaluated at 1 under the time tick
    alone.
    """
    is_counted = clauses.counts("A batch for each instant")
    batched = side.batched(lambda element: element.app if is_counted else element.sys)
    is_told = False
    for t0 in side.near_the_first(before=2, after=4):
        each = side.but(t0=t0)
        s0 = each.borders(0)[0] - 1
        if s0 in side.own_instants and clauses.counts("where no arrival's own instant is s0"):
            continue
        is_told = True
        by_batch = batched.but(tick=Tick.BATCH, t0=t0)
        assert by_batch.contents() == each.but(tick=Tick.TIME).contents()
    if not is_told:
        raise Beyond


@law(
    "`periodic` with period 1 beside other conditions, and those conditions alone (for a "
    "stream with elements, if the anchor is the first).",
    "for a stream with elements, if the anchor is the first",
    because="every integer is the anchor plus a multiple of 1 (REP-4).",
)
def a_period_of_one(side: Side) -> None:
    others = side.semantics.report - {PERIODIC}
    if not others or (side.semantics.missed_instants.needs_instants and CLOSE not in others):
        raise Beyond
    is_any = not clauses.counts("for a stream with elements, if the anchor is the first")
    for each in (side, replace(side, stream=Stream(()))):
        alone = with_report(each, *others).contents()
        for anchor in (0, Anchor.T0, Anchor.FIRST):
            if is_any or each.stream.elements or anchor is not Anchor.FIRST:
                every = each.but(report=others | {PERIODIC}, period=1, anchor=anchor)
                assert every.contents() == alone


@law(
    "{close, non-empty, content change} and {close, non-empty}, for β ≥ ω (β > ω for "
    "`[]`) and change of elements against the last report.",
    "for β ≥ ω (β > ω for `[]`)",
    "change of elements",
    "against the last report",
    because="such windows share no element, so their contents differ.",
)
def change_of_disjoint_windows(side: Side) -> None:
    assume(
        "for β ≥ ω (β > ω for `[]`)",
        side.window.slide >= side.window.size + (side.semantics.closure is Closure.CLOSED),
    )
    side = presume("change of elements", side, change_scope=ChangeScope.ELEMENTS)
    side = presume("against the last report", side, change_baseline=ChangeBaseline.LAST)
    assert (
        with_report(side, CLOSE, NON_EMPTY, CHANGE).contents()
        == with_report(side, CLOSE, NON_EMPTY).contents()
    )


@law(
    "`(]` with t0, and `[)` with t0 + 1, where windows close when reached, an integer "
    "anchor is moved by 1 too, and none is the first element.",
    "where windows close when reached",
    "an integer anchor is moved by 1 too",
    "none is the first element",
    because="over integers (x, y] = [x+1, y+1), and the border instant of `[)` is t + 1 (REP-4).",
)
def left_open_is_right_open_one_later(side: Side) -> None:
    side = presume("where windows close when reached", side, close_rule=CloseRule.REACHED)
    semantics, anchor = side.semantics, side.semantics.anchor
    assume("none is the first element", anchor is not Anchor.FIRST)
    if clauses.counts("an integer anchor is moved by 1 too") and not isinstance(anchor, Anchor):
        anchor = None if anchor is None else anchor + 1
    assert (
        side.but(closure=Closure.LEFT_OPEN).contents()
        == side.but(closure=Closure.RIGHT_OPEN, t0=semantics.t0 + 1, anchor=anchor).contents()
    )


@law(
    "`[]` with ω, and `[)` with ω + 1, where windows close when reached, without "
    "`periodic` and without partial windows.",
    "where windows close when reached",
    "without `periodic`",
    "without partial windows",
    because="[o, o+ω] = [o, o+ω+1); only the border instant and the set of partial windows differ.",
)
def closed_is_right_open_of_one_more(side: Side) -> None:
    if clauses.counts("without `periodic`"):
        side = without(side, PERIODIC)
    side = presume("without partial windows", side, partial=Partial.SUPPRESSED)
    side = presume("where windows close when reached", side, close_rule=CloseRule.REACHED)
    longer = side.sized(size=side.window.size + 1)
    assert (
        side.but(closure=Closure.CLOSED).contents()
        == longer.but(closure=Closure.RIGHT_OPEN).contents()
    )


UNDISTURBED = (
    "under eager expiry no arrival's own instant is that at which window 0 takes the place of "
    "window −1"
)


@law(
    "t0 and t0 − β, where no window before window 0 holds an element, reports of empty "
    "contents are not made, there is no anchor at t0, and under eager expiry no arrival's own "
    "instant is that at which window 0 takes the place of window −1.",
    "no window before window 0 holds an element",
    "reports of empty contents are not made",
    "there is no anchor at t0",
    UNDISTURBED,
    because=(
        "only window −1 is missing, which is never reported. Where window 0 takes its place "
        "at an arrival's own instant, eager expiry evaluates that instant once more "
        "(TICK-7)."
    ),
)
def t0_is_t0_minus_slide(side: Side) -> None:
    earlier_origins(side, lambda each: each.borders(-1)[1] + 1)


def earlier_origins(side: Side, disturbing: Callable[[Side], int]) -> None:
    """Try all t0 near the first element. Under eager expiry no arrival's own instant may be the one
    that is `disturbing`.
    """
    side = presume(
        "reports of empty contents are not made",
        side,
        report=side.semantics.report | {NON_EMPTY},
    )
    assume("there is no anchor at t0", side.semantics.anchor is not Anchor.T0)
    passed = side.but(
        expiry_seen=ExpirySeen.EAGER, close_rule=CloseRule.PASSED, closure=Closure.RIGHT_OPEN
    )
    non_empty = with_report(passed, NON_EMPTY)
    is_told = False
    for chosen in (side, passed, non_empty, non_empty.sized(slide=1)):
        reach = chosen.window.size + chosen.window.slide
        for t0 in side.near_the_first(before=reach, after=3):
            each = chosen.but(t0=t0)
            is_beyond = (
                clauses.counts("no window before window 0 holds an element")
                and any(map(each.holds_an_element, range(-reach - 20, 0)))
            ) or (
                clauses.counts(UNDISTURBED)
                and each.semantics.expiry_seen is ExpirySeen.EAGER
                and disturbing(each) in each.own_instants
            )
            if not is_beyond:
                is_told = True
                assert each.contents() == each.but(t0=t0 - each.window.slide).contents()
    if not is_told:
        raise Beyond


@law(
    "Rstream, Istream and append, for ω = β, {close, non-empty}, `[)` or `(]`, and rows "
    "that never recur.",
    "for ω = β",
    "{close, non-empty}",
    "`[)` or `(]`",
    "rows that never recur",
    because="such windows share no element, and then no row.",
)
def operators_of_tumbling_windows(side: Side) -> None:
    assume("`[)` or `(]`", side.semantics.closure is not Closure.CLOSED)
    side = once("rows that never recur", side)
    if clauses.counts("for ω = β"):
        side = side.sized(slide=side.window.size)
    if clauses.counts("{close, non-empty}"):
        side = with_report(side, CLOSE, NON_EMPTY)
    side = side.but(r2s=R2S.RSTREAM, base=None)
    found = [side.but(r2s=R2S.ISTREAM, base=base).outputs() for base in Base] + [
        side.but(r2s=R2S.APPEND).outputs()
    ]
    assert all(outputs == side.outputs() for outputs in found)


@law(
    "append and Istream, for rows that never recur.",
    "for rows that never recur",
    because="a row has one derivation, from elements that are new when it is.",
)
def append_is_istream(side: Side) -> None:
    side = once("for rows that never recur", side)
    appended = side.but(r2s=R2S.APPEND, base=None).outputs()
    assert all(appended == side.but(r2s=R2S.ISTREAM, base=base).outputs() for base in Base)


@law(
    "`bag` and `set`, for rows that never recur.",
    "for rows that never recur",
    because="a row is then once in an answer.",
)
def bag_is_set(side: Side) -> None:
    side = once("for rows that never recur", side)
    assert (
        side.but(collection=Collection.SET).outputs()
        == side.but(collection=Collection.BAG).outputs()
    )


@law(
    "Content change against the last report and against the previous instant, where it "
    "is the only condition.",
    "where it is the only condition",
    because=(
        "every change is then reported, so the content last reported is that of the instant before."
    ),
)
def change_alone(side: Side) -> None:
    if clauses.counts("where it is the only condition"):
        side = with_report(side, CHANGE)
    assert (
        side.but(change_baseline=ChangeBaseline.LAST).contents()
        == side.but(change_baseline=ChangeBaseline.PREVIOUS).contents()
    )


@law(
    "Content change by element and by graph, where every element has a triple and none recurs.",
    "where every element has a triple",
    "none recurs",
    because="different elements then have different triples.",
)
def change_of_what(side: Side) -> None:
    least = int(clauses.counts("where every element has a triple"))
    side = once("none recurs", side, least)
    assert (
        side.but(change_scope=ChangeScope.GRAPH).contents()
        == side.but(change_scope=ChangeScope.ELEMENTS).contents()
    )


@law(
    "Expiry replayed and eager, where no window takes another's place at an arrival's "
    "own instant, or under window close with content change, if any, against the last report.",
    "where no window takes another's place at an arrival's own instant",
    "with content change, if any, against the last report",
    because="TICK-7 adds that instant only, and close never holds at the arrival's own (REP-1).",
    theorems=("expiry_where_no_window_moves", "expiry_under_window_close"),
)
def expiry(side: Side) -> None:
    closing = side.but(report=frozenset({CLOSE, CHANGE}), period=None, anchor=None)
    tried = [is_told(expiry_of, each) for each in (side, closing, with_report(side, CHANGE))]
    if not any(tried):
        raise Beyond


def expiry_of(side: Side) -> None:
    """The law, of one report."""
    least = 0
    while side.semantics.partial is not Partial.SUPPRESSED and side.is_partial(least - 1):
        least -= 1
    # the first window takes no other's place
    if any(side.borders(n)[1] + 1 in side.own_instants for n in range(least, 60)):
        assume(
            "where no window takes another's place at an arrival's own instant",
            CLOSE in side.semantics.report,
        )
        assume(
            "with content change, if any, against the last report",
            CLOSE not in side.semantics.report
            or CHANGE not in side.semantics.report
            or side.semantics.change_baseline is ChangeBaseline.LAST,
        )
    assert (
        side.but(expiry_seen=ExpirySeen.EAGER).contents()
        == side.but(expiry_seen=ExpirySeen.REPLAYED).contents()
    )


@law(
    "All windows of a gap and the latest, where `all` reports no gap twice; under content change "
    "by graph, up to contents of the same graph.",
    "where `all` reports no gap twice",
    "under content change by graph, up to contents of the same graph",
    because=(
        "the latest is then that one, or a later instant of what counts as the same content "
        "(REP-9, REP-10)."
    ),
)
def all_of_a_gap_is_the_latest(side: Side) -> None:
    """Where `all` reports a gap twice they are told apart, too."""
    graph = side.but(change_scope=ChangeScope.GRAPH, report=side.semantics.report | {CHANGE})
    same = tuple(element._replace(graph=frozenset({triple("a")})) for element in side.stream)
    sides = (side, graph, replace(graph, stream=Stream(same)))
    tried = [is_told(gaps_of, each) for each in sides]
    if not any(tried):
        raise Beyond


def gaps_of(side: Side) -> None:
    """The law, of one report."""
    if not side.semantics.report & {CLOSE, PERIODIC}:
        raise Beyond
    every, latest = (
        side.but(missed_instants=MissedInstants.ALL).seen(),
        side.but(missed_instants=MissedInstants.LATEST).seen(),
    )
    if (
        clauses.counts("under content change by graph, up to contents of the same graph")
        and CHANGE in side.semantics.report
        and side.semantics.change_scope is ChangeScope.GRAPH
    ):
        every, latest = side.graphs(every), side.graphs(latest)
    twice = max(Counter(arrival for arrival, _ in every).values(), default=0) > 1
    assert (every == latest) != (twice and clauses.counts("where `all` reports no gap twice"))


@law(
    "Partial windows reported and clipped, where no element precedes window 0's first instant "
    "(moved back by a lag).",
    "where no element precedes window 0's first instant",
    because="clipping takes away elements before it and nothing else (WIN-11).",
)
def reported_is_clipped(side: Side) -> None:
    first, _ = side.borders(0)
    assume(
        "where no element precedes window 0's first instant",
        all(element.app + side.window.lag >= first for element in side.stream),
    )
    assert (
        side.but(partial=Partial.CLIPPED).contents()
        == side.but(partial=Partial.REPORTED).contents()
    )


@law(
    "The values of `empty`, where no output is empty.",
    "where no output is empty",
    because="they differ on empty outputs alone (R2S-5, R2S-9).",
)
def nothing_empty_to_suppress(side: Side) -> None:
    assume("where no output is empty", all(side.but(empty=Empty.EMIT).outputs()))
    found = [side.but(empty=empty).outputs() for empty in Empty]
    assert all(outputs == found[0] for outputs in found)


@law(
    "The triggers any, all and leading, with one window.",
    because="some window, every window and the first one are then the same (REP-12).",
)
def triggers_of_one_window(side: Side) -> None:
    found = [
        side.but(trigger=trigger).contents()
        for trigger in Trigger
        if trigger is not Trigger.EXPLICIT
    ]
    assert found[0] == found[1] == found[2]


@law(
    "Under Istream with empty answers suppressed: content change, non-empty, both, and "
    "period 1, for rows that never recur.",
    "with empty answers suppressed",
    "for rows that never recur",
    because="an evaluation between changes, or of nothing, adds an empty output.",
)
def istream_of_changes(side: Side) -> None:
    side = once("for rows that never recur", side)
    side = presume("with empty answers suppressed", side, empty=Empty.SUPPRESS)
    for base in Base:
        side = side.but(r2s=R2S.ISTREAM, base=base)
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


@law(
    "Windows closed by an arrival at c and by one past it, for `(]` and `[]`.",
    "for `(]` and `[]`",
    because="their last instant is c, which only an arrival past it closes (REP-1).",
)
def reached_is_passed(side: Side) -> None:
    assume("for `(]` and `[]`", side.semantics.closure is not Closure.RIGHT_OPEN)
    assert (
        side.but(close_rule=CloseRule.PASSED).contents()
        == side.but(close_rule=CloseRule.REACHED).contents()
    )


@law(
    "`periodic` with period β, anchored where window 0 closes, and window close, under "
    "the time tick, for ω < β (ω + 1 < β for `[]`).",
    "anchored where window 0 closes",
    "under the time tick",
    "for ω < β (ω + 1 < β for `[]`)",
    because="the border instants from s0 on are then the c of all windows (TICK-4, TICK-7).",
)
def period_of_closes(side: Side) -> None:
    assume(
        "for ω < β (ω + 1 < β for `[]`)",
        side.window.size + (side.semantics.closure is Closure.CLOSED) < side.window.slide,
    )
    side = presume("under the time tick", side, tick=Tick.TIME)
    anchor = side.semantics.t0 + side.window.size
    anchor += not clauses.counts("anchored where window 0 closes")
    others = side.semantics.report - {PERIODIC, CLOSE}
    periodic = side.but(report=others | {PERIODIC}, period=side.window.slide, anchor=anchor)
    closing = side.but(report=others | {CLOSE}, period=None, anchor=None)
    assert periodic.contents() == closing.contents()


@law(
    "Disorder refused, and reordered within any bound, for streams in order.",
    "for streams in order",
    because="nothing is out of order (MOD-2).",
)
def refused_is_reordered(side: Side) -> None:
    if not clauses.counts("for streams in order"):
        one, other = side.but(allowed_lateness=0), side.but(allowed_lateness=5)
        assert one.reversed().contents() == other.reversed().contents()
        return
    assert (
        side.but(allowed_lateness=0).contents()
        == side.but(allowed_lateness=5).contents()
        == side.contents()
    )


@law(
    "Ids that count elements, and triples, where every element has one.",
    "where every element has one",
    because="the counts are the same (WIN-16).",
)
def ids_of_elements_are_ids_of_triples(side: Side) -> None:
    if clauses.counts("where every element has one"):
        one = tuple(e._replace(graph=frozenset({triple("a")})) for e in side.stream)
        side = replace(side, stream=Stream(one))
    rows = with_report(side, CHANGE).but(closure=None, close_rule=CloseRule.REACHED)
    for kind, each in ((WindowKind.ROWS, rows), (WindowKind.TUPLE, side)):
        counted = replace(each, window=replace(each.window, kind=kind, lag=0))
        by_triples = replace(counted, window=replace(counted.window, unit=Unit.TRIPLES))
        assert counted.contents() == by_triples.contents()


@law(
    "A slide that is ignored, and a stated slide of 1.",
    "of 1",
    because="an ignored slide counts as 1 (WIN-17).",
)
def ignored_is_a_slide_of_one(side: Side) -> None:
    stated = side.sized(slide=1) if clauses.counts("of 1") else side
    assert side.but(slide=Slide.IGNORED).contents() == stated.contents()


@cache
def drawn() -> list[Side]:
    """Draw the sides that all laws are tried on: drawing one takes as long as trying thirty laws.
    Each law is beyond some.
    """
    found: list[Side] = []

    # of 90, which mutants would have, chance decides how many a law says something of
    @settings(max_examples=max(3 * draws(300), 300), phases=[Phase.generate], backend=BACKEND)
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


def refutes(check: Callable[[Side], None], side: Side) -> bool:
    """Whether a side shows that a law is wrong."""
    try:
        check(side)
    except Beyond:
        return False
    except AssertionError:
        return True
    return False


@pytest.mark.xdist_group("equivalences")  # one worker draws for all
@pytest.mark.parametrize("sentence", LAWS)
def test_no_stream_tells_them_apart(sentence: str):
    """Nothing of what is drawn breaks the law; where something does, the smallest such is looked
    for.
    """
    check = LAWS[sentence].check

    @given(sides())
    def smallest(side: Side) -> None:
        if not is_told(check, side):
            reject()

    try:
        told = sum(is_told(check, side) for side in drawn())
    except AssertionError:
        smallest()
        raise
    assert told >= draws(300), f"the law says something of {told} draws only"


@pytest.mark.xdist_group("equivalences")
@pytest.mark.parametrize(
    ("sentence", "clause"), [(s, clause) for s, known in LAWS.items() for clause in known.clauses]
)
def test_the_clause_is_needed(sentence: str, clause: str, monkeypatch: pytest.MonkeyPatch):
    """Without it the same draws refute the law: each clause decides something of what is drawn."""
    assert clause in sentence
    monkeypatch.setattr(clauses, "waived", clause)
    assert any(refutes(LAWS[sentence].check, side) for side in drawn()), (
        f"the law holds without {clause!r}, too"
    )


@pytest.mark.xdist_group("equivalences")
@pytest.mark.parametrize(
    "disturbing",
    [
        lambda side: side.borders(0)[0],  # what the specification had
        lambda side: side.borders(-1)[1],
        lambda side: side.borders(-1)[1] + 2,
    ],
    ids=["window 0's first", "window −1's last", "two after window −1's last"],
)
def test_another_instant_in_the_clause_on_eager_expiry_is_refuted(
    disturbing: Callable[[Side], int],
):
    assert any(refutes(lambda side: earlier_origins(side, disturbing), side) for side in drawn())
