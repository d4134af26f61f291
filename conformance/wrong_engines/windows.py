"""Wrong engines for §4, WIN-1 to WIN-11: where windows begin and end, and what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.engines import C_SPARQL, CQELS, RSP_JS, YABENCH, YASPER
from conformance.wrong_engines.evaluation import EVERY_INSTANT, with_contents
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import query, window
from refengine.core.engine import Evaluation
from refengine.core.query import Window, WindowKind
from refengine.core.schedule import Schedule
from refengine.core.semantics import T0, Closure, Partial, Semantics, is_formula
from refengine.core.window import Content, Frame, WindowView
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidWindow

Scope = tuple[int, int] | None


@wrong(
    "WIN-1",
    "WIN-15",
    "WIN-20",
    replaces=query.check_extent,
    half="integers greater than 0",
    seen=f"{RSP_JS}: PT10S becomes NaN in silence",
)
def any_extent(right: Right, spec: Window) -> None:
    """Accept any size, slide and keys, a text or 0 included."""


@wrong(
    "WIN-1",
    replaces=query.check_extent,
    half="and optionally slide, 1 without",
    seen=f"{RSP_JS}: STEP is required; Spark (https://github.com/apache/spark), window(): a slide "
    "is at most the size",
)
def windows_tumble_only(right: Right, spec: Window) -> None:
    """Require a slide, and refuse one that is not the size."""
    right(spec)
    tumbles = spec.slide == spec.size
    slides_by_default = spec.kind in (WindowKind.RANGE, WindowKind.ROWS)
    if spec.size and not tumbles and (spec.slide or slides_by_default):
        place = f"window on {spec.stream!r}"
        reason = f"slide must be {spec.size}, got {spec.slide}"
        raise InvalidWindow(reason, rule="WIN-1", place=place)


@wrong(
    "WIN-2",
    replaces=window.borders,
    half="o+1, c",
    seen=f"the code of {YABENCH}, whose paper says [ts,te)",
)
def both_borders_belong_to_every_window(right: Right, closure: Closure | None) -> tuple[int, int]:
    """Give every window both its borders, so that an element on a border belongs to two windows."""
    return 0, 0


@wrong(
    "WIN-2",
    "WIN-19",
    replaces=window.borders,
    half="and last instants",
    seen=f"{C_SPARQL} and {CQELS}: CSRBench, section 2",
)
def every_window_is_right_open(right: Right, closure: Closure | None) -> tuple[int, int]:
    """Take every window for [o, c), whatever `closure` says."""
    if closure is None:
        return 0, 0
    return 0, -1


@wrong(
    "WIN-2",
    replaces=window.borders,
    seen=f"{C_SPARQL}: its recording of CSRBench's Q5, in 4 windows",
)
def border_elements_are_lost(right: Right, closure: Closure | None) -> tuple[int, int]:
    """Put an element on a border into no window, unless both borders belong to it."""
    if closure in (Closure.CLOSED, None):
        return 0, 0
    return 1, -1


@wrong(
    "WIN-3",
    replaces=window.frame,
    half="opens at o = t0 + nβ",
    seen=f"{YASPER} and {RSP_JS}: scope() never adds t0 back",
)
def t0_is_0(right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Any:
    """Place windows at the multiples of the slide, whatever t0 is."""
    return right(spec, closure, 0, partial)


@wrong(
    "WIN-3",
    "WIN-5",
    replaces=window.frame,
    half=("There is no window before window 0", "and then nothing is evaluated"),
    seen=f"{RSP_JS}: scope() opens windows below t0",
)
def there_is_a_window_before_window_0(
    right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial
) -> Any:
    """Open a window one slide before t0."""
    return right(spec, closure, t0 - (spec.slide or 1), partial)


@wrong(
    "WIN-20",
    replaces=window.frame,
    half="its scope is moved back by d",
)
def a_lag_is_ignored(
    right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial
) -> Any:
    """Move the end of every window to the present, whatever its lag is."""
    return right(replace(spec, lag=0), closure, t0, partial)


@wrong(
    "WIN-20",
    replaces=window.frame,
    half="is reported when the same window without a lag would be",
)
def a_window_with_a_lag_is_reported_early(
    right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial
) -> Any:
    """Report a window with a lag once its own borders have passed."""
    return right(replace(spec, lag=0), closure, t0 - spec.lag, partial)


@wrong(
    "WIN-4",
    replaces=window.active,
    seen=f"CSRBench, section 2; {RSP_JS}: getContent()",
    besides=EVERY_INSTANT,
)
def open_for_an_instant_more(right: Right, frame: Frame, t: int) -> int:
    """Keep a window open for one instant more than it has: [o, c) while t <= c."""
    n = -((frame.last + 1 - t) // frame.slide)
    return max(frame.least, n)


@wrong(
    "WIN-4",
    replaces=window.active,
    seen=f"{YASPER} and {RSP_JS}: abs() in scope()",
    besides=EVERY_INSTANT,
)
def the_distance_has_no_sign(right: Right, frame: Frame, t: int) -> int:
    """Compute n(t) from |t - c|, which counts backwards before the first close."""
    distance = abs(t - frame.last)
    return -(-distance // frame.slide)


@wrong(
    "WIN-5",
    "WIN-12",
    "WIN-13",
    replaces=window.scope,
    half=("from its first instant to t", "`now` is the window of the one instant t"),
    besides=EVERY_INSTANT,
)
def scopes_begin_or_end_elsewhere(right: Right, frame: Frame, t: int) -> Scope:
    """Extend the scope of `time` and `tuple` to the whole of the last window that has started, even
    beyond t; begin `now` an instant earlier, an unbounded window at t0, and a landmark window
    before all elements.
    """
    scope: Scope = right(frame, t)
    if scope is None:
        return None
    first, last = scope
    beginnings = {
        WindowKind.NOW: first - 1,
        WindowKind.UNBOUNDED: frame.first,
        WindowKind.LANDMARK: -TIME_BOUND,
    }
    if frame.kind not in (WindowKind.TIME, WindowKind.TUPLE):
        return beginnings.get(frame.kind, first), last
    active = window.active(frame, t)
    if first > t and active > frame.least:
        return first - frame.slide, t
    last = frame.last + active * frame.slide
    return first, last


@wrong(
    "WIN-7",
    replaces=window.origin,
    seen=f"{C_SPARQL}, as its recordings of CSRBench show it",
)
def always_the_first_element(
    right: Right,
    spec: Window,
    semantics: Semantics,
    first: int | None,
    registered: int | None = None,
) -> Any:
    """Take the first element's time for t0, whatever formula `t0` names."""
    if is_formula(semantics.t0):
        return first
    return right(spec, semantics, first, registered)


