"""§7 SELECT within a pattern, maintained: what is around a subselect sees the variables that it
selects, and no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import MaintainedNode, Solution


class MaintainedSelection(MaintainedNode):
    """SELECT within a pattern: solutions of some of the variables. It keeps nothing, and answers
    each change from itself alone.
    """

    def __init__(self, child: MaintainedNode, names: Sequence[str]) -> None:
        super().__init__(tuple(dict.fromkeys(names)), child.certain.intersection(names))
        self.places = [child.slots.get(name) for name in self.names]
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        selected = [None if place is None else solution[place] for place in self.places]
        self.emit(tuple(selected), count)


class MaintainedDistinct(MaintainedNode):
    """DISTINCT within a pattern: each solution once. It keeps how often each is there. A change
    costs a look-up.
    """

    def __init__(self, child: MaintainedNode) -> None:
        super().__init__(child.names, child.certain)
        self.counts: Counter[Solution] = Counter()
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        if change := add_count(self.counts, solution, count):
            self.emit(solution, change)
