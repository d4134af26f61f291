"""Wrong engines for §14: joins with bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.joins import measures
from refengine.joins.inputs import Binding, BoundedQuery, SourceReader, Terms
from refengine.joins.measures import Measuring
from refengine.joins.memory import Memory, SourceIndex, bounded_sources
from refengine.joins.policies import Scores
from refengine.joins.shedding import DrawnShedder, LimitedShedder


@wrong("BND-2", replaces=SourceIndex.find)
def windows_are_not_asked(
    right: Right,
    index: SourceIndex,
    key: Terms,
    earliest_end: int | None,
) -> Any:
    """Joins bindings that have expired."""
    return right(index, key, None)


@wrong("BND-1", replaces=SourceReader.is_selected)
def conditions_of_one_side_are_not_asked(right: Right, reader: SourceReader, terms: Terms) -> bool:
    """Joins bindings that fail their own conditions."""
    return True


@wrong("BND-3", "BND-5", replaces=Memory.put, half="the one that the policy chooses")
def a_full_memory_stays_as_it_is(
    right: Right,
    memory: Memory,
    binding: Binding,
    is_collected: bool,
) -> Any:
    """Stores nothing more once its memory is full."""
    if memory.capacity is None or len(memory.bindings) < memory.capacity:
        return right(memory, binding, is_collected)
    return memory.capacity  # a slot of which no policy is told


@wrong("BND-3", replaces=bounded_sources, half="take none of the M slots")
def every_stream_shares_the_memory(
    right: Right, query: BoundedQuery, only: frozenset[str]
) -> list[bool]:
    """Keeps the bindings of all streams in the bounded memory."""
    return [True for _ in query.sources]


@wrong("BND-4", replaces=Scores.choose, half="lower than τ, this binding is evicted")
def scores_are_not_read(right: Right, scores: Scores) -> int:
    """Evicts bindings whatever their scores are."""
    slot = scores.pointer
    scores.pointer = (slot + 1) % len(scores.scores)
    return slot


@wrong("BND-4", replaces=Scores.arrive, half="the score w0 plus its credit")
def nothing_is_credited(
    right: Right, scores: Scores, slot: int, results: int, agreeing: int
) -> None:
    """Gives new bindings no credit."""


@wrong("BND-6", replaces=Memory.collect)
def nothing_is_removed(right: Right, memory: Memory, t: int) -> None:
    """Removes no binding that no window holds any more."""


def _everything_is_kept(shedder: Any, bindings: Sequence[Binding], t: int) -> bool:
    """Keep every element."""
    return True


@wrong("BND-7", replaces=LimitedShedder.keeps, besides={DrawnShedder.keeps: _everything_is_kept})
def nothing_is_dropped(
    right: Right, shedder: LimitedShedder, bindings: Sequence[Binding], t: int
) -> bool:
    """Drops no element to shed load."""
    return True


@wrong("BND-8", replaces=measures.counted_arrivals)
def the_warm_up_counts(
    right: Right, times: Sequence[int], measuring: Measuring
) -> list[tuple[bool, bool]]:
    """Counts what the warm-up completes."""
    return [(True, stress) for _, stress in right(times, measuring)]


@wrong("BND-8", replaces=measures.counted_arrivals)
def every_arrival_is_under_stress(
    right: Right, times: Sequence[int], measuring: Measuring
) -> list[tuple[bool, bool]]:
    """Takes each arrival that counts for one under stress."""
    return [(counts, counts) for counts, _ in right(times, measuring)]
