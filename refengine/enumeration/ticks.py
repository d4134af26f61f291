"""SPEC.md §5, ticks: which arrivals are looked at, and at which instants each is tested."""

from __future__ import annotations

from collections.abc import Iterator

from refengine.core.query import WindowKind
from refengine.core.values import CloseRule, ExpirySeen, Tick
from refengine.enumeration.inputs import Arrival
from refengine.enumeration.windows import Windows


class Ticks(Windows):
    """§5: from arrivals to the instants at which they are tested."""

    def is_looked_at(self, before: Arrival, now: Arrival) -> bool:
        """TICK-1 to TICK-3: Return whether an arrival is looked at. `before` is the arrival last
        looked at.
        """
        match self.semantics.tick:
            case Tick.TUPLE:
                return True
            case Tick.TIME:
                return self.time_at(now) > self.time_at(before)
            case Tick.BATCH:
                return now.batch > before.batch

    def interval(self, before: int, now: int) -> list[int]:
        """TICK-4: Return the instants at which an arrival is tested: from `before`, the own
        instant of the arrival last looked at, up to `now`, this arrival's own. `now` is included if
        the two are equal, or if an expiry at `now` is seen before the arrival (TICK-7). No instant
        is before s0. From 3 to 6 these are 3, 4, 5.
        """
        after = [t for t in self.integers if t >= before and t >= self.start]
        if before == now or self.is_expiry_seen(now):
            return [t for t in after if t <= now]
        return [t for t in after if t < now]

    def looked_at(self) -> Iterator[tuple[int, list[int]]]:
        """TICK-5: Yield the index of each arrival that is looked at, with the instants at which it
        is tested. The first interval starts at s0.
        """
        # as if one had been looked at, at s0 and of batch 0 (TICK-2, TICK-3)
        before = Arrival(None, 0, self.start, 0, 0)
        since = self.start
        for k, arrival in enumerate(self.arrivals):
            if self.is_looked_at(before, arrival):
                yield k, self.interval(since, self.own(arrival))
                before = arrival
                since = self.own(arrival)

    def own(self, arrival: Arrival) -> int:
        """TICK-6: Return an arrival's own instant: its instant (WIN-6), or one less where the close
        of [o, c) must be passed.
        """
        instant = self.arrival_instant(arrival)
        is_of_time = self.windows[0].kind is not WindowKind.TUPLE
        match self.semantics.close_rule:
            case CloseRule.PASSED if is_of_time and self.is_right_open():
                return instant - 1
            case CloseRule.PASSED | CloseRule.REACHED:
                return instant

    def is_expiry_seen(self, t: int) -> bool:
        """TICK-7: Return whether t, the own instant of an arrival, is tested without it."""
        match self.semantics.expiry_seen:
            case ExpirySeen.REPLAYED:
                return False
            case ExpirySeen.EAGER:
                return self.moves(t)

    def moves(self, t: int) -> bool:
        """TICK-7: Return whether another window takes the place of the current one at t. There must
        have been a current one at t − 1.
        """
        for window in self.windows:
            if window.kind is WindowKind.TUPLE:
                continue
            last = self.current(window, t - 1)
            if last is not None and last != self.current(window, t):
                return True
        return False
