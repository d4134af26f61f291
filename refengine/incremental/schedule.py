"""§9 When a query is evaluated: what `core.schedule` says, found faster.

`core.schedule` looks for the content of each window anew at every instant at which it can change.
Two classes do with less. Both find the same evaluations:

- `ScheduleOfChanges`, for a query that is reported whenever the elements in its windows change. For
  each window it keeps a `ContentOverTime`, which knows how long it stays as it is. As long as
  elements arrive and none leaves, many arrivals are evaluated together (`QuietStretch`).
- `ScheduleOfInstants`, for a query that is reported at certain instants alone, such as the close of
  a window. Arrivals before the next such instant are passed over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, repeat
from typing import Any

from refengine.core import report, schedule, tick, window
from refengine.core.evaluations import evaluation_groups
from refengine.core.growing import first_after, first_from
from refengine.core.moving import instants
from refengine.core.plan import Plan
from refengine.core.query import Unit, WindowKind
from refengine.core.schedule import (
    MAX_REPORTS,
    Evaluation,
    Schedule,
    Stretch,
    WindowContent,
    refuse_too_many_reports,
)
from refengine.core.values import Condition
from refengine.core.window import Content, Frame, WindowView
from refengine.model.errors import require

NEVER = 1 << 70  # later than all instants, and more than all elements
NEVER_LEAVING = frozenset({WindowKind.UNBOUNDED, WindowKind.LANDMARK})
NOTHING: Content = range(0)


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


# What a window holds


class ContentOverTime:
    """What a window holds, as time goes on and elements arrive.

    It holds the elements `first`, …, `stop` - 1 of those that have arrived. That stays so before
    the instant `until`, and as long as fewer than `until_arrived` elements have arrived.

    The window [0, 10) at 3 has `first` 0, `stop` NEVER and, if an element came at 2, `until` 10: it
    holds whatever arrives, until the next window takes its place.

    `make` makes a content of two such indices: a range, but for the two kinds of content in which
    elements are left out. A partition holds the latest of each key alone, and a window over
    elements with intervals those that have not ended (`overlapping`).
    """

    def __init__(self, view: WindowView, counts: Sequence[int], shift: int) -> None:
        self.view = view
        self.counts = counts  # how many elements have arrived before each arrival of the plan
        self.first = 0
        self.stop = 0
        self.until = -NEVER
        self.until_arrived = NEVER
        self.is_one_leaving = False  # whether `until` is when element `first` leaves

        # Whether an element is in scope as soon as it has arrived. Under a lag, and where an
        # arrival comes an instant early (TICK-6), it comes into scope later.
        spec = view.spec
        is_shown_later = spec.kind in window.SHOWN_ENDED and spec.step > 1
        self.is_in_scope_at_once = spec.kind is WindowKind.TUPLE or not (
            is_shown_later or spec.lag or shift
        )
        self.overlapping: Sequence[int] = ()
        self.begun = 0  # how many elements have begun, and were looked at for `overlapping`
        self.make: Callable[[int, int], Content] = range
        if spec.kind is WindowKind.PARTITION:
            self.make = lambda _, stop: PartitionContent(view, stop)
        elif view.ends is not None and spec.kind is not WindowKind.ROWS:
            self.make = lambda *_: self.overlapping or NOTHING

    def at(self, t: int, arrived: int) -> Content:
        """Return the content at an instant, when `arrived` elements of the stream have arrived.
        Neither may be less than in the call before.
        """
        if t >= self.until or arrived >= self.until_arrived:
            self._move(t, arrived)
        stop = min(self.stop, arrived)
        return self.make(self.first, stop) if self.first < stop else NOTHING

    def _move(self, t: int, arrived: int) -> None:
        """Find the content at an instant, and how long it stays."""
        if self._can_pass_one(t):
            return
        view, frame, kind = self.view, self.view.frame, self.view.spec.kind
        self.first = self.stop = 0
        self.until = self.until_arrived = NEVER
        self.is_one_leaving = False
        if frame is None:
            return
        scope = window.scope(frame, t)
        if scope is None:
            self.until = require(window.first_instant_with_scope(frame, t))
        elif kind is WindowKind.PARTITION:
            self.stop = NEVER
        elif kind is WindowKind.ROWS:
            self._move_rows(arrived)
        elif view.ends is not None:
            self._move_overlapping(frame, t, arrived, *scope)
        else:
            self._move_range(frame, *scope)

    def _can_pass_one(self, t: int) -> bool:
        """Pass the element that leaves at `until`, if it is the only one that has left by t, and
        return whether it is. This is quicker than to look at the scope.
        """
        frame, times, following = self.view.frame, self.view.times, self.first + 1
        if frame is None or not self.is_one_leaving or following >= len(times):
            return False
        until = window.leaves_at(frame, times[following] + frame.lag)
        if until <= t:
            return False
        self.first, self.until = following, until
        return True

    def _move_rows(self, arrived: int) -> None:
        """WIN-14: Find the latest N elements or triples as of the last refresh, and the next
        one.
        """
        spec = self.view.spec
        if spec.unit is Unit.ELEMENTS:
            self.stop = arrived // spec.step * spec.step
            self.first = max(0, self.stop - require(spec.size))
            self.until_arrived = self.stop + spec.step
        else:
            held = window.rows(self.view, arrived)
            self.first, self.stop = (held[0], held[-1] + 1) if held else (0, 0)
            self.until_arrived = arrived + 1

    def _move_range(self, frame: Frame, first: int, last: int) -> None:
        """WIN-9: Find which elements are in scope, from one instant to another, and when one leaves
        it or comes into it.
        """
        times = self.view.times
        self.first = first_from(times, first)
        if self.first == len(times):  # the first element in scope has not come yet
            self.until_arrived = self.first + 1
        elif frame.kind not in NEVER_LEAVING:
            self.until = window.leaves_at(frame, times[self.first] + frame.lag)
            self.is_one_leaving = self.is_in_scope_at_once
        self.stop = NEVER
        if not self.is_in_scope_at_once:
            self.stop = first_after(times, last)
            if self.stop < len(times):
                enters = window.enters_at(frame, times[self.stop] + frame.lag)
                self.until = min(self.until, enters)
            else:
                self.until_arrived = min(self.until_arrived, self.stop + 1)

    def _move_overlapping(self, frame: Frame, t: int, arrived: int, first: int, last: int) -> None:
        """WIN-18: Find which elements are valid at some instant from `first` to `last`, and when
        one ends or begins.
        """
        times, ends = self.view.times, require(self.view.ends)
        begun = first_after(times, last, arrived)
        known = chain(self.overlapping, range(self.begun, begun))
        self.overlapping = tuple(i for i in known if ends[i] >= first)
        self.begun = begun
        self.until_arrived = arrived + 1
        if last < first:  # the window begins later, and holds nothing until then
            self.until = first + frame.lag
            return
        self.stop = arrived
        if begun < arrived:
            self.until = window.enters_at(frame, times[begun] + frame.lag)
        if self.overlapping and frame.kind not in NEVER_LEAVING:
            end = min(ends[i] for i in self.overlapping)
            self.until = min(self.until, window.leaves_at(frame, end + frame.lag))
            if window.has_gaps(frame):  # an interval may go on over the gap after this window
                end_of_window = frame.last + window.active(frame, t) * frame.slide + 1
                self.until = min(self.until, end_of_window)


# Reports of changes


@dataclass
class QuietStretch:
    """The evaluations of arrivals between which elements arrive and none leaves: one for each
    arrival, and each sees the elements that the one before saw, and those that have arrived since.

    Evaluation i is of arrival `arrivals[i]` at `instants[i]`. Each window holds the elements from
    its first, as `first_elements` has it, to the last that has arrived. The evaluations are made as
    they are drawn, but those of one window over a content that `is_passed_over`.
    """

    instants: Sequence[int]
    arrivals: Sequence[int]
    contents: Sequence[ContentOverTime]
    first_elements: Sequence[int]
    is_passed_over: Callable[[Content], bool] | None

    def __len__(self) -> int:
        return len(self.arrivals)

    def stop(self, i: int) -> int:
        """Return how many elements of the first window's stream evaluation i sees."""
        return self.contents[0].counts[self.arrivals[i]]

    def evaluation(self, i: int) -> Evaluation:
        """Return evaluation i, passed over or not."""
        t, k = self.instants[i], self.arrivals[i]
        return Evaluation(
            t,
            k,
            tuple(
                WindowContent(
                    window.window_number(require(each.view.frame), t),
                    each.make(first, each.counts[k]),
                )
                for each, first in zip(self.contents, self.first_elements, strict=True)
            ),
        )

    def __iter__(self) -> Iterator[Evaluation]:
        numbers = [
            window_numbers(require(each.view.frame), self.instants) for each in self.contents
        ]
        held = [
            map(each.make, repeat(first), map(each.counts.__getitem__, self.arrivals))
            for each, first in zip(self.contents, self.first_elements, strict=True)
        ]
        if self.is_passed_over is None or held[1:]:
            windows = zip(*map(map, repeat(WindowContent), numbers, held), strict=True)
            yield from map(Evaluation, self.instants, self.arrivals, windows)
            return
        found = zip(self.instants, self.arrivals, numbers[0], held[0], strict=False)
        for t, k, number, content in found:
            if not self.is_passed_over(content):
                yield Evaluation(t, k, (WindowContent(number, content),))


