"""Wrong engines for §4, WIN-10 and WIN-21: what windows are aligned with, and which opens first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import window
from refengine.core.query import Window
from refengine.core.semantics import Semantics


@wrong("WIN-10", replaces=window.latest_aligned)
def the_latest_epoch_is_the_first(right: Right, spec: Window, semantics: Semantics, t1: int) -> Any:
    """Begins with the first aligned window that reaches the first element."""
    return window.first_aligned(spec, semantics, t1)


@wrong("WIN-10", replaces=window.with_offset)
def every_offset_is_the_epoch(right: Right, semantics: Semantics, times: Sequence[int]) -> Any:
    """Aligns windows with the instant 0, whatever elements or midnights say."""
    if right(semantics, times) is semantics:
        return semantics
    return replace(semantics, offset=0)


@wrong("WIN-10", replaces=window.latest_aligned)
def a_gap_belongs_to_the_window_before(
    right: Right, spec: Window, semantics: Semantics, t1: int
) -> Any:
    """Begins with the last aligned window that has opened, also if it has ended."""
    offset = window.aligned_with(semantics)
    opens = t1 - window.borders(semantics.closure)[0]
    return opens - (opens - offset) % spec.step


@wrong("WIN-21", replaces=window.not_earlier)
def no_window_opens_before_0(
    right: Right, spec: Window, t0: int | None, not_before: int | None
) -> Any:
    """Opens no window before the instant 0, whatever is stated."""
    return right(spec, t0, 0 if not_before is None else not_before)


@wrong("WIN-21", replaces=window.not_earlier)
def windows_open_at_any_time(
    right: Right, spec: Window, t0: int | None, not_before: int | None
) -> int | None:
    """Opens windows before the instant that is stated as the earliest."""
    return t0


@wrong("WIN-21", replaces=window.not_earlier)
def the_first_window_opens_at_the_bound(
    right: Right, spec: Window, t0: int | None, not_before: int | None
) -> int | None:
    """Opens its first window at the stated instant, and not where its windows lie."""
    return t0 if t0 is None else max(t0, t0 if not_before is None else not_before)
