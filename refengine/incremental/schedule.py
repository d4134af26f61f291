"""§9 When a query is evaluated: what `core.schedule` says, found faster for one window alone, which
is bounded in time or a partition.

`core.schedule` looks at every instant at which a window's content can change. For a window that is
bounded in time, two integers are compared for most arrivals: as long as the same window stays
active, nothing closes, and its content is all that has arrived since its first instant. Only where
another window becomes active is `core.schedule.groups_of_arrival` called.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, islice
from typing import Any, NamedTuple, overload

from refengine.core import report, schedule, tick, window
from refengine.core.evaluations import evaluation_groups
from refengine.core.moving import instants
from refengine.core.plan import Plan
from refengine.core.query import WindowKind
from refengine.core.schedule import (
    MAX_REPORTS,
    Evaluation,
    ReportState,
    Schedule,
    Stretch,
    WindowContent,
    refuse_too_many_reports,
)
from refengine.core.values import Condition
from refengine.core.window import Content, WindowView
from refengine.model.errors import require

# One window that is bounded in time


class SimultaneousEvaluations(Sequence[Evaluation]):
    """The evaluations of arrivals that come at one instant: one for each arrival, all of them at
    that instant.

    Arrival k sees the elements `first_index`, …, k - 1. An evaluation is made when it is asked for,
    so that a thousand arrivals at once cost nothing to a caller who looks at the last one alone.
    """

    def __init__(self, instant: int, number: int, first_index: int, arrivals: range) -> None:
        self.instant = instant
        self.number = number
        self.first_index = first_index
        self.arrivals = arrivals

    def __len__(self) -> int:
        return len(self.arrivals)

    @overload
    def __getitem__(self, index: int) -> Evaluation: ...
    @overload
    def __getitem__(self, index: slice) -> SimultaneousEvaluations: ...
    def __getitem__(self, index: int | slice) -> Evaluation | SimultaneousEvaluations:
        if isinstance(index, slice):
            arrivals = self.arrivals[index]
            return SimultaneousEvaluations(self.instant, self.number, self.first_index, arrivals)
        k = self.arrivals[index]
        content = WindowContent(self.number, range(self.first_index, k))
        return Evaluation(self.instant, k, (content,))


def is_covered_by_time_windows(planned: Plan) -> bool:
    """Whether `time_window_groups` covers a plan: a query with one window, of kind `time`, whose
    place in time is known.

    The window must have no lag and its elements no intervals, and the tick must not be `batch`. The
    report must name window close, or content change by elements; it must not name `periodic` or
    `arrival`.
    Content change must compare with the content last reported. If the report does not name window
    close, then `close_rule` must be `reached`, or the tick `tuple`.
    """
    semantics = planned.semantics
    if not _has_one_time_window(planned) or semantics.tick.needs_batches:
        return False
    if Condition.PERIODIC in semantics.report or Condition.ARRIVAL in semantics.report:
        return False

    has_change = Condition.CHANGE in semantics.report
    if has_change and not semantics.change_baseline.is_of_last_report:
        return False
    if Condition.CLOSE in semantics.report:
        return True
    # Under close_rule=passed, `where_contents_change_under_passed` does not ask whether time has
    # advanced (TICK-2), so it is right for the tuple tick only.
    is_tick_covered = not semantics.close_rule.needs_later_arrival or not semantics.tick.is_by_time
    return has_change and not semantics.change_scope.reads_graphs and is_tick_covered


def _has_one_time_window(planned: Plan) -> bool:
    view = planned.views[0]
    return (
        len(planned.views) == 1
        and view.spec.kind is WindowKind.TIME
        and not view.spec.lag
        and view.frame is not None
        and view.ends is None  # points in order
    )


def time_window_groups(planned: Plan, max_reports: int) -> Iterator[Iterable[Evaluation]]:
    """Yield the evaluations of a plan in groups, as `core.evaluations.evaluation_groups` does. The
    plan must be one for which `is_covered_by_time_windows` holds. Raises TooManyReports.
    """
    evaluator = TimeWindowSchedule(planned, max_reports)
    if Condition.CLOSE in planned.semantics.report:
        return evaluator.where_windows_close()
    # An arrival's own instant is its t_app, or one less where it must pass the close of a window.
    if tick.shift_of_own_instants(planned.semantics) < 0:
        return evaluator.where_contents_change_under_passed()
    return evaluator.where_contents_change()


class ActiveWindow(NamedTuple):
    """The active window (WIN-4) at some instant, by its number.

    `first_instant` and `last_instant` are the first and the last instant at which it is active and
    has begun. `first_index` is the index of its first element in the stream, or, if there is none
    yet, the index that the first one will have.

    At 12 the active one of [0, 10), [5, 15), … is [5, 15), with number 1. It is active from 10,
    when [0, 10) is over, to 14. Its elements are those from 5 on.
    """

    number: int
    first_instant: int
    last_instant: int
    first_index: int


NO_WINDOW = ActiveWindow(number=0, first_instant=0, last_instant=-1, first_index=0)


class TimeWindowSchedule:
    """The evaluations of one time-based window, arrival after arrival.

    An arrival is tested at the instants from that of the arrival before up to its own, which is
    not included, or at its own alone, if the two are equal (TICK-4). There are three cases. In the
    example the windows are [0, 10), [10, 20), …, and a change of the content is reported. Elements
    a, b, c and d arrive at 1, 4, 4 and 12:

    ======= ========= ================= ===================================================
    arrival instants  case              evaluations
    ======= ========= ================= ===================================================
    a@1     -1 and 0  window changes    none: the content is empty, as it was before
    b@4     1, 2, 3   quiet stretch     at 1, over {a}: at 2 and 3 the content is the same
    c@4     4         same instant      at 4, over {a, b}
    d@12    4 to 11   window changes    at 4, over {a, b, c}; at 10, over the empty [10, 20)
    ======= ========= ================= ===================================================

    - *Quiet stretch*: one window is active at all the instants, and no window closes. The content
      is the same at all of them: what has arrived since the window's first instant, a range of
      indices.
    - *Same instant*: a quiet stretch of one instant. All further arrivals of that instant are
      yielded together, since each sees just one element more than the one before it.
    - *Window changes*: another window becomes active at one of the instants.
      `core.schedule.groups_of_arrival` visits the instants.

    `last_looked_at` is the own instant of the arrival that was looked at last, and `window` is the
    active window there.
    """

    def __init__(self, planned: Plan, max_reports: int) -> None:
        semantics = planned.semantics
        (view,) = planned.views
        self.planned = planned
        self.max_reports = max_reports
        self.frame = require(view.frame)
        self.start = window.s0(self.frame)
        self.times = view.times
        self.is_tick_by_time = semantics.tick.is_by_time
        # Each arrival's own instant (TICK-6). None for a stream that is read as it comes: then the
        # arrivals to come are not known.
        self.own_instants: list[int] | None = None
        if isinstance(planned.own, list):
            self.own_instants = planned.own

        # The distance from the active window's last instant to the last arrival that is still
        # tested in this window alone. It is 1: [0, 10) has the last instant 9, and an arrival
        # at 10 is tested at instants up to 9 (TICK-4), where this window is active. It is 0
        # (a) if window close is a condition, since the window closes at 9;
        # (b) if expiry is eager, since the arrival is also tested at 10 (TICK-7), in the next
        # window.
        is_close_condition = Condition.CLOSE in semantics.report
        is_eager = semantics.expiry_seen.is_before_arrival
        self.extra_quiet_instants = 1
        if is_close_condition or is_eager:
            self.extra_quiet_instants = 0

        self.window = NO_WINDOW
        self.report_state = ReportState(reported=(range(0),), at_instant_before=(range(0),))

        # Arrivals before s0 trigger no evaluation (WIN-5), so they are skipped if they are known
        # beforehand. Under the tuple tick the last of them counts as looked at (TICK-5), and under
        # the time tick none of them does (TICK-2). This matters to an arrival at s0 itself.
        self.last_looked_at = self.start
        early = 0
        if self.own_instants is not None:
            early = bisect_left(self.own_instants, self.start)
            if early and not self.is_tick_by_time:
                self.last_looked_at = self.own_instants[early - 1]
        self.arrivals: Iterator[tuple[int, int]] = self._arrivals_from(early)

    def where_windows_close(self) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of a query that is reported when a window closes. In a quiet
        stretch there are none, and its arrivals are passed over.
        """
        for k, instant in self._looked_at():
            if not self._is_quiet(instant):
                yield from self._visit_instants(k, instant)
            elif self.own_instants is None:
                # The arrivals to come are not known, so none of them can be passed over.
                self.last_looked_at = instant
            else:
                # Arrivals up to the window's last instant close nothing. `stop` is the first one
                # after it.
                stop = bisect_right(self.own_instants, self.window.last_instant, k)
                passed_over = range(k + 1, stop)
                self._pass_over(len(passed_over))
                self.last_looked_at = self.own_instants[stop - 1]

    def where_contents_change(self) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of a query that is reported when its window's content changes."""
        for k, instant in self._looked_at():
            # Whether an emptying is reported depends on REP-3 and ENG-5. So an empty content is
            # left to `core.schedule`. In a quiet stretch no content is empty: the window holds at
            # least the element of the arrival that was looked at last.
            if not self._is_quiet(instant):
                yield from self._visit_instants(k, instant)
            elif instant == self.last_looked_at and self.own_instants is not None:
                yield self._at_same_instant(k, instant, self.own_instants)
            else:
                # One evaluation, at the first instant: there the content has changed, by the
                # element of arrival k - 1. It stays as it is in the whole stretch.
                number, _, _, first_index = self.window
                content = range(first_index, k)
                self._note_reports(1, content, k)
                evaluation = Evaluation(self.last_looked_at, k, (WindowContent(number, content),))
                self.last_looked_at = instant
                yield (evaluation,)

    def where_contents_change_under_passed(self) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of a query that is reported when its window's content changes,
        where an arrival must pass the end of a window [o, c) to close it (TICK-6).

        There an arrival's own instant is one less than its t_app, so at its own instant its element
        is not in scope. Let a arrive at 4, and b, c and d at 10: the own instants are 3, 9, 9 and
        9. By TICK-4 b is tested at 3 to 8, and c and d at 9. So the first of simultaneous
        arrivals is tested before 9 and the second at 9. No element at 10 is in scope at 9, so
        the third sees what the second has seen. The third and all further ones are left out.
        """
        second_arrival_seen_at = None  # the latest instant of which two arrivals were looked at
        for k, instant in self.arrivals:
            is_first = instant != self.last_looked_at
            if not is_first:
                if instant == second_arrival_seen_at:
                    continue  # the third arrival of this instant, or a further one
                second_arrival_seen_at = instant
            yield from self._visit_instants(k, instant)

    def _arrivals_from(self, k: int) -> Iterator[tuple[int, int]]:
        """Return the arrivals from arrival k on, each as its index and its own instant (TICK-6)."""
        if self.own_instants is not None:
            return enumerate(islice(self.own_instants, k, None), k)
        shift = tick.shift_of_own_instants(self.planned.semantics)
        # Arrivals that are read as they come cannot be skipped, so they begin with arrival 0.
        assert k == 0
        return enumerate(arrival.app + shift for arrival in self.planned.arrivals)

    def _looked_at(self) -> Iterator[tuple[int, int]]:
        """Return the arrivals that are looked at: under the time tick, those at which time has
        advanced (TICK-2).

        The caller evaluates each arrival before it asks for the next one.
        """
        if not self.is_tick_by_time:
            return self.arrivals
        # A generator, so that `last_looked_at` is read anew for each arrival: evaluating the
        # arrival before has changed it.
        return (arrival for arrival in self.arrivals if arrival[1] > self.last_looked_at)

    def _is_quiet(self, instant: int) -> bool:
        """Return whether one window is active at all instants at which an arrival at `instant` is
        tested, so that its content is the same at all of them, and nothing closes.
        """
        _, first_instant, last_instant, _ = self.window
        return (
            self.window is not NO_WINDOW
            and first_instant <= self.last_looked_at <= last_instant
            and instant <= last_instant + self.extra_quiet_instants
        )

    def _at_same_instant(
        self, k: int, instant: int, own_instants: list[int]
    ) -> SimultaneousEvaluations:
        """Return the evaluations of arrival k and of all further ones at its instant, but no more
        than the bound on reports allows (ENG-3).
        """
        stop = bisect_right(own_instants, instant, k)
        # At least one, even if the bound is reached already: `_note_reports` counts it, and raises.
        allowed = max(1, self.max_reports - self.report_state.count)
        arrivals = range(k, min(stop, k + allowed))
        passed_over = arrivals[1:]  # arrival k itself has been taken
        self._pass_over(len(passed_over))

        first_index = self.window.first_index
        self._note_reports(len(arrivals), range(first_index, arrivals[-1]), k)
        return SimultaneousEvaluations(instant, self.window.number, first_index, arrivals)

    def _visit_instants(self, k: int, instant: int) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of arrival k that `core.schedule` finds, and set the window that is
        active at its own instant.
        """
        interval = tick.interval(self.last_looked_at, instant)
        from_start = instants(max(interval.start, self.start), interval.stop)
        cut = None
        if Condition.CLOSE in self.planned.semantics.report:
            cut = partial(self._closes, instant)
        yield from schedule.groups_of_arrival(
            self.planned, k, from_start, self.report_state, [self.frame], self.max_reports, cut
        )
        self.last_looked_at = instant
        self.window = self._active_window(instant)

    def _closes(
        self, own: int, views: Sequence[WindowView], arrived: Sequence[int], interval: range
    ) -> Iterator[Stretch]:
        """Yield the stretches of an interval from close to close, with the content of the window.
        What it holds in between shows in no report. `own` is the arrival's own instant.
        """
        (view,), (count,) = views, arrived
        closes = report.closes(self.frame, interval, own)
        while closes:
            at, stop = closes.start, closes.start + 1
            if closes[1:]:  # as long as the content stays, they need no stretch each
                change = window.next_change(view, at, count)
                stop = interval.stop if change is None else min(change, interval.stop)
            yield instants(at, stop), (window.content(view, at, count),)
            closes = report.closes(self.frame, instants(stop, interval.stop), own)

    def _active_window(self, instant: int) -> ActiveWindow:
        """Return the window that is active at an instant."""
        frame = self.frame
        number = window.active(frame, instant)
        content_begins_at = first_instant_of(frame, number)
        # Of [0, 10), [5, 15), … the second is active once the first is over, from 10 on. The first
        # of all windows is active from s0 on.
        active_from = self.start
        if number > frame.least:
            active_from = last_instant_of(frame, number - 1) + 1
        return ActiveWindow(
            number,
            max(content_begins_at, active_from),
            last_instant_of(frame, number),
            bisect_left(self.times, content_begins_at),
        )

    def _note_reports(self, count: int, content: range, k: int) -> None:
        """ENG-3, REP-8: Count the reports of arrival k, and remember the content of the last."""
        state = self.report_state
        state.reported = (content,)
        state.count += count
        if state.count > self.max_reports:
            refuse_too_many_reports(state.count, self.max_reports, self.planned, k)

    def _pass_over(self, count: int) -> None:
        """Take the next `count` arrivals without looking at them."""
        deque(islice(self.arrivals, count), maxlen=0)


