"""The data of the benchmark as sources of a run: the five streams by their IRIs, at their own times
or replayed at a rate, and the static data.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from conformance.bench.lsbench.activity import START, STREAMS, Parameters, Triple, events
from conformance.bench.lsbench.static_data import static_triples
from conformance.bench.streams import GeneratedStatic, GeneratedStream, name_of_stream

IRIS = dict(
    zip(
        STREAMS,
        (
            "http://deri.org/poststream",
            "http://deri.org/likedpoststream",
            "http://deri.org/photostream",
            "http://deri.org/likedphotostream",
            "http://deri.org/gpsstream",
        ),
        strict=True,
    )
)
NAMES = {iri: name for name, iri in IRIS.items()}


@dataclass(frozen=True)
class Replay:
    """How the elements of some streams come together to an engine.

    The streams are merged in the order of time. `rate` is the number of elements in a second: they
    then come at equal distances from START on, whenever they were made (None: at their own times).
    `limit` is the number of elements of all streams together.
    """

    parameters: Parameters
    streams: tuple[str, ...]
    rate: int | None
    limit: int

    def sources(self) -> dict[str, GeneratedStream]:
        """Return the source of each stream, by its IRI."""
        return {IRIS[name]: self._source(name) for name in self.streams}

    def _source(self, name: str) -> GeneratedStream:
        """Return the source of one of the streams."""
        parameters = self.parameters
        words = (
            "lsbench",
            parameters.seed,
            parameters.users,
            parameters.days,
            "own" if self.rate is None else self.rate,
            self.limit,
            "-".join(str(STREAMS.index(each)) for each in self.streams),
            name,
        )
        return GeneratedStream(name_of_stream(*words), lambda: map(line_of, self.elements(name)))

    def elements(self, name: str) -> Iterator[tuple[int, Triple]]:
        """Yield the elements of one of the streams, each with its instant in ms."""
        merged = heapq.merge(*map(self._triples, self.streams))
        for number, (time, _, stream, triple) in enumerate(islice(merged, self.limit)):
            if stream == name:
                yield self._instant(number, time), triple

    def _instant(self, number: int, time: int) -> int:
        """Return when an element comes: `number` counts all of them, and `time` is its own."""
        if self.rate is None:
            return time
        return START + number * 1000 // self.rate

    def _triples(self, name: str) -> Iterator[tuple[int, int, str, Triple]]:
        """Yield the triples of a stream. Those of one event stay together, and those of one instant
        in their order.
        """
        number = 0
        for event in events(self.parameters, name):
            for triple in event.triples:
                number += 1
                yield event.time, number, name, triple


def line_of(element: tuple[int, Triple]) -> str:
    """Return the line of an element in a file .n3t: a triple and its time."""
    time, (subject, predicate, object_) = element
    return f'{subject} {predicate} {object_} "{time}" .'


def lines_of(
    parameters: Parameters, stream: str, start: int | None = None, stop: int | None = None
) -> Iterator[str]:
    """Yield the lines of a stream at its own times, or of a span of it."""
    for event in events(parameters, stream, start, stop):
        for triple in event.triples:
            yield line_of((event.time, triple))


def static_source(parameters: Parameters) -> GeneratedStatic:
    """Return the source of the static data."""
    name = f"lsbench static {parameters.seed} {parameters.users}"
    return GeneratedStatic(name, lambda: frozenset(static_triples(parameters)))


def count_triples(parameters: Parameters, streams: Iterable[str] = STREAMS) -> dict[str, int]:
    """Return how many triples the static data and some streams have. All of them are made."""
    counts = {"static": sum(1 for _ in static_triples(parameters))}
    for name in streams:
        counts[name] = sum(len(event.triples) for event in events(parameters, name))
    return counts


def streams_of(windows: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
    """Return the names of the streams that windows are over, in the order of STREAMS."""
    iris = {window["stream"] for window in windows}
    return tuple(name for name in STREAMS if IRIS[name] in iris)
