"""§9 The engine for live input: elements are pushed, and the answers are kept up to date (ENG-8,
ENG-6).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, TypedDict, Unpack, overload

from refengine.core import engine, r2r
from refengine.core.answers import EvaluateBody, MakeAnswers, recomputed_answers
from refengine.core.engine import MAX_REPORTS, Report
from refengine.core.query import Query
from refengine.core.semantics import Semantics
from refengine.core.static import Static
from refengine.incremental.maintained import MaintainedWhileCovered, Provenance
from refengine.model.canonical import graph_of
from refengine.model.elements import Element
from refengine.model.errors import InvalidQuery, InvalidStream
from refengine.model.messages import display, nearest


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
