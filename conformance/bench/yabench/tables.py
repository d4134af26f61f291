"""YABench's tables: the scores and the use of resources of each test, beside the means that YABench
published.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from conformance.bench.tables import NO_VALUE, Cell, Column, Table, make_table
from conformance.bench.yabench import files
from conformance.verdict.results import Result
from refengine.core.semantics import Condition

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

    def gracious(self) -> list[Entry]:
        """Return what gracious mode measures of the windows of which it is known."""
        return [entry["gracious"] for entry in self.entries() if entry["gracious"]]

    def oracle(self) -> list[files.OracleEntry]:
        """Return the lines of the ORACLE_ files of all runs."""
        return [entry for one in self.results for entry in files.oracle_entries_of(one)]

    def mean_sampling_seconds(self) -> float | None:
        """Return the mean CPU time of sampling a run; None if it is not known."""
        return mean(feeding_evidence_of(one).get("sampling_seconds") for one in self.results)

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
    return make_table(
        "Precision and recall",
        (
            ("engine", lambda test: test.first_cells[0]),
            ("test", lambda test: test.first_cells[1]),
            ("runs", lambda test: Cell(str(len(test.results)))),
            ("verdict", lambda test: test.first_cells[2]),
            ("P", lambda test: share_cell(mean_of(test.entries(), "precision"))),
            ("R", lambda test: share_cell(mean_of(test.entries(), "recall"))),
            ("gracious P", lambda test: share_cell(mean_of(test.gracious(), "precision"))),
            ("gracious R", lambda test: share_cell(mean_of(test.gracious(), "recall"))),
            ("code P", lambda test: share_cell(mean(one.precision for one in test.oracle()))),
            ("code R", lambda test: share_cell(mean(one.recall for one in test.oracle()))),
            ("C-SPARQL P", lambda test: share_cell(test.published_of("csparql").get("precision"))),
            ("C-SPARQL R", lambda test: share_cell(test.published_of("csparql").get("recall"))),
            ("CQELS P", lambda test: share_cell(test.published_of("cqels").get("precision"))),
            ("CQELS R", lambda test: share_cell(test.published_of("cqels").get("recall"))),
        ),
        tests,
        "Means over all windows of all runs. P and R are those of the paper, under the engine's "
        "profile; gracious mode shifts the borders of each window. The columns code are measured "
        "as YABench's code does, with the options of the test: of the windows that were answered, "
        "and with both borders, so that an exact engine can have less than 1. The last four are "
        "the means of the files that YABench published, where the test is one of the paper's.",
    )


def _published(key: str) -> Column[TestResults]:
    """Return the column of a mean that YABench published."""
    return "published", lambda test: amount_cell(test.published_of_like_engine().get(key), 1)


def _mean_by_code(key: str) -> Callable[[TestResults], Cell]:
    """Return the cell of the mean of a size over the windows of YABench's code."""
    return lambda test: amount_cell(mean_of(test.entries_of_code(), key), 1)


def _sizes(tests: Sequence[TestResults]) -> Table:
    """Return the table of delays and sizes."""
    return make_table(
        "Delays and sizes",
        (
            ("engine", lambda test: test.first_cells[0]),
            ("test", lambda test: test.first_cells[1]),
            ("delay ms", lambda test: amount_cell(_mean_delay(test), 1)),
            _published("delay"),
            ("triples a window", _mean_by_code("elements")),
            _published("triples"),
            ("rows given", _mean_by_code("actual")),
            _published("actual"),
            ("rows expected, window by window", lambda test: _numbers_cell(_expected_rows(test))),
            ("published", lambda test: _numbers_cell(_published_rows(test))),
            ("equal", _equal_cell),
        ),
        tests,
        "The delay is from the close of a window to its answer, and under content change from the "
        "change: by the clock in a live run, else in the stream's time. Sizes are those of "
        "YABench's code, whose windows have both borders. Published means are those of the engine "
        "that reports at the same time: C-SPARQL on window close, CQELS on content change.",
    )


def _mean_delay(test: TestResults) -> float | None:
    """Return the mean delay by the paper, or by YABench's code under content change, where the
    paper's measure has none.
    """
    delay = mean_of(test.entries(), "delay")
    if delay is None:
        return mean_of(test.entries_of_code(), "delay")
    return delay


def _expected_rows(test: TestResults) -> list[int]:
    """Return how many rows YABench's code expects of each window of the first run."""
    first = feeding_evidence_of(test.results[0]).get("measures", {}).get("code", [])
    return [entry["expected"] for entry in first]


def _published_rows(test: TestResults) -> Sequence[int]:
    """Return how many rows YABench published as expected of each window."""
    rows: Sequence[int] = test.published_of_like_engine().get("expected", ())
    return rows


def _equal_cell(test: TestResults) -> Cell:
    """Return the cell that says for how many windows as many rows are expected as published."""
    ours, theirs = _expected_rows(test), _published_rows(test)
    if not ours or not theirs:
        return NO_VALUE
    count = sum(a == b for a, b in zip(ours, theirs, strict=False))
    return Cell(f"{count} of {len(theirs)}")


def _numbers_cell(numbers: Sequence[int]) -> Cell:
    """Return the cell of some numbers, of which a table shows the first ten."""
    if not numbers:
        return NO_VALUE
    text = " ".join(map(str, numbers[:10]))
    return Cell(text + " …" * (len(numbers) > 10))


def _resources(tests: Sequence[TestResults]) -> Table:
    """Return the table of resources."""
    return make_table(
        "Resources",
        (
            ("engine", lambda test: test.first_cells[0]),
            ("test", lambda test: test.first_cells[1]),
            ("memory MiB", lambda test: amount_cell(_average_use(test).memory, 1)),
            _published("memory"),
            ("CPU %", lambda test: amount_cell(_average_use(test).cpu_percent, 1)),
            _published("cpu"),
            ("threads", lambda test: amount_cell(_average_use(test).threads, 1)),
            _published("threads"),
            (
                "the engine's memory MiB",
                lambda test: amount_cell(_average_use(test).engine_memory, 1),
            ),
            ("the engine's CPU s", lambda test: amount_cell(_average_use(test).engine_cpu, 2)),
            ("sampling CPU s", lambda test: amount_cell(test.mean_sampling_seconds(), 3)),
        ),
        tests,
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


def _average_use(test: TestResults) -> AverageUse:
    """Return the means over the samples of all runs of a test."""
    runs = test.samples()
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
