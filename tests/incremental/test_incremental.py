"""Incremental evaluation gives the reports of the engine: on all that is drawn, on values of
every kind, on what was once found to differ, and on the examples in docstrings.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from unittest.mock import patch

import pytest
from conftest import draws
from hypothesis import event, given, settings
from hypothesis import strategies as st
from incremental_trials import (
    FILTERS,
    RESULTS,
    A,
    B,
    C,
    N,
    P,
    Q,
    agree,
    asked,
    chosen,
    collect,
    covered,
    double,
    integers,
    one_of,
    trials,
    valued,
)

from refengine import Body, from_table, incremental, literal, profile, stream
from refengine.core import engine, r2r
from refengine.core.query import WindowKind
from refengine.core.window import Frame
from refengine.incremental import maintained
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.answer_cache import SupportedSolutions
from refengine.incremental.coverage import NotCovered
from refengine.incremental.parts import whole_stream_frames, window_start_at
from refengine.incremental.schedule import PartitionContent, PartitionDelta
from refengine.model.elements import XSD
from refengine.oracle import judge
from refengine.strategies import bodies, inputs, queries, semantics


@settings(max_examples=draws(400))
@given(trials(covered()))
def test_incremental_is_the_engine(trial):
    agree(*trial)


@settings(max_examples=draws(300))
@given(trials(covered()))
def test_windows_that_keep_no_element_begin_anew(trial):
    """However few they are: the engine does so where many leave at once."""
    with patch.object(maintained, "MOST_RETRACTED", 0):
        agree(*trial)


@pytest.mark.parametrize("collection", ["bag", "set"])
@pytest.mark.parametrize("r2s", ["Rstream", "Istream", "Dstream", "append"])
@pytest.mark.parametrize(
    ("slide", "has_static", "count"), [(2, False, 3), (2, True, 1), (1, False, 1)]
)
def test_a_body_is_made_anew_for_each_window_that_keeps_nothing(
    r2s: str, collection: str, slide: int, has_static: bool, count: int
):
    """Of [0, 2), [2, 4) and [4, 6) each holds other elements, some with equal rows; a window of
    those that slide by 1 has an element of the one before it.
    """
    ends = [(A, B), (A, C), (A, B), (C, B), (B, A), (B, C)]
    elements = [((subject, P, object_), t) for t, (subject, object_) in enumerate(ends)]
    query = asked(f"SELECT ?x {{ ?x {P} ?y }}", slide=slide)
    base = "previous" if r2s in ("Istream", "Dstream") else "none"
    under = chosen(r2s=r2s, collection=collection, base=base)
    static = frozenset({(C, P, C)}) if has_static else frozenset()
    begun = []
    begin = maintained.ContentFollower.begin

    def note(follower: maintained.ContentFollower) -> None:
        begun.append(follower)
        begin(follower)

    with (
        patch.object(maintained, "MOST_RETRACTED", 1),
        patch.object(maintained.ContentFollower, "begin", note),
    ):
        list(incremental.evaluate(query, {"s": stream(elements)}, under, static=static))
        assert len(begun) == count
        agree(query, {"s": stream(elements)}, under, static)


@settings(max_examples=draws(120))
@given(trials(bodies(names=(), graph_variable=False)))
def test_incremental_is_the_engine_for_every_body(trial):
    agree(*trial)


# What was found to differ


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
        {"report": "content-change", "partial": "reported", "close_rule": "passed"},
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name):
    body, items, window, fields = FOUND[name]
    agree(asked(body, **window), {"s": stream(items)}, chosen(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"close_rule": "passed"},
        {"close_rule": "passed", "expiry_seen": "eager"},
        {"close_rule": "passed", "tick": "time"},
    ],
)
@pytest.mark.parametrize("slide", [1, 3, 4, 7])
@pytest.mark.parametrize("t0", [-2, -1, 0])
def test_elements_of_one_instant(t0, slide, fields):
    """Arrivals at one instant see one another one by one, and the bound on reports names the one
    that exceeds it (ENG-3).
    """
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
    for bound in (0, 1, 5, 6, 7, 11, engine.MAX_REPORTS):
        evaluations, error = collect(incremental.schedule_evaluations, planned, bound)
        expected, expected_error = collect(engine.evaluations, planned, bound)
        assert evaluations == expected, f"with a bound of {bound}"
        assert str(error) == str(expected_error), f"with a bound of {bound}"


def test_the_oracle_passes_what_the_engine_gives():
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


# Values of every kind


OF_DATATYPES = {
    "integer": "1 01 +1 -1 2 3 16777217 9007199254740993 9223372036854775807 9223372036854775808 "
    "abc",
    "decimal": "1 1.0 1.50 0.1 0.3 -0.3 1000000000.5 0.123456789012345678 1234567890.1234567891 "
    "12345678901234567890.5",
    "double": "1 1.0 1e0 0.1 0.2 0.3 0.30000000000000004 -0.1 -0.0 9007199254740992 1e16 1e308 NaN "
    "INF 5e-324",
    "float": "1 0.1 0.2 0.10000000149 16777216 1e-45 1e40",
    "boolean": "true 1",
    "dateTime": "2000-01-01T00:00:00 2000-01-01T00:00:00Z 2000-01-01T00:00:00+00:00",
    "byte": "1 300",
}
EDGES = [
    *(literal(text, XSD + kind) for kind, texts in OF_DATATYPES.items() for text in texts.split()),
    *(literal("x"), literal("y"), literal("x", language="en"), literal("x", "urn:t")),
    *("<urn:a>", "_:x"),
]
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
def test_incremental_is_the_engine_on_values_of_every_kind(trial):
    """What the engine calls without a single answer (QRY-3) ends both, at one report."""
    event(
        re.sub(
            r"\d+ evaluations",
            "some",
            agree(*trial, answer=partial(r2r.ask_evaluator, r2r.EVALUATOR)),
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
        answer=partial(r2r.ask_evaluator, r2r.EVALUATOR),
    )


# The examples in the docstrings, by hand


ALL = "SELECT * { ?s ?p ?o }"


def over_one_window(body, **window):
    return from_table({"body": body, "windows": [{"stream": "s", **window}]})


def test_a_body_emits_what_a_triple_changes():
    changes = []
    query = f"SELECT ?x {{ ?x {P} ?y . ?y {Q} ?z }}"
    body = MaintainedBody(Body(query), lambda row, count: changes.append((row, count)))
    body.insert((B, Q, C))
    assert changes == []
    body.insert((A, P, B))
    body.retract((B, Q, C))
    assert changes == [((("x", A),), 1), ((("x", A),), -1)]


def test_a_triple_that_matches_twice_completes_a_solution_once():
    changes = Counter()
    body = MaintainedBody(
        Body(f"SELECT * {{ ?x {P} ?y . ?y {P} ?z }}"),
        lambda row, count: changes.update({row: count}),
    )
    body.insert((A, P, A))
    assert changes == {(("x", A), ("y", A), ("z", A)): 1}


def test_a_pattern_whose_filter_refuses_a_triple_leaves_nothing_to_the_pattern_that_takes_it():
    """(a, p, 0) is ?x ?y, but not ?y ?z. By its own ?y, which is 0, it is joined with nothing."""
    zero, five = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (0, 5))
    changes = Counter()
    body = MaintainedBody(
        Body(f"SELECT * {{ ?x {P} ?y . ?y {P} ?z FILTER(?z > 1) }}"),
        lambda row, count: changes.update({row: count}),
    )
    body.insert((A, P, five))
    body.insert((A, P, zero))
    assert not changes


@pytest.mark.parametrize(
    ("rows", "count"),
    [(f"(UNDEF {B})", 1), (f"({A} UNDEF)", 1), (f"(UNDEF {C})", 0), (f"(UNDEF {B}) ({A} {B})", 2)],
)
def test_undef_is_compatible_with_every_term(rows: str, count: int):
    """R2R-2: VALUES leaves the variable unbound, and a join fills it."""
    changes = Counter()
    body = MaintainedBody(
        Body(f"SELECT * {{ ?x {P} ?y VALUES (?x ?y) {{ {rows} }} }}"),
        lambda row, count: changes.update({row: count}),
    )
    body.insert((A, P, B))
    assert changes == ({(("x", A), ("y", B)): count} if count else {})


def test_what_enters_and_leaves_a_partition():
    elements = stream([((key, P, C), t) for t, key in enumerate((A, B, A))])
    query = over_one_window(ALL, kind="partition", size=1, by=["subject"])
    semantics = profile("csparql").but(t0=0, report="content-change", closure="none").semantics()
    (view,) = engine.plan(query, {"s": elements}, semantics).views
    delta = PartitionDelta()
    assert delta.move_to(PartitionContent(view, 1)) == ([], [0])
    assert delta.move_to(PartitionContent(view, 3)) == ([0], [1, 2])
    assert delta.move_to(PartitionContent(view, 2)) == ([1, 2], [0, 1])  # an earlier one, anew


def test_solutions_within_a_span():
    elements = stream([((A, P, B), 1), ((B, P, C), 4), ((C, P, A), 12)])
    body = Body(f"SELECT * {{ ?x {P} ?y . ?y {P} ?z }}")
    supported = SupportedSolutions(body, elements.elements, [1, 4, 12], span=10)
    assert [found.elements for found in supported.solutions[0]] == [(0, 1), (1, 2)]
    assert supported.covers(range(2)) and not supported.covers(range(3))
    assert SupportedSolutions(body, elements.elements, [1, 4, 12], span=11).covers(range(3))


def test_solutions_pass_every_filter_around_their_pattern():
    """9 passes the inner filter alone. The oracle would have named it as a row at a border."""
    nine, three = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (9, 3))
    elements = stream([((A, P, nine), 1), ((B, P, three), 2)])
    body = Body(f"SELECT ?x {{ {{ ?x {P} ?y FILTER(?y > 1) }} FILTER(?y < 5) }}")
    supported = SupportedSolutions(body, elements.elements, [1, 2], span=10)
    assert supported.answer(range(2)) == {(("x", B),): 1}
    assert supported.supported_rows(range(2)) == [((("x", B),), (1,))]


def test_solutions_of_a_subselect_are_no_rows_of_the_body():
    """Around the subselect ?y is another variable, which nothing binds."""
    elements = stream([((A, P, B), 1)])
    body = Body(f"SELECT ?x ?y {{ {{ SELECT ?x {{ ?x {P} ?y }} }} }}")
    supported = SupportedSolutions(body, elements.elements, [1], span=10)
    assert supported.supported_rows(range(1)) is None
    assert supported.answer(range(1)) == {(("x", A),): 1}


def test_a_content_that_is_not_covered_leaves_nothing_in_the_answer_over_the_next():
    """1 is fed before INF, which no sum covers. The window after them has 2 alone."""
    one, two = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (1, 2))
    infinite = '"INF"^^<http://www.w3.org/2001/XMLSchema#double>'
    elements = stream([((A, P, one), 1), ((B, P, infinite), 2), ((C, P, two), 12)])
    body = Body(f"SELECT (SUM(?y) AS ?n) {{ ?x {P} ?y }}")
    supported = SupportedSolutions(body, elements.elements, [1, 2, 12], span=10)
    with pytest.raises(NotCovered):
        supported.answer(range(0, 2))
    assert supported.answer(range(2, 3)) == {(("n", two),): 1}


def test_a_halo_reaches_back_to_what_a_window_with_a_lag_holds():
    """WIN-20: [40, 50) holds from 40 - 30 on. A range is shown from 9 on; its first scope begins at
    0 - 30.
    """
    frame = Frame(first=0, last=9, slide=10, lag=30)
    assert window_start_at(frame, 45) == 10
    shown_later = frame._replace(kind=WindowKind.RANGE)
    assert window_start_at(shown_later, 5) == -30 and window_start_at(shown_later, 29) == -10


def test_before_all_scopes_the_first_window_counts_also_if_it_is_a_partial_one():
    """WIN-11: [-5, 5) is the first of [-5, 5), [0, 10), …: nothing is looked at before s0 = -1."""
    frame = Frame(first=0, last=9, slide=5, least=-1)
    assert [window_start_at(frame, t) for t in (-2, -1, 4, 5)] == [-5, -5, -5, 0]
    assert window_start_at(frame._replace(least=-3, lag=30), -2) == -45
    assert window_start_at(frame._replace(first=7, last=16), -2) == 2


def test_a_triple_that_a_filter_refuses_is_not_kept():
    """Whether the filter names some or all of the variables that the triple binds."""
    zero, two = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (0, 2))
    for subject in (A, "?x"):
        text = f"SELECT * {{ {subject} {P} ?y . ?y {Q} ?z FILTER(?y > 1) }}"
        body = MaintainedBody(Body(text), lambda row, count: None)
        (graph,) = body.graphs.values()
        body.insert((A, P, zero))
        assert not graph.present
        body.insert((A, P, two))
        assert list(graph.present) == [(A, P, two)]


def test_frames_begin_with_the_last_window_before_the_halo():
    query = over_one_window(ALL, kind="time", size=10, slide=10)
    semantics = profile("csparql").but(t0=0).semantics()
    (frame,) = whole_stream_frames(query, semantics, {"s": 0}, halo_start=35)
    assert (frame.first, frame.last) == (20, 29)