def window_numbers(frame: Frame, ts: Sequence[int]) -> Iterable[int | None]:
    """Return the number of the window at each of some ascending instants."""
    number = window.window_number(frame, ts[0])
    if number == window.window_number(frame, ts[-1]):
        return repeat(number)
    return map(window.window_number, repeat(frame), ts)


class ScheduleOfChanges(Schedule):
    """The evaluations of a plan that is reported when the elements in its windows are others than
    at the last report, whatever the instant. The tick must not be `batch`.

    An arrival is tested at the instants from that of the arrival before up to its own, which is not
    included, or at its own alone, if the two are equal (TICK-4). In the example the windows are [0,
    10), [10, 20), …. Elements a, b, c and d arrive at 1, 4, 4 and 12:

    ======= ========= ================= ===================================================
    arrival instants  case              evaluations
    ======= ========= ================= ===================================================
    a@1     -1 and 0  nothing held      none: the content is empty, as it was before
    b@4     1, 2, 3   quiet stretch     at 1, over {a}: at 2 and 3 the content is the same
    c@4     4         quiet stretch     at 4, over {a, b}
    d@12    4 to 11   window changes    at 4, over {a, b, c}; at 10, over the empty [10, 20)
    ======= ========= ================= ===================================================

    In a *quiet stretch* contents change by what arrives, and by nothing else. So each arrival is
    evaluated once, at its first instant, and over all that has arrived.
    """

    def __init__(
        self,
        planned: Plan,
        max_reports: int,
        is_passed_over: Callable[[Content], bool] | None = None,
    ) -> None:
        super().__init__(planned, max_reports)
        self.is_passed_over = is_passed_over
        semantics = planned.semantics
        shift = tick.shift_of_own_instants(semantics)
        self.contents = [
            ContentOverTime(view, counts, shift)
            for view, counts in zip(planned.views, planned.counts, strict=True)
        ]
        self.is_eager = semantics.expiry_seen.is_before_arrival and not planned.tuples
        is_any_enough = len(planned.views) == 1 or semantics.trigger.is_any_window
        self.until = -NEVER  # until when the windows hold what they hold, but for what arrives
        self.can_be_quiet = is_any_enough

    def groups(self) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations, each by itself or in a quiet stretch. Raises TooManyReports."""
        if not isinstance(self.planned.own, list):
            yield from self._groups_as_they_come()
            return
        arrivals = enumerate(self.planned.arrivals)
        for k, _ in arrivals:
            interval = self.look_at(k)
            if not interval:
                continue
            together: Sequence[int] = ()
            if interval.start < self.until and self.can_be_quiet:
                together = self._arrivals_of_quiet_stretch(k)
            if len(together) > 1:
                pass_over(arrivals, together[-1] - k)
                self.look_at(together[-1])
                yield self._quiet_stretch(interval.start, together)
            else:
                yield from self._visit(k, interval)

    def _groups_as_they_come(self) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of one window over a stream that is read as it comes. The arrivals
        of a quiet stretch are not known before, so each is by itself.
        """
        planned, state = self.planned, self.report_state
        is_in_ids, is_by_time = planned.tuples, planned.semantics.tick.is_by_time
        (each,), is_passed_over = self.contents, self.is_passed_over
        before = app = 0  # the own instant and the t_app of the arrival looked at last
        until, number = -NEVER, None
        for k, arrival in enumerate(planned.arrivals):
            own = planned.own[k]
            if own >= until:
                if until > -NEVER:
                    self.last_tick = tick.LastTick(before, app, 0)
                interval = self.look_at(k)
                if not interval:
                    continue
                yield from self._visit(k, interval)
                until, number = self._end_of_quiet_stretch(own, k + 1)
            elif is_by_time and arrival.app == app:
                continue
            else:
                content = range(each.first, k)
                state.count += 1
                state.reported = (content,)
                if state.count > self.max_reports:
                    refuse_too_many_reports(state.count, self.max_reports, planned, k)
                if is_passed_over is None or not is_passed_over(content):
                    t = own - 1 if is_in_ids else before
                    yield (Evaluation(t, k, (WindowContent(number, content),)),)
            before, app = own, arrival.app

    def _end_of_quiet_stretch(self, t: int, arrived: int) -> tuple[int, int | None]:
        """Return until when, from t on, the only window has the same number and changes by what
        arrives alone; and this number. There is no quiet stretch if the window is empty.
        """
        (each,) = self.contents
        frame = each.view.frame
        each.at(t, arrived)
        if frame is None or each.stop != NEVER or each.first >= arrived:
            return -NEVER, None
        number = window.window_number(frame, t)
        if number is None or frame.kind in NEVER_LEAVING:
            return each.until, number
        return min(each.until, frame.last + number * frame.slide + 1), number

    def _arrivals_of_quiet_stretch(self, k: int) -> Sequence[int]:
        """Return the arrivals of the quiet stretch that begins with arrival k, which is tested from
        an instant before `until` on: no more than the bound on reports allows (ENG-3), and none if
        a window is empty, since there an arrival may change nothing.
        """
        planned = self.planned
        if not all(each.stop == NEVER and each.first < each.counts[k] for each in self.contents):
            return ()
        # An arrival at `until` is tested up to the instant before. But under eager expiry it is
        # tested at its own, too (TICK-7).
        stop = bisect_left(planned.own, self.until, k)
        if not self.is_eager and planned.own[stop : stop + 1] == [self.until]:
            stop += 1
        arrivals: Sequence[int] = range(k, stop)
        if planned.semantics.tick.is_by_time:
            app = [arrival.app for arrival in planned.arrivals[k:stop]]
            arrivals = [k + i for i in range(stop - k) if not i or app[i] > app[i - 1]]
        return arrivals[: self.max_reports - self.report_state.count]

    def _quiet_stretch(self, before: int, arrivals: Sequence[int]) -> QuietStretch:
        """Return the evaluations of the arrivals of a quiet stretch. The first one is tested from
        the instant `before` on.
        """
        own, state = self.planned.own, self.report_state
        at = [before, *(own[k] for k in arrivals[:-1])]
        if self.planned.tuples:  # the last id of each tick (REP-7)
            at = [max(start, own[k] - 1) for start, k in zip(at, arrivals, strict=True)]
        firsts = [each.first for each in self.contents]
        state.count += len(arrivals)
        state.reported = tuple(
            each.make(each.first, each.counts[arrivals[-1]]) for each in self.contents
        )
        return QuietStretch(at, arrivals, self.contents, firsts, self.is_passed_over)

    def arrive_last(self, k: int) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of an arrival that was added to the plan after `groups` has ended,
        each by itself.
        """
        interval = self.look_at(k)
        if interval:
            yield from self._visit(k, interval)

    def _visit(self, k: int, interval: range) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of arrival k at the instants of an interval, each by itself."""
        planned, state, contents = self.planned, self.report_state, self.contents
        if planned.tuples:
            interval = interval[-1:]  # the last id of the tick (REP-7)
        elif self.is_eager:
            expiry_seen = planned.semantics.expiry_seen
            interval = tick.interval_with_expiry(expiry_seen, interval, planned.own[k], self.frames)
        t = interval.start
        while t < interval.stop:
            held = tuple([each.at(t, each.counts[k]) for each in contents])
            if held != state.reported and self._is_reported(held):
                state.count += 1
                refuse_too_many_reports(state.count, self.max_reports, planned, k)
                state.reported = held
                yield (schedule.make_evaluation(planned.views, k, held, t),)
            t = self.until = max(t + 1, min([each.until for each in contents]))

    def _is_reported(self, held: Sequence[Content]) -> bool:
        """REP-6, REP-12: Return whether the query is reported where its windows hold something else
        than at the last report.
        """
        semantics, views = self.planned.semantics, self.planned.views
        contents = zip(views, held, self.report_state.reported, strict=True)
        at = [range(report.is_worthy(semantics, *one)) for one in contents]
        return bool(report.fires(semantics.trigger, views, at))


