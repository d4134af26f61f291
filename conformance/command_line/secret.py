"""`conformance secret`: the golden vectors of the SECRET simulator."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from conformance.command_line.options import add_files, note_absent_witnesses
from refengine.model.errors import RefengineError
from refengine.model.messages import plain

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
    """Hold the reference engine to the vectors; return the exit code. Raises RefengineError for a
    file or folder without vectors.
    """
    from conformance.bench.recordings import secret

    note_absent_witnesses()
    agreeing = total = 0
    for path in options.files:
        before = total
        for vector in secret.read_vectors(path):
            total += 1
            line = secret.disagreement(vector)
            agreeing += line is None
            if line is not None:
                print(line)
        if total == before:
            raise RefengineError(
                "has no vectors, so nothing is compared; give a file of them, or a folder of "
                "*.jsonl files",
                rule="vector",
                place=plain(str(path)),
            )
    print(f"{agreeing} of {total} agree")
    return int(agreeing < total)
