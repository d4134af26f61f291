"""`conformance engines`: which engines there are, and getting those that are not yet here.

`install` is for engines of a package registry, `add` for engines that their users bring.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from refengine.model.errors import RefengineError
from refengine.model.messages import nearest, plain

if TYPE_CHECKING:
    from conformance.command_line.options import Commands
    from conformance.harness.engine_file import Engine

# about an installation, where standard error is no terminal
SECONDS_BEFORE_LINES = 2
SECONDS_BETWEEN_LINES = 10
COLUMNS = ("engine", "version", "licence", "comes from", "state")


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its own sub-commands."""
    engines = commands.add_parser("engines", help="list, install, add, remove and examine engines")
    actions = engines.add_subparsers(dest="action", required=True)

    listing = actions.add_parser("list", help="list all engines, and what each still needs")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="default: text")

    installing = actions.add_parser(
        "install", help="install engines of a package registry in your cache folder"
    )
    installing.add_argument("names", nargs="+", metavar="NAME")
    installing.add_argument(
        "--silence",
        type=int,
        metavar="SECONDS",
        help="stop a registry's tool that writes nothing and gets no further for so long "
        "(default: 300)",
    )

    adding = actions.add_parser(
        "add",
        help="keep where an engine is that you have built or got, and examine it",
        description="Keep where an engine is that you have built or got. Then examine it as "
        "`doctor` does. Exit codes: 0 it is kept, whether or not it is ready; 2 nothing is kept; "
        "130 the examination was interrupted, and the engine is kept.",
    )
    adding.add_argument("name", metavar="NAME")
    adding.add_argument(
        "place",
        metavar="PATH",
        help="what the engine needs: a jar, a class path, a folder or a program; or an engine's "
        "file (*.toml), which then has this NAME",
    )

    removing = actions.add_parser(
        "remove", help="remove installed engines, and forget where brought ones are"
    )
    removing.add_argument("names", nargs="+", metavar="NAME")

    examining = actions.add_parser(
        "doctor", help="examine an engine, and say the one thing to do next"
    )
    examining.add_argument("name", metavar="NAME")


def run(options: argparse.Namespace) -> int:
    """Perform the action of the command line; return the exit code."""
    match options.action:
        case "list":
            return _list(options.format)
        case "install":
            return _install(options.names, options.silence)
        case "add":
            return _add(options.name, options.place)
        case "remove":
            return _remove(options.names)
        case _:
            return _examine(options.name)


