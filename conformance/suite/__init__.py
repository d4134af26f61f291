"""The suite: the items of a run, and what becomes of each. An item puts one case of the corpus, or
one query of a benchmark, to one engine.

Imports refengine and the packages `harness`, `corpus`, `verdict` and
`bench.recordings`. Begin with `item`.
"""

from conformance.suite.check import NonConformance, check_engine, is_judged, why_unexpected
from conformance.suite.item import (
    Item,
    ItemSelection,
    items,
    late_result,
    live_items,
    questions,
    recorded_items,
)
from conformance.suite.replay import HarnessLines
from conformance.suite.suite_options import SuiteOptions
from conformance.suite.summary import (
    RunSummary,
    describe_unjudged_engines,
    summarize_run,
    write_entries,
)

__all__ = [
    "HarnessLines",
    "Item",
    "ItemSelection",
    "NonConformance",
    "RunSummary",
    "SuiteOptions",
    "check_engine",
    "describe_unjudged_engines",
    "is_judged",
    "items",
    "late_result",
    "live_items",
    "questions",
    "recorded_items",
    "summarize_run",
    "why_unexpected",
    "write_entries",
]
