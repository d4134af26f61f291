"""Messages (IO-3): each message of a log, or frame of Jelly, is an element that states its own
time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from refengine.model.elements import Stream
from refengine.model.errors import require
from refengine.rdf.forms.dating import Dates
from refengine.rdf.forms.graphs import read_graphs
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.forms.reading import Reading
from refengine.rdf.statements import Statement
from refengine.rdf.terms import Fault

MESSAGE = "<urn:refengine:message>"  # what the dates of a message are dates of


def build_stream_of_messages(reading: Reading, messages: Iterable[Sequence[Statement]]) -> Stream:
    """IO-3: Return the stream of messages, each its statements, in their order. A message without
    statements states no time, and is no element. Raises InvalidStream.
    """
    return build_stream(
        element
        for number, message in enumerate(messages, 1)
        if message
        for element in _read_message(reading, number, message)
    )


def _read_message(
    reading: Reading, number: int, message: Sequence[Statement]
) -> Iterator[ReadElement]:
    """Yield the element of a message; none if the message has no time and is set aside. Raises
    InvalidStream.
    """
    graphs = {statement.graph for statement in message} - {None}
    place = f"{reading.source}:{message[0].line}: message {number}"
    if len(graphs) > 1:
        reading.refuse(f"{len(graphs)} named graphs; a message is one element, so one graph", place)
    if graphs:
        yield from read_graphs(reading, message)
        return

    dates = Dates(reading.dating, reading.zones)
    triples = frozenset(require(statement.triple) for statement in message)
    try:
        for statement in message:
            triple = require(statement.triple)
            dates.add_instant(*triple)
            dates.add(MESSAGE, *triple[1:])
        if not dates.is_dated(MESSAGE):
            reading.set_aside(triples, f"no date: {reading.dating.why_undated(triples)}", place)
            return
        app, batch, end = dates.times(MESSAGE)
    except Fault as fault:
        reading.refuse(str(fault), place)
    yield ReadElement(triples, app, place, batch, end)
