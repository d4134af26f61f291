"""`conformance characterise`: what engines do, found by asking them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.command_line.options import Commands

FORMS = ("text", "json", "toml")


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    parser = commands.add_parser(
        "characterise",
        help="ask engines about small streams, and print which semantics they have",
        description="Ask an engine about small streams, the next one always being one that tells "
        "apart what is left, and print its card: each field of its semantics, as far as its "
        "answers determine it, with the stream that shows it. The engine need claim nothing. "
        "Of several engines the cards are printed side by side.",
        epilog="exit codes: 0 done; 2 bad input, or no such engine here; 130 interrupted",
    )
    parser.add_argument(
        "names", nargs="+", metavar="ENGINE", help="an engine's name, or its file (*.toml)"
    )
    parser.add_argument(
        "--format",
        choices=FORMS,
        default="text",
        help="text; json, by the schema card.schema.json; or toml, what an engine's file would say "
        "(default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Ask the engines, and print their cards; return the exit code."""
    from conformance.card.asking import startable
    from conformance.card.maker import make_cards
    from conformance.card.side_by_side import lines_of

    engines = [startable(name) for name in dict.fromkeys(options.names)]
    for line in lines_of(make_cards(engines), options.format):
        print(line)
    return 0
