"""What tests write streams with: prefixes of Turtle, and files of Jelly, made by pyjelly."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence

from refengine.model.elements import is_blank, parse_literal

# of files in Turtle
PREFIXES = """
@prefix : <http://example.org/> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix ldes: <https://w3id.org/ldes#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix sosa: <http://www.w3.org/ns/sosa/> .
@prefix time: <http://www.w3.org/2006/time#> .
@prefix tree: <https://w3id.org/tree#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def frames_to_jelly(
    messages: Iterable[Sequence[Sequence[str]]], namespaces: Mapping[str, str] | None = None
) -> bytes:
    """Return a file of Jelly whose frames are messages, each its triples or quads. Each declares
    the namespaces, if there are any.
    """
    from pyjelly.integrations.generic.generic_sink import IRI, GenericStatementSink
    from pyjelly.integrations.generic.serialize import grouped_stream_to_file
    from pyjelly.jelly import LOGICAL_STREAM_TYPE_DATASETS, LOGICAL_STREAM_TYPE_GRAPHS
    from pyjelly.options import StreamParameters
    from pyjelly.serialize.streams import SerializerOptions

    messages = list(messages)
    is_dataset = any(len(statement) == 4 for message in messages for statement in message)
    logical = LOGICAL_STREAM_TYPE_DATASETS if is_dataset else LOGICAL_STREAM_TYPE_GRAPHS

    def sinks():
        for message in messages:
            sink = GenericStatementSink()
            for prefix, iri in (namespaces or {}).items():
                sink.bind(prefix, IRI(iri))
            for statement in message:
                sink.add(_statement(statement))
            yield sink

    out = io.BytesIO()
    params = StreamParameters(namespace_declarations=bool(namespaces))
    options = SerializerOptions(logical_type=logical, params=params)
    grouped_stream_to_file(sinks(), out, options=options)
    return out.getvalue()


def statements_to_jelly(statements: Iterable[Sequence[str]]) -> bytes:
    """Return a file of Jelly that is one document."""
    from pyjelly.integrations.generic.serialize import flat_stream_to_file

    out = io.BytesIO()
    flat_stream_to_file(map(_statement, statements), out)
    return out.getvalue()


def _statement(terms: Sequence[str]):
    """Return pyjelly's triple; or its quad, for four terms, of which the last may be ''."""
    from pyjelly.integrations.generic import generic_sink as jelly

    parts = [_term(term) for term in terms]
    return jelly.Triple(*parts) if len(parts) == 3 else jelly.Quad(*parts)


def _term(term: str):
    from pyjelly.integrations.generic import generic_sink as jelly

    if not term:
        return jelly.DefaultGraph
    if is_blank(term):
        return jelly.BlankNode(term[2:])
    if term.startswith("<"):
        return jelly.IRI(term[1:-1])
    lexical, datatype, language = parse_literal(term)
    if language:
        return jelly.Literal(lexical, language)
    return jelly.Literal(lexical, None, datatype)
