"""§7 MINUS and EXISTS, maintained: of a solution of the left side it only matters whether it has a
partner on the right. So the right side is stored as its keys alone, and changes the left ones only
where the first partner of a key comes, or its last one goes.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.algebra.partners import JoinKeys
from refengine.sparql.values import boolean

TRUE = boolean(True)


class MaintainedSemiJoin(MaintainedNode):
    """What MINUS and EXISTS share: the solutions of the left side, and whether each has a partner.

    The left side is stored by its keys, with the number of keys of the right that are compatible
    with each; of the right side the keys are stored with their counts. A change costs a lookup of
    its key. The first change on the right with a key, and the last one, also cost the solutions of
    the left that they change. With keys that may be unbound, a change costs the compatible keys of
    the other side.
    """

    def _connect(self, left: MaintainedNode, right: MaintainedNode, keys: JoinKeys) -> None:
        """Take the changes of both sides."""
        self.keys = keys
        self.left_side = keys.new_side()
        self.right_side = keys.new_side()
        self.partners: Counter[Any] = Counter()  # by the keys of the left side
        left.emit = self._change_left
        right.emit = self._change_right

    def _show(self, solution: Solution, count: int, has_partner: bool) -> None:
        """Emit a change of a solution of the left side, as the operator has it."""
        raise NotImplementedError

    def _change_left(self, solution: Solution, count: int) -> None:
        key = self.keys.left_key(solution)
        change = self.left_side.add(key, solution, count)
        if change > 0:
            self.partners[key] = len(list(self.right_side.compatible_keys(key)))
        self._show(solution, count, self.partners[key] > 0)
        if change < 0:
            del self.partners[key]

    def _change_right(self, solution: Solution, count: int) -> None:
        key = self.keys.right_key(solution)
        change = self.right_side.add(key, (), count)
        if not change:
            return
        for left_key in self.left_side.compatible_keys(key):
            had_partner = self.partners[left_key] > 0
            self.partners[left_key] += change
            has_partner = self.partners[left_key] > 0
            if has_partner == had_partner:
                continue
            for partner, copies in self.left_side.by_key[left_key].items():
                self._show(partner, -copies, had_partner)
                self._show(partner, copies, has_partner)


class MaintainedMinus(MaintainedSemiJoin):
    """MINUS: the solutions of the left side that have no partner on the right. A partner is
    compatible and binds a variable that the other binds, too (SPARQL 1.1 §18.5, Minus).
    """

    def __init__(self, left: MaintainedNode, right: MaintainedNode) -> None:
        super().__init__(left.names, left.certain)
        self._connect(left, right, JoinKeys(left, right, must_share=True))

    def _show(self, solution: Solution, count: int, has_partner: bool) -> None:
        if not has_partner:
            self.emit(solution, count)


class MaintainedExists(MaintainedSemiJoin):
    """EXISTS: the solutions of the left side with one variable more. It is true if there is a
    partner, and unbound if there is none.
    """

    def __init__(self, left: MaintainedNode, right: MaintainedNode, flag: str) -> None:
        super().__init__((*left.names, flag), left.certain)
        self._connect(left, right, JoinKeys(left, right))

    def _show(self, solution: Solution, count: int, has_partner: bool) -> None:
        self.emit((*solution, TRUE if has_partner else None), count)
