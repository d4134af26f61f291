"""§7 The set functions (SPARQL 1.1 §18.5.1), over what an expression gives for each member of a
group, errors among it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations
from math import fsum, isfinite

from refengine.model.elements import Term, parse_literal
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import single
from refengine.sparql.algebra import Aggregate
from refengine.sparql.choices import Choose
from refengine.sparql.functions import lexical
from refengine.sparql.order import compare_in_order, extremes
from refengine.sparql.values import (
    DOUBLE,
    ERROR,
    FLOAT,
    INTEGER,
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

MOST_PERMUTED = 4  # strings that GROUP_CONCAT tries in every order
# a sum of floats, and of doubles, that is as great as this may round to infinity
OVERFLOWS = {FLOAT: 2**128 - 2**104, DOUBLE: 2**1024 - 2**970}
# by how much one addition may round, relative to its result
UNITS = {FLOAT: Fraction(1, 2**23), DOUBLE: Fraction(1, 2**52)}


def aggregate(function: Aggregate, results: Sequence[Result], choose: Choose) -> Result:
    """R2R-16: Apply a set function to the results of its expression, one for each member of a
    group. `choose` makes a choice that is left open.

    COUNT leaves errors out (§18.5.1.2), SUM and AVG of an error are an error, and MIN, MAX, SAMPLE
    and GROUP_CONCAT may leave them out or not.
    """
    if function.name == "COUNT" and not function.is_distinct:
        return number_term(Number(INTEGER, sum(result is not ERROR for result in results)))
    if any(isinstance(result, Unknown) for result in results):
        raise NoSingleAnswer(f"{function.name} of a value that has no single answer")
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
    """Return the sum of numbers (§18.5.1.3, SUM), 0 of nothing. One of floats or doubles may be
    rounded in any order.
    """
    number = _sum(terms)
    if number is ERROR:
        return ERROR
    return number_term(number)


def _sum(terms: Sequence[Term]) -> Number | Error:
    """Return the sum of terms as a number, whose slack covers every order of adding; ERROR if one
    is no number.
    """
    values = [value_of(term) for term in terms]
    numbers = [number for number in values if isinstance(number, Number)]
    if len(numbers) < len(values):
        return ERROR
    result = Number(INTEGER, 0)
    for number in numbers:
        result = add_numbers(result, number)
    _check_integers(numbers)
    coarsest = _coarsest_rank(numbers, result.rank)
    # one addition has one order
    is_order_free = len(numbers) < 3 and len({number.rank for number in numbers}) < 2
    if not is_order_free:
        _check_overflow(coarsest, numbers)
    if result.rank < FLOAT or is_order_free or not isfinite(result.value):
        return result
    exact = result._replace(value=_sum_independent_of_order(numbers, result.rank))
    return _with_slack_of_orders(exact, numbers, UNITS[coarsest])


def _sum_independent_of_order(numbers: Iterable[Number], rank: int) -> float:
    """Return the exact sum of numbers, rounded to a double and, for the rank of floats, then to a
    float. So it does not depend on the order in which the members of a group come.
    """
    exact = fsum(float(number.value) for number in numbers)
    if rank == FLOAT:
        return single(exact)
    return exact


def _coarsest_rank(numbers: Sequence[Number], rank: int) -> int:
    """Return the rank of the coarsest partial sum, in some order, of a sum of a rank."""
    if any(number.rank == FLOAT for number in numbers):
        return FLOAT
    return rank


def _with_slack_of_orders(result: Number, numbers: Sequence[Number], unit: Fraction) -> Number:
    """Return a sum with the slack that covers every order of adding; `unit` is by how much one
    addition may round.
    """
    parts = [abs(Fraction(number.value)) for number in numbers]
    # Whole numbers whose sum the type can hold are added exactly in every order.
    if sum(parts) < 1 / unit and all(part.denominator == 1 for part in parts):
        return result
    return result._replace(slack=result.slack + sum(parts) * len(parts) * unit)


def _check_integers(numbers: Iterable[Number]) -> None:
    """Raise NoSingleAnswer if a sum of integers may go beyond 64 bits on the way."""
    if sum(abs(int(number.value)) for number in numbers if number.rank == INTEGER) >= SURE_INTEGERS:
        raise NoSingleAnswer("a sum of integers that goes beyond 64 bits in some orders of adding")


def _check_overflow(rank: int, numbers: Sequence[Number]) -> None:
    """Raise NoSingleAnswer if a sum of finite numbers may overflow, as 1e308 + 1e308 - 1e308 does
    in some orders.

    That is presumed where the absolutes add up to too much for the type of `rank`.
    """
    if rank < FLOAT or not all(number.rank < FLOAT or isfinite(number.value) for number in numbers):
        return
    if sum(abs(Fraction(number.value)) for number in numbers) >= OVERFLOWS[rank]:
        raise NoSingleAnswer("a sum that overflows in some orders of adding")


def average(terms: Sequence[Term]) -> Result:
    """Return the sum of numbers divided by their count (§18.5.1.4, AVG), 0 of nothing."""
    if not terms:
        return number_term(Number(INTEGER, 0))
    number = _sum(terms)
    if number is ERROR:
        return ERROR
    quotient = operate("/", number, Number(INTEGER, len(terms)))
    if quotient is ERROR:
        return ERROR
    return number_term(quotient)


def extreme(terms: Sequence[Term], choose: Choose, is_least: bool) -> Result:
    """Return the first or the last of terms in ORDER BY's order (§18.5.1.5, MIN; §18.5.1.6, MAX),
    an error of nothing.

    One value in several forms is a Computed, in several datatypes a choice. Raises NoSingleAnswer
    where several others may be it.
    """
    if not terms:
        return ERROR
    candidates = extremes(terms, is_least)
    if len(candidates) == 1:
        return candidates[0]
    if number := _one_number(candidates):  # in several forms, such as 1.0 and 1.00
        return Computed(min(candidates), number)
    if all(compare_in_order(candidates[0], other) == 0 for other in candidates):
        return choose(
            ("MIN or MAX", tuple(candidates)),
            candidates,
            "MIN or MAX of one value in several datatypes or forms",
        )
    name = "MIN" if is_least else "MAX"
    raise NoSingleAnswer(
        f"which of {len(candidates)} values that are equal or have no order {name} gives"
    )


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
    return choose(("SAMPLE", tuple(values)), values, "SAMPLE of several values")


def concatenate_forms(terms: Sequence[Term], separator: str, choose: Choose) -> Result:
    """Return the lexical forms, in any order, as one string (§18.5.1.7, GROUP_CONCAT)."""
    if any(not term.startswith('"') for term in terms):
        raise NoSingleAnswer("GROUP_CONCAT of what is no literal")
    forms = sorted(form for form in map(lexical, terms) if form is not ERROR)
    check_string_length(sum(map(len, forms)) + len(separator) * (len(forms) - 1))
    reason = "GROUP_CONCAT of several values, whose order is not fixed"
    orders = [tuple(forms)]
    if len(forms) <= MOST_PERMUTED:
        orders = sorted(set(permutations(forms)))
    elif len(set(forms)) > 1:
        raise NoSingleAnswer(reason)
    return text(separator.join(choose(("GROUP_CONCAT", tuple(forms)), orders, reason)))
