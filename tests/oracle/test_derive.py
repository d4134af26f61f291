"""A derivation is a reason: projected, the derivations are the answer; alone, each support gives
its row.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refengine import Body, literal
from refengine.core import r2r
from refengine.model import compare
from refengine.model.elements import XSD, Triple
from refengine.oracle import derivations

ONE, TWO, HALF = (
    literal(text, XSD + kind)
    for text, kind in (("1", "integer"), ("2", "integer"), ("0.5", "decimal"))
)
PATTERNS = [
    "?x :p ?y",
    "?x ?q ?y",
    "?x :p ?y ; :q ?z",
    "?x :p ?y . ?y :q ?z",
    "?x ?y ?x",
    "[] :p ?x",
    "[ :p ?x ; :q ?y ]",
    "_:b :p ?x . ?y :q _:b",
    ":a :p ?x",
    "?x :p 1",
    "{ ?x :p ?y } UNION { ?x :q ?y }",
    "{ ?x :p ?y } UNION { ?x :p ?y }",
    "{ ?x :p ?y } UNION { ?z :q ?x } ?x :p ?w",
    "?x :p ?y FILTER(?y > 1)",
    "?x :p ?y FILTER(isBlank(?x) || ?x = :a)",
    "?x :p ?y FILTER(!BOUND(?z))",
    "?x :p ?y { ?y :q ?z FILTER(?z >= 0.5) }",
    "?x :p ?y BIND(?y + 1 AS ?z) ?w :q ?y",
    "{ ?x :p ?y BIND(1/0 AS ?z) } ?w :q ?y",
    "{ ?x :p ?y } { ?z :q ?w }",
    "",
    ":a :p 1",
    "?x :p ?y FILTER(?y IN (1, 2))",
    "?x :p ?y FILTER(COALESCE(?z, 1) = 1)",
    "{ ?x :p ?y } UNION { ?y :q ?z } FILTER(BOUND(?z))",
    "?x :p ?y . { ?x :q ?z FILTER(?y = 1) }",
    "{ ?x :p ?y FILTER(!BOUND(?z)) } ?x :q ?z",
    "{ ?x :p ?y BIND(BOUND(?z) AS ?w) } ?x :q ?z",
    "{ ?x :p ?y } UNION { ?z :q ?x } FILTER(!BOUND(?y))",
]
HEADS = ["*", "?x", "?y ?x", "?z ?w"]
BODIES = [
    Body(f"PREFIX : <urn:> SELECT {head} {{ {pattern} }}")
    for pattern in PATTERNS
    for head in HEADS
    if head != "*" or "?" in pattern
]
NOT_COVERED = [
    "SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z } }",
    "SELECT ?x { ?x :p ?y MINUS { ?x :q ?z } }",
    "SELECT ?x { ?x :p+ ?y }",
    "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } }",
    "SELECT ?x { ?x :p ?y FILTER(?y IN (1, EXISTS { ?x :q ?z })) }",
    "SELECT ?x { ?x :p ?y FILTER(COALESCE(EXISTS { ?x :q ?z }, false)) }",
    "SELECT ?x { ?x :p ?y BIND(BNODE() AS ?b) ?y :q ?z }",
    "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> SELECT ?x { ?x :p ?y "
    "FILTER(f:timestamp(?x, :p, ?y) > 1) }",
    "SELECT ?x { VALUES ?x { :a } ?x :p ?y }",
    "SELECT ?x { ?x :p ?y { SELECT ?x { ?x :q ?z } } }",
    "SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING(COUNT(*) > 1)",
    "SELECT ?x (EXISTS { ?x :q ?z } AS ?e) { ?x :p ?y }",
    "SELECT (SUM(IF(EXISTS { ?x :q ?z }, 1, 0)) AS ?n) { ?x :p ?y }",
]
NO_PROJECTION = [
    "SELECT DISTINCT ?x { ?x :p ?y }",
    "SELECT REDUCED ?x { ?x :p ?y }",
    "SELECT (COUNT(*) AS ?n) { ?x :p ?y }",
    "SELECT (?y + 1 AS ?z) { ?x :p ?y }",
    "SELECT ?x { ?x :p ?y } ORDER BY ?x LIMIT 1",
    "SELECT ?x { ?x :p ?y } GROUP BY ?x",
    "ASK { ?x :p ?y }",
    "CONSTRUCT { ?x :r ?y } { ?x :p ?y }",
]
TERMS = ["<urn:a>", "<urn:b>", "_:n", ONE, TWO, HALF]
triples = st.tuples(
    st.sampled_from(TERMS[:3]),
    st.sampled_from(["<urn:p>", "<urn:q>", "<urn:a>"]),
    st.sampled_from(TERMS),
)
graphs = st.frozensets(triples, max_size=7)


@given(st.sampled_from(BODIES), graphs)
def test_derivations_are_the_answer(body: Body, graph: frozenset[Triple]):
    """ORA-5: as bags, blank nodes by label; every support is part of the graph."""
    found = derivations.derivations(body, graph)
    if derivations.projects(body):
        answer = r2r.ask_evaluator(r2r.EVALUATOR, body, graph).rows
        assert not any(compare.difference(Counter(derivation.row for derivation in found), answer))
    assert all(derivation.support <= graph for derivation in found)


@given(st.sampled_from([body for body in BODIES if derivations.projects(body)]), graphs)
def test_a_support_is_enough_and_not_too_much(body: Body, graph: frozenset[Triple]):
    """ORA-6: over its support alone a row is derived; without one of the support's triples, no
    longer from it.
    """
    found = Counter(
        (derivation.row, derivation.support) for derivation in derivations.derivations(body, graph)
    )
    for (row, support), count in found.items():
        alone = Counter((d.row, d.support) for d in derivations.derivations(body, support))
        assert alone[row, support] == count
        for triple in support:
            rest = derivations.derivations(body, graph - {triple})
            assert all(triple not in derivation.support for derivation in rest)
            assert Counter((d.row, d.support) for d in rest) == Counter(
                {k: n for k, n in found.items() if triple not in k[1]}
            )


@given(st.sampled_from(BODIES), graphs)
def test_what_is_known_of_a_row_finds_its_derivations(body: Body, graph: frozenset[Triple]):
    """ORA-10: asked for one row, its derivations come, and all of them."""
    found = derivations.derivations(body, graph)
    for line in {derivation.row for derivation in found}:
        asked = [
            derivation
            for derivation in derivations.derivations(body, graph, line)
            if derivation.row == line
        ]
        assert Counter(asked) == Counter(
            derivation for derivation in found if derivation.row == line
        )


@pytest.mark.parametrize("text", NOT_COVERED)
def test_what_looks_beyond_a_solution_is_not_covered(text: str):
    """ORA-5, ORA-7: where an element without a derivation can change the answer, there are no
    derivations to go by.
    """
    assert derivations.pattern(Body(f"PREFIX : <urn:> {text}")) is None


@pytest.mark.parametrize("text", NO_PROJECTION)
def test_what_is_no_projection(text: str):
    """ORA-5: an answer that is not the bag of its solutions."""
    body = Body(f"PREFIX : <urn:> {text}")
    assert derivations.pattern(body) is not None
    assert not derivations.projects(body)
