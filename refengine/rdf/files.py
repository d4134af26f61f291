"""Reading streams, queries and recordings: a file in, a value of the model out.

Terms keep the lexical form the file gives them. Nothing here reaches the network, and no term takes
its text from where a file lies: an IRI that is not absolute is an error. Streams are IO-1, recorded
answers IO-2; what a stream says about time is MOD-1, a query QRY-1.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, ParamSpec, TypeVar

from refengine import dialects
from refengine.core.query import Query, from_table
from refengine.model.elements import (
    TIME_BOUND,
    XSD,
    Bag,
    Dataset,
    Element,
    Relation,
    Row,
    Stream,
    Term,
    Triple,
    arrivals,
    is_blank,
    parse_literal,
    row,
)
from refengine.model.errors import InvalidQuery, InvalidStream, RefengineError, Refused, require
from refengine.model.messages import integer, nearest, shown, why
from refengine.model.terms import (
    ABSOLUTE_IRI,
    IRIREF,
    PLAIN_DATATYPE,
    PLAIN_IRI,
    PLAIN_LITERAL,
    TERM,
    CanonicalElements,
    CanonicalIterator,
    canonical,
    graph_name,
    iri_term,
    literal_term,
    triple_of,
    unescape,
)
from refengine.model.xsd import INTEGERS, date_time
from refengine.rdf import sources, turtle
from refengine.rdf.sources import Piped, Source
from refengine.rdf.turtle import Statement

P = ParamSpec("P")
T = TypeVar("T")

PROV_GENERATED_AT_TIME = "http://www.w3.org/ns/prov#generatedAtTime"
PROV_INVALIDATED_AT_TIME = "http://www.w3.org/ns/prov#invalidatedAtTime"
INSTANT = 1000  # ms between two files of a CSRBench folder


@dataclass(frozen=True)
class Recording:
    """What an engine answered: its relations in the order of its reports, which it iterates over,
    and for each the engine's own clock in ms (None: not recorded).
    """

    relations: tuple[Relation, ...]
    timestamps: tuple[int | None, ...]

    def __len__(self) -> int:
        return len(self.relations)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self.relations)


def read_stream(
    path: Source,
    time_predicate: str = PROV_GENERATED_AT_TIME,
    batch_predicate: str | None = None,
) -> Stream:
    """IO-1: a stream from a folder or a file; t_app is in milliseconds, t_sys the position from 1.

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

    A file that ends in `.gz` or `.zst` as well is unpacked; `Piped` is read as a file.

    Raises InvalidStream; Refused for JSON-LD, whose contexts live on the network. Sources:
    Dell'Aglio et al., On Correctness in RDF Stream Processor Benchmarking, ISWC 2013; Kolchin et
    al., YABench, ICWE 2016; W3C RSP Community Group, RDF Stream Models.
    """
    path = path if isinstance(path, Piped) else Path(path)
    for name, predicate in (
        ("time predicate", time_predicate),
        ("batch predicate", batch_predicate),
    ):
        try:
            _ = predicate is None or _iri(predicate)
        except _Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=name) from None
    if isinstance(path, Path) and os.path.isdir(path):
        return _instants(path)
    match _suffix(path):
        case ".n3t":
            return _timed_lines(path)
        case _ if sources.name_of(path).startswith("SG_"):
            return _timed_lines(path)
        case ".nq":
            return _dated_graphs(path, _quads(path), time_predicate, batch_predicate)
        case ".trig":
            return _dated_graphs(path, _turtle(path, "TriG", "b"), time_predicate, batch_predicate)
        case ".jsonld" | ".json":
            raise Refused(
                "JSON-LD is not read: its contexts would reach the network",
                rule="QRY-2",
                place=str(path),
            )
        case other:
            raise InvalidStream(
                f"no stream ends in {other!r}; valid: a folder of data_NN.ttl, .n3t, .nq, .trig",
                rule="IO-1",
                place=str(path),
            )


def read_static(path: Source) -> Dataset:
    """IO-1: static data from `.ttl`, `.nt`, `.nq` or `.trig`, packed or not: triples of the default
    graph, and quads of named ones.
    """
    match _suffix(path):
        case ".nt" | ".nq":
            statements: Iterable[Statement] = _quads(path)
        case ".ttl":
            statements = _turtle(path, "Turtle", "b")
        case ".trig":
            statements = _turtle(path, "TriG", "b")
        case other:
            raise InvalidStream(
                f"no static data ends in {other!r}; valid: .ttl, .nt, .nq, .trig",
                rule="IO-1",
                place=str(path),
            )
    return frozenset(
        s.triple if s.graph is None else (*s.triple, s.graph) for s in statements if s.triple
    )


def read_query(path: str | Path, dialect: str | None = None, static: bool = False) -> Query:
    """QRY-1: a query from a TOML file, or the query part of a conformance case (a table with `rule`
    and `query`); or, DIA-1, a text in a dialect, which the last line end is no part of. `static` is
    that of `dialects.read`.

    Raises InvalidQuery, and whatever the query itself breaks, with the file as place.
    """
    text = read_text(path, InvalidQuery, "QRY-1")
    if dialect is not None:
        try:
            return dialects.read(text.removesuffix("\n"), dialect, static)
        except RefengineError as error:
            raise error.at(str(path)) from None
    try:
        table = tomllib.loads(text)
        if not all(-TIME_BOUND <= number < TIME_BOUND for number in _integers(table)):
            raise ValueError("an integer beyond 64 bits")  # which TOML has not, but tomllib reads
    # ValueError: a syntax error, or an integer of thousands of digits
    except (ValueError, RecursionError) as error:
        match = re.fullmatch(
            r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error), re.DOTALL
        )
        reason, line = match.groups() if match else (why(error), None)
        place = f"{path}:{line or text.rstrip().count(chr(10)) + 1}" if match else str(path)
        raise InvalidQuery(f"not TOML: {reason}", rule="QRY-1", place=place) from None
    if "rule" in table and isinstance(table.get("query"), dict):
        table = table["query"]
    try:
        return from_table(table)
    except RefengineError as error:
        raise error.at(str(path)) from None


def read_recording(path: Source) -> Recording:
    """IO-2: a recording in CSRBench's JSON: `relations`, each a SPARQL 1.1 JSON result with a
    `timestamp`; or YABench's QR_ file.

    A row is `{"timestamp", "binding"}` or, as in SPARQL JSON, the binding itself. A relation
    without bindings is an empty answer that was sent. Blank nodes are renamed in order of
    appearance, one scope for the whole recording. Raises InvalidStream that names the path to the
    fault.
    """
    text = read_text(path, InvalidStream, "IO-2")
    if sources.name_of(path).startswith("QR_"):
        return _tabbed(text, path)
    try:
        document = json.loads(text, object_pairs_hook=no_key_twice)
    except json.JSONDecodeError as error:
        raise InvalidStream(
            f"not JSON: {error.msg}", rule="IO-2", place=f"{path}:{error.lineno}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidStream(f"not JSON: {why(error)}", rule="IO-2", place=str(path)) from None
    labels: dict[str, Term] = {}
    try:
        if not isinstance(document, dict):
            raise _misshapen(
                f'must be an object, got {shown(document)}; valid: {{"relations": [...]}}',
                "document",
            )
        _object(document, ("relations",), "document")
        entries = _array(document["relations"], "relations")
        reports = [_report(entry, f"relations[{i}]", labels) for i, entry in enumerate(entries)]
    except InvalidStream as error:
        raise error.at(str(path)) from None
    return Recording(tuple(relation for relation, _ in reports), tuple(time for _, time in reports))


def relation_from_json(
    rows: Any, variables: tuple[str, ...], where: str, labels: dict[str, Term]
) -> Relation:
    """IO-2: a relation from its rows as SPARQL 1.1 JSON. `labels` are the blank nodes seen so far,
    which get new names in the order of their appearance. Raises InvalidStream that names the path
    to the fault, below `where`.
    """
    found = [
        _row(entry, list(variables), f"{where}[{number}]", labels)
        for number, entry in enumerate(_array(rows, where))
    ]
    return Relation(variables, Counter(found))


def relation_to_json(relation: Relation) -> dict[str, Any]:
    """A relation as SPARQL 1.1 JSON: rows sorted, each as often as the bag holds it; ASK too is a
    row, over `ask`.
    """
    rows = [
        {name: _term_to_json(term) for name, term in line}
        for line in sorted(relation.rows.elements())
    ]
    return {"head": {"vars": list(relation.variables)}, "results": {"bindings": rows}}


def _term_to_json(term: Term) -> dict[str, str]:
    if is_blank(term):
        return {"type": "bnode", "value": term[2:]}
    if term.startswith("<"):
        return {"type": "uri", "value": term[1:-1]}
    lexical, datatype, language = parse_literal(term)
    kind = (
        {"xml:lang": language}
        if language
        else {"datatype": datatype}
        if datatype != XSD + "string"
        else {}
    )
    return {"type": "literal", "value": lexical, **kind}


# Files


class _Fault(ValueError):
    """What is wrong with a piece of text, before it is known where the piece stands."""


def _suffix(path: Source) -> str:
    return PurePath(sources.name_of(path)).suffix.lower()


def read_text(path: Source, kind: type[RefengineError], rule: str) -> str:
    """The text of a file, unpacked. Anything but a regular file is refused: a pipe might never
    end.
    """
    data = b""
    try:
        data = sources.read(path)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise kind(f"not UTF-8: {error.reason}", rule=rule, place=f"{path}:{line}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unread(error, kind, rule, path) from None


def listed(folder: Path, pattern: str, rule: str) -> list[Path]:
    """The files of a folder whose names match, sorted; none if there is no such folder."""
    try:
        return sorted(folder / name for name in fnmatch.filter(os.listdir(folder), pattern))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _unread(error, InvalidStream, rule, folder) from None


def _unread(
    error: OSError | ValueError, kind: type[RefengineError], rule: str, path: Source
) -> RefengineError:
    return kind(
        f"cannot be read: {getattr(error, 'strerror', None) or error}", rule=rule, place=str(path)
    )


def _integers(table: Any) -> Iterator[int]:
    match table:
        case int():
            yield table
        case dict():
            yield from _integers(list(table.values()))
        case list():
            for item in table:
                yield from _integers(item)


def _lines(path: Source) -> Iterator[tuple[str, int]]:
    """The lines that hold a statement, each with its number. Only CR and LF end a line: others may
    stand in a literal.
    """
    for number, line in enumerate(
        re.split(r"\r\n|\r|\n", read_text(path, InvalidStream, "IO-1")), 1
    ):
        if line.strip(" \t") and not line.lstrip(" \t").startswith("#"):
            yield line, number


# Terms

_UNQUOTED = rf'(?P<unquoted>(?!\.*\#)[^\x00-\x20"<>\\^]++)\^\^(?P<type>{IRIREF})'
_TOKEN = re.compile(rf"[ \t]*(?P<term>{TERM})")
# of a line that YABench's generator wrote
_TIMED_TOKEN = re.compile(rf"[ \t]*(?:(?P<term>{TERM})|{_UNQUOTED})")
_LINE_END = re.compile(r"[ \t]*\.?[ \t]*(?:#.*)?", re.DOTALL)


def _iri(text: str) -> Term:
    return _said(iri_term, text)


def _literal(lexical: str, datatype: str | None = None, language: str | None = None) -> Term:
    return _said(literal_term, lexical, datatype, language)


def _triple(subject: Term, predicate: Term, object_: Term) -> Triple:
    return _said(triple_of, subject, predicate, object_)


def _said(make: Callable[P, T], *parts: P.args, **named: P.kwargs) -> T:
    """What is made of parts. Raises _Fault with the reason where it cannot be."""
    try:
        return make(*parts, **named)
    except InvalidStream as error:
        raise _Fault(error.reason) from None


# N-Triples and what is built on its lines


def _terms(line: str, token: re.Pattern[str] = _TOKEN) -> list[Term]:
    """Read the terms of a line in N-Triples' grammar, or in that of another `token`; the final dot
    is optional.
    """
    terms, end = [], 0
    while match := token.match(line, end):
        end = match.end()
        if match["term"] is not None:
            terms.append(_said(canonical, match["term"]))
        else:
            terms.append(
                _literal(_said(unescape, match["unquoted"]), _said(unescape, match["type"][1:-1]))
            )
    if not _LINE_END.fullmatch(line, end):
        raise _Fault(f"no term at column {end + 1}: {shown(line[end:].strip())}")
    return terms


# Most lines are like these, and their terms canonical as they stand.
PLAIN_OBJECT = rf"(?:{PLAIN_IRI}|{PLAIN_LITERAL})"
_PLAIN_TIME = r'"(-?[0-9]{1,18})" \.\n?\Z'
_PLAIN = re.compile(rf"({PLAIN_IRI}) ({PLAIN_IRI}) ({PLAIN_OBJECT}) {_PLAIN_TIME}")
_PLAIN_UNQUOTED = re.compile(
    rf"({PLAIN_IRI}) ({PLAIN_IRI}) " rf"([A-Za-z0-9.+-]++)\^\^({PLAIN_DATATYPE}) {_PLAIN_TIME}"
)


def _timed_lines(path: Source) -> Stream:
    """IO-1: YABench's lines, a triple and its time in ms."""
    return _in_time(
        [(*_timed(line, f"{path}:{number}"), f"{path}:{number}") for line, number in _lines(path)]
    )


