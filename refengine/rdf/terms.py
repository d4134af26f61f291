"""Terms and times as a text writes them. A fault in one does not know yet where it stands."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import ParamSpec, TypeVar

from refengine.model.elements import XSD, Term, Triple, parse_literal
from refengine.model.errors import InvalidStream
from refengine.model.messages import display, integer
from refengine.model.terms import iri_term, literal_term, triple_of
from refengine.model.xsd import INTEGERS, date_time

P = ParamSpec("P")
T = TypeVar("T")


class Fault(ValueError):
    """What is wrong with a piece of text, before it is known where the piece stands."""


def make(maker: Callable[P, T], *parts: P.args, **named: P.kwargs) -> T:
    """Return what `maker` makes of the parts. Raises Fault with the reason where it cannot."""
    try:
        return maker(*parts, **named)
    except InvalidStream as error:
        raise Fault(error.reason) from None


def make_iri(text: str) -> Term:
    """Return the term of an absolute IRI. Raises Fault."""
    return make(iri_term, text)


def make_literal(lexical: str, datatype: str | None = None, language: str | None = None) -> Term:
    """Return the term of a literal. Raises Fault."""
    return make(literal_term, lexical, datatype, language)


def make_triple(subject: Term, predicate: Term, object_: Term) -> Triple:
    """Return the triple of terms that may stand where they do. Raises Fault."""
    return make(triple_of, subject, predicate, object_)


def parse_milliseconds(term: Term, datatypes: Collection[str]) -> int:
    """Return the integer that a literal of one of these datatypes writes. Raises Fault."""
    if term.startswith('"'):
        lexical, datatype, _ = parse_literal(term)
        if datatype in datatypes and (number := integer(lexical.strip(" \t\r\n"))) is not None:
            return number
    raise Fault(f"a time must be an integer (ms), got {display(term)}")


def parse_date(term: Term) -> int:
    """Return a graph's date, in ms from the epoch. Raises Fault."""
    if term.startswith('"'):
        lexical, datatype, _ = parse_literal(term)
        if datatype in (XSD + "dateTime", XSD + "dateTimeStamp"):
            return parse_datetime(lexical)

    try:
        return parse_milliseconds(term, INTEGERS)
    except Fault:
        raise Fault(
            f"a date must be an xsd:dateTime or an integer (ms), got {display(term)}"
        ) from None


def parse_time(value: object) -> int:
    """Return the time (ms) that a JSON value or a cell of a table writes: an integer, or an
    xsd:dateTime (from the epoch). Raises Fault.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        number = integer(value.strip(" \t"))
        if number is not None:
            return number
        if "T" in value:
            return parse_datetime(value)
    raise Fault(f"a time must be an integer (ms) or an xsd:dateTime, got {display(value)}")


def parse_datetime(lexical: str) -> int:
    """Return the milliseconds from 1970-01-01T00:00:00Z to an xsd:dateTime; finer fractions are
    cut, which keeps the order of times. Raises Fault.
    """
    try:
        return date_time(lexical.strip()).seconds * 1000 // 1
    except ValueError as error:
        raise Fault(f"{error}: {display(lexical)}") from None