def first_instant_of(frame: window.Frame, number: int) -> int:
    """Return the first instant of a window. If the window is clipped (WIN-11), this is the first
    instant of what is left of it.
    """
    first_instant = frame.first + number * frame.slide
    if frame.floor is None:
        return first_instant
    return max(first_instant, frame.floor)


def last_instant_of(frame: window.Frame, number: int) -> int:
    """Return the last instant of a window."""
    return frame.last + number * frame.slide


# Partitions by differences (§4): a content has the latest N elements of each key, so each arrival
# enters it, and the oldest element of its key may leave


class PartitionContent(Sequence[int]):
    """WIN-15: the content of a partition after the first `arrived` elements. Its indices are looked
    up when they are asked for.
    """

    def __init__(self, view: WindowView, arrived: int) -> None:
        self.view = view
        self.arrived = arrived

    @cached_property
    def indices(self) -> Content:
        """The indices of its elements, ascending."""
        return window.partition(self.view, self.arrived)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, place: Any) -> Any:
        return self.indices[place]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PartitionContent)
            and other.arrived == self.arrived
            and other.view is self.view
        )

    def __hash__(self) -> int:
        return hash(self.arrived)


class PartitionDelta:
    """The content of a partition by key, and what enters and leaves as it moves on."""

    def __init__(self) -> None:
        self.arrived = 0
        self.latest: dict[tuple[str, ...], deque[int]] = defaultdict(deque)

    def move_to(self, content: PartitionContent) -> tuple[list[int], list[int]]:
        """Move to another content. Return the indices of the elements that leave, and of those that
        enter; one that arrives and is at once pushed out by later ones is in neither.

        With N = 1 and keys x, y, x, the move from one arrival to three gives ([0], [1, 2]).
        """
        view = content.view
        size = require(view.spec.size)
        leaving: list[int] = []
        since = self.arrived
        if content.arrived < since:  # an earlier content: begin anew
            leaving = sorted(i for latest in self.latest.values() for i in latest)
            self.latest.clear()
            since = 0

        pushed_out = set()
        for i in range(since, content.arrived):
            latest = self.latest[view.keys[i]]
            latest.append(i)
            if len(latest) > size:
                pushed_out.add(latest.popleft())
        self.arrived = content.arrived
        leaving += sorted(i for i in pushed_out if i < since)
        entering = [i for i in range(since, content.arrived) if i not in pushed_out]
        return leaving, entering


