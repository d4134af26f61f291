"""A library with tumbling windows that begin at the multiples of their size, for tests of cards.
With `closed=right` its windows are (from, to]; `closed=wrong` is said to be so, and changes
nothing.
"""

from __future__ import annotations

import sys

from window_function import Refused, Report

NAME, VERSION = "tiny", "1"
IS_RIGHT_CLOSED = "closed=right" in sys.argv


def run(elements, window):
    if window.kind != "time" or window.slide != window.size or window.by:
        raise Refused("it has tumbling windows alone")
    held: dict[int, list[int]] = {}
    for element in elements:
        opens = (element.at - IS_RIGHT_CLOSED) // window.size * window.size
        held.setdefault(opens, []).append(element.number)
    for opens in sorted(held):
        yield Report(held[opens], (opens, opens + window.size), opens)
