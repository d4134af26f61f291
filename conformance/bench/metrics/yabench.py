"""YABench's measures of a window's answer: precision, recall, gracious mode (Kolchin, Wetz et al.,
ICWE 2016; docs/benchmarks.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import merge, nsmallest
from itertools import islice
from typing import NamedTuple

from conformance.bench.metrics.row_pairs import RowPairs
from refengine.core.values import Closure
from refengine.core.window import borders
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row, canonical_bags, canonical_rows

Borders = tuple[int, int]
# the expected rows over the elements from one instant to another, both included
AnswerOverInterval = Callable[[int, int], Bag]
# the rows that come, and those that go, as one such interval becomes another
RowsThatChange = tuple[Iterable[Row], Iterable[Row]]
MOST = 1000  # shifted windows that gracious mode tries, at most


class Score(NamedTuple):
    """Precision and recall, exact, from 0 to 1."""

    precision: Fraction
    recall: Fraction

    @staticmethod
    def of(pairs: int, expected: int, actual: int) -> Score:
        """Return the score of an answer of `actual` rows, where `expected` rows are due and `pairs`
        rows pair up. A division by zero gives 0.
        """
        return Score(_share(pairs, actual), _share(pairs, expected))


def _share(pairs: int, total: int) -> Fraction:
    """Return how much of a total the pairs are; 0 if the total is 0."""
    if total == 0:
        return Fraction(0)
    return Fraction(pairs, total)


PERFECT = Score(Fraction(1), Fraction(1))


@dataclass(frozen=True)
class ExpectedAnswers:
    """The answers that are expected over any interval of a stream: `instants` are those of its
    elements, ascending and each once, and `answer` gives the rows over the elements from one
    instant to another. `find_change` returns the rows that come and those that go between two
    answers, or None if only the answers themselves tell.
    """

    instants: Sequence[int]
    answer: AnswerOverInterval
    find_change: Callable[[Borders, Borders], RowsThatChange | None] = lambda before, after: None

    def change(self, before: Borders | None, after: Borders) -> RowsThatChange:
        """Return the rows that come, and those that go, as one interval becomes another. `before`
        is None if there was no interval before: then all rows come, and none go.
        """
        if before is None:
            return self.answer(*after).elements(), ()
        change = self.find_change(before, after)
        if change is None:
            old, new = self.answer(*before), self.answer(*after)
            change = (new - old).elements(), (old - new).elements()
        return change


class EngineOutput(NamedTuple):
    """The output of an engine: the rows of each relation, and the instants at which it answered, in
    the stream's unit of time. Instants that are not known are None, or left out at the end.
    """

    rows: Sequence[Bag]
    instants: Sequence[int | None] = ()

    def with_canonical_rows(self) -> EngineOutput:
        """Return the output with canonical terms (MOD-4)."""
        return self._replace(rows=canonical_bags(self.rows, "relation"))

    def rows_with_instants(self) -> list[tuple[Bag, int | None]]:
        """Return each relation's rows with their instant."""
        unknown = [None] * (len(self.rows) - len(self.instants))
        return list(zip(self.rows, [*self.instants, *unknown], strict=True))


class Reach(NamedTuple):
    """The reach of gracious mode: it shifts no border by more than `time` (None: by ω), and tries
    the nearest `windows` windows.
    """

    time: int | None = None
    windows: int = MOST


BY_ITS_SIZE = Reach()


class ShiftedWindow(NamedTuple):
    """The window that gracious mode finds: its score, which is the best one, and its borders
    (o, c).
    """

    score: Score
    window: Borders


def count_matches(expected: Bag, actual: Bag, mode: Mode = Mode.VALUE) -> int:
    """Return the number of rows that pair up one to one, TP. Blank nodes pair by their labels,
    unless the bags are equal up to a renaming (CMP-4). Raises Unsupported for bags too symmetric to
    compare.
    """
    expected = canonical_rows(expected, "expected rows")
    actual = canonical_rows(actual, "actual rows")
    missing, extra = compare.difference(expected, actual, mode)
    has_blanks = compare.blanks([*missing, *extra])
    if has_blanks and compare.equal(expected, actual, mode):
        return actual.total()
    return actual.total() - extra.total()


def score(expected: Bag, actual: Bag, mode: Mode = Mode.VALUE) -> Score:
    """Return precision TP/|actual| and recall TP/|expected| of one window's answer. If both bags
    are empty they are 1 and 1; else a division by zero gives 0. Source: YABench's paper and
    FMeasure.
    """
    pairs = count_matches(expected, actual, mode)
    if not expected and not actual:
        return PERFECT
    return Score.of(pairs, expected.total(), actual.total())


