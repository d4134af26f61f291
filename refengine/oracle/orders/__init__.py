"""Arrival orders that were not recorded (docs/judging.md, ORA-4 to ORA-7): whether some order of
simultaneous elements gives the recorded outputs.

n elements at one instant can arrive in n! orders, and each order gives other outputs inside the
instant. The answer after all of them is the same, though, so instants can be looked at one after
the other. Our search goes like this:

1. `search.order_matters` says whether the order can show at all. If not, the file's order will do.
2. `groups.group_evaluations` cuts the schedule into groups: the evaluations of one instant that see
   only some of its elements belong together, and every other evaluation is a group of its own.
3. `search.search_orders` goes from group to group. It keeps the states in which some order explains
   the relations so far (`trial.State`), and the answer that the next output is compared with.
4. For a monotone query the outputs of an instant have the same sum in every order
   (`sums.find_fixed_sum`). Then `realisation.states_after_outputs` cuts that sum into the next
   recorded relations, and `realisation.are_realisable` says whether the elements can arrive so
   that they come one after the other.
5. For every other query `search.search_class_orders` goes through the sets of elements that can
   have arrived. It treats elements alike that are in the same derivations.
6. Semantics, queries and data for which `search.find_obstacle` names an obstacle are not searched.
   They raise Unsupported, and so does a search beyond its bound; it never guesses.

Imports `model`, `core`, `incremental`, and of the oracle what trials are made of. Begin with
`search.search_orders`.
"""

from refengine.oracle.orders.groups import EvaluationGroup, OrderSearch, group_evaluations
from refengine.oracle.orders.realisation import are_realisable
from refengine.oracle.orders.search import (
    GroupResult,
    find_obstacle,
    order_matters,
    order_of_simultaneous_matters,
    search_class_orders,
    search_groups,
    search_orders,
)
from refengine.oracle.orders.sums import sum_instant_outputs

__all__ = [
    "EvaluationGroup",
    "GroupResult",
    "OrderSearch",
    "are_realisable",
    "find_obstacle",
    "group_evaluations",
    "order_matters",
    "order_of_simultaneous_matters",
    "search_class_orders",
    "search_groups",
    "search_orders",
    "sum_instant_outputs",
]
