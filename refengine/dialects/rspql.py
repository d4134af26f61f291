"""RSP-QL in three forms: the W3C community group's, rsp4j's and RSP-JS's.

Every window has a name, `FROM NAMED WINDOW w ON s [extent]`, and is read by `WINDOW w {…}`.
Sources: the examples of the W3C RDF Stream Processing community group; rsp4j's grammar; RSP-JS
1.3.5, which reads a text line by line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lark import Token, Tree

from refengine.core.query import Form, Query, Window
from refengine.core.semantics import R2S
from refengine.dialects import durations, windows
from refengine.dialects.dialect import (
    Dialect,
    lone_pattern,
    references,
    refuse_graph_variable,
    unwrap,
    wrap,
)
from refengine.dialects.grammar import Additions, child_token
from refengine.dialects.source import DialectText, Unrenderable, end_offset, start_offset
from refengine.dialects.windows import RESERVED, ExtentForms
from refengine.model.errors import Unsupported
from refengine.model.messages import nearest

RULES = r"""
    register: REGISTER (STREAM | QUERY | OPERATOR) (iri | WORD | VAR) entailment? AS
    entailment: UNDER ENTAILMENT REGIME iri
    operator: OPERATOR
    window_pattern: WINDOW (iri | VAR) group
    graph_source: FROM NAMED? GRAPH iri
    OPERATOR.2: /[IRD]STREAM(?![\w:.-])/i
    ISO: /P[0-9A-Z.,]+/i
"""
KEYWORDS = (
    "REGISTER AS STREAM QUERY UNDER ENTAILMENT REGIME WINDOW ON RANGE STEP SLIDE ELEMENTS ITEM "
    "NOW TO"
)
CLAUSE = '\n    window_clause: FROM NAMED WINDOW iri ON STREAM? (iri | VAR) "[" extent "]"'
AFTER = """ | FROM NAMED WINDOW ON STREAM? (iri | VAR) "[" extent "]" AS iri
    | FROM NAMED WINDOW iri "[" extent "]" ON STREAM? (iri | VAR)"""
STEPPED = "\n    extent: RANGE duration STEP duration -> time"
DURATION = r"""
    duration: ISO | SHORT
    SHORT: /[0-9]+(?:ms|[smhd])(?!\w)/
    MINUS: "-"
    COMMA: ","