def _plain(line: str) -> tuple[Triple, int] | None:
    """Read a line whose terms are canonical as they stand, but for the quotes that a literal may
    lack; None for others.
    """
    if plain := _PLAIN.match(line):
        subject, predicate, object_, time = plain.groups()
        return (subject, predicate, object_), int(time)

    if plain := _PLAIN_UNQUOTED.match(line):
        subject, predicate, lexical, datatype, time = plain.groups()
        return (subject, predicate, f'"{lexical}"^^{datatype}'), int(time)

    return None


def _timed(line: str, place: str) -> tuple[Triple, int]:
    """IO-1: a triple and its time from a line that has them. Raises
    InvalidStream, with the place.
    """
    if plain := _plain(line):
        return plain
    try:
        terms = _terms(line, _TIMED_TOKEN)
        if len(terms) != 4:
            raise _Fault(f'a line is s p o "ms", got {len(terms)} terms')
        *triple, time = terms
        return _triple(*triple), _milliseconds(time, INTEGERS.keys() | {XSD + "string"})
    except _Fault as fault:
        raise InvalidStream(str(fault), rule="IO-1", place=place) from None


def timed(line: str, place: str) -> tuple[Triple, int] | None:
    """IO-1: a triple and its time from a line of YABench's, None from a blank one or a comment.
    Raises InvalidStream, with the place.
    """
    if plain := _plain(line):
        return plain
    if line.strip(" \t\n") and not line.lstrip(" \t").startswith("#"):
        return _timed(line.rstrip("\n"), place)
    return None


