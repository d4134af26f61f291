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
    """A window of a query under a semantics."""
    spec = slide(spec, semantics.slide)
    times = instants(spec, elements)
    t0 = origin(spec, semantics, times[0] if times else None, registered)
    points = (
        all(element.end in (None, element.app) for element in elements)
        or spec.kind is WindowKind.TUPLE
    )
    return View(
        spec,
        t0,
        None if t0 is None else frame(spec, semantics.closure, t0, semantics.partial),
        elements,
        times,
        ids(spec, elements),
        None if points else [valid(element)[1] for element in elements],
        [key(spec, element, f"element {n}") for n, element in enumerate(elements, 1)]
        if spec.by
        else (),
    )


def slide(spec: Window, choice: Slide) -> Window:
    """WIN-17: a time-based window moves with its stated slide, or with every instant."""
    ignored = choice is Slide.IGNORED and spec.kind in (WindowKind.TIME, WindowKind.RANGE)
    return replace(spec, slide=1) if ignored else spec


def ids(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """WIN-16: an element's id counts the elements, or the triples, of the stream up to and
    including it.
    """
    match spec.unit:
        case Unit.ELEMENTS:
            return range(1, len(elements) + 1)
        case Unit.TRIPLES:
            return list(accumulate(len(element.graph) for element in elements))


def instants(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """WIN-6: an element's instant is its t_app; for a tuple-based window its id."""
    return (
        ids(spec, elements)
        if spec.kind is WindowKind.TUPLE
        else [element.app for element in elements]
    )


def origin(
    spec: Window, semantics: Semantics, first: int | None, registered: int | None = None
) -> int | None:
    """WIN-7: t0 as given, by a policy (WIN-10), or by a published formula over ω, β and t1, the
    first instant; None where there is no t1.
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
    """WIN-7: t0 of a tuple-based window by a published formula, which counts from the first id."""
    size, step = spec.span, spec.step
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
    """WIN-7: t0 of another window by a published formula; None where it asks for t1 and there is
    none.
    """
    size, step = spec.span, spec.step
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
    """WIN-10: t0 by the first element, by the query's registration, or aligned with the epoch and
    an offset.
    """
    size, step = spec.span, spec.step
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
    """ENG-1: how long after an element's end a window can still hold it, at most."""
    return spec.span + (spec.step - 1 if spec.kind is WindowKind.RANGE else 0)


def closure_of(spec: Window, closure: Closure | None) -> Closure | None:
    """The closure, for a window with borders."""
    return closure if spec.kind in BORDERED else None


def borders(closure: Closure | None) -> tuple[int, int]:
    """WIN-2: what a closure adds to o and to c to give a window's first and last instant."""
    match closure:
        case Closure.LEFT_OPEN:
            return 1, 0
        case Closure.RIGHT_OPEN:
            return 0, -1
        case Closure.CLOSED | None:
            return 0, 0


def frame(spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Frame:
    """WIN-3: window n opens at o = t0 + nβ and closes at c = o + ω, n >= 0 (n < 0 for partial
    windows, WIN-11).
    """
    low, high = borders(closure_of(spec, closure))
    floor = t0 + low if partial is Partial.CLIPPED else None
    return Frame(
        t0 + low,
        t0 + spec.span + high,
        spec.step,
        spec.kind,
        least(partial, spec.span, spec.step),
        floor,
    )


def least(partial: Partial, size: int, step: int) -> int:
    """WIN-11: the number of the first window: 0, or that of the first partial one, which closes
    after t0.
    """
    match partial:
        case Partial.SUPPRESSED:
            return 0
        case Partial.REPORTED | Partial.CLIPPED:
            return -max(0, (size - 1) // step)


def opening(view: View, n: int | None) -> tuple[int, int] | None:
    """The borders (o, c) of window n; None where windows have none, or it has no scope."""
    if n is None or view.spec.kind not in BORDERED - {WindowKind.LANDMARK}:
        return None
    if view.t0 is None or view.frame is None:
        return None
    opens = view.t0 + n * view.frame.slide
    return opens, opens + view.spec.span


def active(frame: Frame, t: int) -> int:
    """WIN-4: the active window at t is the open one that started first: the least n whose last
    instant is not before t.
    """
    return max(frame.least, -((frame.last - t) // frame.slide))


def current(frame: Frame, t: int) -> int | None:
    """WIN-12: CQL's window at t is the latest that has ended: the greatest n whose last instant is
    not after t.
    """
    n = (t - frame.last) // frame.slide
    return n if n >= frame.least else None


def number(frame: Frame, t: int) -> int | None:
    """The number of the window whose content is looked at, at t; None where windows have no
    numbers, or none is there.
    """
    if t < start(frame):
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


def start(frame: Frame) -> int:
    """WIN-5: s0, the instant just before window 0's first."""
    return frame.first - 1


def scope(frame: Frame, t: int) -> tuple[int, int] | None:
    """WIN-5: the scope at t runs from the active window's first instant to t (WIN-12: for CQL's
    windows to the last one's end; WIN-13: for unbounded and landmark from ever, or window 0's first
    instant); before the instant s0 there is none.
    """
    n = number(frame, t)
    if t < start(frame) or (n is None and frame.kind in (WindowKind.RANGE, WindowKind.NOW)):
        return None
    if n is None:
        return -TIME_BOUND, t
    first, last = frame.first + n * frame.slide, frame.last + n * frame.slide
    first = first if frame.floor is None else max(first, frame.floor)
    return first, last if frame.kind in (WindowKind.RANGE, WindowKind.NOW) else t


def content(view: View, t: int, arrived: int) -> Content:
    """WIN-8: the content at (t, k): the elements in scope at t among the first `arrived`, as their
    indices.
    """
    extent = scope(view.frame, t) if view.frame else None
    if extent is None:
        return range(0)
    if view.spec.kind is WindowKind.ROWS:
        return rows(view, arrived)
    if view.spec.kind is WindowKind.PARTITION:
        return partition(view, arrived)
    first, last = extent
    if view.ends is not None:
        return overlapping(view, first, last, arrived)
    return range(
        bisect_left(view.times, first), bisect_right(view.times, last, 0, arrived)
    ) or range(0)


def rows(view: View, arrived: int) -> Content:
    """WIN-14: the latest N elements, or triples, looked up at every L-th."""
    size, step = require(view.spec.size), view.spec.step
    newest = view.ids[arrived - 1] // step * step if arrived else 0
    return range(
        bisect_right(view.ids, newest - size), bisect_right(view.ids, newest, 0, arrived)
    ) or range(0)


def partition(view: View, arrived: int) -> Content:
    """WIN-15: of each key the latest N elements."""
    seen: Counter[tuple[str, ...]] = Counter()
    kept = []
    size = require(view.spec.size)
    for i in reversed(range(arrived)):
        seen[view.keys[i]] += 1
        if seen[view.keys[i]] <= size:
            kept.append(i)
    return tuple(reversed(kept)) or range(0)


def key(spec: Window, element: Element, place: str) -> tuple[str, ...]:
    """WIN-15: an element's key: what its one triple has at a position, or the one object of a
    predicate in its graph.
    """
    found = []
    for part in spec.by:
        if part in POSITIONS:
            terms = [triple[POSITIONS.index(part)] for triple in element.graph]
        else:
            terms = [o for _, p, o in element.graph if p == f"<{part}>"]
        if len(terms) != 1:
            what = (
                f"one triple, to have one {part}" if part in POSITIONS else f"one object of {part}"
            )
            raise InvalidStream(
                f"an element needs {what}, as the partition's key; it has {len(terms)}",
                rule="WIN-15",
                place=place,
            )
        found += terms
    return tuple(found)


def overlapping(view: View, first: int, last: int, arrived: int) -> Content:
    """WIN-18: the elements that are valid at some instant from `first` to `last`."""
    begun = bisect_right(view.times, last, 0, arrived) if first <= last else 0
    ends = require(view.ends)
    return tuple(i for i in range(begun) if ends[i] >= first) or range(0)


def until(view: View, t: int, arrived: int) -> int | None:
    """WIN-9: the next instant after t at which the content, or whether there is a scope, can differ
    from that at t; None if it never does. Time alone changes a content in two ways: an arrived
    element comes into scope, and the elements that end before the window's first instant leave when
    the next window takes its place.
    """
    frame, kind = view.frame, view.spec.kind
    if frame is None or kind in (WindowKind.ROWS, WindowKind.PARTITION):
        return start(frame) if frame and t < start(frame) else None
    extent = scope(frame, t)
    # windows are shown from their last instant on, not up to it
    ended = kind in (WindowKind.RANGE, WindowKind.NOW)
    if extent is None:
        return frame.last + frame.least * frame.slide if ended else start(frame)
    first, last = extent
    entering = bisect_right(view.times, last, 0, arrived)
    changes = []
    if entering < arrived:
        at = view.times[entering]
        changes.append(frame.last - (frame.last - at) // frame.slide * frame.slide if ended else at)
    if view.ends is None:
        oldest = bisect_left(view.times, first)
        leaving = view.times[oldest] if oldest < entering else None
    else:
        leaving = min((view.ends[i] for i in overlapping(view, first, last, arrived)), default=None)
        if last < first:  # not begun
            changes.append(first)
        elif (
            kind is WindowKind.TIME
            and leaving is not None
            and frame.slide > frame.last - frame.first + 1
        ):
            # what is valid in two windows is in no gap between them
            changes.append(frame.last + active(frame, t) * frame.slide + 1)
    if leaving is not None and kind not in (WindowKind.UNBOUNDED, WindowKind.LANDMARK):
        newest_window = (leaving - frame.first) // frame.slide
        changes.append(frame.last + newest_window * frame.slide + (frame.slide if ended else 1))
    return min(changes, default=None)
