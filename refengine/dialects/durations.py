"""Durations as the dialects write them, in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from refengine.texts import integer

UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
ISO = re.compile(
    r"P(?:(?P<W>\d+)W)?(?:(?P<D>\d+)D)?(?:T(?=\d)(?:(?P<H>\d+)H)?(?:(?P<M>\d+)M)?(?:(?P<S>\d+(?:[.,]\d+)?)S)?)?", re.IGNORECASE | re.ASCII
)
PARTS = {"W": 7 * UNITS["d"], "D": UNITS["d"], "H": UNITS["h"], "M": UNITS["m"], "S": UNITS["s"]}


def milliseconds(parts: Iterable[tuple[str, str]]) -> int | None:
    """DIA-2: the sum of (number, unit), where a unit is written as any dialect writes it; None if that is no whole number
    of milliseconds, which only nanoseconds can miss."""
    total = Fraction(0)
    for number, unit in parts:
        total += (integer(number) or 0) * factor(unit)
    return int(total) if total.denominator == 1 else None


def factor(unit: str) -> Fraction:
    """The milliseconds of a unit: `s`, `S`, `SECONDS`; `m` and `MIN` are minutes."""
    word = unit.lower()
    if word in ("ms", "ns"):
        return Fraction(1, 1 if word == "ms" else 1_000_000)
    return Fraction(UNITS[word[0]])


def iso(text: str) -> int | None:
    """DIA-2: an ISO 8601 duration; None if it is none, has years or months, or is no whole number of milliseconds."""
    match = ISO.fullmatch(text)
    if match is None or not any(match.groupdict().values()):
        return None
    total = sum(Fraction(value[:40].replace(",", ".")) * PARTS[part] for part, value in match.groupdict().items() if value)
    return int(total) if total.denominator == 1 else None


def number_unit(duration: int) -> str:
    """`10s`, `90s`, `1500ms`: the greatest unit that divides it."""
    unit = next(unit for unit, factor in UNITS.items() if duration % factor == 0)
    return f"{duration // UNITS[unit]}{unit}"


def spaced(duration: int) -> str:
    """`10 S`, `1500 MS`, as SPARQLstream's grammar has it: no unit is longer than an hour, `HR`, since not all are read by it."""
    words = {3_600_000: "HR", 60_000: "MIN", 1000: "S", 1: "MS"}
    factor = next(factor for factor in words if duration % factor == 0)
    return f"{duration // factor} {words[factor]}"


def in_iso(duration: int) -> str:
    """`PT10S`, `P1D`, `PT1.5S`: in one unit, the greatest that divides it; below a second as a fraction of one."""
    for unit, part in (("d", "P{}D"), ("h", "PT{}H"), ("m", "PT{}M"), ("s", "PT{}S")):
        if duration % UNITS[unit] == 0:
            return part.format(duration // UNITS[unit])
    return f"PT{duration // 1000}.{duration % 1000:03}".rstrip("0") + "S"
