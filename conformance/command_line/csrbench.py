"""`conformance csrbench`: CSRBench's seven queries against recordings, or our own engines."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.command_line.options import check_missing, check_positive, note_absent_witnesses
from conformance.command_line.processes import run_in_processes
from refengine import cli
from refengine.model.messages import plain

if TYPE_CHECKING:
    from conformance.command_line.options import Commands
    from conformance.command_line.processes import Task
    from conformance.verdict.results import Result

CHECKOUT = Path("csrbench-oracle")  # where `git clone` puts the public repository


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    from refengine.dialects import DIALECTS
    from refengine.sparql.witnesses import WITNESSES

    bench = commands.add_parser(
        "csrbench",
        help="judge recordings of CSRBench's seven queries",
        description="Judge recordings of CSRBench's seven queries. Without DIR, engines of our own "
        "are judged, right ones and wrong ones; the exit code then says whether each verdict is "
        "what it must be. With --data, it says whether the verdicts are those of the paper.",
    )
    recordings = bench.add_mutually_exclusive_group()
    recordings.add_argument(
        "folder",
        nargs="?",
        type=cli.path,
        metavar="DIR",
        help="the folder of any recordings (default: engines of our own, right and wrong)",
    )
    recordings.add_argument(
        "--data",
        nargs="?",
        type=cli.path,
        const=CHECKOUT,
        metavar="DIR",
        help="a checkout of CSRBench's public repository (without DIR: %(const)s): check that its "
        "files are the published ones, and compare the verdicts with the paper's Table 2",
    )
    bench.add_argument(
        "--format",
        choices=("table", "tsv", "json"),
        default="table",
        help="the form of the output (default: %(default)s)",
    )
    bench.add_argument(
        "--results",
        type=cli.path,
        metavar="FILE",
        help="also write every verdict to FILE, as a line of JSON",
    )
    bench.add_argument(
        "--certificates",
        type=cli.path,
        metavar="DIR",
        help="also write the certificate of every verdict into the folder DIR; "
        "`python -m conformance check` checks it",
    )
    cores = min(7, os.cpu_count() or 1)
    bench.add_argument(
        "--jobs",
        type=int,
        default=cores,
        help="the number of processes, at most one for each recording (default: one for each "
        "core, at most 7)",
    )
    bench.add_argument(
        "--missing",
        type=int,
        default=1,
        metavar="K",
        help="allow at most K outputs to be missing at each end (default: %(default)s)",
    )
    bench.add_argument(
        "--definition",
        action="store_true",
        help="compute every answer by the SPARQL evaluator (default: incrementally; the answers "
        "that a verdict rests on are checked by the SPARQL evaluator either way)",
    )
    bench.add_argument(
        "--witness",
        choices=sorted(WITNESSES),
        help="ask this witness only (default: both)",
    )
    bench.add_argument(
        "--dialect",
        choices=sorted(DIALECTS),
        help="read the queries from texts in this language, such as Q1.cqels (default: from "
        "tables, Q1.toml to Q7.toml)",
    )
    bench.add_argument(
        "--queries",
        type=cli.path,
        metavar="DIR",
        help="the folder of the queries (default: ours)",
    )


def run(options: argparse.Namespace) -> int:
    """Judge the recordings, print and write the verdicts; return the exit code."""
    from conformance.bench.recordings import csrbench, csrbench_published, own_engines
    from conformance.verdict import results
    from conformance.verdict.outputs import check_outputs

    note_absent_witnesses()
    # streams live as long as the run: with fewer collections of garbage it is a tenth faster
    gc.set_threshold(50_000, 20, 50)
    check_missing(options.missing)
    check_positive("--jobs", options.jobs)
    target = None
    if options.results is not None:
        target = results.target(options.results)
        inputs = (options.data, options.folder, options.queries, csrbench.OURS.folder)
        check_outputs([target], [path for path in inputs if path is not None])
    known = csrbench_published.read_published()
    if options.data is not None:
        csrbench_published.check_files(options.data, known)
    tasks = _tasks(options)
    verdicts = [result for some in run_in_processes(tasks, options.jobs) for result in some]
    if target is not None:
        results.write(target, verdicts)
    try:
        _print(
            verdicts, options.format, list(csrbench_published.compare_with_paper(verdicts, known))
        )
    except KeyboardInterrupt:
        if target is None:
            raise
        print(f"conformance: interrupted; {plain(str(target))} was written", file=sys.stderr)
        return 130
    if options.data is not None:
        return int(csrbench_published.differing_cells(verdicts, known) != [])
    if options.folder is not None:
        return 0
    problems = own_engines.self_check(verdicts)
    for problem in problems:
        print(f"conformance: {problem}", file=sys.stderr)
    return min(len(problems), 1)


def _tasks(options: argparse.Namespace) -> list[Task]:
    """Return the tasks of the run, which can be done at the same time."""
    from conformance.bench.recordings import csrbench, own_engines
    from conformance.verdict.outcomes import Judging
    from refengine.sparql.witnesses import WITNESSES

    witnesses = tuple(WITNESSES)
    if options.witness:
        witnesses = (options.witness,)
    judging = Judging(
        witnesses,
        options.missing,
        options.results is not None,
        options.definition,
        options.certificates,
    )
    written = csrbench.QueryFolder(options.queries or csrbench.OURS.folder, options.dialect)
    folder = options.data or options.folder
    if folder is None:
        return [(own_engines.judge_ours, name, judging, None, written) for name in csrbench.QUERIES]
    chosen = csrbench.group_by_query(csrbench.answer_files(folder))
    csrbench.stream(folder)
    tasks: list[Task] = []
    for name, files in chosen.items():
        groups = [files]
        # With two witnesses the fail of a self-join takes a third of the time, so each recording is
        # a task. With one witness, or in one process, sharing answers among engines saves more.
        if len(witnesses) > 1 and options.jobs > 1:
            groups = [(file,) for file in files]
        for group in groups:
            tasks.append((csrbench.judge_query, folder, name, group, judging, written))
    return tasks


def _print(verdicts: list[Result], form: str, comparison: list[str]) -> None:
    """Print the verdicts in a form, and the lines that compare them with the paper's. With JSON and
    TSV these lines go to standard error; with TSV so do the explanations of errors and of extra
    recordings, and who computed the answers.
    """
    from conformance.bench.recordings import csrbench, csrbench_table
    from conformance.verdict import results

    match form:
        case "json":
            print(results.json_text([result.as_json() for result in verdicts], indent=2))
        case "tsv":
            print("\n".join(csrbench_table.as_tsv(verdicts)))
            for result in verdicts:
                if csrbench.suffix(result) or result.outcome == "error":
                    print(f"{result.engine} {result.case}\n{result.explanation}", file=sys.stderr)
            print(csrbench_table.describe_provenance(verdicts), file=sys.stderr)
        case _:
            print("\n".join(csrbench_table.as_text(verdicts, comparison)))
            return
    for line in comparison:
        print(line, file=sys.stderr)
