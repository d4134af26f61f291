"""Polars over an index of integers. `window_polars.py datapoint` or `window` asks for dynamic
groups that start by that, and `window_polars.py rolling` for groups that roll. Rows must be sorted
by the index: elements are in the order of their times, and those of one time as they came.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import polars as pl
from window_function import Element, Refused, Report, Window

NAME = "polars"
VERSION = pl.__version__
SETTING: Any = sys.argv[1]
TYPES = {"time": pl.Int64, "number": pl.Int64}


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the reports of the groups, in the order in which they stand in the answer."""
    kind = "range" if SETTING == "rolling" else "time"
    if window.kind != kind or window.lag or window.by or (kind == "range" and window.slide):
        raise Refused(
            f"{SETTING} has windows of the kind {kind} without a lag; keys are not asked for"
        )
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its index has one time for each row, and no interval")
    columns = {
        "time": [element.at for element in elements],
        "number": [element.number for element in elements],
    }
    rows = pl.DataFrame(columns, schema=TYPES).sort("time", maintain_order=True)
    for row in groups(rows, window).agg("number").iter_rows(named=True):
        is_rolling = SETTING == "rolling"
        borders = None if is_rolling else (row["_lower_boundary"], row["_upper_boundary"])
        yield Report(row["number"], borders)


def groups(rows: pl.DataFrame, window: Window) -> Any:
    """Return the groups of sorted rows."""
    if SETTING == "rolling":
        return rows.rolling("time", period=f"{window.size}i")
    return rows.group_by_dynamic(
        "time",
        every=f"{window.slide}i",
        period=f"{window.size}i",
        closed="left",
        start_by=SETTING,
        include_boundaries=True,
    )
