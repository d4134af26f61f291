"""§14 Joins with bounded memory: which results are found by a join that may hold M bindings only.

Imports model, sparql and core. Begin with `query`, which says what is joined, and `join`, which
joins. `policies` says which binding makes room for a new one, and `shedding` which elements are
dropped. `definition` computes the same from the words of SPEC.md, slowly, and `measures` compares
what was found with what there is.
"""

from refengine.bounded.inputs import Binding as Binding
from refengine.bounded.inputs import BoundedQuery as BoundedQuery
from refengine.bounded.join import UNLIMITED as UNLIMITED
from refengine.bounded.join import BoundedJoin as BoundedJoin
from refengine.bounded.join import Resources as Resources
from refengine.bounded.join import run_join as run_join
from refengine.bounded.query import Selection as Selection
from refengine.bounded.query import bounded_query as bounded_query
