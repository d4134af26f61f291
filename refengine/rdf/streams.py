"""Reading streams: a file, a folder or a text in, a stream of the model out (IO-1).

Terms keep the lexical form that the text gives them. Nothing here reaches the network, and no term
takes its text from where a file lies: an IRI that is not absolute is an error. What a stream says
about time is MOD-1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NamedTuple

from refengine.model.canonical import CanonicalElements, CanonicalIterator
from refengine.model.elements import TIME_BOUND, Element, Stream, Term, Triple, arrivals
from refengine.model.errors import ForbiddenAccess, InvalidStream, require
from refengine.model.messages import display
from refengine.rdf import documents, lines, sources
from refengine.rdf.sources import Folder, Piped, Source, Text, TextFolder
from refengine.rdf.terms import Fault, make_iri, parse_date
from refengine.rdf.turtle import Statement

PROV_GENERATED_AT_TIME = "http://www.w3.org/ns/prov#generatedAtTime"
PROV_INVALIDATED_AT_TIME = "http://www.w3.org/ns/prov#invalidatedAtTime"
INSTANT = 1000  # ms between two files of a CSRBench folder


def read_stream(
    path: Source | TextFolder,
    time_predicate: str = PROV_GENERATED_AT_TIME,
    batch_predicate: str | None = None,
) -> Stream:
    """IO-1: Return a stream from a folder or a file; t_app is in milliseconds, t_sys the position
    from 1.

    - a folder of `data_NN.ttl`, there or in `data/` (CSRBench): t_app = NN × 1000, one triple
      an element. The order within one file was not recorded: triples come sorted by their
      text and the stream is not `ordered`.
    - `.n3t` or `SG_…` (YABench): a line is `s p o "ms" .`, one triple an element, in file
      order. A literal that has a datatype may lack its quotes, `76.0^^<datatype>`: YABench's
      own generator writes it so.
    - `.nq`, `.trig`: a named graph is an element, dated by one triple `graph time_predicate
      date` of the default graph, where the date is an integer (ms) or an xsd:dateTime (UTC
      where it names no zone, cut to ms; from the epoch). prov:invalidatedAtTime dates the end
      of its validity, if it has one (MOD-3), and `batch_predicate` gives its batch id. The
      graphs arrive as they first appear in the file. Whatever else the default graph says
      would be part of no element, and is refused, as is a graph without a date, with two, or
      a date without its graph.

    A file that ends in `.gz` or `.zst` as well is unpacked; `Piped`, `Text` and `TextFolder` are
    read as a file, or folder, of their name.

    Raises InvalidStream; ForbiddenAccess for JSON-LD, whose contexts live on the network. Sources:
    Dell'Aglio et al., On Correctness in RDF Stream Processor Benchmarking, ISWC 2013; Kolchin et
    al., YABench, ICWE 2016; W3C RSP Community Group, RDF Stream Models.
    """
    _check_predicate("time predicate", time_predicate)
    if batch_predicate is not None:
        _check_predicate("batch predicate", batch_predicate)

    if isinstance(path, TextFolder):
        return _read_instants(path)
    if not isinstance(path, Piped | Text):
        path = Path(path)
        if os.path.isdir(path):
            return _read_instants(path)
    if sources.name_of(path).startswith("SG_"):
        return _read_lines_with_times(path)

    match sources.suffix_of(path):
        case ".n3t":
            return _read_lines_with_times(path)
        case ".nq":
            quads = lines.read_quads(path)
            return build_stream_of_graphs(path, quads, time_predicate, batch_predicate)
        case ".trig":
            statements = documents.read_turtle(path, "TriG", "b")
            return build_stream_of_graphs(path, statements, time_predicate, batch_predicate)
        case ".jsonld" | ".json":
            raise ForbiddenAccess(
                "JSON-LD is not read: its contexts would reach the network",
                rule="QRY-2",
                place=str(path),
            )
        case other:
            raise InvalidStream(
                f"a file of a stream cannot end in {other!r}; valid: a folder of "
                "data_NN.ttl, .n3t, .nq, .trig",
                rule="IO-1",
                place=str(path),
            )


def _check_predicate(name: str, predicate: str) -> None:
    try:
        make_iri(predicate)
    except Fault as fault:
        raise InvalidStream(str(fault), rule="IO-1", place=name) from None


class ReadElement(NamedTuple):
    """An element as it is read: what it holds, its times, and the place in the file to name in an
    error.
    """

    payload: Triple | frozenset[Triple]
    app: int
    place: str
    batch: int | None = None
    end: int | None = None


def build_stream(items: Iterable[ReadElement], ordered: bool = True) -> Stream:
    """Return the stream of elements in their order. Raises InvalidStream with the place in the file
    for a time that is not within 64 bits (MOD-1).
    """
    items = list(items)
    for item in items:
        for name, value in (("t_app", item.app), ("batch", item.batch), ("end", item.end)):
            if value is not None and not -TIME_BOUND <= value < TIME_BOUND:
                raise InvalidStream(
                    f"{name} must be within 64 bits", rule="MOD-1", place=item.place
                )

    return Stream(
        CanonicalElements(
            arrivals((item.payload, item.app, item.batch, item.end) for item in items)
        ),
        ordered,
    )


# Lines with a time (YABench)


def _read_lines_with_times(source: Source) -> Stream:
    """IO-1: Read YABench's lines, a triple and its time in ms."""
    items = []
    for line, number in lines.read_lines(source):
        place = f"{source}:{number}"
        items.append(ReadElement(*lines.parse_statement_with_time(line, place), place))
    return build_stream(items)


