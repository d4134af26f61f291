"""The reference engine: what a continuous RDF query means, computed exactly as SPEC.md says."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name is defined. They are imported when they are asked for: a command line
# answers before rdflib is there.
HOMES = {
    "model.compare": ("Mode", "difference", "equal"),
    "core.engine": ("Evaluation", "Held", "Plan", "Report", "evaluate", "evaluations", "plan"),
    "model.errors": (
        "Disputed",
        "InvalidQuery",
        "InvalidSemantics",
        "InvalidStream",
        "InvalidWindow",
        "NoSingleAnswer",
        "RefengineError",
        "Refused",
        "TooManyReports",
        "UnknownField",
        "Unsupported",
    ),
    "model.elements": (
        "Element",
        "Relation",
        "Stream",
        "literal",
        "parse_literal",
        "row",
        "stream",
    ),
    "core.query": ("Body", "Query", "Unit", "Window", "WindowKind", "from_table"),
    "core.profiles": ("PROFILES", "profile"),
    "core.semantics": ("UNKNOWN", "Between", "OneOf", "Profile", "Semantics"),
}
_HOME = {name: home for home, names in HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
