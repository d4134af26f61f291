"""YABench's three charts of a run (Kolchin, Wetz et al., ICWE 2016): precision and recall over the
extents of windows; delay and sizes; memory, CPU and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.bench.metrics.resources import cpu_percents
from conformance.report.drawings.curves import (
    LEFT,
    RIGHT,
    Curve,
    Place,
    Point,
    draw_curves,
    draw_frame,
    number_text,
    range_text,
    thin_out,
)
from conformance.verdict.explain import count_text
from refengine.drawings.drawing import Axis, Drawing, lanes

WINDOWS, SAMPLES = 120, 2_000  # the most that are drawn
PANEL = 96
SIZES = {"elements": "elements", "expected": "rows expected", "actual": "rows given"}
Entry = Mapping[str, Any]


def charts(evidence: Mapping[str, Any]) -> list[tuple[str, Drawing]]:
    """Return title and drawing of each chart that there is data for."""
    every = evidence.get("metrics", [])
    metrics = every[:WINDOWS]
    samples = evidence.get("samples", ())
    part = ""
    if len(every) > WINDOWS:
        part = f" (the first {WINDOWS} of {len(every):,} windows)"
    titled: list[tuple[str, Drawing]] = []
    if metrics:
        titled.append((f"Precision and recall of each window{part}", scores(metrics)))
        titled.append((f"Delay, and sizes{part}", delays(metrics)))
    if samples:
        titled.append(("Memory, CPU and threads", resources(samples)))
    return titled


# Precision and recall


def scores(metrics: Sequence[Entry]) -> Drawing:
    """Draw precision and recall at the close of each window, and below them the windows. Where
    gracious mode differs, its scores are drawn hollow, and its shifted windows in a row of their
    own.
    """
    windows = [entry["window"] for entry in metrics if entry["window"]]
    shifted = [entry["gracious"]["window"] for entry in metrics if entry["gracious"]]
    borders = [border for window in windows for border in window]
    shifted_borders = [border for window in shifted for border in window]
    axis = Axis([*borders, *shifted_borders], LEFT + 20, RIGHT - 40)
    drawing = Drawing(_scores_in_words(metrics))
    _key(
        drawing,
        {
            "precision": "precision",
            "recall": "recall",
            "precision hollow": "precision, gracious",
            "recall hollow": "recall, gracious",
        },
    )
    place = _panel(drawing, 24, 1, _percent)
    for entry, x in zip(metrics, _closes(axis, metrics, 4), strict=True):
        _scores_of(drawing, entry, x, place)
    y = _extents(drawing, axis, "windows", windows, "due same", 24 + PANEL + 8)
    if shifted:
        y = _extents(drawing, axis, "gracious", shifted, "given same", y + 4)
    return _with_times(drawing, axis, borders, y)


def _scores_in_words(metrics: Sequence[Entry]) -> str:
    """Return between what precision and recall of the windows are."""
    ranges = [
        f"{name} {range_text([entry[name] for entry in metrics], _percent)}"
        for name in ("precision", "recall")
    ]
    return f"{count_text(len(metrics), 'window')}: {', '.join(ranges)}"


def _closes(axis: Axis, metrics: Sequence[Entry], apart: int) -> list[float]:
    """Return the x of the close of each window. Answers after the last report have no window; they
    stand at the right, `apart` from each other.
    """
    places: list[float] = []
    beyond = RIGHT - 20
    for entry in metrics:
        if entry["window"]:
            places.append(axis(entry["window"][1]))
        else:
            beyond -= apart
            places.append(beyond)
    return places


def _scores_of(drawing: Drawing, entry: Entry, x: float, place: Place) -> None:
    """Draw precision and recall of one window, side by side."""
    window = f"window {entry['window'] or 'none: beyond the last report'}"
    gracious = entry["gracious"] or entry
    for name, shift in (("precision", -3), ("recall", 3)):
        title = f"{window}: {name} {entry[name]:.1%}"
        _dot(drawing, name, x + shift, place(entry[name]), title)
        if gracious[name] != entry[name]:
            title = f"{window}: {name} {gracious[name]:.1%}, gracious"
            _dot(drawing, f"{name} hollow", x + shift, place(gracious[name]), title)


def _extents(
    drawing: Drawing,
    axis: Axis,
    title: str,
    windows: Sequence[Sequence[int]],
    kind: str,
    y: float,
) -> float:
    """Draw windows as bars, in as many lanes as are needed so that none overlaps another. Return
    the y below them.
    """
    drawing.write("lane", 4, y + 9, title)
    used = lanes([(axis(opens), axis(closes)) for opens, closes in windows], 1)
    for (opens, closes), lane in zip(windows, used, strict=True):
        drawing.bar(kind, axis(opens), axis(closes), y + lane * 10, 8, f"[{opens}, {closes}]")
    return y + (max(used, default=0) + 1) * 10


# Delay and sizes


def delays(metrics: Sequence[Entry]) -> Drawing:
    """Draw how late each answer came, and below it the sizes: elements of the window, rows that
    were expected, and rows of the engine.
    """
    late = [entry["delay"] for entry in metrics if entry["delay"] is not None]
    ranges = [
        f"{words} {range_text([entry[name] for entry in metrics], number_text)}"
        for name, words in SIZES.items()
    ]
    if late:
        ranges.insert(0, f"delay {range_text(late, number_text)}")
    drawing = Drawing(f"{count_text(len(metrics), 'window')}: {', '.join(ranges)}")
    axis = Axis([entry["window"][1] for entry in metrics if entry["window"]], LEFT + 20, RIGHT - 40)
    closes = _closes(axis, metrics, 6)
    _key(drawing, {"delay": "delay", **SIZES})
    y = _delays(drawing, metrics, closes, 24.0)
    _sizes(drawing, metrics, closes, y)
    return _with_times(drawing, axis, axis.instants, y + PANEL + 4)


def _delays(drawing: Drawing, metrics: Sequence[Entry], closes: Sequence[float], y: float) -> float:
    """Draw the delays, if there are any; return the y below them."""
    late = [
        (x, entry) for x, entry in zip(closes, metrics, strict=True) if entry["delay"] is not None
    ]
    if not late:
        return y
    values = [entry["delay"] for _, entry in late]
    place = _panel(drawing, y, max(1, *values), number_text, min(0, *values))
    for x, entry in late:
        top = place(entry["delay"])
        drawing.line("stem", x, place(0), x, top)
        title = f"window {entry['window']}: {entry['delay']} after its close"
        _dot(drawing, "delay", x, top, title)
    return y + PANEL + 16


def _sizes(drawing: Drawing, metrics: Sequence[Entry], closes: Sequence[float], y: float) -> None:
    """Draw three bars a window: its elements, and the rows expected and given."""
    most = max(1, *(entry[name] for entry in metrics for name in SIZES))
    place = _panel(drawing, y, most, number_text)
    width = max(1.5, min(8, (RIGHT - LEFT) / (4 * len(metrics))))
    for x, entry in zip(closes, metrics, strict=True):
        for shift, name in enumerate(SIZES):
            left = x + (shift - 1.5) * width
            top = place(entry[name])
            title = f"window {entry['window']}: {entry[name]} {name}"
            drawing.bar(name, left, left + width - 0.5, top, place(0) - top, title)


# Memory, CPU and threads


def resources(samples: Sequence[Entry]) -> Drawing:
    """Draw memory in MB, CPU in percent of one core, and threads, over the time of the run.

    Samples have CPU seconds since the start (`conformance.harness.resources.Sample`): each
    percentage is that since the sample before.
    """
    drawing = Drawing(count_text(len(samples), "sample"))
    start, end = samples[0]["at"], samples[-1]["at"]
    cpu_times = [(sample["at"], sample["cpu"]) for sample in samples]
    panels: tuple[tuple[str, str, list[Point]], ...] = (
        ("rss", "memory, MB", [(sample["at"], sample["rss"] / 1e6) for sample in samples]),
        ("cpu", "CPU, % of one core", list(cpu_percents(cpu_times))),
        ("threads", "threads", [(sample["at"], sample["threads"]) for sample in samples]),
    )
    curves = [
        Curve(
            name,
            title,
            thin_out(points, SAMPLES),
            max(1e-9, *(value for _, value in points)),
            range_text([value for _, value in points], number_text),
        )
        for name, title, points in panels
        if points
    ]
    draw_curves(drawing, curves, start, end)
    return drawing


# What charts have in common


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _key(drawing: Drawing, words_of: Mapping[str, str]) -> None:
    """Draw a dot of each kind, with what it means, in one line."""
    x = float(LEFT)
    for kind, words in words_of.items():
        _dot(drawing, kind, x + 4, 8, "")
        drawing.write("tick", x + 12, 12, words)
        x += 40 + 6 * len(words)


def _dot(drawing: Drawing, kind: str, x: float, y: float, title: str) -> None:
    """Draw a value as a point: a square if it is a recall, so that its colour is not needed."""
    if kind.startswith("recall"):
        drawing.add("rect", kind, "", title, x=x - 3, y=y - 3, width=6, height=6)
    else:
        drawing.add("circle", kind, "", title, cx=x, cy=y, r=3.4)


def _panel(
    drawing: Drawing,
    y: float,
    most: float,
    label: Callable[[float], str],
    least: float = 0,
) -> Place:
    """Draw the frame of a panel; return where a value is in it."""
    return draw_frame(drawing, y, PANEL, most, label, least)


def _with_times(drawing: Drawing, axis: Axis, instants: Sequence[float], y: float) -> Drawing:
    """Write the instants below a chart, and return it with its height."""
    for instant, x in axis.ticks(instants):
        drawing.write("tick", x, y + 12, str(instant), "middle")
    drawing.height = y + 20
    return drawing
