"""One measured run beside loops written by hand: over a stream's file, the loop for a query, the
reading of the file alone, or the engine. Each has a process of its own.

    python -m tools.bench.by_hand < RUN     (JSON in, JSON out)

CPU seconds run from before the file is opened to after the rows of the last report are counted.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import process_time
from typing import NamedTuple

from refengine import Relation, from_table, profile
from refengine.rdf.streams import read_elements
from tools.bench.hand_written import LOOPS, Reported, Row
from tools.bench.measure import engine, run_module
from tools.bench.queries import BenchmarkQuery, counts, csrbench, temperatures

QUERIES: Mapping[str, BenchmarkQuery] = {
    "medium": temperatures(),
    "Q5": csrbench("Q5"),
    "counts": counts(),
}
LOOP, READING = "loop", "reading"


class HandRun(NamedTuple):
    """What is run: `loop`, `reading`, or the engine of a name, for a query over a stream's file."""

    path: str
    query: str
    what: str


class HandResult(NamedTuple):
    """What a run took, and how many reports and rows there were. `digest` is that of the instants
    and rows of all reports, so it is equal for two runs if these are.
    """

    cpu_seconds: float
    reports: int = 0
    rows: int = 0
    digest: str = ""


def measure_by_hand(run: HandRun) -> HandResult:
    """Measure a run in this process."""
    gc.set_threshold(50_000, 20, 50)  # as in every other benchmark
    if run.what == READING:
        started = process_time()
        for _ in read_elements(run.path):
            pass
        return HandResult(process_time() - started)
    if run.what == LOOP:
        return _measure_loop(run)
    return _measure_engine(run)


def _measure_loop(run: HandRun) -> HandResult:
    started = process_time()
    with Path(run.path).open(encoding="utf-8") as lines:
        reported = list(LOOPS[run.query](lines))
    count = sum(sum(rows.values()) for _, rows in reported)
    seconds = process_time() - started
    return HandResult(seconds, len(reported), count, find_digest(reported))


def _measure_engine(run: HandRun) -> HandResult:
    asked = QUERIES[run.query]
    query = from_table(asked.query)
    semantics = profile(asked.profile).but(**asked.fields).semantics()
    started = process_time()
    reports = list(engine(run.what)(query, run.path, semantics))
    count = sum(report.relation.rows.total() for report in reports)
    seconds = process_time() - started
    reported = [(report.evaluation, rows_by_terms(report.relation)) for report in reports]
    return HandResult(seconds, len(reports), count, find_digest(reported))


def rows_by_terms(relation: Relation) -> dict[Row, int]:
    """Return the rows of a relation in the form of the loops."""
    return {
        tuple(dict(row)[name] for name in relation.variables): count
        for row, count in relation.rows.items()
    }


def find_digest(reported: Iterable[Reported]) -> str:
    """Return the digest of reports, which does not depend on the order of a report's rows."""
    digest = hashlib.sha256()
    for instant, rows in reported:
        digest.update(json.dumps([instant, sorted(rows.items())]).encode())
    return digest.hexdigest()


def measure_by_hand_in_new_process(run: HandRun) -> HandResult:
    """Measure a run in a fresh process. Raises RunFailed."""
    return HandResult(**run_module("tools.bench.by_hand", run._asdict()))


if __name__ == "__main__":
    print(json.dumps(measure_by_hand(HandRun(**json.load(sys.stdin)))._asdict()))
