"""The mistake behind an error: a text often can be read far beyond a word that is misspelled or
missing, since SPARQL is tokens here (DIA-7).
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import NamedTuple

from lark import Token

from refengine.dialects import grammar
from refengine.model.messages import display

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
