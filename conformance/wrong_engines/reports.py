"""Wrong engines for §5 and §6: when a query is looked at, and what is reported then."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from conformance.wrong_engines.engines import (
    C_SPARQL,
    CQELS,
    CSRBENCH_ORACLE,
    RSP_JS,
    YABENCH,
    YASPER,
)
from conformance.wrong_engines.evaluation import EVERY_INSTANT, with_contents
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import engine, report, tick, window
from refengine.core.engine import Evaluation
from refengine.core.moving import instants
from refengine.core.query import WindowKind
from refengine.core.report import Firing, progression
from refengine.core.schedule import Schedule
from refengine.core.semantics import Semantics
from refengine.core.values import (
    ChangeBaseline,
    ChangeScope,
    Condition,
    ExpirySeen,
    MissedInstants,
    Tick,
    Trigger,
)
from refengine.core.window import Content, Frame, WindowView
from refengine.model.elements import Element

# §5 Tick


@wrong(
    "TICK-1",
    "TICK-3",
    replaces=tick.is_due,
    seen=f"{RSP_JS}: add() knows the time tick only",
)
def complete_instants_only(
    right: Right, choice: Tick, arrival: Element, app: int, batch: int
) -> bool:
    """Looks only at the first of simultaneous elements."""
    return arrival.app > app


@wrong(
    "TICK-2",
    "TICK-3",
    replaces=tick.is_due,
    seen=f"{C_SPARQL} and {CQELS}: CSRBench, table 1",
)
def every_arrival(right: Right, choice: Tick, arrival: Element, app: int, batch: int) -> bool:
    """Looks at every arrival, whatever it claims."""
    return True


@wrong(
    "TICK-4",
    replaces=tick.interval,
    seen=f"{RSP_JS} and {YASPER} look at windows only when an element arrives",
)
def only_the_instant_before(right: Right, before: int, own: int) -> range:
    """Evaluates an arrival only at the instant before it."""
    if own == before:
        return instants(own, own + 1)
    return instants(own - 1, own)


@wrong(
    "TICK-5",
    replaces=Schedule.begin,
    seen=f"{C_SPARQL}, as its recordings of CSRBench show it",
)
def from_the_first_arrival(right: Right, schedule: Schedule) -> Any:
    """Looks at nothing before the first arrival."""
    begun = right(schedule)
    if schedule.last_tick is not None:
        schedule.last_tick = schedule.last_tick._replace(own=schedule.planned.own[0])
    return begun


@wrong("TICK-5", replaces=Schedule.arrive)
def after_the_arrival(right: Right, schedule: Schedule, k: int) -> Iterator[Any]:
    """Misses the instant of the arrival looked at before."""
    before = schedule.last_tick
    yield from right(schedule, k)
    last = schedule.last_tick
    if last is not None and last is not before:
        schedule.last_tick = last._replace(own=last.own + 1)


@wrong(
    "TICK-6",
    replaces=tick.shift_of_own_instants,
    seen=f"{C_SPARQL}: CSRBench, section 2",
)
def closed_when_reached(right: Right, semantics: Semantics) -> int:
    """Closes a window by an element at its end, whatever it claims."""
    return 0


@wrong(
    "TICK-6",
    "REP-1",
    replaces=tick.shift_of_own_instants,
    seen=f"{YASPER} and {RSP_JS}: compute_report() asks c < t",
    half="t is before the own instant of the arrival",
)
def closed_when_passed(right: Right, semantics: Semantics) -> int:
    """Closes a window one arrival late, by an element after its end."""
    return -1


@wrong(
    "TICK-7",
    replaces=tick.interval_with_expiry,
    seen="Esper (https://github.com/espertechinc/esper) posts expiry by a timer of its own",
    half="what expires there and the arrival are seen together",
)
def expiry_has_a_timer(
    right: Right, expiry: ExpirySeen, interval: range, own: int, frames: Sequence[Frame]
) -> Any:
    """Drops expired elements before it sees an arrival."""
    return right(ExpirySeen.EAGER, interval, own, frames)


@wrong(
    "TICK-7",
    replaces=tick.interval_with_expiry,
    half="another window takes the place",
)
def every_arrival_is_expected(
    right: Right, expiry: ExpirySeen, interval: range, own: int, frames: Sequence[Frame]
) -> range:
    """Evaluates every arrival once more without the arrival. Where expiry is eager it does so even
    if no scope moves.
    """
    if expiry is ExpirySeen.EAGER and interval.stop == own:
        return instants(interval.start, own + 1)
    return interval


# §6 Report


@wrong(
    "REP-1",
    replaces=report.closes,
    half="t is the last instant of some window",
)
def close_by_length(right: Right, frame: Frame, span: range, own: int) -> Any:
    """Closes a window one instant late, when the next is active. The window [o, c) closes at c."""
    return right(frame._replace(last=frame.last + 1), span, own)


@wrong(
    "REP-2",
    "REP-9",
    "ENG-2",
    replaces=report.differs,
    seen=f"{CSRBENCH_ORACLE}, the oracle of {YABENCH}, {CQELS} 1.x",
)
def expiry_is_no_change(
    right: Right, change: ChangeScope, view: WindowView, content: Content, base: Content
) -> bool:
    """Sees no change of the content where an element expires. A content is changed only where an
    element, or a triple of its graph, is new.
    """
    if change is ChangeScope.ELEMENTS:
        return bool(set(content) - set(base))
    return not report.graph(view, content) <= report.graph(view, base)


@wrong(
    "REP-9",
    "REP-2",
    replaces=report.differs,
)
def graphs_differ(
    right: Right, change: ChangeScope, view: WindowView, content: Content, base: Content
) -> Any:
    """Compares contents by their triples, not by their elements."""
    return right(ChangeScope.GRAPH, view, content, base)


@wrong("REP-3", replaces=report.is_non_empty)
def empty_windows_pass(right: Right, content: Content) -> bool:
    """Takes empty windows for non-empty ones."""
    return True


def _members_of_period(semantics: Semantics, view: WindowView, span: range, shift: int) -> range:
    """Return the members of a period in a span, shifted."""
    since = report.anchor(semantics, view)
    if since is None or semantics.period is None:
        return range(0)
    return progression(since + shift, semantics.period, span)


@wrong(
    "REP-4",
    replaces=report.periodic_instants,
    half="For `[)` and `()` the border instant at t is t+1",
)
def beats_at_the_instant(
    right: Right, semantics: Semantics, view: WindowView, span: range
) -> range:
    """Counts its period one instant beside the border of [o, c). It never meets a close."""
    return _members_of_period(semantics, view, span, 0)


@wrong("REP-4", replaces=report.periodic_instants, half="otherwise it is t")
def beats_an_instant_early(
    right: Right, semantics: Semantics, view: WindowView, span: range
) -> range:
    """Counts its period one instant too early. It compares the period with t + 1 for every closure,
    as for [o, c).
    """
    return _members_of_period(semantics, view, span, -1)


@wrong(
    "REP-11",
    "REP-4",
    replaces=report.anchor,
)
def every_period_is_anchored_at_0(right: Right, semantics: Semantics, view: WindowView) -> int:
    """Counts every period from 0."""
    return 0


@wrong("REP-5", replaces=report.timely_instants)
def close_outdoes_periodic(
    right: Right, semantics: Semantics, view: WindowView, span: range, own: int
) -> range:
    """Ignores its period where windows report as they close."""
    assert view.frame is not None  # an instant is asked for where it is there
    if Condition.CLOSE in semantics.report:
        return report.closes(view.frame, span, own)
    if Condition.PERIODIC in semantics.report:
        return report.periodic_instants(semantics, view, span)
    return span


@wrong("REP-6", replaces=report.is_worthy)
def one_condition_is_enough(
    right: Right, semantics: Semantics, view: WindowView, content: Content, base: Content
) -> bool:
    """Reports a window if one condition holds, instead of all."""
    holds = {Condition.CHANGE: content != base, Condition.NON_EMPTY: bool(content)}
    conditions = [condition for condition in holds if condition in semantics.report]
    if not conditions:
        return True
    return any(holds[condition] for condition in conditions)


@wrong(
    "REP-6",
    replaces=report.is_worthy,
    seen=f"{RSP_JS}; {C_SPARQL} after a gap in the stream",
)
def empty_windows_are_never_reported(
    right: Right, semantics: Semantics, view: WindowView, content: Content, base: Content
) -> Any:
    """Never reports an empty window."""
    return bool(content) and right(semantics, view, content, base)


@wrong(
    "REP-7",
    replaces=engine.reportable_instants,
    half="are tested on the content at this id",
)
def tested_where_reported(
    right: Right, semantics: Semantics, view: WindowView, content: Content, *contents: Any
) -> Any:
    """Tests the content at the id that it reports."""
    *_, span, own = contents
    at = report.timely_instants(semantics, view, span, own)[-1:]
    if at and view.spec.kind is WindowKind.TUPLE:
        arrived = bisect_left(view.ids, own)
        content = window.content(view, at[0], arrived)
    return right(semantics, view, content, *contents)


@wrong(
    "REP-8",
    "REP-2",
    replaces=report.content_baseline,
    besides=EVERY_INSTANT,
)
def against_nothing(
    right: Right, against: ChangeBaseline, reported: Content, before: Content
) -> Content:
    """Compares every content with an empty one."""
    return range(0)


@wrong(
    "REP-10",
    replaces=report.choose_in_gap,
    half="or only the last one (`latest`)",
)
def all_of_a_gap(right: Right, gap: MissedInstants, firing: Iterable[Firing]) -> Iterable[Firing]:
    """Reports every evaluation between two arrivals."""
    return firing


@wrong("REP-12", replaces=report.fires)
def explicit_is_all(
    right: Right, trigger: Trigger, views: Sequence[WindowView], at: Sequence[range]
) -> Any:
    """Waits for all windows that are marked as triggers."""
    if trigger is not Trigger.EXPLICIT:
        return right(trigger, views, at)
    pairs = zip(views, at, strict=True)
    marked = [instants for view, instants in pairs if view.spec.triggers]
    return right(Trigger.ALL, views, marked)


@wrong("REP-12", replaces=report.fires)
def any_window_is_enough(
    right: Right, trigger: Trigger, views: Sequence[WindowView], at: Sequence[range]
) -> Any:
    """Reports as soon as any one window is ready."""
    return right(Trigger.ANY, views, at)


@wrong(
    "REP-7",
    replaces=engine.reportable_instants,
    half="the largest id at which all of these hold",
)
def the_smallest_id_is_reported(
    right: Right, semantics: Semantics, view: WindowView, *contents: Any
) -> Any:
    """Reports tuple-based windows at the smallest id at which the conditions hold."""
    at = right(semantics, view, *contents)
    if view.spec.kind is not WindowKind.TUPLE or not at:
        return at
    *_, span, own = contents
    return report.timely_instants(semantics, view, span, own)[:1]


@wrong(
    "REP-12",
    replaces=engine.reportable_instants,
    half="all windows count as reported",
)
def only_the_first_to_fire_counts(
    right: Right, semantics: Semantics, view: WindowView, *contents: Any
) -> Any:
    """Counts only windows that are ready by themselves."""
    if semantics.trigger is not Trigger.ANY:
        return right(semantics, view, *contents)
    content, _, *rest = contents
    memory = vars(view)  # a view is made for each run, and dies with it
    own_report = memory.get("reported", range(0))
    at = right(semantics, view, content, own_report, *rest)
    if at:
        memory["reported"] = content
    return at


@wrong(
    "REP-12",
    replaces=Schedule.arrive,
    half="over the content of every window at t",
    seen=f"{CQELS}: in its recording of CSRBench's Q6 only the buffer that just received data is "
    "purged",
)
def purged_when_it_receives(
    right: Right, schedule: Schedule, k: int
) -> Iterator[Iterator[Evaluation]]:
    """Purges a window only when its own stream goes on. The other side of a join holds what has
    expired.
    """
    planned = schedule.planned

    def with_stale_contents(at: Evaluation) -> Evaluation:
        times = []
        for view, counts in zip(planned.views, planned.counts, strict=True):
            arrived = counts[k]
            time = at.t
            if arrived:
                last_arrival = view.times[arrived - 1]
                time = min(time, last_arrival)
            times.append(time)
        return with_contents(planned, at, times)

    for stretch in right(schedule, k):
        yield map(with_stale_contents, stretch)