def slide_score(expected: Bag, actual: Bag, mode: Mode = Mode.VALUE) -> Score:
    """Return the score of one slide under content change. It is the mean over its rows: an expected
    row that came has (1, 1); one in whose place another came (0, 0); one for which none came (1,
    0); a row that came where none was expected (0, 1). A slide without rows has (1, 1).

    Source: YABench's OnContentChangeComparator. That these are counted by slide, and not in the
    order of arrival, is decided here.
    """
    pairs = count_matches(expected, actual, mode)
    most = max(expected.total(), actual.total())
    if not most:
        return PERFECT
    return Score(
        Fraction(pairs + most - actual.total(), most),
        Fraction(pairs + most - expected.total(), most),
    )


class ShiftedAnswer:
    """The answer that is expected over an interval, which is shifted, beside an engine's answer.

    Of a shift only the rows that come and go are compared, unless the engine's answer has blank
    nodes: then each expected answer is compared with it as a whole. `count_matches` compares blank
    nodes by label, unless two bags are equal up to a renaming. Of such bags `RowPairs` would count
    too few pairs. It cannot happen if the engine's answer has no blank node.
    """

    def __init__(self, expects: ExpectedAnswers, actual: Bag, mode: Mode) -> None:
        self.expects = expects
        self.actual = actual
        self.actual_total = actual.total()
        self.mode = mode
        self.has_blanks = bool(compare.blanks(actual))
        self.pairs = RowPairs(actual, mode)
        self.rows: Bag = Counter()  # the expected ones, if there are blank nodes
        self.interval: Borders | None = None

    def shift_to(self, interval: Borders) -> None:
        """Move the expected answer to another interval."""
        if self.has_blanks:
            self.rows = self.expects.answer(*interval)
        else:
            self.pairs.change(*self.expects.change(self.interval, interval))
        self.interval = interval

    @property
    def expected_total(self) -> int:
        """The number of rows that are expected over the interval."""
        if self.has_blanks:
            return self.rows.total()
        return self.pairs.changing_rows.total

    def score(self) -> Score:
        """Return what `score` gives for the two answers."""
        if self.has_blanks:
            return score(self.rows, self.actual, self.mode)
        return self._score_of(self.pairs.count())

    def greatest_score(self) -> Score:
        """Return the greatest score that answers of these sizes can have. It rules out most
        intervals without a comparison of rows.
        """
        return self._score_of(min(self.expected_total, self.actual_total))

    def _score_of(self, pairs: int) -> Score:
        """Return the score if so many rows pair up."""
        if not self.expected_total and not self.actual_total:
            return PERFECT
        return Score.of(pairs, self.expected_total, self.actual_total)


def gracious(
    window: Borders,
    closure: Closure,
    expects: ExpectedAnswers,
    expected: Bag,
    actual: Bag,
    reach: Reach = BY_ITS_SIZE,
    mode: Mode = Mode.VALUE,
) -> ShiftedWindow:
    """Shift the borders of a window until precision and recall peak: the paper's gracious mode.

    Windows within reach that overlap the original one are tried. Of windows with the same content
    it is the one whose borders are shifted least. Neither precision nor recall may get worse. The
    peak is the greatest sum of the two, and of equal sums the nearest window. Source: YABench's
    paper; the reach and what a peak is are decided here.
    """
    actual = canonical_rows(actual, "actual rows")
    best = ShiftedWindow(score(expected, actual, mode), window)
    if best.score == PERFECT:
        return best
    least = best.score
    shifted_answer = ShiftedAnswer(expects, actual, mode)
    low, high = borders(closure)
    time = window[1] - window[0]
    if reach.time is not None:
        time = reach.time
    own = (window[0] + low, window[1] + high)
    for start, end in _shifted_windows(own, expects.instants, time, reach.windows):
        if best.score == PERFECT:
            break
        shifted_answer.shift_to((start, end))
        if not _can_be_better(shifted_answer.greatest_score(), best.score, least):
            continue
        shifted_score = shifted_answer.score()
        if _can_be_better(shifted_score, best.score, least):
            best = ShiftedWindow(shifted_score, (start - low, end - high))
    return best


def _can_be_better(tried: Score, best: Score, least: Score) -> bool:
    """Whether a score has a greater sum than the best one so far, and neither part is less than in
    `least`, the score of the window that is not shifted.
    """
    return (
        sum(tried) > sum(best)
        and tried.precision >= least.precision
        and tried.recall >= least.recall
    )


def _shifted_windows(own: Borders, instants: Sequence[int], time: int, most: int) -> list[Borders]:
    """Return the shifted windows with different contents, the nearest first and at most `most`. A
    window is given as its first and last instant; neither is shifted by more than `time`.
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
    starts = nsmallest(most, starts, key=lambda t: (abs(t - first), t))
    ends = nsmallest(most, ends, key=lambda t: (abs(t - last), t))

    def distance(shifted: Borders) -> tuple[int, ...]:
        left, right = abs(shifted[0] - first), abs(shifted[1] - last)
        return left + right, left, *shifted

    # `ends` ascend by their distance. So do the pairs of each start, as `merge` needs them.
    of_starts = ([(start, end) for end in ends if start <= end] for start in starts)
    return list(islice(merge(*of_starts, key=distance), most))
