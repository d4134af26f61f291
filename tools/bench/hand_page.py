"""The table of the benchmark `by-hand` as Markdown, and its bars as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, log10
from pathlib import Path

from conformance.verdict.results import replace
from refengine.drawings.drawing import WIDTH, Drawing
from refengine.drawings.style import style
from tools.bench.lab import Line

LEFT, RIGHT = 220, WIDTH - 80
BAR, APART = 14, 22
CLASSES = {"reading": "given", "engine": "due", "peer": "given differs"}


def write_hand_page(lines: Sequence[Line], folder: Path) -> None:
    """Write the lines of the benchmark into a folder: by-hand.md and by-hand.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    replace({folder / "by-hand.md": table_lines(lines), folder / "by-hand.svg": [draw(lines)]})


def table_lines(lines: Sequence[Line]) -> Iterator[str]:
    """Yield a table of what was measured, and a line for each that was not."""
    yield "CPU seconds as multiples of those of a loop written by hand for the query."
    yield ""
    yield "| query | loop, CPU s | what is measured | times the loop | rows | also the loop's |"
    yield "|---|--:|---|--:|--:|--:|"
    for line in lines:
        for what, ratio in line.get("ratios", {}).items():
            label = _label(line, what)
            rows = f"{line['rows']:,}"
            if "measured" in line:
                label = f"{label}: {line['measured']}"
            if what == "reading":
                rows = ""
            common = line.get("common_rows")
            cells = [
                _parts(line)[0],
                f"{line['cpu_seconds']['loop']:.3f}",
                label,
                f"{ratio:g}",
                rows,
                rows if common is None else f"{common:,}",
            ]
            yield f"| {' | '.join(cells)} |"
    yield ""
    for line in lines:
        for kind, words in (("not_installed", "not installed"), ("failed", "failed")):
            if kind in line:
                yield f"- {_label(line, '')}: {words}: {' '.join(line[kind].split())}"


def draw(lines: Sequence[Line]) -> str:
    """Return a bar for each ratio, on a logarithmic scale from 1, as an SVG file."""
    bars = [(line, what, ratio) for line in lines for what, ratio in line.get("ratios", {}).items()]
    decades = max(1, ceil(log10(max((ratio for *_, ratio in bars), default=1.0))))
    drawing = Drawing("; ".join(f"{_name(line, what)} {ratio:g}" for line, what, ratio in bars))

    def place(ratio: float) -> float:
        return LEFT + (RIGHT - LEFT) * log10(max(1.0, ratio)) / decades

    y = 28 + APART * len(bars)
    for decade in range(decades + 1):
        drawing.line("grid", place(10**decade), 24, place(10**decade), y)
        drawing.write("tick", place(10**decade), 18, f"{10**decade:,}", "middle")
    drawing.write("lane", 4, 18, "times the loop by hand")
    for number, (line, what, ratio) in enumerate(bars):
        top = 28 + APART * number
        drawing.write("lane", LEFT - 8, top + BAR - 3, _name(line, what), "end")
        title = f"{_name(line, what)}: {ratio:g} times the loop"
        drawing.bar(CLASSES[what], place(1), place(ratio), top, BAR, title)
        drawing.write("tick", place(ratio) + 6, top + BAR - 3, f"{ratio:g}")
    shapes = "".join(shape.svg() for shape in drawing.shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" role="img" '
        f'style="background: var(--paper)"><title>{escape(drawing.label)}</title>'
        f"<style>{style()}</style>{shapes}</svg>"
    )


def _parts(line: Line) -> tuple[str, str]:
    """Return the query of a line, and the engine that it is about; empty if that is ours."""
    query, _, engine = line["name"].partition("/")[2].partition("/")
    return query, engine


def _label(line: Line, what: str) -> str:
    """Return the name of what was measured."""
    return _parts(line)[1] or what


def _name(line: Line, what: str) -> str:
    """Return the query of a line, and the name of what was measured."""
    return f"{_parts(line)[0]}: {_label(line, what)}"
