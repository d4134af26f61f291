"""§8 by differences: an answer as it is, and what it has more and less than the base that it is compared with."""

from __future__ import annotations

from collections import Counter, defaultdict

from sortedcontainers import SortedList

from refengine import compare
from refengine.compare import Mode
from refengine.model import Bag, Row
from refengine.semantics import R2S, Base


class Kept:
    """An answer that is told of the rows that come and go. `sets`: one of the rows that are the same by value (R2R-9);
    `differs`: whether it is asked for differences."""

    def __init__(self, sets: bool, differs: bool) -> None:
        self.now: Bag = Counter()
        self.since: Counter[Row] = Counter()  # now less the base; counts may be negative
        self.differs = differs
        self.near: dict[tuple, dict[Row, None]] = defaultdict(dict)  # the rows with numbers of some tolerance, by all the rest
        self.classes: dict[tuple, SortedList] = {}
        self.bag: Bag = Counter()
        self.change = self._change_of_set if sets else self._change

    def _change(self, row: Row, count: int) -> None:
        for rows in (self.now, self.since) if self.differs else (self.now,):
            rows[row] += count
            if not rows[row]:
                del rows[row]
        if self.differs and (key := inexact(row)) is not None:
            if row in self.now:
                self.near[key][row] = None
            else:
                self.near[key].pop(row, None)
                if not self.near[key]:
                    del self.near[key]

    def _change_of_set(self, row: Row, count: int) -> None:
        before = self.bag[row]
        self.bag[row] = before + count
        if not self.bag[row]:
            del self.bag[row]
        if bool(before) == bool(before + count):
            return
        key = compare.identity(row)
        rows = self.classes.setdefault(key, SortedList())
        first = rows[0] if rows else None
        (rows.remove if before else rows.add)(row)
        now = rows[0] if rows else None
        if not rows:
            del self.classes[key]
        if now != first:
            for shown, sign in ((first, -1), (now, 1)):
                if shown is not None:
                    self._change(shown, sign)

    def rebase(self) -> None:
        """The answer is the base from now on."""
        self.since.clear()

    def output(self, operator: R2S, choice: Base | None) -> Bag:
        """What the operator makes of it (R2S-1 to R2S-4, R2S-7); the base moves on (R2S-8)."""
        if operator is R2S.RSTREAM:
            return Counter(self.now)
        more, less = self.differences()
        if choice is not Base.NEW or more:
            self.rebase()
        return less if operator is R2S.DSTREAM else more

    def differences(self) -> tuple[Bag, Bag]:
        """compare.difference(now, base) and the other way round, of the rows that changed and of those near to them."""
        more = Counter({row: count for row, count in self.since.items() if count > 0})
        less = Counter({row: -count for row, count in self.since.items() if count < 0})
        if not more or not less:
            return more, less
        more, less = compare.difference(more, less)
        chained = {key for row in more if (key := inexact(row)) is not None} & {key for row in less if (key := inexact(row)) is not None}
        for key in sorted(chained, key=repr):  # a row that stayed may be near to both
            now = Counter({row: self.now[row] for row in self.near.get(key, ())})
            base = now.copy()
            base.subtract({row: count for row, count in self.since.items() if inexact(row) == key})
            for rows, found in zip((more, less), compare.difference(now, +base), strict=True):
                for row in [row for row in rows if inexact(row) == key]:
                    del rows[row]
                rows.update(found)
        return more, less


def inexact(row: Row) -> tuple | None:
    """What a row is but for its numbers, if one of these has a tolerance."""
    exact, numbers = compare.split(row, Mode.VALUE)
    return exact if any(one.tolerance for one in numbers) else None
