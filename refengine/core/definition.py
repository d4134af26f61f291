"""The definition by enumeration: every window, every instant, every element is visited, and
membership is a comparison.

SPEC.md §4 to §6, §8 and §9, MOD-2 and MOD-3, as plainly as they can be written. It shares nothing
with `engine` but the data types, and computes no window number: window follows window, instant
follows instant, and each integer is held against the borders. It is too slow for anything but
small streams; `engine` gives the same reports, and tests hold it to this.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from refengine.core.query import BORDERED, POSITIONS, Unit, Window, WindowKind
from refengine.core.semantics import (
    R2S,
    T0,
    Against,
    Anchor,
    Base,
    Change,
    Closing,
    Closure,
    Collection,
    Condition,
    Empty,
    End,
    Expiry,
    Gap,
    Instant,
    Partial,
    Semantics,
    Slide,
    Tick,
    Trigger,
)
from refengine.model.elements import Bag, Dataset, Element
from refengine.model.errors import require

# REP-5; the other conditions are on the content
ON_INSTANTS = {Condition.CLOSE, Condition.PERIODIC}
Content = tuple[int, ...]  # the indices of elements in their admitted stream


class Arrival(NamedTuple):
    """An element in the one sequence of all: its stream and its index there (none: the sentinel),
    app, sys and batch.
    """

    stream: str | None
    place: int
    app: int
    sys: float
    batch: int


class Extent(NamedTuple):
    """A window: its number and borders (o, c), if its kind has them, and
    its instants, ascending.
    """

    number: int | None
    borders: tuple[int, int] | None
    instants: tuple[int, ...]


class Held(NamedTuple):
    """What a window shows at an instant: its number and borders, none without a scope, and its
    content.
    """

    number: int | None
    borders: tuple[int, int] | None
    content: Content


class Reported(NamedTuple):
    """A report: the instant, the index of the arrival that triggered it, and what each window
    shows.
    """

    t: int
    arrival: int
    windows: tuple[Held, ...]


class Emitted(NamedTuple):
    """An emitted relation: evaluation instant, trigger's app, borders and content of each window,
    output instant, late, rows.
    """

    t: int
    trigger: int
    borders: tuple[tuple[int, int] | None, ...]
    instant: int
    contents: tuple[Content, ...]
    late: int
    rows: Bag


class Definition:
    """The reports of a query, by enumeration. Each rule is a method, so that a test can break one.

    `semantics.t0` is no formula of WIN-7, and no blank node occurs (R2R-7, R2R-8).
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
        self.windows, self.semantics, self.registered, self.static = (
            windows,
            semantics,
            registered,
            static,
        )
        self.elements = {window.stream: self.admitted(streams[window.stream]) for window in windows}
        self.late = [
            e
            for name in self.elements
            for i, e in enumerate(streams[name])
            if self.is_late(e, streams[name][:i])
        ]
        self.ids = {window: self.count(window) for window in windows}
        self.arrivals = self.merged() + self.sentinel()
        self.integers = self.all_integers()
        self.origins = {window: self.origin(window) for window in windows}
        self.starts = {
            window: self.first_instant(window) - 1
            for window in windows
            if self.origins[window] is not None
        }
        self.start = min(self.starts.values(), default=0)  # TICK-5: of several windows the first s0
        self.extents = {window: tuple(self.enumerate_windows(window)) for window in self.starts}
        # for speed alone
        for name in ("current", "scope", "content"):
            setattr(self, name, cache(getattr(self, name)))

    def all_integers(self) -> range:
        """All instants and ids that could matter: those of the arrivals, the origins and all within
        a window's reach of them.
        """
        reach = max(2 * (window.size or 0) + (window.slide or 1) + 3 for window in self.windows)
        places = [arrival.app for arrival in self.arrivals] + [
            i for ids in self.ids.values() for i in ids
        ]
        places += [t for t in (self.semantics.t0, self.registered, 0) if isinstance(t, int)]
        return range(min(places) - reach, max(places) + reach + 1)

    def is_late(self, element: Element, before: Sequence[Element]) -> bool:
        """MOD-2: late is what comes after an element whose app is greater by more than the
        disorder.
        """
        # under reject all are in order, or the stream is refused
        disorder = self.semantics.disorder
        return isinstance(disorder, int) and any(
            other.app - element.app > disorder for other in before
        )

    def admitted(self, elements: Sequence[Element]) -> list[Element]:
        """MOD-2: the elements that are not late by app, ties in arrival order."""
        return sorted(
            (e for i, e in enumerate(elements) if not self.is_late(e, elements[:i])),
            key=lambda e: e.app,
        )

    def valid(self, element: Element) -> range:
        """MOD-3: the instants from app to end, both included."""
        return range(element.app, (element.app if element.end is None else element.end) + 1)

    def count(self, window: Window) -> list[int]:
        """WIN-6, WIN-16: the ids of the elements: positions from 1, or the number of triples so
        far.
        """
        return list(
            accumulate(
                len(e.graph) if window.unit is Unit.TRIPLES else 1
                for e in self.elements[window.stream]
            )
        )

    def merged(self) -> list[Arrival]:
        """ENG-5: all streams' elements by app, then sys, then the order in which the windows name
        the streams.
        """
        named = list(self.elements)
        arrivals = [
            Arrival(name, i, e.app, e.sys, e.batch or 0)
            for name in named
            for i, e in enumerate(self.elements[name])
        ]
        return sorted(arrivals, key=lambda a: (a.app, a.sys, named.index(require(a.stream))))

    def sentinel(self) -> list[Arrival]:
        """ENG-1: the arrival without payload, in a batch of its own, that a horizon appends."""
        horizon, ends = (
            self.semantics.horizon,
            [self.valid(e)[-1] for elements in self.elements.values() for e in elements],
        )
        if horizon is End.FLUSH and ends:
            waits = {
                window: self.slide(window) - 1 if window.kind is WindowKind.RANGE else 0
                for window in self.windows
            }
            horizon = (
                max(ends) + max(self.span(window) + waits[window] for window in self.windows) + 2
            )
        if isinstance(horizon, End):
            return []
        return [
            Arrival(
                None, 0, horizon, math.inf, max((a.batch for a in self.merged()), default=0) + 1
            )
        ]

    def own(self, arrival: Arrival) -> int:
        """WIN-6, TICK-6: an arrival's own instant: its app, or one less where [o, c) must be
        passed; of tuple windows its id.
        """
        window = self.windows[0]
        if window.kind is WindowKind.TUPLE:
            return (
                self.ids[window][arrival.place]
                if arrival.stream
                else max(self.ids[window], default=0) + 1
            )
        passed = (
            self.semantics.closing is Closing.PASSED
            and self.semantics.closure is Closure.RIGHT_OPEN
        )
        return arrival.app - 1 if passed else arrival.app

    def opened(self, window: Window, o: int, t: int) -> bool:
        """WIN-2: whether t is not before a window that opens at o. Without borders, o is its first
        instant.
        """
        return (
            o < t
            if window.kind in BORDERED and self.semantics.closure is Closure.LEFT_OPEN
            else o <= t
        )

    def unclosed(self, window: Window, c: int, t: int) -> bool:
        """WIN-2: whether t is not after a window that closes at c."""
        return (
            t < c
            if window.kind in BORDERED and self.semantics.closure is Closure.RIGHT_OPEN
            else t <= c
        )

    def slide(self, window: Window) -> int:
        """WIN-1, WIN-17: the slide stated, if it is honoured, or 1."""
        timed = window.kind in (WindowKind.TIME, WindowKind.RANGE)
        return 1 if timed and self.semantics.slide is Slide.IGNORED else window.slide or 1

    def earliest(self, window: Window) -> int | None:
        """t1: the first instant of the window's own stream."""
        return min(
            (self.instants(window, i)[0] for i in range(len(self.elements[window.stream]))),
            default=None,
        )

    def span(self, window: Window) -> int:
        """WIN-10: ω, of windows that have both borders."""
        has_both = window.kind in (WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE)
        return require(window.size) if has_both else 0

    def origin(self, window: Window) -> int | None:
        """WIN-10: where window 0 opens; none without the t1 that is needed."""
        t0, first, size = self.semantics.t0, self.earliest(window), self.span(window)
        if isinstance(t0, int) or t0 is T0.REGISTRATION:
            return self.registered if t0 is T0.REGISTRATION else t0
        if first is None or t0 is not T0.EPOCH:
            return first if first is None or t0 is T0.FIRST else first - size
        if not size:
            return first
        offset = require(self.semantics.offset)
        aligned = [o for o in self.integers if (o - offset) % self.slide(window) == 0]
        return next(
            o
            for o in aligned
            if any(t >= first for t in self.integers if self.unclosed(window, o + size, t))
        )

    def first_instant(self, window: Window) -> int:
        """WIN-5: the first instant of window 0; s0 is the instant before it."""
        origin = require(self.origins[window])
        return min(t for t in self.integers if self.opened(window, origin, t))

    def enumerate_windows(self, window: Window) -> Iterator[Extent]:
        """WIN-3, WIN-12, WIN-13: the windows of a kind, in the order of their numbers, if they have
        any.
        """
        first = self.starts[window] + 1
        match window.kind:
            case WindowKind.LANDMARK:
                yield Extent(0, None, tuple(t for t in self.integers if t >= first))
            case WindowKind.UNBOUNDED | WindowKind.ROWS | WindowKind.PARTITION:
                yield Extent(None, None, tuple(self.integers))
            case _:
                number, o = self.least(window)
                while (c := o + self.span(window)) in self.integers:
                    instants = [
                        t
                        for t in self.integers
                        if self.opened(window, o, t) and self.unclosed(window, c, t)
                    ]
                    clipped = number < 0 and self.semantics.partial is Partial.CLIPPED  # WIN-11
                    borders = None if window.kind is WindowKind.NOW else (o, c)
                    yield Extent(
                        number, borders, tuple(t for t in instants if t >= first or not clipped)
                    )
                    number, o = number + 1, o + self.slide(window)

    def least(self, window: Window) -> tuple[int, int]:
        """WIN-11: number and opening of the first window: 0, or, a slide earlier each, the last
        that t0 cuts.
        """
        number, o = 0, (t0 := require(self.origins[window]))
        while (
            self.semantics.partial is not Partial.SUPPRESSED
            and o - self.slide(window) + self.span(window) > t0
        ):
            number, o = number - 1, o - self.slide(window)
        return number, o

    def current(self, window: Window, t: int) -> Extent | None:
        """WIN-4, WIN-5, WIN-12: the first window that is not wholly in the past; CQL's: the last
        that has ended.
        """
        if window not in self.starts or t < self.starts[window]:
            return None
        match window.kind:
            case WindowKind.TIME | WindowKind.TUPLE:
                return next(extent for extent in self.extents[window] if extent.instants[-1] >= t)
            case WindowKind.RANGE | WindowKind.NOW:
                return next(
                    (
                        extent
                        for extent in reversed(self.extents[window])
                        if extent.instants[-1] <= t
                    ),
                    None,
                )
            case _:
                return self.extents[window][0]

    def scope(self, window: Window, t: int) -> frozenset[int]:
        """WIN-5, WIN-12, WIN-13: of windows that have not ended the part up to t, of CQL's, which
        have, all.
        """
        extent, whole = self.current(window, t), window.kind in (WindowKind.RANGE, WindowKind.NOW)
        return frozenset(u for u in extent.instants if u <= t or whole) if extent else frozenset()

    def content(self, window: Window, t: int, k: int) -> Content:
        """WIN-8, ENG-5: what arrived of the window's own stream before arrival k and is in the
        window at t.
        """
        arrived = [
            arrival.place for arrival in self.arrivals[:k] if arrival.stream == window.stream
        ]
        if self.current(window, t) is None:
            return ()
        match window.kind:
            case WindowKind.ROWS:
                return tuple(self.rows(window, arrived))
            case WindowKind.PARTITION:
                return tuple(
                    j
                    for n, j in enumerate(arrived)
                    if self.among_latest(window, j, arrived[n + 1 :])
                )
        return tuple(
            j for j in arrived if not self.scope(window, t).isdisjoint(self.instants(window, j))
        )

    def instants(self, window: Window, index: int) -> Sequence[int]:
        """WIN-6, WIN-18: the instants of an element: those of its validity, or its id."""
        return (
            [self.ids[window][index]]
            if window.kind is WindowKind.TUPLE
            else self.valid(self.elements[window.stream][index])
        )

    def rows(self, window: Window, arrived: list[int]) -> list[int]:
        """WIN-14: the latest ids, up to the last multiple of the slide that has arrived."""
        ids = self.ids[window]
        up_to = max(
            i
            for i in range(max((ids[j] for j in arrived), default=0) + 1)
            if i % self.slide(window) == 0
        )
        return [j for j in arrived if up_to - require(window.size) < ids[j] <= up_to]

    def among_latest(self, window: Window, index: int, later: list[int]) -> bool:
        """WIN-15: an element stays until so many later ones have its key."""
        later_of_key = sum(self.key(window, j) == self.key(window, index) for j in later)
        return later_of_key < require(window.size)

    def key(self, window: Window, index: int) -> list[str]:
        """WIN-15: positions of an element of one triple, or the one object of a predicate."""
        graph = self.elements[window.stream][index].graph
        named = [
            dict(zip(POSITIONS, triple, strict=True)) | {triple[1].strip("<>"): triple[2]}
            for triple in graph
        ]
        return [terms[by] for by in window.by for terms in named if by in terms]

    def ticks(self, before: Arrival, now: Arrival) -> bool:
        """TICK-1 to TICK-3: which arrivals are looked at, after the one last looked at."""
        return {
            Tick.TUPLE: True,
            Tick.TIME: now.app > before.app,
            Tick.BATCH: now.batch > before.batch,
        }[self.semantics.tick]

    def interval(self, before: int, now: int) -> list[int]:
        """TICK-4, TICK-7, WIN-5: from s0 on, from the arrival last looked at up to this one; at its
        own instant if that is the same, or if something expires there and is seen at once.
        """
        last = before == now or (self.semantics.expiry is Expiry.EAGER and self.moves(now))
        return [
            t
            for t in self.integers
            if t >= self.start and (before <= t < now or (t == now and last))
        ]

    def moves(self, t: int) -> bool:
        """TICK-7: whether at t another window takes the place of one that was looked at."""
        timed = [window for window in self.windows if window.kind is not WindowKind.TUPLE]
        return any(
            self.current(window, t - 1) not in (None, self.current(window, t)) for window in timed
        )

    def reports(self) -> Iterator[Reported]:
        """TICK-5: arrival by arrival; the first interval starts at s0. REP-2, REP-8: all contents
        are empty at first.
        """
        if not self.starts:
            return
        self.reported: tuple[Content, ...] = tuple(() for _ in self.windows)
        self.previous = self.reported
        before, looked_at = self.start, Arrival(None, 0, self.start, 0, 0)
        for k, arrival in enumerate(self.arrivals):
            if self.ticks(looked_at, arrival):
                instants = self.interval(before, self.own(arrival))
                yield from (
                    self.by_tick(instants, k)
                    if self.windows[0].kind is WindowKind.TUPLE
                    else self.by_instant(instants, k)
                )
                before, looked_at = self.own(arrival), arrival

    def border(self, t: int) -> int:
        """REP-4: the instant at which the last instant of a window counts as its c."""
        return t + 1 if self.semantics.closure is Closure.RIGHT_OPEN else t

    def anchor(self, window: Window) -> int | None:
        """REP-11: what a period counts from."""
        anchor = self.semantics.anchor
        if isinstance(anchor, Anchor):
            return self.origins[window] if anchor is Anchor.T0 else self.earliest(window)
        return anchor

    def holds(self, condition: Condition, number: int, t: int, k: int) -> bool:
        """REP-1 to REP-4: one condition of one window at instant t of arrival k; none without a
        scope (ENG-5).
        """
        window = self.windows[number]
        if self.current(window, t) is None:
            return False
        match condition:
            case Condition.CLOSE:
                return any(e.instants[-1] == t for e in self.extents[window]) and t < self.own(
                    self.arrivals[k]
                )
            case Condition.CHANGE:
                # REP-8
                against = self.reported if self.semantics.against is Against.LAST else self.previous
                return self.differs(window, self.content(window, t, k), against[number])
            case Condition.NON_EMPTY:
                return self.content(window, t, k) != ()
            case Condition.PERIODIC:
                anchor = self.anchor(window)
                period = require(self.semantics.period)
                return anchor is not None and (self.border(t) - anchor) % period == 0

    def differs(self, window: Window, content: Content, other: Content) -> bool:
        """REP-9: by element, or by the triples in them."""
        same = self.union(window, content) == self.union(window, other)
        return not same if self.semantics.change is Change.GRAPH else content != other

    def timely(self, number: int, instants: list[int], k: int) -> list[int]:
        """REP-5: the instants at which the conditions on the instant hold for a window."""
        return [
            t
            for t in instants
            if all(self.holds(c, number, t, k) for c in self.semantics.report & ON_INSTANTS)
        ]

    def worthy(self, number: int, t: int, k: int) -> bool:
        """REP-6: whether the conditions on the content hold for a window, which has a scope
        (ENG-5).
        """
        scoped = self.current(self.windows[number], t) is not None
        return scoped and all(
            self.holds(c, number, t, k) for c in self.semantics.report - ON_INSTANTS
        )

    def fires(self, held: list[bool]) -> bool:
        """REP-12: whether the query is evaluated, by whether the conditions
        hold for each window.
        """
        marked = any(
            holds and window.triggers for window, holds in zip(self.windows, held, strict=True)
        )
        verdicts = {
            Trigger.ANY: any(held),
            Trigger.ALL: all(held),
            Trigger.LEADING: held[0],
            Trigger.EXPLICIT: marked,
        }
        return verdicts[self.semantics.trigger]

    def contents(self, t: int, k: int) -> tuple[Content, ...]:
        """The content of each window at instant t of arrival k."""
        return tuple(self.content(window, t, k) for window in self.windows)

    def report(self, t: int, k: int) -> Reported:
        """REP-12: the report of instant t at arrival k; the contents of all windows are now the
        last ones.
        """
        self.reported = self.contents(t, k)
        shown = [self.current(window, t) or Extent(None, None, ()) for window in self.windows]
        return Reported(
            t,
            k,
            tuple(
                Held(e.number, e.borders, content)
                for e, content in zip(shown, self.reported, strict=True)
            ),
        )

    def by_instant(self, instants: list[int], k: int) -> Iterator[Reported]:
        """REP-6, REP-10: a report at each instant where all the conditions hold; or, as nothing is
        reported before the gap has ended, at the greatest of them.
        """
        timely, held = [self.timely(number, instants, k) for number in range(len(self.windows))], []
        for t in instants:
            if self.fires(
                [
                    t in timely[number] and self.worthy(number, t, k)
                    for number in range(len(self.windows))
                ]
            ):
                if self.semantics.gap is Gap.ALL:
                    yield self.report(t, k)
                else:
                    held.append(t)
            self.previous = self.contents(t, k)
        if held:
            yield self.report(max(held), k)

    def by_tick(self, ids: list[int], k: int) -> Iterator[Reported]:
        """REP-7: the largest id at which close and periodic hold, if the rest holds at the tick's
        largest id.
        """
        for t in ids[:-1]:
            self.previous = self.contents(t, k)
        timely = self.timely(0, ids, k)
        if timely and self.fires([self.worthy(0, ids[-1], k)]):
            yield self.report(timely[-1], k)
        self.previous = self.contents(ids[-1], k) if ids else self.previous

    def stamp(self, t: int, k: int) -> int:
        """ENG-4: the output instant. No arrival is before the first, so the evaluation instant
        stands in for an eager one.
        """
        stamps = {
            Instant.CLOSE: self.border(t),
            Instant.EVALUATION: t,
            Instant.TRIGGER: self.arrivals[k].app,
        }
        return {**stamps, Instant.EAGER: self.arrivals[k - 1].app if k else t}[
            self.semantics.instant
        ]

    def union(self, window: Window, content: Content) -> Dataset:
        """R2R-1, R2R-8: the triples of a content, in the default graph or in the one that the
        window names.
        """
        elements = self.elements[window.stream]
        triples = frozenset(triple for j in content for triple in elements[j].graph)
        if window.name is None:
            return triples
        return frozenset((*triple, f"<{window.name}>") for triple in triples)

    def dataset(self, contents: Sequence[Content]) -> Dataset:
        """R2R-8: what the body sees: the windows' triples and, always, the static ones."""
        return self.static.union(
            *(
                self.union(window, content)
                for window, content in zip(self.windows, contents, strict=True)
            )
        )

    def collected(self, answer: Bag) -> Bag:
        """R2R-9: all rows, or one of each."""
        return answer if self.semantics.collection is Collection.BAG else Counter(set(answer))

    def rebase(self, base: Bag, answer: Bag, output: Bag) -> Bag:
        """R2S-4, R2S-8: the next base is this evaluation's answer, emitted or not, or only one that
        holds something new.
        """
        return answer if self.semantics.base is not Base.NEW or more(answer, base) else base

    def emits(self, output: Bag, before: Bag) -> bool:
        """R2S-5, R2S-9: whether an output goes out, after the output before it."""
        empty = self.semantics.empty
        return bool(output) or empty is Empty.EMIT or (empty is Empty.ONCE and bool(before))

    def dropped(self, trigger: Arrival) -> int:
        """MOD-2: how many elements were late before the trigger arrived."""
        return sum(element.sys < trigger.sys for element in self.late)

    def kept(self, contents: Sequence[Content], before: Sequence[Content]) -> list[Content]:
        """R2S-7: of each window the elements that were in it at the evaluation before, too."""
        return [
            tuple(j for j in now if j in then) for now, then in zip(contents, before, strict=True)
        ]

    def emitted(self, answer: Callable[[Dataset], Bag], stated: R2S | None) -> Iterator[Emitted]:
        """R2S-1 to R2S-9: the answer at each report, the operator that the query states or the
        semantics, then empty outputs.
        """
        base: Bag = Counter()
        output: Bag = Counter()
        contents: tuple[Content, ...] = ((),) * len(self.windows)
        for t, k, held in self.reports():
            contents, before = tuple(window.content for window in held), contents
            rows = self.collected(answer(self.dataset(contents)))
            old = self.collected(answer(self.dataset(self.kept(contents, before))))
            outputs = {
                R2S.RSTREAM: rows,
                R2S.ISTREAM: more(rows, base),
                R2S.DSTREAM: more(base, rows),
                R2S.APPEND: more(rows, old),
            }
            previous, output = output, outputs[stated or self.semantics.r2s]
            base = self.rebase(base, rows, output)
            if self.emits(output, previous):
                borders, trigger = tuple(window.borders for window in held), self.arrivals[k]
                yield Emitted(
                    t,
                    trigger.app,
                    borders,
                    self.stamp(t, k),
                    contents,
                    self.dropped(trigger),
                    output,
                )


def more(a: Bag, b: Bag) -> Bag:
    """R2S-2: what a holds more often than b, row by row."""
    return Counter({row: a[row] - b[row] for row in a if a[row] > b[row]})
