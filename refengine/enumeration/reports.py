"""SPEC.md §6, reports: the conditions, and at which of the instants the query is reported."""

from __future__ import annotations

from collections.abc import Iterator

from refengine.core.query import Window, WindowKind
from refengine.core.values import (
    Anchor,
    ChangeBaseline,
    ChangeScope,
    Condition,
    MissedInstants,
    Trigger,
)
from refengine.enumeration.inputs import Content, QueryReport, ShownWindow, WindowInstance
from refengine.enumeration.ticks import Ticks
from refengine.model.elements import Triple
from refengine.model.errors import require


class Reports(Ticks):
    """§6: from the instants at which arrivals are tested to reports."""

    # The five conditions: REP-1 to REP-4, REP-13, and what they compare with: REP-8, REP-9, REP-11

    def closes(self, window: Window, t: int, k: int) -> bool:
        """REP-1: Return whether t is the last instant of some window, and before the own instant of
        arrival k.
        """
        lasts = [instance.instants[-1] for instance in self.sequences[window]]
        return t in lasts and t < self.own(self.arrivals[k])

    def has_changed(self, number: int, t: int, k: int) -> bool:
        """REP-2: Return whether the content of a window differs from what it is compared with."""
        window = self.windows[number]
        return self.differs(window, self.content(window, t, k), self.compared_with()[number])

    def is_non_empty(self, window: Window, t: int, k: int) -> bool:
        """REP-3: Return whether the content of a window holds an element."""
        return self.content(window, t, k) != ()

    def border(self, t: int) -> int:
        """REP-4: Return the border instant at t: t + 1 for windows [o, c), so that their last
        instant counts as c, else t.
        """
        if self.is_right_open():
            return t + 1
        return t

    def is_periodic(self, window: Window, t: int) -> bool:
        """REP-4: Return whether the border instant is the anchor plus a multiple of the period."""
        anchor = self.anchor(window)
        period = require(self.semantics.period)
        return anchor is not None and (self.border(t) - anchor) % period == 0

    def comes(self, window: Window, t: int) -> bool:
        """REP-13: Return whether t is the own instant of an arrival of a window's stream."""
        return window.stream in self.came(t)

    def visits(self, t: int) -> list[list[int]]:
        """REP-13: Return how often the query is tested at t, each time with the numbers of the
        windows that it may be reported for: all, or once for each arrival those over its stream.
        """
        numbers = list(range(len(self.windows)))
        if Condition.ARRIVAL not in self.semantics.report:
            return [numbers]
        of = [[n for n in numbers if self.windows[n].stream == name] for name in self.came(t)]
        return of or [[]]

    def compared_with(self) -> tuple[Content, ...]:
        """REP-8: Return the contents that content change compares with: those last reported, or
        those at the instant before, reported or not.
        """
        match self.semantics.change_baseline:
            case ChangeBaseline.LAST:
                return self.reported
            case ChangeBaseline.PREVIOUS:
                return self.previous

    def differs(self, window: Window, content: Content, other: Content) -> bool:
        """REP-9: Return whether two contents differ, as sequences of elements or as sets of
        triples.
        """
        match self.semantics.change_scope:
            case ChangeScope.ELEMENTS:
                return content != other
            case ChangeScope.GRAPH:
                return self.triples(window, content) != self.triples(window, other)

    def triples(self, window: Window, content: Content) -> frozenset[Triple]:
        """R2R-1: Return the triples of a content: each once, in however many elements it is."""
        elements = self.elements[window.stream]
        return frozenset(triple for place in content for triple in elements[place].graph)

    def anchor(self, window: Window) -> int | None:
        """REP-11: Return the instant that a period counts from; None where it depends on t1 and
        there is none.
        """
        match self.semantics.anchor:
            case Anchor.T0:
                return self.t0s[window]
            case Anchor.FIRST:
                return self.earliest(window)
            case int() | None as stated:
                return stated

    # Which of them hold: REP-5, REP-6, REP-12

    def holds(self, condition: Condition, number: int, t: int, k: int) -> bool:
        """REP-6, ENG-5: Return whether one condition of one window holds at t and arrival k.
        Without a scope no condition holds.
        """
        window = self.windows[number]
        if self.current(window, t) is None:
            return False
        match condition:
            case Condition.CLOSE:
                return self.closes(window, t, k)
            case Condition.CHANGE:
                return self.has_changed(number, t, k)
            case Condition.NON_EMPTY:
                return self.is_non_empty(window, t, k)
            case Condition.PERIODIC:
                return self.is_periodic(window, t)
            case Condition.ARRIVAL:
                return self.comes(window, t)

    def timely(self, number: int, instants: list[int], k: int) -> list[int]:
        """REP-5: Return those instants at which all conditions on the instant (close, periodic,
        arrival) hold for a window.
        """
        named = [each for each in self.semantics.report if each.is_on_instants]
        return [t for t in instants if all(self.holds(each, number, t, k) for each in named)]

    def worthy(self, number: int, t: int, k: int) -> bool:
        """REP-6: Return whether all conditions on the content (change, non-empty) hold for a
        window. The window must have a scope (ENG-5).
        """
        named = [each for each in self.semantics.report if not each.is_on_instants]
        has_scope = self.current(self.windows[number], t) is not None
        return has_scope and all(self.holds(each, number, t, k) for each in named)

    def fires(self, states: list[bool]) -> bool:
        """REP-12: Return whether the query is evaluated. `states` says of each window whether its
        conditions hold.
        """
        match self.semantics.trigger:
            case Trigger.ANY:
                return any(states)
            case Trigger.ALL:
                return all(states)
            case Trigger.LEADING:
                return states[0]
            case Trigger.EXPLICIT:
                pairs = zip(self.windows, states, strict=True)
                return any(state for window, state in pairs if window.triggers)

    # What is reported: REP-7, REP-8, REP-10, REP-12

    def reports(self) -> Iterator[QueryReport]:
        """REP-8: Yield the reports, arrival by arrival. What the first content is compared with is
        empty.
        """
        if not self.s0s:
            return
        self.reported = tuple(() for _ in self.windows)
        self.previous = tuple(() for _ in self.windows)
        for k, instants in self.looked_at():
            if self.windows[0].kind is WindowKind.TUPLE:
                yield from self.by_tick(instants, k)
            else:
                yield from self.by_instant(instants, k)

    def by_instant(self, instants: list[int], k: int) -> Iterator[QueryReport]:
        """REP-10: Return a report of each instant that qualifies; under missed_instants=latest of
        the last of them alone, so that until then nothing counts as reported.

        What is returned has to be exhausted, and so has `qualifying` in here, whichever instants
        are reported: see there.
        """
        found = self.qualifying(instants, k)
        match self.semantics.missed_instants:
            case MissedInstants.ALL:
                return (self.report(t, k) for t in found)
            case MissedInstants.LATEST:
                return (self.report(t, k) for t in list(found)[-1:])

    def qualifying(self, instants: list[int], k: int) -> Iterator[int]:
        """REP-10: Yield each instant at which the conditions hold.

        The iterator has to be exhausted, also where only the first of them is reported. After each
        instant it moves on the content of the instant before (REP-8). If drawing stopped early,
        this would be too old where the next arrival is compared with it.
        """
        numbers = range(len(self.windows))
        timely = [self.timely(number, instants, k) for number in numbers]
        for t in instants:
            for about in self.visits(t):
                is_timely = [n in about and t in timely[n] for n in numbers]
                if self.fires([is_timely[n] and self.worthy(n, t, k) for n in numbers]):
                    yield t
                self.previous = self.contents(t, k)

    def by_tick(self, ids: list[int], k: int) -> Iterator[QueryReport]:
        """REP-7: Yield one report at most, for a tuple-based window: at the largest id where close
        and periodic hold, if the conditions on the content hold at the tick's last id. If ids 4 to
        7 are looked at and windows close at 4 and 6, the content at 7 decides, and the report is of
        6.
        """
        if not ids:
            return
        for t in ids[:-1]:
            self.previous = self.contents(t, k)
        timely = self.timely(0, ids, k)
        if timely and self.fires([self.worthy(0, ids[-1], k)]):
            yield self.report(timely[-1], k)
        self.previous = self.contents(ids[-1], k)

    def contents(self, t: int, k: int) -> tuple[Content, ...]:
        """REP-12: Return the content of each window at instant t and arrival k."""
        return tuple(self.content(window, t, k) for window in self.windows)

    def report(self, t: int, k: int) -> QueryReport:
        """REP-12: Return the report of instant t at arrival k. From now on the contents of all
        windows count as reported.
        """
        self.reported = self.contents(t, k)
        windows = []
        for window, content in zip(self.windows, self.reported, strict=True):
            current = self.current(window, t) or WindowInstance(None, None, ())
            windows.append(ShownWindow(current.number, self.borders(window, current), content))
        return QueryReport(t, k, tuple(windows))
