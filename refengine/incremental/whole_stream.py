"""§4 Where the windows of a whole stream lie, said of a part that knows only some of its elements
and the first instant of the whole (ENG-7).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from refengine.core import window
from refengine.core.query import Query
from refengine.core.semantics import Partial, Semantics
from refengine.core.window import Frame, WindowView
from refengine.core.window import window_start_at as window_start_at


def window_origins(
    query: Query, semantics: Semantics, firsts: Mapping[str, int]
) -> tuple[int | None, ...]:
    """Return the t0 of each window of a query (WIN-7, WIN-10), by the first instant of each stream
    that has an element.
    """
    specs = [window.with_slide(spec, semantics.slide) for spec in query.windows]
    return tuple(
        window.origin(spec, semantics, firsts.get(spec.stream), query.registered) for spec in specs
    )


def whole_stream_frames(
    query: Query, semantics: Semantics, firsts: Mapping[str, int], halo_start: int | None
) -> list[Frame | None]:
    """Return where the windows of the whole stream lie, a frame for each window of the query: None
    for one that never opens.

    With a `halo_start` a frame begins with the last window that ended before it: windows [0, 10),
    [10, 20), … and elements from 35 on give a frame that begins with [20, 30).
    """
    period = 1 if semantics.period is None else semantics.period
    frames: list[Frame | None] = []
    for stated, t0 in zip(query.windows, window_origins(query, semantics, firsts), strict=True):
        spec = window.with_slide(stated, semantics.slide)
        frame = None
        if t0 is not None:
            frame = window.frame(spec, semantics.closure, t0, semantics.partial)
        if t0 is not None and frame is not None and halo_start is not None:
            ended = (halo_start - 1 - frame.last) // frame.slide
            # so many slides that they are whole periods, which count from t0 (REP-11)
            skipped = ended - ended % (period // gcd(period, frame.slide))
            if skipped > 0:
                later_t0 = t0 + skipped * frame.slide
                frame = window.frame(spec, semantics.closure, later_t0, Partial.SUPPRESSED)
        frames.append(frame)
    return frames


def opening_of_first_window(
    view: WindowView, semantics: Semantics, frame: Frame | None
) -> int | None:
    """Return where window 0 of a frame opens (its t0), by its first instant; None without a
    frame.
    """
    if frame is None:
        return None
    low, _ = window.borders(window.closure_of(view.spec, semantics.closure))
    return frame.first - low
