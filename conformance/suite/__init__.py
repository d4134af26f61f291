"""The suite: what an engine is asked, one item a case of the corpus or a query of a benchmark, and
what each becomes.

Imports refengine and the packages `harness`, `corpus`, `verdict` and `benchmarks`. Begin with
`item`.
"""

from conformance.suite.check import NonConformance as NonConformance
from conformance.suite.check import check_engine as check_engine
from conformance.suite.check import judged as judged
from conformance.suite.check import unexpected as unexpected
from conformance.suite.chosen import Chosen as Chosen
from conformance.suite.item import Asked as Asked
from conformance.suite.item import Item as Item
from conformance.suite.item import items as items
from conformance.suite.item import live as live
from conformance.suite.item import questions as questions
from conformance.suite.item import recorded as recorded
