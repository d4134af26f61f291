"""Incremental evaluation (SPEC.md §9, ENG-6 and ENG-7): the reports of `core.engine`, each of which
costs what changed since the last.

Imports `model`, `sparql` and `core`. Begin with `engine.evaluate`, then `algebra`, which keeps an
answer up to date.
"""

from refengine.core.reports import Contents as Contents
from refengine.incremental.content_cache import Asked as Asked
from refengine.incremental.content_cache import looked_up as looked_up
from refengine.incremental.engine import Provenance as Provenance
from refengine.incremental.engine import Run as Run
from refengine.incremental.engine import evaluate as evaluate
from refengine.incremental.engine import run as run
from refengine.incremental.maintained import MaintainedWhileCovered as MaintainedWhileCovered
from refengine.incremental.maintained import Moving as Moving
from refengine.incremental.schedule import Together as Together
from refengine.incremental.schedule import evaluations as evaluations
from refengine.incremental.schedule import stretches as stretches
