"""Verdicts: from what the oracle finds to a result with an outcome and an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from conformance.verdict import explain
from conformance.verdict.results import Outcome as Outcome
from conformance.verdict.results import Result
from refengine.core.profile import Profile
from refengine.core.question import Question
from refengine.model.elements import Relation
from refengine.model.errors import Disputed, Unsupported
from refengine.oracle import divergence, explanations
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.judge import EVERY_WITNESS, Judgement, judge_recording
from refengine.oracle.trial import JudgementOptions, RecordingToJudge


@dataclass(frozen=True)
class Judging:
    """The terms on which recordings are judged.

    `witnesses` are those that are asked. `missing` outputs may be missing at each end (None: as
    many as the benchmark allows). With `keep` a result has its evidence. If the SPARQL evaluator is
    asked for, nothing is computed incrementally. `certificates` is the folder into which the
    verdicts' certificates are written, if they are.
    """

    witnesses: tuple[str, ...] = EVERY_WITNESS
    missing: int | None = None
    keep: bool = False
    is_evaluator_requested: bool = False
    certificates: Path | None = None

    def shared_answers(self) -> SharedAnswers:
        """Return a table of answers, still empty, that several verdicts may share."""
        return SharedAnswers(is_evaluator_requested=self.is_evaluator_requested)

    @property
    def bound(self) -> int:
        """The number of outputs of a recording that may be missing at each end (ORA-3)."""
        if self.missing is None:
            return 1
        return self.missing


def judge_relations(
    question: Question,
    profile: Profile,
    recording: Sequence[Relation],
    *,
    timestamps: Sequence[int | None] = (),
    witnesses: tuple[str, ...] = EVERY_WITNESS,
    answers: SharedAnswers | None = None,
    is_fail_explained: bool = True,
    **options: Unpack[JudgementOptions],
) -> Result:
    """Judge a recording under a profile, and return the result, with the judgement if the oracle
    came to one. Its engine is the profile's name, and its suite and case are still empty.

    The options are those of `refengine.oracle.judge.judge`. `timestamps` are those of the
    recording's relations; they never change the outcome. If `is_fail_explained`, the explanation of
    a fail names what would explain it, which can take much longer than the verdict. Bad input, such
    as a query or a profile without meaning, raises its RefengineError, since it says nothing about
    an engine.
    """
    recorded = RecordingToJudge.of(question, recording, **options)
    answers = answers or SharedAnswers()
    try:
        judgement = judge_recording(recorded, profile, answers, witnesses)
    except Unsupported as error:
        return _result(profile, Outcome.UNSUPPORTED, f"unsupported: {error}")
    except Disputed as error:
        return _result(profile, Outcome.DISPUTED, explain.explain_dispute(question.query, error))
    if judgement.passed:
        return _result(profile, Outcome.PASS, explain.explain_pass(profile, judgement), judgement)
    if judgement.is_right_but_for_windows:
        explanation = explain.explain_wrong_windows(profile, judgement)
    elif is_fail_explained:
        explanation = explain_fail_in_full(profile, judgement, answers, timestamps)
    else:
        explanation = explain.explain_fail(profile, judgement, None, None)
    return _result(profile, Outcome.FAIL, explanation, judgement)


def _result(
    profile: Profile,
    outcome: Outcome,
    explanation: str,
    judgement: Judgement | None = None,
) -> Result:
    """Return a result whose suite and case are still empty."""
    witnesses: tuple[str, ...] = ()
    computed_by = ""
    if judgement is not None:
        witnesses = judgement.witness_statements.confirming
        if judgement.trial is not None:
            computed_by = judgement.trial.computed_by
    return Result(
        engine=profile.name,
        suite="",
        case="",
        outcome=outcome,
        explanation=explanation,
        witnesses=witnesses,
        computed_by=computed_by,
        judgement=judgement,
    )


def explain_fail_in_full(
    profile: Profile,
    judgement: Judgement,
    answers: SharedAnswers,
    timestamps: Sequence[int | None],
) -> str:
    """Return the explanation of a fail with what would explain it, which is looked for here."""
    recorded = judgement.recorded
    far = None
    if not explanations.other_variables(recorded):
        far = divergence.find_unreachable_row(recorded)
    near = explanations.Explanations()
    if far is None:
        near = explanations.find_explanations(
            recorded,
            profile,
            judgement,
            answers,
            timestamps=timestamps,
        )
    return explain.explain_fail(profile, judgement, far, near)
