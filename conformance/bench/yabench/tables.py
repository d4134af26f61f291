"""YABench's tables: the scores and the use of resources of each test, beside the means that YABench
published.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from conformance.bench.figures import (
    ResultsOfTest,
    amount_cell,
    cpu_used,
    feeding_evidence_of,
    group_by_test,
    mean,
    mean_of,
    share_cell,
    table_of_runs,
)
from conformance.bench.functional import reasons_table
from conformance.bench.metrics.resources import MEBIBYTE, cpu_percents
from conformance.bench.tables import NO_VALUE, Cell, Table
from conformance.bench.yabench import files
from conformance.verdict.results import Result
from refengine.core.values import Condition

Entry = Mapping[str, Any]
Published = Mapping[str, Any]  # the means of one test, by the names of published.toml


class TestResults(ResultsOfTest):
    """The results of all runs of a test on an engine, and what YABench published of the test."""

    def option(self, name: str) -> bool:
        """Whether an option of the test is on, as far as one of its runs took place."""
        return any(measures.get(name, False) for measures in self.measures())

    def entries(self) -> list[Entry]:
        """Return the measures of all windows of all runs, by the paper."""
        return [entry for one in self.results for entry in (one.evidence or {}).get("metrics", [])]

    def entries_of_code(self) -> list[Entry]:
        """Return the measures of all windows of all runs, by YABench's code."""
        return [entry for measures in self.measures() for entry in measures.get("code", [])]

    def samples(self) -> list[Sequence[Entry]]:
        """Return the samples of each run."""
        return [(one.evidence or {}).get("samples", []) for one in self.results]

    def published_of(self, engine: str) -> Published:
        """Return what YABench published of the test for an engine; nothing if the test asks
        something else, such as another number of stations.
        """
        if not self.option("is_as_published"):
            return {}
        return published_means().get((self.experiment, self.test, engine), {})

    def published_of_like_engine(self) -> Published:
        """Return what YABench published of the test for an engine that reports at the same time:
        C-SPARQL on window close, CQELS on content change.
        """
        evidences = (one.evidence for one in self.results if one.evidence)
        semantics: Entry = next((one["semantics"] for one in evidences if "semantics" in one), {})
        is_on_close = Condition.CLOSE in str(semantics.get("report", "")).split(",")
        return self.published_of("csparql" if is_on_close else "cqels")


@cache
def published_means() -> Mapping[tuple[str, str, str], Published]:
    """Return the means that YABench published, by experiment, test and engine."""
    path = Path(__file__).with_name("published.toml")
    tests = tomllib.loads(path.read_text(encoding="utf-8"))["test"]
    return {
        (test["experiment"], test["name"], engine): test[engine]
        for test in tests
        for engine in ("csparql", "cqels")
    }


def tables(results: Sequence[Result]) -> Sequence[Table]:
    """Return the tables of results: the scores, the sizes of windows, resources, what differs, and
    the runs. Recordings have the last one alone.
    """
    tests = list(group_tests(results))
    runs = table_of_runs(results)
    if not tests:
        return [runs]
    return [_scores(tests), _sizes(tests), _resources(tests), reasons_table(results), runs]


def group_tests(results: Iterable[Result]) -> Iterator[TestResults]:
    """Yield the results of each test, engine by engine. A recording belongs to no test."""
    of_tests = (result for result in results if result.benchmark_run is not None)
    for test in group_by_test(of_tests):
        yield TestResults(*test)


def _scores(tests: Sequence[TestResults]) -> Table:
    """Return the table of precision and recall."""
    return Table(
        "Precision and recall",
        (
            "engine",
            "test",
            "runs",
            "verdict",
            "P",
            "R",
            "gracious P",
            "gracious R",
            "code P",
            "code R",
            "C-SPARQL P",
            "C-SPARQL R",
            "CQELS P",
            "CQELS R",
        ),
        tuple(map(_score_row, tests)),
        "Means over all windows of all runs. P and R are those of the paper, under the engine's "
        "profile; gracious mode shifts the borders of each window. The columns code are measured "
        "as YABench's code does, with the options of the test: of the windows that were answered, "
        "and with both borders, so that an exact engine can have less than 1. The last four are "
        "the means of the files that YABench published, where the test is one of the paper's.",
    )


def _score_row(test: TestResults) -> tuple[Cell, ...]:
    """Return the row of a test in the table of scores."""
    entries = test.entries()
    gracious = [entry["gracious"] for entry in entries if entry["gracious"]]
    by_code = [entry for one in test.results for entry in files.oracle_entries_of(one)]
    published: list[Cell] = []
    for engine in ("csparql", "cqels"):
        means = test.published_of(engine)
        published += [share_cell(means.get("precision")), share_cell(means.get("recall"))]
    *names, verdict = test.first_cells
    return (
        *names,
        Cell(str(len(test.results))),
        verdict,
        *(share_cell(mean_of(entries, key)) for key in ("precision", "recall")),
        *(share_cell(mean_of(gracious, key)) for key in ("precision", "recall")),
        share_cell(mean(entry.precision for entry in by_code)),
        share_cell(mean(entry.recall for entry in by_code)),
        *published,
    )


