"""§11 The rows in which the relations of a recording and the reports beside them differ, looked up
row by row (ORA-12).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row
from refengine.model.row_groups import RowIndex
from refengine.oracle.comparison import RowDifference


class WrongRows:
    """The rows that each relation lacks, and those that it has too many. An index of a relation is
    made when it is first asked for.
    """

    def __init__(self, differences: Sequence[RowDifference], mode: Mode) -> None:
        self._lacking = [difference.lacking for difference in differences]
        self._surplus = [difference.surplus for difference in differences]
        self._mode = mode
        self._lacking_indices: dict[int, RowIndex] = {}
        self._surplus_indices: dict[int, RowIndex] = {}

    def is_lacking(self, relation: int, line: Row) -> bool:
        """Return whether a relation lacks a row. False if there is no such relation."""
        return self._is_in(self._lacking, self._lacking_indices, relation, line)

    def is_too_many(self, relation: int, line: Row) -> bool:
        """Return whether a relation has a row too many. False if there is no such relation."""
        return self._is_in(self._surplus, self._surplus_indices, relation, line)

    def is_too_many_somewhere(self, line: Row) -> bool:
        """Return whether some relation has a row too many."""
        return self._whole_surplus.has_equal(line)

    @cached_property
    def _whole_surplus(self) -> RowIndex:
        """The rows that any relation has too many."""
        return RowIndex((line for bag in self._surplus for line in bag), self._mode)

    def _is_in(
        self, bags: Sequence[Bag], indices: dict[int, RowIndex], relation: int, line: Row
    ) -> bool:
        """Return whether the bag of a relation has a row."""
        if not 0 <= relation < len(bags):
            return False
        if relation not in indices:
            indices[relation] = RowIndex(bags[relation], self._mode)
        return indices[relation].has_equal(line)
