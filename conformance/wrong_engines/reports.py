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
from refengine.core.query import WindowKind
from refengine.core.report import Firing, progression
from refengine.core.schedule import Schedule
from refengine.core.semantics import (
    ChangeBaseline,
    ChangeScope,
    Closure,
    Condition,
    ExpirySeen,
    MissedInstants,
    Semantics,
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
    """Look at the first of simultaneous elements alone, whatever `tick` says."""
    return arrival.app > app


@wrong(
    "TICK-2",
    "TICK-3",
    replaces=tick.is_due,
    seen=f"{C_SPARQL} and {CQELS}: CSRBench, table 1",
)
def every_arrival(right: Right, choice: Tick, arrival: Element, app: int, batch: int) -> bool:
    """Look at every arrival, whatever `tick` says."""
    return True


@wrong(
    "TICK-4",
    replaces=tick.interval,
    seen=f"{RSP_JS} and {YASPER} look at windows only when an element arrives",
)
def only_the_instant_before(right: Right, before: int, own: int) -> range:
    """Evaluate an arrival at one instant only, the one before its own."""
    if own == before:
        return range(own, own + 1)
    return range(own - 1, own)


@wrong(
    "TICK-5",
    replaces=Schedule.begin,
    seen=f"{C_SPARQL}, as its recordings of CSRBench show it",
)
def from_the_first_arrival(right: Right, schedule: Schedule) -> Any:
    """Start the first interval at the first arrival."""
    begun = right(schedule)
    if schedule.last_tick is not None:
        schedule.last_tick = schedule.last_tick._replace(own=schedule.planned.own[0])
    return begun


@wrong("TICK-5", replaces=Schedule.arrive)
def after_the_arrival(right: Right, schedule: Schedule, k: int) -> Iterator[Any]:
    """Start an interval one instant after the arrival that was last looked at."""
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
    """Close a window by an arrival at its close, whatever `close_rule` says."""
    return 0


@wrong(
    "TICK-6",
    "REP-1",
    replaces=tick.shift_of_own_instants,
    seen=f"{YASPER} and {RSP_JS}: compute_report() asks c < t",
    half="t is before the own instant of the arrival",
)
def closed_when_passed(right: Right, semantics: Semantics) -> int:
    """Close a window by an arrival after its close only, whatever `close_rule` says."""
    return -1


@wrong(
    "TICK-7",
    replaces=tick.interval_with_expiry,
    seen="Esper (https://github.com/espertechinc/esper) posts expiry by a timer of its own",
    half="what expires there and the arrival are seen at once",
)
def expiry_has_a_timer(
    right: Right, expiry: ExpirySeen, interval: range, own: int, frames: Sequence[Frame]
) -> Any:
    """Drop the elements that expire at an arrival's instant before the arrival is seen, whatever
    `expiry_seen` says.
    """
    return right(ExpirySeen.EAGER, interval, own, frames)


@wrong(
    "TICK-7",
    replaces=tick.interval_with_expiry,
    half="another window takes the place",
)
def every_arrival_is_expected(
    right: Right, expiry: ExpirySeen, interval: range, own: int, frames: Sequence[Frame]
) -> range:
    """Evaluate every arrival's instant without the arrival where expiry is eager, even if no scope
    moves there.
    """
    if expiry is ExpirySeen.EAGER and interval.stop == own:
        return range(interval.start, own + 1)
    return interval


# §6 Report


@wrong(
    "REP-1",
    replaces=report.closes,
    half="t is the last instant of some window",
)
def close_by_length(right: Right, frame: Frame, span: range, own: int) -> Any:
    """Close a window when its length t - o is ω: [o, c) closes at c, when the next one is
    active.
    """
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
    """Take a content for changed only where an element, or a triple of its graph, is new."""
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
    """Compare contents by their graphs, whatever `change_scope` says."""
    return right(ChangeScope.GRAPH, view, content, base)


@wrong("REP-3", replaces=report.is_non_empty)
def empty_windows_pass(right: Right, content: Content) -> bool:
    """Take empty windows for non-empty."""
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
    half=("For `[)` the border instant at t is t+1", "otherwise it is t"),
)
def beats_beside_the_border(
    right: Right, semantics: Semantics, view: WindowView, span: range
) -> range:
    """Compare the period with t for [o, c), so that it never meets a close, and else with t + 1."""
    shift = 0 if semantics.closure is Closure.RIGHT_OPEN else -1
    return _members_of_period(semantics, view, span, shift)


