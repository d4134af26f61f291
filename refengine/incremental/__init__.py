"""Incremental evaluation (docs/incremental.md, ENG-6, ENG-7): the reports of `core.engine`, each of
which costs what changed since the one before. `core.engine` is the reference; this package is held
to it, and leaves to it what is not covered (`coverage.NotCovered`).

Imports `model`, `sparql` and `core`. Begin with `engine.evaluate_incrementally`, which puts three
things together; the modules in reading order:

1. *When* is the query evaluated? `schedule`, with fast paths for one window.
2. *What* is the answer? `maintained` has the answers of a run, and below them what follows the
   contents from one evaluation to the next: `algebra` is the query's body, which turns elements
   into rows that come and go.
3. From which streams? From whole ones, or from one that is read meanwhile: `arrival_buffer`.

Two other uses of the same answers: `answer_cache` is for the oracle, which asks for contents in any
order, and `parts` evaluates a part of the streams by itself.
"""

from refengine.core.reports import Contents as Contents
from refengine.incremental.answer_cache import AnswerCache as AnswerCache
from refengine.incremental.answer_cache import cached_steps as cached_steps
from refengine.incremental.engine import IncrementalRun as IncrementalRun
from refengine.incremental.engine import evaluate_incrementally as evaluate
from refengine.incremental.engine import evaluate_plan as evaluate_plan
from refengine.incremental.maintained import ContentFollower as ContentFollower
from refengine.incremental.maintained import MaintainedWhileCovered as MaintainedWhileCovered
from refengine.incremental.maintained import Provenance as Provenance
from refengine.incremental.schedule import QuietStretch as QuietStretch
from refengine.incremental.schedule import schedule_evaluations as schedule_evaluations
from refengine.incremental.schedule import schedule_groups as schedule_groups

__all__ = [
    "AnswerCache",
    "ContentFollower",
    "Contents",
    "IncrementalRun",
    "MaintainedWhileCovered",
    "Provenance",
    "QuietStretch",
    "cached_steps",
    "evaluate",
    "evaluate_plan",
    "schedule_evaluations",
    "schedule_groups",
]
