"""One measured run: a query over a stream's file, by one engine, in a process of its own.

    python -m tools.bench.measure < JOB     (JSON in, JSON out; `run_in_new_process` does so)

Seconds run from before the file is opened to after the last report; the start of Python, its
imports and the reading of the query are not in them.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from refengine import Query, Report, Semantics, equal, evaluate, from_table, profile
from refengine.core import r2r
from refengine.rdf.streams import read_stream
from tools.bench.queries import STREAM

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ("incremental", "definitional")


class Job(NamedTuple):
    """What is run: a query's table over a stream's file, by an engine, under a profile with some
    fields replaced.

    `keep` says whether all reports stay in memory, or each is dropped before the next. With
    `check`, nothing is measured: the reports are compared with the definitional engine's.
    """

    path: str
    query: dict[str, Any]
    profile: str
    fields: dict[str, Any]
    engine: str
    keep: bool = True
    check: bool = False


class Result(NamedTuple):
    """What a run took: wall and CPU seconds, and the most memory that the process held before the
    run (`base_mib`) and in all (`peak_mib`), in MiB.

    `provenance` is by what means the engine says that it answered. `difference` is the first one
    that a check found; None if every report is equal.
    """

    reports: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    base_mib: float = 0.0
    peak_mib: float = 0.0
    provenance: str = ""
    difference: str | None = None


class RunFailed(Exception):
    """A run ended without a result."""


Engine = Callable[[Query, str, Semantics], Iterator[Report]]


def engine(name: str) -> Engine:
    """Return the engine of that name, as a function of a query, the file of a stream and a
    semantics. No other place knows the engines.
    """
    match name:
        case "incremental":
            from refengine import incremental
            from refengine.rdf.streams import read_elements

            def evaluate_incrementally(
                query: Query, path: str, semantics: Semantics
            ) -> Iterator[Report]:
                has_partitions = any(window.by for window in query.windows)
                if has_partitions:  # they need their streams whole (ENG-6)
                    whole = {STREAM: read_stream(path)}
                    return incremental.evaluate(query, whole, semantics)
                return incremental.evaluate(query, {STREAM: read_elements(path)}, semantics)

            return evaluate_incrementally
        case "definitional":
            answer = r2r.defined_answer

            return lambda query, path, semantics: evaluate(
                query, {STREAM: read_stream(path)}, semantics, answer=answer
            )
        case other:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {other!r}")


def run_job(job: Job) -> Result:
    """Run a job in this process, and return its result."""
    run = engine(job.engine)
    query = from_table(job.query)
    semantics = profile(job.profile).but(**job.fields).semantics()
    if job.check:
        expected = engine("definitional")(query, job.path, semantics)
        return compare_reports(run(query, job.path, semantics), expected)

    gc.set_threshold(50_000, 20, 50)  # as `python -m conformance csrbench` does
    base = peak_mib()
    wall_start = perf_counter()
    cpu_start = process_time()
    reports = run(query, job.path, semantics)
    if job.keep:
        kept = list(reports)
        count = len(kept)
    else:
        count = sum(1 for _ in reports)
    wall = perf_counter() - wall_start
    cpu = process_time() - cpu_start
    provenance = str(getattr(reports, "provenance", job.engine))
    return Result(count, wall, cpu, base, peak_mib(), provenance)


def compare_reports(actual: Iterator[Report], expected: Iterator[Report]) -> Result:
    """Return how many reports are compared, and the first difference.

    Reports are equal if their evaluation, trigger, windows and instant are, and their relations are
    equal by value.
    """
    number = 0
    for number, (mine, right) in enumerate(zip_longest(actual, expected), 1):
        if mine is None:
            return Result(number, difference=f"report {number}: missing")
        if right is None:
            return Result(number, difference=f"report {number}: not due")
        for name in ("evaluation", "trigger", "windows", "instant"):
            value = getattr(mine, name)
            right_value = getattr(right, name)
            if value != right_value:
                difference = f"report {number}: {name} {value}, expected {right_value}"
                return Result(number, difference=difference)
        has_variables = mine.relation.variables == right.relation.variables
        if not has_variables or not equal(mine.relation.rows, right.relation.rows):
            difference = f"report {number}, at {right.instant}: another relation"
            return Result(number, difference=difference)
    return Result(number)


def peak_mib() -> float:
    """Return the most memory this process has held. Linux's VmHWM counts from the program's start;
    ru_maxrss counts the process before that as well, which was its parent's memory.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        unit = 1024
        if sys.platform == "darwin":
            unit = 2**20
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def run_in_new_process(job: Job) -> Result:
    """Run a job in a fresh process, and return its result. Raises RunFailed."""
    return Result(**run_module("tools.bench.measure", job._asdict()))


def run_module(module: str, job: dict[str, Any]) -> dict[str, Any]:
    """Run a module in a fresh process, with a job as its input, and return its output; both are
    JSON. Raises RunFailed with the last line of its error output.
    """
    command = [sys.executable, "-m", module]
    run = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, cwd=ROOT)
    if run.returncode:
        raise RunFailed((run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1])
    result: dict[str, Any] = json.loads(run.stdout)
    return result


if __name__ == "__main__":
    print(json.dumps(run_job(Job(**json.load(sys.stdin)))._asdict()))
