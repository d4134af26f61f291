"""The windows of a join by enumeration, in the plainest code: key after key, window after window,
each found by looking through all steps. `adaptive_join.WindowJoin` is held to it on drawn streams.

A *place* is the position of a step among all steps, counted from 0. The end of the streams is the
place behind the last step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from refengine.core.values import Closure
from refengine.joins.records import JoinRecord, Side, Step, Watermark, with_watermarks
from refengine.joins.window import (
    Adaptation,
    Emission,
    JoinWindow,
    LateRecords,
    Opening,
    UpdateMoment,
    UpdateRule,
    WindowState,
)


class EnumeratedWindow(NamedTuple):
    """A window that held records: its key, the instants at which it opened and ended, and the
    places of its records.
    """

    key: str
    opened: int
    end: int
    places: tuple[int, ...]


def matches_by_enumeration(window: JoinWindow, steps: Iterable[Step]) -> list[tuple[str, str, int]]:
    """Return the matches of whole streams, sorted: the names of both records and the time of the
    match (ADA-3).
    """
    every_step = list(with_watermarks(steps, window))
    matches = []
    for one in windows_by_enumeration(window, every_step):
        lefts = [place for place in one.places if _side(every_step, place) is Side.LEFT]
        rights = [place for place in one.places if _side(every_step, place) is Side.RIGHT]
        for left in lefts:
            for right in rights:
                at = one.end
                if window.emits is Emission.ARRIVAL:
                    at = _stream_time(every_step, max(left, right))
                matches.append((_name(every_step, left), _name(every_step, right), at))
    return sorted(matches)


def windows_by_enumeration(window: JoinWindow, steps: Sequence[Step]) -> list[EnumeratedWindow]:
    """Return all windows that held records, key after key; `steps` have their watermarks."""
    keys = sorted({step.key for step in steps if isinstance(step, JoinRecord)})
    found: list[EnumeratedWindow] = []
    for key in keys:
        places = [
            place
            for place, step in enumerate(steps)
            if isinstance(step, JoinRecord) and step.key == key
        ]
        if window.slide is None:
            found += _one_after_the_other(window, steps, key, places)
        else:
            found += _on_a_grid(window, steps, key, places)
    return found


def _one_after_the_other(
    window: JoinWindow, steps: Sequence[Step], key: str, places: Sequence[int]
) -> Iterator[EnumeratedWindow]:
    """Yield the windows of a key that has one at a time."""
    waiting = [place for place in places if not _is_dropped(window, steps, place)]
    state = _first_state(window.adaptation, window.duration)
    last_end: int | None = None  # of the window before, and the place of its eviction
    last_eviction = 0
    while waiting:
        opened, from_place = _time(steps, waiting[0]), waiting[0]
        if window.opens is Opening.PREVIOUS_END and last_end is not None:
            opened, from_place = last_end, last_eviction
        if window.opens is Opening.ZERO:
            opened = opened // state.duration * state.duration
        end = opened + state.duration
        eviction = _first_watermark(steps, from_place, _last_instant(window, end))
        content, waiting = _split(waiting, eviction)
        if content:
            yield EnumeratedWindow(key, opened, end, content)
        state = _state_after(window, state, [_side(steps, place) for place in content])
        last_end, last_eviction = end, eviction


def _is_dropped(window: JoinWindow, steps: Sequence[Step], place: int) -> bool:
    """Return whether a record is left out, since the watermark has reached its time."""
    is_late = _time(steps, place) <= _watermark(steps, place)
    return is_late and window.late is LateRecords.DROP


def _split(places: Sequence[int], eviction: int) -> tuple[tuple[int, ...], list[int]]:
    """Return the places of records before an eviction, and those after it."""
    before = tuple(place for place in places if place < eviction)
    return before, [place for place in places if place > eviction]


def _on_a_grid(
    window: JoinWindow, steps: Sequence[Step], key: str, places: Sequence[int]
) -> Iterator[EnumeratedWindow]:
    """Yield the windows of a key at the multiples of the slide."""
    slide = window.slide or 1
    times = [_time(steps, place) for place in places]
    opened = (min(times) - window.duration) // slide * slide
    while opened <= max(times):
        end = opened + window.duration
        last = _last_instant(window, end)
        inside = [place for place in places if opened <= _time(steps, place) <= last]
        waiting = [place for place in inside if not _is_late_for(window, steps, place, last)]
        while waiting:  # late records open the same window again
            eviction = _first_watermark(steps, waiting[0], last)
            content, waiting = _split(waiting, eviction)
            yield EnumeratedWindow(key, opened, end, content)
        opened += slide


def _is_late_for(window: JoinWindow, steps: Sequence[Step], place: int, last: int) -> bool:
    """Return whether a record is left out of a window, since the watermark has reached the last
    instant of this.
    """
    return window.late is LateRecords.DROP and _watermark(steps, place) >= last


def _last_instant(window: JoinWindow, end: int) -> int:
    """Return the last instant of a window that ends at `end`."""
    match window.closure:
        case Closure.RIGHT_OPEN | Closure.OPEN:
            return end - 1
        case Closure.LEFT_OPEN | Closure.CLOSED:
            return end


def _first_watermark(steps: Sequence[Step], place: int, instant: int) -> int:
    """Return the place of the first watermark, from a place on, that reaches an instant; the end if
    there is none. A watermark that is not above all before it does nothing.
    """
    for later in range(place, len(steps)):
        step = steps[later]
        if not isinstance(step, Watermark) or step.at <= _watermark(steps, later):
            continue
        if step.at >= instant:
            return later
    return len(steps)


def _watermark(steps: Sequence[Step], place: int) -> float:
    """Return the greatest watermark before a place, minus infinity if there is none."""
    return max(
        (step.at for step in steps[:place] if isinstance(step, Watermark)), default=-float("inf")
    )


def _stream_time(steps: Sequence[Step], place: int) -> int:
    """Return the greatest time of the records up to a place, that of the place included."""
    return max(step.at for step in steps[: place + 1] if isinstance(step, JoinRecord))


def _time(steps: Sequence[Step], place: int) -> int:
    return steps[place].at


def _side(steps: Sequence[Step], place: int) -> Side:
    return _record(steps, place).side


def _name(steps: Sequence[Step], place: int) -> str:
    return _record(steps, place).name


def _record(steps: Sequence[Step], place: int) -> JoinRecord:
    step = steps[place]
    assert isinstance(step, JoinRecord)
    return step


# Adaptation


def _first_state(adaptation: Adaptation | None, duration: int) -> WindowState:
    """Return the state of a key that had no eviction."""
    if adaptation is None:
        return WindowState(duration, 1, 1)
    return WindowState(duration, adaptation.expected_records, adaptation.expected_records)


def _state_after(window: JoinWindow, state: WindowState, sides: Sequence[Side]) -> WindowState:
    """Return the state after the eviction of records of these streams."""
    adaptation = window.adaptation
    if adaptation is None or adaptation.cleared:
        return _first_state(adaptation, window.duration)

    left, right = sides.count(Side.LEFT), sides.count(Side.RIGHT)
    cost_of_left, cost_of_right = (
        Fraction(left, state.left_expected),
        Fraction(right, state.right_expected),
    )
    m = cost_of_left + cost_of_right
    is_above = m > adaptation.upper
    is_below = m < adaptation.lower or (m == adaptation.lower and adaptation.lower_included)

    duration = state.duration
    if is_above:
        duration = (duration * adaptation.shrink).__floor__()
    if is_below:
        duration = (duration * adaptation.growth).__floor__()
    duration = _within_bounds(adaptation, duration)

    if not is_above and not is_below and adaptation.updates_at is UpdateMoment.OUTSIDE_THRESHOLDS:
        return WindowState(duration, state.left_expected, state.right_expected)
    return WindowState(
        duration,
        _update_expected(adaptation.update_rule, state.left_expected, cost_of_left),
        _update_expected(adaptation.update_rule, state.right_expected, cost_of_right),
    )


def _within_bounds(adaptation: Adaptation, duration: int) -> int:
    """Return a duration that is at least 1 and, if there is a clamp, within its bounds."""
    if duration < 1:
        duration = 1
    if adaptation.clamped and duration < adaptation.least:
        return adaptation.least
    if adaptation.clamped and duration > adaptation.most:
        return adaptation.most
    return duration


def _update_expected(update: UpdateRule, expected: int, cost_of_list: Fraction) -> int:
    """Return how many records a list is expected to hold next, by the formula as it is written,
    rounded down; at least 1.
    """
    formulas = {
        UpdateRule.COST_PLUS_HALF: expected * (cost_of_list + Fraction(1, 2)),
        UpdateRule.COST: expected * cost_of_list,
        UpdateRule.COST_PLUS_ONE: expected * (cost_of_list + 1),
        UpdateRule.NONE: Fraction(expected),
    }
    return max(1, formulas[update].__floor__())
