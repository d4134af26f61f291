"""The streams of a benchmark's query and its truth, by Spark: for scales that one core cannot.

    python -m tools.bench_on_spark NAME --query TEST --scale N --out PATH [--parts N]
        [--spark MASTER]

The query, its streams and its static data are those that `python -m conformance bench NAME` has at
the scale; TEST is the name of a test there, such as Q4. Executors make the streams, part by part,
and need the project installed. PATH/stream gets the triples as Parquet, with the columns `time`,
`element` (the order within an instant), `stream`, `subject`, `predicate` and `object`; PATH/truth
gets the reports under the benchmark's semantics, as `conformance.spark.truth` returns them.

Exit codes: 0 it is written, 2 bad input, no Spark or nowhere to write, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from conformance.bench.benchmark import Choice, Workload
from conformance.bench.catalogue import find_benchmark
from conformance.bench.streams import GeneratedStream
from conformance.spark import jobs, session, truth
from conformance.spark.formats.pieces import URL
from refengine import cli
from refengine.model.errors import RefengineError, require
from refengine.model.messages import display, nearest, plain
from refengine.rdf.lines import parse_line_with_time

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

LINES_OF_PART = 1 << 40  # more than a part has: what is in an earlier part comes first
ROWS = 14_000  # that go to Spark at once
SCHEMA = "time long, element long, stream string, subject string, predicate string, object string"

RowOfStreams = tuple[int, int, str, str, str, str]  # of SCHEMA


class StreamPart(NamedTuple):
    """A part of a stream: the stream's name, the number of the part, and what makes its lines."""

    stream: str
    number: int
    lines: Callable[[], Iterable[str]]


def find_workload(name: str, test: str, scale: int) -> Workload:
    """Return a test of a benchmark at a scale. Raises RefengineError."""
    workloads = {one.name: one for one in find_benchmark(name).workloads(Choice(scale=scale))}
    if test not in workloads:
        raise RefengineError(
            f"no test {display(test)}{nearest(test, workloads)}",
            rule="usage",
            place="--query",
        )
    return workloads[test]


def parts_of(workload: Workload, count: int) -> list[StreamPart]:
    """Return the parts of all streams of a workload, about so many of each. Raises RefengineError
    for a stream that is not generated.
    """
    parts: list[StreamPart] = []
    for name, source in workload.streams.items():
        if not isinstance(source, GeneratedStream):
            raise RefengineError("a stream of files is not made", rule="usage", place=name)
        parts += [
            StreamPart(name, number, lines) for number, lines in enumerate(source.parts(count))
        ]
    return parts


def rows_of_part(part: StreamPart) -> Iterator[RowOfStreams]:
    """Yield the rows of a part of a stream. Of one instant they are in the order of the stream."""
    for number, line in enumerate(part.lines()):
        triple, time = require(parse_line_with_time(line, part.stream))
        yield time, part.number * LINES_OF_PART + number, part.stream, *triple


def batches_of_parts(
    parts: Sequence[StreamPart], numbers: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of some parts as SCHEMA has them, in a worker of Spark. `numbers` are those of
    the parts.
    """
    import pyarrow

    names, kinds = zip(*(column.split() for column in SCHEMA.split(", ")), strict=True)
    types = {"long": pyarrow.int64(), "string": pyarrow.string()}
    for some in numbers:
        for number in some.column(0).to_pylist():
            rows = rows_of_part(parts[number])
            while block := list(islice(rows, ROWS)):
                columns = zip(*block, kinds, strict=True)
                yield pyarrow.RecordBatch.from_arrays(
                    [pyarrow.array(values, types[kind]) for *values, kind in columns], names
                )


def triples_of(spark: SparkSession, workload: Workload, count: int | None = None) -> DataFrame:
    """Return the triples of all streams of a workload, which executors make in about `count` parts
    of each stream (None: two for each slot for tasks). Raises RefengineError.
    """
    from pyspark import cloudpickle

    parts = parts_of(workload, count or 2 * jobs.slots(spark))
    # The executors need not have this module installed: it is sent with the job.
    this_module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(this_module)  # type: ignore[no-untyped-call]  # it has none
    numbers = spark.range(0, len(parts), 1, len(parts))
    return numbers.mapInArrow(partial(batches_of_parts, parts), SCHEMA)


def truth_of(triples: DataFrame, workload: Workload) -> DataFrame:
    """Return the reports of a workload's query over its triples, under its semantics."""
    frame: DataFrame = truth(
        triples,
        workload.query,
        workload.semantics.semantics(),
        static=workload.static_source.load(),
    )
    return frame


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="tools.bench_on_spark", description=__doc__)
    parser.add_argument("name", metavar="NAME", help="the benchmark")
    parser.add_argument("--query", required=True, metavar="TEST", help="a test of the benchmark")
    parser.add_argument("--scale", required=True, type=int, metavar="N", help="as in bench")
    parser.add_argument("--out", required=True, metavar="PATH", help="a folder that is not there")
    parser.add_argument("--parts", type=int, metavar="N", help="default: two for each slot")
    parser.add_argument("--spark", metavar="MASTER", help=session.FORMS)
    options = parser.parse_args(arguments)
    if options.scale < 1 or (options.parts is not None and options.parts < 1):
        parser.error("--scale and --parts must be > 0")
    workload = find_workload(options.name, options.query, options.scale)
    with session.open_session(options.spark, light=True) as spark:
        write_both(spark, workload, options.out, options.parts)
    return 0


def url_of(out: str) -> str:
    """Return the URL of a folder, which may be a path of this machine."""
    if URL.match(out):
        return out
    return f"file://{os.path.abspath(out)}"


def write_frame(frame: DataFrame, out: str) -> None:
    """Write a DataFrame as Parquet to a folder or URL. Raises RefengineError if it cannot be made
    or written.
    """
    from pyspark.errors import PySparkException

    try:
        frame.write.parquet(url_of(out))
    except PySparkException as error:
        reason = jobs.reason(error)
        if "PATH_ALREADY_EXISTS" in str(error):
            reason = "is there already; name another folder"
        raise RefengineError(plain(reason), rule="usage", place=out) from None


def write_both(spark: SparkSession, workload: Workload, out: str, count: int | None) -> None:
    """Write the triples of a workload, and then its reports over what was written. Raises
    RefengineError.
    """
    write_frame(triples_of(spark, workload, count), f"{out}/stream")
    triples = spark.read.parquet(url_of(f"{out}/stream"))
    write_frame(truth_of(triples, workload), f"{out}/truth")
    reports = spark.read.parquet(url_of(f"{out}/truth")).count()
    print(f"{out}: {triples.count()} triples, {reports} reports", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(cli.run("bench_on_spark", main))
