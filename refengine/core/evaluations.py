"""§9 The evaluations of a plan: of active windows (ENG-2), or of every window (REP-14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from refengine.core.firings import schedule_without_keys
from refengine.core.keys import ScheduleOfKeys
from refengine.core.plan import Plan
from refengine.core.schedule import MAX_REPORTS, Evaluation, refuse_no_bound
from refengine.model.errors import RefengineError
from refengine.model.messages import display


def evaluations(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Evaluation]:
    """Yield the evaluations of a plan, in order. Raises TooManyReports, and RefengineError for what
    is no plan.
    """
    if not isinstance(planned, Plan):
        reason = f"must be a Plan, got {display(planned)}; write plan(query, streams, semantics)"
        raise RefengineError(reason, rule="ENG-2", place="plan")
    refuse_no_bound(max_reports)
    return chain.from_iterable(evaluation_groups(planned, max_reports))


def evaluation_groups(
    planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Iterable[Evaluation]]:
    """Yield the evaluations of a plan, grouped: a group has one arrival, and one content of each
    window (ENG-2).
    """
    if planned.views[0].spec.is_keyed:
        return ScheduleOfKeys(planned, max_reports).groups()
    return schedule_without_keys(planned, max_reports).groups()
