"""§8 An answer as it is now, and how it differs from the baseline that R2S subtracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sortedcontainers import SortedList

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.coverage import NotCovered
from refengine.model import compare
from refengine.model.compare import TolerantNumber
from refengine.model.elements import Bag, Row


class AnswerDelta:
    """An answer that is told by `change` of each row that comes or goes.

    `now` is the answer, and `since` what it has more of than the baseline: a row's count there is
    negative if the answer has less of it. With `is_set` one row stands for all that are the same by
    value (R2R-9). Without `has_baseline` no differences are asked for, and `since` stays empty.

    Where rows are nearly equal (`has_nearly_equal_rows`), `since` is only the difference by
    equality, and not the one that CMP-3 asks for, which depends on all rows.
    """

    def __init__(self, is_set: bool, has_baseline: bool) -> None:
        self.now: Bag = Counter()
        self.since: Counter[Row] = Counter()
        self.nearly_equal: NearEqualIndex | None = None
        if has_baseline:
            self.nearly_equal = NearEqualIndex()
        # of a set: the bag that it is made of, and its rows by value, of which the first is shown
        self.bag: Bag = Counter()
        self.rows_by_value: dict[tuple[object, ...], SortedList] = {}
        self.change = self._change_set if is_set else self._change_bag

    @property
    def has_nearly_equal_rows(self) -> bool:
        """Whether two rows of the answer and the baseline are nearly equal, but not equal."""
        return self.nearly_equal is not None and self.nearly_equal.count_of_pairs > 0

    def baseline(self) -> Bag:
        """Return the baseline as a bag."""
        baseline = Counter(self.now)
        baseline.subtract(self.since)
        return +baseline

    def rebase(self) -> None:
        """Make the answer as it is now the baseline."""
        if self.nearly_equal is not None:
            for row in self.since:
                if row not in self.now:
                    self.nearly_equal.remove(row)
        self.since.clear()

    def _change_bag(self, row: Row, count: int) -> None:
        """Add to the count of a row, or subtract from it. The index of nearly equal rows has those
        of the answer and those of the difference.
        """
        if self.nearly_equal is None:
            add_count(self.now, row, count)
            return
        if row not in self.now and row not in self.since:
            self.nearly_equal.insert(row)
        add_count(self.now, row, count)
        add_count(self.since, row, count)
        if row not in self.now and row not in self.since:
            self.nearly_equal.remove(row)

    def _change_set(self, row: Row, count: int) -> None:
        """Add to the count of a row of the bag, or subtract from it, and change the set if another
        row is shown of those with its value, or none.
        """
        change = add_count(self.bag, row, count)
        if not change:
            return
        value = compare.identity(row)
        rows = self.rows_by_value.setdefault(value, SortedList())
        shown_before = rows[0] if rows else None
        if change == 1:
            rows.add(row)
        else:
            rows.remove(row)
        shown_now = rows[0] if rows else None
        if not rows:
            del self.rows_by_value[value]

        if shown_now != shown_before:
            if shown_before is not None:
                self._change_bag(shown_before, -1)
            if shown_now is not None:
                self._change_bag(shown_now, 1)


class NearEqualIndex:
    """Rows with numbers, so arranged that two nearly equal ones lie close together: by all their
    other terms, and then in the order of their numbers. `count_of_pairs` is how many pairs of them
    are nearly equal, but not equal.
    """

    def __init__(self) -> None:
        self.rows: dict[compare.Exact, SortedList] = {}
        self.count_of_pairs = 0

    def insert(self, row: Row) -> None:
        """Insert a row. Raises NotCovered for a row with NaN."""
        key, numbers = compare.split(row)
        if not numbers:
            return
        values = [number.value for number in numbers]
        if any(value != value for value in values):
            raise NotCovered("a row with NaN")
        neighbours = self.rows.setdefault(key, SortedList())
        self.count_of_pairs += count_nearly_equal(neighbours, row, numbers)
        neighbours.add((values, row))

    def remove(self, row: Row) -> None:
        """Remove a row. It must be present, if it has numbers."""
        key, numbers = compare.split(row)
        if not numbers:
            return
        neighbours = self.rows[key]
        neighbours.remove(([number.value for number in numbers], row))
        self.count_of_pairs -= count_nearly_equal(neighbours, row, numbers)
        if not neighbours:
            del self.rows[key]


def count_nearly_equal(neighbours: SortedList, row: Row, numbers: Sequence[TolerantNumber]) -> int:
    """Return how many rows are nearly equal to a row, but not equal. All rows have the same terms
    apart from their numbers, and `neighbours` holds them in the order of these.
    """
    values = [number.value for number in numbers]
    place = neighbours.bisect_left((values, row))
    count = 0
    # downwards from the row before, and upwards from the row at this place
    for step, at in ((-1, place - 1), (1, place)):
        while 0 <= at < len(neighbours) and compare.maybe_near(neighbours[at][0][0], values[0]):
            other_values, other = neighbours[at]
            other_numbers = compare.split(other)[1]
            if other_values != values and all(map(compare.is_near, numbers, other_numbers)):
                count += 1
            at += step
    return count
