"""`conformance replay`: the question of an earlier result, sent to a harness again line by line."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from conformance.command_line.earlier_result import add_arguments, find_result
from conformance.command_line.options import check_missing, note_absent_witnesses
from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import display, escape_unprintable, plain

if TYPE_CHECKING:
    from conformance.command_line.options import Commands
    from conformance.harness.engine_file import Engine
    from conformance.suite import Item
    from conformance.verdict.results import Result


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    replay = commands.add_parser(
        "replay",
        help="send the question of an earlier result to a harness again, line by line",
        description="Send the question of an earlier result to the engine's harness again. Each "
        "line that is sent is printed after `>`, each line that comes back after `<`, and then the "
        "verdict. If the engine cannot be started here, only the lines to send are printed.",
        epilog="exit codes: 0 the verdict is that of the file, or the lines were printed; 1 it is "
        "another; 2 bad input; 3 the engine's language cannot express the query; 130 interrupted",
    )
    add_arguments(replay)
    replay.add_argument(
        "--engine",
        metavar="NAME",
        help="the engine to ask: its name, or its engine file (*.toml) (default: that of the "
        "result)",
    )
    replay.add_argument(
        "--engine-command",
        metavar="COMMAND",
        help="ask an engine that has no engine file: start its harness with COMMAND, without a "
        "shell",
    )
    replay.add_argument(
        "--engine-dialect",
        default="rspql",
        metavar="DIALECT",
        help="with --engine-command: the query language that the harness reads (default: rspql)",
    )
    replay.add_argument(
        "--engine-semantics",
        default="csparql",
        metavar="WORDS",
        help="with --engine-command: the semantics that the engine claims, a profile and key=value "
        "words in quotes (default: csparql)",
    )
    replay.add_argument(
        "--csrbench",
        type=cli.path,
        metavar="DIR",
        help="the folder of CSRBench's own stream, if the run had it (default: the small stream "
        "that comes with the suite)",
    )
    replay.add_argument(
        "--missing",
        type=int,
        metavar="K",
        help="allow at most K outputs to be missing at each end, as the run did (default: 0)",
    )
    replay.add_argument(
        "--print",
        action="store_true",
        dest="only_print",
        help="only print the lines to send, whole, for a pipe into a harness",
    )


def run(options: argparse.Namespace) -> int:
    """Replay a result, or print the lines to send; return the exit code."""
    from conformance.suite import ItemSelection
    from conformance.suite.replay import find_item

    note_absent_witnesses()
    check_missing(options.missing)
    before = find_result(options.results, options.case)
    tested = _engine(options, before)
    selection = ItemSelection(csrbench=options.csrbench, unreported=options.missing)
    item = find_item(before, tested, selection)
    if options.only_print:
        return _print_lines(item)
    absent = item.absent
    if not tested.command:
        absent = f"no engine {display(tested.name)} here: name its file with --engine FILE.toml"
    if absent:
        print(plain(f"conformance: {absent}"), file=sys.stderr)
        print("conformance: only the lines to send are printed", file=sys.stderr)
        return _print_lines(item)
    return _replay(item, before)


def _engine(options: argparse.Namespace, before: Result) -> Engine:
    """Return the engine to ask. Without an option it is that of the result; if that is not known
    here, its evidence says what to send.
    """
    from conformance.harness import engine_file
    from conformance.suite.replay import engine_of_evidence

    if options.engine_command is not None:
        if options.engine is not None:
            raise RefengineError("give --engine or --engine-command, not both", rule="usage")
        return engine_file.command(
            options.engine_command, options.engine_dialect, options.engine_semantics
        )
    if options.engine is not None:
        return engine_file.engine(options.engine)
    if before.engine in engine_file.names():
        return engine_file.engine(before.engine)
    return engine_of_evidence(before)


def _print_lines(item: Item) -> int:
    """Print the lines to send, whole."""
    from conformance.suite.replay import lines_to_send

    sys.stdout.flush()
    for line in lines_to_send(item):
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    return 0


def _replay(item: Item, before: Result) -> int:
    """Ask the engine, and print the lines and the verdict; return 1 if it is another verdict than
    before.
    """
    from conformance.suite.replay import differences_in_question, replay

    now = replay(item, _print_line)
    for line in now.explanation.splitlines():
        print(escape_unprintable(line))
    is_same = (now.kind, now.outcome) == (before.kind, before.outcome)
    print(f"verdict: {now.outcome_in_words}; {_comparison(before, now, is_same)}")
    if differences := differences_in_question(before, now):
        keys = ", ".join(differences)
        print(f"the question is not that of the file: it differs in {keys}")
    return int(not is_same)


def _print_line(direction: str, line: bytes) -> None:
    """Print a line that is sent or that came back: bounded, and with control characters escaped."""
    print(direction, plain(line.decode("utf-8", "replace").rstrip("\n")), flush=True)


def _comparison(before: Result, now: Result, is_same: bool) -> str:
    """Write how a verdict compares with that of the file."""
    if not is_same:
        return f"in the file it is: {before.outcome_in_words}"
    if now.explanation != before.explanation:
        return "as in the file, but with another explanation"
    return "the same as in the file"
