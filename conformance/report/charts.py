"""YABench's three charts of a run (Kolchin, Wetz et al., ICWE 2016): precision and recall over the
extents of windows; delay and sizes; memory, CPU and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from conformance.report.drawing import WIDTH, Axis, Drawing, lanes

WINDOWS, SAMPLES = 120, 2_000  # drawn at most
LEFT, RIGHT, PANEL = 84, WIDTH - 16, 96
Entry = Mapping[str, Any]
Point = tuple[float, float]  # an instant and a value


def charts(evidence: Mapping[str, Any]) -> list[tuple[str, Drawing]]:
    """Title and drawing of each chart that there is data for."""
    every = evidence.get("metrics", [])
    metrics, samples = every[:WINDOWS], evidence.get("samples", ())
    found = []
    if metrics:
        part = f" (the first {WINDOWS} of {len(every):,} windows)" if len(every) > WINDOWS else ""
        found += [
            (f"Precision and recall of each window{part}", scores(metrics)),
            (f"Delay, and sizes{part}", delays(metrics)),
        ]
    if samples:
        found.append(("Memory, CPU and threads", resources(samples)))
    return found


def thinned(points: Sequence[Point], most: int) -> Sequence[Point]:
    """Some so many of them, evenly, and those with the least and the greatest value, which are what
    is looked for.
    """
    if len(points) <= most:
        return points
    extremes = [
        choose(range(len(points)), key=lambda number: points[number][1]) for choose in (min, max)
    ]
    return [
        points[number]
        for number in sorted({*extremes, *(number * len(points) // most for number in range(most))})
    ]


def scores(metrics: Sequence[Entry]) -> Drawing:
    """Precision and recall at the close of each window (hollow: in gracious mode, where it
    differs), above the windows, as they are and as gracious mode shifts them.
    """
    windows = [entry["window"] for entry in metrics if entry["window"]]
    shifted = [entry["gracious"]["window"] for entry in metrics if entry["gracious"]]
    axis = Axis(
        [border for window in [*windows, *shifted] for border in window], LEFT + 20, RIGHT - 40
    )
    drawing = Drawing(f"Precision and recall of {len(metrics)} windows")
    _key(
        drawing,
        (
            ("precision", "precision"),
            ("recall", "recall"),
            ("precision hollow", "precision, gracious"),
            ("recall hollow", "recall, gracious"),
        ),
    )
    place = _panel(drawing, 24, 1, lambda value: f"{value:.0%}")
    beyond = 0
    for entry in metrics:
        x = axis(entry["window"][1]) if entry["window"] else RIGHT - 20 - 4 * (beyond := beyond + 1)
        told = f"window {entry['window'] or 'none: beyond the last report'}"
        for name, shift in (("precision", -3), ("recall", 3)):
            _dot(drawing, name, x + shift, place(entry[name]), f"{told}: {name} {entry[name]:.1%}")
            if (shifted_to := entry["gracious"]) and shifted_to[name] != entry[name]:
                _dot(
                    drawing,
                    f"{name} hollow",
                    x + shift,
                    place(shifted_to[name]),
                    f"{told}: {name} {shifted_to[name]:.1%}, gracious",
                )
    y = _extents(drawing, axis, "windows", [tuple(w) for w in windows], "due same", 24 + PANEL + 8)
    y = (
        _extents(drawing, axis, "gracious", [tuple(w) for w in shifted], "given same", y + 4)
        if shifted
        else y
    )
    return _with_times(drawing, axis, [border for window in windows for border in window], y)


def delays(metrics: Sequence[Entry]) -> Drawing:
    """How late each answer came, above the sizes: elements of the window,
    rows expected and given.
    """
    drawing = Drawing(f"Delay and sizes of {len(metrics)} windows")
    late = [entry["delay"] for entry in metrics if entry["delay"] is not None]
    axis = Axis([entry["window"][1] for entry in metrics if entry["window"]], LEFT + 20, RIGHT - 40)
    xs, beyond = [], 0
    for entry in metrics:
        xs.append(
            axis(entry["window"][1]) if entry["window"] else RIGHT - 20 - 6 * (beyond := beyond + 1)
        )
    y = 24.0
    _key(
        drawing,
        (
            ("delay", "delay"),
            ("elements", "elements"),
            ("expected", "rows expected"),
            ("actual", "rows given"),
        ),
    )
    if late:
        place = _panel(drawing, y, max(1, *late), _number, min(0, *late))
        for x, entry in zip(xs, metrics, strict=True):
            if entry["delay"] is not None:
                drawing.line("stem", x, place(0), x, place(entry["delay"]))
                _dot(
                    drawing,
                    "delay",
                    x,
                    place(entry["delay"]),
                    f"window {entry['window']}: {entry['delay']} after its close",
                )
        y += PANEL + 16
    most = max(
        1, *(entry[name] for entry in metrics for name in ("elements", "expected", "actual"))
    )
    place = _panel(drawing, y, most, _number)
    width = max(1.5, min(8, (RIGHT - LEFT) / (4 * len(metrics))))
    for x, entry in zip(xs, metrics, strict=True):
        for shift, name in enumerate(("elements", "expected", "actual")):
            left = x + (shift - 1.5) * width
            drawing.bar(
                name,
                left,
                left + width - 0.5,
                place(entry[name]),
                place(0) - place(entry[name]),
                f"window {entry['window']}: {entry[name]} {name}",
            )
    return _with_times(drawing, axis, axis.instants, y + PANEL + 4)


def resources(samples: Sequence[Entry]) -> Drawing:
    """Memory in MB, CPU in percent of one core, and threads, over the time of the run. Samples have
    CPU seconds since the start (`conformance.harness.client.Sample`): each percentage is that since
    the sample before.
    """
    drawing = Drawing(f"Memory, CPU and threads in {len(samples)} samples")
    start, end = samples[0]["at"], samples[-1]["at"]
    # they are told in ms
    apart = [(a, b) for a, b in pairwise(samples) if b["at"] - a["at"] >= 0.001]
    panels: tuple[tuple[str, str, list[Point]], ...] = (
        ("rss", "memory, MB", [(sample["at"], sample["rss"] / 1e6) for sample in samples]),
        (
            "cpu",
            "CPU, % of one core",
            [(b["at"], 100 * max(0, b["cpu"] - a["cpu"]) / (b["at"] - a["at"])) for a, b in apart],
        ),
        ("threads", "threads", [(sample["at"], sample["threads"]) for sample in samples]),
    )
    y = 22.0
    for name, title, found in panels:
        if not found:
            continue
        values = [value for _, value in found]
        place = _panel(drawing, y, max(1e-9, *values), _number)
        drawing.write("lane", LEFT, y - 6, title)
        points = [
            (LEFT + (RIGHT - LEFT) * (t - start) / ((end - start) or 1), place(v))
            for t, v in thinned(found, SAMPLES)
        ]
        words = f"{title}: from {_number(min(values))} to {_number(max(values))}"
        drawing.add(
            "polyline", name, "", words, points=" ".join(f"{x:.1f},{v:.1f}" for x, v in points)
        )
        y += PANEL + 30
    y -= 30
    drawing.write("tick", LEFT, y + 14, f"{start:g} s")
    drawing.write("tick", RIGHT, y + 14, f"{end:g} s", "end")
    drawing.height = y + 20
    return drawing


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _key(drawing: Drawing, entries: Sequence[tuple[str, str]]) -> None:
    x = float(LEFT)
    for kind, words in entries:
        _dot(drawing, kind, x + 4, 8, "")
        drawing.write("tick", x + 12, 12, words)
        x += 40 + 6 * len(words)


def _dot(drawing: Drawing, kind: str, x: float, y: float, title: str) -> None:
    drawing.add("circle", kind, "", title, cx=x, cy=y, r=3.4)


def _panel(
    drawing: Drawing, y: float, most: float, label: Callable[[float], str], least: float = 0
) -> Callable[[float], float]:
    """A frame with three labels, and where a value is in it."""
    span = (most - least) or 1

    def place(value: float) -> float:
        return y + PANEL - PANEL * (value - least) / span

    for value in (least, (least + most) / 2, most):
        drawing.line("grid", LEFT, place(value), RIGHT, place(value))
        drawing.write("tick", LEFT - 6, place(value) + 4, label(value), "end")
    return place


def _extents(
    drawing: Drawing,
    axis: Axis,
    title: str,
    windows: Sequence[tuple[int, int]],
    kind: str,
    y: float,
) -> float:
    drawing.write("lane", 4, y + 9, title)
    used = lanes([(axis(o), axis(c)) for o, c in windows], 1)
    for (o, c), lane in zip(windows, used, strict=True):
        drawing.bar(kind, axis(o), axis(c), y + lane * 10, 8, f"[{o}, {c}]")
    return y + (max(used, default=0) + 1) * 10


def _with_times(drawing: Drawing, axis: Axis, instants: Sequence[float], y: float) -> Drawing:
    for instant, x in axis.ticks(instants):
        drawing.write("tick", x, y + 12, str(instant), "middle")
    drawing.height = y + 20
    return drawing
