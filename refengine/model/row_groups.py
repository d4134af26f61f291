"""§10 Rows by what must be equal of them, so that not every two are compared: a bag that changes by
a few rows at a time, as the answer over a window that is shifted a little; and rows that are looked
up by value.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from refengine.model import compare
from refengine.model.elements import Bag, Row, Term, is_blank, row


class RowGroups:
    """A bag of rows that changes, dealt into groups.

    Rows of one group agree in all but their numbers. Rows of two groups differ in something else,
    so they are never equal (CMP-3).
    """

    def __init__(self, rows: Iterable[Row], mode: compare.Mode) -> None:
        self.mode = mode
        self.total = 0
        self.groups: defaultdict[compare.Exact, Bag] = defaultdict(Counter)
        self.change(rows, ())

    def group_of(self, line: Row) -> compare.Exact:
        """Return the group of a row: what must be equal of the rows in it."""
        return compare.split(line, self.mode)[0]

    def change(self, came: Iterable[Row], gone: Iterable[Row]) -> set[compare.Exact]:
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


class RowIndex:
    """Some rows, of which those that equal another row are found without a comparison with each.

    Two rows are equal if `compare.equal` says so of the two alone: their numbers are near, and
    their blank nodes may be renamed.
    """

    def __init__(self, rows: Iterable[Row], mode: compare.Mode) -> None:
        self._mode = mode
        # by what must be equal, the numbers that must be near, in the order of their first one
        self._numbers: dict[compare.Exact, list[tuple[compare.TolerantNumber, ...]]] = defaultdict(
            list
        )
        for line in rows:
            exact, numbers = self._split(line)
            self._numbers[exact].append(numbers)
        self._firsts: dict[compare.Exact, list[compare.OrderKey]] = {}
        for exact, found in self._numbers.items():
            if found[0]:
                found.sort(key=lambda numbers: compare.order_key(numbers[0].value))
                self._firsts[exact] = [compare.order_key(numbers[0].value) for numbers in found]

    def has_equal(self, line: Row) -> bool:
        """Return whether some row equals this one."""
        exact, numbers = self._split(line)
        if exact not in self._numbers:
            return False
        if not numbers:
            return True
        candidates = self._numbers[exact]
        reach = compare.range_of_near(numbers[0].value, self._firsts[exact])
        return any(all(map(compare.is_near, numbers, candidates[j])) for j in reach)

    def _split(self, line: Row) -> tuple[compare.Exact, tuple[compare.TolerantNumber, ...]]:
        """Return what must be equal of a row, and its numbers. Its blank nodes have the names that
        follow from their order in it, so that they are the same in rows that are equal.
        """
        names: dict[Term, Term] = {}
        for _, term in line:
            if is_blank(term):
                names.setdefault(term, f"_:{len(names)}")
        if names:
            line = row((name, names.get(term, term)) for name, term in line)
        return compare.split(line, self._mode)
