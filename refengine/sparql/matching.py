"""§7 Basic graph patterns (SPARQL 1.1 §18.3), property paths included (§9, §18.4): triple pattern
after triple pattern, over the active graph. The order in which patterns are joined is no part of
the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, cast

from refengine.model.elements import Term, Triple
from refengine.model.errors import NoSingleAnswer
from refengine.sparql import algebra
from refengine.sparql.algebra import Expression, Inverse, Path, Repeated, TriplePattern, Variable
from refengine.sparql.datasets import (
    Index,
    Spend,
)
from refengine.sparql.run import Run, Solution

# Property paths: which pairs of nodes a path connects, and how often


Pair = tuple[Term, Term]


def pairs(
    graph: Index, path: Path, start: Term | None, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """R2R-18: Yield the pairs of nodes that a path connects, from `start` and to `end` where they
    are given (None: any node).

    Alternatives and sequences give a pair as often as they have ways; `?`, `*` and `+` give it once
    (§18.4). A path of length zero connects a given term with itself, be it in the graph or not.
    """
    spend(1)
    match path:
        case str():
            for subject, _, object in graph.match(start, path, end):
                spend(1)
                yield subject, object
        case Inverse(inner):
            yield from ((a, b) for b, a in pairs(graph, inner, end, start, spend))
        case algebra.Alternative(paths):
            for one in paths:
                yield from pairs(graph, one, start, end, spend)
        case algebra.Sequence(steps):
            yield from _sequence(graph, steps, start, end, spend)
        case algebra.NegatedSet():
            yield from _negated(graph, path, start, end, spend)
        case Repeated():
            yield from _repeated(graph, path, start, end, spend)


def _sequence(
    graph: Index, steps: tuple[Path, ...], start: Term | None, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """Yield the pairs that steps connect, one after the other.

    A sequence is a join by a variable between each two steps (§18.4). A step with variables at both
    ends connects nodes of the graph alone, so that P*/Q* does not connect a term that is no node
    with itself.
    """
    if start is None and end is not None:
        backwards = tuple(Inverse(step) for step in reversed(steps))
        yield from ((a, b) for b, a in _sequence(graph, backwards, end, None, spend))
        return
    first, *rest = steps
    for begin, middle in pairs(graph, first, start, None, spend):
        for _, stop in _following(graph, rest, middle, end, spend):
            spend(1)
            yield begin, stop


def _following(
    graph: Index, steps: list[Path], middle: Term, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """Yield the pairs that the steps behind a first one connect, from a term that a variable stands
    for.
    """
    first, *rest = steps
    goal = None if rest else end
    for begin, stop in pairs(graph, first, middle, goal, spend):
        if goal is None and (begin not in graph.nodes or stop not in graph.nodes):
            continue
        if not rest:
            yield begin, stop
            continue
        for _, last in _following(graph, rest, stop, end, spend):
            spend(1)
            yield begin, last


def _negated(
    graph: Index, path: algebra.NegatedSet, start: Term | None, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """Yield the ends of the triples with any predicate but those of the set, in the direction of
    its members (§9.1).
    """
    if path.forward is not None:
        for subject, predicate, object in graph.match(start, None, end):
            spend(1 + len(path.forward) // 16)
            if predicate not in path.forward:
                yield subject, object
    if path.backward is not None:
        for subject, predicate, object in graph.match(end, None, start):
            spend(1 + len(path.backward) // 16)
            if predicate not in path.backward:
                yield object, subject


def _repeated(
    graph: Index, path: Repeated, start: Term | None, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """Yield each pair that `?`, `*` or `+` connects, once (§18.4, ZeroOrOnePath to ALP)."""
    if start is None and end is not None:
        inverse = Repeated(Inverse(path.path), path.least, path.is_at_most_once)
        yield from ((a, b) for b, a in _repeated(graph, inverse, end, None, spend))
        return
    nodes = [start] if start is not None else graph.nodes
    spend(len(nodes))
    for begin in nodes:
        for stop in _reached(graph, path, begin, spend):
            if end is None or stop == end:
                yield begin, stop


def _reached(graph: Index, path: Repeated, begin: Term, spend: Spend) -> Iterable[Term]:
    """Return the nodes that a repeated path reaches from a node, each once."""

    def steps(node: Term) -> Iterator[Term]:
        spend(1)
        return (stop for _, stop in pairs(graph, path.path, node, None, spend))

    if path.is_at_most_once:
        return dict.fromkeys((begin, *steps(begin)))
    # P* reaches its start without a step, P+ only if it comes back to it.
    reached: dict[Term, None] = {} if path.least else {begin: None}
    waiting = [begin]
    while waiting:
        for node in steps(waiting.pop()):
            if node not in reached:
                reached[node] = None
                waiting.append(node)
    return reached


# The order of joining


P = TypeVar("P")


def order_by_shared_variables(
    patterns: Iterable[P], variables_of: Callable[[P], Set[Hashable]], cost: Callable[[P, int], Any]
) -> list[P]:
    """Order patterns so that each shares a variable with one before it, if any that is left does.

    Of those that may come next, the one with the least `cost` does: it is a function of the pattern
    and of how many of its variables are in no pattern before it. Of several with the same cost the
    first comes first.
    """
    left = list(patterns)
    if len(left) == 1:
        return left
    ordered: list[P] = []
    bound: set[Hashable] = set()

    def rank(pattern: P) -> tuple[bool, Any]:
        own = variables_of(pattern)
        is_apart = bool(bound) and bool(own) and bound.isdisjoint(own)
        return is_apart, cost(pattern, len(own - bound))

    while left:
        best = min(left, key=rank)
        left.remove(best)
        ordered.append(best)
        bound |= variables_of(best)
    return ordered


def postpone_unconnected(
    patterns: Sequence[P], variables_of: Callable[[P], Set[Hashable]]
) -> list[P]:
    """Return patterns in the order in which they are given, but for those that share no variable
    with one before: such a pattern waits until it does, or until no other one that is left does.

    For instance `?a :p ?b`, `?c :p ?d` and `?b :q ?c` are returned as the first, the third and the
    second.
    """
    variables = [variables_of(pattern) for pattern in patterns]
    order = order_by_shared_variables(
        range(len(patterns)), variables.__getitem__, lambda place, _: place
    )
    return [patterns[place] for place in order]


def split_by_shared_variables(
    patterns: Iterable[P], variables_of: Callable[[P], Set[Hashable]]
) -> list[list[P]]:
    """Split patterns into groups, so that two patterns which share a variable are in the same one.

    For instance `?a :p ?b`, `?c :p ?d` and `?b :q ?e` are two groups: the first with the third, and
    the second. A pattern without a variable is a group by itself.
    """
    groups: list[tuple[set[Hashable], list[P]]] = []
    for pattern in patterns:
        variables, members = set(variables_of(pattern)), [pattern]
        apart = []
        for others, group in groups:
            if variables.isdisjoint(others):
                apart.append((others, group))
            else:
                variables |= others
                members = group + members
        groups = [*apart, (variables, members)]
    return [members for _, members in groups]


# Basic graph patterns


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
    waiting = [(part, names_of(algebra.free_variables(part))) for part in testable_early(condition)]
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
        for part in algebra.conjuncts(condition)
        if not any(isinstance(node, algebra.Exists) for node in algebra.walk(part))
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


def unconnected_parts(pattern: algebra.Pattern) -> list[algebra.Pattern]:
    """Split a basic graph pattern into parts that share no variable and no blank node; their join
    is the pattern. Any other pattern is its only part.
    """
    if not isinstance(pattern, algebra.Basic):
        return [pattern]
    groups = split_by_shared_variables(pattern.triples, variables_of)
    return [algebra.Basic(tuple(group)) for group in groups]


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
    terms = [None if isinstance(term, Variable) else term for term in algebra.without_path(pattern)]
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
