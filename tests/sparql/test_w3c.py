"""The harness of W3C's tests, on a suite of four tests made by hand: each query is asked over the
dataset that it names, a wrong answer counts as wrong, and the page has what the command counted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.corpus.witness_defects import load_catalogue
from tools import w3c

ROOT = Path(__file__).resolve().parents[2]

MANIFEST = """
@prefix mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#> .
@prefix qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#> .
@prefix : <#> .
<> a mf:Manifest ; mf:entries ( :from :named :both :plain ) .
:from a mf:QueryEvaluationTest ; mf:name "from" ;
    mf:action [ qt:query <from.rq> ; qt:graphData <two.ttl> ] ; mf:result <from.srj> .
:named a mf:QueryEvaluationTest ; mf:name "named" ;
    mf:action [ qt:query <named.rq> ; qt:data <one.ttl> ] ; mf:result <named.srj> .
:both a mf:QueryEvaluationTest ; mf:name "both" ;
    mf:action [ qt:query <both.rq> ] ; mf:result <both.srj> .
:plain a mf:QueryEvaluationTest ; mf:name "plain" ;
    mf:action [ qt:query <plain.rq> ; qt:data <one.ttl> ] ; mf:result <plain.srj> .
"""
QUERIES = {
    # the manifest's own graph is no part of a dataset that the query names (SPARQL 13.2)
    "from": "SELECT ?x FROM <one.ttl> { { ?x ?p ?o } UNION { GRAPH ?g { ?x ?p ?o } } }",
    "named": "SELECT ?x FROM NAMED <two.ttl> { { ?x ?p ?o } UNION { GRAPH ?g { ?x ?p ?o } } }",
    # a blank node of a file that two clauses name is one node
    "both": """SELECT ?n FROM <one.ttl> FROM <blank.ttl> FROM NAMED <blank.ttl>
        { ?b <urn:n> ?n GRAPH <blank.ttl> { ?b <urn:n> ?n } }""",
    "plain": "SELECT ?x { ?x ?p ?o }",
}
DATA = {
    "one": "<urn:one> <urn:p> 1 .",
    "two": "<urn:two> <urn:p> 2 .",
    "blank": '[] <urn:n> "a" .',
}
RIGHT = {
    "from": ("x", "uri", "urn:one"),
    "named": ("x", "uri", "urn:two"),
    "both": ("n", "literal", "a"),
    "plain": ("x", "uri", "urn:one"),
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return the folder sparql/ of the suite made by hand."""
    area = tmp_path / "sparql" / "sparql11" / "dataset"
    area.mkdir(parents=True)
    (area / "manifest.ttl").write_text(MANIFEST)
    for name, text in QUERIES.items():
        (area / f"{name}.rq").write_text(text)
    for name, text in DATA.items():
        (area / f"{name}.ttl").write_text(text)
    for name, (variable, kind, value) in RIGHT.items():
        write_result(area / f"{name}.srj", variable, kind, value)
    return tmp_path / "sparql"


def write_result(path: Path, variable: str, kind: str, value: str) -> None:
    """Write a result of one row as SPARQL's JSON."""
    path.write_text(
        f'{{"head": {{"vars": ["{variable}"]}}, "results": {{"bindings": '
        f'[{{"{variable}": {{"type": "{kind}", "value": "{value}"}}}}]}}}}'
    )


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the command's exit code."""
    monkeypatch.setattr(sys, "argv", ["w3c", str(folder), "--verbose"])
    return w3c.main()


def test_every_query_is_asked_over_the_dataset_that_it_names(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(suite, monkeypatch) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{name}: 4 right, 0 wrong, 0 refused, 0 broken of 4"
        for name in ("evaluator", "rdflib", "pyoxigraph")
    ]


def test_another_answer_is_wrong(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_result(suite / "sparql11" / "dataset" / "from.srj", "x", "uri", "urn:two")
    assert run(suite, monkeypatch) == 1
    printed = capsys.readouterr().out
    assert "evaluator: 3 right, 1 wrong, 0 refused, 0 broken of 4" in printed
    assert "evaluator: wrong: sparql11/dataset/from: 1 rows" in printed


def test_graph_without_a_file_is_refused(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (suite / "sparql11" / "dataset" / "blank.ttl").unlink()
    assert run(suite, monkeypatch) == 0
    printed = capsys.readouterr().out
    assert "evaluator: 3 right, 0 wrong, 1 refused, 0 broken of 4" in printed
    assert "refused: sparql11/dataset/both: body line 2 column 26: QRY-2: FROM <file:" in printed


def test_the_catalogue_has_no_wrong_and_no_broken_answer_of_the_evaluator() -> None:
    figures = load_catalogue().figures["evaluator"]
    assert (figures.wrong, figures.broken) == (0, 0)
    assert figures.right + figures.refused == load_catalogue().tests
