"""§7 Aggregates, kept up to date while the members of a group come and go: COUNT, SUM, AVG, SAMPLE
and GROUP_CONCAT. `extremes` has MIN and MAX.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from refengine.incremental.algebra.by_definition import NoChoices, ask_definition
from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import Solution, pick_terms
from refengine.incremental.algebra.numbers import ExactSum, check_computed, number_of
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import XSD, Term, literal
from refengine.sparql.aggregates import MOST_PERMUTED, aggregate
from refengine.sparql.algebra import Aggregate
from refengine.sparql.values import ERROR, Computed, Number, Result, number_term


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
        self.count_of_errors = 0  # members that are unbound, or no numbers

    def add_member(self, member: Any, count: int) -> None:
        """Add a member's number `count` times. Raises NotCovered for one that is not followed."""
        number = None if member is None else aggregated_number(member)
        if number is None:
            self.count_of_errors += count
        else:
            self.sum.add(number, count)

    def value(self) -> Term | None:
        """Return the sum, or the average, in the common datatype of its numbers. None if a member
        is an error, or no number (R2R-16).
        """
        if self.count_of_errors:
            return None
        return number_term(self.sum.total(self.is_average, self.must_be_exact))


class RunningMembers(RunningAggregate):
    """SAMPLE or GROUP_CONCAT, by the definition, over all members.

    It keeps the bag of members. A change costs a look-up; a value costs as much as it is long.
    NotCovered is raised where the definition has no single answer, which of different members it
    seldom has.
    """

    def __init__(self, function: Aggregate, slot: int | None) -> None:
        super().__init__(slot, function.is_distinct)
        self.function = function
        self.counts: Counter[Term | None] = Counter()

    def add_member(self, member: Any, count: int) -> None:
        """Add to the count of a member. An unbound one is an error."""
        add_count(self.counts, member, count)

    def value(self) -> Term | None:
        """Return what the definition makes of the members."""
        if len(self.counts) > MOST_PERMUTED:
            raise NotCovered(f"{self.function.name} of several values")
        results: list[Result] = []
        for member, count in self.counts.items():
            copies = 1 if self.function.name == "SAMPLE" else count
            results += [ERROR if member is None else member] * copies
        choose = NoChoices().choose
        result = ask_definition(lambda: aggregate(self.function, results, choose))
        return None if result is ERROR else result


class RunningSolutionCount(RunningAggregate):
    """COUNT(DISTINCT *): how many different solutions there are, by the terms of some slots."""

    def __init__(self, slots: tuple[int, ...]) -> None:
        super().__init__(None)
        self.pick = pick_terms(slots)
        self.counts: Counter[Solution] = Counter()

    def add_member(self, member: Any, count: int) -> None:
        """Add to the count of a solution."""
        add_count(self.counts, self.pick(member), count)

    def value(self) -> Term:
        """Return the number of different solutions, as an xsd:integer."""
        return literal(str(len(self.counts)), XSD + "integer")


def aggregated_number(term: Term) -> Number | None:
    """Return the number of a term, as an aggregate needs it; None for a term that is no number.
    Raises NotCovered for a number that is rounded, or not finite.
    """
    number = term.number if isinstance(term, Computed) else number_of(term)
    if number is None:
        return None
    if number.slack:
        raise NotCovered("an aggregate over a rounded number")
    return check_computed(number)
