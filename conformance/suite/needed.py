"""The part of an explanation that is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def keep_needed(items: Sequence[T], explain: Callable[[Sequence[T]], object]) -> list[T]:
    """Return items of which none can be left out: `explain` says whether some of them are enough,
    as all of them together are. Another such choice may have fewer items.

    The first item that can be left out is dropped, and then the search begins again: one item may
    have been needed only because of another. At least one item is kept.

    >>> keep_needed([2, 3, 5, 6], lambda numbers: sum(numbers) >= 8)
    [3, 5]
    """
    needed = list(items)
    while True:
        for item in needed:
            rest = [other for other in needed if other is not item]
            if rest and explain(rest):
                needed = rest
                break
        else:
            return needed
