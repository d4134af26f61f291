"""§7 by differences: a body's answer kept while triples come and go, each of which costs what it changes.

The algebra of R2R as a tree of nodes that hand on solutions with a count, positive where they come and negative where they go
(Gupta, Mumick, Subrahmanian, *Maintaining views incrementally*, SIGMOD 1993). A solution is a tuple of terms by slot. The answers
are those that `r2r` defines; what is not covered, at once or on meeting a value, raises Beyond.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Identifier, Variable
from sortedcontainers import SortedList

from refengine import compare
from refengine.expressions import Test, conjuncts, test, variables
from refengine.kept import add
from refengine.model import XSD, Row, Term, Triple, literal
from refengine.numbers import Beyond, Number, Sum, number, order
from refengine.query import Body, Form
from refengine.sparql.witnesses import from_rdflib

Solution = tuple[Term | None, ...]
Emit = Callable[[Solution, int], None]


class Node:
    """A part of the algebra: the variables of its solutions by slot, those that are always bound, and who is told of changes."""

    def __init__(self, names: Sequence[str], certain: Iterable[str]) -> None:
        self.names = tuple(names)
        self.slots = {name: slot for slot, name in enumerate(self.names)}
        self.certain = frozenset(certain)
        self.emit: Emit = lambda solution, count: None

    def test(self, expression: Any) -> Test:
        """A condition on its solutions. Raises Beyond where that is not all it would look at."""
        if outside := variables(expression) - self.slots.keys():
            raise Beyond(f"a condition on ?{min(outside)}, which its group does not bind")
        return test(expression, self.slots)


class Pattern:
    """A triple pattern of a basic graph pattern: what a triple must have, and where the variables' terms stand in it. With a slot
    for its date, what follows a triple's terms is told there."""

    def __init__(self, terms: Sequence[Identifier], slots: Mapping[str, int], dated: int | None = None) -> None:
        self.constants: list[tuple[int, Term]] = []
        self.place: dict[int, int] = {}  # slot -> position
        self.repeated: list[tuple[int, int]] = []
        for position, term in enumerate(terms):
            if isinstance(term, Variable | BNode):
                first = self.place.setdefault(slots[variable(term)], position)
                self.repeated += [(first, position)] if first != position else []
            else:
                self.constants.append((position, from_rdflib(term)))
        if dated is not None:
            self.place[dated] = 3
        self.predicate = next((term for position, term in self.constants if position == 1), None)
        self.others = [(position, term) for position, term in self.constants if position != 1]
        self.bound = tuple(self.place.items())
        self.tests: list[Test] = []  # filters on this pattern alone
        self.indexes: list[tuple[Callable, Callable, dict]] = []
        self.seed: Callable[[list, int], None] = lambda solution, count: None

    def accepts(self, triple: Triple, solution: list) -> bool:
        """Whether a triple matches, its terms then being in the solution."""
        for position, term in self.others:
            if triple[position] != term:
                return False
        for first, second in self.repeated:
            if triple[first] != triple[second]:
                return False
        self.bind(triple, solution)
        for holds in self.tests:
            if not holds(solution):
                return False
        return True

    def bind(self, triple: Triple, solution: list) -> None:
        """The terms of a triple that matches, into a solution."""
        for slot, position in self.bound:
            solution[slot] = triple[position]

    def index(self, slots: Sequence[int]) -> tuple[dict, tuple[int, ...]]:
        """The index by some slots, made where there is none: key -> terms of the other slots, which are told, too."""
        key = tuple(self.place[slot] for slot in slots)
        free = tuple(slot for slot in self.place if slot not in slots)
        found: dict = {}
        self.indexes.append((_picked(key), _picked(tuple(self.place[slot] for slot in free)), found))
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


def _picked(positions: tuple[int, ...]) -> Callable:
    return itemgetter(*positions) if positions else lambda triple: ()


def variable(term: Identifier) -> str:
    """The name of a variable; of a blank node one that cannot be projected."""
    return f"_:{term}" if isinstance(term, BNode) else str(term)


