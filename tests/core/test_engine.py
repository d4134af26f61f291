"""What a report and a step show beside what a case says: variables, contents, and the answer behind
the output.
"""

from __future__ import annotations

from collections import Counter

import pytest

from refengine import InvalidQuery, evaluate, from_table, profile, row, stream
from refengine.core import engine
from refengine.core.evaluations import evaluations
from refengine.core.silence import notes_on_hidden_ranges
from refengine.model.errors import TooManyReports

QUERY = from_table(
    {
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
        "body": "SELECT ?y ?x { ?x <urn:p> ?y }",
        "r2s": "Istream",
    }
)
A, B = (("<urn:a>", "<urn:p>", "<urn:y>"), ("<urn:b>", "<urn:p>", "<urn:y>"))
STREAM = stream([(A, 3), (A, 13), (B, 14)])
SEMANTICS = profile("sparqlstream").but(t0=0, r2s="Istream", base="previous").semantics()
ROW_A, ROW_B = (row({"x": f"<urn:{name}>", "y": "<urn:y>"}) for name in "ab")


def test_a_relation_is_headed_by_the_variables_of_the_body():
    """R2R-2: in the order of the projection. [0, 10) holds a, [10, 20) a again and b, so that b
    alone is new.
    """
    found = [
        (r.relation.variables, r.relation.rows) for r in evaluate(QUERY, {"s": STREAM}, SEMANTICS)
    ]
    assert found == [(("y", "x"), Counter([ROW_A])), (("y", "x"), Counter([ROW_B]))]


def test_a_step_has_the_answer_and_the_output():
    """R2S-4, R2S-5: [20, 30) is not closed by an arrival; without its last element [10, 20) has the
    same answer as the window before, of which nothing is new, and under `suppress` that step is
    none that is emitted.
    """
    both = list(engine.steps(QUERY, engine.plan(QUERY, {"s": STREAM}, SEMANTICS)))
    assert [(s.answer, s.report.relation.rows, s.emitted) for s in both] == [
        (Counter([ROW_A]), Counter([ROW_A]), True),
        (Counter([ROW_A, ROW_B]), Counter([ROW_B]), True),
    ]
    same = list(
        engine.steps(QUERY, engine.plan(QUERY, {"s": stream([(A, 3), (A, 13)])}, SEMANTICS))
    )
    assert [(s.answer, s.report.relation.rows, s.emitted) for s in same] == [
        (Counter([ROW_A]), Counter([ROW_A]), True),
        (Counter([ROW_A]), Counter(), False),
    ]


def test_evaluations_can_be_left_out():
    """Four windows close, the last one at the horizon. Nothing but the first two is missing."""
    planned = engine.plan(QUERY, {"s": stream([(A, 3), (A, 13), (B, 23), (A, 33)])}, SEMANTICS)
    whole = list(engine.steps(QUERY, planned))
    rest = list(engine.steps(QUERY, planned, skip=2))
    assert [step.at for step in rest] == [step.at for step in whole[2:]]
    assert (len(whole), len(rest)) == (4, 2)


@pytest.mark.parametrize("horizon", ["flush", 24])
def test_too_many_reports_before_the_horizon_name_it(horizon: str | int):
    """ENG-1, ENG-3: flush is 2 + ω + 2. From 2 on a window of 20 closes at each instant, and the
    sentinel is no third element.
    """
    window = {"stream": "s", "kind": "time", "size": 20, "slide": 1}
    query = from_table({"body": "SELECT * {?x ?p ?o}", "windows": [window]})
    chosen = profile("csparql").but(t0=-20, horizon=horizon, report="window-close").semantics()
    reports = evaluate(query, {"s": stream([(A, 1), (A, 2)])}, chosen, max_reports=10)
    message = "in the gap between element 2 at 2 and the horizon at 24;"
    with pytest.raises(TooManyReports, match=message):
        list(reports)