# Reports at certain instants


class ScheduleOfInstants(Schedule):
    """The evaluations of a plan that is reported at certain instants alone, where the conditions of
    the report on instants hold. The tick must not be `batch`, and content change, if the report
    names it, must compare with the content last reported.

    With windows [0, 10), [10, 20), … and window close the timely instants are 9, 19, …. Arrivals at
    12 to 19 are passed over: the window closes at 19 for an arrival after that.
    """

    def __init__(self, planned: Plan, max_reports: int) -> None:
        super().__init__(planned, max_reports)
        semantics = planned.semantics
        always = instants(-NEVER, NEVER)
        spans = [
            report.timely_instants(semantics, view, always, NEVER)
            for view in planned.views
            if view.frame
        ]
        self.timely = [span for span in spans if span]
        self.cut = self.cut_at_timely_instants
        self.is_after_close = Condition.CLOSE in semantics.report

    def groups(self) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations, grouped as `core.evaluations.evaluation_groups` does. Raises
        TooManyReports.
        """
        if not self.begin():
            return
        planned = self.planned
        is_whole = isinstance(planned.own, list)
        arrivals = enumerate(planned.arrivals)
        earliest = -NEVER  # no arrival with an earlier own instant is reported
        for k, _ in arrivals:
            if planned.own[k] < earliest:
                if is_whole:
                    pass_over(arrivals, bisect_left(planned.own, earliest, k) - 1 - k)
            else:
                if k:
                    self.look_at(k - 1)  # it may have been passed over
                yield from self.arrive(k)
                earliest = self._next_timely(require(self.last_tick).own) + self.is_after_close

    def arrive_last(self, k: int) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of an arrival that was added to the plan after `groups` has ended,
        grouped.
        """
        if k:
            self.look_at(k - 1)  # it may have been passed over
        yield from self.arrive(k)

    def _next_timely(self, t: int) -> int:
        """Return the first timely instant from t on."""
        return min(
            [
                span.start if t <= span.start else t + (span.start - t) % span.step
                for span in self.timely
            ],
            default=NEVER,
        )

    def cut_at_timely_instants(
        self, views: Sequence[WindowView], arrived: Sequence[int], interval: range
    ) -> Iterator[Stretch]:
        """Yield the stretches of an interval from timely instant to timely instant. What a window
        holds in between shows in no report.
        """
        t = self._next_timely(interval.start)
        while t < interval.stop:
            following = self._next_timely(t + 1)
            if following < interval.stop:  # it may be a report of the same contents
                span, contents = next(schedule.spans(views, arrived, instants(t, interval.stop)))
                following = self._next_timely(span.stop)
            else:
                span = instants(t, t + 1)
                contents = tuple(
                    [window.content(view, t, n) for view, n in zip(views, arrived, strict=True)]
                )
            yield span, contents
            t = following


