"""§7 COUNT, SUM, AVG, MIN and MAX, kept up to date while the members of a group come and go."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sortedcontainers import SortedList

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import Solution
from refengine.incremental.algebra.numbers import ExactSum, check_computed, number_of
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import XSD, Term, literal
from refengine.sparql.values import Computed, Number, number_term

# Numbers that lie further apart than this, relatively, differ when they are promoted to floats, too
PROMOTED = 2.0**-20


class RunningAggregate:
    """One aggregate of one group: over the terms of a slot, or, without a slot, over whole
    solutions. With `is_distinct` each term counts once.
    """

    def __init__(self, slot: int | None, is_distinct: bool = False) -> None:
        self.slot = slot
        self.seen: Counter[Solution | Term | None] | None = None
        if is_distinct:
            self.seen = Counter()

    def add(self, solution: Solution, count: int) -> None:
        """Insert a solution so many times, or retract it if the count is negative. Raises
        NotCovered.
        """
        member = solution if self.slot is None else solution[self.slot]
        if self.seen is not None:
            count = add_count(self.seen, member, count)
        if count:
            self.add_member(member, count)

    def add_member(self, member: Any, count: int) -> None:
        """Insert a term so many times (without a slot, a solution), or retract it if the count is
        negative. Raises NotCovered.
        """
        raise NotImplementedError

    def value(self) -> Term | None:
        """Return the aggregate's value, or None: unbound. Raises NotCovered where it has no single
        one.
        """
        raise NotImplementedError


class RunningCount(RunningAggregate):
    """COUNT: how many members are bound."""

    total = 0

    def add_member(self, member: Any, count: int) -> None:
        """Count a member `count` times more. An unbound one does not count."""
        if member is not None:
            self.total += count

    def value(self) -> Term:
        """Return how many members there are, as an xsd:integer."""
        return literal(str(self.total), XSD + "integer")


class RunningSum(RunningAggregate):
    """SUM or AVG of numbers. With `must_be_exact` a rounded value is not covered."""

    def __init__(
        self, slot: int | None, is_distinct: bool, is_average: bool, must_be_exact: bool
    ) -> None:
        super().__init__(slot, is_distinct)
        self.is_average = is_average
        self.must_be_exact = must_be_exact
        self.sum = ExactSum()

    def add_member(self, member: Any, count: int) -> None:
        """Add a member's number `count` times. Raises NotCovered if it has none."""
        self.sum.add(aggregated_number(member), count)

    def value(self) -> Term:
        """Return the sum, or the average, in the common datatype of its numbers."""
        return number_term(self.sum.total(self.is_average, self.must_be_exact))


class RunningExtreme(RunningAggregate):
    """MIN or MAX of numbers, which are held in order. Under DISTINCT both are the same.

    Of equal numbers with several datatypes there is no single answer. With `must_be_exact` there is
    none of two forms of one value either, such as 1.0 and 1.00: where answers are sets, it matters
    which form is the row's.
    """

    def __init__(self, slot: int | None, is_maximum: bool, must_be_exact: bool) -> None:
        super().__init__(slot)
        self.is_maximum = is_maximum
        self.must_be_exact = must_be_exact
        self.terms = SortedList()  # (value, rank, term)
        self.terms_by_rank = [0, 0, 0, 0]  # how many different terms of each datatype
        self.counts: Counter[Term] = Counter()

    def add_member(self, member: Any, count: int) -> None:
        """Put a member into the order, or take it out when its count falls to 0."""
        number = aggregated_number(member)
        change = add_count(self.counts, member, count)
        if not change:
            return
        self.terms_by_rank[number.rank] += change
        entry = (number.value, number.rank, member)
        if change == 1:
            self.terms.add(entry)
        else:
            self.terms.remove(entry)

    def value(self) -> Term | None:
        """Return the least or greatest member; None if there is none. Raises NotCovered if others
        are equal to it in another form.
        """
        if not self.terms:
            return None
        inwards = reversed(self.terms) if self.is_maximum else iter(self.terms)
        best, best_rank, best_term = next(inwards)
        for value, rank, _ in inwards:
            if value != best:
                if self._may_be_equal(best, value):
                    raise NotCovered(
                        "MIN or MAX of numbers that are equal as floats or doubles alone"
                    )
                break
            if self.must_be_exact or rank != best_rank or best == 0:
                raise NotCovered("MIN or MAX of two forms of one value")
        term: Term = best_term
        return term

    def _may_be_equal(self, a: Any, b: Any) -> bool:
        """Return whether two numbers may be one once they are promoted, as only numbers of several
        datatypes are.
        """
        integers, decimals, floats, doubles = self.terms_by_rank
        kinds = (integers + decimals > 0) + (floats > 0) + (doubles > 0)
        return kinds > 1 and abs(a - b) <= PROMOTED * max(abs(a), abs(b))


def aggregated_number(term: Term | None) -> Number:
    """Return the number of a term, as an aggregate needs it. Raises NotCovered for any other term,
    of which some have no single answer, and for a number that is rounded.
    """
    number = None if term is None else number_of(term)
    if number is None:
        raise NotCovered("an aggregate over what is no number")
    if number.slack:
        raise NotCovered("a decimal of more digits than every evaluator keeps")
    return check_computed(number)


def has_rounding(term: Term | None) -> bool:
    """Return whether a term was computed from a number that is rounded."""
    return isinstance(term, Computed) and bool(term.number.slack)
