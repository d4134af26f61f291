"""Evaluation in parts gives the reports of the engine, wherever a stream is cut, in gaps, too;
and so it does over several streams.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from typing import Any
from unittest.mock import patch

import pytest
from conftest import draws
from hypothesis import event, given, settings
from hypothesis import strategies as st
from incremental_trials import P, chosen, collect, cut, is_same_report, trials
from sections import check_all, each_section

from conformance import corpus
from refengine import (
    Body,
    Query,
    Semantics,
    Stream,
    Window,
    WindowKind,
    from_table,
    literal,
    profile,
    stream,
)
from refengine.core import engine, r2r
from refengine.core.values import (
    R2S,
    T0,
    Anchor,
    ChangeBaseline,
    ChangeScope,
    Closure,
    Condition,
    Empty,
    End,
    MissedInstants,
    Tick,
    Trigger,
)
from refengine.incremental import parts
from refengine.incremental.parts import arrival_since_which_reports_are_known
from refengine.model.elements import XSD
from refengine.strategies import bodies

reports_of_part = parts.reports_of_part


def agree(query, streams, picked, static, cuts, answer=r2r.defined_answer) -> str:
    """Assert that the parts' reports are those of the engine, or that both end in the same
    error. Return whether parts were computed from halos, or why there are none.
    """
    options = {"static": static, "answer": answer}
    expected, error = collect(engine.evaluate, query, streams, picked, **options)
    starts = []

    def note_halo_start(query, streams, picked, firsts, part, **options):
        result = reports_of_part(query, streams, picked, firsts, part, **options)
        starts.append(part.halo_start)
        return result

    def in_parts(*args: Any, **options: Any):
        with patch.object(parts, "reports_of_part", note_halo_start):
            yield from parts.evaluate_in_parts(*args, **options)

    actual, other = collect(in_parts, query, streams, picked, cuts, **options)
    if other is not None and other.rule == "ENG-7":
        return str(other).partition("parts: ")[2].partition(",")[0]
    assert len(actual) == len(expected) and all(map(is_same_report, actual, expected))
    assert str(other) == str(error)
    return (
        "in parts, some not from the beginning"
        if any(start is not None for start in starts)
        else "in parts"
    )


@each_section(case for case in corpus.cases() if "expect" in case.table)
def test_a_case_holds_in_parts(cases):
    """Cut at every instant."""
    check_all(cases, corpus.in_parts)


@pytest.mark.parametrize(
    ("size", "slide"), [(10, 10), (10, 100), (50, 60), (100, 10), (2000, 2000)]
)
@pytest.mark.parametrize("report", ["window-close", "content-change"])
def test_more_is_given_each_time(size, slide, report):
    """A halo begins before the part, and each one earlier than the one before; in gaps between
    windows, too.
    """
    query = from_table(
        {
            "body": "SELECT * { ?s ?p ?o }",
            "windows": [{"stream": "s", "kind": "time", "size": size, "slide": slide}],
        }
    )
    picked = profile("cqels").but(t0=0, report=report, tick="tuple").semantics()
    for start in (1, 2, 99, 2001, 2013, 9999):
        found = list(parts.halo_starts(query, picked, {"s": 0}, start, range(10_000)))
        assert found.pop() is None and all(
            earlier < later for later, earlier in zip([start, *found], found, strict=False)
        )
    assert len(found) > 2, "there is something to see"


def test_what_a_part_leaves_out_is_not_asked():
    """Of windows that a part does not know whole an answer may be disputed that nobody gives: 01 <
    'zz', where no stop is.
    """
    body = "SELECT ?x { ?x <urn:n> ?v FILTER NOT EXISTS { ?z <urn:stop> ?w } FILTER(?v < 'zz') }"
    query = from_table(
        {"body": body, "windows": [{"stream": "s", "kind": "time", "size": 20, "slide": 10}]}
    )
    number, items = literal("01", XSD + "integer"), []
    for n in range(12):
        items += [(("<urn:s>", "<urn:stop>", "<urn:s>"), 10 * n + 1)] if n % 2 == 0 else []
        items += [
            (("<urn:a>", "<urn:n>", number), 10 * n + 6),
            (("<urn:b>", "<urn:q>", "<urn:b>"), 10 * n + 8),
        ]
    for fields in ({}, {"r2s": "Istream", "base": "previous"}):
        assert agree(
            query,
            {"s": stream(items)},
            profile("csparql").but(t0=0, horizon="none", **fields).semantics(),
            frozenset(),
            [109],
            r2r.confirmed_answer,
        ).startswith("in parts")


@settings(max_examples=draws(200))
@given(cut())
def test_sliced_is_unsliced(trial):
    event(agree(*trial))


@settings(max_examples=draws(60))
@given(trials(bodies(names=(), graph_variable=False)), st.sets(st.integers(-10, 20), max_size=3))
def test_sliced_is_unsliced_or_refused(trial, cuts):
    """Over every kind of window and the whole space of semantics."""
    event(agree(*trial, sorted(cuts)))


def draw_empty_outputs(rng: random.Random, empty: Empty) -> tuple:
    """Draw a query with a short window, a stream of which the body finds about half, a semantics
    with this value of `empty`, and cuts. Outputs that are empty and others come in turn.
    """
    size = rng.randint(1, 4)
    window = Window("s", WindowKind.TIME, size, rng.choice([1, size, size + 2]))
    query = Query((window,), Body("SELECT ?x { ?x <urn:p> ?y }"))
    instants = list(accumulate(rng.choices([0, 0, 1, 2, 3, 6], k=20)))
    items = [((rng.choice("ab"), rng.choice("pq"), "o"), at) for at in instants]
    elements = [(tuple(f"<urn:{term}>" for term in triple), at) for triple, at in items]
    operator = rng.choice(list(R2S))
    base = None
    if operator in (R2S.ISTREAM, R2S.DSTREAM):
        base = "previous"
    report = {"report": rng.choice(["content-change", "non-empty", "window-close"])}
    if rng.random() < 0.5:  # evaluations where nothing changes, and two at one instant
        report = {"report": "periodic", "period": 1, "anchor": 0}
    picked = profile("csparql").but(
        t0=0,
        closure=rng.choice(list(Closure)),
        r2s=operator,
        base=base,
        empty=empty,
        horizon="none",
        **report,
    )
    distinct = sorted(set(instants))
    cuts = sorted(rng.sample(distinct, min(4, len(distinct))))
    return query, {"s": stream(elements)}, picked.semantics(), frozenset(), cuts


@pytest.mark.parametrize("empty", Empty)
def test_empty_outputs_in_parts(empty):
    """ENG-7, R2S-5: whether the first empty output of a part is emitted is said by the evaluations
    before the part that matter to it.
    """
    rng = random.Random(0)
    count = draws(100)
    said = Counter(agree(*draw_empty_outputs(rng, empty)) for _ in range(count))
    assert said["in parts, some not from the beginning"] > count / 2, said


@pytest.mark.parametrize("empty", [empty for empty in Empty if empty.reads_last_output])
@pytest.mark.parametrize("needed", [0, 1])
def test_too_few_evaluations_before_a_part_are_noticed(empty, needed):
    """ENG-7: where the last output matters the draws above show that one evaluation is too few."""
    rng = random.Random(0)
    with (
        patch.object(parts, "evaluations_needed", lambda query, picked: needed),
        pytest.raises(AssertionError),
    ):
        for _ in range(draws(100)):
            agree(*draw_empty_outputs(rng, empty))


def draw_missed_instants(rng: random.Random, missed: MissedInstants) -> tuple:
    """Draw as above, with several windows that end between two arrivals, under content change."""
    query, streams, picked, static, cuts = draw_empty_outputs(rng, Empty.EMIT)
    fields = {"report": "window-close,content-change", "period": None, "anchor": None}
    return query, streams, replace(picked, **fields, missed_instants=missed), static, cuts


@pytest.mark.parametrize("missed", MissedInstants)
def test_missed_instants_in_parts(missed):
    """ENG-7: The draws show which values of `missed_instants` are refused beside content change:
    parts of the others have the whole's reports, and parts of these would not.
    """
    rng = random.Random(0)
    trials_drawn = [draw_missed_instants(rng, missed) for _ in range(draws(100))]
    if not missed.leaves_some_out:
        said = Counter(agree(*trial) for trial in trials_drawn)
        assert said["in parts, some not from the beginning"] > len(trials_drawn) / 2, said
        return
    with (
        patch.object(MissedInstants, "leaves_some_out", False),
        pytest.raises(AssertionError),
    ):
        for trial in trials_drawn:
            agree(*trial)


# Several streams


def reports_known(times: dict[str, list[int]], **fields: Any) -> int | None:
    """Return since which arrival it is known what windows [0, 3), [3, 6), … over s and r last
    reported, if nothing is known of before 3. That over r has triggers.

    The arrivals after 4 see in the windows what they see in the whole streams.
    """
    windows = [{"stream": name, "kind": "time", "size": 3, "slide": 3} for name in "sr"]
    windows[1]["triggers"] = True
    query = from_table({"body": "SELECT ?x { ?x <urn:p> ?y }", "windows": windows})
    streams = {
        name: stream([((f"<urn:{name}>", P, f"<urn:{at}>"), at) for at in some])
        for name, some in times.items()
    }
    fields = {"report": "content-change", "tick": "tuple", "horizon": "none", **fields}
    planned = engine.plan(query, streams, chosen(**fields))
    return arrival_since_which_reports_are_known(planned, exact_after=4)


BOTH = {"s": [4, 8], "r": [3, 6, 7, 9]}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # at 4, when 6 arrives, the content {4} of s is new
        ({}, 6),
        ({"trigger": "leading"}, 6),
        ({"report": "content-change,non-empty"}, 6),
        # the content {3} of r is perhaps what was reported; at 6, when 7 arrives, {6} is not
        ({"trigger": "explicit"}, 7),
        # r has perhaps not changed at 4; and then at 6 s has perhaps not. Then s is empty until 8
        ({"trigger": "all"}, 9),
        # if neither has changed, then what they hold at 4 is what was reported
        ({"change_scope": "graph"}, 6),
        # s is compared at 4, and r is not; at 6 s has changed since then
        ({"change_scope": "graph", "trigger": "leading"}, 7),
        # so it has when 6 arrives, if that is when [3, 6) is seen to expire
        ({"change_scope": "graph", "trigger": "leading", "expiry_seen": "eager"}, 6),
        # 6 closes [3, 6) of both, and the element 4 in it is new
        ({"report": "content-change,window-close"}, 6),
        # 7 is the first arrival that is past 6, and closes it
        ({"report": "content-change,window-close", "close_rule": "passed"}, 7),
    ],
)
def test_since_when_it_is_known_what_was_last_reported(fields, expected):
    assert reports_known(BOTH, **fields) == expected


def test_a_window_without_a_scope_has_reported_nothing():
    """Windows of r open with its first element."""
    fields = {"change_scope": "graph", "trigger": "leading"}
    assert reports_known({"s": [3, 4, 5, 8], "r": []}, t0="first-element", **fields) == 5
    assert reports_known({"s": [3, 4, 5, 8], "r": []}, **fields) == 8


def test_it_may_never_be_known_what_was_last_reported():
    assert reports_known({"s": [4, 5, 7], "r": []}, trigger="all") is None
    # r is empty from 6 on, for which nothing is reported; before that {3} may have been
    fields = {"trigger": "explicit", "report": "content-change,non-empty"}
    times = {"s": [4, 8], "r": [3, 9]}
    assert reports_known(times, **fields) is None
    assert reports_known(times, trigger="explicit") == 8


def test_parts_whose_reports_turn_on_one_before():
    """Under trigger=all each report of two streams whose elements alternate turns on the one before
    it, so that no part can begin but with the streams.
    """
    windows = [{"stream": name, "kind": "time", "size": 2, "slide": 1} for name in "sr"]
    query = from_table({"body": "SELECT ?x { ?x <urn:p> ?y }", "windows": windows})
    items = [((f"<urn:{at}>", P, "<urn:o>"), at) for at in range(40)]
    streams = {"s": stream(items[::2]), "r": stream(items[1::2])}
    fields = {"report": "content-change", "tick": "tuple", "horizon": "none"}
    for trigger, said in (
        ("any", "in parts, some not from the beginning"),
        ("all", "in parts"),
    ):
        picked = chosen(trigger=trigger, **fields)
        assert agree(query, streams, picked, frozenset(), [20, 30]) == said


def test_halos_before_a_window_has_opened():
    """Windows of r open with its first element, which is after the part."""
    windows = [{"stream": name, "kind": "time", "size": 2, "slide": 2} for name in "sr"]
    query = from_table({"body": "SELECT ?x { ?x <urn:p> ?y }", "windows": windows})
    items = [((f"<urn:{at}>", P, "<urn:o>"), at) for at in range(60)]
    streams = {"s": stream(items[:-1]), "r": stream(items[-1:])}
    picked = chosen(t0="first-element", report="content-change", tick="tuple", horizon="none")
    said = agree(query, streams, picked, frozenset(), [20, 40])
    assert said == "in parts, some not from the beginning"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # halos of 4, 8, … arrivals: one is exact, by the next it is known what was last reported,
        # one has the evaluation that matters
        ({"report": "content-change"}, [27, 23, 15, None]),
        # nothing was reported that matters, or the contents say what changed
        ({"report": "non-empty"}, [29, 27, 23, 15, None]),
        (
            {"report": "content-change", "change_baseline": "previous-instant"},
            [29, 27, 23, 15, None],
        ),
    ],
)
def test_where_halos_of_two_windows_begin(fields, expected):
    """Windows hold what is at one instant. The instant before the first arrival of a halo must be
    known, too.
    """
    windows = [{"stream": name, "kind": "now"} for name in "sr"]
    query = from_table({"body": "SELECT ?x { ?x <urn:p> ?y }", "windows": windows})
    picked = chosen(tick="tuple", closure="none", **fields)
    found = parts.halo_starts(query, picked, {"s": 0, "r": 0}, 32, range(100))
    assert list(found) == expected


BODIES = (
    "SELECT ?x ?y { ?x <urn:p> ?y }",
    "SELECT (COUNT(*) AS ?n) { ?x <urn:p> ?y }",
    "SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:p> ?z }",
)
BODIES_OF_NAMED = (
    "SELECT ?w ?x ?y { GRAPH ?w { ?x <urn:p> ?y } }",
    "SELECT ?x { GRAPH <urn:w0> { ?x <urn:p> ?y } GRAPH <urn:w1> { ?z <urn:p> ?y } }",
)
REPORTS = (
    {Condition.CHANGE},
    {Condition.CHANGE, Condition.NON_EMPTY},
    {Condition.CHANGE, Condition.CLOSE},
    {Condition.CHANGE, Condition.PERIODIC},
    {Condition.CLOSE},
    {Condition.PERIODIC, Condition.NON_EMPTY},
)


def draw_window(rng: random.Random, name: str) -> Window:
    """Draw a window over a stream: short, and mostly of time."""
    kind = rng.choices([WindowKind.TIME, WindowKind.RANGE, WindowKind.NOW], [12, 5, 1])[0]
    if kind is WindowKind.NOW:
        return Window(name, kind)
    size = rng.randint(1, 6)
    return Window(name, kind, size, rng.choice([1, 2, 3, size, size + 1]))


def draw_query(rng: random.Random, names: str) -> Query:
    """Draw a query over some streams, each of which has a window; all windows are named, or none
    is.
    """
    over = rng.sample([*names, rng.choice(names)], len(names) + rng.randint(0, 1))
    windows = [draw_window(rng, name) for name in over]
    marked = rng.randrange(len(windows))
    is_named = rng.random() < 0.5
    given = []
    for number, each in enumerate(windows):
        table = {**vars(each), "triggers": number == marked or rng.random() < 0.5}
        if is_named:
            table["name"] = f"urn:w{number}"
        given.append(Window(**table))
    return Query(tuple(given), Body(rng.choice(BODIES_OF_NAMED if is_named else BODIES)))


def draw_semantics(rng: random.Random) -> Semantics:
    """Draw a semantics, mostly one with content change."""
    report = rng.choice(REPORTS)
    is_periodic = Condition.PERIODIC in report
    operator = rng.choice(list(R2S))
    scope = rng.choice(list(ChangeScope))
    if operator is R2S.APPEND:
        scope = ChangeScope.ELEMENTS
    return chosen(
        t0=rng.choice([0, 1, T0.FIRST]),
        closure=rng.choice(list(Closure)),
        report=frozenset(report),
        period=rng.randint(2, 5) if is_periodic else None,
        anchor=rng.choice([0, Anchor.T0, Anchor.FIRST, Anchor.FIRST]) if is_periodic else None,
        trigger=rng.choice(list(Trigger)),
        change_scope=scope,
        change_baseline=rng.choice([*ChangeBaseline, ChangeBaseline.LAST]),
        tick=rng.choice([Tick.TUPLE, Tick.TIME]),
        r2s=operator,
        base="previous" if operator in (R2S.ISTREAM, R2S.DSTREAM) else None,
        empty=rng.choice(list(Empty)),
        horizon=rng.choice([End.NONE, End.FLUSH]),
    )


def draw_streams(rng: random.Random, names: str) -> dict[str, Stream]:
    """Draw streams of 30 elements in all, of which one may be rare, or begin late, and of which
    several may come at an instant. Few triples are told apart, so that graphs come again.
    """
    steps = rng.choice([[0, 1, 2], [1, 1, 4], [0, 2, 5], [1], [0, 1, 12]])
    weights = [rng.choice([1, 1, 4, 12]) for _ in names]
    late = rng.choice([0, 0, 20])
    elements: dict[str, list[tuple]] = {name: [] for name in names}
    for number, at in enumerate(accumulate(rng.choices(steps, k=30))):
        name = rng.choices(names, weights)[0]
        if number < late:
            name = names[0]
        graph = [(f"<urn:{rng.choice('abc')}>", P, "<urn:a>")] * rng.randint(0, 1)
        elements[name].append((frozenset(graph), at))
    return {name: stream(some) for name, some in elements.items()}


def test_parts_of_several_streams_have_the_reports_of_the_whole():
    rng = random.Random(0)
    said: Counter[str] = Counter()
    for _ in range(draws(50)):
        names = rng.choice(["sr", "sr", "sru"])
        streams = draw_streams(rng, names)
        query = draw_query(rng, names)
        picked = draw_semantics(rng)
        # where elements are, also of several streams, and where none is
        instants = [element.app for some in streams.values() for element in some]
        cuts = sorted(rng.sample(range(min(instants) + 1, max(instants) + 1), 3))
        said[agree(query, streams, picked, frozenset(), cuts, answer=r2r.defined_answer)] += 1
    assert said["in parts, some not from the beginning"] > said.total() / 2, said
