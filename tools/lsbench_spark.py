"""A stream of LSBench as a Spark job: the stream of tools/lsbench.py, as Parquet that `python -m
conformance truth --stream` reads.

    python -m tools.lsbench_spark --stream NAME --out PATH [--users N] [--days N] [--seed N]
        [--spark MASTER] [--parts N]

Sorted by time and element, the rows are the lines of tools/lsbench.py, byte for byte. A part is a
stretch of time. PATH is where Spark's executors write.

Exit codes: 0 it is written, 2 bad input, no Spark or nowhere to write, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.bench.lsbench import activity, draws, network, terms
from conformance.bench.lsbench.activity import START, STREAMS, Parameters, events
from conformance.spark import jobs, session
from refengine import cli
from tools.lsbench import add_parameters
from tools.sg1 import whole
from tools.spark_parts import StreamRow, write_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows_between(parameters: Parameters, stream: str, start: int, stop: int) -> Iterator[StreamRow]:
    """Yield the rows of a stretch of a stream, sorted. The elements of an instant are numbered."""
    number, time = 0, start
    for event in events(parameters, stream, start, stop):
        if event.time != time:
            number, time = 0, event.time
        for triple in event.triples:
            yield (time, number, *triple)
            number += 1


def write_parquet(
    spark: SparkSession, parameters: Parameters, stream: str, out: str, count: int | None = None
) -> int:
    """Write a stream as Parquet to a folder or URL, in `count` parts (None: two for each of Spark's
    slots), and return how many there are. Raises RefengineError if it cannot be written.
    """
    count = count or 2 * jobs.slots(spark)
    borders = [START + (parameters.stop - START) * number // count for number in range(count + 1)]
    modules = (activity, draws, network, terms, sys.modules[__name__])
    rows = partial(rows_between, parameters, stream)
    write_parts(spark, rows, list(pairwise(borders)), modules, out)
    return count


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
    parser.add_argument("--parts", type=whole, metavar="N", help="default: two a slot")
    options = parser.parse_args()
    if options.parts is not None and options.parts < 1:
        parser.error(f"--parts must be > 0, got {options.parts}")
    try:
        parameters = Parameters(options.users, options.days, options.seed)
    except ValueError as error:
        parser.error(str(error))
    with session.open_session(options.spark, light=True) as spark:
        number = write_parquet(spark, parameters, options.stream, options.out, options.parts)
    print(f"{options.out}: in {number} parts", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(cli.run("lsbench_spark", main))
