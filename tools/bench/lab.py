"""The lab: makes the streams of benchmarks, and runs each job several times."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from conformance.verdict.results import replace
from tools import sg1
from tools.bench.measure import Job, Result, RunFailed, run_in_new_process
from tools.bench.queries import BenchmarkQuery

CHEAP = 60.0  # seconds: what takes longer is run once
Line = dict[str, Any]
Given = TypeVar("Given")  # what a function runs
Found = TypeVar("Found")  # what it returns


class Stream(NamedTuple):
    """A stream's file and its length."""

    path: Path
    triples: int


@dataclass(frozen=True)
class Lab:
    """What benchmarks run with: the folder `work`, in which streams are kept; the engine that is
    measured; how many `runs` a cheap job gets; and the function that runs a job.
    """

    work: Path
    engine: str = "incremental"
    runs: int = 3
    run: Callable[[Job], Result] = run_in_new_process

    def stream(self, stations: int, seconds: int) -> Stream:
        """Return the stream SG1 with an observation a station and second, and seed 1.

        It is made unless its file is there and unchanged. The hash of the generator is in the
        file's name; the file's size and hash are in another file beside it.
        """
        parameters = sg1.Parameters(stations=stations, interval=1000, duration=1000 * seconds)
        version = hashlib.sha256(Path(sg1.__file__).read_bytes()).hexdigest()[:8]
        path = self.work / f"SG1-{version}-{stations}x{seconds}.n3t"
        made = path.with_suffix(".made")
        is_there = path.is_file() and made.is_file()
        if not is_there or made.read_text(encoding="ascii") != _stamp(path):
            self.work.mkdir(parents=True, exist_ok=True)
            made.unlink(missing_ok=True)
            replace({path: sg1.stream_lines(parameters)})
            made.write_text(_stamp(path), encoding="ascii")
        return Stream(path, parameters.triples)

    def job(self, stream: Stream, asked: BenchmarkQuery, **more: Any) -> Job:
        """Return the job to run a query over a stream by the lab's engine; `more` are further
        fields of the job.
        """
        return Job(**{"path": str(stream.path), **asked._asdict(), "engine": self.engine} | more)

    def medians(self, *jobs: Job) -> list[tuple[Result, int]]:
        """Run some jobs, and return the medians of each job's runs with their number."""
        return [(_median(results), len(results)) for results in self.repeat(self.run, *jobs)]

    def repeat(self, run: Callable[[Given], Found], *jobs: Given) -> list[Sequence[Found]]:
        """Run some jobs by a function, and return the results of each job's runs. The jobs take
        turns, so that a machine that slows down slows all of them. What takes long is run once.
        """
        rounds: list[Sequence[Found]] = []
        started = perf_counter()
        while len(rounds) < self.runs and (not rounds or perf_counter() - started < CHEAP):
            rounds.append([run(job) for job in jobs])
        return list(zip(*rounds, strict=True))


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    """Return the hash of a file of a size that was changed at a time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(path: Path) -> str:
    """Return the size and the hash of a file, as the file beside it has them. The hash is computed
    once as long as the file does not change; 1.5 GB take a second or two.
    """
    status = path.stat()
    return f"{status.st_size} {_digest(path, status.st_size, status.st_mtime_ns)}\n"


def _median(results: Sequence[Result]) -> Result:
    """Return the medians of some runs. Raises RunFailed if their numbers of reports differ."""
    reports = {result.reports for result in results}
    if len(reports) > 1:
        raise RunFailed(f"runs of one job gave {sorted(reports)} reports")
    names = ("seconds", "cpu_seconds", "base_mib", "peak_mib")
    medians = {name: median(getattr(result, name) for result in results) for name in names}
    return results[0]._replace(**medians)


def line(name: str, triples: int, found: tuple[Result, int], **more: Any) -> Line:
    """Return the line of a benchmark: medians with the number of their runs, over a stream of some
    triples, and `more`.
    """
    result, runs = found
    return {
        "name": name,
        "triples": triples,
        "reports": result.reports,
        "seconds": round(result.seconds, 4),
        "cpu_seconds": round(result.cpu_seconds, 4),
        "triples_per_s": round(triples / result.seconds),
        "peak_mib": round(result.peak_mib, 1),
        "runs": runs,
        "provenance": result.provenance,
    } | more
