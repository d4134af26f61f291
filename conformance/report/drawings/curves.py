"""Curves over one time, one below the other, each in a frame with labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from refengine.drawings.drawing import WIDTH, Drawing

LEFT, RIGHT = 84, WIDTH - 16
GAP = 30  # between two frames
Point = tuple[float, float]  # an instant in seconds, and a value
Place = Callable[[float], float]  # from a value to where it is drawn


class Curve(NamedTuple):
    """A curve: a class of the style sheet, its title, its points, the greatest value of its frame,
    and its values in words.
    """

    kind: str
    title: str
    points: Sequence[Point]
    most: float
    words: str


def draw_curves(drawing: Drawing, curves: Sequence[Curve], start: float, end: float) -> None:
    """Draw curves from an instant to another, each as high as `curve_height` says, and the two
    instants below them.
    """
    y, height = 22.0, curve_height(len(curves))
    seconds = (end - start) or 1
    for curve in curves:
        place = draw_frame(drawing, y, height, curve.most, number_text)
        drawing.write("lane", LEFT, y - 6, curve.title)
        line = " ".join(
            f"{LEFT + (RIGHT - LEFT) * (at - start) / seconds:.1f},{place(value):.1f}"
            for at, value in curve.points
        )
        words = f"{curve.title}: {curve.words}"
        drawing.label += f"; {words}"
        drawing.add("polyline", curve.kind, "", words, points=line)
        y += height + GAP
    y -= GAP
    drawing.write("tick", LEFT, y + 14, f"{start:g} s")
    drawing.write("tick", RIGHT, y + 14, f"{end:g} s", "end")
    drawing.height = y + 20


def curve_height(count: int) -> int:
    """Return how high each of so many curves is: lower if there are many."""
    if count > 3:
        return 46
    return 96


def draw_frame(
    drawing: Drawing,
    y: float,
    height: float,
    most: float,
    label: Callable[[float], str],
    least: float = 0,
) -> Place:
    """Draw a frame with three labels; return where a value is in it."""
    span = (most - least) or 1

    def place(value: float) -> float:
        return y + height - height * (value - least) / span

    for value in (least, (least + most) / 2, most):
        drawing.line("grid", LEFT, place(value), RIGHT, place(value))
        drawing.write("tick", LEFT - 6, place(value) + 4, label(value), "end")
    return place


def range_text(values: Sequence[float], label: Callable[[float], str]) -> str:
    """Return the least and the greatest of some values: `from 2 to 8`."""
    return f"from {label(min(values))} to {label(max(values))}"


def number_text(value: float) -> str:
    """Return a number as a chart writes it: `12,345`, `0.25`."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def thin_out(points: Sequence[Point], most: int) -> Sequence[Point]:
    """Return about `most` of the points at even distances, with those that have the least and the
    greatest value.
    """
    if len(points) <= most:
        return points
    numbers = {number * len(points) // most for number in range(most)}
    for choose in (min, max):
        numbers.add(choose(range(len(points)), key=lambda number: points[number][1]))
    return [points[number] for number in sorted(numbers)]
