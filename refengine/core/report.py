"""§6 Report: when a window is reported. The conditions on the instant give arithmetic progressions
of instants, as ranges; the other conditions look at the content.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import reduce
from math import gcd

from refengine.core.moving import instants
from refengine.core.semantics import Semantics
from refengine.core.values import (
    Anchor,
    ChangeBaseline,
    ChangeScope,
    Condition,
    MissedInstants,
    Trigger,
)
from refengine.core.window import Content, Frame, WindowView, borders
from refengine.model.elements import Triple
from refengine.model.errors import require

# progressions of instants, and what each window holds at all of them
Firing = tuple[list[range], tuple[Content, ...]]


def progression(first: int, step: int, span: range) -> range:
    """Return the members of the progression …, first − step, first, first + step, … that lie in a
    range.

    >>> list(progression(9, 5, range(0, 20)))
    [4, 9, 14, 19]
    """
    return instants(first + -((first - span.start) // step) * step, span.stop, step)


def closes(frame: Frame, span: range, own: int) -> range:
    """REP-1: Return the instants of a range at which window close holds: the last instants of
    windows that are before `own`, the arrival's own instant.

    >>> list(closes(Frame(first=0, last=9, slide=5), range(0, 30), own=19))
    [9, 14]
    """
    bounded = instants(max(span.start, frame.last + frame.least * frame.slide), min(span.stop, own))
    return progression(frame.last, frame.slide, bounded)


def differs(change: ChangeScope, view: WindowView, a: Content, b: Content) -> bool:
    """REP-2, REP-9: Return whether two contents differ, as sequences of elements or as graphs.
    Content change holds if the content differs from the one that it is compared with.
    """
    match change:
        case ChangeScope.ELEMENTS:
            return not has_same_elements(a, b)
        case ChangeScope.GRAPH:
            return not has_same_elements(a, b) and graph(view, a) != graph(view, b)


def has_same_elements(a: Content, b: Content) -> bool:
    """Return whether two contents are the same indices: range(2) and (0, 1) are."""
    return a == b or (type(a) is not type(b) and tuple(a) == tuple(b))


def graph(view: WindowView, content: Content) -> frozenset[Triple]:
    """Return the union of the graphs of a content's elements."""
    return frozenset().union(*(view.elements[i].graph for i in content))


def content_baseline(against: ChangeBaseline, reported: Content, before: Content) -> Content:
    """REP-8: Return the content that content change compares with: the one last reported, or the
    one at the instant tested before.
    """
    match against:
        case ChangeBaseline.LAST:
            return reported
        case ChangeBaseline.PREVIOUS:
            return before


def is_non_empty(content: Content) -> bool:
    """REP-3: Return whether the content of the stream holds an element. The answer over it does not
    matter.
    """
    return bool(content)


def anchor(semantics: Semantics, view: WindowView) -> int | None:
    """REP-11: Return the instant that a period counts from: an integer, the window's t0, or the
    first instant of its stream. None where that is not there.
    """
    match semantics.anchor:
        case Anchor.T0:
            return view.t0
        case Anchor.FIRST:
            return view.t1
        case int() | None as stated:
            return stated


def periodic_instants(semantics: Semantics, view: WindowView, span: range) -> range:
    """REP-4: Return the instants of a range at which periodic holds: those whose border instant is
    the anchor plus a multiple of the period. The border instant at t is t + 1 where windows are [o,
    c), so that a window's last instant counts as c, else t.
    """
    since = anchor(semantics, view)
    if since is None:
        return range(0)
    _, high = borders(semantics.closure)
    return progression(since + high, require(semantics.period), span)


def meet(a: range, b: range) -> range:
    """Return the common members of two ascending progressions over the same range.

    >>> list(meet(range(0, 40, 4), range(2, 40, 6)))
    [8, 20, 32]
    """
    common = gcd(a.step, b.step)
    distance = b.start - a.start
    if distance % common:
        return range(0)
    modulus = b.step // common
    turns = distance // common * pow(a.step // common, -1, modulus) % modulus
    first = a.start + turns * a.step
    span = instants(max(a.start, b.start), min(a.stop, b.stop))
    return progression(first, a.step * modulus, span)


def timely_instants(semantics: Semantics, view: WindowView, span: range, own: int) -> range:
    """REP-5: Return the instants of a range at which every condition on the instant holds: close,
    periodic, both or neither. `own` is the arrival's own instant.
    """
    at = span
    if Condition.CLOSE in semantics.report:
        if view.frame is None:
            return range(0)
        at = closes(view.frame, at, own)
    if Condition.PERIODIC in semantics.report:
        at = meet(at, periodic_instants(semantics, view, span))
    return at


def is_worthy(semantics: Semantics, view: WindowView, content: Content, base: Content) -> bool:
    """REP-6: Return whether every condition on the content holds: change, non-empty, both or
    neither. A window is reported iff all conditions that the semantics names hold.
    """
    named = semantics.report
    if Condition.CHANGE in named and not differs(semantics.change_scope, view, content, base):
        return False
    return Condition.NON_EMPTY not in named or is_non_empty(content)


def fires(trigger: Trigger, views: Sequence[WindowView], at: Sequence[range]) -> list[range]:
    """REP-12: Return the instants at which the query is reported, as progressions; none if there
    are none. `at` has for each window the instants at which its conditions hold.
    """
    return [instants for instants in _firing_instants(trigger, views, at) if instants]


def _firing_instants(
    trigger: Trigger, views: Sequence[WindowView], at: Sequence[range]
) -> Sequence[range]:
    match trigger:
        case Trigger.ALL:
            return [reduce(meet, at)]
        case Trigger.LEADING:
            return at[:1]
        case Trigger.EXPLICIT:
            return [span for view, span in zip(views, at, strict=True) if view.spec.triggers]
        case Trigger.ANY:
            return at


def choose_in_gap(gap: MissedInstants, firing: Iterable[Firing]) -> Iterable[Firing]:
    """REP-10: Return which of the instants between two arrivals are reported: all, or the last
    alone.

    With all of them, each report changes what content change compares the following ones with. With
    the last alone, each is compared with what was reported before all of them.

    `firing` has to be exhausted, also where only its first member is reported, and so has what is
    returned. `core.schedule` passes a generator: as it advances, it moves on the content of the
    instant before, with which content change may compare the next content (REP-8). If drawing
    stopped early, the next arrival would be compared with a content that is too old.
    """
    match gap:
        case MissedInstants.ALL:
            return firing
        case MissedInstants.LATEST:
            return [
                ([max((times[-1:] for times in at), key=max)], contents)
                for at, contents in deque(firing, 1)
            ]
