"""Elements that come one at a time give the reports of the streams given whole (ENG-8), each as
soon as nothing that may still come can change it.
"""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from refusals import refusal
from sections import check_all, each_section
from test_laws import ANSWERS, Trial, trials

from conformance import corpus
from refengine import Engine, Relation, Stream, equal, from_table, incremental, profile, stream
from refengine.core import engine as core
from refengine.core import growing, r2r
from refengine.core.arrivals import order_of_pushes
from refengine.core.engine import Report
from refengine.core.semantics import Semantics
from refengine.incremental import engine as pushing
from refengine.model.elements import Element
from refengine.model.errors import (
    InvalidQuery,
    InvalidSemantics,
    InvalidStream,
    RefengineError,
    Unsupported,
)

A = ("<urn:a>", "<urn:p>", "<urn:x>")
TUMBLING = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
BODY = "SELECT ?s { ?s ?p ?o }"


def query(*windows: dict, **more: object):
    return from_table({"body": BODY, "windows": [TUMBLING, *windows], **more})


def chosen(**fields: object) -> Semantics:
    return profile("csparql").but(**{"t0": 0} | fields).semantics()


def at(app: int, sys: int) -> Element:
    return Element(frozenset([A]), app, sys)


def answer(body, dataset) -> Relation:
    return Relation(body.variables, ANSWERS[body](dataset))


def reports_or_rule(trial: Trial) -> list[Report] | str:
    """The reports of the streams given whole, or the rule by which they are refused."""
    try:
        return trial.reports()
    except RefengineError as error:
        return error.rule


def needs_whole_streams(trial) -> bool:
    """Whether windows lie where the last element says, which pushes cannot know."""
    return trial.semantics.offset in ("last-element", "day-end")


@given(trials(), st.booleans())
def test_pushes_give_the_reports_of_whole_streams(trial, advances):
    """Together they are the same. What has been given so far is their beginning, whatever comes
    then; over one stream without disorder it is all that the elements so far give.

    `advances`: before each push time advances to the least instant that is still to come.
    """
    arrivals = order_of_pushes(trial.query, trial.streams, trial.semantics)
    trial = trial.arriving(arrivals)
    whole = reports_or_rule(trial)
    at_once = len({spec.stream for spec in trial.query.windows}) == 1
    at_once &= trial.semantics.allowed_lateness == "reject"
    reports: list[Report] = []
    try:
        engine = Engine(trial.query, trial.streams, trial.semantics, answer=answer)
        for number, (name, element) in enumerate(arrivals):
            if advances:
                reports += engine.advance(min(e.app for _, e in arrivals[number:]))
            reports += engine.push_element(name, element)
            if not isinstance(whole, str):
                assert reports == whole[: len(reports)]
                if at_once:
                    so_far = trial.but(horizon="none").arriving(arrivals[: number + 1])
                    assert reports == so_far.reports()
        reports += engine.finish()
    except RefengineError as error:
        event("refused")
        assert error.rule == whole or needs_whole_streams(trial)
        return
    event("reports" if reports else "no report")
    assert reports == whole


@pytest.fixture
def forgetful(monkeypatch):
    """Elements are forgotten as soon as none needs them, and not some thousand later."""
    for module in (growing, pushing):
        monkeypatch.setattr(module, "FORGOTTEN_AT_ONCE", 1)
    monkeypatch.setattr(growing, "CHUNK", 1)
    # `if count >= max(FORGOTTEN_AT_ONCE, len(items) // 4)` would wait for a quarter
    monkeypatch.setattr(growing.GrowingList, "forget_before", forget_at_once)


def forget_at_once(self, index: int) -> None:
    count = index - self.number_forgotten
    if count > 0:
        del self.items[:count]
        self.number_forgotten = index


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trials(), st.booleans())
def test_what_is_forgotten_changes_no_report(forgetful, trial, is_evaluator):
    """Also not the contents of reports that were kept, which are read at the end."""
    arrivals = order_of_pushes(trial.query, trial.streams, trial.semantics)
    trial = trial.arriving(arrivals)
    setting = trial.query, trial.streams, trial.semantics
    try:
        whole = list(core.evaluate(*setting, answer=r2r.defined_answer))
    except RefengineError as error:
        whole = error.rule
    reports: list[Report] = []
    try:
        engine = Engine(*setting, answer=r2r.defined_answer if is_evaluator else None)
        for name, element in arrivals:
            reports += engine.push_element(name, element)
        reports += engine.finish()
    except RefengineError as error:
        assert error.rule == whole or needs_whole_streams(trial)
        return
    is_forgetting = any(growing.elements.number_forgotten for growing in engine._arrivals.growing)
    event("forgets" if is_forgetting else "keeps all")
    if is_evaluator:
        assert reports == whole
        return
    assert not isinstance(whole, str) and len(reports) == len(whole)
    for ours, theirs in zip(reports, whole, strict=True):
        assert replace(ours, relation=theirs.relation) == theirs
        assert equal(ours.relation.rows, theirs.relation.rows)


