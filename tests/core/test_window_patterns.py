"""R2R-8: windows and named graphs are apart in a body with WINDOW, however it is answered."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refengine import Body, Query, Stream, Window, WindowKind, evaluate, from_table, profile, stream
from refengine.core import engine, r2r
from refengine.core.explain import explain
from refengine.incremental.engine import evaluate_incrementally
from refengine.incremental.parts import evaluate_in_parts
from refengine.model import compare
from refengine.model.elements import Bag, Dataset, row
from refengine.model.errors import InvalidQuery, Unsupported
from refengine.strategies import triples

P, Q = "<urn:p>", "<urn:q>"
A, B, C, V, W, G = (f"<urn:{name}>" for name in "abcvwg")
SEMANTICS = profile("csparql").but(t0=0).semantics()
WINDOWS = tuple(
    Window("s", WindowKind.TIME, size, 2, name=f"urn:{name}") for name, size in (("v", 4), ("w", 2))
)


def reports(body: str, elements, static: Dataset = frozenset(), windows=WINDOWS) -> list[Bag]:
    """The rows of each report, which both witnesses confirm."""

    def confirmed(of: Body, dataset: Dataset):
        heard = r2r.hear_witnesses(of, dataset)
        assert heard.confirming == ("rdflib", "pyoxigraph"), heard.others
        return heard.relation

    query = Query(tuple(windows), Body(body))
    found = evaluate(query, {"s": stream(elements)}, SEMANTICS, static=static, answer=confirmed)
    return [report.relation.rows for report in found]


def rows(*bindings: dict[str, str]) -> Bag:
    return Bag(map(row, bindings))


# a in [0, 4); the static graphs are :g, with what joins, and one with the name of the window
ONE = (Window("s", WindowKind.TIME, 4, 4, name="urn:v"),)
ELEMENTS = [((A, P, B), 1)]
STATIC = frozenset({(B, Q, C, G), (B, P, A, V), (C, Q, A)})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # GRAPH finds the static graphs alone, and WINDOW the window alone
        ("SELECT ?g { WINDOW :v { ?x :p ?y } GRAPH ?g { ?y ?p ?z } }", [{"g": G}, {"g": V}]),
        ("SELECT ?w ?x { WINDOW ?w { ?x :p ?y } }", [{"w": V, "x": A}]),
        ("SELECT ?x { WINDOW :v { ?x :p ?y } }", [{"x": A}]),
        ("SELECT ?x { GRAPH :v { ?x :p ?y } WINDOW :v { ?y :p ?x } }", [{"x": B}]),
        # one variable for both: a window and a graph have the name :v
        ("SELECT ?w { WINDOW ?w { ?x :p ?y } GRAPH ?w { ?y ?p ?z } }", [{"w": V}]),
        (
            "SELECT ?x { WINDOW :v { ?x :p ?y } FILTER EXISTS { GRAPH ?g { ?y :q ?z } } }",
            [{"x": A}],
        ),
        ("SELECT ?x { WINDOW :v { ?x :p ?y } FILTER EXISTS { GRAPH ?g { ?x :p ?y } } }", []),
        ("SELECT ?w { WINDOW ?w { ?x :p ?y } MINUS { GRAPH ?w { ?y :p ?x } } }", []),
        ("SELECT ?w { WINDOW ?w { ?x :p ?y } MINUS { WINDOW ?w { ?x :q ?y } } }", [{"w": V}]),
        (
            "SELECT ?g ?z { WINDOW :v { ?x :p ?y } GRAPH ?g { ?y (:p|:q)+ ?z } }",
            [{"g": G, "z": C}, {"g": V, "z": A}],
        ),
        (
            "SELECT * { { SELECT ?w (COUNT(*) AS ?n) { WINDOW ?w { ?x ?p ?y } } GROUP BY ?w } }",
            [{"w": V, "n": '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'}],
        ),
        ("SELECT * { WINDOW ?w { ?w :p ?y } }", []),
        (
            "SELECT * { VALUES ?w { :v :g } WINDOW ?w { ?x :p ?y } }",
            [{"w": V, "x": A, "y": B}],
        ),
        (
            "SELECT * { VALUES ?g { :v :g } GRAPH ?g { ?x :q ?y } "
            "OPTIONAL { WINDOW ?g { ?z ?p ?x } } }",
            [{"g": G, "x": B, "y": C}],
        ),
        # a variable that is named like those in the text for the witnesses
        ("SELECT ?w ?window0 { WINDOW ?w { ?x :p ?window0 } }", [{"w": V, "window0": B}]),
    ],
)
def test_graph_finds_graphs_and_window_finds_windows(body: str, expected: list[dict[str, str]]):
    """By hand: [0, 4) is the only window that is not empty, and is seen to close by the flush."""
    [found] = reports(f"PREFIX : <urn:> {body}", ELEMENTS, STATIC, ONE)
    assert found == rows(*expected)


def test_without_window_graph_finds_both():
    body = f"SELECT ?g ?x {{ GRAPH ?g {{ ?x {P} ?y }} }}"
    [found] = reports(body, ELEMENTS, frozenset({(C, P, B, G)}), ONE)
    assert found == rows({"g": V, "x": A}, {"g": G, "x": C})


@pytest.mark.parametrize(
    "body",
    [
        f"SELECT * {{ WINDOW {V} {{ GRAPH ?g {{ ?x ?p ?y }} }} }}",
        f"SELECT * {{ WINDOW ?w {{ ?x ?p ?y FILTER EXISTS {{ GRAPH {G} {{ ?x ?p ?y }} }} }} }}",
        f"SELECT * {{ WINDOW ?w {{ {{ SELECT ?x {{ GRAPH {G} {{ ?x ?p ?y }} }} }} }} }}",
    ],
)
def test_graph_within_window_is_unsupported(body: str):
    """An element has one graph, and no named ones."""
    with pytest.raises(Unsupported, match="R2R-8: GRAPH within a window's pattern") as raised:
        Body(body)
    assert raised.value.place == f"body line 1 column {body.index('GRAPH') + 1}"


def test_window_names_a_window_of_the_query():
    body = f"SELECT * {{ WINDOW {V} {{ ?x ?p ?y }} WINDOW <urn:x> {{ ?x ?p ?y }} }}"
    query = Query(ONE, Body(body))
    with pytest.raises(InvalidQuery, match="QRY-4: WINDOW <urn:x> names no window") as raised:
        engine.plan(query, {"s": stream(ELEMENTS)}, SEMANTICS)
    assert raised.value.place == f"body line 1 column {body.rindex('WINDOW') + 1}"


def test_a_table_has_the_same_body():
    table = {"stream": "s", "kind": "time", "size": 4, "slide": 4, "name": "urn:v"}
    body = f"SELECT ?g {{ WINDOW {V} {{ ?x {P} ?y }} GRAPH ?g {{ ?y ?p ?z }} }}"
    assert from_table({"windows": [table], "body": body}) == Query(ONE, Body(body))


def test_explain_says_who_reads_the_window():
    lines = explain(Query(ONE, Body("SELECT * { WINDOW ?w { ?x ?p ?y } }")))
    assert any("WINDOW <urn:v> reads its content, and GRAPH does not (R2R-8)" in x for x in lines)


# Held to bodies without WINDOW, over graphs whose names differ from those of windows


BODIES = (
    "SELECT * { WINDOW ?w { ?x <urn:p> ?y } GRAPH ?g { ?y ?p ?z } }",
    "SELECT * { WINDOW <urn:v> { ?x <urn:p> ?y } GRAPH ?g { ?y ?p ?z } }",
    "SELECT * { WINDOW <urn:v> { ?x <urn:p> ?y } WINDOW <urn:w> { ?y ?p ?z } GRAPH <urn:g> { } }",
    "SELECT * { GRAPH ?g { ?x <urn:p> ?y } OPTIONAL { WINDOW ?w { ?x <urn:q> ?z } } }",
    "SELECT * { WINDOW ?w { ?x <urn:p>+ ?y } MINUS { GRAPH ?g { ?y <urn:p>* ?x } } }",
    "SELECT * { WINDOW ?w { ?x <urn:p> ?y } FILTER NOT EXISTS { GRAPH ?g { ?y ?p ?z } } }",
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { WINDOW ?w { ?x <urn:p> ?y } } }",
    "SELECT ?w ?n { { SELECT ?w (COUNT(*) AS ?n) { WINDOW ?w { ?x ?p ?y } } GROUP BY ?w } }",
    "SELECT DISTINCT ?g { { WINDOW ?g { ?x ?p ?y } } UNION { GRAPH ?g { ?x ?p ?y } } }",
    "SELECT ?x { GRAPH ?g { WINDOW ?w { ?x ?p ?y } } }",
    "CONSTRUCT { ?g <urn:r> ?w } { WINDOW ?w { ?x ?p ?y } GRAPH ?g { ?x ?q ?z } }",
    "ASK { GRAPH ?g { ?x <urn:p> ?y } WINDOW ?w { ?y ?p ?x } }",
    "SELECT * { WINDOW ?w { } GRAPH ?g { } }",
    "SELECT * { VALUES ?g { <urn:v> <urn:g> } WINDOW ?w { ?x ?p ?y } GRAPH ?g { ?x ?p ?y } }",
)


def without_window(body: str) -> str:
    """The body without WINDOW, for data in which no graph has the name of a window."""
    names = "<urn:v>, <urn:w>"
    text = re.sub(r"WINDOW <", "GRAPH <", body)
    for word, test in (("WINDOW", "IN"), ("GRAPH", "NOT IN")):
        while match := re.search(rf"{word} (\?\w+) (?=\{{)", text):
            end, depth = match.end(), 0
            while True:
                depth += (text[end] == "{") - (text[end] == "}")
                end += 1
                if not depth:
                    break
            inner = text[match.end() : end]
            text = (
                f"{text[: match.start()]}{{ graph {match[1]} {inner} "
                f"FILTER({match[1]} {test} ({names})) }}{text[end:]}"
            )
    return text


def test_the_other_wording():
    assert without_window("ASK { WINDOW <urn:v> { } GRAPH ?g { } }") == (
        "ASK { GRAPH <urn:v> { } { graph ?g { } FILTER(?g NOT IN (<urn:v>, <urn:w>)) } }"
    )


FEW = st.lists(st.tuples(triples(), st.integers(0, 9)), min_size=1, max_size=5).map(
    lambda found: sorted(found, key=lambda each: each[1])
)
GRAPHS = st.frozensets(
    triples() | st.tuples(triples(), st.sampled_from([G, "<urn:h>"])).map(lambda x: (*x[0], x[1])),
    max_size=4,
)


@given(st.sampled_from(BODIES), FEW, GRAPHS)
def test_every_way_gives_the_answers_of_graphs_with_other_names(body, elements, static):
    """The engine, which a witness confirms, incremental evaluation, and parts."""
    streams = {"s": stream(elements)}
    other = Query(WINDOWS, Body(without_window(body)))
    query = Query(WINDOWS, Body(body))
    expected = list(evaluate(other, streams, SEMANTICS, static=static, answer=r2r.defined_answer))
    answered: list[Dataset] = []

    def defined(of: Body, dataset: Dataset):
        answered.append(dataset)
        return r2r.defined_answer(of, dataset)

    ways = [
        evaluate(query, streams, SEMANTICS, static=static, answer=defined),
        evaluate_incrementally(query, streams, SEMANTICS, static=static),
        evaluate_in_parts(query, streams, SEMANTICS, [3, 6], static=static),
    ]
    for way in ways:
        found = list(way)
        assert [report.windows for report in found] == [report.windows for report in expected]
        for one, right in zip(found, expected, strict=True):
            assert compare.equal(one.relation.rows, right.relation.rows)
    for dataset in answered:
        assert r2r.hear_witnesses(query.body, dataset).confirming


def test_a_stream_that_is_read_while_it_is_evaluated():
    body = f"SELECT ?w ?g {{ WINDOW ?w {{ ?x {P} ?y }} GRAPH ?g {{ ?y {Q} ?z }} }}"
    run = evaluate_incrementally(
        Query(ONE, Body(body)), {"s": iter(stream(ELEMENTS))}, SEMANTICS, static=STATIC
    )
    assert [report.relation.rows for report in run] == [rows({"w": V, "g": G})]


def test_an_empty_window_is_not_found():
    """[0, 4) is empty for :v where the only element is of another stream."""
    windows = (ONE[0], Window("r", WindowKind.TIME, 4, 4, name="urn:w"))
    query = Query(windows, Body("SELECT ?w { WINDOW ?w { } }"))
    streams = {"s": stream(ELEMENTS), "r": Stream(())}
    found = [r.relation.rows for r in evaluate(query, streams, SEMANTICS)]
    assert found == [rows({"w": V})]
