"""§9 In parts: the reports that some of the arrivals trigger, from the elements that they rest on
and no others (ENG-7).

A part is the arrivals of an interval of time. Besides these it is given a *halo*: the elements for
some time before, since windows reach back. To find when the query is evaluated costs little, so the
schedule alone tells what was before a part: which evaluations fall into its halo, which of these
are exactly the whole stream's, and so whether the halo is long enough. One that is too short is
tried again with an earlier start.

For windows [0, 10), [10, 20), … and the part from 40 on, a halo from 30 on has the contents of [30,
40), and with them the answer that Istream compares the first one of the part with.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, takewhile
from math import gcd
from typing import NamedTuple, Unpack

from refengine.core import engine, report, schedule, tick, window
from refengine.core.engine import MAX_REPORTS, Options, Plan, Report
from refengine.core.plan import with_horizon_of_windows
from refengine.core.query import Query, WindowKind
from refengine.core.schedule import Schedule
from refengine.core.semantics import Semantics
from refengine.core.values import Condition, End, Offset, Partial
from refengine.core.window import Content, Frame, WindowView, window_start_at
from refengine.incremental.engine import IncrementalRun, evaluate_plan
from refengine.incremental.schedule import schedule_evaluations
from refengine.model.elements import CanonicalElements, Element, Stream
from refengine.model.errors import Unsupported

# Where the windows of the whole stream lie


def window_origins(
    query: Query, semantics: Semantics, firsts: Mapping[str, int]
) -> tuple[int | None, ...]:
    """Return the t0 of each window of a query (WIN-7, WIN-10), by the first instant of each stream
    that has an element.
    """
    origins = []
    for stated in query.windows:
        spec = window.with_slide(stated, semantics.slide)
        first = firsts.get(spec.stream)
        aligned = window.with_offset(semantics, () if first is None else (first,))
        t0 = window.origin(spec, aligned, first, query.registered)
        origins.append(window.not_earlier(spec, t0, semantics.not_before))
    return tuple(origins)


def whole_stream_frames(
    query: Query, semantics: Semantics, firsts: Mapping[str, int], halo_start: int | None
) -> list[Frame | None]:
    """Return where the windows of the whole stream lie, a frame for each window of the query: None
    for one that never opens.

    With a `halo_start` a frame begins with the last window that ended before it: windows [0, 10),
    [10, 20), … and elements from 35 on give a frame that begins with [20, 30).
    """
    period = 1 if semantics.period is None else semantics.period
    frames: list[Frame | None] = []
    for stated, t0 in zip(query.windows, window_origins(query, semantics, firsts), strict=True):
        spec = window.with_slide(stated, semantics.slide)
        frame = None
        if t0 is not None:
            frame = window.frame(spec, semantics.closure, t0, semantics.partial)
        if t0 is not None and frame is not None and halo_start is not None:
            ended = (halo_start - 1 - frame.last) // frame.slide
            # so many slides that they are whole periods, which count from t0 (REP-11)
            skipped = ended - ended % (period // gcd(period, frame.slide))
            if skipped > 0:
                later_t0 = t0 + skipped * frame.slide
                frame = window.frame(spec, semantics.closure, later_t0, Partial.SUPPRESSED)
        frames.append(frame)
    return frames


def opening_of_first_window(
    view: WindowView, semantics: Semantics, frame: Frame | None
) -> int | None:
    """Return where window 0 of a frame opens (its t0), by its first instant; None without a
    frame.
    """
    if frame is None:
        return None
    low, _ = window.borders(window.closure_of(view.spec, semantics.closure))
    return frame.first - low


# What the windows of a query last reported before a part (REP-8), found from the elements that are
# given for it. Under content change a query with several windows may be reported for the sake of
# one of them, and then all count as reported. The elements from the halo on do not show which
# contents these were. So each possibility is followed from instant to instant, until one is left.
#
# For windows [0, 10), [10, 20), … over two streams and a halo from 30 on, it is not known at first
# what was reported. An element of the first stream at 31 has not been reported before: the query is
# reported in any case, with what both windows hold then.


NOWHERE = range(0)

# What each window may last have reported; None where it is a content of before the halo
Possibility = tuple[Content | None, ...]


class Stretch(NamedTuple):
    """A stretch of instants at which no window's content changes: the contents, and for each window
    the instants at which all its conditions but content change hold.
    """

    contents: tuple[Content, ...]
    at: Sequence[range]


def needs_last_reports(query: Query, semantics: Semantics) -> bool:
    """Return whether a part must know what several windows last reported: where content change is
    against that (REP-8).
    """
    has_change = Condition.CHANGE in semantics.report
    is_against_last = semantics.change_baseline.is_of_last_report
    return has_change and is_against_last and len(query.windows) > 1


def arrival_since_which_reports_are_known(planned: Plan, exact_after: int) -> int | None:
    """ENG-7: Return the t_app of the first arrival after whose evaluations it is known what all
    windows last reported; None if there is none. The arrivals after `exact_after` see in the
    windows what they see in the whole stream.
    """
    walk = Schedule(planned)
    known: KnownReports | None = None
    for k, arrival in enumerate(planned.arrivals):
        instants = walk.look_at(k)
        if instants is None or arrival.app <= exact_after:
            continue
        semantics = planned.semantics
        interval = tick.interval_with_expiry(
            semantics.expiry_seen, instants, planned.own[k], walk.frames
        )
        if known is None:
            known = KnownReports(planned, k, interval.start)
        if known.see_arrival(k, interval):
            return arrival.app
    return None


class KnownReports:
    """The contents that the windows may last have reported. `possibilities` are all that agree with
    what is known of the stream.
    """

    def __init__(self, planned: Plan, k: int, instant: int) -> None:
        """Begin before arrival k, the first one after the halo's beginning that sees all elements
        in its windows. `instant` is the first instant at which the query is looked at because of
        it.
        """
        self.planned = planned
        # An evaluation of an earlier arrival has seen the elements before that arrival at most.
        self.seen = [counted[max(0, k - 1)] for counted in planned.counts]
        first = [self._first_possible(view, instant) for view in planned.views]
        self.possibilities: list[Possibility] = [tuple(first)]

    @staticmethod
    def _first_possible(view: WindowView, instant: int) -> Content | None:
        """Return what a window can have reported before an instant: nothing without a scope."""
        if view.frame is None or window.scope(view.frame, instant) is None:
            return range(0)
        return None

    def see_arrival(self, k: int, interval: range) -> bool:
        """Follow the possibilities through the instants of arrival k. Return whether it is known
        then what was last reported.
        """
        planned = self.planned
        arrived = tuple(counted[k] for counted in planned.counts)
        for span, contents in schedule.spans(planned.views, arrived, interval):
            at = [
                self._instants_but_for_change(view, content, span, planned.own[k])
                for view, content in zip(planned.views, contents, strict=True)
            ]
            self._see(Stretch(contents, at))
        (one, *others) = self.possibilities
        return not others and None not in one

    def _instants_but_for_change(
        self, view: WindowView, content: Content, span: range, own: int
    ) -> range:
        """Return the instants of a stretch at which all conditions of a window hold but content
        change.
        """
        semantics = self.planned.semantics
        if Condition.NON_EMPTY in semantics.report and not report.is_non_empty(content):
            return NOWHERE
        return schedule.timely_instants_in_scope(semantics, view, content, span, own)

    def _see(self, stretch: Stretch) -> None:
        """Follow each possibility through a stretch."""
        found: dict[Possibility, None] = {}
        for possibility in self.possibilities:
            found |= dict.fromkeys(self._follow(possibility, stretch))
        self.possibilities = list(found)

    def _follow(self, possibility: Possibility, stretch: Stretch) -> list[Possibility]:
        """Return what the windows may last have reported after a stretch, if before it they had
        reported this.
        """
        windows: dict[bool | None, set[int]] = {True: set(), None: set(), False: set()}
        for n, before in enumerate(possibility):
            windows[self._has_changed(n, before, stretch.contents[n])].add(n)
        surely, perhaps, unchanged = windows[True], windows[None], windows[False]
        if self._is_reported(stretch, surely):
            return [stretch.contents]

        # A window that alone would have had the query reported has not changed.
        unchanged |= {n for n in perhaps if self._is_reported(stretch, surely | {n})}
        unreported = list(possibility)
        for n in unchanged:
            unreported[n] = stretch.contents[n]
        if self._is_reported(stretch, surely | perhaps):
            return [stretch.contents, tuple(unreported)]
        return [tuple(unreported)]

    def _has_changed(self, number: int, before: Content | None, content: Content) -> bool | None:
        """Return whether a window's content differs from what it may last have reported; None if
        that is not known.
        """
        semantics = self.planned.semantics
        if before is not None:
            return report.differs(
                semantics.change_scope, self.planned.views[number], before, content
            )
        is_new = bool(content) and content[-1] >= self.seen[number]
        if is_new and not semantics.change_scope.reads_graphs:
            return True
        return None

    def _is_reported(self, stretch: Stretch, changed: set[int]) -> bool:
        """Return whether the query is reported in a stretch if just these windows have changed."""
        at = [NOWHERE] * len(stretch.at)
        for n in changed:
            at[n] = stretch.at[n]
        semantics = self.planned.semantics
        return bool(report.fires(semantics.trigger, self.planned.views, at))


# Parts


# Kinds whose windows are bounded in time
BOUNDED = frozenset({WindowKind.TIME, WindowKind.RANGE, WindowKind.NOW})


class Part(NamedTuple):
    """The arrivals with t_app in [start, stop), of which None is no bound.

    The elements from `halo_start` on are given for it (None: from the beginning of the stream), and
    none that comes after the part.
    """

    start: int | None = None
    stop: int | None = None
    halo_start: int | None = None


class HaloTooShort(Exception):
    """The elements that are given for a part begin too late to tell what was before it."""


def evaluate_in_parts(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    cuts: Sequence[int],
    **options: Unpack[Options],
) -> Iterator[Report]:
    """ENG-7: Return the reports of `core.engine.evaluate`, computed in parts: one that begins at
    each of the `cuts`, which are ascending instants, and one before these.

    Raises Unsupported for a query that is not computed in parts, and what `core.engine.evaluate`
    raises.
    """
    check_parts(query, engine.plan(query, streams, semantics))
    whole = WholeStreams(query, streams)

    def reports_between(start: int | None, stop: int | None) -> Iterator[Report]:
        tries: Iterator[int | None] = iter([None])
        if start is not None:
            tries = halo_starts(query, semantics, whole.firsts, start, whole.instants)
        for halo_start in tries:
            part = Part(start, stop, halo_start)
            some = whole.elements_for(part)
            try:
                reports, _ = reports_of_part(query, some, semantics, whole.firsts, part, **options)
            except HaloTooShort:
                continue
            return reports
        raise AssertionError("the whole stream is never too short")

    # a cut elsewhere would leave a part without arrivals
    used_cuts = [cut for cut in cuts if cut in whole.span]
    borders = zip([None, *used_cuts], [*used_cuts, None], strict=True)
    return chain.from_iterable(reports_between(start, stop) for start, stop in borders)


class WholeStreams:
    """The streams that a query's windows range over, of which parts are taken.

    `instants` are those at which something arrives, ascending; `firsts` is the first one of each
    stream that has an element; `span` are the instants after the first of all up to the last.
    """

    def __init__(self, query: Query, streams: Mapping[str, Stream]) -> None:
        names = {spec.stream for spec in query.windows}
        self.streams = {name: stream for name, stream in streams.items() if name in names}
        self.firsts: dict[str, int] = {}
        instants: set[int] = set()
        for name, stream in self.streams.items():
            if stream.elements:
                instants.update(element.app for element in stream)
                self.firsts[name] = min(element.app for element in stream)
        self.instants = sorted(instants)
        self.span = range(0)
        if instants:
            self.span = range(self.instants[0] + 1, self.instants[-1] + 1)

    def elements_for(self, part: Part) -> dict[str, Stream]:
        """Return the elements of each stream from the part's halo on up to its end."""

        def is_given(element: Element) -> bool:
            is_after_start = part.halo_start is None or element.app >= part.halo_start
            return is_after_start and (part.stop is None or element.app < part.stop)

        return {
            name: Stream(CanonicalElements(filter(is_given, stream)), stream.ordered)
            for name, stream in self.streams.items()
        }


