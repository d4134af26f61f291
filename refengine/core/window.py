"""§4 S2R: which elements a window holds. Instants are integers:
application times, or ids (WIN-6).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from refengine.core.query import BORDERED, POSITIONS, Unit, Window, WindowKind
from refengine.core.semantics import POLICIES, T0, Closure, Partial, Semantics, Slide
from refengine.model.elements import TIME_BOUND, Element, valid
from refengine.model.errors import InvalidSemantics, InvalidStream, require

# indices of elements, ascending: a range where they follow one another, else a tuple
Content = Sequence[int]

# CQL's windows, of which one is shown once it has ended (WIN-12)
SHOWN_ENDED = frozenset({WindowKind.RANGE, WindowKind.NOW})


class Frame(NamedTuple):
    """The windows n = `least`, …, 0, 1, … of one kind: the first and the last instant of window 0,
    the slide, and the instant before which no scope starts (None: they start where they start).
    """

    first: int
    last: int
    slide: int
    kind: WindowKind = WindowKind.TIME
    least: int = 0
    floor: int | None = None


@dataclass(frozen=True)
class View:
    """One window of a query over its stream's elements: the instants at which these come (WIN-6),
    their ids, the last instants of their validity (None: they are points), and their keys if they
    are partitioned. Without a frame the window never opens.
    """

    spec: Window
    t0: int | None
    frame: Frame | None
    elements: Sequence[Element]
    times: Sequence[int]
    ids: Sequence[int]
    ends: Sequence[int] | None
    keys: Sequence[tuple[str, ...]]


def view(
    spec: Window, elements: Sequence[Element], semantics: Semantics, registered: int | None = None
) -> View:
    """Return a window of a query as it is under a semantics, over its stream's elements."""
    spec = slide(spec, semantics.slide)
    times = element_instants(spec, elements)
    t0 = origin(spec, semantics, next(iter(times), None), registered)
    placed = None
    if t0 is not None:
        placed = frame(spec, semantics.closure, t0, semantics.partial)
    return View(
        spec=spec,
        t0=t0,
        frame=placed,
        elements=elements,
        times=times,
        ids=ids(spec, elements),
        ends=ends(spec, elements),
        keys=keys(spec, elements),
    )


def ends(spec: Window, elements: Sequence[Element]) -> Sequence[int] | None:
    """WIN-18: Return the last instants of the elements' validity; None where they count as
    points.
    """
    if spec.kind is WindowKind.TUPLE:
        return None
    if all(element.end in (None, element.app) for element in elements):
        return None
    return [valid(element)[1] for element in elements]


def keys(spec: Window, elements: Sequence[Element]) -> Sequence[tuple[str, ...]]:
    """WIN-15: Return the elements' keys, if the window is partitioned."""
    if not spec.by:
        return ()
    return [key(spec, element, f"element {n}") for n, element in enumerate(elements, 1)]


def slide(spec: Window, choice: Slide) -> Window:
    """WIN-17: Return a window with the slide that it has: the one stated, or 1 where a time-based
    window moves with every instant.
    """
    if choice is Slide.IGNORED and spec.kind in (WindowKind.TIME, WindowKind.RANGE):
        return replace(spec, slide=1)
    return spec


