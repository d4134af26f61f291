"""§4 S2R: which elements a window holds. Instants are integers: application times, or ids
(WIN-6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from refengine.core.growing import first_after, first_from, first_kept
from refengine.core.query import BORDERED, POSITIONS, Unit, Window, WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import T0, Closure, Formula, Offset, Partial, Slide, is_formula
from refengine.model.elements import TIME_BOUND, Element, valid
from refengine.model.errors import InvalidSemantics, InvalidStream, require

# The content of SPEC.md (WIN-8) as indices of its elements in their stream, from 0, ascending: a
# range where they follow one another, else a tuple.
Content = Sequence[int]

# CQL's windows: the latest one that has ended is shown (WIN-12)
SHOWN_ENDED = frozenset({WindowKind.RANGE, WindowKind.NOW})
DAY = 86_400_000  # in milliseconds

# a landmark window opens and never closes
TWO_BORDERS = BORDERED - {WindowKind.LANDMARK, WindowKind.SESSION}


class Frame(NamedTuple):
    """Where the instances of a query's window lie (WIN-3). Window n has the instants from
    first + n·slide to last + n·slide, for n = `least`, …, 0, 1, ….

    `first` and `last` are the first and the last instant of window 0, `slide` is β (1 for windows
    without a slide), and `least` is the number of the first window. Where partial windows are
    clipped, no scope begins before the instant `floor` (WIN-11); it is None where they are not.
    `lag` is by how much a scope is earlier than its window (WIN-20).

    >>> Frame(first=0, last=9, slide=5)  # [0, 10), [5, 15), [10, 20), …
    Frame(first=0, last=9, slide=5, kind=<WindowKind.TIME: 'time'>, least=0, floor=None, lag=0)
    """

    first: int
    last: int
    slide: int
    kind: WindowKind = WindowKind.TIME
    least: int = 0
    floor: int | None = None
    lag: int = 0


@dataclass(frozen=True)
class WindowView:
    """A window of a query as a semantics lays it out over one stream.

    `spec` is the window as the query states it, but with the slide that the semantics gives it.
    `t0` is where its window 0 opens, and `frame` is where all its windows lie. Both are None if no
    window ever opens. `elements` are those of the stream, and `t1` is the instant of the first of
    them; None where the stream has none.

    For each element, `times` has the instant at which it comes (WIN-6), `ids` its id, `ends` the
    last instant of its validity, and `keys` its key. `ends` is None where all elements are points
    in order, and `keys` is empty where the window is not partitioned. `is_in_order` says whether
    `times` ascend (MOD-5).
    """

    spec: Window
    t0: int | None
    frame: Frame | None
    t1: int | None
    elements: Sequence[Element]
    times: Sequence[int]
    ids: Sequence[int]
    ends: Sequence[int] | None
    keys: Sequence[tuple[str, ...]]
    is_in_order: bool = True


def view(
    spec: Window, elements: Sequence[Element], semantics: Semantics, registered: int | None = None
) -> WindowView:
    """Return a window of a query as it is under a semantics, over its stream's elements.
    `registered` is the instant of the query's registration, if that is known.
    """
    spec = with_slide(spec, semantics.slide)
    times = element_instants(spec, elements)
    t1 = next(iter(times), None)
    if semantics.late_for.keeps_arrival_order:
        t1 = min(times, default=None)
    is_in_order = not semantics.late_for.keeps_arrival_order or spec.kind is WindowKind.TUPLE
    if semantics.late_for.keeps_arrival_order:
        t1 = min(times, default=None)
    is_in_order = not semantics.late_for.keeps_arrival_order or spec.kind is WindowKind.TUPLE
    aligned = with_offset(semantics, times)
    t0 = not_earlier(spec, origin(spec, aligned, t1, registered), semantics.not_before)
    frame_of_view = None
    if t0 is not None:
        frame_of_view = frame(spec, semantics.closure, t0, semantics.partial)
    return WindowView(
        spec=spec,
        t0=t0,
        frame=frame_of_view,
        t1=t1,
        elements=elements,
        times=times,
        ids=ids(spec, elements),
        ends=ends(spec, elements, is_in_order),
        keys=keys(spec, elements),
        is_in_order=is_in_order,
    )


def ends(
    spec: Window, elements: Sequence[Element], is_in_order: bool = True
) -> Sequence[int] | None:
    """WIN-18: Return the last instant of each element's validity; None where all elements count as
    points, and their times ascend.
    """
    if spec.kind is WindowKind.TUPLE:
        return None
    if is_in_order and all(element.end in (None, element.app) for element in elements):
        return None
    return [valid(element)[1] for element in elements]


def keys(spec: Window, elements: Sequence[Element]) -> Sequence[tuple[str, ...]]:
    """WIN-15: Return each element's key, if the window is partitioned; else nothing."""
    if not spec.by:
        return ()
    return [key(spec, element, f"element {n}") for n, element in enumerate(elements, 1)]


