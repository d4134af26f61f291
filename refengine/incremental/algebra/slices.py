"""§7 LIMIT, OFFSET and REDUCED, maintained: nodes that look at all solutions together, once the
content is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from refengine.incremental.algebra.by_definition import compile_result
from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.expressions import Terms
from refengine.incremental.algebra.forms import tell_apart
from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.algebra.ordering import UNBOUND, OrderedSolutions
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql.algebra import Expression, Slice
from refengine.sparql.evaluation.slicing import OrderBelow
from refengine.sparql.order import Keys
from refengine.sparql.values import ERROR, Result

# What a condition of ORDER BY gives for a solution
OrderKey = Callable[[Terms], Result]

IS_OPEN = "REDUCED leaves open how often a solution is there"


class MaintainedSlice(MaintainedNode):
    """LIMIT and OFFSET over ORDER BY and the projection, with DISTINCT or REDUCED between them
    (R2R-20).

    It keeps all solutions in the order of ORDER BY, and which of them it has emitted. A change
    costs O(log n). `flush` costs as much, and as many steps as the slice has solutions; see
    `OrderedSolutions` for terms that ORDER BY leaves without an order.

    `names` are the variables that it shows, and `conditions` those of ORDER BY. `flush` raises
    NotCovered where a border of the slice leaves a choice.
    """

    def __init__(
        self,
        child: MaintainedNode,
        names: Iterable[str],
        conditions: Iterable[Expression],
        bounds: Slice,
        order: OrderBelow,
    ) -> None:
        shown = [name for name in names if name in child.slots]
        super().__init__(shown, child.certain.intersection(shown))
        self.shown_slots = [child.slots[name] for name in shown]
        self.order_keys = [compile_order_key(part, child.slots) for part in conditions]
        self.bounds = bounds
        self.is_reduced = order.is_reduced
        self.ordered = OrderedSolutions(order.descending)
        self.emitted: list[Solution] = []
        self.has_changed = False

        # of DISTINCT and REDUCED: how often a solution is there, by its cells and its keys
        self.copies: Counter[tuple[tuple[Term, ...], Keys]] = Counter()
        self.places: Counter[tuple[Term, ...]] = Counter()  # by cells: how many different keys
        self.reasons: Counter[str] = Counter()  # why there is no single answer now
        child.emit = self._change_once if order.is_distinct or order.is_reduced else self._change

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


class MaintainedReduced(MaintainedNode):
    """REDUCED over the projection: each solution as it is. How often one is there that is there
    several times is the evaluator's choice, so `flush` raises NotCovered as long as there is one.

    It keeps the count of each solution. A change costs O(1).
    """

    def __init__(self, child: MaintainedNode, names: Iterable[str]) -> None:
        shown = [name for name in names if name in child.slots]
        super().__init__(shown, child.certain.intersection(shown))
        self.shown_slots = [child.slots[name] for name in shown]
        self.counts: Counter[Solution] = Counter()
        self.repeated = 0  # how many solutions are there several times
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        shown = tuple([solution[slot] for slot in self.shown_slots])
        before = self.counts[shown]
        add_count(self.counts, shown, count)
        self.repeated += (before + count > 1) - (before > 1)
        self.emit(shown, count)

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
