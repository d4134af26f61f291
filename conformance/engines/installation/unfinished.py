"""Folders for work that is not finished: each is locked while its process lives, so that those of
processes that were killed are found and removed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = ".unfinished-"


@contextmanager
def unfinished_folder(parent: Path) -> Iterator[Path]:
    """Make a folder in `parent`, and remove it at the end if it is still there. Those that killed
    processes have left in `parent` are removed first. Raises OSError.
    """
    with ExitStack() as lock_of_folder:
        with _lock(parent):  # nobody takes the new folder for abandoned before it is locked
            remove_abandoned(parent)
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            lock_of_folder.enter_context(_lock(folder))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path) -> None:
    """Remove the unfinished folders that killed processes have left. Nothing is removed on systems
    without such locks.
    """
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError), _lock(folder, waits=False) as is_ours:
            if is_ours:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _lock(folder: Path, waits: bool = True) -> Iterator[bool]:
    """Hold the lock of a folder, which ends with the process; give whether it is held. If it
    `waits`, another holder is waited for, and otherwise BlockingIOError is raised.
    """
    if sys.platform == "win32":
        yield False
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        flags = fcntl.LOCK_EX
        if not waits:
            flags |= fcntl.LOCK_NB
        try:
            fcntl.flock(descriptor, flags)
            is_held = True
        except BlockingIOError:
            raise
        except OSError:  # a file system without locks
            is_held = False
        yield is_held
    finally:
        os.close(descriptor)
