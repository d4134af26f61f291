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
from refengine.model.errors import require

BUCKETS_OF_A_SLIDE = 256
CANDIDATES = 100  # instants that are tried for each cut, at most
# The function `truth` looks for rows of halos in so many ranges of time at most, so that the
# condition by which Spark picks them stays short.
MOST_TIME_RANGES = 50


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
    """A part of the stream: its number, its borders with the likeliest start of its halo, and an
    iterator over the earlier starts to try after that (refengine.incremental.parts.halo_starts).
    """

    number: int
    part: Part
    further_halo_starts: Iterator[int | None]


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
    computed in parts.
    """
    cuts: list[int] = []
    if count > 1 and parts.why_not_in_parts(query, semantics) is None:
        cuts = choose_cuts(query, semantics, histogram, count)
    planned = []
    for number, (start, stop) in enumerate(zip([None, *cuts], [*cuts, None], strict=True)):
        starts = _halo_starts(query, semantics, histogram, start)
        planned.append(PartPlan(number, Part(start, stop, next(starts)), starts))
    return planned


def choose_cuts(
    query: Query, semantics: Semantics, histogram: ArrivalHistogram, count: int
) -> list[int]:
    """Return the instants at which the parts after the first one begin: at most `count` - 1.

    Each even cut of the histogram is moved, within one slide, to another instant: of at most
    CANDIDATES instants, the one before which the shortest time is likely to be read.
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
    """Return the instants at which the halo of a part may begin, the likeliest first: the latest.
    For the first part, which has no `start`, the only one is None.
    """
    if start is None:
        return iter([None])
    return parts.halo_starts(query, semantics, histogram.firsts, start, histogram.instants)


def choose_halos(
    planned: Sequence[PartPlan], find_enough_halos: Callable[[Mapping[int, Part]], set[int]]
) -> dict[int, Part]:
    """Return the parts by their numbers, each with the first of its halo starts from which its
    elements are enough. The last one, None, is the beginning of the stream, and is always enough.

    `find_enough_halos` returns the numbers of the parts whose halos are enough (`is_halo_enough`).
    It is given the parts in doubt by their numbers, each as an empty part: one that stops where it
    begins, so that it has its halo and no elements of its own.
    """
    chosen = {each.number: each.part for each in planned}
    doubtful = {each.number: each for each in planned if each.part.halo_start is not None}
    while doubtful:
        empty_parts = {
            number: chosen[number]._replace(stop=chosen[number].start) for number in doubtful
        }
        enough = find_enough_halos(empty_parts)
        for number in doubtful.keys() - enough:
            halo_start = next(doubtful[number].further_halo_starts)
            chosen[number] = chosen[number]._replace(halo_start=halo_start)
        doubtful = {
            number: each
            for number, each in doubtful.items()
            if number not in enough and chosen[number].halo_start is not None
        }
    return chosen


def borders_of_halo(part: Part) -> tuple[int, int]:
    """Return the borders [since, start) of a part's halo, with `since` within the bounds of time
    (MOD-1). The part needs a `halo_start` and a `start`: one that begins with the stream has no
    halo.
    """
    return max(require(part.halo_start), -TIME_BOUND), require(part.start)


def join_halos(later_parts: Iterable[Part], limit: int = MOST_TIME_RANGES) -> list[tuple[int, int]]:
    """Join the halos of some parts to at most `limit` ranges of time [since, stop). Return them in
    order. The parts are later ones than the first, which has no halo. There must be one at least.

    Each halo lies within one range. Halos that overlap or touch are always joined. If more than
    `limit` ranges are left, the shortest gaps between them are closed; the instants in a closed gap
    belong to no halo. Each part needs a `start` and a `halo_start`.

    >>> join_halos([Part(5, 7, 0), Part(9, 11, 4), Part(21, 23, 20), Part(24, 26, 22)], 2)
    [(0, 9), (20, 24)]
    """
    borders = sorted(map(borders_of_halo, later_parts))
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
    empty_part: Part,
    elements: Mapping[str, Stream],
) -> bool:
    """Whether the elements of a halo tell all that a part needs to know of what was before it
    (ENG-7). They are those of each stream from `halo_start` to the part's start. The part stops
    where it begins, since the schedule before it does not depend on what comes after.
    """
    planned = parts.plan_part(query, elements, semantics, firsts, empty_part)
    try:
        parts.evaluations_to_skip(query, planned, empty_part, MAX_REPORTS)
    except HaloTooShort:
        return False
    return True
