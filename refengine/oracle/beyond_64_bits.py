"""§11 Values that t0 may have and that cannot be tried, because they are beyond 64 bits (ORA-2)."""

from __future__ import annotations

from collections.abc import Iterator

from refengine.core import engine, window
from refengine.core.semantics import UNKNOWN, Profile
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import Unsupported
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import (
    fit_to_stated_window,
    integer_t0,
    plans,
    split_into_t0_classes,
)
from refengine.oracle.beginnings import (
    T0Candidates,
    begin_at,
    cycle_of_windows,
    find_all_t0_candidates,
    is_range,
    is_within_64_bits,
)
from refengine.oracle.trial import RecordingToJudge, T0Class

LEAST, GREATEST = -TIME_BOUND, TIME_BOUND - 1  # the integers of 64 bits


def refuse_t0_beyond_64_bits(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers
) -> Unsupported | None:
    """ORA-2: return the error that there is no verdict, because a value that t0 may have is beyond
    64 bits and gives other reports than the values that are tried. None if there is no such value.

    An example: t0 is unknown, ω = β = 10, and the first element is at −2^63. An engine may begin ω
    before this element, at −2^63 − 10. The values before the range (EarlierBeginnings) are not
    looked at here.
    """
    t0 = profile.fields.get("t0", UNKNOWN)
    stated_window = recorded.first_stated_window()
    for planned in plans(recorded.question, profile, answers.plan):
        if is_range(t0):
            every = find_all_t0_candidates(recorded.query, planned, t0)
            classes = _classes_beyond(planned, every, stated_window is not None)
        else:
            given = integer_t0(planned)
            classes = _single_values([] if given is None else [given])
        for t0_class in classes:
            fitting: T0Class | None = t0_class
            if stated_window is not None:
                fitting = fit_to_stated_window(planned, t0_class, stated_window)
            if fitting is not None:
                return beyond_64_bits(fitting.t0)
    return None


def beyond_64_bits(t0: int) -> Unsupported:
    """Return the error that a value of t0 cannot be tried, since it is beyond 64 bits."""
    return Unsupported(
        f"t0 may be {t0}, which is beyond 64 bits and cannot be tried (SEM-1); no value that can "
        "be tried explains the relations",
        rule="ORA-2",
    )


def _classes_beyond(
    planned: engine.Plan, every: T0Candidates, is_window_stated: bool
) -> Iterator[T0Class]:
    """Yield the values of an open t0 that are beyond 64 bits, in classes. `every` are all its
    values.

    Those that are in one class with a value within 64 bits are left out, since they give the same
    contents. But if the engine states its windows they are yielded: they give other windows. Left
    out, too, are those that give the same evaluations as a value of the range within 64 bits.
    """
    # The value on a bound is taken along: it tells which class has a value within.
    below = T0Candidates(every.lo, min(every.hi, LEAST))
    above = T0Candidates(max(every.lo, GREATEST), every.hi)
    for side in (below, above):
        if side.lo > side.hi:
            continue
        for t0_class in split_into_t0_classes(planned, side, is_window_stated):
            part = _part_beyond(t0_class)
            if part is None or not (is_window_stated or part == t0_class):
                continue
            if not _is_repeated_within(planned, part, every):
                yield part
    yield from _single_values([other for other in every.others if isinstance(other, int)])


def _is_repeated_within(planned: engine.Plan, beyond: T0Class, every: T0Candidates) -> bool:
    """Whether a value of t0 within 64 bits and in the range gives the same evaluations over the
    same windows as the values of a class that are below it. With one more window before the first
    element, as [−2^63 − 10, −2^63), nothing else changes.
    """
    cycle = max(1, cycle_of_windows(planned))
    later = beyond.t0 + -((beyond.lo - LEAST) // cycle) * cycle
    if beyond.lo >= LEAST or later > every.hi:
        return False
    return _evaluations(planned, beyond.t0) == _evaluations(planned, later)


def _evaluations(planned: engine.Plan, t0: int) -> list[object]:
    """Return the instants of the evaluations by a t0, with the windows and what they hold."""
    begun = begin_at(planned, t0)
    return [
        (
            at.t,
            [tuple(held.content) for held in at.windows],
            [
                window.borders_of_window(view, held.n)
                for view, held in zip(begun.views, at.windows, strict=True)
            ],
        )
        for at in engine.evaluations(begun)
    ]


def _part_beyond(t0_class: T0Class) -> T0Class | None:
    """Return the values of a class that are beyond 64 bits; None if there are none. Of a class from
    LEAST - 3 to LEAST these are LEAST - 3 to LEAST - 1.
    """
    t0, lo, hi = t0_class
    if lo < LEAST:
        hi = min(hi, LEAST - 1)
        return T0Class(min(t0, hi), lo, hi)
    if hi > GREATEST:
        lo = max(lo, GREATEST + 1)
        return T0Class(max(t0, lo), lo, hi)
    return None


def _single_values(values: list[int]) -> Iterator[T0Class]:
    """Yield a class of its own for each of these values that is beyond 64 bits."""
    return (T0Class(t0, t0, t0) for t0 in values if not is_within_64_bits(t0))
