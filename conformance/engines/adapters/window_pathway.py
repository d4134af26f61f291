"""Pathway's `windowby`, with one element at each instant of processing. `window_pathway.py once`
asks for `exactly_once_behavior`, `window_pathway.py update` for no behavior: then each window is
reported whenever it changes, and what was reported before is taken back.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from typing import Any

import pathway as pw
from window_function import Element, Refused, Report, Window

NAME = "pathway"
VERSION = pw.__version__
BEHAVIOR = pw.temporal.exactly_once_behavior() if sys.argv[1] == "once" else None
logging.disable(logging.CRITICAL)


class Row(pw.Schema):  # type: ignore[misc]
    """An element as a row of a table."""

    number: int
    at: int
    key: str


def windows(window: Window) -> Any:
    """Return Pathway's windows. Raises Refused."""
    if window.lag:
        raise Refused("its windows have no lag")
    match window.kind:
        case "session" if BEHAVIOR is None:
            return pw.temporal.session(max_gap=window.size)
        case "time" if window.size == window.slide:
            return pw.temporal.tumbling(duration=window.size)
        case "time":
            return pw.temporal.sliding(hop=window.slide, duration=window.size)
    raise Refused(f"it has no windows of the kind {window.kind} with this behavior")


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the changes of the table of windows. Those of one instant have no order, and are given
    in that of the windows' ends.
    """
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its rows have one time each, and no interval")
    if not elements:
        return
    pw.internals.parse_graph.G.clear()
    rows = [(one.number, one.at, one.key, 2 * place, 1) for place, one in enumerate(elements, 1)]
    table = pw.debug.table_from_rows(Row, rows, is_stream=True)
    grouped = table.windowby(
        table.at, window=windows(window), behavior=BEHAVIOR, instance=table.key
    )
    reduced = grouped.reduce(
        key=pw.this._pw_instance,
        opens=pw.this._pw_window_start,
        closes=pw.this._pw_window_end,
        numbers=pw.reducers.tuple(pw.this.number),
    )
    changes: list[Any] = []
    is_session = window.kind == "session"  # one of which may replace several
    keys = list(dict.fromkeys(element.key for element in elements))

    def note(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        place = (time, keys.index(row["key"]), is_session and is_addition)
        window_changed = (row["closes"], row["opens"], is_addition)
        changes.append((place, window_changed, list(row["numbers"])))

    pw.io.subscribe(reduced, on_change=note)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    for (_, place, _), (closes, opens, is_addition), numbers in sorted(changes):
        key = keys[place] if window.by else None
        yield Report(numbers, (opens, closes), key=key, takes_back=not is_addition)
