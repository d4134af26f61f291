"""A wrong engine for elements that come one at a time (ENG-8)."""

from __future__ import annotations

from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core.arrivals import Admission, GrowingView
from refengine.model.elements import TIME_BOUND


def _is_always_known(growing: GrowingView) -> bool:
    return True


@wrong(
    "ENG-8",
    replaces=Admission.complete_until,
    besides={GrowingView.is_known: _is_always_known},
    half=("once no other can come before it", "each window's stream has one"),
)
def elements_join_at_once(right: Right, admission: Admission) -> int:
    """Add an element to the arrivals at once, though others may come before it, or say where the
    windows of their stream open.
    """
    if admission.newest is None:
        return -TIME_BOUND
    return admission.newest.app
