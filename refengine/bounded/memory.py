"""§14 The memory of a bounded join: at most M bindings, in slots, with an index for each way in
which they are looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from refengine.bounded.inputs import Binding, BoundedQuery, Terms
from refengine.bounded.policies import Eviction, Policy
from refengine.model.errors import RefengineError

Positions = tuple[int, ...]


class SourceIndex:
    """The bindings of one source, by the terms at some positions, each with its slot.

    The bindings of one key are in the order in which they came.
    """

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self.longest = 0  # the longest validity of a binding so far
        self.buckets: dict[Terms, dict[int, Binding]] = {}

    def key(self, binding: Binding) -> Terms:
        """Return the key of a binding."""
        terms = binding.terms
        return tuple([terms[position] for position in self.positions])

    def add(self, slot: int, binding: Binding) -> None:
        """Add a binding in a slot."""
        self.longest = max(self.longest, binding.end - binding.start)
        key = self.key(binding)
        bucket = self.buckets.get(key)
        if bucket is None:
            bucket = self.buckets[key] = {}
        bucket[slot] = binding

    def remove(self, slot: int, binding: Binding) -> None:
        """Remove a binding, which must be there."""
        key = self.key(binding)
        bucket = self.buckets[key]
        del bucket[slot]
        if not bucket:
            del self.buckets[key]

    def find(self, key: Terms, earliest_end: int | None) -> Iterator[tuple[int, Binding]]:
        """Yield the slot and the binding of those with a key that do not end before an instant, the
        newest first.

        The search stops at the first one that came so early that it and all before it have ended.
        """
        bucket = self.buckets.get(key)
        if bucket is None:
            return
        if earliest_end is None:
            yield from reversed(bucket.items())
            return
        earliest_start = earliest_end - self.longest
        for slot, binding in reversed(bucket.items()):
            if binding.start < earliest_start:
                return
            if binding.end >= earliest_end:
                yield slot, binding


class Memory:
    """Up to M bindings. `bindings` has them by their slots.

    A new binding takes the slot that was freed last; if none was freed, the next slot that has
    never been filled; and if there is none, the one that the policy chooses.
    """

    def __init__(self, query: BoundedQuery, capacity: int | None, policy: Policy | None) -> None:
        check_capacity(capacity)
        self.capacity = capacity
        self.bindings: dict[int, Binding] = {}
        self.indices: list[dict[Positions, SourceIndex]] = [{} for _ in query.sources]
        self.eviction: Eviction | None = None
        if capacity is not None and policy is not None:
            self.eviction = policy.start(capacity)
        self._freed: list[int] = []
        self._next_slot = 0
        self._reaches = [reach_of_source(query, index) for index in range(len(query.sources))]
        self._ends: list[tuple[int, int, int]] = []  # heap: last use, number, slot

    def index(self, source: int, positions: Positions) -> SourceIndex:
        """Return the index of a source by some positions, which is made while the memory is
        empty.
        """
        return self.indices[source].setdefault(positions, SourceIndex(positions))

    def put(self, binding: Binding, is_collected: bool) -> None:
        """BND-3: Store a binding. If the memory is full, evict another one first. `is_collected`
        says whether `collect` is to remove it when no window holds it any more.
        """
        slot = self._free_slot()
        self.bindings[slot] = binding
        for index in self.indices[binding.source].values():
            index.add(slot, binding)
        if self.eviction is not None:
            self.eviction.fill(slot)
        reach = self._reaches[binding.source]
        if is_collected and reach is not None:
            heappush(self._ends, (binding.end + reach, binding.number, slot))

    def _free_slot(self) -> int:
        """Return a free slot, after evicting a binding if there is none."""
        if self._freed:
            return self._freed.pop()
        if self.capacity is None or self._next_slot < self.capacity:
            self._next_slot += 1
            return self._next_slot - 1
        assert self.eviction is not None, "a bounded memory has a policy"
        slot = self.eviction.choose()
        self._drop(slot)
        return slot

    def _drop(self, slot: int) -> None:
        """Remove the binding in a slot from everything but the eviction."""
        binding = self.bindings.pop(slot)
        for index in self.indices[binding.source].values():
            index.remove(slot, binding)

    def collect(self, t: int) -> None:
        """BND-6: Remove the bindings that are in no window of their inputs at t."""
        while self._ends and self._ends[0][0] < t:
            _, number, slot = heappop(self._ends)
            binding = self.bindings.get(slot)
            if binding is not None and binding.number == number:
                self._drop(slot)
                self._freed.append(slot)
                if self.eviction is not None:
                    self.eviction.empty(slot)


def check_capacity(capacity: int | None) -> None:
    """BND-3: Raise RefengineError for a memory of no binding."""
    if capacity is not None and capacity < 1:
        reason = f"a memory holds at least 1 binding, got {capacity}"
        raise RefengineError(reason, rule="BND-3", place="memory")


def reach_of_source(query: BoundedQuery, source: int) -> int | None:
    """Return the longest reach of the inputs of a source; None if one of them never ends."""
    reaches = [one.reach for one in query.inputs if one.source == source]
    known = [reach for reach in reaches if reach is not None]
    if len(known) < len(reaches):
        return None
    return max(known)


def sorted_bindings(memory: Memory) -> Sequence[Binding]:
    """Return what a memory holds, in the order in which it came."""
    return sorted(memory.bindings.values(), key=lambda binding: binding.number)
