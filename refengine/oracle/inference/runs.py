"""The evaluations of one plan, with all combinations of the values that only R2S and the answers
read: the contents, and the answers over them, are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from refengine.core import tick, window
from refengine.core.answers import RecomputedAnswers, recomputed_answers
from refengine.core.evaluations import evaluations
from refengine.core.plan import Plan, plan_without_end, sentinel, with_end, with_sentinel
from refengine.core.query import Query
from refengine.core.reports import ReportMaker
from refengine.core.schedule import Evaluation
from refengine.core.semantics import Semantics
from refengine.core.values import (
    R2S,
    Base,
    ChangeBaseline,
    ChangeScope,
    Collection,
    Condition,
    Empty,
    End,
)
from refengine.core.window import Content
from refengine.incremental import AnswerCache
from refengine.incremental.schedule import schedule_with_late_end
from refengine.model.elements import Relation
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.inference.semantics_set import ALL_GROUPS, PLACES, Block
from refengine.oracle.trial import RecordingToJudge

# the fields that only R2S and the answers read
OUTPUT_FIELDS = ("r2s", "base", "empty", "collection")


class FixedT0Needed(Exception):
    """Something needs t0 as an integer that does not move."""


class Effect(NamedTuple):
    """What of the values of the output fields matters to a query, which may state the operator
    (R2S-6).
    """

    applied: R2S
    base: Base | None
    empty: Empty
    collection: Collection

    @property
    def is_silent(self) -> bool:
        """Whether nothing is sent of an answer that is as the one before."""
        return not self.applied.emits_whole_answers and self.empty.is_never

    @staticmethod
    def of(values: Mapping[str, Any], query: Query) -> Effect:
        """Return what matters of some values."""
        applied = query.r2s or values["r2s"]
        base = values["base"] if applied.needs_base else None
        return Effect(applied, base, values["empty"], values["collection"])

    def part_of(self, block: Block, query: Query) -> Block | None:
        """Return the part of a block with these values; None if it is empty."""
        part = block.where("empty", (self.empty,))
        part = part and part.where("collection", (self.collection,))
        if query.r2s is None:
            part = part and part.where("r2s", (self.applied,))
        if self.base is not None:
            part = part and part.where("base", (self.base,))
        return part


def effects(block: Block, query: Query) -> dict[Effect, dict[str, Any]]:
    """Return the combinations of values of the output fields, one for each effect."""
    groups = sorted({PLACES[name][0] for name in OUTPUT_FIELDS})
    found: dict[Effect, dict[str, Any]] = {}
    for shapes in product(*(block.shapes[number] for number in groups)):
        values = {
            name: value
            for number, shape in zip(groups, shapes, strict=True)
            for name, value in zip(ALL_GROUPS[number], shape, strict=True)
        }
        found.setdefault(Effect.of(values, query), values)
    return found


def plan_of(recorded: RecordingToJudge, semantics: Semantics, answers: SharedAnswers) -> Plan:
    """Return the plan of a semantics, without its end. Raises InvalidSemantics and InvalidStream
    if it contradicts the stream.
    """
    planned = plan_without_end(recorded.query, recorded.streams, semantics)
    if semantics.tick.needs_batches:
        for arrival in planned.arrivals:
            tick.batch_id(arrival)
    return answers.with_shared_elements(planned, recorded.query)


def maker_of(
    recorded: RecordingToJudge,
    planned: Plan,
    semantics: Semantics,
    answers: SharedAnswers,
    *,
    is_incremental: bool,
) -> ReportMaker:
    """Return what makes the reports of a plan with the output fields of a semantics. Its steps
    raise NotCovered for what incremental evaluation does not cover, if it is asked for.
    """
    query = recorded.query
    planned = replace(planned, semantics=semantics)
    cache = answers.incremental_answers(recorded, planned) if is_incremental else ""
    if isinstance(cache, AnswerCache):
        return ReportMaker(query, planned, RecomputedAnswers(query, planned, _lookup(query, cache)))
    recomputed = recomputed_answers(query, planned, recorded.static, answers)
    return ReportMaker(query, planned, recomputed)


def _lookup(query: Query, cache: AnswerCache) -> Callable[[tuple[Content, ...], str], Relation]:
    variables = query.body.variables
    return lambda contents, name: Relation(variables, cache(contents))


def by_schedule(
    planned: Plan, every: Mapping[Effect, Semantics]
) -> Iterator[tuple[Plan, dict[Effect, Semantics]]]:
    """Yield a plan with the effects, and their semantics, that are followed over its evaluations.

    An effect that is silent sends nothing of an answer that is as the one before. So, where every
    instant with elements is evaluated, it answers as if contents that changed alone were.
    """
    silent = {}
    is_one_window = planned.has_one_window and not planned.tuples
    is_active = not planned.semantics.reported_windows.is_every
    if is_one_window and is_active and planned.semantics.report == {Condition.NON_EMPTY}:
        silent = {one: semantics for one, semantics in every.items() if one.is_silent}
    others = {one: semantics for one, semantics in every.items() if one not in silent}
    if silent:
        changing = {
            "report": frozenset({Condition.NON_EMPTY, Condition.CHANGE}),
            "change_baseline": ChangeBaseline.LAST,
            "change_scope": ChangeScope.ELEMENTS,
        }
        changed = replace(planned, semantics=planned.semantics.with_values(**changing))
        yield changed, {one: its.with_values(**changing) for one, its in silent.items()}
    if others:
        yield planned, others


def evaluations_as_far_as(planned: Plan, answers: SharedAnswers) -> Iterator[Evaluation]:
    """Yield the evaluations of a plan without its end. What follows the last arrival is added when
    it is reached, so that the horizon is read no earlier. Raises FixedT0Needed if it depends on a
    t0 that moves.
    """
    is_keyed = planned.views[0].spec.is_keyed
    if planned.semantics.reported_windows.is_every or is_keyed:
        return evaluations(with_shared_end(planned, answers))
    return schedule_with_late_end(planned, lambda of_all: with_shared_end(of_all, answers))


def with_shared_end(planned: Plan, answers: SharedAnswers) -> Plan:
    """Return a plan with its end, which is found once for all plans over the same arrivals. Raises
    FixedT0Needed if it depends on a t0 that moves.
    """
    horizon = planned.semantics.horizon
    if isinstance(horizon, End) and horizon.depends_on_windows:
        if any(type(view.t0) not in (int, type(None)) for view in planned.views):
            raise FixedT0Needed
        return with_end(planned)
    stays = tuple(window.longest_stay(view.spec) for view in planned.views)
    final = answers.make_once(
        "sentinel",
        [planned.arrivals, planned.late],
        (horizon, stays),
        lambda: sentinel(planned.views, planned.arrivals, planned.late, planned.semantics),
    )
    return with_sentinel(planned, final)
