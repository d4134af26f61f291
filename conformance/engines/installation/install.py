"""Installing an engine from its registry: all of it or nothing, with a log, and so that it can be
interrupted.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from conformance.engines.installation.child_process import DIE_WITH_PARENT, describe_exit
from conformance.engines.installation.places import (
    CACHE,
    cache_folder,
    cannot_write,
    installed_folder,
    manifest_files,
)
from conformance.engines.installation.pythons import describe_pythons, find_version
from conformance.engines.installation.registries import INSTALLERS
from conformance.engines.installation.source import Package, Registry
from conformance.engines.installation.unfinished import unfinished_folder
from refengine.model.errors import RefengineError
from refengine.model.messages import display, plain

SECONDS_BETWEEN_LOOKS = 0.2  # at how far a command is
SECONDS_OF_SILENCE = 300  # after which a command is taken for hanging
LINES_OF_LOG = 20  # that are shown of a command that failed
LITTLE_SPACE = 1 << 20  # bytes on a disk that is taken for full
END_OF_LOG = 1 << 16  # bytes, in which they are looked for
LONGEST_LOG = 16 << 20  # bytes; a command that writes more is ended
# Registries whose packages are found by a list of paths, which a separator divides.
WITH_LIST_OF_PATHS = (Registry.MAVEN, Registry.PYPI)

# Takes how many packages are ready, and how many there are.
Progress = Callable[[int, int], None]


class SilenceTimer:
    """How long a command has been silent: it wrote nothing, and got no package ready.

    >>> timer = SilenceTimer(now=100)
    >>> timer.seconds_silent(size_of_log=7, ready=0, now=102)
    0
    >>> timer.seconds_silent(size_of_log=7, ready=0, now=105)
    3
    """

    def __init__(self, now: float) -> None:
        self.last_sign = (0, 0)
        self.since = now

    def seconds_silent(self, size_of_log: int, ready: int, now: float) -> float:
        """Return the seconds since the size of the log or the number of ready packages changed."""
        sign = (size_of_log, ready)
        if sign != self.last_sign:
            self.last_sign = sign
            self.since = now
        return now - self.since


def is_installed(package: Package) -> bool:
    """Whether an engine is installed with exactly what its manifest pins."""
    return installed_folder(package).is_dir()


def missing_tool(package: Package) -> str:
    """Return what the user must install before the package can be; empty if nothing is missing."""
    if package.registry is Registry.PYPI and not find_version(package):
        return describe_pythons(package)
    installer = INSTALLERS[package.registry]
    if shutil.which(installer.tool):
        return ""
    return f"the command {installer.tool} ({installer.comes_with})"


def install(
    name: str,
    package: Package,
    progress: Progress,
    silence: float = SECONDS_OF_SILENCE,
) -> Path:
    """Install an engine in the user's cache folder, and return its folder there. If the registry's
    tool is silent for `silence` seconds, it is stopped with all that it has started.

    The work is done in a folder beside it, which is renamed at the end: after an error or an
    interrupt nothing is left of it. What the registry's tool writes is in `NAME.log` in the cache
    folder. Raises RefengineError, with the last lines of the log as notes, if it fails.
    """
    installer = INSTALLERS[package.registry]
    if lacking := missing_tool(package):
        raise RefengineError(f"needs {lacking}", rule="engine", place=name)

    folder = installed_folder(package)
    if folder.is_dir():
        return folder
    _check_folder(package, folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(folder.parent) as draft:
            _copy_manifest(package.manifest, draft)
            _run(name, package, draft, progress, silence)
            installer.finish(draft)
            try:
                draft.rename(folder)
            except OSError:
                if not folder.is_dir():
                    raise
                # otherwise another process has finished the same work first
    except OSError as error:
        place = error.filename2 or error.filename or folder.parent
        raise cannot_write(error, place, CACHE) from None
    return folder


def _check_folder(package: Package, folder: Path) -> None:
    """Raise RefengineError for a package without a manifest, and for a folder from which it could
    not be used.
    """
    if not package.manifest.is_dir():
        raise RefengineError(
            "is no folder, but the engine's file names it as manifest",
            rule="engine",
            place=str(package.manifest),
        )
    if os.pathsep in str(folder) and package.registry in WITH_LIST_OF_PATHS:
        raise RefengineError(
            f"a path with {os.pathsep!r} cannot stand in a list of paths; {CACHE}=FOLDER uses "
            "another folder",
            rule="engine",
            place=str(folder.parent),
        )


def uninstall(package: Package) -> bool:
    """Remove an engine from the cache folder; return whether it was there."""
    folder = installed_folder(package)
    if not folder.is_dir():
        return False
    try:
        # Renamed first: an interrupt leaves no half of an engine under its name.
        with unfinished_folder(folder.parent) as condemned:
            folder.rename(condemned / folder.name)
    except FileNotFoundError:  # another process has removed it first
        return False
    except OSError as error:
        raise cannot_write(error, folder, CACHE) from None
    return True


def log_path(name: str) -> Path:
    """Return the file of what a registry's tool wrote when an engine was last installed."""
    return cache_folder() / f"{name}.log"


