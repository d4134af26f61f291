"""The suite and ground truth over Spark: no semantics of its own (docs/scale.md).

For a Spark user `truth`, `judge` and `mismatch` are functions from DataFrames to a DataFrame.
Imports refengine, `bench`, `verdict`, `harness` and `suite`. Begin with `shard` for the suite,
`ground_truth` for ground truth and `judging` for judging recordings by it.

- The session and its jobs: `session`, `jobs`.
- The suite: `shard` spreads items, `folder` keeps their records; `sweep` is another job.
- Ground truth: `ground_truth` has `truth`. `part_plan` plans parts, `blocks` brings rows
  to them, `part_reports` computes them; `streaming` is the same for streams that do not end.
- Judging by it: `judging`, whose executors' part is `compared_rows`.
- The command `truth`: `truth_plan` and `truth_run`, which reads by `stored_stream` and judges by
  `truth_verdict`.
- RDF as formats of Spark: `formats`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.spark.formats.sources import register_formats
    from conformance.spark.ground_truth import truth
    from conformance.spark.judging import compare_reports, judge, mismatch

__all__ = ["compare_reports", "judge", "mismatch", "register_formats", "truth"]
PLACES = {
    "compare_reports": "judging",
    "judge": "judging",
    "mismatch": "judging",
    "register_formats": "formats.sources",
    "truth": "ground_truth",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, since it needs pyarrow, which may be missing."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{PLACES[name]}"), name)
