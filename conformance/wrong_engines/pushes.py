"""Wrong engines for elements that come one at a time (ENG-8): each takes something for known that
may still come otherwise.
"""

from __future__ import annotations

from conformance.wrong_engines.miniature import Right, wrong
from refengine.core.arrivals import Admission, GrowingView
from refengine.model.elements import TIME_BOUND


@wrong("ENG-8", replaces=Admission.complete_until, half="once no other can come before it")
def disorder_is_not_waited_for(right: Right, admission: Admission) -> int:
    """An element joins the arrivals at once, though others may come before it."""
    if admission.newest is None:
        return -TIME_BOUND
    return admission.newest.app


@wrong("ENG-8", replaces=GrowingView.is_known, half="each window's stream has one")
def windows_open_without_their_stream(right: Right, growing: GrowingView) -> bool:
    """A window of a stream that has not begun is taken never to open."""
    return True
