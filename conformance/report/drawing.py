"""Drawings: shapes with places, which a template writes as SVG, and the axes of times."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import NamedTuple

WIDTH = 960  # of a drawing; it is shown narrower, but no narrower than can be read
FAR = 2**66  # instants beyond are drawn here: what a schema lets through is nearer
BREAK = 8  # times the usual distance of two instants: a longer one is drawn as this long


class Shape(NamedTuple):
    """An SVG element: its name, its attributes, what it says, and what it says when it is pointed
    at.
    """

    tag: str
    attributes: dict[str, str | float]
    text: str = ""
    title: str = ""


@dataclass
class Drawing:
    """Shapes, and what is said of the whole to those who do not see it."""

    label: str
    height: float = 0
    shapes: list[Shape] = field(default_factory=list)

    def add(
        self, tag: str, kind: str, text: str = "", title: str = "", **attributes: float | str
    ) -> None:
        """A shape, of a class of the style sheet; `_` in the name of an attribute is `-`."""
        placed = {
            name.replace("_", "-"): round(value, 1) if isinstance(value, float) else value
            for name, value in attributes.items()
        }
        self.shapes.append(Shape(tag, {"class": kind, **placed}, text, title))

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """A straight line."""
        self.add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def bar(
        self, kind: str, x1: float, x2: float, y: float, height: float, title: str = ""
    ) -> None:
        """A rectangle that is never too narrow to be seen."""
        self.add(
            "rect",
            kind,
            title=title,
            x=min(x1, x2),
            y=y,
            width=max(3.0, abs(x2 - x1)),
            height=height,
            rx=2,
        )

    def write(self, kind: str, x: float, y: float, text: str, anchor: str = "start") -> None:
        """A line of text."""
        self.add("text", kind, text, x=x, y=y, text_anchor=anchor)


def _near(instant: float) -> float:
    return max(-FAR, min(FAR, instant))


class Axis:
    """Where instants are, from `left` to `right`. An empty time much longer than is usual is drawn
    shorter, and in `breaks`.
    """

    def __init__(self, instants: Iterable[int], left: float, right: float):
        self.instants = sorted({_near(instant) for instant in instants}) or [0]
        gaps = [b - a for a, b in pairwise(self.instants)]
        longest = BREAK * max(1, median(gaps)) if gaps else 1
        drawn = [min(gap, longest) for gap in gaps]
        scale = (right - left) / (sum(drawn) or 1)
        self.places = [left if gaps else (left + right) / 2]
        self.breaks: list[float] = []
        for gap, width in zip(gaps, drawn, strict=True):
            self.places.append(self.places[-1] + width * scale)
            if gap > width:
                self.breaks.append((self.places[-2] + self.places[-1]) / 2)

    def __call__(self, instant: float) -> float:
        """The place of an instant, between those of its neighbours; beyond the first and last,
        theirs.
        """
        instant = _near(instant)
        after = bisect_right(self.instants, instant)
        if after == 0 or after == len(self.instants):
            return self.places[max(0, after - 1)]
        (a, b), (x, y) = self.instants[after - 1 : after + 1], self.places[after - 1 : after + 1]
        return x + (y - x) * (instant - a) / (b - a)

    def ticks(self, *wanted: Iterable[float], apart: float = 8) -> Iterator[tuple[float, float]]:
        """Those of some instants that can be labelled without touching each other; the earlier ones
        given go first.
        """
        taken: list[tuple[float, float]] = []
        for instant in dict.fromkeys(instant for some in wanted for instant in sorted(set(some))):
            half, place = len(str(instant)) * 3.2 + apart / 2, self(instant)
            at = bisect_right(taken, (place, place))
            if (at == 0 or taken[at - 1][1] <= place - half) and (
                at == len(taken) or taken[at][0] >= place + half
            ):
                insort(taken, (place - half, place + half))
                yield instant, place


def lanes(spans: Sequence[tuple[float, float]], apart: float = 3) -> list[int]:
    """For each span, in their order, the first lane in which it touches no other."""
    ends: list[float] = []
    found = []
    for start, end in spans:
        lane = next(
            (number for number, last in enumerate(ends) if start >= last + apart), len(ends)
        )
        ends[lane : lane + 1] = [end]
        found.append(lane)
    return found
