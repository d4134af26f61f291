"""The definition by enumeration: every window, every instant, every element is visited, and membership is a comparison.

A second witness of SPEC §4 to §6 and §8. It shares nothing with the engine but the data types, and computes no window
number: window follows window, instant follows instant, and each integer is held against the borders. Too slow for
anything but small draws, and too plain to be wrong in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from refengine.model import Bag, Element, Triple
from refengine.query import Window, WindowKind
from refengine.semantics import R2S, Closure, Condition, Empty, End, Instant, Semantics, Tick

ON_INSTANTS = {Condition.CLOSE, Condition.PERIODIC}  # REP-5; the other conditions are on the content


class Arrival(NamedTuple):
    """An element as windows see it: its instant (WIN-6: t_app, or its id from 1), its t_app and its batch."""

    at: int
    app: int
    batch: int


class Extent(NamedTuple):
    """A window: its number, its borders (o, c) and the set of its instants."""

    number: int
    borders: tuple[int, int]
    instants: frozenset[int]


class Reported(NamedTuple):
    """A reported window: the instant, the index of the arrival that triggered it, number, borders, indices of the content."""

    t: int
    arrival: int
    number: int
    borders: tuple[int, int]
    content: tuple[int, ...]


class Emitted(NamedTuple):
    """An emitted relation: evaluation instant, trigger's t_app, borders, output instant, indices of the content, rows."""

    t: int
    trigger: int
    borders: tuple[int, int]
    instant: int
    content: tuple[int, ...]
    rows: Bag


