"""§7 FILTER, UNION and SELECT, maintained: each change is answered from itself alone, but that
DISTINCT counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from refengine.incremental.algebra.computed import refuse_rounded
from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import Emit, MaintainedNode, Solution
from refengine.model.elements import Row, Term
from refengine.sparql.algebra import Expression, conjuncts
from refengine.sparql.values import Computed


class MaintainedFilter(MaintainedNode):
    """FILTER over anything but a basic graph pattern, and HAVING. Raises NotCovered for an
    expression that is not covered.
    """

    def __init__(self, child: MaintainedNode, expression: Expression) -> None:
        super().__init__(child.names, child.certain, child.plain)
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
    """UNION: the solutions of all parts. What a part does not name is unbound. Raises NotCovered
    for a rounded number: of two parts, two solutions would be taken for one that are not.
    """

    def __init__(self, parts: Sequence[MaintainedNode]) -> None:
        names = dict.fromkeys(name for part in parts for name in part.names)
        certain = frozenset.intersection(*(part.certain for part in parts))
        computed = {name for part in parts for name in part.names if name not in part.plain}
        super().__init__(list(names), certain, names.keys() - computed)
        for part in parts:
            refuse_rounded(part, part.names, "a UNION").emit = self._widen(part)

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

    `aliases` are new names, each with that of the key or the aggregate that it stands for. A
    computed number is shown as its term alone.
    """

    def __init__(
        self,
        child: MaintainedNode,
        names: Sequence[str],
        aliases: Mapping[str, str],
        is_distinct: bool,
    ) -> None:
        super().__init__(names, ())
        self.child = child
        self.is_bag_of_child = not is_distinct and not aliases
        self.is_distinct = is_distinct
        # the rows' cells, by name (a variable may be selected twice)
        self.cells: list[tuple[str, int]] = []
        for name in sorted(set(names)):
            slot = child.slots.get(aliases.get(name, name))
            if slot is not None:
                self.cells.append((name, slot))
        self.counts: Counter[Row] = Counter()
        is_plain = child.plain.issuperset(child.names[slot] for _, slot in self.cells)
        child.emit = self._change if is_plain else self._change_computed

    def _change(self, solution: Solution, count: int) -> None:
        row = tuple(
            [(name, term) for name, slot in self.cells if (term := solution[slot]) is not None]
        )
        if self.is_distinct:
            count = add_count(self.counts, row, count)
        if count:
            self.emit(row, count)

    def _change_computed(self, solution: Solution, count: int) -> None:
        self._change(tuple(map(as_plain_term, solution)), count)


def as_plain_term(term: Term | None) -> Term | None:
    """Return a term without the number from which it was computed."""
    return str(term) if isinstance(term, Computed) else term
