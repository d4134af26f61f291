"""§14 Load shedding: elements that are dropped before they come to the join.

As with policies, a `Shedding` is a value, and `start` makes a `Shedder` of it, which has the state.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from refengine.bounded.inputs import Binding, BoundedQuery, Terms
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
    """At most `limit` elements are kept in each period [kp, (k + 1)p) of p = `period` instants: the
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
    """As `RateShedding`, but an element is kept beyond the limit, too, if it is of use by what was
    seen: some result had the terms that it has for the variables that inputs share.

    Where no variable is shared by two inputs, all terms of the binding count.
    """

    def start(self, query: BoundedQuery) -> LimitedShedder:
        """Return the counts of no period, and no terms of results."""
        return UsefulShedder(self, query)


class UsefulShedder(LimitedShedder):
    """Remembers which terms were part of a result."""

    def __init__(self, shedding: SemanticShedding, query: BoundedQuery) -> None:
        super().__init__(shedding)
        self.positions = [shared_positions(query, index) for index in range(len(query.sources))]
        self.seen: set[tuple[int, Terms]] = set()

    def credit(self, bindings: Sequence[Binding]) -> None:
        """Remember the terms of a result."""
        self.seen.update(map(self._key, bindings))

    def is_welcome(self, bindings: Sequence[Binding]) -> bool:
        """BND-7: Return whether the period is not full yet, or a binding has terms of a result."""
        is_useful = any(self._key(binding) in self.seen for binding in bindings)
        return is_useful or super().is_welcome(bindings)

    def _key(self, binding: Binding) -> tuple[int, Terms]:
        """Return the source of a binding, and its terms for what is shared."""
        return binding.source, tuple(binding.terms[k] for k in self.positions[binding.source])


def shared_positions(query: BoundedQuery, source: int) -> tuple[int, ...]:
    """Return the positions of a source's variables that some input of it shares with another input;
    all of its positions where there are none.
    """
    of_source = [one for one in query.inputs if one.source == source]
    shared = {
        k
        for one in of_source
        for other in query.inputs
        if other is not one
        for k, name in enumerate(one.variables)
        if name in other.variables
    }
    return tuple(sorted(shared)) or tuple(range(len(of_source[0].variables)))
