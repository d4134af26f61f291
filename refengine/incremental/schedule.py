"""§9 When a query is evaluated: what `core.schedule` says, found faster.

`core.schedule` looks for the content of each window anew at every instant at which it can change.
Here a window is a `ContentCursor`: it remembers until when its content stays as it is, but for
elements that arrive. Until then two integers are compared for an arrival. What a cursor says is
used in two ways:

- `ContentChanges`: a query that is reported when the elements in its windows change. All arrivals
  of a quiet stretch, in which nothing leaves, are evaluated together (`EvaluationColumns`).
- `InstantsDue`: any other query. Arrivals before the next instant at which a report is due, such as
  the close of a window, are passed over. `core.schedule.groups_of_arrival` decides about the rest.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, repeat, starmap
from typing import Any, overload

from refengine.core import report, tick, window
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
    groups_of_arrival,
    refuse_too_many_reports,
)
from refengine.core.semantics import Semantics
from refengine.core.values import Condition
from refengine.core.window import Content, Frame, WindowView
from refengine.model.errors import require

# What a window holds

NEVER = 1 << 70  # later than all instants, and more than all elements
NEVER_LEAVING = frozenset({WindowKind.UNBOUNDED, WindowKind.LANDMARK})

# A content as two integers, as `ContentCursor` explains
Bounds = tuple[int, int]
NOTHING: Bounds = (0, 0)


class ContentCursor:
    """What a window holds, as time goes on and elements arrive.

    A content is a pair of integers, `first` and `stop`: it has the elements `first`, …, `stop` - 1
    of the stream. The content of a partition has those among the first `stop` elements that are the
    latest of their keys. Where elements have intervals, it has those among the first `stop` that
    have not ended, and `first` is how many have. Whatever the kind, the content is empty if no more
    than `first` elements have arrived, and two pairs that are equal are one content.

    The pair stays as it is before the instant `until`, and until `until_arrived` elements are
    there, but for one thing: `stop` is at most the number of elements that have arrived.

    A window [0, 10) at 3 has the pair (0, NEVER), until 10: it holds all that arrives.
    """

    def __init__(self, view: WindowView, counts: Sequence[int], semantics: Semantics) -> None:
        self.view = view
        self.counts = counts  # how many elements have arrived before each arrival of the plan
        self.first = 0
        self.stop = 0
        self.until = -NEVER
        self.until_arrived = NEVER
        self.is_passing = False  # whether `until` is when an element leaves

        # Whether all that has arrived is in scope as long as it does not leave. Under a lag, and
        # where an arrival comes an instant early (TICK-6), elements come into scope later.
        kind, step = view.spec.kind, view.spec.step
        is_shown_later = kind in window.SHOWN_ENDED and step > 1
        is_delayed = bool(view.spec.lag or tick.shift_of_own_instants(semantics))
        # under the batch tick arrivals are looked at together, at instants before they came
        is_delayed = is_delayed or semantics.tick.needs_batches
        is_in_ids = kind in (WindowKind.TUPLE, WindowKind.PARTITION)
        self.has_all_arrived = kind is not WindowKind.ROWS and (
            is_in_ids or not (is_shown_later or is_delayed)
        )
        # the last instant of each element, in the order in which elements leave
        counts_elements = kind in (WindowKind.ROWS, WindowKind.PARTITION)
        self.ends = None if counts_elements else view.ends
        self.leaving = view.times if self.ends is None else sorted(self.ends)

    def bounds(self, t: int, arrived: int) -> Bounds:
        """Return the content at an instant, of the first `arrived` elements of the stream. Neither
        may be less than in the call before.
        """
        if t >= self.until or arrived >= self.until_arrived:
            self._move(t, arrived)
        first, stop = self.first, self.stop
        if arrived < stop:
            stop = arrived
        return (first, stop) if first < stop else NOTHING

    def _move(self, t: int, arrived: int) -> None:
        """Set the pair for an instant and so many arrived elements, and until when it stays."""
        if self._pass_one(t):
            return
        oldest = self.first
        self.first = self.stop = 0
        self.until = self.until_arrived = NEVER
        self.is_passing = False
        frame, kind = self.view.frame, self.view.spec.kind
        extent = window.scope(frame, t) if frame else None
        if frame is None:
            return
        if extent is None:
            self.until = require(window.first_instant_with_scope(frame, t))
        elif kind is WindowKind.PARTITION:
            self.stop = NEVER
        elif kind is WindowKind.ROWS:
            self._move_to_refresh(arrived, oldest)
        elif self.ends is not None and extent[1] < extent[0]:
            # The active window begins later. Until then it holds nothing, whatever goes on.
            self.until = extent[0] + frame.lag
        else:
            self._move_to_scope(frame, t, arrived, extent)

    def _pass_one(self, t: int) -> bool:
        """Move past the one element that leaves, which is quicker than to look at the scope, and
        return True. If more has changed, do nothing, and return False.
        """
        following = self.first + 1
        if t < self.until or not self.is_passing or following >= len(self.leaving):
            return False
        frame = require(self.view.frame)
        until = window.leaves_at(frame, self.leaving[following] + frame.lag)
        if until <= t:
            return False
        self.first, self.until = following, until
        return True

    def _move_to_refresh(self, arrived: int, oldest: int) -> None:
        """WIN-14: Set the pair of a window of rows, which changes with each L-th element or triple.
        The elements before `oldest` have left it.
        """
        ids, spec = self.view.ids, self.view.spec
        size, step = require(spec.size), spec.step
        if spec.unit is Unit.ELEMENTS:
            self.stop = arrived // step * step
            self.first = max(0, self.stop - size)
            self.until_arrived = self.stop + step
            return
        self.until_arrived = arrived + 1
        if arrived:
            refresh = ids[arrived - 1] // step * step
            self.first = bisect_right(ids, refresh - size, oldest, arrived)
            self.stop = bisect_right(ids, refresh, self.first, arrived)

    def _move_to_scope(self, frame: Frame, t: int, arrived: int, extent: tuple[int, int]) -> None:
        """WIN-9: Set the pair for the scope at t, and until when no element leaves it, or comes
        into it that has arrived.
        """
        view, times, leaving = self.view, self.view.times, self.leaving
        first, last = extent
        self.first = first_from(leaving, first)
        if self.first == len(leaving):  # the first element has not come yet
            self.until_arrived = self.first + 1
        elif view.spec.kind not in NEVER_LEAVING:
            self.until = window.leaves_at(frame, leaving[self.first] + frame.lag)
            self.is_passing = self.ends is None and self.has_all_arrived
        self.stop = NEVER
        if not self.has_all_arrived:
            self.stop = first_after(times, last)
            if self.stop < len(times):
                enters = window.enters_at(frame, times[self.stop] + frame.lag)
                self.until = min(self.until, enters)
            else:
                self.until_arrived = min(self.until_arrived, self.stop + 1)
        if self.ends is not None and window.has_gaps(frame):
            if self.first < min(arrived, self.stop):
                # it holds nothing in the gap after this window, though an interval may go on
                end_of_window = frame.last + window.active(frame, t) * frame.slide + 1
                self.until = min(self.until, end_of_window)
            else:
                self.until_arrived = min(self.until_arrived, max(arrived, self.first) + 1)

    def differs(self, now: Bounds, before: Bounds, t: int) -> bool:
        """REP-2: Return whether the content at t differs from one before it."""
        ends = self.ends
        if ends is None or now == before or now[1] - now[0] != before[1] - before[0]:
            return now != before
        # As many elements have ended as have arrived since: these, if none of them is there.
        first, _ = self._scope(t)
        return any(ends[i] >= first for i in range(before[1], now[1]))

    def contents(self, ts: Iterable[int], bounds: Iterable[Bounds]) -> Iterator[Content]:
        """Return the contents at some instants."""
        if self.view.spec.kind is WindowKind.PARTITION:
            return (PartitionContent(self.view, stop) for _, stop in bounds)
        if self.ends is not None:
            return map(self._overlapping, ts, bounds)
        return starmap(range, bounds)

    def _overlapping(self, t: int, bounds: Bounds) -> Content:
        """WIN-18: Return the indices of the elements that have not ended."""
        if bounds == NOTHING:
            return range(0)
        ends = require(self.ends)
        first, _ = self._scope(t)
        # before this one, all have ended
        oldest = bisect_left(self.latest_ends, first)
        return tuple(i for i in range(oldest, bounds[1]) if ends[i] >= first)

    @cached_property
    def latest_ends(self) -> Sequence[int]:
        """For each element the latest end of it and those before it."""
        return list(accumulate(require(self.ends), max))

    def _scope(self, t: int) -> tuple[int, int]:
        return require(window.scope(require(self.view.frame), t))


def window_numbers(frame: Frame | None, ts: Sequence[int]) -> Iterable[int | None]:
    """Return the number of the window at each of some ascending instants."""
    if frame is None:
        return repeat(None)
    number = window.window_number(frame, ts[0])
    if number == window.window_number(frame, ts[-1]):
        return repeat(number)
    return map(window.window_number, repeat(frame), ts)


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


# Evaluations of many arrivals


class EvaluationColumns(Sequence[Evaluation]):
    """Evaluations of different contents, in order, which are made when they are asked for: a
    thousand of them cost little to a caller who looks at the last one alone.

    Evaluation i is of arrival `arrivals[i]` at `instants[i]`, and `bounds[w][i]` is what window w
    holds there, as its `ContentCursor` explains. Both ascend; an arrival may have several.

    In a quiet stretch (`is_quiet`) elements arrive, and none leaves: each arrival has one
    evaluation, and the content of each window has the elements of the evaluation before it, and
    those that have arrived since. If it is a range, all begin with the same element.
    """

    def __init__(
        self,
        cursors: Sequence[ContentCursor],
        instants: Sequence[int],
        arrivals: Sequence[int],
        bounds: Sequence[Sequence[Bounds]],
        is_quiet: bool,
    ) -> None:
        self.cursors = cursors
        self.instants = instants
        self.arrivals = arrivals
        self.bounds = bounds
        self.is_quiet = is_quiet

    def __len__(self) -> int:
        return len(self.arrivals)

    def __iter__(self) -> Iterator[Evaluation]:
        if not self.arrivals:
            return iter(())
        windows = [
            map(
                WindowContent,
                window_numbers(cursor.view.frame, self.instants),
                cursor.contents(self.instants, bounds),
            )
            for cursor, bounds in zip(self.cursors, self.bounds, strict=True)
        ]
        return map(Evaluation, self.instants, self.arrivals, zip(*windows, strict=False))

    @overload
    def __getitem__(self, index: int) -> Evaluation: ...
    @overload
    def __getitem__(self, index: slice) -> EvaluationColumns: ...
    def __getitem__(self, index: int | slice) -> Evaluation | EvaluationColumns:
        if isinstance(index, slice):
            bounds = [column[index] for column in self.bounds]
            return EvaluationColumns(
                self.cursors, self.instants[index], self.arrivals[index], bounds, self.is_quiet
            )
        place = range(len(self))[index]
        return next(iter(self[place : place + 1]))


# Reports of changes


AT_ONCE = 1000  # so many arrivals are looked at together


def is_of_changes_alone(planned: Plan) -> bool:
    """Whether `ContentChanges` covers a plan: it is reported when the elements of its windows are
    others than at the last report, whatever the instant.
    """
    semantics = planned.semantics
    return (
        Condition.CHANGE in semantics.report
        and not any(condition.is_on_instants for condition in semantics.report)
        and not semantics.change_scope.reads_graphs
        and semantics.change_baseline.is_of_last_report
        and not semantics.tick.needs_batches
    )


class ContentChanges:
    """The evaluations of a plan that `is_of_changes_alone`.

    An arrival is tested at the instants from that of the arrival before up to its own, which is not
    included, or at its own alone, if the two are equal (TICK-4). In the example the windows are [0,
    10), [10, 20), …. Elements a, b, c and d arrive at 1, 4, 4 and 12:

    ======= ========= ================= ===================================================
    arrival instants  case              evaluations
    ======= ========= ================= ===================================================
    a@1     -1 and 0  window changes    none: the content is empty, as it was before
    b@4     1, 2, 3   quiet stretch     at 1, over {a}: at 2 and 3 the content is the same
    c@4     4         quiet stretch     at 4, over {a, b}
    d@12    4 to 11   window changes    at 4, over {a, b, c}; at 10, over the empty [10, 20)
    ======= ========= ================= ===================================================

    In a *quiet stretch* contents change by what arrives, and by nothing else. So each arrival is
    evaluated once, at its first instant, and over all that has arrived.
    """

    def __init__(self, planned: Plan, max_reports: int) -> None:
        semantics = planned.semantics
        self.planned = planned
        self.max_reports = max_reports
        self.cursors = cursors_of(planned)
        self.frames = [view.frame for view in planned.views if view.frame]
        self.start = min(map(window.s0, self.frames), default=NEVER)
        self.is_eager = semantics.expiry_seen.is_before_arrival and not planned.tuples
        self.is_non_empty = Condition.NON_EMPTY in semantics.report
        is_one = len(planned.views) == 1
        is_any_enough = is_one or semantics.trigger.is_any_window
        # then two pairs that differ are two contents, and the query is reported
        self.is_one_of_points = is_one and not self.is_non_empty and self.cursors[0].ends is None
        self.until = self.start  # until when no content changes, but by what arrives
        self.can_be_quiet = is_any_enough and all(each.has_all_arrived for each in self.cursors)

        # the own instant, and the t_app, of the arrival that was looked at last
        self.last_own = self.last_app = self.start
        self.reported = (NOTHING,) * len(self.cursors)
        self.count = 0
        # evaluations that are found, and not yet yielded
        self.found: list[tuple[int, int, tuple[Bounds, ...]]] = []

    def groups(self) -> Iterator[Sequence[Evaluation]]:
        """Yield the evaluations, grouped: a quiet stretch of many arrivals is a group of its own.
        Raises TooManyReports.
        """
        if not self.frames:
            return
        for indices in arrivals_at_once(self.planned):
            arrivals = self._look_at(indices)
            befores = [self.last_own, *(self.planned.own[k] for k in arrivals)]
            self.last_own = befores.pop()
            owns = [*befores[1:], self.last_own]
            place = 0
            while place < len(arrivals):
                if owns[place] <= self.until and self.can_be_quiet:
                    stop = self._end_of_quiet_stretch(arrivals, befores, owns, place)
                    if stop > place + 1:
                        yield from self._take_found()
                        yield self._quiet_stretch(
                            arrivals[place:stop], befores[place:stop], owns[place:stop]
                        )
                        place = stop
                        continue
                self._visit(arrivals[place], befores[place], owns[place])
                place += 1
                if self.count > self.max_reports:
                    yield from self._take_found()
                    refuse_too_many_reports(
                        self.count, self.max_reports, self.planned, arrivals[place - 1]
                    )
            yield from self._take_found()

    def _look_at(self, indices: range) -> Sequence[int]:
        """Return the arrivals that are looked at: under the time tick, those at which time has
        advanced (TICK-2).
        """
        if not self.planned.semantics.tick.is_by_time:
            return indices
        looked_at = []
        for k in indices:
            app = self.planned.arrivals[k].app
            if app > self.last_app:
                self.last_app = app
                looked_at.append(k)
        return looked_at

    def _end_of_quiet_stretch(
        self, arrivals: Sequence[int], befores: Sequence[int], owns: Sequence[int], place: int
    ) -> int:
        """Return the place after the last arrival of the quiet stretch that begins with the one at
        a place: `place` itself if that arrival is in none.
        """
        if self.until <= befores[place]:
            return place
        k = arrivals[place]
        for cursor in self.cursors:
            count = cursor.counts[k]
            if not cursor.first < count < min(cursor.stop, cursor.until_arrived):
                return place  # an empty window, in which an arrival may change nothing
        # Under eager expiry an arrival is tested at its own instant, too (TICK-7).
        last = self.until - 1 if self.is_eager else self.until
        stop = min(bisect_right(owns, last, place), bisect_left(befores, self.until, place))
        return min(stop, place + self.max_reports - self.count)

    def _quiet_stretch(
        self, arrivals: Sequence[int], befores: Sequence[int], owns: Sequence[int]
    ) -> EvaluationColumns:
        """Return the evaluations of the arrivals of a quiet stretch."""
        at = befores
        if self.planned.tuples:  # the last id of each tick (REP-7)
            at = [max(before, own - 1) for before, own in zip(befores, owns, strict=True)]
        bounds = [[(cursor.first, cursor.counts[k]) for k in arrivals] for cursor in self.cursors]
        self.count += len(arrivals)
        self.reported = tuple(column[-1] for column in bounds)
        return EvaluationColumns(self.cursors, at, arrivals, bounds, is_quiet=True)

    def _visit(self, k: int, before: int, own: int) -> None:
        """Find the evaluations of arrival k, at its instants one after the other. With one report
        more than there may be, stop.
        """
        stop = own if own != before else own + 1
        if self.is_eager:
            expiry_seen = self.planned.semantics.expiry_seen
            interval = instants(before, stop)
            stop = tick.interval_with_expiry(expiry_seen, interval, own, self.frames).stop
        t = max(before, self.start)
        if self.planned.tuples:
            t = max(t, stop - 1)  # the last id of the tick (REP-7)
        arrived = [cursor.counts[k] for cursor in self.cursors]
        while t < stop:
            held, self.until = bounds_of_all(self.cursors, t, arrived)
            if held != self.reported and (self.is_one_of_points or self._is_reported(held, t)):
                self.count += 1
                if self.count > self.max_reports:
                    return
                self.found.append((t, k, held))
                self.reported = held
            t = self.until

    def _is_reported(self, held: tuple[Bounds, ...], t: int) -> bool:
        """REP-6, REP-12: Return whether the query is reported at t, where its windows hold this."""
        at = [
            range(cursor.differs(now, before, t) and not (self.is_non_empty and now == NOTHING))
            for cursor, now, before in zip(self.cursors, held, self.reported, strict=True)
        ]
        return bool(report.fires(self.planned.semantics.trigger, self.planned.views, at))

    def _take_found(self) -> Iterator[EvaluationColumns]:
        """Yield the evaluations that are found and not yet yielded, as a group."""
        if self.found:
            at, arrivals, held = zip(*self.found, strict=True)
            self.found.clear()
            yield EvaluationColumns(
                self.cursors, at, arrivals, list(zip(*held, strict=True)), is_quiet=False
            )


def cursors_of(planned: Plan) -> list[ContentCursor]:
    """Return a cursor for each window of a plan."""
    return [
        ContentCursor(view, counts, planned.semantics)
        for view, counts in zip(planned.views, planned.counts, strict=True)
    ]


def bounds_of_all(
    cursors: Sequence[ContentCursor], t: int, arrived: Sequence[int]
) -> tuple[tuple[Bounds, ...], int]:
    """Return the content of each window at an instant, and until when none changes."""
    held = tuple([cursor.bounds(t, n) for cursor, n in zip(cursors, arrived, strict=True)])
    return held, min([cursor.until for cursor in cursors])


def arrivals_at_once(planned: Plan) -> Iterator[range]:
    """Yield all arrivals of a plan, many at once; of a stream that is read as it comes each by
    itself, since those to come are not known.
    """
    if isinstance(planned.own, list):
        count = len(planned.own)
        return (range(k, min(k + AT_ONCE, count)) for k in range(0, count, AT_ONCE))
    return (range(k, k + 1) for k, _ in enumerate(planned.arrivals))


# Other reports


class InstantsDue:
    """The evaluations of any plan: those that `core.schedule.groups_of_arrival` finds for the
    arrivals that are not passed over.

    A report is *due* at an instant at which all conditions on the instant hold for some window.
    With windows [0, 10), [10, 20), … and window close one is due at 9, 19, …, and arrivals at 12 to
    18 are passed over: nothing is reported there. Without such conditions one is due at each
    instant.
    """

    def __init__(self, planned: Plan, max_reports: int) -> None:
        semantics = planned.semantics
        self.planned = planned
        self.cursors = cursors_of(planned)
        self.walk = Schedule(planned, max_reports)
        self.views = [view for view in planned.views if view.frame]
        frames = [require(view.frame) for view in self.views]
        # Content change against the instant before sees the contents at all instants (REP-8).
        self.sees_all = Condition.CHANGE in semantics.report and (
            not semantics.change_baseline.is_of_last_report
        )
        # from this instant on each window has a scope
        self.scopes_from = max(
            (require(window.first_instant_with_scope(frame, -NEVER)) for frame in frames),
            default=NEVER,
        )
        self.has_due_instants = not self.sees_all and any(
            condition.is_on_instants for condition in semantics.report
        )
        always = instants(-NEVER, NEVER)
        due = [report.timely_instants(semantics, view, always, NEVER) for view in self.views]
        self.due = [span for span in due if span]
        self.can_pass_over = not semantics.tick.needs_batches and isinstance(planned.own, list)

    def groups(self) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations, grouped as `core.schedule.evaluation_groups` groups them. Raises
        TooManyReports.
        """
        planned, walk = self.planned, self.walk
        if not walk.begin():
            return
        due = self._next_due(walk.start)
        next_k = 0
        for k, _ in enumerate(planned.arrivals):
            if k < next_k:
                continue
            interval = walk.look_at(k)
            own = planned.own[k]
            if own < due:
                if self.can_pass_over:
                    next_k = bisect_left(planned.own, due, k)
                    self._pass_over(next_k - 1)
            elif interval:
                yield from groups_of_arrival(
                    planned,
                    k,
                    interval,
                    walk.report_state,
                    walk.frames,
                    walk.max_reports,
                    self._cut,
                )
                due = self._next_due(own)

    def _pass_over(self, k: int) -> None:
        """TICK-5: Remember arrival k as the one that was looked at last."""
        last = require(self.walk.last_tick)
        app = self.planned.arrivals[k].app
        if not self.planned.semantics.tick.is_by_time or app > last.app:
            self.walk.last_tick = tick.LastTick(self.planned.own[k], app, 0)

    def _next_due(self, t: int) -> int:
        """Return the first instant from t on at which a report is due."""
        if not self.has_due_instants:
            return t
        due = NEVER
        for span in self.due:
            due = min(due, span.start if t <= span.start else t + (span.start - t) % span.step)
        return due

    def _cut(
        self, views: Sequence[WindowView], arrived: Sequence[int], interval: range
    ) -> Iterator[Stretch]:
        """Yield the stretches of an interval in which a report is due, with what each window holds.
        What it holds in between shows in no report.
        """
        t = self._next_due(interval.start)
        while t < interval.stop:
            held, until = bounds_of_all(self.cursors, t, arrived)
            contents: list[Content] = []
            for cursor, bounds in zip(self.cursors, held, strict=True):
                contents += cursor.contents([t], [bounds])
            stop = until
            while t >= self.scopes_from and stop < interval.stop:
                later, until = bounds_of_all(self.cursors, stop, arrived)
                if later != held:
                    break
                stop = until
            stop = min(stop, interval.stop)
            yield instants(t, stop), tuple(contents)
            t = self._next_due(stop)


# All


def schedule_evaluations(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Evaluation]:
    """Yield the evaluations of a plan in order, those of `core.schedule.evaluations`. Raises
    TooManyReports.
    """
    return chain.from_iterable(schedule_groups(planned, max_reports))


def schedule_groups(
    planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Iterable[Evaluation]]:
    """Yield the evaluations of a plan in groups. A group is either an `EvaluationColumns`, or
    evaluations of one arrival over the same contents, as in `core.schedule.evaluation_groups`.
    Raises TooManyReports.
    """
    if is_of_changes_alone(planned):
        return ContentChanges(planned, max_reports).groups()
    return InstantsDue(planned, max_reports).groups()
