"""`refengine window`: what the windows of a library do, asked of it just now."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.command_line.options import Commands


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    window = commands.add_parser(
        "window",
        help="ask a library, such as pandas, what its windows do, and say it in its own words",
        description="Ask a library about small streams, and print what its windows do, in its own "
        "words: which border belongs to a window, where windows begin, when they come out, what "
        "becomes of late elements, and what happens at the end. Each is shown by a stream, and so "
        "is each setting of the library. `engines list` lists the libraries, `engines install` "
        "installs one.",
        epilog="exit codes: 0 done; 2 bad input, or no such library here; 130 interrupted",
    )
    window.add_argument("name", metavar="NAME", help="the library: its name, or its file (*.toml)")


def run(options: argparse.Namespace) -> int:
    """Ask the library, and print its card; return the exit code."""
    from conformance.card.asking import startable
    from conformance.card.maker import card_with_settings
    from conformance.card.text import window_card_lines

    for line in window_card_lines(card_with_settings(startable(options.name))):
        print(line)
    return 0
