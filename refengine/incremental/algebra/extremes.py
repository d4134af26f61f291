"""§7 MIN and MAX, kept up to date: members by ORDER BY's order, as far as it orders them."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from sortedcontainers import SortedList

from refengine.incremental.algebra.aggregates import RunningAggregate, aggregated_number
from refengine.incremental.algebra.counts import add_count
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, parse_literal
from refengine.model.xsd import Moment
from refengine.sparql.order import BLANK_NODE, IRI, LITERAL, MOST_TIED, rank
from refengine.sparql.values import SURE_SECONDS, Computed, Number, StringValue, value_of

# Numbers that lie further apart than this, relatively, differ when they are promoted to floats, too
PROMOTED = 2.0**-20


class Order(NamedTuple):
    """Terms that ORDER BY compares with one another: their kind (blank nodes before IRIs before
    literals), and of literals what they are compared as. `other` ones are not compared.
    """

    kind: int
    compared_as: str


class Entry(NamedTuple):
    """A member in its order: a value to compare by, the term, and of a number the rank of its
    datatype.
    """

    value: Any
    term: Term
    rank: int = 0


NUMBERS = Order(LITERAL, "numbers")
STRINGS = Order(LITERAL, "strings")
BOOLEANS = Order(LITERAL, "booleans")
MOMENTS = {is_zoned: Order(LITERAL, f"dateTimes, {is_zoned}") for is_zoned in (False, True)}
OTHERS = Order(LITERAL, "other")
IRIS = Order(IRI, "IRIs")
BLANK_NODES = Order(BLANK_NODE, "other")


class RunningExtreme(RunningAggregate):
    """MIN or MAX of terms of any kind. Under DISTINCT both are the same.

    It keeps each different member in a sorted list; a change costs O(log n) of them. NotCovered is
    raised where several members may be the first: numbers of one value in several datatypes, terms
    without an order between them, dateTimes that are too near. With `must_be_exact` it is raised
    for two forms of one value, such as 1.0 and 1.00, too: where answers are sets, it matters which
    form is the row's.
    """

    def __init__(self, slot: int | None, is_maximum: bool, must_be_exact: bool) -> None:
        super().__init__(slot)
        self.is_maximum = is_maximum
        self.must_be_exact = must_be_exact
        self.members: dict[Order, SortedList] = {}
        self.terms_by_rank = [0, 0, 0, 0]  # how many different numbers of each datatype
        self.counts: Counter[Term | None] = Counter()

    def add_member(self, member: Any, count: int) -> None:
        """Put a member into its order, or take it out when its count falls to 0."""
        change = add_count(self.counts, member, count)
        if not change or member is None:
            return
        order, entry = place_in_order(member)
        if order is NUMBERS:
            self.terms_by_rank[entry.rank] += change
        if change == 1:
            self.members.setdefault(order, SortedList()).add(entry)
            return
        self.members[order].remove(entry)
        if not self.members[order]:
            del self.members[order]

    def value(self) -> Term | None:
        """Return the first or the last member; None if there is none."""
        if None in self.counts:
            raise NotCovered("MIN or MAX over an error")
        if not self.members:
            return None
        # one order of the first kind, or of the last
        kinds = [order.kind for order in self.members]
        kind = max(kinds) if self.is_maximum else min(kinds)
        order, *others = [order for order in self.members if order.kind == kind]
        if others:
            raise NotCovered("MIN or MAX of terms that have no order")
        entries = self.members[order]
        inwards = reversed(entries) if self.is_maximum else iter(entries)
        if order is NUMBERS:
            return self._extreme_number(self._equal_numbers(inwards))
        best: Entry = next(inwards)
        following: Entry | None = next(inwards, None)
        if following is not None and is_tied(order, best, following):
            raise NotCovered("MIN or MAX of terms that are equal or have no order")
        return best.term

    def _equal_numbers(self, inwards: Any) -> list[Entry]:
        """Return the entries that are equal to the first. Raises NotCovered if there are more than
        the definition takes, and if the next one may be equal to them.
        """
        best = next(inwards)
        equal = [best]
        for entry in inwards:
            if entry.value != best.value:
                if self._may_be_equal(best.value, entry.value):
                    raise NotCovered(
                        "MIN or MAX of numbers that are equal as floats or doubles alone"
                    )
                break
            equal.append(entry)
            if len(equal) > MOST_TIED:
                raise NotCovered(f"MIN or MAX of more than {MOST_TIED} forms of one value")
        return equal

    def _extreme_number(self, entries: list[Entry]) -> Term:
        """Return the term of numbers that are equal: of several forms in one datatype, it has no
        fixed form.
        """
        best, *others = entries
        if not others:
            return best.term
        datatypes = {parse_literal(entry.term).datatype for entry in entries}
        if self.must_be_exact or len(datatypes) > 1 or best.value == 0:
            raise NotCovered("MIN or MAX of two forms of one value")
        form = min(entry.term for entry in entries)
        return Computed(form, Number(best.rank, best.value))

    def _may_be_equal(self, a: Any, b: Any) -> bool:
        """Return whether two numbers may be one once they are promoted, as only numbers of several
        datatypes are.
        """
        integers, decimals, floats, doubles = self.terms_by_rank
        kinds = (integers + decimals > 0) + (floats > 0) + (doubles > 0)
        return kinds > 1 and abs(a - b) <= PROMOTED * max(abs(a), abs(b))


def place_in_order(term: Term) -> tuple[Order, Entry]:
    """Return the order that a term is in, and its entry there. Raises NotCovered for a number that
    is rounded or not finite, and for a literal whose value an evaluator may not have.
    """
    number = aggregated_number(term)
    if number is not None:
        return NUMBERS, Entry(number.value, term, number.rank)
    kind = rank(term)
    if kind == IRI:
        return IRIS, Entry(term[1:-1], term)
    if kind == BLANK_NODE:
        return BLANK_NODES, Entry(term, term)
    match value_of(term):
        case StringValue(lexical, ""):
            return STRINGS, Entry(lexical, term)
        case bool() as holds:
            return BOOLEANS, Entry(holds, term)
        case Moment(seconds, is_zoned):
            return MOMENTS[is_zoned], Entry(seconds, term)
        case _:
            return OTHERS, Entry(term, term)


def is_tied(order: Order, best: Entry, following: Entry) -> bool:
    """Return whether the order leaves open which of two entries comes first."""
    if order in (STRINGS, IRIS):
        return False
    if order in MOMENTS.values():
        return bool(abs(best.value - following.value) < SURE_SECONDS)
    if order is BOOLEANS:
        return bool(best.value == following.value)
    return True
