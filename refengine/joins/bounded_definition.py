"""§14 The bounded join by the words of SPEC.md: plain lists, every combination tried, nothing
remembered that could be looked up again; and the continuous query that means the unlimited join.

It is slow and short. Tests compare `bounded_join.BoundedJoin` with it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import NamedTuple

from refengine.core import r2r
from refengine.core.answers import EvaluateBody
from refengine.core.engine import evaluate
from refengine.core.profiles import profile
from refengine.core.query import BORDERED, Query
from refengine.core.r2r import scope_blank_nodes
from refengine.core.semantics import Semantics
from refengine.core.values import Closure
from refengine.joins.bounded_join import Resources, Result, merge_arrivals
from refengine.joins.inputs import Binding, BoundedQuery, Input, Source, holds_for, solution_of
from refengine.joins.policies import (
    ArrivalCredit,
    Clock,
    Decay,
    Fifo,
    Lru,
    Pointer,
    Policy,
    Random,
    Threshold,
)
from refengine.joins.shedding import (
    NoShedding,
    RandomShedding,
    RateShedding,
    SemanticShedding,
    Shedding,
)
from refengine.model.elements import Bag, Element, Stream, Term, Triple
from refengine.sparql.algebra import Variable, all_variables


class LiteralStep(NamedTuple):
    """What one element did: the results that it completed, and what was held after it, in the order
    in which it came.
    """

    results: list[Result]
    held: list[Binding]


def run_by_definition(
    query: BoundedQuery, streams: Mapping[str, Stream], resources: Resources
) -> Iterator[LiteralStep]:
    """Yield what each element of whole streams did, in the order of arrival."""
    definition = LiteralJoin(query, resources)
    for name, element in merge_arrivals(query, streams):
        results = definition.step(name, element)
        held = sorted(definition.stored(), key=lambda binding: binding.number)
        yield LiteralStep(results, held)


class LiteralJoin:
    """A bounded join. `slots` is the memory, `scores` has the score of each slot, `queue` the
    filled slots as FIFO and LRU order them, and `freed` those that were freed. `not_bounded`
    has the stored bindings that are not bounded (BND-3).
    """

    def __init__(self, query: BoundedQuery, resources: Resources) -> None:
        self.query = query
        self.resources = resources
        self.slots: list[Binding | None] = []
        self.not_bounded: list[Binding] = []
        self.scores: list[float] = []
        self.pointer = 0
        self.queue: list[int] = []
        self.freed: list[int] = []
        self.draws = random.Random(getattr(resources.policy, "seed", 0))
        self.sheds = random.Random(getattr(resources.shedding, "seed", 0))
        self.kept_at: list[int] = []
        self.results: list[Result] = []
        self.count = 0

    def step(self, stream: str, element: Element) -> list[Result]:
        """Take the next element, and return the results that it completes (BND-2)."""
        t = element.app
        if self.resources.collects:
            self.collect(t)
        new_bindings = []
        for index, source in enumerate(self.query.sources):
            if source.stream == stream:
                new_bindings += self.bindings_of(index, source, element)
        if not new_bindings or not self.keeps(self.resources.shedding, new_bindings, t):
            return []
        self.kept_at.append(t)
        found = []
        for new in new_bindings:
            results = self.results_of(new, t)
            self.results += results
            self.credit(results)
            self.put(new, self.score_of_new(new, results))
            found += results
        return found

    def stored(self) -> list[Binding]:
        """Return all bindings that are stored."""
        return [one for one in self.slots if one is not None] + self.not_bounded

    # BND-1

    def bindings_of(self, index: int, source: Source, element: Element) -> list[Binding]:
        """Return the bindings that an element gives a source."""
        graph = element.graph
        if len(self.query.streams) > 1:
            graph = scope_blank_nodes(graph, str(self.query.streams.index(source.stream)))
        every = set()
        for triples in product(graph, repeat=len(source.patterns)):
            terms = terms_of(source, triples)
            if terms is None:
                continue
            solution = {variable.name: term for variable, term in terms.items()}
            if all(holds_for(one, solution) for one in source.conditions):
                every.add(tuple(terms[Variable(str(k))] for k in range(len(terms))))
        bindings = []
        for values in sorted(every):
            self.count += 1
            end = element.app if element.end is None else element.end
            bindings.append(Binding(index, values, element.app, end, self.count))
        return bindings

    # BND-2

    def results_of(self, new: Binding, t: int) -> list[Result]:
        """Return the results of the stored bindings with a new one."""
        choices = [
            [
                one
                for one in [*self.stored(), new]
                if one.source == side.source and side.holds(one, t)
            ]
            for side in self.query.inputs
        ]
        results = [each for each in product(*choices) if new in each and self.is_result(each)]
        return sorted(results, key=lambda result: [binding.number for binding in result])

    def is_result(self, bindings: Sequence[Binding]) -> bool:
        """Return whether bindings agree on the variables of several inputs, and fulfil the
        conditions.
        """
        solution = solution_of(self.query.inputs, bindings)
        for side, binding in zip(self.query.inputs, bindings, strict=True):
            if any(
                solution[name] != term
                for name, term in zip(side.variables, binding.terms, strict=True)
            ):
                return False
        return all(holds_for(condition, solution) for condition in self.query.conditions)

    def credit(self, results: Sequence[Result]) -> None:
        """Raise the scores of the stored bindings, and move them in LRU's queue."""
        order = sorted(range(len(self.slots)), key=lambda slot: _number(self.slots[slot]))
        for slot in order:
            uses = sum(self.slots[slot] in result for result in results)
            self.scores[slot] = self.at_most(self.scores[slot] + uses)
            if uses and isinstance(self.resources.policy, Lru):
                self.queue.remove(slot)
                self.queue.append(slot)

    # BND-3

    def put(self, new: Binding, score: float) -> None:
        """Store a binding with its score."""
        only = self.resources.only
        if only and self.query.sources[new.source].stream not in only:
            self.not_bounded.append(new)
            return
        if self.freed:
            slot = self.freed.pop()
        elif self.resources.memory is None or len(self.slots) < self.resources.memory:
            slot = len(self.slots)
            self.slots.append(None)
            self.scores.append(0)
        else:
            slot = self.choose(self.resources.policy)
            self.queue.remove(slot)
        self.slots[slot] = new
        self.queue.append(slot)
        self.scores[slot] = score

    # BND-4, BND-5

    def score_of_new(self, new: Binding, results: Sequence[Result]) -> float:
        """Return CLOCK's score of a new binding that completed some results."""
        policy = self.resources.policy
        if not isinstance(policy, Clock):
            return 0
        score = policy.start_score
        if policy.credit is not ArrivalCredit.NOTHING:
            score += len(results)
        if policy.credit is ArrivalCredit.AGREEING:
            score += sum(self.agrees(new, one) for one in self.stored())
        return self.at_most(score)

    def at_most(self, score: float) -> float:
        """Return a score, or the most that one can be."""
        most = getattr(self.resources.policy, "most_score", None)
        return score if most is None else min(score, most)

    def agrees(self, new: Binding, stored: Binding) -> bool:
        """Return whether a new binding agrees with a stored one, as bindings of some two inputs."""
        return any(
            self.agree_as(mine, theirs, new, stored)
            for mine, theirs in permutations(self.query.inputs, 2)
        )

    def agree_as(self, mine: Input, theirs: Input, new: Binding, stored: Binding) -> bool:
        """Return whether a new binding of an input fulfils the conditions on its variables, and has
        the same terms as a stored one of another input for the variables that both inputs share.
        """
        if mine.source != new.source or theirs.source != stored.source:
            return False
        solution = dict(zip(mine.variables, new.terms, strict=True))
        other = dict(zip(theirs.variables, stored.terms, strict=True))
        own_conditions = [
            condition
            for condition in self.query.conditions
            if {variable.name for variable in all_variables(condition)} <= solution.keys()
        ]
        if not all(holds_for(condition, solution) for condition in own_conditions):
            return False
        return all(solution[name] == other[name] for name in solution.keys() & other.keys())

    def choose(self, policy: Policy) -> int:
        """Return the slot whose binding is evicted."""
        match policy:
            case Fifo() | Lru():
                return self.queue[0]
            case Random():
                return self.draws.randrange(len(self.slots))
            case Clock():
                return self.turn(policy)
            case _:
                raise AssertionError(f"the definition does not know {policy}")

    def turn(self, clock: Clock) -> int:
        """Turn the pointer until it comes to a binding that is evicted."""
        while True:
            slot = self.pointer
            if clock.decay is Decay.LINEAR:
                self.scores[slot] -= clock.amount
            else:
                self.scores[slot] *= clock.amount
            is_below = self.scores[slot] < clock.tau
            is_equal = self.scores[slot] == clock.tau
            is_evicted = is_below or (is_equal and clock.threshold is Threshold.AT_OR_BELOW)
            if not is_evicted or clock.pointer is Pointer.MOVES_ON:
                self.pointer = (slot + 1) % len(self.slots)
            if is_evicted:
                return slot

    # BND-6

    def collect(self, t: int) -> None:
        """Remove what no input's window holds at t, in the order in which it left the last one."""
        self.not_bounded = [one for one in self.not_bounded if self.is_held(one, t)]
        gone = []
        for slot, binding in enumerate(self.slots):
            if binding is not None and not self.is_held(binding, t):
                last = max(binding.end + (side.reach or 0) for side in self.sides_of(binding))
                gone.append((last, binding.number, slot))
        for _, _, slot in sorted(gone):
            self.slots[slot] = None
            self.queue.remove(slot)
            self.freed.append(slot)

    def is_held(self, binding: Binding, t: int) -> bool:
        """Return whether some input's window holds a binding at t."""
        return any(side.holds(binding, t) for side in self.sides_of(binding))

    def sides_of(self, binding: Binding) -> list[Input]:
        """Return the inputs of a binding."""
        return [side for side in self.query.inputs if side.source == binding.source]

    # BND-7

    def keeps(self, shedding: Shedding, bindings: Sequence[Binding], t: int) -> bool:
        """Return whether an element comes to the join."""
        match shedding:
            case NoShedding():
                return True
            case RandomShedding(share):
                return self.sheds.random() < share
            case RateShedding(limit, period):
                kept = [one for one in self.kept_at if one // period == t // period]
                is_useful = isinstance(shedding, SemanticShedding) and self.is_useful(bindings)
                return is_useful or len(kept) < limit
            case _:
                raise AssertionError(f"the definition does not know {shedding}")

    def is_useful(self, bindings: Sequence[Binding]) -> bool:
        """Return whether an input to which one of the bindings belongs had the same terms, for the
        variables that it shares with other inputs, in some result.
        """
        for new in bindings:
            for number, side in enumerate(self.query.inputs):
                if side.source != new.source:
                    continue
                names = self.names_to_compare(number)
                asked = dict(zip(side.variables, new.terms, strict=True))
                for result in self.results:
                    had = dict(zip(side.variables, result[number].terms, strict=True))
                    if all(had[name] == asked[name] for name in names):
                        return True
        return False

    def names_to_compare(self, number: int) -> list[str]:
        """Return the variables that an input shares with other inputs; all that it has where it
        shares none.
        """
        sides = self.query.inputs
        names = sides[number].variables
        shared = []
        for name in names:
            if any(name in other.variables for other in sides[:number] + sides[number + 1 :]):
                shared.append(name)
        return shared or list(names)


def terms_of(source: Source, triples: Sequence[Triple]) -> dict[Variable, Term] | None:
    """Return the terms of a source's variables if each pattern matches its triple, or None."""
    terms: dict[Variable, Term] = {}
    for pattern, triple in zip(source.patterns, triples, strict=True):
        for asked, term in zip(pattern, triple, strict=True):
            if not isinstance(asked, Variable):
                if asked != term:
                    return None
            elif terms.setdefault(asked, term) != term:
                return None
    return terms


def _number(binding: Binding | None) -> int:
    """Return the number of a binding; 0 for a free slot."""
    return 0 if binding is None else binding.number


# BND-2: what an unlimited join is held to, the continuous query under a semantics

# a row goes out with the arrival that completes it, while all its elements are in the windows
PROFILE = profile("cqels-observed").but(slide="stated", instant="trigger")


def semantics_of_unlimited(query: Query) -> Semantics:
    """Return the semantics under which a query means its unlimited join: append, looked at at each
    arrival, with both borders of a window in it.
    """
    has_borders = any(window.kind in BORDERED for window in query.windows)
    closure = Closure.CLOSED if has_borders else None
    return PROFILE.but(closure=closure).semantics()


def rows_of_query(
    query: Query,
    streams: Mapping[str, Stream],
    answer: EvaluateBody = r2r.confirmed_answer,
) -> Bag:
    """BND-2: Return the rows that a query gives in all, under the semantics of unlimited joins.
    `answer` is R2R, as for `engine.evaluate`.
    """
    rows: Bag = Counter()
    semantics = semantics_of_unlimited(query)
    for report in evaluate(query, streams, semantics, answer=answer):
        rows += report.relation.rows
    return rows
