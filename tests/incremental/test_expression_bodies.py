"""Maintained bodies with expressions, VALUES, aggregates of any kind; CONSTRUCT and ASK."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import product
from random import Random

import pytest
from body_trials import draw_computed_trial, draw_expression_trial
from conftest import draws
from incremental_trials import agree, asked, chosen
from test_bodies import assert_is_the_definitions, run_maintained, run_supported

from refengine import Body, literal, stream
from refengine.core import r2r
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.algebra.joins import MaintainedJoin
from refengine.incremental.algebra.nodes import (
    MaintainedExtend,
    MaintainedNode,
    NumberForms,
    add_count,
    check_forms,
    tell_apart,
)
from refengine.incremental.answer_cache import SupportedSolutions
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import XSD
from refengine.sparql.algebra import Variable
from refengine.sparql.values import DECIMAL, DOUBLE, Computed, Number

A, B, C = "<urn:a>", "<urn:b>", "<urn:c>"
N = "<urn:n>"


@pytest.mark.parametrize("draw", [draw_expression_trial, draw_computed_trial])
def test_drawn_bodies_answer_as_the_definition_does(draw):
    compared: Counter[str] = Counter()
    for seed in range(draws(600)):
        r = Random(seed)
        trial = draw(r)
        compared["maintained"] += run_maintained(trial, r)
        compared["supported"] += run_supported(trial, r)
    # of up to twelve for each
    assert min(compared.values()) > draws(600) * 6


# By hand


def integer(text: str) -> str:
    return literal(text, XSD + "integer")


def decimal(text: str) -> str:
    return literal(text, XSD + "decimal")


def boolean(text: str) -> str:
    return literal(text, XSD + "boolean")


def moment(text: str) -> str:
    return literal(text, XSD + "dateTime")


ONE, TWO, X = integer("1"), integer("2"), literal("x")
BODIES: dict[tuple[str, str], list[str]] = {  # by the value of :a and that of :b
    (ONE, TWO): [
        "SELECT ?x { ?x <urn:n> ?v FILTER(REGEX(STR(?v), '2')) }",
        # a filter on a variable from outside its group
        "SELECT ?x { { ?x <urn:n> ?v FILTER(!BOUND(?u) || ?u > 3) } VALUES ?u { 1 } }",
        "SELECT ?x { ?x <urn:n> ?v FILTER(2 / ?v > 1) }",
        "SELECT ?x { ?x <urn:n> ?v FILTER(?v IN (1, ?u) && ?v NOT IN (7)) }",
        "SELECT ?x (IF(?v > 1, 'big', 'small') AS ?s) (COALESCE(?u, 'none') AS ?t) (?x AS ?k)"
        " { ?x <urn:n> ?v } ORDER BY ?s",
        "SELECT DISTINCT (DATATYPE(?v) AS ?d) { ?x <urn:n> ?v }",
        "SELECT ?x ?k { ?x <urn:n> ?v VALUES (?x ?k) { (<urn:a> 1) (<urn:a> 1) (<urn:c> 2) } }",
        "SELECT * { VALUES (?x ?k) { (1 UNDEF) (UNDEF 2) } }",
        "SELECT * { }",
        "SELECT (1 + 1 AS ?k) { }",
        "SELECT ?x { OPTIONAL { ?x <urn:n> 2 } }",
        # a key that is never bound
        "SELECT ?u (COUNT(*) AS ?n) { ?x <urn:n> ?v } GROUP BY ?u",
        # a key that may be unbound
        "SELECT ?u (COUNT(*) AS ?n) { ?x <urn:n> ?v OPTIONAL { ?x <urn:n> ?u FILTER(?u = 2) }"
        " } GROUP BY ?u",
        "SELECT (SUM(?v * 2) + COUNT(*) AS ?n) { ?x <urn:n> ?v } HAVING(STR(SUM(?v)) != '9')",
        "SELECT (MIN(?v > 1) AS ?n) (MAX(?v > 1) AS ?m) { ?x <urn:n> ?v }",
        "SELECT (SAMPLE(?v) AS ?n) (GROUP_CONCAT(?v) AS ?m) { ?x <urn:n> ?v . ?v <urn:n> ?x }",
        # CONSTRUCT, in which a triple is there once
        "CONSTRUCT { ?x <urn:is> ?v . <urn:c> <urn:is> 'full' . ?v <urn:of> ?x . ?x <urn:no> "
        "?u } WHERE { ?x <urn:n> ?v }",
        "ASK { ?x <urn:n> ?v FILTER(?v > 1) }",
        # ASK for a second solution
        "ASK { ?x <urn:n> ?v } ORDER BY ?v OFFSET 1",
        "ASK { ?x <urn:n> ?v } LIMIT 0",
    ],
    (A, TWO): [
        "SELECT ?x { ?x <urn:n> ?v FILTER(?v > 1) }",
    ],
    (literal("INF", XSD + "double"), literal("NaN", XSD + "double")): [
        "SELECT ?x { ?x <urn:n> ?v FILTER(?v > 1) }",
    ],
    (ONE, X): [
        # BIND, of which an error binds nothing
        "SELECT ?w ?z { ?x <urn:n> ?v BIND(?v + 1 AS ?w) BIND(?w * 2 AS ?z) }",
        # keys that are expressions, of which an error is one
        "SELECT ?k (COUNT(*) AS ?n) { ?x <urn:n> ?v } GROUP BY (?v + 1 AS ?k)",
        # COUNT of what is an error or not
        "SELECT (COUNT(?v + 1) AS ?n) (COUNT(?u) AS ?m) { ?x <urn:n> ?v }",
        "SELECT (SUM(?v) AS ?n) (AVG(?u) AS ?m) { ?x <urn:n> ?v }",
    ],
    (TWO, ONE): [
        "SELECT (?v / 2 AS ?w) { ?x <urn:n> ?v }",
    ],
    (ONE, ONE): [
        # COUNT of different solutions, without the body's blank nodes
        "SELECT (COUNT(DISTINCT *) AS ?n) { _:k <urn:n> ?v . _:k ?p ?w }",
    ],
    (X, literal("ab")): [
        "SELECT (MIN(?v) AS ?n) (MAX(?v) AS ?m) { ?x <urn:n> ?v }",
    ],
    ("<urn:a>", "<urn:a1>"): [
        # MIN and MAX of IRIs, by code points
        "SELECT (MIN(?v) AS ?n) (MAX(?v) AS ?m) { ?x <urn:n> ?v }",
    ],
    (ONE, A): [
        "SELECT (MIN(?v) AS ?n) (MAX(?v) AS ?m) { ?x <urn:n> ?v }",
    ],
    (moment("2001-01-01T00:00:00Z"), moment("2001-01-01T00:30:00+01:00")): [
        "SELECT (MIN(?v) AS ?n) (MAX(?v) AS ?m) { ?x <urn:n> ?v }",
    ],
    (literal("u"), literal("v")): [
        "SELECT (SAMPLE(STRLEN(?v)) AS ?n) (GROUP_CONCAT(DISTINCT 'k') AS ?m) "
        "(GROUP_CONCAT('k'; SEPARATOR='-') AS ?o) { ?x <urn:n> ?v }",
    ],
    (ONE, C): [
        # CONSTRUCT of a predicate that is no IRI
        "CONSTRUCT { ?x ?v ?x } WHERE { ?x <urn:n> ?v }",
    ],
}
VALUES_AND_TEXTS = [(values, text) for values, texts in BODIES.items() for text in texts]


@pytest.mark.parametrize(("values", "text"), VALUES_AND_TEXTS)
def test_rows_that_come_and_go(values: tuple[str, str], text: str):
    """The answer is the definition's over nothing, over one value, over both, and back again."""
    asked_body = Body(text)
    rows: Counter = Counter()
    body = MaintainedBody(asked_body, lambda row, count: add_count(rows, row, count))
    content: set = set()
    of_one, of_other = (A, N, values[0]), (B, N, values[1])
    for triple in (None, of_other, of_one, of_other, of_one):
        if triple in content:
            body.retract(triple)
        elif triple is not None:
            body.insert(triple)
        content ^= {triple} - {None}
        body.flush()
        assert_is_the_definitions(rows, asked_body, content)