def elements(path: Source) -> CanonicalIterator:
    """IO-1: the elements of a file of YABench's lines, packed or not, one after the other, so that
    a stream needs no memory of its length. What they say about time is checked where they are used
    (MOD-1).

    Raises InvalidStream at the line that is none.
    """
    return CanonicalIterator(_elements(path))


def _elements(path: Source) -> Iterator[Element]:
    number = position = 0
    try:
        with sources.lines(path) as lines:
            for number, line in enumerate(lines, 1):
                if plain := _PLAIN.match(line):
                    subject, predicate, object_, time = plain.groups()
                    triple, time = (subject, predicate, object_), int(time)
                elif found := timed(line, f"{path}:{number}"):
                    triple, time = found
                else:
                    continue
                position += 1
                yield Element(frozenset((triple,)), time, position)
    except UnicodeDecodeError as error:  # of some line from here on: it is decoded in advance
        raise InvalidStream(
            f"not UTF-8: {error.reason}", rule="IO-1", place=f"{path}, after line {number}"
        ) from None
    except (OSError, sources.Unreadable) as error:
        raise _unread(error, InvalidStream, "IO-1", path) from None


# Time


def _milliseconds(term: Term, datatypes: Collection[str]) -> int:
    if term.startswith('"'):
        lexical, datatype, _ = parse_literal(term)
        if datatype in datatypes and (number := integer(lexical.strip(" \t\r\n"))) is not None:
            return number
    raise _Fault(f"a time must be an integer (ms), got {shown(term)}")


