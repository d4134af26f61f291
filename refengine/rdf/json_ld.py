"""JSON-LD (IO-1): documents, and logs of messages with one on each line, by pyoxigraph's parser.

Nothing is fetched: a context must stand in the file. JSON-LD leaves out what has no IRI; here that
is refused, so that nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any, cast

from refengine.model.elements import Term, is_blank
from refengine.model.errors import ForbiddenAccess, InvalidStream
from refengine.model.messages import display, why
from refengine.rdf.recordings import refuse_key_twice
from refengine.rdf.sources import Source, read_text
from refengine.rdf.statements import Document, Statement
from refengine.rdf.turtle import Lines, Misread, reason_of, term_of_pyoxigraph

# What relative IRIs are resolved against, so that they are seen: the parser would leave them out.
RELATIVE = "refengine-relative://iri/"


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
        document = json.loads(text, object_pairs_hook=refuse_key_twice)
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
    import pyoxigraph

    lines = Lines(text)
    labels: dict[str, Term] = {}

    def term(found: object) -> Term:
        if isinstance(found, pyoxigraph.BlankNode):
            return labels.setdefault(found.value, f"_:{prefix}{len(labels) + 1}")
        made = term_of_pyoxigraph(found, lines)
        if RELATIVE in made and not is_blank(made):
            relative = display(made.partition(RELATIVE)[2].rstrip(">"))
            reason = f"relative IRI {relative}; write it in full or give @base in the context"
            raise Misread(reason, lines.number)
        return made

    try:
        for quad in pyoxigraph.parse(
            cast("IO[bytes]", lines),
            pyoxigraph.RdfFormat.JSON_LD,
            base_iri=base or RELATIVE,
            lenient=True,
        ):
            graph = None
            if not isinstance(quad.graph_name, pyoxigraph.DefaultGraph):
                graph = term(quad.graph_name)
            triple = (term(quad.subject), term(quad.predicate), term(quad.object))
            yield Statement(graph, triple, lines.number)
    except SyntaxError as error:
        line = error.lineno or lines.number
        raise Misread(reason_of(error.msg, "", "JSON-LD"), line) from None
    except InvalidStream as error:  # an IRI or a literal that the parser lets pass
        raise Misread(error.reason, lines.number) from None
