"""Datasets with static data: the answers are those over the set of all statements, and the static
part is indexed and loaded once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from refengine import Body, from_table, literal, profile, row, stream
from refengine.core import engine, r2r
from refengine.incremental import evaluate
from refengine.model import compare
from refengine.model.elements import XSD, Dataset, Relation
from refengine.sparql import datasets
from refengine.sparql.datasets import (
    DEFAULT_GRAPH,
    DatasetOverStatic,
    changing_part,
    index_graphs,
    static_part,
    times_of_triples,
    triples_by_graph,
)
from refengine.sparql.witnesses import pyoxigraph_witness, rdflib_witness
from refengine.sparql.witnesses.pyoxigraph_witness import FEW_STATEMENTS, StoreOverStatic

P, Q = "<urn:p>", "<urn:q>"
A, B, C, W = "<urn:a>", "<urn:b>", "<urn:c>", "<urn:w>"
TIME = literal("5", XSD + "integer")

STATIC = frozenset([(A, P, B), (B, Q, C), (A, P, B, W), (B, P, "_:x", "<urn:static>")])
# (a, p, b) is static, too; (b, p, c) is in a graph that has static triples, too
CHANGING = frozenset([(A, P, B), (B, P, C), (B, P, C, W), (C, Q, A, "<urn:v>")])
DATASET = DatasetOverStatic.of(STATIC, CHANGING)
EVALUATORS = (r2r.EVALUATOR, *r2r.WITNESSES)

BODIES = (
    "SELECT * { ?x <urn:p> ?y }",
    "SELECT * { ?x ?p ?y }",
    "SELECT * { ?x ?p <urn:c> }",
    "SELECT * { <urn:a> <urn:p> ?y . ?y ?p ?z }",
    "SELECT * { <urn:a> <urn:p> <urn:b> . <urn:b> <urn:p> <urn:c> }",
    "SELECT * { ?x <urn:p>* ?y }",
    "SELECT * { ?x !<urn:r> ?y . ?y <urn:q> ?z }",
    "SELECT (COUNT(*) AS ?n) { ?x ?p ?y }",
    "SELECT * { GRAPH <urn:w> { ?x <urn:p> ?y } }",
    "SELECT * { GRAPH ?g { ?x ?p ?y } }",
    "SELECT * { GRAPH ?g { ?x <urn:p>* ?y } }",
    "SELECT * { ?x <urn:p> ?y . GRAPH ?g { ?y ?p ?z } }",
    "SELECT * { ?x <urn:p> ?y . ?a <urn:q> ?z . GRAPH ?g { ?y ?p ?z } }",
    "SELECT * { ?a <urn:q> ?b . GRAPH ?g { ?x ?p ?y } GRAPH ?h { ?y ?q ?a } }",
    "CONSTRUCT { ?y <urn:r> ?x } { ?x <urn:p> ?y }",
    "ASK { <urn:b> <urn:p> <urn:c> }",
)


def test_the_parts_of_a_dataset():
    every = STATIC | CHANGING
    assert every == DATASET and hash(DATASET) == hash(every) and len(DATASET) == len(every)
    assert static_part(DATASET) is STATIC
    assert changing_part(DATASET) == CHANGING - STATIC
    assert static_part(every) == frozenset() and changing_part(every) is every


def test_the_triples_of_each_graph_without_their_times():
    dataset: Dataset = frozenset([(A, P, B), (A, P, C, W), (A, P, B, TIME)])
    assert triples_by_graph(dataset) == {DEFAULT_GRAPH: [(A, P, B)], W: [(A, P, C)]}
    assert triples_by_graph([]) == {DEFAULT_GRAPH: []}
    assert times_of_triples(dataset) == {(A, P, B): TIME}


def test_an_index_over_a_static_one():
    graph = index_graphs(DATASET)[DEFAULT_GRAPH]
    assert list(graph.match(None, None, None)) == [(A, P, B), (B, P, C), (B, Q, C)]
    assert list(graph.match(None, P, None)) == [(A, P, B), (B, P, C)]
    assert list(graph.match(B, None, None)) == [(B, P, C), (B, Q, C)]
    assert list(graph.match(B, Q, C)) == [(B, Q, C)] and not graph.match(B, Q, A)
    assert len(graph) == 3 and list(graph.nodes) == [A, B, C]
    assert list(index_graphs(DATASET)) == [DEFAULT_GRAPH, "<urn:static>", "<urn:v>", W]


@pytest.mark.parametrize("text", BODIES)
@pytest.mark.parametrize("name", EVALUATORS)
def test_who_knows_what_is_static_answers_alike(name: str, text: str):
    """Twice, since what is static is remembered."""
    body = Body(text)
    expected = r2r.ask_evaluator(name, body, frozenset(DATASET))
    for _ in range(2):
        answer = r2r.ask_evaluator(name, body, DATASET)
        assert answer.variables == expected.variables
        assert compare.equal(answer.rows, expected.rows)
    only_static = DatasetOverStatic.of(STATIC, frozenset())
    assert compare.equal(
        r2r.ask_evaluator(name, body, only_static).rows, r2r.ask_evaluator(name, body, STATIC).rows
    )


@pytest.mark.parametrize("name", EVALUATORS)
def test_times_stand_beside_static_data(name: str):
    body = Body(
        "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> "
        "SELECT * { ?x <urn:p> ?y BIND(f:timestamp(?x, <urn:p>, ?y) AS ?t) }"
    )
    dataset = DatasetOverStatic.of(STATIC, frozenset([(B, P, C), (B, P, C, TIME)]))
    rows = r2r.ask_evaluator(name, body, dataset).rows
    assert rows == {(("x", A), ("y", B)): 1, (("t", TIME), ("x", B), ("y", C)): 1}


# How often static data is read


ALL = "SELECT * { ?x ?p ?y }"
QUERY = from_table({"body": ALL, "windows": [{"stream": "s", "kind": "range", "size": 3}]})
STREAMS = {"s": stream([((f"<urn:{i}>", P, A), i) for i in range(12)])}
SEMANTICS = (
    profile("cqels")
    .but(t0=0, horizon="none", r2s="Rstream", base="none", partial="reported")
    .semantics()
)


@pytest.mark.parametrize(
    ("text", "fill"),
    [
        (ALL, "fill_graph"),
        ("SELECT * { ?x ?p ?y OPTIONAL { GRAPH ?g { ?y ?p ?z } } }", "fill_dataset"),
    ],
)
def test_static_data_is_read_once_for_all_reports(
    monkeypatch: pytest.MonkeyPatch, text: str, fill: str
):
    """Each evaluator reads the other statements at each report."""
    static = frozenset((f"<urn:{fill}{i}>", Q, "_:x") for i in range(50))
    read: dict[str, int] = dict.fromkeys(EVALUATORS, 0)

    def count(name: str, module: object, function: str) -> None:
        right = getattr(module, function)

        def counting(*args: object) -> object:
            statements = next(arg for arg in args if isinstance(arg, frozenset))
            read[name] += len(statements)
            return right(*args)

        monkeypatch.setattr(module, function, counting)

    count(r2r.EVALUATOR, datasets, "triples_by_graph")
    count("rdflib", rdflib_witness, fill)
    loads: list[int] = []
    load = StoreOverStatic.load

    def load_and_count(self: StoreOverStatic) -> None:
        loads.append(len(self.static))
        load(self)

    monkeypatch.setattr(StoreOverStatic, "load", load_and_count)
    query = replace(QUERY, body=Body(text))
    reports = list(engine.evaluate(query, STREAMS, SEMANTICS, static=static))
    assert len(reports) > 5
    changing = sum(len(report.contents[0]) for report in reports)
    assert read[r2r.EVALUATOR] == read["rdflib"] == len(static) + changing
    assert loads == [len(static)]


def test_a_store_holds_what_is_static_and_nothing_of_an_answer_before():
    store = StoreOverStatic(STATIC)
    for error in (None, KeyError):
        try:
            with store.holding([(C, P, A), (C, Q, A, W)]) as held:
                assert len(held) == len(STATIC) + 2
                if error:
                    raise error
        except KeyError:
            pass
        assert {tuple(map(str, quad)) for quad in store.store} == {
            tuple(map(str, pyoxigraph_witness._to_quad(statement))) for statement in STATIC
        }


@pytest.mark.parametrize("name", EVALUATORS)
def test_a_graph_of_an_answer_before_is_in_no_other_dataset(name: str):
    """R2R-8: by hand. A window without elements is no graph of the dataset, also where it was one
    at the evaluation before: GRAPH over the empty group finds the graphs that have a triple.
    """
    body = Body("SELECT ?g { GRAPH ?g { } }")
    for others, graphs in ((CHANGING, ("static", "v", "w")), (frozenset(), ("static", "w"))):
        dataset = DatasetOverStatic.of(STATIC, others)
        found = r2r.ask_evaluator(name, body, dataset)
        assert found.rows == Counter([row({"g": f"<urn:{graph}>"}) for graph in graphs])


def test_a_store_is_made_anew_when_it_has_removed_much(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pyoxigraph_witness, "FEW_STATEMENTS", 5)
    store = StoreOverStatic(STATIC)
    stores = [store.store]
    for _ in range(10):
        with store.holding([(C, P, A), (C, Q, A)]) as held:
            assert len(held) == len(STATIC) + 2
            if held is not stores[-1]:
                stores.append(held)
    assert len(stores) == 4  # each but the last has removed 6 statements
    assert FEW_STATEMENTS > 5


def test_incremental_evaluation_asks_no_witness(monkeypatch: pytest.MonkeyPatch):
    """ENG-6"""

    def ask(*_: object) -> Relation:
        raise AssertionError("a witness is asked")

    monkeypatch.setattr(r2r, "ask_witness", ask)
    run = evaluate(QUERY, STREAMS, SEMANTICS, static=STATIC)
    assert len(list(run)) > 5 and str(run.provenance) == "incremental"
