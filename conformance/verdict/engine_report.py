"""A report as an engine gave it, live or in a recording, and statements as text."""

from __future__ import annotations

from typing import NamedTuple

from refengine.model.elements import Dataset, Relation


class EngineReport(NamedTuple):
    """One report of an engine.

    `instant` is what the engine stamps it with, and `window` the borders of the window that it is
    about, if the engine says so. `came` is the instant of the element that it came with, None if it
    came with none.
    """

    relation: Relation
    instant: int | None = None
    window: tuple[int, int] | None = None
    came: int | None = None


def to_nquads(dataset: Dataset) -> str:
    """Write triples as N-Triples and quads as N-Quads, a sorted line each."""
    return "".join(f"{' '.join(statement)} .\n" for statement in sorted(dataset))
