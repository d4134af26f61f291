"""§12 Turtle and TriG: a text in, its statements out, by pyoxigraph's parsers, or by `plain_turtle`
where that is not installed.

Its parsers resolve relative IRIs by RFC 3986, strictly, and keep lexical forms. They are given a
text line by line and give back each statement as soon as it is complete, which tells the line that
it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import IO, cast

from refengine.model.errors import InvalidStream, require
from refengine.model.libraries import why_unusable
from refengine.model.messages import display
from refengine.model.terms import Term, iri_term, literal_term
from refengine.rdf import plain_turtle
from refengine.rdf.plain_turtle import BlankNode, Misread, Part, TripleInGraph
from refengine.rdf.terms import NO_LOG, Statement, is_log_version

_ERROR = re.compile(
    r"(?:Parser error at line [0-9]+ (?:between columns ([0-9]+) and "
    r"([0-9]+)|column [0-9]+): )?(.*?)(?: \(line [0-9]+\))?",
    re.DOTALL,
)
# What a brace and a keyword may stand in without being one, the brace that opens a graph, and the
# words of a log of messages.
_WORD_BEGINS = r"(?<![\w:.\-·])"
_WORD_ENDS = r"(?![\w:\-·])"
_LABEL = "(?P<{}>\"[^\"\\\\\\n]*\"|'[^'\\\\\\n]*')"
_TOKEN = re.compile(
    r'(?:"""(?:[^"\\]|\\.|"(?!""))*+"""|'
    r"'''(?:[^'\\]|\\.|'(?!''))*+'''|"
    r'"(?:[^"\\\n]|\\.)*+"|'
    r"'(?:[^'\\\n]|\\.)*+')(?:@[A-Za-z0-9-]+)?|"
    r"<[^<>\n]*+>|#[^\n]*+|\\.|(?P<opens>\{)(?!\|)|"
    rf"{_WORD_BEGINS}(?i:VERSION)\s*{_LABEL.format('version')}|"
    rf"@version\s*{_LABEL.format('old_version')}\s*\.|"
    rf"(?P<message>{_WORD_BEGINS}(?i:MESSAGE){_WORD_ENDS}|@message\s*\.)",
    re.DOTALL,
)
_MAY_BE_A_LOG = re.compile(r"message", re.IGNORECASE)


def parse_statements(text: str, language: str, prefix: str, base: str = "") -> Iterator[Statement]:
    """Yield the statements of a text in Turtle or TriG (`language`), in its order. Blank nodes are
    named `_:`, `prefix` and a number from 1, in the order in which they appear. Relative IRIs are
    resolved against `base` until the text states one. A graph of TriG is announced, even if it is
    empty. In a log of messages a statement without graph and triple begins
    each message, and blank nodes are those of one message. Raises Misread.
    """
    # no text has the digest of itself
    marks = _Marks(f"urn:refengine:mark:{sha256(text.encode()).hexdigest()}")
    labels: dict[str, Term] = {}
    messages = 0

    def term(found: Part) -> Term:
        if not isinstance(found, BlankNode):
            return found
        scope = f"m{messages}" * bool(messages)
        return labels.setdefault(found, f"_:{scope}{prefix}{len(labels) + 1}")

    parse = plain_turtle.parse
    if can_pyoxigraph_parse():
        parse = parse_by_pyoxigraph
    try:
        for found in parse(marks.put(text, language), language, base):
            graph = None
            if found.graph is not None:
                graph = term(found.graph)
            if found.predicate == f"<{marks.message}>":
                if graph is not None or found.subject != found.predicate:
                    raise Misread("MESSAGE within a graph or a statement", found.line)
                yield Statement(None, None, found.line)
                labels.clear()
                messages += 1
            elif found.predicate != f"<{marks.graph}>":
                triple = (term(found.subject), found.predicate, term(found.object))
                yield Statement(graph, triple, found.line)
            elif graph is not None:
                yield Statement(graph, None, found.line)
    except Misread as error:
        reason = error.reason.replace(f"<{marks.message}>", "MESSAGE")
        raise Misread(reason, error.line) from None


@cache
def can_pyoxigraph_parse() -> bool:
    """Return whether pyoxigraph is there with its parsers: what stands in for it as a witness, as
    in a browser, may have none.
    """
    if why_unusable("pyoxigraph") is not None:
        return False
    import pyoxigraph

    return hasattr(pyoxigraph, "parse")


def parse_by_pyoxigraph(text: str, language: str, base: str = "") -> Iterator[TripleInGraph]:
    """Yield what a text in Turtle, TriG or JSON-LD says, in its order. Raises Misread."""
    import pyoxigraph  # here, so that what needs no Turtle needs none of it

    formats = {
        "Turtle": pyoxigraph.RdfFormat.TURTLE,
        "TriG": pyoxigraph.RdfFormat.TRIG,
        "JSON-LD": pyoxigraph.RdfFormat.JSON_LD,
    }
    lines = _Lines(text)

    def part(found: object) -> Part:
        if isinstance(found, pyoxigraph.BlankNode):
            return BlankNode(found.value)
        return _term_of_pyoxigraph(found, lines)

    try:
        for quad in pyoxigraph.parse(
            cast("IO[bytes]", lines),
            formats[language],
            base_iri=base or None,
            lenient=language == "JSON-LD",
        ):
            graph = None
            if not isinstance(quad.graph_name, pyoxigraph.DefaultGraph):
                graph = part(quad.graph_name)
            triple = (part(quad.subject), part(quad.predicate), part(quad.object))
            yield TripleInGraph(graph, *triple, lines.number)
    except SyntaxError as error:
        line = error.lineno or lines.number
        written = "" if language == "JSON-LD" else lines.line(line)
        raise Misread(_reason_of(error.msg, written, language), line) from None
    except InvalidStream as error:  # an IRI or a literal that the parser lets pass
        raise Misread(error.reason, lines.number) from None


@dataclass(frozen=True)
class _Marks:
    """Triples that stand in a text for what a parser would not tell."""

    iri: str

    @property
    def graph(self) -> str:
        """The predicate of the triple at the beginning of each graph."""
        return f"{self.iri}:graph"

    @property
    def message(self) -> str:
        """The predicate of the triple at the beginning of each message."""
        return f"{self.iri}:message"

    def put(self, text: str, language: str) -> str:
        """Return a text with its marks: where a brace opens a graph of TriG, and where a message of
        a log begins. Raises Misread for a delimiter in a text that is no log.
        """
        if language == "Turtle" and not _MAY_BE_A_LOG.search(text):
            return text
        is_log = False
        delimiter = f" <{self.message}> <{self.message}> <{self.message}> ."

        def line(found: re.Match[str]) -> int:
            return text.count("\n", 0, found.start()) + 1

        def replacement(found: re.Match[str]) -> str:
            nonlocal is_log
            if found["opens"] and language == "TriG":
                return f"{{ <{self.graph}> <{self.graph}> <{self.graph}> . "
            if version := found["version"] or found["old_version"]:
                is_log = _is_log_version(version[1:-1], line(found))
                return found[0] + delimiter * is_log
            if not found["message"]:
                return found[0]
            if not is_log:
                raise Misread(NO_LOG, line(found))
            return delimiter + "\n" * found[0].count("\n")

        return _TOKEN.sub(replacement, text)


def _is_log_version(label: str, line: int) -> bool:
    try:
        return is_log_version(label)
    except ValueError as error:
        raise Misread(str(error), line) from None


def _term_of_pyoxigraph(found: object, lines: _Lines) -> Term:
    """Return the term of an IRI or a literal. Raises InvalidStream; Misread for what is of RDF
    1.2.
    """
    import pyoxigraph

    match found:
        case pyoxigraph.NamedNode():
            return iri_term(found.value)
        case pyoxigraph.Literal() if found.language is None:
            return literal_term(found.value, found.datatype.value)
        case pyoxigraph.Literal() if found.direction is None:
            return literal_term(found.value, language=found.language)
        case _:
            raise Misread(f"RDF 1.2 is not read: {display(str(found))}", lines.number)


class _Lines:
    """A text as a file that gives at most a line at a time. `number` is that of the line given
    last.
    """

    def __init__(self, text: str):
        self.lines = text.encode().split(b"\n")
        self.number, self.rest = 0, b""

    def line(self, number: int) -> str:
        """Return a line by its number; '' for a number that no line has."""
        if not 0 < number <= len(self.lines):
            return ""
        return self.lines[number - 1].decode()

    def read(self, size: int = -1) -> bytes:
        """Return the rest of the line that is being read, or the next one; at most `size` bytes;
        none at the end.
        """
        if not self.rest and self.number < len(self.lines):
            self.rest = self.lines[self.number] + b"\n" * (self.number + 1 < len(self.lines))
            self.number += 1
        if size < 0:
            size = len(self.rest)
        piece = self.rest[:size]
        self.rest = self.rest[size:]
        return piece


def _reason_of(message: str, line: str, language: str) -> str:
    """Return what is wrong, in our words where a file of N-Triples would be told the same."""
    first, last, said = require(_ERROR.fullmatch(message)).groups()
    token = ""
    if first:
        token = line[int(first) - 1 : int(last) - 1]
    iri = display(token.strip("<>"))
    if said.startswith("No scheme found") and token:
        return f"relative IRI {iri}; write it in full or give @base"
    if said.startswith("Invalid IRI") and token:
        return f"not an IRI (RFC 3987): {iri}"
    if "subtag" in said:
        return f"not a language tag (RFC 5646): {said}"
    return f"not {language}: {said}"
