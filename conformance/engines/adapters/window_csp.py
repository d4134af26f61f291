"""csp's moving sums, which tick with each element: each element is a vector of its own, and the sum
over an interval says which elements are in it. Elements are in the order of their times, since an
engine of csp goes through time once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta

import csp
import csp.stats
import numpy as np
from window_function import Element, Refused, Report, Window

NAME = "csp"
VERSION = csp.__version__
EPOCH = datetime(1970, 1, 1)
MILLISECOND = timedelta(milliseconds=1)
warnings.filterwarnings("ignore", "Not memoizing")  # of each curve


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield what the interval holds as each element comes."""
    if window.kind != "range" or window.slide or window.lag or window.by:
        raise Refused("an interval moves with each element: asked for are ranges without a slide")
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("its elements have one time each, and no interval")
    if not elements:
        return
    ordered = sorted(elements, key=lambda element: element.at)
    vectors = np.eye(len(ordered))
    try:
        data = [(EPOCH + one.at * MILLISECOND, vectors[n]) for n, one in enumerate(ordered)]
        sums = csp.run(sums_of, data, window.size * MILLISECOND, starttime=data[0][0])["sums"]
    except OverflowError as error:  # a datetime has the years 1 to 9999, csp's engine fewer
        raise Refused(str(error)) from None
    for _, held in sums:
        yield Report([ordered[n].number for n in np.flatnonzero(held)])


@csp.graph  # type: ignore[untyped-decorator]
def sums_of(data: object, interval: timedelta) -> None:
    """The sum of what came in an interval, at each element."""
    vectors = csp.curve(csp.typing.Numpy1DArray[float], data)
    sums = csp.stats.sum(vectors, interval=interval, min_window=timedelta(0))
    csp.add_graph_output("sums", sums)
