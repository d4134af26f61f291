"""§9 When a query is evaluated, as `core.schedule` says, quicker where an arrival meets one window
alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import cast, overload

from refengine.core import schedule, tick, window
from refengine.core.plan import Plan
from refengine.core.query import WindowKind
from refengine.core.schedule import MAX_REPORTS, Evaluation, Held, Seen
from refengine.core.semantics import Against, Change, Closing, Condition, Expiry, Tick
from refengine.incremental import partitions
from refengine.model.errors import require


class SimultaneousEvaluations(Sequence[Evaluation]):
    """The evaluations of arrivals that come at one instant, over what has come by then of one
    window: made when they are asked for.
    """

    def __init__(self, t: int, n: int, start: int, arrivals: range) -> None:
        self.t, self.n, self.start, self.arrivals = t, n, start, arrivals

    def __len__(self) -> int:
        return len(self.arrivals)

    @overload
    def __getitem__(self, index: int) -> Evaluation: ...
    @overload
    def __getitem__(self, index: slice) -> SimultaneousEvaluations: ...
    def __getitem__(self, index: int | slice) -> Evaluation | SimultaneousEvaluations:
        if isinstance(index, slice):
            return SimultaneousEvaluations(self.t, self.n, self.start, self.arrivals[index])
        k = self.arrivals[index]
        return Evaluation(self.t, k, (Held(self.n, range(self.start, k)),))


def schedule_evaluations(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Evaluation]:
    """Yield what core.schedule.evaluations yields, quicker where an arrival meets one
    window alone.
    """
    return chain.from_iterable(schedule_stretches(planned, max_reports))


def schedule_stretches(
    planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Iterable[Evaluation]]:
    """Yield what core.schedule.stretches yields, likewise."""
    if is_single_time_window(planned):
        return time_window_stretches(planned, max_reports)
    if partitions.is_single_partition(planned):
        return partitions.partition_stretches(planned, max_reports)
    return schedule.stretches(planned, max_reports)


def is_single_time_window(planned: Plan) -> bool:
    """Whether there is one window of SECRET over points, and what matters of an arrival is whether
    a window closes, or whether there is another element than at the last report.
    """
    semantics, view, changes = (
        planned.semantics,
        planned.views[0],
        Condition.CHANGE in planned.semantics.report,
    )
    return (
        len(planned.views) == 1
        and view.spec.kind is WindowKind.TIME
        and view.frame is not None
        and view.ends is None
        and semantics.tick is not Tick.BATCH
        and Condition.PERIODIC not in semantics.report
        and (semantics.against is Against.LAST or not changes)
        and (
            Condition.CLOSE in semantics.report
            or (
                changes
                and semantics.change is Change.ELEMENTS
                and (semantics.closing is Closing.REACHED or semantics.tick is Tick.TUPLE)
            )
        )
    )


def time_window_stretches(planned: Plan, max_reports: int) -> Iterator[Iterable[Evaluation]]:
    """Yield the stretches where `is_single_time_window` holds.

    As long as no other window becomes the active one in an arrival's interval (TICK-4), none
    closes, and the content at all its instants is what has arrived since the window's first one,
    unless arrivals are to pass a closing (TICK-6): then those at one instant are not in its scope
    yet, and of them two see all. What is more than that is `core.schedule.of_arrival`'s.
    """
    semantics, view, frame, own = (
        planned.semantics,
        planned.views[0],
        require(planned.views[0].frame),
        planned.own,
    )
    closes, start = Condition.CLOSE in semantics.report, window.start(frame)
    seen = Seen((range(0),), (range(0),))
    reported = range(0)
    # that the next window is the active one matters at its arrival
    spare = int(not closes and semantics.expiry is Expiry.REPLAYED)
    ahead, again = not closes and tick.own(semantics, 0) < 0, None
    # from `begin` on and until `end`, window n is the active one
    begin, end, last, low, n = 0, -1, 0, 0, 0
    arrivals, before = without_early(planned, start)
    for k, at in arrivals:
        if at <= before and semantics.tick is Tick.TIME:
            continue
        if ahead and at == before:
            if at == again:
                continue
            again = at
        elif begin <= before <= end and at <= last and not ahead:
            if closes and isinstance(own, list):  # the next arrival at which one can close
                stop = bisect_right(own, last, k)
                deque(islice(arrivals, stop - k - 1), 0)
                at = own[stop - 1]
            elif (
                not closes
                and at == before
                and k > max(low, reported.stop)
                and isinstance(own, list)
            ):
                run = range(k, min(bisect_right(own, at, k), k + max(1, max_reports - seen.count)))
                deque(islice(arrivals, len(run) - 1), 0)
                reported = range(low, run[-1])
                seen.reported, seen.count = (
                    (reported,),
                    schedule.bounded(seen.count + len(run), max_reports, planned.arrivals, k),
                )
                yield SimultaneousEvaluations(before, n, low, run)
            elif not closes and k > low:
                if k != reported.stop or low != reported.start:
                    reported = range(low, k)
                    seen.reported, seen.count = (
                        (reported,),
                        schedule.bounded(seen.count + 1, max_reports, planned.arrivals, k),
                    )
                    yield (Evaluation(before, k, (Held(n, reported),)),)
            elif not closes and reported:
                yield from schedule.of_arrival(
                    planned, k, tick.interval(before, at), seen, [frame], max_reports
                )
                reported = cast("range", seen.reported[0])
            before = at
            continue
        interval = tick.interval(before, at)
        yield from schedule.of_arrival(
            planned, k, range(max(interval.start, start), interval.stop), seen, [frame], max_reports
        )
        reported, since, before = cast("range", seen.reported[0]), before, at
        if not begin <= at <= end or since < begin:
            n = window.active(frame, at)
            first, end = (border + n * frame.slide for border in (frame.first, frame.last))
            first = first if frame.floor is None else max(first, frame.floor)
            begin = max(first, end - frame.slide + 1 if n > frame.least else start)
            last, low = end + spare, bisect_left(view.times, first)


def without_early(planned: Plan, start: int) -> tuple[Iterator[tuple[int, int]], int]:
    """The arrivals with their instants but for those before any window has a scope, at `start`,
    where nothing is evaluated; and the instant that was looked at before. Arrivals that are not
    known beforehand are all there.
    """
    own = planned.own
    if not isinstance(own, list):
        return enumerate(own_instants(planned)), start
    early = bisect_left(own, start)
    before = own[early - 1] if early and planned.semantics.tick is Tick.TUPLE else start
    return enumerate(islice(own, early, None), early), before


def own_instants(planned: Plan) -> Iterator[int]:
    """The arrivals' own instants, as they come."""
    shift = tick.own(planned.semantics, 0)
    for arrival in planned.arrivals:
        yield arrival.app + shift