class Basic(Node):
    """A basic graph pattern under filters. A triple that comes is joined, as each pattern that it matches, with what is there."""

    def __init__(self, triples: Sequence[tuple], filters: Sequence[Any], dates: Sequence[str] = ()) -> None:
        if not triples:
            raise Beyond("an empty graph pattern")
        if not all(isinstance(term, Identifier) for triple in triples for term in triple):
            raise Beyond("a property path")
        names = dict.fromkeys(variable(term) for triple in triples for term in triple if isinstance(term, Variable | BNode))
        super().__init__([*names, *dates], names)
        self.width = len(names)
        self.patterns = [Pattern(triple, self.slots, self.slots.get(date)) for triple, date in zip_longest(triples, dates)]
        self.solution: list[Term | None] = [None] * len(self.names)
        asked = [(self.test(part), variables(part)) for part in filters]
        tests = [(frozenset(self.slots[name] for name in names), holds) for holds, names in asked]
        for pattern in self.patterns:
            pattern.tests = [holds for needs, holds in tests if needs and needs <= pattern.place.keys()]
            pattern.seed = self._joined(pattern, [entry for entry in tests if not (entry[0] and entry[0] <= pattern.place.keys())])

    def _joined(self, start: Pattern, tests: list[tuple[frozenset[int], Test]]) -> Callable[[list, int], None]:
        """How a triple of one pattern is joined: with the most bound pattern first, each filter as soon as it can be asked."""
        bound, todo, steps = set(start.place), [p for p in self.patterns if p is not start], []
        while todo:
            best = max(todo, key=lambda p: (len(bound & p.place.keys()) + len(p.constants), len(bound & p.place.keys()), -self.patterns.index(p)))
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

    def _complete(self, tests: list[Test]) -> Callable[[list, int], None]:
        def complete(solution: list, count: int) -> None:
            if all(holds(solution) for holds in tests):
                self.emit(tuple(solution), count)

        return complete

    def enter(self, triple: Triple, pattern: Pattern, several: bool) -> None:
        """A triple comes as one of the patterns: it meets itself as those as which it has come before. If it matches several, its
        terms are not in the solution any more."""
        if several:
            pattern.bind(triple, self.solution)
        pattern.seed(self.solution, 1)
        pattern.enter(triple)

    def leave(self, triple: Triple, pattern: Pattern) -> None:
        """A triple goes as one of the patterns."""
        pattern.leave(triple)
        pattern.bind(triple, self.solution)
        pattern.seed(self.solution, -1)


def _step(index: dict, keys: Sequence[int], free: Sequence[int], tests: Sequence[Test], follow: Callable[[list, int], None]) -> Callable[[list, int], None]:
    """One pattern of a join: what is in its index under the solution's terms extends the solution."""
    key = _picked(tuple(keys))
    one = free[0] if len(free) == 1 else None

    def step(solution: list, count: int) -> None:
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
    """FILTER over anything but a basic graph pattern, and HAVING."""

    def __init__(self, child: Node, expression: Any) -> None:
        super().__init__(child.names, child.certain)
        tests = [self.test(part) for part in conjuncts(expression)]

        def passed(solution: Solution, count: int) -> None:
            if all(holds(solution) for holds in tests):
                self.emit(solution, count)

        child.emit = passed


class Union(Node):
    """UNION: the solutions of both."""

    def __init__(self, left: Node, right: Node) -> None:
        super().__init__(list(dict.fromkeys((*left.names, *right.names))), left.certain & right.certain)
        for child in (left, right):
            child.emit = self._widened(child)

    def _widened(self, child: Node) -> Emit:
        if child.names == self.names:
            return lambda solution, count: self.emit(solution, count)
        places = [child.slots.get(name) for name in self.names]

        def widened(solution: Solution, count: int) -> None:
            self.emit(tuple([None if place is None else solution[place] for place in places]), count)

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
        super().__init__((*left.names, *(name for name in right.names if name not in left.slots)), left.certain | right.certain)
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
    """OPTIONAL: a solution of the left side stands alone as long as nothing of the right side joins it."""

    def __init__(self, left: Node, right: Node, expression: Any) -> None:
        shared = shared_by(left, right)
        own = [name for name in right.names if name not in left.slots]
        super().__init__((*left.names, *own), left.certain)
        rest, alone = _all_of(tuple(right.slots[name] for name in own)), (None,) * len(own)
        holds = self.test(expression)
        mine, others, joined = Side(left, shared), Side(right, shared), Counter()  # joined: how many of the right a solution has

        def from_left(solution: Solution, count: int) -> None:
            known = mine.by.get(mine.key(solution), {}).get(solution, 0)
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
    """The variables of both sides. Raises Beyond where one may be unbound: then solutions with different terms would join."""
    shared = [name for name in left.names if name in right.slots]
    if not left.certain.issuperset(shared) or not right.certain.issuperset(shared):
        raise Beyond("a join on a variable that may be unbound")
    return shared


def _all_of(slots: tuple[int, ...]) -> Callable[[Solution], Solution]:
    """The terms of some slots, always as a tuple."""
    if len(slots) == 1:
        (slot,) = slots
        return lambda solution: (solution[slot],)
    return _picked(slots)


