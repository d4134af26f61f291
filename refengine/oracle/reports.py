"""§11 The reports of an assignment, each computed once, for all that a judgement rests on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from refengine.core.engine import Report


class Reports:
    """The reports of a semantics: each is computed when it is first asked for, and kept."""

    def __init__(self, coming: Iterable[Report]) -> None:
        self._coming = iter(coming)
        self._computed: list[Report] = []

    def get(self, place: int) -> Report | None:
        """Return the report at a place, from 0; None if there are fewer reports."""
        self._compute(place + 1)
        if place >= len(self._computed):
            return None
        return self._computed[place]

    def first(self, count: int) -> tuple[Report, ...]:
        """Return the first reports, so many or all that there are."""
        self._compute(count)
        return tuple(islice(self._computed, max(0, count)))

    def computed(self, least: int) -> tuple[Report, ...]:
        """Return all reports that were computed so far, and compute at least so many."""
        self._compute(least)
        return tuple(self._computed)

    def _compute(self, count: int) -> None:
        """Compute the first reports as far as they are not yet computed."""
        missing = count - len(self._computed)
        if missing > 0:
            self._computed.extend(islice(self._coming, missing))
