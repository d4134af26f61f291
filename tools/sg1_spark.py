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

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.spark import jobs, session
from refengine import cli
from tools import sg1
from tools.spark_parts import frame_of_parts, write_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def parts(parameters: sg1.Parameters, count: int) -> list[tuple[range, range]]:
    """Return about `count` parts of a stream, in the order of time, each as its rounds and
    stations.
    """
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


def write_parquet(
    spark: SparkSession, parameters: sg1.Parameters, out: str, count: int | None = None
) -> int:
    """Write the stream as Parquet to a folder or URL, in about `count` parts (None: two for each of
    Spark's slots), and return how many there are. Raises RefengineError if it cannot be written.
    """
    work = parts(parameters, count or 2 * jobs.slots(spark))
    modules = (sg1, sys.modules[__name__])
    write_frame(frame_of_parts(spark, partial(rows, parameters), work, modules), out)
    return len(work)


def main() -> int:
    """Run the command line and return its exit code."""
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
        number = write_parquet(spark, parameters, out, count)
    noun = "parts"
    if number == 1:
        noun = "part"
    print(f"{out}: {parameters.triples} triples in {number} {noun}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(cli.run("sg1", main))
