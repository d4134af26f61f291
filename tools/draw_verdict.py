"""Draw a verdict's border rows on a time line: `python tools/draw_verdict.py DIR ENGINE QUERY
[SUFFIX] -o FILE.svg`.

The picture in README.md is `csparql Q3 rerun` of CSRBench's recordings.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from xml.etree import ElementTree

from conformance.benchmarks import csrbench
from refengine.core import profiles
from refengine.oracle import judge
from refengine.oracle.comparison import BorderRow, Fate
from refengine.rdf.recordings import read_recording

WIDTH, LEFT, LANE, TOP = 880, 120, 34, 70
COLOURS = {Fate.PLACE: "#1b7f4d"}
WRONG = "#c0392b"
INK, PALE = "#1f2933", "#9aa5b1"


def judged(folder: Path, engine: str, query: str, suffix: str) -> tuple[judge.Judgement, str, int]:
    """The judgement on one recording, its name and the query's slide."""
    cells = csrbench.group_by_query(csrbench.answer_files(folder), engine)[query]
    cell = next(cell for cell in cells if cell.suffix == suffix)
    asked = csrbench.query(query)
    streams = {asked.windows[0].stream: csrbench.stream(folder)}
    recording = read_recording(cell.path).relations
    return (
        judge.judge(asked, streams, profiles.profile(engine), recording),
        cell.name,
        asked.windows[0].step,
    )


def shifted(row: BorderRow, slide: int) -> tuple[int, int]:
    """The window that a row came with."""
    by = {Fate.EARLY: -slide, Fate.LATE: slide}.get(row.fate, 0)
    return row.window[0] + by, row.window[1] + by


def draw(rows: tuple[BorderRow, ...], slide: int, title: str) -> ElementTree.Element:
    """An SVG: the windows that the rows are about, and a dot for each row, joined to the window it
    came with.
    """
    size = rows[0].window[1] - rows[0].window[0]
    shown = {window for row in rows for window in (row.window, shifted(row, slide))}
    windows = sorted(
        {
            (first[0] + n * slide, first[1] + n * slide)
            for first in [min(shown)]
            for n in range((max(shown)[0] - first[0]) // slide + 1)
        }
    )
    lo, hi = windows[0][0], windows[-1][1]

    def x(t: int) -> float:
        return round(LEFT + (t - lo) * (WIDTH - 2 * LEFT) / (hi - lo), 1)

    height = TOP + LANE + 44 + 28 * len(rows)
    root = ElementTree.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        style="background:#fff",
    )
    ElementTree.SubElement(root, "title").text = title

    def text(
        at: float, y: float, words: str, colour: str = INK, anchor: str = "middle", size: int = 13
    ) -> None:
        attributes = {
            "x": str(at),
            "y": str(y),
            "fill": colour,
            "text-anchor": anchor,
            "font-size": str(size),
        }
        ElementTree.SubElement(
            root, "text", {**attributes, "font-family": "system-ui, sans-serif"}
        ).text = words

    text(LEFT, 26, title, anchor="start", size=16)
    text(
        LEFT,
        48,
        "each dot is a row, at the instant of the element that completes it: the "
        "first or the last of its window",
        PALE,
        "start",
    )
    for o, c in windows:
        box = {
            "x": str(x(o) + 1.5),
            "y": str(TOP),
            "width": str(x(c) - x(o) - 3),
            "height": str(LANE),
            "rx": "4",
        }
        ElementTree.SubElement(root, "rect", {**box, "fill": "#e8eef4", "stroke": PALE})
        text((x(o) + x(c)) / 2, TOP + 22, f"[{o // 1000}, {c // 1000})")
    for t in sorted({b for window in windows for b in window}):
        text(x(t), TOP + LANE + 18, f"{t // 1000} s", PALE)
    for lane, row in enumerate(sorted(rows, key=lambda row: row.at)):
        y = TOP + LANE + 44 + 28 * lane
        colour = COLOURS.get(row.fate, WRONG)
        ElementTree.SubElement(root, "circle", cx=str(x(row.at)), cy=str(y), r="6", fill=colour)
        came = shifted(row, slide)[0]
        to = round(
            x(came) + (x(came + size) - x(came)) * (0.35 if row.fate is Fate.PLACE else 0.65), 1
        )
        ElementTree.SubElement(
            root,
            "path",
            d=f"M {x(row.at)} {y} L {to} {y} L {to} {TOP + LANE + 3}",
            stroke=colour,
            fill="none",
        ).set("stroke-width", "1.5")
        side = 12 if to < x(row.at) else -12
        text(x(row.at) + side, y + 4, str(row.fate), colour, "start" if side > 0 else "end", 12)
    return root


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("engine")
    parser.add_argument("query")
    parser.add_argument("suffix", nargs="?", default="")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    judgement, name, slide = judged(options.folder, options.engine, options.query, options.suffix)
    apart = None if judgement.trial is None else judgement.trial.divergence
    rows = apart.borders if apart is not None and not judgement.passed else ()
    if not rows:
        print(f"{name}: no row is at the edge of a window", file=sys.stderr)
        return 1
    off = sum(row.fate is not Fate.PLACE for row in rows)
    tree = draw(
        rows,
        slide,
        f"{name}: {off} of {len(rows)} rows at the edge of a window came with another one",
    )
    options.output.write_text(
        ElementTree.tostring(tree, encoding="unicode") + "\n", encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
