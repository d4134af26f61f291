"""Maintained bodies with all together: GRAPH, joins, expressions, LIMIT and property paths."""

from __future__ import annotations

from random import Random

import pytest
from conftest import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from incremental_trials import agree, chosen, trials
from incremental_trials import double as number
from mixed_trials import draw_mixed_trial
from test_bodies import run_maintained, run_supported
from test_graphs import NAMES, ON_CHANGE, A, B, C, P, V, W, changes_of, rows_of, run
from test_limits import Answer

from refengine import Body, from_table, incremental, stream
from refengine.core import r2r

Q, N = "<urn:q>", "<urn:n>"
DRAWS = max(60, draws(150))  # of fewer, the share that is covered says little
GRAPHS = ("<urn:w1>", "<urn:w1>", "<urn:w2>", "<urn:static>")


def test_bodies_over_several_graphs_answer_as_the_definition_does():
    """Of up to twelve answers each, more than half are covered."""
    compared = 0
    for seed in range(DRAWS):
        r = Random(seed)
        compared += run(draw_mixed_trial(r, graphs=(V, W)), r)
    assert compared > 6 * DRAWS


def test_bodies_over_the_default_graph_answer_as_the_definition_does():
    compared = {"maintained": 0, "supported": 0}
    for seed in range(DRAWS):
        r = Random(seed)
        trial = draw_mixed_trial(r)
        compared["maintained"] += run_maintained(trial, r)
        compared["supported"] += run_supported(trial, r)
    assert min(compared.values()) > 5 * DRAWS


MIXED = st.integers(0, 10**6).map(
    lambda seed: Body(draw_mixed_trial(Random(seed), graphs=GRAPHS).text)
)


@settings(max_examples=draws(100))
@given(trials(MIXED, NAMES))
def test_reports_over_several_windows_are_the_definitions(trial):
    agree(*trial, answer=r2r.defined_answer)


# By hand


@pytest.mark.parametrize(
    ("text", "rows", "rows_of_both"),
    [
        (
            "SELECT ?x (EXISTS { ?x <urn:q> ?z } AS ?e) { ?x <urn:p> ?y }",
            "a true | b false",
            "a true | b true",
        ),
        (
            "SELECT ?x ?e { ?x <urn:p> ?y BIND(!EXISTS { ?x <urn:q> ?y } && true AS ?e) }",
            "a false | b true",
            "a false | b false",
        ),
        (
            "SELECT ?e (COUNT(*) AS ?n) { ?x <urn:p> ?y } "
            "GROUP BY (EXISTS { ?x <urn:q> ?z } AS ?e)",
            "false 1 | true 1",
            "true 2",
        ),
        ("SELECT (SUM(IF(EXISTS { ?x <urn:q> ?z }, 2, 3)) AS ?n) { ?x <urn:p> ?y }", "5", "4"),
        (
            "SELECT ?x { ?x <urn:p> ?y } GROUP BY ?x HAVING(EXISTS { ?x <urn:q> ?z })",
            "a",
            "a | b",
        ),
        (
            "SELECT (COUNT(DISTINCT *) AS ?n) "
            "{ ?x <urn:p> ?y FILTER(EXISTS { ?x <urn:q> ?z } || ?x = <urn:b>) }",
            "2",
            "2",
        ),
        ("SELECT ?x { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q>+ ?z } }", "a", "a | b"),
    ],
)
def test_exists_in_any_expression(text: str, rows: str, rows_of_both: str):
    """:a has a :q. For a while :b has one, too."""
    answer = Answer(text)
    assert answer.after((A, P, C), (B, P, C), (A, Q, C)) == rows
    assert answer.after((B, Q, C)) == rows_of_both
    assert answer.after(without=((B, Q, C),)) == rows


def test_rounded_numbers_of_one_text_stay_apart_in_a_join():
    """The average of :a is exact, that of :b is rounded. Both are 0.5."""
    answer = Answer(
        "SELECT ?m { { SELECT (AVG(?v) AS ?m) { ?x <urn:n> ?v } GROUP BY ?x } <urn:c> <urn:p> ?y }"
    )
    tenths = [(B, N, number(text)) for text in ("0.3", "0.7")]
    assert answer.after((C, P, A), (A, N, number("0.5")), *tenths) == "0.5 | 0.5"
    assert answer.after(without=((A, N, number("0.5")),)) == "0.5"
    assert answer.after((C, P, B)) == "0.5 | 0.5"
    assert answer.after((A, N, number("0.5")), without=((C, P, A), *tenths)) == "0.5"


def test_a_path_is_over_its_graph():
    """A term reaches itself if it is in the graph, or stands in the body and the graph is there."""
    body, answer = changes_of(f"SELECT * {{ GRAPH {W} {{ ?x {P}* ?y }} }}", V, W)
    of_a, answer_of_a = changes_of(f"SELECT * {{ GRAPH {W} {{ {A} {P}* ?y }} }}", V, W)

    def flush() -> tuple[int, list]:
        body.flush()
        of_a.flush()
        return len(rows_of(answer)), rows_of(answer_of_a)

    for each in (body, of_a):
        each.insert((A, P, B), V)
        each.insert((A, P, B))
    assert flush() == (0, [])
    for each in (body, of_a):
        each.insert((B, P, C), W)
    assert flush() == (3, [{"y": A}])
    for each in (body, of_a):
        each.insert((A, P, B), W)
        each.retract((A, P, B), V)
    assert flush() == (6, [{"y": A}, {"y": B}, {"y": C}])
    for each in (body, of_a):
        each.retract((A, P, B), W)
        each.retract((B, P, C), W)
    assert flush() == (0, [])


def test_the_best_of_each_evaluation_over_two_streams_and_static_data():
    """The sensor with the greatest average that no alarm silences, and its room, by static data
    about what is part of what. From 4 to 6 :a is silent. At 6 the 30 of :b is too old, and at 7 the
    50 of :a.
    """
    query = from_table(
        {
            "body": "SELECT ?s ?room ?m { GRAPH <urn:values> "
            "{ SELECT ?s (AVG(?v) AS ?m) { ?s <urn:n> ?v } GROUP BY ?s } "
            "GRAPH <urn:rooms> { ?s <urn:p>+ ?room . ?room <urn:q> ?floor } "
            "FILTER NOT EXISTS { GRAPH ?g { ?alarm <urn:silences> ?s } } "
            "} ORDER BY DESC(?m) STR(?s) LIMIT 1",
            "windows": [
                {"stream": "s", "kind": "range", "size": 4, "name": "urn:values"},
                {"stream": "r", "kind": "range", "size": 2, "name": "urn:alarms"},
            ],
        }
    )
    values = [((A, N, number("20")), 1), ((B, N, number("30")), 2), ((A, N, number("50")), 3)]
    streams = {
        "s": stream([*values, ((B, N, number("25")), 6)]),
        "r": stream([((C, "<urn:silences>", A), 4)]),
    }
    desk, room = "<urn:desk>", "<urn:room>"
    static = frozenset(
        (*triple, "<urn:rooms>")
        for triple in ((A, P, desk), (desk, P, room), (B, P, room), (room, Q, "<urn:floor>"))
    )
    assert agree(query, streams, chosen(**ON_CHANGE), static) == "incremental"
    reports = list(incremental.evaluate(query, streams, chosen(**ON_CHANGE), static=static))
    best = [sorted(dict(row)["s"] for row in report.relation.rows) for report in reports]
    assert best == [[A], [B], [A], [B], [A], [B]]
