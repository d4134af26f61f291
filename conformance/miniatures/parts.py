"""Wrong evaluation in parts (ENG-7): each makes something of what was before a part, or of where it begins."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

from conformance.miniatures import Miniature
from refengine import incremental, slices
from refengine.engine import Plan
from refengine.query import Query
from refengine.semantics import Semantics
from refengine.slices import Part
from refengine.window import Frame

NOBODY = "none known"
right_depth = slices.depth
right_frames = slices.frames


def nothing_was_before(query: Query, semantics: Semantics) -> int:
    """A part begins like a stream."""
    return 0


def the_last_is_enough(query: Query, semantics: Semantics) -> int:
    """What was told before is told by the last evaluation alone."""
    return min(1, right_depth(query, semantics))


def any_evaluation_will_do(query: Query, planned: Plan, part: Part, max_reports: int) -> int:
    """Evaluations over windows of which a part was not given everything are as good as others."""
    if part.start is None:
        return 0
    found = [at for at in incremental.evaluations(planned, max_reports) if planned.arrivals[at.arrival].app < part.start]
    return max(0, len(found) - right_depth(query, planned.semantics))


def periods_from_anywhere(query: Query, semantics: Semantics, firsts: Mapping[str, int], since: int | None) -> list[Frame | None]:
    """Windows are counted from the last one that ended, and so are periods."""
    return right_frames(query, SimpleNamespace(**{**vars(semantics), "period": None}), firsts, since)


MINIATURES = (
    Miniature("ENG-7", "nothing was before", NOBODY, "refengine.slices:depth", nothing_was_before),
    Miniature("ENG-7", "the last is enough", NOBODY, "refengine.slices:depth", the_last_is_enough),
    Miniature("ENG-7", "any evaluation will do", NOBODY, "refengine.slices:passed", any_evaluation_will_do),
    Miniature("ENG-7", "periods from anywhere", NOBODY, "refengine.slices:frames", periods_from_anywhere),
)
