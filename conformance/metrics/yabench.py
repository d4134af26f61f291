"""YABench's measures of a window's answer: precision, recall, gracious mode (Kolchin, Wetz et al.,
ICWE 2016; docs/metrics.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from itertools import product
from typing import NamedTuple

from refengine.core.semantics import Closure
from refengine.core.window import borders
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row

Borders = tuple[int, int]
# the expected rows over the elements from one instant to another, both included
Answer = Callable[[int, int], Bag]
MOST = 1000  # shifted windows that gracious mode tries


class Score(NamedTuple):
    """Precision and recall, exact, from 0 to 1."""

    precision: Fraction
    recall: Fraction


PERFECT = Score(Fraction(1), Fraction(1))


class Shifted(NamedTuple):
    """What gracious mode found: the score, and the borders (o, c) of the window under which it is
    reached.
    """

    score: Score
    window: Borders


def matched(expected: Bag, actual: Bag, mode: Mode = Mode.VALUE) -> int:
    """TP: how many rows pair up, one to one. Blank nodes pair by label unless the bags are the same
    up to a renaming (CMP-4). Raises Unsupported for bags too symmetric to compare.
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
    """Precision TP/|actual| and recall TP/|expected| of one window's answer. Both bags empty is 1
    and 1; else what would be divided by zero is 0. Source: YABench's paper, and its FMeasure.
    """
    if not expected and not actual:
        return PERFECT
    found = matched(expected, actual, mode)
    return Score(
        *(Fraction(found, rows.total()) if rows else Fraction(0) for rows in (actual, expected))
    )


def slide_score(expected: Bag, actual: Bag, mode: Mode = Mode.VALUE) -> Score:
    """Under content change the mean, over what happened in one slide, of: a row found (1, 1);
    another one in its place (0, 0); a row that no row came for (1, 0); a row that none was expected
    for (0, 1). Nothing at all is 1 and 1.

    Source: YABench's OnContentChangeComparator; that the four are counted a slide, and not in the
    order of arrival, decided here.
    """
    most = max(expected.total(), actual.total())
    if not most:
        return PERFECT
    found = matched(expected, actual, mode)
    return Score(
        Fraction(found + most - actual.total(), most),
        Fraction(found + most - expected.total(), most),
    )


class Step(NamedTuple):
    """What the code notes when it holds one relation of the engine against what is due at an
    instant: its score, the window evaluated, the delay, and how many rows were due and came.
    """

    score: Score
    window: Borders
    delay: int | None
    expected: int
    actual: int


FOUND, OTHER = PERFECT, Score(Fraction(0), Fraction(0))
LOST, UNEXPECTED = Score(Fraction(1), Fraction(0)), Score(Fraction(0), Fraction(1))


def steps_code(
    instants: Sequence[int],
    size: int,
    slide: int,
    answer: Answer,
    actual: Sequence[Bag],
    clocks: Sequence[int | None],
    *,
    mode: Mode = Mode.VALUE,
) -> Iterator[Step]:
    """What the code notes under content change, without gracious mode and `singleresult`, in its
    order.

    At each instant t the query is asked over [kβ, t], k the least with kβ + ω >= t. Due are its
    rows that the last answer with new rows had not. The engine's next relation is held against
    them: one row that is due is found, and the next is taken, until nothing is due. Another
    relation is noted as such, once for all that is still due; if none was found at this instant the
    next relation is taken in its place, up to the last, and else it waits for the next instant. A
    relation never waits at the end.

    Source: OnContentChangeComparator. Its reader passes over instants that have a single triple,
    which is not followed.
    """
    coming = iter(list(zip(actual, clocks, strict=True)))
    waiting: tuple[Bag, int | None] | None = None
    before: Bag = Counter()
    opened = 0

    for t in instants:
        while opened * slide + size < t:
            opened += 1
        window = (opened * slide, t)
        now = answer(*window)
        due = _new(now, before, mode)
        if not due or _says_nothing(now):
            continue

        waiting = waiting or next(coming, None)
        if waiting is None:
            yield from (Step(LOST, window, None, 1, 0) for _ in due)

        found = False
        while waiting is not None and not found:
            waiting, found = yield from _hold(waiting, coming, due, window, mode)
            if waiting is not None and not found:
                waiting = next(coming, None)
        before = now

    for rows, clock in coming:
        end = max(instants, default=0) if clock is None else clock
        yield Step(UNEXPECTED, (_slide_of(end, slide) * slide, end), None, 0, rows.total())


def _new(now: Bag, before: Bag, mode: Mode) -> list[Row]:
    """The rows of an answer that another has not, however often."""
    # as few are: a content grows by an element
    other = [line for line in now if line not in before]
    known = compare.places(list(before), other, mode) if other else {}
    return [line for line in other if not known[line] for _ in range(now[line])]


