"""§7 LIMIT, OFFSET and REDUCED, maintained: nodes that look at all solutions together, once the
content is complete. Under them solutions come and go in the order of ORDER BY, which shows whether
the borders of a slice leave a choice (R2R-20).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

from sortedcontainers import SortedList

from refengine.incremental.algebra.expressions import Terms, compile_result
from refengine.incremental.algebra.nodes import (
    Emit,
    MaintainedNode,
    MaintainedSelection,
    ObjectNode,
    Solution,
    add_count,
    tell_apart,
)
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import Moment
from refengine.sparql.algebra import Expression, Slice
from refengine.sparql.order import BLANK_NODE, IRI, Keys, check_border, rank, sort_key
from refengine.sparql.solutions import OrderBelow
from refengine.sparql.values import (
    ERROR,
    FLOAT,
    SURE_SECONDS,
    Computed,
    Number,
    Result,
    StringValue,
    value_of,
)

UNBOUND: Term = ""  # a cell without a term, so that cells can be sorted
BEHIND_ALL_TERMS = "~"  # sorts behind the text of every term

# Kinds of results. Of two of one kind ORDER BY puts one first wherever their sort keys do, and else
# calls them equal; but of OPEN it may leave any two without an order, and of rounded numbers two
# that lie no further apart than their slacks.
OPEN = "open"
WITHOUT_VALUE = "without a value"  # errors and unbound variables
RESOURCE, STRING, BOOLEAN = "IRI", "string", "boolean"
MOMENTS = {False: "dateTime without a zone", True: "dateTime with a zone"}
DECIMAL, ROUNDED_DECIMAL = "decimal number", "rounded decimal number"
BINARY, ROUNDED_BINARY = "binary number", "rounded binary number"  # a float or a double
WITHOUT_SURE_ORDER = {OPEN, ROUNDED_DECIMAL, ROUNDED_BINARY}
# numbers of the kinds of one set are compared by exact values and slacks; an integer and a double
# may also be equal because one is promoted
COMPARED_BY_VALUE = ({DECIMAL, ROUNDED_DECIMAL}, {BINARY, ROUNDED_BINARY})


class SortKey(NamedTuple):
    """Where a result stands: `by_value` sorts before another wherever ORDER BY puts the result
    before the other. `slack` is that of a number.
    """

    by_value: tuple[Any, ...]
    kind: str
    slack: Fraction | float = 0


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
    """A solution among others in ORDER BY's order. `place` has a sort key for each condition.

    `cells` are what the slice shows of the solution, and `keys` the results of the conditions.
    Solutions of one place are told apart by the `texts` of their cells, and by the computed
    `numbers` of cells and keys.
    """

    place: tuple[Any, ...]
    texts: tuple[str, ...]
    numbers: tuple[tuple[Any, ...], ...]
    cells: tuple[Term, ...]
    keys: Keys


class OrderedSolutions:
    """Solutions in ORDER BY's order, each as often as it is there. `descending` says of each
    condition whether it is descending.

    A change of one copy costs O(log n), and so does `check_border` where each condition's results
    of the border's kind of term (such as literals) are of one kind of values with an order. Where
    a condition has others, the solutions with that kind of term are compared as the SPARQL
    evaluator does, pair by pair; of rounded numbers only those so near to the border that rounding
    may matter.
    """

    def __init__(self, descending: Sequence[bool]) -> None:
        self.descending = descending
        self.solutions: SortedList = SortedList()
        # by condition and kind of term: how many results there are of each kind of values
        self.kinds: list[dict[int, Counter[str]]] = [{} for _ in descending]
        # by condition: no number has had a greater slack
        self.greatest_slacks: list[Any] = [0 for _ in descending]

    def __len__(self) -> int:
        return len(self.solutions)

    def change(self, cells: tuple[Term, ...], keys: Keys, count: int) -> None:
        """Insert a solution so many times, or retract it if the count is negative. Raises
        NotCovered for a key without a single value.
        """
        places: list[Any] = []
        for i, key in enumerate(keys):
            by_value, kind, slack = sort_key_of(key)
            places.append(Descending(by_value) if self.descending[i] else by_value)
            add_count(self.kinds[i].setdefault(rank(key), Counter()), kind, count)
            self.greatest_slacks[i] = max(self.greatest_slacks[i], slack)
        texts = tuple(map(str, cells))
        numbers = tuple([number_of_computed(term) for term in (*cells, *keys)])
        solution = OrderedSolution(tuple(places), texts, numbers, cells, keys)
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
            kinds_of_values = kinds[kind_of_term].keys()
            if len(kinds_of_values) > 1 or kinds_of_values & WITHOUT_SURE_ORDER:
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
        the i-th, and may have no order by that one.
        """
        first = border - 1
        while first and self._may_be_open(first - 1, border, i):
            first -= 1
        end = border + 1
        while end < len(self.solutions) and self._may_be_open(end, border - 1, i):
            end += 1
        near = list(self.solutions.islice(first, end))
        # one object for each solution with a rounded cell, which is the same as no other
        rows = [object() if any(map(has_rounding, one.cells)) else one.cells for one in near]
        keys = [one.keys for one in near]
        try:
            check_border(keys, rows, border - first, self.descending, lambda steps: None)
        except NoSingleAnswer as error:
            raise NotCovered(error.reason) from None

    def _may_be_open(self, index: int, other: int, i: int) -> bool:
        """Return whether two solutions may have no order by the i-th condition: they are equal in
        those before, have terms of one kind, and if these are numbers, no sure distance.
        """
        one, two = self.solutions[index], self.solutions[other]
        kind_of_term = rank(one.keys[i])
        if one.place[:i] != two.place[:i] or kind_of_term != rank(two.keys[i]):
            return False
        kinds = self.kinds[i][kind_of_term].keys()
        if not any(kinds <= compared for compared in COMPARED_BY_VALUE):
            return True
        a, b = (value_of(solution.keys[i]) for solution in (one, two))
        assert isinstance(a, Number) and isinstance(b, Number)
        # twice for both numbers, and twice since they are sorted by their texts; INF - INF is NaN
        is_near: bool = abs(a.value - b.value) <= 4 * self.greatest_slacks[i]
        return is_near or a.value == b.value


