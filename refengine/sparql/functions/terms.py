"""Functions on terms (SPARQL 1.1 §17.4.2), and how functions take a string or a lexical form from
an operand.
"""

from __future__ import annotations

import re

from refengine.model.elements import Term, is_blank, literal, parse_literal
from refengine.model.errors import NoSingleAnswer
from refengine.model.iris import has_scheme, resolve
from refengine.model.terms import LANG_STRING
from refengine.sparql.values import (
    ERROR,
    INTEGER,
    RANKS,
    STRING_TYPES,
    Computed,
    Error,
    Number,
    OtherLiteral,
    Result,
    StringValue,
    boolean,
    number_term,
    same,
    shorten,
    text,
    value_of,
)

_IRI = re.compile(r"[^<>\"{}|^`\\\x00-\x20]*")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")


def string(term: Term) -> StringValue | Error:
    """Return the string of a literal that is one, with or without a language."""
    string_value = value_of(term)
    if isinstance(string_value, StringValue):
        return string_value
    if isinstance(string_value, OtherLiteral) and string_value.datatype in STRING_TYPES:
        raise NoSingleAnswer(
            f"an {shorten(string_value.datatype)}, which an evaluator may know as a string"
        )
    return ERROR


def simple(term: Term) -> str | Error:
    """Return the text of a string without a language."""
    string_value = string(term)
    if string_value is ERROR or string_value.language:
        return ERROR
    return string_value.lexical


def lexical(term: Term) -> str | Error:
    """R2R-13: Return the lexical form of a literal; of a computed one that no recommendation fixes
    there is no single answer.
    """
    if not term.startswith('"'):
        return ERROR
    if isinstance(term, Computed):
        raise NoSingleAnswer(f"the lexical form of a computed xsd:{RANKS[term.number.rank]}")
    return parse_literal(term).lexical


def integer_literal(number: int) -> Term:
    """Return the literal of an integer."""
    return number_term(Number(INTEGER, number))


# Functions


def as_string(term: Term) -> Result:
    """Return the lexical form of a literal or the text of an IRI (STR)."""
    if is_blank(term):
        return ERROR
    if term.startswith("<"):
        return text(term[1:-1])
    form = lexical(term)
    if form is ERROR:
        return ERROR
    return text(form)


def language(term: Term) -> Result:
    """Return the language tag of a literal, "" where it has none (LANG)."""
    if not term.startswith('"'):
        return ERROR
    return text(parse_literal(term).language)


def with_upper_case_region(tag: Term) -> Term:
    """Return the text of a language tag in the form of RFC 5646 §2.1.1: regions in upper case,
    scripts with a capital, and what follows a part of one letter in lower case (`en-us-x-us` gives
    `en-US-x-us`).
    """
    parts = parse_literal(tag).lexical.split("-")
    end = next((place for place, part in enumerate(parts) if len(part) == 1), len(parts))
    capitals = [
        {2: part.upper(), 4: part.capitalize()}.get(len(part), part) for part in parts[1:end]
    ]
    return text("-".join([*parts[:1], *capitals, *parts[max(end, 1) :]]))


def datatype(term: Term) -> Result:
    """Return the datatype of a literal (DATATYPE)."""
    if not term.startswith('"'):
        return ERROR
    return f"<{parse_literal(term).datatype}>"


def to_iri(term: Term, base: str) -> Result:
    """Return an IRI as it is, or a string resolved against the base (IRI)."""
    if term.startswith("<"):
        return term
    reference = simple(term)
    if reference is ERROR:
        return ERROR
    if not _IRI.fullmatch(reference):
        raise NoSingleAnswer("IRI() of a text that is no IRI")
    if not base and not has_scheme(reference):
        raise NoSingleAnswer("IRI() of a relative reference without BASE")
    return f"<{resolve(base, reference)}>"


def make_typed(form: Term, kind: Term) -> Result:
    """Return the literal of a lexical form and a datatype (STRDT)."""
    characters = simple(form)
    if characters is ERROR or not kind.startswith("<"):
        return ERROR
    if kind[1:-1] == LANG_STRING:
        raise NoSingleAnswer("STRDT with rdf:langString")
    return literal(characters, kind[1:-1])


def make_tagged(form: Term, tag: Term) -> Result:
    """Return the literal of a lexical form and a language (STRLANG)."""
    characters = simple(form)
    name = simple(tag)
    if characters is ERROR or name is ERROR:
        return ERROR
    if not _LANGUAGE_TAG.fullmatch(name):
        raise NoSingleAnswer("STRLANG with a text that is no language tag")
    lower = text(name.lower())
    if text(name) not in (lower, with_upper_case_region(lower)):
        raise NoSingleAnswer("STRLANG with a language tag whose case an evaluator may keep")
    return text(characters, name)


def is_numeric(term: Term) -> Result:
    """Return whether a term is a number, ill-typed ones left out (isNumeric)."""
    return boolean(isinstance(value_of(term), Number))


def is_iri(term: Term) -> Result:
    """Return whether a term is an IRI (isIRI, isURI)."""
    return boolean(term.startswith("<"))


def is_blank_node(term: Term) -> Result:
    """Return whether a term is a blank node (isBlank)."""
    return boolean(is_blank(term))


def is_literal(term: Term) -> Result:
    """Return whether a term is a literal (isLiteral)."""
    return boolean(term.startswith('"'))


def is_same_term(left: Term, right: Term) -> Result:
    """Return whether two terms are the same (sameTerm)."""
    return boolean(same(left, right))
