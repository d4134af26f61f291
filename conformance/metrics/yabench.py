"""YABench's measures of a window's answer: precision, recall, gracious mode (Kolchin, Wetz et al.,
ICWE 2016; docs/metrics.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from itertools import product
from typing import NamedTuple

from refengine.core.semantics import Closure
from refengine.core.window import borders
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag

Borders = tuple[int, int]
# the expected rows over the elements from one instant to another, both included
Answer = Callable[[int, int], Bag]
MOST = 1000  # shifted windows that gracious mode tries


class Score(NamedTuple):
    """Precision and recall, exact, from 0 to 1."""

    precision: Fraction
    recall: Fraction

    @staticmethod
    def of(pairs: int, expected: int, actual: int) -> Score:
        """Return the score where so many rows are expected, came, and pair up. What would be
        divided by zero is 0.
        """
        return Score(_share(pairs, actual), _share(pairs, expected))


def _share(pairs: int, total: int) -> Fraction:
    """Return a share of the whole; 0 of nothing."""
    if total == 0:
        return Fraction(0)
    return Fraction(pairs, total)


PERFECT = Score(Fraction(1), Fraction(1))


@dataclass(frozen=True)
class ExpectedAnswers:
    """What is expected over any elements of a stream: its instants, ascending, each once, and the
    rows over the elements from one instant to another.
    """

    instants: Sequence[int]
    answer: Answer


class EngineOutput(NamedTuple):
    """What an engine answered: the rows of each relation, and when it answered, in the stream's
    unit of time and from its zero (an entry too few, or None, where that is not known).
    """

    rows: Sequence[Bag]
    instants: Sequence[int | None] = ()

    def timed(self) -> list[tuple[Bag, int | None]]:
        """Return each relation's rows with their instant."""
        unknown = [None] * (len(self.rows) - len(self.instants))
        return list(zip(self.rows, [*self.instants, *unknown], strict=True))


class Reach(NamedTuple):
    """How far gracious mode shifts: neither border by more than `time` (None: by ω), and the
    nearest `windows` windows.
    """

    time: int | None = None
    windows: int = MOST


BY_ITS_SIZE = Reach()


class Shifted(NamedTuple):
    """What gracious mode found: the score, and the borders (o, c) of the window under which it is
    reached.
    """

    score: Score
    window: Borders


def matched(expected: Bag, actual: Bag, mode: Mode = Mode.VALUE) -> int:
    """Return TP: how many rows pair up, one to one. Blank nodes pair by label unless the bags are
    the same up to a renaming (CMP-4). Raises Unsupported for bags too symmetric to compare.
    """
    missing, extra = compare.difference(expected, actual, mode)
    if (
        (missing or extra)
        and compare.blanks([*missing, *extra])
        and compare.equal(expected, actual, mode)
    ):
        return actual.total()
    return actual.total() - extra.total()


def score(expected: Bag, actual: Bag, mode: Mode = Mode.VALUE) -> Score:
    """Return precision TP/|actual| and recall TP/|expected| of one window's answer. Both bags empty
    is 1 and 1; else what would be divided by zero is 0. Source: YABench's paper, and its FMeasure.
    """
    if not expected and not actual:
        return PERFECT
    return Score.of(matched(expected, actual, mode), expected.total(), actual.total())


def slide_score(expected: Bag, actual: Bag, mode: Mode = Mode.VALUE) -> Score:
    """Return, under content change, the mean over what happened in one slide of: a row found
    (1, 1); another one in its place (0, 0); a row that no row came for (1, 0); a row that none was
    expected for (0, 1). Nothing at all is 1 and 1.

    Source: YABench's OnContentChangeComparator; that the four are counted a slide, and not in the
    order of arrival, decided here.
    """
    most = max(expected.total(), actual.total())
    if not most:
        return PERFECT
    pairs = matched(expected, actual, mode)
    return Score(
        Fraction(pairs + most - actual.total(), most),
        Fraction(pairs + most - expected.total(), most),
    )


def gracious(
    window: Borders,
    closure: Closure,
    expects: ExpectedAnswers,
    expected: Bag,
    actual: Bag,
    reach: Reach = BY_ITS_SIZE,
    mode: Mode = Mode.VALUE,
) -> Shifted:
    """Shift the borders until precision and recall peak: the paper's gracious mode.

    Tried are the windows that differ in what they hold, each with the borders that are shifted
    least, within reach, and still overlapping their own place. Neither precision nor recall may get
    worse; the peak is the greatest sum of the two, of equal ones the nearest. Source: YABench's
    paper; how far, and what a peak is, decided here.
    """
    best = Shifted(score(expected, actual, mode), window)
    least = best.score
    low, high = borders(closure)
    time = window[1] - window[0]
    if reach.time is not None:
        time = reach.time
    own = (window[0] + low, window[1] + high)
    for start, end in _shifted_windows(own, expects.instants, time, reach.windows):
        if best.score == PERFECT:
            break
        rows = expects.answer(start, end)
        if not _can_be_better(_greatest_score(rows.total(), actual.total()), best.score, least):
            continue
        shifted_score = score(rows, actual, mode)
        if _can_be_better(shifted_score, best.score, least):
            best = Shifted(shifted_score, (start - low, end - high))
    return best


def _can_be_better(tried: Score, best: Score, least: Score) -> bool:
    """Whether a score has a greater sum than the best one, and neither part is worse than that of
    the window in its own place.
    """
    return (
        sum(tried) > sum(best)
        and tried.precision >= least.precision
        and tried.recall >= least.recall
    )


def _shifted_windows(own: Borders, instants: Sequence[int], time: int, most: int) -> list[Borders]:
    """Return the windows that differ in what they hold, neither border of which is shifted by more
    than a time, at most so many, the nearest first. A window is its first and last instant.
    """
    first, last = own
    near = instants[bisect_left(instants, first - time) : bisect_right(instants, last + time)]
    starts = [
        first,
        *(t for t in near if t < first),
        *(t + 1 for t in near if first <= t < min(last, first + time)),
    ]
    ends = [
        last,
        *(t for t in near if t > last),
        *(t - 1 for t in near if max(first, last - time) < t <= last),
    ]
    # the nearest pairs are of these
    starts = nsmallest(most, starts, key=lambda t: abs(t - first))
    ends = nsmallest(most, ends, key=lambda t: abs(t - last))

    def distance(shifted: Borders) -> tuple[int, ...]:
        left, right = abs(shifted[0] - first), abs(shifted[1] - last)
        return left + right, left, *shifted

    pairs = (pair for pair in product(starts, ends) if pair[0] <= pair[1])
    return nsmallest(most, pairs, key=distance)


def _greatest_score(expected: int, actual: int) -> Score:
    """Return the score of so many expected and actual rows if as many pair up as can: the sizes
    alone rule most windows out.
    """
    if not expected and not actual:
        return PERFECT
    return Score.of(min(expected, actual), expected, actual)
