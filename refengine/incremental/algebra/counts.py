"""Bags whose counts go up and down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def add_count(counts: Counter[T], item: T, count: int) -> int:
    """Add to an item's count, which may be or become negative; one of 0 is not stored.

    Return 1 if the item was absent and is present now, -1 if it was present and is absent now, and
    0 otherwise.
    """
    before = counts[item]
    if now := before + count:
        counts[item] = now
    else:
        del counts[item]
    return bool(now) - bool(before)
