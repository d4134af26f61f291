"""§7 The order in which the triple patterns of a basic graph pattern are joined. It is no part of
the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Set
from typing import Any, TypeVar

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
