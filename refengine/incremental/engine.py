"""§9 The reports of `core.engine.evaluate`, each of which costs what changed since the one before,
and the engine for live input, whose elements are pushed (ENG-8, ENG-6).

This is no second definition. Which windows are evaluated when is `schedule`'s, which is held to
`core.schedule`; the answers are `maintained`'s; R2S is `core.r2s`, on the rows that came and went.
What is not covered the definition computes, and the provenance says so. All is held to the
definition by tests/incremental/test_incremental.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypedDict, Unpack, overload

from refengine.core import engine, r2r
from refengine.core.answers import EvaluateBody, MakeAnswers, recomputed_answers, refuse_no_function
from refengine.core.plan import Plan
from refengine.core.query import Query
from refengine.core.reports import Report, ReportMaker, Step
from refengine.core.schedule import MAX_REPORTS, Evaluation
from refengine.core.semantics import Semantics
from refengine.core.static import Static
from refengine.incremental.arrival_buffer import buffer_of, first_needed, plan_streamed
from refengine.incremental.maintained import MaintainedWhileCovered, Provenance
from refengine.incremental.schedule import schedule_evaluations
from refengine.model.elements import Element, Statements, Stream, graph_of, refuse_no_streams
from refengine.model.errors import InvalidQuery, InvalidStream
from refengine.model.messages import display, nearest


class IncrementalRun(Iterator[Report]):
    """The reports of a plan, one after the other, as `evaluate_incrementally` gives them.

    The first `skip` evaluations may be left out, as if the answer had been empty before the next
    one. If the definition is asked for, it computes each answer anew. Raises what
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
        is_definition_asked: bool = False,
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


evaluate_plan = IncrementalRun


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
    return IncrementalRun(query, planned, static=static, answer=answer, max_reports=max_reports)


# Live input


class _OldOptions(TypedDict, total=False):
    """Options of an Engine that have another name now."""

    make_answers: MakeAnswers


OPTIONS = ("static", "answer", "max_reports", "definition")


def refuse_unknown_options(options: Iterable[str]) -> None:
    """ENG-8: Refuse an option that no engine has. Raises InvalidQuery."""
    for name in options:
        if name not in _OldOptions.__annotations__:
            reason = f"unknown option {display(name)}{nearest(name, OPTIONS)}"
            raise InvalidQuery(reason, rule="ENG-8", place="Engine")


class Engine(engine.Engine):
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
        **old: Unpack[_OldOptions],
    ) -> None:
        """Register a query over the named streams.

        Each answer is made from the one before it (ENG-6), with rows that are equal value for
        value, and no witness is asked. What is not covered the definition computes: `provenance`
        says from when on. With `definition=True` it computes all, and the witnesses confirm it, as
        in `evaluate`.

        `static` and `max_reports` are those of `evaluate`. `answer` is R2R, a function from a body
        and a dataset to a relation: where it is given, it makes every answer. Raises InvalidQuery
        and InvalidSemantics (QRY-4, QRY-5).
        """
        if not isinstance(definition, bool):
            reason = f"definition must be True or False, got {display(definition)}"
            raise InvalidQuery(reason, rule="ENG-8", place="Engine")
        is_plain = definition or answer is not None
        make_answers: MakeAnswers = recomputed_answers if is_plain else MaintainedWhileCovered
        if old:
            refuse_unknown_options(old)
            make_answers = old["make_answers"]
            advice = "make_answers is old: write definition=True, or leave it out"
            warnings.warn(advice, DeprecationWarning, stacklevel=2)
        super().__init__(
            query,
            streams,
            semantics,
            static=static,
            answer=answer or r2r.confirmed_answer,
            max_reports=max_reports,
            make_answers=make_answers,
        )

    @overload
    def push(self, payload: str, time: Element, /) -> list[Report]: ...
    @overload
    def push(
        self,
        payload: Any,
        time: Any,
        /,
        *,
        stream: str | None = None,
        batch: int | None = None,
        end: Any = None,
    ) -> list[Report]: ...
    def push(
        self,
        payload: Any = None,
        time: Any = None,
        /,
        *,
        stream: str | None = None,
        batch: int | None = None,
        end: Any = None,
        element: Any = None,
    ) -> list[Report]:
        """Take the next element, and return the reports that no later element can change.

        `push(graph, time)` is for a graph or a triple and its time, as `stream` takes them. Its
        place in the order of arrival is counted. `stream` is the name of its stream, if the engine
        has several; `batch` and `end` are those of an Element. `push(name, element)` is for an
        Element that has its place.

        The elements of all streams share one clock: t_sys increases from push to push.

        Raises InvalidStream for an element that cannot come next, and InvalidSemantics for one that
        the semantics does not allow: under the batch tick each needs a batch id. The refused
        element has no effect, and those before it stay.

        Raises TooManyReports, and the errors of R2R. After such an error the engine has ended,
        since what it would have reported is not known.
        """
        if element is not None and stream is not None:
            advice = "push(stream=…, element=…) is old: write push(name, element)"
            warnings.warn(advice, DeprecationWarning, stacklevel=2)
            payload, time = stream, element
        if type(payload) is str:
            return super().push(payload, time)
        arrivals = self._arrivals
        place = max(0, arrivals.last_sys) + 1
        element = Element(graph_of(payload, f"element {place}"), time, place, batch, end)
        return super().push(self._one_stream() if stream is None else stream, element)

    def _one_stream(self) -> str:
        """Return the name of the only stream. Raises InvalidStream if there are several."""
        names = self._arrivals.declared
        if len(names) == 1:
            return names[0]
        reason = f"the engine has {len(names)} streams; write push(graph, time, stream="
        example = repr(names[0]) if names else "…"
        raise InvalidStream(f"{reason}{example})", rule="ENG-8", place="push")

    @property
    def provenance(self) -> Provenance:
        """Who computed the reports so far."""
        if isinstance(self.answers, MaintainedWhileCovered):
            return self.answers.provenance
        return Provenance.of_request()
