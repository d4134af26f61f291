"""§14 The bounded join: elements are pushed, and each gives the results that it completes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import NamedTuple

from refengine.joins.inputs import Binding, BoundedQuery, SourceReader, Terms, read_bindings
from refengine.joins.memory import Memory, Positions, check_capacity
from refengine.joins.plans import (
    Agreement,
    CandidateSearch,
    are_fulfilled,
    conditions_of_first,
    plan_agreements,
    plan_search,
    prepare_condition,
)
from refengine.joins.policies import Fifo, Policy
from refengine.joins.shedding import NoShedding, Shedding
from refengine.model.elements import (
    Element,
    Stream,
    canonical_elements,
    check_elements,
    refuse_no_streams,
    with_integers,
)
from refengine.model.errors import InvalidStream

Result = tuple[Binding, ...]  # a binding for each input


@dataclass(frozen=True)
class Resources:
    """What a join may use.

    `memory` is the number M of bindings; None is as many as there are. `policy` says which binding
    makes room. `collects` says whether bindings that no window holds any more are removed (BND-6).
    `shedding` says which elements are dropped before they come to the join. `only` names the
    streams whose bindings are bounded. Those of other streams take no slot of the memory. If it is
    empty, all are bounded (BND-3).
    """

    memory: int | None = None
    policy: Policy = Fifo()  # noqa: RUF009 - a frozen value
    collects: bool = False
    shedding: Shedding = NoShedding()  # noqa: RUF009 - a frozen value
    only: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        check_capacity(self.memory)


UNLIMITED = Resources(collects=True)


class BoundedJoin:
    """A join over elements that come one at a time, with bounded memory.

    >>> from refengine import from_table, stream
    >>> from refengine.joins import bounded_query
    >>> body = "SELECT ?u ?p { ?u <urn:watches> ?c . ?c <urn:plays> ?p }"
    >>> query = from_table({"body": body, "windows": [{"stream": "s", "kind": "unbounded"}]})
    >>> join = BoundedJoin(bounded_query(query), Resources(memory=1))
    >>> triples = [("ann", "watches", "tv"), ("bob", "watches", "tv"), ("tv", "plays", "news")]
    >>> elements = stream([(tuple(f"<urn:{word}>" for word in t), 0) for t in triples])
    >>> [[join.query.row(result) for result in join.push("s", one)] for one in elements]
    [[], [], [(('p', '<urn:news>'), ('u', '<urn:bob>'))]]
    """

    def __init__(self, query: BoundedQuery, resources: Resources = UNLIMITED) -> None:
        self.query = query
        self.resources = resources
        self.memory = Memory(query, resources.memory, resources.policy, resources.only)
        self.now: int | None = None
        self._readers = [SourceReader(query, index) for index in range(len(query.sources))]
        self._shedder = resources.shedding.start(query)
        self._credits_shedding = not isinstance(resources.shedding, NoShedding)
        self._count = 0
        conditions = [prepare_condition(condition) for condition in query.conditions]
        self._first_conditions = [
            conditions_of_first(query, number, conditions) for number in range(len(query.inputs))
        ]
        self._plans = [
            list(plan_search(query, self.memory, number, conditions))
            for number in range(len(query.inputs))
        ]
        self._inputs_of = [
            [number for number, one in enumerate(query.inputs) if one.source == source]
            for source in range(len(query.sources))
        ]
        self._agreements: list[list[Agreement]] = []
        if resources.policy.counts_arrivals:
            self._agreements = [
                list(plan_agreements(query, self.memory, number))
                for number in range(len(query.inputs))
            ]

    def push(self, stream: str, element: Element) -> list[Result]:
        """BND-2: Take the next element, store its bindings, and return the results that it
        completes, in the order of their bindings' numbers.

        Raises InvalidStream for an element that is earlier than the one before it, and for what is
        no element (MOD-1) or no term (MOD-4).
        """
        element = with_integers(element, 1)
        check_elements([element])
        (element,) = canonical_elements([element])
        t = element.app
        check_order(self.now, element)
        self.now = t
        bindings = read_bindings(self._readers, stream, element, self._count)
        self._count += len(bindings)
        return self.take(bindings, t)

    def take(self, bindings: Sequence[Binding], t: int) -> list[Result]:
        """Take the bindings of the next element, which came at t, and return the results that it
        completes.
        """
        if self.resources.collects:
            self.memory.collect(t)
        if not bindings or not self._shedder.keeps(bindings, t):
            return []
        results: list[Result] = []
        for binding in bindings:
            completed = self._join(binding, t)
            results += completed
            if self._agreements:
                self._put_with_credit(binding, len(completed))
            else:
                self.memory.put(binding, self.resources.collects)
        return results

    def _put_with_credit(self, new: Binding, results: int) -> None:
        """Store a new binding, and tell the policy what it did when it came."""
        agreeing = self._count_agreeing(new)
        slot = self.memory.put(new, self.resources.collects)
        if self.memory.eviction is not None and self.memory.is_bounded(slot):
            self.memory.eviction.arrive(slot, results, agreeing)

    def _count_agreeing(self, new: Binding) -> int:
        """BND-4: Return with how many stored bindings a new one agrees."""
        buckets: dict[tuple[int, Positions, Terms], dict[int, Binding]] = {}
        chosen = [new] * len(self.query.inputs)
        for number in self._inputs_of[new.source]:
            if not are_fulfilled(self._first_conditions[number], chosen):
                continue
            for source, stored, own in self._agreements[number]:
                key = tuple([new.terms[position] for position in own])
                buckets[source, stored.positions, key] = stored.buckets.get(key, {})
        if len(buckets) == 1:
            (bucket,) = buckets.values()
            return len(bucket)
        return len({slot for bucket in buckets.values() for slot in bucket})

    def _join(self, new: Binding, t: int) -> list[Result]:
        """Return the results that a new binding completes, and credit the stored bindings."""
        found: list[tuple[Result, tuple[int, ...]]] = []
        chosen: list[Binding] = [new] * len(self.query.inputs)
        slots = [-1] * len(self.query.inputs)
        for number in self._inputs_of[new.source]:
            if are_fulfilled(self._first_conditions[number], chosen):
                self._extend(self._plans[number], 0, chosen, slots, new, t, found)
        if not found:
            return []
        if len(found) > 1:
            found.sort(key=_numbers)
        self._credit(found)
        return [result for result, _ in found]

    def _extend(
        self,
        searches: Sequence[CandidateSearch],
        depth: int,
        chosen: list[Binding],
        slots: list[int],
        new: Binding,
        t: int,
        found: list[tuple[Result, tuple[int, ...]]],
    ) -> None:
        """Choose a binding for each input of the searches from `depth` on, in every way, and add
        what is complete to `found`.
        """
        search = searches[depth]
        is_last = depth + 1 == len(searches)
        key = tuple([chosen[number].terms[position] for number, position in search.key])
        earliest_end = None if search.reach is None else t - search.reach
        candidates: Iterable[tuple[int, Binding]] = search.stored.find(key, earliest_end)
        if search.may_be_new and search.stored.key(new) == key:
            candidates = [(-1, new), *candidates]
        for slot, binding in candidates:
            chosen[search.input], slots[search.input] = binding, slot
            if not are_fulfilled(search.conditions, chosen):
                continue
            if is_last:
                found.append((tuple(chosen), tuple(slots)))
            else:
                self._extend(searches, depth + 1, chosen, slots, new, t, found)
        chosen[search.input], slots[search.input] = new, -1

    def _credit(self, found: Iterable[tuple[Result, tuple[int, ...]]]) -> None:
        """Tell policy and shedding which bindings are part of new results."""
        if self._credits_shedding:
            for result, _ in found:
                self._shedder.credit(result)
        eviction, capacity = self.memory.eviction, self.memory.capacity
        if eviction is None or capacity is None:
            return
        used: dict[int, int] = {}
        for _, slots in found:
            for slot in slots if len(slots) == 2 else {*slots}:
                if 0 <= slot < capacity:
                    used[slot] = used.get(slot, 0) + 1
        bindings = self.memory.bindings
        for slot in sorted(used, key=lambda slot: bindings[slot].number):
            eviction.use(slot, used[slot])


def _numbers(found: tuple[Result, tuple[int, ...]]) -> list[int]:
    """Return the numbers of a result's bindings."""
    return [binding.number for binding in found[0]]


