"""XML Schema's lexical forms and values that both computing and comparing need. An xsd:dateTime has
no bound on its year.
"""

from __future__ import annotations

import math
import re
import struct
from datetime import date
from fractions import Fraction
from typing import NamedTuple

from refengine.model.elements import XSD


def _signed(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


# Each integer type with its least and greatest value (XSD 1.1 §3.4).
INTEGERS: dict[str, tuple[int | None, int | None]] = {
    XSD + name: bounds
    for name, bounds in {
        "integer": (None, None),
        "nonPositiveInteger": (None, 0),
        "negativeInteger": (None, -1),
        "nonNegativeInteger": (0, None),
        "positiveInteger": (1, None),
        "long": _signed(64),
        "int": _signed(32),
        "short": _signed(16),
        "byte": _signed(8),
        "unsignedLong": (0, 2**64 - 1),
        "unsignedInt": (0, 2**32 - 1),
        "unsignedShort": (0, 2**16 - 1),
        "unsignedByte": (0, 2**8 - 1),
    }.items()
}

MOST_DIGITS = 4_000  # of a year; Python reads integers of few more
_DECIMAL = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
INTEGER_FORM = re.compile(r"[+-]?[0-9]+")
DECIMAL_FORM = re.compile(_DECIMAL)
_DOUBLE_FORM = re.compile(_DECIMAL + r"(?:[eE][+-]?[0-9]+)?")
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
SINGLE_DIGITS = 24  # binary digits of an IEEE single
LEAST_EXPONENT = -126  # of a single with all its digits; those nearer to zero have fewer
LARGEST_SINGLE = 2**128 - 2**104
SMALLEST_NORMAL = 2.0**LEAST_EXPONENT
MIDDLE = 1 << (53 - SINGLE_DIGITS - 1)  # the last bits of a double half way between two singles
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def in_range(number: int, datatype: str) -> bool:
    """Return whether a number is in the range of an integer type."""
    least, greatest = INTEGERS[datatype]
    return (least is None or number >= least) and (greatest is None or number <= greatest)


def read_double(lexical: str) -> float:
    """Return the value of an xsd:double: the IEEE double nearest to its lexical form (XSD 1.1
    §3.3.5). Raises ValueError.
    """
    if lexical in _SPECIAL:
        return _SPECIAL[lexical]
    if not _DOUBLE_FORM.fullmatch(lexical):
        raise ValueError("not an xsd:double")
    return float(lexical)


def read_float(lexical: str) -> float:
    """Return the value of an xsd:float: the IEEE single nearest to its lexical form, rounded once
    (XSD 1.1 §3.3.4). So 16777217 is 16777216, and 1e300 is INF. Raises ValueError.
    """
    wide = read_double(lexical)
    if not wide or not math.isfinite(wide):
        return wide
    return math.copysign(nearest_single(Fraction(lexical)), wide)  # of -1e-50, which is -0


def nearest_double(exact: int | Fraction) -> float:
    """Return the xsd:double nearest to an exact number."""
    try:
        return float(exact)
    except OverflowError:
        if exact > 0:
            return math.inf
        return -math.inf


def nearest_single(exact: int | Fraction) -> float:
    """Return the xsd:float nearest to an exact number; of two that are equally near, the even one.

    It is rounded once. Rounding by way of a double errs where that double is half way between two
    floats: 16777217.000000001 is nearest to 16777218, and 16777217 to 16777216. Any other double,
    if it has all digits of a float, leads to the same float as the number itself.
    """
    wide = nearest_double(exact)
    if SMALLEST_NORMAL <= abs(wide) <= LARGEST_SINGLE and _last_bits(wide) != MIDDLE:
        return single(wide)
    number = Fraction(exact)
    unit = _unit_of_single(abs(number))
    rounded = round(number / unit) * unit
    if abs(rounded) > LARGEST_SINGLE:
        return math.copysign(math.inf, rounded)
    return float(rounded)


def _last_bits(number: float) -> int:
    """Return the bits of a double that a single of full precision does not have."""
    bits: int = struct.unpack("<Q", struct.pack("<d", number))[0]
    return bits % (MIDDLE << 1)


def _unit_of_single(magnitude: Fraction) -> Fraction:
    """Return how far apart the floats are that lie around a number > 0."""
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    return Fraction(2) ** (max(exponent, LEAST_EXPONENT) - (SINGLE_DIGITS - 1))


def single(number: float) -> float:
    """Return the xsd:float nearest to a double."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


class Moment(NamedTuple):
    """An xsd:dateTime: seconds from 1970-01-01T00:00:00 (in UTC where it names a zone), and whether
    it names one.
    """

    seconds: Fraction
    zoned: bool


_DATE_TIME = re.compile(
    r"(-?(?:[1-9][0-9]{4,}|[0-9]{4}))-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)


def date_time(lexical: str) -> Moment:
    """Return the moment of an xsd:dateTime (XSD 1.1 §3.3.7), exact to every digit. Raises
    ValueError that says what is wrong.
    """
    match = _DATE_TIME.fullmatch(lexical)
    if match is None or len(match[1]) > MOST_DIGITS:
        raise ValueError("not an xsd:dateTime")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction = Fraction(match[7] or 0)
    zone = match[8]
    is_midnight = hour == 24 and minute == second == fraction == 0
    # the calendar repeats every 400 years = 146,097 days, so any year has its twin in 2000..2399
    try:
        days = (
            date(2000 + year % 400, month, day).toordinal()
            - date(1970, 1, 1).toordinal()
            + (year // 400 - 5) * 146_097
        )
    except ValueError:
        raise ValueError("no such day") from None
    if (hour > 23 and not is_midnight) or minute > 59 or second > 59:
        raise ValueError("no such time of day")
    minutes = (days * 24 + hour) * 60 + minute - _offset(zone)
    return Moment(minutes * 60 + second + fraction, zone is not None)


def _offset(zone: str | None) -> int:
    """Return the minutes by which a zone, as `+01:00`, is before UTC. Raises ValueError for more
    than 14 hours.
    """
    if zone in (None, "Z"):
        return 0
    sign, hours, minutes = int(zone[0] + "1"), int(zone[1:3]), int(zone[4:])
    if minutes > 59 or hours * 60 + minutes > 840:
        raise ValueError("no such time of day")
    return sign * (hours * 60 + minutes)
