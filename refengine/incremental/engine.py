"""§9 The reports of `core.engine.evaluate`, each of which costs what changed since the one before.

This is no second definition. Which windows are evaluated when is `schedule`'s, which is held to
`core.schedule`; the answers are `maintained`'s; R2S is `core.r2s`, on the rows that came and went.
What is not covered the definition computes, and the provenance says so. All is held to the
definition by tests/incremental/test_incremental.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from refengine.core import engine, r2r
from refengine.core.answers import EvaluateBody, refuse_no_function
from refengine.core.plan import Plan
from refengine.core.query import Query
from refengine.core.reports import Report, ReportMaker, Step
from refengine.core.schedule import MAX_REPORTS, Evaluation
from refengine.core.semantics import Semantics
from refengine.incremental.arrival_buffer import buffer_of, first_needed, plan_streamed
from refengine.incremental.maintained import MaintainedWhileCovered, Provenance
from refengine.incremental.schedule import schedule_evaluations
from refengine.model.elements import Element, Statements, Stream, refuse_no_streams


class IncrementalRun(Iterator[Report]):
    """The reports of a plan, one after the other. The first `skip` evaluations are left out. If the
    definition is asked for, it computes each answer.
    """

    def __init__(
        self,
        query: Query,
        planned: Plan,
        static: Statements,
        answer: EvaluateBody,
        max_reports: int,
        skip: int,
        is_definition_asked: bool,
    ) -> None:
        self.query = query
        self.planned = planned
        self.max_reports = max_reports
        self.skip = skip
        self.answers = MaintainedWhileCovered(
            query, planned, static, answer, skip, is_definition_asked
        )
        self.reports = self._reports()

    def __repr__(self) -> str:
        return f"<IncrementalRun of {self.planned!r}: {self.provenance}>"

    def __next__(self) -> Report:
        return next(self.reports)

    @property
    def provenance(self) -> Provenance:
        """Who computed the reports so far."""
        return self.answers.provenance

    def steps(self) -> Iterator[Step]:
        """Yield a step of every evaluation, also where its empty output is not emitted. A run gives
        its steps or its reports, not both.
        """
        maker = ReportMaker(self.query, self.planned, self.answers)
        return map(maker.step, self._evaluations())

    def _reports(self) -> Iterator[Report]:
        maker = ReportMaker(self.query, self.planned, self.answers)
        for at in self._evaluations():
            report = maker.report(at)
            if report is not None:
                yield report

    def _evaluations(self) -> Iterator[Evaluation]:
        """Return the evaluations that are not left out."""
        planned = self.planned
        answers = self.answers
        buffer = buffer_of(planned)
        if buffer is not None:
            buffer.find_first_needed = lambda: first_needed(planned, answers.windows[0].content)
        return islice(schedule_evaluations(planned, self.max_reports), self.skip, None)


def evaluate_incrementally(
    query: Query,
    streams: Mapping[str, Stream | Iterable[Element]],
    semantics: Semantics,
    *,
    static: Statements = frozenset(),
    answer: EvaluateBody = r2r.confirmed_answer,
    max_reports: int = MAX_REPORTS,
) -> IncrementalRun:
    """ENG-6: Return the reports of `core.engine.evaluate`, with rows that are equal value for value
    (CMP-4). Reports that no witness confirms are given, too. `answer` is R2R for what incremental
    evaluation does not cover. A report's `contents` are looked up when they are asked for.

    A stream may be an iterator of elements in the order of time. Then it is read while it is
    evaluated, and elements that no window can hold any more are forgotten, with the `contents` of
    the reports that had them. The definition cannot take over there: what is not covered is
    Unsupported.

    Raises what `core.engine.evaluate` raises.
    """
    refuse_no_function(answer)
    engine.refuse_no_bound(max_reports)
    refuse_no_streams(streams)
    whole = {name: stream for name, stream in streams.items() if isinstance(stream, Stream)}
    if len(whole) == len(streams):
        planned = engine.plan(query, whole, semantics)
    else:
        planned = plan_streamed(query, streams, semantics)
    return evaluate_plan(query, planned, static=static, answer=answer, max_reports=max_reports)


def evaluate_plan(
    query: Query,
    planned: Plan,
    *,
    static: Statements = frozenset(),
    answer: EvaluateBody = r2r.confirmed_answer,
    max_reports: int = MAX_REPORTS,
    skip: int = 0,
    is_definition_asked: bool = False,
) -> IncrementalRun:
    """Return the reports of a plan, as `evaluate_incrementally` does. The first `skip` evaluations
    may be left out, as if the answer had been empty before the next one. If the definition is asked
    for, it computes each answer anew.

    Raises what `core.engine.evaluate` raises.
    """
    return IncrementalRun(query, planned, static, answer, max_reports, skip, is_definition_asked)
