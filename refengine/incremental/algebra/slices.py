"""§7 LIMIT, OFFSET and REDUCED, maintained: nodes that look at all solutions together, once the
content is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from refengine.incremental.algebra.aggregates import has_rounding
from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.expressions import Terms, compile_operand
from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.algebra.ordering import UNBOUND, OrderedSolutions
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql.algebra import Expression, Slice, Variable, all_variables
from refengine.sparql.evaluation.slicing import OrderBelow
from refengine.sparql.order import Keys
from refengine.sparql.values import ERROR, Number, Result, number_term

# What a condition of ORDER BY gives for a solution
OrderKey = Callable[[Terms], Result]

IS_OPEN = "REDUCED leaves open how often a solution is there"


class MaintainedSlice(MaintainedNode):
    """LIMIT and OFFSET over ORDER BY and the projection, with DISTINCT or REDUCED between them
    (R2R-20).

    It keeps all solutions in the order of ORDER BY, and which of them it has emitted. A change
    costs O(log n). `flush` costs as much, and as many steps as the slice has solutions; see
    `OrderedSolutions` for terms that ORDER BY leaves without an order.

    `slots` are the places of variables in the child's solutions; a variable without one is never
    bound. Raises NotCovered for a condition that is not covered. `flush` raises it where a border
    of the slice leaves a choice.
    """

    def __init__(
        self, child: MaintainedNode, slots: Mapping[str, int], bounds: Slice, order: OrderBelow
    ) -> None:
        names = [name for name in slots if ":" not in name]
        if order.variables is not None:
            names = [variable.name for variable in order.variables]
        shown = [name for name in names if name in slots]
        certain = [name for name in shown if child.names[slots[name]] in child.certain]
        super().__init__(shown, certain)
        self.shown_slots = [slots[name] for name in shown]
        self.order_keys = [compile_order_key(part, slots) for part, _ in order.conditions]
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
        """Emit by what a slice differs from the one before. Solutions with a rounded term are
        emitted anew, since one of the same text may have another slack.
        """
        change: Counter[Solution] = Counter()
        for solutions, count in ((self.emitted, -1), (now, 1)):
            for solution in solutions:
                if any(map(has_rounding, solution)):
                    self.emit(solution, count)
                else:
                    change[solution] += count
        self.emitted = now
        for solution, count in change.items():
            if count:
                self.emit(solution, count)


class MaintainedReduced(MaintainedNode):
    """REDUCED over the projection: each solution as it is. How often one is there that is there
    several times is the evaluator's choice, so `flush` raises NotCovered as long as there is one.

    It keeps the count of each solution. A change costs O(1).
    """

    def __init__(
        self, child: MaintainedNode, slots: Mapping[str, int], variables: tuple[Variable, ...]
    ) -> None:
        shown = [variable.name for variable in variables if variable.name in slots]
        certain = [name for name in shown if child.names[slots[name]] in child.certain]
        super().__init__(shown, certain)
        self.shown_slots = [slots[name] for name in shown]
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
    """Return what gives the result of one of ORDER BY's conditions; an unbound variable is an
    error. Raises NotCovered for an expression that is not covered.
    """
    if isinstance(expression, Variable) and expression.name not in slots:
        return lambda terms: ERROR
    outside = {variable.name for variable in all_variables(expression)} - slots.keys()
    if outside:
        raise NotCovered(f"ORDER BY an expression of ?{min(outside)}, which is never bound")
    operand = compile_operand(expression, slots)

    def result(terms: Terms) -> Result:
        value = operand(terms)
        if value is None:
            return ERROR
        if isinstance(value, Number):
            return number_term(value)
        return value

    return result
