"""`python -m conformance`: verdicts on recorded engines, the golden vectors, reports of results;
the suite, and ground truth, over Spark.

Exit codes: 0 the run worked (whatever the verdicts, but see shard), 1 a self-check or a golden
vector failed, 2 bad input, 3 unsupported, 130 interrupted. shard: 0 all as expected, 1 a failure
that no known deviation explains, or a known one that no longer shows, 2 bad input, no Spark, or
nowhere to write, 4 an engine of which nothing was judged. truth: 4 no witness confirms an answer.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import plain

# the suite is imported where it is used, within `cli.guarded`: that takes long enough to be
# interrupted
if TYPE_CHECKING:
    from conformance.spark.folder import Folder
    from conformance.suite import Asked, Item
    from conformance.verdict.results import Result


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    return cli.guarded("conformance", partial(_main, arguments), "interrupted; nothing was written")


def _main(arguments: list[str] | None) -> int:
    from refengine.dialects import DIALECTS
    from refengine.sparql.witnesses import WITNESSES

    parser = argparse.ArgumentParser(
        prog="conformance", description="Hold RDF stream engines against the reference engine."
    )
    cli.add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    bench = commands.add_parser(
        "csrbench", help="CSRBench's seven queries against every recording of a folder"
    )
    bench.add_argument(
        "folder",
        nargs="?",
        type=cli.path,
        metavar="DIR",
        help="without it: our own engines, right and wrong",
    )
    bench.add_argument("--format", choices=("table", "tsv", "json"), default="table")
    bench.add_argument(
        "--results", type=cli.path, metavar="FILE", help="also write every verdict as NDJSON"
    )
    cores = min(7, os.cpu_count() or 1)
    bench.add_argument(
        "--jobs",
        type=int,
        default=cores,
        help="processes, at most one a recording helps (default: one a core)",
    )
    bench.add_argument(
        "--missing",
        type=int,
        default=1,
        metavar="K",
        help="outputs that may be missing at each end (default: %(default)s)",
    )
    bench.add_argument(
        "--witness", choices=sorted(WITNESSES), help="one witness alone (default: all)"
    )
    bench.add_argument(
        "--dialect",
        choices=sorted(DIALECTS),
        help="the queries as texts Q1.DIALECT … Q7.DIALECT (default: Q1.toml …)",
    )
    bench.add_argument(
        "--queries", type=cli.path, metavar="DIR", help="the folder of the queries (default: ours)"
    )
    vectors = commands.add_parser("secret", help="golden vectors of the SECRET simulator")
    vectors.add_argument("files", nargs="+", type=cli.path, metavar="FILE")
    report = commands.add_parser("report", help="results as a page, EARL, Markdown or a badge")
    report.add_argument(
        "files",
        nargs="+",
        type=cli.path,
        metavar="RESULTS",
        help="NDJSON, as --results writes it; of what is there twice the last counts",
    )
    report.add_argument(
        "-o",
        "--html",
        type=cli.path,
        metavar="FILE",
        help="a page, in one file that needs nothing else",
    )
    report.add_argument("--earl", type=cli.path, metavar="FILE", help="EARL in Turtle")
    report.add_argument(
        "--date", metavar="YYYY-MM-DD", help="the date of the results in EARL (default: none)"
    )
    report.add_argument("--markdown", type=cli.path, metavar="FILE", help="a summary")
    report.add_argument("--badge", type=cli.path, metavar="FILE", help="a badge, in SVG")
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
    truth = commands.add_parser(
        "truth",
        help="ground truth over Spark: the reports of a query over a stream of any "
        "length, and a recording beside them",
        epilog="exit codes: 0 done, whatever the verdict, 2 bad input, no Spark or nowhere to "
        "write, 3 unsupported, "
        "4 no witness confirms an answer, 130 interrupted",
    )
    cli.add_query(
        truth,
        help="a TOML file: windows, body and optionally r2s; or a text, with --dialect",
    )
    truth.add_argument(
        "--dialect", choices=sorted(DIALECTS), help="QUERY is a text in this dialect"
    )
    truth.add_argument(
        "--stream",
        required=True,
        metavar="PATH",
        help="a folder or URL of .n3t or .parquet files; or what `refengine run` reads",
    )
    truth.add_argument(
        "--semantics",
        required=True,
        nargs="+",
        metavar=("PROFILE", "key=value"),
        help="a profile and the fields to replace, such as t0=0",
    )
    truth.add_argument(
        "--static",
        type=cli.path,
        action="append",
        default=[],
        metavar="FILE",
        help="static data: .ttl, .nt, .nq, .trig; repeatable",
    )
    truth.add_argument(
        "--answers",
        type=cli.path,
        metavar="FILE",
        help="what an engine recorded, to be judged: CSRBench's JSON, or YABench's QR_ file",
    )
    truth.add_argument(
        "--missing",
        type=int,
        default=1,
        metavar="K",
        help="reports that may not be recorded, at each end (default: %(default)s)",
    )
    truth.add_argument(
        "--engine",
        default="engine",
        metavar="NAME",
        help="the name of that engine in the result (default: %(default)s)",
    )
    truth.add_argument(
        "--witness", choices=sorted(WITNESSES), help="one witness alone (default: all)"
    )
    truth.add_argument(
        "--on-error",
        choices=("stop", "quarantine"),
        default="stop",
        help="what becomes of a line that is no triple (default: stop)",
    )
    truth.add_argument(
        "--parts",
        type=int,
        metavar="N",
        help="into how many parts the stream "
        "is cut, at most (default: one a "
        "slot or 500,000 triples)",
    )
    truth.add_argument(
        "--spark",
        metavar="MASTER",
        help="local[2], spark://HOST:PORT, "
        "sc://HOST:PORT, … (default: what "
        "Spark is configured to)",
    )
    truth.add_argument(
        "--environment",
        type=cli.path,
        metavar="ARCHIVE",
        help="the Python of executors, packed by venv-pack (default: theirs)",
    )
    truth.add_argument(
        "--parallel",
        type=int,
        metavar="N",
        help="parts that are computed at a time (default: as many as there are slots for tasks)",
    )
    truth.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run in OUT; what is done is not done again",
    )
    truth.add_argument(
        "-o",
        "--out",
        type=cli.path,
        required=True,
        metavar="OUT",
        help="the folder of the reports: parts/*.parquet",
    )
    options = cli.parsed(parser, arguments)
    return {
        "csrbench": _csrbench,
        "secret": _secret,
        "report": _report,
        "shard": _shard,
        "truth": _truth,
    }[options.command](options)


def _csrbench(options: argparse.Namespace) -> int:
    from conformance.benchmarks import csrbench
    from conformance.verdict import results
    from conformance.verdict.outcomes import Judging
    from refengine.sparql.witnesses import WITNESSES

    # a stream lives as long as the run: looking for what does not is a tenth of the time
    gc.set_threshold(50_000, 20, 50)
    _check_missing(options.missing)
    if options.jobs < 1:
        raise RefengineError(f"--jobs must be > 0, got {options.jobs}", rule="usage")
    target = None if options.results is None else results.target(options.results)
    witnesses = (options.witness,) if options.witness else tuple(WITNESSES)
    judging = Judging(witnesses, options.missing, target is not None)
    written = csrbench.Written(*filter(None, [options.queries]), dialect=options.dialect)
    if options.folder is None:
        tasks = [(csrbench.judge_ours, name, judging, None, written) for name in csrbench.QUERIES]
    else:
        chosen = csrbench.selected(csrbench.cells(options.folder))
        csrbench.stream(options.folder)
        # with two a self-join's fail takes a third of all; with one, engines share more than that
        alone = len(witnesses) > 1
        parts = [
            (name, some)
            for name, cells in chosen.items()
            for some in ([[cell] for cell in cells] if alone else [cells])
        ]
        tasks = [(csrbench.judge_query, options.folder, *part, judging, written) for part in parts]
    found = [result for some in _spread(tasks, options.jobs) for result in some]
    if target is not None:
        results.write(target, found)
    try:
        _print(found, options.format)
    except KeyboardInterrupt:
        if target is None:
            raise
        print(f"conformance: interrupted; {plain(str(target))} was written", file=sys.stderr)
        return 130
    problems = csrbench.self_check(found) if options.folder is None else []
    for problem in problems:
        print(f"conformance: {problem}", file=sys.stderr)
    return 1 if problems else 0


def _check_missing(missing: int | None) -> None:
    """Raise RefengineError for a bound of missing outputs that is none."""
    if missing is not None and missing < 0:
        raise RefengineError(f"must be >= 0, got {missing}", rule="ORA-3", place="--missing")


def _print(found: list[Result], form: str) -> None:
    from conformance.benchmarks import csrbench

    match form:
        case "json":
            print(json.dumps([result.as_json() for result in found], indent=2, ensure_ascii=False))
        case "tsv":
            print("\n".join(csrbench.as_tsv(found)))
            for result in found:
                if csrbench.suffix(result) or result.outcome == "error":
                    print(f"{result.engine} {result.case}\n{result.argument}", file=sys.stderr)
        case _:
            print("\n".join(csrbench.as_text(found)))


def _spread(tasks: list[tuple[Callable, ...]], jobs: int) -> Iterator[list[Result]]:
    """The results of all tasks in their order, over several processes where that helps."""
    from tqdm import tqdm

    bar = partial(
        tqdm,
        total=len(tasks),
        desc="verdicts",
        unit="verdict",
        disable=not sys.stderr.isatty(),
        leave=False,
    )
    jobs = min(jobs, len(tasks))
    if jobs < 2:
        with bar() as progress:
            for function, *rest in tasks:
                yield function(*rest)
                progress.update()
        return
    others = set(multiprocessing.active_children())
    pool, done = ProcessPoolExecutor(max_workers=jobs, initializer=_left_to_the_parent), False
    try:
        with _uninterrupted():
            # the joins are the last queries and take longest
            futures = [pool.submit(*task) for task in reversed(tasks)]
        with bar() as progress:
            for future in reversed(futures):
                yield future.result()
                progress.update()
        done = True
    except BaseException as error:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()  # it would finish its task first, which may take minutes
        if isinstance(error, BrokenProcessPool):
            raise RefengineError(
                "a worker process was killed; nothing was written", rule="usage"
            ) from None
        raise
    finally:
        # when all is done, so that nothing is left for the end of the interpreter
        pool.shutdown(wait=done, cancel_futures=True)


def _left_to_the_parent() -> None:
    """A worker dies by its parent's hand: Ctrl-C reaches the whole group, and would have it print
    where it was.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """An interrupt comes when this ends: not to a half-started pool, nor to a worker before it has
    its handlers.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _report(options: argparse.Namespace) -> int:
    from conformance.report import badge, earl, markdown, page, source
    from conformance.verdict import results

    makers: dict[str, Callable[[source.Collected], Iterable[str]]] = {
        "html": lambda found: [page.page(found)],
        "earl": lambda found: earl.turtle(found.entries, options.date),
        "markdown": markdown.markdown,
        "badge": lambda found: [badge.badge(found.entries)],
    }
    wanted = {
        name: results.target(path)
        for name in makers
        if (path := getattr(options, name)) is not None
    }
    if not wanted:
        raise RefengineError(
            "nothing to write: give -o, --earl, --markdown or --badge", rule="usage"
        )
    if len(set(wanted.values())) < len(wanted):
        raise RefengineError("two outputs to one file", rule="usage")
    if options.date is not None and options.earl is None:
        raise RefengineError(
            "is the date of --earl, which is not asked for", rule="usage", place="--date"
        )
    if options.date is not None:
        earl.check(options.date)
    read = {Path(os.path.realpath(path)) for path in options.files}
    for target in (target for target in wanted.values() if target in read):
        raise RefengineError("an output to a file that is read", rule="usage", place=str(target))
    found = source.read(options.files)
    for line in found.warnings:
        print(f"conformance: {line}", file=sys.stderr)
    # all are made before the first is written
    results.replace({target: list(makers[name](found)) for name, target in wanted.items()})
    return 0


def _shard(options: argparse.Namespace) -> int:
    import tqdm  # noqa: F401  which is missed before anything is written

    from conformance.spark import folder, session
    from conformance.suite import Asked

    if options.parallel is not None and options.parallel < 1:
        raise RefengineError(f"--parallel must be > 0, got {options.parallel}", rule="usage")
    _check_missing(options.missing)
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


def _truth(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from conformance.harness.engine_file import pair
    from conformance.spark import jobs, output, session
    from conformance.spark.truth import Asked
    from refengine.core import profiles
    from refengine.rdf import files
    from refengine.sparql.witnesses import WITNESSES

    _check_missing(options.missing)
    for name in ("parts", "parallel"):
        if (value := getattr(options, name)) is not None and value < 1:
            raise RefengineError(f"--{name} must be > 0, got {value}", rule="usage")
    profile, *fields = options.semantics
    semantics = (
        profiles.profile(profile)
        .but(**dict(pair(word, "key=value") for word in fields))
        .semantics()
    )
    query = files.read_query(options.query, options.dialect, bool(options.static))
    static = frozenset().union(*map(files.read_static, options.static))
    asked = Asked(
        query, semantics, static, (options.witness,) if options.witness else tuple(WITNESSES)
    )
    recording = None if options.answers is None else files.read_recording(options.answers)
    wanted = output.Wanted(
        asked,
        options.stream,
        options.parts,
        options.on_error == "quarantine",
        recording,
        options.engine,
        options.query.stem,
        options.missing,
    )
    wanted.check()
    session.check(options.spark)  # before anything is written
    with output.opened(options.out, wanted, options.resume) as done:
        try:
            with session.opened(
                options.spark, options.out / "spark.log", True, options.environment
            ) as spark:
                parallel, began = options.parallel or jobs.slots(spark), time.monotonic()
                with tqdm(
                    desc="first pass", unit="part", disable=not sys.stderr.isatty(), leave=False
                ) as progress:

                    def tell(some: int, of: int) -> None:
                        progress.total, progress.n = of, some
                        progress.set_description("parts")

                    found = output.run(spark, wanted, options.out, done, parallel, tell)
                print(f"conformance: {time.monotonic() - began:.1f} s", file=sys.stderr)
        except KeyboardInterrupt:
            print(
                f"conformance: interrupted; {len(done)} parts are done: the same command "
                "with --resume goes on",
                file=sys.stderr,
            )
            return 130
    print("\n".join(output.told(found)))
    return 0


def _concluded(
    items: list[Item], done: Mapping[tuple[str, str, str], dict], allow_missing: bool
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


def _secret(options: argparse.Namespace) -> int:
    from conformance.benchmarks import secret

    agreeing = total = 0
    for path in options.files:
        for vector in secret.read(path):
            total += 1
            line = secret.disagreement(vector)
            agreeing += line is None
            if line is not None:
                print(line)
    print(f"{agreeing} of {total} agree")
    return 0 if agreeing == total else 1


if __name__ == "__main__":
    sys.exit(main())
