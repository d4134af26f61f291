"""The suite: the items of a run, and what becomes of each. An item puts one case of the corpus, or
one query of a benchmark, to one engine.

Imports refengine and the packages `harness`, `corpus`, `verdict` and `benchmarks`. Begin with
`item`.
"""

from conformance.suite.check import NonConformance as NonConformance
from conformance.suite.check import check_engine as check_engine
from conformance.suite.check import is_judged as is_judged
from conformance.suite.check import why_unexpected as why_unexpected
from conformance.suite.chosen import ItemSelection as ItemSelection
from conformance.suite.harness_lines import HarnessLines as HarnessLines
from conformance.suite.item import Item as Item
from conformance.suite.item import SuiteOptions as SuiteOptions
from conformance.suite.item import items as items
from conformance.suite.item import late_result as late_result
from conformance.suite.item import live_items as live_items
from conformance.suite.item import questions as questions
from conformance.suite.item import recorded_items as recorded_items
from conformance.suite.summary import RunSummary as RunSummary
from conformance.suite.summary import describe_unjudged_engines as describe_unjudged_engines
from conformance.suite.summary import summarize_run as summarize_run
from conformance.suite.summary import write_entries as write_entries
