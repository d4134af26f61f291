"""Jobs of Spark, some at a time, each of which gives a table: a job's table comes as soon as the
job is done, whatever comes of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

from conformance.spark.session import NoSpark, first_line_of_error
from refengine.model.messages import plain

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def slots(spark: SparkSession) -> int:
    """Return how many tasks run at once: into so many parts Spark cuts a range by default."""
    from pyspark.sql import functions

    part = functions.spark_partition_id().alias("part")
    return len(collect(spark.range(10**6).select(part).distinct()))


def run_jobs(
    jobs: Mapping[K, Callable[[], DataFrame]], parallel: int
) -> Iterator[tuple[K, pyarrow.Table]]:
    """Yield each job's rows, as the jobs end, in the order in which they were given as far as
    possible; `parallel` run at a time. A task whose executor is lost Spark tries again, and its
    rows come once. Raises NoSpark for a job that Spark gives up.
    """
    waiting = iter(jobs.items())
    running: dict[Future[pyarrow.Table], K] = {}
    pool = ThreadPoolExecutor(parallel, thread_name_prefix="spark-job")

    def fill() -> None:
        for key, job in waiting:
            running[pool.submit(_table, job)] = key
            if len(running) >= parallel:
                return

    try:
        fill()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                key = running.pop(future)
                table = ask(future.result)
                fill()
                yield key, table
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # what runs ends with the session


def collect(frame: DataFrame) -> pyarrow.Table:
    """Return the rows of one job. Raises NoSpark if Spark gives it up."""
    return ask(frame.toArrow)


def _table(job: Callable[[], DataFrame]) -> pyarrow.Table:
    return job().toArrow()


def ask(question: Callable[[], T]) -> T:
    """Return what Spark says to a question. Raises NoSpark for whatever else comes of it."""
    try:
        return question()
    except Exception as error:  # of Spark, py4j, or gRPC
        raise NoSpark(f"a job was given up: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """Return the one line of an error that says most: of a worker's traceback that of its
    exception, of Java's causes the last, and else the first.
    """
    lines = str(error).splitlines()
    begins = next(
        (
            number
            for number, line in enumerate(lines)
            if "Traceback (most recent call last)" in line
        ),
        len(lines),
    )
    exceptions = [line for line in lines[begins + 1 :] if re.match(r"[A-Za-z_][\w.]*: ", line)]
    causes = [
        line.strip().removeprefix("Caused by: ")
        for line in lines
        if line.strip().startswith("Caused by: ")
    ]
    best = [*exceptions[:1], *causes[-1:], first_line_of_error(error)][0]
    return plain(best)[:500]
