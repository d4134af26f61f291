"""§14 Measures of a bounded join: what it found, of what there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from refengine.joins.bounded_join import (
    UNLIMITED,
    ReadElement,
    Resources,
    Result,
    read_elements,
    run_over,
)
from refengine.joins.inputs import BoundedQuery
from refengine.joins.memory import bounded_sources
from refengine.model.elements import Stream
from refengine.model.errors import RefengineError

Numbers = tuple[int, ...]  # of a result's bindings


@dataclass(frozen=True)
class Measuring:
    """Which arrivals count.

    The first `warm_up` of the arrivals, a share of their number, do not. `period` is the length of
    the periods in which the input rate is taken, in instants (BND-8).
    """

    period: int
    warm_up: Fraction = Fraction(1, 3)

    def __post_init__(self) -> None:
        is_exact = isinstance(self.period, int) and isinstance(self.warm_up, Fraction | int)
        if not is_exact or self.period < 1 or not 0 <= self.warm_up < 1:
            reason = (
                "a period is a whole number > 0, and a warm-up an exact share of the arrivals from "
                "0 to below 1, such as Fraction(1, 3)"
            )
            given = f"{self.period!r} and {self.warm_up!r}"
            raise RefengineError(f"{reason}, got {given}", rule="BND-8", place="measuring")


class Score(NamedTuple):
    """Counts of results.

    `expected`: those of the unlimited join; `found`: those of the bounded join; `right`: those that
    are in both.
    """

    expected: int
    found: int
    right: int

    @property
    def recall(self) -> float:
        """BND-8: The share of the expected results that were found; 1 where none is expected.

        >>> Score(expected=8, found=6, right=6).recall
        0.75
        """
        return self.right / self.expected if self.expected else 1.0

    @property
    def precision(self) -> float:
        """BND-8: The share of what was found that is right; 1 where nothing was found."""
        return self.right / self.found if self.found else 1.0


class Figures(NamedTuple):
    """What was measured of a run: the score of all arrivals that count and of the stressed ones
    among them, the most bounded bindings that were held at a time, and the number of elements.
    """

    overall: Score
    stressed: Score
    most_held: int
    elements: int


class UnlimitedRun(NamedTuple):
    """What there is: the elements, the results of each, and how many bindings of each source were
    in some window when it had come.
    """

    elements: list[ReadElement]
    results: list[frozenset[Numbers]]
    held: list[tuple[int, ...]]

    def needed(self, are_bounded: Sequence[bool]) -> list[int]:
        """BND-8: Return the memory that is needed at each element: how many bounded bindings are
        held. `are_bounded` says of each source whether its bindings are.
        """
        return [_count_held(held, are_bounded) for held in self.held]


def run_unlimited(query: BoundedQuery, streams: Mapping[str, Stream]) -> UnlimitedRun:
    """Return what a join finds over whole streams with as much memory as it needs."""
    run = UnlimitedRun(list(read_elements(query, streams)), [], [])
    for step in run_over(query, run.elements, UNLIMITED):
        run.results.append(numbers_of(step.results))
        run.held.append(step.held)
    return run


def numbers_of(results: Iterable[Result]) -> frozenset[Numbers]:
    """Return the numbers of the bindings of results, which tell results apart."""
    return frozenset(tuple([binding.number for binding in result]) for result in results)


def measure(
    query: BoundedQuery, resources: Resources, unlimited: UnlimitedRun, measuring: Measuring
) -> Figures:
    """BND-8: Run a join with bounded resources over the elements of the unlimited run, and compare
    the two.
    """
    counts = counted_arrivals([element.time for element in unlimited.elements], measuring)
    are_bounded = bounded_sources(query, resources.only)
    overall, stressed, most_held = [0, 0, 0], [0, 0, 0], 0
    runs = zip(
        run_over(query, unlimited.elements, resources), unlimited.results, counts, strict=True
    )
    for step, expected, (is_counted, is_stressed) in runs:
        most_held = max(most_held, _count_held(step.held, are_bounded))
        if not is_counted:
            continue
        found = numbers_of(step.results)
        score = (len(expected), len(found), len(found & expected))
        for total in (overall, stressed) if is_stressed else (overall,):
            for place, value in enumerate(score):
                total[place] += value
    return Figures(Score(*overall), Score(*stressed), most_held, len(counts))


def _count_held(held: Sequence[int], are_bounded: Sequence[bool]) -> int:
    """Return how many bindings are held of the sources whose bindings are bounded."""
    return sum(count for count, is_bounded in zip(held, are_bounded, strict=True) if is_bounded)


def counted_arrivals(times: Sequence[int], measuring: Measuring) -> list[tuple[bool, bool]]:
    """BND-8: Return of each arrival whether it counts, and whether the input was under stress then.

    Ten arrivals in period 0 of 100 instants and two in period 1: the mean is 6.

    >>> counted = counted_arrivals([0] * 10 + [100, 150], Measuring(100, Fraction(0)))
    >>> [stress for _, stress in counted]
    [True, True, True, True, True, True, True, True, True, True, False, False]
    """
    first = len(times) * measuring.warm_up.numerator // measuring.warm_up.denominator
    periods = [time // measuring.period for time in times[first:]]
    arrivals_in = Counter(periods)
    spanned = periods[-1] - periods[0] + 1 if periods else 0
    stresses = [arrivals_in[period] * spanned > len(periods) for period in periods]
    return [(False, False)] * first + [(True, stress) for stress in stresses]
