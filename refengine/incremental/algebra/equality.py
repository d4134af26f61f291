"""§7 Joins that are written as an equality, FILTER(?x = ?z): keys under which equal values meet.

`=` compares values: 1 and 1.0 are equal though they are two terms (R2R-12). A key only says which
pairs may be equal. The filter itself is asked of each of these.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from refengine.incremental.algebra.nodes import Index, LookUp, MaintainedNode, PickKey
from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import single
from refengine.sparql.algebra import Call, Expression, Variable, conjuncts
from refengine.sparql.values import (
    DOUBLE,
    FLOAT,
    Computed,
    Number,
    StringValue,
    as_binary,
    value_of,
)

UNBOUND = ("unbound",)  # an equality with an unbound variable is an error
RESOURCE, NUMBER, STRING, BOOLEAN = range(4)


def equality_key(term: Term | None) -> Hashable | None:
    """Return a key of a term, so that two terms with different keys are surely not equal by `=`:
    that is false or an error for them, and has no other answer (QRY-3). Return None for a term of
    which that is not known: it may be equal to any other.

    Numbers are compared as floats if one of them is a float and the other no double. So the key of
    a number is the float that is nearest to it. Rounded to a double first, it may come to another
    float: then it has no key.
    """
    if term is None:
        return UNBOUND
    if isinstance(term, Computed):
        return _key_of_number(term.number)
    return _key_of_term(term)


@lru_cache(maxsize=2**16)
def _key_of_term(term: Term) -> Hashable | None:
    if not term.startswith('"'):
        return RESOURCE, term
    try:
        value = value_of(term)
    except NoSingleAnswer:
        return None
    match value:
        case Number():
            return _key_of_number(value)
        case StringValue():
            return STRING, value
        case bool():
            return BOOLEAN, value
        case _:
            return None  # dateTimes may lack a zone; other types may have operators


def _key_of_number(number: Number) -> Hashable | None:
    exact = number.value
    if number.slack or exact != exact:
        return None
    nearest = single(as_binary(number, FLOAT))
    if nearest != single(as_binary(number, DOUBLE)):
        return None
    return NUMBER, nearest


def equalities(condition: Expression | None) -> Iterator[tuple[str, str]]:
    """Yield the two variables of each equality that must hold where a condition does:
    (x, z) of `?x = ?z && …`.
    """
    if condition is None:
        return
    for part in conjuncts(condition):
        match part:
            case Call("=", (Variable(one), Variable(other))):
                yield one, other


def equalities_between(
    condition: Expression | None, left: MaintainedNode, right: MaintainedNode
) -> list[tuple[str, str]]:
    """Return the equalities of a condition between a variable that only the left side of a join
    has, and one that only its right side has, in this order.
    """
    found = []
    for one, other in equalities(condition):
        for x, z in ((one, other), (other, one)):
            is_between = x in left.slots and z in right.slots
            if is_between and x not in right.slots and z not in left.slots:
                found.append((x, z))
    return found


def equal_slots(
    conditions: Iterable[Expression], slots: Mapping[str, int]
) -> list[tuple[int, int]]:
    """Return the slots that are equal by value where some conditions hold, each pair in either
    order. A variable without a slot is unbound, and equal to nothing.
    """
    found = [pair for condition in conditions for pair in equalities(condition)]
    pairs = [(slots[one], slots[other]) for one, other in found if {one, other} <= slots.keys()]
    return pairs + [(other, one) for one, other in pairs]


def pick_value(place: int) -> PickKey:
    """Return the function that gives the equality key of the term at one place of a tuple."""
    return lambda terms: equality_key(terms[place])


def look_up_value(index: Index) -> LookUp:
    """Return the function that looks up in an index what may be equal to a value, by its equality
    key: what is stored under the same key, and what is stored under none. A value without a key may
    be equal to all.
    """

    def look_up(key: Hashable | None) -> Iterable[Any]:
        if key is None:
            return chain.from_iterable(index.values())
        return (*index.get(key, ()), *index.get(None, ()))

    return look_up
