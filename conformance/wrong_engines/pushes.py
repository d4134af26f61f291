"""Wrong engines for elements that come one at a time (ENG-8)."""

from __future__ import annotations

from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core.arrivals import Admission, GrowingView
from refengine.model.elements import TIME_BOUND


@wrong("ENG-8", replaces=Admission.complete_until, half="once no other can come before it")
def elements_join_at_once(right: Right, admission: Admission) -> int:
    """Uses an element before those that come before it."""
    if admission.newest is None:
        return -TIME_BOUND
    return admission.newest.app


@wrong("ENG-8", replaces=GrowingView.is_known, half="each window's stream has one")
def windows_wait_for_no_stream(right: Right, growing: GrowingView) -> bool:
    """Takes elements in before it is known where all windows open."""
    return True
