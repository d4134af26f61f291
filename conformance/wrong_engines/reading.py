"""Wrong readers and writers for §12 and §13: files, and the query languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from lark import Token, Tree

from conformance.wrong_engines.engines import C_SPARQL, CQELS, RDFLIB, RSP_JS
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine import dialects
from refengine.core.query import Body, Query, Unit, WindowKind
from refengine.core.semantics import R2S
from refengine.dialects import dialect, faults, grammar, source, windows
from refengine.dialects.source import DialectText as QuerySource
from refengine.dialects.source import Unrenderable
from refengine.model import iris
from refengine.model.elements import XSD, Relation, literal
from refengine.model.errors import InvalidQuery
from refengine.model.terms import Term
from refengine.rdf import documents, lines, recordings, turtle
from refengine.rdf.forms import dated_documents, reading, rows
from refengine.rdf.lines import TIMED_TOKEN, parse_terms
from refengine.rdf.sources import Source, suffix_of

Node = Tree[Token]


# §12 Reading


def _timed_lines(path: Source) -> Iterator[tuple[str, int]]:
    """Yield the lines of a file, of a .n3t file those that have a time."""
    for line, place in _lines(path):
        if suffix_of(path) != ".n3t" or len(parse_terms(line, TIMED_TOKEN)) == 4:
            yield line, place


build_stream_of_graphs = dated_documents.build_stream_of_graphs  # the right function


def _without_undated_graphs(reading: Any, statements: Iterable[Any]) -> Any:
    """Skip a graph that nothing dates, instead of refusing it."""
    statements = list(statements)
    dated = {each.triple[0] for each in statements if each.graph is None}
    default_graph = None
    with_date = [each for each in statements if each.graph in {default_graph, *dated}]
    return build_stream_of_graphs(reading, with_date)


@wrong(
    "IO-1",
    replaces=reading.build_stream,
    half="app = NN × 1000 ms",
    besides={
        dated_documents.build_stream_of_graphs: _without_undated_graphs,
        lines.read_lines: _timed_lines,
    },
)
def files_have_seconds_and_an_order(right: Right, items: list[Any], ordered: bool = True) -> Any:
    """Read times as seconds, and the order of a file as the arrival order, and skip a graph that
    nothing dates, and a line that has no time, instead of refusing them.
    """
    in_seconds = [item._replace(app=item.app // 1000) for item in items]
    return right(in_seconds, True)


@wrong(
    "IO-1",
    replaces=documents.read_turtle,
    half="Static data is Turtle, N-Triples, N-Quads, TriG or JSON-LD",
)
def labels_are_of_the_folder(
    right: Right, path: Path, language: str, prefix: str, base: str = ""
) -> Any:
    """Take one blank node label for one node in all files of a folder."""
    return right(path, language, "b", base)


@wrong(
    "IO-1",
    replaces=turtle.parse_statements,
    half="Relative IRIs of Turtle and TriG are resolved",
    seen=f"{RDFLIB}: the parser of Notation 3, Turtle and TriG",
)
def a_query_replaces_the_last_segment(
    right: Right, text: str, language: str, prefix: str, base: str = ""
) -> Any:
    """Resolve a relative IRI that is a query alone against the folder of the base, as RFC 2396
    says.
    """
    return right(text.replace("<?", "<./?"), language, prefix, base)


_lines = lines.read_lines  # the right one, also while it is replaced


build_stream_of_quads = rows.build_stream_of_quads  # the right function


def _every_quad_is_an_element(reading: Any, found: Iterable[Any], where: str) -> Any:
    """Read each quad as an element, also those of one graph."""
    quads = (replace(quad, graph=None) for quad in found)
    return build_stream_of_quads(reading, quads, where)


def _labels_are_of_the_log(statement: Any, scope: str) -> Any:
    """Take one blank node label for one node in all messages of a log."""
    return statement


@wrong(
    "IO-3",
    replaces=dated_documents.build_stream_of_subjects,
    half=(
        "and the triples of all nodes without a date",
        "All quads of a graph have the same times",
        "A blank node is of one message",
    ),
    besides={
        rows.build_stream_of_quads: _every_quad_is_an_element,
        lines._scope_blank_nodes: _labels_are_of_the_log,
    },
)
def an_element_is_what_stands_by_itself(
    right: Right, reading: Any, statements: Iterable[Any]
) -> Any:
    """Drop the triples of nodes without a date, read each quad as an element, and take one blank
    node label for one node in all messages of a log.
    """
    statements = list(statements)
    time = f"<{reading.dating.time_predicate}>"
    dated = {each.triple[0] for each in statements if each.triple[1] == time}
    return right(reading, [each for each in statements if each.triple[0] in dated])


@wrong(
    "IO-2",
    replaces=recordings.read_recording,
    half="one without bindings is an empty answer",
)
def recordings_are_rows(right: Right, path: str | Path) -> Any:
    """Read a binding that stands twice as one row, and drop relations without bindings."""
    recording = right(path)
    relations = []
    timestamps = []
    for relation, timestamp in zip(recording.relations, recording.timestamps, strict=True):
        if relation.rows:
            distinct = Counter(set(relation.rows))
            relations.append(Relation(relation.variables, distinct))
            timestamps.append(timestamp)
    return replace(recording, relations=tuple(relations), timestamps=tuple(timestamps))


@wrong(
    "IO-2",
    replaces=recordings.parse_term,
    half="under `xml:lang`",
)
def languages_are_dropped(right: Right, entry: Any, where: str, labels: dict[str, Term]) -> Any:
    """Drop the language of a literal."""
    if entry.get("type") in ("bnode", "uri"):
        return right(entry, where, labels)
    return literal(entry["value"], entry.get("datatype", XSD + "string"))


# §13 Dialects


@wrong(
    "DIA-1",
    replaces=dialects.read,
    half="not a character of the remainder is changed",
    seen=f"{RSP_JS} trims every line",
)
def the_body_is_on_one_line(
    right: Right,
    text: str,
    dialect: str,
    static: bool = False,
    base: str = "",
    graphs: Iterable[str] = (),
) -> Query:
    """Replace every line feed of the body with a space, even within a string."""
    query: Query = right(text, dialect, static, base, graphs)
    on_one_line = query.body.text.replace("\n", " ")
    return replace(query, body=Body(on_one_line))


@wrong(
    "DIA-1",
    replaces=QuerySource._loosened,
    half="and with each the line feed",
)
def a_clause_goes_alone(right: Right, source: QuerySource, begin: int, end: int) -> tuple[int, int]:
    """Remove a clause without the line end or the space after it."""
    return begin, end


@wrong(
    "DIA-2",
    replaces=windows.milliseconds,
    half="a number and `ms`, `s`, `m`, `h` or `d`",
)
def every_unit_is_seconds(right: Right, parts: Iterable[tuple[str, str]]) -> Any:
    """Read every unit of a duration as seconds."""
    return right((number, "s") for number, _ in parts)


@wrong(
    "DIA-2",
    replaces=windows.milliseconds,
    half="no hour in CQELS-QL, whose engine misreads it",
    seen=f"{CQELS}, Duration.parse: substring(0, l-1)",
)
def hours_lose_a_digit(right: Right, parts: Iterable[tuple[str, str]]) -> Any:
    """Drop the last digit of a number of hours or days."""
    misread = []
    for number, unit in parts:
        if unit[0] in "hd":
            number = number[:-1] or "0"
        misread.append((number, unit))
    return right(misread)


@wrong("DIA-3", replaces=windows.read_window)
def range_tumbles_and_counts_elements(right: Right, *values: Any, **options: Any) -> Any:
    """Read a RANGE without a slide as a window that slides by its size, a tuple-based window as one
    over time, and a window of triples as one of elements.
    """
    window = replace(right(*values, **options), unit=Unit.ELEMENTS)
    if window.kind is WindowKind.RANGE:
        return replace(window, kind=WindowKind.TIME, slide=window.size)
    if window.kind is WindowKind.TUPLE:
        return replace(window, kind=WindowKind.TIME)
    return window


@wrong(
    "DIA-4",
    replaces=dialects.stated_operator,
    half="REGISTER ISTREAM",
    seen=RSP_JS,
)
def istream_is_read_as_rstream(right: Right, source: QuerySource) -> R2S | None:
    """Read Istream and Dstream as Rstream."""
    operator = right(source)
    if operator is None:
        return None
    return R2S.RSTREAM


@wrong(
    "DIA-4",
    replaces=dialects._operator,
    half="there the semantics says it",
)
def the_querys_operator_alone(right: Right, query: Query, spoken: Any, r2s: R2S | None) -> Any:
    """Render no operator but the query's own: the semantics' is never stated."""
    if spoken.states(query.body.form):
        r2s = None
    return right(query, spoken, r2s)


@wrong(
    "DIA-5",
    replaces=windows.read_window,
    half="names the window by its stream",
    seen=f"the grammar of {C_SPARQL}: (<NAMED>)*",
)
def named_streams_are_merged(
    right: Right,
    source: QuerySource,
    stream: str,
    extent: Node | None,
    name: str | None = None,
) -> Any:
    """Read FROM NAMED STREAM without its NAMED."""
    if name == stream:
        name = None
    return right(source, stream, extent, name)


@wrong(
    "DIA-5",
    replaces=dialect.stream_pattern_windows,
    half="Such patterns do not see static data",
)
def a_lone_pattern_sees_static_data(right: Right, source: QuerySource, alone: bool) -> Any:
    """Show static data to a STREAM pattern that is all of WHERE."""
    pattern = dialect.lone_pattern(source)
    if pattern is None:
        return []
    dialect.unwrap(source, pattern)
    return [dialect._window(source, pattern)]


@wrong(
    "DIA-5",
    replaces=QuerySource.resolve,
    half="and escapes in it are read",
    seen=RSP_JS,
)
def iris_are_kept_as_written(right: Right, source: QuerySource, node: Node) -> str:
    """Take the text between < and > for a name, without its base, and with its escapes."""
    token = str(node.children[0])
    _, namespaces = source.prologue
    prefix, colon, local = token.partition(":")
    if token.startswith("<"):
        return token[1:-1]
    return namespaces[prefix + colon] + local


@wrong(
    "DIA-5",
    replaces=iris.resolve,
    half="a relative IRI are resolved",
    seen=f"{RDFLIB} and others that use urljoin",
)
def iris_lose_their_end(right: Right, base: str, reference: str) -> str:
    """Drop an empty query or fragment of an IRI."""
    return urljoin(base, reference)


@wrong(
    "DIA-6",
    replaces=dialect.wrap,
    half="where a pattern has to go around WHERE",
)
def patterns_stay_outside(
    right: Right, where: QuerySource, opening: str, static: bool, names: Collection[str] = ()
) -> None:
    """Put a window's pattern around WHERE, whatever stands outside of it."""
    try:
        right(where, opening, static, names)
    except Unrenderable:
        first = source.start_offset(where.pattern) + 1
        last = source.end_offset(where.pattern) - 1
        where.put(first, first, f"\n{opening} {{")
        where.put(last, last, "}\n")


