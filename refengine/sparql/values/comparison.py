"""How SPARQL compares values (SPARQL 1.1 §17.3): `<`, `=` and sameTerm."""

from __future__ import annotations

import math
from typing import Any

from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import Moment, nearest_double, nearest_single
from refengine.sparql.values.extensions import is_extension, refuse_extensions
from refengine.sparql.values.kinds import (
    ERROR,
    FALSE_OR_ERROR,
    FLOAT,
    SURE_SECONDS,
    Computed,
    Error,
    Failure,
    Number,
    OtherLiteral,
    StringValue,
    Unknown,
    Value,
)
from refengine.sparql.values.reading import value_of

FARTHEST_ZONE = 14 * 3600  # seconds from UTC


def compare(left: Term, right: Term) -> int | Error | None:
    """R2R-12: Return how two terms stand to each other by SPARQL's operators (§17.3): -1, 0 or 1;
    None where both compare but neither is less nor are they equal (NaN); ERROR where no operator
    takes them.
    """
    one, other = value_of(left), value_of(right)
    match one, other:
        case Number(), Number():
            return _compare_numbers(one, other)
        case StringValue(a, ""), StringValue(b, ""):
            return (a > b) - (a < b)
        case StringValue(_, language), StringValue(_, other_language) if (
            language and other_language
        ):
            raise NoSingleAnswer(
                "the order of strings with a language, for which an evaluator may have an operator"
            )
        case bool(), bool():
            return one - other
        case Moment(), Moment():
            return _compare_moments(one, other)
    refuse_extensions(one, other)
    return ERROR


def _compare_moments(one: Moment, other: Moment) -> int:
    """Return -1, 0 or 1 as a dateTime is before, at or after another."""
    apart = one.seconds - other.seconds
    if one.zoned != other.zoned and abs(apart) <= FARTHEST_ZONE:
        raise NoSingleAnswer(
            "comparing a dateTime without a zone with one that has it: the implicit zone is not "
            "fixed"
        )
    if 0 < abs(apart) < SURE_SECONDS:
        raise NoSingleAnswer(
            "dateTimes that are less than a millisecond apart: an evaluator may keep no more digits"
        )
    return (apart > 0) - (apart < 0)


def _compare_numbers(a: Number, b: Number) -> int | None:
    """Return -1, 0 or 1 as a number is less than, equal to or greater than another, None of NaN."""
    x, y = in_common_type(a, b)
    if x != x or y != y:
        return None
    slack = a.slack + b.slack
    if slack and abs(x - y) <= slack:
        raise NoSingleAnswer("comparing numbers that rounding tells apart")
    order: int = (x > y) - (x < y)
    return order


def in_common_type(a: Number, b: Number) -> tuple[Any, Any]:
    """Return the values of two numbers in the type of the later rank (XPath B.1)."""
    rank = max(a.rank, b.rank)
    if rank < FLOAT:
        return a.value, b.value
    return as_binary(a, rank), as_binary(b, rank)


def as_binary(number: Number, rank: int) -> float:
    """Return a number as a float or a double."""
    exact = number.value
    if number.rank >= FLOAT or isinstance(exact, float):
        return float(exact)
    if rank == FLOAT:
        return nearest_single(exact)
    return nearest_double(exact)


def equals(left: Term, right: Term) -> bool | Failure:
    """R2R-12: Compare two terms as `=` does (§17.4.1.7).

    Two numbers, plain strings, booleans or dateTimes are compared by value, and two strings with
    languages as terms. An IRI or a blank node equals itself alone. Of two literals of which one is
    ill-typed, or of a datatype that SPARQL does not know, the same term is equal, and two different
    terms are an ERROR.

    Literals of two known kinds, such as 1 and "a", "a" and "a"@en, or a number and an xsd:date,
    give FALSE_OR_ERROR: SPARQL's own `=` has no operator for them, but an evaluator may know that
    they differ. So does a string with a language beside any other literal, since no datatype has a
    language.

    Raises NoSingleAnswer where an evaluator may have an operator for them (two durations, a token
    and a string).
    """
    if left[0] != '"' or right[0] != '"':
        return same(left, right)
    one, other = value_of(left), value_of(right)
    if isinstance(one, StringValue) and isinstance(other, StringValue):
        if bool(one.language) != bool(other.language):
            return FALSE_OR_ERROR
        return one == other
    if _has_language(one) or _has_language(other):
        return FALSE_OR_ERROR
    if isinstance(one, OtherLiteral) or isinstance(other, OtherLiteral):
        if left == right:
            return True
        return _unequal_beside_other(one, other)
    order = compare(left, right)
    if order is ERROR:
        return FALSE_OR_ERROR
    return order == 0


