"""§7 The evaluation of SPARQL's algebra (SPARQL 1.1 §18.3 to §18.6), operator by operator, over
multisets of solutions.

A solution maps the names of variables to terms. A multiset of solutions is a list; its order means
nothing. Nothing is kept from one evaluation to the next.

`BodyEvaluator` has a case for each operator of the algebra. What takes more than a line is in
`matching` (basic graph patterns) and `solutions`. `run` is what all of them share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from refengine.model.compare import equal
from refengine.model.elements import Dataset, Relation, Term
from refengine.model.errors import NoSingleAnswer, Unsupported
from refengine.sparql import algebra
from refengine.sparql.algebra import Basic, Expression, Graph, Group, Pattern, Slice, Variable
from refengine.sparql.choices import Choices, one_answer
from refengine.sparql.datasets import Index
from refengine.sparql.limits import WIDE, Budget, Limits
from refengine.sparql.matching import match_basic, postpone_unconnected, unconnected_parts
from refengine.sparql.run import Run, Solution
from refengine.sparql.solutions import (
    ask_answer,
    construct_answer,
    cut,
    distinct_triples,
    fill_template,
    group_solutions,
    join,
    keep_distinct,
    left_join,
    order_below,
    project,
    reduce_solutions,
    select_answer,
    subtract,
)
from refengine.sparql.values import ERROR, Computed, boolean

# EXISTS (§18.6): its pattern with the variables replaced that the current solution binds


T = TypeVar("T")


def substitute(pattern: Pattern, solution: Mapping[str, Term]) -> Pattern:
    """R2R-19: Replace the variables that a solution binds, in a pattern and its expressions.

    Raises NoSingleAnswer where the recommendation's substitution has no agreed meaning: for a bound
    variable that BIND or VALUES binds, too, or that stands anywhere in a subquery or on both sides
    of MINUS; and for a computed number in a triple pattern.
    """
    match pattern:
        case Basic(triples):
            return Basic(tuple(fill_triple(pattern, solution) for pattern in triples))
        case algebra.Join(parts):
            return algebra.Join(tuple(substitute(part, solution) for part in parts))
        case algebra.Union(parts):
            return algebra.Union(tuple(substitute(part, solution) for part in parts))
        case algebra.LeftJoin(left, right, condition):
            return algebra.LeftJoin(
                substitute(left, solution),
                substitute(right, solution),
                replace_in_condition(condition, solution),
            )
        case algebra.Filter(condition, inner):
            return algebra.Filter(
                replace_in_expression(condition, solution), substitute(inner, solution)
            )
        case Graph(name, inner, of_windows):
            return Graph(fill(name, solution), substitute(inner, solution), of_windows)
        case algebra.Extend(inner, bindings):
            refuse_bound((variable.name for variable, _ in bindings), solution, "BIND")
            replaced = [
                (variable, replace_in_expression(part, solution)) for variable, part in bindings
            ]
            return algebra.Extend(substitute(inner, solution), tuple(replaced))
        case algebra.Minus(left, right):
            refuse_bound(
                algebra.visible(left).keys() & algebra.visible(right).keys(), solution, "MINUS"
            )
            return algebra.Minus(substitute(left, solution), substitute(right, solution))
        case algebra.Values(variables, _):
            refuse_bound((variable.name for variable in variables), solution, "VALUES")
            return pattern
        case _:
            inside = (variable.name for variable in algebra.all_variables(pattern))
            refuse_bound(inside, solution, "a subquery")
            return pattern


def fill_triple(
    pattern: algebra.TriplePattern, solution: Mapping[str, Term]
) -> algebra.TriplePattern:
    """Return a triple pattern with the terms of a solution for its variables; a path has none."""
    subject, predicate, object_ = pattern
    return algebra.TriplePattern(
        fill(subject, solution), fill(predicate, solution), fill(object_, solution)
    )


def fill(part: T, solution: Mapping[str, Term]) -> T | Term:
    """Return the term that a solution binds a part of a pattern to, if the part is a variable;
    else the part. Raises NoSingleAnswer for a computed number.
    """
    if not isinstance(part, Variable) or part.name not in solution:
        return part
    term = solution[part.name]
    if isinstance(term, Computed):
        raise NoSingleAnswer("a computed number within EXISTS")
    return term


def replace_in_condition(
    condition: Expression | None, solution: Mapping[str, Term]
) -> Expression | None:
    """Replace the variables of a condition, if there is one."""
    if condition is None:
        return None
    return replace_in_expression(condition, solution)


def replace_in_expression(expression: Expression, solution: Mapping[str, Term]) -> Expression:
    """Replace the variables of an expression. BOUND of one that is bound becomes true."""
    match expression:
        case Variable(name):
            return solution.get(name, expression)
        case algebra.Call("BOUND", (Variable(name),)) if name in solution:
            return boolean(True)
        case algebra.Call(name, arguments):
            return algebra.Call(
                name, tuple(replace_in_expression(part, solution) for part in arguments)
            )
        case algebra.Exists(pattern):
            return replace(expression, pattern=substitute(pattern, solution))
        case algebra.Aggregate():
            argument = replace_in_condition(expression.argument, solution)
            return replace(expression, argument=argument)
        case _:
            return expression


def refuse_bound(names: Iterable[str], solution: Mapping[str, Term], place: str) -> None:
    """Raise NoSingleAnswer if a solution binds one of some variables, which stand at a place within
    EXISTS.
    """
    if bound := sorted(set(names) & solution.keys()):
        raise NoSingleAnswer(
            f"EXISTS with ?{bound[0]} bound outside and in {place} inside, "
            "for which substitution has no agreed meaning"
        )


# The operators (§18.5, §18.6), each as a case of a match


class BodyEvaluator:
    """One evaluation of a body over a dataset, by one run of choices."""

    def __init__(
        self, query: algebra.AlgebraQuery, dataset: Dataset, budget: Budget, choices: Choices
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
            case algebra.Join(parts):
                return self.join_all(parts)
            case algebra.LeftJoin(left, right, condition):
                return left_join(self.run, self.solutions(left), self.solutions(right), condition)
            case algebra.Filter(condition, inner):
                return self.filter(condition, inner)
            case algebra.Union(parts):
                return self.run.unite(map(self.solutions, parts))
            case algebra.Minus(left, right):
                return subtract(self.run, self.solutions(left), self.solutions(right))
            case Graph():
                return self.within_graph(pattern)
            case algebra.Extend(inner, bindings):
                extended = ([self.extend(one, bindings)] for one in self.solutions(inner))
                return self.run.unite(extended)
            case algebra.Values():
                return rows_of(pattern)
            case (
                Group()
                | algebra.Project()
                | algebra.Distinct()
                | algebra.Reduced()
                | algebra.OrderBy()
                | Slice()
            ):
                return self.of_modifier(pattern)

    def of_modifier(
        self,
        pattern: Group
        | algebra.Project
        | algebra.Distinct
        | algebra.Reduced
        | algebra.OrderBy
        | Slice,
    ) -> list[Solution]:
        """Evaluate grouping or a solution modifier."""
        match pattern:
            case Group():
                return self.group(pattern)
            case algebra.Project(inner, variables):
                self.run.budget.spend(len(variables))
                return project(self.solutions(inner), variables)
            case algebra.Distinct(inner):
                return keep_distinct(self.run, self.solutions(inner))
            case algebra.Reduced(inner):
                return reduce_solutions(self.run, self.solutions(inner))
            case algebra.OrderBy(inner, _):
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
        for operand in postpone_unconnected(
            operands, lambda each: frozenset(algebra.visible(each))
        ):
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

    def exists(self, expression: algebra.Exists, solution: Mapping[str, Term]) -> bool:
        """R2R-19: Return whether a pattern has a solution once each variable that the current
        solution binds is replaced (§18.6).
        """
        self.run.budget.spend(1 + expression.size // 2)
        return bool(self.solutions(substitute(expression.pattern, dict(solution))))


def rows_of(values: algebra.Values) -> list[Solution]:
    """Return the rows of VALUES as solutions; UNDEF binds nothing."""
    return [
        {
            variable.name: term
            for variable, term in zip(values.variables, cells, strict=True)
            if term is not None
        }
        for cells in values.rows
    ]


# The answer


def evaluate(
    query: algebra.AlgebraQuery, dataset: Dataset, limits: Limits | None = None
) -> Relation:
    """R2R-5: Return the answer of a body over a dataset, as the recommendation defines it.

    `query` is the body's algebra. Statements of three terms make the default graph, of four a named
    graph; a literal in the fourth place is the time of the triple before it (R2R-21).

    Raises Unsupported: QRY-3 where conforming evaluators may answer differently, R2R-17 where a
    limit is spent. All the runs that choices lead to (QRY-3) share one budget.
    """
    budget = Budget(limits or Limits())

    def answer(choices: Choices) -> Relation:
        return BodyEvaluator(query, dataset, budget, choices).answer()

    def are_same(one: Relation, other: Relation) -> bool:
        return one.variables == other.variables and equal(one.rows, other.rows)

    try:
        return one_answer(answer, are_same)
    except RecursionError:
        raise Unsupported("nested too deeply", rule="R2R-17", place="body") from None
    except ArithmeticError:
        raise Unsupported("numbers that are out of reach", rule="R2R-13", place="body") from None
    except UnicodeEncodeError:
        raise Unsupported(
            "a lone surrogate, which is no character", rule="R2R-17", place="body"
        ) from None
