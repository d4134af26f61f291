"""§7 From a body's algebra (`sparql.algebra`) to its tree of maintained nodes: basic graph patterns
at the leaves, then joins, filters and groups, and at the top the node that emits rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from refengine.incremental.algebra.constants import EMPTY_PATTERN, MaintainedValues
from refengine.incremental.algebra.extend import MaintainedExtend
from refengine.incremental.algebra.filters import FilterBuilder, split_conjuncts
from refengine.incremental.algebra.forms import check_forms, check_operands, may_compute
from refengine.incremental.algebra.graphs import MaintainedGraph
from refengine.incremental.algebra.groups import maintain_groups
from refengine.incremental.algebra.joins import (
    MaintainedJoin,
    MaintainedOptional,
    join_all,
    optional_or_join,
)
from refengine.incremental.algebra.named_graphs import (
    MOST_COPIES,
    MaintainedGraphName,
    needs_triples,
    no_solutions,
)
from refengine.incremental.algebra.nodes import MaintainedNode
from refengine.incremental.algebra.operators import MaintainedFilter, MaintainedUnion
from refengine.incremental.algebra.paths import PathWriter, has_path
from refengine.incremental.algebra.patterns import MaintainedBasicPattern
from refengine.incremental.algebra.semijoins import MaintainedMinus
from refengine.incremental.algebra.slices import MaintainedReduced, MaintainedSlice
from refengine.incremental.algebra.subselects import MaintainedDistinct, MaintainedSelection
from refengine.incremental.algebra.substitution import has_exists, names_in
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql import algebra
from refengine.sparql.algebra import Call, Expression, TriplePattern, conjuncts, visible
from refengine.sparql.bound_variables import always_bound
from refengine.sparql.datasets import DEFAULT_GRAPH, graphs_found
from refengine.sparql.evaluation.slicing import order_below

Modifier = (
    algebra.Group
    | algebra.OrderBy
    | algebra.Slice
    | algebra.Reduced
    | algebra.Project
    | algebra.Distinct
)


class NodeBuilder:
    """A builder of the nodes of patterns over `graphs`: `node` makes them. Then `basic_patterns`
    take the triples, `flushed_nodes` emit when the content is complete, and each of `beginnings` is
    to be called once when the whole tree is there, before any triple comes.

    With `is_set` aggregates must be exact. With `has_numbers` each solution of a basic graph
    pattern is followed by the numbers of its triples' elements. What compares computed numbers
    raises NotCovered where it is open whether they are the same (`forms`).
    """

    def __init__(
        self, graphs: Mapping[Term, MaintainedGraph], is_set: bool, has_numbers: bool
    ) -> None:
        self.graphs = graphs
        self.active_graph = graphs[DEFAULT_GRAPH]  # of the pattern whose node is made
        self.copies = 0  # of patterns in GRAPH
        self.is_set = is_set
        self.has_numbers = has_numbers
        self.basic_patterns: list[MaintainedBasicPattern] = []
        self.flushed_nodes: list[MaintainedNode] = []  # inner ones before outer ones
        self.beginnings: list[Callable[[], None]] = []  # the answer's after those below it
        self.filters = FilterBuilder(self.node)
        self.paths = PathWriter(self._basic_pattern, self.flushed_nodes.append)

    def node(self, pattern: algebra.Pattern) -> MaintainedNode:
        """Return the node of a pattern. Raises NotCovered."""
        match pattern:
            case algebra.Basic(triples):
                if has_path(triples):
                    return self.paths.basic_pattern(triples)
                return self._basic_pattern(triples, [])
            case algebra.Filter(condition, inner):
                return self._filter(condition, inner)
            case algebra.Union(parts):
                return MaintainedUnion([self.node(part) for part in parts])
            case algebra.Values():
                return self._values(pattern)
            case algebra.Join() | algebra.LeftJoin() | algebra.Minus():
                return self._join(pattern)
            case algebra.Extend():
                return self._extend(pattern)
            case algebra.Graph():
                return self._graph(pattern)
            case _:
                return self._modifier(pattern)

    def _join(self, pattern: algebra.Join | algebra.LeftJoin | algebra.Minus) -> MaintainedNode:
        """Return the node of a pattern whose solutions are found by comparing those of others."""
        match pattern:
            case algebra.Join(parts):
                if not parts:
                    return self._values(EMPTY_PATTERN)
                return join_all(self._operands(*parts))
            case algebra.LeftJoin(left, right, condition):
                return self._optional(left, right, condition)
            case algebra.Minus(left, right):
                one, other = self._operands(left, right)
                return MaintainedMinus(one, other)

    def _modifier(self, pattern: Modifier) -> MaintainedNode:
        """Return the node of grouping, or of a modifier of a subselect."""
        match pattern:
            case algebra.Group():
                return self._group(pattern)
            case algebra.OrderBy(inner, _):
                return self.node(inner)  # a bag of solutions has no order
            case algebra.Slice() | algebra.Reduced():
                return self._slice(pattern)
            case algebra.Project(inner, variables):
                names = [variable.name for variable in variables]
                return MaintainedSelection(self.node(inner), names)
            case algebra.Distinct(inner):
                child = self.node(inner)
                if may_compute(inner):
                    (child,) = check_forms([child], child.names)
                return MaintainedDistinct(child)

    def _filter(self, condition: Expression, inner: algebra.Pattern) -> MaintainedNode:
        plain, tests = split_conjuncts(condition)
        if tests:
            within = algebra.Filter(Call("&&", tuple(plain)), inner) if plain else inner
            return self.filters.filter(self.node(within), within, Call("&&", tuple(tests)))

        conditions = [condition]
        while isinstance(inner, algebra.Filter) and not split_conjuncts(inner.condition)[1]:
            conditions.append(inner.condition)  # { { … FILTER(A) } FILTER(B) }
            inner = inner.pattern
        conditions.reverse()
        if isinstance(inner, algebra.Basic) and not has_path(inner.triples):
            own, *outer = map(list, map(conjuncts, conditions))
            return self._basic_pattern(inner.triples, own, list(chain.from_iterable(outer)))
        node = self._for_filter(inner, conditions[0])
        for each in conditions:
            node = MaintainedFilter(node, each)
        return node

    def _for_filter(self, pattern: algebra.Pattern, condition: Expression) -> MaintainedNode:
        """Return the node of a pattern for a filter around it. Solutions that surely do not fulfil
        the condition may be left out.
        """
        match pattern:
            case algebra.Join(parts) if parts:
                return join_all(self._operands(*parts), condition)
            case algebra.LeftJoin(left, right, None):
                one, other = self._operands(left, right)
                return optional_or_join(one, other, condition)
            case _:
                return self.node(pattern)

    def _optional(
        self, left: algebra.Pattern, right: algebra.Pattern, condition: Expression | None
    ) -> MaintainedNode:
        """Return the node of OPTIONAL. EXISTS in its condition becomes a filter of the right side.
        Raises NotCovered if it names a variable of the left that the right may leave unbound.
        """
        plain: Sequence[Expression] = ()
        tests: Sequence[Expression] = ()
        if condition is not None:
            plain, tests = split_conjuncts(condition)
        for test in tests:
            if names_in(test) & visible(left).keys() <= always_bound(right):
                right = algebra.Filter(test, right)
            else:
                raise NotCovered("EXISTS in an OPTIONAL's filter on variables from outside")
        rest = Call("&&", tuple(plain)) if plain else None
        one, other = self._operands(left, right)
        return MaintainedOptional(one, other, rest)

    def _basic_pattern(
        self,
        triples: Sequence[TriplePattern],
        filters: Sequence[Expression],
        outer_filters: Sequence[Expression] = (),
    ) -> MaintainedNode:
        number_names: list[str] = []
        if self.has_numbers:
            # names that no variable has
            place = len(self.basic_patterns)
            number_names = [f"#{place}.{i}" for i in range(len(triples))]
        basic = MaintainedBasicPattern(triples, filters, number_names, outer_filters)
        self.basic_patterns.append(basic)
        self.active_graph.add_patterns(basic)
        return basic

    def _graph(self, pattern: algebra.Graph) -> MaintainedNode:
        name = pattern.name
        graphs = graphs_found(self.graphs, pattern.of_windows)
        if isinstance(name, str):
            if name in graphs:
                return self._over(graphs[name], pattern.pattern)
            return no_solutions(pattern)
        parts = [
            MaintainedGraphName(self._over(graph, pattern.pattern), name.name, each)
            for each, graph in graphs.items()
        ]
        return MaintainedUnion(parts) if parts else no_solutions(pattern)

    def _over(self, graph: MaintainedGraph, pattern: algebra.Pattern) -> MaintainedNode:
        """Return a pattern over a named graph: no solutions while the graph is not in the dataset,
        for it is empty then (R2R-8).
        """
        self.copies += 1
        if self.copies > MOST_COPIES:
            raise NotCovered(f"GRAPH over more than {MOST_COPIES} graphs")
        before = self.active_graph
        self.active_graph = graph
        (node,) = self._operands(pattern)
        self.active_graph = before
        if needs_triples(pattern):
            return node
        return MaintainedJoin(graph.add_presence(), node)

    def _operands(self, *patterns: algebra.Pattern) -> Sequence[MaintainedNode]:
        """Return the nodes of patterns that are joined."""
        return check_operands([self.node(pattern) for pattern in patterns], patterns)

    def _values(self, values: algebra.Values) -> MaintainedNode:
        node = MaintainedValues(values)
        self.beginnings.append(node.emit_rows)
        return node

    def _extend(self, pattern: algebra.Extend) -> MaintainedNode:
        """Return the node of BIND or `AS`. A binding is followed by the next one, whose EXISTS may
        look at its variable.
        """
        node = self.node(pattern.pattern)
        if not any(has_exists(part) for _, part in pattern.bindings):
            return MaintainedExtend(node, pattern.bindings)
        names = list(node.names)
        for variable, part in pattern.bindings:
            node, asked = self.filters.ask_tests(node, pattern, part)
            node = MaintainedExtend(node, [(variable, asked)])
            names.append(variable.name)
        return MaintainedSelection(node, names)

    def _group(self, pattern: algebra.Group) -> MaintainedNode:
        child = self.node(pattern.pattern)
        keys = []
        for variable, part in pattern.keys or ():
            child, asked = self.filters.ask_tests(child, pattern.pattern, part)
            keys.append((variable, asked))
        aggregates = []
        for variable, function in pattern.aggregates:
            argument = function.argument
            if argument is not None:
                child, argument = self.filters.ask_tests(child, pattern.pattern, argument)
            aggregates.append((variable, replace(function, argument=argument)))
        is_computed = may_compute(pattern.pattern)
        group = maintain_groups(child, keys, aggregates, self.is_set, is_computed)
        self.flushed_nodes.append(group)
        return group

    def _slice(self, pattern: algebra.Slice | algebra.Reduced) -> MaintainedNode:
        """Return the node of LIMIT and OFFSET, or of REDUCED, with what is between it and WHERE."""
        bounds = pattern
        if isinstance(bounds, algebra.Reduced):
            bounds = algebra.Slice(bounds, 0, None)
        order = order_below(bounds)
        child = self.node(order.pattern)
        shown = [name for name in child.names if ":" not in name]
        if order.variables is not None:
            shown = [variable.name for variable in order.variables]
        conditions = []
        for part, _ in order.conditions:
            child, asked = self.filters.ask_tests(child, order.pattern, part)
            conditions.append(asked)
        if may_compute(order.pattern):
            compared = shown if order.is_distinct or order.is_reduced else []
            (child,) = check_forms([child], compared)
        node: MaintainedNode
        if isinstance(pattern, algebra.Reduced):
            node = MaintainedReduced(child, shown)
        else:
            node = MaintainedSlice(child, shown, conditions, bounds, order)
        self.flushed_nodes.append(node)
        return node
