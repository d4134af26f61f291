"""Functions on numbers (SPARQL 1.1 §17.4.4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.values import DECIMAL, ERROR, FLOAT, Number, Result, number_term, value_of


def absolute_value(term: Term) -> Result:
    """Return the absolute value of a number (ABS)."""
    operand = value_of(term)
    if not isinstance(operand, Number):
        return ERROR
    number: Any = operand.value
    if operand.rank >= FLOAT and not math.isfinite(number):
        return number_term(Number(operand.rank, math.fabs(number)))
    return number_term(operand._replace(value=abs(number)))


def ceiling(term: Term) -> Result:
    """Return the least whole number that is not less (CEIL)."""
    return _whole_number(term, math.ceil)


def floor(term: Term) -> Result:
    """Return the greatest whole number that is not greater (FLOOR)."""
    return _whole_number(term, math.floor)


def nearest_whole(term: Term) -> Result:
    """Return the nearest whole number, of two the greater (ROUND)."""
    return _whole_number(term, lambda number: math.floor(Fraction(number) + Fraction(1, 2)))


def _whole_number(term: Term, function: Callable[[Any], int]) -> Result:
    """Return the whole number that a function makes of a number, in the same type. Raises
    NoSingleAnswer where it hangs on a rounding.
    """
    operand = value_of(term)
    if not isinstance(operand, Number):
        return ERROR
    rank, number, slack, _ = operand
    if rank >= FLOAT and not math.isfinite(number):
        return number_term(Number(rank, number))
    if slack and function(number - slack) != function(number + slack):
        raise NoSingleAnswer("the whole part of a rounded number")
    whole = function(number)
    if rank >= FLOAT:
        # CEIL(-0.5e0) is -0 (F&O §6.4.2)
        return number_term(Number(rank, math.copysign(float(whole), number)))
    if rank == DECIMAL:
        return number_term(Number(rank, Fraction(whole)))
    return number_term(Number(rank, whole))
