"""§7 A body as a tree of maintained nodes: triples are inserted and retracted below, and the rows
of its answer come out above.

The tree follows the body's algebra (`sparql.algebra`): basic graph patterns at the leaves, then
joins, filters and groups, and a projection at the top. The answers are those that
`sparql.evaluation` defines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from refengine.core.query import Body, Form
from refengine.incremental.algebra.groups import MaintainedGroup, compile_aggregate
from refengine.incremental.algebra.joins import MaintainedJoin, MaintainedOptional
from refengine.incremental.algebra.nodes import Emit, MaintainedNode
from refengine.incremental.algebra.operators import (
    MaintainedFilter,
    MaintainedProjection,
    MaintainedUnion,
)
from refengine.incremental.algebra.paths import PathWriter, has_path
from refengine.incremental.algebra.patterns import IndexedPattern, MaintainedBasicPattern
from refengine.incremental.algebra.slices import MaintainedReduced, MaintainedSlice
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, Triple
from refengine.sparql import algebra
from refengine.sparql.algebra import Expression, TriplePattern, Variable, conjuncts
from refengine.sparql.evaluation.slicing import order_below

# The triple patterns that a triple matches, each with the basic graph pattern that it is of
Matches = tuple[tuple[MaintainedBasicPattern, IndexedPattern], ...]


class MaintainedBody:
    """A body that follows a content, triple by triple: `emit` takes every row that comes to its
    answer or goes from it.

    Where answers are sets (`is_set`, and under DISTINCT) aggregates must be exact: nearly equal
    ones may be one row or two. With `has_numbers` each triple is followed by the number of the
    element that it comes from, (s, p, o, k), and each solution of a basic graph pattern by those of
    its triples.

    Raises NotCovered for a body that is not covered; its methods raise it for a value that is not.
    """

    def __init__(
        self, body: Body, emit: Emit, is_set: bool = False, has_numbers: bool = False
    ) -> None:
        self.is_set = is_set
        self.has_numbers = has_numbers
        self.basic_patterns: list[MaintainedBasicPattern] = []
        # the nodes that emit when the content is complete, inner ones before outer ones
        self.flushed_nodes: list[MaintainedNode] = []
        # whether LIMIT or OFFSET is there, by which forms of one number may be told apart
        self.has_slice = False
        self.paths = PathWriter(self._basic_pattern, self.flushed_nodes.append)
        self.projection = self._projection(body)
        self.projection.emit = emit

        # the triples of the content that match anything, and how many more elements have each
        self.present: dict[Triple, Matches] = {}
        self.extra_copies: dict[Triple, int] = {}
        # one tuple of each, to save memory: most triples match alike
        self.known_matches: dict[Matches, Matches] = {}

        # a triple can match the patterns that have its predicate, and those that have a variable
        self.routes: dict[Term | None, list[tuple[MaintainedBasicPattern, IndexedPattern]]] = {}
        for basic in self.basic_patterns:
            for pattern in basic.patterns:
                self.routes.setdefault(pattern.predicate, []).append((basic, pattern))
        self.any_predicate = self.routes.pop(None, [])
        for routes in self.routes.values():
            routes += self.any_predicate

    def insert(self, triple: Triple) -> None:
        """Insert a triple of an element that comes into the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
        routes = self.routes.get(triple[1], self.any_predicate)
        if not routes:
            return
        if triple in self.present:
            self.extra_copies[triple] = self.extra_copies.get(triple, 0) + 1
            return
        matches: Matches = ()
        for match in routes:
            if match[1].accepts(triple, match[0].solution):
                matches += (match,)
        if matches:
            self.present[triple] = self.known_matches.setdefault(matches, matches)
            is_bound = len(routes) == 1
            for basic, pattern in matches:
                basic.insert(triple, pattern, is_bound)

    def retract(self, triple: Triple) -> None:
        """Retract a triple of an element that goes from the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
        if triple not in self.present:
            return
        if triple in self.extra_copies:
            self.extra_copies[triple] -= 1
            if not self.extra_copies[triple]:
                del self.extra_copies[triple]
            return
        for basic, pattern in self.present.pop(triple):
            basic.retract(triple, pattern)

    def forget(self, triple: Triple) -> None:
        """Remove a triple from the indexes and leave the solutions that rest on it: it is joined
        with no triple any more.
        """
        for _, pattern in self.present.pop(triple, ()):
            pattern.remove(triple)

    def flush(self) -> None:
        """Emit what waited until the content is complete. Raises NotCovered."""
        for node in self.flushed_nodes:
            node.flush()

    def _projection(self, body: Body) -> MaintainedProjection:
        if body.form is not Form.SELECT:
            raise NotCovered(f"{body.form}")
        if body.makes_blanks:
            raise NotCovered("BNODE()")
        node: algebra.Pattern = body.algebra.pattern
        if isinstance(node, algebra.Slice | algebra.Reduced):
            shown = self._node(node)
            # each name for itself, so that computed numbers are shown as terms
            return MaintainedProjection(
                shown, body.variables, {name: name for name in shown.names}, False
            )
        is_distinct = isinstance(node, algebra.Distinct)
        if isinstance(node, algebra.Distinct):
            self.is_set = True
            node = node.pattern
        if not isinstance(node, algebra.Project):
            raise NotCovered(f"{type(node).__name__} around the projection")
        child, aliases = self._with_aliases(node.pattern)
        return MaintainedProjection(child, body.variables, aliases, is_distinct)

    def _with_aliases(self, node: algebra.Pattern) -> tuple[MaintainedNode, dict[str, str]]:
        """Return what the projection looks at, and the names that SELECT binds over it. Raises
        NotCovered.
        """
        aliases: dict[str, str] = {}
        if isinstance(node, algebra.OrderBy):
            node = node.pattern  # a bag of rows has no order
        if isinstance(node, algebra.Extend):
            aliases = key_aliases(node)
            node = node.pattern if aliases else node
        return self._node(node), aliases

    def _node(self, node: algebra.Pattern) -> MaintainedNode:
        match node:
            case algebra.Basic(triples) if has_path(triples):
                return self.paths.basic_pattern(triples)
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
            case algebra.Group():
                return self._group(node)
            case algebra.Slice() | algebra.Reduced():
                return self._slice(node)
            case algebra.Join():
                raise NotCovered("an empty graph pattern")
            case _:
                raise NotCovered(type(node).__name__)

    def _filter(self, condition: Expression, inner: algebra.Pattern) -> MaintainedNode:
        conditions = [condition]
        while isinstance(inner, algebra.Filter):  # { { … FILTER(A) } FILTER(B) }
            conditions.append(inner.condition)
            inner = inner.pattern
        if isinstance(inner, algebra.Basic) and not has_path(inner.triples):
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
        self.basic_patterns.append(MaintainedBasicPattern(triples, filters, number_names))
        return self.basic_patterns[-1]

    def _slice(self, node: algebra.Slice | algebra.Reduced) -> MaintainedNode:
        """Return the node of LIMIT and OFFSET, or of REDUCED, with what is between it and WHERE.
        Raises NotCovered.
        """
        bounds = node if isinstance(node, algebra.Slice) else algebra.Slice(node, 0, None)
        order = order_below(bounds)
        self.has_slice = True
        self.is_set |= order.is_distinct or order.is_reduced
        child, aliases = self._with_aliases(order.pattern)
        renamed = {new: child.slots[old] for new, old in aliases.items() if old in child.slots}
        slots = child.slots | renamed
        if node is bounds:
            self.flushed_nodes.append(MaintainedSlice(child, slots, bounds, order))
        else:
            self.flushed_nodes.append(MaintainedReduced(child, slots, order.variables or ()))
        return self.flushed_nodes[-1]

    def _group(self, node: algebra.Group) -> MaintainedNode:
        keys = node.keys or ()
        if any(variable != expression for variable, expression in keys):
            raise NotCovered("a key that is an expression")
        child = self._node(node.pattern)
        aggregates = {
            variable.name: compile_aggregate(function, child, self._must_be_exact(function))
            for variable, function in node.aggregates
        }
        names = [variable.name for variable, _ in keys]
        self.flushed_nodes.append(MaintainedGroup(child, names, aggregates))
        return self.flushed_nodes[-1]

    def _must_be_exact(self, function: algebra.Aggregate) -> bool:
        """Return whether an aggregate must have a single form: in a set all of them, below a slice
        MIN and MAX.
        """
        return self.is_set or (self.has_slice and function.name in ("MIN", "MAX"))


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
