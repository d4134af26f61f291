"""The measures of a join over windows: how much of the whole join comes out, how late, and how many
records are held meanwhile. The *whole join* has all pairs of left and right records with the same
key, without windows. docs/benchmarks.md has the definitions.

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

from refengine.joins.adaptive_join import Eviction
from refengine.joins.records import JoinRecord, Side
from refengine.joins.window import Emission, JoinWindow


class PairCounts(NamedTuple):
    """Numbers of pairs of records: those of the whole join, the matches that were emitted, and the
    different pairs among these, fewer where windows overlap.
    """

    whole_join: int
    matches: int
    different_pairs: int

    @property
    def intersection_over_union(self) -> Fraction:
        """The pairs in both of two bags over the pairs in either: the bag of the matches, and that
        of the whole join, which has each pair once. 1 if both are empty.
        """
        union = self.whole_join + self.matches - self.different_pairs
        if union == 0:
            return Fraction(1)
        return Fraction(self.different_pairs, union)

    @property
    def completeness(self) -> Fraction:
        """The share of the whole join's pairs that were emitted at all. 1 if it has none."""
        if self.whole_join == 0:
            return Fraction(1)
        return Fraction(self.different_pairs, self.whole_join)


def count_whole_join(records: Iterable[JoinRecord]) -> dict[str, int]:
    """Return the number of the whole join's pairs of each key: left times right records."""
    numbers = Counter((record.key, record.side) for record in records)
    keys = sorted({key for key, _ in numbers})
    return {key: numbers[key, Side.LEFT] * numbers[key, Side.RIGHT] for key in keys}


def count_matches(window: JoinWindow, eviction: Eviction) -> tuple[int, int]:
    """Return how many matches a window gave, and how many of these are in no window that opened
    later. The sum of the latter is the number of different pairs.
    """
    matches = len(eviction.left) * len(eviction.right)
    if window.slide is None:
        return matches, matches
    later = eviction.opened + window.slide
    left = sum(record.at >= later for record in eviction.left)
    right = sum(record.at >= later for record in eviction.right)
    return matches, matches - left * right


def count_pairs(
    window: JoinWindow,
    evictions: Sequence[Eviction],
    whole_join: Mapping[str, int],
) -> dict[str, PairCounts]:
    """Return the numbers of pairs of each key; `whole_join` has those of the whole join."""
    matches: Counter[str] = Counter()
    different: Counter[str] = Counter()
    for eviction in evictions:
        all_matches, last_matches = count_matches(window, eviction)
        matches[eviction.key] += all_matches
        different[eviction.key] += last_matches
    return {key: PairCounts(whole_join[key], matches[key], different[key]) for key in whole_join}


def sum_pairs(counts: Iterable[PairCounts]) -> PairCounts:
    """Return the pairs of all keys together."""
    every = list(counts)
    return PairCounts(*(sum(column) for column in zip((0, 0, 0), *every, strict=True)))


class LatencyCounts(NamedTuple):
    """How long matches waited, in ms of stream time, with the number of matches of each latency.

    `since_later` counts from the later record of the pair; `sum_of_waits` is the sum of the waits
    of both records, so that half of it is their mean.
    """

    since_later: Counter[int]
    sum_of_waits: Counter[int]


def count_latencies(window: JoinWindow, evictions: Iterable[Eviction]) -> LatencyCounts:
    """Count the latencies of all matches."""
    since_later: Counter[int] = Counter()
    sum_of_waits: Counter[int] = Counter()
    for eviction in evictions:
        lefts = Counter(record.at for record in eviction.left)
        rights = Counter(record.at for record in eviction.right)
        for left, left_count in lefts.items():
            for right, right_count in rights.items():
                later = max(left, right)
                at = later if window.emits is Emission.ARRIVAL else eviction.end
                since_later[at - later] += left_count * right_count
                sum_of_waits[2 * at - left - right] += left_count * right_count
    return LatencyCounts(since_later, sum_of_waits)


def median_of(counted: Counter[int]) -> int | None:
    """Return the lower median of counted values; None if there are none."""
    values = sorted(counted)
    half = (counted.total() + 1) // 2
    for value, so_far in zip(values, accumulate(counted[value] for value in values), strict=True):
        if so_far >= half:
            return value
    return None


def count_held_records(evictions: Iterable[Eviction]) -> Iterator[tuple[int, int]]:
    """Yield (instant, records held from then on) at each instant at which that number changes. A
    record is held in each of its windows, from its time to the end of the window.
    """
    changes: Counter[int] = Counter()
    for eviction in evictions:
        for record in (*eviction.left, *eviction.right):
            changes[record.at] += 1
        changes[eviction.end] -= len(eviction.left) + len(eviction.right)
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
    total = sum(eviction.end - eviction.opened for eviction in evictions)
    return Fraction(total, len(evictions))
