"""What a parser found wrong in a text, in words that tell its author what to write (DIA-7)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark import Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from refengine.dialects import grammar
from refengine.model.errors import InvalidQuery, require
from refengine.model.messages import display

BRACKETS = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}
WORDS = {  # what a person calls a terminal; keywords are called by their name
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "IRIREF": "an IRI such as <urn:s>",
    "PNAME": "a prefixed name",
    "NAMESPACE": "a prefix such as ex:",
    "VAR": "a variable",
    "INTEGER": "an integer",
    "MINUS": "'-'",
    "UNIT": "a unit such as s",
    "ISO": "an ISO 8601 duration such as PT10S",
    "SHORT": "an ISO 8601 duration such as PT10S",  # 10s is read, and not recommended
    "QUERY_NAME": "a name",
    "COMMA": "','",
    "OPERATOR": "an operator such as ISTREAM",
    "WORD": "a word",
    "$END": "the end",
}
SUBSELECT = frozenset({"SELECT", "WHERE", "VALUES"})
SPARQL = frozenset(
    [
        "WORD",
        "VAR",
        "PNAME",
        "IRIREF",
        "BLANK",
        "STRING",
        "LANGUAGE",
        "INTEGER",
        "NUMBER",
        "SIGN",
        "LPAR",
        "LSQB",
    ]
)

# what a program fills in: ${SIZE}, {size}, %d
PLACEHOLDER = re.compile(r"\$\{\w+\}|\{\w+\}|%[ds]")


def syntax_error(text: str, error: UnexpectedInput, hint: str = "") -> InvalidQuery:
    """DIA-7: Return the error of a text that cannot be read further: what stands there, and what
    was expected. Where the text ends too early, or another bracket closes, the error also names the
    bracket that is still open.
    """
    offset = reached_offset(text, error)
    opened: Token | None = None
    expected: Iterable[str]
    match error:
        case UnexpectedCharacters():
            found = display(text[offset])
            if text[offset] in "\"'":
                found = "a string that is not closed"
            expected = SPARQL
        case UnexpectedToken() if error.token.type == "$END":
            found = "the end"
            expected = error.accepts or error.expected
            opened = _open(error)
        case UnexpectedToken():
            found = display(str(error.token))
            expected = error.accepts or error.expected
            opened = _unmatched(error)
        case _:
            raise AssertionError(error)  # LALR(1) has no other
    # an open bracket explains more than advice on what stands at the place
    addition = _advice(text, offset, error)
    if opened:
        opened_at = grammar.line_and_column(text, require(opened.start_pos))
        addition = f"; {display(str(opened))} at {opened_at} is not closed"
    return InvalidQuery(
        f"expected {_either(set(expected))}, got {found}{addition}{hint}",
        rule="DIA-7",
        place=grammar.line_and_column(text, offset),
    )


def _advice(text: str, offset: int, error: UnexpectedInput) -> str:
    """Return what an author must have meant, where that is plain: a value for a placeholder, an IRI
    without a character that none has, a bracket too many, or a name that was meant as an IRI.
    """
    iri = re.compile(r"<[^<>\n]*>").match(text, offset)
    found = PLACEHOLDER.match(text, offset)
    if iri:
        found = PLACEHOLDER.search(iri[0])
    if found:
        return f"; {found[0]} is a placeholder: write its value"
    if iri and (odd := re.search(r'[ "{}|^`\\]', iri[0])):
        return f"; {display(odd[0])} cannot stand in an IRI"
    if not isinstance(error, UnexpectedToken):
        return ""
    if error.token.type in BRACKETS.values() and _open(error) is None:
        return "; no bracket is open here: leave it out"
    expected = error.accepts or error.expected
    if error.token.type == "WORD" and {"IRIREF", "PNAME"} <= expected:
        keyword = ""
        if {"NAMED", "STREAM"} <= expected and re.compile(r"\w+\s*\[").match(text, offset):
            keyword = "STREAM "
        return f"; for an IRI write {keyword}<{error.token}>"
    return ""


def reached_offset(text: str, error: UnexpectedInput) -> int:
    """Return the offset of the first character that cannot be read."""
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return len(text)
    return require(error.pos_in_stream)


def _either(terminals: set[str]) -> str:
    """Return `'}', an IRI or SPARQL`: where many of SPARQL's own terminals fit they are no news."""
    names = sorted({WORDS.get(name, name) for name in terminals})
    if len(terminals & SPARQL) > 3:
        own = terminals - SPARQL
        if terminals >= SUBSELECT:
            own -= SUBSELECT
        names = [*sorted(WORDS.get(name, name) for name in own), "SPARQL"]
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:]))) or "nothing"


def _open(error: UnexpectedToken) -> Token | None:
    """Return the innermost bracket that is not closed, or None."""
    waiting: list[Token] = []
    for item in unfinished_items(error):
        if isinstance(item, Token) and item.type in BRACKETS:
            waiting.append(item)
        elif isinstance(item, Token) and item.type in BRACKETS.values():
            waiting.pop()
    if not waiting:
        return None
    return waiting[-1]


def _unmatched(error: UnexpectedToken) -> Token | None:
    """Return the innermost open bracket, if another bracket than its other half stands there."""
    if error.token.type not in BRACKETS.values():
        return None
    innermost = _open(error)
    if innermost is None or BRACKETS[innermost.type] == error.token.type:
        return None
    return innermost


def unfinished_items(error: UnexpectedInput) -> list[Tree[Token] | Token]:
    """Return what the parser had read when it could not go on: trees, and those tokens that are in
    no tree yet.
    """
    state = getattr(error, "interactive_parser", None)
    if not state:
        return []
    return list(state.parser_state.value_stack)


def tokens_read(error: UnexpectedInput) -> list[Token]:
    """Return the tokens that the parser had read, and the one at which it could not go on."""
    found: list[Token] = []
    for item in unfinished_items(error):
        found += grammar.tokens(item) if isinstance(item, Tree) else [item]
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        found.append(error.token)
    return found
