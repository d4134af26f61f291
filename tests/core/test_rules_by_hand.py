"""Sentences of SPEC.md that decide little things, each on the smallest input on which it decides
one. The reports are derived by hand; the engine and the enumeration must give them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_enumeration import CLOSING
from test_enumeration_by_hand import elements, window

from conformance.corpus.rule_texts import read_specification
from refengine import Body, Element, Query, Stream
from refengine.core import engine
from refengine.core.query import Unit, Window
from refengine.enumeration import Enumeration

LAWS = Path(__file__).resolve().parents[2] / "docs" / "laws.md"
EVERY_INSTANT = replace(CLOSING, report="periodic", period=1, anchor=0)


def reported(windows: list[Window], items: list[Element], semantics) -> list[tuple]:
    """(t, arrival, what the first window holds) of each report: arrivals are counted from 0."""
    planned = engine.plan(
        Query(tuple(windows), Body("ASK { ?s ?p ?o }")), {"s": Stream(tuple(items))}, semantics
    )
    found = [(at.t, at.arrival, tuple(at.windows[0].content)) for at in engine.evaluations(planned)]
    enumerated = Enumeration(windows, {"s": items}, semantics).reports()
    assert found == [(r.t, r.arrival, tuple(r.windows[0].content)) for r in enumerated]
    return found


def test_the_flush_is_the_greatest_of_the_sums_of_size_and_lag():
    """ENG-1: 3 + 2 + max(10 + 0, 2 + 5) = 15, and not 3 + 2 + 10 + 5. The sentinel at 15 sees the
    windows up to [4, 14), 13 and 14 being the last instants before 15: [5, 15) closes at 14.
    """
    windows = [window("time", 10, 1, name="urn:w"), window("time", 2, 1, name="urn:v", lag=5)]
    found = reported(windows, elements(3), replace(CLOSING, report="window-close", horizon="flush"))
    assert max(t for t, _, _ in found) == 14


def test_an_interval_begins_at_the_own_instant_by_the_close_rule():
    """TICK-5 with TICK-6, passed, [0, 3): own instants are 0, 2 and 5. The one at 3 is evaluated at
    0 and 1, and the one at 6 at 2, 3 and 4: at 2 the window closes. From 3 on it would not.
    """
    semantics = replace(CLOSING, report="window-close", close_rule="passed", horizon="none")
    assert reported([window("time", 3, 3)], elements(1, 3, 6), semantics) == [(2, 2, (0,))]


@pytest.mark.parametrize(
    ("apps", "expected"),
    [
        # s0 is 4, and so is the own instant of the first: it is evaluated there (TICK-4)
        ((4, 7), [(4, 0), (4, 1), (5, 1), (6, 1)]),
        # 0 is evaluated at none. The interval of the one at 4 is 0 to 3, of which nothing is left
        ((0, 4, 7), [(4, 2), (5, 2), (6, 2)]),
        ((0, 2), []),
        ((0, 6), [(4, 1), (5, 1)]),
        ((2, 2, 5), [(4, 2)]),
    ],
)
def test_before_s0_nothing_is_evaluated(apps: tuple[int, ...], expected: list[tuple[int, int]]):
    """TICK-4, TICK-5, WIN-5: t0 = 5 and `[)`, so s0 is 4."""
    semantics = replace(EVERY_INSTANT, t0=5, horizon="none")
    found = reported([window("time", 9, 9)], elements(*apps), semantics)
    assert [(t, k) for t, k, _ in found] == expected


def test_eager_expiry_evaluates_no_instant_twice_for_one_arrival():
    """TICK-7, ω = β = 2: [2, 4) takes the place of [0, 2) at 2. The second element, at 2, is
    evaluated at 1 and, without it, at 2. The third has the own instant of the second: it is
    evaluated at 2 once, and no more.
    """
    semantics = replace(EVERY_INSTANT, expiry_seen="eager", horizon="none")
    found = reported([window("time", 2, 2)], elements(1, 2, 2), semantics)
    assert found == [(-1, 0, ()), (0, 0, ()), (1, 1, (0,)), (2, 1, ()), (2, 2, (1,))]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # Ids 1, 3 and 4 of elements of 1, 2 and 1 triples. (0, 2] closes at 2, (2, 4] at 4. The
        # second is looked at over 1 and 2: at 2 the first is in scope, as it is at 1, the id before
        ((1, 2, 1), []),
        # Ids 2, 3 and 4: the second is looked at over 2 alone. The id before is the last of the
        # interval of the first, 1, at which nothing has arrived
        ((2, 1, 1), [(2, 1, (0,))]),
    ],
)
def test_the_instant_before_of_a_tuple_based_window(counts: tuple[int, ...], expected: list[tuple]):
    """REP-7, REP-8 against the previous instant: the id before it in the same interval."""
    items = [
        element._replace(graph=frozenset((f"<urn:{k}>", "<urn:p>", f"<urn:{i}>") for i in range(n)))
        for k, (element, n) in enumerate(zip(elements(1, 2, 3), counts, strict=True))
    ]
    semantics = replace(
        CLOSING,
        report="window-close,content-change",
        change_baseline="previous-instant",
        closure="(]",
        horizon="none",
    )
    assert reported([window("tuple", 2, 2, unit=Unit.TRIPLES)], items, semantics) == expected


def test_window_0_takes_its_place_after_the_last_instant_of_window_minus_1():
    """What no stream can tell apart, t0 and t0 − β: ω = 3, β = 1, `passed`, eager, a at 2 and b at
    3, whose own instants are 1 and 2. For t0 = 0 window −1 ends at 1, and holds nothing. Window 0's
    first instant, 0, is nobody's own. Yet for t0 = −1 b is evaluated at 2, too, where [0, 3) takes
    the place of [−1, 2). The sentinel is evaluated at 2, where b is not in scope yet, at 3, and at
    its own instant 4, where [2, 5) takes the place of [1, 4).
    """
    semantics = replace(
        CLOSING, report="non-empty", close_rule="passed", expiry_seen="eager", horizon=5
    )
    windows, items = [window("time", 3, 1)], elements(2, 3)
    later = reported(windows, items, semantics)
    earlier = reported(windows, items, replace(semantics, t0=-1))
    assert later == [(2, 2, (0,)), (3, 2, (0, 1)), (4, 2, (0, 1))]
    assert earlier == [(2, 1, (0,)), *later]


@pytest.mark.parametrize(
    "sentence",
    [
        "max(ω + d), the maximum over the query's windows",
        "Instants before s0 are left out (WIN-5)",
        "the next starts at its own instant, even if that is before s0",
        "An arrival's *own instant* is its instant by WIN-6, or one less by TICK-6",
        "the arrival is also tested there, unless TICK-4 tests it there already",
        "the instant before is the previous id: at the same arrival if there is one",
        "no arrival's own instant is that at which window 0 takes the place of window −1",
    ],
)
def test_the_specification_says_so(sentence: str):
    """What the tests above decide, each in the words of its rule."""
    assert sentence in read_specification() + LAWS.read_text(encoding="utf-8")
