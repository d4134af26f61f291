"""§7 Basic graph patterns and the graphs that they are over, maintained: an inserted triple comes
into one graph, and is joined there with the triples that are there already, and so is one that is
retracted.

For `?x :p ?y . ?y :q ?z` a new triple `(a, :p, b)` matches the first pattern. It binds ?x and ?y,
and the index of the second pattern by ?y gives the triples `(b, :q, …)` that complete a solution.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from refengine.incremental.algebra.expressions import Condition
from refengine.incremental.algebra.joins import equal_slots, look_up_value, pick_value
from refengine.incremental.algebra.nodes import Index, LookUp, MaintainedNode, PickKey, pick_key
from refengine.model.elements import Term, Triple
from refengine.sparql.algebra import (
    Expression,
    TriplePattern,
    Variable,
    all_variables,
    without_path,
)

# A solution while it is being made, slot by slot
Slots = list[Term | None]

# Goes on with a join, from the slots that are bound so far, and with the change's count
Continue = Callable[[Slots, int], None]


ELEMENT_NUMBER = 3  # the place of an element's number in a triple that is followed by it


class NeededSlots(NamedTuple):
    """A condition, and the slots that must be bound before it is asked."""

    slots: frozenset[int]
    holds: Condition


class IndexedPattern:
    """One triple pattern, and the triples that match it now, in an index for each join that looks
    them up.

    `place` is where in a triple the term of each slot stands. With a `number_slot`, triples are
    followed by the number of the element that they come from, which goes into that slot.
    """

    def __init__(
        self, terms: TriplePattern, slots: Mapping[str, int], number_slot: int | None = None
    ) -> None:
        self.place: dict[int, int] = {}
        self.predicate: Term | None = None
        # constants to compare with; the predicate is known from the route that a triple takes
        self.constants: list[tuple[int, Term]] = []
        self.repeated: list[tuple[int, int]] = []  # places that must hold the same term
        for position, term in enumerate(without_path(terms)):
            if isinstance(term, Variable):
                first = self.place.setdefault(slots[term.name], position)
                if first != position:
                    self.repeated.append((first, position))
            elif position == 1:
                self.predicate = term
            else:
                self.constants.append((position, term))
        if number_slot is not None:
            self.place[number_slot] = ELEMENT_NUMBER

        self.bound = tuple(self.place.items())
        self.conditions: list[Condition] = []  # filters on this pattern's variables alone
        self.indexes: list[tuple[PickKey, PickKey, Index]] = []
        self.join: Continue  # what completes its triples to solutions

    @property
    def number_of_constants(self) -> int:
        """How many of its three terms are no variables."""
        return len(self.constants) + (self.predicate is not None)

    def accepts(self, triple: Triple, solution: Slots) -> bool:
        """Return whether a triple with this pattern's predicate matches it and passes its filters.
        If it does, its terms are in the solution.
        """
        for position, term in self.constants:
            if triple[position] != term:
                return False
        for first, second in self.repeated:
            if triple[first] != triple[second]:
                return False
        self.bind(triple, solution)
        # all() would make a generator, and take three times as long, of every triple
        for holds in self.conditions:  # noqa: SIM110
            if not holds(solution):
                return False
        return True

    def bind(self, triple: Triple, solution: Slots) -> None:
        """Put the terms of a triple that matches into a solution."""
        for slot, position in self.bound:
            solution[slot] = triple[position]

    def add_index(
        self, slots: Sequence[int], value_slot: int | None = None
    ) -> tuple[Index, tuple[int, ...]]:
        """Add an index by some slots, or by the value of one (`pick_value`), empty so far. Return
        it, and the other slots: those whose terms it gives. A value does not tell the term.
        """
        key = pick_key(tuple(self.place[slot] for slot in slots))
        if value_slot is not None:
            key = pick_value(self.place[value_slot])
        free = tuple(slot for slot in self.place if slot not in slots)
        free_places = tuple(self.place[slot] for slot in free)
        index: Index = {}
        self.indexes.append((key, pick_key(free_places), index))
        return index, free

    def insert(self, triple: Triple) -> None:
        """Insert a triple into every index. The triple must match."""
        for key, value, index in self.indexes:
            at = key(triple)
            if at in index:
                index[at][value(triple)] = None
            else:
                index[at] = {value(triple): None}

    def remove(self, triple: Triple) -> None:
        """Remove a triple from every index. The triple must be present."""
        for key, value, index in self.indexes:
            at = key(triple)
            there = index[at]
            if len(there) == 1:
                del index[at]
            else:
                del there[value(triple)]


class MaintainedBasicPattern(MaintainedNode):
    """A basic graph pattern under filters: it emits the solutions that an inserted triple completes
    and those that a retracted one was in.

    Each of `filters` is asked as soon as its variables are bound, `outer_filters` of what passes
    all of them: they drop no solution of which an inner filter has no single answer.

    The body's blank nodes are variables, with names that no other has. `number_names` are given
    where triples are followed by the number of their element: one for each triple pattern. Those
    slots follow the `width` slots of the variables.

    There are no property paths among the triples: `paths` writes these out.
    """

    def __init__(
        self,
        triples: Sequence[TriplePattern],
        filters: Sequence[Expression],
        number_names: Sequence[str] = (),
        outer_filters: Sequence[Expression] = (),
    ) -> None:
        names = _variable_names(triples)
        super().__init__([*names, *number_names], names)
        self.width = len(names)
        self.patterns = [
            IndexedPattern(triple, self.slots, self.slots.get(number_name))
            for triple, number_name in zip_longest(triples, number_names)
        ]
        self.solution: Slots = [None] * len(self.names)

        conditions = [self._with_slots(part) for part in filters]
        self.outer_conditions = [self.condition(part) for part in outer_filters]
        self.equal_slots = equal_slots(filters, self.slots)
        for pattern in self.patterns:
            others = []
            for condition in conditions:
                if condition.slots and condition.slots <= pattern.place.keys():
                    pattern.conditions.append(condition.holds)
                else:
                    others.append(condition)
            pattern.join = self._join_from(pattern, others)

    def insert(self, triple: Triple, pattern: IndexedPattern, is_bound: bool) -> None:
        """Insert a triple as a match of one pattern, and emit the solutions that it completes.

        A triple that matches several patterns is inserted as one after the other. It is joined
        before it enters this pattern's index, and so meets itself as the earlier ones alone, and
        each solution is emitted once. `is_bound` says that its terms are still in the solution,
        since `accepts` was called for no other pattern: that binds its own terms, even where its
        filters then refuse the triple.
        """
        if not is_bound:
            pattern.bind(triple, self.solution)
        pattern.join(self.solution, 1)
        pattern.insert(triple)

    def retract(self, triple: Triple, pattern: IndexedPattern) -> None:
        """Retract a triple as a match of one pattern, and emit the solutions that it was part of,
        with a count of -1.
        """
        pattern.remove(triple)
        pattern.bind(triple, self.solution)
        pattern.join(self.solution, -1)

    def _with_slots(self, expression: Expression) -> NeededSlots:
        holds = self.condition(expression)
        names = {variable.name for variable in all_variables(expression)}
        slots = frozenset(slot for name, slot in self.slots.items() if name in names)
        return NeededSlots(slots, holds)

    def _join_from(self, start: IndexedPattern, conditions: list[NeededSlots]) -> Continue:
        """Return what joins a triple of one pattern with the others: the most bound pattern first,
        and each condition as soon as its slots are bound.
        """
        bound = set(start.place)
        left = [pattern for pattern in self.patterns if pattern is not start]
        steps = []
        while left:
            reached = bound | {other for one, other in self.equal_slots if one in bound}
            pattern = max(left, key=lambda each: self._preference(each, reached))
            left.remove(pattern)
            look_up, key, free_slots = self._index_for(pattern, bound)
            bound |= pattern.place.keys()
            ready = [each.holds for each in conditions if each.slots <= bound]
            conditions = [each for each in conditions if not each.slots <= bound]
            steps.append((look_up, key, free_slots, ready))

        # the steps are linked from the last one, which emits, to the first
        following = self._emit_if([*(each.holds for each in conditions), *self.outer_conditions])
        for look_up, key, free_slots, ready in reversed(steps):
            following = _join_step(look_up, key, free_slots, ready, following)
        return following

    def _index_for(
        self, pattern: IndexedPattern, bound: Collection[int]
    ) -> tuple[LookUp, PickKey, tuple[int, ...]]:
        """Add an index of a pattern by the slots that are bound. If none is, but an equality has
        one, the index is by value.

        Return what looks up a key there, what picks the key from a solution, and the slots whose
        terms are found.
        """
        key_slots = tuple(slot for slot in pattern.place if slot in bound)
        if not key_slots:
            for one, other in self.equal_slots:
                if one in bound and other in pattern.place:
                    index, free_slots = pattern.add_index((), other)
                    return look_up_value(index), pick_value(one), free_slots
        index, free_slots = pattern.add_index(key_slots)
        return index.get, pick_key(key_slots), free_slots

    def _preference(
        self, pattern: IndexedPattern, reached: Collection[int]
    ) -> tuple[int, int, int]:
        """Return how soon a pattern is joined, the greatest first: by how many of its terms are
        known, then of its variables, then by its place in the query. `reached` are the slots that
        are bound, or equal to one that is.
        """
        known = sum(slot in reached for slot in pattern.place)
        return known + pattern.number_of_constants, known, -self.patterns.index(pattern)

    def _emit_if(self, conditions: list[Condition]) -> Continue:
        def emit_if(solution: Slots, count: int) -> None:
            if all(holds(solution) for holds in conditions):
                self.emit(tuple(solution), count)

        return emit_if


def _variable_names(triples: Sequence[TriplePattern]) -> dict[str, None]:
    """Return the names of the variables, each once, in the order of their first places."""
    terms = [term for triple in triples for term in triple]
    return dict.fromkeys(term.name for term in terms if isinstance(term, Variable))


def _join_step(
    look_up: LookUp,
    key: PickKey,
    free_slots: Sequence[int],
    conditions: Sequence[Condition],
    following: Continue,
) -> Continue:
    """Return one step of a join: look up what an index has under the terms that are bound, bind
    the free slots to each, and go on with those that pass the conditions.
    """
    only_free_slot = free_slots[0] if len(free_slots) == 1 else None

    def step(solution: Slots, count: int) -> None:
        matches = look_up(key(solution))
        if matches is None:
            return
        for terms in matches:
            if only_free_slot is not None:
                solution[only_free_slot] = terms
            else:
                for slot, term in zip(free_slots, terms, strict=True):
                    solution[slot] = term
            for holds in conditions:
                if not holds(solution):
                    break
            else:
                following(solution, count)

    return step


# The graphs of the dataset


# The triple patterns that a triple matches, each with the basic graph pattern that it is of
Matches = tuple[tuple[MaintainedBasicPattern, IndexedPattern], ...]


class MaintainedGraph:
    """One graph: the default graph, or a named one.

    It keeps the triples that match a pattern. A change costs the patterns that have the triple's
    predicate or a variable in its place, and what these emit.
    """

    def __init__(self) -> None:
        # the triples that match anything, and how many more elements have each
        self.present: dict[Triple, Matches] = {}
        self.extra_copies: dict[Triple, int] = {}
        # one tuple of each, to save memory: most triples match alike
        self.known_matches: dict[Matches, Matches] = {}

        # a triple can match the patterns that have its predicate, and those that have a variable
        self.routes: dict[Term | None, list[tuple[MaintainedBasicPattern, IndexedPattern]]] = {}
        self.any_predicate: list[tuple[MaintainedBasicPattern, IndexedPattern]] = []
        self.presences: list[GraphPresence] = []

    def add_patterns(self, basic: MaintainedBasicPattern) -> None:
        """Send the triples of this graph to the patterns of a basic graph pattern, too. When all
        are added, `connect` must be called.
        """
        for pattern in basic.patterns:
            self.routes.setdefault(pattern.predicate, []).append((basic, pattern))

    def add_presence(self) -> GraphPresence:
        """Return a new node that tells whether this graph is in the dataset."""
        self.presences.append(GraphPresence())
        return self.presences[-1]

    def connect(self) -> None:
        """Make the routes complete, now that all patterns are known."""
        self.any_predicate = self.routes.pop(None, [])
        for routes in self.routes.values():
            routes += self.any_predicate

    def insert(self, triple: Triple) -> None:
        """Insert a triple of an element that comes into the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
        for presence in self.presences:
            presence.change(1)
        routes = self.routes.get(triple[1], self.any_predicate)
        if not routes:
            return
        if triple in self.present:
            self.extra_copies[triple] = self.extra_copies.get(triple, 0) + 1
            return
        matches: Matches = ()
        for match in routes:
            if match[1].accepts(triple, match[0].solution):
                matches += (match,)
        if matches:
            self.present[triple] = self.known_matches.setdefault(matches, matches)
            is_bound = len(routes) == 1
            for basic, pattern in matches:
                basic.insert(triple, pattern, is_bound)

    def retract(self, triple: Triple) -> None:
        """Retract a triple of an element that goes from the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
        for presence in self.presences:
            presence.change(-1)
        if triple not in self.present:
            return
        if triple in self.extra_copies:
            self.extra_copies[triple] -= 1
            if not self.extra_copies[triple]:
                del self.extra_copies[triple]
            return
        for basic, pattern in self.present.pop(triple):
            basic.retract(triple, pattern)

    def forget(self, triple: Triple) -> None:
        """Remove a triple from the indexes and leave the solutions that rest on it: it is joined
        with no triple any more.
        """
        for _, pattern in self.present.pop(triple, ()):
            pattern.remove(triple)


class GraphPresence(MaintainedNode):
    """Whether a named graph is in the dataset: one solution without variables while it has a
    triple, and none while it is empty.

    It keeps how many triples the elements in the graph have, matched by a pattern or not.
    """

    def __init__(self) -> None:
        super().__init__((), ())
        self.count = 0

    def change(self, count: int) -> None:
        """Take the number of triples that come, negative for those that go."""
        was_present = self.count > 0
        self.count += count
        is_present = self.count > 0
        if is_present != was_present:
            self.emit((), 1 if is_present else -1)