def pass_over(arrivals: Iterator[object], count: int) -> None:
    """Take the next arrivals without looking at them."""
    deque(islice(arrivals, count), maxlen=0)


# All


def schedule_evaluations(
    planned: Plan,
    max_reports: int = MAX_REPORTS,
    is_passed_over: Callable[[Content], bool] | None = None,
) -> Iterator[Evaluation]:
    """Yield the evaluations of a plan in order, those of `core.evaluations.evaluations`. Raises
    TooManyReports.

    If `is_passed_over` is given, it is asked about what the only window holds in quiet stretches,
    in order, and evaluations for which it returns True are left out.
    """
    return chain.from_iterable(schedule_groups(planned, max_reports, is_passed_over))


def schedule_groups(
    planned: Plan,
    max_reports: int = MAX_REPORTS,
    is_passed_over: Callable[[Content], bool] | None = None,
) -> Iterator[Iterable[Evaluation]]:
    """Yield the evaluations of a plan in groups. A group is either a `QuietStretch`, or has
    evaluations of one arrival over the same contents, as in `core.evaluations.evaluation_groups`.
    Raises TooManyReports. `is_passed_over` is that of `schedule_evaluations`.
    """
    quicker = quicker_schedule(planned)
    if quicker is None:
        return evaluation_groups(planned, max_reports)
    if quicker is ScheduleOfChanges:
        return ScheduleOfChanges(planned, max_reports, is_passed_over).groups()
    return quicker(planned, max_reports).groups()


