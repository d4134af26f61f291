"""§8 by differences: an answer as it is, and what it has more and less than the base that it is
compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TypeVar

from sortedcontainers import SortedList

from refengine.incremental.numbers import NotCovered
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row

T = TypeVar("T", bound=Hashable)


class AnswerDelta:
    """An answer that is told of the rows that come and go. `sets`: one of the rows that are the
    same by value (R2R-9); `differs`: whether it is asked for differences. Raises NotCovered for
    rows that are nearly equal: what they differ in depends on all rows (CMP-3).
    """

    def __init__(self, sets: bool, differs: bool) -> None:
        self.now: Bag = Counter()
        self.since: Counter[Row] = Counter()  # now less the base; counts may be negative
        self.near = NearEqualIndex() if differs else None
        self.classes: dict[tuple[object, ...], SortedList] = {}
        self.bag: Bag = Counter()
        self.change = self._change_of_set if sets else self._change

    def _change(self, row: Row, count: int) -> None:
        if self.near is None:
            add(self.now, row, count)
            return
        if row not in self.now and row not in self.since:
            self.near.add(row)
        add(self.now, row, count)
        add(self.since, row, count)
        if row not in self.now and row not in self.since:
            self.near.remove(row)

    def _change_of_set(self, row: Row, count: int) -> None:
        came = add(self.bag, row, count)
        if not came:
            return
        key = compare.identity(row)
        rows = self.classes.setdefault(key, SortedList())
        first = rows[0] if rows else None
        (rows.add if came > 0 else rows.remove)(row)
        now = rows[0] if rows else None
        if not rows:
            del self.classes[key]
        if now != first:
            for shown, sign in ((first, -1), (now, 1)):
                if shown is not None:
                    self._change(shown, sign)

    def rebase(self) -> None:
        """The answer is the base from now on."""
        if self.near is not None:
            for row in self.since:
                if row not in self.now:
                    self.near.remove(row)
        self.since.clear()


def add(counts: Counter[T], what: T, count: int) -> int:
    """So many more of something: 1 if there was none before, -1 if there is
    none any more, else 0.
    """
    before = counts[what]
    if now := before + count:
        counts[what] = now
    else:
        del counts[what]
    return bool(now) - bool(before)


class NearEqualIndex:
    """Rows with numbers, by all the rest and in the order of these, so that those that are nearly
    equal are noticed.
    """

    def __init__(self) -> None:
        self.rows: dict[compare.Exact, SortedList] = {}

    def add(self, row: Row) -> None:
        """A row comes. Raises NotCovered if another is nearly equal to it, and not equal."""
        key, numbers = compare.split(row, Mode.VALUE)
        if not numbers:
            return
        values = [number.value for number in numbers]
        if any(value != value for value in values):
            raise NotCovered("a row with NaN")
        there = self.rows.setdefault(key, SortedList())
        place = there.bisect_left((values, row))
        for step in (-1, 1):
            at = place + min(step, 0)
            while 0 <= at < len(there) and compare.maybe_near(there[at][0][0], values[0]):
                others = compare.split(there[at][1], Mode.VALUE)[1]
                if there[at][0] != values and all(map(compare.near, numbers, others)):
                    raise NotCovered("rows that are nearly equal")
                at += step
        there.add((values, row))

    def remove(self, row: Row) -> None:
        """A row goes."""
        key, numbers = compare.split(row, Mode.VALUE)
        if numbers:
            there = self.rows[key]
            there.remove(([number.value for number in numbers], row))
            if not there:
                del self.rows[key]