STREAM = [((A, N, ONE), 0), ((B, N, TWO), 1), ((A, N, C), 3), ((C, N, ONE), 4), ((A, N, ONE), 6)]


@pytest.mark.parametrize("text", [text for _, text in VALUES_AND_TEXTS])
def test_reports_are_the_definitions(text: str):
    """Over windows that close, some of them empty."""
    query = asked(text, size=3)
    answer = partial(r2r.ask_evaluator, r2r.DEFINITION)
    for collection, r2s in product(["bag", "set"], ["Rstream", "Istream", "Dstream"]):
        fields = {"collection": collection, "r2s": r2s}
        if r2s != "Rstream":
            fields["base"] = "previous"
        told = agree(query, {"s": stream(STREAM)}, chosen(**fields), answer=answer)
        if "MIN" not in text and "SAMPLE" not in text:
            assert told == "incremental", fields


def test_a_number_that_is_rounded_too_far_is_no_answer():
    """0.1 + 0.15 + 0.05 - 0.3 is near zero, and what is left of it is rounding."""
    text = "SELECT (SUM(?v) - 3e-1 AS ?n) { ?x <urn:n> ?v }"
    body = MaintainedBody(Body(text), lambda row, count: None)
    for i, number in enumerate(("0.1", "0.15", "0.05")):
        body.insert((f"<urn:{i}>", N, literal(number, XSD + "double")))
    with pytest.raises(NotCovered, match="depends on the order of computing"):
        body.flush()


