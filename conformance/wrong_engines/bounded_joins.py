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


def _everything_is_selected(reader: SourceReader, terms: Terms) -> bool:
    """Ask no condition."""
    return True


@wrong(
    "BND-2",
    "BND-1",
    replaces=SourceIndex.find,
    besides={SourceReader.is_selected: _everything_is_selected},
)
def windows_and_conditions_of_one_side_are_not_asked(
    right: Right,
    index: SourceIndex,
    key: Terms,
    earliest_end: int | None,
) -> Any:
    """Join a binding however long ago it ended, and whether or not it fulfils the conditions on its
    own variables.
    """
    return right(index, key, None)


def _every_source_is_bounded(query: BoundedQuery, only: frozenset[str]) -> list[bool]:
    """Take the bindings of all streams to be bounded."""
    return [True for _ in query.sources]


@wrong(
    "BND-3",
    "BND-5",
    replaces=Memory.put,
    half=("the one that the policy chooses", "take none of the M slots"),
    besides={bounded_sources: _every_source_is_bounded},
)
def a_full_memory_stays_as_it_is(
    right: Right,
    memory: Memory,
    binding: Binding,
    is_collected: bool,
) -> Any:
    """Store nothing when every slot is filled, so that the bindings that came first stay; and store
    the bindings of all streams there.
    """
    if memory.capacity is None or len(memory.bindings) < memory.capacity:
        return right(memory, binding, is_collected)
    return memory.capacity  # a slot of which no policy is told


def _nothing_is_credited(scores: Scores, slot: int, results: int, agreeing: int) -> None:
    """Leave a new binding at its first score."""


@wrong(
    "BND-4",
    replaces=Scores.choose,
    half=("lower than τ, this binding is evicted", "the score w0 plus its credit"),
    besides={Scores.arrive: _nothing_is_credited},
)
def scores_are_not_read(right: Right, scores: Scores) -> int:
    """Evict what the pointer comes to, whatever its score is; and give no new binding a credit."""
    slot = scores.pointer
    scores.pointer = (slot + 1) % len(scores.scores)
    return slot


def _everything_is_kept(shedder: Any, bindings: Sequence[Binding], t: int) -> bool:
    """Keep every element."""
    return True


@wrong(
    "BND-6",
    "BND-7",
    replaces=Memory.collect,
    besides={
        LimitedShedder.keeps: _everything_is_kept,
        DrawnShedder.keeps: _everything_is_kept,
    },
)
def nothing_is_removed_or_dropped(right: Right, memory: Memory, t: int) -> None:
    """Keep bindings that no window holds any more, and drop no element to shed load."""


@wrong("BND-8", replaces=measures.counted_arrivals)
def every_arrival_counts(
    right: Right,
    times: Sequence[int],
    measuring: Measuring,
) -> list[tuple[bool, bool]]:
    """Count what the warm-up completes, and take every arrival for one under stress."""
    return [(True, True) for _ in times]
