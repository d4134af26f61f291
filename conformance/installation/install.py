"""Installing an engine from its registry: all of it or nothing, with a log, and so that it can be
interrupted.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from conformance.installation.places import cache_folder, installed_folder, manifest_files
from conformance.installation.registries import INSTALLERS, Installer
from conformance.installation.source import Package
from refengine.model.errors import RefengineError

SECONDS_BETWEEN_LOOKS = 0.2  # at how far a command is
LINES_OF_LOG = 20  # that are shown of a command that failed

# Takes how many packages are ready, and how many there are.
Progress = Callable[[int, int], None]


def is_installed(package: Package) -> bool:
    """Whether an engine is installed with exactly what its manifest pins."""
    return installed_folder(package).is_dir()


def missing_tool(package: Package) -> str:
    """Return what the user must install before the package can be; empty if nothing is missing."""
    installer = INSTALLERS[package.registry]
    if shutil.which(installer.tool):
        return ""
    return f"the command {installer.tool} ({installer.comes_with})"


def install(name: str, package: Package, progress: Progress) -> Path:
    """Install an engine in the user's cache folder, and return its folder there.

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
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder.parent))
    except OSError as error:
        raise RefengineError(
            f"cannot write: {error.strerror}", rule="engine", place=str(folder.parent)
        ) from None
    try:
        _copy_manifest(package.manifest, draft)
        _run(installer, draft, log_path(name), progress)
        installer.finish(draft)
        with suppress(OSError):  # another process has finished the same work first
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def uninstall(package: Package) -> bool:
    """Remove an engine from the cache folder; return whether it was there."""
    folder = installed_folder(package)
    if not folder.is_dir():
        return False
    # Renamed first: an interrupt leaves no half of an engine under its name.
    condemned = Path(tempfile.mkdtemp(prefix=".removed-", dir=folder.parent))
    folder.rename(condemned / folder.name)
    shutil.rmtree(condemned)
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


def _run(installer: Installer, folder: Path, log: Path, progress: Progress) -> None:
    """Run the command of an installer in a folder, and tell how far it is. Raises RefengineError if
    it fails.
    """
    total = installer.count_packages(folder)
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            installer.command(folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(SECONDS_BETWEEN_LOOKS)
                ready = installer.count_ready(folder, log.read_text("utf-8", "replace"))
                progress(min(ready, total), total)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    if process.returncode:
        error = RefengineError(
            f"{installer.tool} ended with exit code {process.returncode}; all that it wrote: {log}",
            rule="engine",
            place=str(folder.name),
        )
        for line in log.read_text("utf-8", "replace").splitlines()[-LINES_OF_LOG:]:
            error.add_note(line)
        raise error
