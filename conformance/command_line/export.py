"""`conformance export`: the suite as data, for those who run it without this package."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from conformance.command_line.options import announce, progress_bar
from refengine import cli
from refengine.model.messages import plain

if TYPE_CHECKING:
    from conformance.command_line.options import Commands

Each = TypeVar("Each")


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    export = commands.add_parser(
        "export",
        help="write the cases as data that others can run",
        description="Write every case to a new folder: as manifests in the form of W3C's, with "
        "streams in TriG and as RDF messages, queries in every language that can say them, and "
        "expected reports; and as plain JSON. It takes a minute.",
    )
    export.add_argument("folder", type=cli.path, metavar="DIR", help="the folder to make")
    export.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="NAME",
        help="an engine, or its file, that claims a semantics: each case then says what this "
        "engine must report; may be given several times",
    )


def run(options: argparse.Namespace) -> int:
    """Write the folder, and print what it has; return the exit code."""
    from conformance.export import suite_folder
    from conformance.harness import engine_file
    from conformance.verdict.results import check_new_folder

    check_new_folder(options.folder)
    engines = tuple(map(engine_file.engine, dict.fromkeys(options.engine)))

    def show_progress(wrong_engines: Iterable[Each]) -> Iterator[Each]:
        announce("putting the cases to each wrong engine")
        yield from progress_bar(desc="wrong engines")(wrong_engines)

    suite = suite_folder.export_suite(
        options.folder, suite_folder.all_cases(), engines, show_progress
    )
    print(plain(f"{options.folder}: {suite.cases} cases, {suite.files} files"))
    print(plain(f"{suite.archive.name}: sha256 of its {suite_folder.SUMS} {suite.digest}"))
    return 0
