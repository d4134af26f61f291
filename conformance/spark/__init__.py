"""The suite and ground truth over Spark: no semantics of its own (docs/cluster.md).

For a Spark user `truth` is a function from DataFrame to DataFrame. Imports refengine, `metrics`,
`verdict`, `harness` and `suite`. Begin with `shard` for the suite and `ground_truth` for ground
truth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.spark.ground_truth import truth

__all__ = ["truth"]
PLACES = {"truth": "ground_truth"}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, since it needs pyarrow, which may be missing."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{PLACES[name]}"), name)
