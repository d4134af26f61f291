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
    "SELECT ?x { ?x <urn:p> ?y } LIMIT 1": "Slice around the projection",
    "SELECT REDUCED ?x { ?x <urn:p> ?y }": "Reduced around the projection",
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
    "SELECT ?x { { ?x <urn:p> ?y BIND(?y AS ?z) } ?z <urn:q> ?x }": "Extend",
    "SELECT ?x { ?x <urn:p>+ ?y }": "a property path",
    "SELECT * { ?x <urn:p> ?y { SELECT ?x (STR(?z) AS ?t) { ?x <urn:q> ?z } } }": (
        "an expression in SELECT, or BIND"
    ),
    # EXISTS: where substitution is no join
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { { SELECT ?x { ?x <urn:q> ?z } } } }": (
        "EXISTS with ?x from outside in a subselect"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q> ?z MINUS { ?z <urn:q> ?y } } }": (
        "EXISTS with ?y from outside in MINUS"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q> ?z OPTIONAL { ?z <urn:q> ?y } } }": (
        "EXISTS with ?y from outside in an OPTIONAL"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q> ?z { ?z ?q ?w FILTER(?w = ?y) } } }": (
        "EXISTS with ?y from outside in an inner filter"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { VALUES ?y { 1 } ?x <urn:q> ?z } }": (
        "EXISTS with ?y from outside in VALUES"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q> ?z BIND(?z AS ?y) } }": (
        "EXISTS with ?y from outside bound by BIND"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { { ?x <urn:q> ?z BIND(?y AS ?w) } ?x <urn:p> ?z } }": (
        "EXISTS with ?y from outside in BIND"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q>+ ?z } }": (
        "EXISTS with ?x from outside in a property path"
    ),
    "SELECT * { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z } FILTER EXISTS "
    "{ ?x <urn:q> ?z FILTER(?z != ?y) } }": (
        "EXISTS with a filter, where ?z may be unbound outside"
    ),
    "SELECT * { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z FILTER EXISTS { ?x <urn:q> ?z } } }": (
        "EXISTS in an OPTIONAL's filter on variables from outside"
    ),
    # conditions
    "SELECT * { ?x <urn:p> ?y FILTER(REGEX(?y, 'a')) }": "REGEX as a condition",
    "SELECT * { ?x <urn:p> ?y FILTER(?y) }": "a term as a condition",
    "SELECT * { ?x <urn:p> ?y FILTER(true) }": "a term as a condition",
    "SELECT * { ?x <urn:p> ?y FILTER((EXISTS { ?x <urn:q> ?y }) = true) }": (
        "BOUND in an expression"
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
    (
        "SELECT * { ?x <urn:n> ?v { SELECT (AVG(?w) AS ?v) { ?y <urn:n> ?w } } }",
        [number("2"), number("4")],
        "a join of a computed number",
    ),
    (
        "SELECT * { { SELECT (AVG(?w) AS ?v) { ?y <urn:n> ?w } } ?x <urn:n> ?v }",
        [number("2"), number("4")],
        "a join of a computed number",
    ),
    (
        "SELECT * { ?x <urn:n> ?w { SELECT DISTINCT (AVG(?v) AS ?m) { ?y <urn:n> ?v } } }",
        [number("2"), number("4")],
        "DISTINCT of a computed number",
    ),
    (
        "SELECT (MAX(?m) AS ?n) { { SELECT (AVG(?v) AS ?m) { ?y <urn:n> ?v } } }",
        [number("2"), number("4")],
        "a group of a computed number",
    ),
    (
        "SELECT ?m { { SELECT ?m { { SELECT ?y (AVG(?v) AS ?m) { ?y <urn:n> ?v . ?z <urn:n> ?v } "
        "GROUP BY ?y } } } }",
        [double("0.5"), double("0.5"), double("0.5")],
        "a subselect of a rounded number",
    ),
    (
        "SELECT * { { SELECT (AVG(?v) AS ?m) { ?y <urn:n> ?v } } UNION { ?m <urn:p> ?v } }",
        [double("0.5"), double("0.25"), double("0.125")],
        "a UNION of a rounded number",
    ),
    (
        "SELECT * { { SELECT (MAX(?v) AS ?m) { ?y <urn:n> ?v } } ?x <urn:n> ?m }",
        [number("1.5", "decimal"), number("1.50", "decimal")],
        "MIN or MAX of two forms of one value",
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
