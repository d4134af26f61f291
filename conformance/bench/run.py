"""The run of a benchmark: each workload is put to each engine, as often as it says, one after the
other.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from conformance.bench.benchmark import Benchmark, Choice, Files, Run, Workload
from conformance.bench.feeding import BenchmarkHarnesses, feed
from conformance.bench.judging import case_of, judge_run, run_of_test
from conformance.harness import engine_file
from conformance.harness.client import Broken
from conformance.harness.engine_file import Engine
from conformance.harness.play import Declined
from conformance.verdict import results
from conformance.verdict.journal import fingerprint
from conformance.verdict.results import Outcome, Result, writing
from conformance.verdict.time_limit import VerdictLimit
from refengine.core.question import Question
from refengine.model.errors import Disputed, RefengineError, Unsupported
from refengine.model.messages import display, nearest

FILES = "files"  # the folder in that of a run with the files of its experiments


class Task(NamedTuple):
    """One run of a workload on an engine; `number` counts from 1."""

    tested: Engine
    workload: Workload
    number: int

    def key(self, benchmark: Benchmark) -> tuple[str, str, str]:
        """Return the key of its result."""
        return self.tested.name, benchmark.name, case_of(self.workload, self.number)


@dataclass(frozen=True)
class BenchmarkPlan:
    """What is run of a benchmark: what a user chose of it, and the engines. `out` is the folder of
    everything that is written. If `are_fails_explained`, the explanation of a fail says what would
    explain it. A verdict may take `verdict_seconds` of CPU time.
    """

    benchmark: Benchmark
    choice: Choice
    engines: Sequence[Engine]
    out: Path
    are_fails_explained: bool = False
    verdict_seconds: float = math.inf

    def tasks(self) -> list[Task]:
        """Return the runs in their order: test by test, so that the engines can share what is read
        and expected of a test. Raises RefengineError.
        """
        check_choice(self.benchmark, self.choice)
        _check_folders(self.engines)
        workloads = self.benchmark.workloads(self.choice)
        return [
            Task(tested, workload, number)
            for workload in workloads
            for tested in self.engines
            for number in range(1, workload.runs + 1)
        ]

    def fingerprint(self) -> str:
        """Return the digest of all on which the results depend, apart from the engines' programs:
        the options, the queries and streams of the tests, and the engines' files. Raises
        RefengineError.
        """
        return fingerprint(self._parts())

    def _parts(self) -> Iterator[bytes]:
        """Yield what the results depend on."""
        yield version("refengine").encode()
        options = [self.choice.is_live, self.are_fails_explained, self.verdict_seconds]
        yield json.dumps([self.benchmark.name, *options]).encode()
        if self.choice.config is not None:
            yield _read(self.choice.config)
        for workload in self.benchmark.workloads(self.choice):
            yield json.dumps([workload.name, workload.runs, workload.table]).encode()
            for name, source in sorted(workload.streams.items()):
                yield json.dumps([name, source.fingerprint()]).encode()
            yield workload.static_source.fingerprint().encode()
            yield json.dumps(list(workload.beside)).encode()
        for tested in self.engines:
            yield json.dumps([tested.name, tested.command]).encode()
            path = engine_file.path_of_engine(tested.file or tested.name)
            if path is not None:
                yield _read(path)


def _read(path: Path) -> bytes:
    """Return the content of a file. Raises RefengineError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise RefengineError(
            f"cannot be read: {error.strerror}", rule="usage", place=str(path)
        ) from None


def check_choice(benchmark: Benchmark, choice: Choice) -> None:
    """Raise RefengineError for an experiment that the benchmark does not have, for an option that
    it has no use for, and for one that chooses among the benchmark's own experiments, beside
    `--config`.
    """
    if choice.config is not None:
        _check_configured(benchmark, choice)
    for name in choice.only:
        if name not in benchmark.experiments:
            raise RefengineError(
                f"{benchmark.title} has no experiment {display(name)}"
                f"{nearest(name, benchmark.experiments)}",
                rule="usage",
                place="--only",
            )
    for option, given in (("--config", choice.config), ("--data", choice.data)):
        if given is not None and option in benchmark.refused:
            raise RefengineError(benchmark.refused[option], rule="usage", place=option)


def _check_configured(benchmark: Benchmark, choice: Choice) -> None:
    """Raise RefengineError for an option that chooses among the benchmark's own experiments, and
    so says nothing about those of the user's file.
    """
    if choice.only:
        raise RefengineError(
            "chooses among the benchmark's own experiments, and --config FILE runs all tests of "
            "FILE: leave one of the two out",
            rule="usage",
            place="--only",
        )
    if choice.scale == "paper":
        raise RefengineError(
            "paper is the scale of the benchmark's own experiments, and --config FILE states its "
            f"own: leave one of the two out, or give a number ({benchmark.scale})",
            rule="usage",
            place="--scale",
        )


