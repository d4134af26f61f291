"""Wrong readers and writers for §12 and §13: files, and the query languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from lark import Token, Tree

from conformance.wrong_engines.engines import C_SPARQL, CQELS, RDFLIB, RSP_JS
from conformance.wrong_engines.miniature import Right, wrong
from refengine import dialects
from refengine.core.query import Body, Query, Unit, WindowKind
from refengine.core.semantics import R2S
from refengine.dialects import dialect, durations, grammar, source, windows
from refengine.dialects.source import DialectText as QuerySource
from refengine.dialects.source import Unrenderable
from refengine.model import iris
from refengine.model.elements import XSD, Relation, literal
from refengine.model.errors import InvalidQuery
from refengine.model.terms import Term
from refengine.rdf import documents, lines, recordings, streams, turtle
from refengine.rdf.lines import TIMED_TOKEN, parse_terms
from refengine.rdf.sources import Source, suffix_of

Node = Tree[Token]


# §12 Reading


@wrong("IO-1", replaces=streams.build_stream, half="app = NN × 1000 ms")
def files_have_seconds_and_an_order(right: Right, items: list[Any], ordered: bool = True) -> Any:
    """Times are taken for seconds, and the order of a file for the arrival order."""
    return right([item._replace(app=item.app // 1000) for item in items], True)


@wrong(
    "IO-1", replaces=documents.read_turtle, half="Static data is Turtle, N-Triples, N-Quads or TriG"
)
def labels_are_of_the_folder(right: Right, path: Path, language: str, prefix: str) -> Any:
    """A blank node label means one node in all files of a folder."""
    return right(path, language, "b")


@wrong(
    "IO-1",
    replaces=turtle.parse_statements,
    half="Relative IRIs of Turtle and TriG are resolved",
    seen=f"{RDFLIB}: the parser of Notation 3, Turtle and TriG",
)
def a_query_replaces_the_last_segment(right: Right, text: str, *rest: str) -> Any:
    """A relative IRI that is a query alone is resolved against the folder of the base, as in RFC
    2396.
    """
    return right(text.replace("<?", "<./?"), *rest)


_lines = lines.read_lines  # the right one, also while it is replaced


def _timed_lines(path: Source) -> Iterator[tuple[str, int]]:
    """Read the lines of a file that have a time."""
    for line, place in _lines(path):
        if suffix_of(path) != ".n3t" or len(parse_terms(line, TIMED_TOKEN)) == 4:
            yield line, place


@wrong("IO-1", replaces=streams.build_stream_of_graphs, besides={lines.read_lines: _timed_lines})
def what_has_no_time_is_left_out(
    right: Right, path: Path, statements: Iterable[Any], *rest: Any
) -> Any:
    """A graph that nothing dates, or a line that has no time, is no element."""
    statements = list(statements)
    dated = {None} | {each.triple[0] for each in statements if each.graph is None}
    return right(path, [each for each in statements if each.graph in dated], *rest)


@wrong("IO-2", replaces=recordings.read_recording, half="one without bindings is an empty answer")
def recordings_are_rows(right: Right, path: str | Path) -> Any:
    """A binding that stands twice is one row, and a relation without bindings is none."""
    found = right(path)
    pairs = zip(found.relations, found.timestamps, strict=True)
    kept = [(relation, time) for relation, time in pairs if relation.rows]
    relations = tuple(Relation(r.variables, Counter(set(r.rows))) for r, _ in kept)
    return replace(found, relations=relations, timestamps=tuple(time for _, time in kept))


@wrong("IO-2", replaces=recordings.parse_term, half="under `xml:lang`")
def languages_are_dropped(right: Right, entry: Any, where: str, labels: dict[str, Term]) -> Any:
    """A literal's language is not read."""
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
def the_body_is_on_one_line(right: Right, text: str, spoken: str, named: bool = False) -> Query:
    """White space of the body counts for nothing, so it is written in one line, its strings with
    it.
    """
    query: Query = right(text, spoken, named)
    return replace(query, body=Body(" ".join(query.body.text.split(" ")).replace("\n", " ")))


@wrong("DIA-1", replaces=QuerySource._loosened, half="and with each the line feed")
def a_clause_goes_alone(right: Right, source: QuerySource, begin: int, end: int) -> tuple[int, int]:
    """A clause goes without the line end or the space after it."""
    return begin, end


@wrong("DIA-2", replaces=durations.milliseconds, half="C-SPARQL's and CQELS-QL's a number and")
def every_unit_is_seconds(right: Right, parts: Iterable[tuple[str, str]]) -> Any:
    """Every unit is seconds."""
    return right((number, "s") for number, _ in parts)


