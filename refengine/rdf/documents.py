"""Documents of RDF: the statements of Turtle and TriG, and static data."""

from __future__ import annotations

from collections.abc import Iterable

from refengine.model.elements import Dataset, Quad, Triple
from refengine.model.errors import InvalidStream
from refengine.rdf import turtle
from refengine.rdf.lines import read_quads
from refengine.rdf.sources import Source, read_text, suffix_of
from refengine.rdf.turtle import Statement


def read_turtle(source: Source, language: str, prefix: str) -> list[Statement]:
    """Return the statements of a document in Turtle or TriG (`language`), in its order; its blank
    nodes are named `prefix` and a number. Raises InvalidStream.
    """
    text = read_text(source, InvalidStream, "IO-1")
    try:
        return list(turtle.parse_statements(text, language, prefix))
    except turtle.Misread as error:
        raise InvalidStream(error.reason, rule="IO-1", place=f"{source}:{error.line}") from None


def read_all_static(sources: Iterable[Source]) -> Dataset:
    """Return the static data of several files together. Raises InvalidStream."""
    return frozenset().union(*map(read_static, sources))


def read_static(source: Source) -> Dataset:
    """IO-1: Return static data from `.ttl`, `.nt`, `.nq` or `.trig`, packed or not: triples of the
    default graph, and quads of named ones. Raises InvalidStream.
    """
    statements: Iterable[Statement]
    match suffix_of(source):
        case ".nt" | ".nq":
            statements = read_quads(source)
        case ".ttl":
            statements = read_turtle(source, "Turtle", "b")
        case ".trig":
            statements = read_turtle(source, "TriG", "b")
        case other:
            raise InvalidStream(
                f"a file of static data cannot end in {other!r}; valid: .ttl, .nt, .nq, .trig",
                rule="IO-1",
                place=str(source),
            )

    found: set[Triple | Quad] = set()
    for statement in statements:
        if statement.triple is None:
            continue
        if statement.graph is None:
            found.add(statement.triple)
        else:
            found.add((*statement.triple, statement.graph))
    return frozenset(found)