@pytest.mark.parametrize("kind", ["unbounded", "landmark"])
def test_what_came_before_the_first_window_is_kept_where_a_window_holds_it(forgetful, kind):
    """By hand, WIN-13: t0 is 0. With 6 the change at 4 is reported: the unbounded window holds the
    elements at -3 and -2, and the landmark window does not.
    """
    semantics = chosen(report="content-change")
    engine = Engine(query({"stream": "s", "kind": kind}), ["s"], semantics)
    for time in (-3, -2, 4):
        engine.push(A, time)
    *_, report = engine.push(A, 6)
    expected = [-3, -2, 4] if kind == "unbounded" else [4]
    assert [[e.app for e in content] for content in report.contents] == [[4], expected]


KEPT = {
    "time": ({"kind": "time", "size": 100, "slide": 10}, {}),
    "hopping": ({"kind": "time", "size": 10, "slide": 100}, {}),
    "tuple": ({"kind": "tuple", "size": 50, "slide": 7}, {}),
    "range": ({"kind": "range", "size": 100, "slide": 10}, {}),
    "rows": ({"kind": "rows", "size": 50}, {"closure": None, "report": "content-change"}),
    "partition": (
        {"kind": "partition", "size": 3, "by": ["subject"]},
        {"closure": None, "report": "content-change"},
    ),
    "late": ({"kind": "time", "size": 100, "slide": 10}, {"allowed_lateness": 20}),
    "batch": ({"kind": "time", "size": 100, "slide": 10}, {"tick": "batch"}),
    "of the graph": (
        {"kind": "time", "size": 100, "slide": 10},
        {
            "report": "content-change",
            "change_scope": "graph",
            "change_baseline": "previous-instant",
        },
    ),
}


@pytest.mark.parametrize("is_interval", [False, True])
@pytest.mark.parametrize("name", KEPT)
def test_a_bounded_number_of_elements_is_kept(name: str, is_interval: bool):
    """A window holds at most 100 elements here, and some thousand are forgotten at a time."""
    window, fields = KEPT[name]
    asked = from_table({"windows": [window | {"stream": "s"}], "body": "ASK {}"})
    engine = Engine(asked, ["s"], chosen(**fields))
    for n in range(5_000):
        late = 1 if n % 7 == 0 and "allowed_lateness" in fields else 0
        graph = (f"<urn:a{n % 5}>", "<urn:p>", f'"{n}"')
        app = n - 30 * late if n > 30 else n
        engine.push(graph, app, batch=n + 1, end=app + 20 if is_interval else None)
    arrivals = engine._arrivals
    (growing,) = arrivals.growing
    kept = [
        growing.times,
        growing.ids,
        growing.ends,
        arrivals.arrivals,
        arrivals.own,
        arrivals.late,
    ]
    assert max(len(values.items) for values in kept) < 2_500
    assert sum(map(len, growing.elements.chunks)) < 2_500


@pytest.mark.long
def test_a_hundred_thousand_pushes_need_no_more_memory_than_three_thousand():
    """What is allocated at the end is less than a hundredth of what keeping them would take, which
    was 84 MB.
    """
    asked = from_table(
        {"windows": [TUMBLING | {"size": 100}], "body": "SELECT ?o { ?s <urn:p> ?o }"}
    )
    engine = Engine(asked, ["s"], chosen())
    graphs = [frozenset([("<urn:a>", "<urn:p>", f'"{n}"')]) for n in range(10)]

    def push(numbers: range) -> int:
        for n in numbers:
            engine.push_element("s", Element(graphs[n % 10], n, n + 1))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    push(range(3_000))
    tracemalloc.start()
    before = push(range(3_000, 6_000))
    tracemalloc.stop()
    push(range(6_000, 97_000))
    tracemalloc.start()
    after = push(range(97_000, 100_000))
    tracemalloc.stop()
    assert after < before + 300_000
    assert sum(map(len, engine._arrivals.growing[0].elements.chunks)) < 3_000