def with_slide(spec: Window, choice: Slide) -> Window:
    """WIN-17: Return a window with the slide that it has under the semantics: the stated one, or 1
    if `choice` ignores the slides of `time` and `range`.
    """
    if spec.kind not in (WindowKind.TIME, WindowKind.RANGE):
        return spec
    match choice:
        case Slide.STATED:
            return spec
        case Slide.IGNORED:
            return replace(spec, slide=1)


def ids(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """WIN-16: Return each element's id: how many elements, or triples, the stream has up to and
    including it. Elements of 2, 1 and 3 triples have the ids 1, 2, 3, or 2, 3, 6.
    """
    match spec.unit:
        case Unit.ELEMENTS:
            return range(1, len(elements) + 1)
        case Unit.TRIPLES:
            return list(accumulate(len(element.graph) for element in elements))


def element_instants(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """WIN-6: Return each element's instant: its app; for a tuple-based window its id."""
    if spec.kind is WindowKind.TUPLE:
        return ids(spec, elements)
    return [element.app for element in elements]


def origin(
    spec: Window, semantics: Semantics, t1: int | None, registered: int | None = None
) -> int | None:
    """WIN-7: Return t0: as stated, by a policy (WIN-10), or by a published formula over ω, β and
    t1, the first instant of the window's stream. None where t0 depends on t1 and there is none.
    """
    t0 = semantics.t0
    if isinstance(t0, int):
        return t0
    if not is_formula(t0):
        return policy(spec, semantics, t1, registered)
    if spec.kind is WindowKind.TUPLE:
        return origin_of_ids(t0, spec)
    return origin_of_times(t0, spec, t1)


def origin_of_ids(formula: Formula, spec: Window) -> int:
    """WIN-7: Return t0 of a tuple-based window by a published formula. The first id is 1."""
    size = spec.span
    step = spec.step
    match formula:
        case T0.CORAL8:
            return 0
        case T0.ORACLE_CEP | T0.FLINK | T0.STORM:
            return step - size
        case T0.STREAM:
            return -size
        case T0.KAFKA_STREAMS:
            raise InvalidSemantics(
                f"t0={formula} has no formula for tuple windows; give an integer", rule="WIN-7"
            )


def origin_of_times(formula: Formula, spec: Window, t1: int | None) -> int | None:
    """WIN-7: Return t0 of a window that is not tuple-based by a published formula. None where the
    formula asks for t1 and there is none.
    """
    size = spec.span
    step = spec.step
    # -(-a // b) is a / b rounded up, the ⌈a / b⌉ of SPEC.md's table.
    match formula:
        case T0.FLINK:
            return step - size - 1
        case T0.STORM:
            return step - size
        case _ if t1 is None:
            return None
        case T0.CORAL8:
            return -((size - t1) // step) * step - 1
        case T0.ORACLE_CEP:
            return -(-t1 // step) * step - size
        case T0.STREAM:
            return t1 - size
        case T0.KAFKA_STREAMS:
            return max(0, t1 - size + step) // step * step - 1


def policy(
    spec: Window, semantics: Semantics, t1: int | None, registered: int | None
) -> int | None:
    """WIN-10: Return t0 by a policy: at the first element, ω before it (`first-reach`), at the
    query's registration, or aligned with the epoch and an offset. None where the policy asks for an
    instant that is not there.

    The offset is an integer (`with_offset`).
    """
    size = spec.span
    match semantics.t0:
        case T0.REGISTRATION:
            return registered
        case _ if t1 is None:
            return None
        case T0.FIRST:
            return t1
        case T0.EPOCH if size:
            return first_aligned(spec, semantics, t1)
        case T0.EPOCH_LATEST if size:
            return latest_aligned(spec, semantics, t1)
        case T0.REACH | T0.EPOCH | T0.EPOCH_LATEST:  # without a size ω counts as 0
            return t1 - size
        case T0.CORAL8 | T0.ORACLE_CEP | T0.STREAM | T0.FLINK | T0.STORM | T0.KAFKA_STREAMS:
            raise AssertionError(semantics.t0)
        case int():
            raise AssertionError(semantics.t0)


def first_aligned(spec: Window, semantics: Semantics, t1: int) -> int:
    """WIN-10: Return where the first of the aligned windows opens whose last instant is not before
    t1. With ω = 10, β = 5, offset 0 and windows [o, c), t1 = 12 gives 5: [5, 15) reaches 12.
    """
    offset = aligned_with(semantics)
    high = borders(semantics.closure)[1]
    # The window that opens at the offset has this last instant, 9 in the example. It moves by the
    # least number of slides, here 1, after which its last instant is 12 or later.
    last = offset + spec.span + high
    return offset - (last - t1) // spec.step * spec.step


def latest_aligned(spec: Window, semantics: Semantics, t1: int) -> int:
    """WIN-10: Return where the last of the aligned windows opens that holds t1; where none does,
    the first after t1. With ω = 10, β = 5, offset 0 and windows [o, c), t1 = 12 gives 10.
    """
    offset = aligned_with(semantics)
    low = borders(semantics.closure)[0]
    begun = offset + (t1 - low - offset) // spec.step * spec.step
    # the last window that has begun holds t1, unless it has ended and a gap follows
    return max(begun, first_aligned(spec, semantics, t1))


def aligned_with(semantics: Semantics) -> int:
    """Return the offset of a semantics that `with_offset` has returned."""
    assert isinstance(semantics.offset, int)
    return semantics.offset


def with_offset(semantics: Semantics, times: Sequence[int]) -> Semantics:
    """WIN-10: Return a semantics with an integer for an offset that elements give. `times` are
    their instants; without elements the semantics stays as it is.
    """
    if not times or not isinstance(semantics.offset, Offset):
        return semantics
    return semantics.with_values(offset=offset_of_elements(semantics.offset, times))


def offset_of_elements(offset: Offset, times: Sequence[int]) -> int:
    """WIN-10: Return the instant of the first or the last element, the midnight that is not after
    the first one, or the midnight that is not before the last one.
    """
    match offset:
        case Offset.FIRST:
            return min(times)
        case Offset.LAST:
            return max(times)
        case Offset.DAY:
            return min(times) // DAY * DAY
        case Offset.DAY_END:
            return -(-max(times) // DAY) * DAY


def not_earlier(spec: Window, t0: int | None, not_before: int | None) -> int | None:
    """WIN-21: Return t0, or, where it is before the instant `not_before`, the first opening of a
    window at that instant or later; the instant itself for kinds whose windows have no size.

    >>> not_earlier(Window("s", WindowKind.TIME, size=10, slide=4), -6, 0)  # -6, -2, 2, …
    2
    """
    if t0 is None or not_before is None or t0 >= not_before:
        return t0
    if not spec.span:
        return not_before
    return t0 - (t0 - not_before) // spec.step * spec.step


def longest_stay(spec: Window) -> int:
    """ENG-1: Return how long after an element's end a window can still hold it, at most: ω and the
    lag, or for a `range` with slide L, which is shown until the next one ends, L − 1 more; for a
    session its gap.
    """
    stay = spec.span + spec.lag
    if spec.kind is WindowKind.RANGE:
        stay += spec.step - 1
    if spec.kind is WindowKind.SESSION:
        stay += require(spec.size)
    return stay


def indices_of_keys(view: WindowView) -> dict[tuple[str, ...], list[int]]:
    """WIN-24: Return the indices of the elements of each key, in the order of their first ones."""
    found: dict[tuple[str, ...], list[int]] = {}
    for index, terms in enumerate(view.keys):
        found.setdefault(terms, []).append(index)
    return found


def view_of_key(of_all: WindowView, indices: Sequence[int], semantics: Semantics) -> WindowView:
    """WIN-24: Return the window of one key, over its elements. Where t0 is given, it is that of all
    keys.
    """
    elements = tuple(of_all.elements[index] for index in indices)
    found = view(replace(of_all.spec, by=()), elements, semantics)
    if isinstance(semantics.t0, int) or semantics.t0.needed_instant == "registered":
        return replace(found, t0=of_all.t0, frame=of_all.frame)
    return found


def views_of_keys(of_all: WindowView, semantics: Semantics) -> list[WindowView]:
    """WIN-24: Return the windows of each key; a window without a key as it is."""
    if not of_all.spec.is_keyed:
        return [of_all]
    return [view_of_key(of_all, each, semantics) for each in indices_of_keys(of_all).values()]


def last_instant_with(view: WindowView, instant: int) -> int | None:
    """ENG-1: Return the last instant of the last window that has begun at an instant; of a session
    that the instant belongs to. None where none has begun, and for a kind whose windows do not
    close with time.
    """
    frame = view.frame
    if view.spec.kind is WindowKind.SESSION:
        return instant + require(view.spec.size) - 1
    if frame is None or (frame.kind not in SHOWN_ENDED and frame.kind is not WindowKind.TIME):
        return None
    n = (instant - frame.first) // frame.slide
    if n < frame.least or (frame.floor is not None and instant < frame.floor):
        return None
    return frame.last + n * frame.slide


def closure_of(spec: Window, closure: Closure | None) -> Closure | None:
    """Return the closure of a window; None for a window without borders."""
    if spec.kind in BORDERED:
        return closure
    return None


def borders(closure: Closure | None) -> tuple[int, int]:
    """WIN-2: Return what a closure adds to o and to c to give a window's first and last instant.
    The borders o and c themselves are those of `borders_of_window`.

    >>> low, high = borders(Closure.RIGHT_OPEN)  # [0, 10) has the instants 0 to 9
    >>> 0 + low, 10 + high
    (0, 9)
    """
    match closure:
        case Closure.LEFT_OPEN:
            return 1, 0
        case Closure.RIGHT_OPEN:
            return 0, -1
        case Closure.CLOSED | None:
            return 0, 0
        case Closure.OPEN:
            return 1, -1


def frame(spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Frame:
    """WIN-3: Return where windows lie: window n opens at o = t0 + nβ and closes at c = o + ω, for n
    >= 0, and for some n < 0 where partial windows are reported (WIN-11).

    >>> window = Window("s", WindowKind.TIME, size=10, slide=5)
    >>> windows = frame(window, Closure.RIGHT_OPEN, 0, Partial.REPORTED)
    >>> windows.first, windows.last, windows.least
    (0, 9, -1)
    """
    low, high = borders(closure_of(spec, closure))
    first = t0 + low
    last = t0 + spec.span + high
    floor = None
    if partial.is_cut_at_t0:
        floor = first
    least_number = least(partial, min(spec.span, last - first + 1), spec.step)
    return Frame(first, last, spec.step, spec.kind, least_number, floor, spec.lag)


def least(partial: Partial, size: int, step: int) -> int:
    """WIN-11: Return the number of the first window: 0, or, where partial windows are reported,
    that of the first one that closes after t0. With ω = 10, β = 5 and t0 = 0 that is −1, the number
    of [−5, 5). `size` is ω, and ω − 1 over (), where a window must close after t0 + 1.
    """
    match partial:
        case Partial.SUPPRESSED:
            return 0
        case Partial.REPORTED | Partial.CLIPPED:
            return -max(0, (size - 1) // step)


def borders_of_window(view: WindowView, n: int | None) -> tuple[int, int] | None:
    """Return the borders (o, c) of window n, moved back by its lag (WIN-20). None if n is None, or
    if windows of this kind do not have two borders.
    """
    if n is None or view.spec.kind not in TWO_BORDERS:
        return None
    if view.t0 is None or view.frame is None:
        return None
    opens = view.t0 + n * view.frame.slide - view.frame.lag
    return opens, opens + view.spec.span


def active(frame: Frame, t: int) -> int:
    """WIN-4: Return the number of the active window at t: the window that started first of those
    that are open. It has the least n whose last instant is t or later.

    >>> active(Frame(first=0, last=9, slide=5), 9), active(Frame(first=0, last=9, slide=5), 10)
    (0, 1)
    """
    return max(frame.least, -((frame.last - t) // frame.slide))


def latest_ended(frame: Frame, t: int) -> int | None:
    """WIN-12: Return the number of the `range` or `now` window that is shown at t: the latest that
    has ended. It has the greatest n whose last instant is t or earlier. None before the first has
    ended.

    >>> shown = Frame(first=0, last=9, slide=5, kind=WindowKind.RANGE)
    >>> latest_ended(shown, 8), latest_ended(shown, 13), latest_ended(shown, 14)
    (None, 0, 1)
    """
    n = (t - frame.last) // frame.slide
    if n < frame.least:
        return None
    return n


def window_number(frame: Frame, t: int) -> int | None:
    """Return the number of the window that is active at t, or for a `range` or `now` shown at t.
    None where windows have no numbers, before s0, and before the first `range` or `now` is shown.
    """
    if t < s0(frame):
        return None
    match frame.kind:
        case WindowKind.TIME | WindowKind.TUPLE:
            return active(frame, t)
        case WindowKind.RANGE | WindowKind.NOW:
            return latest_ended(frame, t)
        case WindowKind.LANDMARK:
            return 0
        case _:
            return None


def s0(frame: Frame) -> int:
    """WIN-5: Return s0, the instant just before the first instant of window 0. Before s0 there is
    no scope.
    """
    return frame.first - 1


def scope(frame: Frame, t: int) -> tuple[int, int] | None:
    """WIN-5: Return the first and the last instant of the scope at t; None before s0. The scope
    runs from the active window's first instant to t: at 12 windows [0, 10), [5, 15), … have the
    scope (5, 12).

    WIN-12: A `range` or `now` has the scope of its whole window. WIN-13: A landmark window's scope
    begins with window 0's first instant, that of a window without borders at −2^63. WIN-20: A lag
    moves the scope back.
    """
    n = window_number(frame, t)
    is_shown_ended = frame.kind in SHOWN_ENDED
    if t < s0(frame) or (n is None and is_shown_ended):
        return None
    if n is None:
        return -TIME_BOUND, t
    first = frame.first + n * frame.slide
    if frame.floor is not None:
        first = max(first, frame.floor)
    last = t
    if is_shown_ended:
        last = frame.last + n * frame.slide
    return first - frame.lag, last - frame.lag


def window_start_at(frame: Frame, instant: int) -> int:
    """Return the first instant of a window's scope at an instant. Before the first scope begins,
    return the first instant that this scope will have. An unbounded window also holds what came
    before its first scope (WIN-13).
    """
    extent = scope(frame, instant)
    if extent is None and frame.kind is WindowKind.UNBOUNDED:
        return -TIME_BOUND
    if extent is None:
        return frame.first + frame.least * frame.slide - frame.lag
    return extent[0]


def first_needed(
    view: WindowView, instant: int, arrived: int, contents: Iterable[Content] = ()
) -> int:
    """Return the index of the first element of a window's stream that is still needed: one that is
    in one of `contents`, or may be in the content at `instant` or later. Where all elements that
    have arrived may be forgotten, it is `arrived`, their number.
    """
    frame = view.frame
    if frame is None:
        return 0
    if view.spec.kind in (WindowKind.ROWS, WindowKind.PARTITION):
        find = rows if view.spec.kind is WindowKind.ROWS else partition
        index = next(iter(find(view, arrived)), 0)
    elif view.ends is None:
        index = first_from(view.times, window_start_at(frame, instant))
    else:
        first_instant = window_start_at(frame, instant)
        kept = range(first_kept(view.ends), arrived)
        index = next((i for i in kept if require(view.ends)[i] >= first_instant), arrived)
    return min(index, arrived, *(held[0] for held in contents if held))


def content(view: WindowView, t: int, arrived: int) -> Content:
    """WIN-8: Return the content at (t, k): the indices of the elements in scope at t, among the
    first `arrived` elements of the stream. These are the ones that arrived before arrival k.
    """
    if view.frame is None:
        return range(0)
    extent = scope(view.frame, t)
    if extent is None:
        return range(0)
    if view.spec.kind is WindowKind.ROWS:
        return rows(view, arrived)
    if view.spec.kind is WindowKind.PARTITION:
        return partition(view, arrived)
    first, last = extent
    if view.ends is not None:
        return overlapping(view, first, last, arrived)
    # Elements are sorted by time (MOD-2), so those in scope follow one another.
    begin = first_from(view.times, first)
    end = first_after(view.times, last, arrived)
    return range(begin, end) or range(0)  # an empty content is always range(0)


def rows(view: WindowView, arrived: int) -> Content:
    """WIN-14: Return the latest N elements, or those of the latest N triples, as of the last
    refresh: the content changes only with each L-th element or triple.
    """
    if arrived == 0:
        return range(0)
    step = view.spec.step
    last_refresh = view.ids[arrived - 1] // step * step
    before_oldest = last_refresh - require(view.spec.size)
    first = first_after(view.ids, before_oldest)
    return range(first, first_after(view.ids, last_refresh, arrived)) or range(0)


def partition(view: WindowView, arrived: int) -> Content:
    """WIN-15: Return the indices of the latest N elements of each key."""
    size = require(view.spec.size)
    counts: Counter[tuple[str, ...]] = Counter()
    latest = []
    for i in reversed(range(first_kept(view.keys), arrived)):
        counts[view.keys[i]] += 1
        if counts[view.keys[i]] <= size:
            latest.append(i)
    return tuple(reversed(latest)) or range(0)


def key(spec: Window, element: Element, place: str) -> tuple[str, ...]:
    """WIN-15: Return an element's key: for a position the term that its one triple has there, for a
    predicate the one object that it has in the element's graph. Raises InvalidStream, with the
    place, for an element without one.
    """
    terms = []
    for part in spec.by:
        if part in POSITIONS:
            needed = "exactly one triple"
            candidates = [triple[POSITIONS.index(part)] for triple in element.graph]
        else:
            needed = "exactly one triple with this predicate"
            candidates = [o for _, p, o in element.graph if p == f"<{part}>"]
        if len(candidates) != 1:
            raise InvalidStream(
                f"the window is partitioned by {part}, so an element must have {needed}, got "
                f"{len(candidates)}",
                rule="WIN-15",
                place=place,
            )
        terms += candidates
    return tuple(terms)


def overlapping(view: WindowView, first: int, last: int, arrived: int) -> Content:
    """WIN-18: Return the indices of the elements that are valid at some instant from `first` to
    `last`.
    """
    if first > last:
        return range(0)
    ends = require(view.ends)
    if view.is_in_order:
        begun: Sequence[int] = range(first_kept(ends), first_after(view.times, last, arrived))
    else:
        begun = [i for i in range(arrived) if view.times[i] <= last]
    return tuple(i for i in begun if ends[i] >= first) or range(0)


def next_beginning(view: WindowView, last: int, arrived: int) -> int | None:
    """Return the first instant after `last` at which one of the first `arrived` elements begins to
    be valid; None if there is none.
    """
    if not view.is_in_order:
        return min((time for time in view.times[:arrived] if time > last), default=None)
    entering = first_after(view.times, last, arrived)
    if entering < arrived:
        return view.times[entering]
    return None


def next_change(view: WindowView, t: int, arrived: int) -> int | None:
    """WIN-9: Return the next instant after t at which the content may differ from that at t, or a
    scope may begin; None if there is no such instant. The first `arrived` elements are there.

    Time alone changes a content in three ways:

    1. An element that has arrived comes into scope.
    2. Another window becomes the active one (for `range` and `now`: the one shown). The elements
       that it does not hold leave. If it has not begun, since there is a gap between the windows,
       all elements leave.
    3. The active window begins, after s0 or a gap. Elements with intervals that began earlier and
       are still valid enter.
    """
    frame = view.frame
    if frame is None:
        return None
    if t < s0(frame) or frame.kind in (WindowKind.ROWS, WindowKind.PARTITION):
        return first_instant_with_scope(frame, t)
    extent = scope(frame, t)
    if extent is None:
        return first_instant_with_scope(frame, t)

    first, last = extent
    entering = next_beginning(view, last, arrived)
    leaving = earliest_end(view, first, last, arrived)
    changes = []
    if entering is not None:
        changes.append(enters_at(frame, entering + frame.lag))
    if leaving is not None and frame.kind not in (WindowKind.UNBOUNDED, WindowKind.LANDMARK):
        changes.append(leaves_at(frame, leaving + frame.lag))
    if view.ends is not None:
        if last < first:
            # Way 3: t is s0 or in a gap. The active window begins at `first`, with the elements
            # still valid.
            changes.append(first + frame.lag)
        elif leaving is not None and has_gaps(frame):
            # Way 2: with [0, 2), [5, 7), … an element valid from 1 to 6 is in both windows. It
            # leaves at 2, when [5, 7) becomes active and has not begun, and not only after the last
            # window that holds it.
            changes.append(frame.last + active(frame, t) * frame.slide + 1)
    return min(changes, default=None)


def earliest_end(view: WindowView, first: int, last: int, arrived: int) -> int | None:
    """Return the earliest end of the elements that are valid at some instant from `first` to
    `last`, among the first `arrived`; None if there are none.
    """
    if view.ends is None:
        oldest = first_from(view.times, first)
        if oldest < arrived and view.times[oldest] <= last:
            return view.times[oldest]
        return None
    return min((view.ends[i] for i in overlapping(view, first, last, arrived)), default=None)


def first_instant_with_scope(frame: Frame, t: int) -> int | None:
    """Return the first instant with a scope, if it is after t; else None. It is s0, or for a
    `range` or `now` the last instant of the first window (WIN-5, WIN-12).
    """
    first = s0(frame)
    if frame.kind in SHOWN_ENDED:
        first = frame.last + frame.least * frame.slide
    if first <= t:
        return None
    return first


def enters_at(frame: Frame, instant: int) -> int:
    """Return when an element at `instant`, which is after the scope, comes into scope: at that
    instant, or for a `range` or `now` at the last instant of the first window that holds it. A lag
    has been added to `instant`.

    >>> enters_at(Frame(first=0, last=9, slide=5), 12)
    12
    >>> enters_at(Frame(first=0, last=9, slide=5, kind=WindowKind.RANGE), 12)  # shown are 5 to 14
    14
    """
    if frame.kind in SHOWN_ENDED:
        return frame.last - (frame.last - instant) // frame.slide * frame.slide
    return instant


def leaves_at(frame: Frame, instant: int) -> int:
    """Return when an element that ends at `instant` leaves the scope: one instant after the last
    instant of the last window that holds it, or for a `range` or `now` at the last instant of the
    window after that. A lag has been added to `instant`.

    >>> leaves_at(Frame(first=0, last=9, slide=5), 7)  # the last window that holds 7 is 5 to 14
    15
    >>> leaves_at(Frame(first=0, last=9, slide=5, kind=WindowKind.RANGE), 7)  # until 10 to 19 ends
    19
    """
    newest = (instant - frame.first) // frame.slide
    if frame.kind in SHOWN_ENDED:
        return frame.last + (newest + 1) * frame.slide
    return frame.last + newest * frame.slide + 1


def has_gaps(frame: Frame) -> bool:
    """Return whether there are instants between time-based windows. An interval over such a gap
    leaves the content, and comes back with the next window.
    """
    return frame.kind is WindowKind.TIME and frame.slide > frame.last - frame.first + 1
