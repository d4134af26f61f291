"""What a dialect is, and what the dialects that write a window as a pattern of WHERE share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lark import Token, Tree

from refengine.dialects import windows
from refengine.dialects.grammar import Additions
from refengine.dialects.source import Source, Unrenderable, start
from refengine.dialects.windows import NAME, Extents
from refengine.query import Query, Window
from refengine.semantics import R2S


@dataclass(frozen=True)
class Dialect:
    """A query language: its name and the name that people know; its syntax beyond SPARQL; how it writes extents; the windows
    that a text declares, with their clauses taken out of it (named: whether each has a name), and the reverse; the clause
    before the query form; whether the operator of R2S stands after SELECT or CONSTRUCT."""

    name: str
    title: str
    added: Additions
    extents: Extents
    declared: Callable[[Source, bool], list[Window]]
    place: Callable[[Source, Query, Dialect], None]
    register: Callable[[Query, R2S | None], str]
    registers: bool = False
    selects: bool = False

    @property
    def states(self) -> bool:
        """Whether a text can state an operator of R2S (DIA-4)."""
        return self.registers or self.selects

    def over(self, window: Window, source: Source) -> str:
        """DIA-3: the stream and, in brackets, the extent, unless the dialect leaves it out."""
        extent = self.extents.written(window, self.title)
        return windows.iri(window.stream, source, "stream") + (f" [{extent}]" if extent else "")


def references(source: Source, names: Iterable[str]) -> list[tuple[Tree, str]]:
    """The GRAPH patterns of the windows of these names, in the order of the text."""
    known = set(names)
    graphs = [(node, node.children[1]) for node in source.nodes("graph")]
    named = [(node, source.resolve(name)) for node, name in graphs if isinstance(name, Tree)]
    return [(node, name) for node, name in named if name in known]


def unbound(source: Source) -> None:
    """DIA-6: GRAPH with a variable would find the name that a window has in a dialect only."""
    for node in source.nodes("graph"):
        if isinstance(node.children[1], Token):
            raise Unrenderable("GRAPH with a variable would find the window's name, too", rule="DIA-6", place=source.place(node))


# A pattern around all of WHERE


def outside(source: Source) -> Tree | None:
    """The first pattern outside of WHERE, which a pattern around WHERE would leave where it is."""
    [form] = source.nodes("form")
    first, last = start(source.where), source.where.meta.end_pos
    groups = (group for group in source.nodes("group") if group not in form.children)
    return next((group for group in groups if not first <= start(group) < last), None)


def lone(source: Source) -> Tree | None:
    """The window's pattern that is all of WHERE, if there is one, and no other pattern outside."""
    inner = source.where.children[1:-1]
    alone = len(inner) == 1 and isinstance(inner[0], Tree) and inner[0].data == "window_pattern" and outside(source) is None
    return inner[0] if alone else None


def unwrap(source: Source, pattern: Tree) -> None:
    """What is inside a lone pattern becomes all of WHERE."""
    inner = pattern.children[-1]
    source.put(start(source.where) + 1, start(inner) + 1, "")
    source.put(inner.meta.end_pos - 1, source.where.meta.end_pos - 1, "")


def wrap(source: Source, opening: str) -> None:
    """DIA-6: all of WHERE becomes the inside of one pattern. No pattern may stand outside."""
    [form] = source.nodes("form")
    if form.children[0].type == "CONSTRUCT" and not isinstance(form.children[-1], Tree):
        raise Unrenderable("CONSTRUCT without a template has no room for a window's pattern", rule="DIA-6", place=source.place(form))
    if (group := outside(source)) is not None:
        raise Unrenderable("a pattern outside of WHERE would not be in the window", rule="DIA-6", place=source.place(group))
    first, last = start(source.where), source.where.meta.end_pos
    source.put(first + 1, first + 1, f"\n{opening} {{")
    source.put(last - 1, last - 1, "}\n")


# STREAM s [extent] {…}, a window without a name


def streams(source: Source, alone: bool) -> list[Window]:
    """DIA-5: the windows of STREAM patterns: one without a name if it is alone in WHERE and that has a meaning, else
    `urn:window:1` and so on."""
    if alone and (pattern := lone(source)):
        unwrap(source, pattern)
        return [_window(source, pattern)]
    names: dict[Window, str] = {}
    for node in source.nodes("window_pattern"):
        name = names.setdefault(_window(source, node), f"{NAME}:{len(names) + 1}")
        source.put(start(node), start(node.children[-1]), f"GRAPH <{name}> ")
    return [windows.named(window, name) for window, name in names.items()]


def _window(source: Source, pattern: Tree) -> Window:
    iri, *extent, _ = (child for child in pattern.children if isinstance(child, Tree))
    return windows.read(source, source.resolve(iri), *extent or [None])


def as_streams(source: Source, named: list[Window], dialect: Dialect, alone: bool) -> None:
    """DIA-6: the GRAPH patterns of named windows become STREAM patterns, if reading those gives the same names."""
    unbound(source)
    texts = {w.name: f"STREAM {dialect.over(w, source)}" for w in named}
    found = references(source, texts)
    for number, window in enumerate(named, 1):
        place = f"window {window.name!r}"
        if window.name != (name := f"{NAME}:{number}"):
            raise Unrenderable(f"{dialect.title} has no names for windows; the {_th(number)} is read as {name}", rule="DIA-6", place=place)
    for window in (w for w in named if len({windows.named(other, None) for other in named}) < len(named) or w.name not in dict(map(reversed, found))):
        raise Unrenderable("a window without a pattern of its own cannot be told from another", rule="DIA-6", place=f"window {window.name!r}")
    if list(dict.fromkeys(name for _, name in found)) != [w.name for w in named]:
        raise Unrenderable(f"{dialect.title} numbers its windows in the order of their patterns", rule="DIA-6", place="windows")
    for node, name in found:
        group = start(node.children[-1])
        if source.text[start(node) : group] != f"GRAPH <{name}> ":
            raise Unrenderable(f"the pattern must be written GRAPH <{name}> {{…}}", rule="DIA-6", place=source.place(node))
        if alone and source.where.children[1:-1] == [node]:
            raise Unrenderable("a window whose pattern is all of WHERE is read as one without a name", rule="DIA-6", place=source.place(node))
        source.put(start(node), group, f"{texts[name]} ")


def _th(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")
