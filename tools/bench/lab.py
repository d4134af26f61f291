"""Where benchmarks get their streams and their runs from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from tools import sg1
from tools.bench.measure import Job, Result, RunFailed, fresh
from tools.bench.queries import BenchmarkQuery

CHEAP = 60.0  # seconds: what takes longer is run once
Line = dict[str, Any]


class Stream(NamedTuple):
    """A stream's file and its length."""

    path: Path
    triples: int


@dataclass(frozen=True)
class Lab:
    """A folder for streams, which stay there; the engine that is measured; how often what is cheap
    is run; and what runs a job.
    """

    work: Path
    engine: str = "incremental"
    runs: int = 3
    run: Callable[[Job], Result] = fresh

    def stream(self, stations: int, seconds: int) -> Stream:
        """Return SG1 with an observation a station and second, seed 1, made if it is not there as
        it was made. The generator's hash is in its name, its size and its own hash are in a file
        beside it.
        """
        parameters = sg1.Parameters(stations=stations, interval=1000, duration=1000 * seconds)
        version = hashlib.sha256(Path(sg1.__file__).read_bytes()).hexdigest()[:8]
        path = self.work / f"SG1-{version}-{stations}x{seconds}.n3t"
        made = path.with_suffix(".made")
        if not (
            path.is_file() and made.is_file() and made.read_text(encoding="ascii") == _stamp(path)
        ):
            self.work.mkdir(parents=True, exist_ok=True)
            made.unlink(missing_ok=True)
            size, digest = sg1.write(parameters, path)
            made.write_text(f"{size} {digest}\n", encoding="ascii")
        return Stream(path, parameters.triples)

    def job(self, stream: Stream, asked: BenchmarkQuery, **more: Any) -> Job:
        """Return a run of the lab's engine."""
        return Job(**{"path": str(stream.path), **asked._asdict(), "engine": self.engine} | more)

    def medians(self, *jobs: Job) -> list[tuple[Result, int]]:
        """Return of each job the medians of its runs, and their number. The jobs take turns, so
        that a machine that slows down slows all.
        """
        rounds: list[Sequence[Result]] = []
        started = perf_counter()
        while len(rounds) < self.runs and (not rounds or perf_counter() - started < CHEAP):
            rounds.append([self.run(job) for job in jobs])
        return [(_median(results), len(rounds)) for results in zip(*rounds, strict=True)]


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(path: Path) -> str:
    """Return the size and the hash of a file: of some 1.5 GB in a second or two, once as long as it
    does not change.
    """
    found = path.stat()
    return f"{found.st_size} {_digest(path, found.st_size, found.st_mtime_ns)}\n"


def _median(results: Sequence[Result]) -> Result:
    if len({result.reports for result in results}) > 1:
        raise RunFailed(
            f"runs of one job gave {sorted({result.reports for result in results})} reports"
        )
    names = ("seconds", "cpu_seconds", "base_mib", "peak_mib")
    return results[0]._replace(
        **{name: median(getattr(result, name) for result in results) for name in names}
    )


def line(name: str, triples: int, found: tuple[Result, int], **more: Any) -> Line:
    """Return a benchmark's line."""
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
