"""What is wrong in a text, in words that tell its author what to write (DIA-7): what a parser
found; the mistake behind it; and constructs that have no definition here. A text often can be
read far beyond a word that is misspelled or missing, since SPARQL is tokens here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

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


SHORTEST = 4  # letters of a keyword with which words are compared
NAMES = frozenset({"IRIREF", "PNAME"})
BEFORE_NAMES = frozenset(
    [
        "GRAPH",
        "WINDOW",
        "STREAM",
        "ON",
        "SERVICE",
        "SILENT",
        "FROM",
        "NAMED",
        "STATIC",
        "DESCRIBE",
        "BASE",
    ]
)
EXTENTS = frozenset({"RANGE", "NOW", "TRIPLES", "ALL", "SLIDE"})  # what an extent begins with
AFTER_FROM = frozenset({"NAMED", "STREAM", "STATIC", "WINDOW"})
BEFORE_WORDS = frozenset({"STREAM", "QUERY", "REGISTER", "ON", "AS"})  # a name comes after these


class Mistake(NamedTuple):
    """The token at which a mistake is, and what it is."""

    token: Token
    reason: str


def find_mistake(tokens: Sequence[Token], own: str) -> Mistake | None:
    """DIA-7: Return the first token at which a keyword is misspelled or missing, if there is one.
    `own` are the keywords of the dialect, with spaces between.
    """
    keywords = {word for word in f"{grammar.KEYWORDS} {own}".split() if len(word) >= SHORTEST}
    depth = 0  # of braces
    for place, token in enumerate(tokens):
        depth += {"LBRACE": 1, "RBRACE": -1}.get(token.type, 0)
        before = ""
        if place:
            before = tokens[place - 1].upper()
        if reason := _mistake_at(before, tokens[place:], keywords, is_in_group=depth > 0):
            return Mistake(token, reason)
    return None


def _mistake_at(
    before: str, tokens: Sequence[Token], keywords: Collection[str], *, is_in_group: bool
) -> str:
    """Return what is wrong with the first of some tokens, or with a keyword that is missing before
    it. `before` is the token before it in capitals, empty if there is none. `is_in_group` says
    whether a brace is open.
    """
    token = tokens[0]
    if token.type == "WORD" and before not in BEFORE_WORDS:
        return _misread_word(token, keywords)
    if token.type in NAMES and before not in BEFORE_NAMES and not before.endswith(":"):
        return _keyword_before(token, tokens[1:3], keywords)
    if token.type == "LPAR" and is_in_group and before in (".", "{", "}", ")"):
        return _filter_before(tokens)
    return ""


def _misread_word(token: Token, keywords: Collection[str]) -> str:
    """Return what is wrong with a word that was read as SPARQL's: it is a keyword of a clause that
    has lost its beginning, or nearly a keyword.
    """
    word = token.upper()
    if word == "FROM":
        return "expected '*' or a variable before FROM"
    if word in AFTER_FROM & frozenset(keywords):
        return f"expected FROM before {display(str(token))}"
    if word in keywords:
        return ""
    near = difflib.get_close_matches(word, sorted(keywords), n=1, cutoff=0.75)
    if near and abs(len(near[0]) - len(word)) <= 1:
        return f"expected {near[0]}, got {display(str(token))}"
    return ""


def _keyword_before(token: Token, after: Sequence[Token], keywords: Collection[str]) -> str:
    """Return which keyword is missing before a name: no pattern of SPARQL begins with a name and a
    group, nor with a name and an extent.
    """
    types = [one.type for one in after]
    if types[:1] == ["LBRACE"]:
        pattern = "GRAPH"
        if "WINDOW" in keywords:
            pattern = "GRAPH or WINDOW"
        return f"expected {pattern} before {display(str(token))}"
    if types == ["LSQB", "WORD"] and "STREAM" in keywords and after[1].upper() in EXTENTS:
        return f"expected STREAM before {display(str(token))}"
    return ""


def _filter_before(tokens: Sequence[Token]) -> str:
    """Return that FILTER is missing before a bracket which holds a comparison, and is no variable
    of SELECT with AS.
    """
    depth = 0
    compares = False
    for token in tokens:
        depth += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
        if depth == 0 or token.upper() == "AS":
            break
        if token in ("=", "!=", "<", ">", "<=", ">=", "&&", "||"):
            compares = True
    if compares and depth == 0:
        return "expected FILTER before '('"
    return ""


DYNAMIC = "FROM DYNAMIC STREAM is a clause of no language here; write FROM STREAM in C-SPARQL"
# what a construct begins with: what it is, and what can be written instead
CONSTRUCTS = {
    "RETRIEVE": "Kolibrie's RETRIEVE, a search for streams, is unsupported; name each stream by "
    "its IRI",
    "RULE": "Kolibrie's RULE is unsupported; write what the rule derives as patterns of WHERE",
    "SEQ": "SEQ, a sequence of events of CQELS-QL 2.0, is unsupported; compare times by "
    "FILTER instead",
    "PAST": "directional windows of CQELS-QL 2.0 are unsupported; write RANGE for PAST",
    "FUTURE": "directional windows of CQELS-QL 2.0 are unsupported: a window ends at its own "
    "instant",
    "WITH DEPTH": "WITH DEPTH of CQELS-QL 2.0 is unsupported; static data is read whole",
    "CACHE": "CACHE of CQELS-QL 2.0 is unsupported; leave it out, since static data never changes",
    "COMPUTED EVERY": "COMPUTED EVERY belongs to the semantics; write report=periodic and a "
    "period there",
    "EMIT": "EMIT of CQELS-QL 2.0 belongs to the semantics; write report=… there",
    "LATENESS": "LATENESS of CQELS-QL 2.0 belongs to the semantics; write allowed_lateness=… there",
    "REPORT": "Kolibrie's REPORT belongs to the semantics; write report=… there",
    "TICK": "Kolibrie's TICK belongs to the semantics; write tick=… there",
    "BEGIN AT": "BEGIN AT, the time of a match, is unsupported; C-SPARQL has timestamp(s, p, o)",
    "AGGREGATE": "AGGREGATE is unsupported; write GROUP BY, or a subquery",
    "STATIC": "FROM STATIC is a clause of CQELS-QL 2.0 (cqels2); write FROM",
    "DYNAMIC": DYNAMIC,
    "FROM DYNAMIC": DYNAMIC,
    "FROM STATIC": DYNAMIC,
}
FOREIGN_WORDS = re.compile(
    "|".join(phrase.replace(" ", r"\s+") + r"(?!\w)" for phrase in CONSTRUCTS), re.IGNORECASE
)


def name_construct(text: str, offset: int) -> str | None:
    """DIA-7: Return what is to be said of the construct that begins at an offset, if it is one of
    those above.
    """
    found = FOREIGN_WORDS.match(text, offset)
    if found is None:
        return None
    return CONSTRUCTS[" ".join(found[0].upper().split())]
