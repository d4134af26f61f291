"""The benchmarks that there are."""

from __future__ import annotations

from conformance.bench.benchmark import Benchmark
from conformance.bench.citybench import CITYBENCH
from conformance.bench.csrbench import CSRBENCH
from conformance.bench.lsbench import LSBENCH
from conformance.bench.srbench import SRBENCH
from conformance.bench.yabench import YABENCH
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest

ALL = (CITYBENCH, CSRBENCH, LSBENCH, SRBENCH, YABENCH)
BENCHMARKS = {benchmark.name: benchmark for benchmark in ALL}


def find_benchmark(name: str) -> Benchmark:
    """Return a benchmark by its name. Raises RefengineError with the nearest name."""
    if name not in BENCHMARKS:
        raise RefengineError(
            f"no benchmark {display(name)}{nearest(name, BENCHMARKS)}",
            rule="usage",
        )
    return BENCHMARKS[name]
