"""Test a window operator of your own: `pytest examples/own_window_operator.py`.

The operator below reports the windows [0, 60 s), [30 s, 90 s), … of a stream, each with its items,
as soon as an element at the window's end or later has come.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from refengine import from_table, profile
from refengine.testing import check_windows

SIZE, SLIDE = 60_000, 30_000


class SlidingWindows:
    """The operator: elements are pushed into it, and it gives the windows that they close."""

    def __init__(self) -> None:
        self.held: dict[int, list[Any]] = {}

    def push(self, time: int, item: Any) -> Iterator[tuple[int, int, list[Any]]]:
        """Take the next element, and yield the windows that it closes."""
        for opens in sorted(opens for opens in self.held if opens + SIZE <= time):
            yield opens, opens + SIZE, self.held.pop(opens)
        first = max(0, (time - SIZE) // SLIDE * SLIDE + SLIDE)
        for opens in range(first, time + 1, SLIDE):
            self.held.setdefault(opens, []).append(item)

    def finish(self) -> Iterator[tuple[int, int, list[Any]]]:
        """Yield the windows that are still open at the end of the stream."""
        for opens in sorted(self.held):
            yield opens, opens + SIZE, self.held[opens]


def run(elements: list[tuple[int, Any]]) -> Iterator[tuple[int, int, list[Any]]]:
    """Push the elements of a stream, one after the other."""
    operator = SlidingWindows()
    for time, item in elements:
        yield from operator.push(time, item)
    yield from operator.finish()


def test_the_windows_are_those_of_the_reference() -> None:
    """Contents, borders, moments and order, on 200 streams around the borders of windows."""
    query = from_table(
        windows=[
            {
                "stream": "s",
                "kind": "time",
                "size": timedelta(seconds=60),
                "slide": timedelta(seconds=30),
            }
        ],
        body="ASK {}",
    )
    check_windows(run, query, profile("csparql").but(t0=0).semantics())
