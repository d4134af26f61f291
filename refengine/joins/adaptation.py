"""What an eviction makes of a window: its next duration, and how many records its two lists are
then expected to hold.

These numbers hold nothing back. A list takes any number of records, and the cost compares how many
it took with how many were expected. (RMLStreamer calls the numbers pseudo limits.)
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, assert_never

from refengine.joins.window import Adaptation, JoinWindow, UpdateMoment, UpdateRule, WindowState

HALF = Fraction(1, 2)


class HeldRecords(NamedTuple):
    """How many records the left and the right list hold."""

    left: int
    right: int


def initial_state(window: JoinWindow) -> WindowState:
    """Return the state of a key that had no eviction yet."""
    if window.adaptation is None:
        return WindowState(window.duration, 1, 1)
    expected = window.adaptation.expected_records
    return WindowState(window.duration, expected, expected)


def compute_cost(state: WindowState, held: HeldRecords) -> Fraction:
    """ADA-5: Return the cost m: of each list the records that it holds over those expected, added
    up.

    >>> compute_cost(WindowState(2000, 4, 4), HeldRecords(4, 3))
    Fraction(7, 4)
    """
    return Fraction(held.left, state.left_expected) + Fraction(held.right, state.right_expected)


def shrinks(adaptation: Adaptation, m: Fraction) -> bool:
    """Whether the cost m is above the upper threshold (ADA-5)."""
    return m > adaptation.upper


def grows(adaptation: Adaptation, m: Fraction) -> bool:
    """Whether the cost m counts as below the lower threshold (ADA-5)."""
    if adaptation.lower_included:
        return m <= adaptation.lower
    return m < adaptation.lower


def next_duration(adaptation: Adaptation, duration: int, m: Fraction) -> int:
    """ADA-5: Return the duration after an eviction at the cost m, in ms.

    >>> from refengine.joins.join_profiles import join_window
    >>> next_duration(join_window("rmlstreamer").adaptation, 2000, Fraction(1, 4))
    2200
    """
    factor = Fraction(1)
    if shrinks(adaptation, m):
        factor = adaptation.shrink
    elif grows(adaptation, m):
        factor = adaptation.growth
    product = max(1, int(duration * factor))
    if not adaptation.clamped:
        return product
    return min(max(product, adaptation.least), adaptation.most)


def next_expected(update: UpdateRule, expected: int, held: int) -> int:
    """ADA-6: Return how many records a list is expected to hold after an eviction that took `held`
    from it, where `expected` were expected.

    >>> next_expected(UpdateRule.COST_PLUS_HALF, 1000, 400)  # 1000 * (400/1000 + 0.5)
    900
    """
    match update:
        case UpdateRule.COST_PLUS_HALF:
            new = held + expected * HALF
        case UpdateRule.COST:
            new = Fraction(held)
        case UpdateRule.COST_PLUS_ONE:
            new = Fraction(held + expected)
        case UpdateRule.NONE:
            new = Fraction(expected)
        case _:
            assert_never(update)
    return max(1, int(new))


def next_state(window: JoinWindow, state: WindowState, held: HeldRecords) -> WindowState:
    """ADA-7: Return the state after an eviction: the adapted one, or, where it is cleared, that of
    a key which had none.
    """
    adaptation = window.adaptation
    if adaptation is None or adaptation.cleared:
        return initial_state(window)
    m = compute_cost(state, held)
    duration = next_duration(adaptation, state.duration, m)
    changes = shrinks(adaptation, m) or grows(adaptation, m)
    if not changes and adaptation.updates_at is UpdateMoment.OUTSIDE_THRESHOLDS:
        return state._replace(duration=duration)

    rule = adaptation.update_rule
    left = next_expected(rule, state.left_expected, held.left)
    right = next_expected(rule, state.right_expected, held.right)
    return WindowState(duration, left, right)
