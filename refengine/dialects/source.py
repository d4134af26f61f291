"""A query text with its parse tree, and the edits that turn it into another text: a dialect's into
SPARQL, or back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn, TypeVar

from lark import Token, Tree

from refengine.core.query import Body
from refengine.dialects import grammar
from refengine.dialects.faults import name_construct
from refengine.model import iris
from refengine.model.errors import InvalidQuery, RefengineError, Unsupported, require
from refengine.model.messages import nearest

T = TypeVar("T")
WELL_KNOWN = {  # prefixes that texts use, and leave undeclared
    "foaf:": "http://xmlns.com/foaf/0.1/",
    "owl:": "http://www.w3.org/2002/07/owl#",
    "rdf:": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs:": "http://www.w3.org/2000/01/rdf-schema#",
    "sosa:": "http://www.w3.org/ns/sosa/",
    "xsd:": "http://www.w3.org/2001/XMLSchema#",
}


class Unrenderable(Unsupported):
    """DIA-6: A query that a dialect cannot say."""

    def __init__(self, reason: str, *, rule: str = "DIA-6", place: str = "") -> None:
        super().__init__(reason, rule=rule, place=place)


@dataclass
class DialectText:
    """A text, its tree, and the edits to be made.

    `name` is what its places are called in messages. Relative IRIs are resolved against `base`
    before the text gives another one. `static_graphs` are the IRIs of the named graphs of static
    data that are known without the text. `clauses` are cut out of it (DIA-1), and
    `edits` are (start, end, replacement).
    """

    text: str
    tree: Tree[Token]
    name: str = ""
    base: str = ""
    static_graphs: frozenset[str] = frozenset()
    clauses: list[tuple[int, int]] = field(default_factory=list)
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def nodes(self, *names: str) -> list[Tree[Token]]:
        """Return the nodes of these names, in the order of the text."""
        return [node for node in grammar.nodes(self.tree) if node.data in names]

    @cached_property
    def tokens(self) -> list[Token]:
        """Every token, in the order of the text."""
        return list(grammar.tokens(self.tree))

    @cached_property
    def form(self) -> Tree[Token]:
        """The query form, with what stands before its clauses."""
        [form] = self.nodes("form")
        return form

    @cached_property
    def where(self) -> Tree[Token]:
        """WHERE: its group, and the keyword if there is one."""
        [where] = self.nodes("where")
        return where

    @property
    def has_graphs(self) -> bool:
        """Whether the text has FROM or FROM NAMED of static data."""
        return bool(self.nodes("graph_clause", "graph_source"))

    @property
    def named_graphs(self) -> frozenset[str]:
        """The IRIs of the named graphs of static data that are known, those of FROM NAMED among
        them.
        """
        clauses = self.nodes("graph_clause", "graph_source")
        return self.static_graphs | {
            self.resolve(grammar.child_node(node, -1))
            for node in clauses
            if any(isinstance(word, Token) and word.type == "NAMED" for word in node.children)
        }

    @property
    def pattern(self) -> Tree[Token]:
        """The group of WHERE."""
        return grammar.child_node(self.where, -1)

    # Errors

    def fail(
        self,
        at: Tree[Token] | Token,
        reason: str,
        kind: type[RefengineError] = InvalidQuery,
        rule: str = "DIA-7",
    ) -> NoReturn:
        """Raise an error at a node or a token."""
        raise kind(reason, rule=rule, place=self.locate(at))

    def refuse_graphs_in_template(self) -> None:
        """DIA-7: Check that CONSTRUCT makes triples of one graph. Raises Unsupported for GRAPH in
        its template.
        """
        if grammar.child_token(self.form, 0).type != "CONSTRUCT":
            return
        for node in grammar.nodes(self.form):
            if node.data in ("graph", "window_pattern"):
                reason = "GRAPH in CONSTRUCT is unsupported: an answer is a set of triples (R2R-4)"
                self.fail(node, reason, Unsupported)

    def locate(self, at: Tree[Token] | Token) -> str:
        """Return `line 3 column 7`, or `body line 3 column 7`."""
        return " ".join(
            filter(None, (self.name, grammar.line_and_column(self.text, start_offset(at))))
        )

    def make(
        self, at: Tree[Token] | Token, maker: Callable[..., T], *args: Any, **fields: Any
    ) -> T:
        """Return what `maker` makes. Its errors get the place of a node or a token."""
        try:
            return maker(*args, **fields)
        except RefengineError as error:
            raise error.at(self.locate(at)) from None

    # Names

    @cached_property
    def prologue(self) -> tuple[str, dict[str, str]]:
        """The base IRI, or nothing, and the namespace of each prefix with its colon. Each
        declaration is resolved against the base before it.
        """
        base = self.base
        namespaces: dict[str, str] = {}
        for node in self.nodes("base", "prefix"):
            iri = iris.resolve(base, self._inner(grammar.child_token(node, -1)))
            if node.data == "base":
                base = iri
            else:
                namespaces[str(node.children[1])] = iri
        return base, namespaces

    def check_prefixes(self) -> None:
        """Check that every prefix is declared. Raises InvalidQuery at the first use of one that is
        not.
        """
        _, namespaces = self.prologue
        for token in self.tokens:
            if token.type == "PNAME" and (name := _prefix(token)) not in namespaces:
                reason = (
                    f"expected a declared prefix, got {name!r}; write PREFIX "
                    f"{name} <{WELL_KNOWN.get(name, '…')}>"
                )
                if namespaces and name not in WELL_KNOWN:
                    reason += nearest(name, namespaces)
                self.fail(token, reason)

    def resolve(self, node: Tree[Token]) -> str:
        """Return the IRI of an `iri` node. Its prefix must be declared. A relative one is kept as
        it is written, unless there is a base.
        """
        token, (base, namespaces) = grammar.child_token(node, 0), self.prologue
        if token.type == "IRIREF":
            return iris.resolve(base, self._inner(token))
        local = re.sub(r"\\([^uU])", r"\1", token[len(_prefix(token)) :])
        return namespaces[_prefix(token)] + _unescaped(local)

    def _inner(self, token: Token) -> str:
        """Return the IRI between its brackets, its escapes read."""
        iri = _unescaped(token[1:-1])
        if re.search(r'[<>"{}|^`\\\x00-\x20]', iri):
            self.fail(token, f"expected an IRI, got {iri!r}")
        return iri

    # Edits

    def cut(self, node: Tree[Token]) -> None:
        """Mark a dialect's own clause to be cut: it is no part of the body."""
        self.clauses.append((start_offset(node), end_offset(node)))

    def put(self, begin: int, end: int, replacement: str) -> None:
        """Mark a piece of the text to be replaced."""
        self.edits.append((begin, end, replacement))

    def insert(self, at: int, lines: Iterable[str]) -> None:
        """Mark lines to be inserted before an offset. `cut` takes out such lines."""
        text = "".join(f"{line}\n" for line in lines)
        if at:
            text = "\n" + text
        self.put(at, at, text)

    def edited(self) -> str:
        """Return the text after all edits."""
        return "".join(piece for piece, _ in self._pieces())

    def body(self) -> Body:
        """Return the SPARQL that is left. Its errors name the place in this text."""
        try:
            return Body(self.edited())
        except RefengineError as error:
            found = re.fullmatch(r"body line (\d+) column (\d+)", error.place)
            if found:
                offset = self._origin(int(found[1]), int(found[2]))
            else:
                offset = self._blamed(error.reason)
            error.place = grammar.line_and_column(self.text, offset)
            if (known := name_construct(self.text, offset)) is not None:
                raise Unsupported(known, rule="DIA-7", place=error.place) from None
            # which count in the body
            error.reason = re.sub(r"\s*\(at char \d+\), \(line:\d+, col:\d+\)", "", error.reason)
            raise

    def _blamed(self, reason: str) -> int:
        """Return a likely offset for an error without a place: that of the first token of the body
        which the error names, a keyword or an IRI, or else that of WHERE.
        """
        words = set(re.findall(r"<[^<>]*>|\b[A-Z_]{3,}\b", reason))
        gone = [*self.clauses, *(edit[:2] for edit in self.edits)]
        left = (
            token
            for token in self.tokens
            if not any(begin <= start_offset(token) < end for begin, end in gone)
        )
        return next(
            (start_offset(token) for token in left if token in words or token.upper() in words),
            start_offset(self.pattern),
        )

    def _pieces(self) -> list[tuple[str, int]]:
        """Return the pieces of the edited text, each with the offset in the text that it comes
        from.
        """
        pieces = []
        position = 0
        cuts = [(*self._loosened(*clause), "") for clause in self._adjacent()]
        for begin, end, replacement in sorted(self.edits + cuts):
            pieces += [(self.text[position:begin], position), (replacement, begin)]
            position = end
        return [*pieces, (self.text[position:], position)]

    def _origin(self, line: int, column: int) -> int:
        """Return the offset in this text of a place in the edited one."""
        offset = sum(len(text) + 1 for text in self.edited().split("\n")[: line - 1]) + column - 1
        for piece, origin in self._pieces():
            if offset < len(piece):
                return origin + offset
            offset -= len(piece)
        return len(self.text)

    def _adjacent(self) -> list[tuple[int, int]]:
        """Return the clauses to be cut. Those with only white space between them are one."""
        merged: list[tuple[int, int]] = []
        for begin, end in sorted(self.clauses):
            if merged and not self.text[merged[-1][1] : begin].strip():
                begin = merged.pop()[0]
            merged.append((begin, end))
        return merged

    def _loosened(self, begin: int, end: int) -> tuple[int, int]:
        """Return a clause together with the white space that is cut with it: the line ends around
        it, or the space after it. The line end before it stays where it ends a comment or separates
        two words.
        """
        text = self.text
        if not text.startswith("\n", end):
            return begin, end + text.startswith(" ", end)
        if not text.startswith("\n", begin - 1) or begin == 0:
            return begin, end + 1
        ends = map(end_offset, self.tokens)
        last = max((ended for ended in ends if ended <= begin), default=0)
        commented = "#" in re.split(r"[\r\n]", text[last : begin - 1])[-1]
        joined = re.fullmatch(r"\w\w", text[begin - 2 : begin - 1] + text[end + 1 : end + 2])
        return begin - (not commented and not joined), end + 1


def start_offset(at: Tree[Token] | Token) -> int:
    """Return the offset at which a node or a token starts. No node is without tokens."""
    while isinstance(at, Tree):
        at = at.children[0]
    return require(at.start_pos)


def end_offset(at: Tree[Token] | Token) -> int:
    """Return the offset at which a node or a token has ended."""
    while isinstance(at, Tree):
        at = at.children[-1]
    return require(at.end_pos)


def _unescaped(text: str) -> str:
    """Return a text with its codepoint escapes read (SPARQL §19.2)."""
    return re.sub(grammar.ESCAPE, lambda found: chr(min(int(found[0][2:], 16), 0x10FFFF)), text)


def _prefix(token: Token) -> str:
    return token[: token.index(":") + 1]
