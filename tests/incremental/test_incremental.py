"""incremental.py is the definition, faster: the same reports on everything that is drawn, and on
all evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest
from conftest import draws
from hypothesis import event, given, settings
from hypothesis import strategies as st

from refengine import (
    Body,
    Element,
    Query,
    Semantics,
    Stream,
    from_table,
    incremental,
    literal,
    profile,
    stream,
)
from refengine.core import engine, r2r
from refengine.core.engine import Answer, Report
from refengine.model import compare
from refengine.model.elements import XSD, Dataset
from refengine.model.errors import Disputed, RefengineError
from refengine.oracle import judge
from refengine.strategies import bodies, inputs, queries, semantics

P, Q, N = "<urn:p>", "<urn:q>", "<urn:n>"
PATTERNS = (
    f"?x {P} ?y",
    f"?x {P} ?y . ?y {Q} ?z",
    f"?x {P} ?y . ?x {Q} ?z",
    f"?x {P} ?x",
    f"?x {N} ?v",
    f"?x {P} ?y . ?y {N} ?v",
    f"?x {N} ?v . ?z {N} ?w",
    f"?x {N} ?v . ?x {N} ?w",
    "?x ?p ?y",
    "?x ?p ?y . ?y ?p ?z",
    f"<urn:a> {P} ?y",
    f"?x {P} <urn:b> . ?x {N} ?v",
    f"?x {N} 2 . ?x {P} _:b",
    f"_:b {P} ?y . _:b {Q} ?z",
)
FILTERS = (
    "?v > 1",
    "?v <= 2",
    "?v != 10",
    "?x = <urn:a>",
    "?x != ?y",
    "!(?v > 1 || ?x = <urn:b>)",
    "?v > 1 && ?v < 10",
    "BOUND(?v)",
    "?v * 2 - 1 > ?w",
    "-?v > ?w + 1",
    "?y = 'x'",
    "?w > ?v",
    "!BOUND(?z)",
    "?z < 3",
)
AGGREGATES = (
    "COUNT(*)",
    "COUNT(?v)",
    "COUNT(DISTINCT ?x)",
    "SUM(?v)",
    "AVG(?v)",
    "MIN(?v)",
    "MAX(?v)",
    "SUM(DISTINCT ?v)",
    "AVG(DISTINCT ?v)",
)
NUMBERS = [
    literal(text, XSD + kind)
    for text, kind in (
        ("1", "double"),
        ("2.5", "double"),
        ("-3.25", "double"),
        ("7", "integer"),
        ("0.1", "decimal"),
        ("2.50", "double"),
    )
]


# Hypothesis examines a strategy at its first draw, which takes longer than the draw: each is made
# once.
integers, one_of = cache(st.integers), cache(lambda *values: st.sampled_from(values))
CONDITIONS = st.lists(st.sampled_from(FILTERS), max_size=2)
PLAIN = st.tuples(
    st.sampled_from(["<urn:a>", "<urn:b>", "<urn:c>"]),
    st.sampled_from([P, Q]),
    st.sampled_from(["<urn:a>", "<urn:b>", "_:x"]),
)
NUMERIC = st.tuples(
    st.sampled_from(["<urn:a>", "<urn:b>", "_:x"]), st.just(N), st.sampled_from(NUMBERS)
)
NUMERIC_OR_PLAIN = st.frozensets(NUMERIC | PLAIN, max_size=2)
RESULTS = st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=2)


@st.composite
def covered(draw: st.DrawFn) -> Body:
    """Bodies of what incremental.py covers, or nearly: patterns with filters, OPTIONAL, UNION,
    joins, DISTINCT, aggregates.
    """
    group = draw(one_of(*PATTERNS))
    for _ in range(draw(integers(0, 2))):
        other = draw(one_of(*PATTERNS))
        if draw(st.booleans()):
            other += f" FILTER({draw(one_of(*FILTERS))})"
        other = other.replace("_:b", f"_:b{_}")  # a label stands in one group
        kind = draw(
            one_of(
                "{} OPTIONAL {{ {} }}", "{{ {} }} UNION {{ {} }}", "{{ {} }} {{ {} }}", "{} . {}"
            )
        )
        group = kind.format(group, other)
    for condition in draw(CONDITIONS):
        group += f" FILTER({condition})"
    if draw(integers(0, 2)):
        return Body(
            "SELECT "
            f"{draw(one_of('*', '?x', '?x ?v', 'DISTINCT ?x', '?y ?z ?v', 'DISTINCT *'))} "
            f"{{ {group} }}"
        )
    shown = " ".join(f"({aggregate} AS ?r{i})" for i, aggregate in enumerate(draw(RESULTS)))
    key = draw(one_of("", "?x"))
    having = draw(one_of("", "HAVING (COUNT(*) > 1)"))
    return Body(f"SELECT {key} {shown} {{ {group} }} {'GROUP BY ' + key if key else ''} {having}")


def same(a: Report, b: Report) -> bool:
    """Whether two reports are one, answers value for value."""
    facts = [
        (
            r.evaluation,
            r.trigger,
            r.windows,
            r.instant,
            r.late,
            r.relation.variables,
            tuple(map(tuple, r.contents)),
        )
        for r in (a, b)
    ]
    return facts[0] == facts[1] and compare.equal(a.relation.rows, b.relation.rows)


def taken(evaluate: Any, *args: Any, **kwargs: Any) -> tuple[list[Report], RefengineError | None]:
    """The reports of an evaluation, and what it ended in."""
    reports = []
    try:
        for report in evaluate(*args, **kwargs):
            reports.append(report)
    except RefengineError as error:
        return reports, error
    return reports, None


def agree(
    query: Query,
    streams: Mapping[str, Stream],
    chosen: Semantics,
    static: Dataset = frozenset(),
    answer: Answer = r2r.confirmed,
) -> str:
    """Asserts that both give the same reports, or end in the same error, and tells who computed
    them.
    """
    wanted, error = taken(engine.evaluate, query, streams, chosen, static=static, answer=answer)
    try:
        run = incremental.evaluate(query, streams, chosen, static=static, answer=answer)
    except RefengineError as refused:
        assert str(refused) == str(error) and not wanted
        return "refused"
    found, other = taken(lambda: run)
    if isinstance(error, Disputed):  # the definition has no answer here
        assert all(map(same, found, wanted))
        return "disputed"
    assert len(found) == len(wanted) and all(map(same, found, wanted)), run.provenance
    assert str(other) == str(error)
    streamed(query, streams, chosen, static, wanted, error, answer)
    return str(run.provenance)


def streamed(
    query: Query,
    streams: Mapping[str, Stream],
    chosen: Semantics,
    static: Dataset,
    wanted: list[Report],
    error: RefengineError | None,
    answer: Answer,
) -> None:
    """Asserts the same of streams that are read only as they are evaluated, with contents looked up
    at once.
    """
    again, found = [], None
    try:
        again_streams = {name: iter(elements) for name, elements in streams.items()}
        for report in incremental.evaluate(
            query, again_streams, chosen, static=static, answer=answer
        ):
            again.append(replace(report, contents=tuple(map(tuple, report.contents))))
    except RefengineError as raised:
        found = raised
    assert all(map(same, again, wanted))
    if found is None or found.rule != "ENG-6":
        assert len(again) == len(wanted) and str(found) == str(error)


@st.composite
def trials(draw: st.DrawFn, found: st.SearchStrategy[Body]) -> tuple:
    """A query, its streams, a semantics and static data; payloads with numbers of all kinds."""
    names = () if draw(integers(0, 7)) else ("urn:w1",)
    query = draw(
        queries(
            streams=["s", "r"],
            max_windows=2,
            names=names,
            bodies=found,
            sizes=integers(1, 6),
            slides=integers(1, 7),
        )
    )
    chosen = draw(semantics(query))
    keyed = any(spec.by for spec in query.windows)
    payloads = None if keyed or draw(st.booleans()) else NUMERIC_OR_PLAIN
    static = (
        frozenset()
        if draw(integers(0, 3))
        else frozenset([("<urn:a>", N, NUMBERS[0]), ("_:x", P, "<urn:b>")])
    )
    return query, draw(inputs(query, chosen, payloads=payloads)), chosen, static


@settings(max_examples=draws(400))
@given(trials(covered()))
def test_incremental_is_the_definition(trial):
    agree(*trial)


@settings(max_examples=draws(120))
@given(trials(bodies(names=(), graph_variable=False)))
def test_incremental_is_the_definition_for_every_body(trial):
    agree(*trial)


# Values of every kind, by the definition alone

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
    """Bodies that are covered but for the values that they meet: filters on these, HAVING, DISTINCT
    over aggregates, keys renamed.
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
    """A trial whose payloads have few values, of any kind."""
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
        re.sub(r"\d+ evaluations", "some", agree(*trial, answer=partial(r2r.ask, r2r.DEFINITION)))
    )