def _has_language(one: Value | None) -> bool:
    return isinstance(one, StringValue) and bool(one.language)


def _unequal_beside_other(one: Value | None, other: Value | None) -> Failure:
    """Return what `=` gives for two different literals, of which one or both have a value that
    SPARQL's operators do not know.
    """
    refuse_extensions(one, other)
    are_both_unknown = isinstance(one, OtherLiteral) and isinstance(other, OtherLiteral)
    if is_extension(one) != is_extension(other) and not are_both_unknown:
        return FALSE_OR_ERROR
    return ERROR


def same(left: Term, right: Term) -> bool:
    """R2R-10: Return whether two terms are the same term (§17.4.1.8). Raises NoSingleAnswer where
    that hangs on the form of a computed one, or on NOW or RAND. A UUID is the same as itself alone,
    and NOW() as NOW().
    """
    if not isinstance(left, Computed) and not isinstance(right, Computed):
        return left == right
    if left is right:
        return True
    if isinstance(left, Unknown):
        return _is_unknown(left, right)
    if isinstance(right, Unknown):
        return _is_unknown(right, left)
    one, other = value_of(left), value_of(right)
    if not isinstance(one, Number) or not isinstance(other, Number):
        return False
    if one.rank != other.rank:
        return False
    return _is_same_number(one, other, isinstance(left, Computed) and isinstance(right, Computed))


def _is_unknown(unknown: Unknown, other: Term) -> bool:
    """Return whether what NOW, RAND, UUID or STRUUID gave is the same as another term."""
    if isinstance(other, Unknown) and unknown.kind == other.kind == "NOW":
        return True  # one value for all of an evaluation (§17.4.5.1)
    if unknown.kind in ("NOW", "RAND"):
        raise NoSingleAnswer(f"{unknown.kind} has no single answer")
    # each call has a text of its own
    return isinstance(other, Unknown) and str(unknown) == str(other)


def _is_same_number(one: Number, other: Number, are_computed: bool) -> bool:
    """Return whether two numbers of one type, of which one or both are computed, have one form."""
    if one.rank >= FLOAT and not one.slack and not other.slack:
        has_one_form = _have_special_values_one_form(one, other)
        if has_one_form is not None:
            return has_one_form
    if one == other and are_computed:
        if one.slack and one.rank >= FLOAT:
            raise NoSingleAnswer("two sums whose orders of adding are not fixed")
        return True
    if one.value != other.value and not _may_be_equal(one, other):
        return False
    raise NoSingleAnswer("the lexical form of a computed number")


def _have_special_values_one_form(one: Number, other: Number) -> bool | None:
    """Return whether two NaNs, or two zeros of other signs, have one lexical form; None for other
    pairs of floats or doubles.
    """
    if math.isnan(one.value) and math.isnan(other.value):
        return True  # NaN has one form
    if one.value == other.value == 0 and _sign(one) != _sign(other):
        return False  # 0.0 and -0.0 have none in common
    return None


def _may_be_equal(one: Number, other: Number) -> bool:
    """Return whether two numbers differ by no more than their slacks; False of NaN."""
    slack = one.slack + other.slack
    return -slack <= one.value - other.value <= slack


def _sign(number: Number) -> float:
    """Return 1 or -1, of zeros of floats and doubles, too."""
    return math.copysign(1, number.value)
