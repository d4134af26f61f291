"""§9 Schedule: when a query is evaluated, over which contents. S2R, tick and report, before any
content is queried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from heapq import merge
from itertools import groupby
from typing import NamedTuple

from refengine.core import report, tick, window
from refengine.core.moving import instants
from refengine.core.plan import Plan
from refengine.core.query import WindowKind
from refengine.core.report import Firing
from refengine.core.semantics import Semantics
from refengine.core.values import Condition
from refengine.core.window import Content, Frame, WindowView
from refengine.model.errors import RefengineError, TooManyReports, require
from refengine.model.messages import display

MAX_REPORTS = 10**7

# successive instants (a `span`) over which no window's content changes, and each window's content
Stretch = tuple[range, tuple[Content, ...]]
# cuts an interval into stretches, given the windows and the number of elements that have arrived
Cut = Callable[[Sequence[WindowView], Sequence[int], range], Iterator[Stretch]]


class WindowContent(NamedTuple):
    """What a window holds at an evaluation: its number n (None where windows have no numbers, or
    the window has no scope), and its content as ascending indices of its stream's elements. A
    session has its borders (WIN-23), which no number gives, and the window of a key has the terms
    of the key (WIN-24).
    """

    n: int | None
    content: Content
    borders: tuple[int, int] | None = None
    key: tuple[str, ...] = ()


class Cause(Enum):
    """Why a window is reported: since its conditions hold while it is open, or again after it has
    closed (REP-14), or early (REP-15).
    """

    OPEN = auto()
    AGAIN = auto()
    EARLY = auto()


class Evaluation(NamedTuple):
    """An evaluation: the instant t, the index, from 0, of the arrival that triggered it, what
    each window of the query holds, whether its report takes back an earlier one (REP-16), and why
    the window is reported, where every window is.
    """

    t: int
    arrival: int
    windows: tuple[WindowContent, ...]
    takes_back: bool = False
    cause: Cause = Cause.OPEN

    @property
    def content(self) -> Content:
        """The content of the first window."""
        return self.windows[0].content


class Arrived(NamedTuple):
    """REP-13: An arrival since the one last looked at: its own instant, and the windows that are
    over its stream.
    """

    own: int
    windows: frozenset[int]


@dataclass
class ReportState:
    """What the report conditions remember of the past.

    `reported` has each window's content as last reported, `at_instant_before` its content at the
    instant tested before. `count` is the number of reports so far. `arrived` are the arrivals since
    the one last looked at, if the report is of them.
    """

    reported: tuple[Content, ...]
    at_instant_before: tuple[Content, ...]
    count: int = 0
    arrived: Sequence[Arrived] = ()


def refuse_no_bound(value: object) -> None:
    """ENG-3: Refuse a value that is not a bound on the number of reports: an integer ≥ 0. Raises
    RefengineError.
    """
    if type(value) is not int or value < 0:
        reason = f"must be an integer >= 0, got {display(value)}; write max_reports={MAX_REPORTS}"
        raise RefengineError(reason, rule="ENG-3", place="max_reports")


class Schedule:
    """The evaluations of a plan, arrival after arrival.

    It remembers three things of the arrivals before: which of them was looked at last (TICK-5),
    what content change compares with (REP-8), and how many reports there were (ENG-3). Arrivals may
    be added to the plan while its evaluations are drawn.
    """

    def __init__(self, planned: Plan, max_reports: int = MAX_REPORTS) -> None:
        self.planned = planned
        self.max_reports = max_reports
        nothing = (range(0),) * len(planned.views)
        self.report_state = ReportState(nothing, nothing)
        self.cut: Cut = spans

        self.frames: list[Frame] = []
        self.start = 0
        self.last_tick: tick.LastTick | None = None
        self.arrived: list[Arrived] = []

    def groups(self) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of all arrivals, grouped as `evaluation_groups` groups them."""
        for k, _ in enumerate(self.planned.arrivals):
            yield from self.arrive(k)

    def arrive(self, k: int) -> Iterator[Iterator[Evaluation]]:
        """Yield the evaluations of arrival k, from 0, grouped. Those of the arrivals before it must
        have been drawn. Raises TooManyReports.
        """
        interval = self.look_at(k)
        if interval is not None:
            yield from groups_of_arrival(
                self.planned,
                k,
                interval,
                self.report_state,
                self.frames,
                self.max_reports,
                self.cut,
            )

    def arrive_last(self, k: int) -> Iterator[Iterable[Evaluation]]:
        """Yield the evaluations of an arrival that was added to the plan after `groups` has ended,
        grouped.
        """
        return self.arrive(k)

    def look_at(self, k: int) -> range | None:
        """TICK-5: Return the instants from s0 on at which arrival k is tested, and remember that it
        was looked at. Return None for an arrival that is not looked at. This must have been
        called for the arrivals before it.
        """
        if self.last_tick is None and not self.begin():
            return None
        is_of_arrivals = Condition.ARRIVAL in self.planned.semantics.report
        since = self.arrived
        last = require(self.last_tick)
        arrival = self.planned.arrivals[k]
        own = self.planned.own[k]
        if self.planned.semantics.late_for.keeps_arrival_order:
            # MOD-5: the time that it brings, which is not its own where it comes late
            arrival = arrival._replace(app=own - tick.shift_of_own_instants(self.planned.semantics))

        interval = tick.instants_of_arrival(self.planned.semantics.tick, arrival, own, last)
        if interval is not None:
            self.report_state.arrived = since
            self.arrived = since = []
        if is_of_arrivals:
            since.append(self.arrival_at(k))
        if interval is None:
            return None
        self.last_tick = tick.LastTick(own, arrival.app, arrival.batch or 0)
        return instants(max(interval.start, self.start), interval.stop)

    def arrival_at(self, k: int) -> Arrived:
        """Return arrival k as REP-13 counts it."""
        # no count follows the sentinel, which no arrival comes after
        counts = self.planned.counts
        windows = (
            n for n, each in enumerate(counts) if k + 1 < len(each) and each[k + 1] > each[k]
        )
        return Arrived(self.planned.own[k], frozenset(windows))

    def begin(self) -> bool:
        """Set s0, where the first interval starts: the least of all windows' (ENG-5). Return False,
        and do nothing, if no window ever opens.
        """
        self.frames = [view.frame for view in self.planned.views if view.frame]
        if not self.frames:
            return False
        self.start = min(map(window.s0, self.frames))
        self.last_tick = tick.LastTick(self.start, self.start, 0)
        return True


