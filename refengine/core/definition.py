"""The definition by enumeration: the reports of a query, read off SPEC.md rule by rule.

It covers §4 to §6, §8, MOD-2, MOD-3, R2R-1, R2R-8, R2R-9, ENG-1, ENG-4 and ENG-5, as plainly as
they can be written. Every window and every instant is looked at, one after the other, and an
instant is in a window if a comparison with the window's borders says so. No window number is
computed and nothing is skipped, so this serves small streams alone.

Nothing is checked. What `engine` refuses (MOD-1, MOD-2, SEM-2, QRY-4, QRY-5, ENG-1, WIN-15) must
not be in the input.

`engine` must give the same reports, and tests hold it to this. The two share the data types, and
the sets that say which kinds of windows have borders. The published formulas for t0 (WIN-7) are
left out, since they leave nothing to enumerate.

This is the definition of *when* a query is reported, over *which* elements. What a body answers
over them (§7) is defined by `refengine.sparql.evaluation`. `r2r` and the witnesses mean that one
where they speak of the definition.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple, assert_never

from refengine.core.query import BORDERED, POSITIONS, Unit, Window, WindowKind
from refengine.core.semantics import (
    R2S,
    T0,
    AllowedLateness,
    Anchor,
    Base,
    ChangeBaseline,
    ChangeScope,
    CloseRule,
    Closure,
    Collection,
    Condition,
    Empty,
    Instant,
    MissedInstants,
    Semantics,
    Slide,
    Tick,
    Trigger,
)
from refengine.model.elements import Bag, Dataset, Element
from refengine.model.errors import require

# REP-5: the conditions on the instant; the others are on the content
ON_INSTANTS = {condition for condition in Condition if condition.is_on_instants}

Borders = tuple[int, int] | None  # (o, c); None for a window without borders
Content = tuple[int, ...]  # places of elements in their stream, as `Definition.elements` has it


class Arrival(NamedTuple):
    """An element as it arrives: its stream, its place in that stream, its t_app, t_sys and batch
    id. The sentinel of ENG-1 has no stream.
    """

    stream: str | None
    place: int
    app: int
    sys: float
    batch: int


class WindowInstance(NamedTuple):
    """One window of the sequence that a query's window stands for: its number, if it has one, its
    borders (o, c), if it has any, and all its instants, ascending.
    """

    number: int | None
    borders: Borders
    instants: tuple[int, ...]


class ShownWindow(NamedTuple):
    """What a query's window shows at an instant: number and borders of the current instance (None
    where the window has no scope), and its content.
    """

    number: int | None
    borders: Borders
    content: Content


class QueryReport(NamedTuple):
    """A report: the instant of the evaluation, the index of the arrival that triggered it, and what
    each window shows.
    """

    t: int
    arrival: int
    windows: tuple[ShownWindow, ...]


class EmittedRelation(NamedTuple):
    """A relation that is emitted: the instant of the evaluation, the t_app of the arrival that
    triggered it, the borders of each window, the output instant, the content of each window, the
    number of late elements, and the rows.
    """

    t: int
    trigger: int
    borders: tuple[Borders, ...]
    instant: int
    contents: tuple[Content, ...]
    late: int
    rows: Bag


class Definition:
    """The reports of a query over streams under a semantics, by enumeration.

    Each rule is a method, so that a test can break one. `registered` is the instant of the query's
    registration, `static` the data that is always there. `semantics.t0` is an integer or a policy.
    The data has no blank node (R2R-7, R2R-8).

    `reports` says when the query is evaluated, and `emitted` which relations are emitted. For those
    a body is given as a function from a dataset to a bag of rows, and rows are compared as they are
    written.

    Windows of 10 from 0 on, with elements at 3 and 10: the element at 10 closes [0, 10), whose last
    instant is 9. The flush (`horizon=flush`) closes [10, 20).

    >>> from refengine import profile, stream
    >>> from refengine.core.query import Window, WindowKind
    >>> tumbling = Window("s", WindowKind.TIME, size=10, slide=10)
    >>> triple = ("<urn:a>", "<urn:p>", "<urn:o>")
    >>> elements = stream([(triple, 3), (triple, 10)]).elements
    >>> semantics = profile("csparql").but(t0=0).semantics()
    >>> for report in Definition([tumbling], {"s": elements}, semantics).reports():
    ...     print(report.t, report.arrival, report.windows[0].borders, report.windows[0].content)
    9 1 (0, 10) (0,)
    19 2 (10, 20) (1,)
    """

    def __init__(
        self,
        windows: Sequence[Window],
        streams: Mapping[str, Sequence[Element]],
        semantics: Semantics,
        *,
        registered: int | None = None,
        static: Dataset = frozenset(),
    ):
        self.windows = windows
        self.semantics = semantics
        self.registered = registered
        self.static = static

        self.elements = {window.stream: self.admitted(streams[window.stream]) for window in windows}
        self.late = [element for name in self.elements for element in self.dropped(streams[name])]
        self.ids = {window: self.count(window) for window in windows}
        self.arrivals = self.merged() + self.sentinel()
        self.integers = self.all_integers()

        self.origins = {window: self.origin(window) for window in windows}
        opening = [window for window in windows if self.origins[window] is not None]
        self.starts = {window: self.first_instant(window) - 1 for window in opening}
        self.start = min(self.starts.values(), default=0)  # ENG-5: of several windows the least s0
        self.instances = {window: list(self.enumerate_windows(window)) for window in opening}

        # for speed alone: what these return is remembered
        for name in ("current", "scope", "content"):
            setattr(self, name, cache(getattr(self, name)))

    # Streams and arrivals: MOD-2, MOD-3, WIN-6, WIN-16, ENG-1, ENG-5, TICK-6

    def is_late(self, element: Element, before: Sequence[Element]) -> bool:
        """MOD-2: Return whether an earlier arrival has a t_app that is greater than the element's
        by more than what is allowed. With allowed_lateness=2, an element at 7 is late after one at
        10, and not after one at 9.
        """
        match self.semantics.allowed_lateness:
            case AllowedLateness.REJECT:
                return False  # a stream out of order is refused
            case int(bound):
                return any(other.app - element.app > bound for other in before)

    def dropped(self, elements: Sequence[Element]) -> list[Element]:
        """MOD-2: Return the elements of a stream that are late."""
        return [e for i, e in enumerate(elements) if self.is_late(e, elements[:i])]

    def admitted(self, elements: Sequence[Element]) -> list[Element]:
        """MOD-2: Return the elements of a stream that are not late, sorted by t_app, ties in
        arrival order.
        """
        in_time = [e for i, e in enumerate(elements) if not self.is_late(e, elements[:i])]
        return sorted(in_time, key=lambda element: element.app)

    def valid(self, element: Element) -> range:
        """MOD-3: Return the instants at which an element is valid, from its t_app to its end, both
        included.
        """
        if element.end is None:
            return range(element.app, element.app + 1)
        return range(element.app, element.end + 1)

    def count(self, window: Window) -> list[int]:
        """WIN-6, WIN-16: Return the id of each element: its position from 1, or the number of
        triples up to and including it. Elements of 2, 1 and 3 triples have the ids 1, 2, 3, or 2,
        3, 6.
        """
        elements = self.elements[window.stream]
        if window.unit is Unit.TRIPLES:
            return list(accumulate(len(element.graph) for element in elements))
        return list(range(1, len(elements) + 1))

    def merged(self) -> list[Arrival]:
        """ENG-5: Return the elements of all streams by t_app, then t_sys, then the order in which
        the windows name the streams.
        """
        names = list(self.elements)
        arrivals = [
            Arrival(name, place, element.app, element.sys, element.batch or 0)
            for name in names
            for place, element in enumerate(self.elements[name])
        ]
        return sorted(arrivals, key=lambda a: (a.app, a.sys, names.index(require(a.stream))))

    def sentinel(self) -> list[Arrival]:
        """ENG-1: Return the arrival without triples, last and in a batch of its own; nothing if
        there is no horizon.
        """
        horizon = self.horizon()
        if horizon is None:
            return []
        batches = [arrival.batch for arrival in self.merged()]
        return [Arrival(None, 0, horizon, math.inf, max(batches, default=0) + 1)]

    def horizon(self) -> int | None:
        """ENG-1: Return the instant at which the sentinel arrives: none, the one stated, or for
        `flush` the greatest end of an element + the longest reach of a window + 2. The last element
        ends at 12 and ω is 10: 24.
        """
        horizon = self.semantics.horizon
        if isinstance(horizon, int):
            return horizon
        ends = [self.valid(e)[-1] for elements in self.elements.values() for e in elements]
        if horizon.is_last_arrival or not ends:
            return None
        return max(ends) + max(self.reach(window) for window in self.windows) + 2

    def reach(self, window: Window) -> int:
        """ENG-1: Return how long after an element's end a window can still show it: ω, or for a
        `range` ω + L − 1, since a range shows a window until the next one ends. WIN-20: A lag adds
        to it.
        """
        if window.kind is WindowKind.RANGE:
            return self.span(window) + self.slide(window) - 1 + window.lag
        return self.span(window) + window.lag

    def own(self, arrival: Arrival) -> int:
        """WIN-6, TICK-6: Return an arrival's own instant: its t_app, or t_app − 1 where the close
        of [o, c) must be passed; for a tuple-based window its id.
        """
        window = self.windows[0]
        if window.kind is WindowKind.TUPLE and arrival.stream is None:
            return max(self.ids[window], default=0) + 1
        if window.kind is WindowKind.TUPLE:
            return self.ids[window][arrival.place]

        match self.semantics.close_rule:
            case CloseRule.REACHED:
                return arrival.app
            case CloseRule.PASSED if self.is_right_open:
                return arrival.app - 1
            case CloseRule.PASSED:
                return arrival.app

    def all_integers(self) -> range:
        """Return all instants and ids that could matter: from the least to the greatest that the
        arrivals, the semantics and the query name (and 0), with a margin of two windows and a slide
        at both ends.
        """
        named = (self.semantics.t0, self.registered, 0)
        places = [value for value in named if isinstance(value, int)]
        places += [arrival.app for arrival in self.arrivals]
        places += [number for ids in self.ids.values() for number in ids]
        margin = max(2 * (window.size or 0) + (window.slide or 1) + 3 for window in self.windows)
        return range(min(places) - margin, max(places) + margin + 1)

    # Windows: §4

    def span(self, window: Window) -> int:
        """WIN-10: Return ω for the kinds whose windows have both borders, 0 for the others."""
        if window.kind in (WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE):
            return require(window.size)
        return 0

    def slide(self, window: Window) -> int:
        """WIN-1, WIN-17: Return β as stated; 1 where none is stated, or where the semantics ignores
        it.
        """
        slide = window.slide or 1
        if window.kind not in (WindowKind.TIME, WindowKind.RANGE):
            return slide
        match self.semantics.slide:
            case Slide.STATED:
                return slide
            case Slide.IGNORED:
                return 1

    @property
    def is_right_open(self) -> bool:
        """WIN-2: Whether windows with borders hold the instant o at which they open, and not the
        instant c at which they close.
        """
        match self.semantics.closure:
            case Closure.RIGHT_OPEN:
                return True
            case Closure.LEFT_OPEN | Closure.CLOSED | None:
                return False

    def is_after_opening(self, window: Window, o: int, t: int) -> bool:
        """WIN-2: Return whether an instant t is not before a window that opens at o. A window
        without borders begins at o. With (o, c] the instant o itself is before the window.
        """
        match self.semantics.closure:
            case Closure.LEFT_OPEN if window.kind in BORDERED:
                return o < t
            case Closure.LEFT_OPEN | Closure.RIGHT_OPEN | Closure.CLOSED | None:
                return o <= t

    def is_before_closing(self, window: Window, c: int, t: int) -> bool:
        """WIN-2: Return whether an instant t is not after a window that closes at c. A window
        without borders ends at c. With [o, c) the instant c itself is after the window.
        """
        if window.kind in BORDERED and self.is_right_open:
            return t < c
        return t <= c

    def between(self, window: Window, o: int, c: int) -> list[int]:
        """WIN-2: Return the instants of a window that opens at o and closes at c: for [0, 3) the
        instants 0, 1, 2; for (0, 3] the instants 1, 2, 3.
        """
        after = [t for t in self.integers if self.is_after_opening(window, o, t)]
        return [t for t in after if self.is_before_closing(window, c, t)]

    def instants(self, window: Window, place: int) -> Sequence[int]:
        """WIN-6, WIN-18: Return the instants of an element: those at which it is valid; for a
        tuple-based window its id.
        """
        if window.kind is WindowKind.TUPLE:
            return [self.ids[window][place]]
        return self.valid(self.elements[window.stream][place])

    def earliest(self, window: Window) -> int | None:
        """WIN-10: Return t1, the first instant of a window's stream; None without elements."""
        places = range(len(self.elements[window.stream]))
        return min((self.instants(window, place)[0] for place in places), default=None)

    def origin(self, window: Window) -> int | None:
        """WIN-3, WIN-10: Return t0, the instant at which window 0 opens; None where it depends on
        t1 and there is none.
        """
        t0 = self.semantics.t0
        first = self.earliest(window)
        if isinstance(t0, int):
            return t0
        match t0:
            case T0.REGISTRATION:
                return self.registered
            case _ if first is None:
                return None
            case T0.FIRST:
                return first
            case T0.REACH:
                return first - self.span(window)
            case T0.EPOCH:
                return self.aligned(window, first)
            case T0.CORAL8 | T0.ORACLE_CEP | T0.STREAM | T0.FLINK | T0.STORM | T0.KAFKA_STREAMS:
                raise AssertionError(f"{t0} is a formula of WIN-7")

    def aligned(self, window: Window, first: int) -> int:
        """WIN-10: Return the least o = offset + mβ whose window has its last instant at t1
        (`first`) or later; t1 itself for the kinds without ω. With ω = 10, β = 5, offset 0 and
        windows [o, c), t1 = 12 gives 5, since [5, 15) is the first window that reaches 12.
        """
        size = self.span(window)
        if size == 0:
            return first
        offset = require(self.semantics.offset)
        candidates = [o for o in self.integers if (o - offset) % self.slide(window) == 0]
        return next(o for o in candidates if self.between(window, o, o + size)[-1] >= first)

    def first_instant(self, window: Window) -> int:
        """WIN-5: Return the first instant of window 0. s0 is the instant before it."""
        origin = require(self.origins[window])
        return min(t for t in self.integers if self.is_after_opening(window, origin, t))

    def enumerate_windows(self, window: Window) -> Iterator[WindowInstance]:
        """WIN-3, WIN-12, WIN-13: Yield the instances of a window, in the order of their numbers. A
        landmark window has one, and so have the kinds without numbers.
        """
        match window.kind:
            case WindowKind.LANDMARK:
                first = self.first_instant(window)
                yield WindowInstance(0, None, tuple(t for t in self.integers if t >= first))
            case WindowKind.UNBOUNDED | WindowKind.ROWS | WindowKind.PARTITION:
                yield WindowInstance(None, None, tuple(self.integers))
            case _:
                number, o = self.least(window)
                while o + self.span(window) in self.integers:
                    yield self.instance(window, number, o)
                    number += 1
                    o += self.slide(window)

    def least(self, window: Window) -> tuple[int, int]:
        """WIN-11: Return number and opening of the first instance: 0 and t0, or, where partial
        windows are reported, those of the first window that closes after t0. With t0 = 0, ω = 10
        and β = 5 that is window −1, which opens at −5.
        """
        number = 0
        t0 = require(self.origins[window])
        o = t0
        if self.semantics.partial.are_left_out:
            return number, o
        while o - self.slide(window) + self.span(window) > t0:  # the one before is partial, too
            number -= 1
            o -= self.slide(window)
        return number, o

    def instance(self, window: Window, number: int, o: int) -> WindowInstance:
        """WIN-3, WIN-11: Return the window with a number, which opens at o and closes at c = o + ω.
        If it is clipped, its instants begin with the first of window 0.
        """
        c = o + self.span(window)
        instants = self.between(window, o, c)
        if number < 0 and self.semantics.partial.begin_at_t0:
            first = self.first_instant(window)
            instants = [t for t in instants if t >= first]
        if window.kind is WindowKind.NOW:
            return WindowInstance(number, None, tuple(instants))
        return WindowInstance(number, (o, c), tuple(instants))

    def current(self, window: Window, t: int) -> WindowInstance | None:
        """WIN-4, WIN-5, WIN-12: Return the instance that is looked at, at t: the first whose last
        instant is t or later. For `range` and `now`, which are shown once they have ended, it is
        the last whose last instant is t or earlier. None before s0.
        """
        if window not in self.starts or t < self.starts[window]:
            return None
        instances = self.instances[window]
        match window.kind:
            case WindowKind.TIME | WindowKind.TUPLE:
                return next(instance for instance in instances if instance.instants[-1] >= t)
            case WindowKind.RANGE | WindowKind.NOW:
                ended = [instance for instance in instances if instance.instants[-1] <= t]
                return next(reversed(ended), None)
            case _:
                return instances[0]

    def scope(self, window: Window, t: int) -> frozenset[int]:
        """WIN-5, WIN-12, WIN-13: Return the instants of the current instance up to t. A `range` or
        `now` has ended by t, so all of its instants are returned. WIN-20: They are moved back by
        the window's lag.
        """
        current = self.current(window, t)
        if current is None:
            return frozenset()
        return frozenset(instant - window.lag for instant in current.instants if instant <= t)

    def content(self, window: Window, t: int, k: int) -> Content:
        """WIN-8, WIN-18, ENG-5: Return the content at t and arrival k: the places of those elements
        of the window's own stream that came before arrival k and have an instant in the scope at t.
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
            for triple in self.elements[window.stream][place].graph:
                if part in POSITIONS:
                    key.append(triple[POSITIONS.index(part)])
                elif triple[1] == f"<{part}>":
                    key.append(triple[2])
        return key

    # Ticks: §5

    def ticks(self, before: Arrival, now: Arrival) -> bool:
        """TICK-1 to TICK-3: Return whether an arrival is looked at. `before` is the arrival last
        looked at.
        """
        match self.semantics.tick:
            case Tick.TUPLE:
                return True
            case Tick.TIME:
                return now.app > before.app
            case Tick.BATCH:
                return now.batch > before.batch

    def interval(self, before: int, now: int) -> list[int]:
        """TICK-4, TICK-7, WIN-5: Return the instants at which an arrival is evaluated: from
        `before`, the own instant of the arrival last looked at, up to `now`, this arrival's own.
        `now` is included if the two are equal, or if an expiry at `now` is seen at once
        (expiry_seen=eager). No instant is before s0. From 3 to 6 these are 3, 4, 5.
        """
        is_own_included = before == now
        if self.semantics.expiry_seen.is_before_arrival and self.moves(now):
            is_own_included = True
        after = [t for t in self.integers if t >= before and t >= self.start]
        return [t for t in after if t < now or (t == now and is_own_included)]

    def moves(self, t: int) -> bool:
        """TICK-7: Return whether another instance takes the place of the current one at t. The
        window must have had a current instance at t − 1.
        """
        for window in self.windows:
            if window.kind is WindowKind.TUPLE:
                continue
            last = self.current(window, t - 1)
            if last is not None and last != self.current(window, t):
                return True
        return False

    # Reports: §6

    def reports(self) -> Iterator[QueryReport]:
        """TICK-5: Yield the reports, arrival by arrival; the first interval starts at s0. REP-2,
        REP-8: the first content is compared with the empty one.
        """
        if not self.starts:
            return
        self.reported: tuple[Content, ...] = tuple(() for _ in self.windows)
        self.previous: tuple[Content, ...] = tuple(() for _ in self.windows)
        # as if one had been looked at, at s0 and of batch 0 (TICK-2, TICK-3)
        before = Arrival(None, 0, self.start, 0, 0)
        since = self.start
        for k, arrival in enumerate(self.arrivals):
            if not self.ticks(before, arrival):
                continue
            instants = self.interval(since, self.own(arrival))
            if self.windows[0].kind is WindowKind.TUPLE:
                yield from self.by_tick(instants, k)
            else:
                yield from self.by_instant(instants, k)
            before = arrival
            since = self.own(arrival)

    def border(self, t: int) -> int:
        """REP-4: Return the border instant at t: t + 1 for windows [o, c), so that their last
        instant counts as c, else t.
        """
        if self.is_right_open:
            return t + 1
        return t

    def anchor(self, window: Window) -> int | None:
        """REP-11: Return the instant that a period counts from; None where it depends on t1 and
        there is none.
        """
        match self.semantics.anchor:
            case Anchor.T0:
                return self.origins[window]
            case Anchor.FIRST:
                return self.earliest(window)
            case int() | None as stated:
                return stated

    def holds(self, condition: Condition, number: int, t: int, k: int) -> bool:
        """REP-1 to REP-4: Return whether one condition of one window holds at t and arrival k.
        Without a scope no condition holds (ENG-5).
        """
        window = self.windows[number]
        if self.current(window, t) is None:
            return False
        match condition:
            case Condition.CLOSE:
                lasts = [instance.instants[-1] for instance in self.instances[window]]
                return t in lasts and t < self.own(self.arrivals[k])
            case Condition.CHANGE:
                compared = self.compared_with()[number]
                return self.differs(window, self.content(window, t, k), compared)
            case Condition.NON_EMPTY:
                return self.content(window, t, k) != ()
            case Condition.PERIODIC:
                anchor = self.anchor(window)
                period = require(self.semantics.period)
                return anchor is not None and (self.border(t) - anchor) % period == 0

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
                return self.union(window, content) != self.union(window, other)

    def union(self, window: Window, content: Content) -> Dataset:
        """R2R-1, R2R-8: Return the triples of a content, in the default graph or in the graph that
        the window names.
        """
        elements = self.elements[window.stream]
        triples = frozenset(triple for place in content for triple in elements[place].graph)
        if window.name is None:
            return triples
        return frozenset((*triple, f"<{window.name}>") for triple in triples)

    def timely(self, number: int, instants: list[int], k: int) -> list[int]:
        """REP-5: Return those instants at which all conditions on the instant (close, periodic)
        hold for a window.
        """
        named = self.semantics.report & ON_INSTANTS
        return [t for t in instants if all(self.holds(c, number, t, k) for c in named)]

    def worthy(self, number: int, t: int, k: int) -> bool:
        """REP-6: Return whether all conditions on the content (change, non-empty) hold for a
        window. The window must have a scope (ENG-5).
        """
        named = self.semantics.report - ON_INSTANTS
        has_scope = self.current(self.windows[number], t) is not None
        return has_scope and all(self.holds(condition, number, t, k) for condition in named)

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

    def contents(self, t: int, k: int) -> tuple[Content, ...]:
        """WIN-8: Return the content of each window at instant t and arrival k."""
        return tuple(self.content(window, t, k) for window in self.windows)

    def by_instant(self, instants: list[int], k: int) -> Iterator[QueryReport]:
        """REP-6, REP-10: Yield a report at each instant where the conditions hold. Under
        missed_instants=latest yield one at the last of these instants alone; until then nothing
        counts as reported.
        """
        numbers = range(len(self.windows))
        timely = [self.timely(number, instants, k) for number in numbers]
        latest = None
        for t in instants:
            if self.fires(
                [t in timely[number] and self.worthy(number, t, k) for number in numbers]
            ):
                match self.semantics.missed_instants:
                    case MissedInstants.ALL:
                        yield self.report(t, k)
                    case MissedInstants.LATEST:
                        latest = t
                    case never:
                        assert_never(never)
            self.previous = self.contents(t, k)
        if latest is not None:
            yield self.report(latest, k)

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

    def report(self, t: int, k: int) -> QueryReport:
        """REP-12: Return the report of instant t at arrival k. From now on the contents of all
        windows count as reported. WIN-20: The borders of a window are moved back by its lag.
        """
        self.reported = self.contents(t, k)
        windows = []
        for window, content in zip(self.windows, self.reported, strict=True):
            current = self.current(window, t) or WindowInstance(None, None, ())
            borders = current.borders
            if borders is not None:
                o, c = borders
                borders = o - window.lag, c - window.lag
            windows.append(ShownWindow(current.number, borders, content))
        return QueryReport(t, k, tuple(windows))

    # Relations: §8

    def dataset(self, contents: Sequence[Content]) -> Dataset:
        """R2R-8: Return the dataset of an evaluation: the triples in the windows' contents and the
        static data.
        """
        return self.static.union(*map(self.union, self.windows, contents))

    def collect(self, answer: Bag) -> Bag:
        """R2R-9: Return all rows of an answer, or one of each."""
        match self.semantics.collection:
            case Collection.BAG:
                return answer
            case Collection.SET:
                return Counter(set(answer))

    def rebase(self, base: Bag, answer: Bag, output: Bag) -> Bag:
        """R2S-4, R2S-8: Return the next baseline: this answer, whether it was emitted or not. Under
        `previous-new` the baseline stays if the answer has nothing new: if it holds no row more
        often than the baseline does.

        `output` is not read here. A definition that is broken on purpose reads it.
        """
        match self.semantics.base:
            case Base.NEW if not more(answer, base):
                return base
            case Base.NEW | Base.PREVIOUS | None:
                return answer

    def emits(self, output: Bag, before: Bag) -> bool:
        """R2S-5, R2S-9: Return whether an output is emitted, given the output before it."""
        match self.semantics.empty:
            case Empty.EMIT:
                return True
            case Empty.SUPPRESS:
                return bool(output)
            case Empty.ONCE:
                return bool(output) or bool(before)

    def late_before(self, trigger: Arrival) -> int:
        """MOD-2: Return how many elements were dropped before the trigger arrived."""
        return sum(element.sys < trigger.sys for element in self.late)

    def still_there(
        self, contents: Sequence[Content], before: Sequence[Content]
    ) -> tuple[Content, ...]:
        """R2S-7: Return the part of each content that was in it at the previous evaluation. Of (2,
        3, 4), after (1, 2, 3), that is (2, 3).
        """
        pairs = zip(contents, before, strict=True)
        return tuple(tuple(place for place in now if place in then) for now, then in pairs)

    def relate(self, operator: R2S, rows: Bag, base: Bag, old: Bag) -> Bag:
        """R2S-1 to R2S-3, R2S-7: Return the output of an operator. `rows` is the answer, `base` the
        baseline, and `old` the answer over what was also there at the previous evaluation.
        """
        match operator:
            case R2S.RSTREAM:
                return rows
            case R2S.ISTREAM:
                return more(rows, base)
            case R2S.DSTREAM:
                return more(base, rows)
            case R2S.APPEND:
                return more(rows, old)

    def stamp(self, t: int, k: int) -> int:
        """ENG-4: Return the output instant of the report at t that arrival k triggered."""
        match self.semantics.instant:
            case Instant.CLOSE:
                return self.border(t)
            case Instant.EVALUATION:
                return t
            case Instant.TRIGGER:
                return self.arrivals[k].app
            case Instant.EAGER if k == 0:
                return t  # no arrival is before the first
            case Instant.EAGER:
                return self.arrivals[k - 1].app

    def emitted(
        self, answer: Callable[[Dataset], Bag], stated: R2S | None
    ) -> Iterator[EmittedRelation]:
        """R2S-1 to R2S-9: Yield the relations that are emitted. `answer` gives the body's answer
        over a dataset. `stated` is the operator that the query states; if it states none, the
        semantics says it (R2S-6).
        """
        operator = stated or self.semantics.r2s
        base: Bag = Counter()
        last_output: Bag = Counter()
        last_contents: tuple[Content, ...] = tuple(() for _ in self.windows)
        for t, k, windows in self.reports():
            contents = tuple(window.content for window in windows)
            rows = self.collect(answer(self.dataset(contents)))
            old = self.collect(answer(self.dataset(self.still_there(contents, last_contents))))
            output = self.relate(operator, rows, base, old)
            if self.emits(output, last_output):
                borders = tuple(window.borders for window in windows)
                trigger = self.arrivals[k]
                late = self.late_before(trigger)
                stamp = self.stamp(t, k)
                yield EmittedRelation(t, trigger.app, borders, stamp, contents, late, output)
            base = self.rebase(base, rows, output)
            last_output = output
            last_contents = contents


def more(a: Bag, b: Bag) -> Bag:
    """R2S-2: Return the rows that `a` holds more often than `b`, each as often as the difference:
    {x: 3, y: 1} and {x: 1, y: 2} give {x: 2}.
    """
    return Counter({row: a[row] - b[row] for row in a if a[row] > b[row]})
