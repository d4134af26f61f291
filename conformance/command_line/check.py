"""`conformance check`: certificates of verdicts, checked without the engine and the judge."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from conformance.certificates import checker, formal

if TYPE_CHECKING:
    from conformance.command_line.options import Commands


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    check = commands.add_parser(
        "check",
        help="check certificates of verdicts",
        description="Check certificates of verdicts, as --certificates writes them, by a program "
        "of 300 lines of code that uses nothing of the engine and the judge. A line for each says "
        "what it certifies, and what is trusted.",
        epilog="exit codes: 0 all are right; 1 one is wrong; 2 one cannot be read; 3 one is of "
        "something that is not checked, or --formal finds no Coq; 130 interrupted",
    )
    check.add_argument(
        "--formal",
        action="store_true",
        help="also hold every evaluation to the program that Coq extracts from the formal "
        "definitions (docs/formal.md); SPARQL's answers are those of the certificate",
    )
    check.add_argument("files", nargs="+", metavar="CERTIFICATE", help="the file of a certificate")


def run(options: argparse.Namespace) -> int:
    """Check the certificates; return the exit code."""
    if not options.formal:
        return checker.main(options.files)
    with TemporaryDirectory() as folder:
        program = formal.build(Path(folder))
        return checker.main(options.files, partial(formal.ProgramVerdict, program))
