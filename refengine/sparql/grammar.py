"""§7 Reading a query body: SPARQL 1.1's own grammar (§19.8), its terminals, and the error at the
first token that does not fit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate
from typing import Any, cast

import lark
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr

from refengine.model.errors import ForbiddenAccess, InvalidQuery, Unsupported, require
from refengine.model.messages import did_you_mean, display
from refengine.sparql.functions import ARITIES

_FOLDER = files("refengine.sparql")
TABLES = "grammar_tables.json"  # made by tools/make_parser.py
DEEPEST = 60  # brackets within brackets
LONGEST_BODY = 1_000_000  # characters
MOST_WORDS = 100_000  # and signs of a body: each costs the parser some 50 microseconds

AGGREGATES = ("SUM", "MIN", "MAX", "AVG", "SAMPLE")
UPDATES = ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH")
KEYWORDS = (
    "BASE PREFIX SELECT DISTINCT REDUCED AS CONSTRUCT WHERE DESCRIBE ASK FROM NAMED GROUP BY "
    "HAVING ORDER ASC DESC LIMIT OFFSET VALUES OPTIONAL GRAPH WINDOW SERVICE SILENT BIND UNDEF "
    "MINUS UNION FILTER NOT IN EXISTS COUNT GROUP_CONCAT SEPARATOR"
)

CODE_POINT = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_FIRST = rf"(?:[{_BASE}_]|{CODE_POINT})"
_NAME = rf"(?:[{_BASE}_0-9\u00b7\u0300-\u036f\u203f-\u2040-]|{CODE_POINT})"
_PREFIX = rf"(?:(?:[{_BASE}]|{CODE_POINT})(?:{_NAME}|\.+(?={_NAME}))*)?:"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:{_FIRST}|[:0-9]|{_ESCAPED})(?:{_NAME}|:|{_ESCAPED}|\.+(?={_NAME}|:|{_ESCAPED}))*"
_CHARACTER = r"(?:[^QUOTE\\\n\r]|\\[tbnrf\\\"']|" + CODE_POINT + ")"
_EXPONENT = r"[eE][+-]?[0-9]+"
_DOUBLE = rf"(?:[0-9]+\.[0-9]*{_EXPONENT}|\.[0-9]+{_EXPONENT}|[0-9]+{_EXPONENT})"
_DECIMAL = r"[0-9]*\.[0-9]+"
# In _CHARACTER, _LONG and _STRINGS, QUOTE stands for " or ', which TERMINALS puts in.
_LONG = r"(?:QUOTE{0,2}(?:[^QUOTE\\]|\\[tbnrf\\\"']|" + CODE_POINT + "))*"
_STRINGS = rf"QUOTEQUOTEQUOTE{_LONG}QUOTEQUOTEQUOTE|QUOTE{_CHARACTER}*QUOTE"
TERMINALS = {  # name: (priority where two match the same text, pattern)
    "IRIREF": (6, rf"<(?:[^<>\"{{}}|^`\\\x00-\x20]|{CODE_POINT})*>"),
    "PNAME_LN": (6, _PREFIX + _LOCAL),
    "PNAME_NS": (5, _PREFIX),
    "BLANK_NODE_LABEL": (6, rf"_:(?:{_FIRST}|[0-9])(?:{_NAME}|\.+(?={_NAME}))*"),
    "VAR": (
        6,
        rf"[?$](?:{_FIRST}|[0-9])(?:[{_BASE}_0-9\u00b7\u0300-\u036f\u203f-\u2040]|{CODE_POINT})*",
    ),
    "LANGTAG": (6, r"@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*"),
    "SIGNED_DOUBLE": (5, rf"[+-]{_DOUBLE}"),
    "SIGNED_DECIMAL": (4, rf"[+-]{_DECIMAL}"),
    "SIGNED_INTEGER": (3, r"[+-][0-9]+"),
    "DOUBLE": (5, _DOUBLE),
    "DECIMAL": (4, _DECIMAL),
    "INTEGER": (3, r"[0-9]+"),
    "STRING": (6, f"{_STRINGS.replace('QUOTE', chr(34))}|{_STRINGS.replace('QUOTE', chr(39))}"),
    "COMPARISON": (2, r"!=|<=|>=|<|>"),
    "BOOLEAN": (2, r"(?i:true|false)(?![A-Za-z0-9_])"),
    "A": (2, r"a(?![A-Za-z0-9_])"),
    "FUNCTION": (2, rf"(?i:{'|'.join(ARITIES)})(?![A-Za-z0-9_])"),
    "AGGREGATE": (2, rf"(?i:{'|'.join(AGGREGATES)})(?![A-Za-z0-9_])"),
}
SYMBOLS = {
    "STAR": "*",
    "SLASH": "/",
    "PLUS": "+",
    "MINUS_SIGN": "-",
    "QUESTION": "?",
    "LBRACE": "{",
    "EQUAL": "=",
}
NUMBERS = ("INTEGER", "DECIMAL", "DOUBLE")
NAMES = {  # what a person calls a terminal other than a keyword or a sign
    "IRIREF": "an IRI",
    "PNAME_LN": "a prefixed name",
    "PNAME_NS": "a prefix",
    "BLANK_NODE_LABEL": "a blank node",
    "VAR": "a variable",
    "STRING": "a string",
    **{f"{sign}{kind}": "a number" for sign in ("", "SIGNED_") for kind in NUMBERS},
    "FUNCTION": "a function",
    **dict.fromkeys(("AGGREGATE", "COUNT", "GROUP_CONCAT"), "an aggregate"),
    "BOOLEAN": "true or false",
    "LANGTAG": "a language tag",
    "A": "'a'",
    "COMPARISON": "a comparison",
    "$END": "the end",
}


class Grammar:
    """The grammar of queries, whose parser is made when it is first asked for."""

    @property
    def text(self) -> str:
        """The grammar as lark reads it: the productions of grammar.lark,
        and the terminals above.
        """
        lines = [_FOLDER.joinpath("grammar.lark").read_text(encoding="utf-8")]
        lines += [
            f"{name}.{priority}: /{pattern.replace('/', chr(92) + '/')}/"
            for name, (priority, pattern) in TERMINALS.items()
        ]
        lines += [f'{name}: "{text}"' for name, text in SYMBOLS.items()]
        lines += [f"{name}.1: /{name}(?![A-Za-z0-9_])/i" for name in KEYWORDS.split()]
        lines += [r"COMMENT: /#[^\n\r]*/", r"%ignore COMMENT", r"%ignore /[ \t\n\r]+/"]
        return "\n".join(lines)

    @cached_property
    def parser(self) -> Lark:
        """The LALR(1) parser, from the tables that are shipped where they are of this grammar and
        of the lark that is installed.
        """
        tables = _FOLDER.joinpath(TABLES).read_text(encoding="utf-8")
        return read_tables(tables, self.text) or self.build()

    def build(self) -> Lark:
        """Compute the parser's tables, which takes a third of a second.

        Its lexer takes the longest token, whatever stands before it (§19.8, note 5).
        """
        return Lark(
            self.text,
            parser="lalr",
            lexer="basic",
            start="query_unit",
            propagate_positions=True,
            maybe_placeholders=False,
        )


def label_tables(text: str) -> dict[str, str]:
    """Return what tables are of: the version of lark that made them, and
    the digest of the grammar.
    """
    return {"lark": lark.__version__, "grammar": sha256(text.encode()).hexdigest()}


def read_tables(tables: str, text: str) -> Lark | None:
    """Return the parser that has some tables; None if they are of another grammar, or of another
    lark.
    """
    found = json.loads(tables, object_pairs_hook=_with_numbers)
    if found["of"] != label_tables(text):
        return None
    # what lark's own standalone parsers call
    load = cast("Callable[[object, object], Lark]", Lark._load_from_dict)
    return load(found["data"], found["parts"])


def _with_numbers(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    """Return an object of JSON whose keys are numbers again where they were."""
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}


GRAMMAR = Grammar()


def parse_body(text: str) -> Tree[Token]:
    """Read a body and return its syntax tree, whose nodes know their place.

    Raises InvalidQuery (QRY-1) at the first token that does not fit, ForbiddenAccess (QRY-2) for an
    update, Unsupported for a body that is too long or nested too deeply to be read here.
    """
    if len(text) > LONGEST_BODY:
        raise Unsupported(
            f"a body of more than {LONGEST_BODY} characters", rule="R2R-17", place="body"
        )
    if surrogate := re.search("[\ud800-\udfff]", text):
        raise InvalidQuery(
            "a lone surrogate, which is no character",
            rule="QRY-1",
            place=place_in_body(text, surrogate.start()),
        )
    try:
        if len(re.findall(r"\w+|[^\w\s]", text)) > MOST_WORDS and _words(text) > MOST_WORDS:
            raise Unsupported(
                f"a body of more than {MOST_WORDS} words and signs", rule="R2R-17", place="body"
            )
        if max(_brackets(text), default=0) > DEEPEST:
            raise Unsupported(
                f"brackets nested more than {DEEPEST} deep", rule="R2R-17", place="body"
            )
        return GRAMMAR.parser.parse(text)
    except UnexpectedInput as error:
        raise fault(text, error) from None


_PIECES = re.compile(rf"{TERMINALS['STRING'][1]}|{TERMINALS['IRIREF'][1]}|#[^\n\r]*|\w+|[^\w\s]")


def _pieces(text: str) -> Iterator[str]:
    """Yield the strings, IRIs, comments, words and signs of a text, up to a string that is not
    closed.
    """
    for match in _PIECES.finditer(text):
        yield match[0]
        if match[0] in ("'", '"'):
            return


def _words(text: str) -> int:
    """Return how many strings, IRIs, words and signs a text has."""
    return sum(not piece.startswith("#") for piece in _pieces(text))


def _brackets(text: str) -> list[int]:
    """Return the depth of brackets after each piece of a text, those in strings, IRIs and comments
    left aside.
    """
    return list(
        accumulate(
            (piece in ("(", "{", "[")) - (piece in (")", "}", "]")) for piece in _pieces(text)
        )
    )


def place_in_body(text: str, offset: int) -> str:
    """Name an offset in a body: `body line 3 column 7`, both from 1."""
    before = text[:offset]
    return f"body line {before.count(chr(10)) + 1} column {offset - before.rfind(chr(10))}"


def fault(text: str, error: UnexpectedInput) -> InvalidQuery | ForbiddenAccess:
    """QRY-1, QRY-2: Return the error of what stands where the body cannot be read further, and of
    what was expected there; or of an update.
    """
    offset = len(text)
    if not _is_at_end(error):
        offset = require(error.pos_in_stream)
    word = require(re.match(r"\w*", text[offset:]))[0]
    expected = _expected(error)
    if word.upper() in UPDATES and "SELECT" in expected:
        return ForbiddenAccess(
            f"an update ({word.upper()}) is no query: a body only reads",
            rule="QRY-2",
            place=place_in_body(text, offset),
        )
    words = expected & set(KEYWORDS.split())
    if "FUNCTION" in expected:
        words |= set(ARITIES)
    reason = (
        f"not SPARQL 1.1: expected {_either(expected)}, got {_obstacle(error, text, offset)}"
        f"{did_you_mean(word.upper(), words)}"
    )
    return InvalidQuery(reason, rule="QRY-1", place=place_in_body(text, offset))


def _is_at_end(error: UnexpectedInput) -> bool:
    """Return whether a body ends where more of it was expected."""
    return isinstance(error, UnexpectedToken) and error.token.type == "$END"


def _expected(error: UnexpectedInput) -> set[str]:
    """Return the terminals that could stand where a body cannot be read further."""
    match error:
        case UnexpectedCharacters():
            return set(error.allowed or ())
        case UnexpectedToken():
            return set(error.accepts or error.expected)
        case _:
            return set()


def _obstacle(error: UnexpectedInput, text: str, offset: int) -> str:
    """Name what stands where a body cannot be read further."""
    if _is_at_end(error):
        return "the end"
    if isinstance(error, UnexpectedToken):
        return display(str(error.token))
    if text[offset] in "\"'":
        return "a string that is not closed"
    return display(require(re.match(r"\w+|.", text[offset:], re.DOTALL))[0])


def _either(terminals: set[str]) -> str:
    """Join the names of terminals: `a variable, '{' or WHERE`."""
    signs = {
        terminal.name: f"'{terminal.pattern.value}'"
        for terminal in GRAMMAR.parser.terminals
        if isinstance(terminal.pattern, PatternStr)
    }
    names = NAMES | signs
    words = sorted({names.get(name, name) for name in terminals if not name.startswith("__")})
    words = words[:8] + ["…"] * (len(words) > 8)
    if not words:
        return "nothing"
    if len(words) == 1:
        return words[0]
    *most, last = words
    return f"{', '.join(most)} or {last}"


_ESCAPE = re.compile(rf"{CODE_POINT}|\\(.)", re.DOTALL)
_MEANINGS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
DELIMITERS = "\"'\\\n\r"  # of strings
NOT_IN_NAMES = '<>"{}|^`\\ '  # characters that no name and no IRI has


def read_escapes(text: str, token: Token, source: str) -> str:
    """Read the escapes in a token's text (§19.2, §19.7). Raises InvalidQuery for a code point that
    no character has, and for one that would end the token that it stands in.
    """

    def character(match: re.Match[str]) -> str:
        if match[1] is not None:
            return _MEANINGS.get(match[1], str(match[1]))
        number = int(match[0][2:], 16)
        if problem := _problem_of(number, token.type):
            raise InvalidQuery(
                f"{match[0]} {problem}",
                rule="QRY-1",
                place=place_in_body(source, require(token.start_pos) + match.start()),
            )
        return chr(number)

    return _ESCAPE.sub(character, text)


def _problem_of(code_point: int, terminal: str) -> str:
    """Say why an escaped code point may not stand in a token; "" where it may."""
    if 0xD800 <= code_point < 0xE000 or code_point > 0x10FFFF:
        return "is no character"
    if terminal == "STRING":
        if chr(code_point) in DELIMITERS:
            return "is read before the string is (SPARQL §19.2) and would end it"
        return ""
    if code_point < 0x20 or chr(code_point) in NOT_IN_NAMES:
        return "may not stand here"
    return ""
