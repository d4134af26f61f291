"""`conformance bench`: a benchmark of the literature on engines, from its data to its tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.command_line.options import (
    announce,
    check_positive,
    note_absent_witnesses,
    progress_bar,
)
from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest, plain

if TYPE_CHECKING:
    from conformance.bench.benchmark import Benchmark
    from conformance.bench.run import BenchmarkPlan, Task
    from conformance.command_line.options import Commands
    from conformance.harness.engine_file import Engine
    from conformance.harness.pool import Key
    from conformance.verdict.results import Result

SCALES = ("small", "paper")
VERDICT_SECONDS = 600  # the default of --verdict-seconds
MOST_DIGITS = 9  # of a number as scale


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    bench = commands.add_parser(
        "bench",
        help="run a benchmark of the literature on engines, or judge its recordings",
        description="Run a benchmark on engines: make its streams, feed and sample each engine, "
        "judge its answers, and write results, tables and a page. Exit codes: 0 the run worked, "
        "whatever the verdicts; 2 bad input or nowhere to write; 130 interrupted: what was done "
        "is kept, and the same command with --resume goes on.",
    )
    bench.add_argument(
        "name",
        metavar="NAME",
        help="the benchmark: citybench, csrbench, lsbench, srbench or yabench",
    )
    bench.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="ENGINE",
        help="the name or the file of an engine; can be given several times. With --recorded: in "
        "yabench the engine that all recordings in DIR are of, as a profile's name (python -m "
        "refengine profiles); in csrbench an engine whose "
        "recordings are judged (default: those of all engines)",
    )
    bench.add_argument(
        "--scale",
        default="small",
        metavar="SCALE",
        help="small, paper, or a number: in citybench of seconds, in csrbench of elements, in "
        "lsbench of users, in srbench and yabench of stations (default: %(default)s)",
    )
    bench.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="EXPERIMENT",
        help="run this experiment or query alone; can be given several times",
    )
    bench.add_argument(
        "--runs",
        type=int,
        metavar="N",
        help="run each test N times (default: as the scale says)",
    )
    bench.add_argument(
        "--live",
        action="store_true",
        help="send elements when the clock reaches their instants (default: as fast as the engine "
        "takes them)",
    )
    bench.add_argument(
        "--explain",
        action="store_true",
        help="look for what would explain a fail, which can take minutes for each (default: known "
        "deviations alone)",
    )
    bench.add_argument(
        "--verdict-seconds",
        type=int,
        metavar="N",
        help="the CPU seconds that a verdict may take; a run without a verdict by then is "
        f"unsupported (default: {VERDICT_SECONDS}). The search for known deviations, and the "
        "one for what would explain a fail, may take N seconds each",
    )
    bench.add_argument(
        "--data",
        type=cli.path,
        metavar="DIR",
        help="the user's own data, for citybench, csrbench and srbench",
    )
    bench.add_argument(
        "--config",
        type=cli.path,
        metavar="FILE",
        help="the user's own experiments: for yabench its config.json, or the same in TOML; for "
        "citybench its knobs in TOML",
    )
    bench.add_argument(
        "--recorded",
        type=cli.path,
        metavar="DIR",
        help="judge the recordings of this folder, in the benchmark's own layout; no engine is "
        "started",
    )
    bench.add_argument(
        "--classpath",
        action="append",
        default=[],
        metavar="ENGINE=PATH",
        help="the class path of an engine that its user brings",
    )
    bench.add_argument(
        "--resume",
        action="store_true",
        help="go on with the interrupted run whose folder is OUT",
    )
    bench.add_argument(
        "-o",
        "--out",
        type=cli.path,
        metavar="OUT",
        help="the folder to write to (default: bench-NAME); it gets results.ndjson, tables.txt, "
        "index.html, and in files/ what the benchmark's own tools read",
    )


def run(options: argparse.Namespace) -> int:
    """Run the benchmark, write and print its tables; return the exit code."""
    from conformance.bench.catalogue import find_benchmark
    from conformance.bench.output import check_output, write_output
    from conformance.bench.table_page import PAGE, results_file
    from conformance.bench.tables import all_as_text
    from conformance.harness.engine_file import files_of_engine

    note_absent_witnesses()
    benchmark = find_benchmark(options.name)
    check_positive("--runs", options.runs)
    check_positive("--verdict-seconds", options.verdict_seconds)
    if options.recorded is not None:
        _check_recorded(options)
    out = options.out or Path(f"bench-{benchmark.name}")
    inputs = [path for path in (options.data, options.config, options.recorded) if path is not None]
    if options.recorded is not None:
        check_output(out, inputs)
        is_new = not out.exists()
        results_file(out)  # raises before the work begins
        try:
            done = benchmark.judge_recordings(options.recorded, options.engine)
        except RefengineError:
            if is_new:
                out.rmdir()
            raise
        write_output(benchmark, done, out)
    else:
        plan = _plan(options, benchmark, out)
        check_output(out, [*inputs, *chain.from_iterable(map(files_of_engine, plan.engines))])
        try:
            done = _run_and_write(plan, options.resume)
        except _Interrupted as interrupted:
            print(f"conformance: {interrupted}", file=sys.stderr)
            return 130
    print("\n".join(all_as_text(benchmark.tables_with_rows(done))))
    print(f"conformance: {plain(str(out / PAGE))} is the page", file=sys.stderr)
    return 0


def _check_recorded(options: argparse.Namespace) -> None:
    """Raise RefengineError for an option that says how an engine is run: with --recorded none is,
    and all recordings of the folder are judged.
    """
    given = {
        "--scale": options.scale != "small",
        "--only": options.only,
        "--runs": options.runs is not None,
        "--live": options.live,
        "--explain": options.explain,
        "--verdict-seconds": options.verdict_seconds is not None,
        "--data": options.data is not None,
        "--config": options.config is not None,
        "--classpath": options.classpath,
        "--resume": options.resume,
    }
    for option, is_given in given.items():
        if is_given:
            raise RefengineError(
                "says how an engine is run, and --recorded DIR judges what is in DIR: leave one of "
                "the two out",
                rule="usage",
                place=option,
            )


def _plan(options: argparse.Namespace, benchmark: Benchmark, out: Path) -> BenchmarkPlan:
    """Return what is run. Raises RefengineError."""
    from conformance.bench.benchmark import MOST_RUNS, Choice
    from conformance.bench.run import BenchmarkPlan

    if not options.engine:
        raise RefengineError(
            "name an engine with --engine, or a folder with --recorded", rule="usage"
        )
    if options.runs is not None and options.runs > MOST_RUNS:
        raise RefengineError(
            f"must be <= {MOST_RUNS}, got {options.runs}",
            rule="usage",
            place="--runs",
        )
    choice = Choice(
        _scale(options.scale, benchmark),
        tuple(options.only),
        options.runs,
        options.data,
        options.config,
        options.live,
    )
    engines = _engines(options.engine, options.classpath, benchmark.name)
    names = [tested.name for tested in engines]
    if len({*names}) < len(names):
        raise RefengineError(
            f"each engine has a name of its own, got {', '.join(map(display, names))}",
            rule="usage",
            place="--engine",
        )
    seconds = options.verdict_seconds or VERDICT_SECONDS
    return BenchmarkPlan(benchmark, choice, engines, out, options.explain, seconds)


def _scale(text: str, benchmark: Benchmark) -> str | int:
    """Return a scale of a benchmark: a word, or a number. Raises RefengineError."""
    if text in SCALES:
        return text
    # The length first: int() refuses a number of thousands of digits.
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) > 0:
        return int(text)
    raise RefengineError(
        f"expected small, paper or a number from 1 to 999999999 ({benchmark.scale}); "
        f"got {display(text)}",
        rule="usage",
        place="--scale",
    )


def _engines(names: Sequence[str], classpaths: Sequence[str], benchmark: str) -> list[Engine]:
    """Return engines, each once and ready to be started. Raises RefengineError if something is
    missing, for a class path of an engine that is not run, and for an engine's file in whose place
    another is to be taken for the benchmark.
    """
    from conformance.harness import engine_file

    paths = dict(engine_file.pair(word, "ENGINE=PATH") for word in classpaths)
    engines = {name: engine_file.engine(name) for name in names}
    run = [tested.name for tested in engines.values()]
    for name in paths:
        if name not in run:
            raise RefengineError(
                f"{display(name)} is no engine that is run{nearest(name, run)}",
                rule="usage",
                place="--classpath",
            )
    ready = []
    for name, tested in engines.items():
        if benchmark in tested.file_for_benchmark:
            raise RefengineError(
                f"this file is not for {benchmark}: take "
                f"--engine {plain(str(tested.file_for_benchmark[benchmark]))}",
                rule="engine",
                place=name,
            )
        tested = tested.with_classpath(paths.get(tested.name, ""))
        if tested.missing:
            raise RefengineError(tested.missing, rule="engine", place=name)
        ready.append(tested)
    return ready


class _Interrupted(Exception):
    """The error of a run that was interrupted; it says how far the run came."""


def _run_and_write(plan: BenchmarkPlan, is_resumed: bool) -> list[Result]:
    """Run all tasks but those that an interrupted run has done, and write everything; return the
    results. Each result is in the journal as soon as it is there. Raises _Interrupted.
    """
    from conformance.bench.output import write_output
    from conformance.bench.table_page import results_file
    from conformance.verdict.journal import RESULTS, Journal, read_journal

    tasks = plan.tasks()  # raises before anything is written
    fingerprint = plan.fingerprint()
    target = results_file(plan.out)
    done = read_journal(target, fingerprint, RESULTS) if is_resumed else {}
    journal = Journal(target, fingerprint, RESULTS, done.values())
    try:
        for result in _run_tasks(plan, tasks, done):
            journal.add(result)
            done[result.key] = result
        write_output(plan.benchmark, list(done.values()), plan.out)
    except KeyboardInterrupt:
        raise _Interrupted(
            f"interrupted; {len(done)} of {len(tasks)} runs are done: the same command with "
            "--resume goes on"
        ) from None
    finally:
        journal.close()
    journal.remove_if_in(done.values())
    return list(done.values())


def _run_tasks(
    plan: BenchmarkPlan, tasks: Sequence[Task], done: Mapping[Key, Result]
) -> Iterator[Result]:
    """Run the tasks whose results are not there yet, and yield their results. A progress
    bar, or a line where standard error is no terminal, says which run has begun.
    """
    from conformance.bench.run import TaskRunner

    left = [task for task in tasks if task.key(plan.benchmark) not in done]
    before = len(tasks) - len(left)
    bar = progress_bar(total=len(tasks), initial=before, desc=plan.benchmark.name, unit="run")
    with bar() as progress, TaskRunner(plan) as runner:
        for number, task in enumerate(left, before + 1):
            of_engine = f"{task.tested.name} {task.workload.name}"
            announce(f"{plan.benchmark.name}: run {number} of {len(tasks)} begins: {of_engine}")
            progress.set_postfix_str(of_engine)
            yield runner.run(task)
            progress.update()
