"""§11 What witnesses say of the answers that a verdict rests on (ORA-8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from refengine import incremental
from refengine.core import engine, r2r, window
from refengine.incremental import AnswerCache
from refengine.incremental.coverage import NotCovered
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Dataset, Relation
from refengine.model.errors import Disputed
from refengine.oracle import derivations
from refengine.oracle.answers import Answers
from refengine.oracle.attempts import attempt, attempt_by_definition
from refengine.oracle.orders.moments import held_by
from refengine.oracle.trial import Recorded, Trial
from refengine.sparql.witnesses import NoSay


def confirm(recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]) -> None:
    """ORA-8: make sure that a witness confirms what a verdict rests on, and that incremental
    evaluation answers so: the winning assignment's reports (those at the ends of instants where
    orders were searched), or a fail's up to its first divergence. A pass is the definition's, too.
    Raises Disputed.
    """
    planned = answers.plan_of(recorded, trial.semantics)
    body = recorded.query.body
    seen = set()
    for contents in _contents(planned, trial):
        if contents not in seen:
            seen.add(contents)
            dataset = r2r.together(planned.views, contents, recorded.static, body)
            relation = answers.confirmed(body, dataset, witnesses)
            _check_incremental(relation, answers.incremental(recorded, planned), contents)
    if trial.accepted is None or not trial.ordered:
        return
    if attempt_by_definition(recorded, planned, trial.origin, answers).accepted is None:
        raise Disputed("incremental evaluation passes what the definition fails", rule="ORA-8")


def _contents(planned: engine.Plan, trial: Trial) -> Iterator[tuple[window.Content, ...]]:
    """Yield what the windows hold at the evaluations that a verdict rests on."""
    end = None
    if trial.divergence is not None:
        end = trial.divergence.evaluation
    final: dict[int, int] = {}
    if not trial.ordered:
        elements = planned.views[0].elements
        final = {element.app: index + 1 for index, element in enumerate(elements)}
    for at in incremental.schedule_evaluations(planned):
        if end is not None and at.t > end:
            return
        if not trial.ordered:
            stop = held_by(at).stop
            if stop != final.get(at.t, stop):  # some elements of the instant have not arrived
                continue
        yield tuple(held.content for held in at.windows)


def _check_incremental(
    confirmed: Relation, asked: AnswerCache | str, contents: tuple[window.Content, ...]
) -> None:
    """ORA-8: make sure that incremental evaluation answers as the definition does. Raises
    Disputed.
    """
    if isinstance(asked, str):
        return
    with suppress(NotCovered):
        if not compare.equal(confirmed.rows, asked(contents)):
            raise _disagreement(confirmed)


def _disagreement(confirmed: Relation) -> Disputed:
    """Return the error that incremental evaluation gives another answer than the definition."""
    return Disputed(
        "incremental evaluation and the definition disagree",
        rule="ORA-8",
        answers={r2r.DEFINITION: confirmed},
    )


def confirm_fail(
    recorded: Recorded,
    best: Trial | None,
    failed: Sequence[Trial],
    answers: Answers,
    witnesses: tuple[str, ...],
) -> None:
    """ORA-8: make sure that a witness confirms what a fail rests on: the nearest assignment up to
    its first divergence, and of every other one what it answers where it ended. Raises Disputed
    where none does, or where the definition passes.
    """
    if best is not None:
        confirm(recorded, best, answers, witnesses)
        planned = answers.plan_of(recorded, best.semantics)
        if best.ordered:
            by_definition = attempt_by_definition(recorded, planned, best.origin, answers)
            if by_definition.accepted is not None:
                reason = "incremental evaluation fails what the definition passes"
                raise Disputed(reason, rule="ORA-8")

    for dataset, trial in _to_confirm(recorded, failed, answers):
        relation = answers.confirmed(recorded.query.body, dataset, witnesses)
        rows = r2r.collected(trial.semantics.collection, relation.rows)
        if trial.answer is not None and not compare.equal(rows, trial.answer):
            raise _disagreement(relation)
    for trial in failed:
        dissent(recorded, trial, answers, witnesses)


def _to_confirm(
    recorded: Recorded, failed: Sequence[Trial], answers: Answers
) -> Iterator[tuple[Dataset, Trial]]:
    """Yield the datasets at which failed assignments ended, each once, with one of the
    assignments.
    """
    seen = set()
    for trial in failed:
        key = (trial.last, trial.semantics.disorder, trial.semantics.collection)
        if trial.last is None or key in seen:
            continue
        seen.add(key)
        planned = answers.plan_of(recorded, trial.semantics)
        yield r2r.together(planned.views, trial.last, recorded.static, recorded.query.body), trial


def dissent(recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]) -> None:
    """ORA-8: where orders were searched, some order explains the output by the definition's answers
    and by a witness's, inside instants too, or by neither's. Raises Disputed where every witness
    that has a say differs.
    """
    if trial.ordered or not witnesses or _answer_alike(recorded, trial, answers, witnesses):
        return
    differing = []
    for witness in reversed(witnesses):  # the faster one first
        try:
            other = attempt(recorded, trial.semantics, trial.origin, answers.by(witness))
        except NoSay:
            continue
        if (other.accepted is None) == (trial.accepted is None):
            return
        differing.append(witness)
    if not differing:
        return
    explaining, failing = "a witness's", "the definition's"
    if trial.accepted is not None:
        explaining, failing = failing, explaining
    raise Disputed(
        f"an arrival order explains the output by {explaining} answers, none by {failing}: "
        f"{', '.join(differing)}",
        rule="ORA-8",
    )


def _answer_alike(
    recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]
) -> bool:
    """Whether all witnesses answer a body of solutions (ORA-5) alike over the whole stream, and so
    over every part of it.

    Which solutions a part has is decided by their own triples alone.
    """
    body = recorded.query.body
    if recorded.mode is not Mode.VALUE or not derivations.projects(body):
        return False
    elements = answers.plan_of(recorded, trial.semantics).views[0].elements

    def is_confirmed() -> bool:
        try:
            answers.confirmed(body, r2r.dataset(elements), witnesses)
        except Disputed:
            return False
        return True

    return answers.once("alike", [elements], (body, witnesses), is_confirmed)
