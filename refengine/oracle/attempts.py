"""§11 One assignment against a recording: by incremental evaluation, by the SPARQL evaluator, or by
a search over arrival orders; and all reports of a semantics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from refengine import incremental
from refengine.core import engine
from refengine.core.answers import SuccessiveAnswers, recomputed_answers
from refengine.core.engine import Plan, Report, Step
from refengine.core.reports import ReportMaker
from refengine.incremental import AnswerCache
from refengine.incremental.coverage import NotCovered
from refengine.model.errors import TooManyReports
from refengine.oracle import orders
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.trial import (
    RecordingToJudge,
    Reports,
    State,
    Trial,
    advance,
    find_accepting_state,
)


def attempt(recorded: RecordingToJudge, planned: Plan, answers: SharedAnswers) -> Trial:
    """Hold the assignment of a plan against the recording, and return the trial. The t0 of the plan
    may move; then the trial says nothing of values of t0.

    Arrival orders are searched where they were not recorded and matter (ORA-4). Else the reports
    are computed incrementally as far as that is possible, and otherwise by the SPARQL evaluator.
    """
    is_unordered = any(not recorded.streams[spec.stream].ordered for spec in recorded.query.windows)
    if is_unordered and orders.order_matters(planned):
        return orders.search_orders(recorded, planned, answers)
    cache_or_reason = answers.incremental_answers(recorded, planned)
    if isinstance(cache_or_reason, str):
        reason = cache_or_reason
    else:
        try:
            return attempt_incrementally(recorded, planned, cache_or_reason, answers)
        except NotCovered as error:
            reason = str(error)
    trial = attempt_by_evaluator(recorded, planned, answers)
    return replace(trial, computed_by=f"the SPARQL evaluator ({reason})")


def attempt_incrementally(
    recorded: RecordingToJudge,
    planned: Plan,
    answer_cache: AnswerCache,
    answers: SharedAnswers,
) -> Trial:
    """Hold the assignment of a plan against the recording, by incremental evaluation. Raises
    NotCovered for what incremental evaluation does not cover.
    """
    steps = answers.look_at_each(incremental.cached_steps(recorded.query, planned, answer_cache))
    return replace(_follow(recorded, planned, steps), computed_by="incremental evaluation")


def attempt_by_evaluator(
    recorded: RecordingToJudge, planned: Plan, answers: SharedAnswers
) -> Trial:
    """Hold the assignment of a plan against the recording, with each answer computed anew from its
    content. The trial has no `last_answer`, as that of `attempt_with_answers`.
    """
    steps = _recomputed_steps(recorded, planned, answers)
    return replace(_follow(recorded, planned, steps), last_answer=None)


def _recomputed_steps(
    recorded: RecordingToJudge, planned: Plan, answers: SharedAnswers
) -> Iterator[Step]:
    """Yield the steps of a plan, of which each answer is computed anew. When the query is evaluated
    is found as for incremental evaluation, so that a class of t0 has the same values whoever
    answers; but not where nothing may be incremental.
    """
    successive = recomputed_answers(recorded.query, planned, recorded.static, answers)
    maker = ReportMaker(recorded.query, planned, successive)
    evaluations = engine.evaluations(planned)
    if answers.may_be_incremental:
        evaluations = incremental.schedule_evaluations(planned)
    return map(maker.step, evaluations)


def attempt_with_answers(
    recorded: RecordingToJudge, planned: Plan, successive: SuccessiveAnswers
) -> Trial:
    """Hold the assignment of a plan against the recording. The evaluations are those of the
    SPARQL evaluator, and `successive` gives the answer at one after the other.

    The trial has no `last_answer`: that is an incremental answer, which is compared with the
    SPARQL evaluator's (ORA-8), and here there is none.
    """
    maker = ReportMaker(recorded.query, planned, successive)
    steps = map(maker.step, engine.evaluations(planned))
    return replace(_follow(recorded, planned, steps), last_answer=None)


def _follow(recorded: RecordingToJudge, planned: Plan, steps: Iterable[Step]) -> Trial:
    """Match the reports of an assignment's steps with the recording, and return the trial. It stops
    at the first report that no state explains.
    """
    states = {State(0, 0, 0)}
    step = None
    most_matched = 0
    reports: list[Report] = []
    for step in steps:
        if step.emitted:
            report = step.report
            reports.append(report)
            states = advance(
                states, report.relation.rows, recorded, report.window, planned.semantics.closure
            )
        if not states:
            break
        most_matched = max(most_matched, *(state.matched for state in states))

    trial = Trial(
        planned.semantics,
        accepting_state=find_accepting_state(states, recorded),
        most_matched=most_matched,
    )
    if trial.explains_recording:
        trial = replace(trial, reports=Reports(reports))
    if step is None:
        return trial
    contents = tuple(held.content for held in step.at.windows)
    return replace(trial, last_contents=contents, last_answer=step.answer)


def reports_of(recorded: RecordingToJudge, planned: Plan, answers: SharedAnswers) -> Reports:
    """Return all reports of the recording's question by a plan. Each is computed when it is first
    read.

    A trial may have stopped early; these go on to the end of the stream. They end early only where
    there are too many between two arrivals: the ones before are enough to compare with.
    """
    return Reports(_reports(recorded, planned, answers))


def _reports(recorded: RecordingToJudge, planned: Plan, answers: SharedAnswers) -> Iterator[Report]:
    """Yield reports by incremental evaluation as far as it covers them, and then by the
    SPARQL evaluator.
    """
    cache_or_reason = answers.incremental_answers(recorded, planned)
    count = 0
    with suppress(TooManyReports):
        if isinstance(cache_or_reason, AnswerCache):
            try:
                steps = incremental.cached_steps(recorded.query, planned, cache_or_reason)
                for step in answers.look_at_each(steps):
                    if step.emitted:
                        yield step.report
                        count += 1
                return
            except NotCovered:
                pass  # the SPARQL evaluator goes on where incremental evaluation ended
        steps = _recomputed_steps(recorded, planned, answers)
        yield from islice((step.report for step in steps if step.emitted), count, None)
