"""Wrong engines for §9: arrivals, gaps, bounds, time stamps, incremental evaluation, parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from conformance.wrong_engines.engines import CQELS, CSRBENCH_ORACLE, RSP_JS, YABENCH, YASPER
from conformance.wrong_engines.miniature import Right, wrong
from refengine.core import engine, report, window
from refengine.core.engine import Evaluation, Plan, Stretch
from refengine.core.query import Query, Window, WindowKind
from refengine.core.report import Firing
from refengine.core.semantics import End, Gap, Instant, Semantics
from refengine.core.window import Content, View
from refengine.incremental import ContentFollower, parts
from refengine.incremental.algebra.numbers import ExactSum
from refengine.incremental.whole_stream import whole_stream_frames
from refengine.model.elements import Element, Stream
from refengine.sparql.values import Number

Merged = tuple[tuple[Element, ...], dict[str, Sequence[int]]]
Streams = Mapping[str, Stream]


def contents_at(views: Sequence[View], t: int, arrived: Sequence[int]) -> tuple[Content, ...]:
    """Return what each window holds at an instant."""
    return tuple(window.content(view, t, n) for view, n in zip(views, arrived, strict=True))


def every_instant(
    views: Sequence[View], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """Visit every instant: right, but slow. To skip some, as ENG-2 does, presumes right windows."""
    for t in interval:
        yield range(t, t + 1), contents_at(views, t, arrived)


EVERY_INSTANT = {engine.spans: every_instant}


def with_contents(planned: Plan, at: Evaluation, times: Sequence[int]) -> Evaluation:
    """Return an evaluation with what its windows hold at other times, one of each window."""
    windows = tuple(
        each._replace(content=window.content(view, t, counted[at.arrival]))
        for each, view, t, counted in zip(
            at.windows, planned.views, times, planned.counts, strict=True
        )
    )
    return at._replace(windows=windows)


@wrong(
    "ENG-1",
    replaces=engine.horizon,
    half="or time goes on to a horizon H",
    seen=f"{YASPER} and {RSP_JS}: the last window is never reported",
)
def nothing_follows(right: Right, *values: Any) -> None:
    """After the last arrival nothing follows, whatever the horizon is."""


@wrong(
    "ENG-1",
    replaces=engine.horizon,
    half="After the last arrival nothing follows",
    seen="Flink (https://github.com/apache/flink) and Beam (https://github.com/apache/beam): a "
    "bounded source ends with the greatest watermark",
)
def the_end_is_a_flush(
    right: Right, windows: Sequence[Window], elements: Sequence[Element], end: int | End
) -> Any:
    """Where nothing follows the last arrival, what is open is closed."""
    return right(windows, elements, End.FLUSH if end is End.NONE else end)


@wrong("ENG-1", replaces=engine.plan, half="a sentinel without payload")
def the_end_fills_tuple_windows(
    right: Right, query: Query, streams: Streams, semantics: Semantics
) -> Any:
    """After the end of the stream every tuple window is closed, full or not."""
    planned: Plan = right(query, streams, semantics)
    spec = query.windows[0]
    if spec.kind is not WindowKind.TUPLE or len(planned.own) == len(planned.views[0].elements):
        return planned
    return replace(planned, own=[*planned.own[:-1], planned.own[-1] + (spec.size or 1) - 1])


@wrong(
    "ENG-2",
    replaces=engine.spans,
    seen=f"{CSRBENCH_ORACLE}, {YABENCH} and {CQELS} do not see expiry between arrivals",
    half="the conditions on the content at all of them or at none",
)
def arrivals_only(
    right: Right, views: Sequence[View], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """Between two arrivals nothing is looked at: what expires there is not seen."""
    if interval:
        yield interval[:1], contents_at(views, interval.start, arrived)


@wrong(
    "ENG-2",
    "REP-10",
    replaces=report.choose_in_gap,
    seen=f"{YASPER} and {RSP_JS}: of several windows that close the latest is reported",
    half="all are reported (`all`)",
)
def latest_of_a_gap(right: Right, gap: Gap, firing: Iterable[Firing]) -> Any:
    """Of what happens between two arrivals only the last is reported, whatever is asked."""
    return right(Gap.LATEST, firing)


@wrong("ENG-3", replaces=engine.bounded)
def as_many_as_the_bound_are_too_many(
    right: Right, count: int, bound: int, arrivals: Sequence[Element], k: int
) -> Any:
    """As many reports as the bound are too many."""
    return right(count, bound - 1, arrivals, k)


@wrong("ENG-4", replaces=engine.output_instant)
def all_are_stamped_one_later(
    right: Right, instant: Instant, semantics: Semantics, at: Evaluation, arrivals: Any
) -> int:
    """A report is stamped with the instant after the evaluation's, under every closure."""
    return at.t + 1


def _counted(order: Sequence[tuple[str, Element]], names: Iterable[str]) -> Merged:
    """Return the arrivals in an order, and how many of the first k are of each stream."""
    counts: dict[str, Sequence[int]] = {
        name: [sum(n == name for n, _ in order[:k]) for k in range(len(order) + 1)]
        for name in names
    }
    return tuple(element for _, element in order), counts


@wrong("ENG-5", replaces=engine.merge_streams, half="by app, then sys")
def the_arrival_order_alone(right: Right, streams: Mapping[str, Sequence[Element]]) -> Merged:
    """The arrivals of all streams are in the order of their places, so that time can go back; of
    those in one place the last stream's is first.
    """
    turned = reversed(list(streams.items()))
    order = [(name, element) for name, elements in turned for element in elements]
    return _counted(sorted(order, key=lambda arrival: arrival[1].sys), streams)


@wrong("ENG-5", replaces=engine.reportable_instants, half="none of its conditions hold")
def ready_without_a_scope(right: Right, semantics: Semantics, view: View, *contents: Any) -> Any:
    """A window that has no scope yet does not keep the others from being reported."""
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
    """Elements come, and none goes."""


@wrong("ENG-6", replaces=ExactSum.add, half="A sum is then exact, rounded once")
def sums_in_doubles(right: Right, total: ExactSum, one: Number, count: int) -> None:
    """A sum is a double, from which what goes is subtracted."""
    right(total, one, count)
    running: float = vars(total).get("running", 0.0) + count * float(one.value)
    vars(total)["running"] = running
    above, below = running.as_integer_ratio()
    total.doubles.sum = above * (2**1074 // below)


@wrong("ENG-7", replaces=parts.evaluations_needed, half="the last evaluation")
def nothing_was_before(right: Right, query: Query, semantics: Semantics) -> int:
    """A part begins like a stream."""
    return 0


@wrong(
    "ENG-7",
    replaces=whole_stream_frames,
    half="t0, anchor and horizon are those of the whole stream",
)
def periods_from_anywhere(
    right: Right, query: Query, semantics: Semantics, firsts: Mapping[str, int], since: int | None
) -> Any:
    """Windows are counted from the last one that ended, and so are periods."""
    without: Any = SimpleNamespace(**{**vars(semantics), "period": None})
    return right(query, without, firsts, since)
