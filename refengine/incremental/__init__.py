"""Incremental evaluation (SPEC.md §9, ENG-6 and ENG-7): the reports of `core.engine`, each of which
costs what changed since the last.

Imports `model`, `sparql` and `core`. Begin with `engine.evaluate`, then `algebra`, which keeps an
answer up to date.
"""

from refengine.incremental.engine import Asked as Asked
from refengine.incremental.engine import Contents as Contents
from refengine.incremental.engine import Moving as Moving
from refengine.incremental.engine import Provenance as Provenance
from refengine.incremental.engine import Run as Run
from refengine.incremental.engine import Together as Together
from refengine.incremental.engine import evaluate as evaluate
from refengine.incremental.engine import evaluations as evaluations
from refengine.incremental.engine import looked_up as looked_up
from refengine.incremental.engine import run as run
from refengine.incremental.engine import stretches as stretches
