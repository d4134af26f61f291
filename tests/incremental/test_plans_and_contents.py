"""Plans of streams and of parts beside those of whole streams, streams that are read while they are
evaluated, and contents that follow one another, by hand and drawn.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations, islice
from random import Random
from typing import Any

import pytest
from incremental_trials import P, asked, chosen, collect

from refengine import Body, Element, from_table, incremental, stream
from refengine.core import engine, r2r, window
from refengine.incremental import parts
from refengine.incremental.algebra.patterns import MaintainedGraph
from refengine.incremental.answer_cache import SupportedSolutions
from refengine.incremental.arrival_buffer import (
    ArrivalBuffer,
    ArrivalTimes,
    buffer_of,
    first_needed,
    plan_streamed,
)
from refengine.incremental.coverage import NotCovered
from refengine.incremental.maintained import ContentFollower, MaintainedAnswers, Provenance, without
from refengine.incremental.parts import (
    opening_of_first_window,
    whole_stream_frames,
    window_origins,
    window_start_at,
)
from refengine.incremental.schedule import PartitionContent, ScheduleOfChanges, quicker_schedule
from refengine.model.elements import TIME_BOUND, Relation, Stream
from refengine.model.errors import InvalidStream, RefengineError, TooManyReports, Unsupported

# Streams that are read are checked, and forgotten


def test_a_streamed_first_element_is_checked():
    wrong = Element(frozenset(), "3", 1)
    for t0 in ("first-element", "first-reach", 0):
        with pytest.raises(RefengineError, match="element 1: MOD-1: t_app must be an integer"):
            list(
                incremental.evaluate(
                    asked("SELECT ?x {?x <urn:p> ?y}"), {"s": iter([wrong])}, chosen(t0=t0)
                )
            )


@pytest.mark.parametrize("t0", [0, 10**9])
@pytest.mark.parametrize(
    ("kind", "window"),
    [
        ("time", {"size": 5, "slide": 50_000}),
        ("time", {"size": 5, "slide": 5}),
        ("range", {"size": 5}),
        ("range", {"size": 5, "lag": 500}),
        ("time", {"size": 5, "slide": 5, "lag": 500}),
        ("rows", {"size": 5}),
        ("tuple", {"size": 5, "slide": 5}),
    ],
)
def test_a_stream_is_forgotten(kind, window, t0):
    """Whatever is reported, and if nothing is."""
    elements = (
        Element(frozenset([(f"<urn:{i}>", P, "<urn:x>")]), 10 + i // 2, i) for i in range(1, 12_000)
    )
    closes = (
        {"report": "content-change"}
        | ({"closure": "none"} if kind == "rows" else {})
        | ({"tick": "tuple"} if kind == "tuple" else {})
    )
    run = incremental.evaluate(
        asked("SELECT ?x {?x <urn:p> ?y}", kind, **window),
        {"s": elements},
        chosen(t0=t0, horizon="none", **closes),
    )
    for _ in run:
        assert len(run.planned.arrivals.items) < 3000
    assert len(run.planned.arrivals) == 11_999 and len(run.planned.arrivals.items) < 3000


def test_contents_that_are_forgotten_say_so():
    elements = (Element(frozenset([(f"<urn:{i}>", P, "<urn:x>")]), i, i) for i in range(1, 9000))
    first, *_ = incremental.evaluate(
        asked("SELECT ?x {?x <urn:p> ?y}"), {"s": elements}, chosen(horizon="none")
    )
    with pytest.raises(
        LookupError, match="element 1 of the stream is no longer kept: it was streamed"
    ):
        tuple(first.contents[0])


# Contents


BODY = "SELECT ?x { ?x <urn:p> ?y }"
ALL = "SELECT * { ?s ?p ?o }"
TIMES = (
    "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> "
    "SELECT ?x (f:timestamp(?x, <urn:p>, ?y) AS ?t) { ?x <urn:p> ?y }"
)
MANY = (1, 1, 2, 5, 5, 5, 8, 20)


def elements_at(*times: int) -> Stream:
    return stream([((f"<urn:{i}>", P, "<urn:x>"), at) for i, at in enumerate(times)])


# Contents


def test_what_is_in_one_content_and_not_in_another():
    contents = [range(start, stop) for start in range(6) for stop in range(start, 6)]
    contents += [range(0, 0), (0, 2, 5), (1, 2), ()]
    for a in contents:
        for b in contents:
            assert sorted(set(a) - set(b)) == list(without(a, b)), (a, b)


def test_a_range_that_is_left_stays_a_range():
    for a, b, expected in (
        (range(0, 5), range(0, 0), range(0, 5)),
        (range(0, 5), range(5, 9), range(0, 5)),
        (range(0, 5), range(3, 9), range(0, 3)),
        (range(4, 9), range(0, 4), range(4, 9)),
        (range(4, 9), range(2, 6), range(6, 9)),
        (range(4, 9), range(4, 6), range(6, 9)),
        (range(4, 9), range(2, 4), range(4, 9)),
        (range(0, 5), range(2, 5), range(0, 2)),
    ):
        assert without(a, b) == expected and isinstance(without(a, b), range)


THREE_WINDOWS = from_table(
    {
        "body": "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
        "windows": [
            {"stream": name, "kind": "time", "size": 4, "slide": 2} for name in ("s", "r", "s")
        ],
    }
)
STATIC = frozenset([("_:x", P, "<urn:b>"), ("<urn:c>", P, "_:y")])
STATIC_IN_GRAPHS = frozenset(
    [("_:x", P, "<urn:b>"), ("_:x", P, "<urn:b>", "<urn:w>"), ("<urn:c>", P, "_:y", "_:g")]
)


def taken_by(follower: ContentFollower) -> Counter:
    """Return the triples that a follower's graphs have from now on: those inserted, less those
    retracted. Those of a named graph are quads.
    """
    taken: Counter = Counter()

    def take(name: str, graph: MaintainedGraph) -> None:
        end = (name,) if name else ()

        def retract(triple: tuple) -> None:
            taken[triple + end] -= 1
            assert taken[triple + end] >= 0

        graph.insert = lambda triple: taken.update([triple + end])
        graph.retract = retract

    for name, graph in follower.body.graphs.items():
        take(name, graph)
    return taken


@pytest.mark.parametrize("names", [(None, None, None), (None, "urn:w", "urn:v")])
@pytest.mark.parametrize("static", [frozenset(), STATIC, STATIC_IN_GRAPHS])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_follower_holds_the_dataset_of_its_contents(count: int, static: frozenset, names: tuple):
    """R2R-8: with the blank nodes of each source apart, and named windows in graphs of theirs."""
    windows = [
        replace(window, name=name)
        for window, name in zip(THREE_WINDOWS.windows, names, strict=True)
    ]
    query = replace(THREE_WINDOWS, windows=tuple(windows[:count]))
    streams = {
        name: stream([([(f"_:{i}", P, "_:b"), (f"<urn:{i}>", P, f"_:{i}")], i) for i in range(6)])
        for name in "sr"
    }
    views = engine.plan(query, streams, chosen()).views
    follower = ContentFollower(query, views, static, lambda row, n: None)
    rows = Counter(
        (*triple, name) if name else triple
        for name, graph in follower.body.graphs.items()
        for triple in graph.present
    )
    assert set(rows) == set(r2r.dataset_of_windows(views, [range(0)] * count, static))
    taken = taken_by(follower)
    taken.update(rows)
    rng = Random(0)
    for _ in range(40):
        contents = []
        for _ in range(count):
            start, stop = sorted(rng.choices(range(7), k=2))
            contents.append(rng.choice([range(start, stop), tuple(range(start, stop))]))
        if count > 1 or not follower.grow_to(contents[0]):
            follower.retract_outside(contents)
            follower.insert_new(contents)
        assert set(+taken) == set(r2r.dataset_of_windows(views, contents, static))


def test_a_follower_grows_to_contents_that_only_add_elements():
    query = asked(BODY, size=4, slide=2)
    views = engine.plan(query, {"s": elements_at(*range(9))}, chosen()).views
    follower = ContentFollower(query, views, frozenset(), lambda row, n: None)
    taken = taken_by(follower)
    for content, grows in (
        (range(0, 2), True),
        (range(0, 2), True),
        (range(0, 4), True),
        (range(0, 3), False),
        (range(1, 6), False),
        ((0, 1, 2, 3, 4), False),
    ):
        assert follower.grow_to(content) is grows
    assert sorted(taken) == sorted((f"<urn:{i}>", P, "<urn:x>") for i in range(4))


def test_triples_come_in_an_order_of_their_own():
    query = asked(ALL, size=9, slide=9)
    triples = [(f"<urn:{i}>", P, "<urn:x>") for i in range(20)]
    views = engine.plan(query, {"s": stream([(triples, 1)])}, chosen()).views
    follower = ContentFollower(query, views, frozenset(), lambda row, n: None)
    came: list = []
    follower.graphs[0].insert = came.append
    follower.grow_to(range(0, 1))
    assert came == sorted(triples)
    for count in (1, 2, 3):
        came.clear()
        (one,) = views[0].elements
        follower.elements = [[one._replace(graph=triples[:count][::-1])]]
        follower._pass_triples(0, [0], came.append)
        assert came == triples[:count]
    assert follower.body.is_set is False


# Partitions


PARTITION = from_table(
    {"body": ALL, "windows": [{"stream": "s", "kind": "partition", "size": 2, "by": ["object"]}]}
)


def partitioned(**fields):
    items = [((f"<urn:{i}>", P, f"<urn:{'ab'[i % 3 > 0]}>"), at) for i, at in enumerate(MANY)]
    fields = {"report": "content-change", "closure": "none", "tick": "tuple", **fields}
    return engine.plan(PARTITION, {"s": stream(items)}, chosen(**fields))


@pytest.mark.parametrize("tick", ["tuple", "time"])
@pytest.mark.parametrize("bound", range(11))
def test_a_partition_is_evaluated_when_the_engine_says_so(bound: int, tick: str):
    planned = partitioned(tick=tick)
    assert quicker_schedule(planned) is ScheduleOfChanges
    found, error = collect(incremental.schedule_evaluations, planned, bound)
    expected, other = collect(engine.evaluations, planned, bound)
    assert [(at.t, at.arrival) for at in found] == [(at.t, at.arrival) for at in expected]
    assert [list(at.content) for at in found] == [list(at.content) for at in expected]
    assert str(error) == str(other) and type(error) is type(other)


@pytest.mark.parametrize(
    "fields",
    [
        {"report": "non-empty"},
        {"report": "content-change,periodic", "period": 1, "anchor": 0},
        {"change_scope": "graph"},
        {"change_baseline": "previous-instant"},
    ],
)
def test_a_partition_that_is_visited_instant_by_instant(fields):
    assert quicker_schedule(partitioned(**fields)) is not ScheduleOfChanges


def test_contents_of_partitions_are_equal_by_what_has_arrived():
    (view,) = partitioned().views
    (other,) = partitioned().views
    content = PartitionContent(view, 3)
    assert content == PartitionContent(view, 3)
    assert hash(content) == hash(PartitionContent(view, 3)) == hash(3)
    assert content != PartitionContent(view, 4) and content != PartitionContent(other, 3)
    assert content != (0, 1, 2) and list(content) == [0, 1, 2] and len(content) == 3


# Streams that are read while they are evaluated


@pytest.mark.parametrize("batches", [None, [1, 1, 2, 2, 3, 3, 4, 9]])
@pytest.mark.parametrize("horizon", ["none", "flush", 100])
@pytest.mark.parametrize(
    ("kind", "window_fields", "fields"),
    [
        ("time", {"size": 5, "slide": 3}, {}),
        ("time", {"size": 5, "slide": 3}, {"close_rule": "passed"}),
        ("time", {"size": 5, "slide": 3}, {"close_rule": "passed", "closure": "(]"}),
        ("range", {"size": 5}, {}),
        ("rows", {"size": 5}, {"closure": "none", "report": "content-change"}),
        ("tuple", {"size": 5, "slide": 5}, {"tick": "tuple", "horizon": "none"}),
    ],
)
def test_a_streamed_plan_is_the_plan_of_the_whole(kind, window_fields, fields, horizon, batches):
    """The arrivals, the one at the horizon among them, and their instants."""
    query = asked(BODY, kind, **window_fields)
    semantics = chosen(**{"horizon": horizon, **fields})
    whole = elements_at(*MANY)
    if batches is not None:
        pairs = zip(whole, batches, strict=True)
        whole = Stream(tuple(each._replace(batch=batch) for each, batch in pairs))
    expected = engine.plan(query, {"s": whole}, semantics)
    streamed = plan_streamed(query, {"s": iter(whole)}, semantics)
    assert buffer_of(streamed) is streamed.arrivals and buffer_of(expected) is None
    assert list(streamed.arrivals) == list(expected.arrivals)
    assert list(islice(streamed.own, len(expected.own))) == list(expected.own)
    (view,), (known,) = streamed.views, expected.views
    count = len(known.times)
    assert list(islice(view.times, count)) == list(known.times)
    assert list(islice(view.ids, count)) == list(known.ids)
    assert (view.spec, view.t0, view.frame, view.ends) == (
        known.spec,
        known.t0,
        known.frame,
        known.ends,
    )
    assert streamed.late == () and streamed.counts[0][7] == 7


def refusal(query, semantics, elements=None, streams=("s",)):
    """Return the error with which a stream is not evaluated while it is read."""
    given = elements_at(1, 2) if elements is None else elements
    with pytest.raises((Unsupported, InvalidStream)) as refused:
        planned = plan_streamed(query, {name: iter(given) for name in streams}, semantics)
        list(planned.arrivals)
    return refused.value.place, refused.value.rule, refused.value.reason


def test_what_needs_its_stream_whole():
    several = from_table(
        {"body": ALL, "windows": [{"stream": "s", "kind": "time", "size": 4, "slide": 2}] * 2}
    )
    assert refusal(several, chosen()) == (
        "windows",
        "ENG-6",
        "a query with several windows needs its streams whole",
    )
    assert refusal(asked(ALL), chosen(allowed_lateness=0)) == (
        "allowed_lateness",
        "ENG-6",
        "a stream that is reordered must be given whole; write allowed_lateness=reject",
    )
    fields = {"report": "content-change", "closure": "none", "tick": "tuple"}
    assert refusal(PARTITION, chosen(**fields)) == (
        "windows[0]",
        "ENG-6",
        "windows by key or by triples need their stream whole",
    )
    triples = asked(ALL, "rows", size=2, unit="triples")
    assert refusal(triples, chosen(**fields))[2].startswith("windows by key or by triples")
    one, two, three = elements_at(1, 2, 3)
    assert refusal(asked(ALL), chosen(), [one, two, three._replace(end=9)]) == (
        "element 3",
        "ENG-6",
        "elements with intervals need their stream given whole",
    )


@pytest.mark.parametrize(
    "third",
    [
        {"app": 1},
        {"sys": 1},
        {"sys": 2},
        {"app": 2.5},
        {"app": 2**63},
        {"sys": 2**63},
        {"app": True},
    ],
)
def test_each_element_of_a_stream_is_checked_beside_the_one_before(third):
    one, two, three = elements_at(1, 2, 3)
    place, rule, _ = refusal(asked(ALL), chosen(), [one, two, three._replace(**third)])
    assert place == "element 3" and rule.startswith("MOD-")


def test_an_element_with_a_batch_is_checked_too():
    batches = zip(elements_at(1, 2, 3), (1, 3, 2), strict=True)
    wrong = [each._replace(batch=batch) for each, batch in batches]
    place, rule, _ = refusal(asked(ALL), chosen(), wrong)
    assert (place, rule) == ("element 3", "MOD-1")


def test_a_buffer_keeps_indices_while_it_forgets():
    many = tuple(
        Element(frozenset([(f"<urn:{i}>", P, "<urn:x>")]), 10 + i, i + 1) for i in range(3000)
    )
    buffer = ArrivalBuffer(iter(many), lambda last: last._replace(app=9999, sys=last.sys + 1))
    times = ArrivalTimes(buffer, lambda element: element.app - 1)
    assert len(buffer) == len(times) == 0
    for _ in islice(buffer, 2000):
        pass
    buffer.forget_before(1023)  # too few
    assert buffer.number_forgotten == 0 and len(buffer.items) == 2000
    buffer.forget_before(1024)
    assert buffer.number_forgotten == 1024 and len(buffer.items) == 976
    assert len(buffer) == len(times) == 2000
    assert buffer[1024] is many[1024] and times[1024] == 1033
    with pytest.raises(
        LookupError, match=r"^'?element 1024 of the stream is no longer kept: it was"
    ):
        buffer[1023]
    assert times[0] == times[1023] < -TIME_BOUND
    buffer.forget_before(1999)  # not 1024 more
    assert buffer.number_forgotten == 1024


def test_a_buffer_asks_now_and_then_what_can_be_forgotten():
    """After each 1,024 elements that are kept: to find out takes longer than an arrival."""
    buffer = ArrivalBuffer(iter(elements_at(*range(2500))), lambda last: None)
    asked_at: list[int] = []

    def find_first_needed() -> int:
        asked_at.append(len(buffer))
        return 0

    buffer.find_first_needed = find_first_needed
    assert len(list(buffer)) == 2500 and asked_at == [1024, 2048]


def test_a_fourth_of_what_is_kept_is_forgotten_at_least():
    """To forget moves all that are left, which are here four times as many."""
    buffer = ArrivalBuffer(iter(()), lambda last: None)
    buffer.items = list(elements_at(*range(6000)))
    buffer.forget_before(1499)
    assert buffer.number_forgotten == 0
    buffer.forget_before(1500)
    assert buffer.number_forgotten == 1500 and len(buffer.items) == 4500
    buffer.items = list(elements_at(*range(6003)))
    buffer.forget_before(3000)  # a fourth of 6,003, rounded down
    assert buffer.number_forgotten == 3000


@pytest.mark.parametrize(
    ("kind", "window_fields", "fields", "expected"),
    [
        # the last arrival is at 20, the one at 8 before it has index 6
        ("time", {"size": 5, "slide": 5}, {}, 7),
        ("time", {"size": 15, "slide": 1}, {}, 6),
        ("time", {"size": 15, "slide": 1}, {"tick": "batch"}, 0),
        ("range", {"size": 15}, {}, 6),
        ("now", {}, {"closure": "none"}, 7),
        ("rows", {"size": 3}, {"closure": "none"}, 5),
        # windows of ids: the last id, 8, is in [8, 12) if the size is 4, and in [6, 9) if it is 3
        ("tuple", {"size": 4, "slide": 4}, {}, 7),
        ("tuple", {"size": 3, "slide": 3}, {}, 5),
        ("time", {"size": 5, "slide": 5}, {"t0": 50}, 7),
        ("landmark", {}, {}, 0),
        ("landmark", {}, {"t0": 50}, 7),
        ("unbounded", {}, {"closure": "none"}, 0),
        (
            "time",
            {"size": 5, "slide": 5},
            {"change_scope": "graph", "change_baseline": "previous-instant"},
            0,
        ),
        ("time", {"size": 5, "slide": 5}, {"change_scope": "graph"}, 7),
    ],
)
def test_the_first_element_that_is_needed(kind, window_fields, fields, expected):
    batches = zip(elements_at(*MANY), range(1, 9), strict=True)
    whole = [each._replace(batch=batch) for each, batch in batches]
    semantics = chosen(**{"report": "content-change", "tick": "tuple", "horizon": "none", **fields})
    planned = plan_streamed(asked(BODY, kind, **window_fields), {"s": iter(whole)}, semantics)
    list(planned.arrivals)
    assert first_needed(planned, range(0)) == expected
    assert first_needed(planned, range(3, 5)) == min(expected, 3)
    assert first_needed(planned, (7,)) == 0


# Parts


@pytest.mark.parametrize(
    ("table", "fields", "reason"),
    [
        ({"kind": "time"}, {}, None),
        ({"kind": "rows", "size": 2}, {"closure": "none"}, "windows of kind rows, which have no"),
        ({"kind": "time"}, {"tick": "batch"}, "the batch tick"),
        (
            {"kind": "time"},
            {"r2s": "Istream", "base": "previous-new"},
            "base=previous-new, which may be any time ago",
        ),
        (
            {"kind": "time"},
            {
                "report": "content-change,window-close",
                "missed_instants": "latest",
            },
            "content change beside missed_instants=latest",
        ),
        ({"kind": "time"}, {"report": "window-close", "missed_instants": "latest"}, None),
        ({"kind": "time", "count": 2}, {}, None),
        ({"kind": "time", "count": 2}, {"trigger": "all"}, None),
        ({"kind": "time", "count": 2}, {"report": "window-close"}, None),
        (
            {"kind": "time"},
            {"change_scope": "graph", "r2s": "append"},
            "append under content change of the graph",
        ),
        ({"kind": "time"}, {"r2s": "append"}, None),
        (
            {"kind": "time", "body": TIMES},
            {"change_scope": "graph"},
            "a body that asks for times under content change of the graph",
        ),
        ({"kind": "time", "body": TIMES}, {}, None),
        (
            {"kind": "time", "body": TIMES},
            {"report": "window-close", "change_scope": "graph"},
            None,
        ),
        ({"kind": "time"}, {"change_scope": "graph"}, None),
        (
            {"kind": "time", "body": "SELECT ?x (BNODE() AS ?b) { ?x <urn:p> ?y }"},
            {},
            "a body that makes blank nodes",
        ),
        (
            {"kind": "time", "count": 2},
            {"report": "non-empty,periodic", "period": 2, "anchor": "first-element"},
            None,
        ),
        ({"kind": "time"}, {"report": "periodic", "period": 2, "anchor": "first-element"}, None),
    ],
)
def test_what_is_not_computed_in_parts(table, fields, reason):
    table = {"body": BODY, "count": 1, **table}
    body, count = table.pop("body"), table.pop("count")
    if table["kind"] == "time":
        table |= {"size": 4, "slide": 4}
    windows = [{"stream": name, **table} for name in "sr"[:count]]
    query = from_table({"body": body, "windows": windows})
    semantics = chosen(**{"report": "content-change", "tick": "tuple", **fields})
    found = parts.why_not_in_parts(query, semantics)
    if reason is None:
        assert found is None
    else:
        assert found is not None and found.startswith(reason)
        if reason.startswith("windows of kind"):
            assert found.endswith("which have no bounds in time")


def test_streams_that_are_not_computed_in_parts():
    one, two = elements_at(5, 6)
    intervals = Stream((one, two._replace(end=9)))
    late = Stream((two, one._replace(sys=3)))
    for elements, fields, reason in (
        (intervals, {}, "elements with intervals"),
        (late, {"allowed_lateness": 0}, "elements that are dropped as late"),
    ):
        with pytest.raises(Unsupported) as refused:
            list(parts.evaluate_in_parts(asked(BODY), {"s": elements}, chosen(**fields), [6]))
        assert str(refused.value) == f"ENG-7: cannot be computed in parts: {reason}"


def test_a_query_that_is_not_computed_in_parts():
    semantics = chosen(tick="batch", report="content-change")
    with pytest.raises(Unsupported) as refused:
        list(parts.evaluate_in_parts(asked(BODY), {"s": elements_at(5, 6)}, semantics, [6]))
    assert str(refused.value) == "ENG-7: cannot be computed in parts: the batch tick"


TUMBLING = asked(BODY, size=10, slide=10)
TWO = from_table(
    {
        "body": BODY,
        "windows": [
            {"stream": name, "kind": "time", "size": 10, "slide": 10} for name in ("s", "r")
        ],
    }
)


@pytest.mark.parametrize(
    ("fields", "start", "expected"),
    [
        # no evaluation before matters: halos of 2, 4, 8, … arrivals, which begin with the window
        # that holds the instant before the first of them
        ({}, 40, [30, 20, 0, None]),
        ({}, 43, [40, 30, 20, 10, None]),
        # there an arrival's own instant is one earlier
        ({"close_rule": "passed"}, 42, [30, 20, 0, None]),
        ({"close_rule": "passed"}, 43, [30, 20, 0, None]),
        # one evaluation matters, which is 10 instants before: halos of 10, 20, 40, … instants
        ({"r2s": "Istream", "base": "previous"}, 40, [20, 10, None]),
        ({"empty": "once"}, 60, [30, 10, None]),
        # two evaluations matter, and there is one for each arrival: halos of 2, 4, 8, … arrivals
        ({"report": "content-change", "empty": "once"}, 60, [50, 40, 20, None]),
        ({"report": "content-change,non-empty", "empty": "once"}, 60, [50, 40, 20, None]),
        ({}, 1, [None]),
        ({}, 2, [None]),
    ],
)
def test_where_halos_begin(fields, start, expected):
    semantics = chosen(**fields)
    found = parts.halo_starts(TUMBLING, semantics, {"s": 0}, start, range(100))
    assert list(found) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # halos of 2, 4, 8, … arrivals, one at each instant: the window [53, 58) is shown at 57
        ({}, [53, 51, 47, 39, 23, None]),
        # two evaluations, each 7 instants after the one before: 14 instants, then 28 and 56
        ({"report": "periodic", "period": 7, "anchor": "t0"}, [41, 27, 0, None]),
    ],
)
def test_halos_of_a_window_that_slides_by_one(fields, expected):
    """Two evaluations before the part matter, which are an instant apart if no period is stated."""
    query = asked(BODY, "range", size=5)
    semantics = chosen(empty="once", **fields)
    assert list(parts.halo_starts(query, semantics, {"s": 0}, 60, range(100))) == expected


def test_halos_of_several_windows_reach_back_to_what_they_last_reported():
    """Two evaluations matter: the one compared with, and one after which it is known what both
    windows last reported. They are 20 instants before, then 40.
    """
    semantics = chosen(report="content-change,window-close")
    found = parts.halo_starts(TWO, semantics, {"s": 0, "r": 0}, 60, range(100))
    assert list(found) == [30, 10, None]


def test_the_first_arrival_since_which_all_is_known():
    """For one window that is the first exact one. What two last reported is known at 32, when 35
    arrives: the element of 31 is new there.
    """
    semantics = chosen(report="content-change", horizon="none")
    for query, expected in ((TUMBLING, 31), (TWO, 35)):
        streams = {name: elements_at(30, 31, 35, 41) for name in ("s", "r")}
        planned = engine.plan(query, streams, semantics)
        assert parts.first_exact_arrival(planned, 30) == 31
        assert parts.first_known_arrival(query, planned, 30) == expected
        assert parts.first_known_arrival(query, planned, 50) is None


@pytest.mark.parametrize(
    ("fields", "halo_start", "expected"),
    [({}, 30, 31), ({}, 31, 41), ({"close_rule": "passed"}, 30, 35), ({}, 50, None)],
)
def test_the_first_arrival_that_sees_what_it_sees_in_the_whole_stream(fields, halo_start, expected):
    """Windows are [30, 40), [40, 50), …: at the instant before the arrival, too, the window must
    begin with the halo or later.
    """
    planned = engine.plan(
        TUMBLING, {"s": elements_at(30, 31, 35, 40, 41)}, chosen(horizon="none", **fields)
    )
    assert parts.first_exact_arrival(planned, halo_start) == expected


def test_elements_for_a_part():
    two = from_table(
        {
            "body": ALL,
            "windows": [
                {"stream": name, "kind": "time", "size": 4, "slide": 2} for name in ("s", "r")
            ],
        }
    )
    streams = {"s": elements_at(3, 5, 9), "r": elements_at(4, 5), "t": elements_at(1)}
    whole = parts.WholeStreams(two, streams)
    assert (whole.instants, whole.firsts, whole.span) == (
        [3, 4, 5, 9],
        {"s": 3, "r": 4},
        range(4, 10),
    )

    def times(*part):
        found = whole.elements_for(parts.Part(*part))
        return {name: [element.app for element in elements] for name, elements in found.items()}

    assert times() == {"s": [3, 5, 9], "r": [4, 5]}
    assert times(5, 9, 4) == {"s": [5], "r": [4, 5]}
    assert times(5, None, 5) == {"s": [5, 9], "r": [5]}
    nothing = parts.WholeStreams(TUMBLING, {"s": Stream(())})
    assert (nothing.instants, nothing.firsts, nothing.span) == ([], {}, range(0))


@pytest.mark.parametrize(
    ("fields", "halo_start", "first"),
    [
        ({}, None, 0),
        ({}, 9, 0),
        ({}, 19, 0),
        ({}, 20, 10),
        ({}, 35, 20),
        # three windows are two periods, which count from t0
        ({"report": "periodic", "period": 15, "anchor": "t0"}, 95, 60),
        ({"report": "periodic", "period": 20, "anchor": "t0"}, 95, 80),
    ],
)
def test_where_the_first_frame_begins(fields, halo_start, first):
    (frame,) = whole_stream_frames(TUMBLING, chosen(**fields), {"s": 0}, halo_start)
    assert (frame.first, frame.last, frame.least) == (first, first + 9, 0)


def test_the_origin_of_windows_whose_slide_is_ignored():
    """WIN-7: Flink's t0 is slide - size - 1, and WIN-17: a slide that is ignored is 1."""
    for slide, expected in (("stated", -1), ("ignored", -10)):
        semantics = chosen(t0="flink", slide=slide, closure="(]")
        assert window_origins(TUMBLING, semantics, {}) == (expected,)


