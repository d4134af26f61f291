"""`conformance bounded`: what a join finds whose memory is bounded, of what there is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.command_line.options import (
    add_page_folder,
    check_positive,
    find_named,
    progress_bar,
)
from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import display, plain

if TYPE_CHECKING:
    from conformance.bench.clock.page import WorkloadOnPage
    from conformance.bench.clock.sweep import RunFigures, SweepTask
    from conformance.bench.clock.workloads import JoinWorkload
    from conformance.command_line.options import Commands
    from refengine.model.elements import Stream

ALL = "all"


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    bounded = commands.add_parser(
        "bounded",
        help="measure joins with bounded memory: eviction policies and load shedding",
        description="Run a join (docs/joins.md, section 14) under each policy with each memory, "
        "and measure its recall and precision against the unlimited join. Exit codes: 0 the run "
        "worked; 2 bad input or nowhere to write; 3 a query that is no such join; 130 interrupted: "
        "what was done is kept, and the same command with --resume goes on.",
    )
    _add_what(bounded)
    _add_how(bounded)


def _add_what(bounded: argparse.ArgumentParser) -> None:
    """Add the options that say what is joined."""
    from refengine.dialects import DIALECTS

    bounded.add_argument(
        "join",
        nargs="?",
        type=cli.path,
        metavar="QUERY",
        help="a TOML file with windows and body; with --dialect, a text in that language",
    )
    bounded.add_argument(
        "--dialect",
        choices=sorted(DIALECTS),
        help="the language of QUERY, if it is not TOML",
    )
    bounded.add_argument(
        "--stream",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="the data of a stream, in a form that `refengine run` reads without options, so that "
        "what has no time is refused; NAME is the name of the stream (default: that of the query's "
        "first window). May be given several times",
    )
    bounded.add_argument(
        "--reproduce",
        action="append",
        default=[],
        metavar="NAME",
        help="instead of QUERY: wind, wind-near or viewing, streams in the shape of the CLOCK "
        "paper's; wind-coded or viewing-coded, as the code of its authors joins them; or all; with "
        "the paper's policies, memories and recall beside; can be given several times",
    )
    bounded.add_argument(
        "--observations",
        type=cli.path,
        metavar="DIR",
        help="with --reproduce wind or wind-near: take the wind speeds of these dumps of "
        "LinkedSensorData (.n3, .ttl, .nt) instead of generated ones",
    )
    bounded.add_argument(
        "--selection",
        choices=("before-storing", "at-the-join"),
        default="before-storing",
        help="when a condition on one input alone is asked (default: %(default)s)",
    )


def _add_how(bounded: argparse.ArgumentParser) -> None:
    """Add the options that say how it is measured, and where results go."""
    bounded.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="NAME,…",
        help="clock, clock-exp:RHO, lru, fifo or random, with +gc, +only:STREAM, "
        "+shed-random:SHARE, +shed-rate:LIMIT/PERIOD or +shed-semantics:LIMIT/PERIOD (default: "
        "clock,lru,fifo,random)",
    )
    bounded.add_argument(
        "--memory",
        action="append",
        default=[],
        metavar="SIZE,…",
        help="numbers of bindings, or shares of what is needed (default: 5%%,10%%,20%%,40%%,60%%)",
    )
    bounded.add_argument(
        "--period",
        type=int,
        default=60_000,
        metavar="MS",
        help="the length of the periods in which the input rate is taken (default: %(default)s)",
    )
    bounded.add_argument(
        "--warm-up",
        default="1/3",
        metavar="SHARE",
        help="the share of the elements that only warm up (default: %(default)s)",
    )
    bounded.add_argument(
        "--seeds",
        type=int,
        default=20,
        metavar="N",
        help="how many seeds, where anything is drawn and the policy names no seed of its own "
        "(default: %(default)s)",
    )
    bounded.add_argument(
        "--spark",
        metavar="MASTER",
        help="run the sweep over Spark: local[2], spark://HOST:PORT, sc://HOST:PORT, …",
    )
    bounded.add_argument(
        "--resume",
        action="store_true",
        help="go on with the interrupted sweep in OUT",
    )
    add_page_folder(bounded, "bounded")


def run(options: argparse.Namespace) -> int:
    """Run the sweep, write the results and what is made of them, and print the tables; return the
    exit code. Raises RefengineError.
    """
    from conformance.bench.clock.sweep import SWEEPS
    from conformance.bench.table_page import PAGE, RESULTS, TABLES, results_file
    from conformance.verdict.journal import Journal, read_journal
    from conformance.verdict.outputs import check_outputs

    check_positive("--seeds", options.seeds)
    workloads = _workloads(options)
    tasks = _tasks(options, workloads)
    target = results_file(options.out)
    check_outputs([options.out / name for name in (RESULTS, TABLES, PAGE)], _inputs(options))
    fingerprint = _fingerprint(options)
    done = read_journal(target, fingerprint, SWEEPS) if options.resume else {}
    journal = Journal(target, fingerprint, SWEEPS, done.values())
    try:
        for figures in _run_all(options, workloads, tasks, done):
            journal.add(figures)
            done[figures.task] = figures
        _write(options, workloads, [done[task] for task in tasks])
    except KeyboardInterrupt:
        print(
            f"conformance: interrupted; {len(done)} of {len(tasks)} runs are done: the "
            "same command with --resume goes on",
            file=sys.stderr,
        )
        return 130
    finally:
        journal.close()
    journal.remove_if_in(done.values())
    print(f"conformance: {plain(str(options.out / PAGE))} is the page", file=sys.stderr)
    return 0


def _inputs(options: argparse.Namespace) -> Iterator[Path]:
    """Yield the files and folders that a sweep reads."""
    for path in (options.join, options.observations):
        if path is not None:
            yield path
    for word in options.stream:
        yield Path(word.rpartition("=")[2])


def _workloads(options: argparse.Namespace) -> list[JoinWorkload]:
    """Return what is joined. Raises RefengineError."""
    from conformance.bench.clock.workloads import WORKLOADS

    if options.reproduce and (options.join is not None or options.stream):
        raise RefengineError(
            "give a QUERY with its streams, or --reproduce, not both", rule="usage"
        )
    if options.reproduce:
        names = WORKLOADS if ALL in options.reproduce else dict.fromkeys(options.reproduce)
        found = [find_named("workload", name, WORKLOADS, "--reproduce") for name in names]
        if options.observations is None:
            return found
        return [_over_observations(workload, options.observations) for workload in found]
    if options.join is None or not options.stream:
        raise RefengineError(
            "give a QUERY and its streams with --stream, or --reproduce all", rule="usage"
        )
    return [_workload_of_files(options)]


def _over_observations(workload: JoinWorkload, folder: Path) -> JoinWorkload:
    """Return a workload of the wind over the dumps of a folder. Raises RefengineError."""
    from dataclasses import replace

    from conformance.bench.clock.observations import read_wind

    if workload.name not in ("wind", "wind-near"):
        raise RefengineError(
            f"{workload.name} joins no wind speeds of dumps; write --reproduce wind or wind-near",
            rule="usage",
            place="--observations",
        )
    streams = {"wind": read_wind(folder)}

    def streams_of(seed: int) -> Mapping[str, Stream]:
        return streams

    return replace(workload, streams_of=streams_of, is_drawn=False)


def _workload_of_files(options: argparse.Namespace) -> JoinWorkload:
    """Return the workload of the user's query and streams. Raises RefengineError."""
    from conformance.bench.clock.workloads import JoinWorkload
    from refengine.joins import Selection, bounded_query
    from refengine.joins.bounded_join import merge_arrivals
    from refengine.joins.measures import Measuring
    from refengine.rdf.queries import read_query
    from refengine.rdf.streams import read_stream_and_rest

    query = read_query(options.join, options.dialect)
    try:
        join = bounded_query(query, Selection(options.selection))
    except RefengineError as error:
        raise error.at(str(options.join)) from None
    streams: dict[str, Stream] = {}
    for word in options.stream:
        name, path = cli.stream_and_file(word)
        if name is None:
            name = query.windows[0].stream
        if name in streams:
            raise RefengineError(f"stream {display(name)} is given twice", rule="usage")
        found = read_stream_and_rest(cli.path(path))
        for note in found.notes:
            print(f"conformance: note: {plain(note)}", file=sys.stderr)
        streams[name] = found.stream
    list(merge_arrivals(join, streams))  # raises before the work begins

    def streams_of(seed: int) -> Mapping[str, Stream]:
        return streams

    measuring = Measuring(options.period, _share(options.warm_up))
    title = plain(options.join.stem)
    return JoinWorkload(title, title, join, query.body.text, streams_of, measuring, is_drawn=False)


