"""§7 FILTER, UNION and SELECT, maintained: each change is answered from itself alone, but that
DISTINCT counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import Emit, MaintainedNode, Solution
from refengine.incremental.coverage import NotCovered
from refengine.model.compare import TOLERANCE
from refengine.model.elements import Row, Term
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.algebra import Expression, conjuncts
from refengine.sparql.evaluation import output
from refengine.sparql.values import FLOAT, Computed

# A float or a double is an answer if its slack is no greater than this, relatively. The definition
# allows for more, and computes that with fractions, which takes long.
SURELY_SHOWN = TOLERANCE["double"]


class MaintainedFilter(MaintainedNode):
    """FILTER over anything but a basic graph pattern, and HAVING."""

    def __init__(self, child: MaintainedNode, expression: Expression) -> None:
        super().__init__(child.names, child.certain)
        self.conditions = [self.condition(part) for part in conjuncts(expression)]
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        has_error = False
        for condition in self.conditions:
            holds = condition(solution)
            if holds is False:
                return
            # The parts after an error are asked, too: one that is false decides, and one without a
            # single answer leaves the whole without (R2R-11).
            has_error |= holds is None
        if not has_error:
            self.emit(solution, count)


class MaintainedUnion(MaintainedNode):
    """UNION: the solutions of all parts. What a part does not name is unbound."""

    def __init__(self, parts: Sequence[MaintainedNode]) -> None:
        names = dict.fromkeys(name for part in parts for name in part.names)
        certain = frozenset.intersection(*(part.certain for part in parts))
        super().__init__(list(names), certain)
        for part in parts:
            part.emit = self._widen(part)

    def _widen(self, part: MaintainedNode) -> Emit:
        """Return what takes a part's solutions, and emits them with the union's slots."""
        if part.names == self.names:
            return lambda solution, count: self.emit(solution, count)
        places = [part.slots.get(name) for name in self.names]

        def emit_widened(solution: Solution, count: int) -> None:
            widened = [None if place is None else solution[place] for place in places]
            self.emit(tuple(widened), count)

        return emit_widened


class MaintainedProjection(MaintainedNode):
    """SELECT: rows of some of the variables, under DISTINCT each once.

    With `is_computed` a solution may have computed numbers, of which a row has the terms alone.
    Raises NotCovered for one that is rounded so far that it is no answer.
    """

    def __init__(
        self,
        child: MaintainedNode,
        names: Sequence[str],
        is_distinct: bool,
        is_computed: bool = False,
    ) -> None:
        super().__init__(names, ())
        self.child = child
        self.is_distinct = is_distinct
        # the rows' cells, by name (a variable may be selected twice)
        self.cells: list[tuple[str, int]] = []
        for name in sorted(set(names)):
            slot = child.slots.get(name)
            if slot is not None:
                self.cells.append((name, slot))
        self.counts: Counter[Row] = Counter()
        child.emit = self._change_computed if is_computed else self._change

    def _change(self, solution: Solution, count: int) -> None:
        row = tuple(
            [(name, term) for name, slot in self.cells if (term := solution[slot]) is not None]
        )
        if self.is_distinct:
            count = add_count(self.counts, row, count)
        if count:
            self.emit(row, count)

    def _change_computed(self, solution: Solution, count: int) -> None:
        shown = list(solution)
        for _, slot in self.cells:
            shown[slot] = as_shown(solution[slot])
        self._change(tuple(shown), count)


def as_shown(term: Term | None) -> Term | None:
    """Return a term as an answer shows it; None stays None. Raises NotCovered for a number that is
    rounded so far that it is no answer.
    """
    if term is None or not isinstance(term, Computed):
        return term
    rank, value, slack, _ = term.number
    if rank >= FLOAT and slack <= SURELY_SHOWN * abs(float(value)):
        return str(term)
    try:
        return output(term)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None