def read_elements(source: Source) -> CanonicalIterator:
    """IO-1: Return the elements of a file of YABench's lines, packed or not, one after the other,
    so that a stream needs no memory of its length. What they say about time is checked where they
    are used (MOD-1).

    Raises InvalidStream at the line that is none.
    """
    return CanonicalIterator(_read_elements(source))


def _read_elements(source: Source) -> Iterator[Element]:
    number = position = 0
    try:
        with sources.open_lines(source) as texts:
            for number, line in enumerate(texts, 1):
                # most lines are plain, and this loop is all that they need
                if plain := lines.PLAIN_LINE.match(line):
                    subject, predicate, object_, time = plain.groups()
                    triple, time = (subject, predicate, object_), int(time)
                elif found := lines.parse_line_with_time(line, f"{source}:{number}"):
                    triple, time = found
                else:
                    continue
                position += 1
                yield Element(frozenset((triple,)), time, position)
    except UnicodeDecodeError as error:  # of some line from here on: it is decoded in advance
        raise InvalidStream(
            f"not UTF-8: {error.reason}", rule="IO-1", place=f"{source}, after line {number}"
        ) from None
    except (OSError, sources.Unreadable) as error:
        raise sources.unreadable(error, InvalidStream, "IO-1", source) from None


# Named graphs


