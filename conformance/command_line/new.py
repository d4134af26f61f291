"""`conformance new`: the skeleton of a harness, in a new folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from refengine import cli
from refengine.model.messages import plain

if TYPE_CHECKING:
    from conformance.command_line.options import Commands


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    from conformance.engines.skeletons import LANGUAGES

    new = commands.add_parser(
        "new",
        help="write the skeleton of a harness for your engine",
        description="Write the skeleton of a harness into a new folder: the protocol, the engine's "
        "file, and a README. Each place to fill in is marked FILL IN. Until then the harness "
        "refuses every query.",
    )
    new.add_argument("name", metavar="NAME", help="the engine's name; its file is NAME.toml")
    new.add_argument(
        "--language",
        required=True,
        choices=sorted(LANGUAGES),
        help="the harness's language",
    )
    new.add_argument(
        "--folder",
        type=cli.path,
        metavar="DIR",
        help="the folder to make (default: NAME in the current folder)",
    )


def run(options: argparse.Namespace) -> int:
    """Write the skeleton, and print its files; return the exit code."""
    from conformance.engines.skeletons import write_skeleton
    from conformance.harness import engine_file

    engine_file.check_free_name(options.name)
    folder = options.folder or Path(options.name)
    for path in write_skeleton(options.name, options.language, folder):
        print(plain(str(path)))
    return 0