def groups_of_arrival(
    planned: Plan,
    k: int,
    interval: range,
    state: ReportState,
    frames: Sequence[Frame],
    bound: int,
    cut: Cut,
) -> Iterator[Iterator[Evaluation]]:
    """Yield the evaluations of arrival k, grouped.

    `interval` has the instants at which the arrival is tested: those since the arrival last looked
    at. `frames` are those of the windows that open. Each report changes `state`. `cut` cuts the
    interval as `spans` does, but it may leave out stretches as long as the evaluations are the
    same. Raises TooManyReports for more reports than `bound`.
    """
    semantics = planned.semantics
    if not planned.tuples:
        interval = tick.interval_with_expiry(
            semantics.expiry_seen, interval, planned.own[k], frames
        )
    interval = interval_with_arrivals(interval, planned.own[k], state.arrived)

    for progressions, contents in report.choose_in_gap(
        semantics.missed_instants, reported_stretches(planned, k, interval, state, cut)
    ):
        # one instant more than may be reported, so that too many are noticed
        times = _merge_instants(progressions, bound - state.count + 1)
        if Condition.CHANGE in semantics.report:
            # At the further instants the content is the one just reported. Against the previous
            # instant (REP-8) there are none (`reportable_instants`).
            times = times[:1]
        count = state.count + _size(times)
        refuse_too_many_reports(count, bound, planned, k)

        state.count = count
        state.reported = contents
        if planned.tuples:
            # REP-7: whether to report was decided with `contents`, the content at the last id of
            # the tick. What is reported is the content at the id that is evaluated, which may be an
            # earlier one.
            arrived = planned.counts[0][k]
            state.reported = (window.content(planned.views[0], times[0], arrived),)
        yield map(partial(make_evaluation, planned.views, k, state.reported), times)


def interval_with_arrivals(interval: range, own: int, arrived: Sequence[Arrived]) -> range:
    """REP-13: Return the interval of an arrival, with its own instant if another one that is to be
    reported came there: one of an earlier batch.
    """
    if interval.stop == own and arrived and arrived[-1].own == own:
        return instants(interval.start, own + 1)
    return interval


