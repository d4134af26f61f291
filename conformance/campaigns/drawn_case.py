"""A case of a campaign: a question, and the semantics that is sent with it to an engine that has
none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from conformance import corpus
from conformance.verdict import window_elements
from refengine.core.profile import Profile
from refengine.core.profiles import PROFILES
from refengine.core.query import Query, Unit, Window
from refengine.core.question import Question
from refengine.core.semantics import FIELDS, Semantics
from refengine.model.elements import Element, Stream, Triple, stream

PLAINEST = "csparql"  # the profile from which a semantics is the smaller the less it differs


@dataclass(frozen=True)
class DrawnCase:
    """A question, and the semantics that is sent with it; None if the engine has one of its own."""

    question: Question
    semantics: Semantics | None = None

    @property
    def query(self) -> Query:
        """The query of the question."""
        return self.question.query

    @property
    def is_of_windows(self) -> bool:
        """Whether it asks for the contents of a window alone, and not for SPARQL's answers."""
        return window_elements.asks_for_contents(self.query)

    @property
    def elements(self) -> list[tuple[str, Element]]:
        """The elements of all streams, each with the name of its stream."""
        return [(name, each) for name, stream in self.question.streams.items() for each in stream]

    def with_query(self, query: Query) -> DrawnCase:
        """Return the case with another query. Streams that it does not name any more are left
        out.
        """
        names = {window.stream for window in query.windows}
        streams = {name: each for name, each in self.question.streams.items() if name in names}
        return replace(self, question=Question(query, streams, self.question.static))

    def with_elements(self, elements: Iterable[tuple[str, Element]]) -> DrawnCase:
        """Return the case with other elements, each with the name of its stream."""
        items: dict[str, list[Element]] = {name: [] for name in self.question.streams}
        for name, element in elements:
            items[name].append(element)
        streams = {name: self._stream(found) for name, found in items.items()}
        return replace(self, question=replace_streams(self.question, streams))

    def _stream(self, elements: Iterable[Element]) -> Stream:
        """Return the stream of some elements in the order in which they come."""
        if self.is_of_windows:
            elements = renumbered(elements)
        return stream((one.graph, one.app, one.batch, one.end) for one in elements)

    @property
    def size(self) -> tuple[int, ...]:
        """The numbers by which a case is smaller than another one: fewer elements and triples
        first, then a plainer query and semantics, and last smaller times.
        """
        elements = self.elements
        windows = self.query.windows
        first = min((each.app for _, each in elements), default=0)
        return (
            len(elements),
            sum(len(each.graph) for _, each in elements) + len(self.question.static),
            len(windows) + sum(map(_count_marks, windows)) + (self.query.r2s is not None),
            0 if self.is_of_windows else len(self.query.body.text),
            _distance_from_plainest(self.semantics),
            sum(each.end is not None for _, each in elements),
            len({_key(each) for _, each in elements}) if self.is_of_windows else 0,
            sum((window.size or 0) + (window.slide or 0) + window.lag for window in windows),
            sum(each.app - first for _, each in elements),
            abs(first),
            sum(_key(each) > "a" for _, each in elements) if self.is_of_windows else 0,
        )


def replace_streams(question: Question, streams: Mapping[str, Stream]) -> Question:
    """Return a question over other streams."""
    return Question(question.query, streams, question.static)


@lru_cache(maxsize=4096)
def numbered_graph(number: int, key: str) -> frozenset[Triple]:
    """Return the graph of an element with a number and a key (window_elements.graph_text)."""
    return corpus.triples(window_elements.graph_text(number, key))


def renumbered(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield elements with new numbers, from 0. A punctuation has none."""
    number = 0
    for element in elements:
        found = window_elements.number_and_key(element)
        if found is None:
            yield element
            continue
        yield element._replace(graph=numbered_graph(number, found[1]))
        number += 1


def _key(element: Element) -> str:
    """Return the key of an element of the suite `windows`."""
    found = window_elements.number_and_key(element)
    return found[1] if found else ""


def _count_marks(window: Window) -> int:
    """Return how many marks a window has beside its kind, size and slide. A slide that is not the
    size counts as one.
    """
    is_uneven = window.slide is not None and window.slide != window.size
    marks = (window.by, window.name, window.triggers, window.lag, window.unit is Unit.TRIPLES)
    return sum(map(bool, marks)) + is_uneven


@lru_cache(maxsize=4096)
def _distance_from_plainest(semantics: Semantics | None) -> int:
    """Return in how many fields a semantics differs from the plainest profile with t0 = 0."""
    if semantics is None:
        return 0
    plain = plainest_fields()
    return sum(getattr(semantics, name) != plain[name] for name in FIELDS)


@lru_cache(maxsize=1)
def plainest_fields() -> Mapping[str, Any]:
    """Return the fields of the plainest semantics."""
    semantics = PROFILES[PLAINEST].but(t0=0).semantics()
    return {name: getattr(semantics, name) for name in FIELDS}


def profile_of(semantics: Semantics) -> Profile:
    """Return the profile of an engine that is sent a semantics."""
    fields = {name: getattr(semantics, name) for name in FIELDS}
    return Profile("sent", "the semantics that it is sent", fields)


def query_table(query: Query) -> dict[str, Any]:
    """Return the table of a query (QRY-1): `from_table` makes the query of it."""
    table: dict[str, Any] = {"windows": list(map(_window_table, query.windows))}
    if query.r2s is not None:
        table["r2s"] = str(query.r2s)
    if query.registered is not None:
        table["registered"] = query.registered
    return {**table, "body": query.body.text}


def _window_table(window: Window) -> dict[str, Any]:
    """Return the table of a window, with the keys that say something."""
    table: dict[str, Any] = {"stream": window.stream, "kind": str(window.kind)}
    for name in ("size", "slide", "lag", "name", "triggers"):
        if value := getattr(window, name):
            table[name] = value
    if window.unit is Unit.TRIPLES:
        table["unit"] = str(window.unit)
    if window.by:
        table["by"] = list(window.by)
    return table
