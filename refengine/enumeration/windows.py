"""SPEC.md §4, windows: their numbers and borders, which one is looked at, and what it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, count

from refengine.core.query import Unit, Window, WindowKind
from refengine.core.values import T0, Closure, Formula, LateFor, Offset, Partial, Slide, Watermark
from refengine.enumeration.elements import Elements
from refengine.enumeration.inputs import OTHERS, Arrival, Borders, Content, WindowInstance
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import require

DAY = 24 * 60 * 60 * 1000  # in milliseconds


class Windows(Elements):
    """§4: from streams to contents."""

    # Which instants a window has: WIN-2

    def is_inside(self, window: Window, o: int, t: int, c: float) -> bool:
        """WIN-2: Return whether an instant t is in a window that opens at o and closes at c."""
        match self.closure(window):
            case Closure.RIGHT_OPEN:
                return o <= t < c
            case Closure.LEFT_OPEN:
                return o < t <= c
            case Closure.CLOSED:
                return o <= t <= c
            case Closure.OPEN:
                return o < t < c

    def closure(self, window: Window) -> Closure:
        """WIN-2: Return which borders belong to a window: both, for a kind without borders."""
        match window.kind:
            case WindowKind.NOW | WindowKind.UNBOUNDED | WindowKind.ROWS | WindowKind.PARTITION:
                return Closure.CLOSED
            case _:
                return require(self.semantics.closure)

    def is_right_open(self) -> bool:
        """WIN-2: Return whether windows with borders are [o, c) or (o, c)."""
        match self.semantics.closure:
            case Closure.RIGHT_OPEN | Closure.OPEN:
                return True
            case Closure.LEFT_OPEN | Closure.CLOSED | None:
                return False

    def between(self, window: Window, o: int, c: float) -> list[int]:
        """WIN-2: Return the instants of a window that opens at o and closes at c: for [0, 3) the
        instants 0, 1, 2; for (0, 3] the instants 1, 2, 3.
        """
        return [t for t in self.integers if self.is_inside(window, o, t, c)]

    # Which windows there are: WIN-3, WIN-11, WIN-13

    def opening(self, window: Window, number: int) -> int:
        """WIN-3: Return o, the instant at which the window with a number opens."""
        return require(self.t0s[window]) + number * self.slide(window)

    def closing(self, window: Window, number: int) -> int:
        """WIN-3: Return c, the instant at which the window with a number closes."""
        return self.opening(window, number) + self.span(window)

    def instance(self, window: Window, number: int) -> WindowInstance:
        """WIN-3, WIN-11: Return the window with a number. If it is clipped, its instants begin with
        the first of window 0.
        """
        o = self.opening(window, number)
        c = self.closing(window, number)
        instants = self.between(window, o, c)
        if self.is_clipped(number):
            instants = [t for t in instants if t >= self.first_instant(window)]
        if window.kind is WindowKind.NOW:
            return WindowInstance(number, None, tuple(instants))
        return WindowInstance(number, (o, c), tuple(instants))

    def numbered(self, window: Window) -> list[WindowInstance]:
        """WIN-3: Return the windows n, n + 1, …, from the least n on, as far as instants go."""
        found = []
        number = self.least(window)
        while self.closing(window, number) in self.integers:
            found.append(self.instance(window, number))
            number += 1
        return found

    def is_clipped(self, number: int) -> bool:
        """WIN-11: Return whether the window with a number begins with window 0's first instant."""
        match self.semantics.partial:
            case Partial.CLIPPED:
                return number < 0
            case Partial.SUPPRESSED | Partial.REPORTED:
                return False

    def least(self, window: Window) -> int:
        """WIN-11: Return the number of the first window: 0, or, where partial windows are reported,
        that of the first window that closes after t0, and over () has an instant after it. With
        t0 = 0, ω = 10 and β = 5 that is −1, which opens at −5.
        """
        number = 0
        match self.semantics.partial:
            case Partial.SUPPRESSED:
                return number
            case Partial.REPORTED | Partial.CLIPPED:
                while self.is_cut(window, number - 1):
                    number -= 1
                return number

    def is_cut(self, window: Window, number: int) -> bool:
        """WIN-11: Return whether the window with a number, which opens before t0, is partial."""
        closes = self.closing(window, number)
        after_t0 = self.between(window, self.opening(window, number), closes)[-1:]
        return closes > self.opening(window, 0) and after_t0 >= [self.first_instant(window)]

    def sequence(self, window: Window) -> list[WindowInstance]:
        """WIN-13: Return the windows that a query's window stands for, in the order of their
        numbers. A landmark window is one alone, and so is one of a kind without numbers.
        """
        match window.kind:
            case WindowKind.LANDMARK:
                instants = self.between(window, self.opening(window, 0), math.inf)
                return [WindowInstance(0, None, tuple(instants))]
            case WindowKind.UNBOUNDED | WindowKind.ROWS | WindowKind.PARTITION:
                return [WindowInstance(None, None, tuple(self.integers))]
            case WindowKind.SESSION:
                return []  # its windows are those of the elements that came (WIN-23)
            case _:
                return self.numbered(window)

    # Which one is looked at: WIN-4, WIN-5, WIN-12

    def active(self, window: Window, t: int) -> WindowInstance:
        """WIN-4: Return the active window at t: the first whose last instant is t or later."""
        return next(each for each in self.sequences[window] if each.instants[-1] >= t)

    def latest_ended(self, window: Window, t: int) -> WindowInstance | None:
        """WIN-12: Return the last window whose last instant is t or earlier; None if there is no
        such window.
        """
        ended = [each for each in self.sequences[window] if each.instants[-1] <= t]
        return next(reversed(ended), None)

    def current(self, window: Window, t: int) -> WindowInstance | None:
        """WIN-5, WIN-12, WIN-13: Return the window that is active or shown at t; None where there
        is no scope: before s0, or before the first window of CQL's has ended.
        """
        if window not in self.s0s or t < self.s0s[window]:
            return None
        match window.kind:
            case WindowKind.TIME | WindowKind.TUPLE:
                return self.active(window, t)
            case WindowKind.RANGE | WindowKind.NOW:
                return self.latest_ended(window, t)
            case _:
                return self.sequences[window][0]

    def first_instant(self, window: Window) -> int:
        """WIN-5: Return the first instant of window 0."""
        return self.between(window, self.opening(window, 0), math.inf)[0]

    def s0(self, window: Window) -> int:
        """WIN-5: Return s0, the instant just before the first instant of window 0."""
        return self.first_instant(window) - 1

    def scope(self, window: Window, t: int) -> frozenset[int]:
        """WIN-5, WIN-20: Return the instants of the current window up to t, moved back by the lag.
        A `range` or `now` has ended by t, so all of its instants are returned.
        """
        current = self.current(window, t)
        if current is None:
            return frozenset()
        return frozenset(instant - window.lag for instant in current.instants if instant <= t)

    def borders(self, window: Window, current: WindowInstance) -> Borders:
        """WIN-20: Return the borders of the current window, moved back by the lag."""
        if current.borders is None:
            return None
        o, c = current.borders
        return o - window.lag, c - window.lag

    # Which instants an element has: WIN-6, WIN-16, WIN-18

    def element_ids(self, window: Window) -> list[int]:
        """WIN-6, WIN-16: Return the id of each element: its position from 1, or the number of
        triples up to and including it. Elements of 2, 1 and 3 triples have the ids 1, 2, 3, or 2,
        3, 6.
        """
        elements = self.elements[window.stream]
        if window.unit is Unit.TRIPLES:
            return list(accumulate(len(element.graph) for element in elements))
        return list(range(1, len(elements) + 1))

    def arrival_instant(self, arrival: Arrival) -> int:
        """WIN-6, MOD-5: Return an arrival's instant: its app, or the watermark after it; for a
        tuple-based window its id. That of the sentinel comes after all others.
        """
        window = self.windows[0]
        if window.kind is not WindowKind.TUPLE:
            return self.time_at(arrival)
        if arrival.stream is None:
            return max(self.ids[window], default=0) + 1
        return self.ids[window][arrival.place]

    def watermark(self, arrivals: Sequence[Arrival]) -> int:
        """MOD-5: Return the watermark after some arrivals: the greatest app of the elements, or of
        the punctuations, less the delay. It is before all times without any.
        """
        apps = [arrival.app for arrival in arrivals if self.brings_watermark(arrival)]
        delay = self.semantics.watermark_delay or 0
        return max(apps) - delay if apps else -TIME_BOUND

    def brings_watermark(self, arrival: Arrival) -> bool:
        """MOD-5: Return whether a watermark is read from an arrival."""
        match self.semantics.watermark:
            case Watermark.PUNCTUATION:
                is_other = arrival.stream == OTHERS  # in no window
                return is_other and self.is_punctuation(self.others[arrival.place])
            case Watermark.GREATEST | None:
                return True

    def time_at(self, arrival: Arrival) -> int:
        """MOD-5: Return the time that an arrival brings: its app, or the watermark after it. The
        sentinel brings the horizon.
        """
        match self.semantics.late_for:
            case LateFor.WINDOW | LateFor.NOTHING if arrival.stream is not None:  # not the sentinel
                return self.watermark(self.arrivals[: self.arrivals.index(arrival) + 1])
            case LateFor.WINDOW | LateFor.NOTHING | LateFor.STREAM:
                return arrival.app

    def instants(self, window: Window, place: int) -> Sequence[int]:
        """WIN-18: Return the instants of an element: those at which it is valid; for a tuple-based
        window its id.
        """
        if window.kind is WindowKind.TUPLE:
            return [self.ids[window][place]]
        return self.valid(self.elements[window.stream][place])

    # Where window 0 opens: WIN-7, WIN-10, WIN-17

    def span(self, window: Window) -> int:
        """WIN-10: Return ω for the kinds whose windows have both borders, 0 for the others."""
        if window.kind in (WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE):
            return require(window.size)
        return 0

    def slide(self, window: Window) -> int:
        """WIN-17, WIN-1: Return β as stated; 1 where none is stated, or where it is ignored."""
        slide = window.slide or 1
        if window.kind not in (WindowKind.TIME, WindowKind.RANGE):
            return slide
        match self.semantics.slide:
            case Slide.STATED:
                return slide
            case Slide.IGNORED:
                return 1

    def earliest(self, window: Window) -> int | None:
        """WIN-10: Return t1, the first instant of a window's stream; None without elements."""
        places = range(len(self.elements[window.stream]))
        return min((self.instants(window, place)[0] for place in places), default=None)

    def t0(self, window: Window) -> int | None:
        """WIN-10: Return t0, the instant at which window 0 opens; None where it depends on t1 and
        there is none.
        """
        first = self.earliest(window)
        match self.semantics.t0:
            case int(stated):
                return stated
            case T0.REGISTRATION:
                return self.registered
            case T0.CORAL8 | T0.ORACLE_CEP | T0.STREAM | T0.FLINK | T0.STORM | T0.KAFKA_STREAMS:
                return self.formula(window, self.semantics.t0)
            case _ if first is None:
                return None
            case T0.FIRST:
                return first
            case T0.REACH:
                return first - self.span(window)
            case T0.EPOCH | T0.EPOCH_LATEST if self.span(window) == 0:
                return first
            case T0.EPOCH:
                return self.aligned(window, first)
            case T0.EPOCH_LATEST:
                return self.latest_aligned(window, first)

    def opens_first(self, window: Window) -> int | None:
        """WIN-21: Return where window 0 opens: at t0, or the first of its openings that is not
        before `not_before`, which for the kinds without ω is this instant.
        """
        t0 = self.t0(window)
        earliest = self.semantics.not_before
        if t0 is None or earliest is None or t0 >= earliest:
            return t0
        if self.span(window) == 0:
            return earliest
        openings = count(t0, self.slide(window))
        return next(o for o in openings if o >= earliest)

    def alignments(self, window: Window) -> list[tuple[int, list[int]]]:
        """WIN-10: Return the instants offset + mβ, each with the instants of the window there."""
        offset = self.offset(window)
        openings = [o for o in self.integers if (o - offset) % self.slide(window) == 0]
        return [(o, self.between(window, o, o + self.span(window))) for o in openings]

    def aligned(self, window: Window, first: int) -> int:
        """WIN-10: Return the least o = offset + mβ whose window has its last instant at t1
        (`first`) or later. With ω = 10, β = 5, offset 0 and windows [o, c), t1 = 12 gives 5, since
        [5, 15) is the first window that reaches 12.
        """
        return next(o for o, instants in self.alignments(window) if instants[-1] >= first)

    def latest_aligned(self, window: Window, first: int) -> int:
        """WIN-10: Return the greatest o = offset + mβ whose window holds t1 (`first`), 10 where
        `aligned` gives 5; if none holds it, what `aligned` gives.
        """
        holding = [o for o, instants in self.alignments(window) if first in instants]
        return max(holding, default=self.aligned(window, first))

    def offset(self, window: Window) -> int:
        """WIN-10: Return what windows are aligned with: an instant, that of the first or the last
        element, or the midnight at the first or before it, or at the last or after it.
        """
        first = require(self.earliest(window))
        places = range(len(self.elements[window.stream]))
        last = max(self.instants(window, place)[0] for place in places)
        match self.semantics.offset:
            case Offset.FIRST:
                return first
            case Offset.LAST:
                return last
            case Offset.DAY:
                return first // DAY * DAY
            case Offset.DAY_END:
                return round_up(last, DAY)
            case int() | None as stated:
                return require(stated)

    def formula(self, window: Window, name: Formula) -> int | None:
        """WIN-7: Return t0 by a published formula; None where it asks for t1 and there is none."""
        if window.kind is WindowKind.TUPLE:
            return self.formula_of_ids(window, name)
        t1 = self.earliest(window)
        size = self.span(window)
        slide = self.slide(window)
        match name:
            case T0.FLINK:
                return slide - size - 1
            case T0.STORM:
                return slide - size
            case _ if t1 is None:
                return None
            case T0.CORAL8:
                return round_up(t1 - size, slide) - 1
            case T0.ORACLE_CEP:
                return round_up(t1, slide) - size
            case T0.STREAM:
                return t1 - size
            case T0.KAFKA_STREAMS:
                return max(0, t1 - size + slide) // slide * slide - 1

    def formula_of_ids(self, window: Window, name: Formula) -> int:
        """WIN-7: Return t0 of a tuple-based window by a published formula."""
        size = self.span(window)
        slide = self.slide(window)
        match name:
            case T0.CORAL8:
                return 0
            case T0.STREAM:
                return -size
            case T0.ORACLE_CEP | T0.FLINK | T0.STORM:
                return slide - size
            case T0.KAFKA_STREAMS:
                raise AssertionError("kafka-streams has no formula for tuple-based windows")

    # What a window holds: WIN-8, WIN-14, WIN-15

    def content(self, window: Window, t: int, k: int) -> Content:
        """WIN-8, WIN-18: Return the content at t and arrival k: the places of those elements of the
        window's own stream that came before arrival k and have an instant in the scope at t.
        """
        if self.current(window, t) is None:
            return ()
        before = self.arrivals[:k]
        places = [arrival.place for arrival in before if arrival.stream == window.stream]
        match window.kind:
            case WindowKind.ROWS:
                return self.rows(window, places)
            case WindowKind.PARTITION:
                return self.partition(window, places)
            case _:
                scope = self.scope(window, t)
                return tuple(j for j in places if not scope.isdisjoint(self.instants(window, j)))

    def rows(self, window: Window, places: list[int]) -> Content:
        """WIN-14: Return the places of the N elements whose ids end with the last multiple of L
        that is not after the newest id m. With N = 3, L = 2 and m = 5 these are the ids 2, 3, 4.
        """
        ids = self.ids[window]
        newest = max((ids[j] for j in places), default=0)
        last = max(i for i in range(newest + 1) if i % self.slide(window) == 0)
        return tuple(j for j in places if last - require(window.size) < ids[j] <= last)

    def partition(self, window: Window, places: list[int]) -> Content:
        """WIN-15: Return the places of the latest N elements of each key: the elements with fewer
        than N later ones of their key.
        """
        latest = []
        for number, place in enumerate(places):
            keys_of_later = [self.key(window, later) for later in places[number + 1 :]]
            if keys_of_later.count(self.key(window, place)) < require(window.size):
                latest.append(place)
        return tuple(latest)

    def key(self, window: Window, place: int) -> list[str]:
        """WIN-15: Return an element's key: for a position the term that its one triple has there,
        for a predicate the one object that it has.
        """
        key = []
        for part in window.by:
            for subject, predicate, object_ in self.elements[window.stream][place].graph:
                match part:
                    case "subject":
                        key.append(subject)
                    case "predicate":
                        key.append(predicate)
                    case "object":
                        key.append(object_)
                    case _ if predicate == f"<{part}>":
                        key.append(object_)
        return key


def round_up(number: int, step: int) -> int:
    """WIN-7: Return ⌈number/step⌉·step, the least multiple of a step that is not less."""
    return -(-number // step) * step
