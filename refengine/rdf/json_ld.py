"""JSON-LD (IO-1): documents, and logs of messages with one on each line, by pyoxigraph's parser, or
by rdflib's where that is not installed.

Nothing is fetched: a context must stand in the file. JSON-LD leaves out what has no IRI; here that
is refused, so that nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from refengine.model.elements import Term
from refengine.model.errors import ForbiddenAccess, InvalidStream
from refengine.model.libraries import keeping_lexical_forms
from refengine.model.messages import display, why
from refengine.model.terms import XSD, iri_term, literal_term
from refengine.rdf.plain_turtle import BlankNode, Misread, Part, TripleInGraph
from refengine.rdf.recordings import parse_json
from refengine.rdf.sources import Source, read_text
from refengine.rdf.terms import Document, Statement
from refengine.rdf.turtle import can_pyoxigraph_parse, parse_by_pyoxigraph

# What relative IRIs are resolved against, so that they are seen: the parser would leave them out.
RELATIVE = "http://refengine-relative.invalid/"


def read_json_ld(source: Source, base: str = "") -> Document:
    """Return what a document of JSON-LD says. Relative IRIs are resolved against `base` where the
    context states none. Raises InvalidStream; ForbiddenAccess for a context that would be fetched.
    """
    text = read_text(source, InvalidStream, "IO-1")
    try:
        _check_json(text, (dict, list), "a document of JSON-LD is an object or an array")
        return Document([list(_parse(text, "b", base))])
    except Misread as error:
        raise InvalidStream(error.reason, rule="IO-1", place=f"{source}:{error.line}") from None
    except ForbiddenAccess as error:
        raise error.at(str(source)) from None


def read_json_ld_lines(source: Source, base: str = "") -> Document:
    """Return the log of messages whose lines are an object of JSON-LD each. A line with nothing but
    a context gives it to the messages that follow. Raises what `read_json_ld` does.
    """
    parts: list[list[Statement]] = []
    context = ""
    text = read_text(source, InvalidStream, "IO-1")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            message = _check_json(line, (dict,), "a message is an object on a line")
            if message.keys() == {"@context"}:
                context = json.dumps(message["@context"])
                continue
            if context:
                line = f'{{"@context": {context}, "@graph": {line}}}'
            statements = _parse(line, f"m{len(parts) + 1}b", base)
            parts.append([statement._replace(line=number) for statement in statements])
        except Misread as error:
            raise InvalidStream(error.reason, rule="IO-1", place=f"{source}:{number}") from None
        except ForbiddenAccess as error:
            raise error.at(f"{source}:{number}") from None
    return Document(parts, is_log=True)


def _check_json(text: str, kinds: tuple[type, ...], rule: str) -> Any:
    """Return a text of JSON. Raises Misread for one that is none, or is of another kind, and
    ForbiddenAccess for a context that would be fetched.
    """
    try:
        document = parse_json(text)
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg} at column {error.colno}"
        raise Misread(reason, error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise Misread(f"not JSON: {why(error)}", 1) from None
    if not isinstance(document, kinds):
        raise Misread(f"{rule}, got {display(document)}", 1)

    for address in _remote_contexts(document):
        raise ForbiddenAccess(
            f"the context {display(address)} would be fetched; write in its place what it contains",
            rule="QRY-2",
        )
    return document


def _remote_contexts(document: Any) -> Iterator[str]:
    """Yield the addresses of the contexts that a document names, in no order."""
    to_visit = [document]
    while to_visit:
        value = to_visit.pop()
        if isinstance(value, list):
            to_visit += value
        elif isinstance(value, dict):
            to_visit += value.values()
            contexts = value.get("@context")
            if not isinstance(contexts, list):
                contexts = [contexts]
            for context in [*contexts, value.get("@import")]:
                if isinstance(context, str):
                    yield context


def _parse(text: str, prefix: str, base: str) -> Iterator[Statement]:
    """Yield the statements of a text, in its order; its blank nodes are named `_:`, `prefix` and a
    number from 1. Raises Misread, also for a relative IRI where there is no base.
    """
    labels: dict[str, Term] = {}

    def term(found: Part, line: int) -> Term:
        if isinstance(found, BlankNode):
            return labels.setdefault(found, f"_:{prefix}{len(labels) + 1}")
        if RELATIVE in found:
            relative = display(found.partition(RELATIVE)[2].rstrip(">"))
            reason = f"relative IRI {relative}; write it in full or give @base in the context"
            raise Misread(reason, line)
        return found

    if can_pyoxigraph_parse():
        triples = parse_by_pyoxigraph(text, "JSON-LD", base or RELATIVE)
    else:
        triples = _parse_by_rdflib(text, base or RELATIVE)
    for found in triples:
        graph = None
        if found.graph is not None:
            graph = term(found.graph, found.line)
        subject, predicate, object_ = (term(part, found.line) for part in found[1:4])
        yield Statement(graph, (subject, predicate, object_), found.line)


class _Recorder:
    """What rdflib's parser takes for a dataset: it keeps each triple in the order of the text."""

    context_aware = True

    def __init__(self, found: list[tuple[Any, ...]], name: object = None) -> None:
        self.found, self.name = found, name

    @property
    def default_context(self) -> _Recorder:
        """The default graph."""
        return self

    def get_context(self, name: object) -> _Recorder:
        """Return a named graph."""
        return _Recorder(self.found, name)

    def add(self, triple: tuple[Any, ...]) -> None:
        """Keep a triple."""
        self.found.append((self.name, *triple))

    def bind(self, *_: object) -> None:
        """Forget a prefix."""