def _list(form: str) -> int:
    """Print a row for each engine."""
    from conformance.harness import engine_file

    rows = [_row(name) for name in engine_file.names()]
    if form == "json":
        tables = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        print(json.dumps(tables, indent=2, ensure_ascii=False))
        return 0
    rows = [tuple(map(plain, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    for row in (COLUMNS, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0


def _row(name: str) -> tuple[str, ...]:
    """Return the cells of an engine in the list. The state of an engine whose file is broken is
    what is wrong with it, so that one broken file does not hide the other engines.
    """
    from conformance.harness import engine_file

    try:
        engine = engine_file.engine(name)
    except RefengineError as error:
        return name, "", "", "its file", str(error)
    try:
        state = engine.with_classpath("").next_step or "ready"
    except RefengineError as error:  # what was added is gone
        state = str(error)
    return engine.name, engine.version, engine.licence, engine.comes_from, state


def _install(names: Sequence[str], silence: int | None) -> int:
    """Install engines, one after the other, and print where each is. A registry's tool is stopped
    if it is silent for `silence` seconds, or, for None, as long as is usual.
    """
    from conformance.command_line.options import check_positive, progress_bar
    from conformance.engines.installation import install
    from conformance.harness import engine_file

    check_positive("--silence", silence)
    seconds = silence or install.SECONDS_OF_SILENCE
    engines = [engine_file.engine(name) for name in dict.fromkeys(names)]
    for engine in engines:
        if engine.package is None:
            raise RefengineError(_why_not_installed(engine), rule="engine", place=engine.name)

    for engine in engines:
        assert engine.package is not None  # checked above
        lines = PackageCount(engine.name)
        with progress_bar(desc=engine.name, unit="package")() as bar:

            def show(ready: int, total: int, lines: PackageCount = lines) -> None:
                bar.total = total
                bar.n = ready
                bar.refresh()
                lines.show(ready, total, time.monotonic())

            try:
                folder = install.install(engine.name, engine.package, show, seconds)
            except KeyboardInterrupt:
                bar.close()
                print(
                    f"conformance: interrupted; nothing of {engine.name} is installed",
                    file=sys.stderr,
                )
                return 130
        print(f"{engine.name}: {engine.title} is installed in {folder}")
    return 0


class PackageCount:
    """How far an installation is, in lines, where standard error is no terminal: one after the
    first seconds, and then one in each `SECONDS_BETWEEN_LINES`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.began: float | None = None
        self.next_line = 0.0

    def show(self, ready: int, total: int, now: float) -> None:
        """Print how many packages are ready at an instant, if it is time for a line."""
        from conformance.command_line.options import announce

        if self.began is None:
            self.began = now
            self.next_line = now + SECONDS_BEFORE_LINES
        if now >= self.next_line:
            self.next_line = now + SECONDS_BETWEEN_LINES
            announce(f"{self.name}: {ready} of {total} packages after {now - self.began:.0f} s")


def _why_not_installed(engine: Engine) -> str:
    """Return why an engine cannot be installed, and what can be done instead."""
    if engine.to_bring is not None:
        return f"no registry has it: {engine.next_step}"
    from conformance.harness import engine_file

    shipped = engine_file.engines().values()
    installable = [other.name for other in shipped if other.package is not None]
    return f"its file names no package{nearest(engine.name, installable)}"


def _add(name: str, place: str) -> int:
    """Check what a user brings, and keep where it is."""
    from conformance.engines.installation import brought_engines
    from conformance.harness import engine_file

    engine_file.check_name(name)
    if place.endswith(".toml"):
        engine_file.check_free_name(name)
        engine_file.read_engine_file(Path(place))  # raises what is wrong with it
        place = os.path.abspath(place)
        record = brought_engines.keep_engine_file(name, place)
        print(plain(f"{name}: --engine={name} now uses {place} (kept in {record})"))
        return _examine_added(name)
    engine = engine_file.engine(name)
    if engine.to_bring is None:
        raise RefengineError(
            "is not an engine that its user brings; only an engine's file (*.toml) can be added",
            rule="engine",
            place=name,
        )
    found = brought_engines.check_place(name, engine.to_bring, place)
    record = brought_engines.keep_place(name, found)
    print(plain(f"{name}: {engine.title} is known now (kept in {record})"))
    return _examine_added(name)


def _examine_added(name: str) -> int:
    """Print what is found out about an engine that was added, and whether it is ready. Return 0
    either way, since it is kept either way; 130 if the examination was interrupted.
    """
    try:
        is_ready = _print_findings(name)
    except KeyboardInterrupt:
        print(
            f"conformance: {name} is kept; its examination was interrupted: python -m conformance "
            f"engines doctor {name}",
            file=sys.stderr,
        )
        return 130
    print(f"{name}: {'ready' if is_ready else 'kept, but not ready: see the next step above'}")
    return 0


def _remove(names: Sequence[str]) -> int:
    """Remove engines; return 1 if one of them was not there."""
    from conformance.engines.installation import brought_engines, install
    from conformance.harness import engine_file

    missing = 0
    for name in names:
        broken = None
        package = None
        try:
            package = engine_file.engine(name).package
        except RefengineError as error:  # even an engine whose file is broken can be removed
            broken = error
        was_there = brought_engines.is_name(name) and brought_engines.forget_place(name)
        if broken is not None and not was_there:
            raise broken
        if package is not None:
            was_there |= install.uninstall(package)
        if was_there:
            print(f"{name}: removed")
        else:
            print(f"conformance: {name} was not installed and not added", file=sys.stderr)
            missing += 1
    return int(missing > 0)


def _examine(name: str) -> int:
    """Print what is found out about an engine; return 1 if something has to be done."""
    return int(not _print_findings(name))


def _print_findings(name: str) -> bool:
    """Print what is found out about an engine; return whether it is ready."""
    from conformance.harness import engine_file
    from conformance.suite import doctor

    for finding in doctor.examine(engine_file.engine(name)):
        mark = "ok"
        if not finding.is_well:
            mark = "--"
        print(f"{mark}  {finding.what}: {finding.found}")
        if not finding.is_well:
            print(f"    next: {finding.next_step}")
            return False
    return True
