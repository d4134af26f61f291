"""Random draws that depend on a seed and on what is drawn for alone, so that any part of the data
can be made by itself, with the same bytes on every platform and Python.
"""

from __future__ import annotations

from random import Random

WORD = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(value: int) -> int:
    """Return a 64-bit integer mixed as SplitMix64 does (Steele, Lea, Flood, OOPSLA 2014)."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & WORD
    return value ^ (value >> 31)


def draws_for(seed: int, *numbers: int) -> Random:
    """Return a generator of draws for what some numbers name, such as a stream, a user and a day.

    Only its method `random` is used: Python promises that this one gives the same values for ever.
    """
    state = mix(seed + GAMMA & WORD)
    for number in numbers:
        state = mix(state + (number + 1) * GAMMA & WORD)
    return Random(state)


def draw_below(random: Random, bound: int) -> int:
    """Draw an integer in [0, bound)."""
    return int(random.random() * bound)


def draw_count(random: Random, mean: float) -> int:
    """Draw one of the two integers next to a mean, so that the expected value is the mean.

    Of 1.25 it is 1 in three of four draws, and 2 in one.
    """
    whole = int(mean)
    return whole + (random.random() < mean - whole)


def draw_power_law(random: Random, least: float, most: float) -> float:
    """Draw from a power law with exponent 2 on [least, most), whose density falls with the square
    of the value. Half of the draws are below twice the least, if `most` is far away.
    """
    return 1 / (1 / least - random.random() * (1 / least - 1 / most))
