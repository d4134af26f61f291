"""§7 GROUP BY, maintained: changes are gathered by group, and each group that has changed is
emitted anew when the content is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from refengine.incremental.algebra.aggregates import (
    RunningAggregate,
    RunningCount,
    RunningExtreme,
    RunningSum,
    has_rounding,
)
from refengine.incremental.algebra.nodes import MaintainedNode, Solution, pick_terms
from refengine.incremental.coverage import NotCovered
from refengine.sparql import algebra
from refengine.sparql.algebra import Variable

MakeAggregate = Callable[[], RunningAggregate]


class GroupMembers:
    """One group: how many solutions it has, and its aggregates."""

    def __init__(self, aggregates: Sequence[RunningAggregate]) -> None:
        self.count = 0
        self.aggregates = aggregates


class MaintainedGroup(MaintainedNode):
    """GROUP BY and its aggregates. Without a key there is one group, even of nothing (R2R-6).

    Its solutions are the keys, then the aggregates' values. Raises NotCovered for a key that may be
    unbound.
    """

    def __init__(
        self, child: MaintainedNode, keys: Sequence[str], aggregates: Mapping[str, MakeAggregate]
    ) -> None:
        if not child.certain.issuperset(keys):
            raise NotCovered("a key that may be unbound")
        counts = [name for name, make in aggregates.items() if isinstance(make(), RunningCount)]
        certain = (*keys, *counts)  # and never a computed number
        super().__init__((*keys, *aggregates), certain, certain)
        self.key = pick_terms(tuple(child.slots[name] for name in keys))
        self.make_aggregates = tuple(aggregates.values())
        self.has_no_key = not keys
        self.groups: dict[Solution, GroupMembers] = {}
        self.emitted: dict[Solution, Solution] = {}
        self.changed: dict[Solution, None] = {}  # in the order of their first change
        if self.has_no_key:
            self.changed[()] = None
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        key = self.key(solution)
        if key not in self.groups:
            self.groups[key] = self._empty_group()
        group = self.groups[key]
        group.count += count
        for aggregate in group.aggregates:
            aggregate.add(solution, count)
        self.changed[key] = None

    def flush(self) -> None:
        """Emit each group that has changed: retract what was emitted of it, insert what it is now.
        Raises NotCovered.
        """
        for key in self.changed:
            self._flush_group(key)
        self.changed.clear()

    def _flush_group(self, key: Solution) -> None:
        now = self._solution_of(key)
        before = self.emitted.get(key)
        # a rounded sum whose term is the same may have another slack, at which HAVING looks
        if now == before and not (now and any(map(has_rounding, now))):
            return
        if before is not None:
            del self.emitted[key]
            self.emit(before, -1)
        if now is not None:
            self.emitted[key] = now
            self.emit(now, 1)

    def _solution_of(self, key: Solution) -> Solution | None:
        """Return what a group is now; None if it has no members left, and forget it then."""
        group = self.groups.get(key)
        if group is None:
            group = self._empty_group()
        now = None
        if group.count or self.has_no_key:
            now = (*key, *(aggregate.value() for aggregate in group.aggregates))
        if not group.count:
            self.groups.pop(key, None)
        return now

    def _empty_group(self) -> GroupMembers:
        return GroupMembers([make() for make in self.make_aggregates])


def compile_aggregate(
    function: algebra.Aggregate, child: MaintainedNode, must_be_exact: bool
) -> MakeAggregate:
    """Return what makes an aggregate of each group of a node's solutions. Raises NotCovered for one
    that is not covered.
    """
    argument = function.argument
    is_distinct = function.is_distinct
    if argument is not None and not isinstance(argument, Variable):
        raise NotCovered("an aggregate of an expression")
    slot = None if argument is None else child.slots.get(argument.name)
    if slot is None and argument is not None:
        raise NotCovered("an aggregate of a variable that is never bound")
    if slot is None and is_distinct:
        raise NotCovered("COUNT(DISTINCT *)")
    match function.name:
        case "COUNT":
            return lambda: RunningCount(slot, is_distinct)
        case "SUM" | "AVG":
            is_average = function.name == "AVG"
            return lambda: RunningSum(slot, is_distinct, is_average, must_be_exact)
        case "MIN" | "MAX":
            is_maximum = function.name == "MAX"
            return lambda: RunningExtreme(slot, is_maximum, must_be_exact)
        case _:
            raise NotCovered(function.name)
