"""SG1 as a Spark job: the stream of tools/sg1.py, as Parquet that `python -m conformance truth
--stream` reads.

    python tools/sg1_spark.py --out PATH --duration TIME [the other parameters of tools/sg1.py]
        [--spark MASTER] [--parts N]

Columns: time (ms), element (the order within an instant), subject, predicate, object (N-Triples).
Sorted by time and element, the rows are the lines of tools/sg1.py, byte for byte. A part is some
rounds, or, where there are fewer rounds than parts, some stations of a round; parts come in the
order of time. PATH is where Spark's executors write.

Exit codes: 0 it is written, 2 bad input, no Spark or nowhere to write, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.spark import jobs, session
from conformance.spark.streams.rows import batch
from conformance.spark.streams.stream import URL
from conformance.spark.streams.table import SCHEMA
from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import plain
from tools import sg1

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

OBSERVATIONS = 2_000  # that go to Spark at once


def parts(parameters: sg1.Parameters, count: int) -> list[tuple[range, range]]:
    """Rounds and stations of at most about so many parts, in the order of time."""
    rounds, stations = parameters.rounds, parameters.stations
    times = min(count, rounds)
    wide = min(stations, -(-count // times))
    return [
        (
            range(rounds * k // times, rounds * (k + 1) // times),
            range(stations * i // wide, stations * (i + 1) // wide),
        )
        for k in range(times)
        for i in range(wide)
    ]


def rows(
    parameters: sg1.Parameters, rounds: range, stations: range
) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield the rows of a part, sorted."""
    for observation in sg1.observations(parameters, stations, rounds):
        for number, line in enumerate(sg1.lines(observation).splitlines()):
            subject, predicate, object_ = line.rsplit(' "', 1)[0].split(" ", 2)
            yield (
                observation.time,
                observation.station * sg1.TRIPLES + number,
                subject,
                predicate,
                object_,
            )


def rows_of_parts(
    parameters: sg1.Parameters,
    work: list[tuple[range, range]],
    batches: Iterable[pyarrow.RecordBatch],
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of the parts whose numbers come, in a worker."""
    for some in batches:
        for number in some.column(0).to_pylist():
            found = rows(parameters, *work[number])
            while lines := list(islice(found, OBSERVATIONS * sg1.TRIPLES)):
                yield batch(SCHEMA, lines)


def write(
    spark: SparkSession, parameters: sg1.Parameters, out: str, count: int | None = None
) -> int:
    """Writes the stream; in how many parts. Raises RefengineError."""
    from pyspark import cloudpickle
    from pyspark.errors import PySparkException

    # executors need not have them
    for module in (sg1, sys.modules[batch.__module__], sys.modules[__name__]):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]  # it has none
    work = parts(parameters, count or 2 * jobs.slots(spark))
    target = out if URL.match(out) else f"file://{os.path.abspath(out)}"
    frame = spark.range(0, len(work), 1, len(work)).mapInArrow(
        partial(rows_of_parts, parameters, work), SCHEMA
    )
    try:
        frame.write.parquet(target)
    except PySparkException as error:
        reason = jobs.reason(error)
        if "PATH_ALREADY_EXISTS" in str(error):
            reason = "is there already; name another folder"
        raise RefengineError(plain(reason), rule="usage", place=out) from None
    return len(work)


def main() -> int:
    """Write the stream that the command line asks for, with Spark, and return the exit code."""
    parser = sg1.arguments("Makes a stream as YABench's generator SG1 does, with Spark.")
    parser.add_argument(
        "--out", required=True, metavar="PATH", help="a folder, or a URL, that is not there yet"
    )
    parser.add_argument(
        "--spark",
        metavar="MASTER",
        help="local[2], spark://HOST:PORT, "
        "sc://HOST:PORT, … (default: what "
        "Spark is configured to)",
    )
    parser.add_argument("--parts", type=sg1.whole, metavar="N", help="default: two a slot")
    options = vars(parser.parse_args())
    out, master, count = (options.pop(name) for name in ("out", "spark", "parts"))
    if count is not None and count < 1:
        parser.error(f"--parts must be > 0, got {count}")
    try:
        parameters = sg1.Parameters(**options)
    except ValueError as error:
        parser.error(str(error))
    with session.open_session(master, light=True) as spark:
        number = write(spark, parameters, out, count)
    print(
        f"{out}: {parameters.triples} triples in {number} part{'s' if number > 1 else ''}",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(cli.run("sg1", main))
