"""Numbers as XML Schema's types hold them: floats and doubles rounded, decimals with a slack."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from refengine.model.compare import LEAST_DECIMAL
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.values.kinds import DECIMAL, SURE_DIGITS, Number

MOST_BITS = 20_000  # of a number that is computed


def single(number: float) -> float:
    """Return the xsd:float nearest to a double."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def nearest_single(exact: int | Fraction) -> float:
    """Return the xsd:float nearest to an exact number, rounded once.

    Rounding by way of a double errs where that double is half way between two floats:
    16777217.000000001 is nearest to 16777218, and 16777217 to 16777216.
    """
    wide = nearest_double(exact)
    if not math.isfinite(wide) or wide == exact:
        return single(wide)
    above = single(math.nextafter(wide, math.inf))
    below = single(math.nextafter(wide, -math.inf))
    is_tie = (
        math.isfinite(above)
        and math.isfinite(below)
        and 2 * Fraction(wide) == Fraction(above) + Fraction(below)
    )
    if not is_tie:
        return single(wide)
    if exact > wide:
        return above
    return below


def nearest_double(exact: int | Fraction) -> float:
    """Return the xsd:double nearest to an exact number."""
    try:
        return float(exact)
    except OverflowError:
        if exact > 0:
            return math.inf
        return -math.inf


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
