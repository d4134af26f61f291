"""Wrong engines for §10: when two answers are the same."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from math import isnan
from typing import Any

from conformance.wrong_engines.engines import CSRBENCH_ORACLE
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.model import compare
from refengine.model.compare import Mode, TolerantNumber
from refengine.model.elements import XSD, Bag, Row, is_blank, literal, row
from refengine.model.terms import Term, parse_literal


@wrong(
    "CMP-1",
    replaces=compare.value,
    half="compares literals of numeric types",
)
def datatypes_are_not_read(right: Right, term: Term) -> Any:
    """Reads no datatypes. It compares literals as numbers where both texts read as numbers."""
    if not term.startswith('"') or (XSD not in term and not term.endswith('"')):
        return term
    text = parse_literal(term).lexical
    try:
        return TolerantNumber(float(text), 1e-9)
    except ValueError:
        return literal(text)


@wrong(
    "CMP-1",
    replaces=compare.value,
    half="`term` compares all as terms",
)
def terms_are_compared(right: Right, term: Term) -> Term:
    """Compares numbers as terms: 1 and 01 differ."""
    return term


@wrong(
    "CMP-1",
    replaces=compare.value,
    half="xsd:boolean and xsd:dateTime in their value space",
    seen="Python's datetime.fromisoformat, "
    "https://docs.python.org/3/library/datetime.html#datetime.datetime.fromisoformat",
)
def dates_of_iso_8601(right: Right, term: Term) -> Any:
    """Reads dates by ISO 8601, not by XML Schema. It reads no more than microseconds."""
    if not term.endswith("dateTime>"):
        return right(term)
    try:
        moment = datetime.fromisoformat(parse_literal(term).lexical)
    except ValueError:
        return term
    has_zone = moment.tzinfo is not None
    if has_zone:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return "dateTime", moment, has_zone


@wrong(
    "CMP-1",
    replaces=compare.split,
    half="all other terms",
    seen=f"{CSRBENCH_ORACLE} compares numeric variables alone",
)
def numbers_only(right: Right, line: Row, mode: Mode = Mode.VALUE) -> Any:
    """Compares rows by their numbers alone."""
    exact = []
    numbers = []
    for name, term in line:
        value = compare.value(term)
        if isinstance(value, TolerantNumber):
            exact.append((name, TolerantNumber))
            numbers.append(value)
    if not numbers:
        return right(line, mode)
    return tuple(exact), tuple(numbers)


@wrong(
    "CMP-2",
    replaces=compare.is_near,
    half="1e-6 for xsd:float",
)
def exactly(right: Right, a: TolerantNumber, b: TolerantNumber) -> bool:
    """Compares computed numbers without a tolerance."""
    return a.value == b.value


@wrong("CMP-2", replaces=compare.is_near, half="INF equals INF and NaN equals NaN")
def by_subtraction(right: Right, a: TolerantNumber, b: TolerantNumber) -> bool:
    """Compares all numbers as doubles, by their difference. INF differs from itself, since INF -
    INF is no number.
    """
    return _are_near(a, b, 0)


@wrong("CMP-2", replaces=compare.is_near, half="relative to the larger magnitude")
def tolerance_is_absolute_below_1(right: Right, a: TolerantNumber, b: TolerantNumber) -> bool:
    """Compares numbers below 1 with a tolerance that does not shrink with them."""
    return bool(right(a, b)) or _are_near(a, b, 1)


def _are_near(a: TolerantNumber, b: TolerantNumber, least_magnitude: int) -> bool:
    """Whether two numbers are near by the difference of their doubles."""
    x = float(a.value)
    y = float(b.value)
    are_nan = isnan(x) and isnan(y)
    tolerance = max(a.tolerance, b.tolerance)
    magnitude = max(least_magnitude, abs(x), abs(y))
    return are_nan or abs(x - y) <= tolerance * magnitude


def _is_same(a: Row, b: Row, mode: Mode) -> bool:
    """Whether two rows are the same, up to the tolerance of their numbers."""
    exact_a, numbers_a = compare.split(a, mode)
    exact_b, numbers_b = compare.split(b, mode)
    return bool(exact_a == exact_b and all(map(compare.is_near, numbers_a, numbers_b)))


@wrong(
    "CMP-3",
    replaces=compare.equal,
    seen=f"{CSRBENCH_ORACLE} and yasper (https://github.com/streamreasoning/rsp4j) compare sets",
)
def what_is_recorded_must_be_expected(
    right: Right,
    a: Bag,
    b: Bag,
    mode: Mode = Mode.VALUE,
) -> bool:
    """Accepts two bags if every row of the second is a row of the first."""
    return all(any(_is_same(recorded, expected, mode) for expected in a) for recorded in b)


@wrong("CMP-3", replaces=compare.equal)
def a_part_of_a_row_is_enough(
    right: Right,
    a: Bag,
    b: Bag,
    mode: Mode = Mode.VALUE,
) -> bool:
    """Accepts two bags of as many rows if every row of the second is a part of one of the first."""
    if right(a, b, mode):
        return True
    are_parts = all(any(set(recorded) <= set(expected) for expected in a) for recorded in b)
    return a.total() == b.total() and are_parts


@wrong("CMP-3", replaces=compare.difference)
def the_first_that_fits(right: Right, a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """Takes for each row the first that is near it, in the order of their texts, and never tries
    another pairing.
    """
    unpaired = sorted(b.elements())
    missing: Bag = Counter()
    for line in sorted(a.elements()):
        near = [other for other in unpaired if _is_same(line, other, mode)]
        if near:
            unpaired.remove(near[0])
        else:
            missing[line] += 1
    return missing, Counter(unpaired)


def _are_same(a: Bag, b: Bag, mode: Mode) -> bool:
    """Whether two bags have the same rows; blank nodes are compared by their labels."""
    return a.total() == b.total() and not any(compare.difference(a, b, mode))


@wrong("CMP-4", replaces=compare.equal)
def blank_nodes_are_labels(
    right: Right,
    a: Bag,
    b: Bag,
    mode: Mode = Mode.VALUE,
) -> bool:
    """Compares blank nodes by their labels."""
    return _are_same(a, b, mode)


@wrong("CMP-4", replaces=compare.equal)
def blank_nodes_are_renamed_row_by_row(
    right: Right,
    a: Bag,
    b: Bag,
    mode: Mode = Mode.VALUE,
) -> bool:
    """Renames blank nodes within each row, whatever they are called in other rows."""
    return _are_same(_rename_row_by_row(a), _rename_row_by_row(b), mode)


def _rename_row_by_row(bag: Bag) -> Bag:
    """Return the rows with the blank nodes of each named `_:b0`, `_:b1` and so on."""
    rows: Bag = Counter()
    for line in bag.elements():
        labels: dict[Term, Term] = {}
        for _, term in line:
            if is_blank(term):
                labels.setdefault(term, f"_:b{len(labels)}")
        with_labels = row((name, labels.get(term, term)) for name, term in line)
        rows[with_labels] += 1
    return rows
