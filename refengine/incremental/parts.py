"""§9 in parts: the reports of a part of the arrivals, from the elements that they rest on and no
others.

When the query is evaluated costs little to find, so what was before a part is found by the schedule
alone: which evaluations it has before the part, and which of these are the whole stream's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, takewhile
from math import gcd
from typing import NamedTuple, Unpack

from refengine import incremental
from refengine.core import engine, tick, window
from refengine.core.engine import MAX_REPORTS, Options, Plan, Report
from refengine.core.query import Query, WindowKind
from refengine.core.semantics import (
    R2S,
    Anchor,
    Base,
    Change,
    Condition,
    Empty,
    End,
    Gap,
    Partial,
    Semantics,
    Tick,
)
from refengine.core.window import Frame, View
from refengine.incremental import IncrementalRun
from refengine.model.canonical import CanonicalElements
from refengine.model.elements import Element, Stream
from refengine.model.errors import Unsupported, require

# kinds whose windows are bounded in time
BOUNDED = frozenset({WindowKind.TIME, WindowKind.RANGE, WindowKind.NOW})


class Part(NamedTuple):
    """The arrivals with t_app in [start, stop); None is no bound. `halo_start`: the elements from
    then on are given, and none that comes after the part (None: all that come before its end).
    """

    start: int | None = None
    stop: int | None = None
    halo_start: int | None = None


class HaloTooShort(Exception):
    """What is given begins too late to tell what was before the part."""


def check_parts(query: Query, planned: Plan) -> None:
    """Raises Unsupported for what is not computed in parts."""
    reason = why_not_in_parts(query, planned.semantics)
    reason = reason or (
        "elements with intervals" if any(view.ends is not None for view in planned.views) else None
    )
    if reason := reason or ("elements that are dropped as late" if planned.late else None):
        raise Unsupported(f"not computed in parts: {reason}", rule="ENG-7")


def why_not_in_parts(query: Query, semantics: Semantics) -> str | None:
    """Why a query is not computed in parts, whatever its streams are; None if it is."""
    change, several = Condition.CHANGE in semantics.report, len(query.windows) > 1
    unbounded = next((spec.kind for spec in query.windows if spec.kind not in BOUNDED), None)
    reasons = {
        f"windows of kind {unbounded}, which have no bounds in time": unbounded,
        "the batch tick": semantics.tick is Tick.BATCH,
        "base=previous-new, which may be any time ago": semantics.base is Base.NEW,
        "content change beside gap=latest": change and semantics.gap is Gap.LATEST,
        "content change of several windows": change and several,
        "append under content change of the graph": change
        and semantics.change is Change.GRAPH
        and engine.operator(query, semantics) is R2S.APPEND,
        "anchor=first-element over several streams": semantics.anchor is Anchor.FIRST
        and len({spec.stream for spec in query.windows}) > 1,
        "a body that makes blank nodes": query.body.makes_blanks,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def evaluations_needed(query: Query, semantics: Semantics) -> int:
    """How many evaluations before a part matter to it."""
    if semantics.empty is Empty.ONCE:
        return 2
    return int(
        Condition.CHANGE in semantics.report or engine.operator(query, semantics) is not R2S.RSTREAM
    )


def window_origins(
    query: Query, semantics: Semantics, firsts: Mapping[str, int]
) -> tuple[int | None, ...]:
    """The t0 of each window, by the first instant of each stream that has one (WIN-7, WIN-10)."""
    specs = [window.slide(spec, semantics.slide) for spec in query.windows]
    return tuple(
        window.origin(spec, semantics, firsts.get(spec.stream), query.registered) for spec in specs
    )


def whole_stream_frames(
    query: Query, semantics: Semantics, firsts: Mapping[str, int], halo_start: int | None
) -> list[Frame | None]:
    """The windows of the whole stream, from the last one on that ended before `halo_start`; None
    for a window that never opens.
    """
    turns = 1 if semantics.period is None else semantics.period
    found: list[Frame | None] = []
    for spec, t0 in zip(query.windows, window_origins(query, semantics, firsts), strict=True):
        spec = window.slide(spec, semantics.slide)
        frame = None if t0 is None else window.frame(spec, semantics.closure, t0, semantics.partial)
        if t0 is not None and frame is not None and halo_start is not None:
            ended = (halo_start - 1 - frame.last) // frame.slide
            # so that periods count from t0 (REP-11)
            passed = ended - ended % (turns // gcd(turns, frame.slide))
            if passed > 0:
                frame = window.frame(
                    spec, semantics.closure, t0 + passed * frame.slide, Partial.SUPPRESSED
                )
        found.append(frame)
    return found


def plan_part(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    firsts: Mapping[str, int],
    part: Part,
) -> Plan:
    """engine.plan of what is given for a part, with the whole stream's windows. Raises Unsupported
    for what is not computed in parts.
    """
    anchor = (
        min(firsts.values()) if firsts and semantics.anchor is Anchor.FIRST else semantics.anchor
    )
    horizon = semantics.horizon if part.stop is None else End.NONE
    planned = engine.plan(
        query, streams, replace(semantics, t0=0, offset=None, anchor=anchor, horizon=horizon)
    )
    check_parts(query, planned)
    found = zip(
        planned.views, whole_stream_frames(query, semantics, firsts, part.halo_start), strict=True
    )
    return replace(
        planned,
        views=tuple(
            replace(view, t0=_opens(view, semantics, frame), frame=frame) for view, frame in found
        ),
    )


def _opens(view: View, semantics: Semantics, frame: Frame | None) -> int | None:
    """Where window 0 opens."""
    return (
        None
        if frame is None
        else frame.first - window.borders(window.closure_of(view.spec, semantics.closure))[0]
    )


def first_exact_arrival(planned: Plan, halo_start: int) -> int | None:
    """The instant after which arrivals see what they see in the whole stream: that of the first
    arrival at which, and at the instant before, every window begins at `halo_start` or later; None
    if there is none.
    """
    own = tick.own(planned.semantics, 0)
    for arrival in planned.arrivals:
        if all(
            window_start_at(view, arrival.app + own - 1) >= halo_start
            for view in planned.views
            if view.frame
        ):
            return arrival.app
    return None


def window_start_at(view: View, t: int) -> int:
    """The first instant of the window at t; where there is none yet, that of the first to come."""
    frame = require(view.frame)
    extent = window.scope(frame, t)
    return extent[0] if extent else frame.first + frame.least * frame.slide


def evaluations_to_skip(query: Query, planned: Plan, part: Part, max_reports: int) -> int:
    """How many evaluations of the plan can be left out before the part. Raises HaloTooShort."""
    if part.start is None:
        return 0
    known = None if part.halo_start is None else first_exact_arrival(planned, part.halo_start)
    if part.halo_start is not None and (known is None or known >= part.start):
        raise HaloTooShort
    start = part.start
    instants = (
        planned.arrivals[at.arrival].app
        for at in incremental.schedule_evaluations(planned, max_reports)
    )
    before = list(takewhile(lambda app: app < start, instants))
    needed = evaluations_needed(query, planned.semantics)
    if known is not None and sum(app > known for app in before) < needed:
        raise HaloTooShort
    return max(0, len(before) - needed)


def reports_of_part(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    firsts: Mapping[str, int],
    part: Part,
    **options: Unpack[Options],
) -> tuple[Iterator[Report], IncrementalRun]:
    """ENG-7: the reports that the arrivals of a part trigger, and the run that they are of, which
    has the provenance. `streams` have what is given for the part; `firsts` is the first instant of
    each whole stream that has an element. The part with the last element has no `stop`: the horizon
    is its. `options` are those of engine.evaluate.

    Raises HaloTooShort where what is given begins too late, Unsupported for what is not computed in
    parts, and what engine.evaluate raises.
    """
    planned = plan_part(query, streams, semantics, firsts, part)
    skip = evaluations_to_skip(query, planned, part, options.get("max_reports", MAX_REPORTS))
    run = incremental.evaluate_plan(query, planned, skip=skip, **options)
    return (report for report in run if part.start is None or report.trigger >= part.start), run


def halo_starts(
    query: Query,
    semantics: Semantics,
    firsts: Mapping[str, int],
    start: int,
    instants: Sequence[int],
) -> Iterator[int | None]:
    """Instants from which on to give elements for a part from `start` on, each before it and
    earlier than the one before, the last None. By ascending instants at which something arrives, or
    that are shortly before.
    """
    own, here = tick.own(semantics, 0), bisect_left(instants, start)
    frame_of = [frame for frame in whole_stream_frames(query, semantics, firsts, None) if frame]
    dense = semantics.report <= {Condition.CHANGE, Condition.NON_EMPTY} and all(
        frame.kind is WindowKind.TIME for frame in frame_of
    )
    # how long until an evaluation, about
    often = 0 if dense else max([semantics.period or 1, *(frame.slide for frame in frame_of)])
    step, least = evaluations_needed(query, semantics) * often, start
    for further in takewhile(lambda exponent: 2 << exponent <= here, count()):
        place = min(here - (2 << further), bisect_left(instants, start - (step << further)))
        if place <= 0 or not frame_of:
            break
        scopes = [window.scope(frame, instants[place] + own - 1) for frame in frame_of]
        extents = [scope for scope in scopes if scope is not None]
        if len(extents) < len(scopes):
            break
        if (halo_start := min(first for first, _ in extents)) < least:
            yield halo_start
            least = halo_start
    yield None


def evaluate_in_parts(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    cuts: Sequence[int],
    **options: Unpack[Options],
) -> Iterator[Report]:
    """ENG-7: the reports of engine.evaluate, computed in parts that begin at ascending instants,
    and one before these.
    """
    check_parts(query, engine.plan(query, streams, semantics))
    named = {spec.stream for spec in query.windows}
    given = {name: stream for name, stream in streams.items() if name in named}
    instants = sorted({element.app for stream in given.values() for element in stream})
    cuts = [cut for cut in cuts if instants and instants[0] < cut <= instants[-1]]
    firsts = {
        name: min(element.app for element in stream)
        for name, stream in given.items()
        if stream.elements
    }

    def of(start: int | None, stop: int | None) -> Iterator[Report]:
        for halo_start in (
            [None] if start is None else halo_starts(query, semantics, firsts, start, instants)
        ):
            some = {
                name: Stream(CanonicalElements(_within(stream, halo_start, stop)), stream.ordered)
                for name, stream in given.items()
            }
            try:
                return reports_of_part(
                    query, some, semantics, firsts, Part(start, stop, halo_start), **options
                )[0]
            except HaloTooShort:
                continue
        raise AssertionError("the whole stream is never too short")

    return chain.from_iterable(
        of(*borders) for borders in zip([None, *cuts], [*cuts, None], strict=True)
    )


def _within(stream: Stream, halo_start: int | None, stop: int | None) -> Iterator[Element]:
    return (
        e
        for e in stream
        if (halo_start is None or e.app >= halo_start) and (stop is None or e.app < stop)
    )
