"""CQELS-QL 2.0: `REGISTER QUERY q AS … FROM STREAM s [RANGE ω STEP β] WHERE { STREAM s {…} }`,
after the specification of the language in CQELS 2.0.0-alpha.13.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from lark import Token, Tree

from refengine.core.query import Query, Window
from refengine.core.values import R2S
from refengine.dialects import windows
from refengine.dialects.dialect import (
    Dialect,
    check_pattern_text,
    references,
    refuse_graph_variable,
    refuse_graph_within,
    refuse_graphs_of_windows,
)
from refengine.dialects.grammar import Additions, child_node, child_token
from refengine.dialects.source import DialectText, Unrenderable, end_offset, start_offset
from refengine.dialects.windows import ExtentForms
from refengine.model.errors import Unsupported
from refengine.model.messages import nearest

RULES = r"""
    register: REGISTER QUERY WORD AS
    window_clause: FROM STREAM stream_name "[" extent "]"
    named_window: FROM NAMED WINDOW iri ON stream_name "[" extent "]"
    graph_source: FROM STATIC iri
    window_pattern: STREAM stream_name group | WINDOW iri group
    stream_name: WORD | iri
    extent: NOW -> now | TRIPLES INTEGER -> triples | RANGE duration -> tumbling
        | (RANGE | SLIDE) duration STEP duration -> time | RANGE duration SLIDE duration -> time
    duration: INTEGER UNIT
    UNIT: /(?:ms|[smhd])(?!\w)/
"""
FORMS = {
    "time": "RANGE {size} STEP {slide}",
    "tumbling": "RANGE {size}",
    "triples": "TRIPLES {size}",
    "now": "NOW",
}
DURATIONS = {"d": "{}d", "h": "{}h", "m": "{}m", "s": "{}s"}
NAME = re.compile(r"(?!(?:NAMED|STREAM|STATIC)$)[A-Za-z_]\w*", re.IGNORECASE | re.ASCII)


def cqels2_windows(source: DialectText, static: bool) -> list[Window]:
    """DIA-5: Return the windows of FROM STREAM, which are named by their streams. If there is one,
    no STREAM pattern and no static data, it has no name.
    """
    for node in source.nodes("named_window"):
        reason = (
            "FROM NAMED WINDOW of CQELS-QL 2.0 is unsupported, as by CQELS itself; use FROM STREAM"
        )
        source.fail(node, reason, Unsupported)
    for node in source.nodes("graph_source"):
        _, keyword, iri = node.children
        source.put(start_offset(keyword), start_offset(iri), "")
    _write_order_as_sparql(source)

    clauses, patterns = source.nodes("window_clause"), source.nodes("window_pattern")
    has_names = len(clauses) > 1 or bool(patterns) or static
    found = _read_window_clauses(source, clauses, has_names)
    if not has_names:
        return list(found.values())
    names = {stream: windows.absolute_name(stream) for stream in found}
    for node in patterns:
        refuse_graph_within(source, node)
    refuse_graphs_of_windows(source, names.values())
    for node in patterns:
        _rewrite_pattern(source, node, names)
    return list(found.values())


def _read_window_clauses(
    source: DialectText, clauses: Iterable[Tree[Token]], has_names: bool
) -> dict[str, Window]:
    """Return the windows of FROM STREAM, by their streams, and cut the clauses out of the text.
    `has_names` says whether they are named by their streams.
    """
    found: dict[str, Window] = {}
    for node in clauses:
        name_node, extent = child_node(node, 2), child_node(node, 4)
        stream = _stream(source, name_node)
        if stream in found:
            source.fail(name_node, f"a stream has one window, got {stream!r} again")
        name = None
        if has_names:
            name = windows.absolute_name(stream)
        found[stream] = windows.read_window(source, stream, extent, name)
        source.cut(node)
    return found


def _rewrite_pattern(source: DialectText, node: Tree[Token], names: Mapping[str, str]) -> None:
    """Write a STREAM pattern as a GRAPH pattern. `names` has the window's name of each stream."""
    if child_token(node, 0).type == "WINDOW":
        source.fail(node, "expected STREAM, since no window has a name of its own, got WINDOW")
    name_node = child_node(node, 1)
    stream = _stream(source, name_node)
    if stream not in names:
        reason = f"expected a stream of FROM STREAM, got {stream!r}{nearest(stream, names)}"
        source.fail(name_node, reason)
    source.put(start_offset(node), start_offset(node.children[-1]), f"GRAPH <{names[stream]}> ")


