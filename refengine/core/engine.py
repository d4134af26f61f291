"""§9 The engine: a query over streams, under a semantics, gives reports.

A schedule says when the query is evaluated over what. R2R and R2S make a report of each evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypedDict

from refengine.core import r2r
from refengine.core.answers import EvaluateBody as EvaluateBody
from refengine.core.answers import MakeAnswers, recomputed_answers, refuse_no_function
from refengine.core.arrivals import Arrivals
from refengine.core.growing import FORGOTTEN_AT_ONCE
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
from refengine.core.schedule import Schedule
from refengine.core.schedule import Stretch as Stretch
from refengine.core.schedule import WindowContent as WindowContent
from refengine.core.schedule import bounded as bounded
from refengine.core.schedule import evaluations as evaluations
from refengine.core.schedule import refuse_no_bound as refuse_no_bound
from refengine.core.schedule import reportable_instants as reportable_instants
from refengine.core.schedule import spans as spans
from refengine.core.semantics import Semantics
from refengine.core.static import Static, resolve_static
from refengine.model.elements import Dataset, Element, Stream, refuse_no_names
from refengine.model.errors import InvalidStream, RefengineError


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
    R2R, a function from a body and a dataset to a relation; by default it is the definition, which
    a witness confirms. Terms are N-Triples text (MOD-4). Raises a RefengineError for input that no
    rule gives a meaning.

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


class Engine:
    """A continuous query under a semantics, over streams whose elements come one at a time.

    What `push`, `advance` and `finish` return, one after the other, are the reports of `evaluate`
    over the same streams, each as soon as nothing that may still come can change it (ENG-8). The
    elements that no evaluation to come needs are forgotten. A report keeps those that it is about.

    >>> from refengine import Engine, from_table, profile, stream
    >>> tumbling = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    >>> q = from_table({"body": "SELECT ?x {?x ?p ?o}", "windows": [tumbling]})
    >>> a, b = (("<urn:a>", "<urn:p>", "<urn:o>"), 3), (("<urn:b>", "<urn:p>", "<urn:o>"), 10)
    >>> engine = Engine(q, ["s"], profile("csparql").but(t0=0).semantics())
    >>> [[r.window for r in engine.push("s", element)] for element in stream([a, b])]
    [[], [(0, 10)]]
    >>> [r.window for r in engine.finish()]
    [(10, 20)]
    """

    def __init__(
        self,
        query: Query,
        streams: Iterable[str],
        semantics: Semantics,
        *,
        static: Static = frozenset(),
        answer: EvaluateBody = r2r.confirmed_answer,
        max_reports: int = MAX_REPORTS,
        make_answers: MakeAnswers = recomputed_answers,
    ) -> None:
        """Register a query over the named streams.

        `static`, `answer` and `max_reports` are those of `evaluate`. `make_answers` says how
        answers are found: each anew by default, or kept up to date, as
        `incremental.MaintainedWhileCovered` does; they are in `answers`. Raises InvalidQuery and
        InvalidSemantics (QRY-4, QRY-5).
        """
        refuse_no_function(answer)
        refuse_no_bound(max_reports)
        query, data = resolve_static(query, static)
        refuse_no_names(streams)
        self._arrivals = Arrivals(query, streams, semantics)
        planned = self._arrivals.plan
        self.answers = make_answers(query, planned, data, answer)
        self._schedule = Schedule(planned, max_reports)
        self._maker = ReportMaker(query, planned, self.answers)
        self._failed: Exception | None = None
        self._kept_since = 0  # the number of arrivals when elements were last forgotten

    def __repr__(self) -> str:
        arrived = len(self._arrivals.arrivals)
        return f"<Engine over {', '.join(self._arrivals.declared)}, {arrived} arrivals>"

    def __reduce__(self) -> str:
        """Refuse to be copied and to be pickled: a copy would share what it evaluates. Raises
        RefengineError.
        """
        reason = (
            "an engine cannot be copied or pickled; keep the elements, and push them to another"
        )
        raise RefengineError(reason, rule="ENG-8", place="Engine")

    def push(self, stream: str, element: Element) -> list[Report]:
        """Take the next element of a stream, and return the reports that no later element can
        change.

        The elements of all streams share one clock: t_sys increases from push to push.

        Raises InvalidStream for an element that cannot come next, and InvalidSemantics for one that
        the semantics does not allow: under the batch tick each needs a batch id. The refused
        element has no effect, and those before it stay.

        Raises TooManyReports, and the errors of R2R. After such an error the engine has ended,
        since what it would have reported is not known.
        """
        self._refuse_after_a_failure()
        return self._reports(self._arrivals.push(stream, element))

    def advance(self, instant: int) -> list[Report]:
        """Tell the engine that no element before an instant comes any more, and return the reports
        that this makes final.

        They are the reports of elements that were held back, because a late element (MOD-2) or one
        of another stream could still have preceded them.

        Time alone reports nothing (TICK-4). A window that closes by the instant is reported at the
        next arrival, or by `finish`.
        """
        self._refuse_after_a_failure()
        return self._reports(self._arrivals.advance(instant))

    def finish(self) -> list[Report]:
        """End the streams, and return the last reports, among them those that the horizon triggers
        (ENG-1). Nothing may be pushed after that.
        """
        self._refuse_after_a_failure()
        return self._reports(self._arrivals.finish())

    def _reports(self, indices: range) -> list[Report]:
        """Return the reports that some arrivals trigger. `indices` are their indices among the
        arrivals of the plan.
        """
        # Most elements are added to the plan in place. The first element of a stream makes a new
        # plan, since it says where the stream's windows lie. The answers keep the old plan: they
        # read only the streams' names and elements, which both plans share.
        planned = self._arrivals.plan
        if planned is not self._schedule.planned:
            self._schedule.planned = planned
            self._maker.planned = planned

        # A group is evaluations over the same contents (ENG-2).
        try:
            made = [
                self._maker.report(evaluation)
                for index in indices
                for group in self._schedule.arrive(index)
                for evaluation in group
            ]
        except Exception as error:
            self._failed = error
            raise
        if indices.stop - self._kept_since >= FORGOTTEN_AT_ONCE:
            self._forget()
            self._kept_since = indices.stop
        return [report for report in made if report is not None]

    def _forget(self) -> None:
        """Forget the elements that no evaluation to come needs."""
        last_tick = self._schedule.last_tick
        if last_tick is None or self._schedule.planned.semantics.is_consuming:
            return
        seen = self._schedule.seen
        contents = list(zip(seen.reported, seen.at_instant_before, strict=True))
        self._arrivals.forget(last_tick.own, contents)

    def _refuse_after_a_failure(self) -> None:
        if self._failed is not None:
            error = f"{type(self._failed).__name__}: {self._failed}"
            reason = f"the engine broke down at an earlier call, with {error}"
            raise InvalidStream(reason, rule="ENG-8")
