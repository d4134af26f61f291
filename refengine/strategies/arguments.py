"""Arguments that a strategy cannot be made of are refused before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Set
from types import UnionType
from typing import TypeVar

from hypothesis.errors import InvalidArgument

T = TypeVar("T")


def check_argument(name: str, value: object, kind: type | UnionType, form: str) -> None:
    """Raise InvalidArgument where a value is not of a kind, which `form` describes."""
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name} must be {form}, got {value!r}")


def several(name: str, values: Iterable[T]) -> Iterable[T]:
    """Return values that are several, or none. Raises InvalidArgument for one alone."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{name} are several; write a list, got {values!r}")
    return values


def choices_of(name: str, values: Iterable[T]) -> tuple[T, ...]:
    """Return values to draw from, in their order. Raises InvalidArgument for one alone, for none,
    and for a set, in which none is the first.
    """
    if isinstance(values, Set):
        raise InvalidArgument(f"{name} must be in an order; write a list, got a set")
    choices = tuple(several(name, values))
    if not choices:
        raise InvalidArgument(f"{name} must not be empty")
    return choices
