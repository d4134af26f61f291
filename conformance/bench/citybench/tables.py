"""CityBench's tables: latency, memory and completeness of each test, beside what CityBench
published.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from conformance.bench.citybench.configuration import REPOSITORY_SENSORS
from conformance.bench.citybench.queries import QUERIES
from conformance.bench.figures import (
    ResultsOfTest,
    amount_cell,
    group_by_test,
    mean,
    table_of_runs,
)
from conformance.bench.functional import functional_table, reasons_table
from conformance.bench.queries import table_of_queries
from conformance.bench.tables import NO_VALUE, Cell, Table
from conformance.verdict.results import Result

ENGINES = {"csparql": "C-SPARQL", "cqels": "CQELS"}


@cache
def published_means() -> Mapping[tuple[str, float, int, str], Mapping[str, float]]:
    """Return the means that CityBench published, by query, frequency, duplicates and engine."""
    path = Path(__file__).with_name("published.toml")
    tests = tomllib.loads(path.read_text(encoding="utf-8"))["test"]
    return {
        (test["query"], test["frequency"], test["duplicates"], test["engine"]): test
        for test in tests
    }


def tables(results: Sequence[Result]) -> Sequence[Table]:
    """Return CityBench's measures, which engine answers which query, why not, the queries with
    where they come from, and the runs.
    """
    functional = functional_table([one for one in results if _is_of_query(one)], list(QUERIES))
    return [
        _measures(sorted(group_by_test(results), key=_place_of)),
        functional,
        reasons_table(results),
        table_of_queries(QUERIES.values()),
        table_of_runs(results),
    ]


def _is_of_query(result: Result) -> bool:
    """Whether a result is about a query as it is, and not of an experiment with knobs."""
    return result.benchmark_run is not None and result.benchmark_run.experiment in QUERIES


def _place_of(test: ResultsOfTest) -> tuple[object, ...]:
    """Return the place of a test in the table of an engine: the queries come first, in order."""
    order = list(QUERIES)
    if test.experiment in order:
        return test.engine, order.index(test.experiment), test.test
    return test.engine, len(order), test.name


def _published_of(test: ResultsOfTest) -> Mapping[str, Mapping[str, float]]:
    """Return what CityBench published of a test, by its engines; nothing if it asks otherwise."""
    measures = test.measures()
    if not measures:
        return {}
    knobs = measures[0]["knobs"]
    if knobs["rate"] != 1.0 or knobs["window"] is not None:
        return {}
    if knobs["background"] > REPOSITORY_SENSORS:
        return {}
    key = knobs["query"], knobs["frequency"], knobs["duplicates"]
    return {engine: published_means().get((*key, engine), {}) for engine in ENGINES}


def _measures(tests: Sequence[ResultsOfTest]) -> Table:
    """Return the table of CityBench's measures."""
    published = [
        f"{title} {what}" for title in ENGINES.values() for what in ("latency ms", "memory MiB")
    ]
    return Table(
        "Latency, memory and completeness",
        (
            "engine",
            "test",
            "verdict",
            "latency ms",
            "memory MiB",
            "completeness",
            "unexpected",
            *published,
        ),
        tuple(map(_row, tests)),
        "Latency is from when an observation is sent to the first answer that names it, in the "
        "mean; without --live, elements are sent as fast as the engine takes them, and it says "
        "little. Memory is the mean of the samples, of the harness and of all that it started. "
        "Completeness is the share of the observations of the expected answers that the engine's "
        "answers name; of rows, marked *, where a query names no observation. The last four are "
        "means of the files that CityBench published for the same frequency and duplicates, over "
        "15 minutes and its own data; they are left out where the "
        "background has more sensors than its repository.",
    )


def _row(test: ResultsOfTest) -> tuple[Cell, ...]:
    """Return the row of a test."""
    measures = test.measures()
    found = [one["completeness"] for one in measures if "completeness" in one]
    published = _published_of(test)
    cells = [
        amount_cell(published.get(engine, {}).get(key), 1)
        for engine in ENGINES
        for key in ("latency", "memory")
    ]
    return (
        *test.first_cells,
        amount_cell(mean(one["latency"] for one in measures), 1),
        amount_cell(mean(one.get("memory") for one in measures), 1),
        _completeness_cell(found),
        amount_cell(mean(one["unexpected"] for one in found)),
        *cells,
    )


def _completeness_cell(found: Sequence[Mapping[str, Any]]) -> Cell:
    """Return the cell of the completeness of several runs: of all their observations together."""
    expected = sum(one["expected"] for one in found)
    if not expected:
        return NO_VALUE
    captured = sum(one["captured"] for one in found)
    mark = "" if found[0]["is_of_observations"] else "*"
    return Cell(f"{captured / expected:.4f}{mark}")
