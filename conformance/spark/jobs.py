"""Running jobs of Spark, some at a time, and what becomes of their errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from conformance.spark.session import (
    WORKERS_PYTHON,
    NoSpark,
    error_of_lost_spark,
    first_line_of_error,
    is_loss,
)
from refengine.model import errors
from refengine.model.errors import RefengineError
from refengine.model.messages import plain

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
ERROR = re.compile(r"\brefengine\.model\.errors\.(\w+): (.*)")  # in a traceback
MISSING = re.compile(r"\bModuleNotFoundError: No module named '([\w.]+)'")
MESSAGE = re.compile(r"(?:(?P<place>.*?): )?(?P<rule>[A-Z0-9]+-[0-9]+|usage|spark): (?P<reason>.*)")


def slots(spark: SparkSession) -> int:
    """Return how many tasks run at once, up to 10,000. That is the number of parts into which Spark
    cuts a range by default.
    """
    from pyspark.sql import functions

    part = functions.spark_partition_id().alias("part")
    return len(set(collect(spark.range(10_000).select(part))["part"].to_pylist()))


def run_jobs(jobs: Mapping[K, Callable[[], T]], parallel: int) -> Iterator[tuple[K, T]]:
    """Run jobs, `parallel` at a time, and yield the key and the result of each when it ends,
    whatever becomes of the others. Jobs are started in the order in which they are given. If an
    executor is lost Spark tries its task again; the result comes once. Raises what `ask` raises.
    """
    waiting = iter(jobs.items())
    running: dict[Future[T], K] = {}
    pool = ThreadPoolExecutor(parallel, thread_name_prefix="spark-job")

    def fill() -> None:
        for key, job in waiting:
            running[pool.submit(job)] = key
            if len(running) >= parallel:
                return

    try:
        fill()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                key = running.pop(future)
                result = ask(future.result)
                fill()
                yield key, result
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # what runs ends with the session


def collect(frame: DataFrame) -> pyarrow.Table:
    """Run a job, and return its rows. Raises what `ask` raises."""
    return ask(frame.toArrow)


def ask(question: Callable[[], T]) -> T:
    """Call a function that asks Spark something, and return its result. Raises the RefengineError
    with which an executor ended, and NoSpark for any other error.
    """
    try:
        return question()
    except RefengineError:
        raise
    except Exception as error:  # of Spark, py4j, or gRPC
        if is_loss(error):
            raise error_of_lost_spark(error) from error
        of_executor = _error_of_executor(str(error))
        if of_executor is not None:
            raise of_executor from error
        raise NoSpark(f"a job was given up: {explain_lost_job(error)}") from error


CHECKED: WeakSet[SparkSession] = WeakSet()  # whose workers have what they need


def check_workers(spark: SparkSession) -> None:
    """Raise NoSpark if the workers of a session run a Python without what this project needs. A
    session is asked once.
    """
    if spark not in CHECKED:
        ask(lambda: spark.range(0, 1, 1, 1).mapInArrow(_import_needed, "id bigint").toArrow())
        CHECKED.add(spark)


def _import_needed(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Import on a worker what truth and judging need, and yield what came."""
    import conformance.spark.ground_truth
    import conformance.spark.judging  # noqa: F401

    yield from batches


def explain_lost_job(error: BaseException) -> str:
    """Return why a job was given up. If a worker's Python lacks a package, that is the reason,
    with the way out.

    >>> text = "Traceback (most recent call last):\\n  …\\nModuleNotFoundError: No module named 'x'"
    >>> explain_lost_job(RuntimeError(text)).partition(" (")[0]
    "the Python of Spark's workers has no x"
    """
    missing = MISSING.search(str(error))
    if missing is None:
        return reason(error)
    python = os.environ.get(WORKERS_PYTHON)
    chosen = f"{WORKERS_PYTHON} is not set here"
    if python is not None:
        chosen = f"{WORKERS_PYTHON}='{plain(python)}'"  # whole: it is a path to go to
    return (
        f"the Python of Spark's workers has no {plain(missing[1])} ({chosen}): before Spark "
        f"starts, let {WORKERS_PYTHON} name a Python with refengine[suite,spark], such as "
        f"{plain(sys.executable)}"
    )


def _error_of_executor(text: str) -> RefengineError | None:
    """Return the RefengineError in the traceback of an executor, if there is one.

    >>> error = _error_of_executor("...\nrefengine.model.errors.Disputed: body: R2R-5: who knows")
    >>> type(error).__name__, error.place, error.rule, error.reason
    ('Disputed', 'body', 'R2R-5', 'who knows')
    """
    for name, message in ERROR.findall(text):
        kind = getattr(errors, name, None)
        parts = MESSAGE.fullmatch(message.strip())
        if parts is not None and isinstance(kind, type) and issubclass(kind, RefengineError):
            return kind(parts["reason"], rule=parts["rule"], place=parts["place"] or "")
    return None


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
