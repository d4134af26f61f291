"""§7 Join and OPTIONAL, maintained: each side is stored by the terms of what both sides bind, so
that a change on one side finds its partners on the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import MaintainedNode, Solution, pick_key, pick_terms
from refengine.incremental.coverage import NotCovered
from refengine.sparql.algebra import Expression

NO_PARTNERS: Counter[Solution] = Counter()  # not to be changed


class JoinSide:
    """The solutions of one side of a join, by their terms of the shared variables."""

    def __init__(self, node: MaintainedNode, shared: Iterable[str]) -> None:
        self.key = pick_key(tuple(node.slots[name] for name in shared))
        self.by_key: dict[Any, Counter[Solution]] = {}

    def add(self, solution: Solution, count: int) -> None:
        """Add to the count of a solution, which may end at zero: then it is not stored."""
        key = self.key(solution)
        there = self.by_key.setdefault(key, Counter())
        add_count(there, solution, count)
        if not there:
            del self.by_key[key]


class MaintainedJoin(MaintainedNode):
    """Join, on variables that both sides always bind. Raises NotCovered for others."""

    def __init__(self, left: MaintainedNode, right: MaintainedNode) -> None:
        shared = shared_variables(left, right)
        only_right = [name for name in right.names if name not in left.slots]
        super().__init__((*left.names, *only_right), left.certain | right.certain)
        rest = pick_terms(tuple(right.slots[name] for name in only_right))
        left_side = JoinSide(left, shared)
        right_side = JoinSide(right, shared)

        # m copies of one side's solution and n of the other's are m * n of the joined one
        def change_left(solution: Solution, count: int) -> None:
            left_side.add(solution, count)
            partners = right_side.by_key.get(left_side.key(solution), NO_PARTNERS)
            for partner, copies in partners.items():
                self.emit((*solution, *rest(partner)), count * copies)

        def change_right(solution: Solution, count: int) -> None:
            right_side.add(solution, count)
            partners = left_side.by_key.get(right_side.key(solution), NO_PARTNERS)
            for partner, copies in partners.items():
                self.emit((*partner, *rest(solution)), count * copies)

        left.emit = change_left
        right.emit = change_right


class MaintainedOptional(MaintainedNode):
    """OPTIONAL, on variables that both sides always bind. Raises NotCovered for others.

    A solution of the left side stands alone as long as it has no partner on the right. When its
    first partner comes, the lone solution is retracted; when its last one goes, it comes back.
    """

    def __init__(
        self, left: MaintainedNode, right: MaintainedNode, expression: Expression | None
    ) -> None:
        shared = shared_variables(left, right)
        only_right = [name for name in right.names if name not in left.slots]
        super().__init__((*left.names, *only_right), left.certain)
        self.rest = pick_terms(tuple(right.slots[name] for name in only_right))
        self.unbound = (None,) * len(only_right)
        self.holds = None
        if expression is not None:
            self.holds = self.condition(expression)
        self.left_side = JoinSide(left, shared)
        self.right_side = JoinSide(right, shared)
        # how many partners each solution of the left side has
        self.partners: Counter[Solution] = Counter()
        left.emit = self._change_left
        right.emit = self._change_right

    def _change_left(self, solution: Solution, count: int) -> None:
        key = self.left_side.key(solution)
        self.left_side.add(solution, count)

        partners = 0
        for partner, copies in self.right_side.by_key.get(key, NO_PARTNERS).items():
            joined = (*solution, *self.rest(partner))
            if self.holds is None or self.holds(joined):
                partners += copies
                self.emit(joined, count * copies)
        if not partners:
            self.emit((*solution, *self.unbound), count)

        if solution in self.left_side.by_key.get(key, NO_PARTNERS):
            self.partners[solution] = partners
        else:
            self.partners.pop(solution, None)

    def _change_right(self, solution: Solution, count: int) -> None:
        self.right_side.add(solution, count)
        key = self.right_side.key(solution)
        for partner, copies in self.left_side.by_key.get(key, NO_PARTNERS).items():
            joined = (*partner, *self.rest(solution))
            if self.holds is not None and not self.holds(joined):
                continue
            before = self.partners[partner]
            self.partners[partner] = before + count
            if not before:
                self.emit((*partner, *self.unbound), -copies)
            self.emit(joined, count * copies)
            if not before + count:
                self.emit((*partner, *self.unbound), copies)


def shared_variables(left: MaintainedNode, right: MaintainedNode) -> list[str]:
    """Return the variables of both sides.

    Raises NotCovered where one may be unbound: an unbound variable joins with any term, and then
    solutions of different keys are partners.
    """
    shared = [name for name in left.names if name in right.slots]
    if not left.certain.issuperset(shared) or not right.certain.issuperset(shared):
        raise NotCovered("a join on a variable that may be unbound")
    return shared
