"""Boxplots of YABench's measures over several runs: for each window the quartiles of precision,
recall and delay (Kolchin, Wetz et al., ICWE 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import quantiles
from typing import Any, NamedTuple

from conformance.report.drawings.curves import LEFT, RIGHT, Place, draw_frame
from refengine.drawings.drawing import Drawing

WINDOWS = 60  # the most that are drawn
PANEL = 120
BOX = 26  # the greatest width of a box


class Quartiles(NamedTuple):
    """The five numbers of a boxplot: the least value, the quartiles, and the greatest value."""

    least: float
    first: float
    median: float
    third: float
    greatest: float

    @staticmethod
    def of(values: Sequence[float]) -> Quartiles:
        """Return the five numbers of some values. Quartiles lie between two values in proportion,
        as R's default and numpy's have it.

        >>> Quartiles.of([1, 2, 3, 4])
        Quartiles(least=1, first=1.75, median=2.5, third=3.25, greatest=4)
        """
        first, median, third = values[0], values[0], values[0]
        if len(values) > 1:
            first, median, third = quantiles(values, n=4, method="inclusive")
        return Quartiles(min(values), first, median, third, max(values))


def boxplots(runs: Sequence[Sequence[Mapping[str, Any]]]) -> list[tuple[str, Drawing]]:
    """Return title and drawing of the boxplots of runs, each with an entry for each window. Window
    k of all runs is their k-th entry. A measure that no run has is left out.
    """
    titled = []
    for key, title in (("precision", "Precision"), ("recall", "Recall"), ("delay", "Delay, ms")):
        windows = _values(runs, key)[:WINDOWS]
        if any(windows):
            name = f"{title} of each window over {len(runs)} runs"
            titled.append((name, _drawing(name, key, windows)))
    return titled


def _values(runs: Sequence[Sequence[Mapping[str, Any]]], key: str) -> list[list[float]]:
    """Return for each window the values of a measure, one of each run that has it."""
    longest = max(map(len, runs))
    return [
        [run[number][key] for run in runs if number < len(run) and run[number][key] is not None]
        for number in range(longest)
    ]


def _drawing(name: str, kind: str, windows: Sequence[Sequence[float]]) -> Drawing:
    """Draw a box for each window."""
    every = [value for values in windows for value in values]
    drawing = Drawing(f"{name}: medians {_medians(windows)}")
    is_share = kind != "delay"
    least, most = (0.0, 1.0) if is_share else (min(0.0, *every), max(1.0, *every))

    place = draw_frame(drawing, 10, PANEL, most, lambda value: _number(value, is_share), least)
    step = (RIGHT - LEFT) / len(windows)
    for number, values in enumerate(windows):
        middle = LEFT + step * (number + 0.5)
        drawing.write("tick", middle, PANEL + 26, str(number + 1), "middle")
        if values:
            _box(drawing, kind, middle, min(BOX, step * 0.6), Quartiles.of(values), place)
    drawing.height = PANEL + 32
    return drawing


def _box(
    drawing: Drawing,
    kind: str,
    middle: float,
    width: float,
    five: Quartiles,
    place: Place,
) -> None:
    """Draw one box with its whiskers, which reach the least and the greatest value."""
    left, right = middle - width / 2, middle + width / 2
    drawing.line("axis", middle, place(five.greatest), middle, place(five.least))
    top, bottom = place(five.third), place(five.first)
    numbers = ", ".join(f"{value:.4g}" for value in five)
    drawing.add(
        "rect",
        f"{kind} box",
        title=numbers,
        x=left,
        y=top,
        width=width,
        height=max(2.0, bottom - top),
    )
    for value in (five.least, five.greatest):
        drawing.line("axis", left + width / 4, place(value), right - width / 4, place(value))
    drawing.line("median", left, place(five.median), right, place(five.median))


def _medians(windows: Sequence[Sequence[float]]) -> str:
    """Write the medians of windows, for those who do not see the drawing."""
    return ", ".join(
        f"{Quartiles.of(values).median:.4g}" if values else "none" for values in windows
    )


def _number(value: float, is_share: bool) -> str:
    """Write a value at the edge of a panel."""
    if is_share:
        return f"{value:.0%}"
    return f"{value:,.0f}"
