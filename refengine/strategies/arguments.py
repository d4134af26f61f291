"""What the strategies share: arguments that they cannot be made of are refused before anything is
drawn, and one of some choices is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import UnionType
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

T = TypeVar("T")


def check_argument(name: str, value: object, kind: type | UnionType, form: str) -> None:
    """Raise InvalidArgument where a value is not of a kind, which `form` describes."""
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name} must be {form}, got {value!r}")


def take_several(name: str, values: Iterable[T]) -> tuple[T, ...]:
    """Return the values of an argument. Raises InvalidArgument for a single value that is no
    collection, such as a text.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{name} are several; write a list, got {values!r}")
    return tuple(values)


def take_in_order(name: str, values: Iterable[T]) -> tuple[T, ...]:
    """Return the values of an argument in their order. Raises InvalidArgument as `take_several`
    does, and for a set, whose order may be another one in each process. The keys of a dict have an
    order.
    """
    if isinstance(values, set | frozenset):
        raise InvalidArgument(f"{name} must be in an order; write a list, got a set")
    return take_several(name, values)


def take_choices(name: str, values: Iterable[T]) -> tuple[T, ...]:
    """Return the values of an argument, of which one is to be drawn, in their order. Raises
    InvalidArgument as `take_in_order` does, and if there is no value.
    """
    choices = take_in_order(name, values)
    if not choices:
        raise InvalidArgument(f"{name} must not be empty")
    return choices


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
