"""The reference engine as its harness asks it: what it replies to each command of the protocol."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, cast

from conformance.verdict import window_elements
from refengine import dialects, incremental
from refengine.core import engine
from refengine.core.arrivals import are_first_reports_final, why_whole_streams
from refengine.core.engine import Report
from refengine.core.plan import check_query
from refengine.core.query import Query, from_table
from refengine.core.semantics import Semantics
from refengine.core.static import names_of_graphs
from refengine.core.values import End
from refengine.incremental import MaintainedWhileCovered
from refengine.incremental.engine import Engine
from refengine.model.elements import Dataset, Element, Stream, Triple
from refengine.model.errors import RefengineError, Unsupported
from refengine.rdf.documents import read_static
from refengine.rdf.recordings import relation_to_json
from refengine.rdf.sources import Text

Reports = list[Report]
WAYS = ("definition", "incremental")  # how answers are found


class GrowingStreams:
    """Evaluates all elements so far anew at each push, where elements cannot be pushed one by one
    (ENG-8), such as where every window is reported on its own.
    """

    def __init__(
        self,
        query: Query,
        streams: list[str],
        semantics: Semantics,
        *,
        static: Dataset,
        definition: bool,
    ) -> None:
        """Register a query over streams, which hold no elements yet. Raises RefengineError."""
        check_query(query, streams, semantics)
        self.query = query
        self.elements: dict[str, list[Element]] = {name: [] for name in streams}
        self.semantics = semantics
        self.static = static
        self.evaluate = engine.evaluate if definition else incremental.evaluate
        self.reported = 0
        self.reports_early = are_first_reports_final(query, semantics)

    def push_element(self, stream: str, element: Element) -> Reports:
        """Return the reports that are complete when an element arrives."""
        self.elements[stream].append(element)
        if not self.reports_early:
            return []
        return self.new_reports(replace(self.semantics, horizon=End.NONE))

    def advance(self, at: int) -> Reports:
        """Report nothing."""
        return []

    def finish(self) -> Reports:
        """Return the last reports."""
        return self.new_reports(self.semantics)

    def new_reports(self, semantics: Semantics) -> Reports:
        """Return the reports over the elements so far that have not been returned before."""
        streams = {name: Stream(tuple(elements)) for name, elements in self.elements.items()}
        reports = list(self.evaluate(self.query, streams, semantics, static=self.static))
        new = reports[self.reported :]
        self.reported = len(reports)
        return new


class Reference:
    """The reference engine, and the query that is registered with it."""

    def __init__(self, semantics: Semantics, way: str = "incremental") -> None:
        """Make an engine with the semantics that it usually has, and a way of WAYS."""
        self.usual = semantics
        self.is_asked_for_contents = False
        self.way = way

    def register(
        self,
        text: str,
        dialect: str,
        streams: Sequence[str] = (window_elements.STREAM,),
        static: str = "",
        **more: Any,
    ) -> Reports:
        """Register a query, and forget the one before. `more` may have a `semantics`."""
        statements = _statements(static)
        self.is_asked_for_contents = dialect == window_elements.DIALECT
        if dialect == "table":
            parsed_query = from_table(json.loads(text))
        elif self.is_asked_for_contents:
            parsed_query = from_table(window_elements.query_table(json.loads(text)))
        else:
            parsed_query = dialects.read(
                text, dialect, bool(statements), graphs=names_of_graphs(statements)
            )
        semantics = self.usual
        if "semantics" in more:
            semantics = Semantics(**more["semantics"])
        is_defined = self.way == "definition"
        make = GrowingStreams if why_whole_streams(parsed_query, semantics) else Engine
        self.engine: Engine | GrowingStreams = make(
            parsed_query, list(streams), semantics, static=statements, definition=is_defined
        )
        self.arrivals = 0
        return []

    def push(
        self,
        stream: str,
        at: int,
        graph: str,
        batch: int | None = None,
        end: int | None = None,
    ) -> Reports:
        """Return the reports that are complete when an element arrives."""
        self.arrivals += 1
        triples = cast(frozenset[Triple], _statements(graph))  # an element has no named graphs
        return self.engine.push_element(stream, Element(triples, at, self.arrivals, batch, end))

    def push_number(
        self, at: int, element: int | None = None, key: str = "", **more: Any
    ) -> Reports:
        """Return the reports that are complete when an element with a number arrives, or a
        punctuation. `more` may have a `batch` and an `end`.
        """
        graph = "" if element is None else f"{window_elements.graph_text(element, key)} ."
        return self.push(window_elements.STREAM, at, graph, **more)

    def finish(self) -> Reports:
        """Return the last reports. If the SPARQL evaluator had to take over, say so on standard
        error.
        """
        reports = self.engine.finish()
        answers = getattr(self.engine, "answers", None)
        if isinstance(answers, MaintainedWhileCovered) and answers.until is not None:
            print(f"refengine: provenance: {answers.provenance}", file=sys.stderr, flush=True)
        return reports


def _relation(report: Report, is_asked_for_contents: bool) -> dict[str, Any]:
    relation: dict[str, Any] = {"instant": report.instant}
    if is_asked_for_contents:
        relation["elements"] = window_elements.numbers_in(report.relation.rows.elements())
    else:
        relation["rows"] = relation_to_json(report.relation)["results"]["bindings"]
    if report.window is not None:
        relation["window"] = list(report.window)
    if report.takes_back:
        relation["takes_back"] = True
    if report.key:
        relation["key"] = list(report.key)
    return relation


def _statements(text: str) -> Dataset:
    """Return the triples and quads of a text in N-Quads."""
    return read_static(Text("text.nq", text, "text"))


def run_command(reference: Reference, message: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a message, without its number."""
    command = message.pop("command")
    try:
        match command:
            case "start":
                computed = f"{version('refengine')} ({reference.way})"
                named = {"engine": "refengine", "version": computed}
                return {"reply": "result", "protocol": 1, **named, "configurable": True}
            case "register":
                reports = reference.register(message.pop("query"), **message)
            case "push" if reference.is_asked_for_contents:
                reports = reference.push_number(**message)
            case "push":
                reports = reference.push(**message)
            case "advance":
                reports = reference.engine.advance(message["at"])
            case "end":
                reports = reference.finish()
            case _:
                return {"reply": "result"}
        relations = [_relation(report, reference.is_asked_for_contents) for report in reports]
        return {"reply": "result", "relations": relations}
    except Unsupported as error:
        return {"reply": "unsupported", "reason": str(error)}
    except RefengineError as error:
        return {"reply": "error", "context": f"{type(error).__name__}: {error}"}
