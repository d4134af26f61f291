"""The terms of values: a computed literal as text, and what it costs to hold."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from refengine.model.elements import XSD, Term, literal
from refengine.model.errors import NoSingleAnswer, Unsupported
from refengine.model.xsd import read_float
from refengine.sparql.values.kinds import (
    BOOLEAN,
    DECIMAL,
    FLOAT,
    INTEGER,
    RANKS,
    SURE_DIGITS,
    SURE_INTEGERS,
    Computed,
    Number,
)

LONGEST_STRING = 1_000_000  # characters
FLOAT_DIGITS = 9  # decimal digits that tell every float from others (IEEE 754)
MOST_PLACES = 28  # behind the point of a decimal that is written
TRUE = literal("true", BOOLEAN)
FALSE = literal("false", BOOLEAN)


def boolean(holds: bool) -> Term:
    """Return the term of a truth value."""
    if holds:
        return TRUE
    return FALSE


def text(lexical: str, language: str = "") -> Term:
    """Return the term of a string. Raises Unsupported (R2R-17) beyond a million characters."""
    check_string_length(len(lexical))
    return literal(lexical, language=language)


def check_string_length(characters: int) -> None:
    """R2R-17: Raise Unsupported for a string of more than a million characters. To be called before
    the string is made.
    """
    if characters > LONGEST_STRING:
        raise Unsupported(
            f"a string of more than {LONGEST_STRING} characters", rule="R2R-17", place="body"
        )


def number_term(number: Number) -> Term:
    """R2R-13: Return the literal of a computed number. An integer, and an exact decimal with a
    fraction, have one canonical form; a whole decimal (2 or 2.0), a decimal with slack, a double
    and a float have several.
    """
    if number.rank == INTEGER:
        return integer_term(number)
    if number.rank == DECIMAL:
        return decimal_term(number)
    write = float_text if number.rank == FLOAT else double_text
    return Computed(literal(write(float(number.value)), XSD + RANKS[number.rank]), number)


def integer_term(number: Number) -> Term:
    """Return the literal of a computed integer. Raises NoSingleAnswer for one that hangs on a
    rounding, and beyond 64 bits.
    """
    if number.slack:
        raise NoSingleAnswer("an integer that depends on a rounding")
    exact = number.value
    if not -SURE_INTEGERS <= exact < SURE_INTEGERS:
        digits = "of many digits"
        if abs(int(exact)) < 10**40:
            digits = str(exact)
        raise NoSingleAnswer(f"an integer beyond 64 bits, {digits}")
    return literal(str(exact), XSD + "integer")


def decimal_term(number: Number) -> Term:
    """Return the literal of a computed decimal. Raises NoSingleAnswer for one of many digits."""
    fraction = number.value
    if not isinstance(fraction, Fraction):
        fraction = Fraction(fraction)
    if abs(fraction) >= 10 ** (SURE_DIGITS + 1):
        raise NoSingleAnswer("a decimal of more digits than every evaluator keeps")
    term = literal(decimal_text(fraction), XSD + "decimal")
    if number.slack or fraction.denominator == 1:
        return Computed(term, number)
    return term


def decimal_text(exact: Fraction) -> str:
    """Write a decimal, rounded to about 29 digits, with at most 28 places behind the point."""
    if exact.denominator == 1:
        return str(exact.numerator)
    scale = MOST_PLACES - max(0, len(str(abs(exact.numerator // exact.denominator))) - 1)
    parts = round(abs(exact) * 10**scale)
    whole, fraction = divmod(parts, 10**scale)
    digits = f"{whole}.{fraction:0{scale}d}".rstrip("0").rstrip(".")
    if exact < 0:
        return "-" + digits
    return digits


def double_text(number: float) -> str:
    """Write a double; INF, -INF and NaN as XML Schema names them."""
    if math.isnan(number):
        return "NaN"
    if math.isfinite(number):
        return repr(number)
    if number > 0:
        return "INF"
    return "-INF"


def float_text(number: float) -> str:
    """Write a float in as few digits as tell it from other floats, as `double_text` does a double:
    0.1, whose float is 0.100000001490116….
    """
    if not number or not math.isfinite(number):
        return double_text(number)
    return _shortest_text(number)


@lru_cache(maxsize=2**12)
def _shortest_text(number: float) -> str:
    texts = (f"{number:.{digits}g}" for digits in range(1, FLOAT_DIGITS + 1))
    return repr(float(next(text for text in texts if read_float(text) == number)))


def size(term: Term) -> int:
    """Return how many characters a term has, or how many bits its number, if that is more."""
    if not isinstance(term, Computed) or not isinstance(term.number.value, Fraction):
        return len(term)
    parts = (Fraction(number) for number in (term.number.value, term.number.slack))
    return max(
        len(term),
        *(n.bit_length() for part in parts for n in (part.numerator, part.denominator)),
    )