def test_positions_are_counted():
    """By hand: 12 closes [0, 10). An element with its own place goes before, and one after."""
    engine = Engine(query(), ["s"], chosen())
    assert engine.push(A, 3) == engine.push([A], 4) == []
    engine.push_element("s", at(5, 7))
    (report,) = engine.push(frozenset([A]), 12)
    assert [(e.app, e.sys) for e in report.contents[0]] == [(3, 1), (4, 2), (5, 7)]
    assert str(engine.provenance) == "incremental"


def test_the_stream_is_named_where_there_are_several():
    engine = Engine(query(), ["s", "r"], chosen())
    assert engine.push(A, 3, stream="s") == []
    with pytest.raises(InvalidStream, match=r"ENG-8: the engine has 2 streams; write push\(graph"):
        engine.push(A, 4)
    with pytest.raises(InvalidQuery, match=r"QRY-4.*undeclared stream 'x'"):
        engine.push(A, 4, stream="x")


def test_the_evaluator_is_computed_on_request():
    """R2R-5: it is confirmed by the witnesses, and by default no witness is asked."""
    for options, words in (
        ({}, "incremental"),
        ({"definition": True}, "the SPARQL evaluator: it was asked for"),
    ):
        engine = Engine(query(), ["s"], chosen(), **options)  # type: ignore[arg-type]
        engine.push(A, 3)
        (report,) = engine.push(A, 12)
        assert len(report.relation.rows) == 1
        assert str(engine.provenance) == words


def test_the_old_keyword_of_a_query_still_works():
    with pytest.warns(DeprecationWarning, match=r"is old: write from_table"):
        assert from_table(table={"windows": [TUMBLING], "body": BODY}) == query()  # type: ignore[call-overload]


def test_disorder_waits_until_nothing_can_come_before():
    """By hand: up to 3 late. 14 is complete when 17 has come; then 9, 12 and 14 have their places.
    [0, 10) is closed by 12, so it is reported with the push of 17, and not before.
    """
    engine = Engine(query(), ["s"], chosen(allowed_lateness=3))
    given = [
        [r.window for r in engine.push_element("s", at(app, n))]
        for n, app in enumerate((9, 14, 12), 1)
    ]
    assert given == [[], [], []]
    assert [r.window for r in engine.push_element("s", at(17, 4))] == [(0, 10)]
    assert [r.window for r in engine.finish()] == [(10, 20)]


def test_time_that_advances_completes_arrivals():
    """By hand: with 12 waiting for what may be up to 3 late, time comes to 12, and it arrives."""
    engine = Engine(query(), ["s"], chosen(allowed_lateness=3))
    assert engine.push_element("s", at(9, 1)) == engine.push_element("s", at(12, 2)) == []
    assert engine.advance(11) == []
    assert [r.window for r in engine.advance(12)] == [(0, 10)]
    with pytest.raises(InvalidStream, match=r"ENG-8.*is before 12, to which time has advanced"):
        engine.push_element("s", at(11, 3))


def test_a_window_waits_for_the_first_element_of_its_stream():
    """By hand: t0 is each stream's first element. Until r has one, it is open when r's windows
    open, and nothing is reported of s either.
    """
    engine = Engine(query(TUMBLING | {"stream": "r"}), ["s", "r"], chosen(t0="first-element"))
    assert engine.push_element("s", at(3, 1)) == engine.push_element("s", at(14, 2)) == []
    assert [r.windows for r in engine.push_element("r", at(15, 3))] == [((3, 13), None)]


def test_what_cannot_be_pushed():
    """The other refusals of a push are in test_refusals.py."""
    engine = Engine(query(), ["s", "unread"], chosen(horizon=20))
    engine.push_element("s", at(5, 2))
    assert engine.push_element("unread", at(1, 3)) == []
    with pytest.raises(InvalidStream, match=r"'unread': element 2: MOD-1.*t_sys must increase"):
        engine.push_element("unread", at(1, 3))
    with pytest.raises(InvalidStream, match=r"MOD-1.*t_sys must increase"):
        engine.push_element("s", at(6, 2))
    with pytest.raises(InvalidStream, match=r"MOD-2.*t_app decreases from 5 to 4"):
        engine.push_element("s", at(4, 4))
    engine.finish()
    with pytest.raises(InvalidStream, match=r"ENG-8.*the streams have ended"):
        engine.push_element("s", at(7, 6))


def test_an_element_without_a_batch_id_changes_nothing_under_the_batch_tick():
    """TICK-3, ENG-8: it is refused before it joins, so the engine goes on with the next one. On a
    stream without a window no batch id is needed.
    """
    engine = Engine(query(), ["s", "other"], chosen(tick="batch"))
    with pytest.raises(InvalidSemantics, match="stream 's': element 1: TICK-3: the batch tick"):
        engine.push_element("s", at(4, 1))
    assert engine.push_element("other", at(2, 2)) == []

    first = at(3, 3)._replace(batch=1)
    assert engine.push_element("s", first) == []
    (report,) = engine.push_element("s", at(10, 4)._replace(batch=2))
    assert report.window == (0, 10) and report.contents == ((first,),)