@dataclass
class _Graphs:
    """The named graphs of a document in the order of their first appearance, and what its default
    graph says of each.
    """

    source: Source
    # of each predicate that the default graph may use, its value for each graph
    values: dict[str, dict[Term, Term]]
    triples: dict[Term, set[Triple]] = field(default_factory=dict)
    # where a graph is first seen: in a date or as a graph
    lines: dict[Term, int] = field(default_factory=dict)

    def add(self, graph: Term, triple: Triple | None, line: int) -> None:
        """Add a triple to a named graph, or only the graph, which may be empty."""
        self.lines.setdefault(graph, line)
        triples = self.triples.setdefault(graph, set())
        if triple is not None:
            triples.add(triple)

    def add_value(self, triple: Triple, line: int, time_predicate: str) -> None:
        """Add what a triple of the default graph says of a graph. Raises InvalidStream for one that
        says nothing of time, and for a second value.
        """
        graph, predicate, value = triple
        self.lines.setdefault(graph, line)
        values = self.values.get(predicate[1:-1])
        if values is None:
            written = display(" ".join(triple))
            reason = f"a triple that is in no graph, so of no element, and is no date: {written}"
            raise InvalidStream(reason, rule="IO-1", place=f"{self.source}:{line}")

        before = values.setdefault(graph, value)
        if before != value:
            what = f"values of {predicate}"
            if predicate[1:-1] == time_predicate:
                what = "dates"
            raise InvalidStream(
                f"two {what}: {before} and {value}",
                rule="IO-1",
                place=f"{self.source}:{line}: graph {graph}",
            )

    def place(self, graph: Term) -> str:
        """Return the place of a graph, for an error."""
        return f"{self.source}:{self.lines[graph]}: graph {graph}"

    def date(self, graph: Term, predicate: str | None) -> int | None:
        """Return the date, or the number, that a predicate gives a graph; None if it gives none."""
        values = self.values.get(predicate or "", {})
        if graph in values:
            return parse_date(values[graph])
        return None


def build_stream_of_graphs(
    source: Source,
    statements: Iterable[Statement],
    time_predicate: str,
    batch_predicate: str | None = None,
) -> Stream:
    """IO-1: Return the stream of named graphs in the order of their first appearance, with the
    date, and the end and batch id if any, that the default graph gives each. Raises InvalidStream.
    """
    graphs = _Graphs(source, {time_predicate: {}, PROV_INVALIDATED_AT_TIME: {}})
    if batch_predicate:
        graphs.values[batch_predicate] = {}
    for graph, triple, line in statements:
        if graph is not None:
            graphs.add(graph, triple, line)
        else:
            graphs.add_value(require(triple), line, time_predicate)

    for values in graphs.values.values():
        for graph in values:
            if graph not in graphs.triples:
                raise InvalidStream(
                    "a date of a graph that is not in the file",
                    rule="IO-1",
                    place=graphs.place(graph),
                )

    items = []
    for graph, triples in graphs.triples.items():
        place = graphs.place(graph)
        try:
            if graph not in graphs.values[time_predicate]:
                raise Fault(f"no date: no triple {graph} <{time_predicate}> … in the default graph")
            batch = graphs.date(graph, batch_predicate)
            end = graphs.date(graph, PROV_INVALIDATED_AT_TIME)
            app = require(graphs.date(graph, time_predicate))
        except Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None
        items.append(ReadElement(frozenset(triples), app, place, batch, end))
    return build_stream(items)


# Folders (CSRBench)


def _read_instants(folder: Folder) -> Stream:
    """IO-1: Read CSRBench's files, one an instant. A missing number is an instant at which nothing
    arrived.
    """
    items = []
    for number, file in sorted(_files_by_number(folder).items()):
        statements = documents.read_turtle(file, "Turtle", f"f{number}b")
        triples = {require(statement.triple) for statement in statements}
        for triple in sorted(triples, key=" ".join):
            items.append(ReadElement(triple, number * INSTANT, str(file)))
    return build_stream(items, ordered=False)


def _files_by_number(folder: Folder) -> dict[int, Source]:
    files: dict[int, Source] = {}
    for file in sources.list_sources(folder, "data_*.ttl", "IO-1"):
        number = re.fullmatch(r"data_([0-9]+)\.ttl", PurePath(str(file)).name)
        if number is None:
            raise InvalidStream(
                "the name of a stream's file must be data_NN.ttl, with digits for NN",
                rule="IO-1",
                place=str(file),
            )
        other = files.setdefault(int(number[1]), file)
        if other != file:
            reason = f"it has the same instant as {PurePath(str(other)).name}"
            raise InvalidStream(reason, rule="IO-1", place=str(file))

    if not files:
        raise InvalidStream(
            "no data_NN.ttl, neither here nor in data/", rule="IO-1", place=str(folder)
        )
    return files
