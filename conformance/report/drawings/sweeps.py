"""Drawings of a sweep: a heat map of shares, and a curve for each of several series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refengine.drawings.drawing import WIDTH, Drawing

LEFT, RIGHT = 150, WIDTH - 30
CELL, PANEL = 26, 190
DARKEST = 0.5  # the opacity of a share of 1, on which text can be read in both colour schemes
DODGE = 3  # between the intervals of two curves at one place
LEGEND = 170  # the width of an entry of a legend
Point = tuple[float, float]  # where a value is measured, and a value from 0 to 1


def heat_map(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    shares: Mapping[tuple[str, str], float],
) -> Drawing:
    """Draw shares from 0 to 1 as cells, darker for more. A cell that is missing stays empty."""
    drawing = Drawing(f"{title}: {len(rows)} rows, {len(columns)} columns")
    width = (RIGHT - LEFT) / max(1, len(columns))
    for number, column in enumerate(columns):
        drawing.write("tick", LEFT + width * (number + 0.5), 12, column, "middle")
    for place, row in enumerate(rows):
        y = 20.0 + place * CELL
        drawing.write("lane", LEFT - 8, y + 17, row, "end")
        for number, column in enumerate(columns):
            share = shares.get((row, column))
            if share is None:
                continue
            x = LEFT + width * number
            drawing.add(
                "rect",
                "heat",
                title=f"{row}, {column}: {share:.3f}",
                x=x,
                y=y,
                width=width - 2,
                height=CELL - 2,
                fill_opacity=f"{DARKEST * max(0.0, min(1.0, share)):.3f}",
            )
            drawing.write("heat-text", x + width / 2, y + 17, f"{share:.3f}", "middle")
    drawing.height = 24 + len(rows) * CELL
    return drawing


def share_curves(
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[Point | None]],
) -> Drawing:
    """Draw a curve of each series over the same places, which have the given labels. A point has a
    value from 0 to 1 and half the width of its interval; None where there is none.
    """
    drawing = Drawing(f"{title}: {len(series)} curves")
    for number, name in enumerate(series):
        x = float(LEFT) + number % 4 * LEGEND
        row = 12 + number // 4 * 16
        drawing.line(f"series s{number % 8}", x, row - 4, x + 18, row - 4)
        drawing.write("tick", x + 24, row, name)
    top = 26.0 + (len(series) - 1) // 4 * 16
    step = (RIGHT - LEFT) / max(1, len(labels) - 1)
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = top + PANEL * (1 - value)
        drawing.line("grid", LEFT, y, RIGHT, y)
        drawing.write("tick", LEFT - 8, y + 4, f"{value:.0%}", "end")
    for number, label in enumerate(labels):
        drawing.write("tick", _within(LEFT + step * number), top + PANEL + 18, label, "middle")
    for number, (name, points) in enumerate(series.items()):
        kind = f"series s{number % 8}"
        known = [(LEFT + step * k, point) for k, point in enumerate(points) if point is not None]
        places = " ".join(f"{x:.1f},{top + PANEL * (1 - point[0]):.1f}" for x, point in known)
        values = ", ".join(f"{point[0]:.3f}" for _, point in known)
        drawing.label += f"; {name}: {values}"
        drawing.add("polyline", kind, "", f"{name}: {values}", points=places)
        shift = DODGE * (number - (len(series) - 1) / 2)
        for x, (value, half_width) in known:
            low, high = max(0.0, value - half_width), min(1.0, value + half_width)
            x += shift
            drawing.line(kind, x, top + PANEL * (1 - low), x, top + PANEL * (1 - high))
    drawing.height = top + PANEL + 26
    return drawing


def _within(x: float) -> float:
    """Return a place at which a short label is not cut off."""
    return min(x, RIGHT - 16)


def amount_curve(title: str, points: Sequence[tuple[int, int]]) -> Drawing:
    """Draw amounts over time, from 0."""
    drawing = Drawing(f"{title}: none")
    if not points:
        return drawing
    most = max(1, *(amount for _, amount in points), 1)
    start, end = points[0][0], points[-1][0]
    drawing.label = f"{title}: at most {most:,}"
    for amount in (0, most):
        y = 12 + PANEL / 2 * (1 - amount / most)
        drawing.line("grid", LEFT, y, RIGHT, y)
        drawing.write("tick", LEFT - 8, y + 4, f"{amount:,}", "end")
    places = " ".join(
        f"{LEFT + (RIGHT - LEFT) * (at - start) / ((end - start) or 1):.1f},"
        f"{12 + PANEL / 2 * (1 - amount / most):.1f}"
        for at, amount in points
    )
    drawing.add("polyline", "series s0", "", drawing.label, points=places)
    drawing.write("tick", LEFT, PANEL / 2 + 28, f"{start:,}")
    drawing.write("tick", RIGHT, PANEL / 2 + 28, f"{end:,}", "end")
    drawing.height = PANEL / 2 + 34
    return drawing