def reports_of_part(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    firsts: Mapping[str, int],
    part: Part,
    is_evaluator_requested: bool = False,
    **options: Unpack[Options],
) -> tuple[Iterator[Report], IncrementalRun]:
    """ENG-7: Return the reports that the arrivals of a part trigger, and the run that they are of,
    which has their provenance.

    `streams` have the elements that are given for the part, and `firsts` is the first instant of
    each whole stream that has an element. The part with the last element has no `stop`: the horizon
    belongs to it. If the SPARQL evaluator is asked for, it computes each answer anew. `options` are
    those of `core.engine.evaluate`.

    Raises HaloTooShort where the elements begin too late, Unsupported for a query that is not
    computed in parts, and what `core.engine.evaluate` raises.
    """
    planned = plan_part(query, streams, semantics, firsts, part)
    skip = evaluations_to_skip(query, planned, part, options.get("max_reports", MAX_REPORTS))
    run = evaluate_plan(
        query, planned, skip=skip, is_evaluator_requested=is_evaluator_requested, **options
    )
    reports = (report for report in run if part.start is None or report.trigger >= part.start)
    return reports, run


def check_parts(query: Query, planned: Plan) -> None:
    """Check that a plan is computed in parts. Raises Unsupported, with the reason."""
    reason = why_not_in_parts(query, planned.semantics)
    if reason is None and any(view.ends is not None for view in planned.views):
        reason = "elements with intervals"
    if reason is None and planned.late:
        reason = "elements that are dropped as late"
    if reason is not None:
        raise Unsupported(f"cannot be computed in parts: {reason}", rule="ENG-7")