def test_windows_that_are_cut_off_are_those_of_the_whole_stream_alone():
    """WIN-11: with partial windows the stream begins with some that opened before it."""
    query = asked(BODY, size=10, slide=5)
    semantics = chosen(partial="reported", t0="first-element")
    frames = [whole_stream_frames(query, semantics, {"s": 3}, halo)[0] for halo in (None, 14, 40)]
    assert frames[0] == frames[1] and frames[0].least < 0
    assert frames[2].least == 0 and frames[2].first == 28
    assert whole_stream_frames(query, semantics, {}, 40) == [None]


def test_where_a_window_opens_and_starts():
    for closure, opens in (("[)", 0), ("(]", -1)):
        semantics = chosen(closure=closure)
        (view,) = engine.plan(TUMBLING, {"s": elements_at(1)}, semantics).views
        (frame,) = whole_stream_frames(TUMBLING, chosen(), {"s": 0}, None)
        assert opening_of_first_window(view, semantics, frame) == opens
        assert opening_of_first_window(view, semantics, None) is None
        assert [window_start_at(frame, t) for t in (-7, 0, 9, 10)] == [0, 0, 0, 10]
        assert window.scope(frame, -7) is None


def test_a_part_whose_own_first_arrival_sees_less_than_the_whole_stream_needs_a_longer_halo():
    """The arrival at 40 is looked at from the halo's beginning on, also where [20, 30) closes."""
    with pytest.raises(parts.HaloTooShort):
        parts.reports_of_part(
            TUMBLING,
            {"s": elements_at(40, 41)},
            chosen(horizon="none"),
            {"s": 0},
            parts.Part(start=40, halo_start=30),
        )


