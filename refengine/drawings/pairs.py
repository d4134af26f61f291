"""A report that is due and the engine's in its place, as they are drawn side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refengine.model.elements import Row

Report = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """A report that is due, and the engine's report in its place. Either may be missing.

    `lacking` and `surplus` are the first rows that differ, and `more` says how many of each are
    left out. `note` says why or how rows were not compared.
    """

    number: int
    due: Report | None
    actual: Report | None
    differs: bool = False
    lacking: tuple[Row, ...] = ()
    surplus: tuple[Row, ...] = ()
    more: tuple[int, int] = (0, 0)
    note: str = ""


def origin_places(evidence: Mapping[str, Any]) -> frozenset[int]:
    """Return the places, among the elements of the evidence, of those on which the row rests that
    is lacking or too many at the first divergence; none if the evidence does not say it.
    """
    places = evidence.get("rests_on", {}).get("elements", ())
    return frozenset(place for place in places if place < len(evidence["elements"]))


def around_first(pairs: Sequence[Pair], first: int | None, most: int) -> Sequence[Pair]:
    """Return the pairs that are drawn: all, or `most` of them around the first that differs."""
    if first is None or len(pairs) <= most:
        return pairs[:most]
    start = max(0, min(first - most // 4, len(pairs) - most))
    return pairs[start : start + most]


def windows(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """Yield the windows that the reports of some pairs name."""
    for pair in pairs:
        for report in (pair.due, pair.actual):
            if report is not None and "window" in report:
                yield report["window"]
