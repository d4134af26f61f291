"""The plan of the parts of a stream (ENG-7), which the driver makes from a histogram of arrival
times alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from refengine.core import window
from refengine.core.query import Query
from refengine.core.schedule import MAX_REPORTS
from refengine.core.semantics import Semantics
from refengine.incremental import parts
from refengine.incremental.parts import HaloTooShort, Part
from refengine.model.elements import TIME_BOUND, Stream

BUCKETS_OF_A_SLIDE = 256
CANDIDATES = 100  # instants that are tried for each cut, at most
# Rows of halos are looked for in so many stretches of time at most, so that the condition by which
# Spark picks them stays short.
STRETCHES = 50


@dataclass(frozen=True)
class ArrivalHistogram:
    """How many triples come when: for each bucket of time that has any, its first instant and its
    count, in the order of time. `firsts` is the first instant of each stream that has a triple.
    """

    instants: Sequence[int]
    counts: Sequence[int]
    firsts: Mapping[str, int]

    @property
    def triples(self) -> int:
        """The number of all triples."""
        return sum(self.counts)

    def choose_even_cuts(self, count: int) -> list[int]:
        """Return instants that cut the stream into at most `count` parts with about equally many
        triples. Each is the first instant of a bucket.

        >>> ArrivalHistogram([0, 10, 50, 90], [4, 1, 4, 1], {"s": 0}).choose_even_cuts(3)
        [10, 90]
        """
        sums = list(accumulate(self.counts))
        count = min(count, 2 * len(self.counts))  # more of them would only fall together
        last = len(self.instants) - 1
        cuts = set()
        for n in range(1, count):
            # the bucket in which the n-th share of the triples ends is the last one before the cut
            place = bisect_left(sums, ceil(n * sums[-1] / count))
            cuts.add(self.instants[min(place + 1, last)])
        return sorted(cut for cut in cuts if cut > self.instants[0])


class PartPlan(NamedTuple):
    """A part of the stream: its number, its borders, and the instants from which it may be given
    elements, the likeliest first (refengine.incremental.parts.halo_starts).
    """

    number: int
    part: Part
    earlier: Iterator[int | None]


def merge_buckets(buckets: Iterable[tuple[str, int, int, int]]) -> ArrivalHistogram:
    """Return the histogram of all streams together, from the name of the stream, the number of the
    bucket, the first instant and the count of each bucket of each stream.
    """
    merged: dict[int, tuple[int, int]] = {}
    first_of: dict[str, int] = {}
    for name, number, first, count in buckets:
        earliest, before = merged.get(number, (first, 0))
        merged[number] = min(earliest, first), before + count
        first_of[name] = min(first, first_of.get(name, first))
    instants, counts = zip(*sorted(merged.values()), strict=True)
    return ArrivalHistogram(instants, counts, first_of)


def bucket_shift(query: Query, semantics: Semantics) -> int:
    """Return how many bits an instant is shifted by to give its bucket.

    Buckets are a power of two long. The shortest slide, or the size of windows that slide with each
    instant, has at least `BUCKETS_OF_A_SLIDE` buckets and fewer than twice as many, or one for each
    instant.
    """
    specs = [window.with_slide(spec, semantics.slide) for spec in query.windows]
    lengths = [spec.step if spec.step > 1 else spec.size or 1 for spec in specs]
    return max(0, (min(lengths) // BUCKETS_OF_A_SLIDE).bit_length() - 1)


def plan_parts(
    query: Query, semantics: Semantics, histogram: ArrivalHistogram, count: int
) -> list[PartPlan]:
    """Return at most `count` parts of a stream, in the order of time; one part if the query is not
    computed in parts. Each part begins at the instant within a slide that needs the least time
    before it.
    """
    cuts: list[int] = []
    if count > 1 and parts.why_not_in_parts(query, semantics) is None:
        cuts = best_cuts(query, semantics, histogram, count)
    planned = []
    for number, (start, stop) in enumerate(zip([None, *cuts], [*cuts, None], strict=True)):
        earlier = _halo_starts(query, semantics, histogram, start)
        planned.append(PartPlan(number, Part(start, stop, next(earlier)), earlier))
    return planned


def best_cuts(
    query: Query, semantics: Semantics, histogram: ArrivalHistogram, count: int
) -> list[int]:
    """Return the instants at which parts begin, if there are to be at most `count`. Of the instants
    within a slide, a part begins at the one that needs the least time before it.
    """
    slide = max(window.with_slide(spec, semantics.slide).step for spec in query.windows)
    instants = histogram.instants
    chosen = set()
    for cut in histogram.choose_even_cuts(count):
        first = bisect_left(instants, cut)
        last = bisect_left(instants, cut + slide)
        places = range(first, max(first + 1, last), max(1, ceil((last - first) / CANDIDATES)))
        among = (instants[place] for place in places)
        chosen.add(min(among, key=partial(_halo_length, query, semantics, histogram)))
    return sorted(chosen)


def _halo_length(
    query: Query, semantics: Semantics, histogram: ArrivalHistogram, start: int
) -> int:
    """Return how long before a part that begins at `start` elements are likely to be needed."""
    halo_start = next(_halo_starts(query, semantics, histogram, start))
    if halo_start is None:
        halo_start = histogram.instants[0]
    return start - halo_start


def _halo_starts(
    query: Query, semantics: Semantics, histogram: ArrivalHistogram, start: int | None
) -> Iterator[int | None]:
    if start is None:
        return iter([None])
    return parts.halo_starts(query, semantics, histogram.firsts, start, histogram.instants)


def choose_halos(
    planned: Sequence[PartPlan], find_enough: Callable[[Mapping[int, Part]], set[int]]
) -> dict[int, Part]:
    """Return the parts by their numbers, each with an instant from which its elements are enough.

    `find_enough` is given halos, which are parts that end where the part begins, and returns the
    numbers of those that are enough (`is_halo_enough`). A part whose elements begin too late is
    planned again from an earlier instant, at last from the beginning of the stream.
    """
    chosen = {each.number: each.part for each in planned}
    doubtful = {each.number: each for each in planned if each.part.halo_start is not None}
    while doubtful:
        halos = {number: chosen[number]._replace(stop=chosen[number].start) for number in doubtful}
        enough = find_enough(halos)
        for number in doubtful.keys() - enough:
            halo_start = next(doubtful[number].earlier)
            chosen[number] = chosen[number]._replace(halo_start=halo_start)
        doubtful = {
            number: each
            for number, each in doubtful.items()
            if number not in enough and chosen[number].halo_start is not None
        }
    return chosen


def borders_of_halo(halo: Part) -> tuple[int, int]:
    """Return the borders [since, stop) of a halo, with `since` within the bounds of time (MOD-1).
    The halo must have both: a part that begins with the stream needs none.
    """
    assert halo.halo_start is not None and halo.stop is not None
    return max(halo.halo_start, -TIME_BOUND), halo.stop


def join_halos(halos: Iterable[Part], limit: int = STRETCHES) -> list[tuple[int, int]]:
    """Join the halos to at most `limit` stretches of time [since, stop). Return them in order.

    Each halo lies within one stretch. Halos that overlap or touch are always joined. If more than
    `limit` stretches are left, the shortest gaps between them are closed; the instants in a closed
    gap belong to no halo. Each halo needs a `halo_start` and a `stop`.

    >>> join_halos([Part(0, 5, 0), Part(0, 9, 4), Part(0, 21, 20), Part(0, 24, 22)], 2)
    [(0, 9), (20, 24)]
    """
    borders = sorted(map(borders_of_halo, halos))
    ends = list(accumulate((stop for _, stop in borders), max))
    starts = [since for since, _ in borders]
    gaps = [(since - end, end, since) for end, since in zip(ends, starts[1:], strict=False)]
    widest = [gap for gap in nlargest(limit - 1, gaps) if gap[0] > 0]
    inner = sorted(instant for _, end, since in widest for instant in (end, since))
    return list(zip([starts[0], *inner[1::2]], [*inner[::2], ends[-1]], strict=True))


def is_halo_enough(
    query: Query,
    semantics: Semantics,
    firsts: Mapping[str, int],
    part: Part,
    halo: Mapping[str, Stream],
) -> bool:
    """Whether the elements that come before a part, from `halo_start` on, tell what was before it
    (ENG-7). `halo` has these elements alone, and the part stops where it begins: the schedule
    before a part does not depend on what comes after.
    """
    planned = parts.plan_part(query, halo, semantics, firsts, part)
    try:
        parts.evaluations_to_skip(query, planned, part, MAX_REPORTS)
    except HaloTooShort:
        return False
    return True
