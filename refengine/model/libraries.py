"""Other people's libraries: what brings one that is not there, which versions are wanted, and their
warnings, which reach neither verdicts nor users.
"""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata, util
from pathlib import Path

# What is installed with refengine, by the name of the module: as pyproject.toml has it. Without
# pyoxigraph, which is compiled, it runs with one witness less.
REQUIREMENTS = {
    "lark": "lark>=1.2,<2",
    "pyoxigraph": "pyoxigraph>=0.5,<0.6",
    "rdflib": "rdflib>=7.6,<8",
    "sortedcontainers": "sortedcontainers>=2.4,<3",
}
# What some commands and formats need besides, and the extras that bring it.
EXTRAS = {
    **dict.fromkeys(
        (
            "hypothesis",
            "jinja2",
            "jsonschema",
            "markupsafe",
            "platformdirs",
            "psutil",
            "pytest",
            "tqdm",
        ),
        "suite",
    ),
    **dict.fromkeys(("grpc", "numpy", "pandas", "pyarrow", "pyspark"), "suite,spark"),
    "pyjelly": "jelly",
    "shtab": "completion",
    "zstandard": "zst",
}
# ResourceWarning is not among them: a file that is not closed may be ours.
WARNINGS = (
    DeprecationWarning,
    FutureWarning,
    ImportWarning,
    PendingDeprecationWarning,
    RuntimeWarning,
    SyntaxWarning,
    UnicodeWarning,
    UserWarning,
)
_LOCK = threading.RLock()


class HiddenPackage(ModuleNotFoundError):
    """A package of ours cannot be imported, since another one has its name."""


def say_not_installed(module: str) -> str:
    """Return the sentence that a library is not installed, and how to install it."""
    wanted = REQUIREMENTS.get(module)
    if wanted is None:
        wanted = f"refengine[{EXTRAS[module]}]" if module in EXTRAS else module
    return f"{module} is not installed: pip install '{wanted}'"


def explain_missing(error: ModuleNotFoundError) -> str | None:
    """Return the sentence that names the library that an error misses; None if it is none of those
    that we use.
    """
    if isinstance(error, HiddenPackage):
        return str(error)
    module = (error.name or "").partition(".")[0]
    if module not in REQUIREMENTS and module not in EXTRAS:
        return None
    return say_not_installed(module)


@cache
def why_unusable(module: str) -> str | None:
    """Return why a required library cannot be used: it is not installed, or in a version that is
    not wanted. None if it can be. It is not imported.
    """
    if not _is_there(module):
        return say_not_installed(module)
    wanted = REQUIREMENTS[module]
    name = re.split("[<>=]", wanted, maxsplit=1)[0]
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return None  # it was put on the path, and says nothing of its version
    if is_within(version, wanted):
        return None
    return f"{name} {version} is installed, which is not {wanted}: pip install '{wanted}'"


def _is_there(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    return util.find_spec(module) is not None


def folders_of(package: str) -> list[Path]:
    """Return the folders of a package; none if it is not there, or is a module."""
    spec = util.find_spec(package)
    if spec is None:
        return []
    return list(map(Path, spec.submodule_search_locations or ()))


def why_shadowed(module: str) -> str | None:
    """Return why a module of ours, `package.room`, cannot be imported: the package of its name is
    another one, or none is there. None if it can be. Nothing is imported.
    """
    package, room = module.split(".")
    if any((folder / room).is_dir() for folder in folders_of(package)):
        return None
    spec = util.find_spec(package)
    if spec is None:
        return f"the package {package}, which refengine brings, is not installed"
    places = [spec.origin, *(spec.submodule_search_locations or ())]
    place = next(filter(None, places), "somewhere")
    return (
        f"{package} is here another package, {place}, and hides the suite that refengine brings: "
        "run this in another folder, or in an environment without it"
    )


def is_within(version: str, requirement: str) -> bool:
    """Return whether a version is one of a requirement such as `rdflib>=7.6,<8`."""
    found = _numbers(version)
    for sign, bound in re.findall(r"(>=|<)([0-9.]+)", requirement):
        if (found < _numbers(bound)) != (sign == "<"):
            return False
    return True


def _numbers(version: str) -> list[int]:
    """Return the numbers that a version begins with: [7, 6] of `7.6.0rc1`, without zeros behind."""
    start = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    numbers = list(map(int, start[0].split("."))) if start else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore what libraries warn of until the context ends, even where Python is asked to raise
    warnings as errors.

    The filters belong to the process, so that one thread at a time is in such a context.
    """
    with _LOCK, ignoring_warnings():
        yield


@contextmanager
def ignoring_warnings() -> Iterator[None]:
    """Do what `without_warnings` does for a whole command: other threads may be in contexts of
    their own meanwhile, as long as they leave them before this one ends.
    """
    with warnings.catch_warnings():
        for category in WARNINGS:
            warnings.simplefilter("ignore", category)
        yield


@contextmanager
def keeping_lexical_forms() -> Iterator[None]:
    """Keep rdflib from writing literals in another form until the context ends: its setting belongs
    to the process, so that one thread at a time is in such a context.
    """
    import rdflib

    with _LOCK:
        before, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS = before
