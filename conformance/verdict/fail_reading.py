"""A fail as its evidence shows it: the reports that are due, those that the engine gave, the place
where they first diverge, and the elements on which a row rests that is lacking or too many there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from refengine.core.semantics import Closure
from refengine.core.window import borders

Report = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class FailReading:
    """What the evidence of a fail says at the `place` of a report that is due: that of the first
    divergence. Rows are compared as JSON, so 1 and 1.0 differ. A pass is read in the same way: it
    has no row that is lacking or too many.
    """

    evidence: Mapping[str, Any]
    place: int

    @cached_property
    def due(self) -> list[str]:
        """The rows of each report that is due, as sorted text."""
        return [_rows_as_text(report) for report in self.evidence["expected"]]

    @cached_property
    def given(self) -> list[str]:
        """The rows of each report of the engine, as sorted text."""
        return [_rows_as_text(report) for report in self.evidence["actual"]]

    def at_each_report(self) -> Iterator[FailReading]:
        """Yield the same evidence, read at each report that is due."""
        for place in range(len(self.evidence["expected"])):
            yield replace(self, place=place)

    def due_rows(self, place: int) -> Counter[str]:
        """Return the rows of a report that is due, counted; none if there is no such report."""
        expected: Sequence[Report] = self.evidence["expected"]
        return _count_rows(expected[place]) if 0 <= place < len(expected) else Counter()

    @cached_property
    def given_rows(self) -> Counter[str] | None:
        """The rows of the engine's report at the place, counted; None if it gave none there."""
        actual: Sequence[Report] = self.evidence["actual"]
        place = self.place - self.evidence.get("before", 0)
        return _count_rows(actual[place]) if 0 <= place < len(actual) else None

    @property
    def elements(self) -> Sequence[Mapping[str, Any]]:
        """The elements of all streams, in the order of the evidence."""
        elements: Sequence[Mapping[str, Any]] = self.evidence["elements"]
        return elements

    @cached_property
    def window(self) -> tuple[int, int] | None:
        """The first and the last instant of the window of the report that is due at the place. None
        if there is no such report, or its window has no borders.
        """
        expected: Sequence[Report] = self.evidence["expected"]
        closure = self.evidence.get("semantics", {}).get("closure")
        if self.place >= len(expected) or "window" not in expected[self.place]:
            return None
        if closure not in list(Closure):
            return None
        opening, closing = expected[self.place]["window"]
        low, high = borders(Closure(closure))
        return opening + low, closing + high

    @cached_property
    def content(self) -> list[int]:
        """The places of the elements whose instant is in the window, in the order of the
        evidence.
        """
        if self.window is None:
            return []
        first, last = self.window
        return [place for place, one in enumerate(self.elements) if first <= one["at"] <= last]

    @cached_property
    def origin(self) -> list[int]:
        """The places of the elements on which the first row rests that is lacking or too many."""
        places = self.evidence.get("rests_on", {}).get("elements", ())
        return [place for place in places if place < len(self.elements)]

    @property
    def lacks_row(self) -> bool:
        """Whether the evidence names a row that is lacking, and elements on which it rests."""
        return bool(self.origin) and bool(self.evidence["rests_on"]["is_lacking"])

    @property
    def has_surplus_row(self) -> bool:
        """Whether the evidence names a row that is too many, and elements on which it rests."""
        return bool(self.origin) and not self.evidence["rests_on"]["is_lacking"]

    @property
    def lacking_row(self) -> str:
        """The first row that is lacking, as text; empty if the evidence names none."""
        return _row_as_text(self.evidence["rests_on"]["row"]) if self.lacks_row else ""


def read_fail(evidence: Mapping[str, Any] | None) -> FailReading | None:
    """Return what evidence shows at the first divergence. None if it was cut, or names no reports
    that are due.
    """
    if evidence is None or evidence["cut"] or "expected" not in evidence:
        return None
    before = evidence.get("before", 0)
    # a file of results may state any number
    place = min(before + evidence.get("diverges", 0), len(evidence["expected"]))
    reading = FailReading(evidence, place)
    if before and reading.given == reading.due[before:]:
        return replace(reading, place=0)  # the recording begins too late
    return reading


def _rows_as_text(report: Report) -> str:
    """Return the rows of a report as text. Equal bags of rows give equal texts."""
    return json.dumps(sorted(map(_row_as_text, report["rows"])))


def _count_rows(report: Report) -> Counter[str]:
    """Return the rows of a report as texts, counted."""
    return Counter(map(_row_as_text, report["rows"]))


def _row_as_text(row: Mapping[str, Any]) -> str:
    """Return a row as text. Equal rows give equal texts."""
    return json.dumps(row, sort_keys=True)
