"""`conformance secret`: the golden vectors of the SECRET simulator."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from conformance.command_line.options import add_files

if TYPE_CHECKING:
    from conformance.command_line.options import Commands


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    vectors = commands.add_parser(
        "secret",
        help="compare the reference engine with SECRET's simulator",
        description="Compare the reference engine with SECRET's golden vectors: experiments with "
        "the answers of the simulator of SECRET's authors.",
    )
    add_files(vectors, "FILE", "a file of vectors, one JSON object a line")


def run(options: argparse.Namespace) -> int:
    """Hold the reference engine to the vectors; return the exit code."""
    from conformance.benchmarks import secret

    agreeing = total = 0
    for path in options.files:
        for vector in secret.read_vectors(path):
            total += 1
            line = secret.disagreement(vector)
            agreeing += line is None
            if line is not None:
                print(line)
    print(f"{agreeing} of {total} agree")
    return int(agreeing < total)
