"""One measured run: a query over a stream's file, by one engine, in a process of its own.

    python -m tools.bench.measure < JOB     (JSON in, JSON out; `fresh` does so)

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
    """What is run: a stream's file, a query's table, a profile with fields replaced, an engine;
    whether every report is kept or each is dropped before the next; or whether, instead, the
    reports are compared with the definitional engine's.
    """

    path: str
    query: dict[str, Any]
    profile: str
    fields: dict[str, Any]
    engine: str
    keep: bool = True
    check: bool = False


class Result(NamedTuple):
    """What a run took: wall and CPU seconds, and the most memory the process held before the run
    and in all, in MiB. By what means the engine says it answered. `difference`: of a check, None if
    every report is equal.
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
    """Return the engine of that name, over the file of a stream: the one place that knows the
    engines.
    """
    match name:
        case "incremental":
            from refengine import incremental
            from refengine.rdf.streams import read_elements

            def evaluated(query: Query, path: str, semantics: Semantics) -> Iterator[Report]:
                # ENG-6: partitions need their streams whole
                whole = any(window.by for window in query.windows)
                return incremental.evaluate(
                    query, {STREAM: read_stream(path) if whole else read_elements(path)}, semantics
                )

            return evaluated
        case "definitional":
            answer = r2r.defined_answer

            return lambda query, path, semantics: evaluate(
                query, {STREAM: read_stream(path)}, semantics, answer=answer
            )
        case other:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {other!r}")


def measured(job: Job) -> Result:
    """Return the run, in this process."""
    run, query, semantics = (
        engine(job.engine),
        from_table(job.query),
        profile(job.profile).but(**job.fields).semantics(),
    )
    if job.check:
        return compare_reports(
            run(query, job.path, semantics), engine("definitional")(query, job.path, semantics)
        )
    gc.set_threshold(50_000, 20, 50)  # as `python -m conformance csrbench` does
    base, wall, cpu = peak_mib(), perf_counter(), process_time()
    found = run(query, job.path, semantics)
    count = len(list(found)) if job.keep else sum(1 for _ in found)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    return Result(count, wall, cpu, base, peak_mib(), str(getattr(found, "provenance", job.engine)))


def compare_reports(actual: Iterator[Report], expected: Iterator[Report]) -> Result:
    """Return whether all reports are equal: evaluation, trigger, windows, instant, and the relation
    by value; where they first differ.
    """
    number = 0
    for number, (mine, right) in enumerate(zip_longest(actual, expected), 1):
        if mine is None or right is None:
            return Result(
                number, difference=f"report {number}: {'missing' if mine is None else 'not due'}"
            )
        for name in ("evaluation", "trigger", "windows", "instant"):
            if getattr(mine, name) != getattr(right, name):
                return Result(
                    number,
                    difference=f"report {number}: {name} "
                    f"{getattr(mine, name)}, expected "
                    f"{getattr(right, name)}",
                )
        if mine.relation.variables != right.relation.variables or not equal(
            mine.relation.rows, right.relation.rows
        ):
            return Result(
                number, difference=f"report {number}, at {right.instant}: another relation"
            )
    return Result(number)


def peak_mib() -> float:
    """Return the most memory this process has held. Linux's VmHWM counts from the program's start;
    ru_maxrss counts the process before that as well, which was its parent's memory.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
            2**20 if sys.platform == "darwin" else 1024
        )


def fresh(job: Job) -> Result:
    """Return the run, in a fresh process."""
    command = [sys.executable, "-m", "tools.bench.measure"]
    run = subprocess.run(
        command, input=json.dumps(job._asdict()), capture_output=True, text=True, cwd=ROOT
    )
    if run.returncode:
        raise RunFailed((run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1])
    return Result(**json.loads(run.stdout))


if __name__ == "__main__":
    print(json.dumps(measured(Job(**json.load(sys.stdin)))._asdict()))
