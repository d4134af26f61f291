"""Polars' `group_by_dynamic` over an index of integers. It asks for rows that are sorted by the
index, and so takes elements in the order of their times, and those of one time as they came. The
command line may have settings of `group_by_dynamic`, such as `closed=right`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import polars as pl
from window_function import Element, Refused, Report, Window

NAME = "polars"
VERSION = pl.__version__
GIVEN = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
SETTINGS: dict[str, Any] = {
    "closed": "left",
    "label": "left",
    "start_by": "datapoint",
    **GIVEN,
}


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the reports of the groups, in the order in which they stand in the answer."""
    if window.kind != "time" or window.lag or window.by:
        raise Refused("asked for are windows of a size and a step in time, without lag and key")
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its index has one time for each row, and no interval")
    columns = {
        "time": [element.at for element in elements],
        "number": [element.number for element in elements],
    }
    types = {"time": pl.Int64, "number": pl.Int64}
    groups = (
        pl.DataFrame(columns, schema=types)
        .sort("time", maintain_order=True)
        .group_by_dynamic(
            "time",
            every=f"{window.slide}i",
            period=f"{window.size}i",
            include_boundaries=True,
            **SETTINGS,
        )
        .agg("number")
    )
    for row in groups.iter_rows(named=True):
        yield Report(row["number"], (row["_lower_boundary"], row["_upper_boundary"]), row["time"])