@dataclass(frozen=True)
class LoadedWorkload:
    """What all runs of a workload share: its question with its streams and static data in memory,
    the digests of the streams' files, and the limit on the time of each verdict with the answers
    that were computed.
    """

    question: Question
    digests: Mapping[str, str]
    verdict_limit: VerdictLimit

    @staticmethod
    def of(workload: Workload, verdict_seconds: float) -> LoadedWorkload:
        """Read the streams and static data of a workload. Raises RefengineError."""
        loaded = {name: source.load() for name, source in workload.streams.items()}
        streams = {name: one.stream for name, one in loaded.items()}
        question = Question(workload.query, streams, workload.static_source.load())
        digests = {name: one.digest for name, one in loaded.items()}
        return LoadedWorkload(question, digests, VerdictLimit(verdict_seconds))


class TaskRunner:
    """Runs the tasks of a plan, one after the other. What was read and computed for a workload is
    kept until a task with another workload comes. At the scale `small` processes of engines are
    kept, too, unless elements are sent by the clock. As a context manager it stops them at the end.
    """

    def __init__(self, plan: BenchmarkPlan) -> None:
        self.plan = plan
        choice = plan.choice
        self._harnesses = BenchmarkHarnesses(
            are_kept=choice.scale == "small" and not choice.is_live
        )
        self._workload: Workload | None = None
        self._loaded: LoadedWorkload | None = None

    def __enter__(self) -> TaskRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._harnesses.stop()

    def run(self, task: Task) -> Result:
        """Run one workload on an engine, write its files, and return its result. There is a result
        whatever the engine does. Raises RefengineError if a file cannot be written, or if the
        workload itself is malformed.
        """
        if self._loaded is None or task.workload is not self._workload:
            self._loaded = LoadedWorkload.of(task.workload, self.plan.verdict_seconds)
            self._workload = task.workload
        return _run_task(self.plan, task, self._loaded, self._harnesses)


def _run_task(
    plan: BenchmarkPlan, task: Task, loaded: LoadedWorkload, harnesses: BenchmarkHarnesses
) -> Result:
    """Run one workload on an engine, and return its result, as TaskRunner does."""
    tested, workload = task.tested, task.workload
    try:
        feeding = feed(tested, workload, loaded.question, plan.choice.is_live, harnesses)
    except (Unsupported, Declined) as error:
        return _without_evidence(plan.benchmark, task, Outcome.UNSUPPORTED, error)
    except Broken as error:
        return _without_evidence(plan.benchmark, task, Outcome.ERROR, error)

    run = Run(workload, tested.name, task.number, feeding)
    try:
        result = judge_run(
            plan.benchmark,
            tested,
            run,
            loaded.digests,
            verdict_limit=loaded.verdict_limit,
            is_fail_explained=plan.are_fails_explained,
        )
    # Measures rest on more reports than the verdict does, and their answers may be disputed.
    except Disputed as error:
        return _without_evidence(plan.benchmark, task, Outcome.DISPUTED, error)
    # The query or its semantics has no answer that can be judged, which is not the engine's fault.
    except RefengineError as error:
        return _without_evidence(plan.benchmark, task, Outcome.UNSUPPORTED, error)
    folder = folder_of(plan.out, tested.name, workload.experiment)
    write_files(folder, plan.benchmark.files(run, result))
    return result


def _without_evidence(
    benchmark: Benchmark, task: Task, outcome: Outcome, error: Exception
) -> Result:
    """Return the result of a run without evidence: the engine could not be asked or broke down, or
    `judge_run` raised an error.
    """
    engine, suite, case = task.key(benchmark)
    return Result(
        engine=engine,
        suite=suite,
        case=case,
        outcome=outcome,
        explanation=str(error),
        benchmark_run=run_of_test(task.workload, task.number),
    )


def folder_of(out: Path, engine: str, experiment: str) -> Path:
    """Return the folder of the files of an experiment on an engine. Other characters in their names
    than letters, digits, hyphens and dots within become `_`, so that it lies below `out`.
    """
    return out.joinpath(FILES, _file_name(engine), _file_name(experiment))


def _check_folders(engines: Sequence[Engine]) -> None:
    """Raise RefengineError if the files of two engines would be in the same folder: those of `a b`
    and those of `a_b`.
    """
    names: dict[str, str] = {}
    for tested in engines:
        other = names.setdefault(_file_name(tested.name), tested.name)
        if other != tested.name:
            raise RefengineError(
                f"the files of {display(other)} and {display(tested.name)} would be in the same "
                f"folder, {_file_name(tested.name)}: rename one",
                rule="usage",
                place="--engine",
            )


def _file_name(text: str) -> str:
    """Return a text as the name of a file or folder."""
    return re.sub(r"[^A-Za-z0-9.-]|^\.", "_", text)


def write_files(folder: Path, files: Files) -> None:
    """Write files to a folder, which is made if there are any. Raises RefengineError."""
    if not files:
        return
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    results.replace({folder / name: lines for name, lines in files.items()})