def _merge_instants(progressions: Sequence[range], most: int) -> range | list[int]:
    """Return the instants of some progressions, each once, ascending. Of several progressions only
    the first `most` instants are returned.
    """
    if len(progressions) == 1:
        return progressions[0]
    merged: list[int] = []
    for t, _ in groupby(merge(*progressions)):
        if len(merged) == most:
            break
        merged.append(t)
    return merged


def _size(times: range | list[int]) -> int:
    """Return the number of instants. len() raises for a range with 2^63 of them or more."""
    if isinstance(times, list):
        return len(times)
    return -((times.start - times.stop) // times.step)


def reported_stretches(
    planned: Plan, k: int, interval: range, state: ReportState, cut: Cut
) -> Iterator[Firing]:
    """Yield the stretches of arrival k's interval in which the query is reported (REP-12): the
    instants, and the content of each window.

    They are drawn one by one. After each, `groups_of_arrival` changes the content last reported,
    which content change may compare the next one with (REP-8). Under missed_instants=latest
    nothing is reported until all are drawn (REP-10).

    They have to be drawn to the end, also if only the first is wanted. Drawing goes over all
    stretches, reported or not, and keeps the content of each as the one at the instant before. The
    last one is what content change may compare the next arrival's first content with (REP-8).
    """
    semantics = planned.semantics
    views = planned.views
    own = planned.own[k]
    if Condition.CHANGE not in semantics.report and not any(
        report.timely_instants(semantics, view, interval, own) for view in views if view.frame
    ):
        # Nothing is reported. The contents here need not be remembered: only content change reads
        # those of the instant before (REP-8), and the report does not name it.
        return

    arrived = tuple(counted[k] for counted in planned.counts)
    if planned.tuples:
        cut = stretch_of_tick
    if Condition.ARRIVAL in semantics.report and not planned.tuples:
        yield from reported_arrivals(planned, k, state, cut(views, arrived, interval))
        return
    for span, tested in cut(views, arrived, interval):
        before = state.at_instant_before
        if planned.tuples and interval[1:]:
            # REP-7 tests the content at the tick's last id alone. The id before it is the tick's
            # last but one.
            before = (window.content(views[0], interval[-2], *arrived),)
        state.at_instant_before = tested
        windows = zip(views, tested, state.reported, before, strict=True)
        if planned.tuples and Condition.ARRIVAL in semantics.report:
            span = _last_id_that_arrived(planned, k, span, state.arrived)
        holding = [range(0)]
        if span:
            holding = [reportable_instants(semantics, *one, span, own) for one in windows]
        if at := report.fires(semantics.trigger, views, holding):
            yield at, tested


def _last_id_that_arrived(planned: Plan, k: int, ids: range, arrived: Sequence[Arrived]) -> range:
    """REP-7, REP-13: Return the largest of some ids that an arrival has and at which the other
    conditions on the instant hold, as a range; an empty one if there is none.
    """
    view = planned.views[0]
    for arrival in reversed(arrived):
        at = instants(max(ids.start, arrival.own), min(ids.stop, arrival.own + 1))
        if report.timely_instants(planned.semantics, view, at, planned.own[k]):
            return at
    return range(0)


def reported_arrivals(
    planned: Plan, k: int, state: ReportState, stretches: Iterator[Stretch]
) -> Iterator[Firing]:
    """REP-13: Yield an instant and the contents for each arrival since the one last looked at, at
    whose own instant the other conditions hold for a window over its stream. They are drawn as
    `reported_stretches` says.
    """
    semantics = planned.semantics
    own = planned.own[k]
    for span, tested in stretches:
        before = state.at_instant_before
        for arrival in state.arrived:
            if not span.start <= arrival.own < span.stop:
                continue
            if arrival.own != span.start:
                before = tested  # at the instant before the content was the same
            at = instants(arrival.own, arrival.own + 1)
            windows = zip(planned.views, tested, state.reported, before, strict=True)
            holding = [reportable_instants(semantics, *one, at, own) for one in windows]
            holding = [one if n in arrival.windows else range(0) for n, one in enumerate(holding)]
            if firing := report.fires(semantics.trigger, planned.views, holding):
                yield firing, tested
            before = tested
        state.at_instant_before = tested


def reportable_instants(
    semantics: Semantics,
    view: WindowView,
    content: Content,
    reported: Content,
    before: Content,
    span: range,
    own: int,
) -> range:
    """Return the instants of a stretch at which all conditions of one window hold.

    The window holds `content` in the whole stretch `span`. `reported` and `before` are its contents
    as last reported and at the instant before the stretch; `own` is the arrival's own instant.
    """
    against_previous = not semantics.change_baseline.is_of_last_report
    is_tuple_based = view.spec.kind is WindowKind.TUPLE
    if Condition.CHANGE in semantics.report and against_previous and not is_tuple_based:
        span = span[:1]  # at each further instant the content is that of the instant before it

    at = timely_instants_in_scope(semantics, view, content, span, own)
    base = report.content_baseline(semantics.change_baseline, reported, before)
    if at and report.is_worthy(semantics, view, content, base):
        return at
    return range(0)


def timely_instants_in_scope(
    semantics: Semantics, view: WindowView, content: Content, span: range, own: int
) -> range:
    """Return the instants of a stretch at which the conditions of one window on the instant hold.
    The arguments are those of `reportable_instants`.
    """
    nowhere = range(0)
    if view.frame is None:
        return nowhere
    # ENG-5: without a scope no condition holds. A content that is not empty has a scope, so it is
    # computed only for an empty one.
    if not content and window.scope(view.frame, span[-1]) is None:
        return nowhere
    at = report.timely_instants(semantics, view, span, own)
    if view.spec.kind is WindowKind.TUPLE:
        at = at[-1:]  # REP-7: one report a tick, at the largest id at which the conditions hold
    return at


def make_evaluation(
    views: Sequence[WindowView], arrival: int, contents: Sequence[Content], t: int
) -> Evaluation:
    """Return the evaluation of an arrival at instant t, over the given contents."""
    held = []
    for view, content in zip(views, contents, strict=True):
        n = None
        if view.frame:
            n = window.window_number(view.frame, t)
        held.append(WindowContent(n, content))
    return Evaluation(t, arrival, tuple(held))


def spans(
    views: Sequence[WindowView], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """ENG-2: Cut an interval into the longest stretches in which no window's content changes, and
    yield each with the contents. The first `arrived` elements of each window's stream are there.

    `reportable_instants` then picks instants of a stretch by arithmetic, so that a long gap between
    two elements costs no more than a short one.
    """
    t = interval.start
    while t < interval.stop:
        stop = interval.stop
        for view, n in zip(views, arrived, strict=True):
            change = window.next_change(view, t, n)
            if change is not None:
                stop = min(stop, change)
        contents = tuple(window.content(view, t, n) for view, n in zip(views, arrived, strict=True))
        yield instants(t, stop), contents
        t = stop


def stretch_of_tick(
    views: Sequence[WindowView], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """REP-7: Yield the whole interval as one stretch, with the content at its last id: that of a
    tuple-based window, which is reported once a tick. Nothing is yielded for an empty interval.
    """
    if interval:
        yield interval, (window.content(views[0], interval[-1], arrived[0]),)


def refuse_too_many_reports(count: int, bound: int, planned: Plan, k: int) -> None:
    """ENG-3: Raise TooManyReports if there are more reports than the bound. The error names the gap
    before arrival k, in which that happens: between two elements, or before the horizon.
    """
    if count <= bound:
        return
    arrivals = planned.arrivals
    since = "the start"
    if k:
        since = f"element {k} at {arrivals[k - 1].app}"
    until = f"element {k + 1} at {arrivals[k].app}"
    if is_sentinel(planned, k):
        until = f"the horizon at {arrivals[k].app}"
    raise TooManyReports(
        f"{count} reports exceed max_reports={bound}, in the gap between {since} and {until}; "
        "add non-empty or content-change to the report, choose a later t0, or raise "
        "max_reports (--max-reports on the command line)",
        rule="ENG-3",
    )


def is_sentinel(planned: Plan, k: int) -> bool:
    """Return whether arrival k is the sentinel of ENG-1. The sentinel comes last and has no
    triples. While arrivals are still added to the plan, the last one so far may be an element.
    """
    horizon = planned.semantics.horizon
    if not isinstance(horizon, int) and horizon.is_last_arrival:
        return False
    return k == len(planned.arrivals) - 1 and not planned.arrivals[k].graph
