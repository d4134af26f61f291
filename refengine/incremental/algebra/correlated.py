"""§7 EXISTS with a filter on variables of the solution outside, maintained: FILTER EXISTS { ?x :q
?z FILTER(?z > ?y) } over solutions of `?x :p ?y`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.joins import MaintainedJoin
from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.algebra.partners import Equalities
from refengine.incremental.algebra.semijoins import TRUE

Wrap = Callable[[MaintainedNode], MaintainedNode]


class MaintainedExistsWithFilter(MaintainedNode):
    """EXISTS whose filters look at the outer solution: the solutions of the left side with one
    variable more. It is true if there is a partner that passes the filters, and unbound if there is
    none.

    The outer solutions, each once, are joined with the pattern's, and `wrap` puts the filters
    around that join. What passes is counted by outer solution. It keeps the outer solutions, their
    numbers of partners, and what the join keeps. A change costs its partners.
    """

    def __init__(
        self,
        left: MaintainedNode,
        right: MaintainedNode,
        flag: str,
        wrap: Wrap,
        equalities: Equalities = (),
    ) -> None:
        super().__init__((*left.names, flag), left.certain)
        self.width = len(left.names)
        self.copies: Counter[Solution] = Counter()
        self.partners: Counter[Solution] = Counter()
        self.outer = MaintainedNode(left.names, left.certain)
        # a solution that comes is shown when its partners are counted
        self.coming: Solution | None = None
        wrap(MaintainedJoin(self.outer, right, equalities)).emit = self._change_partners
        left.emit = self._change_left

    def _change_left(self, solution: Solution, count: int) -> None:
        change = add_count(self.copies, solution, count)
        if change < 0:
            self._show(solution, count)
        if change:
            self.coming = solution
            self.outer.emit(solution, change)
            self.coming = None
        if change >= 0:
            self._show(solution, count)

    def _change_partners(self, joined: Solution, count: int) -> None:
        solution = joined[: self.width]
        if solution == self.coming:
            add_count(self.partners, solution, count)
            return
        had_partner = solution in self.partners
        if had_partner != (self.partners[solution] + count > 0):
            self._show(solution, -self.copies[solution])
            add_count(self.partners, solution, count)
            self._show(solution, self.copies[solution])
        else:
            add_count(self.partners, solution, count)

    def _show(self, solution: Solution, count: int) -> None:
        self.emit((*solution, TRUE if solution in self.partners else None), count)
