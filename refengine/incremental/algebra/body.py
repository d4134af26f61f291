"""§7 From a body's algebra (`sparql.algebra`) to its tree of maintained nodes: basic graph patterns
at the leaves, then joins, filters and groups, and at the top the node that emits rows.

Each EXISTS of an expression becomes a variable of the solution, for which the expression then asks.
For `FILTER(?v > 1 || NOT EXISTS { ?x :q ?z })` a solution gets a variable `exists.0`, which is
bound as long as the pattern has a partner for it. The filter is `?v > 1 || !BOUND(?exists.0)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count
from typing import Any, NamedTuple

from refengine.core.query import Body, Form
from refengine.incremental.algebra.code import Program
from refengine.incremental.algebra.expressions import check_functions
from refengine.incremental.algebra.groups import maintain_groups
from refengine.incremental.algebra.joins import (
    MaintainedExists,
    MaintainedExistsWithFilter,
    MaintainedJoin,
    MaintainedMinus,
    MaintainedOptional,
    equalities_between,
    join_all,
    optional_or_join,
)
from refengine.incremental.algebra.nodes import (
    EMPTY_PATTERN,
    Emit,
    MaintainedDistinct,
    MaintainedExtend,
    MaintainedFilter,
    MaintainedNode,
    MaintainedPlainTerms,
    MaintainedProjection,
    MaintainedSelection,
    MaintainedUnion,
    MaintainedValues,
    Solution,
    check_forms,
    check_operands,
    maintain_ask,
    maintain_construct,
    may_compute,
    needs_triples,
)
from refengine.incremental.algebra.paths import PathWriter, has_path
from refengine.incremental.algebra.patterns import (
    MOST_COPIES,
    MaintainedBasicPattern,
    MaintainedGraph,
    MaintainedGraphPattern,
    MaintainedPresence,
    write_routes,
)
from refengine.incremental.algebra.slices import maintain_reduced, maintain_slice
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, Triple
from refengine.sparql import algebra
from refengine.sparql.algebra import (
    Call,
    Exists,
    Expression,
    Join,
    Pattern,
    TriplePattern,
    Variable,
    all_variables,
    always_bound,
    conjuncts,
    visible,
    walk,
)
from refengine.sparql.datasets import DEFAULT_GRAPH
from refengine.sparql.solutions import order_below

# EXISTS as a question for partners, where that is what substitution means (R2R-19). It asks for a
# solution of its pattern with the variables replaced that the outer solution binds. A maintained
# pattern has its solutions without that. Those that are compatible with the outer solution are the
# same ones, as long as each place where a variable is replaced also binds it: a triple pattern
# does. A filter does not, nor does an OPTIONAL around one.


class ExistsPattern(NamedTuple):
    """The pattern of EXISTS in two: conditions that look at the outer solution, and the pattern
    within them.
    """

    conditions: tuple[Expression, ...]
    pattern: Pattern


def split_pattern(pattern: Pattern, outer: Set[str]) -> ExistsPattern:
    """Return the pattern of EXISTS without the conditions of its filter that look at the outer
    solution. `outer` are the variables that may be bound there.

    What is left has, for each outer solution, the compatible solutions that substitution gives.
    Raises NotCovered where that is not known.
    """
    conditions: list[Expression] = []
    if isinstance(pattern, algebra.Filter):
        inner = pattern.pattern
        for part in conjuncts(pattern.condition):
            if outer & names_in(part) <= always_bound(inner):
                inner = algebra.Filter(part, inner)
            else:
                conditions.append(part)
        pattern = inner
    _check_substitution(pattern, outer)
    return ExistsPattern(tuple(conditions), pattern)


def has_exists(expression: Expression) -> bool:
    """Return whether an expression has EXISTS in it."""
    return any(isinstance(node, Exists) for node in walk(expression))


def names_in(node: Any) -> set[str]:
    """Return the names of all variables in a node of the algebra."""
    return {variable.name for variable in all_variables(node)}


def _check_substitution(pattern: Pattern, outer: Set[str]) -> None:
    """Raise NotCovered unless the solutions of a pattern that are compatible with an outer one are
    those that substitution gives.
    """
    match pattern:
        case algebra.Basic(triples):
            paths = tuple(filter(_may_take_no_step, triples))
            _refuse(outer & names_in(paths), "in a path that may have no steps")
        case algebra.Join(parts) | algebra.Union(parts):
            for part in parts:
                _check_substitution(part, outer)
        case algebra.Graph(_, inner):
            _check_substitution(inner, outer)
        case algebra.LeftJoin(left, right, condition):
            looked_at = names_in(right) | names_in(condition)
            _refuse(outer & looked_at - always_bound(left), "in an OPTIONAL")
            _check_substitution(left, outer)
            _check_substitution(right, outer)
        case algebra.Filter(condition, inner):
            _refuse(outer & names_in(condition) - always_bound(inner), "in an inner filter")
            _check_substitution(inner, outer)
        case algebra.Extend(inner, bindings):
            bound, looked_at = map(names_in, zip(*bindings, strict=True))
            _refuse(outer & bound, "bound by BIND")
            _refuse(outer & looked_at - always_bound(inner), "in BIND")
            _check_substitution(inner, outer)
        case algebra.Minus(left, right):
            _refuse(outer & names_in(right), "in MINUS")
            _check_substitution(left, outer)
        case algebra.Values(variables, _):
            _refuse(outer & names_in(variables), "in VALUES")
        case _:
            _refuse(outer & names_in(pattern), "in a subselect")


def _may_take_no_step(triple: TriplePattern) -> bool:
    """Return whether a triple pattern has `?` or `*`, by which a term reaches itself. In the place
    of a variable that is a node of the graph, else any term.
    """
    return any(
        isinstance(part, algebra.Repeated) and not part.least for part in walk(triple.predicate)
    )


def _refuse(names: Iterable[str], place: str) -> None:
    """Raise NotCovered if there are any variables from outside at a place within EXISTS."""
    for name in sorted(names):
        raise NotCovered(f"EXISTS with ?{name} from outside {place}")


# Expressions with EXISTS


class FilterBuilder:
    """A builder of filters around nodes. `build` makes the node of a pattern. Each method takes a
    node with the pattern whose solutions it has.
    """

    def __init__(self, build: Callable[[Pattern], MaintainedNode]) -> None:
        self.build = build
        self.numbers = count()  # of the tests

    def filter(
        self, node: MaintainedNode, pattern: Pattern, condition: Expression
    ) -> MaintainedNode:
        """Return a node under a filter, which asks its conjuncts without EXISTS first. Raises
        NotCovered.
        """
        conditions, tests = split_conjuncts(condition)
        if conditions:
            node = MaintainedFilter(node, Call("&&", tuple(conditions)))
        names = node.names
        for test in tests:
            node, asked = self.ask_tests(node, pattern, test)
            node = MaintainedFilter(node, asked)
        if tests:
            node = MaintainedSelection(node, names)
        return node

    def ask_tests(
        self, node: MaintainedNode, pattern: Pattern, expression: Expression
    ) -> tuple[MaintainedNode, Expression]:
        """Return a node with one variable more for each EXISTS in an expression, and the expression
        that asks for these. Raises NotCovered.
        """
        match expression:
            case Exists(tested):
                flag = f"exists.{next(self.numbers)}"
                return self._add_test(node, pattern, tested, flag), Call("BOUND", (Variable(flag),))
            case Call(name, arguments):
                asked = []
                for argument in arguments:
                    node, part = self.ask_tests(node, pattern, argument)
                    asked.append(part)
                return node, Call(name, tuple(asked))
            case _:
                return node, expression

    def _add_test(
        self, node: MaintainedNode, pattern: Pattern, tested: Pattern, flag: str
    ) -> MaintainedNode:
        """Return a node with one variable more, which is bound where EXISTS holds for the pattern
        that is tested.
        """
        outer = {name for name in node.names if not Variable(name).is_hidden}
        conditions, inner = split_pattern(tested, outer)
        right = self.build(inner)
        if may_compute(pattern):
            node = MaintainedPlainTerms(node, outer & {*right.names})
        left, right = check_operands([node, right], [pattern, inner])
        if not conditions:
            return MaintainedExists(left, right, flag)
        for name in right.names:
            if name in outer and name not in left.certain:
                raise NotCovered(f"EXISTS with a filter, where ?{name} may be unbound outside")
        condition = Call("&&", conditions)
        return MaintainedExistsWithFilter(
            left,
            right,
            flag,
            lambda joined: self.filter(joined, Join((pattern, inner)), condition),
            equalities_between(condition, left, right),
        )


def split_conjuncts(condition: Expression) -> tuple[list[Expression], list[Expression]]:
    """Return the conjuncts of a condition without EXISTS, and those with it."""
    plain: list[Expression] = []
    with_exists: list[Expression] = []
    for part in conjuncts(condition):
        if has_exists(part):
            with_exists.append(part)
        else:
            plain.append(part)
    return plain, with_exists


# The nodes of patterns


Modifier = (
    algebra.Group
    | algebra.OrderBy
    | algebra.Slice
    | algebra.Reduced
    | algebra.Project
    | algebra.Distinct
)


class NodeBuilder:
    """A builder of the nodes of patterns: `node` makes them. Then `basic_patterns` are those that
    take the triples.

    With `is_set` aggregates must be exact. With `has_numbers` each solution of a basic graph
    pattern is followed by the numbers of its triples' elements. What compares computed numbers
    raises NotCovered where it is open whether they are the same (`check_forms`).
    """

    def __init__(self, is_set: bool, has_numbers: bool) -> None:
        self.is_set = is_set
        self.has_numbers = has_numbers
        self.basic_patterns: list[MaintainedBasicPattern] = []
        self.filters = FilterBuilder(self.node)
        self.paths = PathWriter(self._basic_pattern)

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
                return MaintainedValues(pattern)
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
                    return MaintainedValues(EMPTY_PATTERN)
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
        basic = MaintainedBasicPattern(
            len(self.basic_patterns), triples, filters, number_names, outer_filters
        )
        self.basic_patterns.append(basic)
        return basic

    def _graph(self, pattern: algebra.Graph) -> MaintainedNode:
        (node,) = self._operands(pattern.pattern)
        if not needs_triples(pattern.pattern):
            node = MaintainedJoin(MaintainedPresence(), node)
        return MaintainedGraphPattern(node, pattern.name, pattern.of_windows)

    def _operands(self, *patterns: algebra.Pattern) -> Sequence[MaintainedNode]:
        """Return the nodes of patterns that are joined."""
        return check_operands([self.node(pattern) for pattern in patterns], patterns)

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
        return maintain_groups(child, keys, aggregates, self.is_set, is_computed)

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
        if isinstance(pattern, algebra.Reduced):
            return maintain_reduced(child, shown)
        return maintain_slice(child, shown, conditions, bounds, order)


# The body


class BodyAlgebra(NamedTuple):
    """What the code of a body depends on: its algebra and the form of its answer."""

    algebra: algebra.AlgebraQuery
    form: Form
    variables: tuple[str, ...]
    makes_blanks: bool


class CompiledBody:
    """The Python module that a body is compiled to: `source` is its text, and `follow` the function
    that connects it with a MaintainedBody. `answer` is the node at the top, and `basic_patterns`
    are those at the leaves.
    """

    def __init__(self, asked: BodyAlgebra, is_set: bool, has_numbers: bool, is_fed: bool) -> None:
        builder = NodeBuilder(is_set, has_numbers)
        self.answer = answer_node(asked, builder)
        self.is_set = builder.is_set
        self.basic_patterns = builder.basic_patterns
        program = Program(is_fed)
        program.scope.append("graph = body.graphs['']  # R2R-8 the default graph")
        self.answer.write(program, lambda values, count: [])
        write_routes(program)
        self.source = program.source()
        self.follow = program.load(self.source)


MOST_COMPILED = 256  # bodies of which the code is kept


def compile_body(
    body: Body, is_set: bool = False, has_numbers: bool = False, is_fed: bool = False
) -> CompiledBody:
    """ENG-6: Return the module of a body, for a MaintainedBody of these options. Raises NotCovered
    for a body that is not covered.
    """
    asked = BodyAlgebra(body.algebra, body.form, body.variables, body.makes_blanks)
    return _compile(asked, is_set, has_numbers, is_fed)


_compile = lru_cache(maxsize=MOST_COMPILED)(CompiledBody)


class MaintainedBody:
    """A body that follows a content, triple by triple: `emit` takes every row that comes to its
    answer or goes from it. The code that does this is compiled (`compile_body`).

    Where answers are sets (`is_set`, and under DISTINCT) aggregates must be exact: nearly equal
    ones may be one row or two. `names` are the named graphs that the dataset may have at some time.

    With `collect` each triple is followed by the number of the element that it comes from,
    (s, p, o, k). Then `collect` takes each solution of a basic graph pattern that a triple
    completes, behind the pattern's number, and the numbers of its triples follow it. With `is_fed`
    the answer follows such solutions in place of triples; `feeds` take them, by pattern.

    Raises NotCovered for a body that is not covered; its methods raise it for a value that is not.
    """

    def __init__(
        self,
        body: Body,
        emit: Emit,
        is_set: bool = False,
        collect: Callable[[int, Solution], None] | None = None,
        is_fed: bool = False,
        names: Iterable[Term] = (),
    ) -> None:
        compiled = compile_body(body, is_set, collect is not None, is_fed)
        self.answer = compiled.answer
        self.is_set = compiled.is_set
        self.basic_patterns = compiled.basic_patterns
        self.graphs = {name: MaintainedGraph() for name in (DEFAULT_GRAPH, *names)}
        self.collect = collect
        self.feeds: dict[int, Emit] = {}
        self.flushed_nodes: list[Any] = []  # inner ones before outer ones
        self.copies = 0  # of patterns in GRAPH
        compiled.follow(emit, self)
        self.flushed_nodes.reverse()

    def add(self, node: Any) -> None:
        """Take an object that emits when the content is complete; one around others comes before
        them.
        """
        self.flushed_nodes.append(node)

    def count_copy(self) -> None:
        """Count a pattern over a graph. Raises NotCovered for too many."""
        self.copies += 1
        if self.copies > MOST_COPIES:
            raise NotCovered(f"GRAPH over more than {MOST_COPIES} graphs")

    def insert(self, triple: Triple, graph: Term = DEFAULT_GRAPH) -> None:
        """Insert a triple of an element into a graph. Raises NotCovered."""
        self.graphs[graph].insert(triple)

    def retract(self, triple: Triple, graph: Term = DEFAULT_GRAPH) -> None:
        """Retract a triple of an element from a graph. Raises NotCovered."""
        self.graphs[graph].retract(triple)

    def flush(self) -> None:
        """Emit what waited until the content is complete. Raises NotCovered."""
        for node in self.flushed_nodes:
            node.flush()


def answer_node(body: BodyAlgebra, builder: NodeBuilder) -> MaintainedNode:
    """Return the node at the top, which emits rows. Raises NotCovered."""
    check_functions(body.algebra)
    if body.makes_blanks:
        raise NotCovered("blank nodes of a template, which are new at every evaluation")
    pattern = body.algebra.pattern
    match body.form:
        case Form.ASK:
            return _ask(pattern, builder)
        case Form.CONSTRUCT:
            child = builder.node(pattern)
            return maintain_construct(child, body.algebra.template, may_compute(pattern))
        case Form.SELECT:
            return _projection(body, builder)


def _ask(pattern: algebra.Pattern, builder: NodeBuilder) -> MaintainedNode:
    if isinstance(pattern, algebra.Slice):  # which solutions are cut off does not matter
        child = builder.node(pattern.pattern)
        return maintain_ask(child, pattern.offset, is_cut=pattern.limit == 0)
    return maintain_ask(builder.node(pattern))


def _projection(body: BodyAlgebra, builder: NodeBuilder) -> MaintainedNode:
    pattern: algebra.Pattern = body.algebra.pattern
    is_distinct = isinstance(pattern, algebra.Distinct)
    if isinstance(pattern, algebra.Distinct):
        builder.is_set = True
        pattern = pattern.pattern
    if isinstance(pattern, algebra.Project):
        pattern = pattern.pattern
    is_computed = may_compute(pattern)
    child = builder.node(pattern)
    if is_computed and builder.is_set:
        (child,) = check_forms([child], body.variables)
    return MaintainedProjection(child, body.variables, is_distinct, is_computed)
