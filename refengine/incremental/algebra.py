"""§7 by differences: a body's answer kept while triples come and go, each of which costs what it
changes.

SPARQL's algebra (`sparql.algebra`) as a tree of nodes that hand on solutions with a count, positive
where they come and negative where they go (Gupta, Mumick, Subrahmanian, *Maintaining views
incrementally*, SIGMOD 1993). A solution is a tuple of terms by slot. The answers are those that
`sparql.evaluation` defines; what is not covered, and what has no single answer, raises NotCovered,
at once or on meeting a value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from sortedcontainers import SortedList

from refengine.core.query import Body, Form
from refengine.incremental.answer_delta import add
from refengine.incremental.expressions import Test, test
from refengine.incremental.numbers import ExactSum, NotCovered, bounded, number
from refengine.model.elements import XSD, Row, Term, Triple, literal
from refengine.sparql import algebra
from refengine.sparql.algebra import (
    Expression,
    TriplePattern,
    Var,
    all_variables,
    conjuncts,
    without_path,
)
from refengine.sparql.values import Computed, Number, number_term

Solution = tuple[Term | None, ...]
Slots = list[Term | None]  # a solution that is being made
Emit = Callable[[Any, int], None]  # of a solution, or, at the top, of a row
Pick = Callable[[Any], Any]  # of several terms a tuple, of one that one
Index = dict[Any, dict[Any, None]]
PROMOTED = 2.0**-20  # relative: numbers further apart differ as floats, too


class Node:
    """A part of the algebra: the variables of its solutions by slot, those that are always bound,
    and who is told of changes.
    """

    def __init__(self, names: Sequence[str], certain: Iterable[str]) -> None:
        self.names = tuple(names)
        self.slots = {name: slot for slot, name in enumerate(self.names)}
        self.certain = frozenset(certain)
        self.emit: Emit = lambda solution, count: None

    def test(self, expression: Expression) -> Test:
        """Return a condition on its solutions. Raises NotCovered where that is not all it would
        look at.
        """
        if outside := {variable.name for variable in all_variables(expression)} - self.slots.keys():
            raise NotCovered(f"a condition on ?{min(outside)}, which its group does not bind")
        return test(expression, self.slots)


class Pattern:
    """A triple pattern of a basic graph pattern: what a triple must have, and where the variables'
    terms stand in it. With a slot for its date, what follows a triple's terms is told there.
    """

    def __init__(
        self, terms: TriplePattern, slots: Mapping[str, int], dated: int | None = None
    ) -> None:
        self.constants: list[tuple[int, Term]] = []
        self.place: dict[int, int] = {}  # slot -> position
        self.repeated: list[tuple[int, int]] = []
        for position, term in enumerate(without_path(terms)):
            if isinstance(term, Var):
                first = self.place.setdefault(slots[term.name], position)
                self.repeated += [(first, position)] if first != position else []
            else:
                self.constants.append((position, term))
        if dated is not None:
            self.place[dated] = 3
        self.predicate = next((term for position, term in self.constants if position == 1), None)
        self.others = [(position, term) for position, term in self.constants if position != 1]
        self.bound = tuple(self.place.items())
        self.tests: list[Test] = []  # filters on this pattern alone
        self.indexes: list[tuple[Pick, Pick, Index]] = []
        self.seed: Callable[[Slots, int], None] = lambda solution, count: None

    def accepts(self, triple: Triple, solution: Slots) -> bool:
        """Whether a triple matches, its terms then being in the solution."""
        for position, term in self.others:
            if triple[position] != term:
                return False
        for first, second in self.repeated:
            if triple[first] != triple[second]:
                return False
        self.bind(triple, solution)
        # all() would make a generator, and take three times as long, of every triple
        for holds in self.tests:  # noqa: SIM110
            if not holds(solution):
                return False
        return True

    def bind(self, triple: Triple, solution: Slots) -> None:
        """The terms of a triple that matches, into a solution."""
        for slot, position in self.bound:
            solution[slot] = triple[position]

    def index(self, slots: Sequence[int]) -> tuple[Index, tuple[int, ...]]:
        """The index by some slots, made where there is none: key -> terms of the other slots, which
        are told, too.
        """
        key = tuple(self.place[slot] for slot in slots)
        free = tuple(slot for slot in self.place if slot not in slots)
        found: Index = {}
        self.indexes.append(
            (_picked(key), _picked(tuple(self.place[slot] for slot in free)), found)
        )
        return found, free

    def enter(self, triple: Triple) -> None:
        """Takes a triple into the indexes."""
        for key, value, index in self.indexes:
            at = key(triple)
            if at in index:
                index[at][value(triple)] = None
            else:
                index[at] = {value(triple): None}

    def leave(self, triple: Triple) -> None:
        """Takes it out."""
        for key, value, index in self.indexes:
            at = key(triple)
            there = index[at]
            if len(there) == 1:
                del index[at]
            else:
                del there[value(triple)]


def _picked(positions: tuple[int, ...]) -> Pick:
    return itemgetter(*positions) if positions else lambda triple: ()


class Basic(Node):
    """A basic graph pattern under filters. A triple that comes is joined, as each pattern that it
    matches, with what is there.

    The body's blank nodes are variables whose names nothing else has.
    """

    def __init__(
        self,
        triples: Sequence[TriplePattern],
        filters: Sequence[Expression],
        dates: Sequence[str] = (),
    ) -> None:
        if not all(isinstance(triple.predicate, Var | str) for triple in triples):
            raise NotCovered("a property path")
        names = dict.fromkeys(
            term.name for triple in triples for term in triple if isinstance(term, Var)
        )
        super().__init__([*names, *dates], names)
        self.width = len(names)
        self.patterns = [
            Pattern(triple, self.slots, self.slots.get(date))
            for triple, date in zip_longest(triples, dates)
        ]
        self.solution: list[Term | None] = [None] * len(self.names)
        asked = [(self.test(part), all_variables(part)) for part in filters]
        tests = [
            (frozenset(self.slots[variable.name] for variable in variables), holds)
            for holds, variables in asked
        ]
        for pattern in self.patterns:
            pattern.tests = [
                holds for needs, holds in tests if needs and needs <= pattern.place.keys()
            ]
            pattern.seed = self._joined(
                pattern,
                [entry for entry in tests if not (entry[0] and entry[0] <= pattern.place.keys())],
            )

    def _joined(
        self, start: Pattern, tests: list[tuple[frozenset[int], Test]]
    ) -> Callable[[Slots, int], None]:
        """How a triple of one pattern is joined: with the most bound pattern first, each filter as
        soon as it can be asked.
        """
        bound, todo, steps = set(start.place), [p for p in self.patterns if p is not start], []
        while todo:
            best = max(
                todo,
                key=lambda p: (
                    len(bound & p.place.keys()) + len(p.constants),
                    len(bound & p.place.keys()),
                    -self.patterns.index(p),
                ),
            )
            todo.remove(best)
            keys = [slot for slot in best.place if slot in bound]
            bound |= best.place.keys()
            steps.append((best, keys, [holds for needs, holds in tests if needs <= bound]))
            tests = [entry for entry in tests if not entry[0] <= bound]
        follow = self._complete([holds for _, holds in tests])
        for pattern, keys, asked in reversed(steps):
            index, free = pattern.index(keys)
            follow = _step(index, keys, free, asked, follow)
        return follow

    def _complete(self, tests: list[Test]) -> Callable[[Slots, int], None]:
        def complete(solution: Slots, count: int) -> None:
            if all(holds(solution) for holds in tests):
                self.emit(tuple(solution), count)

        return complete

    def enter(self, triple: Triple, pattern: Pattern, several: bool) -> None:
        """A triple comes as one of the patterns: it meets itself as those as which it has come
        before. If it matches several, its terms are not in the solution any more.
        """
        if several:
            pattern.bind(triple, self.solution)
        pattern.seed(self.solution, 1)
        pattern.enter(triple)

    def leave(self, triple: Triple, pattern: Pattern) -> None:
        """A triple goes as one of the patterns."""
        pattern.leave(triple)
        pattern.bind(triple, self.solution)
        pattern.seed(self.solution, -1)


def _step(
    index: Index,
    keys: Sequence[int],
    free: Sequence[int],
    tests: Sequence[Test],
    follow: Callable[[Slots, int], None],
) -> Callable[[Slots, int], None]:
    """One pattern of a join: what is in its index under the solution's
    terms extends the solution.
    """
    key = _picked(tuple(keys))
    one = free[0] if len(free) == 1 else None

    def step(solution: Slots, count: int) -> None:
        found = index.get(key(solution))
        if found is None:
            return
        for terms in found:
            if one is not None:
                solution[one] = terms
            else:
                for slot, term in zip(free, terms, strict=True):
                    solution[slot] = term
            for holds in tests:
                if not holds(solution):
                    break
            else:
                follow(solution, count)

    return step


class Filter(Node):
    """FILTER over anything but a basic graph pattern, and HAVING.

    After an error the other parts are asked, too: one without a single answer leaves the whole
    without (R2R-11); false decides.
    """

    def __init__(self, child: Node, expression: Expression) -> None:
        super().__init__(child.names, child.certain)
        conditions = [self.test(part) for part in conjuncts(expression)]

        def passed(solution: Solution, count: int) -> None:
            has_error = False
            for condition in conditions:
                holds = condition(solution)
                if holds is False:
                    return
                has_error |= holds is None
            if not has_error:
                self.emit(solution, count)

        child.emit = passed


class Union(Node):
    """UNION: the solutions of all parts."""

    def __init__(self, parts: Sequence[Node]) -> None:
        names = dict.fromkeys(name for part in parts for name in part.names)
        super().__init__(list(names), frozenset.intersection(*(part.certain for part in parts)))
        for part in parts:
            part.emit = self._widened(part)

    def _widened(self, child: Node) -> Emit:
        if child.names == self.names:
            return lambda solution, count: self.emit(solution, count)
        places = [child.slots.get(name) for name in self.names]

        def widened(solution: Solution, count: int) -> None:
            self.emit(
                tuple([None if place is None else solution[place] for place in places]), count
            )

        return widened


class Side:
    """The solutions of one side of a join, by the terms of what both have."""

    def __init__(self, node: Node, shared: Sequence[str]) -> None:
        self.key = _picked(tuple(node.slots[name] for name in shared))
        self.by: dict[Any, Counter[Solution]] = {}

    def add(self, solution: Solution, count: int) -> None:
        """Takes a solution in or out."""
        at = self.key(solution)
        there = self.by.setdefault(at, Counter())
        add(there, solution, count)
        if not there:
            del self.by[at]


class Join(Node):
    """Join, on variables that both sides always bind."""

    def __init__(self, left: Node, right: Node) -> None:
        shared = shared_by(left, right)
        super().__init__(
            (*left.names, *(name for name in right.names if name not in left.slots)),
            left.certain | right.certain,
        )
        rest = _all_of(tuple(right.slots[name] for name in self.names[len(left.names) :]))
        mine, others = Side(left, shared), Side(right, shared)

        def from_left(solution: Solution, count: int) -> None:
            mine.add(solution, count)
            for other, times in others.by.get(mine.key(solution), {}).items():
                self.emit((*solution, *rest(other)), count * times)

        def from_right(solution: Solution, count: int) -> None:
            others.add(solution, count)
            for other, times in mine.by.get(others.key(solution), {}).items():
                self.emit((*other, *rest(solution)), count * times)

        left.emit, right.emit = from_left, from_right


class Optional(Node):
    """OPTIONAL: a solution of the left side stands alone as long as nothing of the right side joins
    it.
    """

    def __init__(self, left: Node, right: Node, condition: Expression | None) -> None:
        shared = shared_by(left, right)
        own = [name for name in right.names if name not in left.slots]
        super().__init__((*left.names, *own), left.certain)
        rest, alone = _all_of(tuple(right.slots[name] for name in own)), (None,) * len(own)
        holds = self.test(condition) if condition is not None else lambda solution: True
        # joined: how many of the right a solution has
        mine, others = Side(left, shared), Side(right, shared)
        joined: Counter[Solution] = Counter()

        def from_left(solution: Solution, count: int) -> None:
            had = mine.by.get(mine.key(solution))
            known = had.get(solution, 0) if had is not None else 0
            mine.add(solution, count)
            partners = 0
            for other, times in others.by.get(mine.key(solution), {}).items():
                if holds(whole := (*solution, *rest(other))):
                    partners += times
                    self.emit(whole, count * times)
            if not partners:
                self.emit((*solution, *alone), count)
            if known + count:
                joined[solution] = partners
            else:
                joined.pop(solution, None)

        def from_right(solution: Solution, count: int) -> None:
            others.add(solution, count)
            for other, times in mine.by.get(others.key(solution), {}).items():
                if holds(whole := (*other, *rest(solution))):
                    before = joined[other]
                    joined[other] = before + count
                    if not before:
                        self.emit((*other, *alone), -times)
                    self.emit(whole, count * times)
                    if not joined[other]:
                        self.emit((*other, *alone), times)

        left.emit, right.emit = from_left, from_right


def shared_by(left: Node, right: Node) -> list[str]:
    """The variables of both sides. Raises NotCovered where one may be unbound: then solutions with
    different terms would join.
    """
    shared = [name for name in left.names if name in right.slots]
    if not left.certain.issuperset(shared) or not right.certain.issuperset(shared):
        raise NotCovered("a join on a variable that may be unbound")
    return shared


def _all_of(slots: tuple[int, ...]) -> Callable[[Solution], Solution]:
    """The terms of some slots, always as a tuple."""
    if len(slots) == 1:
        (slot,) = slots
        return lambda solution: (solution[slot],)
    return _picked(slots)


class Group(Node):
    """GROUP BY and its aggregates; without a key there is one group, even of nothing (R2R-6)."""

    def __init__(
        self, child: Node, keys: Sequence[str], aggregates: Mapping[str, Callable[[], Aggregate]]
    ) -> None:
        if not child.certain.issuperset(keys):
            raise NotCovered("a key that may be unbound")
        super().__init__((*keys, *aggregates), keys)
        self.key = _all_of(tuple(child.slots[name] for name in keys))
        self.make = tuple(aggregates.values())
        self.groups: dict[Solution, tuple[list[int], list[Aggregate]]] = {}
        self.told: dict[Solution, Solution] = {}
        self.dirty: dict[Solution, None] = {} if keys else {(): None}
        self.always = not keys
        child.emit = self._changed

    def _changed(self, solution: Solution, count: int) -> None:
        key = self.key(solution)
        if key not in self.groups:
            self.groups[key] = [0], [make() for make in self.make]
        members, aggregates = self.groups[key]
        members[0] += count
        for aggregate in aggregates:
            aggregate.add(solution, count)
        self.dirty[key] = None

    def settle(self) -> None:
        """Hand on the groups that changed, as they are now; those with rounded sums again, since
        HAVING looks at the slack, too.
        """
        for key in self.dirty:
            members, aggregates = self.groups.get(key) or ([0], [make() for make in self.make])
            now = (
                (*key, *(aggregate.told() for aggregate in aggregates))
                if members[0] or self.always
                else None
            )
            if not members[0]:
                self.groups.pop(key, None)
            before = self.told.get(key)
            if now != before or (
                now is not None
                and any(isinstance(term, Computed) and term.number.slack for term in now)
            ):
                if before is not None:
                    self.emit(self.told.pop(key), -1)
                if now is not None:
                    self.told[key] = now
                    self.emit(now, 1)
        self.dirty.clear()


class Aggregate:
    """An aggregate over a slot's terms, or over solutions where there is none; DISTINCT counts each
    term once.
    """

    def __init__(self, slot: int | None, distinct: bool) -> None:
        self.slot = slot
        self.seen: Counter[Solution | Term | None] | None = Counter() if distinct else None

    def add(self, solution: Solution, count: int) -> None:
        """Takes a solution in or out."""
        what = solution if self.slot is None else solution[self.slot]
        if self.seen is not None:
            count = add(self.seen, what, count)
        if count:
            self.take(what, count)

    def take(self, what: Any, count: int) -> None:
        """The same for a term."""
        raise NotImplementedError

    def told(self) -> Term | None:
        """The value, or None: unbound."""
        raise NotImplementedError


class Count(Aggregate):
    """COUNT: of what is bound."""

    total = 0

    def take(self, what: Any, count: int) -> None:
        self.total += 0 if what is None else count

    def told(self) -> Term:
        return literal(str(self.total), XSD + "integer")


class Total(Aggregate):
    """SUM and AVG, of numbers."""

    def __init__(
        self, slot: int | None, distinct: bool, average: bool = False, exactly: bool = False
    ) -> None:
        super().__init__(slot, distinct)
        self.average, self.exactly, self.sum = average, exactly, ExactSum()

    def take(self, what: Any, count: int) -> None:
        self.sum.add(numeric(what), count)

    def told(self) -> Term:
        return number_term(self.sum.total(self.average, self.exactly))


class Extreme(Aggregate):
    """MIN and MAX of numbers: the first or the last in their order. Of equal ones with several
    datatypes there is no single answer.

    Where answers are sets, it would matter which form of one value it is.
    """

    def __init__(
        self, slot: int | None, distinct: bool, last: bool = False, exactly: bool = False
    ) -> None:
        super().__init__(slot, distinct)
        self.last, self.exactly, self.terms = last, exactly, SortedList()
        self.ranks = [0, 0, 0, 0]  # how many terms of each datatype
        self.counts: Counter[Term] = Counter()

    def take(self, what: Any, count: int) -> None:
        found = numeric(what)
        if came := add(self.counts, what, count):
            self.ranks[found.rank] += came
            (self.terms.add if came > 0 else self.terms.remove)(
                (found.value, found.rank if self.last else -found.rank, what)
            )

    def told(self) -> Term | None:
        if not self.terms:
            return None
        inwards = reversed(self.terms) if self.last else iter(self.terms)
        found: Term
        best, first_rank, found = next(inwards)
        for value, rank, _ in inwards:
            if value != best:
                if self._may_be_equal(best, value):
                    raise NotCovered(
                        "MIN or MAX of numbers that are equal as floats or doubles alone"
                    )
                break
            if self.exactly or rank != first_rank or best == 0:
                raise NotCovered("MIN or MAX of two forms of one value")
        return found

    def _may_be_equal(self, a: Any, b: Any) -> bool:
        """Return whether two numbers may be one once they are promoted, which only datatypes of
        several ranks are.
        """
        is_mixed = (
            sum((self.ranks[0] + self.ranks[1] > 0, self.ranks[2] > 0, self.ranks[3] > 0)) > 1
        )
        return is_mixed and abs(a - b) <= PROMOTED * max(abs(a), abs(b))


def numeric(term: Term | None) -> Number:
    """Return the number that an aggregate needs. Raises NotCovered for anything else, of which some
    have no single answer.
    """
    found = None if term is None else number(term)
    if found is None or found.slack:
        raise NotCovered(
            "an aggregate over what is no number"
            if found is None
            else "a decimal of more digits than every evaluator keeps"
        )
    return bounded(found)


class Projected(Node):
    """SELECT: some of the variables, and names for what was computed, as terms alone."""

    def __init__(
        self, child: Node, names: Sequence[str], aliases: Mapping[str, str], distinct: bool
    ) -> None:
        super().__init__(names, ())
        self.child, self.adds_nothing = child, not distinct and not aliases
        order_ = sorted(
            (name, child.slots.get(aliases.get(name, name))) for name in dict.fromkeys(names)
        )
        places = [(name, slot) for name, slot in order_ if slot is not None]
        counts: Counter[Row] = Counter()

        def shown(solution: Solution, count: int) -> None:
            row = tuple(
                [(name, term) for name, slot in places if (term := solution[slot]) is not None]
            )
            if distinct:
                count = add(counts, row, count)
            if count:
                self.emit(row, count)

        child.emit = (
            (lambda solution, count: shown(tuple(map(plain, solution)), count))
            if aliases
            else shown
        )


def plain(term: Term | None) -> Term | None:
    """Return a term without the value from which it was computed."""
    return str(term) if isinstance(term, Computed) else term


Matches = tuple[tuple[Basic, Pattern], ...]


class MaintainedBody:
    """A body, ready to follow a content: `answer` is told of every row of its answer that comes or
    goes. Where it is dated, triples are followed by a date, and the solutions of each basic graph
    pattern by those of their triples. Where answers are `sets`, as under DISTINCT, aggregates must
    be exact, since nearly equal ones are one or two.

    Raises NotCovered for a body that is not covered.
    """

    def __init__(
        self,
        body: Body,
        answer: Callable[[Row, int], None],
        sets: bool = False,
        dated: bool = False,
    ) -> None:
        self.sets, self.dated = sets, dated
        self.basics: list[Basic] = []
        self.holding: list[Group] = []  # children first
        self.present: dict[Triple, Matches] = {}  # as which patterns it matches
        self.again: dict[Triple, int] = {}  # how many more elements have it
        self.matches: dict[Matches, Matches] = {}  # one of each: most triples match alike
        self.top = self._top(body)
        self.top.emit = answer
        self.routes: dict[Term | None, list[tuple[Basic, Pattern]]] = {}
        for basic in self.basics:
            for pattern in basic.patterns:
                self.routes.setdefault(pattern.predicate, []).append((basic, pattern))
        self.wild = self.routes.pop(None, [])  # of any predicate
        for routes in self.routes.values():
            routes += self.wild

    def _top(self, body: Body) -> Projected:
        if body.form is not Form.SELECT or body.makes_blanks:
            raise NotCovered(f"{body.form}" if body.form is not Form.SELECT else "BNODE()")
        node: algebra.Pattern = body.algebra.pattern
        if distinct := isinstance(node, algebra.Distinct):
            self.sets, node = True, node.pattern
        if not isinstance(node, algebra.Project):
            raise NotCovered(f"{type(node).__name__} around the projection")
        node = node.pattern.pattern if isinstance(node.pattern, algebra.OrderBy) else node.pattern
        aliases: dict[str, str] = {}
        if isinstance(node, algebra.Extend):
            aliases = aliased(node)
            node = node.pattern if aliases else node
        return Projected(self._of(node), body.variables, aliases, distinct)

    def _of(self, node: algebra.Pattern) -> Node:
        match node:
            case algebra.Basic(triples):
                return self._basic(triples, [])
            case algebra.Filter(condition, algebra.Basic(triples)):
                return self._basic(triples, list(conjuncts(condition)))
            case algebra.Filter(condition, inner):
                return Filter(self._of(inner), condition)
            case algebra.Union(parts):
                return Union([self._of(part) for part in parts])
            case algebra.Join(parts) if parts:
                return reduce(Join, map(self._of, parts))
            case algebra.LeftJoin(left, right, condition):
                return Optional(self._of(left), self._of(right), condition)
            case algebra.Group():
                return self._grouped(node)
            case _:
                raise NotCovered(
                    "an empty graph pattern" if node == algebra.Join(()) else type(node).__name__
                )

    def _basic(self, triples: Sequence[TriplePattern], filters: Sequence[Expression]) -> Node:
        number = len(self.basics)
        self.basics.append(
            Basic(
                triples,
                filters,
                [f"#{number}.{i}" for i in range(len(triples))] if self.dated else (),
            )
        )
        return self.basics[-1]

    def _grouped(self, node: algebra.Group) -> Node:
        keys = node.keys or ()
        if any(variable != expression for variable, expression in keys):
            raise NotCovered("a key that is an expression")
        child = self._of(node.pattern)
        aggregates = {
            variable.name: _aggregate(function, child, self.sets)
            for variable, function in node.aggregates
        }
        self.holding.append(Group(child, [variable.name for variable, _ in keys], aggregates))
        return self.holding[-1]

    def enter(self, triple: Triple) -> None:
        """A triple comes into the content. The same triple of another element changes nothing."""
        routes = self.routes.get(triple[1], self.wild)
        if not routes:
            return
        if triple in self.present:
            self.again[triple] = self.again.get(triple, 0) + 1
            return
        found: Matches = ()
        for match in routes:
            if match[1].accepts(triple, match[0].solution):
                found += (match,)
        if found:
            self.present[triple] = self.matches.setdefault(found, found)
            for basic, pattern in found:
                basic.enter(triple, pattern, len(found) > 1)

    def leave(self, triple: Triple) -> None:
        """A triple goes out of it."""
        if triple not in self.present:
            return
        if triple in self.again:
            self.again[triple] -= 1
            if not self.again[triple]:
                del self.again[triple]
            return
        for basic, pattern in self.present.pop(triple):
            basic.leave(triple, pattern)

    def forget(self, triple: Triple) -> None:
        """A triple will not be joined any more, and what it was joined with stays."""
        for _, pattern in self.present.pop(triple, ()):
            pattern.leave(triple)

    def settle(self) -> None:
        """The content is whole: what was held back is told."""
        for node in self.holding:
            node.settle()


def aliased(node: algebra.Extend) -> dict[str, str]:
    """Return what is bound over groups by what it is: a key or an aggregate. Raises NotCovered for
    other bindings.
    """
    grouped = node.pattern.pattern if isinstance(node.pattern, algebra.Filter) else node.pattern
    found: dict[str, str] = {}
    for variable, expression in node.bindings:
        if not isinstance(grouped, algebra.Group) or not isinstance(expression, Var):
            raise NotCovered("an expression in SELECT, or BIND")
        found[variable.name] = found.get(expression.name, expression.name)
    return found


def _aggregate(function: algebra.Aggregate, child: Node, sets: bool) -> Callable[[], Aggregate]:
    argument, distinct = function.argument, function.is_distinct
    if argument is not None and not isinstance(argument, Var):
        raise NotCovered("an aggregate of an expression")
    slot = None if argument is None else child.slots.get(argument.name)
    if slot is None and argument is not None:
        raise NotCovered("an aggregate of a variable that is never bound")
    if slot is None and distinct:
        raise NotCovered("COUNT(DISTINCT *)")
    match function.name:
        case "COUNT":
            return lambda: Count(slot, distinct)
        case "SUM" | "AVG":
            return lambda: Total(slot, distinct, function.name == "AVG", sets)
        case "MIN" | "MAX":
            return lambda: Extreme(slot, distinct, function.name == "MAX", sets)
        case _:
            raise NotCovered(function.name)
