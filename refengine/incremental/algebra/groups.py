"""§7 GROUP BY, maintained: changes are gathered by group, and each group that has changed is
emitted anew when the content is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from refengine.incremental.algebra.aggregates import (
    RunningAggregate,
    RunningCount,
    RunningMembers,
    RunningSolutionCount,
    RunningSum,
)
from refengine.incremental.algebra.extend import MaintainedExtend
from refengine.incremental.algebra.extremes import RunningExtreme
from refengine.incremental.algebra.forms import check_forms
from refengine.incremental.algebra.nodes import MaintainedNode, Solution, pick_terms
from refengine.sparql import algebra
from refengine.sparql.algebra import Expression, Variable
from refengine.sparql.values import Computed, Number

MakeAggregate = Callable[[], RunningAggregate]


class GroupMembers:
    """One group: how many solutions it has, and its aggregates."""

    def __init__(self, aggregates: Sequence[RunningAggregate]) -> None:
        self.count = 0
        self.aggregates = aggregates


class MaintainedGroup(MaintainedNode):
    """GROUP BY and its aggregates. Without a key there is one group, even of nothing (R2R-6).

    Its solutions are the keys, then the aggregates' values. Keys and arguments are variables of the
    child, so that expressions are computed below. An unbound key is a key like others.
    """

    def __init__(
        self, child: MaintainedNode, keys: Sequence[str], aggregates: Mapping[str, MakeAggregate]
    ) -> None:
        super().__init__((*keys, *aggregates), child.certain.intersection(keys))
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
        if now == before and numbers_of(now) == numbers_of(before):
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


def numbers_of(solution: Solution | None) -> list[Number]:
    """Return the computed numbers of a solution, at which conditions look. They may differ where
    the terms are the same: by how far they are rounded, or whether their form is fixed.
    """
    return [term.number for term in solution or () if isinstance(term, Computed)]


def maintain_groups(
    child: MaintainedNode,
    keys: Sequence[tuple[Variable, Expression]],
    aggregates: Sequence[tuple[Variable, algebra.Aggregate]],
    must_be_exact: bool,
    is_computed: bool,
) -> MaintainedGroup:
    """Return the groups of a node's solutions. `is_computed` says whether these may have computed
    numbers.
    """
    extended, argument_names = extend_for_group(child, keys, aggregates)
    if is_computed or extended is not child:
        compared = [variable.name for variable, _ in keys]
        for (_, function), name in zip(aggregates, argument_names, strict=True):
            if name is None and function.is_distinct:
                compared += visible_names(child)
            elif name is not None and compares_members(function):
                compared.append(name)
        (extended,) = check_forms([extended], compared)
    running = {
        variable.name: compile_aggregate(
            function, extended, name, visible_names(child), must_be_exact
        )
        for (variable, function), name in zip(aggregates, argument_names, strict=True)
    }
    return MaintainedGroup(extended, [variable.name for variable, _ in keys], running)


def extend_for_group(
    child: MaintainedNode,
    keys: Sequence[tuple[Variable, Expression]],
    aggregates: Sequence[tuple[Variable, algebra.Aggregate]],
) -> tuple[MaintainedNode, list[str | None]]:
    """Return the solutions of a node with the keys and the arguments that are no variables of it
    yet, and the name of each argument (None: of COUNT(*)).
    """
    bindings = [(key, part) for key, part in keys if key != part or key.name not in child.slots]
    names: list[str | None] = []
    for variable, function in aggregates:
        argument = function.argument
        if argument is None:
            names.append(None)
        elif isinstance(argument, Variable) and argument.name in child.slots:
            names.append(argument.name)
        else:
            names.append(f"{variable.name}.argument")
            bindings.append((Variable(f"{variable.name}.argument"), argument))
    if not bindings:
        return child, names
    return MaintainedExtend(child, bindings), names


def visible_names(node: MaintainedNode) -> list[str]:
    """Return the variables of a node that a text can name."""
    return [name for name in node.names if not Variable(name).is_hidden]


def compares_members(function: algebra.Aggregate) -> bool:
    """Return whether it matters to an aggregate which of its members are the same."""
    return function.is_distinct or function.name not in ("COUNT", "SUM", "AVG")


def compile_aggregate(
    function: algebra.Aggregate,
    child: MaintainedNode,
    argument: str | None,
    visible: Sequence[str],
    must_be_exact: bool,
) -> MakeAggregate:
    """Return what makes an aggregate of each group of a node's solutions. `argument` is the
    variable of its argument (None: of COUNT(*)), and `visible` are those of whole solutions.
    """
    is_distinct = function.is_distinct
    if argument is None and is_distinct:
        slots = tuple(child.slots[name] for name in visible)
        return lambda: RunningSolutionCount(slots)
    slot = None if argument is None else child.slots[argument]
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
            return lambda: RunningMembers(function, slot)