"""
COUNTED = " | ELEMENTS INTEGER STEP INTEGER -> tuple"


def _additions(rules: str, operator: str = "") -> Additions:
    return Additions(
        register="register",
        after_select=operator,
        after_construct=operator,
        clauses="| window_clause | graph_source",
        patterns="| window_pattern",
        rules=RULES + rules,
        keywords=KEYWORDS,
    )


def rspql_windows(source: DialectText, static: bool) -> list[Window]:
    """DIA-5: Return the windows of FROM NAMED WINDOW. Their WINDOW patterns become GRAPH patterns;
    the pattern of the reserved name, which stands for the window without a name, becomes all of
    WHERE.
    """
    _refuse_unsupported(source)
    for node in source.nodes("graph_source"):
        *_, keyword, iri = node.children
        source.put(start_offset(keyword), start_offset(iri), "")
    found = _declarations(source)
    nameless = None
    if RESERVED in found and not static:
        nameless = lone_pattern(source)
        if nameless is None or _name(source, nameless.children[1]) != RESERVED:
            source.fail(
                source.pattern,
                f"the window has no name, so WHERE must be WINDOW <{RESERVED}> {{…}} alone",
            )
        unwrap(source, nameless)
        found[RESERVED] = replace(found[RESERVED], name=None)
    for node in source.nodes("window_pattern", "graph"):
        if node is not nameless:
            _refer(source, node, found, static)
    return list(found.values())


def _refuse_unsupported(source: DialectText) -> None:
    """DIA-7: Refuse entailment regimes, and variables where the IRI of a stream or of the output
    stands. Raises Unsupported.
    """
    for node in source.nodes("entailment"):
        source.fail(node, "entailment regimes are unsupported", Unsupported)
    for node in source.nodes("register", "window_clause"):
        for token in node.children:
            if isinstance(token, Token) and token.type == "VAR":
                reason = f"a variable for a stream ({token}) is unsupported; write the stream's IRI"
                source.fail(token, reason, Unsupported)


def _declarations(source: DialectText) -> dict[str, Window]:
    """Return the windows of FROM NAMED WINDOW by their names, and cut the clauses."""
    found: dict[str, Window] = {}
    for node in source.nodes("window_clause"):
        trees = [child for child in node.children if isinstance(child, Tree)]
        [extent] = (tree for tree in trees if tree.data != "iri")
        window_iri, stream_iri = (tree for tree in trees if tree.data == "iri")
        if isinstance(node.children[3], Token):  # FROM NAMED WINDOW ON s [extent] AS w
            window_iri, stream_iri = stream_iri, window_iri
        name = windows.absolute_name(source.resolve(window_iri))
        if name in found:
            source.fail(window_iri, f"a window needs a name of its own, got <{name}> again")
        window = windows.read_window(source, source.resolve(stream_iri), extent)
        found[name] = source.make(window_iri, replace, window, name=name)
        source.cut(node)
    return found


def _name(source: DialectText, iri: Tree[Token] | Token) -> str | None:
    if not isinstance(iri, Tree):
        return None
    return windows.absolute_name(source.resolve(iri))


def _refer(source: DialectText, node: Tree[Token], found: dict[str, Window], static: bool) -> None:
    """Turn a WINDOW pattern into a GRAPH pattern, under the name that its window has."""
    keyword, iri = child_token(node, 0), node.children[1]
    name, reads_window = _name(source, iri), node.data == "window_pattern"
    if reads_window and name is None and static:
        source.fail(
            iri,
            "a variable for a window would also match graphs of static data; write "
            "the window's IRI",
            Unsupported,
        )
    if reads_window and name is not None and name not in found:
        source.fail(iri, f"expected a declared window, got <{name}>{nearest(name, found)}")
    if reads_window:
        _replace_keyword(source, keyword, "GRAPH")
    if isinstance(iri, Tree) and name in found and source.resolve(iri) != name:
        source.put(start_offset(iri), end_offset(iri), f"<{name}>")


def _replace_keyword(source: DialectText, keyword: Token, other: str) -> None:
    """Replace a keyword by another one, in lower case if the first is."""
    if keyword.islower():
        other = other.lower()
    source.put(start_offset(keyword), end_offset(keyword), other)


def writer(
    on: str, pattern: str | None, lines: bool
) -> Callable[[DialectText, Query, Dialect, bool], None]:
    """DIA-5, DIA-6: Return a function that writes the windows of a query into its text.

    It writes a clause for each window, with the keyword `on` before its stream. GRAPH becomes the
    keyword `pattern` where that is given. For a window without a name it writes WINDOW around all
    of WHERE. `lines` says whether the language keeps the lines of a text as they are.
    """

    def write(source: DialectText, query: Query, dialect: Dialect, static: bool) -> None:
        _check_nameless(query, dialect)
        names = [window.name for window in query.windows if window.name]
        iris = [
            windows.iri_reference(window.name or RESERVED, source, "window")
            for window in query.windows
        ]
        clauses = [
            f"FROM NAMED WINDOW {iri} {on} {dialect.over(window, source)}"
            for iri, window in zip(iris, query.windows, strict=True)
        ]
        source.insert(start_offset(source.where), clauses)
        for node, _ in references(source, names):
            keyword = child_token(node, 0)
            if pattern and (keyword.isupper() or keyword.islower()):
                _replace_keyword(source, keyword, pattern)
        if len(names) < len(query.windows):
            refuse_graph_variable(source)
            wrap(source, f"WINDOW <{RESERVED}>", static)
        if not lines:
            _check_strings(source, dialect)

    return write


def _check_nameless(query: Query, dialect: Dialect) -> None:
    """Check that at most one window has no name, and that none has the reserved name. Raises
    Unrenderable.
    """
    names = [window.name for window in query.windows]
    if names.count(None) > 1:
        raise Unrenderable(
            f"{dialect.title} cannot merge windows: each of several windows there has a name",
            rule="DIA-6",
            place="windows",
        )
    if RESERVED in names:
        raise Unrenderable(
            f"<{RESERVED}> is the name of the window without a name; choose another name",
            rule="DIA-6",
            place="windows",
        )


def _check_strings(source: DialectText, dialect: Dialect) -> None:
    """Check that no string is over several lines. Raises Unrenderable."""
    for token in source.tokens:
        if token.type == "STRING" and len(token.splitlines()) > 1:
            reason = f"{dialect.title} trims each line of a string over several lines"
            raise Unrenderable(reason, rule="DIA-6", place=source.locate(token))


def _register(operator: Callable[[R2S], str]) -> Callable[[Query, R2S | None], str]:
    def register(query: Query, r2s: R2S | None) -> str:
        if r2s is None:
            return ""
        return f"REGISTER {operator(r2s)} <out> AS"

    return register


FORMS = {"time": "RANGE {size} STEP {slide}", "tuple": "ELEMENTS {size} STEP {slide}"}

RSPQL = Dialect(
    name="rspql",
    title="RSP-QL",
    added=_additions(
        CLAUSE
        + AFTER
        + "\n    extent: RANGE duration COMMA? (STEP | SLIDE) duration -> time | RANGE "
        "duration -> range" + COUNTED + " | ELEMENTS INTEGER -> rows"
        " | ITEM INTEGER STEP INTEGER -> tuple | ITEM INTEGER -> rows"
        " | FROM NOW MINUS duration TO NOW MINUS duration (STEP duration)? -> until" + DURATION,
        operator="operator?",
    ),
    extents=ExtentForms(
        FORMS
        | {
            "range": "RANGE {size}",
            "rows": "ELEMENTS {size}",
            "time with a lag": "FROM NOW-{begin} TO NOW-{lag} STEP {slide}",
            "range with a lag": "FROM NOW-{begin} TO NOW-{lag}",
        },
        durations.write_iso_duration,
    ),
    read_windows=rspql_windows,
    write_windows=writer("ON", "WINDOW", lines=True),
    operators=frozenset({Form.SELECT, Form.CONSTRUCT}),
)
RSP4J = Dialect(
    name="rsp4j",
    title="rsp4j's RSP-QL",
    added=_additions(CLAUSE + STEPPED + COUNTED + "\n    duration: ISO"),
    extents=ExtentForms(FORMS, durations.write_iso_duration),
    read_windows=rspql_windows,
    write_windows=writer("ON", "WINDOW", lines=True),
    register=_register(str.upper),
    registers=True,
)
RSPJS = Dialect(
    name="rsp-js",
    title="RSP-JS's RSP-QL",
    added=_additions(CLAUSE + STEPPED + "\n    duration: INTEGER"),
    extents=ExtentForms({"time": FORMS["time"]}, str),
    read_windows=rspql_windows,
    write_windows=writer("ON STREAM", None, lines=False),
    register=_register(lambda r2s: f"{r2s[0]}Stream"),
    registers=True,
)
