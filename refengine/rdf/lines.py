"""Lines of N-Triples, of N-Quads, and of YABench's streams, whose fourth term is a time.

Each ends with a dot, as their grammars have it: a line without one was cut off. Three things are
read beyond the grammars: a byte order mark before the text, the words VERSION and MESSAGE of logs,
and in YABench's lines a literal without its quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from refengine.model.elements import XSD, Term, Triple, is_blank
from refengine.model.errors import InvalidStream, require
from refengine.model.messages import display_text
from refengine.model.terms import (
    IRIREF,
    PLAIN_DATATYPE,
    PLAIN_IRI,
    PLAIN_LITERAL,
    TERM,
    canonical,
    graph_name,
    nearest_term,
    unescape,
)
from refengine.model.xsd import INTEGERS
from refengine.rdf.sources import Source, Text, read_text
from refengine.rdf.terms import (
    NO_LOG,
    Document,
    Fault,
    ReadTexts,
    Statement,
    is_log_version,
    make,
    make_literal,
    make_triple,
    placed_at,
)
from refengine.rdf.times import parse_milliseconds

_UNQUOTED = rf'(?P<unquoted>(?!\.*\#)[^\x00-\x20"<>\\^]++)\^\^(?P<type>{IRIREF})'
_TOKEN = re.compile(rf"[ \t]*(?P<term>{TERM})")
# of a line that YABench's generator wrote
TIMED_TOKEN = re.compile(rf"[ \t]*(?:(?P<term>{TERM})|{_UNQUOTED})")
_VERSION = re.compile(r'[ \t]*VERSION[ \t]*"([^"\\]*)"[ \t]*(?:#.*)?')
_MESSAGE = re.compile(r"[ \t]*MESSAGE[ \t]*(?:#.*)?")
_MEANT = re.compile(r'"(?:[^"\\]|\\.)*+"?[^ \t]*|<[^>]*>?[^ \t]*|[^ \t]*')  # as a term
_LINE_END = re.compile(r"[ \t]*\.[ \t]*(?:#.*)?", re.DOTALL)
NO_TIME = 'a line must be s p o "ms"; got 3 terms'
_TIME_TYPES = INTEGERS.keys() | {XSD + "string"}

# Most lines are like these: one space between terms, which are canonical as they stand, but for the
# quotes that a literal may lack.
_PLAIN_IRI = re.compile(PLAIN_IRI)
_PLAIN_LITERAL = re.compile(PLAIN_LITERAL)
_PLAIN_UNQUOTED = re.compile(rf"([A-Za-z0-9.+-]++)(\^\^{PLAIN_DATATYPE})")
_PLAIN_END = re.compile(r'(-?[0-9]{1,18})" \.\n?')  # after the quote of the time


def _read_plain_iri(text: str) -> Term | None:
    return text if _PLAIN_IRI.fullmatch(text) else None


def _read_plain_object(text: str) -> Term | None:
    if text.startswith("<"):
        return PLAIN_IRIS[text]
    if unquoted := _PLAIN_UNQUOTED.fullmatch(text):
        return f'"{unquoted[1]}"{unquoted[2]}'
    return text if _PLAIN_LITERAL.fullmatch(text) else None


def _read_plain_end(text: str) -> int | None:
    found = _PLAIN_END.fullmatch(text)
    return int(found[1]) if found else None


# by what stands for them in a plain line
PLAIN_IRIS = ReadTexts(_read_plain_iri)
PLAIN_OBJECTS = ReadTexts(_read_plain_object)
PLAIN_TIMES = ReadTexts(_read_plain_end)


def read_lines(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the lines that hold a statement, each with its number. Only CR and LF end a line:
    others may stand in a literal.
    """
    text = read_text(source, InvalidStream, "IO-1").replace("\r\n", "\n").replace("\r", "\n")
    text_lines = text.split("\n")
    del text  # it is as large as its lines
    for number, line in enumerate(text_lines, 1):
        beginning = line.lstrip(" \t")
        if beginning and not beginning.startswith("#"):
            yield line, number


def parse_terms(line: str, token: re.Pattern[str] = _TOKEN) -> list[Term]:
    """Return the terms of a line in N-Triples' grammar, or in that of another `token`. Raises
    Fault, also for a line without its final dot.
    """
    terms = []
    start = end = 0
    while match := token.match(line, end):
        start, end = match.span()
        if match["term"] is not None:
            terms.append(make(canonical, match["term"]))
        else:
            lexical = make(unescape, match["unquoted"])
            datatype = make(unescape, match["type"][1:-1])
            terms.append(make_literal(lexical, datatype))

    if not _LINE_END.fullmatch(line, end):
        rest = line[end:].lstrip(" \t")
        column = len(line) - len(rest) + 1
        if not rest or rest.startswith("#"):
            raise Fault(f"no dot at column {column}, where the line ends; a line ends with ' .'")
        reason = f"no RDF term at column {column}: {display_text(rest.rstrip())}"
        is_glued = end > 0 and len(rest) == len(line) - end
        raise Fault(reason + _advice(line[start if is_glued else end :].lstrip(" \t")))
    return terms


