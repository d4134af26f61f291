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
    """Return the members of first, first + step, … (in both directions) that lie in span."""
    return range(first + -((first - span.start) // step) * step, span.stop, step)


def closes(frame: Frame, span: range, own: int) -> range:
    """REP-1: Return the instants at which window close holds: the last instants of windows that are
    before the arrival's own instant.
    """
    bounded = range(max(span.start, frame.last + frame.least * frame.slide), min(span.stop, own))
    return progression(frame.last, frame.slide, bounded)


def changed(change: Change, view: View, content: Content, base: Content) -> bool:
    """REP-2: Whether content change holds: the content differs from the one it is compared with, at
    first the empty one.
    """
    return differs(change, view, content, base)


def differs(change: Change, view: View, a: Content, b: Content) -> bool:
    """REP-9: Whether contents differ as sequences of elements, or as graphs."""
    match change:
        case Change.ELEMENTS:
            return not has_same_elements(a, b)
        case Change.GRAPH:
            return not has_same_elements(a, b) and graph(view, a) != graph(view, b)


def has_same_elements(a: Content, b: Content) -> bool:
    """Return whether two contents are the same indices: range(2) and (0, 1) are."""
    return a == b or (type(a) is not type(b) and tuple(a) == tuple(b))


def graph(view: View, content: Content) -> frozenset[Triple]:
    """Return the union of the graphs of a content's elements."""
    return frozenset().union(*(view.elements[i].graph for i in content))


def base(against: Against, reported: Content, before: Content) -> Content:
    """REP-8: Return what content change compares with: the content last reported, or that at the
    instant evaluated before.
    """
    match against:
        case Against.LAST:
            return reported
        case Against.PREVIOUS:
            return before


def non_empty(content: Content) -> bool:
    """REP-3: Whether the content (stream content, never the answer) holds an element."""
    return bool(content)


def anchor(semantics: Semantics, view: View) -> int | None:
    """REP-11: Return what a period counts from: an integer, the window's t0, or its stream's first
    instant (None without elements).
    """
    match semantics.anchor:
        case Anchor.T0:
            return view.t0
        case Anchor.FIRST:
            return next(iter(view.times), None)
        case integer:
            return integer


def beats(semantics: Semantics, view: View, span: range) -> range:
    """REP-4: Return the instants at which periodic holds: those whose border instant is the anchor
    plus a multiple of the period. Where windows are [o, c), t + 1 is the border instant at t, so
    that the last instant counts as c.
    """
    since = anchor(semantics, view)
    if since is None:
        return range(0)
    _, high = borders(semantics.closure)
    return progression(since + high, require(semantics.period), span)


def meet(a: range, b: range) -> range:
    """Return the common members of two ascending progressions over the same span."""
    common = gcd(a.step, b.step)
    distance = b.start - a.start
    if distance % common:
        return range(0)
    modulus = b.step // common
    turns = distance // common * pow(a.step // common, -1, modulus) % modulus
    first = a.start + turns * a.step
    span = range(max(a.start, b.start), min(a.stop, b.stop))
    return progression(first, a.step * modulus, span)


def timely(semantics: Semantics, view: View, span: range, own: int) -> range:
    """REP-5: Return the instants of span at which every condition on the instant holds: close,
    periodic, both or neither.
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
    """REP-6: Whether every condition on the content holds; a window is reported iff all named
    conditions hold.
    """
    named = semantics.report
    if Condition.CHANGE in named and not changed(semantics.change, view, content, base):
        return False
    return Condition.NON_EMPTY not in named or non_empty(content)


def fires(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """REP-12: Return the instants at which a query would be reported, as progressions, by those at
    which each window's conditions hold; none if there are none.
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
    """REP-10: Return, of the instants between two arrivals at which a query would be reported, all,
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
