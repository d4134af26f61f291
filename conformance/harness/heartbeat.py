"""The instants at which an engine is sent the time between elements: those of its heartbeat at
which there may be something new, since a window has opened or closed. PROTOCOL.md says it in words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import gcd
from operator import attrgetter
from typing import NamedTuple

from conformance.harness.engine_file import Engine
from refengine.core.profile import UNKNOWN, Profile
from refengine.core.query import WindowKind
from refengine.core.question import Question
from refengine.core.report import anchor
from refengine.core.semantics import Semantics
from refengine.core.window import WindowView, view
from refengine.model.elements import TIME_BOUND, valid
from refengine.model.errors import RefengineError, require
from refengine.oracle.beginnings import is_range

# Between two elements at most so many of the first instants are sent, and so many of the last.
MOST_AT_EACH_END = 500
# Kinds whose windows open and close at application times.
WITH_BORDERS = frozenset({WindowKind.TIME, WindowKind.RANGE, WindowKind.NOW, WindowKind.LANDMARK})
NEVER = 4 * TIME_BOUND  # a step after which there is no time any more


class PeriodicInstants(NamedTuple):
    """Instants that recur: `start` plus each multiple of `step`, before `start` and after it."""

    start: int
    step: int

    def next_after(self, t: int) -> int:
        """Return the first of the instants after t.

        >>> PeriodicInstants(3, 10).next_after(12), PeriodicInstants(3, 10).next_after(13)
        (13, 23)
        """
        return t + 1 + (self.start - t - 1) % self.step

    def latest_by(self, t: int) -> int:
        """Return the last of the instants at or before t.

        >>> PeriodicInstants(3, 10).latest_by(12), PeriodicInstants(3, 10).latest_by(13)
        (3, 13)
        """
        return t - (t - self.start) % self.step


@dataclass(frozen=True)
class Heartbeat:
    """How often an engine is sent the time: at instants of which each is 1 plus a multiple of
    `every` ms. Something new may be there only at `changes`. `expiries` are instants, in ascending
    order, that are seen to even where there are too many changes to send all. After the last window
    time goes on for `delay` ms more, the delay of the engine's watermark.
    """

    every: int
    changes: frozenset[PeriodicInstants] = frozenset()
    expiries: tuple[int, ...] = ()
    delay: int = 0

    def instants(self, after: int, until: int) -> list[int]:
        """Return the instants that are sent in (after, until], in their order: the first and the
        last that there are, and the first at or after each change.

        >>> borders_of_ten_by_five = frozenset({PeriodicInstants(0, 5), PeriodicInstants(1, 5)})
        >>> Heartbeat(1, borders_of_ten_by_five).instants(12, 31)
        [13, 15, 16, 20, 21, 25, 26, 30, 31]
        """
        first = islice(self._ascending(after, until), MOST_AT_EACH_END)
        last = islice(self._descending(after, until), MOST_AT_EACH_END)
        begin = bisect_right(self.expiries, after)
        end = bisect_right(self.expiries, until)
        expiries = map(self._at_or_after, self.expiries[begin:end])
        in_time = [instant for instant in expiries if instant <= until]
        return sorted({*first, *last, *in_time})

    def _ascending(self, after: int, until: int) -> Iterator[int]:
        """Yield the first instant in (after, until], and then those at or after each change."""
        instant = self._at_or_after(after + 1)
        while instant <= until:
            yield instant
            # A change by `instant` has been seen with it, so the next one counts.
            coming = [change.next_after(instant) for change in self.changes]
            instant = self._at_or_after(min(coming, default=NEVER))

    def _descending(self, after: int, until: int) -> Iterator[int]:
        """Yield the last instant in (after, until], and then those at or after each change, the
        latest first.
        """
        instant = self._at_or_after(until + 1) - self.every
        while instant > after:
            yield instant
            # A later change than the instant before is seen with `instant`.
            before = instant - self.every
            earlier = [change.latest_by(before) for change in self.changes]
            instant = self._at_or_after(max(earlier, default=-NEVER))

    def _at_or_after(self, t: int) -> int:
        """Return the first instant of the heartbeat at or after t, whether it is sent or not."""
        return t + (1 - t) % self.every


def heartbeat_for(tested: Engine, question: Question) -> Heartbeat | None:
    """Return the heartbeat that an engine is sent during a question; None if its file asks for
    none, or the engine is sent its semantics with each question.

    Something new may be there at each border that a window has under the semantics that the engine
    claims, or under one with the fields of a known deviation, and one ms later.
    """
    if not tested.heartbeat or tested.is_configurable:
        return None
    profile = tested.profile_for(question.query)
    profiles = [profile, *(profile.but(**each.fields) for each in tested.deviations)]
    borders = {
        border for possible in profiles for border in _borders(question, possible, tested.heartbeat)
    }
    changes = {
        PeriodicInstants((border.start + delay) % border.step, border.step)
        for border in borders
        for delay in (0, 1)
    }
    expiries: list[int] = []
    is_sliding = any(change.step == 1 for change in changes)  # there may be too many to send all
    has_lag = any(spec.lag for spec in question.query.windows)
    if is_sliding or has_lag:
        expiries = sorted(set(_expiries(question)))
    return Heartbeat(tested.heartbeat, frozenset(changes), tuple(expiries), tested.watermark_delay)


def _expiries(question: Question) -> Iterator[int]:
    """Yield the instants at which elements leave windows that slide with every instant: with a
    range of 10 an element at 3 leaves at 13 or 14, as the borders belong to the window or not. An
    element enters a window with a lag when that has passed.
    """
    for spec in question.query.windows:
        if spec.kind in WITH_BORDERS:
            for element in question.streams.get(spec.stream, ()):
                leaves = valid(element)[1] + spec.span + spec.lag
                yield from (leaves, leaves + 1)
                if spec.lag:
                    yield element.app + spec.lag


def _borders(question: Question, profile: Profile, every: int) -> Iterator[PeriodicInstants]:
    """Yield where windows open and close, and where reports are due, under each semantics that a
    profile allows. An engine that waits for late elements, or whose watermark has a delay, may see
    to a border so much later.
    """
    # 0 stands for a t0 of any value: its borders are among the multiples that count then.
    is_any_t0 = is_range(profile.fields.get("t0", UNKNOWN))
    for fields in profile.assignments((0,)):
        try:
            semantics = Semantics(**fields)
            views = list(_views(question, semantics))
        except RefengineError:  # the judge says what contradicts itself
            continue
        borders = {border for window in views for border in _borders_of_window(window, semantics)}
        if is_any_t0:
            borders.update(_borders_of_any_t0(borders, every))
        borders.update(_ends_of_sessions(question))
        for waits in _waits(semantics):
            for border in borders:
                yield border._replace(start=border.start + waits)


def _waits(semantics: Semantics) -> Iterator[int]:
    """Yield how much later than at a border an engine may see to it: not at all, by the delay of
    its watermark, and by both this and its grace or the bound on lateness.
    """
    delay = semantics.watermark_delay or 0
    yield from {0, delay}
    if isinstance(semantics.allowed_lateness, int):
        yield delay + semantics.allowed_lateness


def _ends_of_sessions(question: Question) -> Iterator[PeriodicInstants]:
    """Yield a gap after each element, where a session may end."""
    for spec in question.query.windows:
        if spec.kind is WindowKind.SESSION:
            for element in question.streams.get(spec.stream, ()):
                yield PeriodicInstants(valid(element)[1] + require(spec.size), NEVER)


def _views(question: Question, semantics: Semantics) -> Iterator[WindowView]:
    """Yield the windows of a question that are over times, as they lie under a semantics. A window
    comes twice if its first element by arrival is not the first by time, since t0 may count from
    either (MOD-2).
    """
    for spec in question.query.windows:
        if spec.kind is WindowKind.TUPLE:  # its instants are ids
            continue
        elements = question.streams.get(spec.stream, ())
        by_arrival = list(islice(elements, 1))
        by_time = by_arrival and [min(elements, key=attrgetter("app"))]
        for first in (by_arrival, by_time):
            yield view(spec, first, semantics, question.query.registered)


def _borders_of_window(window: WindowView, semantics: Semantics) -> Iterator[PeriodicInstants]:
    """Yield where the windows open and close that one window of a query stands for, and where its
    periodic reports are due.
    """
    spec = window.spec
    if window.t0 is not None and spec.kind is WindowKind.LANDMARK:
        yield PeriodicInstants(window.t0, NEVER)
    elif window.t0 is not None and spec.kind in WITH_BORDERS:
        yield PeriodicInstants(window.t0, spec.step)
        yield PeriodicInstants(window.t0 + spec.span, spec.step)
    since = anchor(semantics, window)
    if semantics.period is not None and since is not None:
        yield PeriodicInstants(since, semantics.period)


def _borders_of_any_t0(
    borders_of_zero: Iterable[PeriodicInstants], every: int
) -> Iterator[PeriodicInstants]:
    """Yield the instants that count as borders if t0 can be any value, from the borders with t0 =
    0: the multiples of the greatest number g that divides all their distances, and `every` ms
    before, so that the last instant of a heartbeat before each multiple is sent, too.

    Two borders are at least g apart. If an instant of the heartbeat is between two, then so is the
    last one before a multiple, or the first one after it.

    >>> ten_by_four = [PeriodicInstants(0, 4), PeriodicInstants(10, 4)]
    >>> list(_borders_of_any_t0(ten_by_four, 1))
    [PeriodicInstants(start=0, step=2), PeriodicInstants(start=-1, step=2)]
    """
    lengths = [length for border in borders_of_zero for length in border if length != NEVER]
    step = gcd(*lengths)
    if step:
        yield PeriodicInstants(0, step)
        yield PeriodicInstants(-every, step)
