"""Arrival orders that were not recorded: which outputs simultaneous elements can give (SPEC.md §11,
ORA-4 to ORA-7).

Imports `model`, `core`, `incremental`, and of the oracle what trials are made of. Begin with
`search.search_orders`. It goes through `moments`, asks `sums` for the sum of an instant's outputs,
and `realisation` whether they can come one after the other.
"""

from refengine.oracle.orders.realisation import are_realisable as are_realisable
from refengine.oracle.orders.search import order_matters as order_matters
from refengine.oracle.orders.search import search_class_orders as search_class_orders
from refengine.oracle.orders.search import search_orders as search_orders
from refengine.oracle.orders.sums import sum_instant_outputs as sum_instant_outputs
