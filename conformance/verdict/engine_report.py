"""A report as an engine gave it, live or in a recording."""

from __future__ import annotations

from typing import NamedTuple

from refengine.model.elements import Dataset, Relation


class EngineReport(NamedTuple):
    """One report of an engine.

    `instant` is the engine's stamp, and `window` the borders of the window that the report is
    about; both are None if the engine does not state them. `takes_back` says that an earlier report
    is taken back (REP-16), and `key` are the terms of the window's key (WIN-24); None if the engine
    does not state it. `push_instant` is the
    instant of the element whose `push` brought the report; None if another command brought it.
    `received` is when the report came, in ms of the stream's time, if the run was timed.
    """

    relation: Relation
    instant: int | None = None
    window: tuple[int, int] | None = None
    push_instant: int | None = None
    received: int | None = None
    takes_back: bool = False
    key: tuple[str, ...] | None = None


def to_nquads(dataset: Dataset) -> str:
    """Write a dataset in N-Triples, or N-Quads if it has named graphs, in sorted lines."""
    return "".join(f"{' '.join(statement)} .\n" for statement in sorted(dataset))
