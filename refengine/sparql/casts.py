"""Casts (SPARQL 1.1 §17.5), as XPath casts values (F&O §17)."""

from __future__ import annotations

import math
from fractions import Fraction

from refengine.model.elements import XSD, Term, literal, parse_literal
from refengine.model.errors import NoSingleAnswer, require
from refengine.model.xsd import INTEGERS, Moment, single
from refengine.sparql import values
from refengine.sparql.functions import DATE_TIME
from refengine.sparql.values import ERROR, FLOAT, INTEGER, RANKS, Number, Result, boolean, text

LONGEST_EXACT = 16  # characters of a double whose decimal digits end


def cast(term: Term, kind: str) -> Result:
    """R2R-14: Cast a term to one of the datatypes of §17.5, as XPath casts values (F&O §17)."""
    if kind == "string":
        return _cast_to_string(term)
    operand = values.value_of(term)
    if isinstance(operand, values.StringValue):
        if operand.language:
            return ERROR
        return _cast_text(operand.lexical.strip(" \t\n\r"), kind)
    if isinstance(operand, values.OtherLiteral):
        _refuse_extended_cast(operand, kind)
        return ERROR
    match kind, operand:
        case "dateTime", Moment():
            return term
        case "boolean", bool():
            return boolean(operand)
        case "boolean", Number():
            holds = values.truth(term)
            if holds is ERROR:
                return ERROR
            return boolean(holds)
        case _, bool() if kind in RANKS:
            return _cast_number(Number(INTEGER, int(operand)), kind)
        case _, Number() if kind in RANKS:
            return _cast_number(operand, kind)
        case _:
            return ERROR


def _refuse_extended_cast(operand: values.OtherLiteral, kind: str) -> None:
    """Raise NoSingleAnswer where an evaluator may cast a literal of a type that SPARQL has no cast
    for: a token, a date.
    """
    if operand.datatype in values.STRING_TYPES:
        datatype = values.shorten(operand.datatype)
        raise NoSingleAnswer(f"casting an {datatype}, which an evaluator may know as a string")
    is_date = operand.datatype in values.DATE_TYPES and not operand.is_ill_typed
    if is_date and kind == "dateTime":
        raise NoSingleAnswer("casting a date, which SPARQL leaves to extensions")


def _cast_text(characters: str, kind: str) -> Result:
    """Cast a string without a language: read it as a literal of the datatype."""
    result = values.read_literal(characters, XSD + kind)
    match result:
        case values.Failure() | None:
            return ERROR
        case bool():
            return boolean(result)
        case Number():
            return values.number_term(result)
        case _:
            return literal(characters, XSD + kind)


def _cast_number(number: Number, kind: str) -> Result:
    """Cast a number to another type of numbers."""
    converted = _convert(number, RANKS.index(kind))
    if converted is ERROR:
        return ERROR
    return values.number_term(converted)


def cast_date_time(lexical_form: str) -> str:
    """Return the text of a dateTime by XPath's cast to a string (F&O §17.1.5): no zeros after the
    last digit of the seconds, and `Z` for the zone +00:00.
    """
    match = require(DATE_TIME.fullmatch(lexical_form))
    if match[4] == "24":
        raise NoSingleAnswer("a dateTime that is written with 24:00:00 as a string")
    seconds_text = match[6]
    if "." in seconds_text:
        seconds_text = seconds_text.rstrip("0").rstrip(".")
    zone_text = match[7] or ""
    if zone_text in ("+00:00", "-00:00"):
        zone_text = "Z"
    return f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{seconds_text}{zone_text}"


def form_kept_by_cast(term: Term, kind: str) -> Result:
    """Return what a cast to an integer, a decimal, a boolean or a dateTime gives if it keeps the
    lexical form of its operand; ERROR for other casts, and where the operand is neither a string
    nor of that datatype, nor of one derived from it.
    """
    if kind not in ("integer", "decimal", "boolean", "dateTime") or not term.startswith('"'):
        return ERROR
    form, kind_of_operand, _ = parse_literal(term)
    is_derived = kind in ("integer", "decimal") and kind_of_operand in INTEGERS
    if kind_of_operand not in (XSD + "string", XSD + kind) and not is_derived:
        return ERROR
    return literal(form.strip(" \t\n\r"), XSD + kind)


def _cast_to_string(term: Term) -> Result:
    """Cast a term to a string. Raises NoSingleAnswer for a literal of a type that is not cast."""
    operand = values.value_of(term)
    if term.startswith("<"):
        return text(term[1:-1])
    match operand:
        case None:
            return ERROR
        case values.StringValue(characters, ""):
            return text(characters)
        case Number() | bool():
            return text(cast_text(operand))
        case Moment():
            return text(cast_date_time(parse_literal(term).lexical))
        case _:
            raise NoSingleAnswer("xsd:string of a literal that SPARQL has no cast for")


def cast_text(operand: Number | bool) -> str:
    """Return the text of a number or a boolean by XPath's cast to a string (F&O §17.1.1).

    A double from 0.000001 to below 1,000,000 is written in plain digits, any other with an
    exponent. Raises NoSingleAnswer where it has more digits than every evaluator keeps.
    """
    if isinstance(operand, bool):
        return str(operand).lower()
    if operand.slack:
        raise NoSingleAnswer("the digits of a rounded number as a string")
    if operand.rank == INTEGER:
        return str(operand.value)
    if operand.rank == values.DECIMAL:
        return values.decimal_text(Fraction(operand.value))
    return _double_as_cast(float(operand.value))


def _double_as_cast(number: float) -> str:
    """Return the text of a float or a double by XPath's cast to a string."""
    if not math.isfinite(number) or not number:
        return values.double_text(number).removesuffix(".0")
    exact = Fraction(number)
    has_exponent = not Fraction(1, 10**6) <= abs(exact) < 10**6
    exponent = math.floor(math.log10(abs(number)))
    if has_exponent:
        exact /= Fraction(10) ** exponent
    digits = values.decimal_text(exact)
    if values.decimal_of(exact).slack or len(digits) > LONGEST_EXACT:
        raise NoSingleAnswer("the digits of a double as a string")
    if not has_exponent:
        return digits
    if exact.denominator == 1:
        digits += ".0"
    return f"{digits}E{exponent}"


def _convert(number: Number, rank: int) -> Number | values.Error:
    """Return a number in another type."""
    own, exact, slack, is_bound = number
    if rank >= FLOAT:
        binary = values.as_binary(number, rank)
        if rank == FLOAT:
            binary = single(binary)
        return Number(rank, binary, slack, is_bound)
    if own >= FLOAT and not math.isfinite(exact):
        return ERROR
    if rank == values.DECIMAL:
        decimal = values.decimal_of(Fraction(exact))
        if slack:
            return decimal._replace(slack=decimal.slack + Fraction(slack), is_bound=is_bound)
        return decimal
    if slack and math.trunc(exact - slack) != math.trunc(exact + slack):
        raise NoSingleAnswer("the whole part of a rounded number")
    whole = math.trunc(exact)
    if abs(whole) >= values.SURE_INTEGERS and own != INTEGER:
        raise NoSingleAnswer("an integer beyond 64 bits, for which an evaluator may have an error")
    return Number(INTEGER, whole)