def test_a_query_is_checked_when_it_is_registered():
    with pytest.raises(InvalidQuery, match="QRY-4"):
        Engine(query(), ["r"], chosen())


def test_whole_streams_are_a_fold_of_pushes():
    """By hand: [0, 10) with 3, closed by 12; [10, 20) with 12 and 19, closed by the flush."""
    engine = Engine(query(), ["s"], chosen())
    elements = stream([(A, 3), (A, 12), (A, 19)])
    reports = [r for e in elements for r in engine.push_element("s", e)] + engine.finish()
    assert [(r.window, len(r.contents[0])) for r in reports] == [((0, 10), 1), ((10, 20), 2)]
    assert isinstance(elements, Stream)


@each_section(case for case in corpus.cases() if "expect" in case.table)
def test_a_case_holds_by_pushes(cases):
    check_all(cases, corpus.by_pushes)


def test_an_error_of_an_evaluation_ends_the_engine():
    """Nothing is reported after reports that are not known; a refused element changes nothing."""

    def fails_at_b(body, dataset) -> Relation:
        if any("<urn:b>" in triple for triple in dataset):
            raise Unsupported("b", rule="R2R-17")
        return r2r.defined_answer(body, dataset)

    b = Element(frozenset([("<urn:b>", "<urn:p>", "<urn:x>")]), 12, 2)
    engine = Engine(query(), ["s"], chosen(), answer=fails_at_b)
    engine.push_element("s", at(3, 1))
    with pytest.raises(InvalidStream, match="MOD-2"):
        engine.push_element("s", at(2, 2))
    assert [r.window for r in engine.push_element("s", b)] == [(0, 10)]
    with pytest.raises(Unsupported):
        engine.push_element("s", at(25, 3))
    for ask in (
        lambda: engine.push_element("s", at(26, 4)),
        lambda: engine.advance(30),
        engine.finish,
    ):
        message = (
            r"ENG-8.*broke down at an earlier call, "
            r"with Unsupported: window \[10, 20\) at 19: R2R-17: b"
        )
        with pytest.raises(InvalidStream, match=message):
            ask()


def test_what_was_maintained_is_counted_from_the_first_evaluation_that_is_not_left_out():
    """ENG-6: RAND is not covered, so that nothing is."""
    body = "SELECT * { ?s ?p ?o FILTER(RAND() < 2) }"
    asked = from_table({"body": body, "windows": [TUMBLING]})
    planned = core.plan(asked, {"s": stream([(A, 3), (A, 12), (A, 25)])}, chosen())
    run = incremental.evaluate_plan(asked, planned, skip=2)
    assert len(list(run)) == 1
    assert str(run.provenance).startswith("the SPARQL evaluator: ")


def test_a_content_is_the_same_whether_intervals_have_come_or_not():
    """By hand, REP-2 and TICK-6: an element is seen when time has passed it. 3 passes 1, at 1; at 2
    nothing is new, and that the next element is an interval does not make it so.
    """
    elements = stream([(A, 1), (A, 3), (A, 4, None, 5), (A, 6)])
    semantics = chosen(report="content-change", close_rule="passed", tick="tuple")
    whole = [(r.evaluation, r.trigger) for r in core.evaluate(query(), {"s": elements}, semantics)]
    assert whole == [(1, 3), (3, 6), (4, 6), (6, 18), (10, 18)]
    engine = Engine(query(), ["s"], semantics)
    reports = [r for e in elements for r in engine.push_element("s", e)] + engine.finish()
    assert [(r.evaluation, r.trigger) for r in reports] == whole


@pytest.mark.parametrize(
    ("instant", "reason"),
    [
        (1.5, "time advances to an integer, got 1.5"),
        (True, "time advances to an integer, got True"),
        ("x", "time advances to an integer, got 'x'"),
        (None, "time advances to an integer, got None"),
        (2**63, f"the instant must be within 64 bits, got {2**63}"),
    ],
)
def test_time_advances_to_an_instant(instant, reason):
    message = refusal(lambda: Engine(query(), ["s"], chosen()).advance(instant), InvalidStream)
    assert message == f"MOD-1: {reason}"


def test_the_first_element_may_have_any_place():
    engine = Engine(query(), ["s"], chosen())
    assert engine.push_element("s", at(3, -(2**63))) == []
