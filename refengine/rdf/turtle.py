"""§12 Turtle and TriG: a text in, its statements out, by pyoxigraph's parsers.

The parsers resolve relative IRIs by RFC 3986, strictly, and keep lexical forms. They are given a
text line by line and give back each statement as soon as it is complete, which tells the line that
it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import IO, NamedTuple, cast

import pyoxigraph

from refengine.model.errors import InvalidStream, require
from refengine.model.messages import display
from refengine.model.terms import Term, iri_term, literal_term

FORMATS = {"Turtle": pyoxigraph.RdfFormat.TURTLE, "TriG": pyoxigraph.RdfFormat.TRIG}

_ERROR = re.compile(
    r"(?:Parser error at line [0-9]+ (?:between columns ([0-9]+) and "
    r"([0-9]+)|column [0-9]+): )?(.*?)(?: \(line [0-9]+\))?",
    re.DOTALL,
)
# What a brace may stand in without being one of a graph, and the brace that opens a graph.
_BRACE = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""|'
    r"'''(?:[^'\\]|\\.|'(?!''))*+'''|"
    r'"(?:[^"\\\n]|\\.)*+"|'
    r"'(?:[^'\\\n]|\\.)*+'|"
    r"<[^<>\n]*+>|#[^\n]*+|\\.|(?P<opens>\{)(?!\|)",
    re.DOTALL,
)


class Statement(NamedTuple):
    """A triple, the graph it is in (None: the default graph) and its line; no triple says that the
    graph is there.
    """

    graph: Term | None
    triple: tuple[Term, Term, Term] | None
    line: int


class Misread(ValueError):
    """Why a text is not in its language, and the line."""

    def __init__(self, reason: str, line: int):
        super().__init__(reason, line)
        self.reason, self.line = reason, line


def parse_statements(text: str, language: str, prefix: str) -> Iterator[Statement]:
    """Yield the statements of a text in Turtle or TriG (`language`), in its order. Blank nodes are
    named `_:`, `prefix` and a number from 1, in the order in which they appear. A graph of TriG is
    announced, even if it is empty. Raises Misread.
    """
    # no text has the digest of itself
    mark = f"urn:refengine:graph:{sha256(text.encode()).hexdigest()}"
    if language == "TriG":
        text = _mark_graphs(text, f"{{ <{mark}> <{mark}> <{mark}> . ")
    lines = _Lines(text)
    labels: dict[str, Term] = {}

    def term(found: object) -> Term:
        if isinstance(found, pyoxigraph.BlankNode):
            return labels.setdefault(found.value, f"_:{prefix}{len(labels) + 1}")
        return _term_of(found, lines)

    try:
        for quad in pyoxigraph.parse(cast("IO[bytes]", lines), FORMATS[language]):
            graph = None
            if not isinstance(quad.graph_name, pyoxigraph.DefaultGraph):
                graph = term(quad.graph_name)
            if quad.predicate.value != mark:
                yield Statement(
                    graph,
                    (term(quad.subject), term(quad.predicate), term(quad.object)),
                    lines.number,
                )
            elif graph is not None:
                yield Statement(graph, None, lines.number)
    except SyntaxError as error:
        line = error.lineno or lines.number
        raise Misread(_reason(error.msg, lines.line(line), language), line) from None
    except InvalidStream as error:  # an IRI or a literal that the parser lets pass
        raise Misread(error.reason, lines.number) from None


def _mark_graphs(text: str, mark: str) -> str:
    """Return a TriG text with a mark in place of each brace that opens a graph."""

    def replacement(found: re.Match[str]) -> str:
        if found["opens"]:
            return mark
        return found[0]

    return _BRACE.sub(replacement, text)


def _term_of(found: object, lines: _Lines) -> Term:
    """Return the term of an IRI or a literal. Raises InvalidStream; Misread for what is of RDF
    1.2.
    """
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


def _reason(message: str, line: str, language: str) -> str:
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
