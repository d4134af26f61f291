"""The reference engine: what a continuous RDF query means, computed exactly as SPEC.md says."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for what checks types
    from refengine import dialects as dialects
    from refengine import incremental as incremental
    from refengine import joins as joins
    from refengine import sparql as sparql
    from refengine import strategies as strategies
    from refengine import testing as testing
    from refengine.public import *  # noqa: F403

    __version__: str

# The packages that are public as they are, without those that need Hypothesis
PACKAGES = ("dialects", "incremental", "joins", "sparql")
FOR_TESTS = ("strategies", "testing")
# Old names of `joins`, which warn when they are imported
OLD_NAMES = ("adaptive", "bounded")


if not TYPE_CHECKING:  # to which every name would be there

    def __getattr__(name: str) -> Any:
        if name in (*PACKAGES, *FOR_TESTS, *OLD_NAMES):
            return import_module(f"{__name__}.{name}")
        if name == "__version__":
            return _version()
        if name == "__all__":
            return sorted([*_public_names(), *PACKAGES, "__version__"])
        # `from refengine import cli` asks here first: a module is then imported by itself
        is_public = not name.startswith("_") and find_spec(f"{__name__}.{name}") is None
        if not is_public or name not in _public_names():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = _public_names()[name]  # so that this is asked once
        return globals()[name]


def __dir__() -> list[str]:
    return sorted([*_public_names(), *PACKAGES, *FOR_TESTS, "__version__"])


def _public_names() -> dict[str, Any]:
    """Return the public names with their values. They are not imported with the package: a command
    line answers before they are there.
    """
    found = vars(import_module(f"{__name__}.public"))
    return {name: value for name, value in found.items() if not name.startswith("_")}


def _version() -> str:
    """Return the version that is installed; `unknown` where the package is not installed."""
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version("refengine"))
    except metadata.PackageNotFoundError:
        return "unknown"