def _says_nothing(rows: Bag) -> bool:
    """Whether an answer is empty to the code: no row, or one in which nothing is bound."""
    return not rows or (rows.total() == 1 and not any(rows))


def _hold(
    waiting: tuple[Bag, int | None],
    coming: Iterator[tuple[Bag, int | None]],
    due: list[Row],
    window: Borders,
    mode: Mode,
) -> Generator[Step, None, tuple[tuple[Bag, int | None] | None, bool]]:
    """Hold the engine's relations against what is due, which loses what is found. Returns the
    relation that waits, and whether any was found.
    """
    found = False
    while True:
        rows, clock = waiting
        line = next(
            (
                line
                for line in due
                if rows.total() == 1 and compare.equal(Counter([line]), rows, mode)
            ),
            None,
        )
        if line is None:
            # The code means to note how many rows were due here, but counts none.
            yield Step(OTHER, window, None, 0, rows.total())
            return waiting, found

        found = True
        due.remove(line)
        yield Step(FOUND, window, None if clock is None else clock - window[1], 1, 1)
        if not due:
            return None, found

        following = next(coming, None)
        if following is None:
            yield from (Step(LOST, window, None, 1, 0) for _ in due)
            return None, found
        waiting = following


class Slide(NamedTuple):
    """What the code writes of a slide: the mean score, from the opening of the first window to the
    last instant, the mean of the delays above 0, whole milliseconds, the rows due and come, and how
    many steps it is made of.
    """

    score: Score
    window: Borders
    delay: int
    expected: int
    actual: int
    steps: int


def slides_code(steps: Iterable[Step], size: int, slide: int) -> Iterator[Slide]:
    """What the code writes of its steps: an entry whenever the slide changes, and one with a
    perfect score for each slide that is passed over. Slide k ends with the instant (k+1)β. Source:
    OCCORWriter, but that it writes of no step at all.
    """
    current = 0
    kept: list[Step] = []
    for step in steps:
        number = _slide_of(step.window[1], slide)
        if kept and number != current:
            yield _merged(kept)
            kept = []
            current += 1
        yield from (
            Slide(PERFECT, (k * slide, k * slide + size), 0, 0, 0, 0)
            for k in range(current, number)
        )
        kept.append(step)
        current = number
    if kept:
        yield _merged(kept)


