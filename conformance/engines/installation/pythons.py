"""The Python that runs a package of PyPI: that of the suite, or another one on the path if the
package is not for that.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache

from conformance.engines.installation.source import Package

OURS = f"{sys.version_info.major}.{sys.version_info.minor}"
SECONDS = 30  # in which a Python says that it can be started


def find_version(package: Package) -> str:
    """Return the version of the Python that runs a package, such as `3.12`. It is empty if the
    package names those that it is for, and none of them is there.
    """
    if not package.pythons or OURS in package.pythons:
        return OURS
    return next((one for one in package.pythons if is_python(f"python{one}")), "")


def find_python(package: Package) -> str:
    """Return the path of the Python that runs a package; empty if there is none."""
    version = find_version(package)
    return sys.executable if version == OURS else shutil.which(f"python{version}") or ""


@cache
def is_python(command: str) -> bool:
    """Whether a command starts a Python. A version manager may have put one on the path that only
    says that no such Python is chosen.
    """
    try:
        ended = subprocess.run([command, "-c", ""], capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def describe_pythons(package: Package) -> str:
    """Return in words which Pythons a package is for.

    >>> from pathlib import Path
    >>> from conformance.engines.installation.source import Registry
    >>> describe_pythons(Package(Registry.PYPI, "1", "MIT", Path(), ("3.11", "3.12")))
    'Python 3.11 or 3.12 on the path'
    """
    return f"Python {' or '.join(package.pythons)} on the path"
