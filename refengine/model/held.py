"""Converts rdflib and pyoxigraph terms, and Python and numpy times, to the model's values. Types
are recognised by their names, so that no library is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from operator import index
from typing import Any

from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import display

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
# how rdflib calls the default graph where it has to have a name
DEFAULT_GRAPH_OF_RDFLIB = "urn:x-rdflib:default"
IRIS = frozenset({"URIRef", "NamedNode"})
BLANKS = frozenset({"BNode", "BlankNode"})
LITERALS = frozenset({"Literal"})
STATEMENTS = frozenset({"Triple", "Quad"})
OF_PYTHON = frozenset({str, tuple, frozenset, set, list})  # told at once, for the rate of `push`


def kind_of(value: object) -> str:
    """Return the name of the kind of term or statement that a value of rdflib or pyoxigraph is; ''
    for all other values.
    """
    if type(value) in OF_PYTHON:
        return ""
    for base in type(value).__mro__:
        library = base.__module__.partition(".")[0]
        is_of_rdf = library in ("rdflib", "pyoxigraph") or hasattr(value, "n3")
        if is_of_rdf and base.__name__ in IRIS | BLANKS | LITERALS | STATEMENTS:
            return base.__name__
    return ""


def text_of(value: object) -> str:
    """Return the text that a term of a library stands for, without marks: an IRI, a label, or a
    lexical form.
    """
    return str.__str__(value) if isinstance(value, str) else str(getattr(value, "value", value))


def is_term(value: object) -> bool:
    """Return whether a value may be a term: a text, or a term of rdflib or pyoxigraph."""
    return isinstance(value, str) or kind_of(value) in IRIS | BLANKS | LITERALS


def statement_parts(value: object) -> object:
    """Return a triple or a quad as a tuple, without the graph where it is the default graph. Any
    other value is returned as it is.
    """
    if kind_of(value) in STATEMENTS:
        value = tuple(value)  # type: ignore[arg-type]
    if not isinstance(value, tuple) or len(value) != 4:
        return value
    graph = getattr(value[3], "identifier", value[3])  # of a quad of rdflib it may be a Graph
    is_default = graph is None or type(graph).__name__ == "DefaultGraph"
    if is_default or (kind_of(graph) and text_of(graph) == DEFAULT_GRAPH_OF_RDFLIB):
        return value[:3]
    return (*value[:3], graph)


def is_missing(value: object) -> bool:
    """Return whether a value says that there is none: None, a number that is not equal to itself,
    and what pandas and numpy write for a missing time or value.
    """
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return True
    # a scalar of numpy has the empty shape
    is_number = isinstance(value, float | Decimal) or getattr(value, "shape", None) == ()
    return is_number and bool(value != value)


def as_integer(
    value: object, name: str, kind: Callable[..., RefengineError] = InvalidStream, **where: str
) -> Any:
    """Return the integer of a time or a size: milliseconds from the epoch of a datetime with a
    zone, milliseconds of a timedelta, and the integer of a value with `__index__`, such as one of
    numpy. Finer fractions are cut, which keeps the order of times (IO-1). Any other value is
    returned as it is.

    Raises an error of the given kind for a datetime without a zone, for a date, and for the value
    by which pandas and numpy say that there is no time.
    """
    if type(value) is int or isinstance(value, bool | str) or value is None:
        return value
    if is_missing(value):
        raise kind(f"{name} is missing, got {display(value)}; write an integer", **where)
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            reason = f"{name} has no zone: {value.isoformat()}"
            raise kind(f"{reason}; write .replace(tzinfo=UTC), with UTC from datetime", **where)
        return (value - EPOCH) // MILLISECOND
    if isinstance(value, date):
        reason = f"{name} is a day, which has no instant: {value.isoformat()}"
        write = f"datetime({value.year}, {value.month}, {value.day}, tzinfo=UTC)"
        raise kind(f"{reason}; write {write}", **where)
    if isinstance(value, timedelta):
        return value // MILLISECOND
    if type(value).__name__ == "datetime64":
        reason = f"{name} has no zone: {display(str(value))}"
        write = ".astype('datetime64[ms]').astype(int), milliseconds from the epoch in UTC"
        raise kind(f"{reason}; write {write}", **where)
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        return value


def as_length(value: object, name: str, kind: Callable[..., RefengineError], **where: str) -> Any:
    """Return what `as_integer` returns, for a size: cut, it would be another one. A float is
    returned as it is. Raises an error of the given kind for a timedelta with a fraction of a
    millisecond.
    """
    if isinstance(value, float):
        return value
    found = as_integer(value, name, kind, **where)
    if isinstance(value, timedelta) and value != found * MILLISECOND:
        reason = f"{name} must be whole milliseconds, got {display(value)}"
        raise kind(f"{reason}; write timedelta(milliseconds={found + 1})", **where)
    return found
