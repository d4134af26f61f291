"""Messages (IO-1): each message of a log, or frame of Jelly, is an element that states its own
time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from refengine.model.elements import Stream
from refengine.model.errors import InvalidStream, require
from refengine.rdf.forms.dating import DatePredicates, Dates
from refengine.rdf.forms.graphs import read_graphs
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.sources import Source
from refengine.rdf.statements import Statement
from refengine.rdf.terms import Fault

MESSAGE = "<urn:refengine:message>"  # what the dates of a message are dates of


def build_stream_of_messages(
    source: Source, messages: Iterable[Sequence[Statement]], dating: DatePredicates
) -> Stream:
    """IO-3: Return the stream of messages, each its statements, in their order. A message without
    statements states no time, and is no element. Raises InvalidStream.
    """
    return build_stream(
        _read_message(source, number, message, dating)
        for number, message in enumerate(messages, 1)
        if message
    )


def _read_message(
    source: Source, number: int, message: Sequence[Statement], dating: DatePredicates
) -> ReadElement:
    graphs = {statement.graph for statement in message} - {None}
    place = f"{source}:{message[0].line}: message {number}"
    if len(graphs) > 1:
        reason = f"{len(graphs)} named graphs; a message is one element, so one graph"
        raise InvalidStream(reason, rule="IO-1", place=place)
    if graphs:
        [element] = read_graphs(source, message, dating)
        return element

    dates = Dates(dating)
    triples = frozenset(require(statement.triple) for statement in message)
    try:
        for statement in message:
            _, predicate, value = require(statement.triple)
            dates.add(MESSAGE, predicate, value)
        if not dates.is_dated(MESSAGE):
            raise Fault(f"no date: {dating.no_date}")
        app, batch, end = dates.times(MESSAGE)
    except Fault as fault:
        raise InvalidStream(str(fault), rule="IO-1", place=place) from None
    return ReadElement(triples, app, place, batch, end)
