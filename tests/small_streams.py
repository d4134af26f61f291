"""What tests by hand are made of: rows, relations and streams of a few names, under one query."""

from __future__ import annotations

from collections import Counter

from refengine import Body, Relation, stream
from refengine.model.elements import Bag, Stream, row

SELECT = Body("SELECT ?x { ?x <urn:p> ?y }")


def line(name: str) -> tuple:
    """Return the row that binds x to the IRI of a name."""
    return row({"x": f"<urn:{name}>"})


def bag(names: str) -> Bag:
    """Return a row for each letter."""
    return Counter(map(line, names))


def relations(*texts: str) -> list[Relation]:
    """Return a relation for each text, with a row for each of its letters."""
    return [Relation(("x",), bag(text)) for text in texts]


def name_at(name: str, at: int) -> tuple:
    """Return a triple about the IRI of a name, and its instant."""
    return (f"<urn:{name}>", "<urn:p>", "<urn:o>"), at


def streams(**times: int) -> dict[str, Stream]:
    """Return a stream with an element for each name, at its instant."""
    return {"s": stream([name_at(name, at) for name, at in times.items()])}
