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
    mean_of,
    table_of_runs,
)
from conformance.bench.functional import functional_table, reasons_table
from conformance.bench.queries import table_of_queries
from conformance.bench.tables import NO_VALUE, Cell, Column, Table, make_table
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
    columns: Sequence[Column[ResultsOfTest]] = (
        ("engine", lambda test: test.first_cells[0]),
        ("test", lambda test: test.first_cells[1]),
        ("verdict", lambda test: test.first_cells[2]),
        ("latency ms", lambda test: _mean_cell(test.measures(), "latency", 1)),
        ("memory MiB", lambda test: _mean_cell(test.measures(), "memory", 1)),
        ("completeness", lambda test: _completeness_cell(_completeness_of(test))),
        ("unexpected", lambda test: _mean_cell(_completeness_of(test), "unexpected", 0)),
        *(
            _published_column(engine, key, words)
            for engine in ENGINES
            for key, words in (("latency", "latency ms"), ("memory", "memory MiB"))
        ),
    )
    return make_table(
        "Latency, memory and completeness",
        columns,
        tests,
        "Latency is from when an observation is sent to the first answer that names it, in the "
        "mean; without --live, elements are sent as fast as the engine takes them, and it says "
        "little. Memory is the mean of the samples, of the harness and of all that it started. "
        "Completeness is the share of the observations of the expected answers that the engine's "
        "answers name; of rows, marked *, where a query names no observation. The last four are "
        "means of the files that CityBench published for the same frequency and duplicates, over "
        "15 minutes and its own data; they are left out where the "
        "background has more sensors than its repository.",
    )


def _mean_cell(measures: Sequence[Mapping[str, Any]], key: str, decimals: int) -> Cell:
    """Return the cell of the mean of a measure over the runs that have it."""
    return amount_cell(mean_of(measures, key), decimals)


def _published_column(engine: str, key: str, words: str) -> Column[ResultsOfTest]:
    """Return the column of what CityBench published of an engine."""
    title = f"{ENGINES[engine]} {words}"
    return title, lambda test: amount_cell(_published_of(test).get(engine, {}).get(key), 1)


def _completeness_of(test: ResultsOfTest) -> list[Mapping[str, Any]]:
    """Return the completeness of each run of which it is known."""
    return [one["completeness"] for one in test.measures() if "completeness" in one]


def _completeness_cell(found: Sequence[Mapping[str, Any]]) -> Cell:
    """Return the cell of the completeness of several runs: of all their observations together."""
    expected = sum(one["expected"] for one in found)
    if not expected:
        return NO_VALUE
    captured = sum(one["captured"] for one in found)
    mark = "" if found[0]["is_of_observations"] else "*"
    return Cell(f"{captured / expected:.4f}{mark}")
