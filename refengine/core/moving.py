"""§9 Numbers that move with t0, and remember how far t0 can move while all that was decided with
them stays the same (ORA-2).

A schedule that is computed with such a number in place of t0 stands for all values of t0 up to the
first one with which some comparison, rounded quotient or count would come out otherwise. The rest
of `core` takes them for integers: it makes ranges of instants with `instants`, and compares, adds
and divides as always. What needs to know the integer itself, such as a key, raises TypeError.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn, TypeVar, cast

T = TypeVar("T")


class Room:
    """How far t0 can move up: by 0, 1, …, `most`, so that all that was decided so far stays."""

    __slots__ = ("most",)

    def __init__(self, most: int) -> None:
        self.most = most

    def keep_non_negative(self, value: int, rate: int) -> None:
        """Keep the moves by which `value`, which is 0 or more and moves at a rate, stays so."""
        if rate < 0 and value < -rate * self.most:
            self.most = value // -rate

    def keep_non_zero(self, value: int, rate: int) -> None:
        """Keep the moves that are less than the one by which a moving `value` becomes 0."""
        if value % rate == 0 and value // rate < 0:
            self.most = min(self.most, -(value // rate) - 1)


class MovingNumber:
    """A number that is `value` now, and `value` + `rate` · m where t0 has moved up by m. `room` has
    the moves m that are left.

    >>> room = Room(100)
    >>> moving_t0 = moving(3, room)
    >>> moving_t0 < 10, room.most  # it is less than 10 up to 9
    (True, 6)
    >>> moving_t0 // 5, room.most  # and from 0 to 4 it is 0 slides of 5
    (0, 1)
    """

    __slots__ = ("rate", "room", "value")

    def __init__(self, value: int, rate: int, room: Room) -> None:
        self.value = value
        self.rate = rate
        self.room = room

    def __str__(self) -> str:
        return str(self.value)

    __repr__ = __str__

    def _make(self, value: int, rate: int) -> Any:
        """Return a number in the same room; an integer if it does not move."""
        return MovingNumber(value, rate, self.room) if rate else value

    def __neg__(self) -> Any:
        return self._make(-self.value, -self.rate)

    def __add__(self, other: Any) -> Any:
        if type(other) is MovingNumber:
            return self._make(self.value + other.value, self.rate + other.rate)
        return MovingNumber(self.value + other, self.rate, self.room)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: int) -> Any:
        return -self + other

    def __mul__(self, factor: int) -> Any:
        return self._make(self.value * factor, self.rate * factor)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Any:
        quotient, rest = divmod(self.value, divisor)
        if self.rate % divisor == 0:
            return self._make(quotient, self.rate // divisor)
        self.room.keep_non_negative(rest, self.rate)
        self.room.keep_non_negative(divisor - 1 - rest, -self.rate)
        return quotient

    def __mod__(self, divisor: int) -> Any:
        return self - self // divisor * divisor

    def __ge__(self, other: Any) -> bool:
        value, rate = self.value, self.rate
        if type(other) is MovingNumber:
            value -= other.value
            rate -= other.rate
        else:
            value -= other
        if value < 0:
            self.room.keep_non_negative(-1 - value, -rate)
            return False
        self.room.keep_non_negative(value, rate)
        return True

    def __gt__(self, other: Any) -> bool:
        return bool(self >= other + 1)

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __le__(self, other: Any) -> bool:
        return not self >= other + 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | MovingNumber):
            return NotImplemented
        difference = self - other
        if type(difference) is not MovingNumber:
            return bool(difference == 0)
        if difference.value:
            self.room.keep_non_zero(difference.value, difference.rate)
            return False
        self.room.most = 0
        return True

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> NoReturn:
        raise TypeError("a number that moves with t0 cannot be a key")

    def __index__(self) -> NoReturn:
        raise TypeError("a number that moves with t0 stands where an integer is needed")


class MovingRange:
    """A range of instants, of which the start or the stop moves with t0."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: int, stop: int, step: int) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    def __repr__(self) -> str:
        return f"range({self.start}, {self.stop}, {self.step})"

    def __bool__(self) -> bool:
        return self.start < self.stop

    def __iter__(self) -> Iterator[int]:
        at = self.start
        while at < self.stop:
            yield at
            at += self.step

    def __getitem__(self, place: Any) -> Any:
        """Return the first, the last or the last but one instant, the range from an instant on
        (`[1:]`), or that of the first or the last one alone (`[:1]`, `[-1:]`). Raises TypeError for
        anything else, as for what needs the integer.
        """
        match place:
            case 0 | -1 | -2:
                return self._instant(place)
            case slice(start=int(first), stop=None, step=None) if first >= -1:
                return instants(max(self.start, self._instant(first)), self.stop, self.step)
            case slice(start=None, stop=1, step=None):
                return instants(self.start, self.start + bool(self))
        raise TypeError(f"a range that moves with t0 is not asked for {place}")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("a range that moves with t0 is not compared")

    def __hash__(self) -> NoReturn:
        raise TypeError("a range that moves with t0 cannot be a key")

    def _instant(self, place: int) -> int:
        """Return the instant at a place, from the start or, if it is negative, from the end."""
        if place < 0:
            place += -((self.start - self.stop) // self.step)
        return self.start + place * self.step


def moving(value: int, room: Room) -> int:
    """Return an integer that moves with t0 as far as there is room."""
    return cast("int", MovingNumber(value, 1, room))


def instants(start: int, stop: int, step: int = 1) -> range:
    """Return a range of instants. Its start and its stop may move with t0."""
    if isinstance(start, MovingNumber) or isinstance(stop, MovingNumber):
        return cast("range", MovingRange(start, stop, step))
    return range(start, stop, step)


def moved(value: T, move: int) -> T:
    """Return a value as it is where t0 has moved up: a number, a tuple of such values, or another
    value, which does not move.
    """
    if isinstance(value, MovingNumber):
        return cast("T", value.value + value.rate * move)
    if isinstance(value, tuple):
        return cast("T", tuple(moved(part, move) for part in value))
    return value