def chosen(**fields: Any) -> Semantics:
    """Right-open windows from 0, reported when they close, Rstream, all answers told."""
    return (
        profile("csparql")
        .but(**{"t0": 0, "report": "window-close", "tick": "time", "horizon": 100, **fields})
        .semantics()
    )


def asked(body: str, kind: str = "time", **window: Any) -> Query:
    """A query over one window."""
    sizes = {"size": 2, "slide": 2} if kind == "time" else {}
    return from_table({"body": body, "windows": [{"stream": "s", "kind": kind, **sizes, **window}]})


def double(text: str) -> str:
    return literal(text, XSD + "double")


def valued(*terms: str) -> list[tuple]:
    """Elements that come at one instant each, with one value each."""
    return [((f"<urn:{i}>", N, term), i) for i, term in enumerate(terms)]


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
    "a sum next to zero": (
        "SELECT (SUM(?v) AS ?r) {?x <urn:n> ?v}",
        valued(*[double("5e-324")] * 3),
        "order of adding",
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
        answer=partial(r2r.ask, r2r.DEFINITION),
    )


# What a hostile reader found


ISTREAM = {"r2s": "Istream", "base": "previous"}
UNBOUNDED = {"report": "content-change", "closure": "none", **ISTREAM}
FOUND = {
    "BIND beside FILTER": (
        "SELECT ?x ?z {?x <urn:p> ?y BIND(?y AS ?z) FILTER(?x != ?y)}",
        [(("<urn:a>", P, "<urn:b>"), 1)],
        {},
        {},
    ),
    "a sum beyond all doubles": (
        "SELECT ?k {?k <urn:p> ?x . ?x <urn:n> ?v} GROUP BY ?k HAVING(SUM(?v) > 0e0)",
        [
            ([("<urn:A>", P, f"<urn:{i}>"), (f"<urn:{i}>", N, double(text))], 1)
            for i, text in enumerate(("1e308", "1.5e308"))
        ],
        {},
        {},
    ),
    "a double near two others": (
        "SELECT ?v {?x <urn:n> ?v}",
        [
            ((f"<urn:{i}>", N, term), at)
            for i, (term, at) in enumerate(
                (
                    (double("7.0"), 1),
                    (double("7.0000000035"), 1),
                    (double("7.0"), 3),
                    (double("6.9999999965"), 3),
                )
            )
        ],
        {},
        ISTREAM,
    ),
    "which of two near doubles is new": (
        "SELECT ?v {?x <urn:n> ?v}",
        [
            ((f"<urn:{i}>", N, double(text)), at)
            for i, (text, at) in enumerate((("1.0000000009", 1), ("1.0000000018", 1), ("1.0", 2)))
        ],
        {"kind": "unbounded"},
        UNBOUNDED,
    ),
    "which of two small decimals is new": (
        "SELECT ?v {?x <urn:n> ?v}",
        [
            ((f"<urn:{i}>", N, literal(text, XSD + "decimal")), at)
            for i, (text, at) in enumerate(
                (("0.0000000000000000009", 1), ("0.0000000000000000018", 1), ("0.0", 2))
            )
        ],
        {"kind": "unbounded"},
        UNBOUNDED,
    ),
    "an integer beyond all doubles": (
        "SELECT ?v {?x <urn:n> ?v}",
        [
            ((f"<urn:{i}>", N, term), 1)
            for i, term in enumerate(
                (
                    literal("1" + "0" * 400, XSD + "integer"),
                    double("1e0"),
                    literal("2" + "0" * 400, XSD + "integer"),
                )
            )
        ],
        {},
        ISTREAM,
    ),
    "sums that rounding tells apart": (
        "SELECT DISTINCT (SUM(?v) AS ?r) {?k <urn:p> ?x . ?x <urn:n> ?v} GROUP BY ?k",
        [([("<urn:A>", P, f"<urn:{i}>"), (f"<urn:{i}>", N, double("0.1"))], 1) for i in range(6)]
        + [([("<urn:B>", P, "<urn:b>"), ("<urn:b>", N, double("0.6000000000000001"))], 1)],
        {},
        {},
    ),
    "averages that digits tell apart": (
        "SELECT DISTINCT (AVG(?v) AS ?r) {?k <urn:p> ?x . ?x <urn:n> ?v} GROUP BY ?k",
        [
            (
                [
                    (f"<urn:{k}>", P, f"<urn:{k}{i}>"),
                    (f"<urn:{k}{i}>", N, literal(text, XSD + "decimal")),
                ],
                1,
            )
            for k, texts in (
                ("A", ("1000000000000000000", "0.0", "0.000000000000000001")),
                ("B", ("1000000000000000000", "0.1", "0.0")),
            )
            for i, text in enumerate(texts)
        ],
        {},
        {},
    ),
    "a variable twice": ("SELECT ?x ?x {?x <urn:p> ?y}", [(("<urn:a>", P, "<urn:b>"), 1)], {}, {}),
    "a gap's elements at one instant": (
        "SELECT ?x {?x <urn:p> ?y}",
        [
            ((f"<urn:{name}>", P, "<urn:x>"), at)
            for name, at in (("b", 2), ("c", 2), ("d", 3), ("e", 4), ("f", 9))
        ],
        {"size": 2, "slide": 3},
        {"report": "content-change"},
    ),
    "an arrival at s0 less the one instant by which it is early": (
        "SELECT ?x {?x <urn:p> ?y}",
        [((f"<urn:{name}>", P, "<urn:x>"), at) for name, at in (("b", -1), ("c", 0), ("d", 0))],
        {"size": 5, "slide": 1},
        {"report": "content-change", "partial": "reported", "closing": "passed"},
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name):
    body, items, window, fields = FOUND[name]
    agree(asked(body, **window), {"s": stream(items)}, chosen(**fields))


@pytest.mark.parametrize("bound", [0, 1, 5, 6, 7, 11, engine.MAX_REPORTS])
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"closing": "passed"},
        {"closing": "passed", "expiry": "eager"},
        {"closing": "passed", "tick": "time"},
    ],
)
@pytest.mark.parametrize("slide", [1, 3, 4, 7])
@pytest.mark.parametrize("t0", [-2, -1, 0])
def test_elements_of_one_instant(t0, slide, fields, bound):
    """What is seen between them, and which of them is one too many."""
    items = [
        ((f"<urn:{i}>", P, "<urn:x>"), at)
        for i, at in enumerate((-1, -1, -1, 0, 0, 0, 0, 1, 3, 3, 3, 9, 9))
    ]
    semantics = chosen(
        **{"t0": t0, "report": "content-change", "tick": "tuple", "partial": "reported", **fields}
    )
    planned = engine.plan(
        asked("SELECT ?x {?x <urn:p> ?y}", size=4, slide=slide), {"s": stream(items)}, semantics
    )
    assert (
        taken(incremental.schedule_evaluations, planned, bound)[0]
        == taken(engine.evaluations, planned, bound)[0]
    )
    assert str(taken(incremental.schedule_evaluations, planned, bound)[1]) == str(
        taken(engine.evaluations, planned, bound)[1]
    )


