"""Wrong evaluation in parts (ENG-7): each makes something of what was before a part, or of where it
begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from conformance.wrong_engines import Miniature
from refengine import incremental
from refengine.core.engine import Plan
from refengine.core.query import Query
from refengine.core.semantics import Semantics
from refengine.core.window import Frame
from refengine.incremental import parts
from refengine.incremental.parts import Part

NOBODY = "none known"
right_depth = parts.depth
right_frames = parts.frames


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
    found = [
        at
        for at in incremental.evaluations(planned, max_reports)
        if planned.arrivals[at.arrival].app < part.start
    ]
    return max(0, len(found) - right_depth(query, planned.semantics))


def periods_from_anywhere(
    query: Query, semantics: Semantics, firsts: Mapping[str, int], since: int | None
) -> list[Frame | None]:
    """Windows are counted from the last one that ended, and so are periods."""
    without: Any = SimpleNamespace(**{**vars(semantics), "period": None})
    return right_frames(query, without, firsts, since)


MINIATURES = (
    Miniature(
        "ENG-7",
        "nothing was before",
        NOBODY,
        "refengine.incremental.parts:depth",
        nothing_was_before,
    ),
    Miniature(
        "ENG-7",
        "the last is enough",
        NOBODY,
        "refengine.incremental.parts:depth",
        the_last_is_enough,
    ),
    Miniature(
        "ENG-7",
        "any evaluation will do",
        NOBODY,
        "refengine.incremental.parts:passed",
        any_evaluation_will_do,
    ),
    Miniature(
        "ENG-7",
        "periods from anywhere",
        NOBODY,
        "refengine.incremental.parts:frames",
        periods_from_anywhere,
    ),
)
