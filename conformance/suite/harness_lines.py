"""The lines that a harness got for a result, for a page of results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.harness import engine_file
from conformance.harness.engine_file import Engine
from conformance.suite.chosen import ItemSelection
from conformance.suite.item import Item, live_items
from conformance.suite.replay import engine_of_evidence, lines_to_send
from conformance.verdict.evidence import TEXT
from conformance.verdict.results import Result
from refengine.model.errors import RefengineError


@dataclass
class HarnessLines:
    """The lines that are sent for results. `items` are those of the run by their keys. For other
    results the items of an engine are made as they are needed, and kept: those of the engine that
    has the name here, else those of an engine that the evidence shows.
    """

    items: dict[tuple[str, str, str], Item] = field(default_factory=dict)
    engines: set[str] = field(default_factory=set)

    @staticmethod
    def of(items: Iterable[Item]) -> HarnessLines:
        """Return the lines of the items of a run."""
        return HarnessLines({item.key: item for item in items})

    def lines(self, result: Result) -> list[str]:
        """Return the lines that were sent for a result, from `start` to `stop`. There are none if
        it is not known what was sent, such as for a recording, or if the query or the elements of
        its evidence are others.
        """
        try:
            item = self._find_item(result)
            if item is None or item.prepare is None:
                return []
            lines = [line.decode("utf-8", "replace").rstrip("\n") for line in lines_to_send(item)]
        except RefengineError:
            return []
        return lines if _have_question_of(result, lines) else []

    def _find_item(self, result: Result) -> Item | None:
        """Return the item of a result; None if the engine that has its name has no such item."""
        if result.key in self.items:
            return self.items[result.key]
        if result.engine in self.engines:
            return None
        if result.engine in engine_file.names():
            self.engines.add(result.engine)
            tested = engine_file.engine(result.engine)
            self.items |= {item.key: item for item in _items(tested)}
            return self.items.get(result.key)
        return next(
            (item for item in _items(engine_of_evidence(result)) if item.key == result.key), None
        )


def _items(tested: Engine) -> Iterable[Item]:
    """Return the items of an engine with the usual options."""
    return live_items(tested, ItemSelection())


def _have_question_of(result: Result, lines: Iterable[str]) -> bool:
    """Whether some lines have the query and the elements of a result's evidence, which may have the
    first part of them only. The engine's file, or the case, may have changed since.
    """
    if result.evidence is None:
        return True
    messages = [json.loads(line) for line in lines]
    queries = {message["query"][:TEXT] for message in messages if "query" in message}
    pushes = Counter(_element(message) for message in messages if "graph" in message)
    elements = Counter(map(_element, result.evidence["elements"]))
    return result.evidence["query"] in queries and elements <= pushes


def _element(table: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what a message or the evidence says of an element."""
    return tuple(table.get(key) for key in ("stream", "at", "graph", "batch", "end"))
