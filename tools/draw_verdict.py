"""Draw the rows at the edges of windows that a verdict names, on a time line.

    python tools/draw_verdict.py DIR ENGINE QUERY [SUFFIX] -o FILE.svg

The picture in README.md is `csparql Q3 rerun` of CSRBench's recordings.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from xml.etree import ElementTree

from conformance.bench.recordings import csrbench
from refengine.core import profiles
from refengine.oracle import judge
from refengine.oracle.comparison import BorderRow, Fate
from refengine.rdf.recordings import read_recording

WIDTH = 880
LEFT = 120  # the margin on either side
TOP = 70  # where the lane of windows begins
LANE = 34  # the height of the lane of windows
ROW = 28  # the height of a row's lane
FIRST_ROW = TOP + LANE + 44
GREEN = "#1b7f4d"
RED = "#c0392b"
INK = "#1f2933"
PALE = "#9aa5b1"
CAPTION = (
    "each dot is a row, at the instant of the element that completes it: the "
    "first or the last of its window"
)


def judge_cell(
    folder: Path, engine: str, query: str, suffix: str
) -> tuple[judge.Judgement, str, int]:
    """Return the judgement on one of CSRBench's recordings, the recording's name, and the slide of
    the query's window.
    """
    cells = csrbench.group_by_query(csrbench.answer_files(folder), engine)[query]
    cell = next(cell for cell in cells if cell.suffix == suffix)
    asked = csrbench.query(query)
    streams = {asked.windows[0].stream: csrbench.stream(folder)}
    recording = read_recording(cell.path).relations
    judgement = judge.judge(asked, streams, profiles.profile(engine), recording)
    return judgement, cell.name, asked.windows[0].step


def window_of_arrival(row: BorderRow, slide: int) -> tuple[int, int]:
    """Return the window that the recording has a row in: its own, or the one before or after."""
    shift = {Fate.EARLY: -slide, Fate.LATE: slide}.get(row.fate, 0)
    return row.window[0] + shift, row.window[1] + shift


def all_windows(rows: tuple[BorderRow, ...], slide: int) -> list[tuple[int, int]]:
    """Return the windows that rows belong to or came in, and those between them."""
    named = {row.window for row in rows} | {window_of_arrival(row, slide) for row in rows}
    first = min(named)
    count = (max(named)[0] - first[0]) // slide + 1
    return [(first[0] + n * slide, first[1] + n * slide) for n in range(count)]


class Picture:
    """An SVG with a time line from `lo` to `hi`, in ms."""

    def __init__(self, lo: int, hi: int, height: int, title: str) -> None:
        self.lo = lo
        self.hi = hi
        self.root = ElementTree.Element(
            "svg",
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {WIDTH} {height}",
            role="img",
            style="background:#fff",
        )
        ElementTree.SubElement(self.root, "title").text = title

    def x(self, t: int) -> float:
        """Return the place of an instant, from the left."""
        return round(LEFT + (t - self.lo) * (WIDTH - 2 * LEFT) / (self.hi - self.lo), 1)

    def text(
        self,
        at: float,
        y: float,
        words: str,
        colour: str = INK,
        anchor: str = "middle",
        size: int = 13,
    ) -> None:
        """Write some words."""
        attributes = {
            "x": str(at),
            "y": str(y),
            "fill": colour,
            "text-anchor": anchor,
            "font-size": str(size),
            "font-family": "system-ui, sans-serif",
        }
        ElementTree.SubElement(self.root, "text", attributes).text = words

    def window(self, opens: int, closes: int) -> None:
        """Draw a window as a box with its borders in seconds."""
        box = {
            "x": str(self.x(opens) + 1.5),
            "y": str(TOP),
            "width": str(self.x(closes) - self.x(opens) - 3),
            "height": str(LANE),
            "rx": "4",
            "fill": "#e8eef4",
            "stroke": PALE,
        }
        ElementTree.SubElement(self.root, "rect", box)
        middle = (self.x(opens) + self.x(closes)) / 2
        self.text(middle, TOP + 22, f"[{opens // 1000}, {closes // 1000})")

    def row(self, row: BorderRow, lane: int, came_in: tuple[int, int]) -> None:
        """Draw a row as a dot at the instant that completes it, with a line to the window that the
        recording has it in.
        """
        y = FIRST_ROW + ROW * lane
        dot = self.x(row.at)
        colour = RED
        share = 0.65  # of the window, so that the line ends beside those of rows in place
        if row.fate is Fate.PLACE:
            colour = GREEN
            share = 0.35
        opens, closes = came_in
        end = round(self.x(opens) + (self.x(closes) - self.x(opens)) * share, 1)

        ElementTree.SubElement(self.root, "circle", cx=str(dot), cy=str(y), r="6", fill=colour)
        path = f"M {dot} {y} L {end} {y} L {end} {TOP + LANE + 3}"
        line = ElementTree.SubElement(self.root, "path", d=path, stroke=colour, fill="none")
        line.set("stroke-width", "1.5")
        # The words stand on the side of the dot where the line is not.
        if end < dot:
            self.text(dot + 12, y + 4, str(row.fate), colour, "start", 12)
        else:
            self.text(dot - 12, y + 4, str(row.fate), colour, "end", 12)


def draw_rows(rows: tuple[BorderRow, ...], slide: int, title: str) -> ElementTree.Element:
    """Return an SVG of the windows that the rows are about, with a dot for each row, joined to the
    window that the recording has it in.
    """
    windows = all_windows(rows, slide)
    height = FIRST_ROW + ROW * len(rows)
    picture = Picture(windows[0][0], windows[-1][1], height, title)
    picture.text(LEFT, 26, title, anchor="start", size=16)
    picture.text(LEFT, 48, CAPTION, PALE, "start")
    for opens, closes in windows:
        picture.window(opens, closes)
    for t in sorted({border for window in windows for border in window}):
        picture.text(picture.x(t), TOP + LANE + 18, f"{t // 1000} s", PALE)
    for lane, row in enumerate(sorted(rows, key=lambda row: row.at)):
        picture.row(row, lane, window_of_arrival(row, slide))
    return picture.root


def rows_at_edges(judgement: judge.Judgement) -> tuple[BorderRow, ...]:
    """Return the rows at the edges of windows that a fail names; none for a pass."""
    if judgement.passed or judgement.trial is None or judgement.trial.divergence is None:
        return ()
    return judgement.trial.divergence.borders


def main() -> int:
    """Run the command line and return its exit code: 1 if there is no row to draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("engine")
    parser.add_argument("query")
    parser.add_argument("suffix", nargs="?", default="")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    judgement, name, slide = judge_cell(
        options.folder, options.engine, options.query, options.suffix
    )
    rows = rows_at_edges(judgement)
    if not rows:
        print(f"{name}: no row is at the edge of a window", file=sys.stderr)
        return 1
    off = sum(row.fate is not Fate.PLACE for row in rows)
    title = f"{name}: {off} of {len(rows)} rows at the edge of a window came with another one"
    tree = draw_rows(rows, slide, title)
    text = ElementTree.tostring(tree, encoding="unicode")
    options.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
