"""§7 GROUP BY and its aggregates, maintained: changes are gathered by group, and each group that
has changed is emitted anew when the content is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from sortedcontainers import SortedList

from refengine.incremental.algebra.expressions import (
    ExactSum,
    NoChoices,
    ask_sparql_evaluator,
    check_computed,
    number_of,
)
from refengine.incremental.algebra.nodes import (
    Emit,
    MaintainedExtend,
    MaintainedNode,
    ObjectNode,
    Solution,
    add_count,
    check_forms,
    pick_terms,
)
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import XSD, Term, literal, parse_literal
from refengine.model.xsd import Moment
from refengine.sparql import algebra
from refengine.sparql.aggregates import MOST_PERMUTED, aggregate
from refengine.sparql.algebra import Aggregate, Expression, Variable
from refengine.sparql.order import BLANK_NODE, IRI, LITERAL, MOST_TIED, rank
from refengine.sparql.values import (
    ERROR,
    SURE_SECONDS,
    Computed,
    Number,
    Result,
    StringValue,
    number_term,
    value_of,
)

# COUNT, SUM, AVG, SAMPLE and GROUP_CONCAT


class RunningAggregate:
    """One aggregate of one group: over the terms of a slot, or, without a slot, over whole
    solutions. With `is_distinct` each member counts once.
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
    """SAMPLE or GROUP_CONCAT, by the SPARQL evaluator, over all members.

    It keeps the bag of members. A change costs a look-up; a value costs as much as it is long.
    NotCovered is raised where the SPARQL evaluator has no single answer, which of different members
    it seldom has.
    """

    def __init__(self, function: Aggregate, slot: int | None) -> None:
        super().__init__(slot, function.is_distinct)
        self.function = function
        self.counts: Counter[Term | None] = Counter()

    def add_member(self, member: Any, count: int) -> None:
        """Add to the count of a member. An unbound one is an error."""
        add_count(self.counts, member, count)

    def value(self) -> Term | None:
        """Return what the SPARQL evaluator makes of the members."""
        if len(self.counts) > MOST_PERMUTED:
            raise NotCovered(f"{self.function.name} of several values")
        results: list[Result] = []
        for member, count in self.counts.items():
            copies = 1 if self.function.name == "SAMPLE" else count
            results += [ERROR if member is None else member] * copies
        choose = NoChoices().choose
        result = ask_sparql_evaluator(lambda: aggregate(self.function, results, choose))
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


# MIN and MAX: members by ORDER BY's order, as far as it orders them


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
        the SPARQL evaluator takes, and if the next one may be equal to them.
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


# Groups


MakeAggregate = Callable[[], RunningAggregate]


class GroupMembers:
    """One group: how many solutions it has, and its aggregates."""

    def __init__(self, aggregates: Sequence[RunningAggregate]) -> None:
        self.count = 0
        self.aggregates = aggregates


class RunningGroups:
    """GROUP BY and its aggregates. Without a key there is one group, even of nothing (R2R-6).

    Its solutions are the keys, then the aggregates' values. Keys and arguments are variables of the
    child, so that expressions are computed below. An unbound key is a key like others.
    """

    def __init__(
        self, emit: Emit, key_slots: tuple[int, ...], make_aggregates: Sequence[MakeAggregate]
    ) -> None:
        self.emit = emit
        self.key = pick_terms(key_slots)
        self.make_aggregates = make_aggregates
        self.has_no_key = not key_slots
        self.groups: dict[Solution, GroupMembers] = {}
        self.emitted: dict[Solution, Solution] = {}
        self.changed: dict[Solution, None] = {}  # in the order of their first change
        if self.has_no_key:
            self.changed[()] = None

    def change(self, solution: Solution, count: int) -> None:
        """Take a solution that comes or goes. Raises NotCovered."""
        key = self.key(solution)
        if key not in self.groups:
            self.groups[key] = self._empty_group()
        group = self.groups[key]
        group.count += count
        for running in group.aggregates:
            running.add(solution, count)
        self.changed[key] = None

    def flush(self) -> None:
        """Emit each group that has changed: retract what was emitted of it, insert what it is now.
        Raises NotCovered.
        """
        for key in self.changed:
            self._flush_group(key)
        self.changed.clear()

    def _flush_group(self, key: Solution) -> None:
        now = self._solution_of(key)
        before = self.emitted.get(key)
        if now == before and numbers_of(now) == numbers_of(before):
            return
        if before is not None:
            del self.emitted[key]
            self.emit(before, -1)
        if now is not None:
            self.emitted[key] = now
            self.emit(now, 1)

    def _solution_of(self, key: Solution) -> Solution | None:
        """Return what a group is now; None if it has no members left, and forget it then."""
        group = self.groups.get(key)
        if group is None:
            group = self._empty_group()
        now = None
        if group.count or self.has_no_key:
            now = (*key, *(aggregate.value() for aggregate in group.aggregates))
        if not group.count:
            self.groups.pop(key, None)
        return now

    def _empty_group(self) -> GroupMembers:
        return GroupMembers([make() for make in self.make_aggregates])


