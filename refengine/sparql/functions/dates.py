"""Functions on dates and times (SPARQL 1.1 §17.4.5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from refengine.model.elements import XSD, Term, literal, parse_literal
from refengine.model.errors import NoSingleAnswer, require
from refengine.model.xsd import Moment
from refengine.sparql.functions.terms import integer_literal
from refengine.sparql.values import (
    ERROR,
    SURE_SECONDS,
    Error,
    Result,
    decimal_of,
    is_extension,
    number_term,
    shorten,
    text,
    value_of,
)

# year, month, day, hour, minute, second and zone
DATE_TIME = re.compile(
    r"(-?[0-9]+)-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)(Z|[+-][0-9]{2}:[0-9]{2})?"
)


def _fields(term: Term) -> re.Match[str] | Error:
    """Return year, month, day, hour, minute, second and zone of a dateTime."""
    moment = value_of(term)
    if is_extension(moment):
        raise NoSingleAnswer(
            f"a part of {shorten(moment.datatype)}, which SPARQL leaves to extensions"
        )
    if not isinstance(moment, Moment):
        return ERROR
    match = require(DATE_TIME.fullmatch(parse_literal(term).lexical))
    if match[4] == "24":
        raise NoSingleAnswer("a part of a dateTime that is written with 24:00:00")
    return match


def reader_of_field(number: int) -> Callable[[Term], Result]:
    """Return the function that reads one part of a dateTime as an integer (YEAR to MINUTES)."""

    def field_of(term: Term) -> Result:
        match = _fields(term)
        if match is ERROR:
            return ERROR
        return integer_literal(int(match[number]))

    return field_of


def seconds(term: Term) -> Result:
    """Return the seconds of a dateTime, a decimal (SECONDS)."""
    match = _fields(term)
    if match is ERROR:
        return ERROR
    exact = Fraction(match[6])
    if (exact / SURE_SECONDS).denominator != 1:
        raise NoSingleAnswer(
            "seconds with more than three digits behind the point, which an evaluator may not keep"
        )
    return number_term(decimal_of(exact))


def zone(term: Term) -> Result:
    """Return the zone of a dateTime as it is written, "" where there is none (TZ)."""
    match = _fields(term)
    if match is ERROR:
        return ERROR
    return text(match[7] or "")


def zone_duration(term: Term) -> Result:
    """Return the zone as a dayTimeDuration in canonical form, an error where there is none
    (TIMEZONE).
    """
    match = _fields(term)
    if match is ERROR or match[7] is None:
        return ERROR
    if match[7] == "-00:00":
        raise NoSingleAnswer("the duration of the zone -00:00")
    return literal(_duration(match[7]), XSD + "dayTimeDuration")


def _duration(zone_text: str) -> str:
    """Return the canonical text of the duration of a zone: `+05:30` is PT5H30M, `Z` is PT0S."""
    if zone_text in ("Z", "+00:00"):
        return "PT0S"
    amounts = {"H": int(zone_text[1:3]), "M": int(zone_text[4:])}
    duration = "PT" + "".join(f"{count}{unit}" for unit, count in amounts.items() if count)
    if zone_text.startswith("-"):
        return "-" + duration
    return duration
