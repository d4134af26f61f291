"""What incremental evaluation leaves to the SPARQL evaluator, each with its reason."""

from __future__ import annotations

import re

import pytest
from incremental_trials import double

from refengine import Body, literal
from refengine.core import r2r
from refengine.incremental.algebra.body import MaintainedBody, split_pattern
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import XSD
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.algebra import Exists, always_bound, walk
from refengine.sparql.functions import TIMESTAMP

P = "<urn:p>"
BODIES = {
    # above the WHERE clause
    "CONSTRUCT { ?x <urn:q> [] } WHERE { ?x <urn:p> ?y }": (
        "blank nodes of a template, which are new at every evaluation"
    ),
    # patterns
    "SELECT ?x { <urn:a> (<urn:p>?/<urn:q>?)|<urn:p> <urn:a> }": (
        "a path with a sequence in it from a term to itself"
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
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS "
    "{ ?x <urn:q> ?z { ?x ?q ?w FILTER(?w = ?y) } OPTIONAL { ?z <urn:q> ?v } } }": (
        "EXISTS with ?y from outside in an inner filter"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q> ?z { ?z ?q ?w FILTER(?w = ?y) } } }": (
        "EXISTS with ?y from outside in an inner filter"
    ),
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS "
    "{ { ?x <urn:q> ?z FILTER(?z = ?y) } MINUS { ?z <urn:q> ?w } } }": (
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
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x (<urn:q>?/<urn:p>) ?z } }": (
        "EXISTS with ?x from outside in a path that may have no steps"
    ),
    "SELECT * { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z } FILTER EXISTS "
    "{ ?x <urn:q> ?z FILTER(?z != ?y) } }": (
        "EXISTS with a filter, where ?z may be unbound outside"
    ),
    "SELECT * { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z FILTER EXISTS { ?x <urn:q> ?z } } }": (
        "EXISTS in an OPTIONAL's filter on variables from outside"
    ),
    # expressions
    "SELECT ?x (BNODE() AS ?b) { ?x <urn:p> ?y }": "BNODE()",
    "SELECT ?x (NOW() AS ?b) { ?x <urn:p> ?y }": "NOW()",
    "SELECT ?x { ?x <urn:p> ?y FILTER(RAND() < 2) }": "RAND()",
    "SELECT ?x { ?x <urn:p> ?y FILTER(ISIRI(UUID())) }": "UUID()",
    "SELECT ?x (COUNT(STRUUID()) AS ?n) { ?x <urn:p> ?y } GROUP BY ?x": "STRUUID()",
    f"SELECT ?x (<{TIMESTAMP}>(?x, <urn:p>, ?y) AS ?t) {{ ?x <urn:p> ?y }}": "the time of a triple",
    "BASE <urn:b:> SELECT (IRI(?y) AS ?z) { ?x <urn:p> ?y }": "IRI() in a body with BASE",
    "BASE <urn:b:> SELECT (URI(?y) AS ?z) { ?x <urn:p> ?y }": "URI() in a body with BASE",
    "SELECT * { ?x <urn:p> 'a'@EN FILTER(LANG(?x) = 'en') }": (
        "LANG() in a body that writes a language tag in upper case"
    ),
}


def ignore(row: object, count: int) -> None:
    """Take a row that comes or goes, and do nothing with it."""


@pytest.mark.parametrize("text", BODIES)
def test_a_body_that_is_not_covered(text: str):
    with pytest.raises(NotCovered) as refused:
        MaintainedBody(Body(text), ignore)
    assert str(refused.value) == BODIES[text]


def test_functions_without_base_and_tags_are_covered():
    for text in (
        "SELECT (IRI(?y) AS ?z) { ?x <urn:p> ?y }",
        "SELECT * { ?x <urn:p> 'a'@en FILTER(LANG(?x) = 'en') }",
    ):
        MaintainedBody(Body(text), ignore)


def number(text: str, kind: str = "integer") -> str:
    return literal(text, XSD + kind)


