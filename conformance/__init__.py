"""Hold RDF stream engines against the reference engine: `check_engine` in one call, or `pytest
--pyargs conformance --engine=…`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.harness.engine_file import Engine
    from conformance.suite import NonConformance, check_engine
    from conformance.verdict.outcomes import judge_relations

__all__ = ["Engine", "NonConformance", "check_engine", "judge_relations"]
PLACES = {
    "Engine": "harness.engine_file",
    "NonConformance": "suite",
    "check_engine": "suite",
    "judge_relations": "verdict.outcomes",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, since every pytest run in the environment imports this
    package.
    """
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{PLACES[name]}"), name)
