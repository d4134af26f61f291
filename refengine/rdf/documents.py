"""Documents of RDF: what a file in a language of RDF says, and static data."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from refengine.core.r2r import scope_blank_nodes
from refengine.model.elements import Dataset, Quad, Triple
from refengine.model.errors import InvalidStream
from refengine.rdf import json_ld, turtle
from refengine.rdf.lines import read_quads, read_triples
from refengine.rdf.plain_turtle import Misread
from refengine.rdf.sources import Source, read_text, refuse_no_source, suffix_of
from refengine.rdf.terms import Document, Statement


def read_turtle(source: Source, language: str, prefix: str, base: str = "") -> list[Statement]:
    """Return the statements of a document in Turtle or TriG (`language`), in its order; its blank
    nodes are named `prefix` and a number. Relative IRIs are resolved against `base` until the
    document states one. Raises InvalidStream.
    """
    text = read_text(source, InvalidStream, "IO-1")
    try:
        return list(turtle.parse_statements(text, language, prefix, base))
    except Misread as error:
        raise InvalidStream(error.reason, rule="IO-1", place=f"{source}:{error.line}") from None


def _split(statements: list[Statement]) -> Document:
    """Return a document, whose parts are the messages if it is a log."""
    parts: list[list[Statement]] = [[]]
    for statement in statements:
        if statement.graph is None and statement.triple is None:
            parts.append([])
        else:
            parts[-1].append(statement)
    if len(parts) == 1:
        return Document(parts)
    return Document.of_log(parts[1:] if not parts[0] else parts)


# what reads a document, by the end of its file's name; the base is for its relative IRIs
LANGUAGES: dict[str, Callable[[Source, str], Document]] = {
    ".nt": lambda source, _: read_triples(source),
    ".nq": lambda source, _: read_quads(source),
    ".ttl": lambda source, base: _split(read_turtle(source, "Turtle", "b", base)),
    ".trig": lambda source, base: _split(read_turtle(source, "TriG", "b", base)),
    ".jsonld": json_ld.read_json_ld,
}


def read_all_static(sources: Iterable[Source], base: str = "") -> Dataset:
    """Return the static data of several files together; a blank node is of one file. Raises
    InvalidStream.
    """
    return join_static(read_static(source, base) for source in sources)


def join_static(parts: Iterable[Dataset]) -> Dataset:
    """Return the static data of several sources together; a blank node is of one source."""
    datasets = list(parts)
    if len(datasets) > 1:
        datasets = [scope_blank_nodes(data, str(number)) for number, data in enumerate(datasets, 1)]
    return frozenset().union(*datasets)


def read_static(source: Source, base: str = "") -> Dataset:
    """IO-1: Return static data from a file in a language of RDF, packed or not: triples of the
    default graph, and quads of named ones. Relative IRIs are resolved against `base` where the file
    states none. Raises InvalidStream.
    """
    refuse_no_source(source, "IO-1")
    end = suffix_of(source)
    if end not in LANGUAGES:
        raise InvalidStream(
            f"a file of static data cannot end in {end!r}; valid: {', '.join(LANGUAGES)}",
            rule="IO-1",
            place=str(source),
        )
    document = LANGUAGES[end](source, base)
    if document.is_log:
        reason = "a log of messages, which is a stream and no static data"
        raise InvalidStream(reason, rule="IO-1", place=str(source))

    found: set[Triple | Quad] = set()
    for statement in document.parts[0]:
        if statement.triple is None:
            continue
        if statement.graph is None:
            found.add(statement.triple)
        else:
            found.add((*statement.triple, statement.graph))
    return frozenset(found)
