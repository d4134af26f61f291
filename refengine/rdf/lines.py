"""Lines of N-Triples, of N-Quads, and of YABench's streams, whose fourth term is a time."""

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
from refengine.rdf.sources import Source, read_text
from refengine.rdf.statements import NO_LOG, Document, Statement, is_log_version
from refengine.rdf.terms import Fault, make, make_literal, make_triple, parse_milliseconds

_UNQUOTED = rf'(?P<unquoted>(?!\.*\#)[^\x00-\x20"<>\\^]++)\^\^(?P<type>{IRIREF})'
_TOKEN = re.compile(rf"[ \t]*(?P<term>{TERM})")
# of a line that YABench's generator wrote
TIMED_TOKEN = re.compile(rf"[ \t]*(?:(?P<term>{TERM})|{_UNQUOTED})")
_VERSION = re.compile(r'[ \t]*VERSION[ \t]*"([^"\\]*)"[ \t]*(?:#.*)?')
_MESSAGE = re.compile(r"[ \t]*MESSAGE[ \t]*(?:#.*)?")
_MEANT = re.compile(r'"(?:[^"\\]|\\.)*+"?[^ \t]*|<[^>]*>?[^ \t]*|[^ \t]*')  # as a term
_LINE_END = re.compile(r"[ \t]*\.?[ \t]*(?:#.*)?", re.DOTALL)

# Most lines are like these, and their terms canonical as they stand.
PLAIN_OBJECT = rf"(?:{PLAIN_IRI}|{PLAIN_LITERAL})"
_PLAIN_TIME = r'"(-?[0-9]{1,18})" \.\n?\Z'
PLAIN_LINE = re.compile(rf"({PLAIN_IRI}) ({PLAIN_IRI}) ({PLAIN_OBJECT}) {_PLAIN_TIME}")
_PLAIN_UNQUOTED = re.compile(
    rf"({PLAIN_IRI}) ({PLAIN_IRI}) " rf"([A-Za-z0-9.+-]++)\^\^({PLAIN_DATATYPE}) {_PLAIN_TIME}"
)


def read_lines(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the lines that hold a statement, each with its number. Only CR and LF end a line:
    others may stand in a literal.
    """
    text = read_text(source, InvalidStream, "IO-1")
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        if line.strip(" \t") and not line.lstrip(" \t").startswith("#"):
            yield line, number


def parse_terms(line: str, token: re.Pattern[str] = _TOKEN) -> list[Term]:
    """Return the terms of a line in N-Triples' grammar, or in that of another `token`; the final
    dot is optional. Raises Fault.
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


def read_quads(source: Source) -> Document:
    """Return what N-Triples or N-Quads say, in their order: a document, or a log of messages, whose
    blank nodes are those of one message each. Raises InvalidStream.
    """
    # Not by pyoxigraph's parser: it takes 0.5 s for 60,000 lines, where this takes 0.6 s, but
    # refuses a line that lacks its final dot, and tells other faults than for a line with a time.
    parts: list[list[Statement]] = [[]]
    is_log = False
    for line, number in read_lines(source):
        try:
            if version := _VERSION.fullmatch(line):
                is_log = is_log_version(version[1])
            elif not _MESSAGE.fullmatch(line):
                statement = _parse_quad(line, number)
                if is_log:
                    statement = _scope_blank_nodes(statement, f"m{len(parts)}-")
                parts[-1].append(statement)
            elif is_log:
                parts.append([])
            else:
                raise Fault(NO_LOG)
        except ValueError as fault:  # a Fault, or of a version
            raise InvalidStream(str(fault), rule="IO-1", place=f"{source}:{number}") from None
    return Document(parts, is_log)


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


def _parse_quad(line: str, number: int) -> Statement:
    terms = parse_terms(line)
    if len(terms) not in (3, 4):
        raise Fault(f"a line must be s p o, or s p o graph; got {len(terms)} terms")

    graph = None
    if len(terms) == 4:
        graph = make(graph_name, terms[3])
    return Statement(graph, make_triple(*terms[:3]), number)


def parse_plain_line(line: str) -> tuple[Triple, int] | None:
    """Return the triple and the time of a line whose terms are canonical as they stand, but for the
    quotes that a literal may lack; None for other lines.
    """
    if plain := PLAIN_LINE.match(line):
        subject, predicate, object_, time = plain.groups()
        return (subject, predicate, object_), int(time)

    if plain := _PLAIN_UNQUOTED.match(line):
        subject, predicate, lexical, datatype, time = plain.groups()
        return (subject, predicate, f'"{lexical}"^^{datatype}'), int(time)

    return None


def parse_statement_with_time(line: str, place: str) -> tuple[Triple, int]:
    """IO-1: Return the triple and the time (ms) of a line that has them. Raises InvalidStream, with
    the place.
    """
    if plain := parse_plain_line(line):
        return plain

    try:
        terms = parse_terms(line, TIMED_TOKEN)
        if len(terms) != 4:
            raise Fault(f'a line must be s p o "ms"; got {len(terms)} terms')
        *triple, time = terms
        return make_triple(*triple), parse_milliseconds(time, INTEGERS.keys() | {XSD + "string"})
    except Fault as fault:
        raise InvalidStream(str(fault), rule="IO-1", place=place) from None


def parse_line_with_time(line: str, place: str) -> tuple[Triple, int] | None:
    """IO-1: Return the triple and the time (ms) of a line of YABench's, or None for a blank one or
    a comment. Raises InvalidStream, with the place.
    """
    if plain := parse_plain_line(line):
        return plain
    if line.strip(" \t\n") and not line.lstrip(" \t").startswith("#"):
        return parse_statement_with_time(line.rstrip("\n"), place)
    return None
