"""Dated graphs (IO-1): each named graph of a document is an element. Its default graph says when,
and may say more of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from refengine.model.elements import Stream, Term, Triple
from refengine.model.errors import require
from refengine.model.messages import display
from refengine.rdf.forms.dating import Dates
from refengine.rdf.forms.feeds import Feed, date_by_feed, nodes_from
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.forms.reading import Reading
from refengine.rdf.statements import Statement
from refengine.rdf.terms import Fault


def build_stream_of_graphs(reading: Reading, statements: Iterable[Statement]) -> Stream:
    """IO-1: Return the stream of named graphs in the order of their first appearance, with the
    date, and the end and batch id if any, that the default graph gives each. A graph that it does
    not date has the date that its own triples state. Raises InvalidStream.
    """
    return build_stream(read_graphs(reading, statements))


def read_graphs(reading: Reading, statements: Iterable[Statement]) -> list[ReadElement]:
    """Return the elements of `build_stream_of_graphs`. Raises InvalidStream."""
    graphs = _Graphs(reading)
    for statement in statements:
        if statement.graph is not None:
            graphs.add(statement.graph, statement.triple, statement.line)
        else:
            graphs.add_to_default_graph(require(statement.triple), statement.line)
    return list(graphs.elements())


@dataclass
class _Graphs:
    """The named graphs of a document in the order of their first appearance, and the triples of its
    default graph by their subjects, each with its line.
    """

    reading: Reading
    triples: dict[Term, dict[Triple, None]] = field(default_factory=dict)
    lines: dict[Term, int] = field(default_factory=dict)  # where a node is first seen as a graph
    described: dict[Term, dict[Triple, int]] = field(default_factory=dict)
    feed: Feed = field(default_factory=Feed)

    def add(self, graph: Term, triple: Triple | None, line: int) -> None:
        """Add a triple to a named graph, or only the graph, which may be empty."""
        self.lines.setdefault(graph, line)
        triples = self.triples.setdefault(graph, {})
        if triple is not None:
            triples[triple] = None

    def add_to_default_graph(self, triple: Triple, line: int) -> None:
        """Add a triple to the default graph."""
        self.lines.setdefault(triple[0], line)
        self.described.setdefault(triple[0], {}).setdefault(triple, line)
        self.feed.add(triple)

    def elements(self) -> Iterator[ReadElement]:
        """Yield the elements in their order, and set aside the rest. Raises InvalidStream."""
        dates = self._dates()
        self._set_default_graph_aside(dates)
        for graph, triples in self.triples.items():
            place = self._place(graph)
            try:
                if not dates.is_dated(graph):
                    for _, predicate, value in triples:
                        dates.add(graph, predicate, value)
                if not dates.is_dated(graph):
                    about = [*self.described.get(graph, ()), *triples]
                    reason = f"no date: {self.reading.dating.why_undated(about)}"
                    quads = [(*triple, graph) for triple in triples]
                    self.reading.set_aside(quads, reason, place)
                    continue
                app, batch, end = dates.times(graph)
            except Fault as fault:
                self.reading.refuse(str(fault), place)
            yield ReadElement(frozenset(triples), app, place, batch, end)

    def _dates(self) -> Dates:
        """Return what the default graph says of the times of graphs. Raises InvalidStream for a
        second date.
        """
        if self.feed.nodes:
            date_by_feed(self.reading, self.feed, self._place(next(iter(self.feed.nodes))))
        dates = Dates(self.reading.dating, self.reading.zones)
        for subject, triples in self.described.items():
            for triple, line in triples.items():
                dates.add_instant(*triple)
                try:
                    if subject in self.triples:
                        dates.add(*triple)
                except Fault as fault:
                    place = f"{self.reading.source}:{line}: graph {subject}"
                    self.reading.refuse(str(fault), place)
        for contents in self.triples.values():
            for triple in contents:
                dates.add_instant(*triple)
        return dates

    def _set_default_graph_aside(self, dates: Dates) -> None:
        """Set aside the triples of the default graph that say nothing of time: those about graphs,
        about feeds, and about what these lead to, and all others. Raises InvalidStream.
        """
        graphs = [node for node in self.described if node in self.triples]
        self.reading.absent_members = self.feed.absent_members({**self.triples, **self.described})
        description = nodes_from(graphs, self.described, ())
        description |= self.feed.description(self.described, ())
        for subject, triples in self.described.items():
            if subject in description:
                self.reading.describe(
                    triple
                    for triple in triples
                    if subject not in self.triples or not dates.states_time(triple[1])
                )
                continue
            for triple, line in triples.items():
                self._set_triple_aside(triple, line, dates)

    def _set_triple_aside(self, triple: Triple, line: int, dates: Dates) -> None:
        """Set aside a triple of the default graph that is about no graph. Raises InvalidStream."""
        if dates.states_time(triple[1]):
            reason, place = "a date of a graph that is not in the file", self._place(triple[0])
        else:
            written = display(" ".join(triple))
            reason = f"a triple that is in no graph, so of no element, and is no date: {written}"
            place = f"{self.reading.source}:{line}"
        self.reading.set_aside([triple], reason, place)

    def _place(self, graph: Term) -> str:
        """Return the place of a graph, for an error."""
        return f"{self.reading.source}:{self.lines[graph]}: graph {graph}"
