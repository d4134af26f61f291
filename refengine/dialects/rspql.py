"""RSP-QL in three forms: the W3C community group's, rsp4j's and RSP-JS's.

Every window has a name, `FROM NAMED WINDOW w ON s [extent]`, and is read by `WINDOW w {…}`. Sources: the examples of the
W3C RDF Stream Processing community group; rsp4j's grammar; RSP-JS 1.3.5, which reads a text line by line.
"""

from __future__ import annotations

import re
from dataclasses import replace

from lark import Tree

from refengine.dialects import durations, windows
from refengine.dialects.dialect import Dialect, lone, references, unbound, unwrap, wrap
from refengine.dialects.grammar import Additions
from refengine.dialects.source import Source, Unrenderable
from refengine.dialects.windows import NAME, Extents
from refengine.query import ABSOLUTE, Query, Window
from refengine.semantics import R2S
from refengine.texts import nearest

RULES = r"""
    register: REGISTER (STREAM | QUERY | OPERATOR) (iri | WORD) AS
    window_pattern: WINDOW iri group
    window_clause: FROM NAMED WINDOW iri ON STREAM? iri "[" extent "]"
    duration: {duration}
    {extents}
    REGISTER.2: /REGISTER(?![\w:.-])/i
    AS.2: /AS(?![\w:.-])/i
    operator: OPERATOR
    OPERATOR.2: /[IRD]STREAM(?![\w:.-])/i
    STREAM.2: /STREAM(?![\w:.-])/i
    QUERY.2: /QUERY(?![\w:.-])/i
    WINDOW.2: /WINDOW(?![\w:.-])/i
    ON.2: /ON(?![\w:.-])/i
    RANGE.2: /RANGE(?![\w:.-])/i
    STEP.2: /STEP(?![\w:.-])/i
"""
ISO = r"""
    ISO: /P[0-9A-Z.,]+/i
    ELEMENTS.2: /ELEMENTS(?![\w:.-])/i
"""
STEPPED = "extent: RANGE duration STEP duration -> time"
COUNTED = "| ELEMENTS INTEGER STEP INTEGER -> tuple"


def _additions(duration: str, extents: str, r2s: str = "") -> Additions:
    rules = RULES.format(duration=duration, extents=extents) + (ISO if duration == "ISO" else "")
    return Additions(register="register", r2s=r2s, clauses="| window_clause", patterns="| window_pattern", rules=rules)


def declared(source: Source, named: bool) -> list[Window]:
    """DIA-5: the windows of FROM NAMED WINDOW. Their WINDOW patterns become GRAPH patterns, or, of the one that stands for
    the window without a name, all of WHERE."""
    found: dict[str, Window] = {}
    for node in source.nodes("window_clause"):
        window_iri, stream_iri, extent = (child for child in node.children if isinstance(child, Tree))
        name = _name(source, window_iri)
        if name in found:
            source.fail(window_iri, f"expected a new name, got <{name}> again")
        window = windows.read(source, source.resolve(stream_iri), extent)
        found[name] = source.made(window_iri, replace, window, name=None if name == NAME else name)
        source.cut(node)
    for node in source.nodes("window_pattern", "graph"):
        keyword, iri = node.children[:2]
        if isinstance(iri, Tree) and (node.data == "window_pattern" or _name(source, iri) in found):
            _refer(source, node, iri, found)
    if NAME in found and (pattern := lone(source)) is None:
        source.fail(source.where, f"expected WINDOW <{NAME}> {{…}} and nothing else in WHERE: that window has no name")
    return list(found.values())


def _name(source: Source, iri: Tree) -> str:
    """A window's name; a relative one becomes absolute."""
    name = source.resolve(iri)
    return name if re.fullmatch(ABSOLUTE, name) else f"{NAME}:{name}"


