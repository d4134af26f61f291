"""A stream of LSBench as a Spark job: the stream of tools/lsbench.py, as Parquet that `python -m
conformance truth --stream` reads.

    python -m tools.lsbench_spark --stream NAME --out PATH [--users N] [--days N] [--seed N]
        [--spark MASTER] [--environment ARCHIVE] [--parts N]

Sorted by time and element, the rows are the lines of tools/lsbench.py, byte for byte. A part is a
span of time. PATH is where Spark's executors write.

Exit codes: 0 it is written, 2 bad input, no Spark or nowhere to write, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.bench.lsbench.activity import START, STREAMS, Parameters, events
from conformance.bench.lsbench.data import IRIS, NAMES
from conformance.spark import jobs, session
from refengine import cli
from refengine.core.query import Query
from tools.lsbench import add_parameters
from tools.sg1 import whole
from tools.spark_parts import StreamRow, frame_of_parts, write_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def rows_between(parameters: Parameters, stream: str, start: int, stop: int) -> Iterator[StreamRow]:
    """Yield the rows of a span of a stream, sorted. The elements of an instant are numbered."""
    number, time = 0, start
    for event in events(parameters, stream, start, stop):
        if event.time != time:
            number, time = 0, event.time
        for triple in event.triples:
            yield (time, number, *triple)
            number += 1


def stream_frame(
    spark: SparkSession, parameters: Parameters, stream: str, count: int | None = None
) -> DataFrame:
    """Return a stream as a DataFrame, in `count` parts (None: two for each of Spark's slots)."""
    count = count or 2 * jobs.slots(spark)
    length = parameters.stop - START
    borders = [START + length * number // count for number in range(count + 1)]
    rows = partial(rows_between, parameters, stream)
    return frame_of_parts(spark, rows, list(pairwise(borders)), [sys.modules[__name__]])


def question_frame(
    spark: SparkSession, parameters: Parameters, query: Query, count: int | None = None
) -> DataFrame:
    """Return the streams of a query as one DataFrame with a column `stream`, as
    `conformance.spark.ground_truth.truth` takes it.
    """
    from pyspark.sql import functions

    names = dict.fromkeys(NAMES[window.stream] for window in query.windows)
    frames = [
        stream_frame(spark, parameters, name, count).withColumn("stream", functions.lit(IRIS[name]))
        for name in names
    ]
    return reduce(lambda one, other: one.union(other), frames)


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="lsbench_spark", description="Makes a stream of LSBench with Spark."
    )
    add_parameters(parser)
    parser.add_argument("--stream", required=True, choices=STREAMS, metavar="NAME")
    parser.add_argument(
        "--out", required=True, metavar="PATH", help="a folder, or a URL, that is not there yet"
    )
    parser.add_argument("--spark", metavar="MASTER", help="local[2], spark://HOST:PORT, …")
    parser.add_argument(
        "--environment",
        type=cli.path,
        metavar="ARCHIVE",
        help="an archive with Python and this project for the executors, as venv-pack makes it",
    )
    parser.add_argument("--parts", type=whole, metavar="N", help="default: two a slot")
    options = parser.parse_args()
    if options.parts is not None and options.parts < 1:
        parser.error(f"--parts must be > 0, got {options.parts}")
    try:
        parameters = Parameters(options.users, options.days, options.seed)
    except ValueError as error:
        parser.error(str(error))
    with session.open_session(options.spark, None, True, options.environment) as spark:
        write_frame(stream_frame(spark, parameters, options.stream, options.parts), options.out)
    return 0


if __name__ == "__main__":
    sys.exit(cli.run("lsbench_spark", main))
