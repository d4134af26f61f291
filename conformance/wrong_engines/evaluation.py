"""Wrong engines for §9: arrivals, gaps, bounds, time stamps, incremental evaluation, parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from conformance.wrong_engines.engines import (
    BEAM,
    CQELS,
    CSRBENCH_ORACLE,
    FLINK,
    RSP_JS,
    YABENCH,
    YASPER,
)
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import engine, report, window
from refengine.core.engine import Evaluation, Plan, Stretch
from refengine.core.moving import instants
from refengine.core.query import Query, WindowKind
from refengine.core.report import Firing
from refengine.core.semantics import Semantics
from refengine.core.values import End, Instant, MissedInstants
from refengine.core.window import Content, WindowView
from refengine.incremental import ContentFollower, parts
from refengine.incremental.algebra.expressions import ExactSum
from refengine.incremental.parts import Part
from refengine.incremental.schedule import ScheduleOfInstants, schedule_evaluations
from refengine.model.elements import Element, Stream
from refengine.sparql.values import Number

Merged = tuple[tuple[Element, ...], dict[str, Sequence[int]]]
Streams = Mapping[str, Stream]


def contents_at(views: Sequence[WindowView], t: int, arrived: Sequence[int]) -> tuple[Content, ...]:
    """Return what each window holds at an instant."""
    return tuple(window.content(view, t, n) for view, n in zip(views, arrived, strict=True))


def every_instant(
    views: Sequence[WindowView],
    arrived: Sequence[int],
    interval: range,
) -> Iterator[Stretch]:
    """Visit every instant: right, but slow. To skip some, as ENG-2 does, presumes right windows."""
    for t in interval:
        yield instants(t, t + 1), contents_at(views, t, arrived)


EVERY_INSTANT = {engine.spans: every_instant}


def with_contents(planned: Plan, at: Evaluation, times: Sequence[int]) -> Evaluation:
    """Return an evaluation with what its windows hold at other times, one of each window."""
    windows = []
    for each, view, t, counts in zip(
        at.windows,
        planned.views,
        times,
        planned.counts,
        strict=True,
    ):
        arrived = counts[at.arrival]
        content = window.content(view, t, arrived)
        windows.append(each._replace(content=content))
    return at._replace(windows=tuple(windows))


@wrong(
    "ENG-1",
    replaces=engine.horizon,
    half="or time goes on to a horizon H",
    seen=f"{YASPER} and {RSP_JS}: the last window is never reported",
)
def nothing_follows(right: Right, *values: Any) -> None:
    """Ends with the last element: windows open then are lost."""


@wrong(
    "ENG-1",
    replaces=engine.horizon,
    half="After the last arrival nothing follows",
    seen=f"{FLINK} and {BEAM}: a bounded source ends with the greatest watermark",
)
def the_end_is_a_flush(
    right: Right,
    views: Sequence[WindowView],
    elements: Sequence[Element],
    semantics: Semantics,
) -> Any:
    """Closes the open windows at the end of the stream."""
    if semantics.horizon is End.NONE:
        semantics = replace(semantics, horizon=End.FLUSH)
    return right(views, elements, semantics)


@wrong("ENG-1", replaces=engine.horizon)
def the_last_window_is_a_flush(
    right: Right,
    views: Sequence[WindowView],
    elements: Sequence[Element],
    semantics: Semantics,
) -> Any:
    """Goes on after the last window of the last element has closed."""
    if semantics.horizon is End.LAST_WINDOW:
        semantics = replace(semantics, horizon=End.FLUSH)
    return right(views, elements, semantics)


@wrong("QRY-5", replaces=engine.plan, half="a tuple-based window is the only window of its query")
def a_tuple_window_is_alone(
    right: Right,
    query: Query,
    streams: Streams,
    semantics: Semantics,
) -> Any:
    """Drops the windows beside a tuple-based one."""
    tuple_based = tuple(spec for spec in query.windows if spec.kind is WindowKind.TUPLE)
    return right(replace(query, windows=tuple_based[:1] or query.windows), streams, semantics)


@wrong("ENG-1", replaces=engine.plan, half="a sentinel without payload")
def a_tuple_window_is_filled_at_the_end(
    right: Right,
    query: Query,
    streams: Streams,
    semantics: Semantics,
) -> Any:
    """Closes a tuple-based window at the end of the stream, full or not."""
    planned: Plan = right(query, streams, semantics)
    [spec, *_] = query.windows
    has_sentinel = len(planned.own) > len(planned.views[0].elements)
    if spec.kind is not WindowKind.TUPLE or not has_sentinel:
        return planned
    *ids, id_of_sentinel = planned.own
    last_id = id_of_sentinel + (spec.size or 1) - 1
    return replace(planned, own=[*ids, last_id])


def first_instant(
    schedule: Any, views: Sequence[WindowView], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """Yield the first instant of an interval as its only stretch."""
    if interval:
        yield interval[:1], contents_at(views, interval.start, arrived)


@wrong(
    "ENG-2",
    replaces=engine.spans,
    besides={ScheduleOfInstants.cut_at_timely_instants: first_instant},
    seen=f"{CSRBENCH_ORACLE}, {YABENCH} and {CQELS} do not see expiry between arrivals",
    half="The conditions on the content hold at all instants or at none",
)
def arrivals_only(
    right: Right,
    views: Sequence[WindowView],
    arrived: Sequence[int],
    interval: range,
) -> Iterator[Stretch]:
    """Sees nothing that happens between two arrivals. Later expiry there goes unnoticed."""
    return first_instant(None, views, arrived, interval)


@wrong(
    "ENG-2",
    "REP-10",
    replaces=report.choose_in_gap,
    seen=f"{YASPER} and {RSP_JS}: of several windows that close the latest is reported",
    half="All of them are reported (`all`)",
)
def latest_of_a_gap(right: Right, gap: MissedInstants, firing: Iterable[Firing]) -> Any:
    """Reports only the last of the windows that one arrival closes."""
    return right(MissedInstants.LATEST, firing)


@wrong("ENG-3", replaces=engine.refuse_too_many_reports)
def the_bound_is_one_too_low(
    right: Right,
    count: int,
    bound: int,
    arrivals: Sequence[Element],
    k: int,
) -> Any:
    """Refuses as many reports as the bound allows."""
    return right(count, bound - 1, arrivals, k)


@wrong("ENG-4", replaces=engine.output_instant)
def stamps_come_one_too_late(
    right: Right, instant: Instant, semantics: Semantics, at: Evaluation, *rest: Any
) -> int:
    """Stamps each report one instant too late. It is the instant after the evaluation, under every
    closure.
    """
    return at.t + 1


def _with_counts(order: Sequence[tuple[str, Element]], names: Iterable[str]) -> Merged:
    """Return the arrivals in an order and, for each stream, how many of the first k are its own,
    for k = 0, 1, ….
    """
    counts: dict[str, Sequence[int]] = {}
    for name in names:
        is_own = (int(stream == name) for stream, _ in order)
        counts[name] = [0, *accumulate(is_own)]
    elements = tuple(element for _, element in order)
    return elements, counts


@wrong(
    "ENG-5",
    replaces=engine.merge_streams,
    half="by app, then sys",
)
def the_arrival_order_alone(
    right: Right, streams: Mapping[str, Sequence[Element]], is_by_sys: bool = False
) -> Merged:
    """Takes elements as they arrive, so time can go back. It orders arrivals by sys, and of those
    with one sys the last stream's is first.
    """
    last_stream_first = reversed(list(streams.items()))
    arrivals = [(name, element) for name, elements in last_stream_first for element in elements]
    arrivals.sort(key=lambda arrival: arrival[1].sys)
    return _with_counts(arrivals, streams)


@wrong(
    "ENG-5",
    replaces=engine.reportable_instants,
    half="none of its conditions hold",
)
def ready_without_a_scope(
    right: Right, semantics: Semantics, view: WindowView, *contents: Any
) -> Any:
    """Reports although one of its windows has not begun."""
    span: range = contents[3]
    if view.frame is None or window.scope(view.frame, span[-1]) is None:
        return span
    return right(semantics, view, *contents)


@wrong(
    "ENG-6",
    replaces=ContentFollower.retract_outside,
    half="The reports may be computed from what changed",
)
def nothing_leaves(right: Right, moving: ContentFollower, contents: Iterable[Any]) -> None:
    """Inserts the elements that come, and retracts none that leaves."""


@wrong(
    "ENG-6",
    replaces=ExactSum.add,
    half="A sum is then exact, rounded once",
)
def sums_in_doubles(right: Right, total: ExactSum, one: Number, count: int) -> None:
    """Keeps a sum as a double, and subtracts from it what leaves."""
    right(total, one, count)
    before: float = vars(total).get("running", 0.0)
    running = before + count * float(one.value)
    vars(total)["running"] = running
    numerator, denominator = running.as_integer_ratio()
    total.doubles.sum = numerator * (2**1074 // denominator)


@wrong(
    "ENG-7",
    replaces=parts.evaluations_to_skip,
    half="the last evaluation",
)
def nothing_was_before(
    right: Right,
    query: Query,
    planned: Plan,
    part: Part,
    max_reports: int,
) -> int:
    """Begins each part as if no evaluation came before it, with the first halo that is tried."""
    before = [
        at
        for at in schedule_evaluations(planned, max_reports)
        if part.start is not None and planned.arrivals[at.arrival].app < part.start
    ]
    return len(before)


@wrong(
    "ENG-7",
    replaces=parts.plan_part,
    half="t0, anchor and horizon are those of the whole stream",
)
def periods_from_the_halo(
    right: Right,
    query: Query,
    streams: Streams,
    semantics: Semantics,
    firsts: Mapping[str, int],
    part: Part,
) -> Plan:
    """Counts the periods of a part from where its elements begin."""
    planned: Plan = right(query, streams, semantics, firsts, part)
    since = part.halo_start
    if since is None:
        return planned
    views = tuple(replace(view, t0=since, t1=since) for view in planned.views)
    return replace(planned, views=views)
