"""Joins that pyoxigraph makes in nested loops, which nothing can interrupt."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from refengine.sparql.algebra import (
    AlgebraQuery,
    Basic,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Values,
    visible,
    walk,
)
from refengine.sparql.bound_variables import always_bound
from refengine.sparql.witnesses.asking import NoSay

# solutions of one side times those of the other that pyoxigraph may join in nested loops
MOST_PAIRS = 10**8
MOST_SOLUTIONS = 200_000  # of an operator, as `sparql.evaluate` holds no more


def refuse_nested_loops(query: AlgebraQuery, triples: int) -> None:
    """Raise NoSay for a body that pyoxigraph may join in nested loops over many solutions, which
    nothing can interrupt.

    It hashes only by variables that both sides always bind. A product of sides that share none
    makes the rows that `sparql.evaluate` makes, too, and is bounded by that.
    """
    if not has_joins(query):
        return
    for left, right in pairs_of_sides(query):
        pairs = most_solutions(left, triples) * most_solutions(right, triples)
        if pairs > MOST_PAIRS and is_in_nested_loops(left, right):
            raise NoSay(
                "a join by variables that OPTIONAL, UNION or UNDEF may leave "
                f"unbound, of more than {MOST_PAIRS} pairs"
            )


@lru_cache(maxsize=64)
def has_joins(query: AlgebraQuery) -> bool:
    """Return whether there is a join in a body, other than of triple patterns with one another."""
    return any(True for _ in pairs_of_sides(query))


def pairs_of_sides(query: AlgebraQuery) -> Iterator[tuple[Pattern, Pattern]]:
    """Yield the two sides of each join of a body, of a chain of joins each part with all before."""
    for node in walk(query.pattern):
        match node:
            case Join(members):
                yield from ((Join(members[:i]), part) for i, part in enumerate(members) if i)
            case LeftJoin(left, right, _) | Minus(left, right):
                yield left, right


def is_in_nested_loops(left: Pattern, right: Pattern) -> bool:
    """Return whether pyoxigraph compares each solution of one side with each of the other: they
    share variables, but none that both always bind.
    """
    shares_variables = bool(visible(left).keys() & visible(right).keys())
    return shares_variables and always_bound(left).isdisjoint(always_bound(right))


def most_solutions(pattern: Pattern, triples: int) -> int:
    """Estimate how many solutions a pattern may have over so many triples if no variable is shared:
    a path counts as a triple pattern, and the rows of several VALUES are added.
    """
    rows = sum(len(node.rows) for node in walk(pattern) if isinstance(node, Values))
    patterns = sum(len(node.triples) for node in walk(pattern) if isinstance(node, Basic))
    many: int = (rows or 1) * max(triples, 1) ** min(patterns, 20)
    return min(MOST_SOLUTIONS, many)
