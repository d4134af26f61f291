"""Wrong engines that a diagnosis looks for, and that no case needs to catch (`habit`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.wrong_engines.evaluation import EVERY_INSTANT, Merged
from conformance.wrong_engines.wrong_engine import Right, habit
from refengine.core import plan, window
from refengine.core.window import Content, WindowView
from refengine.model.elements import Element


@habit("WIN-8", replaces=plan.merge_streams)
def an_element_waits_for_the_next(right: Right, streams: Mapping[str, Sequence[Element]]) -> Merged:
    """Keep an element out of all windows until the next element of any stream has come."""
    arrivals, counts = right(streams)
    return arrivals, {name: [0, *counted[:-1]] for name, counted in counts.items()}


@habit("WIN-2", replaces=window.content, besides=EVERY_INSTANT)
def elements_on_any_border_are_lost(
    right: Right,
    view: WindowView,
    t: int,
    arrived: int,
) -> Content:
    """Put an element that is on a border of any window into no window at all."""
    content: Content = right(view, t, arrived)
    if view.t0 is None or view.frame is None:
        return content
    inside = [k for k in content if not _is_on_a_border(view, view.times[k])]
    # a content without a gap is a range
    if inside and inside[-1] - inside[0] == len(inside) - 1:
        return range(inside[0], inside[-1] + 1)
    return tuple(inside) or range(0)


def _is_on_a_border(view: WindowView, instant: int) -> bool:
    """Whether an instant is a border of window 0 or of any other."""
    assert view.t0 is not None
    assert view.frame is not None
    opening = instant - view.t0
    return 0 in (opening % view.frame.slide, (opening - view.spec.span) % view.frame.slide)