def test_a_halo_of_as_many_evaluations_as_a_part_needs_is_long_enough():
    """Windows [20, 30) and [30, 40) are known from 21 on. The answer at 31 is what Istream compares
    that at 41 with; the evaluation at 21 does not matter.
    """
    semantics = chosen(r2s="Istream", base="previous", horizon="none")
    part = parts.Part(start=41, halo_start=20)
    planned = parts.plan_part(TUMBLING, {"s": elements_at(21, 31, 41)}, semantics, {"s": 0}, part)
    assert parts.first_known_arrival(TUMBLING, planned, 20) == 21
    assert parts.evaluations_needed(TUMBLING, semantics) == 1
    assert parts.evaluations_to_skip(TUMBLING, planned, part, max_reports=9) == 1


@pytest.mark.parametrize("is_ordered", [True, False])
def test_a_part_of_a_stream_is_ordered_as_the_stream_is(is_ordered: bool):
    whole = Stream(elements_at(1, 3, 5, 7).elements, is_ordered)
    part = parts.Part(start=5, stop=7, halo_start=3)
    found = parts.WholeStreams(TUMBLING, {"s": whole}).elements_for(part)["s"]
    assert [element.app for element in found] == [3, 5]
    assert found.ordered is is_ordered


def test_cuts_before_the_second_instant_or_after_the_last_are_none(
    monkeypatch: pytest.MonkeyPatch,
):
    """ENG-7: a part with another start or end would have no arrivals."""
    asked_for: list[tuple[int | None, int | None]] = []
    reports_of_part = parts.reports_of_part

    def note(*args: Any, **options: Any) -> Any:
        asked_for.append((args[4].start, args[4].stop))
        return reports_of_part(*args, **options)

    monkeypatch.setattr(parts, "reports_of_part", note)
    cuts = [3, 5, 6, 9, 10]
    list(parts.evaluate_in_parts(TUMBLING, {"s": elements_at(5, 7, 9)}, chosen(), cuts))
    assert list(dict.fromkeys(asked_for)) == [(None, 6), (6, 9), (9, None)]


