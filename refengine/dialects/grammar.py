"""The grammar that the dialects share: SPARQL as far as one must read it to find a dialect's own clauses.

Between those clauses SPARQL is tokens and balanced brackets; whether it is SPARQL is QRY-1's business. A dialect adds
alternatives at four places: before the query form, after its keyword, between it and WHERE, and among the patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from refengine.errors import InvalidQuery
from refengine.texts import shown

SHARED = r"""
    start: {head} form clause* where solution*
    declaration: BASE IRIREF -> base | PREFIX NAMESPACE IRIREF -> prefix
    form: SELECT {r2s} _atom+ | ASK | DESCRIBE _atom+ | CONSTRUCT {r2s} group?
    clause: FROM NAMED? iri -> graph_clause {clauses}
    where: WHERE? group
    solution: _atom | group
    group: "{{" _item* "}}"
    _item: _atom | SELECT | WHERE | group | graph {patterns}
    graph: GRAPH (VAR | iri) group
    _atom: WORD | VAR | PNAME | IRIREF | BLANK | STRING | LANGUAGE | INTEGER | NUMBER | SIGN | _parens | _brackets
    _parens: "(" (_item)* ")"
    _brackets: "[" (_item)* "]"
    iri: IRIREF | PNAME

    BASE.2: /BASE(?![\w:.-])/i
    PREFIX.2: /PREFIX(?![\w.-])/i
    FROM.2: /FROM(?![\w:.-])/i
    NAMED.2: /NAMED(?![\w:.-])/i
    WHERE.2: /WHERE(?![\w:.-])/i
    GRAPH.2: /GRAPH(?![\w:.-])/i
    SELECT.2: /SELECT(?![\w:.-])/i
    ASK.2: /ASK(?![\w:.-])/i
    DESCRIBE.2: /DESCRIBE(?![\w:.-])/i
    CONSTRUCT.2: /CONSTRUCT(?![\w:.-])/i
    IRIREF: /<(?:[^<>"{{}}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{{4}}|\\U[0-9A-Fa-f]{{8}})*>/
    NAMESPACE.3: /(?:[^\W\d_](?:[\w.\-\xb7]*[\w\-\xb7])?)?:/
    PNAME.1: /(?:[^\W\d_](?:[\w.\-\xb7]*[\w\-\xb7])?)?:(?:(?:[\w:]|%[0-9A-Fa-f]{{2}}|\\.)(?:\.*(?:[\w:\-\xb7]|%[0-9A-Fa-f]{{2}}|\\.))*)?/
    BLANK: /_:\w(?:\.*[\w\-\xb7])*/
    VAR: /[?$]\w+/
    STRING: /"{{3}}(?:"?"?(?:[^"\\]|\\.))*"{{3}}|'{{3}}(?:'?'?(?:[^'\\]|\\.))*'{{3}}|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'/s
    LANGUAGE: /@[A-Za-z]+(?:-[A-Za-z0-9]+)*/
    INTEGER: /[0-9]+/
    NUMBER: /[0-9]*\.?[0-9]+[eE][+-]?[0-9]+|[0-9]+\.[eE][+-]?[0-9]+|[0-9]*\.[0-9]+/
    WORD: /[^\W\d]\w*/
    SIGN: /\^\^|&&|\|\||!=|[<>]=|[-;,.*\/|^!=<>&+?]/
    COMMENT: /#[^\n\r]*/
    %ignore COMMENT
    %ignore /\s+/
