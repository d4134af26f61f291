"""§7 The order in which patterns are joined. It is no part of the answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence, Set
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
