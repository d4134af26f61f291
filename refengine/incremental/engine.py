"""§9 The reports of `core.engine.evaluate`, each of which costs what changed since the one before,
and the engine for live input, whose elements are pushed (ENG-8, ENG-6).

This is no second reading of SPEC.md. Which windows are evaluated when is `schedule`'s, which is
held to `core.schedule`; the answers are `maintained`'s; R2S is `core.r2s`, on the rows that came
and went.
What is not covered the SPARQL evaluator computes, and the provenance says so. All is held to
`core.engine` by tests/incremental/test_incremental.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from refengine.core import engine, r2r
from refengine.core.answers import EvaluateBody, MakeAnswers, recomputed_answers, refuse_no_function
from refengine.core.arrivals import Arrivals
from refengine.core.growing import FORGOTTEN_AT_ONCE
from refengine.core.plan import Plan
from refengine.core.query import Query
from refengine.core.reports import Report, ReportMaker, Step
from refengine.core.schedule import MAX_REPORTS, Evaluation, Schedule
from refengine.core.semantics import Semantics
from refengine.core.static import Static, resolve_static
from refengine.core.window import Content
from refengine.incremental.arrival_buffer import buffer_of, first_needed, plan_streamed
from refengine.incremental.maintained import MaintainedWhileCovered, Provenance
from refengine.incremental.schedule import schedule_evaluations
from refengine.model.elements import (
    Element,
    Statements,
    Stream,
    graph_of,
    refuse_no_names,
    refuse_no_streams,
)
from refengine.model.errors import InvalidQuery, InvalidStream, RefengineError
from refengine.model.messages import display


class IncrementalRun(Iterator[Report]):
    """The reports of a plan, one after the other, as `evaluate_incrementally` gives them.

    The first `skip` evaluations may be left out, as if the answer had been empty before the next
    one. If the SPARQL evaluator is asked for, it computes each answer anew. Raises what
    `core.engine.evaluate` raises.
    """

    def __init__(
        self,
        query: Query,
        planned: Plan,
        *,
        static: Statements = frozenset(),
        answer: EvaluateBody = r2r.confirmed_answer,
        max_reports: int = MAX_REPORTS,
        skip: int = 0,
        is_evaluator_requested: bool = False,
    ) -> None:
        self.query = query
        self.planned = planned
        self.max_reports = max_reports
        self.skip = skip
        self.answers = MaintainedWhileCovered(
            query, planned, static, answer, skip, is_evaluator_requested
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
        # most evaluations under content change are of an element that changes no row
        is_passed_over = self.answers.is_unchanged_over if maker.is_silent else None
        for at in self._evaluations(is_passed_over):
            report = maker.report(at)
            if report is not None:
                yield report

    def _evaluations(
        self, is_passed_over: Callable[[Content], bool] | None = None
    ) -> Iterator[Evaluation]:
        """Return the evaluations that are neither left out nor passed over."""
        planned = self.planned
        answers = self.answers
        buffer = buffer_of(planned)
        if buffer is not None:
            buffer.find_first_needed = lambda: first_needed(planned, answers.contents[0])
        evaluations = schedule_evaluations(planned, self.max_reports, is_passed_over)
        return islice(evaluations, self.skip, None)


evaluate_plan = IncrementalRun


def evaluate_incrementally(
    query: Query,
    streams: Mapping[str, Stream | Iterable[Element]],
    semantics: Semantics,
    *,
    static: Static = frozenset(),
    answer: EvaluateBody = r2r.confirmed_answer,
    max_reports: int = MAX_REPORTS,
) -> IncrementalRun:
    """ENG-6: Return the reports of `core.engine.evaluate`, with rows that are equal value for value
    (CMP-4). Reports that no witness confirms are given, too. `answer` is R2R for what incremental
    evaluation does not cover. A report's `contents` are looked up when they are asked for.

    A stream may be an iterator of elements in the order of time. Then it is read while it is
    evaluated, and elements that no window can hold any more are forgotten, with the `contents` of
    the reports that had them. The SPARQL evaluator cannot take over there: what is not covered is
    Unsupported.

    Raises what `core.engine.evaluate` raises.
    """
    refuse_no_function(answer)
    engine.refuse_no_bound(max_reports)
    refuse_no_streams(streams)
    query, data = resolve_static(query, static)
    whole = {name: stream for name, stream in streams.items() if isinstance(stream, Stream)}
    if len(whole) == len(streams):
        planned = engine.plan(query, whole, semantics)
    else:
        planned = plan_streamed(query, streams, semantics)
    return IncrementalRun(query, planned, static=data, answer=answer, max_reports=max_reports)


# Live input


class Engine:
    """A continuous query under a semantics, over streams whose elements come one at a time.

    What `push`, `advance` and `finish` return, one after the other, are the reports of `evaluate`
    over the same streams, each as soon as nothing that may still come can change it (ENG-8). The
    elements that no evaluation to come needs are forgotten; a report keeps those that it is about.
    Windows by key, unbounded ones and those of matches that use up elements may need all. An engine
    is used by one thread at a time, and cannot be copied or pickled.

    >>> from refengine import Engine, from_table, profile
    >>> tumbling = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    >>> q = from_table({"body": "SELECT ?x {?x ?p ?o}", "windows": [tumbling]})
    >>> engine = Engine(q, ["s"], profile("csparql").but(t0=0).semantics())
    >>> [r.window for r in engine.push(("<urn:a>", "<urn:p>", "<urn:o>"), 3)]
    []
    >>> [r.window for r in engine.push(("<urn:b>", "<urn:p>", "<urn:o>"), 10)]
    [(0, 10)]
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
        answer: EvaluateBody | None = None,
        max_reports: int = MAX_REPORTS,
        definition: bool = False,
    ) -> None:
        """Register a query over the named streams.

        Each answer is made from the one before it (ENG-6), with rows that are equal value for
        value, and no witness is asked. What is not covered the SPARQL evaluator computes:
        `provenance` says from when on. With `definition=True` it computes all, and the witnesses
        confirm it, as in `evaluate`.

        `static` and `max_reports` are those of `evaluate`. `answer` is R2R, a function from a body
        and a dataset to a relation: where it is given, it makes every answer. Raises InvalidQuery
        and InvalidSemantics (QRY-4, QRY-5).
        """
        if not isinstance(definition, bool):
            reason = f"definition must be True or False, got {display(definition)}"
            raise InvalidQuery(reason, rule="ENG-8", place="Engine")
        is_plain = definition or answer is not None
        make_answers: MakeAnswers = recomputed_answers if is_plain else MaintainedWhileCovered
        answer = r2r.confirmed_answer if answer is None else answer
        refuse_no_function(answer)
        engine.refuse_no_bound(max_reports)
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

    def push(
        self,
        graph: Any,
        time: Any,
        *,
        stream: str | None = None,
        batch: int | None = None,
        end: Any = None,
    ) -> list[Report]:
        """Take the next element, a graph or a triple and its time, as `refengine.stream` does, and
        return the reports that no later element can change.

        Its place in the order of arrival is counted. `stream` is the name of its stream, if the
        engine has several; `batch` and `end` are those of an Element. Raises what `push_element`
        raises.
        """
        place = max(0, self._arrivals.last_sys) + 1
        if isinstance(graph, Element) or isinstance(time, Element):
            reason = "an Element has its place and its time; write push_element(stream, element)"
            raise InvalidStream(reason, rule="ENG-8", place="push")
        element = Element(graph_of(graph, f"element {place}"), time, place, batch, end)
        return self.push_element(self._one_stream() if stream is None else stream, element)

    def push_element(self, stream: str, element: Element) -> list[Report]:
        """Take the next element, which has its place in the order of arrival, and return the
        reports that no later element can change.

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

    @property
    def provenance(self) -> Provenance:
        """Who computed the reports so far."""
        if isinstance(self.answers, MaintainedWhileCovered):
            return self.answers.provenance
        return Provenance.of_request()

    def _one_stream(self) -> str:
        """Return the name of the only stream. Raises InvalidStream if there are several."""
        names = self._arrivals.declared
        if len(names) == 1:
            return names[0]
        reason = f"the engine has {len(names)} streams; write push(graph, time, stream="
        example = repr(names[0]) if names else "…"
        raise InvalidStream(f"{reason}{example})", rule="ENG-8", place="push")

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
        state = self._schedule.report_state
        contents = list(zip(state.reported, state.at_instant_before, strict=True))
        self._arrivals.forget(last_tick.own, contents)

    def _refuse_after_a_failure(self) -> None:
        if self._failed is not None:
            error = f"{type(self._failed).__name__}: {self._failed}"
            reason = f"the engine broke down at an earlier call, with {error}"
            raise InvalidStream(reason, rule="ENG-8")