def _share(text: str) -> Fraction:
    """Return a share from its text. Raises RefengineError."""
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise RefengineError(
            f"expected a share such as 1/3, got {display(text)}",
            rule="BND-8",
            place="--warm-up",
        ) from None


def _tasks(options: argparse.Namespace, workloads: Sequence[JoinWorkload]) -> list[SweepTask]:
    """Return the runs of a sweep. Raises RefengineError."""
    from conformance.bench.clock.paper import policies_of
    from conformance.bench.clock.sweep import tasks_of

    policies = _words(options.policy)
    if not policies and not options.reproduce:
        policies = ["clock", "lru", "fifo", "random"]
    memories = _words(options.memory)
    return [
        task
        for workload in workloads
        for task in tasks_of(
            workload,
            policies or policies_of(workload.name),
            memories or list(workload.memories) or ["5%", "10%", "20%", "40%", "60%"],
            options.seeds,
        )
    ]


def _words(values: Sequence[str]) -> list[str]:
    """Return the words between the commas of some values, each once."""
    return list(dict.fromkeys(word for value in values for word in value.split(",") if word))


def _fingerprint(options: argparse.Namespace) -> str:
    """Return a text that is the same for the same join, streams and measures alone."""
    from conformance.verdict.journal import fingerprint

    files = [] if options.join is None else [options.join]
    files += [cli.path(cli.stream_and_file(word)[1]) for word in options.stream]
    parts = [file.read_bytes() for file in files if file.is_file()]
    words = (options.stream, options.reproduce, options.dialect, options.selection)
    measures = (options.period, options.warm_up, str(options.observations))
    return fingerprint([*parts, repr((words, measures)).encode()])


