"""SPARQLstream: `SELECT ISTREAM … FROM NAMED STREAM s [NOW - ω SLIDE β]`, after Calbimonte et al., ISWC 2010, and morph-streams'
grammar, which also has `STREAM s [extent] {…}` among the patterns."""

from __future__ import annotations

from lark import Tree

from refengine.dialects import durations, windows
from refengine.dialects.dialect import Dialect, as_streams, streams
from refengine.dialects.grammar import Additions
from refengine.dialects.source import Source, Unrenderable
from refengine.dialects.windows import Extents
from refengine.query import Query, Window

RULES = r"""
    window_clause: FROM NAMED STREAM iri ("[" extent "]")?
    window_pattern: STREAM iri ("[" extent "]")? group
    extent: NOW -> now | TRIPLES INTEGER -> triples | NOW MINUS duration (TO NOW)? -> range
          | NOW MINUS duration (TO NOW)? SLIDE duration -> time
          | NOW MINUS duration TO NOW MINUS duration (SLIDE duration)? -> past
    duration: INTEGER UNIT
    UNIT: /(?:ms|s|seconds?|min|minutes?|h|hr|hours?|d|days?)(?!\w)/i
    MINUS: "-"
    operator: OPERATOR
    OPERATOR.2: /[IRD]STREAM(?![\w:.-])/i
    STREAM.2: /STREAM(?![\w:.-])/i
    NOW.2: /NOW(?![\w:.])/i
    TO.2: /TO(?![\w:.-])/i
    SLIDE.2: /SLIDE(?![\w:.-])/i
    TRIPLES.2: /TRIPLES(?![\w:.-])/i
"""


def declared(source: Source, named: bool) -> list[Window]:
    """DIA-5: the windows of FROM NAMED STREAM, whose contents are merged, then those of STREAM patterns."""
    found = []
    for node in source.nodes("window_clause"):
        iri, *extent = (child for child in node.children if isinstance(child, Tree))
        found.append(windows.read(source, source.resolve(iri), *extent or [None]))
        source.cut(node)
    return found + streams(source, alone=False)


def place(source: Source, query: Query, dialect: Dialect) -> None:
    """DIA-5, DIA-6: a clause for each window without a name, STREAM patterns for the others."""
    nameless = [window for window in query.windows if window.name is None]
    named = [window for window in query.windows if window.name is not None]
    if list(query.windows) != nameless + named:
        raise Unrenderable(f"{dialect.title} has the windows without a name first", rule="DIA-6", place="windows")
    [where] = source.nodes("where")
    source.insert(where.meta.start_pos, (f"FROM NAMED STREAM {dialect.over(window, source)}" for window in nameless))
    if named:
        as_streams(source, named, dialect, alone=False)


SPARQLSTREAM = Dialect(
    name="sparqlstream",
    title="SPARQLstream",
    added=Additions(r2s="operator?", clauses="| window_clause", patterns="| window_pattern", rules=RULES),
    extents=Extents(
        {"time": "NOW - {size} SLIDE {slide}", "range": "NOW - {size}", "triples": "TRIPLES {size}", "now": "NOW", "unbounded": ""},
        durations.spaced,
    ),
    declared=declared,
    place=place,
    register=lambda query, r2s: "",
    selects=True,
)
