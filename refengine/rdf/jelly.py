"""Jelly (IO-1), by pyjelly. In an error the number after the file is that of the frame."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from refengine.model.elements import Term
from refengine.model.errors import InvalidStream
from refengine.model.libraries import explain_missing, without_warnings
from refengine.model.messages import display
from refengine.model.terms import graph_name
from refengine.rdf.sources import Source, Unreadable, read_source, unreadable
from refengine.rdf.terms import (
    Document,
    Fault,
    Statement,
    make,
    make_iri,
    make_literal,
    make_triple,
)


@without_warnings()
def read_jelly(source: Source) -> Document:
    """Return what a file of Jelly says: a log, whose messages are the frames, if the file says that
    its frames are graphs or datasets; or else a document. Raises InvalidStream.
    """
    try:
        from pyjelly.parse.decode import Decoder
        from pyjelly.parse.ioutils import get_options_and_frames
    except ModuleNotFoundError as error:
        missing = Unreadable(explain_missing(error) or str(error))
        raise unreadable(missing, InvalidStream, "IO-1", source) from None

    try:
        data = read_source(source)
    except (OSError, ValueError) as error:
        raise unreadable(error, InvalidStream, "IO-1", source) from None

    parts: list[list[Statement]] = []
    try:
        options, frames = get_options_and_frames(io.BytesIO(data))
        is_log = options.stream_types.logical_type != 0 and not options.stream_types.flat
        decoder = Decoder(adapter=_adapter(options))
        for statements in _read_frames(map(decoder.iter_rows, frames), is_log):
            parts.append(statements)
    except Fault as fault:
        place = f"{source}:{len(parts) + 1}"
        raise InvalidStream(str(fault), rule="IO-1", place=place) from None
    except Exception as error:  # the library has no one error for what is not Jelly
        reason = f"damaged, or not Jelly: {str(error) or type(error).__name__}"
        raise InvalidStream(reason, rule="IO-1", place=f"{source}:{len(parts) + 1}") from None

    if is_log:
        return Document(parts, is_log=True)
    return Document([[statement for part in parts for statement in part]])


def _adapter(options: Any) -> Any:
    """Return what makes terms and statements for the library's decoder: as its own adapter, but an
    IRI is a text, without which it cannot decode the declaration of a namespace.
    """
    from pyjelly import jelly
    from pyjelly.integrations.generic import parse

    kind = {
        jelly.PHYSICAL_STREAM_TYPE_TRIPLES: parse.GenericTriplesAdapter,
        jelly.PHYSICAL_STREAM_TYPE_QUADS: parse.GenericQuadsAdapter,
        jelly.PHYSICAL_STREAM_TYPE_GRAPHS: parse.GenericGraphsAdapter,
    }[options.stream_types.physical_type]
    changes = {"iri": lambda _, iri: iri, "namespace_declaration": lambda *_: None}
    return type("Adapter", (kind,), changes)(options=options)


def _read_frames(frames: Iterable[Iterable[Any]], is_log: bool) -> Iterator[list[Statement]]:
    """Yield the statements of each frame. In a log a blank node's label belongs to its frame, else
    to the whole file. Raises Fault.
    """
    labels: dict[str, Term] = {}
    scope = "b"
    for number, frame in enumerate(frames, 1):
        if is_log:
            labels.clear()
            scope = f"m{number}b"
        yield [_statement(found, scope, labels, number) for found in frame if found is not None]


def _statement(found: Any, scope: str, labels: dict[str, Term], frame: int) -> Statement:
    """Return the statement of a triple or a quad. Raises Fault."""
    subject, predicate, object_, *graphs = (_term(part, scope, labels) for part in found)
    graph = None
    if graphs and graphs[0]:
        graph = make(graph_name, graphs[0])
    return Statement(graph, make_triple(subject, predicate, object_), frame)


def _term(found: Any, scope: str, labels: dict[str, Term]) -> Term:
    """Return a term, '' for the default graph. Raises Fault."""
    from pyjelly.integrations.generic import generic_sink as jelly

    match found:
        case str():
            return make_iri(found)
        case jelly.BlankNode():
            return labels.setdefault(found._identifier, f"_:{scope}{len(labels) + 1}")
        case jelly.Literal():
            return make_literal(found._lex, found._datatype, found._langtag)
        case jelly.DefaultGraph:
            return ""
        case _:
            raise Fault(f"RDF 1.2 is not read: {display(str(found))}")