def test_too_many_reports_of_a_part():
    """ENG-3: the bound is that of the arrivals' reports, in parts, too."""
    stream_of_many = {"s": elements_at(*MANY)}
    semantics = chosen(report="content-change", tick="tuple")
    for bound in range(4):
        found = collect(
            parts.evaluate_in_parts, TUMBLING, stream_of_many, semantics, [5], max_reports=bound
        )
        expected = collect(engine.evaluate, TUMBLING, stream_of_many, semantics, max_reports=bound)
        assert isinstance(found[1], TooManyReports) is isinstance(expected[1], TooManyReports)
        assert re.sub(r"\d+", "", str(found[1])) == re.sub(r"\d+", "", str(expected[1]))


def test_as_many_reports_as_the_bound_says():
    """ENG-3: arrivals at 1, 11 and 21 report [0, 10) and [10, 20)."""
    streams = {"s": elements_at(1, 11, 21)}
    found = incremental.evaluate(TUMBLING, streams, chosen(horizon="none"), max_reports=2)
    assert len(list(found)) == 2
    with pytest.raises(TooManyReports):
        list(incremental.evaluate(TUMBLING, streams, chosen(horizon="none"), max_reports=1))


def test_the_bound_of_reports_holds_before_a_part_too(monkeypatch):
    """Of ten reports before it the part needs the last, which are more than by default."""
    monkeypatch.setattr(parts, "MAX_REPORTS", 3)
    streams = {"s": elements_at(*range(0, 100, 5))}
    part = parts.Part(start=90)
    reports, run = parts.reports_of_part(
        TUMBLING, streams, chosen(), {"s": 0}, part, is_evaluator_requested=True, max_reports=1000
    )
    assert len(list(reports)) > 1
    assert run.provenance == Provenance.of_request()


