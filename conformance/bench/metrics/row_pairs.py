"""How many rows of two bags pair up. One of the bags changes by a few rows at a time, as the answer
over a window does that is shifted a little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from refengine.model import compare
from refengine.model.compare import Exact, Mode
from refengine.model.elements import Bag, Row
from refengine.model.row_groups import RowGroups


class RowPairs:
    """Counts the pairs of equal rows of two bags, of which one changes.

    Each row is in one pair at most, and the pairs are as many as can be (a maximum matching). Blank
    nodes are compared by label (CMP-3). Rows of two groups are never equal. So only the groups that
    a change concerns are matched anew.
    """

    def __init__(self, fixed_rows: Bag, mode: Mode) -> None:
        self.fixed_rows = RowGroups(fixed_rows.elements(), mode)
        self.changing_rows = RowGroups((), mode)
        self._outdated: set[Exact] = set()
        self._pairs: Counter[Exact] = Counter()
        self._total = 0

    def change(self, came: Iterable[Row], gone: Iterable[Row]) -> None:
        """Add rows to the bag that changes, and remove rows from it."""
        self._outdated |= self.changing_rows.change(came, gone)

    def count(self) -> int:
        """Return the number of pairs."""
        for group in self._outdated:
            if group in self.fixed_rows.groups:
                pairs = self._count_pairs(group)
                self._total += pairs - self._pairs[group]
                self._pairs[group] = pairs
        self._outdated.clear()
        return self._total

    def _count_pairs(self, group: Exact) -> int:
        """Return the number of pairs in one group."""
        fixed = self.fixed_rows.groups[group]
        changing = self.changing_rows.groups[group]
        _, extra = compare.difference(changing, fixed, self.changing_rows.mode)
        return fixed.total() - extra.total()
