"""Drawing by index: one of some choices that differ from draw to draw.

Hypothesis looks at all parts of a strategy before the first draw from it, which takes several times
as long as the draw. A strategy that is made anew within a draw would take most of that draw's time.
So the strategies of indexes are made once, and each is used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


def pick(draw: st.DrawFn, choices: Sequence[T]) -> T:
    """Draw one of some choices, of which there is at least one and the first is the plainest."""
    return choices[draw(index_below(len(choices)))]


@lru_cache(maxsize=256)
def index_below(count: int) -> st.SearchStrategy[int]:
    """Return a strategy of the whole numbers from 0 to count - 1."""
    return st.integers(0, count - 1)


@lru_cache(maxsize=256)
def index_lists(count: int, most: int) -> st.SearchStrategy[list[int]]:
    """Return a strategy of lists of up to `most` whole numbers from 0 to count - 1."""
    return st.lists(index_below(count), max_size=most)
