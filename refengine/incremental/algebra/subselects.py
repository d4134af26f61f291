"""§7 SELECT within a pattern, maintained: what is around a subselect sees the variables that it
selects, and no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from refengine.incremental.algebra.computed import refuse_computed, refuse_rounded
from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.sparql.algebra import Variable

NO_ALIASES: Mapping[str, str] = {}


class MaintainedSelection(MaintainedNode):
    """SELECT within a pattern: solutions of some of the variables. It keeps nothing, and answers
    each change from itself alone.

    `aliases` are new names, each with that of the key or the aggregate that it stands for.
    """

    def __init__(
        self, child: MaintainedNode, names: Sequence[str], aliases: Mapping[str, str] = NO_ALIASES
    ) -> None:
        sources = {name: aliases.get(name, name) for name in names}
        super().__init__(
            list(sources),
            [name for name, source in sources.items() if source in child.certain],
            [
                name
                for name, source in sources.items()
                if source in child.plain or source not in child.slots
            ],
        )
        self.places = [child.slots.get(source) for source in sources.values()]
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        selected = [None if place is None else solution[place] for place in self.places]
        self.emit(tuple(selected), count)


class MaintainedDistinct(MaintainedNode):
    """DISTINCT within a pattern: each solution once. It keeps how often each is there. Raises
    NotCovered for a computed number.
    """

    def __init__(self, child: MaintainedNode) -> None:
        super().__init__(child.names, child.certain, child.names)
        self.counts: Counter[Solution] = Counter()
        refuse_computed(child, child.names, "DISTINCT").emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        if change := add_count(self.counts, solution, count):
            self.emit(solution, change)


def subselect(
    child: MaintainedNode, names: Sequence[str], aliases: Mapping[str, str]
) -> MaintainedNode:
    """Return what a subselect selects of a node's solutions. Raises NotCovered for a rounded number
    where a variable is left out, such as the key of its group: two solutions would be taken for one
    that are not.
    """
    selected = {aliases.get(name, name) for name in names}
    left_out = set(child.names) - selected
    if not all(Variable(name).is_hidden for name in left_out):
        child = refuse_rounded(child, selected, "a subselect")
    return MaintainedSelection(child, names, aliases)