def _moment(term: Term) -> int:
    """A graph's date in ms from the epoch."""
    datatype = parse_literal(term).datatype if term.startswith('"') else ""
    if datatype in (XSD + "dateTime", XSD + "dateTimeStamp"):
        return _epoch(parse_literal(term).lexical)
    try:
        return _milliseconds(term, INTEGERS)
    except _Fault:
        raise _Fault(
            f"a date must be an xsd:dateTime or an integer (ms), got {shown(term)}"
        ) from None


def _epoch(lexical: str) -> int:
    """Milliseconds from 1970-01-01T00:00:00Z; finer fractions are cut, which keeps the order of
    times.
    """
    try:
        return date_time(lexical.strip()).seconds * 1000 // 1
    except ValueError as error:
        raise _Fault(f"{error}: {shown(lexical)}") from None


def _in_time(items: list[tuple[Any, ...]], ordered: bool = True) -> Stream:
    """A stream of (payload, t_app, place[, batch[, end]]) items. MOD-1, told with the place in the
    file: times are within 64 bits.
    """
    for _, app, place, *more in items:
        for name, value in zip(("t_app", "batch", "end"), (app, *more), strict=False):
            if value is not None and not -TIME_BOUND <= value < TIME_BOUND:
                raise InvalidStream(f"{name} must be within 64 bits", rule="MOD-1", place=place)
    return Stream(
        CanonicalElements(arrivals((payload, app, *more) for payload, app, _, *more in items)),
        ordered,
    )


