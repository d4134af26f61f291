"""Strategies that a draw asks for again and again, each made once.

Hypothesis looks at all parts of a strategy before the first draw from it, which takes several times
as long as the draw. A strategy that is made anew within a draw would take most of that draw's time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


def pick(draw: st.DrawFn, choices: Sequence[T]) -> T:
    """Draw one of some choices, the first of which is the plainest: `st.sampled_from` for choices
    that differ from draw to draw.
    """
    return choices[draw(places(len(choices)))]


@lru_cache(maxsize=256)
def places(count: int) -> st.SearchStrategy[int]:
    """Return a strategy of the whole numbers from 0 to count - 1, made once for each count."""
    return st.integers(0, count - 1)


@lru_cache(maxsize=256)
def lists_of_places(count: int, most: int) -> st.SearchStrategy[list[int]]:
    """Return a strategy of lists of up to `most` whole numbers from 0 to count - 1."""
    return st.lists(places(count), max_size=most)