def number_of_computed(result: Result) -> tuple[Any, ...]:
    """Return the number of a computed one, and () for anything else."""
    return tuple(result.number) if isinstance(result, Computed) else ()


def has_rounding(term: Term) -> bool:
    """Return whether a term was computed from a number that is rounded."""
    return isinstance(term, Computed) and bool(term.number.slack)


def sort_key_of(result: Result) -> SortKey:
    """Return where a result stands. Raises NotCovered for a literal without a single value."""
    if result is ERROR:
        return SortKey(sort_key(result, by_value=True), WITHOUT_VALUE)
    if isinstance(result, Computed) and result.number.slack:
        by_value = _sort_key_of_term(str(result)).by_value
        return SortKey(by_value, _kind_of(result), result.number.slack)
    return _sort_key_of_term(str(result))


@lru_cache(maxsize=2**16)
def _sort_key_of_term(term: Term) -> SortKey:
    try:
        value = value_of(term)
        slack = value.slack if isinstance(value, Number) else 0
        return SortKey(sort_key(term, by_value=True), _kind_of(term), slack)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None


def _kind_of(term: Term) -> str:
    """Return the kind of a term's values: by which two of them are compared, or OPEN."""
    if rank(term) == IRI:
        return RESOURCE
    if rank(term) == BLANK_NODE:
        return OPEN
    match value_of(term):
        case Number() as number:
            return _kind_of_number(number)
        case StringValue(_, ""):
            return STRING
        case bool():
            return BOOLEAN
        case Moment(seconds, zoned) if seconds % SURE_SECONDS == 0:
            return MOMENTS[zoned]
        case _:
            return OPEN


def _kind_of_number(number: Number) -> str:
    if number.value != number.value:
        return OPEN
    if number.rank >= FLOAT:
        return ROUNDED_BINARY if number.slack else BINARY
    return ROUNDED_DECIMAL if number.slack else DECIMAL


# Nodes


# What a condition of ORDER BY gives for a solution
OrderKey = Callable[[Terms], Result]

IS_OPEN = "REDUCED leaves open how often a solution is there"


def maintain_slice(
    child: MaintainedNode,
    names: Iterable[str],
    conditions: Iterable[Expression],
    bounds: Slice,
    order: OrderBelow,
) -> ObjectNode:
    """Return the node of LIMIT and OFFSET over a node's solutions. `names` are the variables that
    it shows, and `conditions` those of ORDER BY.
    """
    shown = [name for name in names if name in child.slots]
    make = partial(
        RunningSlice,
        shown_slots=[child.slots[name] for name in shown],
        order_keys=[compile_order_key(part, child.slots) for part in conditions],
        bounds=bounds,
        order=order,
    )
    certain = child.certain.intersection(shown)
    return ObjectNode(make, child, shown, certain, "R2R-20 LIMIT and OFFSET")


