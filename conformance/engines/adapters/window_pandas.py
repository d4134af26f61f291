"""pandas' `resample` over times in milliseconds. The command line may have settings of `resample`,
such as `closed=right`; without any its bins begin at the multiples of their length
(`origin="epoch"`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pandas as pd
from window_function import Element, Refused, Report, Window

NAME = "pandas"
VERSION = pd.__version__
GIVEN = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
SETTINGS = {"closed": "left", "label": "left", "origin": "epoch", **GIVEN}


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the reports of the bins, those without rows as well, stamped with their labels."""
    if window.kind != "time" or window.size != window.slide or window.lag or window.by:
        raise Refused("resample has bins that tumble, without a lag; keys are not asked for here")
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its index has one time for each row, and no interval")
    if not elements:
        return
    try:
        times = pd.DatetimeIndex(pd.to_datetime([element.at for element in elements], unit="ms"))
        index = times.as_unit("ms")
    except pd.errors.OutOfBoundsDatetime as error:  # Timestamp.min and .max are documented
        raise Refused(str(error)) from None
    numbers = pd.Series([element.number for element in elements], index=index)
    for label, group in numbers.resample(f"{window.size}ms", **SETTINGS):
        stamp = label.as_unit("ms").value // 10**6
        opens = stamp - window.size if SETTINGS["label"] == "right" else stamp
        yield Report(group.tolist(), (opens, opens + window.size), stamp)
