"""§7 The set functions (SPARQL 1.1 §18.5.1), over what an expression gives for each member of a
group, errors among it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from refengine.model.elements import Term, literal, parse_literal
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.algebra import Aggregate
from refengine.sparql.choices import Choose
from refengine.sparql.functions import lexical
from refengine.sparql.naming import name_terms
from refengine.sparql.order import compare_in_order, extremes
from refengine.sparql.sums import add_in_any_order
from refengine.sparql.values import (
    ERROR,
    FLOAT,
    INTEGER,
    Computed,
    Error,
    Number,
    Result,
    Unknown,
    check_string_length,
    number_term,
    same,
    text,
    value_of,
)

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
