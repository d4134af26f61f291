"""What the workloads share whose data are made in memory: terms, windows, and the semantics.

Each triple is an element. A generator draws with a seed of its own, so that the same sizes give the
same data on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from refengine import Semantics, from_table, literal, profile, stream
from refengine.core.question import Question, Setting
from refengine.model.elements import XSD, Dataset, Term, Triple

SECOND = 1000  # the unit of time is a millisecond
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

Arrival = tuple[str, Triple]  # a stream's name, and a triple that arrives there


class TimeWindow(NamedTuple):
    """A sliding window over the last `size` milliseconds of a stream. It is named, or its content
    is in the default graph.
    """

    stream: str
    size: int
    name: str | None = None

    def table(self) -> dict[str, Any]:
        """Return the window as the table of a query has it."""
        table: dict[str, Any] = {"stream": self.stream, "kind": "range", "size": self.size}
        if self.name is not None:
            table["name"] = self.name
        return table


class WorkloadQuery(NamedTuple):
    """A query's body and its windows."""

    body: str
    windows: tuple[TimeWindow, ...]


def report_each_change() -> Semantics:
    """Return CQELS's semantics from time 0 on, with empty outputs: each change of a content is a
    report, so that time can be told for each element.
    """
    fields = {"t0": 0, "horizon": "none", "partial": "reported", "empty": "emit"}
    return profile("cqels").with_fields(fields).semantics()


def make_setting(
    asked: WorkloadQuery, arrivals: Mapping[str, Iterable[tuple[Triple, int]]], static: Dataset
) -> Setting:
    """Return a query over the streams of its windows, each a sequence of triples with their times,
    and static data.
    """
    table = {"windows": [window.table() for window in asked.windows], "body": asked.body}
    streams = {name: stream(items) for name, items in arrivals.items()}
    return Question(from_table(table), streams, static).under(report_each_change())


def with_times(
    names: Sequence[str], arrivals: Iterable[Sequence[Arrival]], count: int, step: int = 1
) -> dict[str, list[tuple[Triple, int]]]:
    """Return the streams of some names, with `count` elements together. Events are sequences of
    arrivals; each event has one time, which is `step` milliseconds for each element before it.
    """
    streams: dict[str, list[tuple[Triple, int]]] = {name: [] for name in names}
    number = 0
    for event in arrivals:
        time = step * number
        for name, triple in event:
            if name not in streams:
                continue
            if number == count:
                return streams
            streams[name].append((triple, time))
            number += 1
    return streams


def integer(value: int) -> Term:
    """Return an xsd:integer."""
    return literal(str(value), XSD + "integer")


def decimal(value: int, places: int = 1) -> Term:
    """Return an xsd:decimal, which is `value` divided by 10 to the power of `places`."""
    whole, rest = divmod(value, 10**places)
    return literal(f"{whole}.{rest:0{places}}", XSD + "decimal")
