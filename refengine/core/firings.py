"""§16 Firings: when every window is reported (REP-14 to REP-16), over what it took in before it
expired (WIN-22), sessions among them (WIN-23).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from typing import NamedTuple

from refengine.core import report
from refengine.core.plan import Plan
from refengine.core.query import WindowKind
from refengine.core.schedule import (
    MAX_REPORTS,
    Cause,
    Evaluation,
    Schedule,
    WindowContent,
    interval_with_arrivals,
    refuse_too_many_reports,
)
from refengine.core.values import Condition, SessionBorder
from refengine.core.window import Content, borders, borders_of_window
from refengine.model.elements import valid
from refengine.model.errors import Unsupported, require

MOST_WINDOWS = 1_000_000  # that take in one element
FEW_INSTANTS = 8  # that are listed; of more a window gives one after the other


def schedule_without_keys(planned: Plan, max_reports: int) -> Schedule:
    """Return the schedule of a plan without keys: of the active windows, or of every window."""
    if planned.semantics.reported_windows.is_every:
        return FiringSchedule(planned, max_reports)
    return Schedule(planned, max_reports)


class LastReport(NamedTuple):
    """What a window held when it was reported last, its borders then, and whether an element joined
    it after it had expired.
    """

    borders: tuple[int, int] | None
    content: tuple[int, ...]
    joined_after_expiry: bool = False


@dataclass(eq=False, slots=True)
class HeldWindow:
    """A window that is there, and what it holds. It equals itself alone.

    `number` is its number, None for a session. `first` and `last` are its first and last instant.
    `content` has the indices of its elements, ascending, and `shown` what it held when it was
    reported last: several, for a session that is made of several which were reported.
    """

    number: int | None
    first: int
    last: int
    content: list[int] = field(default_factory=list)
    shown: list[LastReport] = field(default_factory=list)

    @property
    def place(self) -> tuple[int, int]:
        """Its place in the order of windows (REP-14)."""
        return self.last, self.first

    @property
    def shown_content(self) -> list[int]:
        """The elements that were shown, ascending."""
        return sorted(index for one in self.shown for index in one.content)


def one_by_one(
    window: HeldWindow, ranges: Sequence[range]
) -> Iterator[tuple[int, HeldWindow, bool]]:
    """Yield the instants of some ranges, each once, ascending, as candidates of a window."""
    return ((t, window, False) for t, _ in groupby(merge(*ranges)))


def order_of_candidates(candidate: tuple[int, HeldWindow, bool]) -> tuple[int, int, int]:
    """Return the place of a candidate: by its instant, then the order of windows."""
    t, window, _ = candidate
    return t, window.last, window.first


class FiringSchedule(Schedule):
    """The evaluations of a plan where every window is reported, arrival after arrival.

    Between two instants at which elements are seen first, what each window holds is constant. There
    the conditions are tested at those instants alone at which they can begin to hold.
    """

    def __init__(self, planned: Plan, max_reports: int = MAX_REPORTS) -> None:
        super().__init__(planned, max_reports)
        self.windows: list[HeldWindow] = []  # in the order of their last, then first instants
        self.by_number: dict[int, HeldWindow] = {}  # those of them that have a number
        self.arrivals_seen = 0  # how many arrivals windows have taken in, or refused
        self.last_own: int | None = None  # of these arrivals: the watermark, if there is one

    def arrive(self, k: int) -> Iterator[Iterator[Evaluation]]:
        """Yield the evaluations of arrival k, from 0, each as a group. Those of the arrivals before
        it must have been drawn. Raises TooManyReports.
        """
        interval = self.look_at(k)
        if interval is None:
            return
        own = self.planned.own[k]
        interval = interval_with_arrivals(interval, own, self.report_state.arrived)
        for stretch in self.stretches(k, interval):
            touched = self.take_in(stretch.start, k)
            if not interval:
                break
            candidates = self.candidates(k, interval, stretch, touched)
            for t, group in groupby(candidates, key=itemgetter(0)):
                for held, cause in self.reported_at(t, k, list(group)):
                    for evaluation in self.show(held, t, k):
                        yield self.counted(evaluation._replace(cause=cause))
        self.forget(own)

    def reported_at(
        self, t: int, k: int, candidates: list[tuple[int, HeldWindow, bool]]
    ) -> Iterator[tuple[HeldWindow, Cause]]:
        """Yield the windows that are reported at t, each with why. Each must have been shown before
        the next one is drawn.
        """
        for visit, is_of_window in enumerate(self.visits(t)):
            for _, held, is_late in candidates:
                if is_of_window and self.is_reported(held, t, k, is_late):
                    yield held, Cause.AGAIN if is_late else Cause.OPEN
                elif visit == 0 and not is_late and self.is_early(held, t, k):
                    yield held, Cause.EARLY

    def counted(self, evaluation: Evaluation) -> Iterator[Evaluation]:
        """ENG-3: Count an evaluation, and return it as a group. Raises TooManyReports."""
        self.report_state.count += 1
        refuse_too_many_reports(
            self.report_state.count, self.max_reports, self.planned, evaluation.arrival
        )
        return iter((evaluation,))

    def visits(self, t: int) -> list[bool]:
        """REP-13: Return how often windows are tested at t: once, or, if the report is of arrivals,
        for each one that came; and each time whether it is of the window's stream.
        """
        if Condition.ARRIVAL not in self.planned.semantics.report:
            return [True]
        came = [bool(one.windows) for one in self.report_state.arrived if one.own == t]
        return came or [False]

    # What windows hold: WIN-8, WIN-22, WIN-23

    @property
    def sees_all_arrivals(self) -> bool:
        """WIN-23, MOD-5: Whether all elements before an arrival are seen, also those that begin
        later than the instant at which it is tested: for sessions, and where a window decides what
        is late.
        """
        is_session = self.planned.views[0].spec.kind is WindowKind.SESSION
        return is_session or self.planned.semantics.late_for.is_window

    def stretches(self, k: int, interval: range) -> Iterator[range]:
        """Yield the stretches of an interval in which no further element is seen."""
        starts = [interval.start]
        if interval and not self.sees_all_arrivals:
            apps = [arrival.app for arrival in self.planned.arrivals[self.arrivals_seen : k]]
            starts += dict.fromkeys(app for app in apps if app in interval[1:])
        for start, stop in zip(starts, [*starts[1:], interval.stop], strict=True):
            yield range(start, stop)

    def take_in(self, t: int, k: int) -> Iterable[HeldWindow]:
        """WIN-22: Give the elements that are seen at t, before arrival k, to their windows. Return
        the windows that took one in.
        """
        touched: dict[HeldWindow, None] = {}
        (counts,) = self.planned.counts
        while self.arrivals_seen < k:
            app = self.planned.arrivals[self.arrivals_seen].app
            if app > t and not self.sees_all_arrivals:
                break
            index = counts[self.arrivals_seen]
            if counts[self.arrivals_seen + 1] > index:  # not of another key, and no punctuation
                for window in self.windows_of(index):
                    window.content.append(index)
                    touched[window] = None
            self.last_own = self.planned.own[self.arrivals_seen]
            self.arrivals_seen += 1
        return touched

    def windows_of(self, index: int) -> list[HeldWindow]:
        """Return the windows that take in an element. It has not been added to their contents."""
        view = self.planned.views[0]
        first, last = valid(view.elements[index])
        if view.spec.kind is WindowKind.SESSION:
            return self.session_of(first, last)
        frame = require(view.frame)
        lowest = max(frame.least, -((frame.last - first) // frame.slide))
        highest = (last - frame.first) // frame.slide
        if highest - lowest >= MOST_WINDOWS:
            count = highest - lowest + 1
            raise Unsupported(
                f"an element at {first} is in {count} windows, of which at most {MOST_WINDOWS} are "
                "each reported on their own; write a larger slide, or reported_windows=active",
                rule="REP-14",
            )
        numbers = range(lowest, highest + 1)
        return [window for n in numbers if (window := self.numbered(n, first, last)) is not None]

    def numbered(self, n: int, first: int, last: int) -> HeldWindow | None:
        """WIN-22: Return window n, which is made if it is not there; None if it has expired, or has
        no instant from `first` to `last`, since it is clipped (WIN-11).
        """
        window = self.by_number.get(n) or self.without_elements(n)
        if last < window.first or first > window.last or self.has_expired(window.last):
            return None
        return self.add(window)

    def without_elements(self, n: int) -> HeldWindow:
        """Return window n as it is before it takes in an element."""
        frame = require(self.planned.views[0].frame)
        begins = frame.first + n * frame.slide
        if frame.floor is not None:
            begins = max(begins, frame.floor)
        return HeldWindow(n, begins, frame.last + n * frame.slide)

    def add(self, window: HeldWindow) -> HeldWindow:
        """Add a window at its place, unless it is there, and return it."""
        if window.number is None or window.number not in self.by_number:
            insort(self.windows, window, key=attrgetter("place"))
        if window.number is not None:
            self.by_number[window.number] = window
        return window

    def is_there(self, window: HeldWindow) -> bool:
        """Return whether a window is still there: a session may have become part of another."""
        place = bisect_left(self.windows, window.place, key=attrgetter("place"))
        end = bisect_right(self.windows, window.place, key=attrgetter("place"))
        return window in self.windows[place:end]

    def session_of(self, first: int, last: int) -> list[HeldWindow]:
        """WIN-23: Return the session that an element joins, of which `first` and `last` are the
        first and the last instant: those that are near it become one. Nothing is returned for an
        element that is late, since that session has expired.
        """
        gap = require(self.planned.views[0].spec.size)
        can_join = self.planned.semantics.expired_session.can_be_joined
        place = bisect_left(self.windows, first - 1, key=attrgetter("last"))  # others ended before
        later = self.windows[place:]
        near = [
            session
            for session in later
            if self.is_near(session, first, last)
            and (can_join or not self.has_expired(session.last))
        ]
        session = HeldWindow(None, first, last + gap - 1)
        if self.has_expired(max([session.last, *(other.last for other in near)])):
            return []
        for other in near:
            session.first = min(session.first, other.first)
            session.last = max(session.last, other.last)
            session.content += other.content
            had_expired = self.has_expired(other.last)
            session.shown += [
                one._replace(joined_after_expiry=one.joined_after_expiry or had_expired)
                for one in other.shown
            ]
        self.windows[place:] = [other for other in later if other not in near]
        session.content.sort()
        session.shown.sort()
        return [self.add(session)]

    def is_near(self, session: HeldWindow, first: int, last: int) -> bool:
        """WIN-23: Return whether an element with this first and last instant joins a session."""
        gap = require(self.planned.views[0].spec.size)
        apart = max(first - (session.last - gap + 1), session.first - last)
        return apart < gap or (apart == gap and self.planned.semantics.exact_gap.joins_at_gap)

    def has_expired(self, last: int) -> bool:
        """WIN-22: Return whether a window with this last instant has expired: whether the watermark
        after the arrivals seen so far has reached, or passed, the instant after its last one, and
        the grace.
        """
        semantics = self.planned.semantics
        watermark = self.last_own
        if watermark is None or semantics.expiry_rule is None:
            return False
        end = last + 1 + int(semantics.allowed_lateness)
        return watermark > end or (
            watermark == end and not semantics.expiry_rule.needs_later_watermark
        )

    def forget(self, own: int) -> None:
        """Forget the windows that no further element joins and no further arrival closes. `own` is
        the own instant of the arrival last looked at. None is forgotten where an expired session
        can be joined: a session that has not expired may grow back to it, element by element.
        """
        view = self.planned.views[0]
        longer = 0
        if view.spec.kind is WindowKind.SESSION:
            longer = require(view.spec.size)
            if self.planned.semantics.expired_session.can_be_joined:
                return
        is_window = self.planned.semantics.late_for.is_window

        def is_needed(window: HeldWindow) -> bool:
            can_take_in = is_window and not self.has_expired(window.last)
            return window.last + longer >= own or can_take_in

        count = bisect_left(self.windows, True, key=is_needed)
        for window in self.windows[:count]:
            if window.number is not None:
                del self.by_number[window.number]
        del self.windows[:count]

    # When they are reported: REP-14, REP-15

    def candidates(
        self, k: int, interval: range, stretch: range, touched: Iterable[HeldWindow]
    ) -> Iterator[tuple[int, HeldWindow, bool]]:
        """Yield (t, window, is_late) for each instant of a stretch at which a window may be
        reported, in the order of the instants, then of the windows. `is_late` is whether the window
        has closed, and taken in a late element. They are drawn one by one, since there may be very
        many.
        """
        late = [each for each in touched if self.start <= each.last < interval.start]
        for window in sorted(filter(self.is_there, late), key=attrgetter("place")):
            yield stretch.start, window, True
        begin = bisect_left(self.windows, max(stretch.start, self.start), key=attrgetter("last"))
        few: list[tuple[int, HeldWindow, bool]] = []
        many: list[Iterator[tuple[int, HeldWindow, bool]]] = []
        for window in self.windows[begin:]:
            ranges = self.instants_of(window, stretch)
            if sum(map(len, (each[: FEW_INSTANTS + 1] for each in ranges))) <= FEW_INSTANTS:
                few += [(t, window, False) for t in sorted({*chain(*ranges)})]
            else:
                many.append(one_by_one(window, ranges))
        few.sort(key=order_of_candidates)
        empty = self.candidates_without_elements(k, stretch, {*self.by_number})
        yield from merge(few, *many, empty, key=order_of_candidates)

    def candidates_without_elements(
        self, k: int, stretch: range, known: Collection[int]
    ) -> Iterator[tuple[int, HeldWindow, bool]]:
        """Yield the windows that are reported in a stretch although they hold nothing, but for
        those of the numbers that are `known`. They are kept only where it matters that they were
        reported: if that is taken back.
        """
        semantics = self.planned.semantics
        view = self.planned.views[0]
        if view.spec.kind is WindowKind.SESSION:
            return
        if not all(condition.is_on_instants for condition in semantics.report):
            return
        is_taken_back = semantics.panes.takes_back(None, None)
        timely: Iterable[int] = report.timely_instants(
            semantics, view, stretch, self.planned.own[k]
        )
        if Condition.ARRIVAL in semantics.report:
            timely = [t for t in self.instants_of_arrivals(stretch) if t in timely]
        for t in timely:
            for n in self.numbers_reported(t):
                if n not in known:
                    window = self.by_number.get(n) or self.without_elements(n)
                    yield t, self.add(window) if is_taken_back else window, False

    def numbers_reported(self, t: int) -> range:
        """Return the numbers of the windows for which the conditions on the instant hold at t: of
        the one that closes there, or of those that are open.
        """
        frame = require(self.planned.views[0].frame)
        if Condition.CLOSE in self.planned.semantics.report:
            n = (t - frame.last) // frame.slide
            return range(n, n + 1)
        lowest = max(frame.least, -((frame.last - t) // frame.slide))
        newest = t + (self.planned.semantics.watermark_delay or 0)
        if frame.floor is not None and newest < frame.floor:
            return range(0)
        return range(lowest, (newest - frame.first) // frame.slide + 1)

    def instants_of(self, window: HeldWindow, stretch: range) -> list[range]:
        """Return the instants of a stretch at which a window that is open may be reported: early,
        or because all conditions hold.
        """
        semantics = self.planned.semantics
        begins = window.first - (semantics.watermark_delay or 0)
        span = range(max(stretch.start, begins), min(stretch.stop, window.last + 1))
        if not span:
            return []
        if Condition.ARRIVAL in semantics.report:
            found = [range(t, t + 1) for t in self.instants_of_arrivals(span)]
        else:
            found = [self.timely_instants_of(window, span)]
        if semantics.early_count is not None:
            found.append(span[:1])
        if semantics.early_period is not None and window.content:
            high = borders(semantics.closure)[1]
            found.append(report.progression(high, semantics.early_period, span))
        return found

    def instants_of_arrivals(self, span: range) -> list[int]:
        """REP-13: Return the instants of a span at which an arrival came that is to be reported."""
        owns = (one.own for one in self.report_state.arrived)
        return [*dict.fromkeys(own for own in owns if own in span)]

    def timely_instants_of(self, window: HeldWindow, span: range) -> range:
        """Return the instants of a span at which the conditions on the instant may hold for an open
        window; the first one alone, where the conditions on the content hold there or nowhere.
        """
        semantics = self.planned.semantics
        found = span
        if Condition.CLOSE in semantics.report:
            found = span[-1:] if span[-1] == window.last else range(0)
        elif Condition.PERIODIC in semantics.report:
            found = report.periodic_instants(semantics, self.planned.views[0], span)
        is_once = Condition.CHANGE in semantics.report
        if Condition.NON_EMPTY in semantics.report:
            is_once = is_once or semantics.panes.shows_only_new or not window.content
        return found[:1] if is_once else found

    def is_reported(self, window: HeldWindow, t: int, k: int, is_late: bool) -> bool:
        """REP-14: Return whether all conditions hold for a window at t. `is_late` is whether it has
        closed, and taken in a late element.
        """
        named = self.planned.semantics.report
        return all(self.holds(condition, window, t, k, is_late) for condition in named)

    def holds(
        self, condition: Condition, window: HeldWindow, t: int, k: int, is_late: bool
    ) -> bool:
        """REP-14: Return whether a condition holds for a window at t."""
        semantics = self.planned.semantics
        view = self.planned.views[0]
        match condition:
            case Condition.CLOSE:
                return is_late or self.closes(window, t, k)
            case Condition.CHANGE:
                return report.differs(
                    semantics.change_scope, view, window.content, window.shown_content
                )
            case Condition.NON_EMPTY:
                return report.is_non_empty(self.pane(window))
            case Condition.PERIODIC:
                return bool(report.periodic_instants(semantics, view, range(t, t + 1)))
            case Condition.ARRIVAL:
                return any(self.visits(t))

    def closes(self, window: HeldWindow, t: int, k: int) -> bool:
        """REP-14, WIN-23: Return whether t is a window's last instant, and before the own instant
        of arrival k, which must not join it.
        """
        if t != window.last or t >= self.planned.own[k]:
            return False
        (counts,) = self.planned.counts
        is_of_window = counts[k] < counts[min(k + 1, len(counts) - 1)]
        if window.number is not None or not is_of_window:
            return True
        return not self.is_near(window, *valid(self.planned.arrivals[k]))

    def is_early(self, window: HeldWindow, t: int, k: int) -> bool:
        """REP-15: Return whether a window is reported early at t: because enough elements are new,
        or because it holds some and a period is over.
        """
        semantics = self.planned.semantics
        new = len(window.content) - len(window.shown_content)
        if semantics.early_count is not None and new >= semantics.early_count:
            return True
        if semantics.early_period is None or t >= self.planned.own[k]:
            return False
        border = t - borders(semantics.closure)[1]
        return border % semantics.early_period == 0 and bool(window.content)

    # What they show: REP-16

    def pane(self, window: HeldWindow) -> Content:
        """REP-16: Return the elements that a report of a window shows."""
        if self.planned.semantics.panes.shows_only_new:
            shown = {*window.shown_content}
            return tuple(index for index in window.content if index not in shown) or range(0)
        return tuple(window.content) or range(0)

    def show(self, window: HeldWindow, t: int, k: int) -> list[Evaluation]:
        """REP-16: Return the evaluation of a window, after those by which it takes back what it has
        shown, and remember what it shows.
        """
        found = []
        stated = self.borders_of(window)
        for one in window.shown:
            is_taken_back = self.planned.semantics.panes.takes_back(one.borders, stated)
            if is_taken_back and not one.joined_after_expiry:
                held = WindowContent(window.number, one.content or range(0), one.borders)
                found.append(Evaluation(t, k, (held,), takes_back=True))
        found.append(Evaluation(t, k, (WindowContent(window.number, self.pane(window), stated),)))
        window.shown = [LastReport(stated, tuple(window.content))]
        return found

    def borders_of(self, window: HeldWindow) -> tuple[int, int] | None:
        """WIN-23: Return the borders of a window; of a session those that it is said to have."""
        view = self.planned.views[0]
        if window.number is not None:
            return borders_of_window(view, window.number)
        gap = require(view.spec.size)
        match self.planned.semantics.session_border:
            case SessionBorder.GAP:
                return window.first, window.last + 1
            case SessionBorder.LAST:
                return window.first, window.last + 1 - gap
            case SessionBorder.NEXT:
                return window.first, window.last + 2 - gap
