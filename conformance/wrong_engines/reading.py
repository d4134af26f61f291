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
from refengine.core.query import Body, Query, Unit, Window, WindowKind
from refengine.core.values import R2S
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


@wrong("IO-1", replaces=reading.build_stream, half="app = NN × 1000 ms")
def times_are_seconds(right: Right, items: list[Any], ordered: bool = True) -> Any:
    """Reads times as seconds."""
    return right([item._replace(app=item.app // 1000) for item in items], ordered)


@wrong("IO-1", replaces=reading.build_stream)
def a_file_has_an_order(right: Right, items: list[Any], ordered: bool = True) -> Any:
    """Takes the order of a file for the arrival order."""
    return right(items, True)


@wrong("IO-1", replaces=dated_documents.build_stream_of_graphs)
def undated_graphs_are_skipped(right: Right, reading: Any, statements: Iterable[Any]) -> Any:
    """Skips graphs that nothing dates, instead of refusing them."""
    statements = list(statements)
    dated = {each.triple[0] for each in statements if each.graph is None}
    return right(reading, [each for each in statements if each.graph in {None, *dated}])


@wrong("IO-1", replaces=lines.read_lines)
def lines_without_a_time_are_skipped(right: Right, path: Source) -> Iterator[tuple[str, int]]:
    """Skips lines that have no time, instead of refusing them."""
    for line, place in right(path):
        if suffix_of(path) != ".n3t" or len(parse_terms(line, TIMED_TOKEN)) == 4:
            yield line, place


@wrong(
    "IO-1",
    replaces=documents.read_turtle,
    half="Static data is Turtle, N-Triples, N-Quads, TriG or JSON-LD",
)
def labels_are_of_the_folder(
    right: Right, path: Path, language: str, prefix: str, base: str = ""
) -> Any:
    """Takes a blank node label for one node in all files."""
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
    """Resolves `?query` against the folder of the base."""
    return right(text.replace("<?", "<./?"), language, prefix, base)


@wrong(
    "IO-3",
    replaces=dated_documents.build_stream_of_subjects,
    half="and the triples of all nodes without a date",
)
def undated_nodes_are_dropped(right: Right, reading: Any, statements: Iterable[Any]) -> Any:
    """Drops the triples of nodes without a date."""
    statements = list(statements)
    time = f"<{reading.dating.time_predicate}>"
    dated = {each.triple[0] for each in statements if each.triple[1] == time}
    return right(reading, [each for each in statements if each.triple[0] in dated])


@wrong(
    "IO-3",
    replaces=rows.build_stream_of_quads,
    half="All quads of a graph have the same times",
)
def every_quad_is_an_element(right: Right, reading: Any, found: Iterable[Any], where: str) -> Any:
    """Reads each quad as an element. So it reads those of one graph."""
    return right(reading, (replace(quad, graph=None) for quad in found), where)


@wrong("IO-3", replaces=lines._scope_blank_nodes, half="A blank node is of one message")
def labels_are_of_the_log(right: Right, statement: Any, scope: str) -> Any:
    """Takes a blank node label for one node in all messages of a log."""
    return statement


@wrong("IO-2", replaces=recordings.read_recording)
def repeated_bindings_are_one(right: Right, path: str | Path) -> Any:
    """Reads a binding that stands twice as one row."""
    recording = right(path)
    relations = tuple(
        Relation(one.variables, Counter(set(one.rows))) for one in recording.relations
    )
    return replace(recording, relations=relations)


@wrong(
    "IO-2",
    replaces=recordings.read_recording,
    half="one without bindings is an empty answer",
)
def empty_relations_are_dropped(right: Right, path: str | Path) -> Any:
    """Drops relations without bindings."""
    recording = right(path)
    pairs = zip(recording.relations, recording.timestamps, strict=True)
    kept = [(relation, timestamp) for relation, timestamp in pairs if relation.rows]
    return replace(
        recording,
        relations=tuple(relation for relation, _ in kept),
        timestamps=tuple(timestamp for _, timestamp in kept),
    )


@wrong(
    "IO-2",
    replaces=recordings.parse_term,
    half="under `xml:lang`",
)
def languages_are_dropped(right: Right, entry: Any, where: str, labels: dict[str, Term]) -> Any:
    """Drops the language of a literal."""
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
    """Replaces every line feed of the body with a space, even within a string."""
    query: Query = right(text, dialect, static, base, graphs)
    on_one_line = query.body.text.replace("\n", " ")
    return replace(query, body=Body(on_one_line))


@wrong(
    "DIA-1",
    replaces=QuerySource._loosened,
    half="and with each the line feed",
)
def a_clause_goes_alone(right: Right, source: QuerySource, begin: int, end: int) -> tuple[int, int]:
    """Removes a clause without the line end or the space after it."""
    return begin, end


@wrong(
    "DIA-2",
    replaces=windows.milliseconds,
    half="a number and `ms`, `s`, `m`, `h` or `d`",
)
def every_unit_is_seconds(right: Right, parts: Iterable[tuple[str, str]]) -> Any:
    """Reads every unit of a duration as seconds."""
    return right((number, "s") for number, _ in parts)


@wrong(
    "DIA-2",
    replaces=windows.milliseconds,
    half="no hour in CQELS-QL, whose engine misreads it",
    seen=f"{CQELS}, Duration.parse: substring(0, l-1)",
)
def hours_lose_a_digit(right: Right, parts: Iterable[tuple[str, str]]) -> Any:
    """Drops the last digit of a number of hours or days."""
    misread = []
    for number, unit in parts:
        if unit[0] in "hd":
            number = number[:-1] or "0"
        misread.append((number, unit))
    return right(misread)


def _with_kind(window: Window, kind: WindowKind, **fields: Any) -> Window:
    """Return a window over time in place of one of another kind; any other stays as it is."""
    if window.kind is not kind:
        return window
    return replace(window, kind=WindowKind.TIME, **fields)


@wrong("DIA-3", replaces=windows.read_window)
def range_tumbles(right: Right, *values: Any, **options: Any) -> Any:
    """Reads a RANGE without a slide as a window that slides by its size."""
    window = right(*values, **options)
    return _with_kind(window, WindowKind.RANGE, slide=window.size)


@wrong("DIA-3", replaces=windows.read_window)
def tuple_windows_are_over_time(right: Right, *values: Any, **options: Any) -> Any:
    """Reads a tuple-based window as one over time."""
    return _with_kind(right(*values, **options), WindowKind.TUPLE, unit=Unit.ELEMENTS)


@wrong("DIA-3", replaces=windows.read_window)
def triples_are_counted_as_elements(right: Right, *values: Any, **options: Any) -> Any:
    """Reads a window of triples as one of elements."""
    return replace(right(*values, **options), unit=Unit.ELEMENTS)


@wrong(
    "DIA-4",
    replaces=dialects.stated_operator,
    half="REGISTER ISTREAM",
    seen=RSP_JS,
)
def istream_is_read_as_rstream(right: Right, source: QuerySource) -> R2S | None:
    """Reads Istream and Dstream as Rstream."""
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
    """Renders no operator but the query's own: the semantics' is never stated."""
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
    """Reads FROM NAMED STREAM without its NAMED."""
    if name == stream:
        name = None
    return right(source, stream, extent, name)


@wrong(
    "DIA-5",
    replaces=dialect.stream_pattern_windows,
    half="Such patterns do not see static data",
)
def a_lone_pattern_sees_static_data(right: Right, source: QuerySource, alone: bool) -> Any:
    """Shows static data to a STREAM pattern that is all of WHERE."""
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
    """Takes the text between < and > for a name, without its base, and with its escapes."""
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
    """Drops an empty query or fragment of an IRI."""
    return urljoin(base, reference)


@wrong(
    "DIA-6",
    replaces=dialect.wrap,
    half="where a pattern has to go around WHERE",
)
def patterns_stay_outside(
    right: Right, where: QuerySource, opening: str, static: bool, names: Collection[str] = ()
) -> None:
    """Puts a window's pattern around WHERE, whatever stands outside of it."""
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
    """Renders GRAPH with a variable, although it may find the name that a window has in the text
    only, or in the body only.
    """


@wrong(
    "DIA-6",
    replaces=windows.iri_reference,
    half="a name that DIA-5 would not give",
)
def every_name_is_an_iri(right: Right, name: str, *rest: Any) -> str:
    """Writes any name between < and >, be it an IRI or not."""
    return f"<{name}>"


@wrong(
    "DIA-7",
    replaces=grammar.line_and_column,
    half="with its line and column",
)
def columns_from_0(right: Right, text: str, offset: int) -> str:
    """Counts lines and columns from 0."""
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
    """Refuses a text that cannot be read without a place and a reason."""
    return InvalidQuery("cannot be read", rule="DIA-7", place="text")
