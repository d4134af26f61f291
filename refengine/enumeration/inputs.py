"""What is given to the enumeration, what it looks up, and the reports that it yields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from refengine.core.query import Window
from refengine.core.semantics import Semantics
from refengine.model.elements import Bag, Dataset, Element

Borders = tuple[int, int] | None  # (o, c); None for a window without borders
Content = tuple[int, ...]  # places of elements in their stream, as `Inputs.elements` has it


OTHERS = ""  # the stream of elements that are in no window; no stream has this name


class Arrival(NamedTuple):
    """An element as it arrives: its stream, its place in that stream, its app, sys and batch id.
    The sentinel of ENG-1 has no stream.
    """

    stream: str | None
    place: int
    app: int
    sys: float
    batch: int


class WindowInstance(NamedTuple):
    """One window of the sequence that a query's window stands for: its number, if it has one, its
    borders (o, c), if it has any, and all its instants, ascending.
    """

    number: int | None
    borders: Borders
    instants: tuple[int, ...]


class ShownWindow(NamedTuple):
    """What a query's window shows at an instant: number and borders of the current instance (None
    where the window has no scope), its content, and the terms of its key, if it has one.
    """

    number: int | None
    borders: Borders
    content: Content
    key: tuple[str, ...] = ()


class QueryReport(NamedTuple):
    """A report: the instant of the evaluation, the index of the arrival that triggered it, what
    each window shows, and whether an earlier report that showed it is taken back (REP-16).
    """

    t: int
    arrival: int
    windows: tuple[ShownWindow, ...]
    takes_back: bool = False


class EmittedRelation(NamedTuple):
    """A relation that is emitted: the instant of the evaluation, the app of the arrival that
    triggered it, the borders of each window, the output instant, the content of each window, the
    number of late elements, the rows, whether they are taken back (REP-16), and the terms of the
    window's key.
    """

    t: int
    trigger: int
    borders: tuple[Borders, ...]
    instant: int
    contents: tuple[Content, ...]
    late: int
    rows: Bag
    takes_back: bool = False
    key: tuple[str, ...] = ()


class Inputs:
    """What the rules of all chapters read. `Enumeration` sets these attributes in this order: first
    those that its user gives, then those that rules compute once.
    """

    windows: Sequence[Window]
    semantics: Semantics
    registered: int | None  # the instant of the query's registration
    static: Dataset  # the data that are always there

    elements: dict[str, list[Element]]  # those that are not late, by stream (MOD-2)
    late: list[Element]  # the others, of all streams
    others: list[Element]  # those that are in no window and bring time alone (MOD-5, WIN-24)
    ids: dict[Window, list[int]]  # WIN-6
    arrivals: list[Arrival]  # ENG-5, ENG-1
    integers: range  # all instants and ids that could matter

    t0s: dict[Window, int | None]  # t0 (WIN-10)
    s0s: dict[Window, int]  # s0 (WIN-5) of the windows that open at all
    start: int  # of the first interval: the least s0 (ENG-5)
    sequences: dict[Window, list[WindowInstance]]  # WIN-3, WIN-13
    reported: tuple[Content, ...]  # of each window, the content last reported (REP-8)
    previous: tuple[Content, ...]  # of each window, the content at the instant before (REP-8)

    def all_integers(self) -> range:
        """Return all instants and ids that could matter: from the least to the greatest that the
        arrivals, the semantics and the query name (and 0), with a margin of 2ω + β + 3, and the
        delay of the watermark, at both ends. That is enough: a t0 that is not named comes at most
        ω + 1 before the least, and a window that t0 cuts opens less than ω before it. The first
        window to end after the greatest closes at most ω + β + 1 later. The rest is for the
        borders.
        """
        named = (self.semantics.t0, self.registered, 0)
        places = [value for value in named if isinstance(value, int)]
        places += [arrival.app for arrival in self.arrivals]
        places += [number for ids in self.ids.values() for number in ids]
        margin = max(2 * (window.size or 0) + (window.slide or 1) + 3 for window in self.windows)
        margin += self.semantics.watermark_delay or 0
        return range(min(places) - margin, max(places) + margin + 1)
