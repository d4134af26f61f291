"""Drawings: shapes with places, written as SVG, and the axes of times."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from statistics import median
from typing import NamedTuple

WIDTH = 960  # of a drawing; a page may show it narrower
FAR = 2**66  # instants beyond this are drawn here; those of valid results are nearer
BREAK = 8  # a gap longer than this many times the usual distance of instants is drawn as this long
DIGIT = 3.2  # half the width of a character of a label


class Shape(NamedTuple):
    """An SVG element: its name, its attributes, its text, and its title, which is shown when it is
    pointed at.
    """

    tag: str
    attributes: dict[str, str | float]
    text: str = ""
    title: str = ""

    def svg(self) -> str:
        """Return the element, with its texts escaped."""
        own = "".join(f' {name}="{escape(str(each))}"' for name, each in self.attributes.items())
        title = f"<title>{escape(self.title)}</title>" if self.title else ""
        return f"<{self.tag}{own}>{title}{escape(self.text)}</{self.tag}>"


@dataclass
class Drawing:
    """The shapes of a drawing, and a label for those who do not see it."""

    label: str
    height: float = 0
    shapes: list[Shape] = field(default_factory=list)

    def add(
        self, tag: str, kind: str, text: str = "", title: str = "", **attributes: float | str
    ) -> None:
        """Add a shape, of a class of the style sheet; `_` in the name of an attribute is `-`."""
        own: dict[str, str | float] = {"class": kind}
        for name, value in attributes.items():
            if isinstance(value, float):
                value = round(value, 1)
            own[name.replace("_", "-")] = value
        self.shapes.append(Shape(tag, own, text, title))

    def svg(self, title: str) -> str:
        """Return the drawing in a box with a title, as HTML, with its texts escaped."""
        size = f"0 0 {WIDTH} {round(float(self.height), 1)}"
        shapes = "".join(shape.svg() for shape in self.shapes)
        return (
            f'<div class="scroll drawing" tabindex="0" role="group" aria-label="{escape(title)}">'
            f'<svg viewBox="{size}" role="img" aria-label="{escape(self.label)}">'
            f"{shapes}</svg></div>"
        )

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """Add a straight line."""
        self.add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def bar(
        self,
        kind: str,
        x1: float,
        x2: float,
        y: float,
        height: float,
        title: str = "",
    ) -> None:
        """Add a rectangle that is never too narrow to be seen."""
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
        """Add a line of text."""
        self.add("text", kind, text, x=x, y=y, text_anchor=anchor)


def _within_reach(instant: float) -> float:
    return max(-FAR, min(FAR, instant))


class Axis:
    """A function from instants to places between `left` and `right`. An empty time much longer than
    is usual is drawn shorter, and in `breaks`.
    """

    def __init__(self, instants: Iterable[int], left: float, right: float):
        self.instants = sorted(set(map(_within_reach, instants))) or [0]
        self.breaks: list[float] = []
        gaps = [b - a for a, b in pairwise(self.instants)]
        if not gaps:
            self.places = [(left + right) / 2]
            return
        longest = BREAK * max(1, median(gaps))
        widths = [min(gap, longest) for gap in gaps]
        scale = (right - left) / (sum(widths) or 1)
        self.places = [left]
        for gap, width in zip(gaps, widths, strict=True):
            self.places.append(self.places[-1] + width * scale)
            if gap > width:
                self.breaks.append((self.places[-2] + self.places[-1]) / 2)

    def __call__(self, instant: float) -> float:
        """Return the place of an instant, between those of its neighbours; beyond the first and
        last, theirs.
        """
        instant = _within_reach(instant)
        after = bisect_right(self.instants, instant)
        if after == 0 or after == len(self.instants):
            return self.places[max(0, after - 1)]
        a, b = self.instants[after - 1 : after + 1]
        x, y = self.places[after - 1 : after + 1]
        return x + (y - x) * (instant - a) / (b - a)

    def ticks(self, *groups: Iterable[float], apart: float = 8) -> Iterator[tuple[float, float]]:
        """Yield (instant, place) of those instants that can be labelled without touching each
        other; the instants of earlier groups go first.
        """
        used: list[tuple[float, float]] = []
        instants = dict.fromkeys(instant for group in groups for instant in sorted(set(group)))
        for instant in instants:
            half = len(str(instant)) * DIGIT + apart / 2
            place = self(instant)
            at = bisect_right(used, (place, place))
            is_free_before = at == 0 or used[at - 1][1] <= place - half
            is_free_after = at == len(used) or used[at][0] >= place + half
            if is_free_before and is_free_after:
                insort(used, (place - half, place + half))
                yield instant, place


def lanes(spans: Sequence[tuple[float, float]], apart: float = 3) -> list[int]:
    """Return for each span, in their order, the first lane in which it touches no other."""
    ends: list[float] = []
    chosen: list[int] = []
    for start, end in spans:
        lane = next(
            (number for number, last in enumerate(ends) if start >= last + apart), len(ends)
        )
        ends[lane : lane + 1] = [end]
        chosen.append(lane)
    return chosen
