"""Two operators beside the continuous query, which join streams: one whose memory is bounded, as
CLOCK's (docs/joins.md §14), and one over windows whose duration adapts to the rate, as
RMLStreamer's (§15).

Imports `model`, `sparql` and `core`. Begin with `bounded_join` or with `adaptive_join`: elements
or records are pushed to it, and results come out. Both are held to a literal definition, in
`bounded_definition` and `adaptive_definition`.

Bounded memory, in reading order: `query` says which join a continuous query means; `inputs` reads
its bindings; `memory` stores them, and `plans` says how they are found; `policies` says which
binding makes room for a new one, and `shedding` which elements are dropped; `resource_texts` reads
both from a text; `measures` compares what was found with what there is.

Adaptive windows, in reading order: `window.JoinWindow` is the value that has every choice;
`records` has the two streams and their watermarks; `adaptation` what an eviction makes of a
window's duration; `join_profiles` the windows by name.
"""

from refengine.joins.adaptive_definition import matches_by_enumeration as matches_by_enumeration
from refengine.joins.adaptive_join import Eviction as Eviction
from refengine.joins.adaptive_join import Match as Match
from refengine.joins.adaptive_join import WindowJoin as WindowJoin
from refengine.joins.adaptive_join import find_evictions as find_evictions
from refengine.joins.adaptive_join import find_matches as find_matches
from refengine.joins.bounded_join import UNLIMITED as UNLIMITED
from refengine.joins.bounded_join import BoundedJoin as BoundedJoin
from refengine.joins.bounded_join import Resources as Resources
from refengine.joins.bounded_join import run_join as run_join
from refengine.joins.inputs import Binding as Binding
from refengine.joins.inputs import BoundedQuery as BoundedQuery
from refengine.joins.join_profiles import JOIN_PROFILES as JOIN_PROFILES
from refengine.joins.join_profiles import join_window as join_window
from refengine.joins.query import Selection as Selection
from refengine.joins.query import bounded_query as bounded_query
from refengine.joins.records import JoinRecord as JoinRecord
from refengine.joins.records import Side as Side
from refengine.joins.records import Watermark as Watermark
from refengine.joins.records import with_watermarks as with_watermarks
from refengine.joins.window import Adaptation as Adaptation
from refengine.joins.window import JoinWindow as JoinWindow
