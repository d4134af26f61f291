"""§6 When a window is reported. Conditions on the instant are arithmetic progressions; the others
look at the content.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import reduce
from math import gcd

from refengine.core.semantics import Against, Anchor, Change, Condition, Gap, Semantics, Trigger
from refengine.core.window import Content, Frame, View, borders
from refengine.model.elements import Triple
from refengine.model.errors import require

# progressions of instants, and what each window holds at all of them
Firing = tuple[list[range], tuple[Content, ...]]


def progression(first: int, step: int, span: range) -> range:
    """The members of first, first + step, … (in both directions) that lie in span."""
    return range(first + -((first - span.start) // step) * step, span.stop, step)


def closes(frame: Frame, span: range, own: int) -> range:
    """REP-1: window close holds at t iff t is the last instant of a window and t is before the
    arrival's own instant.
    """
    bounded = range(max(span.start, frame.last + frame.least * frame.slide), min(span.stop, own))
    return progression(frame.last, frame.slide, bounded)


def changed(change: Change, view: View, content: Content, base: Content) -> bool:
    """REP-2: content change holds iff the content differs from the one it is compared with,
    initially the empty one.
    """
    return differs(change, view, content, base)


def differs(change: Change, view: View, a: Content, b: Content) -> bool:
    """REP-9: contents differ as sequences of elements, or as graphs."""
    match change:
        case Change.ELEMENTS:
            return a != b
        case Change.GRAPH:
            return a != b and graph(view, a) != graph(view, b)


def graph(view: View, content: Content) -> frozenset[Triple]:
    """The union of the graphs of a content's elements."""
    return frozenset().union(*(view.elements[i].graph for i in content))


def base(against: Against, reported: Content, before: Content) -> Content:
    """REP-8: content change compares with the content last reported, or with that at the instant
    evaluated before.
    """
    match against:
        case Against.LAST:
            return reported
        case Against.PREVIOUS:
            return before


def non_empty(content: Content) -> bool:
    """REP-3: non-empty holds iff the content holds an element (stream
    content, never the answer).
    """
    return bool(content)


def anchor(semantics: Semantics, view: View) -> int | None:
    """REP-11: what a period counts from: an integer, the window's t0, or its stream's first instant
    (None without elements).
    """
    match semantics.anchor:
        case Anchor.T0:
            return view.t0
        case Anchor.FIRST:
            return view.times[0] if view.times else None
        case integer:
            return integer


def beats(semantics: Semantics, view: View, span: range) -> range:
    """REP-4: periodic holds at t iff the border instant at t is the anchor plus a multiple of the
    period; where windows are [o,c), t + 1 is the border instant, so that the last instant counts as
    c.
    """
    high, since = borders(semantics.closure)[1], anchor(semantics, view)
    return range(0) if since is None else progression(since + high, require(semantics.period), span)


def meet(a: range, b: range) -> range:
    """The common members of two ascending progressions over the same span."""
    common = gcd(a.step, b.step)
    if (b.start - a.start) % common:
        return range(0)
    step = a.step // common * b.step
    turns = (
        (b.start - a.start)
        // common
        * pow(a.step // common, -1, b.step // common)
        % (b.step // common)
    )
    first = a.start + turns * a.step
    return progression(first, step, range(max(a.start, b.start), min(a.stop, b.stop)))


def timely(semantics: Semantics, view: View, span: range, own: int) -> range:
    """REP-5: the instants of span at which every condition on the instant holds: close, periodic,
    both or neither.
    """
    at = span
    if Condition.CLOSE in semantics.report:
        if view.frame is None:
            return range(0)
        at = closes(view.frame, at, own)
    if Condition.PERIODIC in semantics.report:
        at = meet(at, beats(semantics, view, span))
    return at


def worthy(semantics: Semantics, view: View, content: Content, base: Content) -> bool:
    """REP-6: whether every condition on the content holds; a window is reported iff all named
    conditions hold.
    """
    return (
        Condition.CHANGE not in semantics.report or changed(semantics.change, view, content, base)
    ) and (Condition.NON_EMPTY not in semantics.report or non_empty(content))


def fires(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """REP-12: the instants at which a query would be reported, as progressions, by those at which
    each window's conditions hold; none if there are none.
    """
    match trigger:
        case Trigger.ALL:
            at = [reduce(meet, at)]
        case Trigger.LEADING:
            at = at[:1]
        case Trigger.EXPLICIT:
            at = [instants for view, instants in zip(views, at, strict=True) if view.spec.triggers]
        case Trigger.ANY:
            pass
    return [instants for instants in at if instants]


def of_a_gap(gap: Gap, firing: Iterable[Firing]) -> Iterable[Firing]:
    """REP-10: of the instants between two arrivals at which a query would be reported, all are,
    each changing what the following are compared with, or only the last, compared with what was
    reported before all of them.
    """
    match gap:
        case Gap.ALL:
            return firing
        case Gap.LATEST:
            return [
                ([max((instants[-1:] for instants in at), key=max)], contents)
                for at, contents in deque(firing, 1)
            ]
