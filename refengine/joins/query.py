"""§14 Which join a continuous query means (BND-1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, NoReturn

from refengine.core.query import Form, Query, Window, WindowKind, refuse_no_query
from refengine.joins.inputs import BoundedQuery, Input, Source, variables_of
from refengine.model.errors import Unsupported
from refengine.sparql.algebra import (
    AlgebraQuery,
    Basic,
    Call,
    Exists,
    Expression,
    Filter,
    Graph,
    Join,
    Pattern,
    Project,
    TriplePattern,
    Variable,
    all_variables,
    conjuncts,
    walk,
)
from refengine.sparql.functions import TIMESTAMP

# what needs more than the terms of a solution
NEEDS_MORE = ("BNODE", "NOW", "RAND", "UUID", "STRUUID", TIMESTAMP)


class Selection(StrEnum):
    """When a condition on the variables of one input is asked: before a binding is stored, so that
    it takes no memory if it fails, or when it is joined.
    """

    BEFORE_STORING = "before-storing"
    AT_THE_JOIN = "at-the-join"


def bounded_query(query: Query, selection: Selection = Selection.BEFORE_STORING) -> BoundedQuery:
    """BND-1: Return the join that a query means. Raises Unsupported for a query that is none.

    >>> from refengine import from_table
    >>> body = "SELECT ?a ?b { ?a <urn:p> ?x . ?b <urn:p> ?y FILTER(?a != ?b && ?x > 9 && ?y > 9) }"
    >>> window = {"stream": "s", "kind": "range", "size": 200}
    >>> join = bounded_query(from_table({"body": body, "windows": [window]}))
    >>> [each.variables for each in join.inputs], len(join.sources), len(join.conditions)
    ([('a', 'x'), ('b', 'y')], 1, 1)
    """
    refuse_no_query(query)
    if query.r2s is not None:
        _refuse(f"the query states {query.r2s}; a result is sent once, when it is complete")
    if query.body.reads_windows and any(
        isinstance(node, Graph) and not node.of_windows for node in walk(query.body.algebra.pattern)
    ):
        _refuse("the body has GRAPH beside WINDOW, which reads no window; write WINDOW alone")
    match query.body.algebra.pattern:
        case Project(pattern, _) if query.body.form is Form.SELECT:
            parts = list(_parts(pattern, None))
        case _:
            _refuse("the body is no SELECT of a join without DISTINCT, groups, order and limit")
    _check_functions(query.body.algebra)
    groups = _groups(part for part in parts if isinstance(part, _InGraph))
    conditions = [part for part in parts if not isinstance(part, _InGraph)]
    if len(groups) < 2:
        _refuse("the body has one input; a join needs two subjects, or two graphs")
    return _make_query(query, groups, conditions, Selection(selection))


class _InGraph(NamedTuple):
    """A triple pattern with the name of its graph; None for the default graph."""

    graph: str | None
    pattern: TriplePattern


def _parts(pattern: Pattern, graph: str | None) -> Iterator[_InGraph | Expression]:
    """Yield the triple patterns and the conjuncts of the conditions of a join."""
    match pattern:
        case Join(parts):
            for part in parts:
                yield from _parts(part, graph)
        case Filter(condition, inner):
            scope = all_variables(inner)
            for conjunct in conjuncts(condition):
                _check_condition(conjunct, scope)
                yield conjunct
            yield from _parts(inner, graph)
        case Graph(str() as name, inner):
            yield from _parts(inner, name)
        case Basic(triples):
            for triple in triples:
                if not isinstance(triple.predicate, Variable | str):
                    _refuse("the body has a property path; write triple patterns")
                yield _InGraph(graph, triple)
        case _:
            _refuse(f"the body has {_construct(pattern)}; write triple patterns, GRAPH and FILTER")


def _construct(pattern: Pattern) -> str:
    """Return what the text writes for a pattern that no bounded join has."""
    names = {
        "LeftJoin": "OPTIONAL",
        "Extend": "BIND",
        "Graph": "GRAPH with a variable",
        "Project": "a subquery",
    }
    name = type(pattern).__name__
    return names.get(name, name.upper())


def _check_condition(condition: Expression, scope: set[Variable]) -> None:
    """Refuse a condition that needs more than the terms of the variables of its group."""
    for node in walk(condition):
        if isinstance(node, Exists):
            _refuse("a FILTER has EXISTS, which needs the whole content")
        if isinstance(node, Call) and node.name in NEEDS_MORE:
            _refuse(f"a FILTER calls {node.name}, which needs more than its operands")
    outside = sorted(variable.name for variable in all_variables(condition) - scope)
    if outside:
        _refuse(f"a FILTER reads ?{outside[0]}, which its group does not bind")


def _check_functions(body: AlgebraQuery) -> None:
    """Refuse functions whose results depend on how the body is written."""
    called = {node.name for node in walk(body.pattern) if isinstance(node, Call)}
    if body.base and called & {"IRI", "URI"}:
        _refuse("a FILTER calls IRI() in a body with BASE; write the IRI in full")
    if body.tags and "LANG" in called:
        _refuse("a FILTER calls LANG() in a body that writes a language tag in upper case")


def _groups(patterns: Iterable[_InGraph]) -> dict[tuple[str | None, Any], list[TriplePattern]]:
    """Return the patterns of each graph and subject, in the order of the body."""
    groups: dict[tuple[str | None, Any], list[TriplePattern]] = {}
    for graph, pattern in patterns:
        groups.setdefault((graph, pattern.subject), []).append(pattern)
    return groups


def _make_query(
    query: Query,
    groups: dict[tuple[str | None, Any], list[TriplePattern]],
    conditions: Sequence[Expression],
    selection: Selection,
) -> BoundedQuery:
    """Return the join of some groups of patterns under some conditions."""
    sources: list[Source] = []
    inputs: list[Input] = []
    asked_before: list[Expression] = []
    for (graph, _), patterns in groups.items():
        window = _window_of(query, graph)
        variables = list(dict.fromkeys(part for one in patterns for part in variables_of(one)))
        local: list[Expression] = []
        if selection is Selection.BEFORE_STORING:
            local = [one for one in conditions if all_variables(one) <= {*variables}]
        asked_before += local
        source = _make_source(window.stream, variables, patterns, local)
        if source not in sources:
            sources.append(source)
        names = tuple(variable.name for variable in variables)
        inputs.append(Input(sources.index(source), names, _reach(window)))
    crossing = tuple(one for one in conditions if one not in asked_before)
    return BoundedQuery(tuple(sources), tuple(inputs), crossing, query.body.variables)


def _make_source(
    stream: str,
    variables: Sequence[Variable],
    patterns: Iterable[TriplePattern],
    conditions: Iterable[Expression],
) -> Source:
    """Return a source, whose variables are named by their positions."""
    positions = {variable: Variable(str(k)) for k, variable in enumerate(variables)}
    return Source(
        stream,
        tuple(TriplePattern(*(_rename(part, positions) for part in one)) for one in patterns),
        frozenset(_rename(one, positions) for one in conditions),
    )


def _rename(node: Any, names: dict[Variable, Variable]) -> Any:
    """Return an expression, or a part of a pattern, with other names of its variables."""
    if isinstance(node, Call):
        return Call(node.name, tuple(_rename(part, names) for part in node.arguments))
    if isinstance(node, Variable):
        return names[node]
    return node


def _window_of(query: Query, graph: str | None) -> Window:
    """Return the window that fills a graph. Raises Unsupported if there is not exactly one."""
    name = None if graph is None else graph[1:-1]
    windows = [window for window in query.windows if window.name == name]
    if len(windows) != 1:
        here = "the default graph" if name is None else f"GRAPH <{name}>"
        _refuse(f"{here} has {len(windows)} windows; give each input one window, named or alone")
    return windows[0]


def _reach(window: Window) -> int | None:
    """Return how long before the present a binding may have ended to be in a window."""
    if window.lag or window.slide:
        _refuse("a window has a lag or a slide; write kind range with a size alone")
    match window.kind:
        case WindowKind.RANGE:
            return window.span
        case WindowKind.NOW:
            return 0
        case WindowKind.UNBOUNDED:
            return None
        case kind:
            _refuse(f"a window is of kind {kind}; write range without a slide, now or unbounded")


def _refuse(reason: str) -> NoReturn:
    """Raise the error of a query that is no bounded join."""
    raise Unsupported(reason, rule="BND-1", place="query")