@wrong(
    "WIN-10",
    "WIN-7",
    replaces=window.origin,
    half="without elements the policies that need t1 give no window",
)
def without_elements_t1_is_0(
    right: Right,
    spec: Window,
    semantics: Semantics,
    first: int | None,
    registered: int | None = None,
) -> Any:
    """Take 0 for the first element's time of a stream without elements."""
    return right(spec, semantics, first or 0, registered)


@wrong(
    "WIN-10",
    replaces=window.policy,
    half="t0 is the least of these instants",
    seen=f"{YASPER} and {RSP_JS}: t0 is 0",
)
def the_epoch_is_t0(
    right: Right, spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> Any:
    """Begin aligned windows at the offset, however early or late the first element comes."""
    if semantics.t0 is T0.EPOCH and first is not None:
        return semantics.offset
    return right(spec, semantics, first, registered)


@wrong(
    "WIN-10",
    replaces=window.policy,
    half="`registration` is the instant",
)
def windows_wait_for_the_first_element(
    right: Right, spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> Any:
    """Begin a query's windows with the first element, whenever the query was registered and
    whatever its windows can reach.
    """
    if semantics.t0 is T0.REACH:
        semantics = replace(semantics, t0=T0.FIRST)
    return right(spec, semantics, first, first)


@wrong(
    "WIN-8",
    "WIN-18",
    replaces=window.content,
    half=("arrived before the k-th arrival", "depend on the arrival alone"),
    besides=EVERY_INSTANT,
)
def the_arriving_element_is_in_and_rows_expire(
    right: Right, view: WindowView, t: int, arrived: int
) -> Any:
    """Include in the content the element whose arrival is looked at; but of rows and partitions
    over intervals drop the elements that are no longer valid at the instant.
    """
    is_counting = view.spec.kind in (WindowKind.ROWS, WindowKind.PARTITION)
    if view.ends is None or not is_counting:
        with_next = min(arrived + 1, len(view.elements))
        return right(view, t, with_next)
    content: Content = right(view, t, arrived)
    valid = [place for place in content if view.times[place] <= t <= view.ends[place]]
    return tuple(valid) or range(0)


@wrong(
    "WIN-8",
    replaces=window.content,
    half="and whose instant is in the scope at t",
    seen=f"{CQELS}: in its recording of CSRBench's Q6 one side of a join is never purged",
    besides=EVERY_INSTANT,
)
def nothing_expires(right: Right, view: WindowView, t: int, arrived: int) -> Content:
    """Keep every element that has come into the content."""
    content: Content = right(view, t, arrived)
    if not content:
        return content
    newest = content[-1]
    return range(newest + 1)


@wrong(
    "WIN-8",
    replaces=Schedule.arrive,
    seen=f"{YASPER}: getContent(t_e)",
)
def content_is_looked_up_at_the_trigger(
    right: Right, schedule: Schedule, k: int
) -> Iterator[Iterator[Evaluation]]:
    """Look up the content at the time of the arrival that shows the report, so that a sentinel can
    show the next window's.
    """
    planned = schedule.planned
    time = planned.arrivals[k].app
    if planned.tuples:
        time = planned.own[k]

    def at_the_trigger(at: Evaluation) -> Evaluation:
        times = [time] * len(planned.views)
        return with_contents(planned, at, times)

    for stretch in right(schedule, k):
        yield map(at_the_trigger, stretch)


@wrong(
    "WIN-9",
    replaces=window.next_change,
    half="another window becomes the active one",
    seen=f"{CQELS} 1.x: expiry emits nothing",
)
def expiry_is_not_seen(right: Right, view: WindowView, t: int, arrived: int) -> Any:
    """Expect no content to shrink between two arrivals."""
    if view.frame is None or window.scope(view.frame, t) is None:
        return right(view, t, arrived)
    return next((time for time in view.times[:arrived] if time > t), None)


@wrong(
    "WIN-9",
    "ENG-2",
    replaces=window.next_change,
    half=("an element that has arrived comes into scope", "stretches of constant content"),
)
def a_content_lasts_until_the_next_arrival(
    right: Right, view: WindowView, t: int, arrived: int
) -> None:
    """Keep the content of the first instant between two arrivals up to the next arrival."""


@wrong("WIN-11", replaces=window.least)
def partial_windows_are_lost(right: Right, partial: Partial, size: int, step: int) -> int:
    """Leave out partial windows, whatever `partial` says."""
    return 0


@wrong(
    "WIN-11",
    "REP-1",
    replaces=window.least,
    seen=f"{C_SPARQL}: its recording of CSRBench's Q5",
)
def partial_windows_are_there(right: Right, partial: Partial, size: int, step: int) -> Any:
    """Report partial windows, whatever `partial` says."""
    return right(Partial.REPORTED, size, step)
