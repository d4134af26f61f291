"""What keeps input from ending in errors of Python's or a library's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from refengine.model.elements import TIME_BOUND
from refengine.model.errors import RefengineError, Unsupported

P = ParamSpec("P")
T = TypeVar("T")


def bounded(name: str, value: int, kind: type[RefengineError], rule: str) -> int:
    """An integer that is within 64 bits, as times are (MOD-1)."""
    if not -TIME_BOUND <= value < TIME_BOUND:
        raise kind(f"{name} must be within 64 bits", rule=rule)
    return value


def there(value: T | None) -> T:
    """A value that may be None in general, where whoever asks has made sure that it is not."""
    if value is None:
        raise AssertionError("nothing is there")
    return value


def shallow(function: Callable[P, T]) -> Callable[P, T]:
    """A function of a body which says that it is nested too deeply for us, valid or not: that is no
    answer about it.
    """

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise Unsupported("nested too deeply", rule="QRY-1", place="body") from None

    return guarded
