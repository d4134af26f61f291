"""`conformance adaptive`: windows of joins over the workloads that were published for them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from conformance.command_line.options import (
    add_page_folder,
    announce,
    check_positive,
    find_named,
    progress_bar,
)
from refengine.model.errors import RefengineError
from refengine.model.messages import display, plain

if TYPE_CHECKING:
    from conformance.bench.rmlstreamer.run import JoinFigures
    from conformance.bench.rmlstreamer.workloads import Workload
    from conformance.command_line.options import Commands

MOST_SECONDS = 86_400  # of a workload: a day


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    adaptive = commands.add_parser(
        "adaptive",
        help="measure adaptive and fixed windows of a join on the published workloads",
        description="Make workloads, run windows of joins over them (docs/joins.md, section 15), "
        "and write results, tables and a page: intersection over union with the whole join "
        "(without windows), latency in stream time, and records held. Exit codes: 0 the run "
        "worked; 2 bad input or nowhere to write; 130 interrupted: nothing was written.",
    )
    adaptive.add_argument(
        "--workload",
        action="append",
        default=[],
        metavar="NAME",
        help="a workload; can be given several times (default: all)",
    )
    adaptive.add_argument(
        "--window",
        action="append",
        default=[],
        metavar="NAME",
        help="a window; can be given several times (default: all)",
    )
    adaptive.add_argument(
        "--seconds",
        type=int,
        default=60,
        metavar="N",
        help=f"how long each workload is, at most {MOST_SECONDS} (default: %(default)s)",
    )
    adaptive.add_argument(
        "--seed",
        type=int,
        default=1,
        help="the seed of the workloads (default: %(default)s)",
    )
    add_page_folder(adaptive, "adaptive")


def run(options: argparse.Namespace) -> int:
    """Run the windows, write the results and what is made of them, and print the tables; return the
    exit code. Raises RefengineError.
    """
    from conformance.bench.rmlstreamer.page import page, tables_of
    from conformance.bench.table_page import PAGE, results_file, write_results
    from conformance.bench.tables import all_as_text

    check_positive("--seconds", options.seconds)
    if options.seconds > MOST_SECONDS:
        raise RefengineError(
            f"must be <= {MOST_SECONDS}, got {display(options.seconds)}",
            rule="usage",
            place="--seconds",
        )
    workloads, windows = _chosen(options)
    results_file(options.out)
    done = _run_all(workloads, windows, options)
    tables = tables_of(done)
    lines = [figures.to_json_line() for figures in done]
    write_results(options.out, lines, tables, page(done))
    print("\n".join(all_as_text(tables)))
    print(f"conformance: {plain(str(options.out / PAGE))} is the page", file=sys.stderr)
    return 0


def _chosen(options: argparse.Namespace) -> tuple[list[Workload], list[str]]:
    """Return the workloads and the names of the windows of a run. Raises RefengineError."""
    from conformance.bench.rmlstreamer.run import WINDOWS
    from conformance.bench.rmlstreamer.workloads import WORKLOADS

    for name in options.window:
        find_named("window", name, WINDOWS, "--window")
    workloads = [
        find_named("workload", name, WORKLOADS, "--workload")
        for name in dict.fromkeys(options.workload or WORKLOADS)
    ]
    return workloads, list(dict.fromkeys(options.window or WINDOWS))


def _run_all(
    workloads: list[Workload],
    windows: list[str],
    options: argparse.Namespace,
) -> list[JoinFigures]:
    """Return the figures of all windows over all workloads, and say which workload has begun."""
    from conformance.bench.rmlstreamer.run import run_workload

    done = []
    with progress_bar(total=len(workloads), desc="adaptive", unit="workload")() as progress:
        for number, workload in enumerate(workloads, 1):
            announce(f"adaptive: workload {number} of {len(workloads)} begins: {workload.name}")
            done += list(run_workload(workload, windows, options.seconds, options.seed))
            progress.update()
    return done
