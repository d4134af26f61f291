"""docs/firings.md §16: reports of every window (REP-14 to REP-16), as Flink, Beam and Kafka Streams
have them, with their late elements (MOD-5, WIN-22) and sessions (WIN-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from refengine.core.query import Window, WindowKind
from refengine.core.values import (
    Condition,
    ExactGap,
    ExpiredSession,
    ExpiryRule,
    LateFor,
    Panes,
    ReportedWindows,
    SessionBorder,
)
from refengine.enumeration.inputs import Borders, Content, QueryReport, ShownWindow, WindowInstance
from refengine.enumeration.reports import Reports
from refengine.model.errors import require


class Session(NamedTuple):
    """A session: the places of its elements, and those of each session that had expired when an
    element joined it.
    """

    content: Content
    joined_after_expiry: tuple[Content, ...]


class HeldWindow(NamedTuple):
    """A window, and the elements that it holds. A session also has what `Session` says."""

    instance: WindowInstance
    content: Content
    joined_after_expiry: tuple[Content, ...] = ()


class LastReport(NamedTuple):
    """What a window held when it was reported last."""

    number: int | None
    borders: Borders
    content: Content


class Firings(Reports):
    """§16: reports of every window (`reported_windows=every`)."""

    last_reports: list[LastReport]  # what each window held when it was reported last (REP-16)

    # Which windows there are, and what they hold: WIN-22, WIN-23

    def has_expired(self, last: int, before: float) -> bool:
        """WIN-22: Return whether a window with this last instant has expired after the arrivals
        whose sys is less: whether their watermark has reached the instant after its last one, and
        the grace. [0, 10) with the grace 2 expires at 12.
        """
        watermark = self.watermark([each for each in self.arrivals if each.sys < before])
        match self.semantics.expiry_rule:
            case ExpiryRule.REACHED:
                return watermark >= last + 1 + int(self.semantics.allowed_lateness)
            case ExpiryRule.PASSED:
                return watermark > last + 1 + int(self.semantics.allowed_lateness)
            case None:
                return False  # it is late for its stream (MOD-2), if at all

    def arrived(self, window: Window, t: int, k: int) -> list[int]:
        """MOD-5, WIN-23: Return the places of the elements before arrival k that are seen at t:
        those that began by then; for sessions, and where a window decides what is late, all.
        """
        before = range(sum(arrival.stream == window.stream for arrival in self.arrivals[:k]))
        match self.semantics.late_for:
            case LateFor.STREAM if window.kind is not WindowKind.SESSION:
                return [j for j in before if self.instants(window, j)[0] <= t]
            case LateFor.STREAM:
                return list(before)
            case LateFor.WINDOW | LateFor.NOTHING:
                return list(before)

    def held(self, window: Window, t: int, k: int) -> list[HeldWindow]:
        """REP-14: Return every window at t and arrival k, with what it holds."""
        places = self.arrived(window, t, k)
        if window.kind is WindowKind.SESSION:
            return self.sessions(window, places)
        return [
            HeldWindow(instance, self.content_of(window, instance, places))
            for instance in self.sequences[window]
        ]

    def content_of(self, window: Window, instance: WindowInstance, places: list[int]) -> Content:
        """WIN-22: Return the places of those elements that have an instant in a window, and came
        before it had expired.
        """
        return tuple(
            j
            for j in places
            if not set(instance.instants).isdisjoint(self.instants(window, j))
            and not self.has_expired(instance.instants[-1], self.sys(window, j))
        )

    def sessions(self, window: Window, places: list[int]) -> list[HeldWindow]:
        """WIN-23: Return the sessions of some elements, in the order of their first instants.

        Each element in turn joins the sessions that are near it, which makes one session of them.
        Where there is none, it begins a session of its own. It is late if that session has expired.
        """
        found: list[Session] = []
        for j in places:
            near = [session for session in found if self.can_join(window, session.content, j)]
            joined = self.joined(window, near, j)
            last = self.last_instant(window, joined.content)
            if not self.has_expired(last, self.sys(window, j)):
                found = [session for session in found if session not in near] + [joined]
        return [
            HeldWindow(
                self.session_instance(window, session.content),
                session.content,
                session.joined_after_expiry,
            )
            for session in sorted(found, key=lambda each: self.extent(window, each.content))
        ]

    def joined(self, window: Window, near: list[Session], place: int) -> Session:
        """WIN-23: Return the session that an element makes of those that are near it."""
        content = [place, *(j for session in near for j in session.content)]
        joined_after_expiry = [each for session in near for each in session.joined_after_expiry]
        for session in near:
            last = self.last_instant(window, session.content)
            if self.has_expired(last, self.sys(window, place)):
                joined_after_expiry.append(session.content)
        return Session(tuple(sorted(content)), tuple(joined_after_expiry))

    def sys(self, window: Window, place: int) -> int:
        """WIN-22: Return the place of an element among all arrivals."""
        return self.elements[window.stream][place].sys

    def extent(self, window: Window, session: Content) -> tuple[int, int]:
        """WIN-23: Return the first and the last instant of the elements of a session."""
        instants = [t for j in session for t in self.instants(window, j)]
        return min(instants), max(instants)

    def last_instant(self, window: Window, session: Content) -> int:
        """WIN-23: Return the last instant of a session: a gap after its last element, less 1."""
        return self.extent(window, session)[1] + require(window.size) - 1

    def can_join(self, window: Window, session: Content, place: int) -> bool:
        """WIN-23: Return whether an element is near a session, which must not have expired if the
        semantics says so.
        """
        match self.semantics.expired_session:
            case ExpiredSession.JOINED:
                return self.is_near(window, session, place)
            case ExpiredSession.GONE:
                last = self.last_instant(window, session)
                has_expired = self.has_expired(last, self.sys(window, place))
                return self.is_near(window, session, place) and not has_expired

    def is_near(self, window: Window, session: Content, place: int) -> bool:
        """WIN-23: Return whether an element joins a session: whether less than a gap is between
        them. Exactly a gap apart they are joined if the semantics says so.
        """
        first, last = self.extent(window, session)
        begin, end = self.extent(window, (place,))
        apart = max(begin - last, first - end)
        match self.semantics.exact_gap:
            case ExactGap.JOINS:
                return apart <= require(window.size)
            case ExactGap.PARTS:
                return apart < require(window.size)

    def session_instance(self, window: Window, session: Content) -> WindowInstance:
        """WIN-23: Return a session as a window, with the borders that it is said to have."""
        first, last = self.extent(window, session)
        instants = tuple(
            t for t in self.integers if first <= t <= self.last_instant(window, session)
        )
        match self.semantics.session_border:
            case SessionBorder.GAP:
                return WindowInstance(None, (first, last + require(window.size)), instants)
            case SessionBorder.LAST:
                return WindowInstance(None, (first, last), instants)
            case SessionBorder.NEXT:
                return WindowInstance(None, (first, last + 1), instants)

    # When each is reported: REP-14, REP-15

    def is_open(self, instance: WindowInstance, t: int, k: int) -> bool:
        """REP-14: Return whether a window has begun by t, and has not ended before t. Where a
        window decides what is late, it has begun if its first instant is not after the greatest
        app.
        """
        newest = t + (self.semantics.watermark_delay or 0)
        return instance.instants[0] <= newest and t <= instance.instants[-1]

    def closes_window(self, window: Window, held: HeldWindow, t: int, k: int) -> bool:
        """REP-14, WIN-23: Return whether t is a window's last instant, and before the own instant
        of arrival k, which must not join it.
        """
        arrival = self.arrivals[k]
        if t != held.instance.instants[-1] or t >= self.own(arrival):
            return False
        is_session = window.kind is WindowKind.SESSION and arrival.stream == window.stream
        return not (is_session and self.is_near(window, held.content, arrival.place))

    def is_reported(self, held: HeldWindow, t: int, k: int, is_late: bool) -> bool:
        """REP-14: Return whether all conditions hold for a window at t."""
        return all(self.holds_for(each, held, t, k, is_late) for each in self.semantics.report)

    def holds_for(
        self, condition: Condition, held: HeldWindow, t: int, k: int, is_late: bool
    ) -> bool:
        """REP-14: Return whether a condition holds for one window at t. `is_late` is whether it has
        closed, and has taken in a late element since.
        """
        window = self.windows[0]
        match condition:
            case Condition.CLOSE:
                return is_late or self.closes_window(window, held, t, k)
            case Condition.CHANGE:
                return self.differs(window, held.content, self.shown_content(held))
            case Condition.NON_EMPTY:
                return self.pane(held) != ()
            case Condition.PERIODIC:
                return self.is_periodic(window, t)
            case Condition.ARRIVAL:
                return self.comes(window, t)

    def is_early(self, window: Window, held: HeldWindow, t: int, k: int) -> bool:
        """REP-15: Return whether a window is reported early at t: because enough elements are new,
        or because it holds some and a period is over.
        """
        new = len(held.content) - len(self.shown_content(held))
        count = self.semantics.early_count
        period = self.semantics.early_period
        is_enough = count is not None and new >= count
        is_over = period is not None and self.border(t) % period == 0
        return is_enough or (is_over and t < self.own(self.arrivals[k]) and held.content != ())

    # What it shows: REP-16

    def shown(self, held: HeldWindow) -> list[LastReport]:
        """REP-16: Return what a window has shown: what it held when it was reported last, or, if it
        is a session, what each of the sessions held that it is made of, in their order.
        """
        return sorted(
            one
            for one in self.last_reports
            if one.number == held.instance.number and set(one.content) <= set(held.content)
        )

    def shown_content(self, held: HeldWindow) -> Content:
        """REP-16: Return the elements of a window that have been shown."""
        return tuple(sorted(j for one in self.shown(held) for j in one.content))

    def pane(self, held: HeldWindow) -> Content:
        """REP-16: Return the elements that a report of a window shows."""
        match self.semantics.panes:
            case Panes.ACCUMULATING | Panes.RETRACTING | Panes.REPLACING:
                return held.content
            case Panes.DISCARDING:
                return tuple(j for j in held.content if j not in self.shown_content(held))

    def takes_back(self, before: Borders, now: Borders) -> bool:
        """REP-16: Return whether what was shown with the borders `before` is taken back where the
        window is shown with the borders `now`.
        """
        match self.semantics.panes:
            case Panes.RETRACTING:
                return True
            case Panes.REPLACING:
                return before != now
            case Panes.ACCUMULATING | Panes.DISCARDING:
                return False

    def show(self, held: HeldWindow, t: int, k: int) -> Iterator[QueryReport]:
        """REP-16: Yield the report of a window, after those by which it takes back what it has
        shown, and remember what it shows.
        """
        number, borders, _ = held.instance
        before = self.shown(held)
        for one in before:
            had_expired = any(set(one.content) <= set(each) for each in held.joined_after_expiry)
            if self.takes_back(one.borders, borders) and not had_expired:
                shown = ShownWindow(one.number, one.borders, one.content)
                yield QueryReport(t, k, (shown,), takes_back=True)
        yield QueryReport(t, k, (ShownWindow(number, borders, self.pane(held)),))
        self.last_reports = [one for one in self.last_reports if one not in before]
        self.last_reports.append(LastReport(number, borders, held.content))

    def reports(self) -> Iterator[QueryReport]:
        """REP-14: Yield the reports: of the active window (REP-8), or of every window."""
        match self.semantics.reported_windows:
            case ReportedWindows.ACTIVE:
                return super().reports()
            case ReportedWindows.EVERY:
                return self.reports_of_every_window()

    def reports_of_every_window(self) -> Iterator[QueryReport]:
        """REP-14: Yield the reports of every window: arrival after arrival, instant after instant,
        and at an instant in the order of the windows.
        """
        if not self.s0s:
            return
        (window,) = self.windows
        self.last_reports = []
        seen = 0  # how many elements there were when an arrival was looked at last
        for k, instants in self.looked_at():
            for t in instants:
                for visit, about in enumerate(self.visits(t)):
                    for held in self.held(window, t, k):
                        has_new = any(j >= seen for j in held.content)
                        has_closed = held.instance.instants[-1] < instants[0]
                        is_late = has_new and has_closed and t == instants[0]
                        if held.instance.instants[-1] < self.start:
                            continue  # it ended before s0
                        is_open = self.is_open(held.instance, t, k)
                        fires = about != [] and self.is_reported(held, t, k, is_late)
                        early = visit == 0 and self.is_early(window, held, t, k)
                        if (fires and (is_open or is_late)) or (early and is_open):
                            yield from self.show(held, t, k)
            seen = sum(arrival.stream == window.stream for arrival in self.arrivals[:k])