class Brute:
    """The reports of one window over one stream, by enumeration. Each rule is a method, so that a test can break one.

    `semantics.t0` is an integer (no formula of WIN-7).
    """

    def __init__(self, window: Window, elements: Sequence[Element], semantics: Semantics):
        self.window, self.elements, self.semantics = window, elements, semantics
        self.arrivals = [Arrival(self.axis(i, e.app), e.app, e.batch or 0) for i, e in enumerate(elements)] + self.sentinel()
        places = [arrival.at for arrival in self.arrivals] + [semantics.t0]
        reach = window.size + window.slide + 1
        self.integers = range(min(places) - reach, max(places) + reach + 1)
        self.extents = list(self.enumerate_windows())
        self.start = min(self.extents[0].instants) - 1  # WIN-5: s0, just before window 0's first instant
        self.last: tuple[int, ...] = ()

    def axis(self, index: int, app: int) -> int:
        """WIN-6: a time-based window counts t_app, a tuple-based one ids."""
        return app if self.window.kind is WindowKind.TIME else index + 1

    def sentinel(self) -> list[Arrival]:
        """ENG-1: the arrival without payload, in a batch of its own, that a horizon appends."""
        horizon = self.semantics.horizon
        if horizon is End.FLUSH and self.elements:
            horizon = self.elements[-1].app + self.window.size + 2
        if isinstance(horizon, End):
            return []
        batch = max((e.batch or 0 for e in self.elements), default=0) + 1
        return [Arrival(self.axis(len(self.elements), horizon), horizon, batch)]

    def inside(self, o: int, c: int, t: int) -> bool:
        """WIN-2: which borders belong to the window."""
        match self.semantics.closure:
            case Closure.RIGHT_OPEN:
                return o <= t < c
            case Closure.LEFT_OPEN:
                return o < t <= c
            case Closure.CLOSED:
                return o <= t <= c

    def enumerate_windows(self) -> Iterator[Extent]:
        """WIN-3: window 0 opens at t0 and each next one a slide later."""
        number, o = 0, self.semantics.t0
        while o in self.integers:
            c = o + self.window.size
            yield Extent(number, (o, c), frozenset(t for t in self.integers if self.inside(o, c, t)))
            number, o = number + 1, o + self.window.slide

    def active(self, t: int) -> Extent:
        """WIN-4: the first window that is not wholly in the past."""
        return next(extent for extent in self.extents if any(u >= t for u in extent.instants))

    def content(self, t: int, k: int) -> tuple[int, ...]:
        """WIN-5, WIN-8: what arrived before arrival k at the instants of the active window up to t."""
        scope = {u for u in self.active(t).instants if u <= t}
        return tuple(j for j, arrival in enumerate(self.arrivals[:k]) if arrival.at in scope)

    def ticks(self, before: Arrival, now: Arrival) -> bool:
        """TICK-1 to TICK-3: which arrivals are looked at, after the one last looked at."""
        match self.semantics.tick:
            case Tick.TUPLE:
                return True
            case Tick.TIME:
                return now.app > before.app
            case Tick.BATCH:
                return now.batch > before.batch

    def interval(self, before: int, now: int) -> list[int]:
        """TICK-4, WIN-5: from the arrival last looked at up to, not including, this one; its own instant if equal."""
        return [t for t in self.integers if t >= self.start and (before <= t < now or before == t == now)]

    def border(self, t: int) -> int:
        """REP-4: the instant at which the last instant of a window counts as its c."""
        return t + 1 if self.semantics.closure is Closure.RIGHT_OPEN else t

    def holds(self, condition: Condition, t: int, k: int) -> bool:
        """REP-1 to REP-4: one condition at instant t of arrival k."""
        match condition:
            case Condition.CLOSE:
                return t == max(self.active(t).instants) and t < self.arrivals[k].at
            case Condition.CHANGE:
                return self.content(t, k) != self.last
            case Condition.NON_EMPTY:
                return self.content(t, k) != ()
            case Condition.PERIODIC:
                return (self.border(t) - self.semantics.anchor) % self.semantics.period == 0

    def report(self, t: int, k: int) -> Reported:
        """The report of instant t at arrival k; its content is now the last one."""
        self.last = self.content(t, k)
        number, borders, _ = self.active(t)
        return Reported(t, k, number, borders, self.last)

    def reports(self) -> Iterator[Reported]:
        """TICK-5: arrival by arrival; the first interval starts at s0. REP-2: the content last reported is at first empty."""
        before, self.last = Arrival(self.start, self.start, 0), ()
        for k, arrival in enumerate(self.arrivals):
            if self.ticks(before, arrival):
                instants = self.interval(before.at, arrival.at)
                yield from self.by_instant(instants, k) if self.window.kind is WindowKind.TIME else self.by_tick(instants, k)
                before = arrival

    def by_instant(self, instants: list[int], k: int) -> Iterator[Reported]:
        """REP-6: a report at each instant where all the conditions hold."""
        for t in instants:
            if all(self.holds(condition, t, k) for condition in self.semantics.report):
                yield self.report(t, k)

    def by_tick(self, ids: list[int], k: int) -> Iterator[Reported]:
        """REP-7: the largest id at which close and periodic hold, if the rest holds at the tick's largest id."""
        timely = [t for t in ids if all(self.holds(c, t, k) for c in self.semantics.report & ON_INSTANTS)]
        if timely and all(self.holds(c, max(ids), k) for c in self.semantics.report - ON_INSTANTS):
            yield self.report(max(timely), k)

    def stamp(self, reported: Reported) -> int:
        """ENG-4: the output instant. No arrival is before the first, so the evaluation instant stands in for an eager one."""
        match self.semantics.instant:
            case Instant.CLOSE:
                return self.border(reported.t)
            case Instant.EVALUATION:
                return reported.t
            case Instant.TRIGGER:
                return self.arrivals[reported.arrival].app
            case Instant.EAGER:
                return self.arrivals[reported.arrival - 1].app if reported.arrival else reported.t

    def rebase(self, base: Bag, answer: Bag, output: Bag) -> Bag:
        """R2S-4: the next base is this evaluation's answer, emitted or not."""
        return answer

    def emitted(self, r2r: Callable[[frozenset[Triple]], Bag], r2s: R2S) -> Iterator[Emitted]:
        """R2R-1, R2S-1 to R2S-5: R2R over the union of the content's graphs, then R2S, then what becomes of an empty one."""
        base: Bag = Counter()
        for reported in self.reports():
            answer = r2r(frozenset(triple for index in reported.content for triple in self.elements[index].graph))
            output = {R2S.RSTREAM: answer, R2S.ISTREAM: more(answer, base), R2S.DSTREAM: more(base, answer)}[r2s]
            base = self.rebase(base, answer, output)
            if output or self.semantics.empty is Empty.EMIT:
                trigger = self.arrivals[reported.arrival].app
                yield Emitted(reported.t, trigger, reported.borders, self.stamp(reported), reported.content, output)


def more(a: Bag, b: Bag) -> Bag:
    """R2S-2: what a holds more often than b, row by row."""
    return Counter({row: a[row] - b[row] for row in a if a[row] > b[row]})
