"""The benchmarks of workloads: which runs they make, and the lines that these give.

Where a run is repeated, the one with the least CPU seconds counts. Runs beside the engine say
how many times as long the engine takes, and whether its reports are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log
from statistics import linear_regression
from typing import NamedTuple

from tools.bench.lab import Lab, Line
from tools.bench.workloads import Measure, RunMeasurement, WorkloadRun, measure_in_new_process

PREFIX = 300  # elements of a run beside the engine


class Growth(NamedTuple):
    """Sizes, and the number of elements whose cost is measured at each."""

    sizes: Sequence[int]
    elements: int


class QuickestRun(NamedTuple):
    """The run that took the least CPU seconds, of a number of `runs`."""

    least: RunMeasurement
    runs: int


def find_least(lab: Lab, measure: Measure, *runs: WorkloadRun) -> list[QuickestRun]:
    """Make some runs several times, in turns, and return the quickest of each."""
    return [
        QuickestRun(min(results, key=lambda each: each.cpu_seconds), len(results))
        for results in lab.repeat(measure, *runs)
    ]


def show_run(run: WorkloadRun, repeated: QuickestRun) -> Line:
    """Return what a line says of a run."""
    measured = repeated.least
    return {
        "elements": run.elements,
        "reports": measured.reports,
        "rows": measured.rows,
        "cpu_seconds": round(measured.cpu_seconds, 4),
        "peak_mib": round(measured.peak_mib, 1),
        "runs": repeated.runs,
        "provenance": measured.provenance,
    }


def show_growth(growth: Growth, found: Sequence[QuickestRun]) -> Line:
    """Return what an element costs at each size, and how many times as much at the last as at the
    first.
    """
    costs = [1e6 * each.least.settled_cpu_seconds / growth.elements for each in found]
    by_size = zip(growth.sizes, found, costs, strict=True)
    return {
        "sizes": [
            {
                "size": size,
                "cpu_microseconds_per_element": round(cost, 1),
                "rows": each.least.rows,
                "provenance": each.least.provenance,
            }
            for size, each, cost in by_size
        ],
        "growth": round(costs[-1] / max(costs[0], 1e-6), 2),
    }


def compare_with_definition(measure: Measure, run: WorkloadRun) -> Line:
    """Return how many times as long the engine takes for the elements at the beginning, and
    whether the reports are equal.
    """
    beside = run._replace(elements=min(PREFIX, run.elements), beside=True)
    measured = measure(beside)
    assert measured.definition_cpu_seconds is not None  # since it is asked for
    ratio = measured.definition_cpu_seconds / max(measured.settled_cpu_seconds, 1e-6)
    line: Line = {
        "definition": {"elements": beside.elements, "times_as_long": round(ratio, 1)},
        "equal": measured.difference is None,
    }
    if measured.difference is not None:
        line["difference"] = measured.difference
    return line


def measure_constructs(
    lab: Lab,
    name: str,
    queries: Iterable[str],
    elements: int,
    window: int,
    growth: Growth,
    measure: Measure = measure_in_new_process,
) -> Iterator[Line]:
    """Measure each construct over so many elements, with one size of windows; and the cost of an
    element, as the windows grow.
    """
    for query in queries:
        run = WorkloadRun("constructs", query, elements, {"window": window}, lab.engine)
        grown = [
            run._replace(elements=size + growth.elements, sizes={"window": size}, settled=size)
            for size in growth.sizes
        ]
        first, *found = find_least(lab, measure, run, *grown)
        yield {
            "name": f"{name}/{query}",
            **show_run(run, first),
            **show_growth(growth, found),
            **compare_with_definition(measure, run),
        }


def measure_lsbench(
    lab: Lab,
    name: str,
    queries: Iterable[str],
    elements: Sequence[int],
    users: int,
    growth: Growth,
    measure: Measure = measure_in_new_process,
) -> Iterator[Line]:
    """Measure LSBench's queries over longer and longer streams beside the static data of so many
    users; and the cost of an element, as the users grow. The last line has the sums.

    `slope` is the exponent of the seconds as a power of the elements, by least squares over the
    logarithms, without the seconds until the first report. `slope_with_rows` is that of the
    elements and the rows of all reports together: while windows fill, an answer may grow by more
    than its stream.
    """
    seconds = 0.0
    peak_mib = 0.0
    for query in queries:
        run = WorkloadRun("lsbench", query, elements[-1], {"users": users}, lab.engine)
        longer = [run._replace(elements=count) for count in elements]
        grown = [
            run._replace(elements=growth.elements, sizes={"users": size}) for size in growth.sizes
        ]
        found = find_least(lab, measure, *longer, *grown)
        by_length, by_static = found[: len(longer)], found[len(longer) :]
        settled_seconds = [each.least.settled_cpu_seconds for each in by_length]
        with_rows = [
            count + each.least.rows for count, each in zip(elements, by_length, strict=True)
        ]
        seconds += by_length[-1].least.cpu_seconds
        peak_mib = max(peak_mib, by_length[-1].least.peak_mib)
        yield {
            "name": f"{name}/{query}",
            **show_run(run, by_length[-1]),
            "points": [show_run(*point) for point in zip(longer, by_length, strict=True)],
            "slope": find_slope(elements, settled_seconds),
            "slope_with_rows": find_slope(with_rows, settled_seconds),
            **show_growth(growth, by_static),
            **compare_with_definition(measure, grown[0]),
        }
    yield {"name": name, "cpu_seconds": round(seconds, 2), "peak_mib": round(peak_mib, 1)}


def measure_workload(
    lab: Lab,
    name: str,
    queries: Iterable[str],
    elements: int,
    measure: Measure = measure_in_new_process,
) -> Iterator[Line]:
    """Measure each query of a workload over so many elements."""
    for query in queries:
        run = WorkloadRun(name, query, elements, {}, lab.engine)
        (found,) = find_least(lab, measure, run)
        yield {
            "name": f"{name}/{query}",
            **show_run(run, found),
            **compare_with_definition(measure, run),
        }


def find_slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the exponent of the seconds as a power of the sizes."""
    logarithms = [log(max(each, 1e-6)) for each in seconds]
    return round(linear_regression([log(size) for size in sizes], logarithms).slope, 3)
