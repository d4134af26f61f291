"""pandas over times in milliseconds: `window_pandas.py ORIGIN` asks `resample` for bins with an
origin, such as `epoch` or `start_day`, and `window_pandas.py rolling` asks `rolling`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pandas as pd
from window_function import Element, Refused, Report, Window

NAME = "pandas"
VERSION = pd.__version__
SETTING = sys.argv[1]
HORIZON = -1  # the number of the row with which time goes on at the end (ENG-1)


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the reports, in the order in which they stand in the answer. Raises Refused."""
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its index has one time for each row, and no interval")
    if window.lag or window.by:
        raise Refused("its windows have no lag; keys are not asked for")
    if not elements:
        return iter(())
    return rolling(elements, window) if SETTING == "rolling" else resample(elements, window)


def series(instants: list[int], numbers: list[int]) -> pd.Series:
    """Return numbers by their instants. Raises Refused."""
    try:
        times = pd.DatetimeIndex(pd.to_datetime(instants, unit="ms")).as_unit("ms")
    except pd.errors.OutOfBoundsDatetime as error:  # Timestamp.min and .max are documented
        raise Refused(str(error)) from None
    return pd.Series(numbers, index=times)


def resample(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the reports of the bins, those without rows as well. If the origin is that of the epoch
    they end before the horizon.
    """
    if window.kind != "time" or window.size != window.slide:
        raise Refused("resample has bins that tumble")
    instants = [element.at for element in elements]
    numbers = [element.number for element in elements]
    if SETTING == "epoch":
        instants.append(max(instants) + 2 + window.size)
        numbers.append(HORIZON)
    bins = series(instants, numbers).resample(
        f"{window.size}ms", closed="left", label="left", origin=SETTING
    )
    for label, group in bins:
        if HORIZON not in group.values:
            opens = label.as_unit("ms").value // 10**6
            yield Report(group.tolist(), (opens, opens + window.size))


def rolling(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield what each row sees, in the order of time."""
    if window.kind != "range" or window.slide:
        raise Refused("rolling is asked for ranges, which move from row to row")
    ordered = sorted(elements, key=lambda element: element.at)  # it must be monotonic
    rows = series([one.at for one in ordered], [one.number for one in ordered])
    for seen in rows.rolling(f"{window.size}ms"):
        yield Report(seen.tolist())
