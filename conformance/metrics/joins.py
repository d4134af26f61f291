"""The measures of a join over windows: how much of the join over the bounded data comes out, how
late, and how many records are held meanwhile. docs/adaptive.md has the definitions.

All are computed from the windows that were evicted, without listing the matches: a burst of 38,000
records has millions. They are those of streams in order, where the later record of a match is the
one with the later time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple

from refengine.adaptive.join import Eviction
from refengine.adaptive.records import JoinRecord, Side
from refengine.adaptive.window import Emission, JoinWindow


class PairCounts(NamedTuple):
    """Pairs of records: those of the join over the bounded data, the matches that were emitted, and
    the different pairs among these, fewer where windows overlap.
    """

    expected: int
    emitted: int
    distinct: int

    @property
    def intersection_over_union(self) -> Fraction:
        """The size of the intersection of two bags over that of their union: what was emitted, and
        each pair of the join over the bounded data once. 1 if both are empty.
        """
        union = self.expected + self.emitted - self.distinct
        if union == 0:
            return Fraction(1)
        return Fraction(self.distinct, union)

    @property
    def completeness(self) -> Fraction:
        """The share of the bounded join's pairs that were emitted at all. 1 if it has none."""
        if self.expected == 0:
            return Fraction(1)
        return Fraction(self.distinct, self.expected)


def count_expected(records: Iterable[JoinRecord]) -> dict[str, int]:
    """Return the number of pairs of each key over the bounded data: left times right records."""
    numbers = Counter((record.key, record.side) for record in records)
    keys = sorted({key for key, _ in numbers})
    return {key: numbers[key, Side.LEFT] * numbers[key, Side.RIGHT] for key in keys}


def count_matches(window: JoinWindow, eviction: Eviction) -> tuple[int, int]:
    """Return how many matches a window gave, and how many of these are in no window that opened
    later. The sum of the latter is the number of different pairs.
    """
    emitted = len(eviction.left) * len(eviction.right)
    if window.slide is None:
        return emitted, emitted
    later = eviction.opened + window.slide
    left, right = (
        sum(record.at >= later for record in records) for records in (eviction.left, eviction.right)
    )
    return emitted, emitted - left * right


def count_pairs(
    window: JoinWindow, evictions: Sequence[Eviction], expected: Mapping[str, int]
) -> dict[str, PairCounts]:
    """Return the pairs of each key."""
    emitted: Counter[str] = Counter()
    distinct: Counter[str] = Counter()
    for eviction in evictions:
        all_matches, last_matches = count_matches(window, eviction)
        emitted[eviction.key] += all_matches
        distinct[eviction.key] += last_matches
    return {key: PairCounts(expected[key], emitted[key], distinct[key]) for key in expected}


def sum_pairs(counts: Iterable[PairCounts]) -> PairCounts:
    """Return the pairs of all keys together."""
    every = list(counts)
    return PairCounts(*(sum(column) for column in zip((0, 0, 0), *every, strict=True)))


class LatencyCounts(NamedTuple):
    """How long matches waited, in ms of stream time, with the number of matches of each latency.

    `since_later` counts from the later record of the pair, `mean_of_both` is the mean of both
    records' waits, in half milliseconds. RMLStreamer's gauge shows the first for its dynamic window
    and the second for its tumbling window.
    """

    since_later: Counter[int]
    mean_of_both: Counter[int]


def latencies(window: JoinWindow, evictions: Iterable[Eviction]) -> LatencyCounts:
    """Return the latencies of all matches."""
    since_later: Counter[int] = Counter()
    mean_of_both: Counter[int] = Counter()
    for eviction in evictions:
        lefts = Counter(record.at for record in eviction.left)
        rights = Counter(record.at for record in eviction.right)
        for left, left_count in lefts.items():
            for right, right_count in rights.items():
                later = max(left, right)
                at = later if window.emits is Emission.ARRIVAL else eviction.at
                since_later[at - later] += left_count * right_count
                mean_of_both[2 * at - left - right] += left_count * right_count
    return LatencyCounts(since_later, mean_of_both)


def median_of(counted: Counter[int]) -> int | None:
    """Return the lower median of counted values; None if there are none."""
    values = sorted(counted)
    half = (counted.total() + 1) // 2
    for value, so_far in zip(values, accumulate(counted[value] for value in values), strict=True):
        if so_far >= half:
            return value
    return None


def held_records(evictions: Iterable[Eviction]) -> Iterator[tuple[int, int]]:
    """Yield (instant, records held from then on) at each instant at which that number changes. A
    record is held in each of its windows, from its time to the end of the window.
    """
    changes: Counter[int] = Counter()
    for eviction in evictions:
        for record in (*eviction.left, *eviction.right):
            changes[record.at] += 1
        changes[eviction.at] -= len(eviction.left) + len(eviction.right)
    held = 0
    for at in sorted(changes):
        if changes[at]:
            held += changes[at]
            yield at, held


def mean_held(points: Sequence[tuple[int, int]]) -> Fraction:
    """Return the mean over time of the records held, from the first instant to the last."""
    if len(points) < 2:
        return Fraction(0)
    area = sum(held * (after - at) for (at, held), (after, _) in pairwise(points))
    return Fraction(area, points[-1][0] - points[0][0])


def mean_duration(evictions: Sequence[Eviction]) -> Fraction:
    """Return the mean duration of the windows that held records, in ms; 0 if there are none."""
    if not evictions:
        return Fraction(0)
    total = sum(eviction.at - eviction.opened for eviction in evictions)
    return Fraction(total, len(evictions))