def test_who_computed_the_reports():
    """A stream of values, of which the third is not covered."""
    items = [
        (("<urn:a>", P, "<urn:b>"), 1),
        (("<urn:b>", P, "<urn:b>"), 6),
        (("<urn:b>", P, '"x"'), 11),
        (("<urn:a>", P, '"x"'), 16),
    ]
    windows = {"size": 5, "slide": 5}
    for text, expected in (
        (BODY, "incremental"),
        ("SELECT (BNODE() AS ?b) { ?x <urn:p> ?y }", "the SPARQL evaluator: BNODE()"),
        (
            "SELECT ?x { ?x <urn:p> ?y FILTER(?y = 1) }",
            "incremental for 2 evaluations, then the SPARQL evaluator: whether literals of two "
            "kinds are known to differ (SPARQL 17.3.1)",
        ),
    ):
        run = incremental.evaluate(
            asked(text, **windows), {"s": stream(items)}, chosen(horizon="flush")
        )
        assert len(list(run)) >= 4 and str(run.provenance) == expected
        assert (run.provenance == Provenance()) is (expected == "incremental")


def test_the_engine_may_be_asked_for():
    planned = engine.plan(asked(BODY), {"s": elements_at(1, 3, 5)}, chosen())
    run = incremental.evaluate_plan(asked(BODY), planned, is_evaluator_requested=True)
    assert len(list(run)) > 1
    assert str(run.provenance) == "the SPARQL evaluator: it was asked for"
    assert run.provenance == Provenance.of_request()


