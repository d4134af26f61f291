"""Wrong engines for §15: joins over windows that adapt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.joins import adaptation, adaptive_join, records, window
from refengine.joins.adaptation import HeldRecords
from refengine.joins.adaptive_join import OpenWindow
from refengine.joins.records import JoinRecord, Step, Watermark
from refengine.joins.window import JoinWindow, WatermarkRule, WindowState

RMLSTREAMER = "RMLStreamer (https://github.com/RMLio/RMLStreamer)"


@wrong("ADA-1", replaces=window.check_join_window)
def any_window_is_taken(right: Right, window: JoinWindow) -> None:
    """Accepts any window of a join, whatever its fields say."""


@wrong("ADA-2", replaces=records.with_watermarks)
def a_watermark_reaches_its_own_record(
    right: Right,
    steps: Iterable[Step],
    window: JoinWindow,
) -> Iterator[Step]:
    """Moves the watermark before the record arrives. So a record at the last instant of its window
    comes after the eviction.
    """
    for step in right(steps, window):
        if isinstance(step, Watermark) and window.watermarks is WatermarkRule.BEFORE:
            yield Watermark(step.at + 1)
        else:
            yield step


@wrong("ADA-3", replaces=adaptive_join.partners_of)
def a_record_meets_its_own_stream(
    right: Right,
    record: JoinRecord,
    open_window: OpenWindow,
) -> list[JoinRecord]:
    """Joins records of one stream with each other."""
    return open_window.lists[record.side]


@wrong("ADA-4", replaces=adaptive_join.opening_instant)
def windows_open_at_records(
    right: Right,
    window: JoinWindow,
    state: WindowState,
    last_end: int | None,
    at: int,
) -> int:
    """Opens each window at the first record in it. It does so whatever `opens` says."""
    return at


@wrong("ADA-8", replaces=adaptive_join.sliding_openings)
def sliding_windows_open_at_records(right: Right, window: JoinWindow, at: int) -> list[int]:
    """Opens a window at each record, whatever the slide is."""
    return [at]


@wrong(
    "ADA-5",
    "ADA-6",
    "ADA-7",
    replaces=adaptation.next_state,
    seen=f"{RMLSTREAMER}: cleanUpWindow clears all that adapts, besides the lists",
)
def windows_never_adapt(
    right: Right,
    window: JoinWindow,
    state: WindowState,
    held: HeldRecords,
) -> WindowState:
    """Never adapts the length of its windows."""
    return adaptation.initial_state(window)
