"""Documents whose triples state the times of elements (IO-1, IO-3): an element is a named graph, a
subject that has a date, a member of a feed, or a message of a log.

A page of a feed, a Linked Data Event Stream, names its members, and describes itself and its feed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from refengine.model.elements import Stream, Term, Triple
from refengine.model.errors import require
from refengine.model.messages import display
from refengine.rdf.forms.reading import ReadElement, Reading, build_stream
from refengine.rdf.terms import Fault, Statement, placed_at
from refengine.rdf.times import Dates

LDES = "https://w3id.org/ldes#"
TREE = "https://w3id.org/tree#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
MEMBER = f"<{TREE}member>"
TIMESTAMP_PATH = f"<{LDES}timestampPath>"
# what has one of these is a feed or a page of one
OF_FEEDS = frozenset({MEMBER, TIMESTAMP_PATH, f"<{TREE}view>", f"<{TREE}relation>"})
TYPES_OF_FEEDS = frozenset({f"<{LDES}EventStream>", f"<{TREE}Collection>", f"<{TREE}Node>"})


@dataclass
class Feed:
    """What triples say of feeds and their pages: the nodes that these are, the members, and the
    predicates that state the members' times.
    """

    nodes: dict[Term, None] = field(default_factory=dict)
    members: dict[Term, None] = field(default_factory=dict)
    timestamp_paths: dict[Term, None] = field(default_factory=dict)

    def add(self, triple: Triple) -> None:
        """Add what a triple says."""
        subject, predicate, value = triple
        if predicate in OF_FEEDS or (predicate == TYPE and value in TYPES_OF_FEEDS):
            self.nodes[subject] = None
        if predicate == MEMBER:
            self.members[value] = None
        if predicate == TIMESTAMP_PATH:
            self.timestamp_paths[value] = None

    def describes(self, node: Term) -> bool:
        """Return whether a node is a feed or a page, and so no element: a member is one."""
        return node in self.nodes and node not in self.members

    def absent_members(self, nodes: Collection[Term]) -> list[Term]:
        """Return the members that are not among the nodes of the file."""
        return [member for member in self.members if member not in nodes]

    def time_predicate(self) -> str | None:
        """Return the predicate that states the members' times; None if none is named. Raises Fault
        for several, and for a path that is no predicate.
        """
        if not self.timestamp_paths:
            return None
        first, *others = self.timestamp_paths
        if others or not first.startswith("<"):
            what = "a path that is no predicate"
            if others:
                what = f"{display(first)} and {display(others[0])}"
            raise Fault(f"ldes:timestampPath is {what}; --time-predicate names one predicate")
        return first[1:-1]

    def description(
        self, triples: Mapping[Term, Iterable[Triple]], elements: Collection[Term]
    ) -> set[Term]:
        """Return the feeds, their pages, and the nodes that these lead to without a member or
        another node of an element between.
        """
        stop = {*self.members, *elements}
        return nodes_from([node for node in self.nodes if node in triples], triples, stop)


def read_dates(
    reading: Reading,
    feed: Feed,
    triples: Mapping[Term, Mapping[Triple, int]],
    nodes: Container[Term],
    place_of: Callable[[Term, int | None], str],
) -> Dates:
    """Return what triples, by their subjects and each with its line, say of the times of nodes. A
    feed may name the predicate that states times, unless the user chose one. `place_of` names the
    place of a node at a line, or where it is first seen. Raises InvalidStream for a second date.
    """
    if feed.nodes and reading.options.time_predicate is None:
        with placed_at(place_of(next(iter(feed.nodes)), None)):
            predicate = feed.time_predicate()
        if predicate is not None:
            reading.date_by(predicate)
    dates = Dates(reading.dating, reading.zones)
    for subject, found in triples.items():
        for triple, line in found.items():
            dates.add_instant(*triple)
            try:
                if subject in nodes:
                    dates.add(*triple)
            except Fault as fault:
                reading.refuse(str(fault), place_of(subject, line))
    return dates


def nodes_from(
    begin: Iterable[Term], triples: Mapping[Term, Iterable[Triple]], stop: Collection[Term]
) -> set[Term]:
    """Return some nodes and the subjects that they lead to, but for those to `stop` at."""
    to_visit = [node for node in begin if node not in stop]
    found = set(to_visit)
    while to_visit:
        for _, _, node in triples[to_visit.pop()]:
            if node in triples and node not in found and node not in stop:
                found.add(node)
                to_visit.append(node)
    return found


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
            graphs.describe(require(statement.triple), statement.line)
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

    def describe(self, triple: Triple, line: int) -> None:
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
        described = self.described
        dates = read_dates(self.reading, self.feed, described, self.triples, self._place)
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

    def _place(self, graph: Term, line: int | None = None) -> str:
        """Return the place of a graph, for an error."""
        return f"{self.reading.source}:{line or self.lines[graph]}: graph {graph}"


MOST_TRIPLES = 10**7  # of all elements together: what many of them lead to is in each of them
# states of a result what hasResult states of an observation
IS_RESULT_OF = "<http://www.w3.org/ns/sosa/isResultOf>"


def build_stream_of_subjects(reading: Reading, statements: Iterable[Statement]) -> Stream:
    """IO-3: Return the stream of the subjects that have a date, or of a feed's members, in the
    order of their first appearance. An element has the subject's triples, and those of the nodes
    that are no elements and that they lead to. A triple that no element has describes the feed, or
    is set aside. Raises InvalidStream.
    """
    document = _Subjects(reading)
    for statement in statements:
        document.add(require(statement.triple), statement.line)
    return build_stream(document.elements())


@dataclass
class _Subjects:
    """The triples of a document by their subjects, in the order of their first appearance, each
    with its line.
    """

    reading: Reading
    triples: dict[Term, dict[Triple, int]] = field(default_factory=dict)
    results: dict[Term, list[Term]] = field(default_factory=dict)  # of an observation
    feed: Feed = field(default_factory=Feed)

    def add(self, triple: Triple, line: int) -> None:
        """Add a triple."""
        subject, predicate, value = triple
        self.triples.setdefault(subject, {}).setdefault(triple, line)
        if predicate == IS_RESULT_OF:
            self.results.setdefault(value, []).append(subject)
        self.feed.add(triple)

    def elements(self) -> Iterator[ReadElement]:
        """Yield the elements in their order, and set aside what is in none of them. Raises
        InvalidStream.
        """
        dates = read_dates(self.reading, self.feed, self.triples, self.triples, self._place)
        begin = [node for node in self.triples if dates.is_dated(node)]
        if self.feed.members:
            begin = [node for node in begin if node in self.feed.members]
        begin = [node for node in begin if not self.feed.describes(node)]
        are_elements = set(begin)
        used: set[Term] = set()
        count = 0
        for subject in begin:
            nodes = self._nodes_of_element(subject, are_elements)
            used |= nodes
            triples = frozenset(triple for node in nodes for triple in self.triples[node])
            count += len(triples)
            place = self._place(subject)
            if count > MOST_TRIPLES:
                self.reading.refuse(
                    f"more than {MOST_TRIPLES} triples in all elements together", place
                )
            with placed_at(place):
                app, batch, end = dates.times(subject)
            yield ReadElement(triples, app, place, batch, end)
        self._set_aside(used, dates)

    def _nodes_of_element(self, subject: Term, are_elements: set[Term]) -> set[Term]:
        """Return a subject, and the subjects that its triples lead to, but for other elements,
        feeds and pages.
        """
        found = {subject}
        to_visit = [subject]
        while to_visit:
            node = to_visit.pop()
            objects = [value for _, _, value in self.triples[node]]
            for other in objects + self.results.get(node, []):
                if other not in self.triples or other in found or other in are_elements:
                    continue
                if not self.feed.describes(other):
                    found.add(other)
                    to_visit.append(other)
        return found

    def _set_aside(self, used: set[Term], dates: Dates) -> None:
        """Set aside the triples of subjects that are in no element and do not describe the feed."""
        self.reading.absent_members = self.feed.absent_members(self.triples)
        description = self.feed.description(self.triples, used)
        for subject, triples in self.triples.items():
            if subject in description:
                self.reading.describe(triples)
            elif subject not in used:
                self.reading.set_aside(
                    triples, self._why_in_no_element(subject, dates), self._place(subject)
                )

    def _why_in_no_element(self, subject: Term, dates: Dates) -> str:
        if dates.is_dated(subject):
            return "no tree:member names it, and no member leads to it"
        why = self.reading.dating.why_undated(self.triples[subject])
        what = "a subject with a date"
        if self.feed.members:
            what = "a member with a date"
        return f"no date, nor does {what} lead to it: {why}"

    def _place(self, subject: Term, line: int | None = None) -> str:
        """Return the place of a subject, for an error."""
        line = line or next(iter(self.triples[subject].values()))
        return f"{self.reading.source}:{line}: subject {subject}"


MESSAGE = "<urn:refengine:message>"  # what the dates of a message are dates of


def build_stream_of_messages(reading: Reading, messages: Iterable[Sequence[Statement]]) -> Stream:
    """IO-3: Return the stream of messages, each its statements, in their order. A message without
    statements states no time, and is no element. Raises InvalidStream.
    """
    return build_stream(
        element
        for number, message in enumerate(messages, 1)
        if message
        for element in _read_message(reading, number, message)
    )


def _read_message(
    reading: Reading, number: int, message: Sequence[Statement]
) -> Iterator[ReadElement]:
    """Yield the element of a message; none if the message has no time and is set aside. Raises
    InvalidStream.
    """
    graphs = {statement.graph for statement in message} - {None}
    place = f"{reading.source}:{message[0].line}: message {number}"
    if len(graphs) > 1:
        reading.refuse(f"{len(graphs)} named graphs; a message is one element, so one graph", place)
    if graphs:
        yield from read_graphs(reading, message)
        return

    dates = Dates(reading.dating, reading.zones)
    triples = frozenset(require(statement.triple) for statement in message)
    try:
        for statement in message:
            triple = require(statement.triple)
            dates.add_instant(*triple)
            dates.add(MESSAGE, *triple[1:])
        if not dates.is_dated(MESSAGE):
            reading.set_aside(triples, f"no date: {reading.dating.why_undated(triples)}", place)
            return
        app, batch, end = dates.times(MESSAGE)
    except Fault as fault:
        reading.refuse(str(fault), place)
    yield ReadElement(triples, app, place, batch, end)
