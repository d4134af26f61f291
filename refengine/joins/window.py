"""The value that says which windows a join has: every choice of docs/joins.md is one of its fields.

Instants and durations are integers in milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from refengine.core.values import Closure
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidWindow
from refengine.model.messages import display


class Opening(StrEnum):
    """Where a window of a key opens (ADA-4)."""

    FIRST_RECORD = "first-record"
    PREVIOUS_END = "previous-end"
    ZERO = "zero"


class Emission(StrEnum):
    """When a match is emitted (ADA-3)."""

    ARRIVAL = "arrival"
    CLOSE = "close"


class LateRecords(StrEnum):
    """What becomes of a record that comes too late (ADA-2)."""

    JOIN = "join"
    DROP = "drop"


class WatermarkRule(StrEnum):
    """How far the watermark is when a record arrives (ADA-2)."""

    STATED = "stated"
    BEFORE = "before"
    AFTER = "after"


class UpdateRule(StrEnum):
    """What an eviction makes of the records that a list is expected to hold (ADA-6)."""

    COST_PLUS_HALF = "cost-plus-half"
    COST = "cost"
    COST_PLUS_ONE = "cost-plus-one"
    NONE = "none"


class UpdateMoment(StrEnum):
    """At which evictions the expected records of both lists change (ADA-6)."""

    ALWAYS = "always"
    OUTSIDE_THRESHOLDS = "outside-thresholds"


@dataclass(frozen=True)
class Adaptation:
    """How a window adapts at an eviction.

    The duration is multiplied by `shrink` if the cost m is above the threshold `upper`, and by
    `growth` if it is below the threshold `lower`; `lower_included` says whether m = `lower` counts
    as below (ADA-5). `clamped` says whether the new duration is kept within `least` and `most`
    milliseconds. `expected_records` says how many records each list is expected to hold at first;
    `update_rule` and `updates_at` say how and when this number changes (ADA-6). `cleared` says
    whether an eviction forgets the new duration and the new numbers (ADA-7).
    """

    upper: Fraction
    lower: Fraction
    lower_included: bool
    growth: Fraction
    shrink: Fraction
    least: int
    most: int
    clamped: bool
    expected_records: int
    update_rule: UpdateRule
    updates_at: UpdateMoment
    cleared: bool


@dataclass(frozen=True)
class JoinWindow:
    """The windows of a join.

    `duration` is that of a key's first window (ADA-4). Without a `slide` a key has one window at a
    time, which opens where `opens` says and holds what arrives. With a slide windows lie at the
    multiples of the slide, and a record belongs to those that hold its time (ADA-8). `closure` says
    whether the instant at the end belongs to a window. `emits` says when a match is emitted
    (ADA-3), `late` what becomes of late records, `watermarks` how far the watermark is (ADA-2).
    Without an `adaptation` all windows are equally long.
    """

    duration: int
    slide: int | None
    opens: Opening
    closure: Closure
    emits: Emission
    late: LateRecords
    watermarks: WatermarkRule
    adaptation: Adaptation | None

    def __post_init__(self) -> None:
        check_join_window(self)

    def last_instant(self, end: int) -> int:
        """Return the last instant of a window that ends at `end` (ADA-4)."""
        match self.closure:
            case Closure.RIGHT_OPEN | Closure.OPEN:
                return end - 1
            case Closure.LEFT_OPEN | Closure.CLOSED:
                return end


class WindowState(NamedTuple):
    """What a key's window keeps from one eviction to the next: its duration in ms, and how many
    records the left and the right list are expected to hold.
    """

    duration: int
    left_expected: int
    right_expected: int


def check_join_window(window: JoinWindow) -> None:
    """ADA-1: Refuse a window whose fields contradict each other. Raises InvalidWindow."""
    _check_positive("duration", window.duration)
    if window.slide is not None:
        _check_positive("slide", window.slide)
    if not window.closure.has_lower_border:
        raise _invalid("closure must be [) or [], since a window opens with a record that it holds")
    if window.slide is not None and window.opens is not Opening.ZERO:
        raise _invalid(f'windows with a slide lie at its multiples; write opens = "{Opening.ZERO}"')
    if window.slide is not None and window.adaptation is not None:
        raise _invalid("windows with a slide do not adapt; leave out slide or adaptation")
    if window.adaptation is not None:
        _check_adaptation(window.adaptation)


def _check_adaptation(adaptation: Adaptation) -> None:
    """Refuse an adaptation whose numbers contradict each other. Raises InvalidWindow."""
    for name in ("least", "most", "expected_records"):
        _check_positive(name, getattr(adaptation, name))
    if not 0 <= adaptation.lower <= adaptation.upper:
        thresholds = f"lower {adaptation.lower} and upper {adaptation.upper}"
        raise _invalid(f"thresholds must be 0 <= lower <= upper, got {thresholds}")
    if adaptation.least > adaptation.most:
        bounds = f"least {adaptation.least} and most {adaptation.most}"
        raise _invalid(f"bounds must be least <= most, got {bounds}")
    if adaptation.growth < 1:
        raise _invalid(f"growth must be at least 1, got {adaptation.growth}")
    if not 0 < adaptation.shrink <= 1:
        raise _invalid(f"shrink must be above 0 and at most 1, got {adaptation.shrink}")


def _check_positive(name: str, value: int) -> None:
    """Refuse a number that is no integer > 0 within 64 bits. Raises InvalidWindow."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or not 0 < value < TIME_BOUND:
        raise _invalid(f"{name} must be an integer > 0 within 64 bits, got {display(value)}")


def _invalid(reason: str) -> InvalidWindow:
    """Return the error of a window of a join."""
    return InvalidWindow(reason, rule="ADA-1", place="window of a join")