def test_the_oracle_passes_what_the_definition_gives():
    """BIND beside FILTER, under Dstream: the base of the difference was wrong, and what was told
    last was not.
    """
    body, items, _, _ = FOUND["BIND beside FILTER"]
    query, streams = asked(body), {"s": stream(items)}
    fields = {"r2s": "Dstream", "base": "previous", "empty": "suppress"}
    recorded = [report.relation for report in engine.evaluate(query, streams, chosen(**fields))]
    assert judge.judge(
        query,
        streams,
        profile("csparql").but(report="window-close", tick="time", horizon=100, **fields),
        recorded,
    ).passed


def test_a_streamed_first_element_is_checked():
    wrong = Element(frozenset(), "3", 1)
    for t0 in ("first-element", "first-reach", 0):
        with pytest.raises(RefengineError, match="element 1: MOD-1: t_app must be an integer"):
            list(
                incremental.evaluate(
                    asked("SELECT ?x {?x <urn:p> ?y}"), {"s": iter([wrong])}, chosen(t0=t0)
                )
            )


@pytest.mark.parametrize("t0", [0, 10**9])
@pytest.mark.parametrize(
    ("kind", "window"),
    [
        ("time", {"size": 5, "slide": 50_000}),
        ("time", {"size": 5, "slide": 5}),
        ("range", {"size": 5}),
        ("rows", {"size": 5}),
        ("tuple", {"size": 5, "slide": 5}),
    ],
)
def test_a_stream_is_forgotten(kind, window, t0):
    """Whatever is reported, and if nothing is."""
    elements = (
        Element(frozenset([(f"<urn:{i}>", P, "<urn:x>")]), 10 + i // 2, i) for i in range(1, 30_000)
    )
    closes = (
        {"report": "content-change"}
        | ({"closure": "none"} if kind == "rows" else {})
        | ({"tick": "tuple"} if kind == "tuple" else {})
    )
    run = incremental.evaluate(
        asked("SELECT ?x {?x <urn:p> ?y}", kind, **window),
        {"s": elements},
        chosen(t0=t0, horizon="none", **closes),
    )
    for _ in run:
        assert len(run.planned.arrivals.items) < 3000
    assert len(run.planned.arrivals) == 29_999 and len(run.planned.arrivals.items) < 3000


def test_contents_that_are_forgotten_say_so():
    elements = (Element(frozenset([(f"<urn:{i}>", P, "<urn:x>")]), i, i) for i in range(1, 9000))
    first, *_ = incremental.evaluate(
        asked("SELECT ?x {?x <urn:p> ?y}"), {"s": elements}, chosen(horizon="none")
    )
    with pytest.raises(
        LookupError, match="element 1 of the stream is no longer kept: it was streamed"
    ):
        tuple(first.contents[0])