def _copy_manifest(manifest: Path, folder: Path) -> None:
    """Copy the files of a manifest to a folder."""
    for path in manifest_files(manifest):
        copy = folder / path.relative_to(manifest)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _run(name: str, package: Package, folder: Path, progress: Progress, silence: float) -> None:
    """Run the command that installs a package in a folder, and tell how far it is. Raises
    RefengineError if it fails, or is silent for `silence` seconds.
    """
    installer = INSTALLERS[package.registry]
    total = _count_packages(package, folder)
    log = log_path(name)
    log.write_bytes(b"")
    with log.open("ab") as output:  # at its end, where another process may write, too
        process = _start(name, package, folder, output)
        timer = SilenceTimer(time.monotonic())
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(SECONDS_BETWEEN_LOOKS)
                size = log.stat().st_size
                if size > LONGEST_LOG:
                    raise _failure(
                        name, f"{installer.tool} wrote more than {LONGEST_LOG >> 20} MiB", log
                    )
                ready = installer.count_ready(folder, log.read_text("utf-8", "replace"))
                progress(min(ready, total), total)
                if timer.seconds_silent(size, ready, time.monotonic()) > silence:
                    raise _failure(name, _describe_silence(installer.tool, silence), log)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    if process.returncode:
        raise _failure(name, f"{installer.tool} ended {describe_exit(process.returncode)}", log)


def _describe_silence(tool: str, silence: float) -> str:
    """Return in words that a command was stopped since it was silent, and what its user does next.

    >>> _describe_silence("npm", 300)
    'npm was silent for 300 s and was stopped; check the network and install again, or wait longer \
with --silence SECONDS'
    """
    return (
        f"{tool} was silent for {silence:g} s and was stopped; check the network and install "
        "again, or wait longer with --silence SECONDS"
    )


def _count_packages(package: Package, folder: Path) -> int:
    """Return how many packages a manifest pins, of which `folder` has a copy. Raises RefengineError
    for a malformed manifest.
    """
    installer = INSTALLERS[package.registry]
    try:
        return installer.count_packages(folder)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError):
            reason = f"{Path(error.filename).name}: {error.strerror}"
        raise RefengineError(
            f"the manifest is malformed: {reason}",
            rule="engine",
            place=str(package.manifest),
        ) from None


def _start(
    name: str,
    package: Package,
    folder: Path,
    output: IO[bytes],
) -> subprocess.Popen[bytes]:
    """Return the process of the command that installs a package. Raises RefengineError if it cannot
    be started.
    """
    installer = INSTALLERS[package.registry]
    try:
        return subprocess.Popen(
            installer.command(package, folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=DIE_WITH_PARENT,
        )
    except OSError as error:
        raise RefengineError(
            f"{display(installer.tool)} cannot be started: {error.strerror}",
            rule="engine",
            place=name,
        ) from None


def _failure(name: str, reason: str, log: Path) -> RefengineError:
    """Return the error of a command that failed, with the last lines of its log as notes. On a full
    disk there may be none.
    """
    if shutil.disk_usage(log.parent).free < LITTLE_SPACE:
        reason += f"; the disk is full, and {CACHE}=FOLDER uses another folder"
    error = RefengineError(f"{reason}; all that it wrote: {log}", rule="engine", place=name)
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - END_OF_LOG))
        end = file.read().decode("utf-8", "replace")
    for line in end.splitlines()[-LINES_OF_LOG:]:
        error.add_note(plain(line))
    return error
