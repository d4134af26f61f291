"""The functional table of a benchmark: which engine answers which query right, and why not where it
does not. It rests on what engines answer, and not on what their makers say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.bench.figures import NONE, reading_order, run_of, worst_of
from conformance.bench.tables import Cell, Table
from conformance.report.texts import most_telling_line
from conformance.verdict.results import Result

# Engines, and what is published of each for a query: `ok`, or what it lacks.
Published = Mapping[str, Mapping[str, str]]

PASS = "pass"


def functional_table(
    results: Iterable[Result],
    queries: Sequence[str],
    published: Published | None = None,
    legend: str = "",
) -> Table:
    """Return the functional table: a row for each query, a column for each engine, and beside these
    a column for each engine of which something is published; `legend` explains these.

    Of several runs of a query the worst is shown. A query that was answered right without a row
    says less than one with rows, and is told apart.
    """
    runs: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        runs.setdefault((_query_of(result), result.engine), []).append(result)
    engines = sorted({engine for _, engine in runs})
    published = published or {}
    rows = []
    for query in queries:
        cells = [_cell(runs.get((query, engine), [])) for engine in engines]
        told = [Cell(published[engine].get(query, "–")) for engine in published]
        rows.append((Cell(query), *cells, *told))
    return Table(
        "Which engine answers which query",
        ("query", *engines, *(f"{engine}, published" for engine in published)),
        tuple(rows),
        f"Each verdict is on the engine's answers, under its own semantics. {legend}".rstrip(),
    )


def _query_of(result: Result) -> str:
    """Return the name of the query that a result is about."""
    run = result.benchmark_run
    return result.case if run is None else run.test


def _cell(results: Sequence[Result]) -> Cell:
    """Return the cell of a query on an engine."""
    if not results:
        return NONE
    worst = worst_of(results)
    is_silent = worst.kind == PASS and not any(run_of(one).get("rows") for one in results)
    if is_silent:
        return Cell("pass, no row", PASS)
    return Cell(worst.kind, worst.kind)


def reasons_table(results: Iterable[Result]) -> Table:
    """Return why queries are not answered right: a row for each run that is no pass, with the line
    of its argument that says most.
    """
    rows = [
        (
            Cell(result.engine),
            Cell(result.case),
            Cell(result.kind, result.kind),
            Cell("; ".join(deviation.reason for deviation in result.known) or "–"),
            Cell(most_telling_line(result.argument)),
        )
        for result in sorted(results, key=reading_order)
        if result.kind != PASS
    ]
    columns = ("engine", "query", "verdict", "known", "why")
    return Table("What differs", columns, tuple(rows), is_prose=True)
