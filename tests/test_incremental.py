"""incremental.py is the definition, faster: the same reports on everything that is drawn, and on all evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from conftest import PROFILE, draws
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refengine import Body, Query, Semantics, Stream, WindowKind, compare, engine, incremental, literal, r2r
from refengine.engine import Report
from refengine.errors import Disputed, RefengineError
from refengine.model import XSD, Dataset
from refengine.strategies import bodies, inputs, queries, semantics

P, Q, N = "<urn:p>", "<urn:q>", "<urn:n>"
PATTERNS = (
    f"?x {P} ?y", f"?x {P} ?y . ?y {Q} ?z", f"?x {P} ?y . ?x {Q} ?z", f"?x {P} ?x", f"?x {N} ?v", f"?x {P} ?y . ?y {N} ?v",
    f"?x {N} ?v . ?z {N} ?w", f"?x {N} ?v . ?x {N} ?w", "?x ?p ?y", f"?x ?p ?y . ?y ?p ?z", f"<urn:a> {P} ?y", f"?x {P} <urn:b> . ?x {N} ?v",
    f"?x {N} 2 . ?x {P} _:b", f"_:b {P} ?y . _:b {Q} ?z",
)  # fmt: skip
FILTERS = (
    "?v > 1", "?v <= 2", "?v != 10", "?x = <urn:a>", "?x != ?y", "!(?v > 1 || ?x = <urn:b>)", "?v > 1 && ?v < 10", "BOUND(?v)",
    "?v * 2 - 1 > ?w", "-?v > ?w + 1", "?y = 'x'", "?w > ?v", "!BOUND(?z)", "?z < 3",
)  # fmt: skip
AGGREGATES = ("COUNT(*)", "COUNT(?v)", "COUNT(DISTINCT ?x)", "SUM(?v)", "AVG(?v)", "MIN(?v)", "MAX(?v)", "SUM(DISTINCT ?v)", "AVG(DISTINCT ?v)")
NUMBERS = [literal(text, XSD + kind) for text, kind in (("1", "double"), ("2.5", "double"), ("-3.25", "double"), ("7", "integer"), ("0.1", "decimal"), ("2.50", "double"))]


@st.composite
def covered(draw: st.DrawFn) -> Body:
    """Bodies of what incremental.py covers, or nearly: patterns with filters, OPTIONAL, UNION, joins, DISTINCT, aggregates."""
    group = draw(st.sampled_from(PATTERNS))
    for _ in range(draw(st.integers(0, 2))):
        other = draw(st.sampled_from(PATTERNS))
        if draw(st.booleans()):
            other += f" FILTER({draw(st.sampled_from(FILTERS))})"
        other = other.replace("_:b", f"_:b{_}")  # a label stands in one group
        kind = draw(st.sampled_from(["{} OPTIONAL {{ {} }}", "{{ {} }} UNION {{ {} }}", "{{ {} }} {{ {} }}", "{} . {}"]))
        group = kind.format(group, other)
    for condition in draw(st.lists(st.sampled_from(FILTERS), max_size=2)):
        group += f" FILTER({condition})"
    if draw(st.integers(0, 2)):
        return Body(f"SELECT {draw(st.sampled_from(['*', '?x', '?x ?v', 'DISTINCT ?x', '?y ?z ?v', 'DISTINCT *']))} {{ {group} }}")
    shown = " ".join(f"({aggregate} AS ?r{i})" for i, aggregate in enumerate(draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=2))))
    key = draw(st.sampled_from(["", "?x"]))
    having = draw(st.sampled_from(["", "HAVING (COUNT(*) > 1)"]))
    return Body(f"SELECT {key} {shown} {{ {group} }} {'GROUP BY ' + key if key else ''} {having}")


def same(a: Report, b: Report) -> bool:
    """Whether two reports are one, answers value for value."""
    facts = [(r.evaluation, r.trigger, r.windows, r.instant, r.late, r.relation.variables, tuple(map(tuple, r.contents))) for r in (a, b)]
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


def agree(query: Query, streams: Mapping[str, Stream], chosen: Semantics, static: Dataset = frozenset()) -> str:
    """Asserts that both give the same reports, or end in the same error, and tells who computed them."""
    wanted, error = taken(engine.evaluate, query, streams, chosen, static=static)
    try:
        run = incremental.evaluate(query, streams, chosen, static=static)
    except RefengineError as refused:
        assert str(refused) == str(error) and not wanted
        return "refused"
    found, other = taken(lambda: run)
    if isinstance(error, Disputed):  # the definition has no answer here
        assert all(map(same, found, wanted))
        return "disputed"
    assert len(found) == len(wanted) and all(map(same, found, wanted)), run.provenance
    assert str(other) == str(error)
    streamed(query, streams, chosen, static, wanted, error)
    return str(run.provenance)


def streamed(query: Query, streams: Mapping[str, Stream], chosen: Semantics, static: Dataset, wanted: list[Report], error: RefengineError | None) -> None:
    """Asserts the same of streams that are read only as they are evaluated, with contents looked up at once."""
    again, found = [], None
    try:
        for report in incremental.evaluate(query, {name: iter(elements) for name, elements in streams.items()}, chosen, static=static):
            again.append(replace(report, contents=tuple(map(tuple, report.contents))))
    except RefengineError as raised:
        found = raised
    assert all(map(same, again, wanted))
    if found is None or found.rule != "ENG-6":
        assert len(again) == len(wanted) and str(found) == str(error)


@st.composite
def trials(draw: st.DrawFn, found: st.SearchStrategy[Body]) -> tuple:
    """A query, its streams, a semantics and static data; payloads with numbers of all kinds."""
    small = {"sizes": st.integers(1, 6), "slides": st.integers(1, 7)}
    names = () if draw(st.integers(0, 7)) else ("urn:w1",)
    query = draw(queries(streams=["s", "r"], max_windows=2, names=names, bodies=found, **small))
    chosen = draw(semantics(query))
    numeric = st.tuples(st.sampled_from(["<urn:a>", "<urn:b>", "_:x"]), st.just(N), st.sampled_from(NUMBERS))
    keyed = any(spec.by for spec in query.windows)
    payloads = None if keyed or draw(st.booleans()) else st.frozensets(numeric | draw(st.sampled_from([PLAIN])), max_size=2)
    static = frozenset() if draw(st.integers(0, 3)) else frozenset([("<urn:a>", N, NUMBERS[0]), ("_:x", P, "<urn:b>")])
    return query, draw(inputs(query, chosen, payloads=payloads)), chosen, static


PLAIN = st.tuples(st.sampled_from(["<urn:a>", "<urn:b>", "<urn:c>"]), st.sampled_from([P, Q]), st.sampled_from(["<urn:a>", "<urn:b>", "_:x"]))


@settings(max_examples=draws(600))
@given(trials(covered()))
def test_incremental_is_the_definition(trial):
    agree(*trial)


@settings(max_examples=draws(200))
@given(trials(bodies(names=(), graph_variable=False)))
def test_incremental_is_the_definition_for_every_body(trial):
    agree(*trial)