@wrong(
    "DIA-6",
    replaces=dialect.graph_with_variable,
    half="`GRAPH ?g`",
)
def variables_find_what_they_find(right: Right, source: QuerySource) -> None:
    """Render GRAPH with a variable, although it may find the name that a window has in the text
    only, or in the body only.
    """


@wrong(
    "DIA-6",
    replaces=windows.iri_reference,
    half="a name that DIA-5 would not give",
)
def every_name_is_an_iri(right: Right, name: str, *rest: Any) -> str:
    """Write any name between < and >, be it an IRI or not."""
    return f"<{name}>"


@wrong(
    "DIA-7",
    replaces=grammar.line_and_column,
    half="with its line and column",
)
def columns_from_0(right: Right, text: str, offset: int) -> str:
    """Count lines and columns from 0."""
    before = text[:offset]
    line = before.count("\n")
    column = offset - before.rfind("\n") - 1
    return f"line {line} column {column}"


@wrong(
    "DIA-7",
    replaces=faults.syntax_error,
    half="what stands there and what was expected",
    seen=f"{RSP_JS}: a window of NaN, and no error",
)
def no_place(right: Right, *values: Any, **options: Any) -> InvalidQuery:
    """Refuse a text that cannot be read without a place and a reason."""
    return InvalidQuery("cannot be read", rule="DIA-7", place="text")
