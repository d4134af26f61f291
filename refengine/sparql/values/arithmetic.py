"""How SPARQL computes with numbers (SPARQL 1.1 §17.3): integers and decimals exactly, floats and
doubles as IEEE 754 has it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import Moment, single
from refengine.sparql.values.comparison import in_common_type
from refengine.sparql.values.extensions import is_extension
from refengine.sparql.values.kinds import DECIMAL, ERROR, FLOAT, Error, Number, Result, Value
from refengine.sparql.values.reading import value_of
from refengine.sparql.values.rounding import check_bits, decimal_of
from refengine.sparql.values.writing import number_term

EXACT_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def calculate(sign: str, left: Result, right: Result) -> Result:
    """R2R-13: Compute +, -, * or / of two numbers (§17.3): integers and decimals exactly, floats
    and doubles as IEEE 754 has it. Dividing integers gives a decimal; dividing one or a decimal by
    zero is an error.
    """
    if left is ERROR or right is ERROR:
        return ERROR
    a, b = value_of(left), value_of(right)
    if not isinstance(a, Number) or not isinstance(b, Number):
        check_arithmetic(a, b)
        return ERROR
    number = operate(sign, a, b)
    if number is ERROR:
        return ERROR
    return number_term(number)


def check_arithmetic(*operands: Value | None) -> None:
    """Raise NoSingleAnswer if an evaluator may compute with operands that are not all numbers:
    dates, durations, and their multiples.
    """
    is_extended = any(is_extension(one) for one in operands) or all(
        isinstance(one, Moment) for one in operands
    )
    if is_extended and all(
        isinstance(one, Moment | Number) or is_extension(one) for one in operands
    ):
        raise NoSingleAnswer("arithmetic of dates and durations, which SPARQL leaves to extensions")


def add_numbers(a: Number, b: Number) -> Number:
    """Return the sum of two numbers, which there always is."""
    number = operate("+", a, b)
    if number is ERROR:
        raise AssertionError((a, b))
    return number


def operate(sign: str, a: Number, b: Number) -> Number | Error:
    """Return the number that an operator makes of two."""
    rank = max(a.rank, b.rank)
    x, y = in_common_type(a, b)
    if sign == "/" and rank < FLOAT:
        if abs(y) <= b.slack:
            if b.slack:
                raise NoSingleAnswer("dividing by a rounded number that may be zero")
            return ERROR
        number = decimal_of(Fraction(x) / Fraction(y))
    elif sign == "/":
        number = Number(rank, _divide(x, y))
    else:
        result = EXACT_OPERATORS[sign](x, y)
        number = decimal_of(result) if rank == DECIMAL else Number(rank, result)
    if rank == FLOAT:
        number = Number(rank, single(float(number.value)))
    if a.slack or b.slack:
        number = number._replace(
            slack=number.slack + _propagate_slack(sign, a, b, x, y),
            is_bound=a.is_bound or b.is_bound,
        )
        check_bits(number.slack)
    return number


def _divide(x: float, y: float) -> float:
    """Return a quotient as IEEE 754 has it: of a division by zero NaN or an infinity."""
    if y:
        return x / y
    if not x or x != x:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _propagate_slack(sign: str, a: Number, b: Number, x: Any, y: Any) -> Fraction | float:
    """Return by how much a result may differ because its operands may."""
    if isinstance(x, float) and not (math.isfinite(x) and math.isfinite(y)):
        if sign in "+-":
            return 0  # what is finite and rounded does not change an infinity or NaN
        raise NoSingleAnswer("arithmetic of rounded and infinite numbers")
    if sign in "+-":
        return a.slack + b.slack
    propagated: Fraction | float
    if sign == "*":
        propagated = abs(x) * b.slack + abs(y) * a.slack + a.slack * b.slack
        return propagated
    if abs(y) <= b.slack:
        raise NoSingleAnswer("dividing by a rounded number that may be zero")
    propagated = (a.slack + abs(x / y) * b.slack) / (abs(y) - b.slack)
    return propagated
