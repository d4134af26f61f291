"""SPEC.md §9, keys: a window with a key stands for one window for each key (WIN-24)."""

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

    def is_keyed(self, window: Window) -> bool:
        """WIN-24: Return whether a window stands for one of each key."""
        return window.by != () and window.kind is not WindowKind.PARTITION

    def reports(self) -> Iterator[QueryReport]:
        """WIN-24: Yield the reports of all keys' windows, in the order of the arrivals that trigger
        them, then of the keys.
        """
        window = self.windows[0]
        if not self.is_keyed(window):
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
        elements = self.elements[window.stream]
        mine = [j for j, _ in enumerate(elements) if self.key(window, j) == key]
        alone = self.of_elements(window, [elements[j] for j in mine])
        places = [arrival.sys for arrival in self.arrivals]
        for t, k, (shown,), takes_back in alone.reports():
            content: Content = tuple(mine[j] for j in shown.content)
            of_key = shown._replace(content=content, key=tuple(key))
            yield QueryReport(t, places.index(alone.arrivals[k].sys), (of_key,), takes_back)

    def of_elements(self, window: Window, mine: list[Element]) -> Self:
        """WIN-24: Return the enumeration of a window without its key, over the elements of one key.
        Those of the others bring time, if the semantics says so, but not to a tuple-based window.
        """
        horizon = self.horizon()
        return type(self)(
            [replace(window, by=())],
            {window.stream: mine},
            replace(self.semantics, horizon=End.NONE if horizon is None else horizon),
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
