"""§7 The set functions (SPARQL 1.1 §18.5.1), over what an expression gives for each member of a
group, errors among it. Sums and averages are those of every order of adding (R2R-16): what all
orders give, or our sum, with how far theirs may lie from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import permutations
from math import fsum, isfinite, nan, prod

from refengine.model.compare import LEAST_DECIMAL
from refengine.model.elements import Term, literal, parse_literal
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import SINGLE_DIGITS, single
from refengine.sparql.algebra import Aggregate
from refengine.sparql.choices import Choose
from refengine.sparql.functions import lexical
from refengine.sparql.order import compare_in_order, extremes, name_terms
from refengine.sparql.values import (
    DECIMAL,
    DOUBLE,
    ERROR,
    FLOAT,
    INTEGER,
    SURE_DIGITS,
    SURE_INTEGERS,
    Computed,
    Error,
    Number,
    Result,
    Unknown,
    add_numbers,
    check_string_length,
    number_term,
    operate,
    same,
    text,
    value_of,
)

# Sums in every order of adding


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


# Set functions


MOST_PERMUTED = 4  # strings that GROUP_CONCAT tries in every order


def aggregate(function: Aggregate, results: Sequence[Result], choose: Choose) -> Result:
    """R2R-16: Apply a set function to the results of its expression, one for each member of a
    group. `choose` makes a choice that is left open.

    COUNT leaves errors out (§18.5.1.2), SUM and AVG of an error are an error, and MIN, MAX, SAMPLE
    and GROUP_CONCAT may leave them out or not.
    """
    if function.name == "COUNT" and not function.is_distinct:
        return number_term(Number(INTEGER, sum(result is not ERROR for result in results)))
    if unknown := next((result for result in results if isinstance(result, Unknown)), None):
        raise NoSingleAnswer(
            f"{function.name} of a value that has no single answer ({unknown.kind})"
        )
    if ERROR in results and errors_decide(function.name, choose):
        return ERROR
    members = [result for result in results if result is not ERROR]
    if function.is_distinct:
        members = distinct_terms(members)
    return aggregate_terms(function, members, choose)


def aggregate_terms(function: Aggregate, members: Sequence[Term], choose: Choose) -> Result:
    """Apply a set function to terms, none of which is an error or unknown."""
    match function.name:
        case "COUNT":
            return number_term(Number(INTEGER, len(members)))
        case "SUM":
            return total(members)
        case "AVG":
            return average(members)
        case "MIN":
            return extreme(members, choose, is_least=True)
        case "MAX":
            return extreme(members, choose, is_least=False)
        case "SAMPLE":
            return sample(members, choose)
        case _:
            return concatenate_forms(members, function.separator, choose)


def errors_decide(name: str, choose: Choose) -> bool:
    """Return whether a set function is an error where a member is one; of some that is the
    evaluator's choice.
    """
    match name:
        case "COUNT":
            return False
        case "SUM" | "AVG":
            return True
        case _:
            reason = f"{name} over an error: the recommendation does not say where it stands"
            return choose(("error", name), (True, False), reason)


def distinct_terms(terms: Sequence[Term]) -> list[Term]:
    """Return each of the terms once (§18.5.1: as terms, so that 1 and 01 are two)."""
    if not any(isinstance(term, Computed) for term in terms):
        return list(dict.fromkeys(terms))
    unique: list[Term] = []
    for term in terms:
        if not any([same(term, other) for other in unique]):
            unique.append(term)
    return unique


def total(terms: Sequence[Term]) -> Result:
    """Return the sum of numbers (§18.5.1.3, SUM), 0 of nothing."""
    numbers = numbers_of(terms)
    if numbers is ERROR:
        return ERROR
    return number_term(add_in_any_order(numbers))


def average(terms: Sequence[Term]) -> Result:
    """Return the sum of numbers divided by their count (§18.5.1.4, AVG), 0 of nothing."""
    if not terms:
        return number_term(Number(INTEGER, 0))
    numbers = numbers_of(terms)
    if numbers is ERROR:
        return ERROR
    return number_term(add_in_any_order(numbers, divisor=len(numbers)))


def numbers_of(terms: Sequence[Term]) -> list[Number] | Error:
    """Return the numbers of terms; ERROR if one is no number."""
    values = [value_of(term) for term in terms]
    numbers = [value for value in values if isinstance(value, Number)]
    if len(numbers) < len(values):
        return ERROR
    return numbers


def extreme(terms: Sequence[Term], choose: Choose, is_least: bool) -> Result:
    """Return the first or the last of terms in ORDER BY's order (§18.5.1.5, MIN; §18.5.1.6, MAX),
    an error of nothing.

    One value in several forms is a Computed. Where several others may be it, each is tried.
    """
    if not terms:
        return ERROR
    candidates = extremes(terms, is_least)
    if len(candidates) == 1:
        return candidates[0]
    if number := _one_number(candidates):  # in several forms, such as 1.0 and 1.00
        return Computed(min(candidates), number)
    name = "MIN" if is_least else "MAX"
    reason = f"which of {len(candidates)} values that are equal or have no order {name} gives"
    if all(compare_in_order(candidates[0], other) == 0 for other in candidates):
        reason = "MIN or MAX of one value in several datatypes or forms"
    reason += name_terms(candidates)
    return choose(("MIN or MAX", tuple(candidates)), candidates, reason)


def _one_number(candidates: Sequence[Term]) -> Number | None:
    """Return the number that all of some terms are, in one datatype. None if they differ, and for
    the two zeros of floats and doubles.
    """
    first, *others = map(value_of, candidates)
    if not isinstance(first, Number):
        return None
    if not all(isinstance(other, Number) and other.value == first.value for other in others):
        return None
    if first.rank >= FLOAT and first.value == 0:
        return None
    if len({parse_literal(term).datatype for term in candidates}) > 1:
        return None
    return first


def sample(terms: Sequence[Term], choose: Choose) -> Result:
    """Return any one of the values (§18.5.1.8, SAMPLE), an error of nothing."""
    values = distinct_terms(terms)
    if not values:
        return ERROR
    if len(values) == 1:
        return values[0]
    reason = f"SAMPLE of several values{name_terms(values)}"
    return choose(("SAMPLE", tuple(values)), values, reason)


def concatenate_forms(terms: Sequence[Term], separator: str, choose: Choose) -> Result:
    """Return the lexical forms, in any order, as one string (§18.5.1.7, GROUP_CONCAT)."""
    others = [term for term in terms if not term.startswith('"')]
    if others:
        raise NoSingleAnswer(f"GROUP_CONCAT of what is no literal{name_terms(others)}")
    forms = sorted(form for form in map(lexical, terms) if form is not ERROR)
    check_string_length(sum(map(len, forms)) + len(separator) * (len(forms) - 1))
    reason = "GROUP_CONCAT of several values, whose order is not fixed"
    orders = [tuple(forms)]
    if not _are_joined_alike(forms, separator):
        reason += name_terms([literal(form) for form in forms])
        if len(forms) > MOST_PERMUTED:
            raise NoSingleAnswer(reason)
        orders = sorted(set(permutations(forms)))
    return text(separator.join(choose(("GROUP_CONCAT", tuple(forms)), orders, reason)))


def _are_joined_alike(forms: Sequence[str], separator: str) -> bool:
    """Return whether texts give one text in every order: each two of them do, which is so if each
    does with the longest.
    """
    longest = max(forms, key=len, default="")
    return all(
        longest + separator + form == form + separator + longest for form in dict.fromkeys(forms)
    )
