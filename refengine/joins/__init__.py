"""Joins over windows whose duration adapts to the rate (SPEC.md §15): RMLStreamer's dynamic window,
and tumbling, sliding and other fixed windows as kinds of the same join.

Imports `model` and `core`. Begin with `window.JoinWindow`, the value that has every choice; then

1. `records`: the two streams and their watermarks;
2. `adaptation`: what an eviction makes of a window's duration, and of how many records its two
   lists are expected to hold;
3. `join.WindowJoin`: the join, to which records are pushed;
4. `definition.windows_by_enumeration`: the same windows by enumeration, to which tests hold it.

`profiles` has the windows by name: five published, and two of ours for comparison.
"""

from refengine.adaptive.definition import matches_by_enumeration as matches_by_enumeration
from refengine.adaptive.join import Eviction as Eviction
from refengine.adaptive.join import Match as Match
from refengine.adaptive.join import WindowJoin as WindowJoin
from refengine.adaptive.join import find_evictions as find_evictions
from refengine.adaptive.join import find_matches as find_matches
from refengine.adaptive.profiles import JOIN_PROFILES as JOIN_PROFILES
from refengine.adaptive.profiles import join_window as join_window
from refengine.adaptive.records import JoinRecord as JoinRecord
from refengine.adaptive.records import Side as Side
from refengine.adaptive.records import Watermark as Watermark
from refengine.adaptive.records import with_watermarks as with_watermarks
from refengine.adaptive.window import Adaptation as Adaptation
from refengine.adaptive.window import JoinWindow as JoinWindow