def test_the_steps_of_a_run_are_those_of_the_engine():
    """Each evaluation has one, also where its answer is empty and nothing is reported."""
    semantics = chosen(empty="suppress")
    planned = engine.plan(asked(BODY), {"s": elements_at(1, 9)}, semantics)
    found = [
        (step.at, Counter(step.answer), step.emitted)
        for step in incremental.evaluate_plan(asked(BODY), planned).steps()
    ]
    expected = [
        (step.at, Counter(step.answer), step.emitted) for step in engine.steps(asked(BODY), planned)
    ]
    assert found == expected
    assert {emitted for _, _, emitted in found} == {True, False}


def test_the_engine_that_is_given_computes_what_is_not_covered():
    """And nothing of what is covered."""
    asked_bodies: list[str] = []

    def answer(body: Body, dataset: frozenset) -> Relation:
        asked_bodies.append(body.text)
        return Relation(body.variables, {(("x", f"<urn:{len(dataset)}>"),): 1})

    for text, is_asked in ((BODY, False), ("SELECT (BNODE() AS ?b) { ?x <urn:p> ?y }", True)):
        asked_bodies.clear()
        run = incremental.evaluate(
            asked(text, size=9, slide=9),
            {"s": elements_at(1, 3, 5)},
            chosen(horizon=9),
            answer=answer,
        )
        (report,) = run
        assert bool(asked_bodies) is is_asked
        assert (report.relation.rows == {(("x", "<urn:3>"),): 1}) is is_asked