def _advice(text: str) -> str:
    """Return what may be written in place of the beginning of a text, which is no term."""
    token = require(_MEANT.match(text))[0]
    if token.startswith('"') and '"' not in token[1:]:
        return '; a literal ends with " in its line, in which a line break is written \\n'
    if token.startswith(('"', "'", "<", "_:")):
        return nearest_term(token)
    return ""


def read_triples(source: Source) -> Document:
    """Return what N-Triples say, in their order: a document, or a log of messages, whose blank
    nodes are those of one message each. Raises InvalidStream.
    """
    return _read_document(source, has_graphs=False)


def triples_of(text: str) -> Iterator[Triple]:
    """Yield the triples of a text in N-Triples. Raises InvalidStream."""
    for part in read_triples(Text("graph.nt", text)).parts:
        yield from (require(statement.triple) for statement in part)


def read_quads(source: Source) -> Document:
    """Return what N-Quads say, as `read_triples` does. Raises InvalidStream."""
    return _read_document(source, has_graphs=True)


def _read_document(source: Source, has_graphs: bool) -> Document:
    # Not by pyoxigraph's parser: it takes 0.5 s for 60,000 lines, where this takes 0.6 s, but
    # tells other faults than for a line with a time.
    parts: list[list[Statement]] = [[]]
    is_log = False
    for line, number in read_lines(source):
        try:
            if version := _VERSION.fullmatch(line):
                is_log = is_log_version(version[1])
            elif not _MESSAGE.fullmatch(line):
                statement = Statement(*parse_quad(line, has_graphs), number)
                if is_log:
                    statement = _scope_blank_nodes(statement, f"m{len(parts)}-")
                parts[-1].append(statement)
            elif is_log:
                parts.append([])
            else:
                raise Fault(NO_LOG)
        except ValueError as fault:  # a Fault, or of a version
            raise InvalidStream(str(fault), rule="IO-1", place=f"{source}:{number}") from None
    return Document.of_log(parts) if is_log else Document(parts)


def _scope_blank_nodes(statement: Statement, scope: str) -> Statement:
    def marked(term: Term) -> Term:
        if is_blank(term):
            return f"_:{scope}{term[2:]}"
        return term

    graph = statement.graph
    if graph is not None:
        graph = marked(graph)
    subject, predicate, object_ = require(statement.triple)
    return Statement(graph, (marked(subject), predicate, marked(object_)), statement.line)


def parse_quad(line: str, has_graphs: bool = True) -> tuple[Term | None, Triple]:
    """Return the graph (None: the default graph) and the triple of a line of N-Quads, or without
    `has_graphs` of N-Triples. Raises Fault.
    """
    terms = parse_terms(line)
    if len(terms) == 4 and not has_graphs:
        raise Fault(
            "a line of N-Triples has no graph: it must be s p o, got 4 terms; N-Quads end in .nq"
        )
    if len(terms) not in (3, 4):
        form = "s p o, or s p o graph" if has_graphs else "s p o"
        raise Fault(f"a line must be {form}; got {len(terms)} terms")

    graph = None
    if len(terms) == 4:
        graph = make(graph_name, terms[3])
    return graph, make_triple(*terms[:3])


def parse_plain_line(line: str) -> tuple[Triple, int] | None:
    """Return the triple and the time of a plain line; None for other lines. A term that many lines
    have is one string.
    """
    try:
        subject, predicate, rest = line.split(" ", 2)
        object_, _, end = rest.rpartition(' "')
        triple = PLAIN_IRIS[subject], PLAIN_IRIS[predicate], PLAIN_OBJECTS[object_]
        return triple, PLAIN_TIMES[end]
    except (ValueError, KeyError):  # fewer terms, or one that is not plain
        return None


def parse_statement_with_time(line: str, place: str) -> tuple[Triple, int]:
    """IO-1: Return the triple and the time (ms) of a line that has them. Raises InvalidStream, with
    the place.
    """
    triple, time = parse_statement(line, place)
    if time is None:
        raise InvalidStream(NO_TIME, rule="IO-1", place=place)
    return triple, time


def parse_statement(line: str, place: str) -> tuple[Triple, int | None]:
    """IO-1: Return the triple of a line, and its time (ms), None for a line without a fourth term.
    Raises InvalidStream, with the place.
    """
    if plain := parse_plain_line(line):
        return plain

    with placed_at(place):
        terms = parse_terms(line, TIMED_TOKEN)
        if len(terms) == 3:
            return make_triple(*terms), None
        if len(terms) != 4:
            raise Fault(f'a line must be s p o "ms"; got {len(terms)} terms')
        *triple, time = terms
        return make_triple(*triple), parse_milliseconds(time, _TIME_TYPES)


def parse_line_with_time(line: str, place: str) -> tuple[Triple, int] | None:
    """IO-1: Return the triple and the time (ms) of a line of YABench's, or None for a blank one or
    a comment. Raises InvalidStream, with the place.
    """
    if plain := parse_plain_line(line):
        return plain
    if line.strip(" \t\n") and not line.lstrip(" \t").startswith("#"):
        return parse_statement_with_time(line.rstrip("\n"), place)
    return None
