"""One measured run of a workload's query, over data that are made in memory, in a process of its
own.

    python -m tools.bench.workloads < RUN     (JSON in, JSON out)

CPU seconds run from before the plan of the evaluations is made to after the last report. The start
of Python, the making of streams and static data, and the reading of the query are not in them.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from time import process_time
from typing import NamedTuple

from refengine import Report, evaluate, incremental
from refengine.core import r2r
from refengine.core.question import Setting
from tools.bench import constructs, published
from tools.bench.measure import compare_reports, peak_mib, run_module

SETTINGS: Mapping[str, Callable[..., Setting]] = {
    "constructs": constructs.setting,
    "lsbench": published.lsbench_setting,
    "srbench": published.srbench_setting,
    "city": published.citybench_setting,
}


class WorkloadRun(NamedTuple):
    """What is run: a query of a workload over so many elements, with `sizes` that the workload
    knows, by an engine.

    The cost of single elements is measured from the first report on whose evaluation is at
    `settled` (ms) or later. With `beside`, the engine computes the same reports afterwards.
    """

    workload: str
    query: str
    elements: int
    sizes: dict[str, int]
    engine: str = "incremental"
    settled: int = 0
    beside: bool = False


class RunMeasurement(NamedTuple):
    """What a run took.

    `cpu_seconds` are all, `settled_cpu_seconds` those since the run had settled, in which there
    were `settled_reports`. `rows` is how many rows the reports have together, `peak_mib` the most
    memory that the process held, in MiB, and `provenance` by what means the engine says that it
    answered.

    Beside the engine, `definition_cpu_seconds` are those of the engine since it had
    settled, and `difference` is the first report in which both differ.
    """

    reports: int
    rows: int
    cpu_seconds: float
    settled_cpu_seconds: float
    peak_mib: float
    provenance: str
    definition_cpu_seconds: float | None = None
    difference: str | None = None


Measure = Callable[[WorkloadRun], RunMeasurement]


def evaluate_setting(setting: Setting, engine: str) -> Iterator[Report]:
    """Return the reports of a setting, by the engine of that name."""
    asked = (setting.query, setting.streams, setting.semantics)
    match engine:
        case "incremental":
            return incremental.evaluate(*asked, static=setting.static, answer=r2r.defined_answer)
        case "definitional":
            return iter(evaluate(*asked, static=setting.static, answer=r2r.defined_answer))
        case other:
            raise ValueError(f"engine must be incremental or definitional, got {other!r}")


def measure_setting(
    setting: Setting, engine: str, settled: int
) -> tuple[RunMeasurement, list[Report]]:
    """Return what it takes to compute the reports of a setting, and these."""
    kept: list[Report] = []
    settled_at = None
    started = process_time()
    reports = evaluate_setting(setting, engine)
    for report in reports:
        if settled_at is None and report.evaluation >= settled:
            settled_at = process_time()
        kept.append(report)
    ended = process_time()

    measured = RunMeasurement(
        reports=len(kept),
        rows=sum(report.relation.rows.total() for report in kept),
        cpu_seconds=ended - started,
        settled_cpu_seconds=ended - (settled_at or ended),
        peak_mib=peak_mib(),
        provenance=str(getattr(reports, "provenance", engine)),
    )
    return measured, kept


def measure_run(run: WorkloadRun) -> RunMeasurement:
    """Measure a run in this process."""
    setting = SETTINGS[run.workload](run.query, run.elements, **run.sizes)
    gc.set_threshold(50_000, 20, 50)  # as `python -m conformance csrbench` does
    measured, mine = measure_setting(setting, run.engine, run.settled)
    if not run.beside:
        return measured
    defined, right = measure_setting(setting, "definitional", run.settled)
    return measured._replace(
        definition_cpu_seconds=defined.settled_cpu_seconds,
        difference=compare_reports(iter(mine), iter(right)).difference,
    )


def measure_in_new_process(run: WorkloadRun) -> RunMeasurement:
    """Measure a run in a fresh process. Raises RunFailed."""
    return RunMeasurement(**run_module("tools.bench.workloads", run._asdict()))


if __name__ == "__main__":
    print(json.dumps(measure_run(WorkloadRun(**json.load(sys.stdin)))._asdict()))
