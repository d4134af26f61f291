"""A query text with its parse tree, and the edits that turn it into another: a dialect's text into SPARQL, or back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn
from urllib.parse import urljoin

from lark import Token, Tree

from refengine.dialects import grammar
from refengine.errors import InvalidQuery, RefengineError, Unsupported
from refengine.query import Body
from refengine.texts import nearest

LINE_END = re.compile(r"\r\n|\n|\r")


class Unrenderable(Unsupported):
    """DIA-6: a query that a dialect cannot say."""


@dataclass
class Source:
    """A text, its tree, and the name that its places have in messages; and what is to become of it: `clauses` are cut (DIA-1),
    `edits` are (start, end, replacement)."""

    text: str
    tree: Tree
    name: str = ""
    clauses: list[tuple[int, int]] = field(default_factory=list)
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def nodes(self, *names: str) -> list[Tree]:
        """The nodes of these names, in the order of the text."""
        return [node for node in grammar.nodes(self.tree) if node.data in names]

    @cached_property
    def tokens(self) -> list[Token]:
        """Every token, in the order of the text."""
        return list(grammar.tokens(self.tree))

    @cached_property
    def where(self) -> Tree:
        """The group of WHERE."""
        [where] = self.nodes("where")
        return where.children[-1]

    # Errors

    def fail(self, at: Tree | Token, reason: str, kind: type[RefengineError] = InvalidQuery, rule: str = "DIA-7") -> NoReturn:
        """An error at a node or a token."""
        raise kind(reason, rule=rule, place=self.place(at))

    def place(self, at: Tree | Token) -> str:
        """`line 3 column 7`."""
        return " ".join(filter(None, (self.name, grammar.place(self.text, start(at)))))

    def made(self, at: Tree | Token, make: Callable[..., Any], *args: Any, **fields: Any) -> Any:
        """A value of the text, whose errors name the place."""
        try:
            return make(*args, **fields)
        except RefengineError as error:
            raise error.at(self.place(at)) from None

    # Names

    @cached_property
    def base(self) -> str:
        """The base IRI, or nothing."""
        found = ""
        for node in self.nodes("base"):
            found = urljoin(found, _inner(node.children[-1]))
        return found

    @cached_property
    def prefixes(self) -> dict[str, str]:
        """The namespace of each prefix, colon included."""
        declared = (node.children for node in self.nodes("prefix"))
        return {str(name): urljoin(self.base, _inner(iri)) for _, name, iri in declared}

    def check_prefixes(self) -> None:
        """Every prefix is declared. Raises InvalidQuery where the first that is not is used."""
        for token in self.tokens:
            if token.type == "PNAME" and _prefix(token) not in self.prefixes:
                name = _prefix(token)
                self.fail(token, f"expected a declared prefix, got {name!r}; write PREFIX {name} <…>{nearest(name, self.prefixes)}")

    def resolve(self, node: Tree) -> str:
        """The IRI of an `iri` node; a relative one is kept as it is written, unless there is a base."""
        [token] = node.children
        if token.type == "IRIREF":
            return urljoin(self.base, _inner(token))
        if _prefix(token) not in self.prefixes:
            self.check_prefixes()
        return self.prefixes[_prefix(token)] + re.sub(r"\\(.)", r"\1", token[len(_prefix(token)) :])

    # Edits

    def cut(self, node: Tree) -> None:
        """A dialect's own clause, which is no part of the body."""
        self.clauses.append((start(node), node.meta.end_pos))

    def put(self, begin: int, end: int, replacement: str) -> None:
        """A replacement of a piece of text."""
        self.edits.append((begin, end, replacement))

    def insert(self, at: int, lines: Iterable[str]) -> None:
        """Clauses on lines of their own, before an offset: what `cut` takes out again."""
        if lines := list(lines):
            self.put(at, at, ("\n" if at else "") + "\n".join(lines) + "\n")

    def edited(self) -> str:
        """The text after all edits."""
        return "".join(piece for piece, _ in self._pieces())

    def body(self) -> Body:
        """The SPARQL that is left. Its errors name the place in this text."""
        try:
            return Body(self.edited())
        except RefengineError as error:
            found = re.fullmatch(r"body line (\d+) column (\d+)", error.place)
            offset = self._origin(int(found[1]), int(found[2])) if found else self._blamed(error.reason)
            error.place = grammar.place(self.text, offset)
            raise

    def _blamed(self, reason: str) -> int:
        """The offset of the first token that a reason names, a keyword or an IRI; WHERE, if it names none."""
        words = set(re.findall(r"<[^<>]*>|\b[A-Z_]{3,}\b", reason))
        named = (token.start_pos for token in self.tokens if token in words or token.upper() in words)
        return next(named, start(self.where))

    def _pieces(self) -> list[tuple[str, int]]:
        """The pieces of the edited text, each with the offset that it comes from."""
        pieces, position = [], 0
        cuts = [(*self._loosened(*clause), "") for clause in self._adjacent()]
        for begin, end, replacement in sorted(self.edits + cuts):
            pieces += [(self.text[position:begin], position), (replacement, begin)]
            position = end
        return [*pieces, (self.text[position:], position)]

    def _origin(self, line: int, column: int) -> int:
        """The offset in this text of a place in the edited one."""
        offset = sum(len(text) + 1 for text in self.edited().split("\n")[: line - 1]) + column - 1
        for piece, origin in self._pieces():
            if offset < len(piece):
                return origin + offset
            offset -= len(piece)
        return len(self.text)

    def _adjacent(self) -> list[tuple[int, int]]:
        """The clauses, those that only white space parts as one."""
        merged: list[tuple[int, int]] = []
        for begin, end in sorted(self.clauses):
            if merged and not self.text[merged[-1][1] : begin].strip():
                begin = merged.pop()[0]
            merged.append((begin, end))
        return merged

    def _loosened(self, begin: int, end: int) -> tuple[int, int]:
        """What a clause takes with it: the line end after it, and then the one before it, or the space after it. The line end
        before it stays where it ends a comment, or keeps two words apart."""
        before, after = re.search(r"(\r\n|\n|\r)?\Z", self.text[:begin])[0], LINE_END.match(self.text, end)
        if after is None:
            return begin, end + self.text.startswith(" ", end)
        last = max((token.end_pos for token in self.tokens if token.end_pos <= begin), default=0)
        commented = "#" in re.split(LINE_END, self.text[last : begin - len(before)])[-1]
        joined = self.text[begin - len(before) - 1 : begin - len(before)] + self.text[after.end() : after.end() + 1]
        apart = commented or re.fullmatch(r"\w\w", joined)
        return begin - (0 if apart else len(before)), after.end()


def start(at: Tree | Token) -> int:
    """The offset at which a node or a token starts."""
    return at.start_pos if isinstance(at, Token) else at.meta.start_pos


def _inner(token: Token) -> str:
    """The IRI between its brackets, its escapes read."""
    return re.sub(r"\\u([0-9A-Fa-f]{4})|\\U00([01][0-9A-Fa-f]{5})", lambda m: chr(min(int(m[1] or m[2], 16), 0x10FFFF)), token[1:-1])


def _prefix(token: Token) -> str:
    return token[: token.index(":") + 1]
