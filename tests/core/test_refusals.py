"""What the core refuses, with the whole of each message: its place, its rule and its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from refusals import refusal

from refengine import (
    Between,
    Body,
    Element,
    InvalidSemantics,
    Query,
    Relation,
    UnknownField,
    Window,
    evaluate,
    from_table,
    incremental,
    profile,
    stream,
)
from refengine.core import plan, r2r, report
from refengine.core.arrivals import Arrivals
from refengine.core.profile import OneOf
from refengine.core.query import Unit, WindowKind
from refengine.core.semantics import OPTIONAL, parse_field, show
from refengine.core.values import Condition
from refengine.model.elements import Stream
from refengine.model.errors import RefengineError
from refengine.model.messages import display
from refengine.oracle.judge import judge
from refengine.oracle.trial import Missing

BODY = "SELECT ?x { ?x <urn:p> ?y }"
TIME = {"stream": "s", "kind": "time", "size": 4, "slide": 2}


def table(*windows: object, **more: object) -> dict:
    return {"body": BODY, "windows": list(windows), **more}


KINDS = "time, tuple, range, rows, now, unbounded, partition, landmark"
QUERIES = [
    ({"windows": [TIME]}, "query: QRY-1: key 'body' is missing"),
    ({"body": BODY}, "query: QRY-1: key 'windows' is missing"),
    (table(TIME, bodi=1), "query: QRY-1: unknown key 'bodi'; did you mean 'body'?"),
    (table(TIME) | {"body": 3}, "query: QRY-1: body must be a string, got 3"),
    (table() | {"windows": "s"}, "query: QRY-1: windows must be an array, got 's'"),
    (table(TIME, registered=True), "query: QRY-1: registered must be an integer, got True"),
    (table(), "windows: QRY-1: a query has at least one window"),
    (table(TIME, "s"), "windows[1]: QRY-1: a window must be a table, got 's'"),
    (table({"kind": "time"}), "windows[0]: QRY-1: key 'stream' is missing"),
    (table({"stream": "s"}), "windows[0]: QRY-1: key 'kind' is missing"),
    (table(TIME | {"slid": 1}), "windows[0]: QRY-1: unknown key 'slid'; did you mean 'slide'?"),
    (table(TIME | {"stream": 1}), "windows[0]: QRY-1: stream must be a string, got 1"),
    (table(TIME | {"name": 1}), "windows[0]: QRY-1: name must be a string, got 1"),
    (table(TIME | {"triggers": 1}), "windows[0]: QRY-1: triggers must be true or false, got 1"),
    (table(TIME | {"by": "subject"}), "windows[0]: QRY-1: by must be an array, got 'subject'"),
    (
        table(TIME | {"unit": "element"}),
        "windows[0]: QRY-1: unit must be one of elements, triples, got 'element'; did you mean "
        "'elements'?",
    ),
]
NOW, PARTITION, UNBOUNDED = (
    {"stream": "s", "kind": kind} for kind in ("now", "partition", "unbounded")
)
WINDOWS = [
    (TIME | {"size": 0}, "WIN-1: size must be an integer > 0, got 0"),
    (TIME | {"size": True}, "WIN-1: size must be an integer > 0, got True"),
    (TIME | {"slide": "2"}, "WIN-1: slide must be an integer > 0, got '2'"),
    ({"stream": "s", "kind": "time", "size": 4}, "WIN-1: slide must be an integer > 0, got None"),
    (NOW | {"size": 4}, "WIN-1: a window of kind now has no size"),
    (UNBOUNDED | {"slide": 4}, "WIN-1: a window of kind unbounded has no slide"),
    (
        TIME | {"unit": "triples"},
        'WIN-16: a window of kind time does not count triples; write unit = "elements"',
    ),
    (
        PARTITION | {"size": 2},
        "WIN-15: a window of kind partition needs by, a list of subject, predicate, object or "
        "predicate IRIs; without it write kind rows",
    ),
    (
        PARTITION | {"size": 2, "by": ["subjct"]},
        "WIN-15: by must name predicates by IRIs such as urn:p, or positions, got 'subjct'; did "
        "you mean 'subject'?",
    ),
    (TIME | {"name": "w"}, "QRY-1: name must be an absolute IRI, such as urn:w, got 'w'"),
]
QUERIES += [(table(window), f"window on 's': {message}") for window, message in WINDOWS]


@pytest.mark.parametrize(("wrong", "message"), QUERIES)
def test_a_table_that_is_no_query(wrong, message):
    assert refusal(lambda: from_table(wrong)) == message


def test_a_word_that_is_no_kind():
    message = refusal(lambda: from_table(table(TIME | {"kind": "tim"})))
    kinds = ", ".join(WindowKind)
    expected = f"kind must be one of {kinds}, got 'tim'; did you mean 'time'?"
    assert message == f"windows[0]: QRY-1: {expected}"


def test_a_table_that_is_a_query():
    windows = [
        TIME | {"name": "urn:w", "triggers": True},
        {"stream": "r", "kind": "partition", "size": 2, "by": ["subject", "urn:p"]},
        {"stream": "r", "kind": "rows", "size": 2, "unit": "triples"},
        {"stream": "r", "kind": "range", "size": 2},
    ]
    assert from_table(table(*windows, r2s="Istream", registered=-3)) == Query(
        (
            Window("s", WindowKind.TIME, 4, 2, name="urn:w", triggers=True),
            Window("r", WindowKind.PARTITION, 2, by=("subject", "urn:p")),
            Window("r", WindowKind.ROWS, 2, unit=Unit.TRIPLES),
            Window("r", WindowKind.RANGE, 2),
        ),
        Body(BODY),
        parse_field("r2s", "Istream"),
        -3,
    )
    spans = [(each.span, each.step) for each in from_table(table(*windows)).windows]
    assert spans == [(4, 2), (0, 1), (0, 1), (2, 1)]


PLAIN = profile("csparql").but(t0=0)
TRIPLE = ("<urn:a>", "<urn:p>", "<urn:b>")
OPEN = profile("csparql").but(closure="unknown")
COUNT = "must be an integer >= 0, or a Missing of two"
MAKE = "stream([(graph or triple, t_app), …])"
ITEM = "an element must be (graph or triple, t_app), with a batch id and an end if it has them, got"


def over(streams: object, semantics: object) -> Callable[[], object]:
    """Return what evaluates a query over the stream `s`."""
    query = from_table(table(TIME))
    return lambda: list(evaluate(query, streams, semantics))  # type: ignore[arg-type]


def incrementally(streams: object, semantics: object) -> Callable[[], object]:
    """Return what evaluates a query over the stream `s` incrementally."""
    query = from_table(table(TIME))
    return lambda: list(incremental.evaluate(query, streams, semantics))  # type: ignore[arg-type]


def judging(asked: object, **options: object) -> Callable[[], object]:
    """Return what judges a recording without relations over the empty stream `s`."""
    query = from_table(table(TIME))
    return lambda: judge(query, {"s": stream([])}, asked, [], **options)  # type: ignore[arg-type]


NO_SEMANTICS = [
    (OPEN, UnknownField, "profile 'csparql' leaves t0, closure unknown; give t0=… closure=…"),
    (
        PLAIN,
        InvalidSemantics,
        "the profile 'csparql' is given where a semantics is needed; write .semantics() after it",
    ),
    (
        None,
        InvalidSemantics,
        'a semantics must be a Semantics, got None; write profile("csparql").but(t0=0).semantics()',
    ),
]


@pytest.mark.parametrize("evaluating", [over, incrementally])
@pytest.mark.parametrize("streams", [{"s": stream([(TRIPLE, 3)])}, {"s": iter(())}])
@pytest.mark.parametrize(("semantics", "kind", "message"), NO_SEMANTICS)
def test_what_is_no_semantics(evaluating, streams, semantics, kind, message):
    assert refusal(evaluating(streams, semantics), kind) == f"SEM-3: {message}"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            over({"s": []}, PLAIN.semantics()),
            f"stream 's': MOD-1: a stream must be a Stream, got []; write {MAKE}",
        ),
        (
            incrementally({"s": [5]}, PLAIN.semantics()),
            f"element 1: MOD-1: must be an Element, got 5; {MAKE} makes a stream of elements",
        ),
        (
            lambda: Stream((Element(frozenset(), 1, 1), (TRIPLE, 3))),  # type: ignore[arg-type]
            f"element 2: MOD-1: must be an Element, got ({TRIPLE}, 3); {MAKE} makes a stream of "
            "elements",
        ),
        (lambda: stream([(TRIPLE, 0), (TRIPLE,)]), f"element 2: MOD-1: {ITEM} ({TRIPLE},)"),
        (
            lambda: judge(from_table(table(TIME)), {"s": stream([])}, PLAIN, [[{"x": "<urn:a>"}]]),  # type: ignore[list-item]
            "relation 1: MOD-4: must be a Relation, got [{'x': '<urn:a>'}]; write "
            'Relation(("x",), Counter([row({"x": "<urn:a>"}), …]))',
        ),
        (
            judging(PLAIN.semantics()),
            f"SEM-3: judge takes a Profile, of which it tries the open fields, got "
            f"{display(PLAIN.semantics())}; leave .semantics() out",
        ),
        *(
            (judging(PLAIN, missing=missing), f"missing: ORA-3: {COUNT}, got {missing!r}")
            for missing in (-1, True, Missing(0, -1))
        ),
        (lambda: stream([5]), f"element 1: MOD-1: {ITEM} 5"),  # type: ignore[list-item]
        (
            lambda: stream([(TRIPLE, 1, 2, 3, 4)]),
            f"element 1: MOD-1: {ITEM} ({TRIPLE}, 1, 2, 3, 4)",
        ),
        (lambda: Body(None), "body: QRY-1: body must be a string, got None"),  # type: ignore[arg-type]
        (
            lambda: PLAIN.but(period=Between(5, 4)),
            "ORA-2: period must be in a range with at least one value, got 5 to 4; write the lower "
            "end first, 4 to 5",
        ),
    ],
)
def test_values_of_another_type(make, message):
    assert refusal(make) == message


def test_too_many_reports_before_the_horizon():
    """The horizon is no element of the stream (ENG-1)."""
    semantics = PLAIN.but(report="window-close", horizon=99).semantics()
    streams = {"s": stream([(TRIPLE, 3)])}
    reports = evaluate(from_table(table(TIME)), streams, semantics, max_reports=5)
    assert refusal(lambda: list(reports)) == (
        "ENG-3: 48 reports exceed max_reports=5, in the gap between element 1 at 3 and the horizon "
        "at 99; add non-empty or content-change to the report, choose a later t0, or raise "
        "max_reports (--max-reports on the command line)"
    )


SEMANTICS = [
    ({"report": "periodic"}, "report is periodic but no period is given; write period=1000"),
    (
        {"report": "periodic", "period": 1},
        "report is periodic but no anchor is given; write anchor=0",
    ),
    ({"period": 3}, "period given, but report is not periodic; write period=none"),
    ({"anchor": 3}, "anchor given, but report is not periodic; write anchor=none"),
    ({"t0": "epoch"}, "t0 is epoch but no offset is given; write offset=0"),
    ({"offset": 0}, "offset given, but t0 is not epoch; write offset=none"),
    ({"r2s": "Dstream"}, "r2s is Istream or Dstream but no base is given; write base=previous"),
    ({"base": "previous"}, "base given, but r2s is not Istream or Dstream; write base=none"),
    ({"t0": "storm"}, "t0=storm is a formula over windows (o, c]; write closure=(] or an integer"),
    ({"report": "periodic", "period": 0, "anchor": 0}, "period must be > 0, got 0"),
    (
        {"report": "content-change", "missed_instants": "latest"},
        "missed_instants=latest needs instants to choose from: window-close or periodic; write "
        "missed_instants=all",
    ),
    (
        {"allowed_lateness": -1},
        "allowed_lateness must be >= 0, got -1; write allowed_lateness=reject",
    ),
]


@pytest.mark.parametrize(("fields", "reason"), SEMANTICS)
def test_values_that_mean_nothing_together(fields, reason):
    if "formula" in reason:
        reason += " t0"
    assert refusal(lambda: PLAIN.but(**fields).semantics()) == f"SEM-2: {reason}"


def test_values_that_just_mean_something():
    for fields in (
        {"report": "periodic", "period": 1, "anchor": 0},
        {"report": "periodic", "period": 1, "anchor": 0, "missed_instants": "latest"},
        {"allowed_lateness": 0},
        {"t0": "storm", "closure": "(]"},
        {"t0": "epoch", "offset": -1},
    ):
        semantics = PLAIN.but(**fields).semantics()
        shown = {name: show(getattr(semantics, name)) for name in fields}
        assert shown == {name: str(value) for name, value in fields.items()}


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (
            "",
            "unknown report condition ''; valid: content-change, non-empty, periodic, window-close",
        ),
        ("non-emty", "unknown report condition 'non-emty'; did you mean 'non-empty'?"),
        ([], "report must name at least one of window-close, content-change, non-empty, periodic"),
        (3, "report must name at least one of window-close, content-change, non-empty, periodic"),
    ],
)
def test_a_report_that_names_no_condition(report, message):
    refused_with = refusal(lambda: parse_field("report", report))
    conditions = ", ".join(Condition)
    message = message.replace("window-close, content-change, non-empty, periodic", conditions)
    assert refused_with == f"SEM-1: {message}"


def test_reports_and_open_fields():
    both = frozenset({Condition.CLOSE, Condition.NON_EMPTY})
    assert parse_field("report", "window-close, non-empty") == both
    assert parse_field("report", ["non-empty", "window-close"]) == both
    assert show(both) == "non-empty,window-close" and show(None) == "none"
    assert None in OneOf.every("base").values and None not in OneOf.every("tick").values
    assert "base" in OPTIONAL
    message = refusal(lambda: PLAIN.but(t0="unknown", tick="unknown").semantics())
    assert message == ("SEM-3: profile 'csparql' leaves t0, tick unknown; give t0=… tick=…")
    refused_with = refusal(lambda: PLAIN.but(tik="tuple"))
    assert refused_with == "SEM-1: unknown key 'tik'; did you mean 'tick'?"


# Plans


ROWS = {"stream": "s", "kind": "rows", "size": 2}
TUPLES = {"stream": "s", "kind": "tuple", "size": 2, "slide": 2}
PLANS = [
    (
        [TIME, TIME | {"stream": "r"}],
        {},
        "windows[1]: QRY-4: window on undeclared stream 'r'; declared: s",
    ),
    (
        [TIME | {"name": "urn:w"}] * 2,
        {},
        "windows[1]: QRY-4: two windows are named 'urn:w'; give each a name of its own",
    ),
    (
        [TIME, TUPLES],
        {},
        "QRY-5: a tuple-based window stands alone in its query, since its instants are ids and "
        "those of other windows are times; write kind rows",
    ),
    ([TIME], {"closure": "none"}, "QRY-5: windows with borders need a closure; write closure=[)"),
    ([ROWS], {"report": "non-empty"}, "QRY-5: no window has borders; write closure=none"),
    (
        [ROWS],
        {"closure": "none"},
        "QRY-5: a window of kind rows never closes; write report=content-change",
    ),
    (
        [TIME],
        {"t0": "registration"},
        "QRY-5: t0=registration needs the instant of registration; give the query its key "
        "registered",
    ),
    (
        [TIME],
        {"trigger": "explicit"},
        "QRY-5: trigger=explicit needs a window with triggers = true",
    ),
    ([TIME], {"horizon": 7}, "ENG-1: horizon 7 is not after the last element, at 7"),
]


@pytest.mark.parametrize(("windows", "fields", "message"), PLANS)
def test_a_plan_that_means_nothing(windows, fields, message):
    given = {"s": stream([(("<urn:a>", "<urn:p>", "<urn:b>"), 7)])}
    semantics = PLAIN.but(**fields).semantics()
    assert refusal(lambda: plan.plan(from_table(table(*windows)), given, semantics)) == message


def test_an_operator_that_the_query_states_needs_a_base():
    query = from_table(table(TIME, r2s="Istream"))
    assert refusal(lambda: plan.check_meaning(query, PLAIN.semantics())) == (
        "QRY-5: the query states Istream, which needs a base to compare with; write r2s=Istream "
        "base=previous"
    )


def test_the_arrival_at_the_horizon():
    """ENG-1: after all others, those dropped as late among them: t_sys and batch are one more."""
    query = from_table(table(TIME))
    times = [(5, 1, 3), (9, 2, 4), (7, 4, 6)]
    elements = [Element(frozenset(), *each) for each in times]
    for horizon, app in (("flush", 9 + 4 + 2), (20, 20)):
        semantics = PLAIN.but(horizon=horizon, allowed_lateness=0).semantics()
        planned = plan.plan(query, {"s": Stream(tuple(elements))}, semantics)
        assert planned.late == (elements[2],)
        assert planned.arrivals == (*elements[:2], Element(frozenset(), app, 5, 7))
    nothing = plan.plan(query, {"s": Stream(())}, PLAIN.but(horizon="flush").semantics())
    assert nothing.arrivals == ()
    stated = plan.plan(query, {"s": Stream(())}, PLAIN.but(horizon=3).semantics())
    assert stated.arrivals == (Element(frozenset(), 3, 1, 1),)
    none = plan.plan(
        query, {"s": Stream(tuple(elements[:2]))}, PLAIN.but(horizon="none").semantics()
    )
    assert none.arrivals == tuple(elements[:2])


def test_a_window_that_never_opens_is_timely_at_no_instant():
    (view,) = plan.plan(
        from_table(table(TIME)), {"s": Stream(())}, PLAIN.but(t0="first-element").semantics()
    ).views
    assert view.frame is None
    for name in ("window-close", "window-close,non-empty"):
        semantics = PLAIN.but(report=name).semantics()
        assert list(report.timely_instants(semantics, view, range(-5, 9), range(-5, 9))) == []


# Elements that are pushed


def pushing(*windows: dict, streams=("s",), **fields) -> Arrivals:
    semantics = PLAIN.but(**{"horizon": "none", **fields}).semantics()
    return Arrivals(from_table(table(*windows)), streams, semantics)


def element(at: int, sys: int, **more) -> Element:
    return Element(frozenset([("<urn:a>", "<urn:p>", "<urn:b>")]), at, sys, **more)


@pytest.mark.parametrize(
    ("stream_name", "pushed", "fields", "message"),
    [
        ("x", element(9, 9), {}, "QRY-4: element of undeclared stream 'x'; declared: r, s, unread"),
        ("s", (9, 9), {}, "MOD-1: an Element must be pushed, got (9, 9); write push(graph, time)"),
        (
            "r",
            element(9, 2),
            {},
            "stream 'r': element 1: ENG-8: t_sys must increase over all streams, got 2 after 2",
        ),
        (
            "r",
            element(4, 3),
            {},
            "stream 'r': element 1: ENG-8: t_app 4 is before 5, to which time has advanced; push "
            "the elements of all streams in the order of t_app, or evaluate the streams whole",
        ),
        (
            "s",
            element(12, 3),
            {"horizon": 12},
            "stream 's': element 3: ENG-1: horizon 12 is not after the last element, at 12",
        ),
    ],
)
def test_an_element_that_cannot_be_pushed(stream_name, pushed, fields, message):
    arrivals = pushing(TIME, TIME | {"stream": "r"}, streams=("s", "r", "unread"), **fields)
    arrivals.push("s", element(3, 1))
    arrivals.push("s", element(5, 2))
    assert refusal(lambda: arrivals.push(stream_name, pushed)) == message
    assert arrivals.push("unread", element(1, 3)) == range(2, 2)  # not a trace of it is left


def test_nothing_follows_the_end():
    arrivals = pushing(TIME)
    arrivals.finish()
    said = "ENG-8: the streams have ended: no element and no instant can follow finish()"
    for follow in (
        lambda: arrivals.push("s", element(1, 1)),
        lambda: arrivals.advance(1),
        arrivals.finish,
    ):
        with pytest.raises(RefengineError) as refused:
            follow()
        assert str(refused.value) == said


def test_when_the_first_elements_of_all_windows_are_needed():
    """Without a t0, or where a period counts from the first element, arrivals wait for the other
    stream's first element.
    """
    two = (TIME, TIME | {"stream": "r"})
    periodic = {"report": "periodic", "period": 2}
    for fields, waits in (
        ({}, False),
        ({"t0": "first-element"}, True),
        ({**periodic, "anchor": 0}, False),
        ({**periodic, "anchor": "first-element"}, True),
    ):
        arrivals = pushing(*two, streams=("s", "r"), **fields)
        assert arrivals.push("s", element(3, 1)) == range(0, 0 if waits else 1)
        assert arrivals.push("r", element(3, 2)) == range(0 if waits else 1, 2)
        assert arrivals.advance(9) == range(2, 2) and arrivals.finish() == range(2, 2)


# R2R


def test_blank_nodes_of_static_data_are_marked_as_its_own():
    static = frozenset([("_:b", "<urn:p>", "_:c")])
    marked = frozenset([("_:static-b", "<urn:p>", "_:static-c")])
    (view,) = plan.plan(
        from_table(table(TIME)), {"s": stream([(("_:b", "<urn:p>", "_:b"), 1)])}, PLAIN.semantics()
    ).views
    found = r2r.dataset_of_windows([view], [range(0, 1)], static)
    assert found == marked | {("_:0-b", "<urn:p>", "_:0-b")}
    assert r2r.dataset_of_windows([view], [range(0)], static) == marked


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"one": "it cannot"}, "none has another; one has no say: it cannot"),
        ({"one": None}, "one differs"),
        ({"one": None, "two": "why"}, "one differs; two has no say: why"),
        ({"one": None, "two": None}, "one and two differ"),
    ],
)
def test_what_is_said_of_a_disputed_answer(others, said):
    relation, other = Relation(("x",), Counter()), Relation(("y",), Counter())
    others = {name: other if why is None else why for name, why in others.items()}
    error = r2r.dispute(relation, others)
    assert str(error) == f"R2R-5: no witness confirms the SPARQL evaluator's answer: {said}"
    differing = {name: answer for name, answer in others.items() if answer is other}
    assert error.answers == {r2r.EVALUATOR: relation, **differing}