class Group(Node):
    """GROUP BY and its aggregates; without a key there is one group, even of nothing (R2R-6)."""

    def __init__(self, child: Node, keys: Sequence[str], aggregates: Mapping[str, Callable[[], Aggregate]]) -> None:
        if not child.certain.issuperset(keys):
            raise Beyond("a key that may be unbound")
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
        """Hands on the groups that changed, as they are now."""
        for key in self.dirty:
            members, aggregates = self.groups.get(key) or ([0], [make() for make in self.make])
            now = (*key, *(aggregate.told() for aggregate in aggregates)) if members[0] or self.always else None
            if not members[0]:
                self.groups.pop(key, None)
            before = self.told.get(key)
            if now != before:
                if before is not None:
                    self.emit(self.told.pop(key), -1)
                if now is not None:
                    self.told[key] = now
                    self.emit(now, 1)
        self.dirty.clear()


class Aggregate:
    """An aggregate over a slot's terms, or over solutions where there is none; DISTINCT counts each term once."""

    def __init__(self, slot: int | None, distinct: bool) -> None:
        self.slot, self.seen = slot, Counter() if distinct else None

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

    def __init__(self, slot: int | None, distinct: bool, average: bool = False, exactly: bool = False) -> None:
        super().__init__(slot, distinct)
        self.average, self.exactly, self.sum = average, exactly, Sum()

    def take(self, what: Any, count: int) -> None:
        self.sum.add(numeric(what), count)

    def told(self) -> Term:
        return self.sum.total(self.average, self.exactly)


class Extreme(Aggregate):
    """MIN and MAX, of numbers: the first or the last in their order, and of equal ones by text."""

    def __init__(self, slot: int | None, distinct: bool, last: bool = False) -> None:
        super().__init__(slot, distinct)
        self.place, self.terms = -last, SortedList()
        self.counts: Counter[Term] = Counter()

    def take(self, what: Any, count: int) -> None:
        entry = (numeric(what).value, what)
        if came := add(self.counts, what, count):
            (self.terms.add if came > 0 else self.terms.remove)(entry)

    def told(self) -> Term | None:
        if not self.terms:
            return None
        found = self.terms[self.place][1]
        if len(self.terms) > 1:  # its neighbour may be as great to a witness
            order(number(found), number(self.terms[-2 if self.place else 1][1]))
        return found


def numeric(term: Term | None) -> Number:
    """The number that an aggregate needs. Raises Beyond for anything else, on which the witnesses differ."""
    found = None if term is None else number(term)
    if found is None:
        raise Beyond("an aggregate over what is no number")
    return found


class Projected(Node):
    """SELECT: some of the variables, and names for what was computed."""

    def __init__(self, child: Node, names: Sequence[str], aliases: Mapping[str, str], distinct: bool) -> None:
        super().__init__(names, ())
        self.child, self.adds_nothing = child, not distinct and not aliases
        order_ = sorted((name, child.slots.get(aliases.get(name, name))) for name in dict.fromkeys(names))
        places = [(name, slot) for name, slot in order_ if slot is not None]
        counts: Counter[Row] = Counter()

        def shown(solution: Solution, count: int) -> None:
            row = tuple([(name, solution[slot]) for name, slot in places if solution[slot] is not None])
            if distinct:
                count = add(counts, row, count)
            if count:
                self.emit(row, count)

        child.emit = shown


class Literals:
    """Which literals are there: two that are one to a witness that keeps values (as "1.0" and "1.00") are beyond us."""

    def __init__(self, fixed: Iterable[Term]) -> None:
        self.there: dict[tuple, list] = {}
        for term in fixed:
            self.add(term, 1)

    def add(self, term: Term, count: int) -> None:
        """Takes a literal in or out."""
        if term.endswith('"') or (what := compare.value(term)) == term:
            return
        key = number(term) if isinstance(what, compare.Number) else what
        there = self.there.setdefault(key, [term, 0])
        if there[0] != term:
            raise Beyond(f"{there[0]} and {term} are one value")
        there[1] += count
        if not there[1]:
            del self.there[key]


Matches = tuple[tuple[Basic, Pattern], ...]


