"""What a literal means (SPARQL 1.1 §17.1): its value, and the truth of it (§17.2.2)."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from refengine.model.elements import XSD, Term, parse_literal
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import (
    BOOLEANS,
    DECIMAL_FORM,
    INTEGER_FORM,
    INTEGERS,
    Moment,
    date_time,
    in_range,
    read_double,
    read_float,
)
from refengine.sparql.values.extensions import STRING_TYPES
from refengine.sparql.values.kinds import (
    BOOLEAN,
    DOUBLE,
    ERROR,
    FLOAT,
    INTEGER,
    RANKS,
    STRING,
    SURE_INTEGERS,
    Computed,
    Error,
    Number,
    OtherLiteral,
    Result,
    StringValue,
    Unknown,
    Value,
    shorten,
)
from refengine.sparql.values.rounding import decimal_of

CACHED_TERM = 1_000  # characters: of longer terms few values are kept
MOST_DIGITS = 4_000  # of a number that is written
SURE_YEAR = re.compile(r"(?!0000)[0-9]{4}-")  # every evaluator has these (XSD 1.0 §3.2.7)


def value_of(term: Term) -> Value | None:
    """Return the value of a literal, None for an IRI or a blank node. That of an Unknown is the
    number NaN.
    """
    if isinstance(term, Computed):
        return term.number
    if len(term) < CACHED_TERM:
        return _value(term)
    return _value_of_long(term)


def _read_value(term: Term) -> Value | None:
    if not term.startswith('"'):
        return None
    lexical, datatype, language = parse_literal(term)
    if datatype == STRING or language:
        return StringValue(lexical, language)
    outcome = read_literal(lexical, datatype)
    if outcome is None or outcome is ERROR:
        return OtherLiteral(datatype, is_ill_typed=outcome is ERROR)
    return outcome


_value = lru_cache(maxsize=2**16)(_read_value)
_value_of_long = lru_cache(maxsize=64)(_read_value)  # which may be of a million characters


def read_literal(lexical: str, datatype: str) -> Number | bool | Moment | Error | None:
    """R2R-10: Read a lexical form as a number, a boolean or a dateTime; ERROR if it is ill-typed,
    None for another datatype.

    Raises NoSingleAnswer for what an evaluator may not have: an integer beyond 64 bits, +INF, the
    year 0000.
    """
    if datatype in INTEGERS:
        return read_integer(lexical, datatype)
    match datatype.removeprefix(XSD):
        case "decimal":
            return read_decimal(lexical)
        case "double":
            return read_binary(lexical, DOUBLE)
        case "float":
            return read_binary(lexical, FLOAT)
        case "boolean":
            return BOOLEANS.get(lexical, ERROR)
        case "dateTime":
            return read_moment(lexical)
    return None


def read_integer(lexical: str, datatype: str) -> Number | Error:
    """Read an xsd:integer, or one of a type derived from it."""
    if not INTEGER_FORM.fullmatch(lexical):
        return ERROR
    if len(lexical) > MOST_DIGITS:
        raise NoSingleAnswer("an integer of thousands of digits")
    number = int(lexical)
    if not in_range(number, datatype):
        return ERROR
    if not -SURE_INTEGERS <= number < SURE_INTEGERS:
        raise NoSingleAnswer("an integer beyond 64 bits, which an evaluator may not have")
    return Number(INTEGER, number)


def read_decimal(lexical: str) -> Number | Error:
    """Read an xsd:decimal."""
    if not DECIMAL_FORM.fullmatch(lexical):
        return ERROR
    if len(lexical) > MOST_DIGITS:
        raise NoSingleAnswer("a decimal of thousands of digits")
    return decimal_of(Fraction(lexical.removesuffix(".")))


def read_binary(lexical: str, rank: int) -> Number | Error:
    """Read an xsd:float or an xsd:double."""
    try:
        number = read_double(lexical)
    except ValueError:
        return ERROR
    if lexical == "+INF":
        raise NoSingleAnswer("+INF, which XML Schema 1.1 has and 1.0 has not")
    if rank == FLOAT:
        if len(lexical) > MOST_DIGITS:
            raise NoSingleAnswer("a float of thousands of digits")
        number = read_float(lexical)
    return Number(rank, number)


def read_moment(lexical: str) -> Moment | Error:
    """Read an xsd:dateTime."""
    if len(lexical) > MOST_DIGITS:
        raise NoSingleAnswer("a dateTime of thousands of digits")
    try:
        moment = date_time(lexical)
    except ValueError:
        return ERROR
    if not SURE_YEAR.match(lexical):
        raise NoSingleAnswer(
            "a year that is not of four digits, or 0000, which an evaluator may not have"
        )
    return moment


def truth(result: Result) -> bool | Error:
    """R2R-11: Return the effective boolean value of a result (§17.2.2): false of an ill-typed
    number or boolean, an error of a term that is neither boolean, nor number, nor string.
    """
    if result is ERROR:
        return ERROR
    if isinstance(result, Unknown):
        raise NoSingleAnswer(f"{result.kind} has no single answer")
    match value_of(result):
        case bool() as holds:
            return holds
        case StringValue(lexical, _):
            return bool(lexical)
        case Number() as number:
            return is_not_zero(number)
        case OtherLiteral(datatype, False) if datatype in STRING_TYPES:
            raise NoSingleAnswer(
                f"the truth of an {shorten(datatype)}, which an evaluator may know as a string"
            )
        case OtherLiteral(datatype, True) if datatype == BOOLEAN or is_numeric_type(datatype):
            return False
        case _:
            return ERROR


def is_not_zero(number: Number) -> bool:
    """Return whether a number is neither zero nor NaN. Raises NoSingleAnswer for one that may have
    been rounded from zero or to it.
    """
    if number.slack and -number.slack <= number.value <= number.slack:
        raise NoSingleAnswer("whether a rounded number is zero")
    is_nan = number.value != number.value
    return not is_nan and number.value != 0


def is_numeric_type(datatype: str) -> bool:
    """Return whether a datatype is one of numbers."""
    return datatype in INTEGERS or datatype.removeprefix(XSD) in RANKS
