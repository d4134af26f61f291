"""What a process that we start does first, so that it does not outlive us."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable
from functools import partial


def _die_with_parent() -> Callable[[], object] | None:
    """Return a function that a new process calls first; None on systems that have none.

    With it, the process asks Linux to be killed when the suite's process ends, so that no harness
    and no package manager is left behind.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    return partial(prctl, 1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG


DIE_WITH_PARENT = _die_with_parent()
