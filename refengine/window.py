"""§4 S2R: which elements a window holds. Instants are integers: application times, or tuple ids (WIN-6)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from refengine.errors import InvalidSemantics
from refengine.model import Element
from refengine.query import Window, WindowKind
from refengine.semantics import T0, Closure


class Frame(NamedTuple):
    """The windows n = 0, 1, … of one query: the first and the last instant of window 0, and the slide."""

    first: int
    last: int
    slide: int


def instants(window: Window, elements: Sequence[Element]) -> list[int]:
    """WIN-6: an element's instant is its t_app; for a tuple-based window its id, the position in the stream from 1."""
    match window.kind:
        case WindowKind.TIME:
            return [element.app for element in elements]
        case WindowKind.TUPLE:
            return list(range(1, len(elements) + 1))


def origin(window: Window, t0: int | T0, first_app: int | None) -> int | None:
    """WIN-7: t0 as given, or by a published formula over ω, β and t1, the first t_app; None if there is no t1."""
    if isinstance(t0, int):
        return t0
    size, slide, tuples = window.size, window.slide, window.kind is WindowKind.TUPLE
    if tuples:
        match t0:
            case T0.CORAL8:
                return 0
            case T0.ORACLE_CEP | T0.FLINK | T0.STORM:
                return slide - size
            case T0.STREAM:
                return -size
            case T0.KAFKA_STREAMS:
                raise InvalidSemantics("t0=kafka-streams has no formula for tuple windows; give an integer", rule="WIN-7")
    match t0:
        case T0.FLINK:
            return slide - size - 1
        case T0.STORM:
            return slide - size
        case _ if first_app is None:
            return None
        case T0.CORAL8:
            return -((size - first_app) // slide) * slide - 1
        case T0.ORACLE_CEP:
            return -(-first_app // slide) * slide - size
        case T0.STREAM:
            return first_app - size
        case T0.KAFKA_STREAMS:
            return max(0, first_app - size + slide) // slide * slide - 1


def borders(closure: Closure) -> tuple[int, int]:
    """WIN-2: what a closure adds to o and to c to give a window's first and last instant."""
    match closure:
        case Closure.LEFT_OPEN:
            return 1, 0
        case Closure.RIGHT_OPEN:
            return 0, -1
        case Closure.CLOSED:
            return 0, 0


def frame(window: Window, closure: Closure, t0: int) -> Frame:
    """WIN-3: window n opens at o = t0 + nβ and closes at c = o + ω, n >= 0."""
    low, high = borders(closure)
    return Frame(t0 + low, t0 + window.size + high, window.slide)


def active(frame: Frame, t: int) -> int:
    """WIN-4: the active window at t is the open one that started first: the least n >= 0 whose last instant is not before t."""
    return max(0, -((frame.last - t) // frame.slide))


def scope(frame: Frame, t: int) -> tuple[int, int] | None:
    """WIN-5: the scope at t runs from the active window's first instant to t; before the instant s0 there is none."""
    if t < start(frame):
        return None
    return frame.first + active(frame, t) * frame.slide, t


def start(frame: Frame) -> int:
    """WIN-5: s0, the instant just before window 0's first."""
    return frame.first - 1


def content(frame: Frame, times: Sequence[int], t: int, arrived: int) -> range:
    """WIN-8: the content at (t, k): the elements in scope at t among the first `arrived`, as a range of their indices."""
    extent = scope(frame, t)
    if extent is None:
        return range(0)
    first, last = extent
    return range(bisect_left(times, first, 0, arrived), bisect_right(times, last, 0, arrived)) or range(0)


def until(frame: Frame, times: Sequence[int], t: int, arrived: int) -> int | None:
    """WIN-9: the next instant after t at which the content can differ from that at t; None if it never does.

    Time alone changes a content in two ways: an arrived element comes into scope at its own instant, and the
    elements before the active window's first instant leave when the next window becomes the active one.
    """
    entering = bisect_right(times, t, 0, arrived)
    changes = [times[entering]] if entering < arrived else []
    held = content(frame, times, t, arrived)
    if held:
        newest_window_of_oldest = (times[held.start] - frame.first) // frame.slide
        changes.append(frame.last + newest_window_of_oldest * frame.slide + 1)
    return min(changes, default=None)
