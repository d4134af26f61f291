"""§11 The confirmation of a verdict (ORA-8): witnesses and the SPARQL evaluator repeat the answers
that it rests on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from refengine import incremental
from refengine.core import engine, r2r, window
from refengine.incremental import AnswerCache
from refengine.incremental.algebra.nodes import add_count
from refengine.incremental.coverage import NotCovered
from refengine.model import compare
from refengine.model.elements import Dataset, Relation, Row
from refengine.model.errors import Disputed
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.attempts import attempt, attempt_with_answers
from refengine.oracle.orders.groups import content_of
from refengine.oracle.overlaps import (
    Overlap,
    OverlapFollower,
    body_of_solutions,
    confirm_overlap,
    may_be_confirmed_together,
    split_into_overlaps,
    successive_answers,
)
from refengine.oracle.trial import RecordingToJudge, Trial
from refengine.sparql.witnesses import NoSay


def confirm(
    recorded: RecordingToJudge, trial: Trial, answers: SharedAnswers, witnesses: tuple[str, ...]
) -> None:
    """ORA-8: make sure that a witness confirms the answers on which a verdict rests, and that
    incremental evaluation gives the same.

    These are the answers at all evaluations of the trial or, for a fail, at those up to its first
    divergence. Where arrival orders were searched, only evaluations at the end of an instant are
    looked at. A trial that explains the recording must do so by the SPARQL evaluator, too. Raises
    Disputed.
    """
    planned = answers.plan_of(recorded, trial.semantics)
    overlaps = _confirm_contents(
        recorded, planned, _held_at_evaluations(planned, trial), answers, witnesses
    )
    if not trial.is_order_known:
        return
    by_evaluator = attempt_with_answers(
        recorded, planned, successive_answers(recorded, planned, overlaps, answers)
    )
    if trial.explains_recording == by_evaluator.explains_recording:
        return
    if trial.explains_recording:
        raise Disputed(
            "incremental evaluation passes what the SPARQL evaluator fails", rule="ORA-8"
        )
    raise Disputed("incremental evaluation fails what the SPARQL evaluator passes", rule="ORA-8")


def _confirm_contents(
    recorded: RecordingToJudge,
    planned: engine.Plan,
    held_at_evaluations: Iterable[tuple[window.Content, ...]],
    answers: SharedAnswers,
    witnesses: tuple[str, ...],
) -> list[Overlap]:
    """ORA-8: make sure that a witness confirms the answers over what the windows held at some
    evaluations, and that incremental evaluation gives the same. Return the overlaps in which
    contents were confirmed together.
    """
    distinct = dict.fromkeys(held_at_evaluations)
    if not may_be_confirmed_together(recorded, planned):
        for held in distinct:
            _confirm_one(recorded, planned, held, answers, witnesses)
        return []

    overlaps = []
    for group in split_into_overlaps(content for (content,) in distinct):
        overlap = confirm_overlap(recorded, planned, group, answers, witnesses)
        if overlap is None:
            for content in group:
                _confirm_one(recorded, planned, (content,), answers, witnesses)
            continue
        overlaps.append(overlap)
        cache_or_reason = answers.incremental_answers(recorded, planned)
        if isinstance(cache_or_reason, AnswerCache):
            follower = OverlapFollower(overlap, planned, recorded.static)
            _check_group(recorded, answers.look_at_each(group), follower, cache_or_reason)
    return overlaps


def _check_group(
    recorded: RecordingToJudge,
    group: Iterable[window.Content],
    follower: OverlapFollower,
    cache: AnswerCache,
) -> None:
    """ORA-8: make sure that incremental evaluation gives the answers over the contents of an
    overlap, which `follower` has. Raises Disputed.

    Two answers that are equal stay equal if the same rows come and go in both. Only where the rows
    that come and go differ are the whole answers compared.
    """
    variables = recorded.query.body.variables
    surplus: Counter[Row] = Counter()  # by how much each row's count is greater in `follower`
    before: window.Content | None = None  # the content for which `surplus` holds, None if none
    for content in group:
        came, gone = follower.move_to(content)
        change = None
        if before is not None:
            change = cache.find_change(before, content)
        before = None
        if change is not None:
            came_by_cache, gone_by_cache = change
            for line in [*came, *gone_by_cache]:
                add_count(surplus, line, 1)
            for line in [*gone, *came_by_cache]:
                add_count(surplus, line, -1)
            before = content
            if not surplus:
                continue

        with suppress(NotCovered):
            by_cache = cache((content,))
            if not compare.equal(follower.rows, by_cache):
                raise _disagreement(Relation(variables, Counter(follower.rows)))
            if before is None:
                surplus = Counter(follower.rows - by_cache)
                surplus.subtract(by_cache - follower.rows)
                before = content


def _confirm_one(
    recorded: RecordingToJudge,
    planned: engine.Plan,
    held: tuple[window.Content, ...],
    answers: SharedAnswers,
    witnesses: tuple[str, ...],
) -> None:
    """ORA-8: make sure that a witness confirms the answer over what the windows hold, and that
    incremental evaluation gives the same.
    """
    body = recorded.query.body
    dataset = r2r.dataset_of_windows(planned.views, held, recorded.static, body)
    relation = answers.confirmed_answer(body, dataset, witnesses)
    _check_incremental(relation, answers.incremental_answers(recorded, planned), held)


def _held_at_evaluations(
    planned: engine.Plan, trial: Trial
) -> Iterator[tuple[window.Content, ...]]:
    """Yield what the windows hold at the evaluations that a verdict rests on."""
    end = None
    if trial.divergence is not None:
        end = trial.divergence.evaluation
    stops: dict[int, int] = {}  # by instant, the index after its last element
    if not trial.is_order_known:
        elements = planned.views[0].elements
        stops = {element.app: index + 1 for index, element in enumerate(elements)}
    for at in incremental.schedule_evaluations(planned):
        if end is not None and at.t > end:
            return
        if not trial.is_order_known:
            stop = content_of(at).stop
            if stop != stops.get(at.t, stop):  # some elements of the instant have not arrived
                continue
        yield tuple(held.content for held in at.windows)


def _check_incremental(
    confirmed: Relation, cache_or_reason: AnswerCache | str, held: tuple[window.Content, ...]
) -> None:
    """ORA-8: make sure that incremental evaluation gives a `confirmed` answer, too. Raises
    Disputed.
    """
    if isinstance(cache_or_reason, str):  # the reason why there is no incremental answer
        return
    with suppress(NotCovered):
        if not compare.equal(confirmed.rows, cache_or_reason(held)):
            raise _disagreement(confirmed)


def _disagreement(confirmed: Relation) -> Disputed:
    """Return the error that the SPARQL evaluator answers otherwise than incremental evaluation."""
    return Disputed(
        "incremental evaluation and the SPARQL evaluator disagree",
        rule="ORA-8",
        answers={r2r.EVALUATOR: confirmed},
    )


def confirm_fail(
    recorded: RecordingToJudge,
    best: Trial | None,
    failed: Sequence[Trial],
    answers: SharedAnswers,
    witnesses: tuple[str, ...],
) -> None:
    """ORA-8: make sure that a witness confirms the answers that a fail rests on.

    They are those of the nearest assignment, `best`, up to its first divergence, and of every other
    one the answer at the evaluation where it ended. Raises Disputed where no witness confirms one,
    or where the SPARQL evaluator explains the recording under the nearest assignment.
    """
    if best is not None:
        confirm(recorded, best, answers, witnesses)

    for dataset, trial in _last_datasets(recorded, failed, answers):
        relation = answers.confirmed_answer(recorded.query.body, dataset, witnesses)
        rows = r2r.collect_rows(trial.semantics.collection, relation.rows)
        if trial.last_answer is not None and not compare.equal(rows, trial.last_answer):
            raise _disagreement(relation)
    for trial in failed:
        confirm_order_search(recorded, trial, answers, witnesses)


def _last_datasets(
    recorded: RecordingToJudge, failed: Sequence[Trial], answers: SharedAnswers
) -> Iterator[tuple[Dataset, Trial]]:
    """Yield the datasets over which failed assignments were evaluated last, each once, with one of
    the assignments.
    """
    seen = set()
    for trial in failed:
        key = (trial.last_contents, trial.semantics.allowed_lateness, trial.semantics.collection)
        if trial.last_contents is None or key in seen:
            continue
        seen.add(key)
        views = answers.plan_of(recorded, trial.semantics).views
        body = recorded.query.body
        yield r2r.dataset_of_windows(views, trial.last_contents, recorded.static, body), trial


def confirm_order_search(
    recorded: RecordingToJudge, trial: Trial, answers: SharedAnswers, witnesses: tuple[str, ...]
) -> None:
    """ORA-8: repeat a search over arrival orders with the answers of a witness.

    Inside an instant, where only some of its elements have arrived, a witness may answer otherwise
    than the SPARQL evaluator. Some order must explain the output by the SPARQL evaluator's answers
    and by a witness's, or by neither's. Raises Disputed where every witness that answers such a
    body differs. Nothing is done where no orders were searched.
    """
    if trial.is_order_known or not witnesses:
        return
    if is_confirmed_over_whole_stream(recorded, trial, answers, witnesses):
        return
    differing = []
    for witness in reversed(witnesses):  # the faster one first
        by_witness = answers.with_witness(witness)
        try:
            other = attempt(recorded, answers.plan_of(recorded, trial.semantics), by_witness)
        except NoSay:
            continue
        if other.explains_recording == trial.explains_recording:
            return
        differing.append(witness)
    if not differing:
        return
    explaining, failing = "a witness's", "the SPARQL evaluator's"
    if trial.explains_recording:
        explaining, failing = failing, explaining
    raise Disputed(
        f"an arrival order explains the output with {explaining} answers, but none with {failing}: "
        f"{', '.join(differing)}",
        rule="ORA-8",
    )


def is_confirmed_over_whole_stream(
    recorded: RecordingToJudge, trial: Trial, answers: SharedAnswers, witnesses: tuple[str, ...]
) -> bool:
    """Whether a witness confirms the SPARQL evaluator's answer over the whole stream. For a body
    that has a `body_of_solutions` its answer over every part is then confirmed, too. For any other
    body False is returned.
    """
    body = recorded.query.body
    whole = body_of_solutions(recorded)
    if whole is None:
        return False
    elements = answers.plan_of(recorded, trial.semantics).views[0].elements

    def is_confirmed() -> bool:
        try:
            answers.confirmed_answer(whole, r2r.dataset(elements), witnesses)
        except Disputed:
            return False
        return True

    return answers.make_once("alike", [elements], (body, witnesses), is_confirmed)
