"""Streams as texts in TriG: with a named graph for each element, or with a message for each (IO-1,
IO-3). `refengine.rdf.streams.read_stream` reads both as the same stream, by `BATCH`.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.corpus.iris import iri
from refengine.model.elements import Element, Stream, is_blank
from refengine.model.errors import Unsupported
from refengine.rdf.times import PROV_GENERATED_AT_TIME, PROV_INVALIDATED_AT_TIME

BATCH = iri("vocabulary", "batch")
VERSION = 'VERSION "1.2-messages"\n'


def trig_text(stream: Stream) -> str:
    """Return a stream as graphs: each element is a named graph that the default graph dates."""
    return "".join(_element_text(number, element) for number, element in enumerate(stream, 1))


def messages_text(stream: Stream) -> str:
    """Return a stream as a log of RDF messages. Raises Unsupported for a blank node of several
    elements: in a log each is of one message.
    """
    seen: set[str] = set()
    for element in stream:
        own = {term for triple in element.graph for term in triple if is_blank(term)}
        if shared := own & seen:
            reason = f"{min(shared)} is in several elements, and a blank node is of one message"
            raise Unsupported(reason, rule="IO-3", place="stream")
        seen |= own
    return join_messages(_element_text(number, element) for number, element in enumerate(stream, 1))


def join_messages(texts: Iterable[str]) -> str:
    """Return a log of messages from their texts in TriG, each of whole lines."""
    return VERSION + "MESSAGE\n".join(texts)


def _element_text(number: int, element: Element) -> str:
    """Return the text of an element: what states its times, and its graph."""
    graph = f"<{iri('graph', str(number))}>"
    times = [f"<{PROV_GENERATED_AT_TIME}> {element.app}"]
    if element.end is not None:
        times.append(f"<{PROV_INVALIDATED_AT_TIME}> {element.end}")
    if element.batch is not None:
        times.append(f"<{BATCH}> {element.batch}")
    triples = "".join(f"  {' '.join(triple)} .\n" for triple in sorted(element.graph))
    return f"{graph} {' ; '.join(times)} .\n{graph} {{\n{triples}}}\n"
