"""The benchmarks: what each runs, at its size and at a tiny one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log
from statistics import linear_regression
from typing import Any, NamedTuple

from tools.bench.constructs import CONSTRUCTS
from tools.bench.hand_lines import measure_beside_loops
from tools.bench.lab import Lab, Line, line
from tools.bench.published import CITYBENCH_QUERIES, LSBENCH_QUERIES, SRBENCH_QUERIES
from tools.bench.pushes import pushes
from tools.bench.queries import BenchmarkQuery, csrbench, temperatures
from tools.bench.workload_lines import (
    Growth,
    measure_constructs,
    measure_lsbench,
    measure_workload,
)

KINDS: Mapping[str, BenchmarkQuery] = {
    "time-tumbling": temperatures(),
    "time-sliding": temperatures(slide=1000),
    "tuple": temperatures("tuple", 3500, 700),
    "range": temperatures("range", slide=None),
    "now": temperatures("now", None, None),
    "rows": temperatures("rows", 3500, None),
    "partition": temperatures("partition", 500, None, by=["predicate"]),
    "landmark": temperatures("landmark", None, None),
    "unbounded": temperatures("unbounded", None, None),
    "session": temperatures("session", 5000, None),
}


class Benchmark(NamedTuple):
    """A function that yields the benchmark's lines, its arguments after the lab and the name, and
    tiny ones with which it is done in a moment.
    """

    lines: Callable[..., Iterator[Line]]
    full: Mapping[str, Any]
    tiny: Mapping[str, Any]


def measure_query(
    lab: Lab, name: str, asked: BenchmarkQuery, stations: int, seconds: int
) -> Iterator[Line]:
    """Measure a query over a stream."""
    stream = lab.stream(stations, seconds)
    yield line(name, stream.triples, *lab.medians(lab.job(stream, asked)))


def measure_and_check(
    lab: Lab, name: str, asked: BenchmarkQuery, stations: int, seconds: int
) -> Iterator[Line]:
    """Measure a query over a stream, and check that all reports equal the definitional engine's."""
    stream = lab.stream(stations, seconds)
    found = lab.medians(lab.job(stream, asked))
    difference = lab.run(lab.job(stream, asked, check=True)).difference
    more: Line = {"equal": True}
    if difference is not None:
        more = {"equal": False, "difference": difference}
    yield line(name, stream.triples, *found, **more)


def measure_kinds(lab: Lab, name: str, stations: int, seconds: int) -> Iterator[Line]:
    """Measure one query with each kind of window."""
    for kind, asked in KINDS.items():
        yield from measure_query(lab, f"{name}/{kind}", asked, stations, seconds)


def measure_growth(lab: Lab, name: str, stations: int, seconds: Sequence[int]) -> Iterator[Line]:
    """Measure longer and longer streams at one rate and ω. The slope is the exponent of the seconds
    as a power of the triples, by least squares over the logarithms.
    """
    streams = [lab.stream(stations, length) for length in seconds]
    found = lab.medians(*(lab.job(stream, temperatures()) for stream in streams))
    points = [
        {
            "triples": stream.triples,
            "reports": result.reports,
            "seconds": round(result.seconds, 4),
            "cpu_seconds": round(result.cpu_seconds, 4),
            "peak_mib": round(result.peak_mib, 1),
        }
        for stream, (result, _) in zip(streams, found, strict=True)
    ]

    def slope(seconds: Sequence[float]) -> float:
        triples_logs = [log(stream.triples) for stream in streams]
        seconds_logs = [log(each) for each in seconds]
        return round(linear_regression(triples_logs, seconds_logs).slope, 3)

    slopes = {
        "slope": slope([result.seconds for result, _ in found]),
        "slope_cpu": slope([result.cpu_seconds for result, _ in found]),
    }
    yield line(name, streams[-1].triples, found[-1], points=points, **slopes)


def measure_memory(lab: Lab, name: str, stations: int, seconds: int) -> Iterator[Line]:
    """Measure a stream and one of ten times its length, with no report kept. The ratios are those
    of the peaks of memory, and of what these are above the memory before the run.
    """
    streams = [lab.stream(stations, seconds), lab.stream(stations, 10 * seconds)]
    short, long = lab.medians(*(lab.job(stream, temperatures(), keep=False) for stream in streams))
    above = [max(result.peak_mib - result.base_mib, 0.001) for result, _ in (short, long)]
    ratios = {
        "peak": round(long[0].peak_mib / short[0].peak_mib, 3),
        "above_base": round(above[1] / above[0], 3),
    }
    yield line(name, streams[1].triples, long, base_mib=round(long[0].base_mib, 1), ratios=ratios)


