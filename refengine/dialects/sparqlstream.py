"""SPARQLstream: `SELECT ISTREAM … FROM NAMED STREAM s [NOW - ω SLIDE β]`, after Calbimonte et al.,
ISWC 2010, and morph-streams' grammar, which also has `STREAM s [extent] {…}` among the patterns.
"""

from __future__ import annotations

from functools import partial

from lark import Tree

from refengine.core.query import Form, Query, Window
from refengine.dialects import windows
from refengine.dialects.dialect import Dialect, stream_pattern_windows, write_stream_patterns
from refengine.dialects.grammar import Additions
from refengine.dialects.source import DialectText, Unrenderable, start_offset
from refengine.dialects.windows import ExtentForms

RULES = r"""
    operator: OPERATOR
    window_clause: FROM NAMED? STREAM iri ("[" extent "]")?
    window_pattern: STREAM (iri | VAR) "[" extent "]" group
    extent: NOW -> now | TRIPLES INTEGER -> triples | NOW MINUS duration (TO NOW)? -> range
          | NOW MINUS duration (TO NOW)? SLIDE duration -> time
          | NOW MINUS duration TO NOW MINUS duration (SLIDE duration)? -> until
    duration: INTEGER UNIT
    UNIT: /(?:ms|s|seconds?|min|minutes?|h|hr|hours?|d|days?)(?!\w)/i
    MINUS: "-"
    OPERATOR.2: /[IRD]STREAM(?![\w:.-])/i
"""
FORMS = {
    "time": "NOW - {size} SLIDE {slide}",
    "range": "NOW - {size}",
    "time with a lag": "NOW - {begin} TO NOW - {lag} SLIDE {slide}",
    "range with a lag": "NOW - {begin} TO NOW - {lag}",
    "triples": "TRIPLES {size}",
    "now": "NOW",
    "unbounded": "",
}
DURATIONS = {"h": "{} HR", "m": "{} MIN", "s": "{} S", "ms": "{} MS"}


def sparqlstream_windows(source: DialectText, static: bool) -> list[Window]:
    """DIA-5: Return the windows of FROM STREAM, with or without NAMED, whose contents are merged,
    and then those of STREAM patterns.
    """
    found = []
    for node in source.nodes("window_clause"):
        iri, *extents = (child for child in node.children if isinstance(child, Tree))
        extent = next(iter(extents), None)
        found.append(windows.read_window(source, source.resolve(iri), extent))
        source.cut(node)
    return found + stream_pattern_windows(source, alone=False)


def write_sparqlstream(source: DialectText, query: Query, dialect: Dialect, static: bool) -> None:
    """DIA-5, DIA-6: Write a clause for each window without a name, and STREAM patterns for the
    others. Raises Unrenderable.
    """
    nameless = [window for window in query.windows if window.name is None]
    named = [window for window in query.windows if window.name is not None]
    if list(query.windows) != nameless + named:
        raise Unrenderable(
            f"{dialect.title} has windows without a name before those with a name; list them so",
            place="windows",
        )
    if nameless:
        lines = (f"FROM NAMED STREAM {dialect.over(window, source)}" for window in nameless)
        source.insert(start_offset(source.where), lines)
    if named:
        write_stream_patterns(source, named, dialect, alone=False)


SPARQLSTREAM = Dialect(
    name="sparqlstream",
    title="SPARQLstream",
    added=Additions(
        after_select="operator?",
        after_construct="operator?",
        clauses="| window_clause",
        patterns="| window_pattern",
        rules=RULES,
        keywords="STREAM NOW TO SLIDE TRIPLES",
    ),
    extents=ExtentForms(FORMS, partial(windows.write_duration, forms=DURATIONS)),
    read_windows=sparqlstream_windows,
    write_windows=write_sparqlstream,
    operators=frozenset({Form.SELECT, Form.CONSTRUCT}),
)
