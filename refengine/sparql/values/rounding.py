"""Decimals as evaluators hold them: those of many digits with a slack."""

from __future__ import annotations

from fractions import Fraction

from refengine.model.compare import LEAST_DECIMAL
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.values.kinds import DECIMAL, SURE_DIGITS, Number

MOST_BITS = 20_000  # of a number that is computed


def decimal_of(exact: Fraction) -> Number:
    """Return a fraction as a decimal.

    Evaluators keep at least 18 digits, and 18 behind the point: a decimal with more has a slack, by
    which theirs may differ.
    """
    check_bits(exact)
    if has_few_digits(exact):
        return Number(DECIMAL, exact)
    return Number(DECIMAL, exact, max(abs(exact) / 10 ** (SURE_DIGITS - 1), LEAST_DECIMAL))


def has_few_digits(exact: Fraction) -> bool:
    """Return whether a fraction can be written as a decimal of at most 18 digits."""
    for places in range(SURE_DIGITS + 1):
        if 10**places % exact.denominator == 0:
            return bool(abs(exact) * 10**places < 10**SURE_DIGITS)
    return False


def check_bits(number: Fraction | float) -> None:
    """Raise NoSingleAnswer for a fraction of so many digits that computing
    on with it takes long.
    """
    if (
        isinstance(number, Fraction)
        and max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS
    ):
        raise NoSingleAnswer("computing with thousands of digits")
