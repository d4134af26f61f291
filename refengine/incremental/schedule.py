"""§9 When a query is evaluated: what `core.schedule` says, found faster for one window alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from refengine.core import schedule
from refengine.core.plan import Plan
from refengine.core.schedule import MAX_REPORTS, Evaluation
from refengine.incremental.partitions import is_single_partition, partition_groups
from refengine.incremental.time_windows import is_covered_by_time_windows, time_window_groups


def schedule_evaluations(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Evaluation]:
    """Yield the evaluations of a plan in order, those of `core.schedule.evaluations`. Raises
    TooManyReports.
    """
    return chain.from_iterable(schedule_groups(planned, max_reports))


def schedule_groups(
    planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Iterable[Evaluation]]:
    """Yield the evaluations of a plan in groups, those of `core.schedule.evaluation_groups`. But a
    group that is a `time_windows.SimultaneousEvaluations` has several arrivals. Raises
    TooManyReports.
    """
    if is_covered_by_time_windows(planned):
        return time_window_groups(planned, max_reports)
    if is_single_partition(planned):
        return partition_groups(planned, max_reports)
    return schedule.evaluation_groups(planned, max_reports)
