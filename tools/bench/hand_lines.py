"""The benchmark `by-hand`: how many times as long as a loop written by hand our reading, our engine
and other engines take, in one run. The run of each with the least CPU seconds counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tools.bench.by_hand import (
    LOOP,
    QUERIES,
    READING,
    HandResult,
    HandRun,
    measure_by_hand_in_new_process,
)
from tools.bench.lab import Lab, Line, Stream
from tools.bench.measure import RunFailed
from tools.bench.peers import (
    ABSENT,
    ENGINES,
    QUERY,
    PeerResult,
    PeerRun,
    measure_peer_in_new_process,
    why_not_installed,
)


def measure_beside_loops(
    lab: Lab,
    name: str,
    stations: int,
    seconds: int,
    engines: Sequence[str] = tuple(ENGINES),
    measure: Callable[[HandRun], HandResult] = measure_by_hand_in_new_process,
    measure_engine: Callable[[PeerRun], PeerResult] = measure_peer_in_new_process,
) -> Iterator[Line]:
    """Measure each query, and then other engines on one of them, over one stream."""
    stream = lab.stream(stations, seconds)
    loops: dict[str, HandResult] = {}
    for query in QUERIES:
        runs = [HandRun(str(stream.path), query, what) for what in (LOOP, READING, lab.engine)]
        found = lab.repeat(measure, *runs)
        loop, reading, ours = (min(each, key=lambda one: one.cpu_seconds) for each in found)
        loops[query] = loop
        yield {
            "name": f"{name}/{query}",
            "triples": stream.triples,
            "reports": loop.reports,
            "rows": loop.rows,
            "cpu_seconds": {
                LOOP: round(loop.cpu_seconds, 4),
                READING: round(reading.cpu_seconds, 4),
                "engine": round(ours.cpu_seconds, 4),
            },
            "ratios": {
                READING: times_as_long(reading.cpu_seconds, loop),
                "engine": times_as_long(ours.cpu_seconds, loop),
            },
            "runs": len(found[0]),
            **compare_with_loop(loop, [*found[0], *found[2]]),
        }
    for engine in engines:
        words: Line = {"name": f"{name}/{QUERY}/{engine}", "measured": ENGINES[engine]}
        yield words | _measure_peer(lab, stream, engine, loops[QUERY], measure_engine)
    for absent, reason in ABSENT.items():
        yield {"name": f"{name}/{QUERY}/{absent}", "not_installed": reason}


def compare_with_loop(loop: HandResult, others: Sequence[HandResult]) -> Line:
    """Return whether the reports of other runs are those of a loop, and how the first differs."""
    for other in others:
        if other.digest != loop.digest:
            theirs = f"{other.reports} reports with {other.rows} rows"
            right = f"{loop.reports} with {loop.rows}"
            return {"equal": False, "difference": f"{theirs}, and the loop has other ones: {right}"}
    return {"equal": True}


def _measure_peer(
    lab: Lab,
    stream: Stream,
    engine: str,
    loop: HandResult,
    measure: Callable[[PeerRun], PeerResult],
) -> Line:
    """Return what a line says of another engine, or why it was not measured."""
    if reason := why_not_installed(engine):
        return {"not_installed": reason}
    try:
        (found,) = lab.repeat(measure, PeerRun(str(stream.path), engine))
    except RunFailed as error:
        return {"failed": str(error)}
    least = min(found, key=lambda each: each.cpu_seconds)
    return {
        "triples": stream.triples,
        "rows": least.rows,
        "rows_of_loop": loop.rows,
        "common_rows": least.common_rows,
        "cpu_seconds": {LOOP: round(loop.cpu_seconds, 4), "peer": round(least.cpu_seconds, 4)},
        "ratios": {"peer": times_as_long(least.cpu_seconds, loop)},
        "runs": len(found),
    }


def times_as_long(seconds: float, loop: HandResult) -> float:
    """Return how many times as long as a loop something takes."""
    return round(seconds / max(loop.cpu_seconds, 1e-6), 2)
