"""bytewax's `collect_window` by an event clock without system time: the watermark is that of the
items alone, and waits for none. Items come in batches of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

import bytewax.operators as op
import bytewax.operators.windowing as windows
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, TestingSource, run_main
from window_function import Element, Refused, Report, Window

NAME = "bytewax"
VERSION = version("bytewax")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def windower(window: Window) -> Any:
    """Return bytewax's window. Raises Refused, with bytewax's own words where it has some."""
    if window.kind not in ("time", "session") or window.lag or window.by:
        raise Refused("asked for are windows over time and sessions, without lag and key")
    if window.kind == "session":
        return windows.SessionWindower(gap=window.size * MILLISECOND)
    length, offset = window.size * MILLISECOND, window.slide * MILLISECOND
    if length == offset:
        return windows.TumblingWindower(length=length, align_to=EPOCH)
    try:
        return windows.SlidingWindower(length=length, offset=offset, align_to=EPOCH)
    except ValueError as error:
        raise Refused(str(error)) from None


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the windows in the order in which they close; at the end of the input all do."""
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its items have one time each, and no interval")
    clock = windows.EventClock(
        ts_getter=lambda item: item[0],
        wait_for_system_duration=timedelta(0),
        now_getter=lambda: EPOCH,
        to_system_utc=lambda _: None,
    )
    try:
        items = [(one.key, (EPOCH + one.at * MILLISECOND, one.number)) for one in elements]
    except OverflowError as error:  # a datetime has the years 1 to 9999
        raise Refused(str(error)) from None
    closed: list[Any] = []
    metadata: list[Any] = []
    flow = Dataflow("windows")
    source = op.input("in", flow, TestingSource(items, batch_size=1))
    output = windows.collect_window("collect", source, clock, windower(window))
    op.output("closed", output.down, TestingSink(closed))
    op.output("metadata", output.meta, TestingSink(metadata))
    run_main(flow)
    borders = {(key, number): (one.open_time, one.close_time) for key, (number, one) in metadata}
    for key, (number, content) in closed:
        opens, closes = ((border - EPOCH) // MILLISECOND for border in borders[key, number])
        yield Report([item[1] for item in content], (opens, closes))
