"""Incremental evaluation gives the reports of the definition on values of every kind, or leaves
them to it.
"""

from __future__ import annotations

import re
from functools import partial

import pytest
from conftest import draws
from hypothesis import event, given, settings
from hypothesis import strategies as st
from incremental_trials import (
    FILTERS,
    RESULTS,
    N,
    P,
    agree,
    asked,
    chosen,
    double,
    integers,
    one_of,
    valued,
)

from refengine import (
    Body,
    literal,
    stream,
)
from refengine.core import r2r
from refengine.model.elements import XSD
from refengine.strategies import inputs, queries, semantics

EDGES = (
    [
        literal(text, XSD + "integer")
        for text in (
            "1",
            "01",
            "+1",
            "-1",
            "2",
            "3",
            "16777217",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775808",
            "abc",
        )
    ]
    + [
        literal(text, XSD + "decimal")
        for text in (
            "1",
            "1.0",
            "1.50",
            "0.1",
            "0.3",
            "-0.3",
            "1000000000.5",
            "0.123456789012345678",
            "1234567890.1234567891",
            "12345678901234567890.5",
        )
    ]
    + [
        literal(text, XSD + "double")
        for text in (
            "1",
            "1.0",
            "1e0",
            "0.1",
            "0.2",
            "0.3",
            "0.30000000000000004",
            "-0.1",
            "-0.0",
            "9007199254740992",
            "1e16",
            "1e308",
            "NaN",
            "INF",
            "5e-324",
        )
    ]
    + [
        literal(text, XSD + "float")
        for text in ("1", "0.1", "0.2", "0.10000000149", "16777216", "1e-45", "1e40")
    ]
    + [
        literal("true", XSD + "boolean"),
        literal("1", XSD + "boolean"),
        literal("x"),
        literal("y"),
        literal("x", language="en"),
        "<urn:a>",
        "_:x",
    ]
    + [literal("2000-01-01T00:00:00" + zone, XSD + "dateTime") for zone in ("", "Z", "+00:00")]
    + [literal("1", XSD + "byte"), literal("300", XSD + "byte"), literal("x", "urn:t")]
)
EDGE_NUMBERS = [
    term
    for term in EDGES
    if any(kind in term for kind in ("#integer", "#decimal", "#double", "#float", "#byte"))
]
EDGE_PATTERNS = (
    f"?x {N} ?v",
    f"?x {N} ?v",
    f"?x {N} ?v . ?x {N} ?w",
    f"?x {P} ?y . ?y {N} ?v",
    f"?x {P}/{N} ?v",
    f"?y ^{P} ?x . ?x {N} ?v",
    f"?x {P} ?y . ?x {N} ?v . ?z {N} ?w",
    f"?x {N} ?v . ?x {N} 1",
    f"?x {N} ?v . ?x {N} 01",
    f"?x {N} ?v . ?z {N} 1.0",
    "?x ?p ?v",
)
EDGE_FILTERS = (
    *FILTERS,
    "?v = 1",
    "?v = 01.0",
    "?v != 'x'",
    "?v = 'x'",
    "?v < 0.3",
    "?v >= 1e0",
    "?v = ?w",
    "?v != ?w",
    "?v + ?w = 0.3",
    "?v - ?w < 1",
    "?v * 3 > 9223372036854775806",
    "?v * ?w = 1",
    "-?v < 0",
    "?v + 0.1 = 1.1",
    "?v = 16777216",
    "?u > 1 && ?v != 'x'",
    "?v > 1 || ?z = 'x'",
    "?v = true",
)
EDGE_HAVINGS = (
    "COUNT(*) > 1",
    "SUM(?v) > 0.3",
    "SUM(?v) = 0.6",
    "SUM(?v) >= 0.30000000000000004e0",
    "AVG(?v) = 1",
    "AVG(?v) > 0.1e0",
    "MIN(?v) = MAX(?v)",
    "MAX(?v) = 16777216",
    "MIN(?v) < 1",
    "SUM(?v) * 3 > AVG(?v)",
    "COUNT(DISTINCT ?v) = COUNT(?v)",
    "!(SUM(?v) < 0.2) && COUNT(*) > 1",
    "SUM(?v) != AVG(?v)",
    "-SUM(?v) < 0.1",
)


