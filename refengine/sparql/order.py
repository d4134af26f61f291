"""§7 ORDER BY's order (SPARQL 1.1 §15.1), which is partial, and the slices that it leaves no choice
about; and how messages name terms and solutions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import nsmallest

from refengine.model.elements import XSD, Term
from refengine.model.errors import NoSingleAnswer, Unsupported
from refengine.model.messages import SHOWN, escape_unprintable
from refengine.model.xsd import Moment
from refengine.sparql import values
from refengine.sparql.values import ERROR, Number, Result, StringValue, compare, value_of

# Terms and solutions as messages name them: the first few, each cut if it is long


NAMED = 3  # terms, or variables of a solution

_XSD_TYPE = re.compile(rf"\^\^<{re.escape(XSD)}(\w+)>$")


def name_terms(terms: Collection[Term]) -> str:
    """Return the first terms by their texts, in brackets, and how many more there are.

    >>> from refengine.model.elements import XSD, literal
    >>> name_terms(["<urn:b>", literal("1E1", XSD + "decimal")])
    ' ("1E1"^^xsd:decimal, which is ill-typed, and <urn:b>)'
    """
    named = [_name_with_fault(term) for term in nsmallest(NAMED, terms)]
    if len(terms) > NAMED:
        named.append(f"{len(terms) - NAMED} more")
    return f" ({_enumerate(named)})"


def name_solution(solution: Mapping[str, Term]) -> str:
    """Return the first bindings of a solution by their variables.

    >>> name_solution({"y": '"5"', "x": "<urn:a>"})
    '?x <urn:a>, ?y "5"'
    """
    names = sorted(solution)
    named = [f"?{name} {name_term(solution[name])}" for name in names[:NAMED]]
    if len(names) > NAMED:
        named.append("…")
    return ", ".join(named) or "the solution without bindings"


def name_term(term: Term) -> str:
    """Return a term on one line, with xsd: for XML Schema's namespace, cut if it is long."""
    text = escape_unprintable(_XSD_TYPE.sub(r"^^xsd:\1", str(term)[: 10 * SHOWN]))
    if len(text) <= SHOWN:
        return text
    return f"{text[: SHOWN - 2]} …"


def _name_with_fault(term: Term) -> str:
    """Return a term, and whether it is ill-typed."""
    try:
        value = value_of(term)
    except NoSingleAnswer:
        return name_term(term)
    if isinstance(value, values.OtherLiteral) and value.is_ill_typed:
        return f"{name_term(term)}, which is ill-typed"
    return name_term(term)


def _enumerate(words: Iterable[str]) -> str:
    """Return words with commas, and `and` before the last one."""
    *others, last = words
    if not others:
        return last
    comma = "," if "," in others[-1] else ""
    return f"{', '.join(others)}{comma} and {last}"


# The order


Keys = tuple[Result, ...]
NO_VALUE, BLANK_NODE, IRI, LITERAL = range(4)  # kinds of results, in ORDER BY's order
MOST_TIED = 32  # values that MIN and MAX hold as the first


def rank(result: Result) -> int:
    """Return the place of a kind of term: no value, blank node, IRI, literal."""
    if result is ERROR:
        return NO_VALUE
    return {"_": BLANK_NODE, "<": IRI}.get(result[0], LITERAL)


def compare_in_order(left: Result, right: Result) -> int | None:
    """R2R-20: Return -1, 0 or 1 as the left result comes before, with or after the right one in
    ORDER BY; None where that is open.
    """
    place = rank(left)
    other_place = rank(right)
    if place != other_place:
        return (place > other_place) - (place < other_place)
    if left is ERROR or right is ERROR:
        return 0
    if place == IRI:
        return _compare_iris(left, right)
    if place == LITERAL:
        return _compare_literals(left, right)
    return _same_or_open(left, right)


def _compare_iris(left: Term, right: Term) -> int:
    """Compare two IRIs without their brackets: <urn:a> comes before <urn:a1>."""
    one = str(left)[1:-1]
    other = str(right)[1:-1]
    return (one > other) - (one < other)


def _compare_literals(left: Term, right: Term) -> int | None:
    """Compare two literals as `<` does, where that compares them."""
    try:
        order = compare(left, right)
    except NoSingleAnswer:
        return None
    if order is not ERROR and order is not None:
        return order
    return _same_or_open(str(left), str(right))


