"""The operators of SPARQL's algebra (SPARQL 1.1 §18.5, §18.6), each as a case of a match."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from refengine.model.elements import Dataset, Relation, Term
from refengine.sparql.algebra import (
    AlgebraQuery,
    Basic,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Reduced,
    Slice,
    Union,
    Values,
    Variable,
    visible,
)
from refengine.sparql.choices import Choices
from refengine.sparql.evaluation.answers import ask_answer, construct_answer, select_answer
from refengine.sparql.evaluation.duplicates import keep_distinct, reduce_solutions
from refengine.sparql.evaluation.grouping import group_solutions
from refengine.sparql.evaluation.join_order import postpone_unconnected
from refengine.sparql.evaluation.joining import join, left_join, subtract
from refengine.sparql.evaluation.matching import match_basic, unconnected_parts
from refengine.sparql.evaluation.run import Run, Solution
from refengine.sparql.evaluation.slicing import cut, order_below, project
from refengine.sparql.evaluation.substitution import substitute
from refengine.sparql.evaluation.templates import distinct_triples, fill_template
from refengine.sparql.graphs import Index
from refengine.sparql.limits import WIDE, Budget
from refengine.sparql.values import ERROR, Computed


class BodyEvaluator:
    """One evaluation of a body over a dataset, by one run of choices."""

    def __init__(
        self, query: AlgebraQuery, dataset: Dataset, budget: Budget, choices: Choices
    ) -> None:
        self.query = query
        self.run = Run(query, dataset, budget, choices, self.exists)

    def answer(self) -> Relation:
        """Return the answer in the query's form."""
        pattern = self.query.pattern
        # which solutions are cut off does not matter
        if self.query.form == "ASK" and isinstance(pattern, Slice):
            total = len(self.solutions(pattern.pattern)) - pattern.offset
            return ask_answer(total > 0 and pattern.limit != 0)
        solutions = self.solutions(pattern)
        match self.query.form:
            case "ASK":
                return ask_answer(bool(solutions))
            case "CONSTRUCT":
                triples = fill_template(self.run, self.query.template, solutions)
                return construct_answer(distinct_triples(self.run, triples))
            case _:
                return select_answer(self.query.variables, solutions)

    def solutions(self, pattern: Pattern) -> list[Solution]:
        """Return the multiset of a pattern's solutions in the active graph (§18.6)."""
        self.run.budget.spend(1)
        solutions = self.of_pattern(pattern)
        self.run.budget.spend(len(solutions) + sum(map(len, solutions)) // WIDE)
        self.run.hold(solutions)
        return solutions

    def of_pattern(self, pattern: Pattern) -> list[Solution]:
        """Evaluate one operator."""
        match pattern:
            case Basic(triples):
                return match_basic(self.run, triples)
            case Join(parts):
                return self.join_all(parts)
            case LeftJoin(left, right, condition):
                return left_join(self.run, self.solutions(left), self.solutions(right), condition)
            case Filter(condition, inner):
                return self.filter(condition, inner)
            case Union(parts):
                return self.run.unite(map(self.solutions, parts))
            case Minus(left, right):
                return subtract(self.run, self.solutions(left), self.solutions(right))
            case Graph():
                return self.within_graph(pattern)
            case Extend(inner, bindings):
                extended = ([self.extend(one, bindings)] for one in self.solutions(inner))
                return self.run.unite(extended)
            case Values():
                return rows_of(pattern)
            case Group() | Project() | Distinct() | Reduced() | OrderBy() | Slice():
                return self.of_modifier(pattern)

    def of_modifier(
        self, pattern: Group | Project | Distinct | Reduced | OrderBy | Slice
    ) -> list[Solution]:
        """Evaluate grouping or a solution modifier."""
        match pattern:
            case Group():
                return self.group(pattern)
            case Project(inner, variables):
                self.run.budget.spend(len(variables))
                return project(self.solutions(inner), variables)
            case Distinct(inner):
                return keep_distinct(self.run, self.solutions(inner))
            case Reduced(inner):
                return reduce_solutions(self.run, self.solutions(inner))
            case OrderBy(inner, _):
                return self.solutions(inner)  # an answer is a bag; Slice looks at the order
            case Slice():
                order = order_below(pattern)
                return cut(self.run, pattern, order, self.solutions(order.pattern))

    def join_all(self, parts: Sequence[Pattern]) -> list[Solution]:
        """Return the solutions of patterns that are joined (§18.5, Join): of no patterns, one empty
        solution.

        The order does not change a join. So an operand waits until it shares a variable with one
        before it, if any operand that is left does. A basic graph pattern whose triple patterns
        share no variable is several operands. For instance the first two patterns of
        `?a a :C . ?b a :C . GRAPH ?w { ?o :of ?a, ?b }` alone have a solution for each pair of
        nodes of :C. Joined with the graph in between there are only as many as the graph names.
        """
        self.run.budget.spend(
            sum(len(part.triples) ** 2 // 4 for part in parts if isinstance(part, Basic))
        )
        operands = list(chain.from_iterable(map(unconnected_parts, parts)))
        self.run.budget.spend(len(operands) ** 2 // 4)
        solutions: list[Solution] = [{}]
        for operand in postpone_unconnected(operands, lambda each: frozenset(visible(each))):
            if not solutions:
                break
            solutions = join(self.run, solutions, self.solutions(operand))
        return solutions

    def filter(self, condition: Expression, inner: Pattern) -> list[Solution]:
        """Return the solutions of a pattern that fulfil a condition (§18.5, Filter)."""
        if isinstance(inner, Basic):
            solutions = match_basic(self.run, inner.triples, condition)
        else:
            solutions = self.solutions(inner)
        holds = self.run.expressions.holds
        return [solution for solution in solutions if holds(condition, solution)]

    def within_graph(self, pattern: Graph) -> list[Solution]:
        """Evaluate a pattern over one named graph, or over each, whose name the variable then has
        (§18.6, Graph). WINDOW does so over windows (R2R-8).
        """
        name, inner = pattern.name, pattern.pattern
        graphs = self.run.windows if pattern.of_windows else self.run.named
        if not isinstance(name, str):
            return self.run.unite(
                join(self.run, self.over(graph, inner), [{name.name: iri}])
                for iri, graph in graphs.items()
            )
        if name not in graphs:
            return []
        return self.over(graphs[name], inner)

    def over(self, graph: Index, pattern: Pattern) -> list[Solution]:
        """Evaluate a pattern with another active graph."""
        before = self.run.graph
        self.run.graph = graph
        try:
            return self.solutions(pattern)
        finally:
            self.run.graph = before

    def extend(
        self, solution: Solution, bindings: Iterable[tuple[Variable, Expression]]
    ) -> Solution:
        """Bind each variable whose expression is no error (§18.5, Extend). BNODE's labels hold for
        all of them.
        """
        bindings = tuple(bindings)
        nodes = self.run.expressions.nodes_of_solution(bindings)
        solution = dict(solution)
        self.run.budget.spend(len(bindings) // 8)
        for variable, expression in bindings:
            result = self.run.expressions.result(expression, solution, nodes)
            if result is not ERROR:
                self.run.has_computed |= isinstance(result, Computed)
                solution[variable.name] = result
        return solution

    def group(self, group: Group) -> list[Solution]:
        """R2R-6: Group solutions by their keys (§18.5.1), errors among them, and aggregate each
        group. No solutions give no group; without GROUP BY there is always one.
        """
        return group_solutions(self.run, group, self.solutions(group.pattern))

    def exists(self, expression: Exists, solution: Mapping[str, Term]) -> bool:
        """R2R-19: Return whether a pattern has a solution once each variable that the current
        solution binds is replaced (§18.6).
        """
        self.run.budget.spend(1 + expression.size // 2)
        return bool(self.solutions(substitute(expression.pattern, dict(solution))))


def rows_of(values: Values) -> list[Solution]:
    """Return the rows of VALUES as solutions; UNDEF binds nothing."""
    return [
        {
            variable.name: term
            for variable, term in zip(values.variables, cells, strict=True)
            if term is not None
        }
        for cells in values.rows
    ]
