"""§7 A body as a tree of maintained nodes: triples are inserted and retracted below, and the rows
of its answer come out above.

The tree follows the body's algebra (`sparql.algebra`): basic graph patterns at the leaves, then
joins, filters and groups, and a projection at the top. The answers are those that
`sparql.evaluation` defines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from refengine.core.query import Body, Form
from refengine.incremental.algebra.answers import MaintainedAsk, MaintainedConstruct
from refengine.incremental.algebra.by_definition import check_functions
from refengine.incremental.algebra.constants import EMPTY_PATTERN, MaintainedValues
from refengine.incremental.algebra.extend import MaintainedExtend
from refengine.incremental.algebra.forms import check_forms, check_operands, may_compute
from refengine.incremental.algebra.groups import MaintainedGroup, group_solutions
from refengine.incremental.algebra.joins import MaintainedJoin, MaintainedOptional
from refengine.incremental.algebra.nodes import Emit, MaintainedNode
from refengine.incremental.algebra.operators import (
    MaintainedFilter,
    MaintainedProjection,
    MaintainedUnion,
)
from refengine.incremental.algebra.patterns import IndexedPattern, MaintainedBasicPattern
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, Triple
from refengine.sparql import algebra
from refengine.sparql.algebra import Expression, TriplePattern, conjuncts

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
        self.groups: list[MaintainedGroup] = []  # inner groups before outer ones
        self.beginnings: list[Callable[[], None]] = []  # what emits before any triple comes
        self.answer = self._answer(body)
        self.answer.emit = emit

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

        for begin in reversed(self.beginnings):  # the answer before what is below it
            begin()

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
        """Emit the groups that have changed, now that the content is complete. Raises
        NotCovered.
        """
        for group in self.groups:
            group.flush()

    def _answer(self, body: Body) -> MaintainedNode:
        """Return the node at the top, which emits rows."""
        check_functions(body.algebra)
        if body.makes_blanks:
            raise NotCovered("blank nodes of a template, which are new at every evaluation")
        match body.form:
            case Form.ASK:
                return self._ask(body.algebra.pattern)
            case Form.CONSTRUCT:
                pattern = body.algebra.pattern
                is_computed = may_compute(pattern)
                return MaintainedConstruct(self._node(pattern), body.algebra.template, is_computed)
            case Form.SELECT:
                return self._projection(body)

    def _ask(self, pattern: algebra.Pattern) -> MaintainedNode:
        if isinstance(pattern, algebra.Slice):  # which solutions are cut off does not matter
            child = self._node(pattern.pattern)
            ask = MaintainedAsk(child, pattern.offset, is_cut=pattern.limit == 0)
        else:
            ask = MaintainedAsk(self._node(pattern))
        self.beginnings.append(ask.emit_first)
        return ask

    def _projection(self, body: Body) -> MaintainedProjection:
        node: algebra.Pattern = body.algebra.pattern
        is_distinct = isinstance(node, algebra.Distinct)
        if isinstance(node, algebra.Distinct):
            self.is_set = True
            node = node.pattern
        if not isinstance(node, algebra.Project):
            raise NotCovered(f"{type(node).__name__} around the projection")
        is_computed = may_compute(node)
        child = self._node(node.pattern)
        if is_computed and self.is_set:
            (child,) = check_forms([child], body.variables)
        return MaintainedProjection(child, body.variables, is_distinct, is_computed)

    def _node(self, node: algebra.Pattern) -> MaintainedNode:
        match node:
            case algebra.Basic(triples):
                return self._basic_pattern(triples, [])
            case algebra.Filter(condition, inner):
                return self._filter(condition, inner)
            case algebra.Union(parts):
                return MaintainedUnion([self._node(part) for part in parts])
            case algebra.Join(parts) if parts:
                return reduce(MaintainedJoin, self._operands(*parts))
            case algebra.Join():
                return self._values(EMPTY_PATTERN)
            case algebra.LeftJoin(left, right, condition):
                one, other = self._operands(left, right)
                return MaintainedOptional(one, other, condition)
            case algebra.Extend(inner, bindings):
                return MaintainedExtend(self._node(inner), bindings)
            case algebra.Values():
                return self._values(node)
            case algebra.Group():
                return self._group(node)
            case algebra.OrderBy(inner, _):
                return self._node(inner)  # a bag of solutions has no order
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
        self.basic_patterns.append(MaintainedBasicPattern(triples, filters, number_names))
        return self.basic_patterns[-1]

    def _operands(self, *patterns: algebra.Pattern) -> Sequence[MaintainedNode]:
        """Return the nodes of patterns that are joined."""
        return check_operands([self._node(pattern) for pattern in patterns], patterns)

    def _values(self, values: algebra.Values) -> MaintainedNode:
        node = MaintainedValues(values)
        self.beginnings.append(node.emit_rows)
        return node

    def _group(self, node: algebra.Group) -> MaintainedNode:
        child = self._node(node.pattern)
        self.groups.append(group_solutions(child, node, self.is_set, may_compute(node.pattern)))
        return self.groups[-1]