def is_single_partition(planned: Plan) -> bool:
    """Whether `partition_groups` covers a plan: its one window is a partition, and it is
    reported when its elements are others than at the last report.
    """
    semantics = planned.semantics
    view = planned.views[0]
    return (
        len(planned.views) == 1
        and view.spec.kind is WindowKind.PARTITION
        and view.frame is not None
        and Condition.CHANGE in semantics.report
        and not semantics.report & {Condition.PERIODIC, Condition.ARRIVAL}
        and not semantics.change_scope.reads_graphs
        and semantics.change_baseline.is_of_last_report
        and not semantics.tick.needs_batches
    )


def partition_groups(planned: Plan, max_reports: int) -> Iterator[Sequence[Evaluation]]:
    """Yield the evaluations of a plan that `is_single_partition` covers, each in its own group: the
    content changes with every arrival, and with nothing else. Raises TooManyReports.
    """
    view = planned.views[0]
    schedule = Schedule(planned)
    reported = 0  # how many elements had arrived at the last report
    count = 0
    for k, _ in enumerate(planned.arrivals):
        instants = schedule.look_at(k)
        if instants and k > reported:
            reported = k
            count += 1
            refuse_too_many_reports(count, max_reports, planned, k)
            content = WindowContent(None, PartitionContent(view, k))
            yield (Evaluation(instants.start, k, (content,)),)


# All


def schedule_evaluations(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Evaluation]:
    """Yield the evaluations of a plan in order, those of `core.evaluations.evaluations`. Raises
    TooManyReports.
    """
    return chain.from_iterable(schedule_groups(planned, max_reports))


def schedule_groups(
    planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Iterable[Evaluation]]:
    """Yield the evaluations of a plan in groups, those of `core.evaluations.evaluation_groups`. But
    a group that is a `SimultaneousEvaluations` has several arrivals. Raises TooManyReports.
    """
    if planned.semantics.reported_windows.is_every or planned.views[0].spec.is_keyed:
        return evaluation_groups(planned, max_reports)
    if is_covered_by_time_windows(planned):
        return time_window_groups(planned, max_reports)
    if is_single_partition(planned):
        return partition_groups(planned, max_reports)
    return evaluation_groups(planned, max_reports)
