"""The enumeration (`refengine/enumeration`) says what follows from SPEC.md by hand; each derivation
is in the docstring.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from test_enumeration import CLOSING, TRIPLES, objects

from refengine import Element, Window, WindowKind, row
from refengine.core.query import Unit
from refengine.enumeration import Enumeration
from refengine.model.elements import Triple

A_X, B_X, A_Y = TRIPLES[:3]
HALF_OPEN = replace(CLOSING, report="window-close")
CHANGING = replace(CLOSING, report="content-change")


def elements(*items: int | tuple) -> list[Element]:
    """Elements with different triples at these times, or of (app[, graph[, end[, sys]]])."""
    found = []
    for position, item in enumerate(items, 1):
        app, *more = item if isinstance(item, tuple) else (item,)
        graph, end, sys = (*more, None, None, None)[:3]
        made: Triple = (f"<urn:{position}>", "<urn:p>", "<urn:x>")
        triples = frozenset([made]) if graph is None else frozenset(graph)
        found.append(Element(triples, app, sys or position, None, end))
    return found


def window(kind: str, size: int | None = None, slide: int | None = None, **more: object) -> Window:
    """A window over s."""
    return Window(more.pop("stream", "s"), WindowKind(kind), size, slide, **more)


def reports_of(
    window: Window, items: list[Element], semantics=CHANGING, **choices: object
) -> list[tuple]:
    """Instant and content of each report of one window."""
    return [
        (r.t, r.windows[0].content)
        for r in Enumeration([window], {"s": items}, replace(semantics, **choices)).reports()
    ]


def rows(window: Window, items: list[Element], **choices: object) -> list[list[str]]:
    """The objects that are emitted, relation by relation."""
    one = Enumeration([window], {"s": items}, replace(CHANGING, **choices))
    return [sorted(term for ((_, term),) in e.rows.elements()) for e in one.emitted(objects, None)]


def test_an_origin_by_policy():
    """WIN-10, ω = β = 4, [): t1 = 10. first-element: [10, 14) closes at 13. first-reach: t0 = 6 and
    [6, 10) closes at 9 before. epoch with offset 3: [3, 7) ends before 10, [7, 11) does not, so t0
    = 7 and windows close at 10 and 14. H is 16.
    """
    given = window("time", 4, 4), elements(10), HALF_OPEN
    assert reports_of(*given, t0="first-element") == [(13, (0,))]
    assert reports_of(*given, t0="first-reach") == [(9, ()), (13, (0,))]
    assert reports_of(*given, t0="epoch", offset=3) == [(10, (0,)), (14, ())]


@pytest.mark.parametrize(
    ("formula", "of_times", "of_ids"),
    [
        ("coral8", 7, 0),
        ("oracle-cep", 6, -6),
        ("stream", 5, -10),
        ("flink", -7, -6),
        ("storm", -6, -6),
    ],
)
def test_an_origin_by_formula(formula: str, of_times: int, of_ids: int):
    """WIN-7, ω = 10, β = 4, t1 = 15: ⌈5/4⌉·4 − 1, ⌈15/4⌉·4 − 10, 15 − 10, 4 − 10 − 1 and 4 − 10. Of
    ids: 0, 4 − 10, −10, 4 − 10 and 4 − 10.
    """
    semantics = replace(CHANGING, closure="(]", t0=formula)
    for kind, expected in (("time", of_times), ("tuple", of_ids)):
        one = window(kind, 10, 4)
        assert Enumeration([one], {"s": elements(15)}, semantics).t0s == {one: expected}


def test_the_origin_of_kafka_streams():
    """WIN-7, ω = 10, β = 4: max(0, t1 − 6) rounded down to a multiple of 4, and 1 less."""
    semantics = replace(CHANGING, closure="(]", t0="kafka-streams")
    one = window("time", 10, 4)
    found = {t1: Enumeration([one], {"s": elements(t1)}, semantics).t0s[one] for t1 in (15, 2)}
    assert found == {15: 7, 2: -1}


def test_a_formula_over_t1_gives_no_window_without_elements():
    """WIN-7: t1 is of no element; flink does not ask for it."""
    one = window("time", 10, 4)
    for formula, expected in (("coral8", None), ("kafka-streams", None), ("flink", -7)):
        semantics = replace(CHANGING, closure="(]", t0=formula)
        assert Enumeration([one], {"s": []}, semantics).t0s == {one: expected}


PARTIALS = ("suppressed", "reported", "clipped")


def test_windows_that_t0_cuts():
    """WIN-11, ω = 6, β = 2, t0 = 10: [6, 12) and [8, 14) are cut, [4, 10) is not. They close at 11
    and 13, [10, 16) at 15. Reported they hold 9 and 11, clipped 11 alone.
    """
    found = {
        p: reports_of(
            window("time", 6, 2), elements(9, 11), t0=10, partial=p, report="window-close,non-empty"
        )
        for p in PARTIALS
    }
    assert found["suppressed"] == [(15, (1,))]
    assert found["reported"] == [(11, (0, 1)), (13, (0, 1)), (15, (1,))]
    assert found["clipped"] == [(11, (1,)), (13, (1,)), (15, (1,))]


def test_range_shows_what_has_ended():
    """WIN-12, T = 4, L = 2, [], t0 = 0: [0, 4] is shown at 4 and 5, [2, 6] at 6, [4, 8] at 8, [6,
    10] at 10; H = 5 + 4 + 2.
    """
    found = reports_of(window("range", 4, 2), elements(3, 5), closure="[]")
    assert found == [(4, (0,)), (6, (0, 1)), (8, (1,)), (10, ())]


def test_a_lag_moves_scope_and_borders_and_no_report():
    """WIN-20, ω = 4, β = 2, d = 3, t0 = 0: [-3, 1), [-1, 3), [1, 5) and [3, 7) are reported at 3,
    5, 7 and 9, with an element at 1. H = 1 + 4 + 3 + 2 = 10.
    """
    lagging = window("time", 4, 2, lag=3)
    found = Enumeration([lagging], {"s": elements(1)}, HALF_OPEN).reports()
    shown = [(report.t, report.windows[0].borders, report.windows[0].content) for report in found]
    assert shown == [(3, (-3, 1), ()), (5, (-1, 3), (0,)), (7, (1, 5), (0,)), (9, (3, 7), ())]


def test_a_lag_counts_from_no_first_element():
    """WIN-20, WIN-10: t0 is 3. [-4, 2) is partial. If it is clipped it begins at 3 - 4 = -1, and
    leaves out the element at -2.
    """
    lagging = window("time", 6, 3, lag=4)
    choices = {"t0": 3, "horizon": "none", "report": "window-close"}
    given = lagging, elements(-2, 0, 9)
    assert reports_of(*given, partial="reported", **choices) == [(5, (0, 1)), (8, (1,))]
    assert reports_of(*given, partial="clipped", **choices) == [(5, (1,)), (8, (1,))]


def test_now_is_one_instant():
    """WIN-12: of two elements at 3 the first is seen at the second's arrival, both at 3 at the
    arrival of 5, then 4 is empty.
    """
    found = reports_of(window("now"), elements(3, 3, 5), closure=None)
    assert found == [(3, (0,)), (3, (0, 1)), (4, ()), (5, (2,)), (6, ())]


def test_a_landmark_begins_with_window_0():
    """WIN-13, (], t0 = 2: the element at 2 is before the first instant 3; nothing leaves."""
    items = elements(2, 3, 9)
    found = reports_of(window("landmark"), items, t0=2, closure="(]")
    assert found == [(3, (1,)), (9, (1, 2))]
    found = reports_of(window("unbounded"), items, t0=2, closure=None)
    assert found == [(2, (0,)), (3, (0, 1)), (9, (0, 1, 2))]


def test_rows_every_second_element():
    """WIN-14, N = L = 2: one and three elements show what none and two did; ids 1, 2 at 2 and ids
    3, 4 at 4.
    """
    found = reports_of(window("rows", 2, 2), elements(1, 2, 3, 4), closure=None)
    assert found == [(2, (0, 1)), (4, (2, 3))]


def test_rows_of_triples():
    """WIN-16, N = 2: graphs of one and two triples have the ids 1 and 3, and 3 − 2 < id leaves the
    second alone.
    """
    items = elements((1, [A_X]), (2, [A_X, B_X]))
    found = reports_of(window("rows", 2, 1, unit=Unit.TRIPLES), items, closure=None)
    assert found == [(1, (0,)), (2, (1,))]


def test_the_latest_of_each_key():
    """WIN-15, N = 1 by subject: a at 1, b at 2, and a at 3 replaces the first."""
    items = elements((1, [A_X]), (2, [B_X]), (3, [A_Y]))
    found = reports_of(window("partition", 1, by=("subject",)), items, closure=None)
    assert found == [(1, (0,)), (2, (0, 1)), (3, (1, 2))]


def test_an_ignored_slide():
    """WIN-17, ω = β = 2, [): as stated [0, 2) gives way at 2; ignored, the scope at t is t − 1 to
    t, and 1 stays until 2.
    """
    assert reports_of(window("time", 2, 2), elements(1)) == [(1, (0,)), (2, ())]
    assert reports_of(window("time", 2, 2), elements(1), slide="ignored") == [(1, (0,)), (3, ())]


def test_an_interval_is_in_two_windows():
    """WIN-18, MOD-3: 2 to 5 has an instant in [0, 5) and, as its end is included, in [5, 10).
    ENG-1: H = 5 + 5 + 2 = 12.
    """
    items = elements((2, None, 5))
    assert reports_of(window("time", 5, 5), items, HALF_OPEN) == [(4, (0,)), (9, (0,))]


def test_late_elements_are_dropped():
    """MOD-2, disorder 2: after 5, 3 is two late and kept, 2 is three late and dropped. The trigger
    5 came before it, 6 and the sentinel after it.
    """
    one = Enumeration(
        [window("unbounded")],
        {"s": elements(5, 3, 2, 6)},
        replace(CHANGING, closure=None, allowed_lateness=2),
    )
    assert [(e.t, e.contents, e.late) for e in one.emitted(objects, None)] == [
        (3, ((0,),), 0),
        (5, ((0, 1),), 1),
        (6, ((0, 1, 2),), 1),
    ]


def test_a_border_that_must_be_passed():
    """TICK-6, [0, 5): 5 reaches the border and closes the window; passed, its own instant is 4, and
    only 6 (5) is after 4.
    """

    def triggers(closing: str) -> list:
        semantics = replace(HALF_OPEN, close_rule=closing, horizon="none")
        one = Enumeration([window("time", 5, 5)], {"s": elements(1, 5, 6)}, semantics)
        return [(r.t, r.arrival, r.windows[0].content) for r in one.reports()]

    assert triggers("reached") == [(4, 1, (0,))]
    assert triggers("passed") == [(4, 2, (0,))]


def test_expiry_seen_at_once():
    """TICK-7, ω = β = 2, [): at 2 the first element expires and the second arrives. Eager sees ()
    at 2 in between.
    """
    given = window("time", 2, 2), elements(0, 2)
    assert reports_of(*given) == [(0, (0,)), (2, (1,)), (4, ())]
    found = reports_of(*given, expiry_seen="eager")
    assert found == [(0, (0,)), (2, ()), (2, (1,)), (4, ())]


def test_change_against_the_instant_before():
    """REP-8, ω = β = 2, close and change: 1 and 3 differ from the last report, neither from the
    content at 0 and 2.
    """
    given, both = (window("time", 2, 2), elements(0)), "window-close,content-change"
    assert reports_of(*given, report=both) == [(1, (0,)), (3, ())]
    assert reports_of(*given, report=both, change_baseline="previous-instant") == []


def test_a_triple_that_arrives_again():
    """REP-9: the second element has the triple of the first; as a graph nothing changes before [0,
    10) ends.
    """
    items = elements((0, [A_X]), (1, [A_X]))
    assert reports_of(window("time", 10, 10), items) == [(0, (0,)), (1, (0, 1)), (10, ())]
    assert reports_of(window("time", 10, 10), items, change_scope="graph") == [(0, (0,)), (10, ())]


def test_the_latest_of_a_gap():
    """REP-10, ω = β = 2: between 0 and 7 windows close at 1, 3 and 5, of which the first alone
    holds something.
    """
    given = window("time", 2, 2), elements(0, 7), HALF_OPEN
    assert reports_of(*given, horizon="none") == [(1, (0,)), (3, ()), (5, ())]
    assert reports_of(*given, horizon="none", missed_instants="latest") == [(5, ())]
    both = {"horizon": "none", "missed_instants": "latest", "report": "window-close,non-empty"}
    assert reports_of(*given, **both) == [(1, (0,))]


def test_the_latest_change_of_a_gap():
    """REP-10, λ = 1, [0, 2) and [2, 4): the element is there at 0 and 1, then nothing. `latest`
    compares with nothing, so that 1 is the last change; against the previous instant those are 0
    and, as it goes, 2.
    """
    given = window("time", 2, 2), elements(0, 7), HALF_OPEN
    beats = {"report": "periodic,content-change", "period": 1, "anchor": 0, "horizon": "none"}
    assert reports_of(*given, **beats) == [(0, (0,)), (2, ())]
    beats["missed_instants"] = "latest"
    assert reports_of(*given, **beats) == [(1, (0,))]
    assert reports_of(*given, **beats, change_baseline="previous-instant") == [(2, ())]


def test_a_tuple_based_window_against_the_instant_before():
    """TICK-4, WIN-16, REP-8: An element without triples has the id of the one before it, 1, and is
    evaluated there. It sees the first element, and at the id 0 there was none. The third element
    has the id 2, so it is evaluated at 1. It sees the second one, too, which the evaluation before
    it did not. The arrival at the horizon, with the id 3, is evaluated at 2, over all three.
    """
    items = elements(1, (2, ()), 3)
    counted = window("tuple", 5, 5, unit=Unit.TRIPLES)
    found = reports_of(counted, items, change_baseline="previous-instant")
    assert found == [(1, (0,)), (1, (0, 1)), (2, (0, 1, 2))]


def test_a_tuple_based_window_without_elements():
    """WIN-6: The arrival at the horizon has the id 1, since no element comes before it. Nothing was
    ever in the window, so that its content does not change.
    """
    semantics = replace(CHANGING, horizon=5)
    enumeration = Enumeration([window("tuple", 2, 1)], {"s": []}, semantics)
    [sentinel] = enumeration.arrivals
    assert enumeration.own(sentinel) == 1
    assert list(enumeration.reports()) == []


def test_an_anchor_by_policy():
    """REP-11, λ = 3, t0 = 0, t1 = 1: 0, 3, 6 from s0 = -1 on, or 1, 4, 7; the element at 1 is there
    from 1 on.
    """
    beats = {"closure": None, "report": "periodic", "period": 3, "horizon": "none"}
    given = window("unbounded"), elements(1, 8)
    found = reports_of(*given, anchor="t0", **beats)
    assert found == [(0, ()), (3, (0,)), (6, (0,))]
    found = reports_of(*given, anchor="first-element", **beats)
    assert found == [(1, (0,)), (4, (0,)), (7, (0,))]


@pytest.mark.parametrize(
    ("trigger", "instants"),
    [("any", [1, 2, 3, 5]), ("all", [5]), ("leading", [1, 3, 5]), ("explicit", [2, 5])],
)
def test_which_window_triggers(trigger: str, instants: list[int]):
    """REP-12, [): of sizes 2 and 3 up to H = 7 the first closes at 1, 3, 5, the second, which is
    marked, at 2 and 5.
    """
    two = [window("time", 2, 2), window("time", 3, 3, triggers=True)]
    semantics = replace(HALF_OPEN, trigger=trigger, horizon=7)
    assert [r.t for r in Enumeration(two, {"s": elements(0)}, semantics).reports()] == instants


def test_two_streams_are_one_sequence():
    """ENG-5: both elements are at 1; r's has the lower sys, so it is seen alone at s's arrival,
    then both.
    """
    streams = {"s": elements((1, None, None, 2)), "r": elements((1, None, None, 1))}
    two = [window("unbounded"), window("unbounded", stream="r")]
    one = Enumeration(two, streams, replace(CHANGING, closure=None))
    found = [(r.t, r.arrival, *(held.content for held in r.windows)) for r in one.reports()]
    assert found == [(1, 1, (), (0,)), (1, 2, (0,), (0,))]


def test_rows_with_a_derivation_that_is_new():
    """R2S-7: x, then y beside it; x again from another subject is a new derivation."""
    items = elements((0, [A_X]), (1, [A_Y]), (2, [B_X]))
    found = rows(window("unbounded"), items, closure=None, r2s="append")
    assert found == [["<urn:x>"], ["<urn:y>"], ["<urn:x>"]]


def test_a_base_that_only_news_moves():
    """R2S-8: answers x, none, x, none. `previous`: x is new twice. `previous-new`: none is no base,
    so x is not new again. R2S-9: of the empty outputs after it one goes out.
    """
    items, istream = elements((0, [A_X]), (2, [A_X])), {"closure": None, "r2s": "Istream"}
    given, x = (window("now"), items), ["<urn:x>"]
    assert rows(*given, **istream, base="previous") == [x, [], x, []]
    assert rows(*given, **istream, base="previous-new") == [x, [], [], []]
    assert rows(*given, **istream, base="previous-new", empty="once") == [x, []]


def test_a_set_of_rows():
    """R2R-9: two subjects with one object are two rows, or one."""
    items = elements((0, [A_X, B_X]))
    assert rows(window("unbounded"), items, closure=None) == [["<urn:x>", "<urn:x>"]]
    assert rows(window("unbounded"), items, closure=None, collection="set") == [["<urn:x>"]]


def test_what_the_body_sees():
    """R2R-8: a window with a name is a named graph; static data are there and make no content."""
    static = frozenset([B_X, (*A_Y, "<urn:g>")])
    two = [window("unbounded", name="urn:w"), window("unbounded")]
    seen = []

    def answer(dataset):
        seen.append(dataset)
        return Counter([row({"o": "<urn:x>"})])

    one = Enumeration(
        two, {"s": elements((0, [A_X]))}, replace(CHANGING, closure=None, horizon=1), static=static
    )
    assert [e.contents for e in one.emitted(answer, None)] == [((0,), (0,))]
    assert seen[0] == static | {A_X, (*A_X, "<urn:w>")}
