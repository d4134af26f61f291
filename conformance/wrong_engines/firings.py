"""Wrong engines for §16: watermarks, which elements are late, and when each window is reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.engines import BEAM, FLINK
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import evaluations, plan, window
from refengine.core.firings import FiringSchedule, HeldWindow
from refengine.core.moving import instants
from refengine.core.plan import Plan
from refengine.core.query import WindowKind
from refengine.core.schedule import MAX_REPORTS, Evaluation
from refengine.core.semantics import Semantics
from refengine.core.values import Condition, ExpiryRule, Panes, Watermark
from refengine.core.window import Content, borders
from refengine.model.elements import Element, Stream
from refengine.model.errors import require

Candidate = tuple[int, HeldWindow, bool]


def with_fields(schedule: FiringSchedule, **fields: Any) -> Plan:
    """Return the plan of a schedule under a semantics with other fields."""
    changed: Semantics = replace(schedule.planned.semantics, **fields)
    return replace(schedule.planned, semantics=changed)


def under(right: Right, schedule: FiringSchedule, fields: dict[str, Any], *values: Any) -> Any:
    """Return what a right function returns under a semantics with other fields."""
    planned = schedule.planned
    schedule.planned = with_fields(schedule, **fields)
    try:
        return right(schedule, *values)
    finally:
        schedule.planned = planned


# MOD-5


@wrong("MOD-5", replaces=plan.watermarks, half="is the `greatest` app so far")
def the_watermark_goes_back(
    right: Right, arrivals: Sequence[Element], has_sentinel: bool, semantics: Semantics
) -> list[int]:
    """Takes the app of each arrival for the watermark, although it goes back."""
    if not semantics.late_for.is_window:
        found: list[int] = right(arrivals, has_sentinel, semantics)
        return found
    return [arrival.app - require(semantics.watermark_delay) for arrival in arrivals]


@wrong("MOD-5", replaces=plan.watermarks, half="less `watermark_delay`")
def the_watermark_has_no_delay(
    right: Right, arrivals: Sequence[Element], has_sentinel: bool, semantics: Semantics
) -> Any:
    """Closes windows as soon as an element is past them, whatever the delay."""
    if not semantics.late_for.is_window:
        return right(arrivals, has_sentinel, semantics)
    return right(arrivals, has_sentinel, replace(semantics, watermark_delay=0))


@wrong("MOD-5", replaces=plan.watermarks, half="the greatest app of a `punctuation`")
def elements_bring_the_watermark(
    right: Right, arrivals: Sequence[Element], has_sentinel: bool, semantics: Semantics
) -> Any:
    """Lets each element bring the watermark, although the stream has punctuations."""
    if not semantics.reads_punctuations:
        return right(arrivals, has_sentinel, semantics)
    return right(arrivals, has_sentinel, replace(semantics, watermark=Watermark.GREATEST))


def as_they_are(kept: Any, streams: Mapping[str, Stream], semantics: Semantics) -> Any:
    """Adds no punctuations to the arrivals."""
    return kept


@wrong(
    "MOD-5",
    replaces=plan.without_punctuations,
    half="which are then in no window",
    besides={plan.with_punctuations: as_they_are},
)
def punctuations_are_elements(
    right: Right, elements: Sequence[Element], semantics: Semantics
) -> Any:
    """Takes punctuations into windows as elements without triples."""
    return tuple(elements)


@wrong("MOD-5", replaces=window.overlapping, half="as long as its instant is in the scope")
def what_comes_late_is_lost(
    right: Right, view: window.WindowView, first: int, last: int, arrived: int
) -> Any:
    """Leaves out elements that come after one of a later time."""
    found = right(view, first, last, arrived)
    if view.is_in_order:
        return found
    times = view.times
    return tuple(i for i in found if times[i] == max(times[: i + 1])) or range(0)


@wrong("MOD-5", replaces=plan.watermarks, half="After the sentinel (ENG-1) it is the horizon")
def the_end_is_delayed(
    right: Right, arrivals: Sequence[Element], has_sentinel: bool, semantics: Semantics
) -> Any:
    """Keeps the delay at the end of the stream, so that the last windows stay open."""
    return right(arrivals, False, semantics)


@wrong(
    "MOD-5",
    replaces=FiringSchedule.take_in,
    half="also those ahead of the watermark",
)
def elements_wait_for_the_watermark(
    right: Right, schedule: FiringSchedule, t: int, k: int
) -> list[HeldWindow]:
    """Sees an element only when the watermark has reached it."""
    touched: list[HeldWindow] = []
    while schedule.arrivals_seen < k and schedule.planned.arrivals[schedule.arrivals_seen].app <= t:
        touched += right(schedule, t, schedule.arrivals_seen + 1)
    return touched


@wrong("MOD-5", "WIN-22", replaces=FiringSchedule.windows_of, half="may be in time for others")
def late_for_one_window_is_late_for_all(
    right: Right, schedule: FiringSchedule, index: int
) -> list[HeldWindow]:
    """Drops an element behind the watermark and the grace from every window."""
    semantics = schedule.planned.semantics
    if semantics.late_for.is_window and schedule.last_own is not None:
        behind = schedule.last_own - schedule.planned.views[0].elements[index].app
        if behind > int(semantics.allowed_lateness):
            return []
    found: list[HeldWindow] = right(schedule, index)
    return found


# WIN-22


@wrong("WIN-22", replaces=FiringSchedule.has_expired, half="before the window has expired")
def no_window_expires(right: Right, schedule: FiringSchedule, last: int) -> bool:
    """Takes elements in, however late they are."""
    return False


@wrong("WIN-22", replaces=FiringSchedule.has_expired, half="plus the grace")
def the_grace_is_ignored(right: Right, schedule: FiringSchedule, last: int) -> Any:
    """Drops every element of a window that has closed."""
    semantics = schedule.planned.semantics
    if not semantics.late_for.is_window:
        return False
    return right(schedule, last - int(semantics.allowed_lateness))


@wrong("WIN-22", replaces=FiringSchedule.has_expired, half="has `reached`", seen=BEAM)
def a_window_expires_when_passed(right: Right, schedule: FiringSchedule, last: int) -> Any:
    """Expires a window only when the watermark has passed its end and the grace."""
    if not schedule.planned.semantics.late_for.is_window:
        return False
    return under(right, schedule, {"expiry_rule": ExpiryRule.PASSED}, last)


@wrong("WIN-22", replaces=FiringSchedule.has_expired, half="has `passed`", seen=FLINK)
def a_window_expires_when_reached(right: Right, schedule: FiringSchedule, last: int) -> Any:
    """Expires a window as soon as the watermark has reached its end and the grace."""
    if not schedule.planned.semantics.late_for.is_window:
        return False
    return under(right, schedule, {"expiry_rule": ExpiryRule.REACHED}, last)


@wrong(
    "WIN-22", replaces=FiringSchedule.has_expired, half="Before the first element none has expired"
)
def the_watermark_begins_at_0(right: Right, schedule: FiringSchedule, last: int) -> Any:
    """Takes 0 for the watermark before the first element."""
    if schedule.last_own is None and schedule.planned.semantics.expiry_rule is not None:
        return last + 1 <= 0
    return right(schedule, last)


# REP-14


def every_instant_of(schedule: FiringSchedule, held: HeldWindow, stretch: range) -> list[range]:
    """Return every instant of a stretch at which a window is open: right, but slow."""
    begins = held.first - (schedule.planned.semantics.watermark_delay or 0)
    return [instants(max(stretch.start, begins), min(stretch.stop, held.last + 1))]


EVERY = {FiringSchedule.instants_of: every_instant_of}


@wrong("REP-14", replaces=FiringSchedule.candidates, half="or `every` window")
def only_the_first_open_window(
    right: Right, schedule: FiringSchedule, *values: Any
) -> Iterable[Candidate]:
    """Reports only one window at an instant, the first that is open."""
    found: dict[int, Candidate] = {}
    for candidate in right(schedule, *values):
        found.setdefault(candidate[0], candidate)
    return found.values()


@wrong("REP-14", replaces=evaluations.evaluation_groups, half="is the `active` window")
def every_window_whatever_is_asked(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Iterable[Evaluation]]:
    """Reports every open window, also where only the active one is asked for."""
    if len(planned.views) == 1 and planned.views[0].spec.kind is WindowKind.TIME:
        return FiringSchedule(planned, max_reports).groups()
    found: Iterator[Iterable[Evaluation]] = right(planned, max_reports)
    return found


@wrong("REP-14", replaces=FiringSchedule.candidates, half="in the order of their last")
def the_newest_window_comes_first(
    right: Right, schedule: FiringSchedule, *values: Any
) -> Iterable[Candidate]:
    """Reports the window that closes last first."""
    found = list(right(schedule, *values))
    return sorted(found, key=lambda candidate: (candidate[0], -candidate[1].last))


@wrong("REP-14", replaces=FiringSchedule.is_reported, half="Window close then holds")
def nothing_is_said_again_for_late_elements(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int, is_late: bool
) -> Any:
    """Takes late elements in, and says nothing of it."""
    return not is_late and right(schedule, held, t, k, is_late)


@wrong("REP-14", replaces=FiringSchedule.candidates_without_elements)
def a_window_is_there_only_with_elements(
    right: Right, schedule: FiringSchedule, *values: Any
) -> Iterator[Candidate]:
    """Reports no window that holds nothing."""
    return iter(())


@wrong("REP-14", replaces=FiringSchedule.instants_of, half="at most t + `watermark_delay`")
def a_window_begins_with_the_watermark(
    right: Right, schedule: FiringSchedule, held: HeldWindow, stretch: range
) -> Any:
    """Reports a window only once the watermark has reached its first instant."""
    return right(schedule, held, instants(max(stretch.start, held.first), stretch.stop))


@wrong(
    "REP-14",
    replaces=FiringSchedule.is_reported,
    half="all conditions of `report` hold for it",
    besides=EVERY,
)
def one_condition_is_enough_for_a_window(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int, is_late: bool
) -> Any:
    """Reports a window if one condition holds for it, instead of all."""
    named = schedule.planned.semantics.report
    return any(schedule.holds(condition, held, t, k, is_late) for condition in named)


@wrong(
    "REP-14",
    replaces=FiringSchedule.holds,
    half="compares its content with all that it has shown",
)
def a_window_changes_only_once(
    right: Right,
    schedule: FiringSchedule,
    condition: Condition,
    held: HeldWindow,
    *values: Any,
) -> Any:
    """Takes a window that was reported for one that does not change."""
    if condition is Condition.CHANGE and held.shown:
        return False
    return right(schedule, condition, held, *values)


# REP-15


@wrong("REP-15", replaces=FiringSchedule.is_early, half="also reported early")
def nothing_is_early(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> bool:
    """Reports nothing early."""
    return False


@wrong("REP-15", replaces=FiringSchedule.is_early, besides=EVERY)
def each_element_is_early(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Reports a window early for each new element, whatever is asked."""
    return len(held.content) > len(held.shown_content) or right(schedule, held, t, k)


