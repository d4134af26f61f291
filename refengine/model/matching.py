"""Maximum matchings: which rows of two groups are paired, one to one, as many as can be (CMP-3)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Generic, TypeVar

from refengine.model.elements import Row
from refengine.model.values import TolerantNumber, is_near, margin, shared_tolerance

Numbered = tuple[tuple[TolerantNumber, ...], Row]  # a row and its numbers
OrderKey = tuple[bool, Fraction | float]  # of a number in a total order: NaN comes last
T = TypeVar("T")


def match_rows(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> dict[int, int]:
    """CMP-3: Return a maximum matching of two groups of rows that differ in their numbers alone, as
    a map from index to index. Each group is sorted by its numbers.
    """
    numbers, _ = (ours or theirs)[0]
    if not numbers:
        return dict(zip(range(len(ours)), range(len(theirs)), strict=False))
    if len(numbers) == 1 and len(_tolerances(ours, theirs)) <= 1:
        return match_in_step(ours, theirs)
    return match(
        ours, theirs, lambda x, y: all(map(is_near, x[0], y[0])), ranges_of_near(ours, theirs)
    )


def _tolerances(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> set[float]:
    """Return the tolerances that comparing the first number of a row of ours with that of one of
    theirs can have.
    """
    left, right = ({numbers[0].tolerance for numbers, _ in group} for group in (ours, theirs))
    return {shared_tolerance(a, b) for a in left for b in right}


def match_in_step(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> dict[int, int]:
    """Return a maximum matching of rows with one number each and one tolerance, both in the order
    of the number: the greater a row's number, the further on the interval of those that are near to
    it.
    """
    paired = {}
    i = j = 0
    while i < len(ours) and j < len(theirs):
        a, b = ours[i][0][0], theirs[j][0][0]
        if is_near(a, b):
            paired[i] = j
            i += 1
            j += 1
        elif b.value != b.value or a.value < b.value:
            i += 1
        else:
            j += 1
    return paired


def order_key(value: Fraction | float) -> OrderKey:
    """Return a number's key in a total order: NaN comes last."""
    if value != value:
        return True, 0
    return False, value


def ranges_of_near(
    ours: Sequence[tuple[tuple[TolerantNumber, ...], object]],
    theirs: Sequence[tuple[tuple[TolerantNumber, ...], object]],
) -> Callable[[int], range]:
    """Return what gives, for the index of a row of ours, the range of theirs, sorted as they are,
    that its first number can be near to.
    """
    firsts = [order_key(numbers[0].value) for numbers, _ in theirs if numbers]

    @cache
    def reach(i: int) -> range:
        numbers, _ = ours[i]
        if not numbers:
            return range(len(theirs))
        return range_of_near(numbers[0].value, firsts)

    return reach


def range_of_near(value: Fraction | float, ordered: Sequence[OrderKey]) -> range:
    """Return the range of the indices of numbers that a number can be near to. They are given by
    their keys, in order.
    """
    if value != value or abs(value) == math.inf:
        least = greatest = order_key(value)
    else:
        least = order_key(Fraction(value) - margin(value))
        greatest = order_key(Fraction(value) + margin(value))
    return range(bisect_left(ordered, least), bisect_right(ordered, greatest))


def match(
    ours: Sequence[T],
    theirs: Sequence[T],
    same: Callable[[T, T], bool],
    reach: Callable[[int], Iterable[int]] | None = None,
) -> dict[int, int]:
    """Return a maximum matching of two sequences, by augmenting paths: index to index. `reach`
    narrows the candidates.
    """
    search = _Search(ours, theirs, same, reach)
    for start in range(len(ours)):
        search.add(start)
    return search.partner


class _Search(Generic[T]):
    """A matching of the first of ours, to which one more after the other is added."""

    def __init__(
        self,
        ours: Sequence[T],
        theirs: Sequence[T],
        same: Callable[[T, T], bool],
        reach: Callable[[int], Iterable[int]] | None,
    ) -> None:
        self.ours = ours
        self.theirs = theirs
        self.same = same
        self.reach = reach or (lambda _: range(len(theirs)))
        self.partner: dict[int, int] = {}
        self.owner: dict[int, int] = {}
        self.known: dict[tuple[int, int], bool] = {}
        # searches that failed came here, and no later one gets further (a Hungarian tree)
        self.closed: set[int] = set()

    def fits(self, i: int, j: int) -> bool:
        """Return whether one of ours may be paired with one of theirs."""
        if (i, j) not in self.known:
            self.known[i, j] = self.same(self.ours[i], self.theirs[j])
        return self.known[i, j]

    def add(self, start: int) -> None:
        """Pair one more row of ours, if that is possible."""
        if start < len(self.theirs) and start not in self.owner and self.fits(start, start):
            self.partner[start] = start
            self.owner[start] = start
            return

        came_from: dict[int, int] = {}
        end = self.find_free(start, came_from)
        if end is None:
            self.closed.update(came_from)
        while end is not None:  # turn the path around
            i = came_from[end]
            previous = self.partner.get(i)
            self.partner[i] = end
            self.owner[end] = i
            end = previous

    def find_free(self, start: int, came_from: dict[int, int]) -> int | None:
        """Return one of theirs that is not paired yet, at the end of an augmenting path; None if
        there is none. `came_from` becomes the way to each that was seen.
        """
        queue = [start]
        for i in queue:
            for j in self.reach(i):
                if j in came_from or j in self.closed or not self.fits(i, j):
                    continue
                came_from[j] = i
                if j not in self.owner:
                    return j
                queue.append(self.owner[j])
        return None
