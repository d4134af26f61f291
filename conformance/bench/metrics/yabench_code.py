"""YABench's measures as its code computes them: gracious mode, which shifts to the right only, and
the steps and slides under content change (docs/benchmarks.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from conformance.bench.metrics.yabench import (
    PERFECT,
    Borders,
    EngineOutput,
    ExpectedAnswers,
    Score,
    ShiftedAnswer,
    ShiftedWindow,
    score,
)
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row
from refengine.model.row_groups import RowGroups


class Step(NamedTuple):
    """A step of the code: it compares one relation of the engine with the rows that are due at an
    instant. It has the score, the window that was evaluated, the delay, and the numbers of rows
    that were due and that came.
    """

    score: Score
    window: Borders
    delay: int | None
    expected: int
    actual: int


FOUND = PERFECT
OTHER = Score(Fraction(0), Fraction(0))
LOST = Score(Fraction(1), Fraction(0))
UNEXPECTED = Score(Fraction(0), Fraction(1))
Timed = tuple[Bag, int | None]


def steps_code(
    expects: ExpectedAnswers,
    size: int,
    slide: int,
    output: EngineOutput,
    *,
    is_single_result: bool = False,
    mode: Mode = Mode.VALUE,
) -> Iterator[Step]:
    """Yield the steps of the code under content change, in its order, without gracious mode.
    `is_single_result` is its option `singleresult`.

    At each instant t the query is evaluated over [kβ, t], k being the least with kβ + ω >= t. The
    rows that are due are those that the last answer with new rows did not have. The engine's next
    relation is compared with them. If it is one row that is due, that row is found, and the next
    relation is taken, until nothing is due. If it is anything else, that is noted once for all rows
    that are still due. If no row was found at this instant, the next relation is taken in its
    place, up to the last; otherwise the relation waits for the next instant. No relation waits at
    the end. With `singleresult` only one relation is tried at an instant at which no row is found,
    and it is dropped.

    Source: OnContentChangeComparator. Its reader passes over instants that have a single triple,
    which is not followed.
    """
    coming = iter(output.rows_with_instants())
    waiting: Timed | None = None
    known = RowGroups((), mode)  # the last answer that had new rows
    before: Borders | None = None  # and its window
    opened = 0

    for t in expects.instants:
        opened = _first_open(opened, t, size, slide)
        window = (opened * slide, t)
        came, gone = map(list, expects.change(before, window))
        due = _select_new(came, known)
        count = known.total + len(came) - len(gone)
        # to YABench's code an answer of one row in which nothing is bound is empty
        has_one_empty_row = count == 1 and not any(due)
        if not due or has_one_empty_row:
            continue

        waiting = waiting or next(coming, None)
        if waiting is None:
            yield from (Step(LOST, window, None, 1, 0) for _ in due)

        is_found = False
        while waiting is not None and not is_found:
            waiting, is_found = yield from _hold(waiting, coming, due, window, mode)
            if waiting is not None and not is_found:
                waiting = None if is_single_result else next(coming, None)
        known.change(came, gone)
        before = window

    yield from _make_steps_of_unexpected(coming, max(expects.instants, default=0), slide)


def _first_open(opened: int, t: int, size: int, slide: int) -> int:
    """Return the number of the first window, from the given one on, that does not end before t."""
    while opened * slide + size < t:
        opened += 1
    return opened


def _make_steps_of_unexpected(coming: Iterable[Timed], last: int, slide: int) -> Iterator[Step]:
    """Yield the steps for the relations that are left after the last instant."""
    for rows, clock in coming:
        end = last
        if clock is not None:
            end = clock
        yield Step(UNEXPECTED, (_slide_of(end, slide) * slide, end), None, 0, rows.total())


def _select_new(came: Iterable[Row], known: RowGroups) -> list[Row]:
    """Return the rows that came to which no row of `known`, the last answer with new rows, is equal
    (CMP-3), each as often as it came.
    """
    counts = Counter(came)
    return [line for line in known.select_without_equal(counts) for _ in range(counts[line])]


def _hold(
    waiting: Timed,
    coming: Iterator[Timed],
    due: list[Row],
    window: Borders,
    mode: Mode,
) -> Generator[Step, None, tuple[Timed | None, bool]]:
    """Compare the engine's relations with the rows that are due, and remove from these the rows
    that are found. Returns the relation that waits, if one does, and whether any row was found.
    """
    is_found = False
    while True:
        rows, clock = waiting
        line = _due_row(rows, due, mode)
        if line is None:
            # The code means to note how many rows were due here, but counts none.
            yield Step(OTHER, window, None, 0, rows.total())
            return waiting, is_found

        is_found = True
        due.remove(line)
        delay = None
        if clock is not None:
            delay = clock - window[1]
        yield Step(FOUND, window, delay, 1, 1)
        if not due:
            return None, is_found

        following = next(coming, None)
        if following is None:
            yield from (Step(LOST, window, None, 1, 0) for _ in due)
            return None, is_found
        waiting = following


def _due_row(rows: Bag, due: Sequence[Row], mode: Mode) -> Row | None:
    """Return the row that is due and equals the only row of a relation; None if there is none. Of
    several, it is the row as it stands, or else the first in the order of their terms.
    """
    if rows.total() != 1:
        return None
    (came,) = rows.elements()
    if came in due:
        return came
    equal = (line for line in due if compare.equal(Counter([line]), rows, mode))
    return min(equal, default=None)


class Slide(NamedTuple):
    """The entry that the code writes for a slide: the mean score of its steps, the interval from
    the opening of their first window to their last instant, the mean of the delays above 0 in whole
    milliseconds, the numbers of rows that were due and that came, and the number of steps.
    """

    score: Score
    window: Borders
    delay: int
    expected: int
    actual: int
    steps: int


def slides_code(steps: Iterable[Step], size: int, slide: int) -> Iterator[Slide]:
    """Yield the entries that the code writes: one for the steps of each slide, and one with a
    perfect score for each slide without steps. Slide k ends with the instant (k+1)β. Source:
    OCCORWriter; it writes an entry even if there is no step at all, which is not followed.
    """
    current = 0
    of_slide: list[Step] = []
    for step in steps:
        number = _slide_of(step.window[1], slide)
        if of_slide and number != current:
            yield _merge_steps(of_slide)
            of_slide = []
            current += 1
        yield from (
            Slide(PERFECT, (k * slide, k * slide + size), 0, 0, 0, 0)
            for k in range(current, number)
        )
        of_slide.append(step)
        current = number
    if of_slide:
        yield _merge_steps(of_slide)


def _slide_of(instant: int, slide: int) -> int:
    """Return the number of the slide that holds an instant, or ends with it."""
    return max(0, -(-instant // slide) - 1)


def _merge_steps(steps: Sequence[Step]) -> Slide:
    """Return the entry that the code writes for the steps of one slide."""
    count = len(steps)
    late = [step.delay for step in steps if step.delay is not None and step.delay > 0]
    precisions, recalls = zip(*(step.score for step in steps), strict=True)
    mean_score = Score(Fraction(sum(precisions)) / count, Fraction(sum(recalls)) / count)
    return Slide(
        mean_score,
        (min(step.window[0] for step in steps), max(step.window[1] for step in steps)),
        sum(late) // max(1, len(late)),
        sum(step.expected for step in steps),
        sum(step.actual for step in steps),
        count,
    )


def gracious_code(
    window: Borders,
    expects: ExpectedAnswers,
    expected: Bag,
    actual: Bag,
    *,
    mode: Mode = Mode.VALUE,
) -> ShiftedWindow:
    """Shift a window [o, c] as YABench's code does: greedily, and to the right only.

    First the start moves to the instant of the window's next element, as long as recall is below 1
    and does not fall. Then the end moves to the stream's next instant, as long as precision is
    below 1 and neither falls. Precision can get worse in the first part.

    Source: OnWindowCloseComparator. That its reader loses or keeps some elements by an oversight is
    not followed.
    """
    start, end = window
    best = score(expected, actual, mode)
    shifted_answer = ShiftedAnswer(expects, actual, mode)
    instants = expects.instants
    inside = slice(bisect_left(instants, start), bisect_right(instants, end))
    for t in instants[inside][1:]:
        if best.recall == 1:
            break
        shifted_answer.shift_to((t, end))
        shifted_score = shifted_answer.score()
        if shifted_score.recall < best.recall:
            break
        start, best = t, shifted_score
    for t in instants[inside.stop :]:
        if best.precision == 1:
            break
        shifted_answer.shift_to((start, t))
        shifted_score = shifted_answer.score()
        if shifted_score.precision < best.precision or shifted_score.recall < best.recall:
            break
        end, best = t, shifted_score
    return ShiftedWindow(best, (start, end))