@st.composite
def edged(draw: st.DrawFn) -> Body:
    """Draw a body that is covered but for the values that it meets: filters on these, HAVING,
    DISTINCT over aggregates, keys with new names.
    """
    group = draw(one_of(*EDGE_PATTERNS))
    if not draw(integers(0, 2)):
        other = draw(one_of(f"?x {P} ?y", f"?x {N} ?w", f"?x {N} ?u . ?x {P} ?y"))
        group = draw(
            one_of("{} OPTIONAL {{ {} }}", "{{ {} }} UNION {{ {} }}", "{{ {} }} {{ {} }}")
        ).format(group, other)
    known = set(re.findall(r"\?\w", group))
    filters = [
        condition for condition in EDGE_FILTERS if known >= set(re.findall(r"\?\w", condition))
    ]
    if draw(st.booleans()):
        group += f" FILTER({draw(one_of(*filters))})"
    if not draw(integers(0, 2)):
        return Body(f"SELECT {draw(one_of('*', '?x ?v', 'DISTINCT ?v', '?y ?z ?v'))} {{ {group} }}")
    shown = " ".join(f"({aggregate} AS ?r{i})" for i, aggregate in enumerate(draw(RESULTS)))
    key = draw(one_of("", "?x", "?x", "?v"))
    shown = draw(
        one_of("{0} {1}", "{1}", "(?x AS ?k) {1}" if key == "?x" else "{1}", "DISTINCT {1}")
    ).format(key, shown)
    having = f"HAVING ({draw(one_of(*EDGE_HAVINGS))})" if draw(st.booleans()) else ""
    return Body(
        f"SELECT {shown} {{ {group} }} {'GROUP BY ' + key if key else ''} {having} "
        f"{draw(one_of('', '', 'ORDER BY DESC(COUNT(*))' if key else ''))}"
    )


@st.composite
def values(draw: st.DrawFn) -> tuple:
    """Draw a query, its streams, a semantics and no static data; payloads have few values, of any
    kind.
    """
    query = draw(
        queries(
            streams=["s"],
            max_windows=1,
            names=(),
            bodies=edged(),
            sizes=integers(1, 6),
            slides=integers(1, 4),
        )
    )
    chosen = draw(semantics(query))
    pool = draw(
        st.lists(
            st.sampled_from(EDGE_NUMBERS if draw(integers(0, 2)) else EDGES), min_size=1, max_size=5
        )
    )
    valued = st.tuples(one_of("<urn:a>", "<urn:b>", "_:x"), st.just(N), one_of(*pool))
    linked = st.tuples(
        one_of("<urn:a>", "<urn:b>"), st.just(P), one_of("<urn:a>", "<urn:b>", "_:x")
    )
    payloads = (
        None
        if any(spec.by for spec in query.windows)
        else st.frozensets(
            one_of(*range(4)).flatmap(lambda i: valued if i else linked), min_size=1, max_size=3
        )
    )
    return query, draw(inputs(query, chosen, payloads=payloads)), chosen, frozenset()


@settings(max_examples=draws(600))
@given(values())
def test_incremental_is_the_definition_on_values_of_every_kind(trial):
    """What the definition calls without a single answer (QRY-3) ends both, at one report."""
    event(
        re.sub(
            r"\d+ evaluations",
            "some",
            agree(*trial, answer=partial(r2r.ask_evaluator, r2r.DEFINITION)),
        )
    )


BY_VALUE = {
    "a form of the body matches itself alone": (
        "SELECT ?x {?x <urn:n> 01}",
        valued(EDGES[0], EDGES[1]),
        "incremental",
    ),
    "two forms of one value": (
        "SELECT (COUNT(DISTINCT ?v) AS ?r) {?x <urn:n> ?v FILTER(?v = 1)}",
        valued(EDGES[0], EDGES[1]),
        "incremental",
    ),
    "averages of up to ten floats": (
        "SELECT (AVG(?v) AS ?r) {?x <urn:n> ?v}",
        valued(*[literal(f"{20 + n}.7", XSD + "float") for n in range(10)]),
        "incremental",
    ),
    "averages that are nearly equal one after the other": (
        "SELECT (AVG(?v) AS ?r) {?x <urn:n> ?v}",
        valued(*map(double, ("1", "1.000000001", "1.0000000005", "3", "1.000000001"))),
        "incremental",
    ),
    "a sum next to zero": (
        "SELECT (SUM(?v) AS ?r) {?x <urn:n> ?v}",
        valued(*[double("5e-324")] * 3),
        "nearer to zero than 2^-1000",
    ),
    "a rounded sum whose text stays": (
        "SELECT (SUM(?v) AS ?r) {?x <urn:n> ?v} HAVING(SUM(?v) > 0.499999999999)",
        [
            *valued(*map(double, ("0.25", "0.125", "0.125"))),
            ([(f"<urn:{text}>", N, double(text)) for text in ("1e3", "-1e3")], 3),
        ],
        "rounding tells apart",
    ),
    "numbers that are equal as floats alone": (
        "SELECT (COUNT(*) AS ?r) {?x <urn:n> ?v} HAVING(MAX(?v) > 16777216)",
        valued(literal("16777217", XSD + "integer"), literal("16777216", XSD + "float")),
        "equal as floats",
    ),
    "a float that a double lies next to": (
        "SELECT ?x {?x <urn:n> ?v FILTER(?v > 0.100000001e0)}",
        valued(literal("0.1", XSD + "float")),
        "incremental",
    ),
}


@pytest.mark.parametrize("name", BY_VALUE)
def test_a_value_that_decides(name):
    body, items, told = BY_VALUE[name]
    fields = {"report": "content-change", "closure": "none", "tick": "tuple"}
    assert told in agree(
        asked(body, "unbounded"),
        {"s": stream(items)},
        chosen(**fields),
        answer=partial(r2r.ask_evaluator, r2r.DEFINITION),
    )
