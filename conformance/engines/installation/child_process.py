"""What a process that we start does first, so that it does not outlive us; and how one ended."""

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


def describe_exit(code: int) -> str:
    """Return in words how a process ended, from the return code that Python gives.

    >>> describe_exit(3), describe_exit(-9)
    ('with exit code 3', 'by signal 9')
    """
    if code < 0:
        return f"by signal {-code}"
    return f"with exit code {code}"
