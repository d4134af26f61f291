"""YABench's measures as its code has them: gracious mode to the right alone, and what is noted
under content change (docs/metrics.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from conformance.metrics.yabench import (
    PERFECT,
    Borders,
    EngineOutput,
    ExpectedAnswers,
    Score,
    Shifted,
    score,
)
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row


class Step(NamedTuple):
    """What the code notes when it holds one relation of the engine against what is due at an
    instant: its score, the window evaluated, the delay, and how many rows were due and came.
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
    mode: Mode = Mode.VALUE,
) -> Iterator[Step]:
    """Yield what the code notes under content change, without gracious mode and `singleresult`, in
    its order.

    At each instant t the query is asked over [kβ, t], k the least with kβ + ω >= t. Due are its
    rows that the last answer with new rows had not. The engine's next relation is held against
    them: one row that is due is found, and the next is taken, until nothing is due. Another
    relation is noted as such, once for all that is still due; if none was found at this instant the
    next relation is taken in its place, up to the last, and else it waits for the next instant. A
    relation never waits at the end.

    Source: OnContentChangeComparator. Its reader passes over instants that have a single triple,
    which is not followed.
    """
    coming = iter(output.timed())
    waiting: Timed | None = None
    before: Bag = Counter()
    opened = 0

    for t in expects.instants:
        while opened * slide + size < t:
            opened += 1
        window = (opened * slide, t)
        now = expects.answer(*window)
        due = _new(now, before, mode)
        if not due or _says_nothing(now):
            continue

        waiting = waiting or next(coming, None)
        if waiting is None:
            yield from (Step(LOST, window, None, 1, 0) for _ in due)

        is_found = False
        while waiting is not None and not is_found:
            waiting, is_found = yield from _hold(waiting, coming, due, window, mode)
            if waiting is not None and not is_found:
                waiting = next(coming, None)
        before = now

    yield from _unexpected(coming, max(expects.instants, default=0), slide)


def _unexpected(coming: Iterable[Timed], last: int, slide: int) -> Iterator[Step]:
    """Yield what the code notes of the relations that are left after the last instant."""
    for rows, clock in coming:
        end = last
        if clock is not None:
            end = clock
        yield Step(UNEXPECTED, (_slide_of(end, slide) * slide, end), None, 0, rows.total())


def _new(now: Bag, before: Bag, mode: Mode) -> list[Row]:
    """Return the rows of an answer that another has not, however often."""
    # as few are: a content grows by an element
    other = [line for line in now if line not in before]
    if not other:
        return []
    known = compare.places(list(before), other, mode)
    return [line for line in other if not known[line] for _ in range(now[line])]


def _says_nothing(rows: Bag) -> bool:
    """Whether an answer is empty to the code: no row, or one in which nothing is bound."""
    return not rows or (rows.total() == 1 and not any(rows))


def _hold(
    waiting: Timed, coming: Iterator[Timed], due: list[Row], window: Borders, mode: Mode
) -> Generator[Step, None, tuple[Timed | None, bool]]:
    """Hold the engine's relations against what is due, which loses what is found. Returns the
    relation that waits, and whether any was found.
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


def _due_row(rows: Bag, due: Iterable[Row], mode: Mode) -> Row | None:
    """Return the row that is due and equals the only row of a relation; None if there is none."""
    if rows.total() != 1:
        return None
    return next((line for line in due if compare.equal(Counter([line]), rows, mode)), None)


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
    """Yield what the code writes of its steps: an entry whenever the slide changes, and one with a
    perfect score for each slide that is passed over. Slide k ends with the instant (k+1)β. Source:
    OCCORWriter, but that it writes of no step at all.
    """
    current = 0
    of_slide: list[Step] = []
    for step in steps:
        number = _slide_of(step.window[1], slide)
        if of_slide and number != current:
            yield _merged(of_slide)
            of_slide = []
            current += 1
        yield from (
            Slide(PERFECT, (k * slide, k * slide + size), 0, 0, 0, 0)
            for k in range(current, number)
        )
        of_slide.append(step)
        current = number
    if of_slide:
        yield _merged(of_slide)


def _slide_of(instant: int, slide: int) -> int:
    """Return the number of the slide that holds an instant, or ends with it."""
    return max(0, -(-instant // slide) - 1)


def _merged(steps: Sequence[Step]) -> Slide:
    """Return what the code writes of the steps of one slide."""
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


def gracious_code(
    window: Borders,
    expects: ExpectedAnswers,
    expected: Bag,
    actual: Bag,
    *,
    mode: Mode = Mode.VALUE,
) -> Shifted:
    """Shift a window as YABench's code does, over [o, c]: greedy and to the right alone. As long as
    recall is below 1 and does not fall, the window starts at its next element's instant; then, as
    long as precision is below 1 and neither falls, it ends at the stream's next instant. Precision
    can get worse.

    Source: OnWindowCloseComparator; elements that its reader lost or kept by an oversight are not
    followed.
    """
    start, end = window
    best = score(expected, actual, mode)
    instants = expects.instants
    inside = slice(bisect_left(instants, start), bisect_right(instants, end))
    for t in instants[inside][1:]:
        if best.recall == 1:
            break
        shifted = score(expects.answer(t, end), actual, mode)
        if shifted.recall < best.recall:
            break
        start, best = t, shifted
    for t in instants[inside.stop :]:
        if best.precision == 1:
            break
        shifted = score(expects.answer(start, t), actual, mode)
        if shifted.precision < best.precision or shifted.recall < best.recall:
            break
        end, best = t, shifted
    return Shifted(best, (start, end))