def _refer(source: Source, node: Tree, iri: Tree, found: dict[str, Window]) -> None:
    keyword, name = node.children[0], _name(source, iri)
    if name not in found:
        source.fail(iri, f"expected a declared window, got <{name}>{nearest(name, found)}")
    if name == NAME:
        if node is not lone(source):
            source.fail(node, f"expected WINDOW <{NAME}> {{…}} and nothing else in WHERE: that window has no name")
        unwrap(source, node)
        return
    if keyword.type == "WINDOW":
        source.put(keyword.start_pos, keyword.end_pos, "graph" if keyword.islower() else "GRAPH")
    if source.resolve(iri) != name:
        source.put(iri.meta.start_pos, iri.meta.end_pos, f"<{name}>")


def place(source: Source, query: Query, dialect: Dialect) -> None:
    """DIA-5, DIA-6: a clause for each window, its GRAPH patterns as WINDOW patterns, and WINDOW around all of WHERE for one
    without a name."""
    nameless = [window for window in query.windows if window.name is None]
    if len(nameless) > 1:
        raise Unrenderable(f"{dialect.title} does not merge windows; it names each", rule="DIA-6", place="windows")
    if NAME in [window.name for window in query.windows]:
        raise Unrenderable(f"<{NAME}> is the window without a name", rule="DIA-6", place="windows")
    lines = [_clause(source, window, dialect) for window in query.windows]
    [where] = source.nodes("where")
    source.insert(where.meta.start_pos, lines)
    for node, _ in references(source, [window.name for window in query.windows if window.name]):
        keyword = node.children[0]
        if dialect.name != "rsp-js" and (keyword.isupper() or keyword.islower()):
            source.put(keyword.start_pos, keyword.end_pos, "window" if keyword.islower() else "WINDOW")
    if nameless:
        unbound(source)
        wrap(source, f"WINDOW <{NAME}>")
    if dialect.name == "rsp-js":
        for token in source.tokens:
            if token.type == "STRING" and "\n" in token:
                raise Unrenderable("a string over several lines, of which RSP-JS trims each", rule="DIA-6", place=source.place(token))


def _clause(source: Source, window: Window, dialect: Dialect) -> str:
    on = "ON STREAM" if dialect.name == "rsp-js" else "ON"
    return f"FROM NAMED WINDOW {windows.iri(window.name or NAME, source, 'window')} {on} {dialect.over(window, source)}"


def _register(names: dict[R2S, str]):
    return lambda query, r2s: f"REGISTER {names[r2s]} <out> AS" if r2s else ""


UPPER = {r2s: r2s.upper() for r2s in (R2S.RSTREAM, R2S.ISTREAM, R2S.DSTREAM)}
CAMEL = {r2s: f"{r2s[0]}Stream" for r2s in UPPER}
FORMS = {"time": "RANGE {size} STEP {slide}", "tuple": "ELEMENTS {size} STEP {slide}"}

RSPQL = Dialect(
    name="rspql",
    title="RSP-QL",
    added=_additions(
        "ISO",
        "extent: RANGE duration (STEP | SLIDE) duration -> time | RANGE duration -> range"
        f"{COUNTED} | ELEMENTS INTEGER -> rows\n    SLIDE.2: /SLIDE(?![\\w:.-])/i",
        r2s="operator?",
    ),
    extents=Extents(FORMS | {"range": "RANGE {size}", "rows": "ELEMENTS {size}"}, durations.in_iso),
    declared=declared,
    place=place,
    register=lambda query, r2s: "",
    registers=True,
    selects=True,
)
RSP4J = Dialect(
    name="rsp4j",
    title="rsp4j's RSP-QL",
    added=_additions("ISO", STEPPED + COUNTED),
    extents=Extents(FORMS, durations.in_iso),
    declared=declared,
    place=place,
    register=_register(UPPER),
    registers=True,
)
RSPJS = Dialect(
    name="rsp-js",
    title="RSP-JS's RSP-QL",
    added=_additions("INTEGER", STEPPED),
    extents=Extents({"time": FORMS["time"]}, str),
    declared=declared,
    place=place,
    register=_register(CAMEL),
    registers=True,
)
