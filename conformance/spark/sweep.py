"""A sweep over joins with bounded memory on Spark: a DataFrame of tasks gives one of figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from conformance.bench.clock.sweep import RunFigures, SweepTask, figures_from, run_task
from conformance.bench.clock.workloads import JoinWorkload
from conformance.spark.session import open_session

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "workload string, policy string, memory string, seed long"


def run_over_spark(
    workloads: Mapping[str, JoinWorkload], tasks: Sequence[SweepTask], master: str
) -> Iterator[RunFigures]:
    """Yield the figures of tasks that run over Spark. Raises NoSpark."""
    from conformance.spark.jobs import collect

    with open_session(master, light=True) as spark:
        table = collect(frame_of_figures(spark, workloads, tasks))
    for line in table.column("line").to_pylist():
        yield figures_from(line)


def frame_of_figures(
    spark: SparkSession, workloads: Mapping[str, JoinWorkload], tasks: Sequence[SweepTask]
) -> DataFrame:
    """Return a DataFrame with the line of JSON of each task. The tasks of a workload and a seed run
    one after the other, so that their streams are made once.
    """
    frame = spark.createDataFrame([tuple(task) for task in tasks], SCHEMA)
    chosen = dict(workloads)

    def run_group(group: pyarrow.Table) -> pyarrow.Table:
        import pyarrow

        rows = [SweepTask(**row) for row in group.to_pylist()]
        lines = [run_task(chosen[task.workload], task).line() for task in rows]
        return pyarrow.table({"line": lines})

    return frame.groupBy("workload", "seed").applyInArrow(run_group, "line string")