def _run_all(
    options: argparse.Namespace,
    workloads: Sequence[JoinWorkload],
    tasks: Sequence[SweepTask],
    done: Mapping[SweepTask, RunFigures],
) -> Iterator[RunFigures]:
    """Run what is left, and yield the figures of each run, with a progress bar."""
    from conformance.bench.clock.sweep import run_task

    by_name = {workload.name: workload for workload in workloads}
    left = [task for task in tasks if task not in done]
    bar = progress_bar(total=len(tasks), initial=len(tasks) - len(left), desc="bounded", unit="run")
    with bar() as progress:
        if options.spark is not None:
            from conformance.spark.sweep import run_over_spark

            for figures in run_over_spark(by_name, left, options.spark):
                yield figures
                progress.update()
            return
        for task in sorted(left, key=lambda one: (one.seed, one.workload)):
            progress.set_postfix_str(f"{task.workload} {task.policy} {task.memory}")
            yield run_task(by_name[task.workload], task)
            progress.update()


def _write(
    options: argparse.Namespace,
    workloads: Sequence[JoinWorkload],
    runs: Sequence[RunFigures],
) -> None:
    """Write results, tables and page, and print the tables. Raises RefengineError."""
    from conformance.bench.clock.page import page, tables_of
    from conformance.bench.table_page import write_results
    from conformance.bench.tables import all_as_text

    shown = {workload.name: _on_page(workload) for workload in workloads}
    titles = {name: one.title for name, one in shown.items()}
    has_paper = bool(options.reproduce)
    tables = tables_of(runs, titles, has_paper)
    lines = [run.line() for run in runs]
    write_results(options.out, lines, tables, page(runs, shown, has_paper))
    print("\n".join(all_as_text(tables)))


def _on_page(workload: JoinWorkload) -> WorkloadOnPage:
    """Return what the page shows of a workload."""
    from conformance.bench.clock.page import WorkloadOnPage
    from conformance.bench.clock.sweep import needed_over_time

    return WorkloadOnPage(workload.title, workload.query_text, list(needed_over_time(workload)))
