"""`conformance shard`: the suite over Spark."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.command_line.options import (
    add_spark_options,
    check_missing,
    check_positive,
    end_interrupted,
    note_absent_witnesses,
    progress_bar,
)
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    from tqdm import tqdm

    from conformance.command_line.options import Commands
    from conformance.spark.folder import Folder
    from conformance.suite import Item, RunSummary, SuiteOptions
    from conformance.verdict.results import Result


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    shard = commands.add_parser(
        "shard",
        help="run the suite over Spark",
        description="Run the suite over Spark: what `pytest conformance/ --engine=…` does on one "
        "machine is spread over executors. An interrupted run can be resumed.",
        epilog="exit codes: 0 all results are as expected; 1 a failure that no known deviation "
        "explains, or a known deviation that no longer shows; 2 bad input, no Spark, or nowhere to "
        "write; 4 an engine of which nothing was judged; 130 interrupted",
    )
    shard.add_argument(
        "--engine",
        action="append",
        required=True,
        metavar="NAME",
        help="the engine to judge: its name, or its engine file (*.toml). May be given several "
        "times",
    )
    shard.add_argument(
        "--answers",
        metavar="DIR",
        help="judge the recordings of the engine in DIR, and do not start it",
    )
    shard.add_argument(
        "--csrbench",
        metavar="DIR",
        help="the folder of CSRBench's own stream, for engines that are started (default: a small "
        "stream that comes with the suite)",
    )
    shard.add_argument(
        "--engine-classpath",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="the classpath of an engine that you build yourself. May be given several times",
    )
    shard.add_argument(
        "--missing",
        type=int,
        metavar="K",
        help="allow at most K outputs to be missing at each end (default: 0 for an engine that "
        "is started, 1 for a recording)",
    )
    shard.add_argument(
        "--smoke",
        action="store_true",
        help="run a dozen cases only, for a first look",
    )
    shard.add_argument(
        "--allow-missing",
        action="store_true",
        help="do not end with exit code 4 if every item of an engine is skipped",
    )
    add_spark_options(shard, "shards that run", "results: results.ndjson, results.parquet")


def run(options: argparse.Namespace) -> int:
    """Run the suite over Spark; return the exit code."""
    from conformance.spark import folder, session
    from conformance.suite import SuiteOptions, summarize_run

    note_absent_witnesses()
    bar = progress_bar(desc="items", unit="item")  # raises before anything is written
    check_positive("--parallel", options.parallel)
    check_missing(options.missing)
    suite_options = SuiteOptions(
        engines=options.engine,
        answers=options.answers,
        csrbench=options.csrbench,
        smoke=options.smoke,
        keep=True,
        classpaths=options.engine_classpath,
        missing=options.missing,
    )
    items = suite_options.items()
    for absent in dict.fromkeys(item.absent for item in items if item.absent):
        print(f"conformance: {absent}", file=sys.stderr)
    runnable = [item for item in items if not item.absent]
    if runnable and not options.resume:
        session.check_master(options.spark, options.environment)  # before anything is written
    with folder.open_run(options.out, suite_options, options.resume) as run:
        try:
            _spread_over_spark(run, suite_options, runnable, options, bar)
            summary = summarize_run(run.results(), items)
            run.write(summary.results)
        except KeyboardInterrupt:
            return end_interrupted(f"{run.count()} of {len(runnable)} items are done")
        return _conclude(items, run.done, summary, options)


def _spread_over_spark(
    run: Folder,
    suite_options: SuiteOptions,
    items: list[Item],
    options: argparse.Namespace,
    bar: Callable[..., tqdm[NoReturn]],
) -> None:
    """Run the items that are not done yet, and print how long it took."""
    from conformance.spark import jobs, session, shard

    rest = [item for item in items if item.key not in run.done]
    if not rest:
        return
    log = run.path / "spark.log"
    with session.open_session(options.spark, log, True, options.environment) as spark:
        parallel = options.parallel or jobs.slots(spark)
        began = time.monotonic()
        with (
            bar(total=len(items), initial=len(run.done)) as progress,
            closing(shard.run_shards(spark, suite_options, rest, parallel)) as shards,
        ):
            for records in shards:
                run.add(records)
                progress.update(len(records))
        print(
            f"conformance: {len(rest)} items in {time.monotonic() - began:.1f} s", file=sys.stderr
        )


def _conclude(
    items: list[Item],
    done: Mapping[tuple[str, str, str], dict[str, Any]],
    summary: RunSummary,
    options: argparse.Namespace,
) -> int:
    """Print what ended without a result, the explanations of a few fails, and what is wrong with
    each engine; return the exit code.
    """
    from conformance.report.headline import FEW_FAILS
    from conformance.suite import describe_unjudged_engines

    judged_engines: set[str] = set()
    broken: list[str] = []
    wrong: list[str] = []
    for item in items:
        result, reason = _outcome_of(item, done)
        if reason:
            (broken if result is None else wrong).append(f"{item.id}: {reason}")
        if reason or _says_something(result):
            judged_engines.add(item.engine)
    for line in (*broken, *(wrong if len(wrong) <= FEW_FAILS else ())):
        print(line)
    unjudged_engines = sorted({item.engine for item in items} - judged_engines)
    unjudged_lines = describe_unjudged_engines(
        unjudged_engines, items, summary.results, is_smoke=options.smoke
    )
    for line in unjudged_lines:
        print(f"conformance: {line}")
    _print_headlines(items, summary, options)
    if broken or wrong:
        return 1
    if unjudged_engines and not options.allow_missing:
        return 4
    return 0


def _print_headlines(items: list[Item], summary: RunSummary, options: argparse.Namespace) -> None:
    """Print the last lines of a run, as pytest does."""
    from conformance.report import source
    from conformance.report.headline import last_lines, replay_command

    results = os.path.join(options.out, "results.ndjson")
    engines = {item.engine: item.tested for item in items if item.tested is not None}

    def again(engine: str, case: str) -> str:
        tested = engines.get(engine)
        named = case if len(engines) == 1 else f"{engine}/{case}"
        return replay_command(results, named, (tested and tested.file) or engine)

    report = ("python", "-m", "conformance", "report", results, "-o", "page.html")
    page = f"none: {shlex.join(report)} writes one"
    for line in last_lines(source.of(summary.results).entries, again, page):
        print(line)


def _outcome_of(
    item: Item, done: Mapping[tuple[str, str, str], dict[str, Any]]
) -> tuple[Result | None, str]:
    """Return an item's result, if it has one, and why it is not as expected, if it is not."""
    from conformance import suite
    from conformance.spark import shard

    if item.absent:
        return None, ""
    try:
        result = shard.result_of(done[item.key])
        return result, suite.why_unexpected(item, result)
    except RefengineError as error:
        return None, f"error: {error}"


def _says_something(result: Result | None) -> bool:
    """Whether there is a result by which an engine is judged."""
    from conformance import suite

    return result is not None and suite.is_judged(result)
