"""The examination of one engine: is everything there that it needs, does its harness start, and
does it answer a query. The first thing that is wrong ends the examination, with what to do next.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from conformance.corpus import Case
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import COMMAND, Engine
from conformance.harness.missing_class import find_missing_class
from conformance.suite import probe
from conformance.suite.item import CASE_SUITES, find_case, live_items
from conformance.verdict.results import Outcome
from refengine.model.errors import RefengineError
from refengine.model.messages import plain

SECONDS_FOR_VERSION = 20  # until a program has printed its version
MOST_BESIDE_CLASS = 200  # characters of what happened, where the name of a class says why
MOST_FOR_VERSION = 1 << 16  # bytes that are read of what it prints


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
    place = engine.place
    if engine.missing:
        yield Finding("engine", plain(engine.missing), plain(engine.next_step))
    for module in engine.modules:
        yield Finding("Python package", module)
    yield Finding("engine", plain(_shorten(place)) or "nothing of its own is needed")
    try:
        harness = Harness(engine.command, limits=engine.limits, environment=engine.environment)
    except Broken as error:
        yield Finding("harness", plain(str(error)), "start its command by hand to see more")
        return
    try:
        reply = harness.start()
        yield _check_names(reply)
        yield _ask_one_query(engine, harness)
    except Broken as error:
        yield _name_missing_class(
            Finding("harness", plain(str(error)), "start its command by hand to see more"),
            engine,
            harness,
        )
    finally:
        harness.stop()


def _name_missing_class(finding: Finding, engine: Engine, harness: Harness) -> Finding:
    """Return a finding about something that is wrong; if Java found no class of some name, one that
    says so in a short line.
    """
    name = harness.missing_class or find_missing_class(finding.found)
    if not name:
        return finding
    next_step = "put the jar that has it on the class path of its command"
    if engine.to_bring is not None and engine.to_bring.kind == "classpath":
        next_step = (
            f"bring the jar that has it, too: {COMMAND} add {engine.name} JAR{os.pathsep}JAR "
            "(or a folder with all jars)"
        )
    what_happened = finding.found.partition("; ")[0][:MOST_BESIDE_CLASS]
    return Finding(finding.what, f"Java found no class {name} ({what_happened})", next_step)


def _check_names(reply: Mapping[str, Any]) -> Finding:
    """Return the engine's name and version, as the reply to `start` has them, or what of them it
    lacks.
    """
    lacking = [key for key in ("engine", "version") if key not in reply]
    if lacking:
        keys = " and ".join(map(repr, lacking))
        return Finding("harness", f"start: the reply has no {keys}", "add it: see PROTOCOL.md")
    return Finding("harness", plain(f"starts: {reply['engine']} {reply['version']}"))


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
        output = _first_output([path, option])
    except (OSError, subprocess.SubprocessError) as error:
        reason = str(error)
        if isinstance(error, subprocess.TimeoutExpired):
            reason = f"{option}: no answer within {SECONDS_FOR_VERSION} s"
        if isinstance(error, subprocess.CalledProcessError):
            reason = f"{option}: exit code {error.returncode}"
        return Finding(command, plain(f"{path}: {reason}"), f"install {command} again")
    lines = output.decode("utf-8", "replace").splitlines() or [""]
    return Finding(command, plain(f"{lines[0]}, {path}"))


def _first_output(command: list[str]) -> bytes:
    """Return the beginning of what a command prints. The command, and all that it starts, is killed
    after that. Raises OSError if it cannot be started, TimeoutExpired if it does not end in time,
    and CalledProcessError if it fails.
    """
    deadline = time.monotonic() + SECONDS_FOR_VERSION
    output = b""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None  # it is a pipe
        try:
            while len(output) < MOST_FOR_VERSION:
                left = max(0, deadline - time.monotonic())
                if not select.select([process.stdout], [], [], left)[0]:
                    raise subprocess.TimeoutExpired(command, SECONDS_FOR_VERSION)
                piece = os.read(process.stdout.fileno(), MOST_FOR_VERSION)
                if not piece:
                    break
                output += piece
            else:
                return output
            code = process.wait(max(0, deadline - time.monotonic()))
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if code:
        raise subprocess.CalledProcessError(code, command)
    return output


def _ask_one_query(engine: Engine, harness: Harness) -> Finding:
    """Put the first case to an engine that it does not refuse; return what came of it. An engine
    that is held neither to the corpus nor to its windows is asked nothing: what it claims is not
    about these cases.
    """
    if not {*CASE_SUITES} & {*engine.suites}:
        suites = ", ".join(engine.suites)
        return Finding("query", f"none was asked: the engine is held to {suites} alone")
    result = None
    first_refusal = ""
    for case in _first_cases(engine):
        result = probe.probe_case(engine, harness, case)
        if result.outcome is not Outcome.UNSUPPORTED:
            break
        first_refusal = first_refusal or result.explanation
    if result is None or result.outcome is Outcome.UNSUPPORTED:
        found = "it refuses every case"
        if first_refusal:
            found += f"; the first one: {plain(first_refusal)}"
        refused = Finding("query", found, "see what its file and its harness say of queries")
        return _name_missing_class(refused, engine, harness)
    kind = str(result.outcome)
    if result.known:
        kind = f"known {kind}"
    found = f"{kind}: {result.case}"
    if result.outcome is Outcome.ERROR:
        broken = Finding("query", f"{found}: {plain(result.explanation)}", "read the error above")
        return _name_missing_class(broken, engine, harness)
    return Finding("query", found)


def _first_cases(engine: Engine) -> list[Case]:
    """Return the cases that an engine can be asked, those for a first look (`--smoke`) first."""
    found = (find_case(item.suite, item.case) for item in live_items(engine))
    asked = [case for case in found if case is not None]
    return sorted(asked, key=lambda case: not case.table.get("smoke"))
