"""The cost of an element for the reference harness, by how many elements came before it."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.harness import client
from conformance.harness.client import Harness
from tools.bench.lab import Lab, Line

ADAPTER = Path(client.__file__).parent / "adapters" / "reference.py"
WAYS = {"definition": [], "incremental": ["--incremental"]}
BODY = "SELECT ?x ?y { ?x <urn:p> ?y }"


def pushes(lab: Lab, name: str, lengths: Sequence[int]) -> Iterator[Line]:
    """Yield, for the definition and for incremental evaluation, the CPU seconds that the harness
    takes for streams of several lengths: an element a second, tumbling windows of ten.
    """
    for way, flags in WAYS.items():
        _, begin = _least(flags, 1, lab.runs)
        points = []
        for length in lengths:
            reports, seconds = _least(flags, length, lab.runs)
            points.append(
                {
                    "elements": length,
                    "reports": reports,
                    "cpu_seconds": round(seconds - begin, 3),
                    "cpu_microseconds_per_element": round(1e6 * (seconds - begin) / length),
                }
            )
        yield {"name": f"{name}/{way}", "points": points}


def _least(flags: Sequence[str], length: int, runs: int) -> tuple[int, float]:
    """Return the number of reports for a stream, and the least CPU seconds of several runs."""
    return min((_run(flags, length) for _ in range(runs)), key=lambda run: run[1])


def _run(flags: Sequence[str], length: int) -> tuple[int, float]:
    """Return the number of reports for a stream, and the CPU seconds of the harness."""
    before = _seconds_of_children()
    harness = Harness([sys.executable, str(ADAPTER), "csparql", "t0=0", *flags])
    try:
        harness.start()
        window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
        query = json.dumps({"body": BODY, "windows": [window]})
        harness.ask("register", query=query, dialect="table", streams=["s"])
        reports = 0
        for at in range(length):
            reply = harness.ask("push", stream="s", at=at, graph=f"<urn:{at}> <urn:p> <urn:x> .")
            reports += len(reply["relations"])
        reports += len(harness.ask("end")["relations"])
    finally:
        harness.stop()
    return reports, _seconds_of_children() - before


def _seconds_of_children() -> float:
    """Return the CPU seconds of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
