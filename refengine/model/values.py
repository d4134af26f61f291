"""§10 Values: the value of a literal, and when two numbers are near (CMP-1, CMP-2)."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from refengine.model.elements import XSD, Row, Term, parse_literal
from refengine.model.xsd import (
    BOOLEANS,
    DECIMAL_FORM,
    INTEGER_FORM,
    INTEGERS,
    date_time,
    in_range,
    read_double,
    read_float,
)

TOLERANCE = {"double": 1e-9, "float": 1e-6, "decimal": 1e-17}
LEAST_DECIMAL = Fraction(1, 10**18)  # two decimals may differ by so much, however small they are
# characters of a literal that is read as a value: fewer than Python takes for an integer
LONGEST = 4000


class Mode(StrEnum):
    """CMP-1: The mode of comparison. `value` compares literals by their values, `term` as terms."""

    VALUE = "value"
    TERM = "term"


# What must be equal of a row: its variables, each with a value, or with Number for one that must be
# near.
Exact = tuple[tuple[str, object], ...]


class TolerantNumber(NamedTuple):
    """A numeric value with the relative tolerance of its datatype (0: exact)."""

    value: Fraction | float
    tolerance: float


@lru_cache(maxsize=2**16)
def value(term: Term) -> Term | TolerantNumber | tuple[object, ...]:
    """CMP-1: Return a literal's value. Return the term itself for other terms and for literals
    without a value that we know: ill-typed ones, those of other datatypes, and very long ones.
    """
    if not term.startswith('"') or len(term) > LONGEST:
        return term

    try:
        lexical, datatype, _ = parse_literal(term)
        found = _value_of(lexical, datatype)
    except (ValueError, InvalidOperation, OverflowError):
        return term  # ill-typed, or beyond what Python reads
    if found is None:
        return term
    return found


def _value_of(lexical: str, datatype: str) -> TolerantNumber | tuple[object, ...] | None:
    if datatype in INTEGERS:
        if not INTEGER_FORM.fullmatch(lexical):
            return None
        number = int(lexical)
        if not in_range(number, datatype):
            return None
        return TolerantNumber(Fraction(number), 0.0)

    match datatype.removeprefix(XSD):
        case "decimal" if DECIMAL_FORM.fullmatch(lexical):
            return TolerantNumber(Fraction(Decimal(lexical)), TOLERANCE["decimal"])
        case "double":
            return TolerantNumber(read_double(lexical), TOLERANCE["double"])
        case "float":
            return TolerantNumber(read_float(lexical), TOLERANCE["float"])
        case "boolean" if lexical in BOOLEANS:
            return ("boolean", BOOLEANS[lexical])
        case "dateTime":
            return ("dateTime", *date_time(lexical))
        case _:
            return None


def is_near(a: TolerantNumber, b: TolerantNumber) -> bool:
    """CMP-2: Return whether two numbers are the same within tolerance.

    Two numbers are the same if they differ by at most the larger tolerance of the two, relative to
    the larger number. Decimals are also the same if they differ by LEAST_DECIMAL at most. An
    integer and another number are the same only if they are equal.
    """
    x, y = a.value, b.value
    if (isinstance(x, float) and not math.isfinite(x)) or (
        isinstance(y, float) and not math.isfinite(y)
    ):
        return x == y or (x != x and y != y)

    x, y = Fraction(x), Fraction(y)
    if x == y:
        return True
    tolerance = shared_tolerance(a.tolerance, b.tolerance)
    apart = abs(x - y)
    if apart <= Fraction(tolerance) * max(abs(x), abs(y)):
        return True
    return tolerance == TOLERANCE["decimal"] and apart <= LEAST_DECIMAL


def shared_tolerance(a: float, b: float) -> float:
    """CMP-2: Return the relative tolerance of two numbers, given those of their types: 0 if one is
    an integer, else the larger.
    """
    if not a or not b:
        return 0.0
    return max(a, b)


def margin(value: Fraction | float) -> Fraction:
    """Return a distance within which all numbers lie that are near to a finite number, whatever
    their types. It may be too large.
    """
    return 2 * Fraction(max(TOLERANCE.values())) * abs(Fraction(value)) + LEAST_DECIMAL


def maybe_near(x: Fraction | float, y: Fraction | float) -> bool:
    """Return whether two numbers can be near, whatever their types. NaN is near to nothing here."""
    if x == y:
        return True
    # no decimals; twice the tolerance is more than rounding takes away
    if isinstance(x, float) and isinstance(y, float):
        return abs(x - y) <= 2 * max(TOLERANCE.values()) * min(abs(x), abs(y)) < math.inf
    if any(isinstance(value, float) and not math.isfinite(value) for value in (x, y)):
        return False
    return abs(Fraction(x) - Fraction(y)) <= margin(x)


@lru_cache(maxsize=2**16)
def split(line: Row, mode: Mode = Mode.VALUE) -> tuple[Exact, tuple[TolerantNumber, ...]]:
    """Return two parts of a row: what must be equal, and its numbers, which must be near."""
    if mode is Mode.TERM:
        return line, ()

    exact: list[tuple[str, object]] = []
    numbers: list[TolerantNumber] = []
    for name, term in line:
        what = value(term)
        if isinstance(what, TolerantNumber):
            exact.append((name, TolerantNumber))
            numbers.append(what)
        else:
            exact.append((name, what))
    return tuple(exact), tuple(numbers)
