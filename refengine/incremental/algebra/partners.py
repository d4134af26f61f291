"""§7 Which solutions of one side of a join are compatible with one of the other (SPARQL 1.1 §18.3):
those that bind no variable of both sides to another term.

The terms of the shared variables are a solution's key. Where both sides always bind these, the
partners of a key are what the other side has under the same key. An unbound variable is compatible
with any term, so that a key with one is compatible with several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.equality import equality_key
from refengine.incremental.algebra.nodes import (
    MaintainedNode,
    PickKey,
    Solution,
    pick_key,
    pick_terms,
)

# A key of which some terms may be None: unbound
KeyWithUnbound = tuple[Hashable | None, ...]
Places = tuple[int, ...]

# Variables that must be equal by value: one of the left side and one of the right
Equalities = Sequence[tuple[str, str]]


class JoinSide:
    """The solutions of one side of a join, by their keys. Both sides always bind what a key is
    made of, and a lookup costs no more than one in a dict.
    """

    def __init__(self) -> None:
        self.by_key: dict[Any, Counter[Any]] = {}

    def add(self, key: Any, solution: Any, count: int) -> int:
        """Add to the count of a solution, which may end at zero: then it is not stored.

        Return 1 if the key was absent and is present now, -1 if it was present and is absent now,
        and 0 otherwise.
        """
        there = self.by_key.get(key)
        if there is None:
            self.by_key[key] = Counter({solution: count})
            return 1
        add_count(there, solution, count)
        if there:
            return 0
        del self.by_key[key]
        return -1

    def compatible_keys(self, key: Any) -> Iterable[Any]:
        """Return the keys on this side that are compatible with one of the other side."""
        return (key,) if key in self.by_key else ()

    def partners(self, key: Any) -> Iterator[tuple[Any, int]]:
        """Yield the solutions under keys that are compatible with one of the other side, each with
        its count.
        """
        for own in self.compatible_keys(key):
            yield from self.by_key[own].items()


class JoinSideWithUnbound(JoinSide):
    """The solutions of one side of a join whose keys, tuples, may have unbound variables.

    Keys are told apart by which of their places are bound. For a key of the other side, those of
    each kind are looked up by the places that are bound in both. So there is an index for each such
    combination that has been looked for, and a lookup costs one in a dict for each kind of key, and
    what it finds.

    With `must_share`, keys are compatible only if some place is bound in both, as MINUS has it.
    """

    def __init__(self, must_share: bool) -> None:
        super().__init__()
        self.must_share = must_share
        # the places that are bound -> some of these places -> the keys by their terms there
        self.indexes: dict[Places, dict[Places, KeyIndex]] = {}

    def add(self, key: Any, solution: Any, count: int) -> int:
        """Add to the count of a solution, as any side of a join does."""
        change = super().add(key, solution, count)
        if change:
            bound = bound_places(key)
            if bound not in self.indexes:
                self.indexes[bound] = {bound: KeyIndex(bound)}
            indexes = self.indexes[bound]
            for index in indexes.values():
                index.change(key, change)
            if not indexes[bound].by_terms:
                del self.indexes[bound]
        return change

    def compatible_keys(self, key: Any) -> Iterable[Any]:
        """Return the keys on this side that are compatible with one of the other side."""
        bound = bound_places(key)
        found: list[KeyWithUnbound] = []
        for own, indexes in self.indexes.items():
            common = tuple([place for place in own if place in bound])
            if self.must_share and not common:
                continue
            if common not in indexes:
                indexes[common] = KeyIndex(common)
                for keys in indexes[own].by_terms.values():
                    for each in keys:
                        indexes[common].change(each, 1)
            found += indexes[common].look_up(key)
        return found


class KeyIndex:
    """Keys by their terms at some places."""

    def __init__(self, places: Places) -> None:
        self.terms_of = pick_key(places)
        self.by_terms: dict[Any, dict[KeyWithUnbound, None]] = {}

    def change(self, key: KeyWithUnbound, change: int) -> None:
        """Insert a key (1) or remove it (-1)."""
        terms = self.terms_of(key)
        there = self.by_terms.setdefault(terms, {})
        if change > 0:
            there[key] = None
        else:
            del there[key]
        if not there:
            del self.by_terms[terms]

    def look_up(self, key: KeyWithUnbound) -> Iterable[KeyWithUnbound]:
        """Return the keys that have the terms of another one at the places."""
        return self.by_terms.get(self.terms_of(key), ())


def bound_places(key: KeyWithUnbound) -> Places:
    """Return which places of a key are bound."""
    return tuple([place for place, term in enumerate(key) if term is not None])


class JoinKeys:
    """How the solutions of two sides find one another: by the variables that both have, and by
    equalities, each between a variable of the left and one of the right.

    `left_key` and `right_key` give the keys of their solutions. An empty place for the solutions of
    a side is made by `new_side`.
    """

    def __init__(
        self,
        left: MaintainedNode,
        right: MaintainedNode,
        equalities: Equalities = (),
        must_share: bool = False,
    ) -> None:
        self.shared = [name for name in left.names if name in right.slots]
        always_bound = left.certain & right.certain
        self.is_always_bound = always_bound.issuperset(self.shared) and not equalities
        if must_share and not self.shared:
            self.is_always_bound = False  # nothing is shared, so nothing is compatible
        self.must_share = must_share
        self.left_key = self._key_of(left, [one for one, _ in equalities])
        self.right_key = self._key_of(right, [other for _, other in equalities])

    def new_side(self) -> JoinSide:
        """Return a place for the solutions of a side, which is empty."""
        return JoinSide() if self.is_always_bound else JoinSideWithUnbound(self.must_share)

    def _key_of(self, node: MaintainedNode, compared: Sequence[str]) -> PickKey:
        places = tuple(node.slots[name] for name in self.shared)
        if self.is_always_bound:
            return pick_key(places)
        compared_places = tuple(node.slots[name] for name in compared)

        def key_with_unbound(solution: Solution) -> KeyWithUnbound:
            terms = [solution[place] for place in places]
            values = [equality_key(solution[place]) for place in compared_places]
            return (*terms, *values)

        return key_with_unbound


class JoinedSlots:
    """How a solution of the left side and a compatible one of the right become one: the slots of
    the left, then those that only the right has.
    """

    def __init__(self, left: MaintainedNode, right: MaintainedNode) -> None:
        self.only_right = [name for name in right.names if name not in left.slots]
        self.names = (*left.names, *self.only_right)
        self.rest = pick_terms(tuple(right.slots[name] for name in self.only_right))
        # the shared variables that the left may leave unbound: their slots on both sides
        self.filled = [
            (left.slots[name], right.slots[name])
            for name in left.names
            if name in right.slots and name not in left.certain
        ]

    def merge_function(self) -> Callable[[Solution, Solution], Solution]:
        """Return what merges a solution of the left with one of the right."""
        rest = self.rest
        filled = self.filled

        def merge(left: Solution, right: Solution) -> Solution:
            return (*left, *rest(right))

        def merge_and_fill(left: Solution, right: Solution) -> Solution:
            merged = [*left, *rest(right)]
            for slot, other in filled:
                if merged[slot] is None:
                    merged[slot] = right[other]
            return tuple(merged)

        return merge_and_fill if filled else merge
