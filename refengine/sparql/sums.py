"""§7 Sums and averages in every order of adding (R2R-16): what all orders give, or our sum, with
how far theirs may lie from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from math import fsum, isfinite, nan, prod

from refengine.model.compare import LEAST_DECIMAL
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import SINGLE_DIGITS, single
from refengine.sparql.values import (
    DECIMAL,
    DOUBLE,
    ERROR,
    FLOAT,
    INTEGER,
    SURE_DIGITS,
    SURE_INTEGERS,
    Number,
    add_numbers,
    operate,
)

MOST_PARTIAL_SUMS = 1_000  # that are computed to know what every order of adding gives
# a sum of floats, and of doubles, that is as great as this may round to infinity
OVERFLOWS = {FLOAT: 2**128 - 2**104, DOUBLE: 2**1024 - 2**970}
BINARY_DIGITS = {FLOAT: SINGLE_DIGITS, DOUBLE: 53}
# by how much one addition may round, relative to its result
UNITS = {rank: Fraction(2, 2**digits) for rank, digits in BINARY_DIGITS.items()}
NOTHING = Number(INTEGER, 0)


def add_in_any_order(numbers: Sequence[Number], divisor: int | None = None) -> Number:
    """R2R-16: Return the sum of numbers, or, with a divisor > 0, their average.

    If every order of adding gives one value, it is that. Otherwise it is the exact sum, rounded,
    and its slack is twice the distance to the farthest other sum. Where that takes too
    many partial sums the slack is a bound. Raises NoSingleAnswer if the sum is infinite or beyond
    64 bits in some orders alone, or may be.
    """
    refuse_beyond_64_bits(numbers)
    in_one_order = reduce(add_numbers, numbers, NOTHING)
    if has_one_sum(numbers, in_one_order.rank):
        return divide(in_one_order, divisor)
    sums = sums_of_all_orders(numbers)
    if sums is None:
        return divide(_bounded_sum(numbers, in_one_order), divisor)
    results = {_with_one_nan(divide(each, divisor)) for each in sums}
    if len(results) == 1:
        return results.pop()
    if not all(isfinite(each.value) for each in results):
        raise NoSingleAnswer("a sum that overflows in some orders of adding")
    return _with_farthest(results, divide(ours(numbers, in_one_order), divisor))


def divide(number: Number, divisor: int | None) -> Number:
    """Return a number divided by an integer > 0, if one is given."""
    if divisor is None:
        return number
    quotient = operate("/", number, Number(INTEGER, divisor))
    if quotient is ERROR:
        raise AssertionError(divisor)
    return quotient


def refuse_beyond_64_bits(numbers: Iterable[Number]) -> None:
    """Raise NoSingleAnswer if a sum of integers goes beyond 64 bits in some order of adding: if the
    positive ones alone do, or the negative ones.
    """
    integers = [int(number.value) for number in numbers if number.rank == INTEGER]
    greatest = sum(number for number in integers if number > 0)
    least = sum(number for number in integers if number < 0)
    if greatest >= SURE_INTEGERS or least < -SURE_INTEGERS:
        raise NoSingleAnswer("a sum of integers that goes beyond 64 bits in some orders of adding")


def has_one_sum(numbers: Sequence[Number], rank: int) -> bool:
    """Return whether it is plain that every order of adding gives one value: there are at most two
    numbers, or no partial sum is rounded. `rank` is that of the sum.
    """
    if len(numbers) < 3 or rank == INTEGER:
        return True
    if any(number.slack for number in numbers):
        return False
    if rank == DECIMAL:
        return _are_decimals_exact(numbers)
    if not all(isfinite(number.value) for number in numbers):
        return False
    return all(_are_sums_exact(group, kind) for kind, group in _rounded_groups(numbers, rank))


def _rounded_groups(numbers: Sequence[Number], rank: int) -> list[tuple[int, Sequence[Number]]]:
    """Return the numbers whose partial sums may be rounded to floats, if there are any, and those
    whose partial sums may be rounded to doubles: a partial sum is a float until a double is added.
    """
    groups: list[tuple[int, Sequence[Number]]] = []
    before_doubles = [number for number in numbers if number.rank < DOUBLE]
    if any(number.rank == FLOAT for number in numbers):
        groups.append((FLOAT, before_doubles))
    if rank == DOUBLE:
        groups.append((DOUBLE, numbers))
    return groups


def _are_sums_exact(numbers: Sequence[Number], rank: int) -> bool:
    """Return whether floats, or doubles, hold every sum of some of the numbers: all are multiples
    of a power of two, and few enough of it.
    """
    parts = [abs(Fraction(number.value)) for number in numbers]
    finest = max(part.denominator for part in parts)
    is_binary = all(part.denominator & (part.denominator - 1) == 0 for part in parts)
    most = Fraction(1 << BINARY_DIGITS[rank], finest)
    return is_binary and sum(parts, Fraction(0)) <= most


def _are_decimals_exact(numbers: Sequence[Number]) -> bool:
    """Return whether every sum of some of the decimals has at most 18 digits."""
    parts = [abs(Fraction(number.value)) for number in numbers]
    for places in range(SURE_DIGITS + 1):
        if all(10**places % part.denominator == 0 for part in parts):
            return sum(parts, Fraction(0)) < Fraction(10**SURE_DIGITS, 10**places)
    return False


def sums_of_all_orders(numbers: Sequence[Number]) -> set[Number] | None:
    """Return the sums that the orders of adding give, one number after the other; None if there are
    more than MOST_PARTIAL_SUMS partial sums on the way.

    Orders of the same numbers are one, so partial sums are kept by how often each number is in
    them.
    """
    counts = Counter(map(_with_one_nan, numbers))
    if prod(count + 1 for count in counts.values()) > MOST_PARTIAL_SUMS:
        return None
    different = list(counts)
    wanted = tuple(counts.values())
    sums: dict[tuple[int, ...], set[Number]] = {(0,) * len(different): {NOTHING}}
    left = MOST_PARTIAL_SUMS
    for _ in numbers:
        longer: dict[tuple[int, ...], set[Number]] = {}
        for used, partial_sums in sums.items():
            for i, number in enumerate(different):
                if used[i] == wanted[i]:
                    continue
                left -= len(partial_sums)
                if left < 0:
                    return None
                found = longer.setdefault((*used[:i], used[i] + 1, *used[i + 1 :]), set())
                found.update(_with_one_nan(add_numbers(each, number)) for each in partial_sums)
        sums = longer
    return sums[wanted]


def _with_one_nan(number: Number) -> Number:
    """Return a number so that it equals itself: NaN as one object."""
    if number.value != number.value:
        return number._replace(value=nan)
    return number


def ours(numbers: Iterable[Number], in_one_order: Number) -> Number:
    """Return the exact sum of numbers, rounded to a double and, for the rank of floats, then to a
    float. So it does not depend on the order in which the members of a group come. Of integers and
    decimals it is the sum in one order, which is exact.
    """
    if in_one_order.rank < FLOAT or not all(isfinite(number.value) for number in numbers):
        return in_one_order
    exact = fsum(float(number.value) for number in numbers)
    if in_one_order.rank == FLOAT:
        exact = single(exact)
    return in_one_order._replace(value=exact)


def _with_farthest(results: set[Number], own: Number) -> Number:
    """Return our result with a slack that covers those of all orders."""
    slack = max(
        2 * abs(Fraction(each.value) - Fraction(own.value)) + each.slack for each in results
    )
    return own._replace(slack=slack)


def _bounded_sum(numbers: Sequence[Number], in_one_order: Number) -> Number:
    """Return our sum with a slack that covers every order of adding, which are too many to be
    tried. Raises NoSingleAnswer if some may overflow.
    """
    rank = in_one_order.rank
    if rank == DECIMAL:
        magnitude = sum(abs(Fraction(number.value)) for number in numbers)
        slack = len(numbers) * max(magnitude / 10 ** (SURE_DIGITS - 1), LEAST_DECIMAL)
        own = sum(Fraction(number.slack) for number in numbers)
        return in_one_order._replace(slack=own + slack, is_bound=True)

    finite = [number for number in numbers if isfinite(number.value)]
    slack = sum(Fraction(number.slack) for number in numbers)
    for kind, group in _rounded_groups(finite, rank):
        if may_overflow(group, kind):
            raise NoSingleAnswer(
                "a sum that may overflow in some orders of adding, of which "
                f"more than {MOST_PARTIAL_SUMS} partial sums would tell"
            )
        if not _are_sums_exact(group, kind):
            slack += sum(abs(Fraction(one.value)) for one in group) * len(group) * UNITS[kind]
    if len(finite) < len(numbers):
        return in_one_order  # infinities, or NaN, which no finite number changes
    return ours(numbers, in_one_order)._replace(slack=slack, is_bound=bool(slack))


def may_overflow(numbers: Sequence[Number], rank: int) -> bool:
    """Return whether a sum of some of the numbers, as floats or doubles, may round to infinity: the
    positive ones together, or the negative ones.
    """
    values = [Fraction(number.value) for number in numbers]
    greatest = max(
        sum(value for value in values if value > 0), -sum(value for value in values if value < 0)
    )
    return greatest * (1 + len(values) * UNITS[rank]) >= OVERFLOWS[rank]
