"""One measured run of another engine beside loops written by hand: CSRBench's Q5 over a stream's
file, through the suite's protocol.

    python -m tools.bench.peers < RUN     (JSON in, JSON out)

CPU seconds are those of the harness and all that it starts, from its start to its end, so the
start of Java or Node.js is in them. What this process spends on sending the stream is not.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from conformance.bench.benchmark import Workload
from conformance.bench.feeding import BenchmarkHarnesses, feed
from conformance.bench.streams import StoredStream
from conformance.harness.engine_file import engine
from refengine import profile
from refengine.core.question import Question
from refengine.model.errors import RefengineError
from refengine.rdf.streams import read_stream
from tools.bench.by_hand import QUERIES, rows_by_terms
from tools.bench.hand_written import LOOPS, Row
from tools.bench.measure import run_module
from tools.bench.queries import STREAM

QUERY = "Q5"
# What an engine has to do with the answers; `reference` shows what the protocol itself costs.
ENGINES = {
    "reference": "our engine through the protocol",
    "rsp-js": "its windows and answers",
    "rsp-rs": "its windows and answers",
    "csparql": "its windows and answers",
    "yasper": "its windows and answers",
    "esper": "its windows; the answers are ours",
    "kafka-streams": "its windows; the answers are ours",
}
ABSENT = {
    "pydbsp": "no program here uses it",
    "yabench-oracle": "neither PyPI nor npm has it",
    "csrbench-oracle": "neither PyPI nor npm has it",
}


class PeerRun(NamedTuple):
    """What is run: an engine of the suite, over a stream's file."""

    path: str
    engine: str


class PeerResult(NamedTuple):
    """What a run took, and how many rows the engine gave. `common_rows` are also among those of the
    loop.
    """

    cpu_seconds: float
    rows: int
    common_rows: int


def why_not_installed(name: str) -> str:
    """Return what an engine lacks on this machine, with what its user does next; empty if it can be
    started.
    """
    try:
        return engine(name).with_classpath("").missing
    except RefengineError as error:  # what its user had added is gone
        return str(error)


def measure_peer(run: PeerRun) -> PeerResult:
    """Measure a run, whose processes are children of this one."""
    asked = QUERIES[QUERY]
    workload = Workload(
        "by-hand",
        QUERY,
        asked.query,
        {STREAM: StoredStream(Path(run.path))},
        profile(asked.profile).but(**asked.fields),
        may_be_sent_by_instant=True,
    )
    question = Question(workload.query, {STREAM: read_stream(run.path)})
    before = _children_seconds()
    feeding = feed(
        engine(run.engine).with_classpath(""), workload, question, False, BenchmarkHarnesses()
    )
    seconds = _children_seconds() - before
    rows: Counter[Row] = Counter()
    for relation in feeding.exchange.relations:
        rows.update(rows_by_terms(relation))
    due: Counter[Row] = Counter()
    with Path(run.path).open(encoding="utf-8") as lines:
        for _, reported in LOOPS[QUERY](lines):
            due.update(reported)
    return PeerResult(seconds, rows.total(), (rows & due).total())


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def measure_peer_in_new_process(run: PeerRun) -> PeerResult:
    """Measure a run in a fresh process. Raises RunFailed."""
    return PeerResult(**run_module("tools.bench.peers", run._asdict()))


if __name__ == "__main__":
    print(json.dumps(measure_peer(PeerRun(**json.load(sys.stdin)))._asdict()))
