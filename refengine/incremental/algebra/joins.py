"""§7 Join and OPTIONAL, maintained: each side is stored by its keys (`partners`), so that a change
on one side finds its partners on the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from refengine.incremental.algebra.equality import equalities_between
from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.algebra.partners import Equalities, JoinedSlots, JoinKeys
from refengine.sparql.algebra import Expression


class MaintainedJoin(MaintainedNode):
    """Join of compatible solutions. Both sides are stored, and a change costs its partners.

    With `equalities` it only joins solutions that may be equal in some variables of the left and of
    the right; the filter above it has to ask whether they are.
    """

    def __init__(
        self, left: MaintainedNode, right: MaintainedNode, equalities: Equalities = ()
    ) -> None:
        joined = JoinedSlots(left, right)
        super().__init__(joined.names, left.certain | right.certain)
        merge = joined.merge_function()
        keys = JoinKeys(left, right, equalities)
        left_side = keys.new_side()
        right_side = keys.new_side()

        # m copies of one side's solution and n of the other's are m * n of the joined one
        def change_left(solution: Solution, count: int) -> None:
            key = keys.left_key(solution)
            left_side.add(key, solution, count)
            for partner, copies in right_side.partners(key):
                self.emit(merge(solution, partner), count * copies)

        def change_right(solution: Solution, count: int) -> None:
            key = keys.right_key(solution)
            right_side.add(key, solution, count)
            for partner, copies in left_side.partners(key):
                self.emit(merge(partner, solution), count * copies)

        left.emit = change_left
        right.emit = change_right


class MaintainedOptional(MaintainedNode):
    """OPTIONAL: a solution of the left side stands alone as long as it has no partner on the right.
    When its first partner comes, the lone solution is retracted; when its last one goes, it comes
    back.

    A partner is compatible, and fulfils the condition together with it. Both sides are stored, with
    the number of partners of each solution of the left, and a change costs its partners.
    """

    def __init__(
        self, left: MaintainedNode, right: MaintainedNode, expression: Expression | None
    ) -> None:
        joined = JoinedSlots(left, right)
        super().__init__(joined.names, left.certain)
        self.merge = joined.merge_function()
        self.unbound = (None,) * len(joined.only_right)
        self.holds = None
        if expression is not None:
            self.holds = self.condition(expression)
        self.keys = JoinKeys(left, right, equalities_between(expression, left, right))
        self.left_side = self.keys.new_side()
        self.right_side = self.keys.new_side()
        # how many partners each solution of the left side has
        self.partners: Counter[Solution] = Counter()
        left.emit = self._change_left
        right.emit = self._change_right

    def _change_left(self, solution: Solution, count: int) -> None:
        key = self.keys.left_key(solution)
        self.left_side.add(key, solution, count)

        partners = 0
        for partner, copies in self.right_side.partners(key):
            joined = self.merge(solution, partner)
            if self.holds is None or self.holds(joined):
                partners += copies
                self.emit(joined, count * copies)
        if not partners:
            self.emit((*solution, *self.unbound), count)

        if solution in self.left_side.by_key.get(key, ()):
            self.partners[solution] = partners
        else:
            del self.partners[solution]

    def _change_right(self, solution: Solution, count: int) -> None:
        key = self.keys.right_key(solution)
        self.right_side.add(key, solution, count)
        for partner, copies in self.left_side.partners(key):
            joined = self.merge(partner, solution)
            if self.holds is not None and not self.holds(joined):
                continue
            before = self.partners[partner]
            self.partners[partner] = before + count
            if not before:
                self.emit((*partner, *self.unbound), -copies)
            self.emit(joined, count * copies)
            if not before + count:
                self.emit((*partner, *self.unbound), copies)


def join_all(
    nodes: Iterable[MaintainedNode], condition: Expression | None = None
) -> MaintainedNode:
    """Return the join of one or more nodes, for a filter with a condition, which joins by
    equalities, too. Each node shares a variable or an equality with one before it, if any that is
    left does.
    """
    joined, *left = nodes
    while left:
        node = next((node for node in left if _are_linked(joined, node, condition)), left[0])
        left.remove(node)
        joined = MaintainedJoin(joined, node, equalities_between(condition, joined, node))
    return joined


def _are_linked(one: MaintainedNode, other: MaintainedNode, condition: Expression | None) -> bool:
    """Return whether two nodes share a variable or an equality."""
    has_shared = not one.slots.keys().isdisjoint(other.slots)
    return has_shared or bool(equalities_between(condition, one, other))


def optional_or_join(
    left: MaintainedNode, right: MaintainedNode, condition: Expression
) -> MaintainedNode:
    """Return OPTIONAL without a condition of its own, for a filter with a condition.

    If that has an equality with a variable that only the right binds, it drops every solution of
    the left that stands alone. What is left is a join.
    """
    equalities = equalities_between(condition, left, right)
    if equalities:
        return MaintainedJoin(left, right, equalities)
    return MaintainedOptional(left, right, None)