def _sizes(tests: Sequence[TestResults]) -> Table:
    """Return the table of delays and sizes."""
    return Table(
        "Delays and sizes",
        (
            "engine",
            "test",
            "delay ms",
            "published",
            "triples a window",
            "published",
            "rows given",
            "published",
            "rows expected, window by window",
            "published",
            "equal",
        ),
        tuple(map(_size_row, tests)),
        "The delay is from the close of a window to its answer, and under content change from the "
        "change: by the clock in a live run, else in the stream's time. Sizes are those of "
        "YABench's code, whose windows have both borders. Published means are those of the engine "
        "that reports at the same time: C-SPARQL on window close, CQELS on content change.",
    )


def _size_row(test: TestResults) -> tuple[Cell, ...]:
    """Return the row of a test in the table of sizes."""
    by_code = test.entries_of_code()
    means = test.published_of_like_engine()
    first = feeding_evidence_of(test.results[0]).get("measures", {}).get("code", [])
    expected = [entry["expected"] for entry in first]
    theirs = means.get("expected")
    is_equal = NO_VALUE
    if theirs and expected:
        count = sum(a == b for a, b in zip(expected, theirs, strict=False))
        is_equal = Cell(f"{count} of {len(theirs)}")
    delay = mean_of(test.entries(), "delay")
    if delay is None:  # under content change the paper's measure has none
        delay = mean_of(by_code, "delay")
    return (
        Cell(test.engine),
        Cell(test.name),
        amount_cell(delay, 1),
        amount_cell(means.get("delay"), 1),
        amount_cell(mean_of(by_code, "elements"), 1),
        amount_cell(means.get("triples"), 1),
        amount_cell(mean_of(by_code, "actual"), 1),
        amount_cell(means.get("actual"), 1),
        _numbers_cell(expected),
        _numbers_cell(theirs or ()),
        is_equal,
    )


def _numbers_cell(numbers: Sequence[int]) -> Cell:
    """Return the cell of some numbers, of which a table shows the first ten."""
    if not numbers:
        return NO_VALUE
    text = " ".join(map(str, numbers[:10]))
    return Cell(text + " …" * (len(numbers) > 10))


def _resources(tests: Sequence[TestResults]) -> Table:
    """Return the table of resources."""
    return Table(
        "Resources",
        (
            "engine",
            "test",
            "memory MiB",
            "published",
            "CPU %",
            "published",
            "threads",
            "published",
            "the engine's memory MiB",
            "the engine's CPU s",
            "sampling CPU s",
        ),
        tuple(map(_resource_row, tests)),
        "Means over the samples, which are taken every 0.5 s, of the harness with all that it "
        "started. CPU % is of one core. The engine's own share is known only where it runs in "
        "processes that its harness started; its CPU s are those of a run from its first sample "
        "to its last. The CPU time of sampling is not in the samples. "
        "Machines, runtimes and rates differ from those of the paper.",
    )


class AverageUse(NamedTuple):
    """The means over the samples of all runs of a test: memory in MiB, CPU in percent of a core and
    threads, and memory and CPU seconds of the engine alone, where its share is known.
    """

    memory: float | None
    cpu_percent: float | None
    threads: float | None
    engine_memory: float | None
    engine_cpu: float | None


def _average_use(runs: Sequence[Sequence[Entry]]) -> AverageUse:
    """Return the means over the samples of some runs."""
    every = [sample for samples in runs for sample in samples]
    percents = [
        percent
        for samples in runs
        for _, percent in cpu_percents((sample["at"], sample["cpu"]) for sample in samples)
    ]
    of_engine = [[one["engine"] for one in samples if "engine" in one] for samples in runs]
    return AverageUse(
        _mean_memory(every),
        mean(percents),
        mean_of(every, "threads"),
        _mean_memory([use for uses in of_engine for use in uses]),
        mean(map(cpu_used, of_engine)),
    )


def _mean_memory(samples: Sequence[Entry]) -> float | None:
    """Return the mean memory of samples in MiB; None if there are none."""
    memory = mean_of(samples, "rss")
    if memory is None:
        return None
    return memory / MEBIBYTE


def _resource_row(test: TestResults) -> tuple[Cell, ...]:
    """Return the row of a test in the table of resources."""
    means = test.published_of_like_engine()
    use = _average_use(test.samples())
    return (
        Cell(test.engine),
        Cell(test.name),
        amount_cell(use.memory, 1),
        amount_cell(means.get("memory"), 1),
        amount_cell(use.cpu_percent, 1),
        amount_cell(means.get("cpu"), 1),
        amount_cell(use.threads, 1),
        amount_cell(means.get("threads"), 1),
        amount_cell(use.engine_memory, 1),
        amount_cell(use.engine_cpu, 2),
        amount_cell(
            mean(feeding_evidence_of(one).get("sampling_seconds") for one in test.results), 3
        ),
    )
