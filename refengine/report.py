"""§6 When a window is reported. Conditions on the instant are arithmetic progressions; the others look at the content."""

from __future__ import annotations

from math import gcd

from refengine.semantics import Condition, Semantics
from refengine.window import Frame, borders


def progression(first: int, step: int, span: range) -> range:
    """The members of first, first + step, … (in both directions) that lie in span."""
    return range(first + -((first - span.start) // step) * step, span.stop, step)


def closes(frame: Frame, span: range, own: int) -> range:
    """REP-1: window close holds at t iff t is the last instant of a window n >= 0 and t is before the arrival's own instant."""
    bounded = range(max(span.start, frame.last), min(span.stop, own))
    return progression(frame.last, frame.slide, bounded)


def changed(content: range, reported: range) -> bool:
    """REP-2: content change holds iff the content differs from the one last reported, initially the empty one."""
    return content != reported


def non_empty(content: range) -> bool:
    """REP-3: non-empty holds iff the content holds an element (stream content, never the answer)."""
    return bool(content)


def beats(semantics: Semantics, span: range) -> range:
    """REP-4: periodic holds at t iff the border instant at t is the anchor plus a multiple of the period;
    where windows are [o,c), t + 1 is the border instant, so that the last instant counts as c."""
    high = borders(semantics.closure)[1]
    return progression(semantics.anchor + high, semantics.period, span)


def meet(a: range, b: range) -> range:
    """The common members of two ascending progressions over the same span."""
    if not a or not b:
        return range(0)
    common = gcd(a.step, b.step)
    if (b.start - a.start) % common:
        return range(0)
    step = a.step // common * b.step
    turns = (b.start - a.start) // common * pow(a.step // common, -1, b.step // common) % (b.step // common)
    first = a.start + turns * a.step
    return progression(first, step, range(max(a.start, b.start), min(a.stop, b.stop)))


def timely(semantics: Semantics, frame: Frame, span: range, own: int) -> range:
    """REP-5: the instants of span at which every condition on the instant holds: close, periodic, both or neither."""
    at = span
    if Condition.CLOSE in semantics.report:
        at = closes(frame, at, own)
    if Condition.PERIODIC in semantics.report:
        at = meet(at, beats(semantics, span))
    return at


def worthy(semantics: Semantics, content: range, reported: range) -> bool:
    """REP-6: whether every condition on the content holds; a window is reported iff all named conditions hold."""
    return (Condition.CHANGE not in semantics.report or changed(content, reported)) and (
        Condition.NON_EMPTY not in semantics.report or non_empty(content)
    )
