"""The evaluations that `run` prints, each with the witnesses that confirm its answer, if they were
asked (ENG-6, R2R-5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from refengine import incremental, sparql
from refengine.core import engine, r2r
from refengine.core.engine import Plan, Step
from refengine.core.query import Body, Query
from refengine.incremental import IncrementalRun, Provenance
from refengine.model import compare
from refengine.model.elements import Dataset, Relation, canonical_dataset
from refengine.model.errors import Disputed, Unsupported

# of the datasets together over which incremental answers are confirmed
STATEMENTS_TO_CONFIRM = 1_000


class Hearing:
    """The answers of the SPARQL evaluator, and the witnesses that confirmed all of them since they
    were last taken.
    """

    def __init__(self, witnesses: Sequence[str], limits: sparql.Limits) -> None:
        self.witnesses = witnesses
        self.asked = partial(r2r.ask_evaluator, limits=limits)
        self.confirming: list[str] | None = None  # None: nothing was answered yet
        self.why_some_stand: dict[str, None] = {}  # why answers stand that no witness confirms

    def __call__(self, body: Body, graph: Dataset) -> Relation:
        """Return the answer of the SPARQL evaluator. Raises Disputed where witnesses were asked and
        none confirms it.
        """
        testimony = r2r.hear_witnesses(body, graph, self.witnesses, self.asked)
        if testimony.why_it_stands:
            self.why_some_stand[testimony.why_it_stands] = None
        if self.confirming is None:
            self.confirming = list(self.witnesses)
        self.confirming = [name for name in self.confirming if name in testimony.confirming]
        return testimony.relation

    def take_confirming(self) -> list[str]:
        """Return the witnesses that confirmed every answer since the last call; none if there was
        no answer.
        """
        confirming = self.confirming or []
        self.confirming = None
        return confirming


class RunWithWitnesses:
    """The evaluations of a plan, computed incrementally as far as that is covered, or, if that is
    asked, by the SPARQL evaluator.

    ENG-6: The SPARQL evaluator's answers are all confirmed by a witness. Of the incremental answers
    only the first are: as long as the datasets over which they are computed have together no more
    than STATEMENTS_TO_CONFIRM statements. Of an empty dataset one is counted.
    """

    def __init__(
        self,
        query: Query,
        planned: Plan,
        static: Dataset,
        hearing: Hearing,
        max_reports: int,
        is_evaluator_requested: bool = False,
    ) -> None:
        self.query = query
        self.planned = planned
        self.static = canonical_dataset(static)
        self.hearing = hearing
        self.incremental: IncrementalRun | None = None
        if is_evaluator_requested:
            self.steps = engine.steps(
                query, planned, static=static, answer=hearing, max_reports=max_reports
            )
        else:
            self.incremental = incremental.evaluate_plan(
                query, planned, static=static, answer=hearing, max_reports=max_reports
            )
            self.steps = self.incremental.steps()
        self.statements_left = STATEMENTS_TO_CONFIRM
        self.maintained_count = 0
        self.confirmed_count = 0

    def __iter__(self) -> Iterator[tuple[Step, list[str]]]:
        """Yield the step of every evaluation, with the witnesses that confirm its answer. Raises
        what R2R raises, and Disputed where the SPARQL evaluator gives another answer than
        incremental evaluation.
        """
        for step in self.steps:
            if self.incremental is not None and self.incremental.provenance.until is None:
                self.maintained_count += 1
                self._confirm(step)
            yield step, self.hearing.take_confirming()

    def describe_provenance(self) -> str:
        """Return who computed the answers so far, and how many of the incremental ones were
        confirmed.
        """
        text = str(Provenance.of_request())
        if self.incremental is not None:
            text = str(self.incremental.provenance)
        if self.maintained_count:
            text += (
                f"; witnesses were asked for {self.confirmed_count} of "
                f"{self.maintained_count} incremental answers"
            )
        return "; ".join([text, *self.hearing.why_some_stand])

    def _confirm(self, step: Step) -> None:
        """Hold an incremental answer to the SPARQL evaluator's, which a witness confirms, if it is
        one of the first.
        """
        if not self.statements_left:
            return
        contents = [held.content for held in step.at.windows]
        body = self.query.body
        dataset = r2r.dataset_of_windows(self.planned.views, contents, self.static, body)
        counted = max(1, len(dataset))
        if counted > self.statements_left:
            self.statements_left = 0
            return
        self.statements_left -= counted

        try:
            relation = self.hearing(body, dataset)
        except Unsupported as error:
            if error.rule != "R2R-17":
                raise
            self.statements_left = 0  # the SPARQL evaluator takes too long
            return
        self.confirmed_count += 1
        rows = r2r.collect_rows(self.planned.semantics.collection, relation.rows)
        if not compare.equal(rows, step.answer):
            raise Disputed(
                "incremental evaluation and the SPARQL evaluator disagree",
                rule="ENG-6",
                answers={r2r.EVALUATOR: relation},
            )
