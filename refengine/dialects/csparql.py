"""C-SPARQL: `REGISTER QUERY q AS … FROM STREAM s [RANGE ω STEP β]`, after Barbieri et al., 2010,
and the engine's grammar.
"""

from __future__ import annotations

from functools import partial

from lark import Tree

from refengine.core.query import Form, Query, Window
from refengine.core.values import R2S
from refengine.dialects import windows
from refengine.dialects.dialect import Dialect
from refengine.dialects.grammar import Additions, child_token
from refengine.dialects.source import DialectText, Unrenderable, start_offset
from refengine.dialects.windows import ExtentForms
from refengine.model.errors import Unsupported

RULES = r"""
    register: REGISTER (QUERY | STREAM) (QUERY_NAME | iri) computed? AS
    computed: COMPUTED EVERY duration
    window_clause: FROM NAMED? STREAM iri "[" extent "]"
    extent: RANGE duration STEP duration -> time
        | RANGE duration STEP -> range
        | RANGE duration TUMBLING -> tumbling
        | RANGE TRIPLES INTEGER -> triples
    duration: INTEGER UNIT
    UNIT: /(?:ms|[smhd])(?!\w)/
    QUERY_NAME: /\w+/
"""
FORMS = {
    "time": "RANGE {size} STEP {slide}",
    "tumbling": "RANGE {size} TUMBLING",
    "triples": "RANGE TRIPLES {size}",
    "range": "RANGE {size} STEP",  # sparql2stream's, whose windows slide with time
}
DURATIONS = {"d": "{}d", "h": "{}h", "m": "{}m", "s": "{}s", "ms": "{}ms"}


def csparql_windows(source: DialectText, static: bool) -> list[Window]:
    """DIA-5: Return the windows of FROM STREAM, whose contents are merged, and those of FROM NAMED
    STREAM, which have their stream's name.
    """
    for node in source.nodes("computed"):
        source.fail(
            node,
            "COMPUTED EVERY belongs to the semantics; write report=periodic and a period there",
            Unsupported,
        )
    found = []
    for node in source.nodes("window_clause"):
        iri, extent = (child for child in node.children if isinstance(child, Tree))
        stream = source.resolve(iri)
        name = None
        if child_token(node, 1).type == "NAMED":
            name = windows.absolute_name(stream)
        found.append(windows.read_window(source, stream, extent, name))
        source.cut(node)
    return found


def write_csparql(source: DialectText, query: Query, dialect: Dialect, static: bool) -> None:
    """DIA-5, DIA-6: Write a clause for each window. Raises Unrenderable for a window whose name is
    not its stream's.
    """
    for window in query.windows:
        if window.name not in (None, name := windows.absolute_name(window.stream)):
            reason = f"{dialect.title} names a window by its stream; the name would be {name!r}"
            raise Unrenderable(reason, place=f"window {window.name!r}")
    lines = []
    for window in query.windows:
        words = "FROM STREAM"
        if window.name:
            words = "FROM NAMED STREAM"
        lines.append(f"{words} {dialect.over(window, source)}")
    source.insert(start_offset(source.where), lines)


def register(query: Query, r2s: R2S | None) -> str:
    """Return the clause that registers a query: as a stream if its answer is a graph, else as a
    query.
    """
    if query.body.form is Form.CONSTRUCT:
        return "REGISTER STREAM q AS"
    return "REGISTER QUERY q AS"


CSPARQL = Dialect(
    name="csparql",
    title="C-SPARQL",
    added=Additions(
        register="register",
        clauses="| window_clause",
        rules=RULES,
        keywords="REGISTER QUERY STREAM COMPUTED EVERY AS RANGE STEP TUMBLING TRIPLES",
    ),
    extents=ExtentForms(FORMS, partial(windows.write_duration, forms=DURATIONS)),
    read_windows=csparql_windows,
    write_windows=write_csparql,
    register=register,
    first=True,
)
