"""Incremental evaluation (SPEC.md §9, ENG-6 and ENG-7): the reports of `core.engine`, each of which
costs what changed since the last.

Imports `model`, `sparql` and `core`. Begin with `engine.evaluate_incrementally`, then `algebra`,
which keeps an answer up to date.
"""

from refengine.core.reports import Contents as Contents
from refengine.incremental.answer_cache import AnswerCache as AnswerCache
from refengine.incremental.answer_cache import cached_steps as cached_steps
from refengine.incremental.content_follower import ContentFollower as ContentFollower
from refengine.incremental.engine import IncrementalRun as IncrementalRun
from refengine.incremental.engine import Provenance as Provenance
from refengine.incremental.engine import evaluate_incrementally as evaluate
from refengine.incremental.engine import evaluate_plan as evaluate_plan
from refengine.incremental.maintained import MaintainedWhileCovered as MaintainedWhileCovered
from refengine.incremental.schedule import schedule_evaluations as schedule_evaluations
from refengine.incremental.schedule import schedule_stretches as schedule_stretches
from refengine.incremental.time_windows import SimultaneousEvaluations as SimultaneousEvaluations

__all__ = [
    "AnswerCache",
    "ContentFollower",
    "Contents",
    "IncrementalRun",
    "MaintainedWhileCovered",
    "Provenance",
    "SimultaneousEvaluations",
    "cached_steps",
    "evaluate",
    "evaluate_plan",
    "schedule_evaluations",
    "schedule_stretches",
]
