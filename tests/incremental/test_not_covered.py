"""What incremental evaluation leaves to the definition, each with the reason that it gives."""

from __future__ import annotations

import pytest
from incremental_trials import double

from refengine import Body, literal
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import XSD

P = "<urn:p>"
BODIES = {
    # above the WHERE clause
    "ASK { ?x <urn:p> ?y }": "ASK",
    "CONSTRUCT { ?x <urn:q> ?y } WHERE { ?x <urn:p> ?y }": "CONSTRUCT",
    "SELECT ?x (BNODE() AS ?b) { ?x <urn:p> ?y }": "BNODE()",
    "SELECT (?y + 1 AS ?z) { ?x <urn:p> ?y }": "an expression in SELECT, or BIND",
    "SELECT (?x AS ?k) { ?x <urn:p> ?y }": "an expression in SELECT, or BIND",
    "SELECT (COUNT(*) + 1 AS ?n) { ?x <urn:p> ?y }": "an expression in SELECT, or BIND",
    "SELECT ?z { ?x <urn:p> ?y BIND(?y AS ?z) }": "an expression in SELECT, or BIND",
    # groups
    "SELECT (COUNT(*) AS ?n) { ?x <urn:p> ?y } GROUP BY (?y + 1)": "a key that is an expression",
    "SELECT (COUNT(*) AS ?n) { ?x <urn:p> ?y } GROUP BY (?y AS ?k)": "a key that is an expression",
    "SELECT ?z { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } } GROUP BY ?z": (
        "a key that may be unbound"
    ),
    "SELECT (SUM(?y + 1) AS ?n) { ?x <urn:p> ?y }": "an aggregate of an expression",
    "SELECT (SUM(?z) AS ?n) { ?x <urn:p> ?y }": "an aggregate of a variable that is never bound",
    "SELECT (COUNT(?z) AS ?n) { ?x <urn:p> ?y }": "an aggregate of a variable that is never bound",
    "SELECT (COUNT(DISTINCT *) AS ?n) { ?x <urn:p> ?y }": "COUNT(DISTINCT *)",
    "SELECT (SAMPLE(?y) AS ?n) { ?x <urn:p> ?y }": "SAMPLE",
    # patterns
    "SELECT * { }": "an empty graph pattern",
    "SELECT ?x { ?x <urn:p> ?y MINUS { ?x <urn:q> ?y } }": "Minus",
    "SELECT ?x { { ?x <urn:p> ?y BIND(?y AS ?z) } ?z <urn:q> ?x }": "Extend",
    "SELECT ?x { ?x <urn:p> ?y { SELECT ?x { ?x <urn:q> ?z } } }": "Project",
    "SELECT ?x { <urn:a> (<urn:p>?/<urn:q>?)|<urn:p> <urn:a> }": (
        "a path with a sequence in it from a term to itself"
    ),
    # joins: either side may leave the variable unbound
    "SELECT * { { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z } } { ?z <urn:p> ?w } }": (
        "a join on a variable that may be unbound"
    ),
    "SELECT * { { ?z <urn:p> ?w } { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z } } }": (
        "a join on a variable that may be unbound"
    ),
    "SELECT * { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z } OPTIONAL { ?y <urn:q> ?z } }": (
        "a join on a variable that may be unbound"
    ),
    # conditions
    "SELECT * { ?x <urn:p> ?y FILTER(REGEX(?y, 'a')) }": "REGEX as a condition",
    "SELECT * { ?x <urn:p> ?y FILTER(?y) }": "a term as a condition",
    "SELECT * { ?x <urn:p> ?y FILTER(true) }": "a term as a condition",
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q> ?y } }": "Exists as a condition",
    "SELECT * { ?x <urn:p> ?y FILTER((EXISTS { ?x <urn:q> ?y }) = true) }": (
        "Exists in an expression"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER(?y / 2 > 1) }": "division",
    "SELECT * { ?x <urn:p> ?y FILTER(STR(?y) = 'x') }": "STR in an expression",
    "SELECT * { ?x <urn:p> ?y FILTER(?v != ?u) }": (
        "a condition on ?u, which its group does not bind"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER(BOUND(?z)) }": (
        "a condition on ?z, which its group does not bind"
    ),
}


def ignore(row: object, count: int) -> None:
    """Take a row that comes or goes, and do nothing with it."""


@pytest.mark.parametrize("text", BODIES)
def test_a_body_that_is_not_covered(text: str):
    with pytest.raises(NotCovered) as refused:
        MaintainedBody(Body(text), ignore)
    assert str(refused.value) == BODIES[text]


