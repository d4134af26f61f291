"""R2R-10, R2R-13, R2R-16, R2R-18: what an attack on the evaluation of SPARQL found, as the smallest queries that show it."""

from __future__ import annotations

import pytest

from refengine.errors import NoSingleAnswer
from refengine.model import XSD
from refengine.sparql import evaluate, read

PREFIXES = f"PREFIX : <urn:> PREFIX xsd: <{XSD}> "
GRAPH = frozenset({("<urn:s>", "<urn:pred>", "<urn:o>")})


def rows(query: str) -> list[dict[str, str]]:
    """Return the rows of a query over GRAPH, by the definition."""
    return [dict(row) for row in evaluate(read(PREFIXES + query)[0], GRAPH).rows.elements()]


def test_every_quotient_has_an_answer():
    """A quotient is rounded once, which CMP-2 tolerates; an operation on it once more."""
    for numerator in range(1, 40):
        for denominator in range(2, 14):
            (row,) = rows(f"SELECT ({numerator}/{denominator} AS ?r) {{}}")
            assert "r" in row
    assert rows("SELECT ((100 - 32) * (5/9) AS ?r) {}")[0]["r"].startswith('"37.7777777777777777')


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        # (0.1f + 0.7f) + 1e0 and (0.1f + 1e0) + 0.7f differ by 1.2e-8: partial sums are floats.
        ('SELECT (SUM(?v) AS ?r) { VALUES ?v { "0.1"^^xsd:float "0.7"^^xsd:float 1e0 } }', "order of computing"),
        ('SELECT (SUM(?v) AS ?r) { VALUES ?v { "3e38"^^xsd:float "30e37"^^xsd:float 1e0 } }', "overflows in some orders"),
        ("SELECT (SUM(?v) AS ?r) { VALUES ?v { 9223372036854775807 1 -1 } }", "beyond 64 bits in some orders"),
        ("SELECT (AVG(?v) AS ?r) { VALUES ?v { 9223372036854775807 9223372036854775805 } }", "beyond 64 bits in some orders"),
        ('SELECT (DATATYPE(MIN(?v)) AS ?r) { VALUES ?v { "1"^^xsd:int 1 } }', "several datatypes"),
    ],
)
def test_what_evaluators_may_answer_in_two_ways_has_no_single_answer(query, reason):
    with pytest.raises(NoSingleAnswer, match=reason):
        rows(query)


@pytest.mark.parametrize(
    "query",
    ["SELECT * { ?s ?x ?o . ?x ((:p*/:q*)|:r) :pred }", "SELECT * { ?s ?x ?o . :pred ((:p*/:q*)|:r) ?x }"],
)
def test_a_variable_bound_to_no_node_is_no_end_that_a_path_is_given(query):
    """R2R-18: the step between two variables connects nodes of the graph alone, and :pred is none."""
    assert rows(query) == []


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("SELECT (COUNT(DISTINCT (?y * 0)) AS ?r) { VALUES ?y { 1e0 -1e0 } }", f'"2"^^<{XSD}integer>'),
        ("SELECT (sameTerm(1e0/0 - 1e0/0, 1e0/0 - 1e0/0) AS ?r) {}", f'"true"^^<{XSD}boolean>'),
        ("SELECT (sameTerm(STR(?u), STR(?u)) AS ?r) { BIND(UUID() AS ?u) }", f'"true"^^<{XSD}boolean>'),
        ("SELECT (sameTerm(UUID(), UUID()) AS ?r) {}", f'"false"^^<{XSD}boolean>'),
    ],
)
def test_the_same_term(query, right):
    """R2R-10: the two zeros of doubles are two terms, NaN is one, and so is a UUID."""
    assert rows(query) == [{"r": right}]
