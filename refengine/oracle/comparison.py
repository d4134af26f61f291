"""§11 Reports beside recorded relations: which stands beside which, and where the two differ
(ORA-9, ORA-12).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from refengine.core.engine import Report
from refengine.model.elements import Bag, Element, Row

Borders = tuple[int, int]  # (o, c) of a window


@dataclass(frozen=True)
class Alignment:
    """The reports of an assignment beside the relations of a recording.

    Relation i stands beside report `before` + i; there are so many `relations`. `reports` are those
    that were computed: for a fail, as many as are needed to say how far the two are apart.

    With `lost`, the report at this place is in the middle of the recording, has no relation, and
    all other relations are right: after it, relation i is that of the report after the one beside
    it. With `repeated`, the relation at this place is one too many, and after it relation i is that
    of the report before the one beside it.

    `stated` are the borders of the window that the engine states for each relation, by the closure
    of the reports; None, or an entry too few, where it states none or the windows are not compared.
    """

    reports: tuple[Report, ...]
    before: int
    relations: int
    lost: int | None = None
    repeated: int | None = None
    stated: tuple[Borders | None, ...] = ()

    @property
    def beside(self) -> tuple[Report, ...]:
        """The reports that have a relation beside them, in order."""
        return self.reports[self.before : self.before + self.relations]

    @property
    def after(self) -> int:
        """The number of reports that come after the last relation."""
        in_the_middle = (self.lost is not None) - (self.repeated is not None)
        return max(0, len(self.reports) - self.before - self.relations - in_the_middle)

    def stated_window(self, index: int) -> Borders | None:
        """Return the window that the engine states for a relation; None where it states none."""
        if index >= len(self.stated):
            return None
        return self.stated[index]

    def is_about(self, index: int, report: Report) -> bool:
        """Whether the window that the engine states for a relation is that of a report; True where
        it states none.
        """
        stated = self.stated_window(index)
        return stated is None or stated == report.window

    def report(self, index: int) -> Report | None:
        """Return the report beside a relation; None where there is none."""
        place = self.before + index
        if place >= len(self.reports):
            return None
        return self.reports[place]


class Fate(StrEnum):
    """Where a recording has a row that an element at the edge of a window completes."""

    PLACE = "in place"
    EARLY = "one window early"
    LATE = "one window late"
    BOTH = "in both windows"
    OUT = "left out"


class BorderRow(NamedTuple):
    """A row that an element at the edge of a window completes, and where the recording has it.

    `at` is the application time of that element, and `window` is the window that the row belongs
    to. `on_border` says whether `at` is exactly a border. `is_first` says whether the element is
    the first one in the window; otherwise it is the last.
    """

    row: Row
    at: int
    window: Borders
    fate: Fate
    on_border: bool = True
    is_first: bool = False


class RowDifference(NamedTuple):
    """How a relation differs from a report: the rows that it lacks (`lacking`), the rows that it
    has too many (`surplus`), and the number of differing rows.
    """

    lacking: Bag
    surplus: Bag
    differing: int


class Distance(NamedTuple):
    """How far an assignment is from the recording (ORA-9).

    `rows` counts the rows and the stated windows in which they differ; where arrival orders were
    searched, it counts the relations that no order explains. `unexplained` counts those of the rows
    that did not just slip over a window's border.
    """

    rows: int
    unexplained: int


NO_DISTANCE = Distance(0, 0)


@dataclass(frozen=True)
class Divergence:
    """Where a semantics and a recording part first.

    They part at the recording's relation `index`, from 0. There the semantics reports at the
    instant `evaluation`, for `window` with its `content`; these are empty if it reports nothing.
    `expected` are the report's rows and `actual` the recorded ones (None: there are none). `reason`
    says in words what is wrong. `borders` are the rows at the edges of windows, of all relations,
    and `cost` is how far the two are from each other.
    """

    index: int
    evaluation: int | None
    window: Borders | None
    content: tuple[Element, ...]
    expected: Bag | None
    actual: Bag | None
    reason: str
    borders: tuple[BorderRow, ...] = ()
    cost: Distance = NO_DISTANCE
