"""Reports due and reports given, side by side: which differ, by which mappings, and where they
part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from refengine.model import compare
from refengine.model.elements import Bag, Row
from refengine.model.errors import RefengineError
from refengine.rdf.recordings import relation_from_json

Report = Mapping[str, Any]
ROWS = 5  # mappings shown of each kind
# rows that differ as terms: more are not paired by tolerance and renaming, which takes the square
# of their number
NEAR = 400


@dataclass(frozen=True)
class Pair:
    """A report due and the one given in its place, either of which may not be there. `lacking` and
    `surplus` are the first of the mappings that differ, `more` how many of each are left out;
    `note` is why they were not compared.
    """

    number: int
    due: Report | None
    given: Report | None
    differs: bool = False
    lacking: tuple[Row, ...] = ()
    surplus: tuple[Row, ...] = ()
    more: tuple[int, int] = (0, 0)
    note: str = ""


def pairs(evidence: Mapping[str, Any], outcome: str) -> tuple[list[Pair], int | None]:
    """All pairs, and the place of the first that differs. Of a pass none does: the oracle may have
    found an order of arrival that is not the one under which the reports due are listed.
    """
    due, given = evidence.get("expected"), evidence["actual"]
    if due is None:
        return [Pair(number, None, report) for number, report in enumerate(given)], None
    before = min(evidence.get("before", 0), len(due))
    found = [
        _pair(number, one, other, outcome, number < before)
        for number, (one, other) in enumerate(zip_longest(due, [*[None] * before, *given]))
    ]
    if outcome == "pass":
        return found, None
    first = next((pair.number for pair in found if pair.differs), None)
    if (said := evidence.get("diverges")) is not None and said + before < len(found):
        first = said + before
    return found, first


def _pair(
    number: int, due: Report | None, given: Report | None, outcome: str, unseen: bool
) -> Pair:
    if outcome == "pass" or unseen:
        return Pair(number, due, given)
    if is_cut(due) or is_cut(given):
        return Pair(
            number,
            due,
            given,
            total(due) != total(given),
            note="rows are left out of the results, so they are not compared",
        )
    note = ""
    try:
        expected, actual = bag(due), bag(given)
        if (expected - actual).total() + (actual - expected).total() <= NEAR:
            same = _same(due, given) and compare.equal(expected, actual)
            lacking, surplus = (Bag(), Bag()) if same else compare.difference(expected, actual)
        else:
            lacking, surplus = _beyond(expected, actual), _beyond(actual, expected)
            same = _same(due, given) and not lacking and not surplus
            note = (
                f"more than {NEAR} rows differ as terms: these are compared without tolerance, and "
                "blank nodes by their labels"
            )
    except RefengineError as error:
        return Pair(number, due, given, due is None or given is None, note=f"not compared: {error}")
    some, others = (tuple(sorted(rows.elements())[:ROWS]) for rows in (lacking, surplus))
    return Pair(
        number,
        due,
        given,
        not same,
        some,
        others,
        (lacking.total() - len(some), surplus.total() - len(others)),
        note,
    )


def _beyond(rows: Bag, others: Bag) -> Bag:
    """What rows hold more of than others, by value."""
    left, found = Counter(map(compare.identity, others.elements())), Bag()
    for line in rows.elements():
        key = compare.identity(line)
        found[line] += not left[key]
        left[key] -= left[key] > 0
    return +found


def total(report: Report | None) -> int:
    """How many rows it has, of which some may be left out here."""
    return 0 if report is None else max(report["total"], len(report["rows"]))


def is_cut(report: Report | None) -> bool:
    """Whether rows of it are left out."""
    return report is not None and len(report["rows"]) < total(report)


def _same(due: Report | None, given: Report | None) -> bool:
    """Whether both are there, about one window, as far as they say which."""
    if due is None or given is None:
        return False
    windows = due.get("window"), given.get("window")
    return None in windows or windows[0] == windows[1]


def bag(report: Report | None) -> Bag:
    """The rows of a report. Raises RefengineError for what are no terms."""
    rows = [] if report is None else report["rows"]
    variables = tuple(sorted({name for row in rows for name in row}))
    return relation_from_json(rows, variables, "rows", {}).rows


def drawn(found: Sequence[Pair], first: int | None, most: int) -> Sequence[Pair]:
    """Those that are drawn: all, or some around the first that differs."""
    start = (
        0
        if first is None or len(found) <= most
        else max(0, min(first - most // 4, len(found) - most))
    )
    return found[start : start + most]


def windows(found: Sequence[Pair]) -> Iterator[list[int]]:
    """Every window that is said."""
    for pair in found:
        for report in (pair.due, pair.given):
            if report is not None and "window" in report:
                yield report["window"]
