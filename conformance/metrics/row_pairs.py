"""How many rows of two bags pair up, where one of the bags changes by a few rows at a time, as the
answer over a window does that is shifted a little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from refengine.model import compare
from refengine.model.compare import Exact, Mode
from refengine.model.elements import Bag, Row
from refengine.model.row_groups import RowGroups


class RowPairs:
    """The number of rows of a bag that changes that pair up one to one with rows of a bag that
    stays: a maximum matching, with blank nodes compared by label (CMP-3).

    A matching is one of each group, since no row is equal to one of another group. So a change
    costs the groups that it concerns.
    """

    def __init__(self, staying: Bag, mode: Mode) -> None:
        self.staying = RowGroups(staying.elements(), mode)
        self.changing = RowGroups((), mode)
        self._outdated: set[Exact] = set()
        self._pairs: Counter[Exact] = Counter()
        self._total = 0

    def change(self, came: Iterable[Row], gone: Iterable[Row]) -> None:
        """Add rows to the bag that changes, and remove rows from it."""
        self._outdated |= self.changing.change(came, gone)

    def count(self) -> int:
        """Return the number of pairs."""
        for group in self._outdated:
            if group in self.staying.groups:
                pairs = self._count_in(group)
                self._total += pairs - self._pairs[group]
                self._pairs[group] = pairs
        self._outdated.clear()
        return self._total

    def _count_in(self, group: Exact) -> int:
        """Return the number of pairs of a group of the bag that stays."""
        staying = self.staying.groups[group]
        _, extra = compare.difference(self.changing.groups[group], staying, self.changing.mode)
        return staying.total() - extra.total()