def why_not_in_parts(query: Query, semantics: Semantics) -> str | None:
    """Return why a query is not computed in parts, whatever its streams are; None if it is."""
    has_change = Condition.CHANGE in semantics.report
    is_change_of_graph = has_change and semantics.change_scope.reads_graphs
    is_append = engine.operator(query, semantics).reads_kept_content
    unbounded = next((spec.kind for spec in query.windows if spec.kind not in BOUNDED), None)
    reasons = {
        f"reported_windows={semantics.reported_windows}": semantics.reported_windows.is_every,
        f"late_for={semantics.late_for}": semantics.late_for.keeps_arrival_order,
        "a window with a key": any(spec.is_keyed for spec in query.windows),
        f"windows of kind {unbounded}, which have no bounds in time": unbounded,
        f"the {semantics.tick} tick": semantics.tick.needs_batches,
        f"base={semantics.base}, which may be any time ago": (
            semantics.base is not None and semantics.base.may_be_older
        ),
        f"content change beside missed_instants={semantics.missed_instants}": (
            has_change and semantics.missed_instants.leaves_some_out
        ),
        "report=arrival beside content change": (
            has_change and Condition.ARRIVAL in semantics.report
        ),
        "append under content change of the graph": is_change_of_graph and is_append,
        "a body that asks for times under content change of the graph": (
            is_change_of_graph and query.body.asks_for_times
        ),
        f"offset={semantics.offset}, which the last element gives": (
            isinstance(semantics.offset, Offset) and semantics.offset.needs_last_element
        ),
        "a body that makes blank nodes": query.body.makes_blanks,
        f"consumption={semantics.consumption}, which rests on all elements before": (
            semantics.is_consuming
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def plan_part(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    firsts: Mapping[str, int],
    part: Part,
) -> Plan:
    """Plan a query over the elements that are given for a part, with the windows of the whole
    stream. Raises Unsupported for a query that is not computed in parts.
    """
    # only the last part goes on to the horizon
    horizon = semantics.horizon if part.stop is None else End.NONE
    # any t0 will do: the frames are replaced
    planned = engine.plan(query, streams, replace(semantics, t0=0, offset=None, horizon=horizon))
    check_parts(query, planned)
    frames = whole_stream_frames(query, semantics, firsts, part.halo_start)
    views = tuple(
        replace(
            view,
            t0=opening_of_first_window(view, semantics, frame),
            frame=frame,
            t1=firsts.get(view.spec.stream),
        )
        for view, frame in zip(planned.views, frames, strict=True)
    )
    return with_horizon_of_windows(replace(planned, views=views))


def evaluations_needed(query: Query, semantics: Semantics) -> int:
    """ENG-7: Return how many evaluations before a part matter to it.

    It is one where a later content or answer is compared with its content or answer. It is two
    where its output matters, too: that output rests on the answer of the evaluation before it.
    """
    if semantics.empty.reads_last_output:
        return 2
    compares_answers = not engine.operator(query, semantics).emits_whole_answers
    return int(Condition.CHANGE in semantics.report or compares_answers)


def evaluations_to_skip(query: Query, planned: Plan, part: Part, max_reports: int) -> int:
    """Return how many of the plan's evaluations can be left out: those before the part but the last
    few, which matter to it. Raises HaloTooShort if those few are not exact.
    """
    start = part.start
    if start is None:
        return 0
    exact_after = None
    if part.halo_start is not None:
        exact_after = first_known_arrival(query, planned, part.halo_start)
        if exact_after is None or exact_after >= start:
            raise HaloTooShort
    triggers = (
        planned.arrivals[at.arrival].app for at in schedule_evaluations(planned, max_reports)
    )
    before = list(takewhile(lambda trigger: trigger < start, triggers))
    needed = evaluations_needed(query, planned.semantics)
    if exact_after is not None and sum(trigger > exact_after for trigger in before) < needed:
        raise HaloTooShort
    return max(0, len(before) - needed)


def first_known_arrival(query: Query, planned: Plan, halo_start: int) -> int | None:
    """Return the t_app of the first arrival after which evaluations and their contents are those of
    the whole stream; None if there is none.
    """
    exact_after = first_exact_arrival(planned, halo_start)
    if exact_after is None or not needs_last_reports(query, planned.semantics):
        return exact_after
    return arrival_since_which_reports_are_known(planned, exact_after)


def first_exact_arrival(planned: Plan, halo_start: int) -> int | None:
    """Return the t_app of the first arrival that sees in its windows what it sees in the whole
    stream: at its instant and the one before, every window begins at `halo_start` or later. The
    arrivals after it are exact, too. Return None if there is none.
    """
    own = tick.shift_of_own_instants(planned.semantics)
    frames = [view.frame for view in planned.views if view.frame]
    for arrival in planned.arrivals:
        before = arrival.app + own - 1
        if all(window_start_at(frame, before) >= halo_start for frame in frames):
            return arrival.app
    return None


def halo_starts(
    query: Query,
    semantics: Semantics,
    firsts: Mapping[str, int],
    start: int,
    instants: Sequence[int],
) -> Iterator[int | None]:
    """Yield instants from which a halo may begin, for a part from `start` on: each is before the
    part and earlier than the one before. The last is None, the beginning of the stream.

    `instants` are ascending: those at which something arrives, or shortly before. Each halo spans
    about twice as many arrivals as the one before, or twice the time: the first about as many as
    the evaluations that matter need.
    """
    frames = [frame for frame in whole_stream_frames(query, semantics, firsts, None) if frame]
    own = tick.shift_of_own_instants(semantics)
    needed = evaluations_needed(query, semantics)
    least = 2
    if needs_last_reports(query, semantics):
        needed += 1  # after which the last reports are known
        least = 4
    time_needed = needed * _time_between_evaluations(semantics, frames)
    arrived = bisect_left(instants, start)
    earliest = start
    for n in count():
        place = min(arrived - (least << n), bisect_left(instants, start - (time_needed << n)))
        if place <= 0 or not frames:
            break
        # a halo that begins with the windows at this place has all that they hold
        instant = instants[place]
        begin = min(instant, *(window_start_at(frame, instant + own - 1) for frame in frames))
        if begin < earliest:
            earliest = begin
            yield earliest
    yield None


def _time_between_evaluations(semantics: Semantics, frames: Sequence[Frame]) -> int:
    """Return about how much time lies between two evaluations; 0 where each arrival has one."""
    is_reported_by_content = not any(each.is_on_instants for each in semantics.report)
    if is_reported_by_content and all(frame.kind is WindowKind.TIME for frame in frames):
        return 0
    return max([semantics.period or 1, *(frame.slide for frame in frames)])