# Whole streams


class Arrived(NamedTuple):
    """What one element did: its instant, its results, and how many bindings of each source were
    held then.
    """

    time: int
    results: list[Result]
    held: tuple[int, ...]


def merge_arrivals(
    query: BoundedQuery, streams: Mapping[str, Stream]
) -> Iterator[tuple[str, Element]]:
    """Yield the elements of the streams of a query, each with its stream's name, by t_app, then
    t_sys, then the order in which the query names the streams (ENG-5).

    Raises InvalidStream if a stream of the query is missing.
    """
    refuse_no_streams(streams)
    for name in query.streams:
        if name not in streams:
            raise InvalidStream(f"there is no stream {name!r}", rule="BND-1", place="streams")
    labelled = (
        [(element.app, element.sys, place, name, element) for element in streams[name]]
        for place, name in enumerate(query.streams)
    )
    for _, _, _, name, element in merge(*labelled, key=lambda one: one[:3]):
        yield name, element


class ReadElement(NamedTuple):
    """The instant at which an element came, and its bindings."""

    time: int
    bindings: list[Binding]


def read_elements(query: BoundedQuery, streams: Mapping[str, Stream]) -> Iterator[ReadElement]:
    """Yield what the join needs of each element of whole streams, in the order of arrival. Raises
    InvalidStream for streams that are not in order.
    """
    readers = [SourceReader(query, index) for index in range(len(query.sources))]
    count = 0
    now: int | None = None
    for name, element in merge_arrivals(query, streams):
        check_order(now, element)
        now = element.app
        bindings = read_bindings(readers, name, element, count)
        count += len(bindings)
        yield ReadElement(now, bindings)


def check_order(now: int | None, element: Element) -> None:
    """BND-2: Raise InvalidStream if an element is earlier than the instant of the one before."""
    if now is not None and element.app < now:
        reason = f"t_app decreases from {now} to {element.app}; a bounded join takes them in order"
        raise InvalidStream(reason, rule="BND-2", place=f"element {element.sys}")


def run_join(
    query: BoundedQuery,
    streams: Mapping[str, Stream],
    resources: Resources = UNLIMITED,
) -> Iterator[Arrived]:
    """Yield what each element of whole streams did, in the order of arrival."""
    return run_over(query, read_elements(query, streams), resources)


def run_over(
    query: BoundedQuery, elements: Iterable[ReadElement], resources: Resources
) -> Iterator[Arrived]:
    """Yield what each element did, in the order of arrival."""
    join = BoundedJoin(query, resources)
    for time, bindings in elements:
        results = join.take(bindings, time)
        yield Arrived(time, results, tuple(join.memory.held))