class Network:
    """A body, ready to follow a content: `answer` is told of every row of its answer that comes or goes. Where it is dated, triples
    are followed by a date, and the solutions of each basic graph pattern by those of their triples. Where answers are `sets`, as
    under DISTINCT, sums must be exact, since nearly equal ones are one or two.

    Raises Beyond for a body that is not covered.
    """

    def __init__(self, body: Body, answer: Callable[[Row, int], None], sets: bool = False, dated: bool = False) -> None:
        self.sets, self.dated = sets, dated
        self.basics: list[Basic] = []
        self.holding: list[Group] = []  # children first
        self.present: dict[Triple, Matches] = {}  # as which patterns it matches
        self.again: dict[Triple, int] = {}  # how many more elements have it
        self.matches: dict[Matches, Matches] = {}  # one of each: most triples match alike
        self.top = self._top(body)
        self.top.emit = answer
        constants = [term for basic in self.basics for pattern in basic.patterns for _, term in pattern.constants if term.startswith('"')]
        self.literals = Literals(constants)
        self.routes: dict[Term | None, list[tuple[Basic, Pattern]]] = {}
        for basic in self.basics:
            for pattern in basic.patterns:
                self.routes.setdefault(pattern.predicate, []).append((basic, pattern))
        self.wild = self.routes.pop(None, [])  # of any predicate
        for routes in self.routes.values():
            routes += self.wild

    def _top(self, body: Body) -> Node:
        if body.form is not Form.SELECT or body.makes_blanks:
            raise Beyond(f"{body.form}" if body.form is not Form.SELECT else "BNODE()")
        node = body.algebra.algebra.p
        if distinct := node.name == "Distinct":
            self.sets, node = True, node.p
        if node.name != "Project":
            raise Beyond(f"{node.name} around the projection")
        node, aliases = node.p, {}
        while node.name in ("OrderBy", "Extend"):
            if node.name == "Extend":
                if not _names_aggregate(node):
                    raise Beyond("an expression in SELECT, or BIND")
                aliases[str(node.var)] = str(node.expr)
            node = node.p
        return Projected(self._of(node), body.variables, aliases, distinct)

    def _of(self, node: CompValue) -> Node:
        match node.name:
            case "BGP":
                return self._basic(node, [])
            case "Filter":
                return self._filtered(node)
            case "Union":
                return Union(self._of(node.p1), self._of(node.p2))
            case "Join":
                return Join(self._of(node.p1), self._of(node.p2))
            case "LeftJoin":
                return Optional(self._of(node.p1), self._of(node.p2), node.expr)
            case "AggregateJoin":
                return self._grouped(node)
            case _:
                raise Beyond(node.name)

    def _basic(self, node: CompValue, filters: Sequence[Any]) -> Node:
        number = len(self.basics)
        basic = Basic(node.triples, filters, [f"#{number}.{i}" for i in range(len(node.triples))] if self.dated else ())
        blanks = {name for name in basic.names if name.startswith("_:")}
        if any(blanks & other.slots.keys() for other in self.basics):
            raise Beyond("a blank node in two groups")
        self.basics.append(basic)
        return basic

    def _filtered(self, node: CompValue) -> Node:
        if node.p.name == "BGP":
            return self._basic(node.p, list(conjuncts(node.expr)))
        inner = node.p
        while _names_aggregate(inner):  # HAVING names what the groups have
            inner = inner.p
        return Filter(self._of(inner), node.expr)

    def _grouped(self, node: CompValue) -> Node:
        child, keys = self._of(node.p.p), node.p.expr or []
        if not all(isinstance(key, Variable) for key in keys):
            raise Beyond("a key that is an expression")
        names = [str(key) for key in keys]
        aggregates, again = {}, {}
        for aggregate in node.A:
            if aggregate.name == "Aggregate_Sample":
                if str(aggregate.vars) not in names:
                    raise Beyond("a variable that is no key")
                again[str(aggregate.res)] = str(aggregate.vars)
            else:
                aggregates[str(aggregate.res)] = _aggregate(aggregate, child, self.sets)
        self.holding.append(Group(child, names, aggregates))
        return Again(self.holding[-1], again)

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
            if triple[2][0] == '"':
                self.literals.add(triple[2], 1)
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
        if triple[2][0] == '"':
            self.literals.add(triple[2], -1)
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


class Again(Node):
    """The keys of groups under the names by which SELECT asks for them."""

    def __init__(self, child: Node, names: Mapping[str, str]) -> None:
        super().__init__((*child.names, *names), child.certain)
        places = tuple(child.slots[name] for name in names.values())
        child.emit = lambda solution, count: self.emit((*solution, *[solution[place] for place in places]), count)


def _names_aggregate(node: CompValue) -> bool:
    """Whether a node gives an aggregate its name in SELECT, as the algebra has it."""
    return node.name == "Extend" and isinstance(node.expr, Variable) and str(node.expr).startswith("__agg_")


def _aggregate(node: CompValue, child: Node, sets: bool) -> Callable[[], Aggregate]:
    if node.vars != "*" and not isinstance(node.vars, Variable):
        raise Beyond("an aggregate of an expression")
    slot = None if node.vars == "*" else child.slots.get(str(node.vars))
    if slot is None and node.vars != "*":
        raise Beyond("an aggregate of a variable that is never bound")
    distinct = bool(node.distinct)
    if slot is None and distinct:
        raise Beyond("COUNT(DISTINCT *)")
    match node.name:
        case "Aggregate_Count":
            return lambda: Count(slot, distinct)
        case "Aggregate_Sum" | "Aggregate_Avg":
            return lambda: Total(slot, distinct, node.name == "Aggregate_Avg", sets)
        case "Aggregate_Min" | "Aggregate_Max":
            return lambda: Extreme(slot, distinct, node.name == "Aggregate_Max")
        case _:
            raise Beyond(node.name)