def _slide_of(instant: int, slide: int) -> int:
    return max(0, -(-instant // slide) - 1)


def _merged(steps: Sequence[Step]) -> Slide:
    late = [step.delay for step in steps if step.delay is not None and step.delay > 0]
    return Slide(
        Score(
            *(sum(one) / len(steps) for one in zip(*(step.score for step in steps), strict=True))
        ),
        (min(step.window[0] for step in steps), max(step.window[1] for step in steps)),
        sum(late) // max(1, len(late)),
        sum(step.expected for step in steps),
        sum(step.actual for step in steps),
        len(steps),
    )


def dealt(expected: Sequence[Bag], actual: Sequence[Bag], mode: Mode = Mode.VALUE) -> list[Bag]:
    """The actual rows of each slide, whose expected rows are given: an engine's clock does not say
    in which slide it answered, so order does.

    Slides that are answered exactly, from the first on and from the last back, have their rows. Of
    those between, a longest common subsequence of what was expected and what came is in its slides;
    of the other rows each is in the first slide that lacks it, from that of the row before it to
    that of the next row of the subsequence, or else in that of the row before it. Decided here.
    """
    if not expected:
        return []
    found: list[Bag] = [Counter() for _ in expected]
    rows = [line for relation in actual for line in sorted(relation.elements())]
    first, last = 0, len(expected)
    while first < last:
        at = expected[first].total()
        if not compare.equal(expected[first], Counter(rows[:at]), mode):
            break
        found[first], rows, first = Counter(rows[:at]), rows[at:], first + 1
    while first < last:
        at = max(0, len(rows) - expected[last - 1].total())
        if not compare.equal(expected[last - 1], Counter(rows[at:]), mode):
            break
        found[last - 1], rows, last = Counter(rows[at:]), rows[:at], last - 1

    slide = [number for number in range(first, last) for _ in range(expected[number].total())]
    places = compare.places(
        [line for bag in expected[first:last] for line in bag.elements()], rows, mode
    )
    common = _common(rows, places)
    used, now = set(common.values()), max(first - 1, 0)
    until = [last - 1] * len(rows)  # the slide of the next row of the subsequence
    for index in range(len(rows) - 2, -1, -1):
        until[index] = slide[common[index + 1]] if index + 1 in common else until[index + 1]
    for index, line in enumerate(rows):
        place = common.get(index)
        if place is None:
            place = next(
                (p for p in places[line] if p not in used and now <= slide[p] <= until[index]), None
            )
        if place is not None:
            used.add(place)
            now = slide[place]
        found[now][line] += 1
    return found


@dataclass(frozen=True, slots=True)
class Pairing:
    """The index of a row, its place in the other sequence, and the one before it."""

    index: int
    place: int
    before: Pairing | None


def _common(rows: Sequence[Row], places: Mapping[Row, Sequence[int]]) -> dict[int, int]:
    """A longest common subsequence (Hunt and Szymanski), given where each row is in the other
    sequence: index → place there.
    """
    tails: list[int] = []
    nodes: list[Pairing] = []  # index and place of each tail, and the node before it
    for index, line in enumerate(rows):
        for place in reversed(places[line]):
            at = bisect_left(tails, place)
            tails[at : at + 1] = [place]
            nodes[at : at + 1] = [Pairing(index, place, nodes[at - 1] if at else None)]
    found: dict[int, int] = {}
    node = nodes[-1] if nodes else None
    while node is not None:
        found[node.index] = node.place
        node = node.before
    return found


def _greatest_score(expected: int, actual: int) -> Score:
    """The score of so many expected and actual rows if as many pair up as can: the sizes alone rule
    most windows out.
    """
    if not expected and not actual:
        return PERFECT
    found = min(expected, actual)
    return Score(*(Fraction(found, rows) if rows else Fraction(0) for rows in (actual, expected)))


def gracious(  # noqa: PLR0913  # public; what is optional goes by name
    window: Borders,
    closure: Closure,
    instants: Sequence[int],
    expected: Bag,
    actual: Bag,
    answer: Answer,
    *,
    reach: int | None = None,
    most: int = MOST,
    mode: Mode = Mode.VALUE,
) -> Shifted:
    """The paper's gracious mode: the borders shift until precision and recall peak.

    `instants` are the stream's, ascending, each once. Tried are the windows that differ in what
    they hold, each with the borders that are shifted least: neither border by more than `reach` (by
    default ω), the window still overlapping its own place, the nearest `most` of them. Neither
    precision nor recall may get worse; the peak is the greatest sum of the two, of equal ones the
    nearest. Source: YABench's paper; how far, and what a peak is, decided here.
    """
    best = Shifted(score(expected, actual, mode), window)
    low, high = borders(closure)
    first, last = window[0] + low, window[1] + high
    reach = window[1] - window[0] if reach is None else reach
    near = instants[bisect_left(instants, first - reach) : bisect_right(instants, last + reach)]
    starts = [
        first,
        *(t for t in near if t < first),
        *(t + 1 for t in near if first <= t < min(last, first + reach)),
    ]
    ends = [
        last,
        *(t for t in near if t > last),
        *(t - 1 for t in near if max(first, last - reach) < t <= last),
    ]
    starts = nsmallest(most, starts, key=lambda t: abs(t - first))  # the nearest pairs are of these
    ends = nsmallest(most, ends, key=lambda t: abs(t - last))

    def distance(shifted: Borders) -> tuple[int, ...]:
        left, right = abs(shifted[0] - first), abs(shifted[1] - last)
        return left + right, left, *shifted

    least = best.score
    for start, end in nsmallest(
        most, (pair for pair in product(starts, ends) if pair[0] <= pair[1]), key=distance
    ):
        if best.score == PERFECT:
            break
        shifted = answer(start, end)
        greatest = _greatest_score(shifted.total(), actual.total())
        if (
            sum(greatest) <= sum(best.score)
            or greatest.precision < least.precision
            or greatest.recall < least.recall
        ):
            continue
        found = score(shifted, actual, mode)
        better = (
            sum(found) > sum(best.score)
            and found.precision >= least.precision
            and found.recall >= least.recall
        )
        best = Shifted(found, (start - low, end - high)) if better else best
    return best


def gracious_code(
    window: Borders,
    instants: Sequence[int],
    expected: Bag,
    actual: Bag,
    answer: Answer,
    *,
    mode: Mode = Mode.VALUE,
) -> Shifted:
    """Gracious mode as in YABench's code, over [o, c]: greedy and to the right alone. As long as
    recall is below 1 and does not fall, the window starts at its next element's instant; then, as
    long as precision is below 1 and neither falls, it ends at the stream's next instant. Precision
    can get worse.

    Source: OnWindowCloseComparator; elements that its reader lost or kept by an oversight are not
    followed.
    """
    (start, end), best = window, score(expected, actual, mode)
    inside = slice(bisect_left(instants, start), bisect_right(instants, end))
    for t in instants[inside][1:]:
        if best.recall == 1 or (found := score(answer(t, end), actual, mode)).recall < best.recall:
            break
        start, best = t, found
    for t in instants[inside.stop :]:
        if best.precision == 1:
            break
        found = score(answer(start, t), actual, mode)
        if found.precision < best.precision or found.recall < best.recall:
            break
        end, best = t, found
    return Shifted(best, (start, end))