@wrong(
    "REP-11",
    "REP-4",
    replaces=report.anchor,
)
def every_period_is_anchored_at_0(right: Right, semantics: Semantics, view: WindowView) -> int:
    """Count every period from 0, whatever `anchor` says."""
    return 0


@wrong("REP-5", replaces=report.timely_instants)
def close_outdoes_periodic(
    right: Right, semantics: Semantics, view: WindowView, span: range, own: int
) -> range:
    """Ignore the period where windows report at their close."""
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
    """Report a window if any condition on its content holds, instead of all."""
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
    """Report no empty window, even where the semantics does not ask for non-empty."""
    return bool(content) and right(semantics, view, content, base)


@wrong(
    "REP-7",
    replaces=engine.reportable_instants,
    half="are tested on the content at this id",
)
def tested_where_reported(
    right: Right, semantics: Semantics, view: WindowView, content: Content, *contents: Any
) -> Any:
    """Test content change and non-empty at the id that is reported, instead of the
    interval's last.
    """
    *_, span, own = contents
    at = report.timely_instants(semantics, view, span, own)[-1:]
    if at and view.spec.kind is WindowKind.TUPLE:
        arrived = bisect_left(view.ids, own)
        content = window.content(view, at[0], arrived)
    return right(semantics, view, content, *contents)


@wrong(
    "REP-8",
    "REP-2",
    replaces=report.base,
    besides=EVERY_INSTANT,
)
def against_nothing(
    right: Right, against: ChangeBaseline, reported: Content, before: Content
) -> Content:
    """Compare every content with the empty one."""
    return range(0)


@wrong(
    "REP-10",
    replaces=report.choose_in_gap,
    half="or only the last one (`latest`)",
)
def all_of_a_gap(right: Right, gap: MissedInstants, firing: Iterable[Firing]) -> Iterable[Firing]:
    """Report every evaluation between two arrivals, even where only the last is asked for."""
    return firing


@wrong("REP-12", replaces=report.fires)
def explicit_is_all_and_else_any(
    right: Right, trigger: Trigger, views: Sequence[WindowView], at: Sequence[range]
) -> Any:
    """Wait under `explicit` until all windows that are marked as triggers are ready. Under every
    other trigger report as soon as one window is ready.
    """
    if trigger is not Trigger.EXPLICIT:
        return right(Trigger.ANY, views, at)
    pairs = zip(views, at, strict=True)
    marked = [instants for view, instants in pairs if view.spec.triggers]
    return right(Trigger.ALL, views, marked)


@wrong(
    "REP-12",
    "REP-7",
    replaces=engine.reportable_instants,
    half=("all windows count as reported", "the largest id at which those that are named hold"),
)
def only_the_first_to_fire_counts(
    right: Right, semantics: Semantics, view: WindowView, *contents: Any
) -> Any:
    """Count only windows whose own conditions hold as reported under `any`, instead of all; and
    report a tick of tuple-based windows at the smallest id at which close and periodic hold,
    instead of the largest.
    """
    if view.spec.kind is WindowKind.TUPLE:
        *_, span, own = contents
        if right(semantics, view, *contents):
            return report.timely_instants(semantics, view, span, own)[:1]
        return range(0)
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
    """Purge a window only when its own stream brings an element: the other side of a join holds
    what has expired.
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
