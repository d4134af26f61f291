"""The cost of an element for the reference harness, by how many elements the case has.

    python -m tools.bench.pushes < CASE     (JSON in, JSON out; `pushes` does so)

CPU seconds run from before the first push to after the reply to `end`, in a process of its own. The
start of the process, and the pipe between suite and harness, are not in them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any, NamedTuple

from conformance.harness.reference_engine import WAYS, Reference, run_command
from refengine import profile
from tools.bench.lab import Lab, Line
from tools.bench.measure import run_module

QUERY = {
    "body": "SELECT ?x ?y { ?x <urn:p> ?y }",
    "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
}
WARM_UP = 20  # elements of a case that is run first: modules are loaded when they are needed


class PushedCase(NamedTuple):
    """A case of so many elements, and the way in which the harness finds answers."""

    way: str
    length: int


class Pushed(NamedTuple):
    """How many reports the harness gave, and the CPU seconds that it took."""

    reports: int
    cpu_seconds: float


def pushes(lab: Lab, name: str, lengths: Sequence[int]) -> Iterator[Line]:
    """Yield, for the engine and for incremental evaluation, the least CPU seconds of several
    runs of cases of some lengths: an element a second, tumbling windows of ten. The growth says how
    many times as much an element costs in the last case as in the first.
    """
    for way in WAYS:
        points = []
        for length in lengths:
            runs = [push_in_new_process(PushedCase(way, length)) for _ in range(lab.runs)]
            least = min(runs, key=lambda run: run.cpu_seconds)
            points.append(
                {
                    "elements": length,
                    "reports": least.reports,
                    "cpu_seconds": round(least.cpu_seconds, 4),
                    "cpu_microseconds_per_element": round(1e6 * least.cpu_seconds / length),
                }
            )
        costs = [point["cpu_microseconds_per_element"] for point in points]
        growth = round(costs[-1] / max(costs[0], 1), 2)
        yield {"name": f"{name}/{way}", "points": points, "growth": growth}


def push_in_new_process(case: PushedCase) -> Pushed:
    """Run a case in a fresh process. Raises RunFailed."""
    return Pushed(**run_module("tools.bench.pushes", case._asdict()))


def run_case(case: PushedCase) -> Pushed:
    """Run a case in this process, after a short one."""
    reference = Reference(profile("csparql").but(t0=0).semantics(), case.way)
    _push_all(reference, WARM_UP)
    return _push_all(reference, case.length)


def _push_all(reference: Reference, length: int) -> Pushed:
    """Register the query, push as many elements, and end the stream."""
    messages: list[dict[str, Any]] = [
        {"command": "push", "stream": "s", "at": at, "graph": f"<urn:{at}> <urn:p> <urn:x> ."}
        for at in range(length)
    ]
    messages.append({"command": "end"})
    lines = [json.dumps(message) for message in messages]
    reference.register(json.dumps(QUERY), "table", ["s"])

    started = process_time()
    replies = [json.dumps(run_command(reference, json.loads(line))) for line in lines]
    seconds = process_time() - started
    reports = sum(len(json.loads(reply)["relations"]) for reply in replies)
    return Pushed(reports, seconds)


if __name__ == "__main__":
    print(json.dumps(run_case(PushedCase(**json.load(sys.stdin)))._asdict()))
