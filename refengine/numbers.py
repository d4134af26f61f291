"""Numbers as both witnesses compute with them: exactly, or not at all (Beyond)."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from struct import pack, unpack
from typing import NamedTuple

from refengine import compare
from refengine.model import XSD, Term, literal, parse_literal
from refengine.xsd import INTEGERS

RANKS = ("integer", "decimal", "float", "double")  # SPARQL's promotion: the result of two is of the later one
APART = {2: 1e-6, 3: 1e-9}  # relative: nearer than this, floats and doubles may be equal to one witness and not to the other
PLACES = 28  # of a decimal, which rdflib keeps
DIGITS = 18  # behind the point of a decimal, which pyoxigraph keeps
WHOLE, BIG = 2**63, 10**19  # below: integers, and decimals
EXACT = {2: 2**24, 3: 2**53}  # integers below are exact as floats and as doubles
LEAST = 2.0**-126  # below, floats lose digits
GREATEST = {2: 2**128, 3: 2**1024}  # beyond are no floats, and no doubles
UNIT = 2**1074  # every double is an integer of this many parts, so that sums of doubles are sums of integers


class Beyond(Exception):
    """What the witnesses may answer in two ways, or we do not follow: the definition has to be asked."""


class Number(NamedTuple):
    """A numeric value, and its datatype's place in RANKS."""

    rank: int
    value: int | Fraction | float


@lru_cache(maxsize=2**16)
def number(term: Term) -> Number | None:
    """A literal's number; None for any other term. Raises Beyond for one that not every witness holds."""
    what = compare.value(term)
    if not isinstance(what, compare.Number):
        return None
    datatype = parse_literal(term).datatype
    if datatype in INTEGERS:
        return bounded(Number(0, int(what.value)))
    return bounded(Number(RANKS.index(datatype.removeprefix(XSD)), what.value))


def bounded(found: Number) -> Number:
    """The number, if every witness holds it."""
    match found.rank:
        case 0:
            holds = abs(found.value) < WHOLE
        case 1:
            holds = (found.value * 10**DIGITS).denominator == 1 and abs(found.value) < BIG
        case 2:
            holds = isfinite(found.value) and (found.value == 0 or LEAST <= abs(found.value) < GREATEST[2])
        case _:
            holds = isfinite(found.value)
    if not holds:
        raise Beyond(f"a number that not every evaluator holds: {found.value}")
    return found


def order(a: Number, b: Number) -> int:
    """-1, 0 or 1, as a is less than, equal to or greater than b. Raises Beyond where rounding may decide it."""
    x, y, rank = a.value, b.value, max(a.rank, b.rank)
    if x == y:
        if rank > 1 and a.rank != b.rank and not (x == int(x) and abs(x) < EXACT[2]):
            raise Beyond(f"whether {x} as {RANKS[a.rank]} and as {RANKS[b.rank]} are equal")
        return 0
    if rank > 1 and abs(float(x) - float(y)) <= APART[rank] * max(abs(x), abs(y)):
        raise Beyond(f"whether {x} and {y} are equal")
    return -1 if x < y else 1


def operated(operator: str, a: Number, b: Number) -> Number:
    """a + b, a - b or a * b. Raises Beyond where a float is rounded, which the witnesses do in different widths."""
    rank = max(a.rank, b.rank)
    if rank == 2:
        return _operated_floats(operator, a, b)
    x, y = (float(a.value), float(b.value)) if rank == 3 else (a.value, b.value)
    found = x + y if operator == "+" else x - y if operator == "-" else x * y
    if rank == 1 and abs(found) * 10**DIGITS >= 10**PLACES:
        raise Beyond("a decimal of more digits than every evaluator keeps")
    return bounded(Number(rank, found))


def _operated_floats(operator: str, a: Number, b: Number) -> Number:
    """The same of floats: what is exact in single precision is the same in every width."""
    x, y = Fraction(a.value), Fraction(b.value)
    found = x + y if operator == "+" else x - y if operator == "-" else x * y
    if not all(map(_is_single, (x, y, found))):
        raise Beyond("arithmetic of xsd:float that is rounded")
    return bounded(Number(2, float(found)))


def _is_single(value: Fraction) -> bool:
    """Whether a number is exact in single precision."""
    try:
        return Fraction(*unpack("f", pack("f", value))[0].as_integer_ratio()) == value
    except (OverflowError, ValueError):
        return False


class Sum:
    """The sum of a bag of numbers that come and go: exact, in integers, and rounded once where it is told."""

    def __init__(self) -> None:
        self.ranks = [0, 0, 0, 0]  # how many of each
        self.exact, self.size, self.broken = [0, 0], [0, 0], 0  # of decimals and of doubles: the sum, and that of absolutes

    def add(self, one: Number, count: int) -> None:
        """Takes a number in, or out if the count is negative."""
        rank, value = one
        self.ranks[rank] += count
        if rank < 2:
            parts, kind = int(value * 10**DIGITS), 0
        else:
            above, below = value.as_integer_ratio()
            parts, kind = above * (UNIT // below), 1
            self.broken += count * (below != 1)
        self.exact[kind] += count * parts
        self.size[kind] += count * abs(parts)

    def total(self, divided: bool = False, exactly: bool = False) -> Term:
        """SUM, or AVG, as a literal; 0 of nothing. Raises Beyond where the order of adding shows, and if it is asked for exactly,
        where any rounding does."""
        count = sum(self.ranks)
        rank = max((rank for rank in range(4) if self.ranks[rank]), default=0)
        if rank < 2:
            found = Fraction(self.exact[0], 10**DIGITS)
            bounded(Number(rank, found if rank else int(found)))
            if exactly and (self.size[0] >= 10**PLACES or divided and count and (found / count * 10**DIGITS).denominator != 1):
                raise Beyond("digits of a sum or an average that a set depends on")
            return _quotient(found, count, rank) if divided and count else _text(found, rank)
        if self.ranks[0] or self.ranks[1]:
            raise Beyond("a sum of decimals and doubles")
        self._rounds(rank, count, exactly)
        try:
            return literal(repr(self.exact[1] / (UNIT * (count if divided else 1))), XSD + RANKS[rank])
        except OverflowError:
            raise Beyond("a sum that no double holds") from None

    def _rounds(self, rank: int, count: int, exactly: bool) -> None:
        """Whatever the order of adding, the rounding must stay below the tolerance of comparing."""
        if self.ranks[2] and self.ranks[3]:
            raise Beyond("a sum of floats and doubles")
        if not self.broken and self.size[1] < EXACT[rank] * UNIT:
            return
        if exactly or self.size[1] >= GREATEST[rank] * UNIT:
            raise Beyond(f"a sum of {RANKS[rank]}s that is rounded where a set depends on it, or beyond all of them")
        steps = EXACT[rank] * APART[rank] / 4  # of roundings, each of the sum of absolutes at most
        if self.size[1] * count > abs(self.exact[1]) * int(steps):
            raise Beyond(f"a sum of {count} {RANKS[rank]}s depends on the order of adding")


def _text(value: Fraction, rank: int) -> Term:
    if rank == 0:
        return literal(str(int(value)), XSD + "integer")
    return literal(format(_decimal(value), "f"), XSD + "decimal")


def _decimal(value: Fraction) -> Decimal:
    context = Context(prec=38)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _quotient(total: Fraction, count: int, rank: int) -> Term:
    found = total / count
    if (found * 10**DIGITS).denominator != 1 and abs(found) < Fraction(1, 5):
        raise Beyond(f"an average that {DIGITS} digits behind the point do not hold: {float(found)}")
    return _text(found, 1)
