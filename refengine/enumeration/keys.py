"""docs/firings.md §16, keys: a window with a key stands for one window for each key (WIN-24)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Self

from refengine.core.query import Window, WindowKind
from refengine.core.values import Clock, End
from refengine.enumeration.evaluation import Evaluations
from refengine.enumeration.inputs import Content, QueryReport
from refengine.model.elements import Element


class Enumeration(Evaluations):
    """The reports of a query over streams under a semantics, by enumeration."""

    def reports(self) -> Iterator[QueryReport]:
        """WIN-24: Yield the reports of all keys' windows, in the order of the arrivals that trigger
        them, then of the keys.
        """
        window = self.windows[0]
        if not window.is_keyed:
            yield from super().reports()
            return
        found = [
            (report.arrival, number, report)
            for number, key in enumerate(self.keys(window))
            for report in self.reports_of_key(window, key)
        ]
        for _, _, report in sorted(found, key=lambda one: one[:2]):
            yield report

    def keys(self, window: Window) -> list[list[str]]:
        """WIN-24: Return the keys of a stream, in the order of their first elements."""
        found: list[list[str]] = []
        for place, _ in enumerate(self.elements[window.stream]):
            if self.key(window, place) not in found:
                found.append(self.key(window, place))
        return found

    def reports_of_key(self, window: Window, key: list[str]) -> Iterator[QueryReport]:
        """WIN-24: Yield the reports of one key's window, with the places that arrivals and elements
        have among those of all keys.
        """
        mine = self.places_of_key(window, key)
        horizon = self.horizon()
        alone = self.of_places(window, mine, End.NONE if horizon is None else horizon)
        places = [arrival.sys for arrival in self.arrivals]
        for t, k, (shown,), takes_back in alone.reports():
            content: Content = tuple(mine[j] for j in shown.content)
            of_key = shown._replace(content=content, key=tuple(key))
            yield QueryReport(t, places.index(alone.arrivals[k].sys), (of_key,), takes_back)

    def places_of_key(self, window: Window, key: list[str]) -> list[int]:
        """WIN-24: Return the places of the elements of one key."""
        places = range(len(self.elements[window.stream]))
        return [place for place in places if self.key(window, place) == key]

    def last_instants(self, window: Window, end: int) -> list[int]:
        """WIN-24, ENG-1: Return what an enumeration without keys returns, for the window of each
        key.
        """
        if not window.is_keyed:
            return super().last_instants(window, end)
        mine = [self.places_of_key(window, key) for key in self.keys(window)]
        alone = [self.of_places(window, places, end + 1) for places in mine]
        return [t for each in alone for t in each.last_instants(each.windows[0], end)]

    def of_places(self, window: Window, places: list[int], horizon: int | End) -> Self:
        """WIN-24: Return the enumeration of a window without its key, over the elements of one key,
        at these places. Those of the others bring time, if the semantics says so, but not to a
        tuple-based window.
        """
        mine = [self.elements[window.stream][place] for place in places]
        return type(self)(
            [replace(window, by=())],
            {window.stream: mine},
            replace(self.semantics, horizon=horizon),
            registered=self.registered,
            static=self.static,
            others=[*self.others, *self.of_other_keys(window, mine)],
        )

    def of_other_keys(self, window: Window, mine: list[Element]) -> list[Element]:
        """WIN-24: Return the elements of other keys that bring time to the window of one key."""
        match self.semantics.clock:
            case Clock.KEY:
                return []
            case Clock.STREAM if window.kind is WindowKind.TUPLE:
                return []
            case Clock.STREAM:
                return [each for each in self.elements[window.stream] if each not in mine]
