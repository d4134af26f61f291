"""pandas over times in milliseconds. `window_pandas.py rolling` asks `rolling`, and any other
command line `resample`, of which it may have settings, such as `closed=right`. Without any its bins
begin at the multiples of their length (`origin="epoch"`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pandas as pd
from window_function import Element, Refused, Report, Window

NAME = "pandas"
VERSION = pd.__version__
IS_ROLLING = "rolling" in sys.argv
GIVEN = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
SETTINGS = {"closed": "left", "label": "left", "origin": "epoch", **GIVEN}


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Return the reports, in the order in which they stand in the answer. Raises Refused."""
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its index has one time for each row, and no interval")
    if window.lag or window.by:
        raise Refused("its windows have no lag; keys are not asked for")
    return rolling(elements, window) if IS_ROLLING else resample(elements, window)


def series(elements: list[Element]) -> pd.Series:
    """Return the numbers of elements by their times. Raises Refused."""
    try:
        times = pd.DatetimeIndex(pd.to_datetime([element.at for element in elements], unit="ms"))
        return pd.Series([element.number for element in elements], index=times.as_unit("ms"))
    except pd.errors.OutOfBoundsDatetime as error:  # Timestamp.min and .max are documented
        raise Refused(str(error)) from None


def resample(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the reports of the bins, those without rows as well, stamped with their labels."""
    if window.kind != "time" or window.size != window.slide:
        raise Refused("resample has bins that tumble")
    if not elements:
        return
    for label, group in series(elements).resample(f"{window.size}ms", **SETTINGS):
        stamp = label.as_unit("ms").value // 10**6
        opens = stamp - window.size if SETTINGS["label"] == "right" else stamp
        yield Report(group.tolist(), (opens, opens + window.size), stamp)


def rolling(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield what each row sees, in the order of time."""
    if window.kind != "range" or window.slide:
        raise Refused("rolling is asked for ranges, which move from row to row")
    rows = series(sorted(elements, key=lambda element: element.at))  # they must be monotonic
    for seen in rows.rolling(f"{window.size}ms"):
        yield Report(seen.tolist())