def test_a_group_is_emitted_anew_when_the_form_of_its_value_is_not_fixed_any_more():
    """MIN(?v) is 1.0, and then 1.0 or 1.00, of which STR has no single answer."""
    body = MaintainedBody(
        Body("SELECT (STR(MIN(?v)) AS ?n) { ?x <urn:n> ?v }"), lambda row, count: None
    )
    body.insert((A, N, decimal("1.0")))
    body.flush()
    body.insert((A, N, decimal("1.00")))
    with pytest.raises(NotCovered, match="the lexical form of a computed"):
        body.flush()


def test_a_body_of_more_than_one_basic_graph_pattern_has_no_supported_rows():
    elements = stream([((A, N, ONE), 1), ((B, N, TWO), 2)])
    expected = {
        "SELECT ?x { ?x <urn:n> ?v FILTER(?v > 1) }": [((("x", B),), (1,))],
        "SELECT ?x (?v + 1 AS ?w) { ?x <urn:n> ?v FILTER(?v > 1) }": [((("x", B),), (1,))],
        "SELECT ?x { { ?x <urn:n> ?v BIND(?v + 1 AS ?w) } FILTER(?w > 2) }": None,
        "SELECT ?x { ?x <urn:n> ?v VALUES ?x { <urn:a> } }": None,
        "SELECT * { VALUES ?x { <urn:a> } }": None,
    }
    for text, rows in expected.items():
        supported = SupportedSolutions(Body(text), elements.elements, [1, 2], span=10)
        assert supported.supported_rows(range(2)) == rows, text
        assert supported.answer(range(2)).total() > 0


# Computed numbers where it matters which terms are the same

HALF = Computed(decimal("2"), Number(DECIMAL, 2))
ROUNDED = Computed(decimal("2"), Number(DECIMAL, 2, 1e-18))


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ([HALF, HALF], None),
        ([decimal("2"), decimal("2.0"), X, A, TWO], None),
        ([HALF, TWO], None),  # of another datatype
        ([HALF, decimal("2")], "the lexical form of a computed number"),
        ([decimal("2.0"), HALF], "the lexical form of a computed number"),
        ([ROUNDED], "a rounded number that decides which solutions are the same"),
        ([Computed(X, Number(DOUBLE, float("inf")))], "the number inf"),
    ],
)
def test_the_forms_of_a_number(terms: list, reason: str | None):
    forms = NumberForms()
    if reason is not None:
        with pytest.raises(NotCovered) as refused:
            for term in terms:
                forms.change(term, 1)
        assert str(refused.value) == reason
    else:
        for count in (1, -1):
            for term in terms:
                forms.change(term, count)
        assert not forms.forms


def test_computed_numbers_of_one_text_are_equal_by_value():
    one, same, other = (
        tell_apart(Computed(decimal("2"), Number(DECIMAL, 2, slack))) for slack in (0, 0, 1)
    )
    assert (one == same, one != same) == (True, False)
    assert (one == other, one != other) == (False, True)
    assert hash(one) == hash(same)


def test_a_join_leaves_computed_numbers_to_the_definition():
    """One side has the data's 2, and the other a computed one."""
    left, right = MaintainedNode("xy", "xy"), MaintainedNode("yz", "yz")
    node = MaintainedJoin(*check_forms([left, right], "xyz"))
    emitted = []
    node.emit = lambda solution, count: emitted.append(solution)
    left.emit((A, decimal("2")), 1)
    right.emit((decimal("2"), None), 1)
    assert emitted == [(A, decimal("2"), None)]
    with pytest.raises(NotCovered, match="the lexical form"):
        right.emit((HALF, B), 1)


def test_bindings_see_those_before_them():
    child = MaintainedNode("xy", "x")
    bindings = [(Variable("k"), Variable("y")), (Variable("l"), Variable("k")), (Variable("m"), A)]
    node = MaintainedExtend(child, bindings)
    assert node.names == ("x", "y", "k", "l", "m")
    assert node.certain == {"x", "m"}
    emitted = []
    node.emit = lambda solution, count: emitted.append((solution, count))
    child.emit((B, C), -2)
    child.emit((B, None), 1)
    assert emitted == [((B, C, C, C, A), -2), ((B, None, None, None, A), 1)]
    with pytest.raises(NotCovered, match="bound twice"):
        MaintainedExtend(MaintainedNode("x", "x"), [(Variable("x"), A)])
