"""§9 The engine: a query over streams, under a semantics, gives reports.

A schedule says when the query is evaluated over what. R2R and R2S make a report of each evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TypedDict

from refengine.core import r2r
from refengine.core.answers import EvaluateBody as EvaluateBody
from refengine.core.answers import recomputed_answers, refuse_no_function
from refengine.core.evaluations import evaluations as evaluations
from refengine.core.plan import Plan as Plan
from refengine.core.plan import check_meaning as check_meaning
from refengine.core.plan import horizon as horizon
from refengine.core.plan import merge_streams as merge_streams
from refengine.core.plan import operator as operator
from refengine.core.plan import plan as plan
from refengine.core.query import Query
from refengine.core.reports import Report as Report
from refengine.core.reports import ReportMaker
from refengine.core.reports import Step as Step
from refengine.core.reports import output_instant as output_instant
from refengine.core.schedule import MAX_REPORTS as MAX_REPORTS
from refengine.core.schedule import Evaluation as Evaluation
from refengine.core.schedule import Stretch as Stretch
from refengine.core.schedule import WindowContent as WindowContent
from refengine.core.schedule import refuse_no_bound as refuse_no_bound
from refengine.core.schedule import refuse_too_many_reports as refuse_too_many_reports
from refengine.core.schedule import reportable_instants as reportable_instants
from refengine.core.schedule import spans as spans
from refengine.core.semantics import Semantics
from refengine.core.static import Static, resolve_static
from refengine.model.elements import Dataset, Stream


class Options(TypedDict, total=False):
    """The keywords of `evaluate`, for functions that pass them on."""

    static: Dataset
    answer: EvaluateBody
    max_reports: int


def evaluate(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    *,
    static: Static = frozenset(),
    answer: EvaluateBody = r2r.confirmed_answer,
    max_reports: int = MAX_REPORTS,
) -> Iterator[Report]:
    """Return the reports of a continuous query over streams under a semantics, lazily.

    `static` is the data that never changes: triples of the default graph and quads of named ones;
    or such data by IRIs, of which FROM and FROM NAMED of the body name some (QRY-2). `answer` is
    R2R, a function from a body and a dataset to a relation; by default it is the SPARQL evaluator,
    which a witness confirms. Terms are N-Triples text (MOD-4). Raises a RefengineError for input
    that no rule gives a meaning.

    The element at 10 closes the window [0, 10), and the flush at the end closes [10, 20):

    >>> from refengine import from_table, profile, stream
    >>> tumbling = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    >>> q = from_table({"body": "SELECT ?x {?x ?p ?o}", "windows": [tumbling]})
    >>> a, b = (("<urn:a>", "<urn:p>", "<urn:o>"), 3), (("<urn:b>", "<urn:p>", "<urn:o>"), 10)
    >>> chosen = profile("csparql").but(t0=0).semantics()
    >>> [(r.window, len(r.relation.rows)) for r in evaluate(q, {"s": stream([a, b])}, chosen)]
    [((0, 10), 1), ((10, 20), 1)]
    """
    refuse_no_function(answer)
    refuse_no_bound(max_reports)
    query, data = resolve_static(query, static)
    planned = plan(query, streams, semantics)
    all_steps = steps(query, planned, static=data, answer=answer, max_reports=max_reports)
    return ReportIterator(planned, (step.report for step in all_steps if step.emitted))


class ReportIterator(Iterator[Report]):
    """The reports of a plan, each computed when it is asked for."""

    def __init__(self, planned: Plan, reports: Iterator[Report]) -> None:
        self.planned = planned
        self.reports = reports

    def __repr__(self) -> str:
        return f"<reports of {self.planned!r}>"

    def __iter__(self) -> Iterator[Report]:
        return self.reports

    def __next__(self) -> Report:
        return next(self.reports)


def steps(
    query: Query,
    planned: Plan,
    *,
    static: Dataset = frozenset(),
    answer: EvaluateBody = r2r.confirmed_answer,
    max_reports: int = MAX_REPORTS,
    skip: int = 0,
) -> Iterator[Step]:
    """Yield a step of every evaluation of a plan, also where its empty output is not emitted (see
    `Step.emitted`).

    The first `skip` evaluations are left out, and their answers are not computed. The other
    arguments are those of `evaluate`.
    """
    answers = recomputed_answers(query, planned, static, answer, skip)
    maker = ReportMaker(query, planned, answers)
    for evaluation in islice(evaluations(planned, max_reports), skip, None):
        yield maker.step(evaluation)
