"""§7 Arithmetic of integers and decimals in comparisons, such as `(?x - ?u) * (?y - ?v) < 0.01`, by
Python's decimal numbers.

The definition computes with fractions. There a result is exact if it has at most SURE_DIGITS digits
(`sparql.values.rounding`). A decimal context of that many digits gives the same results in a
fraction of the time. Where it would have to round one, it raises Inexact.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from refengine.incremental.algebra.numbers import number_of
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql.algebra import Call, Expression, Variable
from refengine.sparql.values import FLOAT, SURE_DIGITS, Computed, Number

# Numbers of at most SURE_DIGITS digits before and behind the point together
EXACT = Context(prec=SURE_DIGITS, Emin=-1, Emax=SURE_DIGITS - 1, traps=[Inexact])

OPERATORS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
}
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}

# What an operand comes to. Raises what `exact_decimal` raises, and Inexact for a result that is
# rounded
ExactOperand = Callable[[Sequence[Term | None]], Decimal]


def compile_exact_comparison(
    name: str, left: Expression, right: Expression, slots: Mapping[str, int]
) -> Callable[[Sequence[Term | None]], bool]:
    """Return whether two operands compare as the operator `name` says, as a function of solutions.
    It raises Inexact or NotCovered unless all operands are integers or decimals that are exact.

    Raises NotCovered for operands without arithmetic, and for those with other functions.
    """
    if not isinstance(left, Call) and not isinstance(right, Call):
        raise NotCovered("a comparison without arithmetic")
    one = _compile_exact(left, slots)
    other = _compile_exact(right, slots)
    compare = COMPARISONS[name]
    return lambda terms: compare(one(terms), other(terms))


def _compile_exact(expression: Expression, slots: Mapping[str, int]) -> ExactOperand:
    """Return what computes an operand. Raises NotCovered."""
    match expression:
        case Variable(name):
            slot = slots[name]
            return lambda terms: exact_decimal(terms[slot])
        case str():
            return lambda terms: exact_decimal(expression)
        case Call("+" | "-" | "*" as sign, (left, right)):
            operate = OPERATORS[sign]
            one = _compile_exact(left, slots)
            other = _compile_exact(right, slots)
            return lambda terms: operate(one(terms), other(terms))
        case Call("unary -", (argument,)):
            inner = _compile_exact(argument, slots)
            return lambda terms: EXACT.minus(inner(terms))
        case _:
            raise NotCovered("a function in exact arithmetic")


def exact_decimal(term: Term | None) -> Decimal:
    """Return the number of an integer or a decimal. Raises Inexact if an evaluator may have rounded
    it, and NotCovered for anything else.
    """
    if isinstance(term, Computed):
        return _decimal_of(term.number)  # not cached: equal texts may be different numbers
    return _decimal_of_term(term)


@lru_cache(maxsize=2**16)
def _decimal_of_term(term: Term | None) -> Decimal:
    number = None if term is None else number_of(term)
    if number is None:
        raise NotCovered("arithmetic of what is no number")
    return _decimal_of(number)


def _decimal_of(number: Number) -> Decimal:
    rank, exact, slack, _ = number
    if rank >= FLOAT or slack:
        raise Inexact
    exact = cast("int | Fraction", exact)
    return EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))
