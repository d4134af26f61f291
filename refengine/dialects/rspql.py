"""RSP-QL in three forms: the W3C community group's, rsp4j's and RSP-JS's.

Every window has a name, `FROM NAMED WINDOW w ON s [extent]`, and is read by `WINDOW w {…}`.
Sources: the examples of the W3C RDF Stream Processing community group; rsp4j's grammar; RSP-JS
1.3.5, which reads a text line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from lark import Token, Tree

from refengine.core.query import Form, Query, Window
from refengine.core.values import R2S
from refengine.dialects import windows
from refengine.dialects.dialect import (
    Dialect,
    graph_with_variable,
    graph_within,
    lone_pattern,
    references,
    refuse_graph_variable,
    refuse_graph_within,
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
    """DIA-5: Return the windows of FROM NAMED WINDOW. WINDOW patterns stay in the body where GRAPH
    would say something else, and become GRAPH patterns elsewhere; the pattern of the reserved name,
    which stands for the window without a name, becomes all of WHERE.
    """
    found = _read_declarations(source, static)
    if _tells_apart(source, found, static):
        for node in source.nodes("graph"):
            if _name(source, node) in {None, *found}:
                _refuse_lack_of_window(source, node, found, static)
        for node in source.nodes("window_pattern"):
            _write_name(source, node, found)
    else:
        for node in source.nodes("window_pattern"):
            _read_as_graph(source, node, found)
    return list(found.values())


def rspjs_windows(source: DialectText, static: bool) -> list[Window]:
    """DIA-5: Return the windows of FROM NAMED WINDOW. RSP-JS turns WINDOW into GRAPH, so that each
    says what the other does. Raises Unsupported for a variable that would find windows and static
    graphs, and for a static graph with the name of a window.
    """
    found = _read_declarations(source, static, graph_reads_windows=True)
    if both := sorted(source.named_graphs & found.keys()):
        reason = f"<{both[0]}> is a window and a static graph, and GRAPH would read both"
        source.fail(source.pattern, reason, Unsupported)
    for node in source.nodes("window_pattern", "graph"):
        if static and _name(source, node) is None:
            reason = (
                "a variable would find windows and static graphs, which RSP-JS does not tell "
                "apart; write an IRI"
            )
            source.fail(node.children[1], reason, Unsupported)
        if node.data == "window_pattern":
            _read_as_graph(source, node, found)
        elif _name(source, node) in found:
            refuse_graph_within(source, node, found)
            _write_name(source, node, found)
    return list(found.values())


def _read_declarations(
    source: DialectText, static: bool, graph_reads_windows: bool = False
) -> dict[str, Window]:
    """Return the windows of FROM NAMED WINDOW by their names, and cut what is no SPARQL, but for
    the patterns of windows with a name. Raises Unsupported for GRAPH within such a pattern, unless
    it is the name of a window and GRAPH reads windows.
    """
    _refuse_unsupported(source)
    for node in source.nodes("graph_source"):
        *_, keyword, iri = node.children
        source.put(start_offset(keyword), start_offset(iri), "")
    found = _declarations(source)
    for node in source.nodes("window_pattern"):
        name = _name(source, node)
        if name is not None and name not in found:
            reason = f"expected a declared window, got <{name}>{nearest(name, found)}"
            source.fail(node.children[1], reason)
        refuse_graph_within(source, node, found if graph_reads_windows else ())
    if RESERVED in found and not static:
        nameless = lone_pattern(source)
        if nameless is None or _name(source, nameless) != RESERVED:
            source.fail(
                source.pattern,
                f"the window has no name, so WHERE must be WINDOW <{RESERVED}> {{…}} alone",
            )
        unwrap(source, nameless)
        found[RESERVED] = replace(found[RESERVED], name=None)
    return found


def _tells_apart(source: DialectText, found: Collection[str], static: bool) -> bool:
    """Return whether a text would say something else if WINDOW were GRAPH, which finds windows and
    named graphs in a body without WINDOW (R2R-8).
    """
    if source.named_graphs & set(found):
        return True
    if any(_name(source, node) in {None, *found} for node in source.nodes("graph")):
        return True
    return static and any(_name(source, node) is None for node in source.nodes("window_pattern"))


def _refuse_lack_of_window(
    source: DialectText, node: Tree[Token], found: Collection[str], static: bool
) -> None:
    """DIA-7: Refuse GRAPH where WINDOW is meant: with the name of a window where no named graph can
    have it, and with a variable in a text that reads no window. Raises InvalidQuery.
    """
    name, words = _name(source, node), "GRAPH reads named graphs"
    if name in found and not static:
        source.fail(node, f"<{name}> is a window, and {words}; write WINDOW <{name}> {{…}}")
    if not source.nodes("window_pattern"):
        written = _written(source, node)
        reason = f"no WINDOW reads a window here, and {words}; write WINDOW {written} {{…}}"
        source.fail(node, reason)


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


def _name(source: DialectText, pattern: Tree[Token]) -> str | None:
    """Return the name in a WINDOW or GRAPH pattern, as a window has it; None for a variable."""
    iri = pattern.children[1]
    if not isinstance(iri, Tree):
        return None
    return windows.absolute_name(source.resolve(iri))


def _written(source: DialectText, pattern: Tree[Token]) -> str:
    """Return what a WINDOW or GRAPH pattern names, as it is written."""
    name = pattern.children[1]
    return source.text[start_offset(name) : end_offset(name)]


def _read_as_graph(source: DialectText, node: Tree[Token], found: dict[str, Window]) -> None:
    """Turn a WINDOW pattern into a GRAPH pattern, unless it is that of the window without a name,
    which is gone.
    """
    name = _name(source, node)
    if name is None or found[name].name is not None:
        _replace_keyword(source, child_token(node, 0), "GRAPH")
        _write_name(source, node, found)


def _write_name(source: DialectText, node: Tree[Token], found: Collection[str]) -> None:
    """Write the name that a window has into a pattern, where the text has a relative one."""
    iri, name = node.children[1], _name(source, node)
    if isinstance(iri, Tree) and name in found and source.resolve(iri) != name:
        source.put(start_offset(iri), end_offset(iri), f"<{name}>")


def _replace_keyword(source: DialectText, keyword: Token, other: str) -> None:
    """Replace a keyword by another one, in lower or in title case if the first is."""
    for case in (str.lower, str.title):
        if keyword == case(keyword):
            other = case(other)
    source.put(start_offset(keyword), end_offset(keyword), other)


def writer(on: str) -> Callable[[DialectText, Query, Dialect, bool], None]:
    """DIA-5, DIA-6: Return a function that writes the windows of a query into its text.

    It writes a clause for each window, with the keyword `on` before its stream. GRAPH becomes
    WINDOW where it reads a window. For a window without a name it writes WINDOW around all of
    WHERE.
    """

    def write(source: DialectText, query: Query, dialect: Dialect, static: bool) -> None:
        names = _write_clauses(source, query, dialect, on)
        if query.body.reads_windows:
            _check_tells_apart(source, names, static)
        else:
            _write_window_patterns(source, names, static)
        if len(names) < len(query.windows):
            refuse_graph_variable(source)
            wrap(source, f"WINDOW <{RESERVED}>", static, names)

    return write


def write_rspjs(source: DialectText, query: Query, dialect: Dialect, static: bool) -> None:
    """DIA-5, DIA-6: Write the windows of a query into its text, as `writer` says, but leave GRAPH
    as it is: RSP-JS reads the WINDOW of some lines alone.
    """
    names = _write_clauses(source, query, dialect, "ON STREAM")
    _check_patterns(source, names)
    if static and names:
        _refuse_both(source)
    if len(names) < len(query.windows):
        refuse_graph_variable(source)
        wrap(source, f"WINDOW <{RESERVED}>", static, names)
    _check_strings(source, dialect)


def _write_clauses(source: DialectText, query: Query, dialect: Dialect, on: str) -> list[str]:
    """Write a clause for each window, and return the names of windows."""
    _check_nameless(query, dialect)
    iris = [
        windows.iri_reference(window.name or RESERVED, source, "window") for window in query.windows
    ]
    clauses = [
        f"FROM NAMED WINDOW {iri} {on} {dialect.over(window, source)}"
        for iri, window in zip(iris, query.windows, strict=True)
    ]
    source.insert(start_offset(source.where), clauses)
    return [window.name for window in query.windows if window.name]


def _write_window_patterns(source: DialectText, names: Collection[str], static: bool) -> None:
    """Write the GRAPH patterns that read windows as WINDOW patterns. Raises Unrenderable for one
    that reads windows and static graphs.
    """
    _check_patterns(source, names)
    found = [node for node, _ in references(source, names)]
    if names:
        if static:
            _refuse_both(source)
        found += [node for node in source.nodes("graph") if _name(source, node) is None]
    for node in found:
        keyword = child_token(node, 0)
        if keyword not in ("GRAPH", "graph", "Graph"):
            reason = f"WINDOW takes the place of GRAPH in its letters, and cannot of {keyword}"
            raise Unrenderable(reason, place=source.locate(node))
        _replace_keyword(source, keyword, "WINDOW")


def _check_patterns(source: DialectText, names: Collection[str]) -> None:
    """Check that no window has the name of a static graph, and that no pattern of one has GRAPH of
    such a graph within. Raises Unrenderable.
    """
    if both := sorted(source.named_graphs & set(names)):
        reason = f"the static graph <{both[0]}> has the name of a window; rename one of them"
        raise Unrenderable(reason, place="windows")
    for node, _ in references(source, names):
        if (inner := graph_within(source, node, names)) is not None:
            reason = "GRAPH within a window's pattern is unsupported"
            raise Unrenderable(reason, place=source.locate(inner))


def _refuse_both(source: DialectText) -> None:
    """DIA-6: Refuse GRAPH with a variable, which finds windows and static graphs in a body without
    WINDOW. Raises Unrenderable.
    """
    if (node := graph_with_variable(source)) is not None:
        raise Unrenderable(
            "GRAPH with a variable finds windows and static graphs; write WINDOW for windows, and "
            "GRAPH for static graphs",
            place=source.locate(node),
        )


def _check_tells_apart(source: DialectText, names: Collection[str], static: bool) -> None:
    """Check that a body with WINDOW is as reading its text would leave it. Raises Unrenderable."""
    if not _tells_apart(source, names, static):
        raise Unrenderable(
            "GRAPH says here what WINDOW says, and is what the text would be read as; write GRAPH",
            place=source.locate(source.nodes("window_pattern")[0]),
        )
    for node in source.nodes("graph"):
        if _name(source, node) in names and not static:
            reason = "no static graph has the name of this window; leave the pattern out"
            raise Unrenderable(reason, place=source.locate(node))


def _check_nameless(query: Query, dialect: Dialect) -> None:
    """Check that at most one window has no name, and that none has the reserved name. Raises
    Unrenderable.
    """
    names = [window.name for window in query.windows]
    if names.count(None) > 1:
        raise Unrenderable(
            f"{dialect.title} cannot merge windows: each of several windows there has a name",
            place="windows",
        )
    if RESERVED in names:
        raise Unrenderable(
            f"<{RESERVED}> is the name of the window without a name; choose another name",
            place="windows",
        )


def _check_strings(source: DialectText, dialect: Dialect) -> None:
    """Check that no string is over several lines. Raises Unrenderable."""
    for token in source.tokens:
        if token.type == "STRING" and len(token.splitlines()) > 1:
            reason = f"{dialect.title} trims each line of a string over several lines"
            raise Unrenderable(reason, place=source.locate(token))


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
        windows.write_iso_duration,
    ),
    read_windows=rspql_windows,
    write_windows=writer("ON"),
    has_window_patterns=True,
    operators=frozenset({Form.SELECT, Form.CONSTRUCT}),
)
RSP4J = Dialect(
    name="rsp4j",
    title="rsp4j's RSP-QL",
    added=_additions(CLAUSE + STEPPED + COUNTED + "\n    duration: ISO"),
    extents=ExtentForms(FORMS, windows.write_iso_duration),
    read_windows=rspql_windows,
    write_windows=writer("ON"),
    has_window_patterns=True,
    register=_register(str.upper),
    registers=True,
)
RSPJS = Dialect(
    name="rsp-js",
    title="RSP-JS's RSP-QL",
    added=_additions(CLAUSE + STEPPED + "\n    duration: INTEGER"),
    extents=ExtentForms({"time": FORMS["time"]}, str),
    read_windows=rspjs_windows,
    write_windows=write_rspjs,
    register=_register(lambda r2s: f"{r2s[0]}Stream"),
    registers=True,
)
