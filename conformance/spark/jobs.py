"""Jobs of Spark, some at a time, each of which gives a table: what is done is given as soon as it
is, whatever comes of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

from conformance.spark.session import NoSpark, first_line
from refengine.model.messages import plain

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def slots(spark: SparkSession) -> int:
    """How many tasks run at once: into so many parts Spark cuts a range by default."""
    from pyspark.sql import functions

    return len(
        collected(
            spark.range(10**6).select(functions.spark_partition_id().alias("part")).distinct()
        )
    )


def run(
    jobs: Mapping[K, Callable[[], DataFrame]], parallel: int
) -> Iterator[tuple[K, pyarrow.Table]]:
    """Each job's rows, as the jobs end, in the order in which they were given as far as possible;
    `parallel` run at a time. A task whose executor is lost Spark tries again, and its rows come
    once. Raises NoSpark for a job that Spark gives up.
    """
    waiting, running = iter(jobs.items()), {}
    pool = ThreadPoolExecutor(parallel, thread_name_prefix="spark-job")

    def fill() -> None:
        for key, job in waiting:
            running[pool.submit(_collected, job)] = key
            if len(running) >= parallel:
                return

    try:
        fill()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                key = running.pop(future)
                table = told(future.result)
                fill()
                yield key, table
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # what runs ends with the session


def collected(frame: DataFrame) -> pyarrow.Table:
    """The rows of one job. Raises NoSpark if Spark gives it up."""
    return told(frame.toArrow)


def _collected(job: Callable[[], DataFrame]) -> pyarrow.Table:
    return job().toArrow()


def told(ask: Callable[[], T]) -> T:
    """What Spark says to a question. Raises NoSpark for whatever else comes of it."""
    try:
        return ask()
    except Exception as error:  # of Spark, py4j, or gRPC
        raise NoSpark(f"a job was given up: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """The one line that says most: of a worker's traceback that of its exception, of Java's causes
    the last, and else the first.
    """
    told = str(error).splitlines()
    begins = next(
        (number for number, line in enumerate(told) if "Traceback (most recent call last)" in line),
        len(told),
    )
    raised = [line for line in told[begins + 1 :] if re.match(r"[A-Za-z_][\w.]*: ", line)]
    caused = [
        line.strip().removeprefix("Caused by: ")
        for line in told
        if line.strip().startswith("Caused by: ")
    ]
    return plain((raised[:1] or caused[-1:] or [first_line(error)])[0])[:500]
