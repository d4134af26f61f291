"""`refengine test`: the suite by pytest, wherever it is installed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.command_line.options import Commands

SUITE = Path(__file__).parents[1]
NO_OPTION = "\0"  # a sign that begins no word: all words are pytest's
# this process has imported a part of what pytest would rewrite
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")


def add_parser(commands: Commands) -> None:
    """Add the sub-command. All its words are pytest's, `--help` among them."""
    test = commands.add_parser(
        "test",
        help="run the suite: test --engine=NAME, and what else pytest takes",
        prefix_chars=NO_OPTION,
        add_help=False,
    )
    test.add_argument("words", nargs=argparse.REMAINDER)


def run(options: argparse.Namespace) -> int:
    """Run pytest on the suite; return its exit code."""
    import pytest

    return int(pytest.main([str(SUITE), *QUIET, *options.words]))
