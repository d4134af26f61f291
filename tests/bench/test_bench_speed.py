"""A benchmark whose time goes faster, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.bench.benchmark import Workload
from conformance.bench.speed import speed_up
from conformance.bench.streams import GeneratedStream, StoredStream
from refengine import profile

HOUR, MINUTE = 3_600_000, 60_000
WINDOW = {"stream": "urn:s", "kind": "time", "size": HOUR, "slide": 30 * MINUTE}
LINES = (
    '<urn:a> <urn:p> "5" "1800250" .',
    f'<urn:a> <urn:p> "say \\"7\\"" "{HOUR}" .',
)


def workload_over(source) -> Workload:
    table = {"body": "SELECT * { ?x <urn:p> ?y }", "windows": [WINDOW]}
    return Workload("e", "t", table, {"urn:s": source}, profile("csparql").but(t0=0))


def test_two_hundred_times_faster_an_hour_is_eighteen_seconds():
    """30 min and 250 ms are 9,001 ms and a quarter, and an hour is 18 s. Numbers within a triple
    stay.
    """
    faster = speed_up(workload_over(GeneratedStream("s.n3t", lambda: LINES)), 200)
    [window] = faster.query.windows
    assert (window.size, window.slide) == (18_000, 9_000)
    [source] = faster.streams.values()
    assert source.name == "200-times-faster-s.n3t"
    assert list(source.lines()) == [
        '<urn:a> <urn:p> "5" "9001" .',
        '<urn:a> <urn:p> "say \\"7\\"" "18000" .',
    ]


def test_what_cannot_go_faster_is_refused():
    """A window that would not be whole ms long, and a stream of a file."""
    with pytest.raises(ValueError, match="3600000 ms cannot be divided by 7"):
        speed_up(workload_over(GeneratedStream("s.n3t", lambda: LINES)), 7)
    with pytest.raises(TypeError, match="only generated streams"):
        speed_up(workload_over(StoredStream(Path("s.n3t"))), 200)