def _write_order_as_sparql(source: DialectText) -> None:
    """DIA-5: Write `ORDER BY ?x DESC` as SPARQL has it, `ORDER BY DESC(?x)`."""
    for variable, direction, following in zip(
        source.tokens, source.tokens[1:], [*source.tokens[2:], None], strict=False
    ):
        is_direction = direction.upper() in ("ASC", "DESC")
        if variable.type == "VAR" and is_direction and getattr(following, "type", "") != "LPAR":
            source.put(start_offset(variable), end_offset(direction), f"{direction}({variable})")


def _stream(source: DialectText, node: Tree[Token]) -> str:
    """Return the name of a stream: a word as it is written, or an IRI."""
    child = node.children[0]
    if isinstance(child, Tree):
        return source.resolve(child)
    return str(child)


def write_cqels2(source: DialectText, query: Query, dialect: Dialect, static: bool) -> None:
    """DIA-5, DIA-6: Write a clause for each window, and STREAM patterns for those with a name.
    Raises Unrenderable.
    """
    names = [window.name for window in query.windows if window.name is not None]
    if len(names) < len(query.windows) and (static or len(query.windows) > 1):
        raise Unrenderable(
            f"{dialect.title} has a window without a name only if it is the only one, and there is "
            "no static data; name it by its stream",
            place="windows",
        )
    clauses = [f"FROM STREAM {_over(window, source, dialect)}" for window in query.windows]
    source.insert(start_offset(source.where), clauses)
    if names:
        _write_patterns(source, query, names)


def _write_patterns(source: DialectText, query: Query, names: Collection[str]) -> None:
    """Write the GRAPH patterns of windows as STREAM patterns. Raises Unrenderable for a window that
    has none.
    """
    refuse_graph_variable(source)
    found = references(source, names)
    for window in query.windows:
        if window.name not in {name for _, name in found}:
            reason = "it has no pattern in the body, and only a pattern can name it"
            raise Unrenderable(reason, place=f"window {window.name!r}")
    streams = {window.name: _stream_text(window, source) for window in query.windows}
    for node, name in found:
        check_pattern_text(source, node, name, names)
        source.put(start_offset(node), start_offset(node.children[-1]), f"STREAM {streams[name]} ")


def _over(window: Window, source: DialectText, dialect: Dialect) -> str:
    """Return a window's stream and extent. Raises Unrenderable for a window whose name is not its
    stream's.
    """
    if window.name not in (None, name := windows.absolute_name(window.stream)):
        reason = f"{dialect.title} names a window by its stream; the name would be {name!r}"
        raise Unrenderable(reason, place=f"window {window.name!r}")
    return f"{_stream_text(window, source)} [{dialect.extents.write(window, dialect.title)}]"


def _stream_text(window: Window, source: DialectText) -> str:
    """Return a stream's name as it is written: a word where it is one."""
    if NAME.fullmatch(window.stream):
        return window.stream
    return windows.iri_reference(window.stream, source, "stream")


def register(query: Query, r2s: R2S | None) -> str:
    """Return the clause that registers a query."""
    return "REGISTER QUERY q AS"


def write_duration(duration: int) -> str:
    """DIA-2: Return a duration in days, hours, minutes or seconds. Raises Unrenderable."""
    if duration % windows.UNITS["s"]:
        reason = f"CQELS-QL 2.0 has no unit below a second, got {duration} ms"
        raise Unrenderable(reason, place="windows")
    return windows.write_duration(duration, DURATIONS)


CQELS2 = Dialect(
    name="cqels2",
    title="CQELS-QL 2.0",
    added=Additions(
        register="register",
        clauses="| window_clause | named_window | graph_source",
        patterns="| window_pattern",
        rules=RULES,
        keywords="REGISTER QUERY AS STREAM STATIC WINDOW ON NOW TRIPLES RANGE STEP SLIDE",
    ),
    extents=ExtentForms(FORMS, write_duration),
    read_windows=cqels2_windows,
    write_windows=write_cqels2,
    register=register,
)
