"""§10 A bag of rows that changes by a few rows at a time, in groups: rows of different groups are
never equal, so that what a change does to a comparison concerns its groups alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from refengine.model import compare
from refengine.model.compare import Exact, Mode
from refengine.model.elements import Bag, Row


class RowGroups:
    """A bag of rows that changes, in groups: only rows of one group can be equal (CMP-3), because
    they agree in all but their numbers.
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

    def without_equals(self, lines: Iterable[Row]) -> list[Row]:
        """Return those of some rows to which no row of the bag is equal (CMP-3). Blank nodes are
        compared by label.
        """
        wanted = list(lines)
        groups = dict.fromkeys(map(self.group_of, wanted))
        near = [line for group in groups if group in self.groups for line in self.groups[group]]
        if not near:
            return wanted
        known = compare.places(near, wanted, self.mode)
        return [line for line in wanted if not known[line]]
