"""Apache Beam for Python: a TestStream with one element at a time and the watermark after each. A
direct runner runs it in this process. `window_beam.py LATENESS MODE`, such as `0 discarding`.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_stream import TestStream
from apache_beam.transforms.trigger import AccumulationMode, AfterCount, AfterWatermark
from apache_beam.transforms.window import FixedWindows, Sessions, SlidingWindows, TimestampedValue
from apache_beam.utils.timestamp import MAX_TIMESTAMP, MIN_TIMESTAMP
from window_function import Element, Refused, Report, Window

NAME = "beam"
VERSION = beam.__version__
LATENESS, MODE = int(sys.argv[1]), getattr(AccumulationMode, sys.argv[2].upper())
SECONDS = range(MIN_TIMESTAMP.micros // 10**6 + 1, MAX_TIMESTAMP.micros // 10**6)
OPTIONS = PipelineOptions(["--streaming", "--runner=BundleBasedDirectRunner"])
LOG = Path(tempfile.mkdtemp()) / "log"  # what happens, a line each: an element, or a pane
logging.disable(logging.CRITICAL)


def note_element(element: Any) -> Any:
    """Note that an element has come, and pass it on."""
    write(None)
    return element


def note_pane(pane: Any, window: Any = beam.DoFn.WindowParam) -> Any:
    """Note a pane, with its borders, the key and the numbers of its elements, and pass it on."""
    key, numbers = pane
    write([int(window.end), int(window.start), key, list(numbers)])
    return pane


def write(entry: Any) -> None:
    """Write a line of the log."""
    with LOG.open("a", encoding="utf-8") as log:
        print(json.dumps(entry), file=log)


def windows(window: Window) -> Any:
    """Return Beam's windows. Raises Refused."""
    if window.lag:
        raise Refused("its windows have no lag")
    match window.kind:
        case "session":
            return Sessions(window.size)
        case "time" if window.size == window.slide:
            return FixedWindows(window.size)
        case "time":
            return SlidingWindows(window.size, window.slide)
    raise Refused(f"it has no windows of the kind {window.kind}")


def stream(elements: list[Element]) -> TestStream:
    """Return the elements as they come, each followed by the watermark, the greatest time."""
    events = TestStream()
    greatest = None
    for element in elements:
        if element.at not in SECONDS or element.end not in (None, element.at):
            raise Refused(f"its elements have one time each, in seconds from {MIN_TIMESTAMP}")
        events.add_elements([TimestampedValue((element.key, element.number), element.at)])
        if greatest is None or element.at > greatest:
            greatest = element.at
            events.advance_watermark_to(greatest)
    return events.advance_watermark_to_infinity()


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the panes. Those that fire at once have no order, and are given in that of time."""
    into = beam.WindowInto(
        windows(window),
        trigger=AfterWatermark(late=AfterCount(1)),
        accumulation_mode=MODE,
        allowed_lateness=LATENESS,
    )
    events = stream(elements)
    LOG.write_text("")
    with beam.Pipeline(options=OPTIONS) as pipeline:
        noted = pipeline | events | "element" >> beam.Map(note_element)
        noted | into | beam.GroupByKey() | "pane" >> beam.Map(note_pane)
    keys = list(dict.fromkeys(element.key for element in elements))
    come = 0
    panes = []
    for line in LOG.read_text().splitlines():
        entry = json.loads(line)
        if entry is None:
            come += 1
        else:
            closes, opens, key, numbers = entry
            place = (arrival(elements, come, closes), keys.index(key), closes, opens)
            panes.append((place, numbers, key))
    for (*_, closes, opens), numbers, key in sorted(panes):
        yield Report(numbers, (opens, closes), key=key if window.by else None)


def arrival(elements: list[Element], come: int, closes: int) -> int:
    """Return the arrival that reports a pane, which was seen when so many elements had come: the
    last of them if it closes the window, the next one if the window had closed before, and the end
    of the stream if no element closes it.
    """
    times = [element.at for element in elements[:come]]
    if closes > max(times):
        return len(elements) + 1
    return come + (closes <= max(times[:-1], default=closes - 1))
