"""§7 A body as a tree of maintained nodes: triples are inserted and retracted below, and the rows
of its answer come out above.

The tree follows the body's algebra (`sparql.algebra`): basic graph patterns at the leaves, then
joins, filters and groups, and a projection at the top. The answers are those that
`sparql.evaluation` defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from refengine.core.query import Body, Form
from refengine.incremental.algebra.graphs import MaintainedGraph
from refengine.incremental.algebra.groups import MaintainedGroup, compile_aggregate
from refengine.incremental.algebra.joins import MaintainedJoin, MaintainedOptional
from refengine.incremental.algebra.named_graphs import (
    MOST_COPIES,
    MaintainedGraphName,
    needs_triples,
    no_solutions,
)
from refengine.incremental.algebra.nodes import Emit, MaintainedNode
from refengine.incremental.algebra.operators import (
    MaintainedFilter,
    MaintainedProjection,
    MaintainedUnion,
)
from refengine.incremental.algebra.patterns import MaintainedBasicPattern
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, Triple
from refengine.sparql import algebra
from refengine.sparql.algebra import Expression, TriplePattern, Variable, conjuncts
from refengine.sparql.datasets import DEFAULT_GRAPH


class MaintainedBody:
    """A body that follows a content, triple by triple: `emit` takes every row that comes to its
    answer or goes from it.

    Where answers are sets (`is_set`, and under DISTINCT) aggregates must be exact: nearly equal
    ones may be one row or two. With `has_numbers` each triple is followed by the number of the
    element that it comes from, (s, p, o, k), and each solution of a basic graph pattern by those of
    its triples. `names` are the named graphs that the dataset may have at some time.

    Raises NotCovered for a body that is not covered; its methods raise it for a value that is not.
    """

    def __init__(
        self,
        body: Body,
        emit: Emit,
        is_set: bool = False,
        has_numbers: bool = False,
        names: Iterable[Term] = (),
    ) -> None:
        self.is_set = is_set
        self.has_numbers = has_numbers
        self.names = tuple(names)
        self.graphs = {name: MaintainedGraph() for name in (DEFAULT_GRAPH, *self.names)}
        self.active_graph = self.graphs[DEFAULT_GRAPH]  # while the tree is made
        self.copies = 0  # of patterns in GRAPH
        self.basic_patterns: list[MaintainedBasicPattern] = []
        self.groups: list[MaintainedGroup] = []  # inner groups before outer ones
        self.projection = self._projection(body)
        self.projection.emit = emit

        for graph in self.graphs.values():
            graph.connect()

    def insert(self, triple: Triple, graph: Term = DEFAULT_GRAPH) -> None:
        """Insert a triple of an element into a graph. Raises NotCovered."""
        self.graphs[graph].insert(triple)

    def retract(self, triple: Triple, graph: Term = DEFAULT_GRAPH) -> None:
        """Retract a triple of an element from a graph. Raises NotCovered."""
        self.graphs[graph].retract(triple)

    def flush(self) -> None:
        """Emit the groups that have changed, now that the content is complete. Raises
        NotCovered.
        """
        for group in self.groups:
            group.flush()

    def _projection(self, body: Body) -> MaintainedProjection:
        if body.form is not Form.SELECT:
            raise NotCovered(f"{body.form}")
        if body.makes_blanks:
            raise NotCovered("BNODE()")
        node: algebra.Pattern = body.algebra.pattern
        is_distinct = isinstance(node, algebra.Distinct)
        if isinstance(node, algebra.Distinct):
            self.is_set = True
            node = node.pattern
        if not isinstance(node, algebra.Project):
            raise NotCovered(f"{type(node).__name__} around the projection")
        node = node.pattern
        if isinstance(node, algebra.OrderBy):
            node = node.pattern  # a bag of rows has no order
        aliases: dict[str, str] = {}
        if isinstance(node, algebra.Extend):
            aliases = key_aliases(node)
            node = node.pattern if aliases else node
        return MaintainedProjection(self._node(node), body.variables, aliases, is_distinct)

    def _node(self, node: algebra.Pattern) -> MaintainedNode:
        match node:
            case algebra.Basic(triples):
                return self._basic_pattern(triples, [])
            case algebra.Filter(condition, inner):
                return self._filter(condition, inner)
            case algebra.Union(parts):
                return MaintainedUnion([self._node(part) for part in parts])
            case algebra.Join(parts) if parts:
                return reduce(MaintainedJoin, map(self._node, parts))
            case algebra.LeftJoin(left, right, condition):
                return MaintainedOptional(self._node(left), self._node(right), condition)
            case algebra.Graph():
                return self._graph(node)
            case algebra.Group():
                return self._group(node)
            case algebra.Join():
                raise NotCovered("an empty graph pattern")
            case _:
                raise NotCovered(type(node).__name__)

    def _filter(self, condition: Expression, inner: algebra.Pattern) -> MaintainedNode:
        conditions = [condition]
        while isinstance(inner, algebra.Filter):  # { { … FILTER(A) } FILTER(B) }
            conditions.append(inner.condition)
            inner = inner.pattern
        if isinstance(inner, algebra.Basic):
            parts = [part for each in reversed(conditions) for part in conjuncts(each)]
            return self._basic_pattern(inner.triples, parts)
        node = self._node(inner)
        for each in reversed(conditions):
            node = MaintainedFilter(node, each)
        return node

    def _basic_pattern(
        self, triples: Sequence[TriplePattern], filters: Sequence[Expression]
    ) -> MaintainedNode:
        number_names: list[str] = []
        if self.has_numbers:
            # names that no variable has
            place = len(self.basic_patterns)
            number_names = [f"#{place}.{i}" for i in range(len(triples))]
        basic = MaintainedBasicPattern(triples, filters, number_names)
        self.basic_patterns.append(basic)
        self.active_graph.add_patterns(basic)
        return basic

    def _graph(self, node: algebra.Graph) -> MaintainedNode:
        name = node.name
        if isinstance(name, str):
            return self._over(name, node.pattern) if name in self.graphs else no_solutions(node)
        parts = [
            MaintainedGraphName(self._over(each, node.pattern), name.name, each)
            for each in self.names
        ]
        return MaintainedUnion(parts) if parts else no_solutions(node)

    def _over(self, name: Term, pattern: algebra.Pattern) -> MaintainedNode:
        """Return a pattern over a named graph: no solutions while the graph is not in the dataset,
        for it is empty then (R2R-8).
        """
        self.copies += 1
        if self.copies > MOST_COPIES:
            raise NotCovered(f"GRAPH over more than {MOST_COPIES} graphs")
        graph = self.graphs[name]
        before = self.active_graph
        self.active_graph = graph
        node = self._node(pattern)
        self.active_graph = before
        if needs_triples(pattern):
            return node
        return MaintainedJoin(graph.add_presence(), node)

    def _group(self, node: algebra.Group) -> MaintainedNode:
        keys = node.keys or ()
        if any(variable != expression for variable, expression in keys):
            raise NotCovered("a key that is an expression")
        child = self._node(node.pattern)
        aggregates = {
            variable.name: compile_aggregate(function, child, self.is_set)
            for variable, function in node.aggregates
        }
        names = [variable.name for variable, _ in keys]
        self.groups.append(MaintainedGroup(child, names, aggregates))
        return self.groups[-1]


def key_aliases(node: algebra.Extend) -> dict[str, str]:
    """Return the names that SELECT binds over groups, each with that of the key or the aggregate
    that it stands for. Raises NotCovered for other bindings.
    """
    grouped = node.pattern
    if isinstance(grouped, algebra.Filter):  # HAVING
        grouped = grouped.pattern
    aliases: dict[str, str] = {}
    for variable, expression in node.bindings:
        if not isinstance(grouped, algebra.Group) or not isinstance(expression, Variable):
            raise NotCovered("an expression in SELECT, or BIND")
        aliases[variable.name] = aliases.get(expression.name, expression.name)
    return aliases