# Named graphs


def _quads(path: Source) -> Iterator[Statement]:
    """N-Quads, read line by line: its order is the arrival order, and a parser into a dataset would
    lose it.
    """
    for line, number in _lines(path):
        try:
            terms = _terms(line)
            if len(terms) not in (3, 4):
                raise _Fault(f"a line is s p o or s p o graph, got {len(terms)} terms")
            graph = terms[3] if len(terms) == 4 else None
            yield Statement(graph and _said(graph_name, graph), _triple(*terms[:3]), number)
        except _Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=f"{path}:{number}") from None


def _dated_graphs(
    path: Source,
    statements: Iterable[Statement],
    time_predicate: str,
    batch_predicate: str | None = None,
) -> Stream:
    """IO-1: named graphs in order of first appearance, with the date, and the end and batch id if
    any, that the default graph gives each.
    """
    graphs: dict[Term, set[Triple]] = {}
    said: dict[str, dict[Term, Term]] = {time_predicate: {}, PROV_INVALIDATED_AT_TIME: {}}
    said |= {batch_predicate: {}} if batch_predicate else {}
    dates = said[time_predicate]
    lines: dict[Term, int] = {}  # where a graph is first seen: in a date or as a graph
    for graph, triple, line in statements:
        lines.setdefault(graph or require(triple)[0], line)
        if graph is not None:
            graphs.setdefault(graph, set()).update([triple] if triple else [])
            continue
        triple = require(triple)  # a graph alone can be empty
        subject, predicate, object_ = triple
        if predicate[1:-1] not in said:
            reason = f"in no graph, so part of no element, and no date: {shown(' '.join(triple))}"
            raise InvalidStream(reason, rule="IO-1", place=f"{path}:{line}")
        if (known := said[predicate[1:-1]].setdefault(subject, object_)) != object_:
            what = "dates" if predicate[1:-1] == time_predicate else f"values of {predicate}"
            raise InvalidStream(
                f"two {what}: {known} and {object_}",
                rule="IO-1",
                place=f"{path}:{line}: graph {subject}",
            )
    places = {graph: f"{path}:{line}: graph {graph}" for graph, line in lines.items()}
    for graph in (graph for found in said.values() for graph in found if graph not in graphs):
        raise InvalidStream("a date, but no such graph", rule="IO-1", place=places[graph])
    items = []
    for graph, triples in graphs.items():
        if graph not in dates:
            raise InvalidStream(
                f"no date: no triple {graph} <{time_predicate}> … in the default graph",
                rule="IO-1",
                place=places[graph],
            )
        try:
            batch, end = (
                _moment(found[graph]) if graph in (found := said.get(predicate or "", {})) else None
                for predicate in (batch_predicate, PROV_INVALIDATED_AT_TIME)
            )
            items.append((frozenset(triples), _moment(dates[graph]), places[graph], batch, end))
        except _Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=places[graph]) from None
    return _in_time(items)


