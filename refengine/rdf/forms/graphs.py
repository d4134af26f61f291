"""Dated graphs (IO-1): each named graph of a document is an element, and its default graph says
when.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from refengine.model.elements import Stream, Term, Triple
from refengine.model.errors import InvalidStream, require
from refengine.model.messages import display
from refengine.rdf.forms.dating import DatePredicates, Dates
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.sources import Source
from refengine.rdf.statements import Statement
from refengine.rdf.terms import Fault


def build_stream_of_graphs(
    source: Source, statements: Iterable[Statement], dating: DatePredicates
) -> Stream:
    """IO-1: Return the stream of named graphs in the order of their first appearance, with the
    date, and the end and batch id if any, that the default graph gives each. Raises InvalidStream.
    """
    return build_stream(read_graphs(source, statements, dating))


def read_graphs(
    source: Source, statements: Iterable[Statement], dating: DatePredicates
) -> list[ReadElement]:
    """Return the elements of `build_stream_of_graphs`. Raises InvalidStream."""
    graphs = _Graphs(source, Dates(dating))
    for statement in statements:
        if statement.graph is not None:
            graphs.add(statement.graph, statement.triple, statement.line)
        else:
            graphs.add_date(require(statement.triple), statement.line)
    graphs.check_dates()
    return [graphs.element(graph) for graph in graphs.triples]


@dataclass
class _Graphs:
    """The named graphs of a document in the order of their first appearance, and what its default
    graph says of each.
    """

    source: Source
    dates: Dates
    triples: dict[Term, set[Triple]] = field(default_factory=dict)
    # where a graph is first seen: in a date or as a graph
    lines: dict[Term, int] = field(default_factory=dict)

    def add(self, graph: Term, triple: Triple | None, line: int) -> None:
        """Add a triple to a named graph, or only the graph, which may be empty."""
        self.lines.setdefault(graph, line)
        triples = self.triples.setdefault(graph, set())
        if triple is not None:
            triples.add(triple)

    def add_date(self, triple: Triple, line: int) -> None:
        """Add what a triple of the default graph says of a graph. Raises InvalidStream for one that
        says nothing of time, and for a second value.
        """
        graph, predicate, value = triple
        self.lines.setdefault(graph, line)
        try:
            says_time = self.dates.add(graph, predicate, value)
        except Fault as fault:
            place = f"{self.source}:{line}: graph {graph}"
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None
        if not says_time:
            written = display(" ".join(triple))
            reason = f"a triple that is in no graph, so of no element, and is no date: {written}"
            raise InvalidStream(reason, rule="IO-1", place=f"{self.source}:{line}")

    def check_dates(self) -> None:
        """Check that what is dated is a graph of the document. Raises InvalidStream."""
        for values in self.dates.values.values():
            for graph in values:
                if graph not in self.triples:
                    raise InvalidStream(
                        "a date of a graph that is not in the file",
                        rule="IO-1",
                        place=self.place(graph),
                    )

    def place(self, graph: Term) -> str:
        """Return the place of a graph, for an error."""
        return f"{self.source}:{self.lines[graph]}: graph {graph}"

    def element(self, graph: Term) -> ReadElement:
        """Return the element of a graph. Raises InvalidStream for one without a date."""
        place = self.place(graph)
        try:
            if not self.dates.is_dated(graph):
                predicate = self.dates.dating.time_predicate
                raise Fault(f"no date: no triple {graph} <{predicate}> … in the default graph")
            app, batch, end = self.dates.times(graph)
        except Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None
        return ReadElement(frozenset(self.triples[graph]), app, place, batch, end)
