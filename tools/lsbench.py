"""LSBench's data as files: the static data, the five streams at their own times, and the queries.

    python -m tools.lsbench --out DIR [--users N] [--days N] [--seed N] [--stream NAME ...]

DIR gets `static.nt`, a file `NAME.n3t` for each stream, and `queries/Q1.toml` and so on, as
`python -m refengine run` and `python -m conformance truth` read them. With --stream only these
streams are written. The data are those of `conformance.bench.lsbench`: the same parameters give the
same bytes on every machine. Nothing is half-written.

Exit codes: 0 it is written, 2 bad input or nowhere to write, 130 interrupted.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance.bench.lsbench.activity import STREAMS, Parameters
from conformance.bench.lsbench.data import lines_of
from conformance.bench.lsbench.declaration import queries
from conformance.bench.lsbench.network import SEED
from conformance.bench.lsbench.static_data import static_triples
from conformance.verdict.results import replace, writing
from refengine import cli
from tools.sg1 import whole


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the options of the data."""
    for name, default in (("users", 1000), ("days", 10), ("seed", SEED)):
        parser.add_argument(
            f"--{name}", type=whole, default=default, metavar="N", help="default: %(default)s"
        )


def static_lines(parameters: Parameters) -> Iterator[str]:
    """Yield the lines of the static data, in N-Triples."""
    for triple in static_triples(parameters):
        yield f"{' '.join(triple)} ."


def query_lines(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a query's table in TOML."""
    yield "body = " + json.dumps(table["body"], ensure_ascii=False)
    for window in table["windows"]:
        yield "[[windows]]"
        for key, value in window.items():
            yield f"{key} = {json.dumps(value)}"


class CountedLines:
    """Lines that are counted while they are read once."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.count += 1
            yield line


def write_data(parameters: Parameters, streams: Iterable[str], out: Path) -> dict[str, int]:
    """Write the static data, some streams and all queries to a folder. Return how many triples each
    file has. Raises RefengineError.
    """
    with writing(out):
        (out / "queries").mkdir(parents=True, exist_ok=True)
    counts = {}
    for name, lines in {
        "static.nt": static_lines(parameters),
        **{f"{stream}.n3t": lines_of(parameters, stream) for stream in streams},
    }.items():
        counted = CountedLines(lines)
        replace({out / name: counted})
        counts[name] = counted.count
    for name, query in queries().items():
        replace({out / "queries" / f"{name}.toml": query_lines(query.table)})
    return counts


def collect_garbage_seldom() -> None:
    """Let Python's collector of cyclic garbage run less often, as `python -m conformance csrbench`
    does. The data have no cycles, and each run goes through all that waits for its day: with
    10,000 users that is a tenth of all CPU time, with 100 nearly nothing.
    """
    gc.set_threshold(50_000, 20, 50)


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="lsbench", description="Makes LSBench's data.")
    add_parameters(parser)
    parser.add_argument("--out", required=True, type=cli.path, metavar="DIR")
    parser.add_argument("--stream", action="append", choices=STREAMS, metavar="NAME")
    options = parser.parse_args()
    try:
        parameters = Parameters(options.users, options.days, options.seed)
    except ValueError as error:
        parser.error(str(error))
    collect_garbage_seldom()
    for name, count in write_data(parameters, options.stream or STREAMS, options.out).items():
        print(f"{options.out / name}: {count} triples", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(cli.run("lsbench", main))
