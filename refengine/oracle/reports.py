"""§11 The reports of an assignment, each computed when it is first read, and once."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice

from refengine.core.engine import Report


class Reports:
    """A list of reports that grows as it is read. `source` yields the reports in order."""

    def __init__(self, source: Iterable[Report]) -> None:
        self._source = iter(source)
        self._computed: list[Report] = []

    def __repr__(self) -> str:
        return f"<Reports, {len(self._computed)} computed so far>"

    def __reduce__(self) -> tuple[type[Reports], tuple[tuple[Report, ...]]]:
        """Return what is pickled: all reports, which are computed for it."""
        return Reports, (self.first(sys.maxsize),)

    def get(self, place: int) -> Report | None:
        """Return the report at a place, from 0; None if there are fewer reports."""
        self._compute(place + 1)
        if place >= len(self._computed):
            return None
        return self._computed[place]

    def first(self, count: int) -> tuple[Report, ...]:
        """Return the first `count` reports, or all if there are fewer."""
        self._compute(count)
        return tuple(islice(self._computed, max(0, count)))

    def computed(self, least: int) -> tuple[Report, ...]:
        """Return all reports that were computed so far, after at least `least` were."""
        self._compute(least)
        return tuple(self._computed)

    def _compute(self, count: int) -> None:
        """Compute reports until there are `count`, or all if there are fewer."""
        missing = count - len(self._computed)
        if missing > 0:
            self._computed.extend(islice(self._source, missing))
