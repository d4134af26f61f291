"""§7 ORDER BY's order over solutions that come and go: which stand in a slice, and whether its
borders leave a choice (R2R-20).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sortedcontainers import SortedList

from refengine.incremental.algebra.aggregates import has_rounding
from refengine.incremental.algebra.counts import add_count
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import Moment
from refengine.sparql.order import BLANK_NODE, IRI, Keys, check_border, rank, sort_key
from refengine.sparql.values import (
    ERROR,
    FLOAT,
    SURE_SECONDS,
    Number,
    Result,
    StringValue,
    value_of,
)

UNBOUND: Term = ""  # a cell without a term, so that cells can be sorted
BEHIND_ALL_TERMS = "~"  # sorts behind the text of every term

# The kind of results that ORDER BY may leave without an order among themselves
OPEN = "open"


class SortKey(NamedTuple):
    """Where a result stands: `by_value` sorts before another wherever ORDER BY puts the result
    before the other. `kind` names results of which ORDER BY does so wherever `by_value` does, too,
    and calls the others equal; OPEN is no such kind.
    """

    by_value: tuple[Any, ...]
    kind: str


class Descending:
    """A sort key in the order of DESC."""

    def __init__(self, key: tuple[Any, ...]) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: Descending) -> bool:
        return other.key < self.key


class OrderedSolution(NamedTuple):
    """A solution in its place: one sort key for each condition of ORDER BY, what the slice shows of
    the solution, and the results of the conditions.
    """

    place: tuple[Any, ...]
    cells: tuple[Term, ...]
    keys: Keys


class OrderedSolutions:
    """Solutions in ORDER BY's order, each as often as it is there. `descending` says of each
    condition whether it is descending.

    A change of one copy costs O(log n). `check_border` costs as much where each condition has
    results of one kind on either side of the border. Otherwise it compares the solutions that share
    the first such condition's kind of term, as the definition does, pair by pair.
    """

    def __init__(self, descending: Sequence[bool]) -> None:
        self.descending = descending
        self.solutions: SortedList = SortedList()
        # by condition and kind of term: how many results there are of each kind of values
        self.kinds: list[dict[int, Counter[str]]] = [{} for _ in descending]

    def __len__(self) -> int:
        return len(self.solutions)

    def change(self, cells: tuple[Term, ...], keys: Keys, count: int) -> None:
        """Insert a solution so many times, or retract it if the count is negative. Raises
        NotCovered for a key without a single value.
        """
        places: list[Any] = []
        for kinds, key, is_descending in zip(self.kinds, keys, self.descending, strict=True):
            by_value, kind = sort_key_of(key)
            places.append(Descending(by_value) if is_descending else by_value)
            add_count(kinds.setdefault(rank(key), Counter()), kind, count)
        solution = OrderedSolution(tuple(places), cells, keys)
        for _ in range(count):
            self.solutions.add(solution)
        for _ in range(-count):
            self.solutions.remove(solution)

    def between(self, start: int, end: int) -> Iterator[tuple[Term, ...]]:
        """Yield the cells of the solutions from the place `start` to before the place `end`."""
        return (solution.cells for solution in self.solutions.islice(start, end))

    def check_border(self, border: int) -> None:
        """R2R-20: Make sure that a slice's border leaves no choice. Raises NotCovered where it
        does, and where rounding decides whether two solutions are the same.
        """
        if not 0 < border < len(self.solutions):
            return
        before: OrderedSolution = self.solutions[border - 1]
        behind: OrderedSolution = self.solutions[border]
        for i, kinds in enumerate(self.kinds):
            kind_of_term = rank(before.keys[i])
            if kind_of_term != rank(behind.keys[i]):
                return
            if kinds[kind_of_term].keys() == {OPEN} or len(kinds[kind_of_term]) > 1:
                self._check_pairs(border, i)
                return
            if before.place[i] != behind.place[i]:
                return
        self._check_ties(before.place)

    def _check_ties(self, place: tuple[Any, ...]) -> None:
        """Make sure that all solutions of a place are the same."""
        first = self.solutions[self.solutions.bisect_left((place,))]
        last = self.solutions[self.solutions.bisect_right((place, (BEHIND_ALL_TERMS,))) - 1]
        if first.cells != last.cells or any(map(has_rounding, last.cells)):
            raise NotCovered(
                "LIMIT or OFFSET cuts between solutions that ORDER BY leaves in any order"
            )

    def _check_pairs(self, border: int, i: int) -> None:
        """Compare the solutions on both sides of a border that are equal in the conditions before
        the i-th, and whose i-th results are terms of one kind.
        """
        shared = self.solutions[border].place[:i]
        kind_of_term = rank(self.solutions[border].keys[i])

        def stands_with_border(solution: OrderedSolution) -> bool:
            return solution.place[:i] == shared and rank(solution.keys[i]) == kind_of_term

        first = border
        while first and stands_with_border(self.solutions[first - 1]):
            first -= 1
        end = border
        while end < len(self.solutions) and stands_with_border(self.solutions[end]):
            end += 1
        near = list(self.solutions.islice(first, end))
        # one object for each solution with a rounded cell, which is the same as no other
        rows = [object() if any(map(has_rounding, one.cells)) else one.cells for one in near]
        keys = [one.keys for one in near]
        try:
            check_border(keys, rows, border - first, self.descending, lambda steps: None)
        except NoSingleAnswer as error:
            raise NotCovered(error.reason) from None


def sort_key_of(result: Result) -> SortKey:
    """Return where a result stands. Raises NotCovered for a literal without a single value."""
    if result is ERROR:
        return SortKey(sort_key(result, by_value=True), "no value")
    if has_rounding(result):
        return SortKey(_sort_key_of_term(str(result)).by_value, OPEN)
    return _sort_key_of_term(str(result))


@lru_cache(maxsize=2**16)
def _sort_key_of_term(term: Term) -> SortKey:
    try:
        return SortKey(sort_key(term, by_value=True), _kind_of(term))
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None


def _kind_of(term: Term) -> str:
    """Return the kind of a term's values: by which two of them are compared, or OPEN."""
    if rank(term) == IRI:
        return "IRI"
    if rank(term) == BLANK_NODE:
        return OPEN
    match value_of(term):
        case Number(_, value, slack) if slack or value != value:
            return OPEN
        case Number(number_rank, _, _):
            # an integer and a double may be equal as doubles alone
            return "binary number" if number_rank >= FLOAT else "decimal number"
        case StringValue(_, ""):
            return "string"
        case bool():
            return "boolean"
        case Moment(seconds, zoned) if seconds % SURE_SECONDS == 0:
            return "dateTime with a zone" if zoned else "dateTime without a zone"
        case _:
            return OPEN
