"""`conformance case`: a case file with the question of a result, for its author to complete."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from conformance.command_line.earlier_result import add_arguments, find_result
from refengine import cli
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    from conformance.command_line.options import Commands


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    case = commands.add_parser(
        "case",
        help="write a case file with the question of a result",
        description="Write a case file with the question of a result: query, streams, static data, "
        "and the semantics under which the engine was judged. Its name, its derivation and its "
        "reports are to be filled in by hand.",
    )
    add_arguments(case)
    case.add_argument(
        "-o",
        "--out",
        type=cli.path,
        metavar="FILE",
        help="the file to write, which must not exist (default: standard output)",
    )
    case.add_argument(
        "--rule",
        default="",
        metavar="RULE",
        help="the rule that the case is about (default: that of the result)",
    )


def run(options: argparse.Namespace) -> int:
    """Write the case file; return the exit code."""
    from conformance.suite.new_case import text_of_new_case
    from conformance.verdict import results

    target = None
    if options.out is not None:
        target = results.target(options.out)
        if target.exists():
            raise RefengineError(
                "exists already, and nothing is overwritten",
                rule="usage",
                place=str(options.out),
            )
    text = text_of_new_case(find_result(options.results, options.case), options.rule)
    if target is None:
        sys.stdout.write(text)
    else:
        results.replace({target: text.encode("utf-8")})
    return 0