def schedule_with_late_end(planned: Plan, end: Callable[[Plan], Plan]) -> Iterator[Evaluation]:
    """Yield the evaluations of a plan without its end, and then those that the end adds: `end`
    returns the plan with one more arrival, or the same plan. It is asked when all others are drawn.
    Raises TooManyReports. The windows must be active ones, and have no keys.
    """
    made = (quicker_schedule(planned) or Schedule)(planned, MAX_REPORTS)
    yield from chain.from_iterable(made.groups())
    ended = end(planned)
    if ended is not planned:
        made.planned = ended
        yield from chain.from_iterable(made.arrive_last(len(planned.arrivals)))


def quicker_schedule(planned: Plan) -> type[Schedule] | None:
    """Return the class that finds the evaluations of a plan more quickly than `core`; None if none
    does.
    """
    semantics = planned.semantics
    is_of_active_windows = not semantics.reported_windows.is_every and not any(
        view.spec.is_keyed or not view.is_in_order for view in planned.views
    )
    if semantics.tick.needs_batches or not is_of_active_windows:
        return None
    if Condition.ARRIVAL in semantics.report:  # as often as elements arrive
        return None
    is_of_changes = Condition.CHANGE in semantics.report
    if is_of_changes and not semantics.change_baseline.is_of_last_report:
        return None
    if any(condition.is_on_instants for condition in semantics.report):
        # ENG-3: where intervals go on over gaps, the error for too many reports counts stretches
        # that begin at any instant
        return None if any(map(has_intervals_over_gaps, planned.views)) else ScheduleOfInstants
    if is_of_changes and not semantics.change_scope.reads_graphs:
        return ScheduleOfChanges
    return None


def has_intervals_over_gaps(view: WindowView) -> bool:
    """Return whether elements have intervals, which may go on over gaps between windows."""
    return view.ends is not None and view.frame is not None and window.has_gaps(view.frame)
