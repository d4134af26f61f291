"""Polars over an index of integers. `window_polars.py rolling` asks for groups that roll, and any
other command line for `group_by_dynamic`, of which it may have settings, such as `closed=right`.
Rows must be sorted by the index: elements are in the order of their times, and those of one time as
they came.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import polars as pl
from window_function import Element, Refused, Report, Window

NAME = "polars"
VERSION = pl.__version__
IS_ROLLING = "rolling" in sys.argv
GIVEN = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
SETTINGS: dict[str, Any] = {
    "closed": "left",
    "label": "left",
    "start_by": "datapoint",
    **GIVEN,
}
TYPES = {"time": pl.Int64, "number": pl.Int64}


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Return the reports of the groups, in the order in which they stand in the answer."""
    if window.lag or window.by:
        raise Refused("its windows have no lag; keys are not asked for")
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its index has one time for each row, and no interval")
    columns = {
        "time": [element.at for element in elements],
        "number": [element.number for element in elements],
    }
    rows = pl.DataFrame(columns, schema=TYPES).sort("time", maintain_order=True)
    return rolling(rows, window) if IS_ROLLING else dynamic(rows, window)


def dynamic(rows: pl.DataFrame, window: Window) -> Iterator[Report]:
    """Yield the dynamic groups of rows, stamped with their labels."""
    if window.kind != "time":
        raise Refused("asked for are windows of a size and a step in time")
    groups = rows.group_by_dynamic(
        "time",
        every=f"{window.slide}i",
        period=f"{window.size}i",
        include_boundaries=True,
        **SETTINGS,
    )
    for row in groups.agg("number").iter_rows(named=True):
        yield Report(row["number"], (row["_lower_boundary"], row["_upper_boundary"]), row["time"])


def rolling(rows: pl.DataFrame, window: Window) -> Iterator[Report]:
    """Yield the group of each row."""
    if window.kind != "range" or window.slide:
        raise Refused("rolling is asked for ranges, which move from row to row")
    for row in rows.rolling("time", period=f"{window.size}i").agg("number").iter_rows(named=True):
        yield Report(row["number"])
