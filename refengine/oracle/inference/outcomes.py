"""What the members of a set answer to a question: which of them answer alike, and which question
parts them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from refengine.core.plan import Plan
from refengine.core.question import Question
from refengine.core.reports import ReportMaker
from refengine.core.semantics import Semantics
from refengine.incremental.coverage import NotCovered
from refengine.model import compare
from refengine.model.elements import Bag, Relation
from refengine.model.errors import (
    InvalidSemantics,
    InvalidStream,
    RefengineError,
    TooManyReports,
)
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.beginnings import is_range
from refengine.oracle.inference.choices import Choices, run_for_each
from refengine.oracle.inference.representatives import representatives
from refengine.oracle.inference.runs import (
    Effect,
    by_schedule,
    effects,
    evaluations_as_far_as,
    maker_of,
    plan_of,
)
from refengine.oracle.inference.semantics_set import Block, SemanticsSet
from refengine.oracle.trial import RecordingToJudge

MOST_REPORTS = 10_000  # of one member, unless another bound is given


class Outcome(NamedTuple):
    """What some members of a set answer: the `relations` of their reports, or None if a member
    means nothing with the question, or gives too many reports.
    """

    relations: tuple[Relation, ...] | None
    semantics: SemanticsSet


def outcomes(
    candidates: SemanticsSet,
    question: Question,
    answers: SharedAnswers | None = None,
    most_reports: int = MOST_REPORTS,
) -> list[Outcome]:
    """Return what the members of a set answer to a question: an outcome for each sequence of
    relations, compared by value, and one for those that mean nothing. The arrival order is that of
    the streams. Raises RefengineError if t0 is open in a member.
    """
    for value in candidates.values("t0"):
        if is_range(value):
            reason = f"t0 is open, {value}; keep to integers, policies and formulas"
            raise RefengineError(reason, rule="ORA-2", place="candidates")
    blocks: dict[Hashable, list[Block]] = {}
    relations: dict[Hashable, tuple[Relation, ...] | None] = {}
    for block, found in _outcomes_of_parts(
        candidates, RecordingToJudge.of(question, ()), answers or SharedAnswers(), most_reports
    ):
        key = None if found is None else tuple(_key(relation.rows) for relation in found)
        blocks.setdefault(key, []).append(block)
        relations[key] = found
    apart = [Outcome(relations[key], SemanticsSet.of(of_key)) for key, of_key in blocks.items()]
    return _joined_by_value(apart)


def _key(rows: Bag) -> frozenset[tuple[object, int]]:
    return frozenset(rows.items())


def _joined_by_value(apart: Sequence[Outcome]) -> list[Outcome]:
    """Join outcomes whose relations differ as terms, and are equal by value."""
    joined: list[Outcome] = []
    for one in apart:
        for place, other in enumerate(joined):
            if are_alike(one.relations, other.relations):
                joined[place] = other._replace(semantics=other.semantics | one.semantics)
                break
        else:
            joined.append(one)
    return joined


def are_alike(one: Sequence[Relation] | None, other: Sequence[Relation] | None) -> bool:
    """Return whether two sequences of relations are equal, by value."""
    if one is None or other is None:
        return one is other
    return len(one) == len(other) and all(
        compare.equal(first.rows, second.rows) for first, second in zip(one, other, strict=True)
    )


def _outcomes_of_parts(
    candidates: SemanticsSet, recorded: RecordingToJudge, answers: SharedAnswers, most: int
) -> Iterator[tuple[Block, tuple[Relation, ...] | None]]:
    """Yield what each part of a set answers."""
    represent = representatives(recorded.question)

    def plan(choices: Choices) -> Plan | None:
        try:
            return plan_of(recorded, choices.semantics, answers)
        except (InvalidSemantics, InvalidStream):
            return None

    for block in candidates.blocks:
        asked = represent.asked(block, recorded.query)
        rest = [block]
        for one in asked:
            restored = represent.restored(one, block)
            rest = [left for part in rest for left in part.minus(restored)]
        for left in rest:
            yield left, None
        for part, planned in run_for_each(asked, plan):
            if planned is None:
                yield represent.restored(part, block), None
                continue
            for smaller, found in _answer_all(part, planned, recorded, answers, most):
                yield represent.restored(smaller, block), found


def _answer_all(
    part: Block, planned: Plan, recorded: RecordingToJudge, answers: SharedAnswers, most: int
) -> Iterator[tuple[Block, tuple[Relation, ...] | None]]:
    """Yield what the members that share a plan answer."""

    def run(choices: Choices) -> Mapping[Effect, tuple[Relation, ...]] | None:
        begun = replace(planned, semantics=choices.semantics)
        every = {
            effect: begun.semantics.with_values(**values)
            for effect, values in effects(choices.block, recorded.query).items()
        }
        found: dict[Effect, tuple[Relation, ...]] = {}
        try:
            for scheduled, effects_of_it in by_schedule(begun, every):
                asked = (scheduled, effects_of_it, recorded, answers, most)
                try:
                    found |= _relations(*asked, is_incremental=True)
                except NotCovered:
                    found |= _relations(*asked, is_incremental=False)
        except (InvalidSemantics, InvalidStream, TooManyReports):
            return None
        return found

    for smaller, found in run_for_each([part], run):
        if found is None:
            yield smaller, None
            continue
        for effect, relations in found.items():
            if answering := effect.part_of(smaller, recorded.query):
                yield answering, relations


def _relations(
    planned: Plan,
    every: Mapping[Effect, Semantics],
    recorded: RecordingToJudge,
    answers: SharedAnswers,
    most: int,
    *,
    is_incremental: bool,
) -> Mapping[Effect, tuple[Relation, ...]]:
    """Return the relations of the reports of a plan, with each of some effects. Raises NotCovered,
    and TooManyReports for more than `most` evaluations.
    """
    makers: dict[Effect, ReportMaker] = {
        effect: maker_of(recorded, planned, semantics, answers, is_incremental=is_incremental)
        for effect, semantics in every.items()
    }
    relations: dict[Effect, list[Relation]] = {effect: [] for effect in makers}
    evaluated = answers.look_at_each(evaluations_as_far_as(planned, answers))
    for number, at in enumerate(evaluated):
        if number == most:
            raise TooManyReports(f"more than {most} evaluations", rule="ENG-3")
        for effect, maker in makers.items():
            step = maker.step(at)
            if step.emitted:
                relations[effect].append(step.relation)
    return {effect: tuple(found) for effect, found in relations.items()}