@wrong("REP-15", replaces=FiringSchedule.is_early, half="it has not shown them yet")
def early_are_as_many_as_there_are(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Counts all elements of a window, not the new ones."""
    count = schedule.planned.semantics.early_count
    return (count is not None and len(held.content) >= count) or right(schedule, held, t, k)


@wrong("REP-15", replaces=FiringSchedule.is_early, half="at least `early_count`")
def early_are_more_than_the_count(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Waits for one new element more than the count."""
    count = schedule.planned.semantics.early_count
    return under(right, schedule, {"early_count": count and count + 1}, held, t, k)


@wrong(
    "REP-15",
    replaces=FiringSchedule.is_early,
    half="the border instant at t (REP-4) is a multiple",
    besides=EVERY,
)
def a_period_is_of_instants(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Counts the period of early reports one instant beside the border."""
    shift = borders(schedule.planned.semantics.closure)[1]
    if schedule.planned.semantics.early_period is None:
        return right(schedule, held, t, k)
    return t < schedule.planned.own[k] and right(schedule, held, t + shift, k)


@wrong("REP-15", replaces=FiringSchedule.is_early, half="before the arrival's own")
def a_period_is_over_at_the_arrival(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Reports a window early at the arrival's own instant, too."""
    period = schedule.planned.semantics.early_period
    border = t - borders(schedule.planned.semantics.closure)[1]
    is_over = period is not None and border % period == 0 and bool(held.content)
    return is_over or right(schedule, held, t, k)


# REP-16


@wrong("REP-16", replaces=FiringSchedule.pane, half="that it has not shown in a report before")
def panes_accumulate(right: Right, schedule: FiringSchedule, held: HeldWindow) -> Content:
    """Shows all that a window holds each time."""
    return tuple(held.content) or range(0)


@wrong("REP-16", replaces=FiringSchedule.pane, half="its content; just before")
def panes_are_discarded(right: Right, schedule: FiringSchedule, held: HeldWindow) -> Any:
    """Shows only what is new each time."""
    return under(right, schedule, {"panes": Panes.DISCARDING}, held)


@wrong("REP-16", replaces=FiringSchedule.show, half="what it showed last is *taken back*")
def nothing_is_taken_back(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Shows a window again, and takes back nothing."""
    return [one for one in right(schedule, held, t, k) if not one.takes_back]


@wrong("REP-16", replaces=FiringSchedule.show)
def what_is_taken_back_is_not_marked(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Says again what it takes back, without a mark."""
    return [one._replace(takes_back=False) for one in right(schedule, held, t, k)]


@wrong("REP-16", replaces=FiringSchedule.show, half="just before")
def it_is_taken_back_afterwards(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Takes back what a window showed after it has shown it anew."""
    return sorted(right(schedule, held, t, k), key=lambda one: bool(one.takes_back))


@wrong("REP-16", replaces=FiringSchedule.show, half="A session takes back what each session")
def one_of_several_sessions_is_taken_back(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Takes back what the first of several sessions showed, and not the others."""
    held.shown = held.shown[:1]
    return right(schedule, held, t, k)


@wrong("REP-16", replaces=FiringSchedule.show, half="only what it showed with other borders")
def the_same_borders_are_replaced(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Takes back what a window showed with the same borders, too."""
    if schedule.planned.semantics.panes is not Panes.REPLACING:
        return right(schedule, held, t, k)
    return under(right, schedule, {"panes": Panes.RETRACTING}, held, t, k)


@wrong("REP-16", replaces=FiringSchedule.show, half="If an element joins an expired session")
def what_had_expired_is_taken_back(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Takes back what an expired session showed, once an element has joined it."""
    held.shown = [one._replace(joined_after_expiry=False) for one in held.shown]
    return right(schedule, held, t, k)


@wrong("REP-16", replaces=FiringSchedule.holds, half="Non-empty (REP-3) asks", besides=EVERY)
def non_empty_reads_the_whole_content(
    right: Right,
    schedule: FiringSchedule,
    condition: Condition,
    held: HeldWindow,
    *values: Any,
) -> Any:
    """Reports a discarding window although it has nothing new to show."""
    if condition is Condition.NON_EMPTY:
        return bool(held.content)
    return right(schedule, condition, held, *values)


@wrong("REP-16", replaces=FiringSchedule.holds, half="read the whole content")
def a_change_is_one_of_what_is_shown(
    right: Right,
    schedule: FiringSchedule,
    condition: Condition,
    held: HeldWindow,
    *values: Any,
) -> Any:
    """Compares what a discarding window would show with the last element it showed."""
    if condition is Condition.CHANGE and schedule.planned.semantics.panes.shows_only_new:
        shown = held.shown_content
        return tuple(schedule.pane(held)) != tuple(shown[-1:])
    return right(schedule, condition, held, *values)
