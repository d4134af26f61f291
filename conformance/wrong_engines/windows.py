"""Wrong engines for §4: where windows begin and end, and what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.engines import C_SPARQL, CQELS, RSP_JS, YABENCH, YASPER
from conformance.wrong_engines.evaluation import EVERY_INSTANT, with_contents
from conformance.wrong_engines.miniature import Right, wrong
from refengine.core import query, window
from refengine.core.engine import Evaluation
from refengine.core.query import COUNTING, Unit, Window, WindowKind
from refengine.core.schedule import Schedule
from refengine.core.semantics import POLICIES, T0, Closure, Partial, Semantics, Slide
from refengine.core.window import Content, Frame, View
from refengine.model.elements import TIME_BOUND, Element
from refengine.model.errors import InvalidStream, InvalidWindow

Scope = tuple[int, int] | None


@wrong(
    "WIN-1",
    "WIN-15",
    replaces=query.check_extent,
    half="integers greater than 0",
    seen=f"{RSP_JS}: PT10S becomes NaN in silence",
)
def any_extent(right: Right, spec: Window) -> None:
    """Size, slide and keys may be anything, a text or 0 included."""


@wrong(
    "WIN-1",
    replaces=query.check_extent,
    half="and optionally slide, 1 without",
    seen=f"{RSP_JS}: STEP is required; Spark (https://github.com/apache/spark), window(): a slide "
    "is at most the size",
)
def windows_tumble_only(right: Right, spec: Window) -> None:
    """A slide is asked for, and refused if it is not the size."""
    right(spec)
    sliding = spec.kind in (WindowKind.RANGE, WindowKind.ROWS)
    if spec.size and spec.slide != spec.size and (spec.slide or sliding):
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
    """Every window has both its borders, so an element on one is in two windows."""
    return 0, 0


@wrong(
    "WIN-2",
    replaces=window.borders,
    half="and last instants",
    seen=f"{C_SPARQL} and {CQELS}: CSRBench, section 2",
)
def every_window_is_right_open(right: Right, closure: Closure | None) -> tuple[int, int]:
    """Every window is [o, c)."""
    return 0, 0 if closure is None else -1


@wrong(
    "WIN-2",
    replaces=window.borders,
    seen=f"{C_SPARQL}: its recording of CSRBench's Q5, in 4 windows",
)
def border_elements_are_lost(right: Right, closure: Closure | None) -> tuple[int, int]:
    """An element on a border is in no window unless both borders belong to it."""
    return (0, 0) if closure in (Closure.CLOSED, None) else (1, -1)


@wrong(
    "WIN-3",
    replaces=window.frame,
    half="opens at o = t0 + nβ",
    seen=f"{YASPER} and {RSP_JS}: scope() never adds t0 back",
)
def t0_is_0(right: Right, spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Any:
    """Windows are multiples of the slide, whatever t0 is."""
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
    """A window opens one slide before t0."""
    return right(spec, closure, t0 - (spec.slide or 1), partial)


@wrong(
    "WIN-4",
    replaces=window.active,
    seen=f"CSRBench, section 2; {RSP_JS}: getContent()",
    besides=EVERY_INSTANT,
)
def open_for_an_instant_more(right: Right, frame: Frame, t: int) -> int:
    """A window is open for one instant more than it has: for [o, c) while t <= c."""
    return max(frame.least, -((frame.last + 1 - t) // frame.slide))


@wrong(
    "WIN-4",
    replaces=window.active,
    seen=f"{YASPER} and {RSP_JS}: abs() in scope()",
    besides=EVERY_INSTANT,
)
def the_distance_has_no_sign(right: Right, frame: Frame, t: int) -> int:
    """n(t) is computed from |t - c|, so before the first close it counts backwards."""
    return -(-abs(t - frame.last) // frame.slide)


@wrong(
    "WIN-5",
    replaces=window.scope,
    half="from its first instant to t",
    besides=EVERY_INSTANT,
)
def a_whole_window_is_in_scope(right: Right, frame: Frame, t: int) -> Scope:
    """The scope is the whole of the last window that has started, what comes after t included."""
    scope: Scope = right(frame, t)
    if scope is None or frame.kind not in (WindowKind.TIME, WindowKind.TUPLE):
        return scope
    if scope[0] > t and window.active(frame, t) > frame.least:
        return scope[0] - frame.slide, t
    return scope[0], frame.last + window.active(frame, t) * frame.slide


@wrong(
    "WIN-7",
    replaces=window.origin,
    seen=f"{C_SPARQL}, as its recordings of CSRBench show it",
)
def always_the_first_element(
    right: Right, spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> Any:
    """Every formula gives the first element's time."""
    if isinstance(semantics.t0, T0) and semantics.t0 not in POLICIES:
        return first
    return right(spec, semantics, first, registered)


