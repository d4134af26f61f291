"""The table of the benchmark `by-hand` as Markdown with the ratios of earlier runs, and its bars as
SVG.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import ceil, log10
from pathlib import Path
from typing import Any

from conformance.verdict.results import replace
from refengine.drawings.drawing import WIDTH, Drawing
from refengine.drawings.style import style
from tools.bench.lab import Line

LEFT, RIGHT = 220, WIDTH - 80
BAR, APART = 14, 22
CLASSES = {"reading": "given", "engine": "due", "peer": "given differs"}


def write_hand_page(lines: Sequence[Line], folder: Path, run_name: str) -> None:
    """Write the lines of the benchmark into a folder: by-hand.md and by-hand.svg. The engine's
    ratios go to the end of by-hand.ndjson, which keeps those of earlier runs.

    A second run of one name replaces the first. Raises ValueError if by-hand.ndjson has a line that
    is not of such a run, and OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "by-hand.ndjson"
    runs = [run for run in read_runs(path) if run["run"] != run_name]
    runs.append({"run": run_name, "ratios": engine_ratios(lines)})
    replace(
        {
            path: map(json.dumps, runs),
            folder / "by-hand.md": [*table_lines(lines), *history_lines(runs)],
            folder / "by-hand.svg": [draw(lines)],
        }
    )


def engine_ratios(lines: Sequence[Line]) -> dict[str, float]:
    """Return how many times the loop our engine takes, for each query."""
    return {_parts(line)[0]: line["ratios"]["engine"] for line in lines if _is_engine(line)}


def _is_engine(line: Line) -> bool:
    """Return whether our engine was measured."""
    return "engine" in line.get("ratios", {})


def read_runs(path: Path) -> list[dict[str, Any]]:
    """Return the runs that a file keeps, none if there is no such file. Raises ValueError if a line
    is no run.
    """
    if not path.exists():
        return []
    runs = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        run = json.loads(text)
        if not (isinstance(run, dict) and set(run) == {"run", "ratios"}):
            raise ValueError(f'{path}, line {number}: must be {{"run": …, "ratios": …}}')
        runs.append(run)
    return runs


def history_lines(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of how many times the loop our engine took in each run, the latest last."""
    queries = list(dict.fromkeys(query for run in runs for query in run["ratios"]))
    yield ""
    yield "Our engine, times the loop of the same run:"
    yield ""
    yield f"| run | {' | '.join(queries)} |"
    yield f"|---|{'--:|' * len(queries)}"
    for run in runs:
        cells = [f"{run['ratios'][query]:g}" if query in run["ratios"] else "" for query in queries]
        yield f"| {' | '.join([run['run'], *cells])} |"


def table_lines(lines: Sequence[Line]) -> Iterator[str]:
    """Yield a table of what was measured, and a line for each that was not."""
    yield "# How long the engine takes beside loops written by hand"
    yield ""
    yield "`make bench NAME=by-hand OUT=docs/evidence` writes this page. It compares CPU seconds"
    yield "of one run with those of a loop written by hand for the query."
    yield ""
    yield "![The ratios as bars](by-hand.svg)"
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