def test_a_window_that_never_opens_has_no_number():
    """WIN-10: With t0 at the first element, a window over a stream without elements opens never."""
    windows = [
        {"stream": name, "name": f"urn:{name}", "kind": "time", "size": 10, "slide": 10}
        for name in "sr"
    ]
    query = from_table({"body": "SELECT * {GRAPH <urn:s> {?x ?p ?y}}", "windows": windows})
    semantics = profile("csparql").but(t0="first-element", horizon="none").semantics()
    streams = {"s": stream([(A, 3), (A, 13)]), "r": stream([])}
    [evaluation] = evaluations(engine.plan(query, streams, semantics))
    assert [held.n for held in evaluation.windows] == [0, None]


def test_a_plan_counts_the_arrivals_of_each_window():
    """ENG-5: of the first 0, 1, 2, 3 arrivals, which are a over s, b over r, a over s, how many are
    each window's own.
    """
    alone = engine.plan(QUERY, {"s": STREAM}, SEMANTICS)
    assert [list(counted) for counted in alone.counts] == [[0, 1, 2, 3]]
    two = from_table(
        {
            "windows": [{"stream": name, "kind": "time", "size": 10, "slide": 10} for name in "sr"],
            "body": "SELECT ?x { ?x <urn:p> ?y }",
        }
    )
    planned = engine.plan(two, {"s": stream([(A, 3), (A, 13)]), "r": stream([(B, 5)])}, SEMANTICS)
    assert [list(counted) for counted in planned.counts] == [[0, 1, 1, 2], [0, 0, 1, 1]]


@pytest.mark.parametrize(("declared", "words"), [("", "none"), ("r", "r"), ("tr", "r, t")])
def test_a_window_on_an_undeclared_stream_is_told_what_is_declared(declared: str, words: str):
    """QRY-4: s is not declared; the others are named in the order of the alphabet."""
    with pytest.raises(InvalidQuery) as error:
        engine.plan(QUERY, dict.fromkeys(declared, STREAM), SEMANTICS)
    assert (
        str(error.value) == f"windows[0]: QRY-4: window on undeclared stream 's'; declared: {words}"
    )


def test_a_range_with_a_lag_hides_what_it_could_see_before_its_first_window_ends():
    """WIN-12, WIN-20: [0, 10) without a lag ends at 9. With the lag 5 the element at 3 could be
    seen from 8 on, that at 4 from 9 on.
    """
    window = {"stream": "s", "kind": "range", "size": 10, "lag": 5}
    query = from_table({"windows": [window], "body": "SELECT ?x { ?x <urn:p> ?y }"})
    semantics = profile("csparql").but(t0=0, report="content-change").semantics()
    for at, notes in ((3, ["write t0=-1 or partial=reported"]), (4, [])):
        planned = engine.plan(query, {"s": stream([(A, at)])}, semantics)
        found = list(notes_on_hidden_ranges(planned))
        assert len(found) == len(notes) and all(map(str.__contains__, found, notes))


TIMES = """
    SELECT (<http://larkc.eu/csparql/sparql/jena/ext#timestamp>(?x, ?p, ?y) AS ?t)
    WHERE { ?x ?p ?y }
"""


def times_of(streams):
    """Return the times that the one report over windows [0, 10) of all the streams shows."""
    query = from_table(
        {
            "windows": [
                {"stream": name, "kind": "time", "size": 10, "slide": 10} for name in streams
            ],
            "body": TIMES,
        }
    )
    [report] = evaluate(query, streams, profile("csparql").but(t0=0).semantics())
    return sorted((value[1:2], count) for ((_, value),), count in report.relation.rows.items())


def test_a_blank_node_of_another_stream_has_a_time_of_its_own():
    """R2R-8, R2R-21: the label _:b stands for two nodes, so there are two triples, each with the
    time of its own element; in one stream it is one triple, with the later time.
    """
    triple = ("_:b", "<urn:p>", "<urn:y>")
    assert times_of({"s": stream([(triple, 3)]), "r": stream([(triple, 7)])}) == [
        ("3", 1),
        ("7", 1),
    ]
    assert times_of({"s": stream([(triple, 3), (triple, 7)])}) == [("7", 1)]
