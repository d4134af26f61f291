"""What a dialect is, and what the dialects that write a window as a pattern of WHERE share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from lark import Token, Tree

from refengine.core.query import GRAPH_WITHIN_WINDOW, Form, Query, Window
from refengine.core.values import R2S
from refengine.dialects import windows
from refengine.dialects.grammar import Additions, child_node, child_token, nodes
from refengine.dialects.source import DialectText, Unrenderable, end_offset, start_offset
from refengine.dialects.windows import RESERVED, ExtentForms
from refengine.model.errors import Unsupported, require


def has_text(operator: R2S | None) -> bool:
    """Return whether dialects have a text for an operator."""
    match operator:
        case R2S.RSTREAM | R2S.ISTREAM | R2S.DSTREAM:
            return True
        case R2S.APPEND | None:
            return False


@dataclass(frozen=True)
class Dialect:
    """A query language.

    `title` is the name that people know; `added`, its syntax beyond SPARQL; `extents`, how it
    writes them.

    `read_windows(source, static)` returns the windows of a text, and takes their clauses and
    patterns out, or makes them GRAPH patterns. `write_windows(source, query, dialect, static)` is
    the reverse. `static` says whether the query is asked beside static data.

    `register(query, r2s)` returns the clause before the query form, if the dialect has one; `first`
    says whether that comes before the prologue, too. `operators` are the query forms after whose
    keyword the operator of R2S may stand; `registers` says that it may stand in the clause.
    `has_window_patterns` says that WINDOW reads windows there, and GRAPH named graphs alone.
    """

    name: str
    title: str
    added: Additions
    extents: ExtentForms
    read_windows: Callable[[DialectText, bool], list[Window]]
    write_windows: Callable[[DialectText, Query, Dialect, bool], None]
    register: Callable[[Query, R2S | None], str] | None = None
    first: bool = False
    operators: frozenset[Form] = frozenset()
    registers: bool = False
    has_window_patterns: bool = False

    def states(self, form: Form) -> bool:
        """DIA-4: Return whether a text of this form can state an operator of R2S."""
        return self.registers or form in self.operators

    def over(self, window: Window, source: DialectText) -> str:
        """DIA-3: Return a window's stream and, in brackets, its extent, unless the dialect leaves
        the extent out.
        """
        stream = windows.iri_reference(window.stream, source, "stream")
        extent = self.extents.write(window, self.title)
        if not extent:
            return stream
        return f"{stream} [{extent}]"


def references(source: DialectText, names: Iterable[str]) -> list[tuple[Tree[Token], str]]:
    """Return the GRAPH patterns of the windows with the given names, in the order of the text."""
    known = set(names)
    graphs = [
        (node, source.resolve(node.children[1]))
        for node in source.nodes("graph")
        if isinstance(node.children[1], Tree)
    ]
    return [(node, name) for node, name in graphs if name in known]


def graph_with_variable(source: DialectText) -> Tree[Token] | None:
    """Return the first GRAPH with a variable, if there is one. It would find the name that a window
    has in the text alone, or in the body alone.
    """
    return next(
        (node for node in source.nodes("graph") if isinstance(node.children[1], Token)), None
    )


def refuse_graph_variable(source: DialectText) -> None:
    """DIA-6: Check that there is no GRAPH with a variable. Raises Unrenderable."""
    if (node := graph_with_variable(source)) is not None:
        raise Unrenderable(
            "GRAPH with a variable would also match the window's name", place=source.locate(node)
        )


def graph_within(
    source: DialectText, pattern: Tree[Token], names: Collection[str | None] = ()
) -> Tree[Token] | None:
    """Return the first GRAPH within a pattern, if there is one. GRAPH with one of the names reads a
    window, and is none.
    """
    found = (node for node in nodes(pattern) if node.data == "graph" and node is not pattern)
    return next((node for node in found if _named(source, node) not in names), None)


def _named(source: DialectText, node: Tree[Token]) -> str | None:
    """Return the IRI that a GRAPH pattern names; None for a variable."""
    name = node.children[1]
    return source.resolve(name) if isinstance(name, Tree) else None


def refuse_graph_within(
    source: DialectText, pattern: Tree[Token], names: Collection[str | None] = ()
) -> None:
    """R2R-8: Check that no GRAPH is within a window's pattern, but with one of the names, which
    reads a window. Raises Unsupported.
    """
    if (node := graph_within(source, pattern, names)) is not None:
        source.fail(node, GRAPH_WITHIN_WINDOW, Unsupported, "R2R-8")


# A pattern around all of WHERE


def pattern_outside_where(source: DialectText) -> Tree[Token] | None:
    """Return the first pattern outside of WHERE, if there is one. A pattern around all of WHERE
    would not contain it.
    """
    template = None
    if child_token(source.form, 0).type == "CONSTRUCT":
        template = source.form.children[-1]
    first, last = start_offset(source.where), end_offset(source.where)
    return next(
        (
            g
            for g in source.nodes("group")
            if g is not template and not first <= start_offset(g) < last
        ),
        None,
    )


def lone_pattern(source: DialectText, kind: str = "window_pattern") -> Tree[Token] | None:
    """Return the pattern of a kind that is all of WHERE, if there is one and no pattern stands
    outside.
    """
    inner = source.pattern.children[1:-1]
    if len(inner) != 1 or not isinstance(inner[0], Tree):
        return None
    if inner[0].data != kind or pattern_outside_where(source) is not None:
        return None
    return inner[0]


def unwrap(source: DialectText, pattern: Tree[Token]) -> None:
    """Make the inside of a pattern, which is all of WHERE, the new WHERE."""
    inner = child_node(pattern, -1)
    source.put(start_offset(source.pattern) + 1, start_offset(inner) + 1, "")
    source.put(end_offset(inner) - 1, end_offset(source.pattern) - 1, "")


def wrap(
    source: DialectText, opening: str, static: bool, names: Collection[str | None] = ()
) -> None:
    """DIA-6: Put one pattern around all of WHERE. Raises Unrenderable if a pattern stands outside,
    or if there is static data, which the new pattern would not see, or GRAPH. GRAPH with one of the
    names reads a window.
    """
    if static:
        raise Unrenderable(
            "the window's pattern, put around WHERE, would hide static data", place="static data"
        )
    if child_token(source.form, 0).type == "CONSTRUCT" and len(source.form.children) == 1:
        reason = "CONSTRUCT without a template has no room for a window's pattern"
        raise Unrenderable(reason, place=source.locate(source.form))
    if (group := pattern_outside_where(source)) is not None:
        raise Unrenderable(
            "a pattern outside of WHERE would not read the window", place=source.locate(group)
        )
    if (node := graph_within(source, source.pattern, names)) is not None:
        raise Unrenderable(
            "GRAPH within the window's pattern, put around WHERE, is unsupported",
            place=source.locate(node),
        )
    first, last = start_offset(source.pattern) + 1, end_offset(source.pattern) - 1
    source.put(first, first, f"\n{opening} {{")
    source.put(last, last, "}\n")


# STREAM s [extent] {…}, a window without a name


def stream_pattern_windows(source: DialectText, alone: bool) -> list[Window]:
    """DIA-5: Return the windows of STREAM patterns, with the names `urn:window:1`, `urn:window:2`,
    …. Where `alone` allows it, one pattern that is all of WHERE gives a window without a name.
    """
    for node in source.nodes("window_pattern"):
        refuse_graph_within(source, node)
    if alone and (pattern := lone_pattern(source)):
        unwrap(source, pattern)
        return [_window(source, pattern)]
    names: dict[Window, str] = {}
    for node in source.nodes("window_pattern"):
        name = names.setdefault(_window(source, node), f"{RESERVED}:{len(names) + 1}")
        source.put(start_offset(node), start_offset(node.children[-1]), f"GRAPH <{name}> ")
    refuse_graphs_of_windows(source, names.values())
    return [replace(window, name=name) for window, name in names.items()]


def refuse_graphs_of_windows(source: DialectText, names: Collection[str]) -> None:
    """DIA-5: Check that no GRAPH pattern of a text reads a window, whose name the text has not.
    Raises Unsupported for a variable, and InvalidQuery for one of the names.
    """
    if names and (free := graph_with_variable(source)) is not None:
        source.fail(
            free,
            "GRAPH with a variable beside STREAM would also match the names that windows get",
            Unsupported,
        )
    for node, name in references(source, names):
        source.fail(
            node, f"<{name}> is the name that a window gets, and GRAPH reads static data alone"
        )


def _window(source: DialectText, pattern: Tree[Token]) -> Window:
    name, extent = pattern.children[1], child_node(pattern, 3)
    if isinstance(name, Token):
        source.fail(
            name,
            "a variable for a stream is unsupported; expected an IRI such as <urn:s>",
            Unsupported,
        )
    return windows.read_window(source, source.resolve(name), extent)


def write_stream_patterns(
    source: DialectText, named: list[Window], dialect: Dialect, alone: bool
) -> None:
    """DIA-6: Turn the GRAPH patterns of named windows into STREAM patterns. Raises Unrenderable if
    reading these would not give the same names. `alone` says that a pattern which is all of WHERE
    would be read as a window without a name.
    """
    refuse_graph_variable(source)
    found = references(source, [require(window.name) for window in named])
    _check_numbers(source, named, dialect, [name for _, name in found])
    texts = {window.name: f"STREAM {dialect.over(window, source)} " for window in named}
    for node, name in found:
        group = start_offset(node.children[-1])
        check_pattern_text(source, node, name, [window.name for window in named])
        if alone and node is lone_pattern(source, "graph"):
            raise Unrenderable(
                "a window whose pattern is all of WHERE would be read as a window without a name",
                place=source.locate(node),
            )
        source.put(start_offset(node), group, texts[name])


def check_pattern_text(
    source: DialectText, node: Tree[Token], name: str, names: Collection[str | None]
) -> None:
    """DIA-6: Check that a window's pattern is written as reading a STREAM pattern would write it,
    and has no GRAPH of static data within. `names` are those of the windows. Raises Unrenderable.
    """
    if (inner := graph_within(source, node, names)) is not None:
        reason = "GRAPH within a window's pattern is unsupported"
        raise Unrenderable(reason, place=source.locate(inner))
    if source.text[start_offset(node) : start_offset(node.children[-1])] != f"GRAPH <{name}> ":
        raise Unrenderable(
            f"the pattern must be written GRAPH <{name}> {{…}}", place=source.locate(node)
        )


def _check_numbers(
    source: DialectText, named: list[Window], dialect: Dialect, found: list[str]
) -> None:
    """Check that each window would be read with its own number. `found` are the names of the
    patterns. Raises Unrenderable.
    """
    for number, window in enumerate(named, 1):
        if reason := _unnumbered(window, number, named[: number - 1], dialect, source):
            raise Unrenderable(reason, place=f"window {window.name!r}")
        if window.name not in found:
            raise Unrenderable(
                "it has no pattern in the body, and only a pattern can state it",
                place=f"window {window.name!r}",
            )
    if list(dict.fromkeys(found)) != [window.name for window in named]:
        raise Unrenderable(
            f"{dialect.title} numbers windows in the order of their patterns; list them in that "
            "order",
            place="windows",
        )


def _unnumbered(
    window: Window, number: int, before: list[Window], dialect: Dialect, source: DialectText
) -> str:
    """Return why a window would not be read with its number; nothing if it would."""
    if window.name != (name := f"{RESERVED}:{number}"):
        return f"{dialect.title} has no names of windows; window {number} would be read as {name}"
    if "[" not in dialect.over(window, source):
        return f"a STREAM pattern of {dialect.title} needs an extent, which this window has not"
    twins = [other.name for other in before if replace(other, name=window.name) == window]
    if not twins:
        return ""
    return f"it has the same stream and extent as {twins[0]}, and would be read as that window"