def measure_beside_definition(lab: Lab, name: str, stations: int, seconds: int) -> Iterator[Line]:
    """Measure the engine beside the definitional one, which evaluates the body anew for each
    report. The ratios say how many times as long that one takes.
    """
    stream = lab.stream(stations, seconds)
    asked = temperatures()
    mine, anew = lab.medians(lab.job(stream, asked), lab.job(stream, asked, engine="definitional"))
    ratios = {
        "naive": round(anew[0].seconds / mine[0].seconds, 2),
        "naive_cpu": round(anew[0].cpu_seconds / mine[0].cpu_seconds, 2),
    }
    yield line(name, stream.triples, mine, ratios=ratios)


def _of(
    lines: Callable[..., Iterator[Line]],
    asked: BenchmarkQuery,
    stations: int,
    seconds: int,
    tiny: int,
) -> Benchmark:
    return Benchmark(
        lines,
        {"asked": asked, "stations": stations, "seconds": seconds},
        {"asked": asked, "stations": 2, "seconds": tiny},
    )


BENCHMARKS: Mapping[str, Benchmark] = {
    "big": _of(measure_query, temperatures(), 10_000, 30, 3),
    "medium": _of(measure_query, temperatures(), 1000, 30, 3),
    "small": _of(measure_and_check, temperatures(), 50, 30, 3),
    "q1": _of(measure_query, csrbench("Q1"), 1000, 30, 11),
    "q4": _of(measure_query, csrbench("Q4"), 1000, 30, 11),
    "q6": _of(measure_query, csrbench("Q6"), 500, 60, 11),
    "kinds": Benchmark(
        measure_kinds, {"stations": 100, "seconds": 30}, {"stations": 2, "seconds": 2}
    ),
    "growth": Benchmark(
        measure_growth,
        {"stations": 100, "seconds": (15, 43, 143, 429, 1429, 2858)},
        {"stations": 1, "seconds": (1, 3)},
    ),
    "memory": Benchmark(
        measure_memory, {"stations": 100, "seconds": 143}, {"stations": 1, "seconds": 1}
    ),
    "naive": Benchmark(
        measure_beside_definition, {"stations": 50, "seconds": 10}, {"stations": 2, "seconds": 2}
    ),
    "by-hand": Benchmark(
        measure_beside_loops,
        {"stations": 1000, "seconds": 30},
        {"stations": 2, "seconds": 8, "engines": ()},
    ),
    "pushes": Benchmark(pushes, {"lengths": (100, 1000, 10_000)}, {"lengths": (10, 20)}),
    "constructs": Benchmark(
        measure_constructs,
        {
            "queries": CONSTRUCTS,
            "elements": 1000,
            "window": 800,
            "growth": Growth((100, 10_000), 3000),
        },
        {"queries": ["BIND"], "elements": 40, "window": 16, "growth": Growth((16, 32), 20)},
    ),
    "lsbench": Benchmark(
        measure_lsbench,
        {
            "queries": LSBENCH_QUERIES,
            "elements": (10_000, 30_000, 100_000),
            "users": 4_650,  # who have 219,477 static triples
            "growth": Growth((250, 2_500, 25_000), 30_000),
        },
        {
            "queries": ["Q3"],
            "elements": (20, 40),
            "users": 50,
            "growth": Growth((50, 100), 20),
        },
    ),
    "srbench": Benchmark(
        measure_workload,
        {"queries": SRBENCH_QUERIES, "elements": 100_000},
        {"queries": ["Q1"], "elements": 40},
    ),
    "city": Benchmark(
        measure_workload,
        {"queries": CITYBENCH_QUERIES, "elements": 100_000},
        {"queries": ["Q10"], "elements": 40},
    ),
}


def run(lab: Lab, name: str, tiny: bool = False) -> Iterator[Line]:
    """Run a benchmark, at its size or a tiny one, and return its lines."""
    benchmark = BENCHMARKS[name]
    arguments = benchmark.full
    if tiny:
        arguments = benchmark.tiny
    return benchmark.lines(lab, name, **arguments)