def number(text: str, kind: str = "integer") -> str:
    return literal(text, XSD + kind)


FILTER = "SELECT * {{ ?x <urn:n> ?v FILTER({}) }}"
AGGREGATE = "SELECT ({} AS ?n) {{ ?x <urn:n> ?v }}"
BIGGEST = str(2**63 - 1)
TWO_KINDS = "comparing terms of two kinds, or of a kind that is not covered"
VALUES = [
    (FILTER.format("?v > 1"), ["<urn:a>"], TWO_KINDS),
    (FILTER.format("?v < <urn:b>"), ["<urn:a>"], TWO_KINDS),
    (FILTER.format("?v = 'x'"), ["<urn:a>"], TWO_KINDS),
    (FILTER.format("?v = <urn:a>"), [literal("x")], TWO_KINDS),
    (FILTER.format("?v = 'x'"), [literal("x", language="en")], TWO_KINDS),
    (FILTER.format("?v + 1 = <urn:a>"), [number("1")], TWO_KINDS),
    (FILTER.format("<urn:a> = ?v + 1"), [number("1")], TWO_KINDS),
    (FILTER.format("'x' != ?v"), [number("1")], TWO_KINDS),
    (
        AGGREGATE.format("SUM(?v)").replace("SELECT", "SELECT DISTINCT"),
        [double("0.5"), double("0.25"), double("0.125")],
        "a rounded sum or average that a set depends on",
    ),
    (FILTER.format("?v + 1 > 1"), ["<urn:a>"], "arithmetic of what is no number"),
    (FILTER.format("-?v > 1"), [literal("x")], "arithmetic of what is no number"),
    (FILTER.format("?v > 1"), [double("NaN")], "the number nan"),
    (FILTER.format("?v > 1"), [double("-INF")], "the number -inf"),
    (
        FILTER.format("?v * 1e308 > 1"),
        [double("1e308")],
        "a computed xsd:double that is too great, or rounded",
    ),
    (AGGREGATE.format("SUM(?v)"), [literal("x")], "an aggregate over what is no number"),
    (AGGREGATE.format("MAX(?v)"), ["<urn:a>"], "an aggregate over what is no number"),
    (
        AGGREGATE.format("SUM(?v)"),
        [number(BIGGEST), number("-1")],
        "a sum of integers that may go beyond 64 bits",
    ),
    (
        AGGREGATE.format("SUM(?v)"),
        [double("1"), number("1")],
        "a sum of numbers of several kinds",
    ),
    (
        AGGREGATE.format("SUM(?v)"),
        [double("1e308"), double("-1e308")],
        "a sum beyond all doubles in some orders of adding",
    ),
    (
        AGGREGATE.format("SUM(?v)"),
        [double("0.1"), double("-0.1"), double("1e-300")],
        "a sum of 3 doubles depends on the order of adding",
    ),
    (
        AGGREGATE.format("MIN(?v)"),
        [number("1"), number("1.0", "decimal")],
        "MIN or MAX of two forms of one value",
    ),
    (
        AGGREGATE.format("MAX(?v)"),
        [number("16777217"), number("16777216", "float")],
        "MIN or MAX of numbers that are equal as floats or doubles alone",
    ),
]


@pytest.mark.parametrize(("text", "values", "reason"), VALUES)
def test_a_value_that_is_not_covered(text: str, values: list[str], reason: str):
    body = MaintainedBody(Body(text), ignore)
    with pytest.raises(NotCovered) as refused:
        for i, value in enumerate(values):
            body.insert((f"<urn:{i}>", "<urn:n>", value))
        body.flush()
    assert str(refused.value) == reason


@pytest.mark.parametrize("is_set", [False, True])
def test_a_rounded_sum_is_covered_where_answers_are_bags(is_set: bool):
    rows: list = []
    text = AGGREGATE.format("SUM(?v)")
    body = MaintainedBody(Body(text), lambda row, count: rows.append(row), is_set)
    for i, value in enumerate(("0.5", "0.25", "0.125")):
        body.insert((f"<urn:{i}>", "<urn:n>", double(value)))
    if is_set:
        with pytest.raises(NotCovered, match="a rounded sum"):
            body.flush()
    else:
        body.flush()
        assert rows == [(("n", double("0.875")),)]
    assert MaintainedBody(Body(text), ignore).is_set is False
    assert MaintainedBody(Body(text.replace("SELECT", "SELECT DISTINCT")), ignore).is_set is True