FILTER = "SELECT * {{ ?x <urn:n> ?v FILTER({}) }}"
BIND = "SELECT * {{ ?x <urn:n> ?v BIND({} AS ?w) }}"
AGGREGATE = "SELECT ({} AS ?n) {{ ?x <urn:n> ?v }}"
BIGGEST = str(2**63 - 1)
DATES = [
    literal(text, XSD + "dateTime") for text in ("2000-01-01T00:00:00", "2000-01-01T00:00:00Z")
]
OF_TWO_KINDS = "whether literals of two kinds are known to differ (SPARQL 17.3.1)"
NO_FORM = "the lexical form of a computed number"
VALUES = [
    (FILTER.format("?v = 'x'"), [number("1")], OF_TWO_KINDS),
    (FILTER.format("'x' != ?v"), [number("1")], OF_TWO_KINDS),
    (FILTER.format("?v = 'x'"), [literal("x", language="en")], OF_TWO_KINDS),
    (FILTER.format("?v <= ?v"), ["<urn:a>"], "the order of a term and itself (SPARQL 17.3.1)"),
    (
        BIND.format("LANG(?v)"),
        [literal("x", language="en-us")],
        "the case of a language tag (RDF 1.1 §3.3)",
    ),
    (
        BIND.format("<http://www.w3.org/2001/XMLSchema#integer>(?v)"),
        [number("01")],
        "whether a cast keeps the lexical form of its operand",
    ),
    (BIND.format("STR(?v / 2)"), [number("4")], "the lexical form of a computed xsd:decimal"),
    (BIND.format("?v + 1"), [number(BIGGEST)], "an integer beyond 64 bits, 9223372036854775808"),
    # what is shown, or told apart, by the form of a computed number
    (
        "SELECT DISTINCT ?w { ?x <urn:n> ?v BIND(IF(?v < 3, ?v, ?v / 2) AS ?w) }",
        [number("2.0", "decimal"), number("4.0", "decimal")],
        NO_FORM,
    ),
    (
        "SELECT (COUNT(*) AS ?n) { ?x <urn:n> ?v } GROUP BY (IF(?v < 3, ?v, ?v / 2))",
        [number("2.0", "decimal"), number("4.0", "decimal")],
        NO_FORM,
    ),
    (
        AGGREGATE.format("COUNT(DISTINCT IF(?v < 3, ?v, ?v / 2))"),
        [number("2.0", "decimal"), number("4.0", "decimal")],
        NO_FORM,
    ),
    (  # COUNT(DISTINCT *) also tells solutions apart by the key of the group, though that is no
        # variable of WHERE
        "SELECT (COUNT(DISTINCT *) AS ?n) { ?x <urn:n> ?v } GROUP BY (IF(?v < 3, ?v, ?v / 2))",
        [number("2.0", "decimal"), number("4.0", "decimal")],
        NO_FORM,
    ),
    (
        "SELECT (COUNT(DISTINCT *) AS ?n) "
        "{ ?x <urn:n> ?v BIND(IF(?v < 3, ?v, ?v / 2) AS ?w) } GROUP BY ?x",
        [number("2.0", "decimal"), number("4.0", "decimal")],
        NO_FORM,
    ),
    (
        "CONSTRUCT { <urn:a> <urn:n> ?v , ?w } { ?x <urn:n> ?v BIND(?v / 2 AS ?w) }",
        [number("2.0", "decimal"), number("4.0", "decimal")],
        NO_FORM,
    ),
    (
        "SELECT DISTINCT (?v / 3 AS ?w) { ?x <urn:n> ?v }",
        [number("1")],
        "a rounded number that decides which solutions are the same",
    ),
    (
        "SELECT DISTINCT (?v * 1e0 AS ?w) { ?x <urn:n> ?v }",
        [double("INF")],
        "the number inf",
    ),
    (AGGREGATE.format("SUM(?v / 3)"), [number("1")], "an aggregate over a rounded number"),
    # aggregates
    (AGGREGATE.format("MIN(?v + 1)"), ["<urn:a>"], "MIN or MAX over an error"),
    (
        AGGREGATE.format("MAX(?v)"),
        [literal("x"), number("1")],
        "MIN or MAX of terms that have no order",
    ),
    (AGGREGATE.format("MAX(?v)"), DATES, "MIN or MAX of terms that have no order"),
    (
        AGGREGATE.format("MIN(?v)"),
        ["_:a", "_:b"],
        "MIN or MAX of terms that are equal or have no order",
    ),
    (
        AGGREGATE.format("MIN(?v)"),
        [
            literal(f"2000-01-01T00:00:00.{digits}Z", XSD + "dateTime")
            for digits in ("0001", "0002")
        ],
        "MIN or MAX of terms that are equal or have no order",
    ),
    (
        AGGREGATE.format("MAX(?v)"),
        [literal("true", XSD + "boolean"), literal("1", XSD + "boolean")],
        "MIN or MAX of terms that are equal or have no order",
    ),
    (
        AGGREGATE.format("MIN(?v)"),
        [literal("x", language="en"), literal("y", language="en")],
        "MIN or MAX of terms that are equal or have no order",
    ),
    (
        AGGREGATE.format("SAMPLE(?v)"),
        ["<urn:a>", "<urn:b>"],
        "SAMPLE of several values (<urn:a> and <urn:b>)",
    ),
    (
        AGGREGATE.format("GROUP_CONCAT(?v)"),
        [literal("x"), literal("y")],
        'GROUP_CONCAT of several values, whose order is not fixed ("x" and "y")',
    ),
    (
        AGGREGATE.format("GROUP_CONCAT(?v)"),
        ["<urn:a>"],
        "GROUP_CONCAT of what is no literal (<urn:a>)",
    ),
    (
        AGGREGATE.format("GROUP_CONCAT(?v)"),
        list(map(literal, "abcde")),
        "GROUP_CONCAT of several values",
    ),
    (AGGREGATE.format("SUM(?v)"), [double("NaN")], "the number nan"),
    (
        AGGREGATE.format("SUM(?v)").replace("SELECT", "SELECT DISTINCT"),
        [double("0.5"), double("0.25"), double("0.125")],
        "a rounded sum or average that a set depends on",
    ),
    (
        "SELECT * { ?x <urn:n> ?v { SELECT (AVG(?w) AS ?v) { ?y <urn:n> ?w } } }",
        [number("2.0", "decimal")],
        "the lexical form of a computed number",
    ),
    (
        "SELECT * { ?x <urn:n> ?v { SELECT ?v { ?y <urn:n> ?w } GROUP BY (?w + 0.0 AS ?v) } }",
        [number("2.0", "decimal")],
        "the lexical form of a computed number",
    ),
    (
        "SELECT * { ?x <urn:n> ?v MINUS { SELECT (AVG(?w) AS ?v) { ?y <urn:n> ?w } } }",
        [number("2.0", "decimal")],
        "the lexical form of a computed number",
    ),
    (
        "SELECT * { ?x <urn:n> ?w BIND(?w * 2.0 AS ?v) FILTER EXISTS { ?y <urn:n> ?v } }",
        [number("1.0", "decimal"), number("2.0", "decimal")],
        "a computed number within EXISTS",
    ),
    (
        "SELECT * { ?x <urn:n> ?w BIND(?w * 2.0 AS ?v) "
        "FILTER(?w > 5 || EXISTS { ?y <urn:n> ?v }) }",
        [number("1.0", "decimal"), number("2.0", "decimal")],
        "a computed number within EXISTS",
    ),
    (
        "SELECT * { ?x <urn:n> ?w BIND(?w * 2.0 AS ?k) FILTER EXISTS "
        "{ ?x <urn:n> ?v FILTER(?v + 1 != ?w && EXISTS { ?y <urn:n> ?k }) } }",
        [number("1.0", "decimal"), number("2.0", "decimal")],
        "a computed number within EXISTS",
    ),
    *(
        (text, [number("1.0", "decimal")], "a computed number within EXISTS")
        for text in (
            "SELECT * { ?x <urn:n> ?w BIND(?w * 2.0 AS ?v) BIND(EXISTS { ?y <urn:n> ?v } AS ?e) }",
            "SELECT * { ?x <urn:n> ?w BIND(?w * 2.0 AS ?v) } "
            "ORDER BY (EXISTS { ?y <urn:n> ?v }) LIMIT 1",
            "SELECT (COUNT(*) AS ?n) { ?x <urn:n> ?w BIND(?w * 2.0 AS ?v) } "
            "GROUP BY (EXISTS { ?y <urn:n> ?v })",
            "SELECT (SUM(IF(EXISTS { ?y <urn:n> ?v }, 1, 0)) AS ?n) "
            "{ ?x <urn:n> ?w BIND(?w * 2.0 AS ?v) }",
        )
    ),
    (
        "SELECT ?v { ?x <urn:n> ?w BIND(?w * 2.0 AS ?v) } GROUP BY ?v "
        "HAVING(EXISTS { ?v <urn:p> ?y })",
        [number("1.0", "decimal")],
        "a computed number within EXISTS",
    ),
    (
        "SELECT * { ?x <urn:n> ?w "
        "{ SELECT DISTINCT ?m { { ?y <urn:n> ?m } UNION { ?y <urn:n> ?v BIND(?v + 0.0 AS ?m) } } } "
        "}",
        [number("2.0", "decimal")],
        "the lexical form of a computed number",
    ),
    (
        "SELECT (MAX(?m) AS ?n) { { SELECT (AVG(?v) AS ?m) { ?y <urn:n> ?v } } }",
        [double("0.5"), double("0.25"), double("0.125")],
        "a rounded number that decides which solutions are the same",
    ),
    (
        "SELECT * { { SELECT (AVG(?v) AS ?m) { ?y <urn:n> ?v } } OPTIONAL { ?m <urn:p> ?v } }",
        [double("0.5"), double("0.25"), double("0.125")],
        "a rounded number that decides which solutions are the same",
    ),
    (
        "SELECT * { { SELECT (MAX(?v) AS ?m) { ?y <urn:n> ?v } } ?x <urn:n> ?m }",
        [number("1.5", "decimal"), number("1.50", "decimal")],
        "the lexical form of a computed number",
    ),
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
    (  # below 2 ** 1024, but it may round to infinity
        AGGREGATE.format("SUM(?v)"),
        [double("1.7976931348623157e308"), double("9.979201547673599e291")],
        "a sum beyond all doubles in some orders of adding",
    ),
    (
        AGGREGATE.format("SUM(?v)"),
        [double("0.1"), double("-0.1"), double("1e-306")],
        "a sum of doubles nearer to zero than 2^-1000, whose slack is no double",
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


@pytest.mark.parametrize(
    "group",
    [
        "{ ?x <urn:n> ?v . ?y <urn:n> ?w FILTER(?v < ?w) } FILTER(?x = <urn:b>)",
        "{ ?x <urn:n> ?v FILTER('x'@en < 'y'@en) } FILTER(?x = <urn:b>)",
        "{ { ?x <urn:n> ?v . ?y <urn:n> ?w FILTER(?v < ?w) } FILTER(?x = ?y) } FILTER(?v = ?w)",
    ],
)
def test_an_inner_filter_is_asked_of_what_an_outer_one_drops(group: str):
    """So does the SPARQL evaluator, which has no single answer then."""
    triples = [(f"<urn:{i}>", "<urn:n>", value) for i, value in enumerate(DATES)]
    body = Body(f"SELECT * {{ {group} }}")
    with pytest.raises(NoSingleAnswer):
        r2r.defined_answer(body, frozenset(triples))
    maintained = MaintainedBody(body, ignore)
    with pytest.raises(NotCovered):
        for triple in triples:
            maintained.insert(triple)


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


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("COUNT", number("2")),
        ("SUM", number("4", "decimal")),
        ("AVG", number("2", "decimal")),
    ],
)
def test_numbers_are_counted_and_added_whatever_their_form(name: str, expected: str):
    """One is computed as 2.0, and the other is the data's."""
    rows: list = []
    text = AGGREGATE.format(f"{name}(IF(?v < 2, ?v + 1.0, ?v))")
    body = MaintainedBody(Body(text), lambda row, count: rows.append(row))
    for i, value in enumerate(("1.0", "2.0")):
        body.insert((f"<urn:{i}>", "<urn:n>", number(value, "decimal")))
    body.flush()
    assert rows == [(("n", expected),)]


