"""GRAPH, named windows and several windows over several streams, maintained: by hand, and drawn
beside the definition.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from body_trials import BodyTrial, draw_trial
from conftest import draws
from hypothesis import given, settings
from incremental_trials import P, agree, chosen, covered, trials

from refengine import Body, Query, from_table, incremental, stream
from refengine.core import engine, r2r
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.algebra.nodes import (
    MOST_COPIES,
    MaintainedGraphName,
    MaintainedNode,
    needs_triples,
)
from refengine.incremental.coverage import NotCovered
from refengine.incremental.maintained import AnswerDelta
from refengine.model import compare
from refengine.model.elements import Bag, Quad, Triple
from refengine.sparql import algebra
from refengine.sparql.datasets import DEFAULT_GRAPH
from refengine.sparql.values import DOUBLE, Number, number_term

A, B, C = "<urn:a>", "<urn:b>", "<urn:c>"
V, W = "<urn:v>", "<urn:w>"  # the names of two graphs


def changes_of(text: str, *names: str) -> tuple[MaintainedBody, Counter]:
    """Return a body over the default graph and named ones, and its answer, which follows it."""
    answer: Counter = Counter()
    body = MaintainedBody(Body(text), lambda row, n: answer.update({row: n}), names=names)
    return body, answer


def rows_of(answer: Counter) -> list[dict[str, str]]:
    return [dict(row) for row in sorted((+answer).elements())]


# By hand


def test_a_triple_is_in_its_graph_alone():
    body, answer = changes_of(f"SELECT * {{ ?x {P} ?y . GRAPH {W} {{ ?y {P} ?z }} }}", V, W)
    body.insert((A, P, B))
    for graph in (DEFAULT_GRAPH, V):
        body.insert((B, P, C), graph)
        assert not +answer
    body.insert((B, P, C), W)
    assert rows_of(answer) == [{"x": A, "y": B, "z": C}]
    body.retract((B, P, C), V)
    assert rows_of(answer) == [{"x": A, "y": B, "z": C}]
    body.retract((B, P, C), W)
    assert not +answer


def test_a_variable_has_the_name_of_each_graph():
    body, answer = changes_of(f"SELECT * {{ GRAPH ?g {{ ?x {P} ?y . ?y {P} ?z }} }}", V, W)
    for graph in (V, W, W):
        body.insert((A, P, B), graph)
    body.insert((B, P, C), W)  # (a, p, b) of the other graph is no partner
    assert rows_of(answer) == [{"g": W, "x": A, "y": B, "z": C}]
    body.insert((B, P, C), V)
    body.retract((A, P, B), W)
    assert len(rows_of(answer)) == 2  # once more it is there
    body.retract((A, P, B), W)
    assert rows_of(answer) == [{"g": V, "x": A, "y": B, "z": C}]


def test_a_variable_that_its_pattern_binds_is_joined_with_the_name():
    text = f"SELECT * {{ GRAPH ?g {{ ?x {P} ?y OPTIONAL {{ ?y {P} ?g }} }} }}"
    body, answer = changes_of(text, V, W)
    body.insert((A, P, B), W)
    assert rows_of(answer) == [{"g": W, "x": A, "y": B}]  # ?g was unbound
    body.insert((B, P, V), W)
    assert rows_of(answer) == [{"g": W, "x": B, "y": V}]  # ?g is another graph for ?x = a
    body.insert((B, P, W), W)
    assert {"g": W, "x": A, "y": B} in rows_of(answer)


@pytest.mark.parametrize("names", [(), (V,)])
def test_a_graph_that_is_never_there_has_no_solution(names: tuple[str, ...]):
    for name in (W, "?g"):
        text = f"SELECT ?x (COUNT(*) AS ?n) {{ GRAPH {name} {{ ?x {P} ?y }} }} GROUP BY ?x"
        body, answer = changes_of(text, *names)
        body.insert((A, P, B))
        body.flush()
        assert not answer


def test_what_has_a_solution_over_nothing_has_none_in_a_graph_that_is_empty():
    """The inner pattern is over another graph. (a, q, b) matches no pattern, but is a triple."""
    text = f"SELECT * {{ GRAPH {W} {{ GRAPH {V} {{ ?x {P} ?y }} }} }}"
    body, answer = changes_of(text, V, W)
    body.insert((A, P, B), V)
    assert not answer
    for _ in range(2):
        body.insert((A, "<urn:q>", B), W)
        assert rows_of(answer) == [{"x": A, "y": B}]
    body.insert((B, P, B), V)
    assert len(rows_of(answer)) == 2
    body.retract((A, "<urn:q>", B), W)
    assert len(rows_of(answer)) == 2  # once more it is there
    body.retract((A, "<urn:q>", B), W)
    assert not +answer


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        (f"?x {P} ?y", True),
        (f"?x {P}+ ?y", False),
        (f"?x {P}+ ?y . ?x {P} ?z", True),
        ("", False),
        (f"{{ ?x {P} ?y }} {{ ?x {P}* ?y }}", True),
        (f"{{ ?x {P}* ?y }} {{ ?x {P}* ?y }}", False),
        (f"{{ ?x {P} ?y }} UNION {{ ?x {P} ?z }}", True),
        (f"{{ ?x {P} ?y }} UNION {{ ?x {P}* ?z }}", False),
        (f"?x {P} ?y OPTIONAL {{ ?x {P}* ?z }}", True),
        (f"OPTIONAL {{ ?x {P} ?z }}", False),
        (f"?x {P} ?y MINUS {{ ?x {P}* ?z }}", True),
        (f"?x {P}* ?y MINUS {{ ?x {P} ?z }}", False),
        (f"?x {P} ?y FILTER(?x = ?y)", True),
        (f"?x {P}* ?y FILTER(?x = ?y)", False),
        (f"?x {P} ?y BIND(?x AS ?z)", True),
        ("BIND(1 AS ?z)", False),
        ("VALUES ?x { 1 }", False),
        (f"GRAPH {W} {{ ?x {P} ?y }}", False),
        (f"{{ SELECT DISTINCT ?x {{ ?x {P} ?y }} ORDER BY ?x LIMIT 1 }}", True),
        (f"{{ SELECT REDUCED ?x {{ ?x {P} ?y }} }}", True),
        (f"{{ SELECT ?x {{ ?x {P}* ?y }} }}", False),
        (f"{{ SELECT (COUNT(*) AS ?n) {{ ?x {P} ?y }} }}", False),
        (f"{{ SELECT ?x (COUNT(*) AS ?n) {{ ?x {P} ?y }} GROUP BY ?x }}", True),
        (f"{{ SELECT ?x (COUNT(*) AS ?n) {{ ?x {P}* ?y }} GROUP BY ?x }}", False),
    ],
)
def test_whether_a_pattern_needs_triples(text: str, needs: bool):
    """Where it does, the definition has no solution over nothing."""
    body = Body(f"SELECT * {{ {text} }}")
    assert isinstance(body.algebra.pattern, algebra.Project)
    assert needs_triples(body.algebra.pattern.pattern) is needs
    if needs:
        assert not r2r.defined_answer(body, frozenset()).rows


def test_the_name_of_a_graph_and_a_computed_term():
    child = MaintainedNode("xg", "x")
    node = MaintainedGraphName(child, "g", W)
    emitted: Counter = Counter()
    node.emit = lambda solution, count: emitted.update({solution: count})
    for name in (None, V, W):
        child.emit((A, name), 2)
    assert emitted == {(A, W): 4} and node.certain == {"x", "g"}
    with pytest.raises(NotCovered, match=r"^a computed term in place of a graph's name$"):
        child.emit((A, number_term(Number(DOUBLE, 1.0))), 1)


def test_most_copies_of_a_pattern():
    names = [f"<urn:{i}>" for i in range(MOST_COPIES)]
    body, answer = changes_of(f"SELECT * {{ GRAPH ?g {{ ?x {P} ?y }} }}", *names)
    body.insert((A, P, B), names[-1])
    assert rows_of(answer) == [{"g": names[-1], "x": A, "y": B}]
    with pytest.raises(NotCovered, match=r"^GRAPH over more than 1000 graphs$"):
        changes_of(f"SELECT * {{ GRAPH ?g {{ ?x {P} ?y }} }}", *names, W)


def two_windows(body: str, **window: Any) -> Query:
    """Return a query over a window without a name on s, and over a named one on r."""
    windows = [
        {"stream": "s", "kind": "range", "size": 3},
        {"stream": "r", "kind": "range", "size": 9, "name": "urn:w", **window},
    ]
    return from_table({"body": body, "windows": windows})


ON_CHANGE = {
    "report": "content-change",
    "partial": "reported",
    "r2s": "Istream",
    "base": "previous",
    "empty": "suppress",
}


def test_windows_over_two_streams_and_static_data_are_maintained():
    """:a is liked at 1 and tagged at 2 and 3, where :b is known to :c. The like goes before 5."""
    query = two_windows(
        "SELECT ?x ?z { ?x <urn:like> ?y . GRAPH <urn:w> { ?y <urn:tag> ?z } "
        "GRAPH <urn:friends> { ?z <urn:knows> ?x } }"
    )
    streams = {
        "s": stream([((C, "<urn:like>", A), 1)]),
        "r": stream([((A, "<urn:tag>", B), at) for at in (2, 3)] + [((A, "<urn:tag>", C), 5)]),
    }
    static = frozenset([(B, "<urn:knows>", C, "<urn:friends>"), (C, "<urn:knows>", C)])
    semantics = chosen(**ON_CHANGE)
    assert agree(query, streams, semantics, static) == "incremental"
    (report,) = incremental.evaluate(query, streams, semantics, static=static)
    assert report.evaluation == 2
    assert report.relation.rows == {(("x", C), ("z", B)): 1}


def test_one_named_window_grows_in_its_graph():
    query = from_table(
        {
            "body": "SELECT ?x { GRAPH <urn:w> { ?x <urn:p> ?y } }",
            "windows": [{"stream": "s", "kind": "unbounded", "name": "urn:w"}],
        }
    )
    streams = {"s": stream([((A, P, B), 1), ((B, P, B), 2), ((C, P, B), 4)])}
    assert agree(query, streams, chosen(**ON_CHANGE, closure="none")) == "incremental"


def test_a_cache_of_answers_does_not_join_a_named_window_in_the_default_graph():
    """The solutions of the whole stream are those of the default graph."""
    for name, text, rows in (
        ("urn:w", "SELECT ?x { ?x <urn:p> ?y }", {}),
        (None, "SELECT ?x { GRAPH ?g { ?x <urn:p> ?y } }", {}),
        ("urn:w", "SELECT ?x { GRAPH ?g { ?x <urn:p> ?y } }", {(("x", A),): 1}),
    ):
        window = {"stream": "s", "kind": "time", "size": 4, "slide": 4}
        if name:
            window["name"] = name
        query = from_table({"body": text, "windows": [window]})
        views = engine.plan(query, {"s": stream([((A, P, B), 1)])}, chosen()).views
        cache = incremental.AnswerCache(query, views, frozenset())
        assert cache((range(0, 1),)) == rows
        assert cache.supported_rows(range(0, 1)) is None


# Drawn


def statements_of(copies: Counter) -> frozenset[Triple | Quad]:
    """Return the dataset of counted pairs of a graph and a triple."""
    return frozenset((*triple, graph) if graph else triple for graph, triple in +copies)


def run(trial: BodyTrial, r: Random) -> int:
    """Insert and retract triples in three graphs, and compare the answer with the definition's.
    Return how many answers were compared.
    """
    body = Body(trial.text)
    delta = AnswerDelta(is_set=False, has_baseline=False)
    copies: Counter = Counter()
    compared = 0
    try:
        maintained = MaintainedBody(body, delta.change, names=(V, W))
        for _ in range(12):
            for _ in range(r.choice([1, 1, 2, 3])):
                at = r.choice((DEFAULT_GRAPH, V, W, W)), r.choice(trial.triples)
                if copies[at] and r.random() < 0.6:
                    copies[at] -= 1
                    maintained.retract(at[1], at[0])
                else:
                    copies[at] += 1
                    maintained.insert(at[1], at[0])
            maintained.flush()
            defined: Bag = r2r.defined_answer(body, statements_of(copies)).rows
            assert compare.equal(delta.now, defined), (trial.text, delta.now, defined)
            compared += 1
    except NotCovered:
        pass
    return compared


FORMS = (
    "GRAPH ?g { ?x <urn:p> ?y } ?x <urn:p> ?z",
    "{ GRAPH <urn:v> { ?x <urn:p> ?y } } UNION { ?x <urn:p> ?y }",
    "GRAPH <urn:v> { ?x <urn:p> ?y } GRAPH <urn:w> { ?y <urn:p> ?z }",
    "GRAPH ?g { ?x <urn:p> ?y OPTIONAL { GRAPH <urn:v> { ?y <urn:p> ?z } } { ?y <urn:p> ?x } }",
    "GRAPH ?g { GRAPH ?h { ?x <urn:p> ?y } }",
    "GRAPH ?x { ?x <urn:p> ?y }",
    "?x <urn:p> ?y OPTIONAL { GRAPH ?g { ?y <urn:p> ?z } }",
)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_answers_as_the_definition_does(form: str):
    """Over few triples, so that most answers have rows."""
    terms = (A, B, W)
    triples = tuple((subject, P, object_) for subject in terms for object_ in terms)
    for seed in range(5):
        for select in ("*", "?x (COUNT(*) AS ?n)"):
            group = "" if select == "*" else " GROUP BY ?x"
            text = f"SELECT {select} {{ {form} }}{group}"
            assert run(BodyTrial(text, triples), Random(seed)) == 12


def test_bodies_over_several_graphs_answer_as_the_definition_does():
    compared = 0
    for seed in range(draws(400)):
        r = Random(seed)
        compared += run(draw_trial(r, graphs=(V, W)), r)
    assert compared > 4 * draws(400)


NAMES = ("urn:w1", "urn:w2")
GRAPHS = ("<urn:w1>", "<urn:w1>", "<urn:w2>", "<urn:static>", "?g", "?g", "?x")


@settings(max_examples=draws(150))
@given(trials(covered(GRAPHS), NAMES))
def test_named_windows_and_graphs_are_as_the_definition_has_them(trial):
    agree(*trial)
