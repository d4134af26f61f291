"""Running jobs of Spark, some at a time. The table of a job is given as soon as the job is done,
whatever becomes of the others.
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
    """Return how many tasks run at once. That is the number of parts into which Spark cuts a range
    by default.
    """
    from pyspark.sql import functions

    part = functions.spark_partition_id().alias("part")
    return len(collect(spark.range(10**6).select(part).distinct()))


def run_jobs(
    jobs: Mapping[K, Callable[[], DataFrame]], parallel: int
) -> Iterator[tuple[K, pyarrow.Table]]:
    """Run jobs, `parallel` at a time, and yield the key and the rows of each when it ends. Jobs are
    started in the order in which they are given. If an executor is lost Spark tries its task again;
    the rows come once. Raises NoSpark for a job that Spark gives up.
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
    """Run a job, and return its rows. Raises NoSpark if Spark gives it up."""
    return ask(frame.toArrow)


def _table(job: Callable[[], DataFrame]) -> pyarrow.Table:
    return job().toArrow()


def ask(question: Callable[[], T]) -> T:
    """Call a function that asks Spark something, and return its result. Raises NoSpark for any
    error of it.
    """
    try:
        return question()
    except Exception as error:  # of Spark, py4j, or gRPC
        raise NoSpark(f"a job was given up: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """Return the line of an error's message that says most: the exception of a worker's traceback,
    else the last of Java's causes, else the first line.
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
