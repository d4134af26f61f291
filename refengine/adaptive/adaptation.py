"""What an eviction makes of a window: its next duration, and the next sizes of its two lists.

The sizes hold nothing back. A list takes any number of records; its size is what its records are
counted against.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, assert_never

from refengine.adaptive.window import Adaptation, JoinWindow, Resizing, SizeUpdate

HALF = Fraction(1, 2)


class WindowState(NamedTuple):
    """What a key's window keeps from one eviction to the next: its duration in ms, and the sizes of
    the left and of the right list, in records.
    """

    duration: int
    left_size: int
    right_size: int


class HeldRecords(NamedTuple):
    """How many records the left and the right list hold."""

    left: int
    right: int


def initial_state(window: JoinWindow) -> WindowState:
    """Return the state of a key that had no eviction yet."""
    if window.adaptation is None:
        return WindowState(window.duration, 1, 1)
    size = window.adaptation.list_size
    return WindowState(window.duration, size, size)


def cost(state: WindowState, held: HeldRecords) -> Fraction:
    """ADA-5 cost: Return m, the sum of both lists' records over their sizes."""
    return Fraction(held.left, state.left_size) + Fraction(held.right, state.right_size)


def shrinks(adaptation: Adaptation, m: Fraction) -> bool:
    """Whether the cost m is above the upper threshold (ADA-5)."""
    return m > adaptation.upper


def grows(adaptation: Adaptation, m: Fraction) -> bool:
    """Whether the cost m is below the lower threshold, and not above the upper one (ADA-5)."""
    if shrinks(adaptation, m):
        return False
    return m < adaptation.lower or (adaptation.lower_included and m == adaptation.lower)


def next_duration(adaptation: Adaptation, duration: int, m: Fraction) -> int:
    """ADA-5: Return the duration after an eviction at the cost m, in ms.

    >>> from refengine.adaptive.profiles import join_window
    >>> next_duration(join_window("rmlstreamer").adaptation, 2000, Fraction(1, 4))
    2200
    """
    factor = Fraction(1)
    if shrinks(adaptation, m):
        factor = adaptation.shrink
    elif grows(adaptation, m):
        factor = adaptation.growth
    longer = max(1, int(duration * factor))
    if not adaptation.clamped:
        return longer
    return min(max(longer, adaptation.least), adaptation.most)


def next_size(update: SizeUpdate, size: int, held: int) -> int:
    """ADA-6: Return the size of a list after an eviction of `held` records.

    >>> next_size(SizeUpdate.COST_PLUS_HALF, 1000, 400)  # 1000 * (400/1000 + 0.5)
    900
    """
    match update:
        case SizeUpdate.COST_PLUS_HALF:
            new = held + size * HALF
        case SizeUpdate.COST:
            new = Fraction(held)
        case SizeUpdate.COST_PLUS_ONE:
            new = Fraction(held + size)
        case SizeUpdate.NONE:
            new = Fraction(size)
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
    m = cost(state, held)
    changes = shrinks(adaptation, m) or grows(adaptation, m)
    left_size, right_size = state.left_size, state.right_size
    if changes or adaptation.resizes is Resizing.ALWAYS:
        left_size = next_size(adaptation.size_update, left_size, held.left)
        right_size = next_size(adaptation.size_update, right_size, held.right)
    return WindowState(next_duration(adaptation, state.duration, m), left_size, right_size)
