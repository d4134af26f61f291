"""`conformance shard`: the suite over Spark."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from conformance.command_line.options import check_missing
from refengine import cli
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    from conformance.command_line.options import Commands
    from conformance.spark.folder import Folder
    from conformance.suite import Asked, Item


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    shard = commands.add_parser(
        "shard",
        help="the suite over Spark: pytest conformance/ --engine=…, spread over executors",
        epilog="exit codes: 0 all as expected, 1 a failure that no known deviation explains or "
        "a known one that no longer shows, "
        "2 bad input, no Spark or nowhere to write, 4 an engine of which nothing was judged, "
        "130 interrupted",
    )
    shard.add_argument(
        "--engine",
        action="append",
        required=True,
        metavar="NAME",
        help="engine to judge, by name or by its file (*.toml); repeatable",
    )
    shard.add_argument("--answers", metavar="DIR", help="judge the engine's recordings in DIR")
    shard.add_argument(
        "--csrbench",
        metavar="DIR",
        help="CSRBench's stream for engines that are started (default: an embedded one)",
    )
    shard.add_argument(
        "--engine-classpath",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="the classpath of an engine that you bring; repeatable",
    )
    shard.add_argument(
        "--missing",
        type=int,
        metavar="K",
        help="outputs that may be missing "
        "at each end (default: 0 of an "
        "engine that is started, 1 of "
        "a recording)",
    )
    shard.add_argument("--smoke", action="store_true", help="a dozen cases for a first look")
    shard.add_argument(
        "--allow-missing",
        action="store_true",
        help="no failure if every item of an engine is skipped",
    )
    shard.add_argument(
        "--spark",
        metavar="MASTER",
        help="local[2], spark://HOST:PORT, "
        "sc://HOST:PORT, … (default: what "
        "Spark is configured to)",
    )
    shard.add_argument(
        "--environment",
        type=cli.path,
        metavar="ARCHIVE",
        help="the Python of executors, packed by venv-pack (default: theirs)",
    )
    shard.add_argument(
        "--parallel",
        type=int,
        metavar="N",
        help="shards that run at a time (default: as many as there are slots for tasks)",
    )
    shard.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run in OUT; what is done is not done again",
    )
    shard.add_argument(
        "-o",
        "--out",
        type=cli.path,
        required=True,
        metavar="OUT",
        help="the folder of the results: results.ndjson, results.parquet",
    )


def run(options: argparse.Namespace) -> int:
    """Ask and judge over Spark; the exit code."""
    import tqdm  # noqa: F401  which is missed before anything is written

    from conformance.spark import folder, session
    from conformance.suite import Asked

    if options.parallel is not None and options.parallel < 1:
        raise RefengineError(f"--parallel must be > 0, got {options.parallel}", rule="usage")
    check_missing(options.missing)
    asked = Asked(
        options.engine,
        None,
        options.answers,
        options.csrbench,
        options.smoke,
        True,
        options.engine_classpath,
        options.missing,
    )
    items = asked.items()
    for missing in dict.fromkeys(item.missing for item in items if item.missing):
        print(f"conformance: {missing}", file=sys.stderr)
    wanted = [item for item in items if not item.missing]
    if wanted and not options.resume:
        session.check(options.spark)  # before anything is written
    with folder.opened(options.out, asked, options.resume) as run:
        try:
            _spread_over_spark(run, asked, wanted, options)
            run.write()
        except KeyboardInterrupt:
            done = f"{run.count()} of {len(wanted)} items are done"
            print(
                f"conformance: interrupted; {done}: the same command with --resume goes on",
                file=sys.stderr,
            )
            return 130
        return _concluded(items, run.done, options.allow_missing)


def _spread_over_spark(
    run: Folder, asked: Asked, wanted: list[Item], options: argparse.Namespace
) -> None:
    from tqdm import tqdm

    from conformance.spark import jobs, session, shard

    rest = [item for item in wanted if item.key not in run.done]
    if not rest:
        return
    with session.opened(options.spark, run.path / "spark.log", True, options.environment) as spark:
        parallel, began = options.parallel or jobs.slots(spark), time.monotonic()
        with (
            tqdm(
                total=len(wanted),
                initial=len(run.done),
                desc="items",
                unit="item",
                disable=not sys.stderr.isatty(),
                leave=False,
            ) as progress,
            closing(shard.spread(spark, asked, rest, parallel)) as shards,
        ):
            for found in shards:
                run.add(found)
                progress.update(len(found))
        print(
            f"conformance: {len(rest)} items in {time.monotonic() - began:.1f} s", file=sys.stderr
        )


def _concluded(
    items: list[Item], done: Mapping[tuple[str, str, str], dict[str, Any]], allow_missing: bool
) -> int:
    """Says what is not as expected, and sums up; the exit code."""
    from conformance import suite
    from conformance.spark import shard
    from conformance.verdict import results

    found, held, wrong = [], set(), False
    for item in items:
        try:
            result = None if item.missing else shard.result(done[item.key])
            reason = "" if result is None else suite.unexpected(item, result)
        except RefengineError as error:
            result, reason = None, f"error: {error}"
        if reason:
            print(f"{item.id}: {reason}")
            wrong = True
        if result is not None:
            found.append(result)
        if reason or (result is not None and suite.judged(result)):
            held.add(item.engine)
    unheld = sorted({item.engine for item in items} - held)
    for line in (*results.summary(found), *map(results.unheld, unheld)):
        print(f"conformance: {line}")
    return 1 if wrong else 4 if unheld and not allow_missing else 0
