"""pandas' `resample` over times in milliseconds, whose bins begin at the multiples of their length
(`origin="epoch"`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from window_function import Element, Refused, Report, Window

NAME = "pandas"
VERSION = pd.__version__
HORIZON = -1  # the number of the row with which time goes on at the end (ENG-1)


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the reports of the bins, those without rows as well, that end before the horizon."""
    if window.kind != "time" or window.size != window.slide or window.lag or window.by:
        raise Refused("resample has bins that tumble, without a lag; keys are not asked for here")
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its index has one time for each row, and no interval")
    if not elements:
        return
    horizon = max(element.at for element in elements) + 2 + window.size
    instants = [*(element.at for element in elements), horizon]
    try:
        times = pd.DatetimeIndex(pd.to_datetime(instants, unit="ms")).as_unit("ms")
    except pd.errors.OutOfBoundsDatetime as error:  # Timestamp.min and .max are documented
        raise Refused(str(error)) from None
    numbers = pd.Series([*(element.number for element in elements), HORIZON], index=times)
    bins = numbers.resample(f"{window.size}ms", closed="left", label="left", origin="epoch")
    for label, group in bins:
        if HORIZON not in group.values:
            opens = label.as_unit("ms").value // 10**6
            yield Report(group.tolist(), (opens, opens + window.size))
