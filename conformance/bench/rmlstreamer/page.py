"""The tables of a run, and its page: pure functions of the figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from conformance.bench.rmlstreamer.published import PUBLISHED
from conformance.bench.rmlstreamer.run import JoinFigures
from conformance.bench.rmlstreamer.workloads import WORKLOADS
from conformance.bench.table_page import PageSection, PageWords, table_page
from conformance.bench.tables import Cell, Table
from conformance.report.drawings.curves import Curve, draw_curves, number_text, range_text
from refengine.drawings.drawing import Drawing

COLUMNS = (
    "window",
    "IOU",
    "published IOU",
    "by key",
    "complete",
    "latency, later",
    "latency, mean",
    "published latency",
    "held, most",
    "held, mean",
    "duration",
    "of a key",
)
NOTE = (
    "IOU: intersection over union of the matches and the whole join, which has all pairs of left "
    "and right records with the same key, without windows; by key: the mean of the keys' own; "
    "complete: the share of the whole join's pairs that came out at all. Latencies are "
    "medians in ms of stream time, since the later record of a match, and as the mean of both "
    "records' waits. The published ones are of the wall clock, and not said to be of one workload "
    "alone: that of rmlstreamer by the later record, that of tumbling by the mean of both. Held "
    "are records: the most, and the mean over time; a duration is the mean of the windows that "
    "held any, in ms; of a key: the windows of a key, at most."
)


def tables_of(results: Sequence[JoinFigures]) -> list[Table]:
    """Return a table for each workload, in the order of the results."""
    tables = [_table(name, list(rows)) for name, rows in groupby(results, lambda one: one.workload)]
    return [*tables[:-1], *(replace(table, note=NOTE) for table in tables[-1:])]


def _table(name: str, results: Sequence[JoinFigures]) -> Table:
    """Return the table of a workload, without a note."""
    first = results[0]
    title = (
        f"{WORKLOADS[name].title}: {first.records:,} records in {first.seconds} s, "
        f"{first.whole_join:,} pairs in the whole join (seed {first.seed})"
    )
    return Table(title, COLUMNS, tuple(map(_row, results)))


def _row(figures: JoinFigures) -> tuple[Cell, ...]:
    """Return the row of a window."""
    published = PUBLISHED.get((figures.workload, figures.window))
    published_union, published_latency = "", ""
    if published is not None:
        published_union = f"{published.intersection_over_union:.3f}"
    if published is not None and published.latency is not None:
        published_latency = f"{published.latency}"
    texts = (
        figures.window,
        f"{figures.intersection_over_union:.3f}",
        published_union,
        f"{figures.by_key:.3f}",
        f"{figures.completeness:.3f}",
        _milliseconds(figures.since_later),
        _milliseconds(figures.mean_of_both),
        published_latency,
        f"{figures.most_held:,}",
        f"{figures.mean_held:,.0f}",
        f"{figures.mean_duration:,.0f}",
        f"{figures.most_of_a_key}",
    )
    return tuple(Cell(text) for text in texts)


def _milliseconds(value: float | None) -> str:
    """Write a latency; nothing where there was no match."""
    if value is None:
        return ""
    return f"{value:,.0f}"


def page(results: Sequence[JoinFigures]) -> str:
    """Return the HTML of the page of a run. The same figures give the same page."""
    words = PageWords(
        title="Joins over adaptive windows",
        lead=f"{len(results)} runs of windows over workloads.",
        source="docs/joins.md. The workloads follow the published generator.",
        heading="Curves",
        made_by="python -m conformance adaptive",
    )
    return table_page(words, tables_of(results), list(_sections(results)))


def _sections(results: Iterable[JoinFigures]) -> Iterator[PageSection]:
    """Yield the curves of each workload."""
    for name, group in groupby(results, lambda one: one.workload):
        of_workload = list(group)
        plots = [
            ("Records held over time", _curves(of_workload, "rss", "held_curve", "records held")),
            (
                "Duration of the windows that end at an instant, in ms",
                _curves(of_workload, "cpu", "duration_curve", "ms"),
            ),
        ]
        yield PageSection(WORKLOADS[name].title, plots)


def _curves(results: Sequence[JoinFigures], kind: str, curve: str, unit: str) -> Drawing:
    """Draw a curve of each window, one below the other, on one scale. `kind` is a class of page.css
    that has a colour: the curves have those of the benches' memory and CPU.
    """
    drawing = Drawing(f"{unit} of {len(results)} windows")
    every = [point for figures in results for point in getattr(figures, curve)]
    if not every:
        return drawing
    most = max(1.0, *(value for _, value in every))
    curves = []
    for figures in results:
        points = getattr(figures, curve)
        words = range_text([value for _, value in points] or [0], number_text)
        corners = [(at / 1000, value) for at, value in _as_steps(points)]
        curves.append(Curve(kind, figures.window, corners, most, f"{words} {unit}"))
    instants = [at / 1000 for at, _ in every]
    draw_curves(drawing, curves, min(instants), max(instants))
    return drawing


def _as_steps(points: Sequence[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    """Yield the corners of a curve whose value holds until the next point."""
    before: float | None = None
    for at, value in points:
        if before is not None:
            yield at, before
        yield at, value
        before = value