@wrong(
    "DIA-2",
    replaces=durations.milliseconds,
    half="no hour in CQELS-QL, whose engine misreads it",
    seen=f"{CQELS}, Duration.parse: substring(0, l-1)",
)
def hours_lose_a_digit(right: Right, parts: Iterable[tuple[str, str]]) -> Any:
    """Hours and days lose the last digit of their number."""
    return right((n[:-1] or "0" if unit[0] in "hd" else n, unit) for n, unit in parts)


@wrong("DIA-3", replaces=windows.read_window)
def range_tumbles(right: Right, *values: Any) -> Any:
    """A RANGE without a slide slides by its size."""
    found = right(*values)
    if found.kind is WindowKind.RANGE:
        return replace(found, kind=WindowKind.TIME, slide=found.size)
    return found


@wrong("DIA-3", replaces=windows.read_window)
def nothing_is_counted_but_elements(right: Right, *values: Any) -> Any:
    """A tuple-based window is one over time, and a window of triples one of elements."""
    found = replace(right(*values), unit=Unit.ELEMENTS)
    if found.kind is WindowKind.TUPLE:
        return replace(found, kind=WindowKind.TIME)
    return found


@wrong("DIA-4", replaces=dialects.stated_operator, half="REGISTER ISTREAM", seen=RSP_JS)
def istream_is_read_as_rstream(right: Right, source: QuerySource) -> R2S | None:
    """Istream and Dstream are read, and mean Rstream."""
    return None if right(source) is None else R2S.RSTREAM


@wrong("DIA-4", replaces=dialects._operator, half="there the semantics says it")
def the_querys_operator_alone(right: Right, query: Query, spoken: Any, r2s: R2S | None) -> Any:
    """The semantics' operator is never stated."""
    return right(query, spoken, None if spoken.states(query.body.form) else r2s)


@wrong(
    "DIA-5",
    replaces=windows.read_window,
    half="names the window by its stream",
    seen=f"the grammar of {C_SPARQL}: (<NAMED>)*",
)
def named_streams_are_merged(
    right: Right, source: QuerySource, stream: str, extent: Node | None, name: str | None = None
) -> Any:
    """NAMED of FROM NAMED STREAM is read over."""
    return right(source, stream, extent, None if name == stream else name)


@wrong(
    "DIA-5", replaces=dialect.stream_pattern_windows, half="Such patterns do not see static data"
)
def a_lone_pattern_sees_static_data(right: Right, source: QuerySource, alone: bool) -> Any:
    """A STREAM pattern that is all of WHERE sees static data."""
    pattern = dialect.lone_pattern(source)
    if pattern is None:
        return []
    dialect.unwrap(source, pattern)
    return [dialect._window(source, pattern)]


@wrong("DIA-5", replaces=QuerySource.resolve, half="and escapes in it are read", seen=RSP_JS)
def iris_are_kept_as_written(right: Right, source: QuerySource, node: Node) -> str:
    """A name is the text between < and >, base and escapes or not."""
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
    """An empty query or fragment is dropped."""
    return urljoin(base, reference)


@wrong("DIA-6", replaces=dialect.wrap, half="where a pattern has to go around WHERE")
def patterns_stay_outside(right: Right, where: QuerySource, opening: str, static: bool) -> None:
    """A window's pattern goes around WHERE, whatever is outside of it."""
    try:
        right(where, opening, static)
    except Unrenderable:
        first, last = source.start_offset(where.pattern) + 1, where.pattern.meta.end_pos - 1
        where.put(first, first, f"\n{opening} {{")
        where.put(last, last, "}\n")


@wrong("DIA-6", replaces=dialect.graph_with_variable, half="`GRAPH ?g`")
def variables_find_what_they_find(right: Right, source: QuerySource) -> None:
    """GRAPH with a variable may find the name that a window has in the text only, or in the body
    only.
    """


@wrong("DIA-6", replaces=windows.iri_reference, half="a name that DIA-5 would not give")
def every_name_is_an_iri(right: Right, name: str, *rest: Any) -> str:
    """Any name is put between < and >."""
    return f"<{name}>"


@wrong("DIA-7", replaces=grammar.line_and_column, half="with its line and column")
def columns_from_0(right: Right, text: str, offset: int) -> str:
    """Lines and columns are counted from 0."""
    before = text[:offset]
    return f"line {before.count(chr(10))} column {offset - before.rfind(chr(10)) - 1}"


@wrong(
    "DIA-7",
    replaces=grammar.syntax_error,
    half="what stands there and what was expected",
    seen=f"{RSP_JS}: a window of NaN, and no error",
)
def no_place(right: Right, *values: Any) -> InvalidQuery:
    """A text that cannot be read is an error, without a place or a reason."""
    return InvalidQuery("cannot be read", rule="DIA-7", place="text")
