"""Rows that are looked up by value: whether some row of many equals another one (CMP-4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from refengine.model.elements import Row, Term, is_blank, row
from refengine.model.matching import OrderKey, order_key, range_of_near
from refengine.model.values import Exact, Mode, TolerantNumber, is_near, split


class RowIndex:
    """Some rows, of which those that equal another row are found without a comparison with each.

    Two rows are equal if `compare.equal` says so of the two alone: their numbers are near, and
    their blank nodes may be renamed.
    """

    def __init__(self, rows: Iterable[Row], mode: Mode) -> None:
        self._mode = mode
        # by what must be equal, the numbers that must be near, in the order of their first one
        self._numbers: dict[Exact, list[tuple[TolerantNumber, ...]]] = defaultdict(list)
        for line in rows:
            exact, numbers = self._split(line)
            self._numbers[exact].append(numbers)
        self._firsts: dict[Exact, list[OrderKey]] = {}
        for exact, found in self._numbers.items():
            if found[0]:
                found.sort(key=lambda numbers: order_key(numbers[0].value))
                self._firsts[exact] = [order_key(numbers[0].value) for numbers in found]

    def has_equal(self, line: Row) -> bool:
        """Return whether some row equals this one."""
        exact, numbers = self._split(line)
        if exact not in self._numbers:
            return False
        if not numbers:
            return True
        candidates = self._numbers[exact]
        reach = range_of_near(numbers[0].value, self._firsts[exact])
        return any(all(map(is_near, numbers, candidates[j])) for j in reach)

    def _split(self, line: Row) -> tuple[Exact, tuple[TolerantNumber, ...]]:
        """Return what must be equal of a row, and its numbers. Its blank nodes have the names that
        follow from their order in it, so that they are the same in rows that are equal.
        """
        names: dict[Term, Term] = {}
        for _, term in line:
            if is_blank(term):
                names.setdefault(term, f"_:{len(names)}")
        if names:
            line = row((name, names.get(term, term)) for name, term in line)
        return split(line, self._mode)
