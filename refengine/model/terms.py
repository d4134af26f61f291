"""§1 Terms: text in, canonical N-Triples text out, checked once where a user gives it.

A term is its canonical N-Triples text (`<iri>`, `_:label`, `"lexical"^^<datatype>`,
`"lexical"@tag`), so terms compare, hash and sort as text. Nothing here imports the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.held import BLANKS, IRIS, LITERALS, kind_of, text_of
from refengine.model.messages import SHOWN, display, display_text

XSD = "http://www.w3.org/2001/XMLSchema#"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

Term = str

# Literals

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_CHARACTERS = {
    "t": "\t",
    "b": "\b",
    "n": "\n",
    "r": "\r",
    "f": "\f",
    '"': '"',
    "'": "'",
    "\\": "\\",
}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\^\^<([^>]*)>|@([A-Za-z0-9-]+))?', re.DOTALL)


class NoLiteral(InvalidStream, ValueError):
    """MOD-4: A term that is no literal, where one is needed."""


class Literal(NamedTuple):
    """A literal taken apart: lexical form, datatype IRI, language tag (''
    unless rdf:langString).
    """

    lexical: str
    datatype: str
    language: str


def literal(lexical: str, datatype: str = XSD + "string", language: str = "") -> Term:
    """Return the term of a literal. xsd:string is left implicit and language tags are lower case,
    as in canonical N-Triples.
    """
    try:
        text = '"' + re.sub(r'[\\"\n\r]', lambda m: _ESCAPES[m[0]], lexical) + '"'
    except TypeError:  # no text
        reason = f"a lexical form must be text, got {display(lexical)}"
        raise _invalid(f"{reason}{_write(_python_literal(lexical))}") from None
    for name, value in (("a datatype", datatype), ("a language", language)):
        if not isinstance(value, str):
            raise _invalid(f"{name} must be text, got {display(value)}")
    if language:
        return f"{text}@{language.lower()}"
    if datatype == XSD + "string":
        return text
    return f"{text}^^<{datatype}>"


def parse_literal(term: Term) -> Literal:
    """Return the parts of a literal term, N-Triples' escapes read; the inverse of `literal`. Raises
    NoLiteral for another term.
    """
    match = _LITERAL.fullmatch(term) if isinstance(term, str) else None
    if match is None:
        reason = f"not a literal: {display(term)}; write it in quotes, such as {literal('a')}"
        raise NoLiteral(reason, rule="MOD-4")
    lexical, datatype, language = match.groups()
    if language:
        return Literal(unescape(lexical), LANG_STRING, language)
    return Literal(unescape(lexical), datatype or XSD + "string", "")


def is_blank(term: Term) -> bool:
    """Return whether a term is a blank node."""
    return term.startswith("_:")


def unescape(text: str) -> str:
    """Return a text in which N-Triples' escapes are the characters that they stand for. Raises
    InvalidStream for a code point that is none.
    """
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    short, long, char = map(str, escape.groups(""))
    if char:
        return _CHARACTERS.get(char, char)
    if int(short or long, 16) > 0x10FFFF:
        raise _invalid(f"no such character: {escape[0]}")
    return chr(int(short or long, 16))


def _invalid(reason: str) -> InvalidStream:
    return InvalidStream(reason, rule="MOD-4")


# Grammar

_PLANES = (
    "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
    + "\U000e1000-\U000efffd"
)
_UNRESERVED = rf"A-Za-z0-9._~\-\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef{_PLANES}!$&'()*+,;="
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_PERCENT = "%[0-9A-Fa-f]{2}"
_SEGMENT = f"(?:[{_UNRESERVED}:@]|{_PERCENT})"
_HOST = rf"(?:\[[0-9A-Fa-f:.]+\]|(?:[{_UNRESERVED}]|{_PERCENT})*+)"
ABSOLUTE_IRI = re.compile(  # RFC 3987, which RDF 1.1 asks for; evaluators refuse what it refuses
    rf"[A-Za-z][A-Za-z0-9+.\-]*:"
    rf"(?://(?:(?:[{_UNRESERVED}:]|{_PERCENT})*@)?{_HOST}(?::[0-9]*)?(?:/{_SEGMENT}*+)*+|(?!//)(?:{_SEGMENT}|/)*+)"
    rf"(?:\?(?:[{_UNRESERVED}:@/?{_PRIVATE}]|{_PERCENT})*+)?(?:\#(?:{_SEGMENT}|[/?])*+)?"
)
_LANGUAGE = re.compile(  # RFC 5646, likewise
    r"""(?:[a-z]{2,3}(?:-[a-z]{3}){0,3} | [a-z]{4,8}) (?:-[a-z]{4})? (?:-(?:[a-z]{2}|[0-9]{3}))?
        (?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*
        (?:-[0-9a-wyz](?:-[a-z0-9]{2,8})+)* (?:-x(?:-[a-z0-9]{1,8})+)?
    | x(?:-[a-z0-9]{1,8})+ | en-gb-oed | sgn-(?:be-fr|be-nl|ch-de)
    | i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)""",
    re.IGNORECASE | re.VERBOSE,
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_UNICODE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_LETTER = (
    r"A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    r"\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
IRIREF = rf'<(?:[^\x00-\x20<>"{{}}|^`\\]|{_UNICODE})*+>'
_BLANK = rf"_:[{_LETTER}_:0-9](?:\.*[{_LETTER}_:0-9\-\xb7\u0300-\u036f\u203f\u2040])*+"
TERM = (  # five groups: iri, blank, lexical, datatype, language
    rf"(?P<iri>{IRIREF})|(?P<blank>{_BLANK})"
    rf'|"(?P<lexical>(?:[^"\\\n\r]|\\[tbnrf"\'\\]|{_UNICODE})*+)"'
    rf"(?:\^\^(?P<datatype>{IRIREF})|@(?P<language>[A-Za-z]+(?:-[A-Za-z0-9]+)*))?"
)
_TERM = re.compile(TERM)
_MADE = re.compile(r"_:made(?:/[0-9]+k?)?/[0-9]+")  # by R2R-7, or by a body that is evaluated alone

# Terms of most streams are like these, and canonical as they stand.
PLAIN_IRI = r"<https?://[A-Za-z0-9.-]++(?:/[A-Za-z0-9._~-]*+)*+(?:\#[A-Za-z0-9._~-]*+)?>"
PLAIN_DATATYPE = r"<http://www\.w3\.org/2001/XMLSchema#(?!string>)[A-Za-z]++>"
PLAIN_LITERAL = rf'"[ !#-\[\]-~]*+"(?:\^\^{PLAIN_DATATYPE})?'
_PLAIN_NAME = rf"(?:{PLAIN_IRI}|<urn:[A-Za-z0-9._~:-]++>)"
_PLAIN_SUBJECT = rf"(?:{_PLAIN_NAME}|_:[A-Za-z0-9_]++)"
_PLAIN_CHARACTERS = r'(?:[^\x00-\x1f"\\\x7f-\x9f\ud800-\udfff]++|\\[nr"\\])*+'
_PLAIN_TAG = r"@[a-z]{2,3}(?:-[a-z]{2})?(?![a-z0-9-])"
_PLAIN_TEXT = rf'"{_PLAIN_CHARACTERS}"(?:\^\^{PLAIN_DATATYPE}|{_PLAIN_TAG})?'
_PLAIN_TERM = re.compile(rf"{_PLAIN_SUBJECT}|{_PLAIN_TEXT}")
PLAIN_TRIPLES = re.compile(  # each term with a line end
    rf"(?:{_PLAIN_SUBJECT}\n{_PLAIN_NAME}\n(?:{_PLAIN_SUBJECT}|{_PLAIN_TEXT})\n)*+"
)


# One term


@lru_cache(maxsize=2**16)
def canonical(term: Term) -> Term:
    """MOD-4: A term is its canonical N-Triples text: escapes read, language tags in lower case,
    xsd:string implicit.

    A term of rdflib or pyoxigraph is taken for its text. A blank node that an evaluation made
    (R2R-7) becomes one of the data, whose labels have no slash: `_:made/3/0` is `_:made-3-0`.
    Raises InvalidStream for what is no term, with the nearest that is one.

    >>> canonical('"caf\\\\u00e9"@FR'), canonical('"x"^^<http://www.w3.org/2001/XMLSchema#string>')
    ('"café"@fr', '"x"')
    """
    if type(term) is not str:
        made = _term_of_library(term)
        if made is not None:
            return made
    if not isinstance(term, str):
        raise _invalid(f"a term must be text, got {display(term)}{_write(_python_literal(term))}")
    found = _read(str(term))
    if found is None:
        raise _invalid(f"not a term: {display_text(term)}{nearest_term(term)}")
    return found


def _term_of_library(value: Any) -> Term | None:
    """Return the canonical term of a term of rdflib or pyoxigraph; None for any other value. Raises
    InvalidStream for parts that are none.
    """
    kind = kind_of(value)
    if kind in IRIS:
        return iri_term(text_of(value))
    if kind in BLANKS:
        return canonical(f"_:{text_of(value)}")
    if kind not in LITERALS:
        return None
    if getattr(value, "direction", None) is not None:
        raise _invalid(f"a literal with a direction is none of RDF 1.1: {display(value)}")
    datatype = None
    if not value.language and value.datatype is not None:
        datatype = text_of(value.datatype)
    return literal_term(text_of(value), datatype, value.language)


def _read(text: str) -> Term | None:
    """Return the canonical term of a text; None if the text has not the form of a term. Raises
    InvalidStream for parts that are none.
    """
    if _PLAIN_TERM.fullmatch(text):
        return text
    if match := _TERM.fullmatch(text):
        return term_of(*match.groups())
    if _MADE.fullmatch(text):
        return text.replace("/", "-")
    return None


def term_of(
    iri: str | None,
    blank: str | None,
    lexical: str | None,
    datatype: str | None,
    language: str | None,
) -> Term:
    """Return the canonical term of the groups of TERM, which are N-Triples text. Raises
    InvalidStream.
    """
    if iri is not None:
        return iri_term(unescape(iri[1:-1]))
    if blank is not None:
        return blank
    lexical = lexical or ""
    datatype = datatype and unescape(datatype[1:-1])
    if datatype == LANG_STRING:
        shown = display_text(unescape(lexical))
        raise _invalid(f'rdf:langString without a language: {shown}; write it as "…"@en')
    return literal_term(unescape(lexical), datatype, language)


@lru_cache(maxsize=2**16)
def iri_term(text: str) -> Term:
    """Return the term of an absolute IRI (RFC 3987). Raises InvalidStream for another text."""
    if not re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:", text):
        raise _invalid(f"relative IRI {display_text(text)}; write it in full")
    if not ABSOLUTE_IRI.fullmatch(text):
        raise _invalid(f"not an IRI (RFC 3987): {display_text(text)}")
    return f"<{text}>"


def check_base(text: str) -> None:
    """DIA-5: Check that the base of relative IRIs is an absolute IRI. Raises RefengineError."""
    if not isinstance(text, str) or not ABSOLUTE_IRI.fullmatch(text):
        reason = f"must be an absolute IRI, such as http://example.org/, got {display(text)}"
        raise RefengineError(reason, rule="DIA-5", place="base")


def literal_term(lexical: str, datatype: str | None = None, language: str | None = None) -> Term:
    """Return the term of a literal whose parts are checked. Raises InvalidStream for a surrogate,
    a relative datatype or what is no language tag (RFC 5646).
    """
    if _SURROGATE.search(lexical):
        raise _invalid(f"a surrogate is no character: {display_text(lexical)}")
    if language and not _LANGUAGE.fullmatch(language):
        raise _invalid(f"not a language tag (RFC 5646): {display_text(language)}")
    if datatype is None:
        datatype = XSD + "string"
    else:
        iri_term(datatype)
    return literal(lexical, datatype, language or "")


# What is wrong with a term


def nearest_term(term: str) -> str:
    """Return `; write … or …`: the terms that are nearest to a text that is none."""
    if re.fullmatch(r"[?$]\w+", term):
        return "; a variable is no RDF term"
    if term.startswith(('"', "'", "<", "_:")):
        return _write(_first_term(_repairs(term)))
    return _write(
        _first_term((f"<{term}>", f"<http://example.org/{term}>")), _first_term((literal(term),))
    )


def _repairs(term: str) -> Iterator[str]:
    """Yield what a text that begins like a term may have been meant to be."""
    if quoted := re.fullmatch(r"(['\"])(.*)\1(?:(@|\^\^)(.*))?", term, re.DOTALL):
        _, lexical, mark, rest = quoted.groups()
        text = '"' + re.sub(r'\\(?!["\\])|(?<!\\)"|[\n\r]', lambda m: _ESCAPES[m[0]], lexical) + '"'
        match mark:
            case None:
                yield text
            case "@":
                yield f"{text}@{rest.replace('_', '-')}"
            case _:
                yield f"{text}^^<{re.sub('^xsd:', XSD, rest.strip('<>'))}>"
    elif term.startswith(('"', "'")):
        yield literal(term.strip("\"'"))
    elif term.startswith("<"):
        iri = term.strip("<>")
        iri = re.sub(r'[\x00-\x20<>"{}|^`\\]', lambda m: f"%{ord(m[0]):02X}", iri)
        yield f"<{iri}>"
    elif term.startswith("_:"):
        yield "_:" + (re.sub(r"[^A-Za-z0-9]+", "-", term[2:]).strip("-") or "b")


def _python_literal(value: Any) -> str:
    """Return the literal of a number or truth value of Python; '' for another value."""
    match value:
        case bool():
            return literal(str(value).lower(), XSD + "boolean")
        case int() if abs(value) < 10**SHOWN:
            return literal(str(value), XSD + "integer")
        case float():
            return literal(repr(value), XSD + "double")
        case _:
            return ""


def _first_term(texts: Iterable[str]) -> str:
    """Return the first text that is a term and short enough to be shown; '' if there is none."""
    for text in texts:
        try:
            if len(text) <= SHOWN and _read(text):
                return text
        except InvalidStream:
            pass
    return ""


def _write(*texts: str) -> str:
    """Return `; write … or …` with those texts that are not empty; '' if there are none."""
    if not any(texts):
        return ""
    return "; write " + " or ".join(map(_escape_unprintable, filter(None, texts)))


def _escape_unprintable(term: Term) -> Term:
    """Return a term in which every character that cannot be printed is an escape of N-Triples."""
    return "".join(
        character if character.isprintable() else f"\\U{ord(character):08X}".replace("U0000", "u")
        for character in term
    )


# Places of terms


def triple_of(subject: Term, predicate: Term, object_: Term) -> tuple[Term, Term, Term]:
    """Return a triple of terms that may stand where they do. Raises InvalidStream for a literal
    that is a subject, and for a predicate that is no IRI.
    """
    if subject.startswith('"'):
        raise _invalid(f"a subject must be an IRI or a blank node, got {display_text(subject)}")
    if not predicate.startswith("<"):
        raise _invalid(f"a predicate must be an IRI, got {display_text(predicate)}")
    return subject, predicate, object_


def graph_name(term: Term) -> Term:
    """Return a term that may name a graph. Raises InvalidStream for a literal."""
    if term.startswith('"'):
        raise _invalid(f"a graph must be an IRI or a blank node, got {display_text(term)}")
    return term