class RunningSlice:
    """LIMIT and OFFSET over ORDER BY and the projection, with DISTINCT or REDUCED between them
    (R2R-20).

    It keeps all solutions in the order of ORDER BY, and which of them it has emitted. A change
    costs O(log n). `flush` costs as much, and as many steps as the slice has solutions; see
    `OrderedSolutions` for terms that ORDER BY leaves without an order.

    `flush` raises NotCovered where a border of the slice leaves a choice.
    """

    def __init__(
        self,
        emit: Emit,
        shown_slots: Sequence[int],
        order_keys: Sequence[OrderKey],
        bounds: Slice,
        order: OrderBelow,
    ) -> None:
        self.emit = emit
        self.shown_slots = shown_slots
        self.order_keys = order_keys
        self.bounds = bounds
        self.is_reduced = order.is_reduced
        self.ordered = OrderedSolutions(order.descending)
        self.emitted: list[Solution] = []
        self.has_changed = False

        # of DISTINCT and REDUCED: how often a solution is there, by its cells and its keys
        self.copies: Counter[tuple[tuple[Term, ...], Keys]] = Counter()
        self.places: Counter[tuple[Term, ...]] = Counter()  # by cells: how many different keys
        self.reasons: Counter[str] = Counter()  # why there is no single answer now
        self.change = self._change
        if order.is_distinct or order.is_reduced:
            self.change = self._change_once

    def _change(self, solution: Solution, count: int) -> None:
        cells, keys = self._cells_and_keys(solution)
        self.ordered.change(cells, keys, count)
        self.has_changed = True

    def _change_once(self, solution: Solution, count: int) -> None:
        """Add to the count of a solution that the slice has once."""
        cells, keys = self._cells_and_keys(solution)
        if self.is_reduced:
            self._note(IS_OPEN, self.copies[cells, keys], self.copies[cells, keys] + count)
        change = add_count(self.copies, (cells, keys), count)
        if change:
            before = self.places[cells]
            add_count(self.places, cells, change)
            reason = "LIMIT after DISTINCT, where equal solutions have several places in the order"
            self._note(reason, before, before + change)
            self.ordered.change(cells, keys, change)
        self.has_changed = True

    def _note(self, reason: str, before: int, now: int) -> None:
        """Note that a reason is there as long as something is there more than once."""
        add_count(self.reasons, reason, (now > 1) - (before > 1))

    def _cells_and_keys(self, solution: Solution) -> tuple[tuple[Term, ...], Keys]:
        """Return what the slice shows of a solution, and its results of ORDER BY."""
        cells = [solution[slot] or UNBOUND for slot in self.shown_slots]
        return tuple(cells), tuple([key(solution) for key in self.order_keys])

    def flush(self) -> None:
        """Emit by which solutions the slice has changed. Raises NotCovered."""
        if not self.has_changed:
            return
        self.has_changed = False
        for reason in sorted(self.reasons):
            raise NotCovered(reason)
        start = self.bounds.offset
        end = len(self.ordered)
        if self.bounds.limit is not None:
            end = min(end, start + self.bounds.limit)
        now: list[Solution] = []
        if start < end:
            self.ordered.check_border(start)
            self.ordered.check_border(end)
            shown = self.ordered.between(start, end)
            now = [tuple([term or None for term in cells]) for cells in shown]
        self._emit_differences(now)

    def _emit_differences(self, now: list[Solution]) -> None:
        """Emit by what a slice differs from the one before."""
        change = Counter(now)
        change.subtract(self.emitted)
        self.emitted = now
        for solution, count in change.items():
            if count:
                self.emit(solution, count)


def maintain_reduced(child: MaintainedNode, names: Iterable[str]) -> ObjectNode:
    """Return the node of REDUCED over a node's solutions, with the variables of some names."""
    shown = [name for name in names if name in child.slots]
    selected = MaintainedSelection(child, shown)
    return ObjectNode(RunningReduced, selected, shown, selected.certain, "R2R-20 REDUCED")


class RunningReduced:
    """REDUCED over the projection: each solution as it is. How often one is there that is there
    several times is the evaluator's choice, so `flush` raises NotCovered as long as there is one.

    It keeps the count of each solution. A change costs O(1).
    """

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        self.counts: Counter[Solution] = Counter()
        self.repeated = 0  # how many solutions are there several times

    def change(self, solution: Solution, count: int) -> None:
        """Take a solution that comes or goes."""
        before = self.counts[solution]
        add_count(self.counts, solution, count)
        self.repeated += (before + count > 1) - (before > 1)
        self.emit(solution, count)

    def flush(self) -> None:
        """Raise NotCovered if a solution is there several times."""
        if self.repeated:
            raise NotCovered(IS_OPEN)


def compile_order_key(expression: Expression, slots: Mapping[str, int]) -> OrderKey:
    """Return the function that gives the result of one of ORDER BY's conditions."""
    result = compile_result(expression, slots)

    def key(terms: Terms) -> Result:
        term = tell_apart(result(terms))
        return ERROR if term is None else term

    return key
