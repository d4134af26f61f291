"""QRY-2: static data by the IRIs that FROM and FROM NAMED of a body name."""

from __future__ import annotations

import pytest

from refengine import (
    Engine,
    ForbiddenAccess,
    InvalidStream,
    evaluate,
    from_table,
    incremental,
    profile,
    stream,
)
from refengine.core.static import resolve_static

SEMANTICS = profile("csparql").but(t0=0).semantics()
WINDOW = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
STREAM = stream([(("<urn:a>", "<urn:in>", "<urn:k>"), 3)])
G = frozenset({("<urn:k>", "<urn:p>", "_:b")})
H = frozenset({("<urn:k>", "<urn:p>", "_:b"), ("_:b", "<urn:q>", '"h"')})


def query_of(body):
    return from_table({"windows": [WINDOW], "body": body})


def rows_of(body, static):
    """Return the rows of the only report, which incremental evaluation and an engine with pushed
    elements also give.
    """
    setting = query_of(body), {"s": STREAM}, SEMANTICS
    [report] = evaluate(*setting, static=static)
    [maintained] = incremental.evaluate(*setting, static=static)
    assert maintained.relation == report.relation
    engine = Engine(query_of(body), ["s"], SEMANTICS, static=static)
    [pushed] = [*engine.push_element("s", STREAM.elements[0]), *engine.finish()]
    assert pushed.relation == report.relation
    return report.relation.rows


def test_from_merges_graphs_and_keeps_their_blank_nodes_apart():
    """_:b of g and _:b of h are two nodes, of which only the one of h has :q."""
    body = "SELECT ?n FROM <urn:g> FROM <urn:h> { ?x <urn:in> ?k . ?k <urn:p> ?b BIND(1 AS ?n) }"
    assert sum(rows_of(body, {"urn:g": G, "urn:h": H}).values()) == 2
    assert sum(rows_of(body, {"urn:g": G, "urn:h": G}).values()) == 2


def test_from_and_from_named_of_one_iri_share_blank_nodes():
    body = "ASK FROM <urn:h> FROM NAMED <urn:h> { ?k <urn:p> ?b GRAPH ?g { ?b <urn:q> ?q } }"
    [row] = rows_of(body, {"urn:h": H})
    assert "true" in str(row)


def test_a_body_keeps_its_places_without_its_graphs():
    """A line of the body is still the same line: what is left is put to evaluators."""
    text = "SELECT ?x\nFROM\n <urn:g>WHERE { ?x ?p ?y }"
    resolved, _ = resolve_static(query_of(text), {"urn:g": G})
    assert resolved.body.text == "SELECT ?x\n    \n        WHERE { ?x ?p ?y }"


def test_a_graph_that_is_not_given_is_refused():
    query = query_of("SELECT ?x FROM <urn:g> { ?x ?p ?y }")
    for static in (frozenset(), G, {}, {"urn:h": H}):
        with pytest.raises(ForbiddenAccess, match="line 1 column 11: QRY-2: FROM <urn:g> would"):
            list(evaluate(query, {"s": STREAM}, SEMANTICS, static=static))
    with pytest.raises(ForbiddenAccess, match="did you mean 'urn:gh'"):
        resolve_static(query, {"urn:gh": G})


def test_data_of_an_iri_are_one_graph():
    query = query_of("SELECT ?x FROM <urn:g> { ?x ?p ?y }")
    own = frozenset({("<urn:a>", "<urn:p>", "<urn:b>", "<urn:g>")})
    assert resolve_static(query, {"urn:g": own})[1] == {("<urn:a>", "<urn:p>", "<urn:b>")}
    other = frozenset({("<urn:a>", "<urn:p>", "<urn:b>", "<urn:h>")})
    reason = (
        "^static data <urn:g>: QRY-2: the data has another named graph, <urn:h>, which "
        "FROM <urn:g> does not name; .* the file without an IRI$"
    )
    with pytest.raises(InvalidStream, match=reason):
        resolve_static(query, {"urn:g": other})


def test_blank_nodes_are_of_their_graph():
    """_:b of data that no clause names, and of two graphs, in the order of their IRIs."""
    query = query_of("SELECT ?x FROM <urn:h> FROM NAMED <urn:g> { ?x ?p ?y }")
    _, dataset = resolve_static(query, dict.fromkeys(["urn:h", "urn:g"], G), always=G)
    assert dataset == {
        ("<urn:k>", "<urn:p>", "_:0-b"),
        ("<urn:k>", "<urn:p>", "_:1-b", "<urn:g>"),
        ("<urn:k>", "<urn:p>", "_:2-b"),
    }


def test_an_iri_is_absolute():
    reason = "^static data: QRY-2: static data is given by an absolute IRI, such as urn:g, got 'g'$"
    with pytest.raises(InvalidStream, match=reason):
        resolve_static(query_of("SELECT ?x { ?x ?p ?y }"), {"g": G})