def test_a_body_beyond_a_limit_of_the_engine_raises_before_the_first_report(monkeypatch):
    def refuse(body: Body, dataset: frozenset) -> None:
        raise Unsupported("a body that takes too long", rule="R2R-17")

    monkeypatch.setattr(r2r, "defined_answer", refuse)
    run = incremental.evaluate(asked(BODY), {"s": elements_at(1, 3, 5)}, chosen())
    with pytest.raises(Unsupported, match="R2R-17"):
        next(run)


def test_a_stream_that_is_read_has_no_evaluator_to_go_on_with():
    with pytest.raises(Unsupported) as refused:
        incremental.evaluate(
            asked("SELECT (BNODE() AS ?b) { ?x <urn:p> ?y }"), {"s": iter(elements_at(1))}, chosen()
        )
    assert str(refused.value) == (
        "ENG-6: incremental evaluation does not cover BNODE(); give the stream whole, for the "
        "SPARQL evaluator"
    )


def test_answers_of_contents_in_any_order_are_computed_once():
    body = "SELECT ?x { ?x <urn:p> ?y FILTER(?y = <urn:b> || ?y = 1) }"
    query = asked(body, size=3, slide=1)
    static = frozenset([("<urn:s>", P, "<urn:b>")])
    items = [((f"<urn:{i}>", P, "<urn:b>" if i < 4 else '"x"'), i) for i in range(6)]
    views = engine.plan(query, {"s": stream(items)}, chosen()).views
    cache = incremental.AnswerCache(query, views, static)
    for start, stop in [*combinations(range(5), 2), (0, 0)]:
        names = ["s", *range(start, stop)]
        answer = cache((range(start, stop),))
        assert answer == {(("x", f"<urn:{name}>"),): 1 for name in names}
        assert cache((range(start, stop),)) is answer
        assert cache.supported_rows(range(start, stop)) is None  # with static data none are kept
    with pytest.raises(NotCovered, match=r"^whether literals of two kinds"):
        cache((range(3, 5),))
    with pytest.raises(NotCovered, match=r"^a value met before$"):
        cache((range(0, 5),))
    assert cache((range(0, 2),))  # is known


