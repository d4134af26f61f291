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
from refengine.core.semantics import Semantics
from refengine.core.values import T0, Closure, Partial, is_formula
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
    """Accepts any size, slide and keys. It accepts even a text and 0."""


@wrong(
    "WIN-1",
    replaces=query.check_extent,
    half="and optionally slide, 1 without",
    seen=f"{RSP_JS}: STEP is required; Spark (https://github.com/apache/spark), window(): a slide "
    "is at most the size",
)
def windows_tumble_only(right: Right, spec: Window) -> None:
    """Refuses a slide other than the size."""
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
    """Counts an element on a border in two windows."""
    return 0, 0


@wrong(
    "WIN-2",
    "WIN-19",
    replaces=window.borders,
    half="and last instants",
    seen=f"{C_SPARQL} and {CQELS}: CSRBench, section 2",
)
def every_window_is_right_open(right: Right, closure: Closure | None) -> tuple[int, int]:
    """Leaves out the upper border of every window."""
    if closure is None:
        return 0, 0
    return 0, -1


@wrong(
    "WIN-2",
    replaces=window.borders,
    seen=f"{C_SPARQL}: its recording of CSRBench's Q5, in 4 windows",
)
def border_elements_are_lost(right: Right, closure: Closure | None) -> tuple[int, int]:
    """Loses an element on the border between two windows. It keeps the element where both borders
    belong to a window.
    """
    if closure in (Closure.CLOSED, None):
        return 0, 0
    return 1, -1


@wrong("WIN-2", replaces=window.borders)
def an_open_window_has_a_border(right: Right, closure: Closure | None) -> tuple[int, int]:
    """Counts the lower border of a window to which neither belongs."""
    if closure is Closure.OPEN:
        return 0, -1
    low, high = right(closure)
    return low, high


