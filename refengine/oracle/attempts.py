"""§11 One assignment against a recording: by incremental evaluation, by the definition, or by a
search over arrival orders; and its reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from refengine import incremental
from refengine.core import engine
from refengine.core.engine import Plan, Report, Step
from refengine.core.semantics import Semantics
from refengine.incremental import AnswerCache
from refengine.incremental.coverage import NotCovered
from refengine.model.errors import TooManyReports
from refengine.oracle import orders
from refengine.oracle.answers import Answers
from refengine.oracle.reports import Reports
from refengine.oracle.trial import Origin, Recorded, State, Trial, accepted, advance


def attempt(recorded: Recorded, semantics: Semantics, origin: Origin, answers: Answers) -> Trial:
    """Hold one assignment against the recording, by incremental evaluation where answers are
    compared by value.
    """
    planned = answers.plan_of(recorded, semantics)
    is_unordered = any(not recorded.streams[spec.stream].ordered for spec in recorded.query.windows)
    if is_unordered and orders.order_matters(planned):
        return orders.search_orders(recorded, planned, origin, answers)
    asked = answers.incremental(recorded, planned)
    if isinstance(asked, str):
        reason = asked
    else:
        try:
            return attempt_incrementally(recorded, planned, origin, asked)
        except NotCovered as error:
            reason = str(error)
    trial = attempt_by_definition(recorded, planned, origin, answers)
    return replace(trial, by=f"the definition ({reason})")


def attempt_incrementally(
    recorded: Recorded, planned: Plan, origin: Origin, asked: AnswerCache
) -> Trial:
    """Hold one assignment against the recording, by incremental evaluation. Raises NotCovered."""
    steps = incremental.cached_steps(recorded.query, planned, asked)
    return replace(_follow(recorded, planned, origin, steps), by="incremental evaluation")


def attempt_by_definition(
    recorded: Recorded, planned: Plan, origin: Origin, answers: Answers
) -> Trial:
    """Hold one assignment against the recording, each answer recomputed. The trial has no answer:
    there is nothing to compare it with later (ORA-8).
    """
    steps = engine.steps(recorded.query, planned, static=recorded.static, answer=answers)
    return replace(_follow(recorded, planned, origin, steps), answer=None)


def _follow(recorded: Recorded, planned: Plan, origin: Origin, steps: Iterable[Step]) -> Trial:
    """Hold one assignment against the recording, evaluation by evaluation, as long as it may
    explain it. A trial that explains it has the reports.
    """
    states = {State(0, 0, 0)}
    step = None
    reached = 0
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
        reached = max(reached, *(state.matched for state in states))

    trial = Trial(planned.semantics, origin, accepted(states, recorded), reached=reached)
    if trial.accepted is not None:
        trial = replace(trial, reports=Reports(reports))
    if step is None:
        return trial
    contents = tuple(held.content for held in step.at.windows)
    return replace(trial, last=contents, answer=step.answer)


def reports_of(recorded: Recorded, semantics: Semantics, answers: Answers) -> Reports:
    """Return the reports of the recording's question under a semantics, as they are asked for. A
    trial's attempt may have stopped early; these go on to the end.

    They end where there are too many between two arrivals: those before say enough.
    """
    return Reports(_reports(recorded, semantics, answers))


def _reports(recorded: Recorded, semantics: Semantics, answers: Answers) -> Iterator[Report]:
    """Yield reports by incremental evaluation as far as it goes, and then by the definition."""
    planned = answers.plan_of(recorded, semantics)
    asked = answers.incremental(recorded, planned)
    done = 0
    with suppress(TooManyReports):
        if isinstance(asked, AnswerCache):
            try:
                for step in incremental.cached_steps(recorded.query, planned, asked):
                    if step.emitted:
                        yield step.report
                        done += 1
                return
            except NotCovered:  # the definition goes on
                pass
        reports = engine.evaluate(
            recorded.query, recorded.streams, semantics, static=recorded.static, answer=answers
        )
        yield from islice(reports, done, None)
