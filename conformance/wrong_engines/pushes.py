"""Wrong evaluation of elements that come one at a time (ENG-8): each takes something for known that
may still come otherwise.
"""

from __future__ import annotations

from conformance.wrong_engines import Miniature
from refengine.core.arrivals import Admission, GrowingView
from refengine.model.elements import TIME_BOUND

NOBODY = "none known"


def disorder_is_not_waited_for(admission: Admission) -> int:
    """An element joins the arrivals at once, though others may come before it."""
    if admission.newest is None:
        return -TIME_BOUND
    return admission.newest.app


def windows_open_without_their_stream(growing: GrowingView) -> bool:
    """A window of a stream that has not begun is taken never to open."""
    return True


MINIATURES = (
    Miniature(
        "ENG-8",
        "disorder is not waited for",
        NOBODY,
        "refengine.core.arrivals:Admission.complete_until",
        disorder_is_not_waited_for,
    ),
    Miniature(
        "ENG-8",
        "windows open without their stream",
        NOBODY,
        "refengine.core.arrivals:GrowingView.is_known",
        windows_open_without_their_stream,
    ),
)