@wrong(
    "WIN-3",
    replaces=window.frame,
    half="opens at o = t0 + nβ",
    seen=f"{YASPER} and {RSP_JS}: scope() never adds t0 back",
)
def t0_is_0(right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Any:
    """Places windows at the multiples of the slide."""
    return right(spec, closure, 0, partial)


@wrong(
    "WIN-3",
    "WIN-5",
    replaces=window.frame,
    half=("There is no window before window 0", "and a query of one window is not evaluated"),
    seen=f"{RSP_JS}: scope() opens windows below t0",
)
def there_is_a_window_before_window_0(
    right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial
) -> Any:
    """Opens a window one slide too early."""
    return right(spec, closure, t0 - (spec.slide or 1), partial)


@wrong(
    "WIN-20",
    replaces=window.frame,
    half="its scope is moved back by d",
)
def a_lag_is_ignored(
    right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial
) -> Any:
    """Ignores the lag of a window."""
    return right(replace(spec, lag=0), closure, t0, partial)


@wrong(
    "WIN-20",
    replaces=window.frame,
    half="is reported when the same window without a lag would be",
)
def a_window_with_a_lag_is_reported_early(
    right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial
) -> Any:
    """Reports a window with a lag too early, once its own borders have passed."""
    return right(replace(spec, lag=0), closure, t0 - spec.lag, partial)


@wrong(
    "WIN-4",
    replaces=window.active,
    seen=f"CSRBench, section 2; {RSP_JS}: getContent()",
    besides=EVERY_INSTANT,
)
def open_for_an_instant_more(right: Right, frame: Frame, t: int) -> int:
    """Keeps a window open for one instant too long. The window [o, c) is open while t <= c."""
    n = -((frame.last + 1 - t) // frame.slide)
    return max(frame.least, n)


@wrong(
    "WIN-4",
    replaces=window.active,
    seen=f"{YASPER} and {RSP_JS}: abs() in scope()",
    besides=EVERY_INSTANT,
)
def the_distance_has_no_sign(right: Right, frame: Frame, t: int) -> int:
    """Counts windows backwards before the first close. It computes n(t) from |t - c|."""
    distance = abs(t - frame.last)
    return -(-distance // frame.slide)


@wrong(
    "WIN-5",
    replaces=window.scope,
    half="from its first instant to t",
    besides=EVERY_INSTANT,
)
def a_scope_is_the_whole_window(right: Right, frame: Frame, t: int) -> Scope:
    """Shows whole windows, even what is still to come."""
    scope: Scope = right(frame, t)
    if scope is None or frame.kind not in (WindowKind.TIME, WindowKind.TUPLE):
        return scope
    active = window.active(frame, t)
    if scope[0] > t and active > frame.least:
        return scope[0] - frame.slide, t
    return scope[0], frame.last + active * frame.slide


def _begun_elsewhere(right: Right, frame: Frame, t: int, kind: WindowKind, start: int) -> Scope:
    """Return the scope of a window at t; of a window of one kind, what it is from another start."""
    scope: Scope = right(frame, t)
    if scope is None or frame.kind is not kind:
        return scope
    return start, scope[1]


@wrong(
    "WIN-12",
    replaces=window.scope,
    half="`now` is the window of the one instant t",
    besides=EVERY_INSTANT,
)
def now_has_two_instants(right: Right, frame: Frame, t: int) -> Scope:
    """Begins a window `now` an instant earlier."""
    return _begun_elsewhere(right, frame, t, WindowKind.NOW, t - 1)


@wrong("WIN-13", replaces=window.scope, besides=EVERY_INSTANT)
def an_unbounded_window_begins_at_t0(right: Right, frame: Frame, t: int) -> Scope:
    """Begins an unbounded window at t0."""
    return _begun_elsewhere(right, frame, t, WindowKind.UNBOUNDED, frame.first)


@wrong("WIN-13", replaces=window.scope, besides=EVERY_INSTANT)
def a_landmark_window_is_unbounded(right: Right, frame: Frame, t: int) -> Scope:
    """Begins a landmark window before all elements."""
    return _begun_elsewhere(right, frame, t, WindowKind.LANDMARK, -TIME_BOUND)


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
    """Begins its windows at the first element, by no formula."""
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
    """Takes 0 for the first element of an empty stream."""
    return right(spec, window.with_offset(semantics, [first or 0]), first or 0, registered)


@wrong(
    "WIN-10",
    replaces=window.policy,
    half="t0 is the least of these instants",
    seen=f"{YASPER} and {RSP_JS}: t0 is 0",
)
def the_epoch_is_t0(
    right: Right, spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> Any:
    """Begins aligned windows at the offset, whatever comes first."""
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
    """Begins windows only with the first element."""
    return right(spec, semantics, first, first)


@wrong("WIN-10", replaces=window.policy)
def no_window_reaches_back(
    right: Right, spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> Any:
    """Begins at the first element where its first window should end there."""
    if semantics.t0 is T0.REACH:
        semantics = replace(semantics, t0=T0.FIRST)
    return right(spec, semantics, first, registered)


@wrong(
    "WIN-8",
    replaces=window.content,
    half="arrived before the k-th arrival",
    besides=EVERY_INSTANT,
)
def the_arriving_element_is_in(right: Right, view: WindowView, t: int, arrived: int) -> Any:
    """Counts an element in the window that its own arrival closes."""
    return right(view, t, min(arrived + 1, len(view.elements)))


@wrong(
    "WIN-18",
    replaces=window.content,
    half="depend on the arrival alone",
    besides=EVERY_INSTANT,
)
def rows_expire(right: Right, view: WindowView, t: int, arrived: int) -> Any:
    """Drops rows that are no longer valid. So it does with partitions over intervals."""
    content: Content = right(view, t, arrived)
    if view.ends is None or view.spec.kind not in (WindowKind.ROWS, WindowKind.PARTITION):
        return content
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
    """Never lets an element expire."""
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
    """Takes the content of the time at which the report comes. So a sentinel can show the next
    window's.
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
    """Sees no element expire between two arrivals."""
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
    """Keeps a content until the next arrival. It is the content of the first instant after the
    arrival before.
    """


@wrong("WIN-11", replaces=window.least)
def partial_windows_are_lost(right: Right, partial: Partial, size: int, step: int) -> int:
    """Loses the windows that t0 cuts."""
    return 0


@wrong(
    "WIN-11",
    "REP-1",
    replaces=window.least,
    seen=f"{C_SPARQL}: its recording of CSRBench's Q5",
)
def partial_windows_are_there(right: Right, partial: Partial, size: int, step: int) -> Any:
    """Reports the windows that t0 cuts."""
    return right(Partial.REPORTED, size, step)
