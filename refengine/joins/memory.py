"""§14 The memory of a bounded join: bindings in slots, with an index for each way in which they are
looked for.

At most M of them are bounded (BND-3). The others have slots beyond the M, as many as they need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from refengine.joins.inputs import Binding, BoundedQuery, Terms
from refengine.joins.policies import Eviction, Policy
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import display, nearest

Positions = tuple[int, ...]
LARGEST_MEMORY = 10**9  # bindings


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


class Slots:
    """Slots of a memory: `first`, `first` + 1 and so on, `count` of them, or without an end."""

    def __init__(self, first: int, count: int | None) -> None:
        self._next = first
        self._end = None if count is None else first + count
        self._freed: list[int] = []

    def take(self) -> int | None:
        """BND-3: Return the slot that was freed last; if there is none, the next one that was never
        filled; None if all are filled.
        """
        if self._freed:
            return self._freed.pop()
        if self._next == self._end:
            return None
        self._next += 1
        return self._next - 1

    def free(self, slot: int) -> None:
        """Note that a slot is free again."""
        self._freed.append(slot)


class Memory:
    """The stored bindings by their slots, of which up to M are bounded (BND-3).

    A bounded binding has a slot from 0 to M - 1: a free one (`Slots.take`), or that of the binding
    which the policy evicts. The others have slots from M on. `held` is the number of bindings of
    each source.
    """

    def __init__(
        self,
        query: BoundedQuery,
        capacity: int | None,
        policy: Policy | None,
        only: frozenset[str] = frozenset(),
    ) -> None:
        check_capacity(capacity)
        self.capacity = capacity
        self.bindings: dict[int, Binding] = {}
        self.held = [0] * len(query.sources)
        self.indices: list[dict[Positions, SourceIndex]] = [{} for _ in query.sources]
        self.eviction: Eviction | None = None
        if capacity is not None and policy is not None:
            self.eviction = policy.start(capacity)
        first, beyond = Slots(0, capacity), Slots(capacity or 0, None)
        are_bounded = bounded_sources(query, only)
        self._slots = [first] * len(query.sources)
        if capacity is not None:
            self._slots = [first if is_bounded else beyond for is_bounded in are_bounded]
        self._reaches = [reach_of_source(query, index) for index in range(len(query.sources))]
        # heap of the last instant at which a window holds a binding, its number and its slot
        self._window_ends: list[tuple[int, int, int]] = []

    def index(self, source: int, positions: Positions) -> SourceIndex:
        """Return the index of a source by some positions, which is made while the memory is
        empty.
        """
        return self.indices[source].setdefault(positions, SourceIndex(positions))

    def is_bounded(self, slot: int) -> bool:
        """Return whether a slot is one of the M. The policy is told of the bindings in these alone,
        and may evict them.
        """
        return self.capacity is not None and slot < self.capacity

    def put(self, binding: Binding, is_collected: bool) -> int:
        """BND-3: Store a binding, and return its slot. If no slot is free, another binding is
        evicted first. `is_collected` says whether `collect` is to remove it when no window holds it
        any more.
        """
        slot = self._slots[binding.source].take()
        if slot is None:
            slot = self._evict()
        self.bindings[slot] = binding
        self.held[binding.source] += 1
        for index in self.indices[binding.source].values():
            index.add(slot, binding)
        if self.eviction is not None and self.is_bounded(slot):
            self.eviction.fill(slot)
        reach = self._reaches[binding.source]
        if is_collected and reach is not None:
            heappush(self._window_ends, (binding.end + reach, binding.number, slot))
        return slot

    def _evict(self) -> int:
        """Remove the binding that the policy chooses, and return its slot."""
        assert self.eviction is not None, "a bounded memory has a policy"
        slot = self.eviction.choose()
        self._drop(slot)
        return slot

    def _drop(self, slot: int) -> Binding:
        """Remove the binding in a slot from everything but the eviction, and return it."""
        binding = self.bindings.pop(slot)
        self.held[binding.source] -= 1
        for index in self.indices[binding.source].values():
            index.remove(slot, binding)
        return binding

    def collect(self, t: int) -> None:
        """BND-6: Remove the bindings that are in no window of their inputs at t."""
        while self._window_ends and self._window_ends[0][0] < t:
            _, number, slot = heappop(self._window_ends)
            binding = self.bindings.get(slot)
            if binding is not None and binding.number == number:
                self._drop(slot)
                self._slots[binding.source].free(slot)
                if self.eviction is not None and self.is_bounded(slot):
                    self.eviction.empty(slot)


def check_capacity(capacity: int | None) -> None:
    """BND-3: Refuse a memory that is no whole number of bindings from 1 to 10⁹. Raises
    RefengineError.
    """
    if capacity is None:
        return
    is_whole = isinstance(capacity, int) and not isinstance(capacity, bool)
    if not is_whole or not 1 <= capacity <= LARGEST_MEMORY:
        reason = f"a memory is a whole number of bindings from 1 to {LARGEST_MEMORY:,}"
        raise RefengineError(f"{reason}, got {display(capacity)}", rule="BND-3", place="memory")


def bounded_sources(query: BoundedQuery, only: frozenset[str]) -> list[bool]:
    """BND-3: Return for each source whether its bindings are bounded: those of the streams `only`,
    or all if none is named. Raises InvalidStream for a stream that no input reads.
    """
    for name in sorted(only.difference(query.streams)):
        reason = f"no input reads a stream {display(name)}{nearest(name, query.streams)}"
        raise InvalidStream(reason, rule="BND-3", place="memory")
    return [not only or source.stream in only for source in query.sources]


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