@wrong(
    "WIN-10",
    "WIN-7",
    replaces=window.origin,
    half="without elements the policies that need t1 give no window",
)
def without_elements_t1_is_0(
    right: Right, spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> Any:
    """A stream without elements is one whose first element is at 0."""
    return right(spec, semantics, first or 0, registered)


@wrong(
    "WIN-10",
    replaces=window.policy,
    half="the least o = offset + mβ",
    seen=f"{YASPER} and {RSP_JS}: t0 is 0",
)
def the_epoch_is_t0(
    right: Right, spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> Any:
    """Aligned windows begin at the offset, however late the first element comes, or early."""
    if semantics.t0 is T0.EPOCH and first is not None:
        return semantics.offset
    return right(spec, semantics, first, registered)


@wrong("WIN-10", replaces=window.policy, half="`registration` is the instant")
def windows_wait_for_the_first_element(
    right: Right, spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> Any:
    """A query begins with the first element, whenever it was registered and what it can reach."""
    reach = T0.FIRST if semantics.t0 is T0.REACH else semantics.t0
    return right(spec, replace(semantics, t0=reach), first, first)


@wrong("WIN-8", replaces=window.content, half="arrived before e_k", besides=EVERY_INSTANT)
def the_arriving_element_is_in(right: Right, view: View, t: int, arrived: int) -> Any:
    """The content holds the element whose arrival is looked at."""
    return right(view, t, min(arrived + 1, len(view.elements)))


@wrong(
    "WIN-8",
    replaces=window.content,
    half="and whose instant is in the scope at t",
    seen=f"{CQELS}: in its recording of CSRBench's Q6 one side of a join is never purged",
    besides=EVERY_INSTANT,
)
def nothing_expires(right: Right, view: View, t: int, arrived: int) -> Content:
    """An element that has come in stays."""
    found: Content = right(view, t, arrived)
    return range(found[-1] + 1) if found else found


@wrong("WIN-8", replaces=Schedule.arrive, seen=f"{YASPER}: getContent(t_e)")
def content_is_looked_up_at_the_trigger(
    right: Right, schedule: Schedule, k: int
) -> Iterator[Iterator[Evaluation]]:
    """The content is that at the time of the arrival that shows the report: a sentinel can show the
    next window's.
    """
    planned = schedule.planned
    own = planned.own[k] if planned.tuples else planned.arrivals[k].app

    def looked_up(at: Evaluation) -> Evaluation:
        return with_contents(planned, at, [own] * len(planned.views))

    for stretch in right(schedule, k):
        yield map(looked_up, stretch)


@wrong(
    "WIN-9",
    replaces=window.until,
    half="another window takes the current one's place",
    seen=f"{CQELS} 1.x: expiry emits nothing",
)
def expiry_is_not_seen(right: Right, view: View, t: int, arrived: int) -> Any:
    """Between two arrivals a content never shrinks."""
    if view.frame is None or window.scope(view.frame, t) is None:
        return right(view, t, arrived)
    return next((time for time in view.times[:arrived] if time > t), None)


@wrong(
    "WIN-9",
    "ENG-2",
    replaces=window.until,
    half=("where an arrived element comes into scope", "stretches of constant content"),
)
def a_content_lasts_until_the_next_arrival(right: Right, view: View, t: int, arrived: int) -> None:
    """The content between two arrivals is the one at the first instant between them."""


@wrong("WIN-11", replaces=window.least)
def partial_windows_are_lost(right: Right, partial: Partial, size: int, step: int) -> int:
    """There are no partial windows, whatever the semantics says."""
    return 0


@wrong(
    "WIN-11",
    "REP-1",
    replaces=window.least,
    seen=f"{C_SPARQL}: its recording of CSRBench's Q5",
)
def partial_windows_are_there(right: Right, partial: Partial, size: int, step: int) -> Any:
    """There are partial windows, whatever the semantics says."""
    return right(Partial.REPORTED, size, step)


@wrong(
    "WIN-12",
    replaces=window.current,
    half="its scope runs from its first to its last instant",
    besides=EVERY_INSTANT,
)
def the_latest_that_has_begun(right: Right, frame: Frame, t: int) -> int | None:
    """CQL's window at t is the latest that has begun."""
    n = (t - frame.first) // frame.slide
    if n < frame.least:
        return None
    return n


@wrong(
    "WIN-12",
    replaces=window.scope,
    half="`now` is the window of the one instant t",
    besides=EVERY_INSTANT,
)
def now_is_two_instants(right: Right, frame: Frame, t: int) -> Scope:
    """Now holds the instant before, too."""
    scope: Scope = right(frame, t)
    if scope is None or frame.kind is not WindowKind.NOW:
        return scope
    return scope[0] - 1, scope[1]


@wrong("WIN-13", replaces=window.scope, besides=EVERY_INSTANT)
def only_unbounded_has_a_landmark(right: Right, frame: Frame, t: int) -> Scope:
    """An unbounded window begins at t0, and a landmark window does not."""
    scope: Scope = right(frame, t)
    if scope and frame.kind is WindowKind.UNBOUNDED:
        return frame.first, t
    if scope and frame.kind is WindowKind.LANDMARK:
        return -TIME_BOUND, t
    return scope


@wrong("WIN-14", replaces=window.rows)
def rows_tumble(right: Right, view: View, arrived: int) -> Any:
    """Rows is looked up at every N-th arrival."""
    tumbling = replace(view.spec, slide=view.spec.size)
    return right(replace(view, spec=tumbling), arrived)


@wrong("WIN-15", replaces=window.partition)
def a_partition_without_keys(right: Right, view: View, arrived: int) -> Content:
    """A partition holds the latest N elements, whatever their keys."""
    return tuple(range(max(0, arrived - (view.spec.size or 1)), arrived)) or range(0)


@wrong("WIN-15", replaces=window.key)
def those_without_a_key_are_one(
    right: Right, spec: Window, element: Element, place: str
) -> tuple[str, ...]:
    """Elements that lack the key are a partition of their own."""
    try:
        found: tuple[str, ...] = right(spec, element, place)
    except InvalidStream:
        return ("",)
    return found


@wrong(
    "WIN-16",
    replaces=window.ids,
    half='With `unit = "triples"`',
    seen=f"{C_SPARQL} and {CQELS}: an element is a triple",
)
def elements_are_triples(right: Right, spec: Window, elements: Sequence[Element]) -> Any:
    """Where elements should be counted triples are."""
    if spec.kind in COUNTING:
        spec = replace(spec, unit=Unit.TRIPLES)
    return right(spec, elements)


@wrong("WIN-16", "WIN-6", replaces=window.ids, half="an element enters and leaves as a whole")
def ids_are_list_indices(right: Right, spec: Window, elements: Sequence[Element]) -> Any:
    """The first element has the id 0, and the next one 1, whatever is counted."""
    if spec.kind in COUNTING:
        return range(len(elements))
    return right(spec, elements)


@wrong(
    "WIN-17",
    replaces=window.slide,
    seen=f"{CQELS}: its recording of CSRBench's Q4",
)
def the_slide_is_ignored(right: Right, spec: Window, choice: Slide) -> Any:
    """The stated slide never counts."""
    return right(spec, Slide.IGNORED)


@wrong("WIN-17", replaces=window.slide, half="windows of the kinds `time` and `range`")
def rows_slide_where_it_is_ignored(right: Right, spec: Window, choice: Slide) -> Any:
    """Where the slide is ignored, windows that count elements move with each, Range does not."""
    if choice is Slide.STATED or spec.kind is WindowKind.RANGE:
        return spec
    if spec.kind in COUNTING:
        return replace(spec, slide=1)
    return right(spec, choice)


@wrong("WIN-18", replaces=window.content, half="look at arrival alone", besides=EVERY_INSTANT)
def rows_expire(right: Right, view: View, t: int, arrived: int) -> Content:
    """Rows and partitions hold only what is valid at the instant."""
    found: Content = right(view, t, arrived)
    if view.ends is None or view.spec.kind not in (WindowKind.ROWS, WindowKind.PARTITION):
        return found
    return tuple(i for i in found if view.times[i] <= t <= view.ends[i]) or range(0)
