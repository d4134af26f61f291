"""The page of a benchmark: one HTML file without a script, with its tables, and for each test its
plots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from conformance.bench.benchmark import Benchmark
from conformance.bench.figures import group_by_test
from conformance.bench.table_page import PageSection, PageWords, table_page
from conformance.bench.tables import Table
from conformance.report import texts
from conformance.report.drawings import boxplots, charts
from conformance.verdict.explain import count_text
from conformance.verdict.results import Result
from refengine.drawings.drawing import Drawing

# the most that a page has
TESTS = 300  # of all engines together
CELL = 400  # characters of a cell


def page(benchmark: Benchmark, tables: Sequence[Table], results: Sequence[Result]) -> str:
    """Return the HTML of the page of a benchmark's results. The same results give the same page."""
    sections = list(_sections(results))
    engines = [texts.clean(name) for name in sorted({result.engine for result in results})]
    words = PageWords(
        title=benchmark.title,
        lead=f"{count_text(len(results), 'run')} of {', '.join(engines) or 'no engine'}.",
        source=benchmark.source,
        heading="Tests",
        made_by="python -m conformance bench",
    )
    return table_page(
        words,
        list(map(_clean_table, tables)),
        sections[:TESTS],
        engines,
        max(0, len(sections) - TESTS),
    )


def _clean_table(table: Table) -> Table:
    """Return a table whose texts are printable and of bounded length."""
    rows = tuple(
        tuple(cell._replace(text=texts.clean(cell.text, CELL)) for cell in row)
        for row in table.rows
    )
    columns = tuple(texts.clean(column, CELL) for column in table.columns)
    return replace(table, columns=columns, rows=rows)


def _sections(results: Iterable[Result]) -> Iterator[PageSection]:
    """Yield the sections of all tests, engine by engine: Q2 before Q10."""
    for test in group_by_test(results):
        shown = test.worst
        title = f"{test.engine}: {test.name}"
        if len(test.results) > 1:
            title += f", {len(test.results)} runs"
        yield PageSection(
            texts.clean(title),
            _plots(test.results),
            texts.block((shown.evidence or {}).get("query", "")),
            shown.kind,
            texts.block(shown.explanation),
        )


def _plots(runs: Sequence[Result]) -> list[tuple[str, Drawing]]:
    """Return the plots of a test: boxplots over its runs, if there are several, and the charts of
    its first run.
    """
    measured = [
        run.evidence["metrics"] for run in runs if run.evidence and "metrics" in run.evidence
    ]
    plots = []
    if len(measured) > 1:
        plots += boxplots.boxplots(measured)
    if runs[0].evidence:
        plots += charts.charts(runs[0].evidence)
    return plots
