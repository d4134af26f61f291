"""The examination of one engine: is everything there that it needs, does its harness start, and
does it answer a query. The first thing that is wrong ends the examination, with what to do next.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

from conformance.corpus import Case
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import COMMAND, Engine
from conformance.suite import probe
from conformance.suite.item import questions
from conformance.verdict.results import Outcome
from refengine.model.errors import RefengineError
from refengine.model.messages import plain

SECONDS_FOR_VERSION = 20  # until a program has printed its version


class Finding(NamedTuple):
    """What was found out about one thing, and what to do next if something is wrong."""

    what: str
    found: str
    next_step: str = ""

    @property
    def is_well(self) -> bool:
        """Whether nothing has to be done about it."""
        return not self.next_step


def examine(engine: Engine) -> Iterator[Finding]:
    """Yield the findings about an engine, and stop after the first that is wrong."""
    for finding in _findings(engine):
        yield finding
        if not finding.is_well:
            return


def _findings(engine: Engine) -> Iterator[Finding]:
    """Yield the findings about an engine, one after the other; the later ones make no sense after
    one that is wrong.
    """
    try:
        engine = engine.with_classpath("")
    except RefengineError as error:  # what was added is gone
        yield Finding("engine", str(error), f"{COMMAND} add {engine.name} PATH")
    for command in engine.commands:
        yield _find_program(command)
    for module in engine.modules:
        yield Finding("Python package", module)
    place = engine.place
    if engine.missing:
        yield Finding("engine", engine.missing, engine.next_step)
    yield Finding("engine", _shorten(place) or "nothing of its own is needed")
    try:
        harness = Harness(engine.command, limits=engine.limits, environment=engine.environment)
    except Broken as error:
        yield Finding("harness", plain(str(error)), "start its command by hand to see more")
        return
    try:
        reply = harness.start()
        yield Finding(
            "harness", f"starts: {plain(str(reply['engine']))} {plain(str(reply['version']))}"
        )
        yield _ask_one_query(engine, harness)
    except Broken as error:
        yield Finding("harness", plain(str(error)), "start its command by hand to see more")
    finally:
        harness.stop()


def _shorten(place: str) -> str:
    """Return a place, of a long class path its first entry and the number of entries."""
    entries = place.split(os.pathsep)
    if len(entries) < 3:
        return place
    return f"{entries[0]} and {len(entries) - 1} more entries"


def _find_program(command: str) -> Finding:
    """Return whether a program is on the path, with the first line that it prints about its
    version.
    """
    path = shutil.which(command)
    if path is None:
        return Finding(command, "is not on the path", f"install {command}")
    option = "--version"
    if command == "java":
        option = "-version"
    try:
        run = subprocess.run(
            [path, option],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS_FOR_VERSION,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(command, plain(f"{path}: {error}"), f"install {command} again")
    lines = run.stdout.decode("utf-8", "replace").splitlines() or [""]
    return Finding(command, plain(f"{lines[0]}, {path}"))


def _ask_one_query(engine: Engine, harness: Harness) -> Finding:
    """Put the first case to an engine that it does not refuse; return what came of it."""
    result = None
    for case in _first_cases():
        result = probe.probe_case(engine, harness, case)
        if result.outcome is not Outcome.UNSUPPORTED:
            break
    if result is None or result.outcome is Outcome.UNSUPPORTED:
        return Finding("query", "it refuses every case", "see what its file says")
    kind = str(result.outcome)
    if result.known:
        kind = f"known {kind}"
    found = f"{kind}: {result.case}"
    if result.outcome is Outcome.ERROR:
        return Finding("query", f"{found}: {plain(result.argument)}", "read the error above")
    return Finding("query", found)


def _first_cases() -> list[Case]:
    """Return all cases, those for a first look (`--smoke`) first."""
    return sorted(questions(), key=lambda case: not case.table.get("smoke"))
