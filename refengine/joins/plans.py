"""§14 Plans: how the stored bindings are found that a new one is joined with, worked out before the
first element comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from refengine.joins.inputs import Binding, BoundedQuery, Condition, make_condition
from refengine.joins.memory import Memory, Positions, SourceIndex
from refengine.sparql.algebra import Expression, all_variables

# the input and the position at which the term of a variable stands
Places = dict[str, tuple[int, int]]
# a condition, with the places of its terms
PlacedCondition = tuple[tuple[tuple[int, int], ...], Condition]


class NamedCondition(NamedTuple):
    """A condition: the names of its variables, and a function of their terms."""

    names: list[str]
    holds: Condition

    def can_be_asked(self, places: Places) -> bool:
        """Return whether all its variables have a place."""
        return places.keys() >= {*self.names}


class CandidateSearch(NamedTuple):
    """How the bindings of one input are found when those of other inputs are chosen.

    `input` is the number of the input, and `stored` the index in which its bindings are looked up.
    `key` has, for each position of that index, where the term to look up stands: the number of a
    chosen input, and a position in its binding. `reach` is how long before now a binding may have
    ended; None for any time. `conditions` are those that can be asked once the binding is chosen,
    each with the places of its terms. `may_be_new` says whether the new binding itself is a
    candidate, beside the stored ones.
    """

    input: int
    stored: SourceIndex
    key: tuple[tuple[int, int], ...]
    reach: int | None
    conditions: tuple[PlacedCondition, ...]
    may_be_new: bool


class Agreement(NamedTuple):
    """How the stored bindings of another input are found that agree with a binding of one input:
    their source, its index by the variables that both inputs share, and where the binding itself
    has those.
    """

    source: int
    stored: SourceIndex
    own: Positions


def prepare_condition(condition: Expression) -> NamedCondition:
    """Return a condition with the names of its variables, and as a function of their terms."""
    names = sorted(variable.name for variable in all_variables(condition))
    return NamedCondition(names, make_condition(condition, names))


def are_fulfilled(conditions: Sequence[PlacedCondition], chosen: Sequence[Binding]) -> bool:
    """Return whether conditions are true for the bindings of the inputs that they read."""
    for places, holds in conditions:
        if not holds(tuple([chosen[number].terms[position] for number, position in places])):
            return False
    return True


def conditions_of_first(
    query: BoundedQuery, first: int, conditions: Sequence[NamedCondition]
) -> tuple[PlacedCondition, ...]:
    """Return the conditions that can be asked once a binding is chosen for the input `first`."""
    places: Places = {}
    _place(query, first, places)
    return _placed_conditions(conditions, places)


def plan_search(
    query: BoundedQuery, memory: Memory, first: int, conditions: Sequence[NamedCondition]
) -> Iterator[CandidateSearch]:
    """Yield the searches that follow when a new binding is chosen for the input `first`. The next
    one is always in the input that shares most variables with those before.

    An input of the same source before `first` takes stored bindings alone, so that no result is
    found twice.
    """
    places: Places = {}
    _place(query, first, places)
    waiting = [one for one in conditions if not one.can_be_asked(places)]
    left = [number for number in range(len(query.inputs)) if number != first]
    while left:
        number = max(left, key=lambda one: len({*query.inputs[one].variables} & places.keys()))
        left.remove(number)
        one = query.inputs[number]
        shared = tuple(k for k, name in enumerate(one.variables) if name in places)
        key = tuple(places[one.variables[k]] for k in shared)
        _place(query, number, places)
        yield CandidateSearch(
            number,
            memory.index(one.source, shared),
            key,
            one.reach,
            _placed_conditions(waiting, places),
            one.source == query.inputs[first].source and number > first,
        )
        waiting = [condition for condition in waiting if not condition.can_be_asked(places)]


def _placed_conditions(
    conditions: Sequence[NamedCondition], places: Places
) -> tuple[PlacedCondition, ...]:
    """Return those conditions whose variables all have a place."""
    ready = [one for one in conditions if one.can_be_asked(places)]
    return tuple((tuple(places[name] for name in one.names), one.holds) for one in ready)


def plan_agreements(query: BoundedQuery, memory: Memory, number: int) -> Iterator[Agreement]:
    """BND-4: Yield for each other input how the stored bindings are found that agree with one of an
    input: they have the same terms for the variables that both inputs share.
    """
    own = query.inputs[number].variables
    for place, other in enumerate(query.inputs):
        if place == number:
            continue
        shared = [(k, own.index(name)) for k, name in enumerate(other.variables) if name in own]
        positions = tuple(theirs for theirs, _ in shared)
        index = memory.index(other.source, positions)
        yield Agreement(other.source, index, tuple(ours for _, ours in shared))


def _place(query: BoundedQuery, number: int, places: Places) -> None:
    """Add the places of an input's variables that have none yet."""
    for position, name in enumerate(query.inputs[number].variables):
        places.setdefault(name, (number, position))
