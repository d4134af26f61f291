"""Figures of a result that every benchmark has, and the table of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from conformance.bench.benchmark import name_of_test
from conformance.bench.metrics.resources import MEBIBYTE
from conformance.bench.tables import NO_VALUE, Cell, Table
from conformance.report.matrix import KINDS
from conformance.verdict.results import Result

COLUMNS = (
    "engine",
    "run",
    "verdict",
    "precision",
    "recall",
    "delay ms",
    "elements/s",
    "sent late ms",
    "CPU s",
    "memory MiB",
    "threads",
    "sampling CPU s",
)


def feeding_evidence_of(result: Result) -> Mapping[str, Any]:
    """Return how the engine was fed, as the evidence of a result has it; nothing for a recording,
    and for a result without evidence of a run.
    """
    feeding: Mapping[str, Any] = (result.evidence or {}).get("run", {})
    return feeding


def kind_cell(result: Result) -> Cell:
    """Return the cell of a result's kind."""
    return Cell(result.kind, result.kind)


def mean_of(entries: Sequence[Mapping[str, Any]], key: str) -> float | None:
    """Return the mean of a measure over windows; None if no window has it."""
    return mean(entry.get(key) for entry in entries)


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of values; None stands for a missing one, and for the mean of none."""
    present = [value for value in values if value is not None]
    return fmean(present) if present else None


def reading_order(result: Result) -> tuple[object, ...]:
    """Return the place of a result among others: by engine, then by the name of the test, in which
    Q2 comes before Q10.
    """
    parts = re.split(r"([0-9]+)", result.case)
    numbers = [(int(part), "") if part.isdecimal() else (0, part) for part in parts]
    return result.engine, numbers, result.case


def worst_of(results: Iterable[Result]) -> Result:
    """Return the worst of some results, and the first of those that are as bad: a fail is worse
    than an error, and either is worse than what was not judged.
    """
    return min(results, key=lambda result: (KINDS.index(result.kind), result.key))


class ResultsOfTest(NamedTuple):
    """The results of all runs of a test on an engine. A recording belongs to no test, and is one of
    its own, named as its case.
    """

    engine: str
    experiment: str
    test: str
    results: Sequence[Result]

    @property
    def name(self) -> str:
        """The name of the test."""
        return name_of_test(self.experiment, self.test)

    @property
    def worst(self) -> Result:
        """The result with the worst outcome."""
        return worst_of(self.results)

    @property
    def first_cells(self) -> tuple[Cell, Cell, Cell]:
        """The cells with which a row about the test begins: engine, test and the worst outcome."""
        return Cell(self.engine), Cell(self.name), kind_cell(self.worst)

    def measures(self) -> list[Mapping[str, Any]]:
        """Return the benchmark's own measures of the runs that have them."""
        found = [feeding_evidence_of(one).get("measures") for one in self.results]
        return [one for one in found if one]


def group_by_test(results: Iterable[Result]) -> Iterator[ResultsOfTest]:
    """Yield the results of each test, engine by engine, in the reading order of their cases."""
    tests: dict[tuple[str, str, str], list[Result]] = {}
    for result in sorted(results, key=reading_order):
        key = (result.engine, result.experiment, result.test)
        tests.setdefault(key, []).append(result)
    for key, of_test in tests.items():
        yield ResultsOfTest(*key, of_test)


def share_cell(value: float | None) -> Cell:
    """Return the cell of a share, with four decimals as in the papers."""
    return NO_VALUE if value is None else Cell(f"{value:.4f}")


def amount_cell(value: float | None, decimals: int = 0) -> Cell:
    """Return the cell of an amount."""
    return NO_VALUE if value is None else Cell(f"{value:,.{decimals}f}")


def greatest(samples: Sequence[Mapping[str, Any]], key: str) -> float | None:
    """Return the greatest value of a resource in samples; None if there is no sample."""
    return max((sample[key] for sample in samples), default=None)


def cpu_used(samples: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the CPU seconds from the first sample of a run to its last; None if there are not
    two.
    """
    if len(samples) < 2:
        return None
    used: float = samples[-1]["cpu"] - samples[0]["cpu"]
    return used


def table_of_runs(results: Iterable[Result]) -> Table:
    """Return the table with a row for each run: its verdict, its scores, and what it took.

    CPU and memory are those of all processes of the harness together. CPU counts from the first
    sample, which is taken before the query is registered.
    """
    results = sorted(results, key=reading_order)
    note = (
        "Scores are means over the windows, under the engine's profile. Memory and threads are the "
        "greatest of all samples; samples are taken every 0.5 s of the harness with all that it "
        "started. The CPU time of taking them is not in them."
    )
    if any(feeding_evidence_of(result).get("is_live") for result in results):
        note += (
            " In a live run an element is sent later than its instant where the machine or the "
            "harness is busy. The most is given: what is late or slips by no more than that may "
            "not be the engine's."
        )
    return Table("Runs", COLUMNS, tuple(map(_row, results)), note)


def _row(result: Result) -> tuple[Cell, ...]:
    """Return the row of a run."""
    evidence = result.evidence or {}
    entries = evidence.get("metrics", [])
    samples = evidence.get("samples", [])
    feeding = feeding_evidence_of(result)
    rate = None
    if feeding and feeding["seconds"]:
        rate = feeding["elements"] / feeding["seconds"]
    memory = greatest(samples, "rss")
    return (
        Cell(result.engine),
        Cell(result.case),
        kind_cell(result),
        share_cell(mean_of(entries, "precision")),
        share_cell(mean_of(entries, "recall")),
        amount_cell(mean_of(entries, "delay")),
        amount_cell(rate),
        amount_cell(feeding.get("sent_late")),
        amount_cell(cpu_used(samples), 2),
        amount_cell(None if memory is None else memory / MEBIBYTE),
        amount_cell(greatest(samples, "threads")),
        amount_cell(feeding.get("sampling_seconds"), 3),
    )
