"""Wrong engines for §10: when two answers are the same."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from conformance.wrong_engines.engines import CSRBENCH_ORACLE
from conformance.wrong_engines.miniature import Right, wrong
from refengine.model import compare
from refengine.model.compare import Mode, TolerantNumber
from refengine.model.elements import XSD, Bag, Row, is_blank, literal, row
from refengine.model.terms import Term, parse_literal


@wrong("CMP-1", replaces=compare.value, half="compares literals of numeric types")
def datatypes_are_not_read(right: Right, term: Term) -> Any:
    """A literal is a number if its text reads as one, and else its text."""
    if not term.startswith('"') or (XSD not in term and not term.endswith('"')):
        return term
    text = parse_literal(term).lexical
    try:
        return TolerantNumber(float(text), 1e-9)
    except ValueError:
        return literal(text)


@wrong("CMP-1", replaces=compare.value, half="`term` compares all as terms")
def terms_are_compared(right: Right, term: Term) -> Term:
    """Every literal is its term."""
    return term


@wrong(
    "CMP-1",
    replaces=compare.value,
    half="xsd:boolean and xsd:dateTime in their value space",
    seen="Python's datetime.fromisoformat, "
    "https://docs.python.org/3/library/datetime.html#datetime.datetime.fromisoformat",
)
def dates_of_iso_8601(right: Right, term: Term) -> Any:
    """A date is whatever ISO 8601 reads in it, to the microsecond."""
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
def numbers_only(right: Right, line: Row, mode: Mode) -> Any:
    """Rows are compared by their numbers alone."""
    numbers = [(name, compare.value(term)) for name, term in line]
    numbers = [(name, number) for name, number in numbers if isinstance(number, TolerantNumber)]
    if not numbers:
        return right(line, mode)
    return tuple((name, TolerantNumber) for name, _ in numbers), tuple(
        number for _, number in numbers
    )


@wrong("CMP-2", replaces=compare.is_near, half="1e-6 for xsd:float")
def exactly(right: Right, a: TolerantNumber, b: TolerantNumber) -> bool:
    """Numbers are the same if they are equal."""
    return a.value == b.value


@wrong(
    "CMP-2",
    replaces=compare.is_near,
    half=("relative to the larger magnitude", "INF equals INF and NaN equals NaN"),
)
def by_subtraction(right: Right, a: TolerantNumber, b: TolerantNumber) -> bool:
    """Numbers, integers too, are the same if the difference of their doubles is small, of such as
    are below 1 in itself; infinity has none from itself.
    """
    x, y = float(a.value), float(b.value)
    most = max(a.tolerance, b.tolerance) * max(1, abs(x), abs(y))
    return abs(x - y) <= most or (x != x and y != y)


def _is_same(a: Row, b: Row, mode: Mode) -> bool:
    (exact_a, numbers_a), (exact_b, numbers_b) = compare.split(a, mode), compare.split(b, mode)
    return bool(exact_a == exact_b and all(map(compare.is_near, numbers_a, numbers_b)))


@wrong(
    "CMP-3",
    replaces=compare.equal,
    seen=f"{CSRBENCH_ORACLE} and yasper (https://github.com/streamreasoning/rsp4j) compare sets",
)
def what_is_recorded_must_be_expected(
    right: Right, a: Bag, b: Bag, mode: Mode = Mode.VALUE
) -> bool:
    """Bags are the same if every row of the second is a row, or part of a row, of the first."""
    return all(
        any(_is_same(line, other, mode) or set(line) <= set(other) for other in a) for line in b
    )


@wrong("CMP-3", replaces=compare.difference)
def the_first_that_fits(right: Right, a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """A row is paired with the first that is near it, in the order of their texts, and keeps its
    partner.
    """
    left = sorted(b.elements())
    missing: Bag = Counter()
    for line in sorted(a.elements()):
        partner = next((other for other in left if _is_same(line, other, mode)), None)
        if partner is None:
            missing[line] += 1
        else:
            left.remove(partner)
    return missing, Counter(left)


def _are_same(a: Bag, b: Bag, mode: Mode) -> bool:
    return a.total() == b.total() and not any(compare.difference(a, b, mode))


@wrong("CMP-4", replaces=compare.equal)
def labels_are_names(right: Right, a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Blank nodes are the same if their labels are."""
    return _are_same(a, b, mode)


@wrong("CMP-4", replaces=compare.equal)
def blank_nodes_are_renamed_row_by_row(
    right: Right, a: Bag, b: Bag, mode: Mode = Mode.VALUE
) -> bool:
    """Blank nodes are renamed one to one, but in every row anew."""
    return _are_same(_renamed(a), _renamed(b), mode)


def _renamed(bag: Bag) -> Bag:
    lines: Bag = Counter()
    for line in bag.elements():
        names: dict[Term, Term] = {}
        for _, term in line:
            if is_blank(term):
                names.setdefault(term, f"_:b{len(names)}")
        lines[row((name, names.get(term, term)) for name, term in line)] += 1
    return lines
