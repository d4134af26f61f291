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
    """The reports of an assignment beside the relations of a recording: relation i stands beside
    report `before` + i.

    `reports` are all that were computed: of a fail no more than are needed to say how far it is
    from the recording. `lost` is the place of the one report in the middle, and `repeated` that of
    the one relation, without which fewer rows would differ: from there on relation i is that of the
    report after, or before, the one beside it.
    """

    reports: tuple[Report, ...]
    before: int
    relations: int
    lost: int | None = None
    repeated: int | None = None

    @property
    def beside(self) -> tuple[Report, ...]:
        """The reports that have a relation beside them, in order."""
        return self.reports[self.before : self.before + self.relations]

    @property
    def after(self) -> int:
        """The number of reports that come after the last relation."""
        in_the_middle = (self.lost is not None) - (self.repeated is not None)
        return max(0, len(self.reports) - self.before - self.relations - in_the_middle)

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
    """A row that an element at the edge of a window completes, and what became of it.

    `at` is that element's t_app, `window` the window that the row belongs to. `on_border` says
    whether the element is exactly on a border; if it is not, `is_first` says whether it is the
    first one in the window, or the last.
    """

    row: Row
    at: int
    window: Borders
    fate: Fate
    on_border: bool = True
    is_first: bool = False


class RowDifference(NamedTuple):
    """The rows that a relation lacks of a report, those that it has too many, and in how many rows
    the two differ.
    """

    lacking: Bag
    surplus: Bag
    differing: int


class Distance(NamedTuple):
    """How far an assignment is from the recording (ORA-9).

    `rows` counts the rows in which they differ (where orders were searched: the relations that none
    explains). `unexplained` counts those of them that are no slip over a window's border.
    """

    rows: int
    unexplained: int


NO_DISTANCE = Distance(0, 0)


@dataclass(frozen=True)
class Divergence:
    """Where the semantics and the recording part: the recording's relation `index` (from 0), the
    window and its content there, the rows expected and recorded (None: no relation is left), the
    rows at the edges of windows, and how far the two are from each other.
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
