"""Lines of JSON and tables (IO-1): a line or a row is a quad with its time; a row may also be what
`--columns` makes of it.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from refengine.model.elements import XSD, Stream, Term, Triple, is_blank
from refengine.model.errors import InvalidStream, require
from refengine.model.messages import display, nearest, why
from refengine.model.terms import canonical, graph_name
from refengine.rdf.forms.reading import ReadElement, Reading, build_stream
from refengine.rdf.recordings import parse_json, parse_term
from refengine.rdf.sources import Source, read_text, refuse_no_source, suffix_of
from refengine.rdf.terms import Fault, make, make_iri, make_literal, make_triple, placed_at
from refengine.rdf.times import Times, Zones, parse_time

REQUIRED = ("subject", "predicate", "object", "time")
OPTIONAL = ("graph", "end", "batch")
REQUIRED_OF_A_ROW = REQUIRED[:3]  # one without a time is set aside


@dataclass(frozen=True)
class TimedQuad:
    """A triple with its graph (None: the default graph), its times (None: it has none), and the
    place to name in an error.
    """

    triple: Triple
    graph: Term | None
    times: Times | None
    place: str


def check_quad_keys(keys: Iterable[Any], where: str, required: Iterable[str] = REQUIRED) -> None:
    """Check that keys are those of a quad. Raises Fault, which calls a key `where`, for one that is
    unknown, and for a required one that is missing.
    """
    found = list(keys)
    for key in found:
        if key not in REQUIRED + OPTIONAL:
            raise Fault(f"unknown {where} {display(key)}{nearest(key, REQUIRED + OPTIONAL)}")
    for key in required:
        if key not in found:
            raise Fault(_missing(key, where))


def _missing(key: str, where: str) -> str:
    return f"{where} {key!r} is missing; a quad has {', '.join(REQUIRED)}"


def parse_quad(
    values: Mapping[str, Any], labels: dict[str, Term], place: str, zones: Zones
) -> TimedQuad:
    """Return the quad of values by their keys. A term is a text in N-Triples' syntax or an object
    of SPARQL JSON; `labels` are the blank nodes seen so far. Raises Fault.
    """
    graph = None
    if values.get("graph") is not None:
        graph = make(graph_name, _parse_term("graph", values["graph"], labels))
    triple = make_triple(*(_parse_term(key, values[key], labels) for key in REQUIRED[:3]))
    return TimedQuad(triple, graph, _parse_times(("time", "batch", "end"), values, zones), place)


def _parse_term(key: str, value: Any, labels: dict[str, Term]) -> Term:
    if not isinstance(value, str):
        try:
            return parse_term(value, key, labels)
        except InvalidStream as error:
            raise Fault(f"{error.place}: {error.reason}") from None
    try:
        term = make(canonical, value)
    except Fault as fault:
        raise Fault(f"{key}: {fault}") from None
    if is_blank(term):
        return labels.setdefault(term[2:], f"_:b{len(labels) + 1}")
    return term


def _parse_times(
    keys: Iterable[str | None], values: Mapping[str, Any], zones: Zones, called: str = "{}"
) -> Times | None:
    """Return the time (ms), the batch id and the end (ms) under some keys; None without a time.
    Raises Fault, which names the key as it is `called`.
    """
    found: list[int | None] = []
    for key in keys:
        value = values.get(key) if key else None
        try:
            found.append(None if value is None else parse_time(value, zones))
        except Fault as fault:
            raise Fault(f"{called.format(key)}: {fault}") from None
    app, batch, end = found
    if app is None:
        return None
    return app, batch, end


def build_stream_of_quads(reading: Reading, quads: Iterable[TimedQuad], where: str) -> Stream:
    """IO-3: Return the stream of quads in their order: a quad without a graph is an element, and so
    are all quads of one graph together, at the place of the first. Raises InvalidStream for a graph
    with two times, and for a quad without a time, whose key it calls `where`, unless those are set
    aside.
    """
    elements: list[tuple[TimedQuad, set[Triple]]] = []
    graphs: dict[Term, tuple[TimedQuad, set[Triple]]] = {}
    for quad in quads:
        if quad.times is None:
            statement = quad.triple if quad.graph is None else (*quad.triple, quad.graph)
            reading.set_aside([statement], _missing("time", where), quad.place)
            continue
        if quad.graph is None or quad.graph not in graphs:
            elements.append((quad, {quad.triple}))
            if quad.graph is not None:
                graphs[quad.graph] = elements[-1]
            continue

        first, triples = graphs[quad.graph]
        if quad.times != first.times:
            reason = (
                f"graph {quad.graph} has another time, end or batch before, at {first.place}; "
                "all quads of one graph are one element"
            )
            raise InvalidStream(reason, rule="IO-1", place=quad.place)
        triples.add(quad.triple)

    return build_stream(
        ReadElement(frozenset(triples), app, first.place, batch, end)
        for first, triples in elements
        for app, batch, end in [require(first.times)]
    )


def read_json_lines(source: Source, reading: Reading) -> Stream:
    """IO-1: Return the stream of a file with an object of JSON on each line, which has a quad's
    keys. Raises InvalidStream.
    """
    return build_stream_of_quads(reading, _quads_of_lines(source, reading.zones), "key")


def _quads_of_lines(source: Source, zones: Zones) -> Iterator[TimedQuad]:
    labels: dict[str, Term] = {}
    for number, line in enumerate(read_text(source, InvalidStream, "IO-1").split("\n"), 1):
        if not line.strip():
            continue
        place = f"{source}:{number}"
        with placed_at(place):
            yield _parse_line(line, labels, place, zones)


def _parse_line(line: str, labels: dict[str, Term], place: str, zones: Zones) -> TimedQuad:
    try:
        entry = parse_json(line)
    except json.JSONDecodeError as error:
        raise Fault(f"not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise Fault(f"not JSON: {why(error)}") from None
    if not isinstance(entry, dict):
        raise Fault(f"a line must be an object, got {display(entry)}")
    check_quad_keys(entry, "key", REQUIRED_OF_A_ROW)
    return parse_quad(entry, labels, place, zones)


KEYS = ("subject", "predicates", "time", "end", "batch")
OBJECT_KEYS = ("iri", "text", "datatype", "language")


class EmptyCell(Fault):
    """A template needs a cell that is empty."""


@dataclass(frozen=True)
class Template:
    """A text with columns in braces, such as `http://example.org/sensor/{id}`."""

    text: str

    @property
    def columns(self) -> list[str]:
        """The columns that it names."""
        return re.findall(r"\{([^{}]*)\}", self.text)

    def fill(self, cells: Mapping[str, str], *, is_iri: bool) -> str:
        """Return the text with the cells in place of their columns. In an IRI each character of a
        cell that is not unreserved is percent-encoded, unless the template is one column alone.
        Raises EmptyCell.
        """
        is_encoded = is_iri and not re.fullmatch(r"\{[^{}]*\}", self.text)

        def cell(found: re.Match[str]) -> str:
            if found[1] not in cells:
                raise EmptyCell(f"column {found[1]!r} is empty")
            if is_encoded:
                return quote(cells[found[1]], safe="")
            return cells[found[1]]

        return re.sub(r"\{([^{}]*)\}", cell, self.text)


@dataclass(frozen=True)
class ObjectOfColumns:
    """The object of a predicate: an IRI, or a literal with its datatype or its language."""

    template: Template
    is_iri: bool
    datatype: str | None = None
    language: str | None = None

    def term(self, cells: Mapping[str, str]) -> Term:
        """Return the term for a row. Raises Fault; EmptyCell."""
        text = self.template.fill(cells, is_iri=self.is_iri)
        if self.is_iri:
            return make_iri(text)
        return make_literal(text, self.datatype, self.language)


@dataclass(frozen=True)
class Columns:
    """What becomes of a row: a subject, an object for each predicate, and the columns of its
    times.
    """

    source: Source
    subject: Template
    objects: Mapping[Term, ObjectOfColumns]
    time: str
    batch: str | None = None
    end: str | None = None

    def names_in_iris(self) -> list[str]:
        """Return the columns that become parts of IRIs."""
        objects = [found.template for found in self.objects.values() if found.is_iri]
        return [name for template in (self.subject, *objects) for name in template.columns]

    def check_names(self, names: Collection[str]) -> None:
        """Check that a table has the columns that are named. Raises InvalidStream."""
        templates = [self.subject, *(found.template for found in self.objects.values())]
        needed = [name for template in templates for name in template.columns]
        for name in (self.time, self.batch, self.end, *needed):
            if name is not None and name not in names:
                reason = f"the table has no column {display(name)}{nearest(name, names)}"
                raise InvalidStream(reason, rule="IO-1", place=str(self.source))

    def times(self, cells: Mapping[str, str], zones: Zones) -> Times | None:
        """Return a row's time (ms), its batch id and its end (ms); None for a row without a time.
        Raises Fault.
        """
        names = (self.time, self.batch, self.end)
        return _parse_times(names, cells, zones, called="column {!r}")

    def triples(self, cells: Mapping[str, str]) -> Iterator[Triple]:
        """Yield the triples of a row; an empty cell leaves out those that need it. Raises Fault."""
        try:
            subject = make_iri(self.subject.fill(cells, is_iri=True))
        except Fault as fault:
            raise Fault(f"subject: {fault}") from None
        for predicate, found in self.objects.items():
            try:
                yield make_triple(subject, predicate, found.term(cells))
            except EmptyCell:
                continue
            except Fault as fault:
                raise Fault(f"object of {predicate}: {fault}") from None


def read_columns(source: Source | Mapping[str, Any]) -> Columns:
    """Return what a file of TOML says of a table's columns, or its keys in a dict. Raises
    InvalidStream.
    """
    name: Source = "columns"
    if not isinstance(source, Mapping):
        refuse_no_source(source, "IO-1", "columns")
        name = source
    with placed_at(str(name)):
        return _parse_columns(_table_of(source), name)


def _table_of(source: Source | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        return source
    try:
        return tomllib.loads(read_text(source, InvalidStream, "IO-1"))
    except tomllib.TOMLDecodeError as error:
        raise Fault(f"not TOML: {error}") from None


def _parse_columns(table: Mapping[str, Any], source: Source) -> Columns:
    _check_keys(table, KEYS, ("subject", "predicates", "time"), "columns")
    predicates = table["predicates"]
    if not isinstance(predicates, dict) or not predicates:
        raise Fault(f"predicates: must be a table of IRIs, got {display(predicates)}")
    objects = {}
    for iri, entry in predicates.items():
        try:
            objects[make_iri(iri)] = _parse_object(entry)
        except Fault as fault:
            raise Fault(f"predicates.{display(iri)}: {fault}") from None
    subject = _template("subject", table["subject"])
    names = {key: _text(key, table[key]) for key in ("time", "batch", "end") if key in table}
    return Columns(source, subject, objects, **names)


def _parse_object(entry: Any) -> ObjectOfColumns:
    if not isinstance(entry, dict):
        raise Fault(f'must be {{ text = "{{column}}" }} or {{ iri = … }}, got {display(entry)}')
    _check_keys(entry, OBJECT_KEYS, (), "object")
    if ("iri" in entry) == ("text" in entry):
        raise Fault("must have either iri or text")
    if "iri" in entry:
        if len(entry) > 1:
            raise Fault("an iri has neither datatype nor language")
        return ObjectOfColumns(_template("iri", entry["iri"]), is_iri=True)

    datatype = entry.get("datatype")
    if datatype is not None:
        datatype = re.sub("^xsd:", XSD, _text("datatype", datatype))
    language = entry.get("language")
    if language is not None:
        _text("language", language)
    make_literal("", datatype, language)
    return ObjectOfColumns(_template("text", entry["text"]), False, datatype, language)


def _check_keys(
    table: Mapping[str, Any], valid: tuple[str, ...], required: tuple[str, ...], where: str
) -> None:
    for key in table:
        if key not in valid:
            raise Fault(f"{where}: unknown key {display(key)}{nearest(key, valid)}")
    for key in required:
        if key not in table:
            raise Fault(f"{where}: key {key!r} is missing; valid: {', '.join(valid)}")


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Fault(f"{key}: must be a text, got {display(value)}")
    return value


def _template(key: str, value: Any) -> Template:
    template = Template(_text(key, value))
    if re.search(r"[{}]", re.sub(r"\{[^{}]+\}", "", template.text)):
        raise Fault(f"{key}: a brace stands alone in {display(value)}; write {{column}}")
    return template


DELIMITERS = {".csv": ",", ".tsv": "\t"}
QUOTING: dict[str, Literal[0, 3]] = {".csv": csv.QUOTE_MINIMAL, ".tsv": csv.QUOTE_NONE}


def read_table(source: Source, reading: Reading) -> Stream:
    """IO-3: Return the stream of a table, whose first row names its columns. Without `columns` they
    are a quad's keys, and its terms are in N-Triples' syntax. With `columns`, a file that says what
    becomes of a row, each row is an element. Raises InvalidStream.
    """
    columns = reading.options.columns
    mapping = None
    if columns is not None:
        mapping = read_columns(columns)
    rows = _read_rows(source)
    line, names = next(rows)
    if mapping is not None:
        mapping.check_names(names)
        return build_stream(_map_rows(source, rows, mapping, reading))

    try:
        check_quad_keys(names, "column")
    except Fault as fault:
        reason = f"{fault}; --columns FILE says what other columns mean"
        raise InvalidStream(reason, rule="IO-1", place=f"{source}:{line}") from None
    quads = _quads_of_rows(source, rows, reading.zones)
    return build_stream_of_quads(reading, quads, "column")


def _read_rows(source: Source) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each row with its line and its cells by their columns; an empty cell is left out. The
    first one has the names of the columns alone.
    """
    text = read_text(source, InvalidStream, "IO-1")
    end = suffix_of(source)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=DELIMITERS[end],
        quoting=QUOTING[end],
        strict=True,
    )
    names: list[str] = []
    try:
        for row in reader:
            if not row:
                continue
            if not names:
                names = row
                _check_names(names)
                yield reader.line_num, dict.fromkeys(names, "")
                continue
            if len(row) != len(names):
                raise Fault(f"{len(row)} cells, but {len(names)} columns")
            cells = zip(names, row, strict=True)
            yield reader.line_num, {name: cell for name, cell in cells if cell}
    except (csv.Error, Fault) as error:
        place = f"{source}:{reader.line_num}"
        kind = "not a table: " * isinstance(error, csv.Error)
        raise InvalidStream(f"{kind}{error}", rule="IO-1", place=place) from None
    if not names:
        reason = "no columns: the first row of a table names them"
        raise InvalidStream(reason, rule="IO-1", place=str(source))


def _check_names(names: list[str]) -> None:
    for number, name in enumerate(names):
        if not name:
            raise Fault(f"column {number + 1} has no name")
        if name in names[:number]:
            raise Fault(f"two columns are called {display(name)}")


def _quads_of_rows(
    source: Source, rows: Iterator[tuple[int, dict[str, str]]], zones: Zones
) -> Iterator[TimedQuad]:
    labels: dict[str, Term] = {}
    for line, cells in rows:
        place = f"{source}:{line}"
        with placed_at(place):
            check_quad_keys(cells, "column", REQUIRED_OF_A_ROW)
            yield parse_quad(cells, labels, place, zones)


def _map_rows(
    source: Source,
    rows: Iterator[tuple[int, dict[str, str]]],
    mapping: Columns,
    reading: Reading,
) -> Iterator[ReadElement]:
    for line, cells in rows:
        place = f"{source}:{line}"
        with placed_at(place):
            times = mapping.times(cells, reading.zones)
            triples = frozenset(mapping.triples(cells))
        if times is None:
            reading.set_aside(triples, f"column {mapping.time!r}: no time", place)
            continue
        app, batch, end = times
        yield ReadElement(triples, app, place, batch, end)
