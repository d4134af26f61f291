"""What was published of RMLStreamer's dynamic window and of a tumbling window of 2 s beside it."""

from __future__ import annotations

from typing import NamedTuple


class PublishedFigures(NamedTuple):
    """The figures of a window on a workload: intersection over union, and, where it is known, the
    median latency in ms by the authors' own gauge, on the wall clock.
    """

    intersection_over_union: float
    latency: int | None = None


# by workload and window; the latencies are not said to be of one workload alone
PUBLISHED = {
    ("constant", "rmlstreamer"): PublishedFigures(1.0),
    ("constant", "tumbling"): PublishedFigures(0.749),
    ("periodic", "rmlstreamer"): PublishedFigures(0.982, 57),
    ("periodic", "tumbling"): PublishedFigures(0.780, 1915),
}
