"""Numbers as the definition computes with them (`refengine.sparql.values`), and sums of numbers
that come and go.

NotCovered is raised at least wherever the definition has no single answer (QRY-3).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import cast

from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.aggregates import UNITS
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
    single,
    value,
)

BIG = 10 ** (SURE_DIGITS + 1)  # below: decimals that every evaluator holds
# roundings of floats and doubles that stay below a quarter of the tolerance of comparing (CMP-2)
STEPS = {2: 4, 3: 2_251_799}
GREATEST = {2: 2**128, 3: 2**1024}  # beyond are no floats, and no doubles
# every double is an integer of this many parts, so that sums of doubles are sums of integers
UNIT = 2**1074
# below, sums of whole floats and doubles are exact
UNROUNDED = {rank: UNIT * int(1 / unit) for rank, unit in UNITS.items()}
TINY = UNIT >> 1000  # nearer to zero, the slack of a sum is no double


class NotCovered(Exception):
    """What has no single answer, or is not followed here: the definition has to be asked."""


@lru_cache(maxsize=2**16)
def number(term: Term) -> Number | None:
    """Return a literal's number; None for any other term. Raises NotCovered for NaN, infinities and
    thousands of digits.
    """
    try:
        found = value(term)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None
    if not isinstance(found, Number):
        return None
    if found.rank >= FLOAT and not isfinite(found.value):
        raise NotCovered(f"the number {found.value}")
    return found


def order(a: Number, b: Number) -> int:
    """Return -1, 0 or 1, as a is less than, equal to or greater than b. Raises NotCovered where
    rounding decides it.
    """
    x, y = in_common_type(a, b)
    if (slack := a.slack + b.slack) and abs(x - y) <= slack:
        raise NotCovered("comparing numbers that rounding tells apart")
    sign: int = (x > y) - (x < y)
    return sign


def operated(sign: str, a: Number, b: Number) -> Number:
    """Return a + b, a - b or a * b. Raises NotCovered where that has no single
    answer or is infinite.
    """
    try:
        result = operate(sign, a, b)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None
    if result is ERROR:
        raise AssertionError(sign)  # only a division has none
    return bounded(result)


def bounded(found: Number) -> Number:
    """Return a computed number, if the definition has a literal for it and it is finite. Raises
    NotCovered.
    """
    rank, exact, slack = found.rank, found.value, found.slack
    if rank == INTEGER:
        holds = not slack and -SURE_INTEGERS < exact < SURE_INTEGERS
    else:
        holds = -BIG < exact < BIG if rank == DECIMAL else isfinite(exact)
    if not holds:
        raise NotCovered(f"a computed xsd:{RANKS[rank]} that is too great, or rounded")
    return found


class ExactSum:
    """The sum of a bag of numbers that come and go: exact, in integers, and rounded once where it
    is asked for.
    """

    def __init__(self) -> None:
        self.ranks = [0, 0, 0, 0]  # how many of each
        # how many decimals have so many digits behind the point
        self.places = [0] * (SURE_DIGITS + 1)
        # of decimals and of doubles: the sum, and that of absolutes
        self.exact, self.size, self.broken = [0, 0], [0, 0], 0

    def add(self, one: Number, count: int) -> None:
        """Take a number in, or out if the count is negative. The number is exact and finite."""
        rank, exact, _ = one
        self.ranks[rank] += count
        if rank < FLOAT:
            parts, kind = int(exact * 10**SURE_DIGITS), 0
            if rank == DECIMAL:
                self.places[places(cast(Fraction, exact).denominator)] += count
        else:
            above, below = exact.as_integer_ratio()
            parts, kind = above * (UNIT // below), 1
            self.broken += count * (below != 1)
        self.exact[kind] += count * parts
        self.size[kind] += count * abs(parts)

    def total(self, is_average: bool = False, is_exact: bool = False) -> Number:
        """Return SUM, or AVG; 0 of nothing. Raises NotCovered where the order of adding shows, and
        with `is_exact` where anything is rounded.
        """
        count = sum(self.ranks)
        rank = max((rank for rank in range(4) if self.ranks[rank]), default=INTEGER)
        divisor = count if is_average and count else 0
        found = (
            self._of_decimals(rank, divisor)
            if rank < FLOAT
            else self._of_doubles(rank, count, divisor)
        )
        if is_exact and found.slack:
            raise NotCovered("a rounded sum or average that a set depends on")
        return bounded(found)

    def _of_decimals(self, rank: int, divisor: int) -> Number:
        if self.ranks[INTEGER] and self.size[0] // 10**SURE_DIGITS >= SURE_INTEGERS:
            raise NotCovered("a sum of integers that may go beyond 64 bits")
        if rank == INTEGER:
            found = Number(INTEGER, self.exact[0] // 10**SURE_DIGITS)
        else:
            most = max(place for place, count in enumerate(self.places) if count)
            if self.size[0] // 10 ** (SURE_DIGITS - most) >= 10**SURE_DIGITS:
                raise NotCovered("a sum of decimals of more digits than every evaluator keeps")
            found = Number(DECIMAL, Fraction(self.exact[0], 10**SURE_DIGITS))
        if not divisor:
            return found
        quotient = operate("/", found, Number(INTEGER, divisor))
        if quotient is ERROR:
            raise AssertionError(divisor)  # which is not zero
        return quotient

    def _of_doubles(self, rank: int, count: int, divisor: int) -> Number:
        """Return the sum of floats or of doubles, with twice the slack of the definition's, which
        is another one within its slack.
        """
        if sum(map(bool, self.ranks)) > 1:
            raise NotCovered("a sum of numbers of several kinds")
        if self.size[1] >= GREATEST[rank] * UNIT:
            raise NotCovered(f"a sum beyond all {RANKS[rank]}s in some orders of adding")
        slack = 0.0
        if count > 2 and (self.broken or self.size[1] >= UNROUNDED[rank]):
            if self.size[1] * count > abs(self.exact[1]) * STEPS[rank] or abs(self.exact[1]) < TINY:
                raise NotCovered(f"a sum of {count} {RANKS[rank]}s depends on the order of adding")
            slack = self.size[1] / UNIT * count * float(2 * UNITS[rank]) / (divisor or 1)
        exact = self.exact[1] / (UNIT * (divisor or 1))
        return Number(rank, single(exact) if rank == FLOAT else exact, slack)


@lru_cache(maxsize=256)
def places(denominator: int) -> int:
    """Return how many digits behind the point a fraction has that ends
    within SURE_DIGITS of them.
    """
    return next(count for count in range(SURE_DIGITS + 1) if 10**count % denominator == 0)