def ids(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """WIN-16: Return each element's id: how many elements, or triples, the stream has up to and
    including it.
    """
    match spec.unit:
        case Unit.ELEMENTS:
            return range(1, len(elements) + 1)
        case Unit.TRIPLES:
            return list(accumulate(len(element.graph) for element in elements))


def element_instants(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """WIN-6: Return each element's instant: its t_app; for a tuple-based window its id."""
    if spec.kind is WindowKind.TUPLE:
        return ids(spec, elements)
    return [element.app for element in elements]


def origin(
    spec: Window, semantics: Semantics, first: int | None, registered: int | None = None
) -> int | None:
    """WIN-7: Return t0: as stated, by a policy (WIN-10), or by a published formula over ω, β and
    t1, the first instant; None where there is no t1.
    """
    t0 = semantics.t0
    if isinstance(t0, int):
        return t0
    if t0 in POLICIES:
        return policy(spec, semantics, first, registered)
    if spec.kind is WindowKind.TUPLE:
        return origin_of_ids(t0, spec)
    return origin_of_times(t0, spec, first)


def origin_of_ids(formula: T0, spec: Window) -> int:
    """WIN-7: Return t0 of a tuple-based window by a published formula, from the first id on."""
    size = spec.span
    step = spec.step
    match formula:
        case T0.CORAL8:
            return 0
        case T0.ORACLE_CEP | T0.FLINK | T0.STORM:
            return step - size
        case T0.STREAM:
            return -size
        case _:
            raise InvalidSemantics(
                f"t0={formula} has no formula for tuple windows; give an integer", rule="WIN-7"
            )


def origin_of_times(formula: T0, spec: Window, first: int | None) -> int | None:
    """WIN-7: Return t0 of another window by a published formula; None where it asks for t1 and
    there is none.
    """
    size = spec.span
    step = spec.step
    match formula:
        case T0.FLINK:
            return step - size - 1
        case T0.STORM:
            return step - size
        case _ if first is None:
            return None
        case T0.CORAL8:
            return -((size - first) // step) * step - 1
        case T0.ORACLE_CEP:
            return -(-first // step) * step - size
        case T0.STREAM:
            return first - size
        case T0.KAFKA_STREAMS:
            return max(0, first - size + step) // step * step - 1
        case _:
            raise AssertionError(formula)


def policy(
    spec: Window, semantics: Semantics, first: int | None, registered: int | None
) -> int | None:
    """WIN-10: Return t0 by the first element, by the query's registration, or aligned with the
    epoch and an offset; None where it asks for an instant that there is not.
    """
    size = spec.span
    step = spec.step
    match semantics.t0:
        case T0.REGISTRATION:
            return registered
        case _ if first is None:
            return None
        case T0.FIRST:
            return first
        case T0.EPOCH if size:
            offset = require(semantics.offset)
            last = offset + size + borders(semantics.closure)[1]
            return offset - (last - first) // step * step
        case T0.REACH | T0.EPOCH:
            return first - size
        case other:
            raise AssertionError(other)


def reach(spec: Window) -> int:
    """ENG-1: Return how long after an element's end a window can still hold it, at most."""
    if spec.kind is WindowKind.RANGE:
        return spec.span + spec.step - 1
    return spec.span


def closure_of(spec: Window, closure: Closure | None) -> Closure | None:
    """Return the closure of a window; None if it has no borders."""
    if spec.kind in BORDERED:
        return closure
    return None


def borders(closure: Closure | None) -> tuple[int, int]:
    """WIN-2: Return what a closure adds to o and c to give a window's first and last instant."""
    match closure:
        case Closure.LEFT_OPEN:
            return 1, 0
        case Closure.RIGHT_OPEN:
            return 0, -1
        case Closure.CLOSED | None:
            return 0, 0


def frame(spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Frame:
    """WIN-3: Return where windows stand: window n opens at o = t0 + nβ and closes at c = o + ω,
    n >= 0 (n < 0 for partial windows, WIN-11).
    """
    low, high = borders(closure_of(spec, closure))
    first = t0 + low
    last = t0 + spec.span + high
    number_of_first = least(partial, spec.span, spec.step)
    floor = None
    if partial is Partial.CLIPPED:
        floor = first
    return Frame(first, last, spec.step, spec.kind, number_of_first, floor)


def least(partial: Partial, size: int, step: int) -> int:
    """WIN-11: Return the number of the first window: 0, or that of the first partial one, which
    closes after t0.
    """
    match partial:
        case Partial.SUPPRESSED:
            return 0
        case Partial.REPORTED | Partial.CLIPPED:
            return -max(0, (size - 1) // step)


def opening(view: View, n: int | None) -> tuple[int, int] | None:
    """Return the borders (o, c) of window n; None where windows have none, or it has no scope."""
    if n is None or view.spec.kind not in BORDERED - {WindowKind.LANDMARK}:
        return None
    if view.t0 is None or view.frame is None:
        return None
    opens = view.t0 + n * view.frame.slide
    return opens, opens + view.spec.span


def active(frame: Frame, t: int) -> int:
    """WIN-4: Return the number of the active window at t, the open one that started first: the
    least n whose last instant is not before t.
    """
    return max(frame.least, -((frame.last - t) // frame.slide))


def current(frame: Frame, t: int) -> int | None:
    """WIN-12: Return the number of CQL's window at t, the latest that has ended: the greatest n
    whose last instant is not after t; None before the first has ended.
    """
    n = (t - frame.last) // frame.slide
    if n < frame.least:
        return None
    return n


def window_number(frame: Frame, t: int) -> int | None:
    """Return the number of the window whose content is looked at, at t; None where windows have no
    numbers, or none is there.
    """
    if t < s0(frame):
        return None
    match frame.kind:
        case WindowKind.TIME | WindowKind.TUPLE:
            return active(frame, t)
        case WindowKind.RANGE | WindowKind.NOW:
            return current(frame, t)
        case WindowKind.LANDMARK:
            return 0
        case _:
            return None


def s0(frame: Frame) -> int:
    """WIN-5: Return s0, the instant just before window 0's first."""
    return frame.first - 1


def scope(frame: Frame, t: int) -> tuple[int, int] | None:
    """WIN-5: Return the scope at t, its first and last instant: from the active window's first
    instant to t (WIN-12: for CQL's windows to the last one's end; WIN-13: for unbounded and
    landmark from ever, or window 0's first instant); None before s0.
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
    if is_shown_ended:
        return first, frame.last + n * frame.slide
    return first, t


def content(view: View, t: int, arrived: int) -> Content:
    """WIN-8: Return the content at (t, k): the elements in scope at t among the first `arrived`, as
    their indices.
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
    oldest = bisect_left(view.times, first)
    newest = bisect_right(view.times, last, 0, arrived)
    return range(oldest, newest) or range(0)


def rows(view: View, arrived: int) -> Content:
    """WIN-14: Return the latest N elements, or those of the latest N triples, looked up at every
    L-th.
    """
    if arrived == 0:
        return range(0)
    step = view.spec.step
    newest = view.ids[arrived - 1] // step * step
    before_oldest = newest - require(view.spec.size)
    first = bisect_right(view.ids, before_oldest)
    return range(first, bisect_right(view.ids, newest, 0, arrived)) or range(0)


def partition(view: View, arrived: int) -> Content:
    """WIN-15: Return of each key the latest N elements."""
    size = require(view.spec.size)
    counts: Counter[tuple[str, ...]] = Counter()
    latest = []
    for i in reversed(range(arrived)):
        counts[view.keys[i]] += 1
        if counts[view.keys[i]] <= size:
            latest.append(i)
    return tuple(reversed(latest)) or range(0)


def key(spec: Window, element: Element, place: str) -> tuple[str, ...]:
    """WIN-15: Return an element's key: what its one triple has at a position, or the one object of
    a predicate in its graph. Raises InvalidStream, with the place, for an element without one.
    """
    terms = []
    for part in spec.by:
        if part in POSITIONS:
            needed = f"one triple, to have one {part}"
            candidates = [triple[POSITIONS.index(part)] for triple in element.graph]
        else:
            needed = f"one object of {part}"
            candidates = [o for _, p, o in element.graph if p == f"<{part}>"]
        if len(candidates) != 1:
            raise InvalidStream(
                f"an element needs {needed}, as the partition's key; it has {len(candidates)}",
                rule="WIN-15",
                place=place,
            )
        terms += candidates
    return tuple(terms)


def overlapping(view: View, first: int, last: int, arrived: int) -> Content:
    """WIN-18: Return the elements that are valid at some instant from `first` to `last`."""
    if first > last:
        return range(0)
    begun = bisect_right(view.times, last, 0, arrived)
    ends = require(view.ends)
    return tuple(i for i in range(begun) if ends[i] >= first) or range(0)


def until(view: View, t: int, arrived: int) -> int | None:
    """WIN-9: Return the next instant after t at which the content, or whether there is a scope, can
    differ from that at t; None if it never does. Time alone changes a content in two ways: an
    arrived element comes into scope, and the elements that end before the window's first instant
    leave when the next window takes its place.
    """
    frame = view.frame
    if frame is None:
        return None
    if t < s0(frame) or frame.kind in (WindowKind.ROWS, WindowKind.PARTITION):
        return first_scope(frame, t)
    extent = scope(frame, t)
    if extent is None:
        return first_scope(frame, t)

    first, last = extent
    entering = bisect_right(view.times, last, 0, arrived)
    leaving = earliest_end(view, first, last, entering)
    changes = []
    if entering < arrived:
        changes.append(enters_at(frame, view.times[entering]))
    if leaving is not None and frame.kind not in (WindowKind.UNBOUNDED, WindowKind.LANDMARK):
        changes.append(leaves_at(frame, leaving))
    if view.ends is not None:
        if last < first:
            changes.append(first)  # the window has not begun
        elif leaving is not None and is_hopping(frame):
            # what is valid in two windows is in no gap between them
            changes.append(frame.last + active(frame, t) * frame.slide + 1)
    return min(changes, default=None)


def earliest_end(view: View, first: int, last: int, begun: int) -> int | None:
    """Return the earliest end of those elements among the first `begun` that are valid at some
    instant from `first` to `last`; None if there are none.
    """
    if view.ends is None:
        oldest = bisect_left(view.times, first)
        if oldest < begun:
            return view.times[oldest]
        return None
    return min((view.ends[i] for i in overlapping(view, first, last, begun)), default=None)


def first_scope(frame: Frame, t: int) -> int | None:
    """Return the first instant with a scope, if it is after t: s0, or the last instant of the first
    of CQL's windows (WIN-5, WIN-12).
    """
    first = s0(frame)
    if frame.kind in SHOWN_ENDED:
        first = frame.last + frame.least * frame.slide
    if first <= t:
        return None
    return first


def enters_at(frame: Frame, instant: int) -> int:
    """Return when an instant that is after the scope comes into one: at once, or, of CQL's windows,
    with the end of the first that holds it.
    """
    if frame.kind in SHOWN_ENDED:
        return frame.last - (frame.last - instant) // frame.slide * frame.slide
    return instant


def leaves_at(frame: Frame, instant: int) -> int:
    """Return when an instant in the scope is in none any more: after the last window that holds it
    has ended, or, of CQL's windows, with the end of the next.
    """
    newest = (instant - frame.first) // frame.slide
    if frame.kind in SHOWN_ENDED:
        return frame.last + (newest + 1) * frame.slide
    return frame.last + newest * frame.slide + 1


def is_hopping(frame: Frame) -> bool:
    """Whether there are instants between time-based windows, so that what an interval spans leaves
    and comes back.
    """
    return frame.kind is WindowKind.TIME and frame.slide > frame.last - frame.first + 1
