"""§4 Start-up: which fields say that a `range` window is not shown yet, in words for a user."""

from __future__ import annotations

from collections.abc import Iterator

from refengine.core.engine import Plan
from refengine.core.query import WindowKind
from refengine.core.semantics import Partial, Semantics
from refengine.core.window import WindowView
from refengine.model.errors import require


def first_shown(view: WindowView) -> int | None:
    """WIN-12: Return the first instant at which a `range` is shown, the last of its first window;
    None for other kinds, and for a window that never opens.
    """
    frame = view.frame
    if frame is None or view.spec.kind is not WindowKind.RANGE:
        return None
    return frame.last + frame.least * frame.slide


def reason(view: WindowView, semantics: Semantics) -> str | None:
    """Return why a `range` is not shown yet, with the fields that say so; None for other kinds."""
    first = first_shown(view)
    if first is None:
        return None
    fields = f"t0={semantics.t0}"
    if semantics.partial is Partial.SUPPRESSED:
        fields += f" and partial={semantics.partial}"
    return (
        f"nothing is shown before {first}, where the first window of the range on "
        f"{view.spec.stream!r} ends, by {fields}"
    )


def notes_on_hidden_ranges(planned: Plan) -> Iterator[str]:
    """WIN-12: Yield a note for each `range` that is not shown yet when its first element comes:
    which fields say so, and with which t0 it would be shown.
    """
    for view in planned.views:
        first = first_shown(view)
        if first is None or not view.elements:
            continue
        enters = view.elements[0].app + view.spec.lag
        if enters >= first:
            continue
        slide = require(view.frame).slide
        slides = -((enters - first) // slide)
        forms = f"t0={require(view.t0) - slides * slide}"
        if planned.semantics.partial is Partial.SUPPRESSED:
            forms += " or partial=reported"
        why = reason(view, planned.semantics)
        yield f"{why}; write {forms} to see what comes before (WIN-12)"