def numbers_of(solution: Solution | None) -> list[Number]:
    """Return the computed numbers of a solution, at which conditions look. They may differ where
    the terms are the same: by how far they are rounded, or whether their form is fixed.
    """
    return [term.number for term in solution or () if isinstance(term, Computed)]


def maintain_groups(
    child: MaintainedNode,
    keys: Sequence[tuple[Variable, Expression]],
    aggregates: Sequence[tuple[Variable, algebra.Aggregate]],
    must_be_exact: bool,
    is_computed: bool,
) -> ObjectNode:
    """Return the groups of a node's solutions. `is_computed` says whether these may have computed
    numbers.
    """
    extended, argument_names = extend_for_group(child, keys, aggregates)
    if is_computed or extended is not child:
        compared = [variable.name for variable, _ in keys]
        for (_, function), name in zip(aggregates, argument_names, strict=True):
            if name is None and function.is_distinct:
                compared += visible_names(child)
            elif name is not None and compares_members(function):
                compared.append(name)
        (extended,) = check_forms([extended], compared)
    running = {
        variable.name: compile_aggregate(
            function, extended, name, visible_names(child), must_be_exact
        )
        for (variable, function), name in zip(aggregates, argument_names, strict=True)
    }
    names = [variable.name for variable, _ in keys]
    slots = tuple(extended.slots[name] for name in names)
    make = partial(RunningGroups, key_slots=slots, make_aggregates=[*running.values()])
    certain = extended.certain.intersection(names)
    return ObjectNode(make, extended, (*names, *running), certain, "R2R-16 GROUP BY")


def extend_for_group(
    child: MaintainedNode,
    keys: Sequence[tuple[Variable, Expression]],
    aggregates: Sequence[tuple[Variable, algebra.Aggregate]],
) -> tuple[MaintainedNode, list[str | None]]:
    """Return the solutions of a node with the keys and the arguments that are no variables of it
    yet, and the name of each argument (None: of COUNT(*)).
    """
    bindings = [(key, part) for key, part in keys if key != part or key.name not in child.slots]
    names: list[str | None] = []
    for variable, function in aggregates:
        argument = function.argument
        if argument is None:
            names.append(None)
        elif isinstance(argument, Variable) and argument.name in child.slots:
            names.append(argument.name)
        else:
            names.append(f"{variable.name}.argument")
            bindings.append((Variable(f"{variable.name}.argument"), argument))
    if not bindings:
        return child, names
    return MaintainedExtend(child, bindings), names


def visible_names(node: MaintainedNode) -> list[str]:
    """Return the variables of a node that a text can name."""
    return [name for name in node.names if not Variable(name).is_hidden]


def compares_members(function: algebra.Aggregate) -> bool:
    """Return whether it matters to an aggregate which of its members are the same."""
    return function.is_distinct or function.name not in ("COUNT", "SUM", "AVG")


def compile_aggregate(
    function: algebra.Aggregate,
    child: MaintainedNode,
    argument: str | None,
    visible: Sequence[str],
    must_be_exact: bool,
) -> MakeAggregate:
    """Return what makes an aggregate of each group of a node's solutions. `argument` is the
    variable of its argument (None: of COUNT(*)), and `visible` are those of whole solutions.
    """
    is_distinct = function.is_distinct
    if argument is None and is_distinct:
        slots = tuple(child.slots[name] for name in visible)
        return lambda: RunningSolutionCount(slots)
    slot = None if argument is None else child.slots[argument]
    match function.name:
        case "COUNT":
            return lambda: RunningCount(slot, is_distinct)
        case "SUM" | "AVG":
            is_average = function.name == "AVG"
            return lambda: RunningSum(slot, is_distinct, is_average, must_be_exact)
        case "MIN" | "MAX":
            is_maximum = function.name == "MAX"
            return lambda: RunningExtreme(slot, is_maximum, must_be_exact)
        case _:
            return lambda: RunningMembers(function, slot)