def _same_or_open(left: Term, right: Term) -> int | None:
    """Return 0 for one term, None for two different ones, whose order is open."""
    if left == right:
        return 0
    return None


def extremes(terms: Sequence[Term], is_least: bool) -> list[Term]:
    """R2R-16: Return the terms that may be the minimum (or the maximum): those that no other surely
    comes before (or after).
    """
    beats = -1 if is_least else 1  # how the minimum, or the maximum, stands to another
    best: list[Term] = []
    for term in _of_extreme_kind(terms, is_least):
        places = [compare_in_order(term, other) for other in best]
        if any(place == -beats for place in places):
            continue
        best = [other for other, place in zip(best, places, strict=True) if place != beats]
        best.append(term)
        if len(best) > MOST_TIED:
            name = "MIN" if is_least else "MAX"
            reason = (
                f"{name} of more than {MOST_TIED} values that are equal or have no order"
                f"{name_terms(best)}"
            )
            raise Unsupported(reason, rule="R2R-17", place="body")
    return best


def _of_extreme_kind(terms: Sequence[Term], is_least: bool) -> list[Term]:
    """Return the terms of the first kind (or the last) that is among them, each once."""
    kinds = list(map(rank, terms))
    if not kinds:
        return []
    extreme_kind = min(kinds) if is_least else max(kinds)
    return [term for term in dict.fromkeys(terms) if rank(term) == extreme_kind]


def sort_indices(keys: Sequence[Keys], descending: Sequence[bool]) -> list[int]:
    """Return the indices of solutions in one of the orders that ORDER BY allows."""
    # First a fixed order, so that ties do not stand as the solutions came.
    indices = sorted(range(len(keys)), key=lambda i: [sort_key(key, False) for key in keys[i]])
    for position in reversed(range(len(descending))):
        indices.sort(key=lambda i: sort_key(keys[i][position], True), reverse=descending[position])
    return indices


def sort_key(result: Result, by_value: bool) -> tuple[object, ...]:
    """Return a key for sorting that puts one result before another wherever ORDER BY does. It may
    part two that are equal there.

    With `by_value` strings that differ in their language alone share a place.
    """
    if result is ERROR:
        return NO_VALUE, 0, ""
    place = rank(result)
    if place != LITERAL:
        return place, 0, result[1:-1]
    match value_of(result):
        case Number(_, number, _) if number != number:
            return LITERAL, 1, 0
        case Number(_, number, _):
            return LITERAL, 0, number
        case StringValue(lexical, ""):
            return LITERAL, 2, lexical
        case StringValue(lexical, _) if by_value:
            return LITERAL, 3, lexical
        case StringValue(lexical, language):
            return LITERAL, 3, (lexical, language)
        case bool() as holds:
            return LITERAL, 4, holds
        case Moment(seconds, _):
            return LITERAL, 5, seconds
        case _:
            return LITERAL, 6, str(result)


def compare_solutions(left: Keys, right: Keys, descending: Sequence[bool]) -> int | None:
    """Return -1, 0, 1 or None as `compare_in_order` does, by all conditions: the first that tells
    two solutions apart decides.
    """
    for one, other, is_descending in zip(left, right, descending, strict=True):
        place = compare_in_order(one, other)
        if place is None:
            return None
        if place and is_descending:
            return -place
        if place:
            return place
    return 0


def check_border(
    keys: Sequence[Keys],
    rows: Sequence[object],
    border: int,
    descending: Sequence[bool],
    spend: Callable[[int], None],
) -> None:
    """R2R-20: Make sure that a slice's border leaves no choice: every solution before it comes
    surely before every one behind it, or is the same. Raises NoSingleAnswer (QRY-3) where there is
    a choice.
    """
    if border <= 0 or border >= len(rows):
        return
    for i in reversed(range(border)):
        for j in range(border, len(rows)):
            spend(1)
            if rows[i] != rows[j] and compare_solutions(keys[i], keys[j], descending) != -1:
                raise NoSingleAnswer(
                    "LIMIT or OFFSET cuts between solutions that ORDER BY leaves in any order"
                    f"{_name_solutions(rows[i], rows[j])}"
                )


def _name_solutions(one: object, other: object) -> str:
    """Return two solutions in brackets; nothing for those of incremental evaluation, which the
    SPARQL evaluator names.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return f" ({name_solution(one)} and {name_solution(other)})"
    return ""