class _Double(float):
    """A number of JSON that is no integer; JSON-LD writes it canonically."""

    def __str__(self) -> str:
        mantissa, _, exponent = f"{float(self):.15E}".partition("E")
        whole, _, fraction = mantissa.partition(".")
        return f"{whole}.{fraction.rstrip('0') or '0'}E{int(exponent)}"


def _number(text: str) -> float:
    """Return a number of JSON that is written with a dot or an exponent: 2.0 is the integer 2."""
    number = _Double(text)
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _parse_by_rdflib(text: str, base: str) -> Iterator[TripleInGraph]:
    """Yield what `parse_by_pyoxigraph` does, where that is not installed. The line is always the
    first one: rdflib does not say it. Raises Misread.
    """
    from rdflib.plugins.parsers import jsonld

    found: list[tuple[Any, ...]] = []
    # rdflib leaves out what has a space in an IRI, and a word that no context explains
    space = next(sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in text)
    words = {"@vocab": RELATIVE}
    try:
        document = _with_spaces(json.loads(text, parse_float=_number), space)
        with keeping_lexical_forms():
            jsonld.to_rdf(document, cast("Any", _Recorder(found)), base, words, version=1.1)
    except Exception as error:  # of whatever kind rdflib's own failures are
        raise Misread(f"not JSON-LD: {why(error)}", 1) from None
    try:
        for graph, *triple in found:
            subject, predicate, object_ = (_part_of_rdflib(part, space) for part in triple)
            name = None if graph is None else _part_of_rdflib(graph, space)
            yield TripleInGraph(name, subject, predicate, object_, 1)
    except InvalidStream as error:
        raise Misread(error.reason, 1) from None


def _with_spaces(value: Any, space: str) -> Any:
    """Return a value of JSON in which another sign stands for each space."""
    if isinstance(value, str):
        return value.replace(" ", space)
    if isinstance(value, list):
        return [_with_spaces(item, space) for item in value]
    if isinstance(value, dict):
        return {_with_spaces(key, space): _with_spaces(item, space) for key, item in value.items()}
    return value


def _part_of_rdflib(found: Any, space: str) -> Part:
    """Return rdflib's term as ours. Raises InvalidStream."""
    import rdflib

    text = str(found).replace(space, " ")
    match found:
        case rdflib.BNode():
            return BlankNode(text)
        case rdflib.Literal() if isinstance(found.value, list | dict):
            raise InvalidStream(f"not JSON-LD: no value: {display(found.value)}", rule="IO-1")
        case rdflib.Literal() if found.language is not None:
            return literal_term(text, language=found.language)
        case rdflib.Literal() if found.datatype == rdflib.XSD.double and type(found.value) is int:
            return literal_term(str(_Double(found.value)), f"{XSD}double")  # it is no text there
        case rdflib.Literal() if found.datatype is not None:
            return literal_term(text, str(found.datatype).replace(space, " "))
        case rdflib.Literal():
            return literal_term(text, f"{XSD}string")
    return iri_term(text)