# Turtle and TriG


def _turtle(path: Source, language: str, prefix: str) -> list[Statement]:
    """The statements of a document in its order; its blank nodes are named
    `prefix` and a number.
    """
    try:
        return list(turtle.statements(read_text(path, InvalidStream, "IO-1"), language, prefix))
    except turtle.Misread as error:
        raise InvalidStream(error.reason, rule="IO-1", place=f"{path}:{error.line}") from None


def _instants(folder: Path) -> Stream:
    """IO-1: CSRBench's files, one an instant. A missing number is an instant at which nothing
    arrived.
    """
    files: dict[int, Path] = {}
    for file in listed(folder, "data_*.ttl", "IO-1") or listed(
        folder / "data", "data_*.ttl", "IO-1"
    ):
        number = re.fullmatch(r"data_([0-9]+)\.ttl", file.name)
        if number is None:
            raise InvalidStream(
                "a file of a stream is data_NN.ttl, NN digits", rule="IO-1", place=str(file)
            )
        other = files.setdefault(int(number[1]), file)
        if other != file:
            raise InvalidStream(f"the same instant as {other.name}", rule="IO-1", place=str(file))
    if not files:
        raise InvalidStream(
            "no data_NN.ttl, neither here nor in data/", rule="IO-1", place=str(folder)
        )
    items = []
    for at, file in sorted(files.items()):
        triples = {require(statement.triple) for statement in _turtle(file, "Turtle", f"f{at}b")}
        items += [(triple, at * INSTANT, str(file)) for triple in sorted(triples, key=" ".join)]
    return _in_time(items, ordered=False)


# Recordings


def _report(entry: Any, where: str, labels: dict[str, Term]) -> tuple[Relation, int | None]:
    _object(entry, ("head", "results"), where, optional=("timestamp",))
    _object(entry["head"], ("vars",), f"{where}.head", optional=("link",))
    _object(entry["results"], ("bindings",), f"{where}.results", optional=("ordered", "distinct"))
    variables = _array(entry["head"]["vars"], f"{where}.head.vars")
    for i, name in enumerate(variables):
        if not isinstance(name, str) or not re.fullmatch(r"\w+", name) or name in variables[:i]:
            raise _misshapen(
                f"must be a variable's name, once, got {shown(name)}", f"{where}.head.vars[{i}]"
            )
    bindings = _array(entry["results"]["bindings"], f"{where}.results.bindings")
    rows = [
        _row(binding, variables, f"{where}.results.bindings[{i}]", labels)
        for i, binding in enumerate(bindings)
    ]
    return Relation(tuple(variables), Counter(rows)), _timestamp(entry, where)


def _row(entry: Any, variables: list[str], where: str, labels: dict[str, Term]) -> Row:
    # A plain row may bind a variable called `binding`; then that is a term, which has a type that
    # is text.
    inner = entry.get("binding") if isinstance(entry, dict) else None
    if (
        isinstance(entry, dict)
        and "binding" in entry
        and not (isinstance(inner, dict) and isinstance(inner.get("type"), str))
    ):
        _object(entry, ("binding",), where, optional=("timestamp",))
        _timestamp(entry, where)
        entry = inner
    _object(entry, (), where, optional=tuple(variables))
    return row((name, _term(term, f"{where}.{name}", labels)) for name, term in entry.items())


def _term(entry: Any, where: str, labels: dict[str, Term]) -> Term:
    _object(entry, ("type", "value"), where, optional=("datatype", "xml:lang"))
    for key, value in entry.items():
        if not isinstance(value, str):
            raise _misshapen(f"must be a string, got {shown(value)}", f"{where}.{key}")
    kind, value, rest = entry["type"], entry["value"], set(entry) - {"type", "value"}
    try:
        match kind:
            case "uri" if not rest:
                return _iri(value)
            case "bnode" if not rest:
                return labels.setdefault(value, f"_:b{len(labels) + 1}")
            case "literal" | "typed-literal" if len(rest) <= 1 and (
                kind == "literal" or "datatype" in rest
            ):
                return _literal(value, *_kind(entry))
            case "uri" | "bnode" | "literal" | "typed-literal":
                raise _Fault(f"a {kind} with {', '.join(sorted(rest)) or 'no datatype'}")
            case _:
                raise _Fault(
                    f"type must be uri, bnode, literal or typed-literal, got {shown(kind)}"
                )
    except _Fault as fault:
        raise _misshapen(str(fault), where) from None