def test_a_condition_on_all_that_its_pattern_binds_stays_within_exists():
    (pattern,) = (
        part.pattern
        for part in walk(
            Body("ASK { FILTER EXISTS { ?x <urn:p> ?z FILTER(?x != ?z) } }").algebra.pattern
        )
        if isinstance(part, Exists)
    )
    assert split_pattern(pattern, {"x", "z"}) == ((), pattern)


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("?x <urn:p> ?y", "xy"),
        ("{ ?x <urn:p> ?y } { ?y <urn:q> ?z }", "xyz"),
        ("{ ?x <urn:p> ?y } UNION { ?y <urn:q> ?z }", "y"),
        ("GRAPH ?g { ?x <urn:p> ?y }", "gxy"),
        ("GRAPH <urn:g> { ?x <urn:p> ?y }", "xy"),
        ("VALUES (?x ?y) { (1 UNDEF) (2 3) }", "x"),
        ("?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z }", "xy"),
        ("?x <urn:p> ?y MINUS { ?y <urn:q> ?z }", "xy"),
        ("?x <urn:p> ?y FILTER(?y = ?z)", "xy"),
        ("?x <urn:p> ?y BIND(?y AS ?z)", "xy"),
        ("{ SELECT ?x ?z { ?x <urn:p> ?y } }", "x"),
        ("{ SELECT DISTINCT ?x { ?x <urn:p> ?y } }", "x"),
        ("{ SELECT REDUCED ?x { ?x <urn:p> ?y } }", "x"),
        ("{ SELECT ?x { ?x <urn:p> ?y } ORDER BY ?y LIMIT 1 }", "x"),
        ("{ SELECT ?x (COUNT(*) AS ?n) { ?x <urn:p> ?y } GROUP BY ?x }", "x"),
        ("{ SELECT ?k (COUNT(*) AS ?n) { ?x <urn:p> ?y } GROUP BY (STR(?y) AS ?k) }", ""),
    ],
)
def test_variables_that_every_solution_binds(group: str, names: str):
    """Filters within EXISTS may look at these, where solutions outside bind them, too."""
    pattern = Body(f"SELECT * {{ {group} }}").algebra.pattern
    assert always_bound(pattern.pattern) == set(names)


def test_no_condition_is_asked_of_what_an_equality_leaves_without_a_partner():
    """?y ?w is joined before ?z ?u, since ?w equals ?v. So 1 is compared with "x" only if there is
    a ?w that is 1. Then it is open whether the two differ.
    """
    text = "SELECT * { ?x <urn:n> ?v . ?z <urn:p> ?u . ?y <urn:q> ?w FILTER(?v = ?w && ?v != ?u) }"
    body = MaintainedBody(Body(text), ignore)
    body.insert(("<urn:z>", "<urn:p>", literal("x")))
    body.insert(("<urn:y>", "<urn:q>", number("2")))
    body.insert(("<urn:x>", "<urn:n>", number("1")))
    with pytest.raises(NotCovered, match=f"^{re.escape(OF_TWO_KINDS)}$"):
        body.insert(("<urn:x>", "<urn:n>", number("2")))