def test_the_steps_of_a_cache_are_those_of_the_engine():
    """Whether solutions of the whole stream answer, or a content that is followed."""
    items = [((f"<urn:{i}>", P, f"<urn:{i % 3}>"), i) for i in range(8)]
    static = frozenset([("<urn:s>", P, "<urn:1>")])
    for text in (BODY, "SELECT ?y (COUNT(*) AS ?n) { ?x <urn:p> ?y } GROUP BY ?y"):
        for kind, fields in (("time", {"size": 3, "slide": 2}), ("range", {"size": 3})):
            for data in (frozenset(), static):
                query = asked(text, kind, **fields)
                planned = engine.plan(query, {"s": stream(items)}, chosen(horizon="flush"))
                cache = incremental.AnswerCache(query, planned.views, data)
                assert (cache.supported is None) is bool(data)
                found = list(incremental.cached_steps(query, planned, cache))
                expected = engine.steps(query, planned, static=data, answer=r2r.defined_answer)
                for one, other in zip(found, expected, strict=True):
                    assert (one.at, one.answer) == (other.at, other.answer)
                    assert one.report.relation == other.report.relation


def test_rows_with_the_elements_that_they_rest_on():
    items = [(("<urn:a>", P, "<urn:k>"), 1), (("<urn:k>", "<urn:q>", "<urn:z>"), 3)]
    body = "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z }"
    views = engine.plan(asked(body, size=5, slide=5), {"s": stream(items)}, chosen()).views
    cache = incremental.AnswerCache(asked(body, size=5, slide=5), views, frozenset())
    assert cache.supported_rows(range(0, 2)) == [((("x", "<urn:a>"),), (0, 1))]
    assert cache.supported_rows(range(0, 1)) == [] and cache.supported_rows((0, 1)) is None
    short = asked(body, size=1, slide=1)
    views = engine.plan(short, {"s": stream(items)}, chosen()).views
    cache = incremental.AnswerCache(short, views, frozenset())
    assert cache.supported_rows(range(0, 2)) is None  # longer than any window
    assert cache((range(0, 2),)) == {(("x", "<urn:a>"),): 1}


def test_where_solutions_of_the_whole_stream_do_not_answer():
    one = asked(BODY, size=5, slide=5)
    two = replace(THREE_WINDOWS, windows=THREE_WINDOWS.windows[:2])
    rows = asked(BODY, "rows", size=2)
    points, intervals = elements_at(1, 2), Stream((elements_at(1).elements[0]._replace(end=4),))
    for query, given, fields in (
        (two, points, {}),
        (one, intervals, {}),
        (rows, points, {"closure": "none", "report": "content-change", "tick": "tuple"}),
    ):
        views = engine.plan(query, {"s": given, "r": given}, chosen(**fields)).views
        assert incremental.AnswerCache(query, views, frozenset()).supported is None


def test_a_triple_that_comes_again_is_left_to_contents_that_are_followed():
    triple = ("<urn:a>", P, "<urn:k>")
    query = asked(BODY, size=5, slide=5)
    views = engine.plan(query, {"s": stream([(triple, 1), (triple, 3)])}, chosen()).views
    cache = incremental.AnswerCache(query, views, frozenset())
    assert cache.supported is None
    assert cache((range(0, 2),)) == {(("x", "<urn:a>"),): 1}


def test_a_triple_that_comes_again_rests_on_either_element():
    """Within the span its solutions would. Beyond it the first one is forgotten."""
    triple, other = (("<urn:a>", P, "<urn:b>"), ("<urn:a>", "<urn:q>", "<urn:b>"))
    for items, is_covered in (
        ([(triple, 1), (triple, 5)], False),
        ([(triple, 1), (triple, 6)], True),
        ([(other, 1), (other, 5)], True),  # it matches nothing
    ):
        elements = stream(items).elements
        times = [element.app for element in elements]
        if is_covered:
            assert SupportedSolutions(Body(BODY), elements, times, span=4)
        else:
            with pytest.raises(NotCovered, match=r"^a triple that comes again$"):
                SupportedSolutions(Body(BODY), elements, times, span=4)


def test_what_is_looked_at_of_what_leaves():
    """Nothing where one window grows, as long as R2S does not ask what was kept."""
    for count, fields, can_grow in (
        (1, {}, True),
        (2, {}, False),
        (1, {"r2s": "append"}, False),
        (1, {"r2s": "Istream", "base": "previous"}, True),
    ):
        query = replace(THREE_WINDOWS, windows=THREE_WINDOWS.windows[:count])
        given = {"s": elements_at(1), "r": elements_at(2)}
        planned = engine.plan(query, given, chosen(**fields))
        assert MaintainedAnswers(query, planned, frozenset()).can_grow is can_grow


def test_new_blank_nodes_are_numbered_as_if_nothing_was_left_out():
    """R2R-7: their labels have the number of the evaluation."""
    query = asked("SELECT ?x (BNODE() AS ?b) { ?x <urn:p> ?y }", size=5, slide=5)
    planned = engine.plan(query, {"s": elements_at(*MANY)}, chosen(horizon="flush"))
    expected = [step.report.relation for step in engine.steps(query, planned)]
    found = [report.relation for report in incremental.evaluate_plan(query, planned, skip=2)]
    assert found == expected[2:] and len(found) > 1
