"""Durations as the dialects write them, in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from refengine.model.errors import require
from refengine.model.messages import integer

UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
LONGEST = 100  # characters of an ISO 8601 duration
ISO = re.compile(
    r"P(?:(?P<W>\d+)W)?(?:(?P<D>\d+)D)?(?:T(?=\d)(?:(?P<H>\d+)H)?(?:(?P<M>\d+)M)?(?:(?P<S>\d+(?:[.,]\d+)?)S)?)?",
    re.IGNORECASE | re.ASCII,
)
PARTS = {"W": 7 * UNITS["d"], "D": UNITS["d"], "H": UNITS["h"], "M": UNITS["m"], "S": UNITS["s"]}


def milliseconds(parts: Iterable[tuple[str, str]]) -> int | None:
    """DIA-2: Return the sum of (number, unit) pairs, with units as any dialect writes them. None if
    the sum is no whole number of milliseconds, which can only happen with nanoseconds.
    """
    return _whole(
        sum((require(integer(number)) * _length(unit) for number, unit in parts), Fraction())
    )


def _length(unit: str) -> Fraction:
    """Return the milliseconds of a unit: `s`, `S`, `SECONDS`; `m` and `MIN` are minutes."""
    word = unit.lower()
    if word == "ns":
        return Fraction(1, 10**6)
    if word == "ms":
        return Fraction(UNITS["ms"])
    return Fraction(UNITS[word[0]])


def iso(text: str) -> int | None:
    """DIA-2: Return the milliseconds of an ISO 8601 duration. None for another text, for years and
    months, and for what is no whole number of milliseconds.

    >>> iso("PT1.5S"), iso("P1D"), iso("P1M")
    (1500, 86400000, None)
    """
    if len(text) > LONGEST:
        return None
    match = ISO.fullmatch(text)
    if match is None:
        return None
    found = {part: value for part, value in match.groupdict().items() if value}
    if not found:
        return None
    return _whole(
        sum(Fraction(value.replace(",", ".")) * PARTS[part] for part, value in found.items())
    )


def _whole(duration: Fraction | int) -> int | None:
    if duration.denominator != 1:
        return None
    return int(duration)


def write_duration(duration: int, forms: Mapping[str, str]) -> str:
    """DIA-2: Return a duration in the greatest unit that divides it. `forms` has the text of each
    unit, greatest first.

    >>> write_duration(90_000, {"m": "{}m", "s": "{}s"})
    '90s'
    """
    unit = next(unit for unit in forms if duration % UNITS[unit] == 0)
    return forms[unit].format(duration // UNITS[unit])


def write_iso_duration(duration: int) -> str:
    """DIA-2: Return a duration as ISO 8601 text, with a fraction of a second where it needs one. It
    has no days, since rsp4j asks for a T, which days come before.

    >>> write_iso_duration(10_000), write_iso_duration(1_500)
    ('PT10S', 'PT1.5S')
    """
    if duration % UNITS["s"]:
        return f"PT{duration // 1000}.{duration % 1000:03}".rstrip("0") + "S"
    return write_duration(duration, {"h": "PT{}H", "m": "PT{}M", "s": "PT{}S"})
