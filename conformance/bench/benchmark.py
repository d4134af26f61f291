"""What a benchmark declares: the queries that it asks over which streams, what it measures of the
answers, and the tables in which it shows that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from conformance.bench.metrics.run import Reading
from conformance.bench.streams import StaticDataset, StaticSource, StreamSource
from conformance.bench.tables import Table
from conformance.harness.resources import Sample
from conformance.suite.exchange import Exchange
from conformance.verdict.results import Result
from refengine.core.profile import Profile
from refengine.core.query import Query, from_table
from refengine.model.elements import Dataset
from refengine.model.errors import RefengineError
from refengine.oracle.judge import EVERY_WITNESS, Judgement
from refengine.oracle.trial import Missing

MOST_RUNS = 10_000  # of a test


@dataclass(frozen=True)
class Choice:
    """What a user chooses of a benchmark.

    `scale` is `small`, `paper`, or a number whose meaning the benchmark says. `only` are the
    experiments that are run (empty: all). `runs` is how often each test is run (None: as the
    benchmark says). `data` is a folder with the user's own streams and static data, and `config` a
    file that declares experiments in place of the benchmark's own. `is_live` says that elements are
    sent by the clock.
    """

    scale: str | int = "small"
    only: tuple[str, ...] = ()
    runs: int | None = None
    data: Path | None = None
    config: Path | None = None
    is_live: bool = False


def name_of_test(experiment: str, test: str) -> str:
    """Return the name of a test: `1 small` of the test `small` of experiment 1. An experiment with
    one test may have its name, which then stands once: `Q3`.
    """
    return " ".join(dict.fromkeys((experiment, test)))


@dataclass(frozen=True)
class Workload:
    """A test of an experiment: one query over some streams.

    `table` is the query (QRY-1), which is rendered in the language of each engine. `semantics` is
    sent to an engine that has none of its own. `t0` gives the start of the windows, in ms, where
    the profile of an engine leaves it open (None: the judge looks for it). `missing` says how many
    outputs may be missing at each end: none, as of every live engine, unless the benchmark says
    otherwise (ORA-3). `options` has what else the benchmark itself needs to know of the test. If
    `may_be_sent_by_instant`, elements of one instant are sent together, as one element with all of
    their triples: always in a live run, where thousands of elements a second have to be sent in
    time, and otherwise to an engine that answers only when windows close.

    `beside` has the tables of further queries, which are registered beside this one and get the
    same elements; their answers are read and not judged. `witnesses` are asked of each answer that
    the verdict rests on (ORA-8), and `reading` says how windows are measured.
    """

    experiment: str
    test: str
    table: Mapping[str, Any]
    streams: Mapping[str, StreamSource]
    semantics: Profile
    runs: int = 1
    static: Dataset | StaticSource = frozenset()
    t0: Callable[[Query, Profile], int] | None = None
    missing: int | Missing = 0
    beside: Sequence[Mapping[str, Any]] = ()
    witnesses: tuple[str, ...] = EVERY_WITNESS
    reading: Reading = Reading.PAPER
    options: object = None
    may_be_sent_by_instant: bool = False

    @property
    def name(self) -> str:
        """The name of the test."""
        return name_of_test(self.experiment, self.test)

    @property
    def query(self) -> Query:
        """The query."""
        return from_table(dict(self.table))

    @property
    def static_source(self) -> StaticSource:
        """Where the static data come from."""
        if isinstance(self.static, frozenset):
            return StaticDataset(self.static)
        return self.static


@dataclass
class FeedingTimes:
    """When elements were sent and replies came, in seconds since the first element was sent.

    `sent` has for an instant of the stream (ms) when its first element was sent, `replied` when the
    reply to its last one came, and `ended` is when the last reply of all came.
    """

    sent: dict[int, float] = field(default_factory=dict)
    replied: dict[int, float] = field(default_factory=dict)
    ended: float = 0.0


class Feeding(NamedTuple):
    """What came of feeding an engine.

    The instants of the answers are those that the engine states, or else those at which they were
    received. `started` is when the first element was sent, in ms since 1970, and `seconds` is the
    time from then to the reply to the end. `sampling_seconds` is the CPU time of taking the
    samples. `sent_late` is the most ms by which an element was sent after its instant; None if
    elements are not sent by the clock.
    """

    exchange: Exchange
    started: int
    seconds: float
    samples: Sequence[Sample]
    sampling_seconds: float
    is_live: bool
    sent_late: int | None = None
    times: FeedingTimes = FeedingTimes()


class Run(NamedTuple):
    """One run of a workload on an engine. `number` counts from 1."""

    workload: Workload
    engine: str
    number: int
    feeding: Feeding


# Files by their names, each with its lines.
Files = Mapping[str, Iterable[str]]


def measure_nothing(run: Run, judgement: Judgement | None) -> Mapping[str, Any]:
    """Return no measures beyond those of every run."""
    return {}


def write_nothing(run: Run, result: Result) -> Files:
    """Return no files for a run."""
    return {}


def write_nothing_of_all(results: Sequence[Result]) -> Files:
    """Return no files for the runs of an experiment on an engine."""
    return {}


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    `title` has the name and `source` the publication. `scale` says in words what a number means as
    scale, and `experiments` are the names of all experiments. `workloads` gives the tests that a
    user chose, and `tables` shows results.

    `refused` has the options that the benchmark has no use for, each with the reason.

    `measure` gives measures of a run beyond those of every benchmark, `files` the files of a run in
    the benchmark's own formats, and `files_of_all` those of all runs of one experiment on an
    engine. `recorded` judges the recordings of a folder, those of the engines that are named; None
    for a benchmark that has no layout of recordings.
    """

    name: str
    title: str
    source: str
    scale: str
    experiments: tuple[str, ...]
    workloads: Callable[[Choice], Sequence[Workload]]
    tables: Callable[[Sequence[Result]], Sequence[Table]]
    measure: Callable[[Run, Judgement | None], Mapping[str, Any]] = measure_nothing
    files: Callable[[Run, Result], Files] = write_nothing
    files_of_all: Callable[[Sequence[Result]], Files] = write_nothing_of_all
    recorded: Callable[[Path, Sequence[str]], list[Result]] | None = None
    refused: Mapping[str, str] = field(default_factory=dict)

    def tables_with_rows(self, results: Sequence[Result]) -> list[Table]:
        """Return the tables of results that have rows. A table has none if no experiment of it was
        run, or if there is nothing to say, as in the table of what differs if every test passes.
        """
        return [table for table in self.tables(results) if table.rows]

    def judge_recordings(self, folder: Path, engines: Sequence[str]) -> list[Result]:
        """Judge the recordings of a folder: those of some engines, or of all if none is named.
        Raises RefengineError, also where the benchmark has no layout of recordings.
        """
        if self.recorded is None:
            raise RefengineError(
                f"{self.title} has no recordings", rule="usage", place="--recorded"
            )
        return self.recorded(folder, engines)
