"""Numbers as the definition computes with them (`sparql.values`), and exact sums of numbers that
come and go.

A number has a rank (integer, decimal, float, double), an exact value, and a slack: how far the
value of another evaluator may lie from it, because of rounding. NotCovered is raised wherever that
could change an answer.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import cast

from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import single
from refengine.sparql.sums import BINARY_DIGITS, OVERFLOWS, UNITS
from refengine.sparql.values import (
    DECIMAL,
    ERROR,
    FLOAT,
    INTEGER,
    RANKS,
    SURE_DIGITS,
    SURE_INTEGERS,
    Number,
    in_common_type,
    operate,
    value_of,
)

BIG = 10 ** (SURE_DIGITS + 1)  # every evaluator holds the decimals below this
PER_ONE = 10**SURE_DIGITS  # parts that a decimal is counted in
# every double is a whole number of parts of this size, so that sums of doubles are sums of integers
UNIT = 2**1074
# by rank: sums of whole floats, and of whole doubles, are exact below this
UNROUNDED = {rank: UNIT * int(1 / unit) for rank, unit in UNITS.items()}
JUST_ABOVE_ONE = 1 + 2**-40  # makes up for the roundings of computing a slack with doubles
TINY = UNIT >> 1000  # a sum nearer to zero has a slack that is no double


@lru_cache(maxsize=2**16)
def number_of(term: Term) -> Number | None:
    """Return a literal's number; None for any other term. Raises NotCovered for NaN, infinities and
    numbers of thousands of digits.
    """
    try:
        number = value_of(term)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None
    if not isinstance(number, Number):
        return None
    if number.rank >= FLOAT and not isfinite(number.value):
        raise NotCovered(f"the number {number.value}")
    return number


def compare_numbers(a: Number, b: Number) -> int:
    """Return -1, 0 or 1, as a is less than, equal to or greater than b. Raises NotCovered where
    rounding decides it, and for NaN, which is none of these.
    """
    x, y = in_common_type(a, b)
    if x != x or y != y:
        raise NotCovered("the number nan")
    slack = a.slack + b.slack
    if slack and abs(x - y) <= slack:
        raise NotCovered("comparing numbers that rounding tells apart")
    sign: int = (x > y) - (x < y)
    return sign


def do_arithmetic(sign: str, a: Number, b: Number) -> Number:
    """Return a + b, a - b or a * b, as `sign` says. Raises NotCovered where that has no single
    answer or is infinite.
    """
    try:
        result = operate(sign, a, b)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None
    if result is ERROR:
        raise AssertionError(sign)  # only a division gives an error
    return check_computed(result)


def check_computed(number: Number) -> Number:
    """Return a computed number as it is. Raises NotCovered if it is infinite, or the definition has
    no literal for it.
    """
    rank, exact, slack, _ = number
    if rank == INTEGER:
        has_literal = not slack and -SURE_INTEGERS < exact < SURE_INTEGERS
    elif rank == DECIMAL:
        has_literal = -BIG < exact < BIG
    else:
        has_literal = isfinite(exact)
    if not has_literal:
        raise NotCovered(f"a computed xsd:{RANKS[rank]} that is too great, or rounded")
    return number


class Accumulator:
    """Two sums of whole numbers: of the numbers themselves, and of their absolute values."""

    def __init__(self) -> None:
        self.sum = 0
        self.absolute = 0

    def add(self, number: int, count: int) -> None:
        """Add a number so many times, or subtract it if the count is negative."""
        self.sum += count * number
        self.absolute += count * abs(number)


class ExactSum:
    """The sum of a bag of numbers that come and go. It is exact, in whole numbers of parts, and
    rounded once where it is asked for.
    """

    def __init__(self) -> None:
        self.counts = [0, 0, 0, 0]  # how many numbers of each rank
        self.decimals = Accumulator()  # integers and decimals, in parts of 1 / PER_ONE
        self.doubles = Accumulator()  # floats and doubles, in parts of 1 / UNIT
        # how many decimals have so many digits behind the point
        self.counts_by_digits = [0] * (SURE_DIGITS + 1)
        self.count_of_fractions = 0  # how many floats and doubles are not whole

    def add(self, number: Number, count: int) -> None:
        """Insert a number so many times, or retract it if the count is negative. The number is
        exact and finite.
        """
        rank, exact = number.rank, number.value
        self.counts[rank] += count
        if rank < FLOAT:
            if rank == DECIMAL:
                digits = digits_behind_point(cast(Fraction, exact).denominator)
                self.counts_by_digits[digits] += count
            self.decimals.add(int(exact * PER_ONE), count)
        else:
            numerator, denominator = exact.as_integer_ratio()
            if denominator != 1:
                self.count_of_fractions += count
            self.doubles.add(numerator * (UNIT // denominator), count)

    def total(self, is_average: bool = False, must_be_exact: bool = False) -> Number:
        """Return SUM, or AVG; 0 of nothing. Raises NotCovered where it is not sure to be the
        definition's, and with `must_be_exact` where anything is rounded.
        """
        count = sum(self.counts)
        rank = max((rank for rank in range(4) if self.counts[rank]), default=INTEGER)
        divisor = count if is_average and count else 1
        if rank < FLOAT:
            total = self._total_of_decimals(rank, divisor, is_average and count > 0)
        else:
            total = self._total_of_doubles(rank, count, divisor)
        if must_be_exact and total.slack:
            raise NotCovered("a rounded sum or average that a set depends on")
        return check_computed(total)

    def _total_of_decimals(self, rank: int, divisor: int, is_divided: bool) -> Number:
        """Return the sum of integers and decimals, or their average. Raises NotCovered."""
        sums = self.decimals
        if self.counts[INTEGER] and sums.absolute // PER_ONE >= SURE_INTEGERS:
            raise NotCovered("a sum of integers that may go beyond 64 bits")
        if rank == INTEGER:
            total = Number(INTEGER, sums.sum // PER_ONE)
        else:
            most_digits = max(n for n, count in enumerate(self.counts_by_digits) if count)
            if sums.absolute // 10 ** (SURE_DIGITS - most_digits) >= PER_ONE:
                raise NotCovered("a sum of decimals of more digits than every evaluator keeps")
            total = Number(DECIMAL, Fraction(sums.sum, PER_ONE))
        if not is_divided:
            return total
        quotient = operate("/", total, Number(INTEGER, divisor))
        if quotient is ERROR:
            raise AssertionError(divisor)  # which is not zero
        return quotient

    def _total_of_doubles(self, rank: int, count: int, divisor: int) -> Number:
        """Return the sum of floats or of doubles, divided. Raises NotCovered.

        It is rounded as the definition rounds: the sum once, and the average once more. Its slack
        is greater than the definition's, which is computed with fractions, by some 2^-40 of it.
        """
        sums = self.doubles
        if sum(map(bool, self.counts)) > 1:
            raise NotCovered("a sum of numbers of several kinds")
        roundings = sums.absolute * count >> (BINARY_DIGITS[rank] - 1)
        if sums.absolute + roundings >= OVERFLOWS[rank] * UNIT:
            raise NotCovered(f"a sum beyond all {RANKS[rank]}s in some orders of adding")

        slack = 0.0
        is_rounded = self.count_of_fractions or sums.absolute >= UNROUNDED[rank]
        if count > 2 and is_rounded:
            if abs(sums.sum) < TINY:
                kind = RANKS[rank]
                raise NotCovered(
                    f"a sum of {kind}s nearer to zero than 2^-1000, whose slack is no double"
                )
            slack = sums.absolute / UNIT * count * float(UNITS[rank]) / divisor * JUST_ABOVE_ONE

        result = round_to_rank(sums.sum / UNIT, rank)
        if divisor > 1:
            result = round_to_rank(result / divisor, rank)
        return Number(rank, result, slack)


def round_to_rank(number: float, rank: int) -> float:
    """Return a double, or for the rank of floats the float that is nearest to it."""
    if rank == FLOAT:
        return single(number)
    return number


@lru_cache(maxsize=256)
def digits_behind_point(denominator: int) -> int:
    """Return how many digits a fraction has behind the point, by its denominator: 2 for 1/4, which
    is 0.25. The fraction must end within SURE_DIGITS of them.
    """
    return next(count for count in range(SURE_DIGITS + 1) if 10**count % denominator == 0)
