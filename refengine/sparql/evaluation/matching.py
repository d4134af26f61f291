"""Basic graph patterns (SPARQL 1.1 §18.3), property paths included: triple pattern after triple
pattern, over the active graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import cast

from refengine.model.elements import Term, Triple
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.algebra import (
    Basic,
    Exists,
    Expression,
    Path,
    Pattern,
    TriplePattern,
    Variable,
    conjuncts,
    free_variables,
    walk,
    without_path,
)
from refengine.sparql.evaluation.join_order import (
    order_by_shared_variables,
    split_by_shared_variables,
)
from refengine.sparql.evaluation.run import Run, Solution
from refengine.sparql.paths import pairs


def match_basic(
    run: Run, triples: Sequence[TriplePattern], condition: Expression | None = None
) -> list[Solution]:
    """R2R-10: Match a basic graph pattern (§18.3): terms match as terms, and blank nodes of the
    body as variables do.

    `condition` is that of the filter around the pattern. A solution that surely fails one of its
    conjuncts is dropped as soon as the variables of that conjunct are bound. The caller still
    applies the whole filter.
    """
    solutions: list[Solution] = [{}]
    run.budget.spend(len(triples) ** 2 // 4)
    waiting = [(part, names_of(free_variables(part))) for part in testable_early(condition)]
    bound: set[str] = set()
    for pattern in in_join_order(run, triples):
        bound |= names_of(variables_of(pattern))
        ready = [part for part, names in waiting if names and names <= bound]
        waiting = [(part, names) for part, names in waiting if part not in ready]
        solutions = run.unite(
            not_surely_failing(run, ready, match_triple(run, pattern, solution))
            for solution in solutions
        )
    if any(map(has_blank_node, triples)):
        return [without_hidden(solution) for solution in solutions]
    return solutions


def names_of(variables: Iterable[Variable]) -> set[str]:
    """Return the names of variables."""
    return {variable.name for variable in variables}


def has_blank_node(pattern: TriplePattern) -> bool:
    """Return whether a blank node of the body, or a variable made by the algebra, stands in a
    pattern.
    """
    return any(variable.is_hidden for variable in variables_of(pattern))


def without_hidden(solution: Solution) -> Solution:
    """Return a solution without the variables that stand for the body's blank nodes."""
    return {name: term for name, term in solution.items() if ":" not in name}


def testable_early(condition: Expression | None) -> list[Expression]:
    """Return the conjuncts of a condition that are cheap to test before the filter itself: those
    without EXISTS.
    """
    if condition is None:
        return []
    return [
        part
        for part in conjuncts(condition)
        if not any(isinstance(node, Exists) for node in walk(part))
    ]


def not_surely_failing(
    run: Run, conditions: Sequence[Expression], solutions: Iterable[Solution]
) -> Iterable[Solution]:
    """Return the solutions that do not surely fail some conditions."""
    if not conditions:
        return solutions
    return (one for one in solutions if not surely_fails(run, conditions, one))


def surely_fails(run: Run, conditions: Iterable[Expression], solution: Solution) -> bool:
    """Return whether a solution does not fulfil one of some conditions, those without a single
    answer left aside.
    """
    for condition in conditions:
        with suppress(NoSingleAnswer):
            if not run.expressions.holds(condition, solution):
                return True
    return False


# The order of joining


def unconnected_parts(pattern: Pattern) -> list[Pattern]:
    """Split a basic graph pattern into parts that share no variable and no blank node; their join
    is the pattern. Any other pattern is its only part.
    """
    if not isinstance(pattern, Basic):
        return [pattern]
    groups = split_by_shared_variables(pattern.triples, variables_of)
    return [Basic(tuple(group)) for group in groups]


def in_join_order(run: Run, triples: Iterable[TriplePattern]) -> list[TriplePattern]:
    """Order triple patterns as they are joined: first those that share a variable with one before;
    then paths last, fewest new variables, smallest.
    """

    @cache
    def size(pattern: TriplePattern) -> int:
        return count_candidates(run, pattern)

    def cost(pattern: TriplePattern, new_variables: int) -> tuple[bool, int, int]:
        return is_path(pattern), new_variables, size(pattern)

    return order_by_shared_variables(triples, variables_of, cost)


def count_candidates(run: Run, pattern: TriplePattern) -> int:
    """Return how many triples have the terms of a pattern; of a path, all that there are."""
    if is_path(pattern):
        return len(run.graph)
    terms = [None if isinstance(term, Variable) else term for term in without_path(pattern)]
    return len(run.graph.match(*terms))


def is_path(pattern: TriplePattern) -> bool:
    """Return whether a triple pattern's predicate is a property path."""
    return not isinstance(pattern.predicate, Variable | str)


def variables_of(pattern: TriplePattern) -> set[Variable]:
    """Return the variables of a triple pattern."""
    return {term for term in pattern if isinstance(term, Variable)}


# One triple pattern


def match_triple(run: Run, pattern: TriplePattern, solution: Solution) -> Iterator[Solution]:
    """Yield a solution with what one triple pattern adds to it."""
    # a path is no term, but is not asked for; this runs for every solution
    terms: list[Term | None] = [
        solution.get(term.name) if isinstance(term, Variable) else term  # type: ignore[misc]
        for term in pattern
    ]
    triples: Iterable[Triple]
    if is_path(pattern):
        triples = path_ends(run, pattern, terms[0], terms[2])
    else:
        triples = run.graph.match(*terms)
    free = [
        (position, term.name)
        for position, term in enumerate(pattern)
        if isinstance(term, Variable) and terms[position] is None
    ]
    spend = run.budget.spend
    for triple in triples:
        spend(1)
        more = {name: triple[position] for position, name in free}
        # fewer names than places: a variable that stands at several, which must have one term
        if len(more) == len(free) or all(more[name] == triple[at] for at, name in free):
            yield {**solution, **more}


def path_ends(
    run: Run, pattern: TriplePattern, start: Term | None, end: Term | None
) -> Iterator[Triple]:
    """Yield what a path connects, as triples whose predicate is empty.

    If the path stands between two variables, both ends must be nodes of the graph, even where
    another pattern has bound a variable to a term that is not in it (§18.4).
    """
    is_open = isinstance(pattern.subject, Variable) and isinstance(pattern.object, Variable)
    nodes = run.graph.nodes
    # A term that another pattern has bound a variable to is no end that the path itself is
    # given, unless it is a node.
    first = None if isinstance(pattern.subject, Variable) and start not in nodes else start
    last = None if isinstance(pattern.object, Variable) and end not in nodes else end
    path = cast("Path", pattern.predicate)
    for a, b in pairs(run.graph, path, first, last, run.budget.spend):
        is_match = start in (None, a) and end in (None, b)
        if is_match and (not is_open or (a in nodes and b in nodes)):
            yield a, "", b
