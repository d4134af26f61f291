"""What tests of incremental evaluation have in common: drawn queries, and the comparison with the
engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any

from hypothesis import strategies as st

from refengine import (
    Body,
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
from refengine.core.engine import EvaluateBody, Report
from refengine.core.profile import OneOf
from refengine.model import compare
from refengine.model.elements import XSD, Dataset
from refengine.model.errors import RefengineError
from refengine.strategies import graphs, inputs, queries, semantics

A, B, C = "<urn:a>", "<urn:b>", "<urn:c>"
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
    f"?x {P}+ ?y",
    f"?x ({P}|^{Q})* ?y . ?x {N} ?v",
    f"<urn:a> !{N} ?y",
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
    "?v = ?w",
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
# most bodies have none; by ?v and then ?x few solutions are equal
SLICES = ("", "", "", " ORDER BY ?v ?x LIMIT 2", " ORDER BY DESC(?v) ?x ?y ?z LIMIT 1 OFFSET 1")
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
def covered(draw: st.DrawFn, graphs: tuple[str, ...] = ()) -> Body:
    """Draw a body that incremental evaluation covers, or nearly: patterns with filters, OPTIONAL,
    UNION, MINUS, EXISTS, subselects, joins, DISTINCT, aggregates. If there are `graphs`, which are
    IRIs and variables, some patterns stand in GRAPH.
    """
    places = ["{}", *(f"GRAPH {name} {{{{ {{}} }}}}" for name in graphs)]
    group = draw(one_of(*places)).format(draw(one_of(*PATTERNS)))
    for _ in range(draw(integers(0, 2))):
        other = draw(one_of(*PATTERNS))
        if draw(st.booleans()):
            other += f" FILTER({draw(one_of(*FILTERS))})"
        other = other.replace("_:b", f"_:b{_}")  # a label stands in one group
        other = draw(one_of(*places)).format(other)
        kind = draw(
            one_of(
                "{} OPTIONAL {{ {} }}",
                "{{ {} }} UNION {{ {} }}",
                "{{ {} }} {{ {} }}",
                "{} . {}",
                "{} MINUS {{ {} }}",
                "{} FILTER NOT EXISTS {{ {} }}",
                "{} {{ SELECT DISTINCT ?x ?v {{ {} }} }}",
            )
        )
        group = kind.format(group, other)
    for condition in draw(CONDITIONS):
        group += f" FILTER({condition})"
    if draw(integers(0, 2)):
        return Body(
            "SELECT "
            f"{draw(one_of('*', '?x', '?x ?v', 'DISTINCT ?x', '?y ?z ?v', 'DISTINCT *'))} "
            f"{{ {group} }}{draw(one_of(*SLICES))}"
        )
    shown = " ".join(f"({aggregate} AS ?r{i})" for i, aggregate in enumerate(draw(RESULTS)))
    key = draw(one_of("", "?x"))
    having = draw(one_of("", "HAVING (COUNT(*) > 1)"))
    return Body(f"SELECT {key} {shown} {{ {group} }} {'GROUP BY ' + key if key else ''} {having}")


def is_same_report(a: Report, b: Report) -> bool:
    """Return whether two reports are the same; of rows the values are compared (CMP-4)."""
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


def collect(evaluate: Any, *args: Any, **kwargs: Any) -> tuple[list[Report], RefengineError | None]:
    """Return the reports of an evaluation, and the error that ended it, if one did."""
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
    answer: EvaluateBody = r2r.defined_answer,
) -> str:
    """Assert that incremental evaluation and the engine give the same reports, or end in the
    same error. Return who computed the reports. Witnesses have no part in it, unless `answer` asks
    them: what they say of drawn queries is held in tests/strategies.
    """
    expected, error = collect(engine.evaluate, query, streams, chosen, static=static, answer=answer)
    try:
        run = incremental.evaluate(query, streams, chosen, static=static, answer=answer)
    except RefengineError as refused:
        assert str(refused) == str(error) and not expected
        return "refused"
    actual, other = collect(lambda: run)
    assert len(actual) == len(expected) and all(map(is_same_report, actual, expected)), (
        run.provenance
    )
    assert str(other) == str(error)
    agree_streamed(query, streams, chosen, static, expected, error, answer)
    return str(run.provenance)


def agree_streamed(
    query: Query,
    streams: Mapping[str, Stream],
    chosen: Semantics,
    static: Dataset,
    expected: list[Report],
    error: RefengineError | None,
    answer: EvaluateBody,
) -> None:
    """Assert that incremental evaluation gives the same reports of streams that are read while they
    are evaluated. Contents are looked up at once, since elements are forgotten.
    """
    reports, actual = [], None
    try:
        iterators = {name: iter(elements) for name, elements in streams.items()}
        for report in incremental.evaluate(query, iterators, chosen, static=static, answer=answer):
            reports.append(replace(report, contents=tuple(map(tuple, report.contents))))
    except RefengineError as raised:
        actual = raised
    assert all(map(is_same_report, reports, expected))
    if actual is None or actual.rule != "ENG-6":
        assert len(reports) == len(expected) and str(actual) == str(error)


STATIC = frozenset([("<urn:a>", N, NUMBERS[0]), ("_:x", P, "<urn:b>")])
STATIC_IN_GRAPHS = STATIC | {
    ("_:x", P, "<urn:b>", "<urn:w1>"),
    ("_:x", N, NUMBERS[1], "<urn:w1>"),
    ("<urn:b>", Q, "_:x", "<urn:static>"),
}


@st.composite
def trials(
    draw: st.DrawFn, found: st.SearchStrategy[Body], names: tuple[str, ...] | None = None
) -> tuple:
    """Draw a query, its streams, a semantics and static data; payloads have numbers of all
    datatypes. With `names` there may be three windows, those with a name among them, and static
    data in named graphs.
    """
    has_names = names is not None
    if names is None:
        names = () if draw(integers(0, 7)) else ("urn:w1",)
    query = draw(
        queries(
            streams=["s", "r"],
            max_windows=3 if has_names else 2,
            names=names,
            bodies=found,
            sizes=integers(1, 6),
            slides=integers(1, 7),
        )
    )
    chosen = draw(semantics(query))
    keyed = any(spec.by for spec in query.windows)
    payloads = None if keyed or draw(st.booleans()) else NUMERIC_OR_PLAIN
    static: Dataset = frozenset()
    if not draw(integers(0, 3)):
        static = STATIC
    elif has_names and draw(st.booleans()):
        static = STATIC_IN_GRAPHS
    return query, draw(inputs(query, chosen, payloads=payloads)), chosen, static


def chosen(**fields: Any) -> Semantics:
    """Return a semantics of right-open windows from 0 that are reported when they close, with
    Rstream, even if the answer is empty. `fields` change it.
    """
    return (
        profile("csparql")
        .but(**{"t0": 0, "report": "window-close", "tick": "time", "horizon": 100, **fields})
        .semantics()
    )


def asked(body: str, kind: str = "time", **window: Any) -> Query:
    """Return a query over one window."""
    sizes = {"size": 2, "slide": 2} if kind == "time" else {}
    return from_table({"body": body, "windows": [{"stream": "s", "kind": kind, **sizes, **window}]})


def integer(number: int | str) -> str:
    return literal(str(number), XSD + "integer")


def decimal(text: str) -> str:
    return literal(text, XSD + "decimal")


def double(text: str) -> str:
    return literal(text, XSD + "double")


def valued(*terms: str) -> list[tuple]:
    """Return elements at 0, 1, …, each with one of the terms as a value."""
    return [((f"<urn:{i}>", N, term), i) for i, term in enumerate(terms)]


# Streams that are cut

# Hypothesis examines a strategy at its first draw, which takes longer than the draw: each is made
# once.
SMALL = {
    "kinds": ["time", "range", "now"],
    "sizes": st.integers(1, 4),
    "slides": st.integers(1, 4),
    "streams": ["s", "r"],
    "names": (),
}
QUERIES = st.sampled_from(
    [queries(max_windows=most, bodies=covered(), **SMALL) for most in (1, 1, 1, 2)]
)
STEPS = st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 6, 19]), min_size=5, max_size=25)
START, NAMES = st.integers(-4, 9), st.sampled_from(["s", "s", "r"])
GRAPHS = graphs(max_size=2) | st.frozensets(PLAIN, max_size=2)


@st.composite
def cut(draw: st.DrawFn) -> tuple:
    """Draw a query that is computed in parts, with its streams, semantics and cuts. Windows are
    short beside the stream, which has bursts and gaps.
    """
    query = draw(draw(QUERIES))
    open_ = {
        "tick": OneOf(("tuple", "time")),
        "horizon": OneOf(("none", "flush")),
        "allowed_lateness": "reject",
        "base": OneOf(("previous", None)),
    }
    picked = draw(semantics(query, **open_))
    instants = list(accumulate(draw(STEPS), initial=draw(START)))
    items = [(draw(GRAPHS), at, draw(NAMES)) for at in instants]
    streams = {
        name: stream([(graph, at) for graph, at, where in items if where == name])
        for name in ("s", "r")
    }
    last = instants[-1]
    anywhere = st.integers(instants[0] - 2, last + 2) | st.integers(
        min(last, instants[0] + 12), last
    )
    return (
        query,
        streams,
        picked,
        frozenset(),
        sorted(draw(st.sets(anywhere, min_size=1, max_size=4))),
    )
