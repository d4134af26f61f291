"""The functional table of a benchmark: which engine answers which query right, and why not where it
does not. It rests on what engines answer, and not on what their makers say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.bench.figures import (
    feeding_evidence_of,
    group_by_test,
    kind_cell,
    worst_of,
)
from conformance.bench.tables import DASH, NO_VALUE, Cell, Table
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
        runs.setdefault((result.test, result.engine), []).append(result)
    engines = sorted({engine for _, engine in runs})
    published = published or {}
    rows = []
    for query in queries:
        cells = [_cell(runs.get((query, engine), [])) for engine in engines]
        told = [Cell(published[engine].get(query, DASH)) for engine in published]
        rows.append((Cell(query), *cells, *told))
    return Table(
        "Which engine answers which query",
        ("query", *engines, *(f"{engine}, published" for engine in published)),
        tuple(rows),
        f"Each verdict is on the engine's answers, under its own semantics. {legend}".rstrip(),
    )


def _cell(results: Sequence[Result]) -> Cell:
    """Return the cell of a query on an engine."""
    if not results:
        return NO_VALUE
    worst = worst_of(results)
    is_silent = worst.kind == PASS and not any(
        feeding_evidence_of(one).get("rows") for one in results
    )
    if is_silent:
        return Cell("pass, no row", PASS)
    return kind_cell(worst)


def reasons_table(results: Iterable[Result]) -> Table:
    """Return why answers are not right: a row for each test on an engine that is no pass, by its
    worst run, with the known deviations that explain it and the rules that these break, or else the
    line of its explanation that says most.
    """
    rows = []
    for test in group_by_test(results):
        known = test.worst.known
        if test.worst.kind == PASS:
            continue
        rules = sorted({rule for deviation in known for rule in deviation.rules})
        reason = "; ".join(deviation.reason for deviation in known)
        rows.append(
            (
                *test.first_cells,
                Cell(", ".join(rules) or DASH),
                Cell(reason or most_telling_line(test.worst.explanation)),
            )
        )
    return Table(
        "What differs",
        ("engine", "test", "verdict", "rules", "why"),
        tuple(rows),
        "Of several runs of a test the worst is taken.",
        is_prose=True,
    )
