"""§10 A bag of rows that changes by a few rows at a time, as the answer over a window does that is
shifted a little. Its rows are dealt into groups, and rows of two groups are never equal. `compare`
compares whole bags; with groups only those are compared anew that a change concerns.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from refengine.model import compare
from refengine.model.compare import Exact, Mode
from refengine.model.elements import Bag, Row


class RowGroups:
    """A bag of rows that changes, dealt into groups.

    Rows of one group agree in all but their numbers. Rows of two groups differ in something else,
    so they are never equal (CMP-3).
    """

    def __init__(self, rows: Iterable[Row], mode: Mode) -> None:
        self.mode = mode
        self.total = 0
        self.groups: defaultdict[Exact, Bag] = defaultdict(Counter)
        self.change(rows, ())

    def group_of(self, line: Row) -> Exact:
        """Return the group of a row: what must be equal of the rows in it."""
        return compare.split(line, self.mode)[0]

    def change(self, came: Iterable[Row], gone: Iterable[Row]) -> set[Exact]:
        """Add the rows that came, and remove those that are gone. Return the groups that may have
        changed.
        """
        changed = set()
        for rows, count in ((came, 1), (gone, -1)):
            for line in rows:
                group = self.group_of(line)
                changed.add(group)
                bag = self.groups[group]
                bag[line] += count
                self.total += count
                if not bag[line]:
                    del bag[line]
        return changed

    def select_without_equal(self, lines: Iterable[Row]) -> list[Row]:
        """Return those of some rows to which no row of the bag is equal (CMP-3). Blank nodes are
        compared by label.
        """
        wanted = list(lines)
        groups = dict.fromkeys(map(self.group_of, wanted))
        candidates = [
            line for group in groups if group in self.groups for line in self.groups[group]
        ]
        if not candidates:
            return wanted
        positions = compare.find_positions_of_equal_rows(candidates, wanted, self.mode)
        return [line for line in wanted if not positions[line]]
