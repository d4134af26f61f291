"""§14 Load shedding: elements that are dropped before they come to the join.

As with policies, a `Shedding` is a value, and `start` makes a `Shedder` of it, which has the state.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from refengine.joins.inputs import Binding, BoundedQuery, Terms
from refengine.model.errors import RefengineError


class Shedder:
    """The state of load shedding: what came before, and what was drawn."""

    def credit(self, bindings: Sequence[Binding]) -> None:
        """Note that bindings, one of each input, made a result."""

    def keeps(self, bindings: Sequence[Binding], t: int) -> bool:
        """Return whether the element that came at t and has these bindings comes to the join."""
        raise NotImplementedError


class Shedding:
    """Which elements are dropped, as a value."""

    def start(self, query: BoundedQuery) -> Shedder:
        """Return the state before the first element."""
        raise NotImplementedError


@dataclass(frozen=True)
class NoShedding(Shedding):
    """Every element comes to the join."""

    def start(self, query: BoundedQuery) -> Shedder:
        """Return what keeps everything."""
        return KeepingShedder()


class KeepingShedder(Shedder):
    """Keeps every element."""

    def keeps(self, bindings: Sequence[Binding], t: int) -> bool:
        """Return that the element is kept."""
        return True


@dataclass(frozen=True)
class RandomShedding(Shedding):
    """An element is kept with the chance `share`, drawn by a generator with a seed."""

    share: float
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            reason = f"a share of elements is between 0 and 1, got {self.share}"
            raise RefengineError(reason, rule="BND-7", place="shedding")

    def start(self, query: BoundedQuery) -> Shedder:
        """Return the generator of draws."""
        return DrawnShedder(self)


class DrawnShedder(Shedder):
    """Draws for each element whether it is kept."""

    def __init__(self, shedding: RandomShedding) -> None:
        self.share = shedding.share
        self.generator = random.Random(shedding.seed)

    def keeps(self, bindings: Sequence[Binding], t: int) -> bool:
        """BND-7: Return whether the next draw, from 0 to below 1, is below the chance."""
        return self.generator.random() < self.share


@dataclass(frozen=True)
class RateShedding(Shedding):
    """At most `limit` elements are kept in each period [kd, (k + 1)d) of d = `period` instants: the
    first ones.
    """

    limit: int
    period: int

    def __post_init__(self) -> None:
        if self.limit < 0 or self.period < 1:
            reason = f"a limit is >= 0 and a period > 0, got {self.limit} and {self.period}"
            raise RefengineError(reason, rule="BND-7", place="shedding")

    def start(self, query: BoundedQuery) -> LimitedShedder:
        """Return the counts of no period."""
        return LimitedShedder(self)


class LimitedShedder(Shedder):
    """Counts the elements that were kept in the present period."""

    def __init__(self, shedding: RateShedding) -> None:
        self.shedding = shedding
        self.period: int | None = None
        self.kept = 0

    def keeps(self, bindings: Sequence[Binding], t: int) -> bool:
        """Return whether the element is kept, and count it if it is."""
        period = t // self.shedding.period
        if period != self.period:
            self.period, self.kept = period, 0
        if not self.is_welcome(bindings):
            return False
        self.kept += 1
        return True

    def is_welcome(self, bindings: Sequence[Binding]) -> bool:
        """BND-7: Return whether the period is not full yet."""
        return self.kept < self.shedding.limit


@dataclass(frozen=True)
class SemanticShedding(RateShedding):
    """The first `limit` elements of each period are kept, and of those beyond each that is of use
    to some input by what was seen: in some result, this input had the same terms for the variables
    that it shares with other inputs.

    Where the input shares no variable, all terms of the binding count.
    """

    def start(self, query: BoundedQuery) -> LimitedShedder:
        """Return the counts of no period, and no terms of results."""
        return UsefulShedder(self, query)


class UsefulShedder(LimitedShedder):
    """Remembers which terms each input had in results."""

    def __init__(self, shedding: SemanticShedding, query: BoundedQuery) -> None:
        super().__init__(shedding)
        self.inputs_of = [
            [number for number, one in enumerate(query.inputs) if one.source == source]
            for source in range(len(query.sources))
        ]
        self.positions = [shared_positions(query, number) for number in range(len(query.inputs))]
        self.seen: set[tuple[int, Terms]] = set()

    def credit(self, bindings: Sequence[Binding]) -> None:
        """Remember the terms of a result, input by input."""
        for number, binding in enumerate(bindings):
            self.seen.add(self._key(number, binding))

    def is_welcome(self, bindings: Sequence[Binding]) -> bool:
        """BND-7: Return whether the period is not full yet, or a binding is of use to an input."""
        is_useful = any(
            self._key(number, binding) in self.seen
            for binding in bindings
            for number in self.inputs_of[binding.source]
        )
        return is_useful or super().is_welcome(bindings)

    def _key(self, number: int, binding: Binding) -> tuple[int, Terms]:
        """Return an input, and the terms that a binding has for what the input shares."""
        return number, tuple(binding.terms[k] for k in self.positions[number])


def shared_positions(query: BoundedQuery, number: int) -> tuple[int, ...]:
    """Return the positions of the variables that an input shares with other inputs; all of its
    positions where there are none.
    """
    one = query.inputs[number]
    others = {
        name
        for place, other in enumerate(query.inputs)
        if place != number
        for name in other.variables
    }
    shared = tuple(k for k, name in enumerate(one.variables) if name in others)
    return shared or tuple(range(len(one.variables)))
