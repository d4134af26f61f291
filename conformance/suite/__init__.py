"""The suite: what an engine is asked, one item a case of the corpus or a query of a benchmark, and
what each becomes.

Imports refengine and the packages `harness`, `corpus`, `verdict` and `benchmarks`. Begin with
`item`.
"""

from conformance.suite.item import Asked as Asked
from conformance.suite.item import Chosen as Chosen
from conformance.suite.item import Item as Item
from conformance.suite.item import NonConformance as NonConformance
from conformance.suite.item import check_engine as check_engine
from conformance.suite.item import items as items
from conformance.suite.item import judged as judged
from conformance.suite.item import live as live
from conformance.suite.item import questions as questions
from conformance.suite.item import recorded as recorded
from conformance.suite.item import unexpected as unexpected
