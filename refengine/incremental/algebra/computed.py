"""§7 Computed numbers that leave the group in which they were made: what may be done with them.

The form of a computed number is not fixed: 2 and 2.0 are one average. So it is not known whether it
is the same term as another one, as a join or DISTINCT would ask. A rounded one has a slack, too, of
which its text says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.coverage import NotCovered
from refengine.sparql.values import Computed


def refuse_computed(node: MaintainedNode, names: Iterable[str], place: str) -> MaintainedNode:
    """Return a node with the same solutions, which raises NotCovered when it meets a computed
    number as one of some variables. `place` says in the message where it is not covered. A node
    whose variables are plain is returned as it is.
    """
    return _with_check(node, names, place, only_rounded=False)


def refuse_rounded(node: MaintainedNode, names: Iterable[str], place: str) -> MaintainedNode:
    """Return a node with the same solutions, which raises NotCovered when it meets a rounded number
    as one of some variables: two solutions that differ in its slack alone would be taken for one.
    """
    return _with_check(node, names, place, only_rounded=True)


def _with_check(
    node: MaintainedNode, names: Iterable[str], place: str, only_rounded: bool
) -> MaintainedNode:
    doubtful = [name for name in names if name in node.slots and name not in node.plain]
    if not doubtful:
        return node
    return ComputedCheck(node, doubtful, place, only_rounded)


class ComputedCheck(MaintainedNode):
    """The solutions of a node as they are. It stores nothing, and a change costs a look at the
    variables in question. Raises NotCovered when one is a computed number (with `only_rounded`, a
    rounded one).
    """

    def __init__(
        self, child: MaintainedNode, names: Iterable[str], place: str, only_rounded: bool
    ) -> None:
        checked = tuple(names)
        plain = child.plain if only_rounded else child.plain.union(checked)
        super().__init__(child.names, child.certain, plain)
        self.checked = [child.slots[name] for name in checked]
        self.only_rounded = only_rounded
        self.place = place
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        for slot in self.checked:
            term = solution[slot]
            if isinstance(term, Computed) and (term.number.slack or not self.only_rounded):
                kind = "rounded" if self.only_rounded else "computed"
                raise NotCovered(f"{self.place} of a {kind} number")
        self.emit(solution, count)
