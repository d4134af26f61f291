"""The RANGE frames of SQL's window functions, in a table of elements: `window_frames.py duckdb` or
`window_frames.py sqlite`. A frame of a row is the content of a window that ends with the row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from window_function import Element, Refused, Report, Window

NAME = sys.argv[1]
if NAME == "duckdb":
    import duckdb

    VERSION = duckdb.__version__
    CONNECTION: Any = duckdb.connect()
    AGGREGATE = "to_json(array_agg(number) OVER frame)"
else:
    import sqlite3

    VERSION = sqlite3.sqlite_version
    CONNECTION = sqlite3.connect(":memory:")
    AGGREGATE = "json_group_array(number) OVER frame"
CONNECTION.execute("CREATE TABLE element (number BIGINT, instant BIGINT, key TEXT)")


def frame(window: Window) -> str:
    """Return the frame that holds what a window holds. Raises Refused if there is none."""
    if window.kind != "range" or window.slide:
        raise Refused("a frame belongs to a row: asked for are ranges without a slide")
    upper = f"{window.lag} PRECEDING" if window.lag else "CURRENT ROW"
    return f"RANGE BETWEEN {window.size + window.lag} PRECEDING AND {upper}"


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the frame of each row, in the order of time, then of the first rows of the keys."""
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("a row has one time, and no interval")
    by = "PARTITION BY key " if window.by else ""
    query = (
        f"SELECT instant, key, {AGGREGATE} FROM element "
        f"WINDOW frame AS ({by}ORDER BY instant {frame(window)}) ORDER BY instant, number"
    )
    CONNECTION.execute("DELETE FROM element")
    for element in elements:
        row = (element.number, element.at, element.key)
        CONNECTION.execute("INSERT INTO element VALUES (?, ?, ?)", row)
    rows = CONNECTION.execute(query).fetchall()
    keys = list(dict.fromkeys(key for _, key, _ in rows))
    for _, key, content in sorted(rows, key=lambda row: (row[0], keys.index(row[1]))):
        yield Report(json.loads(content or "[]"), key=key if window.by else None)