def _kind(entry: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Find the datatype and the language of a literal; None for what it has not."""
    datatype, language = entry.get("datatype"), entry.get("xml:lang")

    # The formatter of csrbench-oracle's first recordings wrote every datatype under xml:lang. No
    # language tag is an IRI.
    if language and ABSOLUTE_IRI.fullmatch(language):
        return language, None

    return datatype, language


def _tabbed(text: str, path: Source) -> Recording:
    """IO-2: YABench's QR: the clock (ms) at the start; the variables; then of each relation the
    clock, and its rows. Names and values end in a tab, which a clock has not.
    """
    relations: list[tuple[int, Bag]] = []
    start, *lines = text.removesuffix("\n").split("\n")
    names, number = lines[0].split("\t")[:-1] if lines else [], 1
    try:
        began = _clock(start)
        number = 2
        if lines and (
            set(names) != set(re.findall(r"\w+", lines[0])) or len({*names}) < len(names)
        ):
            raise _Fault(
                "expected the variables' names, each once and followed by a tab, got "
                f"{shown(lines[0])}"
            )
        for line in lines[1:]:
            number += 1
            *values, rest = line.split("\t")
            if not values:
                relations.append((_clock(line) - began, Counter()))
            elif rest or len(values) != len(names) or not relations:
                raise _Fault(
                    f"expected a clock, or {len(names)} values after one, each "
                    f"followed by a tab, got {shown(line)}"
                )
            else:
                relations[-1][1][row(zip(names, map(_untyped, values), strict=True))] += 1
    except _Fault as fault:
        raise InvalidStream(str(fault), rule="IO-2", place=f"{path}:{number}") from None
    return Recording(
        tuple(Relation(tuple(names), rows) for _, rows in relations),
        tuple(at for at, _ in relations),
    )


def _clock(line: str) -> int:
    clock = integer(line)
    if clock is None:
        raise _Fault(f"expected a clock, an integer (ms), got {shown(line)}")
    return clock


def _untyped(value: str) -> Term:
    """A term as YABench writes it: an IRI as it is, a literal with or without quotes, its datatype
    after ^^.
    """
    if value.startswith(("http://", "https://")):
        return _iri(value)
    lexical, typed, datatype = value.partition("^^")
    if len(lexical) > 1 and lexical[0] == lexical[-1] == '"':
        lexical = lexical[1:-1]
    return _literal(lexical, datatype.removeprefix("<").removesuffix(">") if typed else None)


def _misshapen(reason: str, where: str) -> InvalidStream:
    return InvalidStream(reason, rule="IO-2", place=where)


def _object(
    value: Any, required: tuple[str, ...], where: str, optional: tuple[str, ...] = ()
) -> None:
    """A JSON object with these keys and no other."""
    if not isinstance(value, dict):
        raise _misshapen(f"must be an object, got {shown(value)}", where)
    for key in value:
        if key not in required + optional:
            raise _misshapen(f"unknown key {shown(key)}{nearest(key, required + optional)}", where)
    for key in required:
        if key not in value:
            raise _misshapen(f"key {key!r} is missing", where)


def _array(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _misshapen(f"must be an array, got {shown(value)}", where)
    return value


def _timestamp(entry: dict[str, Any], where: str) -> int | None:
    time = entry.get("timestamp")
    if time is not None and (not isinstance(time, int) or isinstance(time, bool)):
        raise _misshapen(f"must be an integer (ms), got {shown(time)}", f"{where}.timestamp")
    return time


def no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON (`object_pairs_hook`). Raises ValueError for a key
    that stands twice in it.
    """
    table = dict(pairs)
    if len(table) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"key {shown(key)} stands twice in one object")
    return table
