"""C-SPARQL: `REGISTER QUERY q AS … FROM STREAM s [RANGE ω STEP β]`, after Barbieri et al., 2010, and the engine's grammar."""

from __future__ import annotations

from lark import Tree

from refengine.dialects import durations, windows
from refengine.dialects.dialect import Dialect
from refengine.dialects.grammar import Additions
from refengine.dialects.source import Source, Unrenderable
from refengine.dialects.windows import Extents
from refengine.errors import Unsupported
from refengine.query import Form, Query, Window
from refengine.semantics import R2S

RULES = r"""
    register: REGISTER (QUERY | STREAM) (WORD | iri) computed? AS
    computed: COMPUTED EVERY duration
    window_clause: FROM NAMED? STREAM iri "[" extent "]"
    extent: RANGE duration STEP duration -> time | RANGE duration TUMBLING -> tumbling | RANGE TRIPLES INTEGER -> triples
    duration: INTEGER UNIT
    UNIT: /(?:ms|[smhd])(?!\w)/
    REGISTER.2: /REGISTER(?![\w:.-])/i
    QUERY.2: /QUERY(?![\w:.-])/i
    STREAM.2: /STREAM(?![\w:.-])/i
    COMPUTED.2: /COMPUTED(?![\w:.-])/i
    EVERY.2: /EVERY(?![\w:.-])/i
    AS.2: /AS(?![\w:.-])/i
    RANGE.2: /RANGE(?![\w:.-])/i
    STEP.2: /STEP(?![\w:.-])/i
    TUMBLING.2: /TUMBLING(?![\w:.-])/i
    TRIPLES.2: /TRIPLES(?![\w:.-])/i
"""


def declared(source: Source, named: bool) -> list[Window]:
    """DIA-5: the windows of FROM STREAM, whose contents are merged, and of FROM NAMED STREAM, which have their stream's name."""
    for node in source.nodes("computed"):
        source.fail(node, "COMPUTED EVERY is the semantics' to say: report=periodic with a period", Unsupported)
    found = []
    for node in source.nodes("window_clause"):
        iri, extent = (child for child in node.children if isinstance(child, Tree))
        stream = source.resolve(iri)
        name = stream if any(token.type == "NAMED" for token in node.children if not isinstance(token, Tree)) else None
        found.append(windows.read(source, stream, extent, name))
        source.cut(node)
    return found


def place(source: Source, query: Query, dialect: Dialect) -> None:
    """DIA-5, DIA-6: a clause for each window."""
    for window in query.windows:
        if window.name not in (None, window.stream):
            reason = f"{dialect.title} names a window by its stream; the name would be {window.stream!r}"
            raise Unrenderable(reason, rule="DIA-6", place=f"window {window.name!r}")
    lines = (f"FROM {'NAMED ' if window.name else ''}STREAM {dialect.over(window, source)}" for window in query.windows)
    [where] = source.nodes("where")
    source.insert(where.meta.start_pos, lines)


def _register(query: Query, r2s: R2S | None) -> str:
    return f"REGISTER {'STREAM' if query.body.form is Form.CONSTRUCT else 'QUERY'} q AS"


CSPARQL = Dialect(
    name="csparql",
    title="C-SPARQL",
    added=Additions(register="register", optional=False, clauses="| window_clause", rules=RULES),
    extents=Extents(
        {"time": "RANGE {size} STEP {slide}", "tumbling": "RANGE {size} TUMBLING", "triples": "RANGE TRIPLES {size}"},
        durations.number_unit,
    ),
    declared=declared,
    place=place,
    register=_register,
)
