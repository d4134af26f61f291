"""The grammar that the dialects share: as much of SPARQL as must be read to find a dialect's own
clauses.

Between those clauses SPARQL is tokens and balanced brackets. Whether it is valid is found when the
body is read (QRY-1). A dialect adds alternatives at four places: before the query form, after its
keyword, between it and WHERE, and among the patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from lark import Lark, Token, Tree

ESCAPE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
# of names: more than SPARQL has, which is for the body's parser to say
CHARACTER = rf"(?:[\w\x80-\U0010ffff]|{ESCAPE})"
# bounded: what follows may be no colon
PREFIX = rf"(?:(?!_:|[0-9.-])(?:[\w\x80-\U0010ffff.-]|{ESCAPE}){{0,200}})"
LOCAL = rf"(?:{CHARACTER}|[:]|%[0-9A-Fa-f]{{2}}|\\[^uU])"
STRING = (
    r'"{3}(?:"?"?(?:[^"\\]|\\.))*"{3}|'
    r"'{3}(?:'?'?(?:[^'\\]|\\.))*'{3}|"
    r'"(?:[^"\\\n\r]|\\.)*"|'
    r"'(?:[^'\\\n\r]|\\.)*'"
)
SHARED = rf"""
    start: HEAD form clause* where solution*
    declaration: BASE IRIREF -> base | PREFIX NAMESPACE IRIREF -> prefix
    form: SELECT AFTER_SELECT _atom+ | ASK | DESCRIBE _atom+ | CONSTRUCT AFTER_CONSTRUCT group?
    clause: FROM NAMED? iri -> graph_clause CLAUSES
    where: WHERE? group
    solution: _atom | group | data
    group: "{{" _item* "}}"
    _item: _atom | SELECT | WHERE | group | data | graph PATTERNS
    graph: GRAPH (VAR | iri | BLANK) group
    data: VALUES (VAR | _parens) "{{" _atom* "}}"
    _atom: WORD | VAR | PNAME | IRIREF | BLANK | STRING | LANGUAGE | INTEGER | NUMBER | SIGN
        | _parens | _brackets
    _parens: "(" _item* ")"
    _brackets: "[" _item* "]"
    iri: IRIREF | PNAME

    PREFIX.2: /PREFIX(?![\w.-])/i
    IRIREF: /<(?:[^<>"{{}}|^`\\\x00-\x20]|{ESCAPE})*>/
    NAMESPACE.3: /{PREFIX}:/
    PNAME.1: /{PREFIX}:(?:{LOCAL}(?:\.*(?:{LOCAL}|[-\xb7]))*)?/
    BLANK.2: /_:{CHARACTER}(?:\.*(?:{CHARACTER}|[-\xb7]))*/
    VAR: /[?$]{CHARACTER}+/
    STRING: /{STRING}/s
    LANGUAGE: /@[A-Za-z]+(?:-[A-Za-z0-9]+)*/
    INTEGER: /[0-9]+/
    NUMBER: /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+|[0-9]*\.[0-9]+/
    WORD: /(?!\d){CHARACTER}+/
    SIGN: /\^\^|&&|\|\||!=|[<>]=|[-;,.*\/|^!=<>&+?]/
    COMMENT: /#[^\n\r]*/
    %ignore COMMENT
    %ignore /\s+/
"""
KEYWORDS = "BASE FROM NAMED WHERE GRAPH VALUES SELECT ASK DESCRIBE CONSTRUCT"
OPERATORS = "ISTREAM RSTREAM DSTREAM"  # of R2S; the grammars have one terminal for all
# it is not the beginning of a prefixed name; NOW-10S has one
KEYWORD = r"    {0}.2: /{0}(?![\w:])(?![.-][\w.-]*:)/i"


@dataclass(frozen=True)
class Additions:
    """A dialect's own syntax: `register`, a rule that must stand before the query form, or may
    (`optional`); what may stand after SELECT and after CONSTRUCT; alternatives of `clauses` and of
    `patterns`; the rules and terminals that define them, and the keywords in them.
    """

    register: str = ""
    optional: bool = True
    after_select: str = ""
    after_construct: str = ""
    clauses: str = ""
    patterns: str = ""
    rules: str = ""
    keywords: str = ""

    @property
    def written_keywords(self) -> str:
        """The keywords as an author writes them, with spaces between, and the operators of R2S if
        the dialect has a terminal for them.
        """
        return f"{self.keywords} {OPERATORS}" if "OPERATOR" in self.rules else self.keywords

    @cached_property
    def parser(self) -> Lark:
        """The LALR(1) parser of SPARQL with these additions, made when it is first asked for."""
        head = "declaration*"
        if self.register:
            head += f" ({self.register} declaration*)" + "?" * self.optional
        rules = (
            SHARED
            + self.rules
            + "\n"
            + "\n".join(map(KEYWORD.format, f"{KEYWORDS} {self.keywords}".split()))
        )
        for name in ("after_select", "after_construct", "clauses", "patterns"):
            rules = rules.replace(name.upper(), getattr(self, name))
        return Lark(
            rules.replace("HEAD", head),
            parser="lalr",
            keep_all_tokens=True,
        )


def line_and_column(text: str, offset: int) -> str:
    """Return `line 3 column 7` of an offset, both from 1."""
    before = text[:offset]
    return f"line {before.count(chr(10)) + 1} column {offset - before.rfind(chr(10))}"


def child_token(node: Tree[Token], place: int) -> Token:
    """Return a node's child at a place where the grammar has a token."""
    return cast(Token, node.children[place])


def child_node(node: Tree[Token], place: int) -> Tree[Token]:
    """Return a node's child at a place where the grammar has a node."""
    return cast("Tree[Token]", node.children[place])


def nodes(tree: Tree[Token]) -> Iterator[Tree[Token]]:
    """Return every node of a parse tree, in the order of the text."""
    return (item for item in _items(tree) if isinstance(item, Tree))


def tokens(tree: Tree[Token]) -> Iterator[Token]:
    """Return every token below a node, in the order of the text."""
    return (item for item in _items(tree) if isinstance(item, Token))


def _items(tree: Tree[Token]) -> Iterator[Tree[Token] | Token]:
    """Yield the items of a tree in the order of the text. Nothing recurs: a text may be nested
    deeply.
    """
    stack: list[Tree[Token] | Token] = [tree]
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, Tree):
            stack.extend(reversed(item.children))