"""
CLOSERS = {"LBRACE": "'}'", "LPAR": "')'", "LSQB": "']'"}
WORDS = {  # what a person calls a terminal; keywords are called by their name
    "LBRACE": "'{'", "RBRACE": "'}'", "LPAR": "'('", "RPAR": "')'", "LSQB": "'['", "RSQB": "']'", "IRIREF": "an IRI such as <urn:s>",
    "PNAME": "a prefixed name", "NAMESPACE": "a prefix such as ex:", "VAR": "a variable", "INTEGER": "an integer", "MINUS": "'-'",
    "UNIT": "a unit such as s", "ISO": "an ISO 8601 duration such as PT10S", "$END": "the end",
}  # fmt: skip
SUBSELECT = frozenset({"SELECT", "WHERE"})
SPARQL = frozenset("WORD VAR PNAME IRIREF BLANK STRING LANGUAGE INTEGER NUMBER SIGN LPAR LSQB".split())


@dataclass(frozen=True)
class Additions:
    """A dialect's own syntax: `register`, the rule that must stand before the query form, or may (`optional`); `r2s`, after
    its keyword; alternatives of `clauses` and `patterns`; and the rules and terminals that define them."""

    register: str = ""
    optional: bool = True
    r2s: str = ""
    clauses: str = ""
    patterns: str = ""
    rules: str = ""

    @cached_property
    def parser(self) -> Lark:
        """The LALR(1) parser of SPARQL with these additions, made when it is first asked for."""
        head = "declaration*"
        if self.register:
            head += f" ({self.register} declaration*)" + "?" * self.optional
        rules = SHARED.format(head=head, r2s=self.r2s, clauses=self.clauses, patterns=self.patterns) + self.rules
        return Lark(rules, parser="lalr", propagate_positions=True, keep_all_tokens=True)


def place(text: str, offset: int) -> str:
    """`line 3 column 7` of an offset, both from 1."""
    before = text[:offset]
    return f"line {before.count(chr(10)) + 1} column {offset - before.rfind(chr(10))}"


def fault(text: str, error: UnexpectedInput, hint: str = "") -> InvalidQuery:
    """DIA-7: what stands where a text cannot be read further, and what was expected there."""
    offset = reached(text, error)
    match error:
        case UnexpectedToken() if error.token.type != "$END":
            found, expected = shown(str(error.token)), error.accepts or error.expected
        case UnexpectedCharacters():
            found, expected = "a string that is not closed" if text[offset] in "\"'" else shown(text[offset]), SPARQL
        case _:
            found, expected = "the end", getattr(error, "accepts", None) or error.expected
    reason = f"expected {_either(set(expected))}, got {found}"
    opened = _open(error)
    if opened is not None and (found == "the end" or str(found)[1:-1] in ")]}"):
        reason += f"; {shown(str(opened))} at {place(text, opened.start_pos)} is not closed"
    return InvalidQuery(reason + hint, rule="DIA-7", place=place(text, offset))


def reached(text: str, error: UnexpectedInput) -> int:
    """The offset of the first character that cannot be read."""
    if isinstance(error, UnexpectedEOF) or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        return len(text)
    return error.pos_in_stream


def _either(terminals: set[str]) -> str:
    """`'}', an IRI or SPARQL`: where many of SPARQL's own terminals fit they are no news."""
    many = len(terminals & SPARQL) > 3
    own = terminals - SPARQL - (SUBSELECT if terminals >= SUBSELECT else frozenset()) if many else terminals
    names = sorted(WORDS.get(name, name) for name in own) + ["SPARQL"] * many
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:]))) or "nothing"


def _open(error: UnexpectedInput) -> Token | None:
    """The innermost bracket that was not closed: it is still a token of its own on the parser's stack."""
    state = getattr(error, "interactive_parser", None)
    stack = state.parser_state.value_stack if state else ()
    return next((item for item in reversed(stack) if isinstance(item, Token) and item.type in CLOSERS), None)


def nodes(tree: Tree) -> Iterator[Tree]:
    """Every node of a parse tree, in the order of the text. Nothing recurs: a text may be nested deeply."""
    stack: list[Tree | Token] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, Tree):
            yield item
            stack.extend(reversed(item.children))


def tokens(tree: Tree) -> Iterator[Token]:
    """Every token below a node, in the order of the text."""
    stack: list[Tree | Token] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, Token):
            yield item
        else:
            stack.extend(reversed(item.children))
