"""§7 A body as a tree of maintained nodes: triples are inserted and retracted below, and the rows
of its answer come out above.

The tree follows the body's algebra (`sparql.algebra`): basic graph patterns at the leaves, then
joins, filters and groups, and a projection at the top. The answers are those that
`sparql.evaluation` defines.
"""

from __future__ import annotations

from collections.abc import Sequence

from refengine.core.query import Body, Form
from refengine.incremental.algebra.computed import refuse_computed
from refengine.incremental.algebra.filters import FilterBuilder, split_conjuncts
from refengine.incremental.algebra.groups import MaintainedGroup, compile_aggregate
from refengine.incremental.algebra.joins import MaintainedOptional, join_all, optional_or_join
from refengine.incremental.algebra.nodes import Emit, MaintainedNode
from refengine.incremental.algebra.operators import MaintainedProjection, MaintainedUnion
from refengine.incremental.algebra.patterns import IndexedPattern, MaintainedBasicPattern
from refengine.incremental.algebra.semijoins import MaintainedMinus
from refengine.incremental.algebra.subselects import MaintainedDistinct, subselect
from refengine.incremental.algebra.substitution import always_bound, names_in
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, Triple
from refengine.sparql import algebra
from refengine.sparql.algebra import Call, Expression, TriplePattern, Variable, conjuncts, visible

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
        self.filters = FilterBuilder(self._node)
        self.nesting = 0  # how many subselects are around the pattern that is compiled
        self.has_subselect = False
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
        child, aliases = self._selected(node)
        if is_distinct and not aliases:
            child = refuse_computed(child, body.variables, "DISTINCT")
        return MaintainedProjection(child, body.variables, aliases, is_distinct)

    def _selected(self, node: algebra.Project) -> tuple[MaintainedNode, dict[str, str]]:
        """Return the node from which SELECT takes its variables, and the names of those that stand
        for others.
        """
        inner = node.pattern
        if isinstance(inner, algebra.OrderBy):
            inner = inner.pattern  # a bag of rows has no order
        aliases: dict[str, str] = {}
        if isinstance(inner, algebra.Extend):
            aliases = key_aliases(inner)
            inner = inner.pattern if aliases else inner
        return self._node(inner), aliases

    def _node(self, node: algebra.Pattern) -> MaintainedNode:
        match node:
            case algebra.Basic(triples):
                return self._basic_pattern(triples, [])
            case algebra.Filter(condition, inner):
                return self._filter(condition, inner)
            case algebra.Union(parts):
                return MaintainedUnion([self._node(part) for part in parts])
            case algebra.Join(parts) if parts:
                return join_all(map(self._node, parts))
            case algebra.LeftJoin(left, right, condition):
                return self._optional(left, right, condition)
            case algebra.Minus(left, right):
                return MaintainedMinus(self._node(left), self._node(right))
            case algebra.Group():
                return self._group(node)
            case algebra.Project():
                return self._subselect(node)
            case algebra.Distinct(inner):
                return MaintainedDistinct(self._node(inner))
            case algebra.Join():
                raise NotCovered("an empty graph pattern")
            case _:
                raise NotCovered(type(node).__name__)

    def _filter(self, condition: Expression, inner: algebra.Pattern) -> MaintainedNode:
        plain, tests = split_conjuncts(condition)
        if tests:
            within = algebra.Filter(Call("&&", tuple(plain)), inner) if plain else inner
            return self.filters.filter(self._node(within), Call("&&", tuple(tests)))

        conditions = [condition]
        while isinstance(inner, algebra.Filter) and not split_conjuncts(inner.condition)[1]:
            conditions.append(inner.condition)  # { { … FILTER(A) } FILTER(B) }
            inner = inner.pattern
        conditions.reverse()
        if isinstance(inner, algebra.Basic):
            parts = [part for each in conditions for part in conjuncts(each)]
            return self._basic_pattern(inner.triples, parts)
        node = self._for_filter(inner, conditions[0])
        for each in conditions:
            node = self.filters.filter(node, each)
        return node

    def _for_filter(self, node: algebra.Pattern, condition: Expression) -> MaintainedNode:
        """Return the node of a pattern for a filter around it. Solutions that surely do not fulfil
        the condition may be left out.
        """
        match node:
            case algebra.Join(parts) if parts:
                return join_all(map(self._node, parts), condition)
            case algebra.LeftJoin(left, right, None):
                return optional_or_join(self._node(left), self._node(right), condition)
            case _:
                return self._node(node)

    def _optional(
        self, left: algebra.Pattern, right: algebra.Pattern, condition: Expression | None
    ) -> MaintainedNode:
        """Return the node of OPTIONAL. EXISTS in its condition becomes a filter of the right side.
        Raises NotCovered if it names a variable of the left that the right may leave unbound.
        """
        plain, tests = split_conjuncts(condition) if condition is not None else ([], [])
        for test in tests:
            if names_in(test) & visible(left).keys() <= always_bound(right):
                right = algebra.Filter(test, right)
            else:
                raise NotCovered("EXISTS in an OPTIONAL's filter on variables from outside")
        rest = Call("&&", tuple(plain)) if plain else None
        return MaintainedOptional(self._node(left), self._node(right), rest)

    def _subselect(self, node: algebra.Project) -> MaintainedNode:
        self.has_subselect = True
        self.nesting += 1
        child, aliases = self._selected(node)
        self.nesting -= 1
        return subselect(child, [variable.name for variable in node.variables], aliases)

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

    def _group(self, node: algebra.Group) -> MaintainedNode:
        keys = node.keys or ()
        if any(variable != expression for variable, expression in keys):
            raise NotCovered("a key that is an expression")
        names = [variable.name for variable, _ in keys]
        looked_at = [*names, *sorted(names_in(node.aggregates))]
        child = refuse_computed(self._node(node.pattern), looked_at, "a group")
        aggregates = {
            variable.name: compile_aggregate(
                function, child, self.is_set or (self.nesting > 0 and has_several_forms(function))
            )
            for variable, function in node.aggregates
        }
        self.groups.append(MaintainedGroup(child, names, aggregates))
        return self.groups[-1]


def has_several_forms(function: algebra.Aggregate) -> bool:
    """Return whether an aggregate gives one of its members, which may have one value in several
    forms. Around a subselect it matters which of them it is.
    """
    return function.name in ("MIN", "MAX")


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
