"""§12 Turtle and TriG without pyoxigraph: RDF 1.1's grammars, read one production after the other.

RDF 1.2's triples in place of terms, annotations and directions of texts are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from refengine.model import iris
from refengine.model.errors import InvalidStream
from refengine.model.messages import display, display_text
from refengine.model.terms import XSD, Term, iri_term, literal_term

DEEPEST = 100  # brackets within brackets
_LETTER = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_CHAR = f"{_LETTER}_0-9\u00b7\u0300-\u036f\u203f-\u2040-"
_PREFIX = f"(?:[{_LETTER}](?:[{_CHAR}.]*[{_CHAR}])?)?"
_PLAIN = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = f"(?:[{_CHAR}:](?<!-)|{_PLAIN})(?:(?:[{_CHAR}.:]|{_PLAIN})*(?:[{_CHAR}:]|{_PLAIN}))?"
# no surrogate, and nothing beyond Unicode
_CODE = (
    r"\\u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}|"
    r"\\U00(?!00[Dd][89A-Fa-f])(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}"
)
_ESCAPE = rf"\\[tbnrf\"'\\]|{_CODE}"
_TOKEN = re.compile(
    rf"""(?P<iri><(?:[^\x00-\x20<>"{{}}|^`\\]|{_CODE})*>)
    |(?P<text>\"\"\"(?:"{{0,2}}(?:[^"\\]|{_ESCAPE}))*\"\"\"|'''(?:'{{0,2}}(?:[^'\\]|{_ESCAPE}))*'''
      |"(?:[^"\\\n\r]|{_ESCAPE})*"|'(?:[^'\\\n\r]|{_ESCAPE})*')
    |(?P<double>[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+)
    |(?P<decimal>[+-]?[0-9]*\.[0-9]+)
    |(?P<integer>[+-]?[0-9]+)
    |(?P<blank>_:[{_LETTER}_0-9](?:[{_CHAR}.]*[{_CHAR}])?)
    |(?P<name>{_PREFIX}:(?:{_LOCAL})?)
    |(?P<word>[A-Za-z]+)
    |(?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<sign>\^\^|[.,;\[\]()}}]|{{(?!\|))""",
    re.VERBOSE,
)
_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_ESCAPED = re.compile(r"\\(?:u(.{4})|U(.{8})|(.))", re.DOTALL)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
NO_DOT = "A dot is expected at the end of statements"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FIRST, REST, NIL, TYPE = (f"<{RDF}{name}>" for name in ("first", "rest", "nil", "type"))


class Misread(ValueError):
    """Why a text is not in its language, and the line."""

    def __init__(self, reason: str, line: int):
        super().__init__(reason, line)
        self.reason, self.line = reason, line


class BlankNode(str):
    """A blank node as a parser names it: with its label, if it has one."""


Part = Term | BlankNode


class TripleInGraph(NamedTuple):
    """What a parser has found: a triple in a graph (None: the default graph), and its line."""

    graph: Part | None
    subject: Part
    predicate: Term
    object: Part
    line: int


class Reader:
    """The reading of one text. `kind` and `word` are those of the next token."""

    def __init__(self, text: str, language: str, base: str) -> None:
        self.text, self.language, self.base = text, language, base
        self.prefixes: dict[str, str] = {}
        self.graph: Part | None = None
        self.blanks = 0
        self.depth = 0
        self.found: list[TripleInGraph] = []
        self.at = self.begins = 0
        self.line, self.counted = 1, 0  # the line of a place, up to which lines are counted
        self.kind = self.word = ""
        self.take()

    def fail(self, reason: str) -> NoReturn:
        """Raise Misread at the next token."""
        raise Misread(f"not {self.language}: {reason}", self.line)

    def take(self) -> str:
        """Move behind the next token, and return it."""
        before = self.word
        skipped = _SPACE.match(self.text, self.at)
        self.begins = skipped.end() if skipped else self.at
        self.line += self.text.count("\n", self.counted, self.begins)
        self.counted = self.begins
        found = _TOKEN.match(self.text, self.begins)
        if found is not None:
            self.kind, self.word, self.at = found.lastgroup or "", found[0], found.end()
        elif self.begins == len(self.text):
            self.kind, self.word, self.at = "end", "", self.begins
        else:
            self.refuse()
        return before

    def refuse(self) -> NoReturn:
        """Raise Misread for what is no token."""
        rest = self.text[self.begins :]
        if rest.startswith(("<<", "{|", "~")):
            raise Misread(f"RDF 1.2 is not read: {display(rest[:40])}", self.line)
        if (bad := re.match(r"<([^<>\n]*)>", rest)) is not None:
            raise Misread(f"not an IRI (RFC 3987): {display(bad[1])}", self.line)
        self.fail(f"{display(rest[:40].partition(chr(10))[0])} is not expected")

    def expect(self, sign: str, reason: str = "") -> None:
        """Move behind a sign. Raises Misread if another token comes, with a reason or ours."""
        if self.word != sign:
            self.fail_at_token(reason or f"{sign!r} is expected, got {display(self.word)}")
        self.take()

    def fail_at_token(self, reason: str) -> NoReturn:
        """Raise Misread because of the next token, or because there is none."""
        self.fail("Unexpected end" if self.kind == "end" else reason)

    def read(self) -> Iterator[TripleInGraph]:
        """Yield what the text says."""
        while self.kind != "end":
            if not self.directive():
                self.block() if self.language == "TriG" else self.triples_and_dot()
            yield from self.found
            self.found.clear()

    def directive(self) -> bool:
        """Read a directive, if one comes."""
        word = self.word.lower()
        has_dot = word.startswith("@")
        name = word.removeprefix("@")
        if name not in ("prefix", "base", "version") or self.kind not in ("tag", "word"):
            return False
        if has_dot and self.word != word:
            self.fail(f"{display(self.word)} is not expected")
        self.take()
        if name == "version":
            if self.kind != "text" or self.word.startswith(('"""', "'''")):
                self.fail("a version is a text in quotes")
            self.take()
        elif name == "base":
            self.base = self.iri()[1:-1]
        else:
            if self.kind != "name" or not self.word.endswith(":"):
                self.fail("a prefix ends with its colon")
            prefix = self.take()[:-1]
            self.prefixes[prefix] = self.iri()[1:-1]
        if has_dot:
            self.expect(".")
        return True

    def block(self) -> None:
        """Read a graph of TriG, or triples."""
        if self.kind == "word" and self.word.lower() == "graph":
            self.take()
            self.braces(self.label())
            return
        if self.word == "{":
            self.braces(None)
            return
        if self.word in ("[", "("):
            is_anonymous = self.word == "["
            subject, is_complete = self.bracketed()
            if is_anonymous and not is_complete and self.word == "{":
                self.braces(subject)
                return
            self.predicates(subject, is_complete)
        else:
            subject = self.label()
            if self.word == "{":
                self.braces(subject)
                return
            self.predicates(subject)
        self.expect(".", NO_DOT)

    def label(self) -> Part:
        """Read an IRI or a blank node."""
        if self.word == "[":
            node, is_complete = self.bracketed()
            if is_complete:
                self.fail("a graph has a name, got a node with properties")
            return node
        return self.node()

    def braces(self, graph: Part | None) -> None:
        """Read the triples of a graph."""
        self.expect("{")
        self.graph = graph
        while self.word != "}":
            self.triples()
            if self.word != "}":
                self.expect(".", NO_DOT)
        self.graph = None
        self.take()

    def triples_and_dot(self) -> None:
        """Read triples and the dot behind them."""
        self.triples()
        self.expect(".", NO_DOT)

    def triples(self) -> None:
        """Read the triples of a subject."""
        if self.word in ("[", "("):
            self.predicates(*self.bracketed())
        else:
            self.predicates(self.node())

    def predicates(self, subject: Part, is_complete: bool = False) -> None:
        """Read predicates with their objects. A complete subject may have none."""
        if is_complete and self.word in (".", "}"):
            return
        while True:
            predicate = self.predicate()
            self.objects(subject, predicate)
            if self.word != ";":
                return
            while self.word == ";":
                self.take()
            if self.word in (".", "]", "}"):
                return

    def predicate(self) -> Term:
        """Read a predicate."""
        if self.word == "a" and self.kind == "word":
            self.take()
            return TYPE
        return self.iri("predicate")

    def objects(self, subject: Part, predicate: Term) -> None:
        """Read the objects of a predicate."""
        while True:
            line = self.line
            found = self.object()
            self.add(subject, predicate, found, line)
            if self.word != ",":
                return
            self.take()

    def add(self, subject: Part, predicate: Term, found: Part, line: int) -> None:
        """Keep a triple."""
        self.found.append(TripleInGraph(self.graph, subject, predicate, found, line))

    def object(self) -> Part:
        """Read an object."""
        if self.word in ("[", "("):
            return self.bracketed()[0]
        match self.kind:
            case "text":
                return self.literal()
            case "integer" | "decimal" | "double":
                kind = f"{XSD}{self.kind}"
                return self.term_of_literal(self.take(), kind)
            case "word" if self.word in ("true", "false"):
                return self.term_of_literal(self.take(), f"{XSD}boolean")
        return self.node("RDF object")

    def literal(self) -> Term:
        """Read a text with its language or datatype."""
        written = self.take()
        quotes = 3 if written[:3] in ('"""', "'''") else 1
        lexical = unescape(written[quotes:-quotes])
        if self.kind == "tag":
            if self.text.startswith("--", self.at):
                raise Misread(f"RDF 1.2 is not read: {display(self.word)}--", self.line)
            tag = self.take()[1:]
            try:
                return literal_term(lexical, language=tag)
            except InvalidStream as error:
                raise Misread(error.reason, self.line) from None
        if self.word == "^^":
            self.take()
            return self.term_of_literal(lexical, self.iri()[1:-1])
        return self.term_of_literal(lexical, f"{XSD}string")

    def term_of_literal(self, lexical: str, datatype: str) -> Term:
        """Return a literal. Raises Misread for one that is none."""
        if datatype in (f"{RDF}langString", f"{RDF}dirLangString"):
            self.fail(f"rdf:{datatype.removeprefix(RDF)} is the type of texts with a language")
        try:
            return literal_term(lexical, datatype)
        except InvalidStream as error:
            raise Misread(error.reason, self.line) from None

    def node(self, what: str = "subject or graph name") -> Part:
        """Read an IRI or the label of a blank node."""
        if self.kind == "blank":
            return BlankNode(self.take())
        return self.iri(what)

    def iri(self, what: str = "IRI") -> Term:
        """Read an IRI, in brackets or with a prefix; `what` says what it is to be."""
        line = self.line
        if self.kind == "iri":
            reference = unescape(self.take()[1:-1])
            iri = iris.resolve(self.base, reference)
            if not iris.has_scheme(iri):
                reason = f"relative IRI {display(reference)}; write it in full or give @base"
                raise Misread(reason, line)
        elif self.kind == "name":
            prefix, _, local = self.word.partition(":")
            if prefix not in self.prefixes:
                self.fail(f"The prefix {prefix}: has not been declared")
            self.take()
            iri = self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)
        else:
            self.fail_at_token(f"{display_text(self.word)} is not a valid {what}")
        try:
            return iri_term(iri)
        except InvalidStream as error:
            raise Misread(error.reason, line) from None

    def new_blank(self) -> BlankNode:
        """Return a blank node that no label stands for."""
        self.blanks += 1
        return BlankNode(f"[]{self.blanks}")

    def bracketed(self) -> tuple[Part, bool]:
        """Read a blank node in brackets or a list; return also whether it says something."""
        if self.depth == DEEPEST:
            self.fail(f"brackets nested more than {DEEPEST} deep")
        self.depth += 1
        if self.take() == "(":
            node: Part = self.items()
            is_complete = False
        else:
            node = self.new_blank()
            is_complete = self.word != "]"
            if is_complete:
                self.predicates(node)
            self.expect("]")
        self.depth -= 1
        return node, is_complete

    def items(self) -> Part:
        """Read a list behind its opening bracket; return its first node."""
        head: Part = NIL
        last: Part | None = None
        while self.word != ")":
            node = self.new_blank()
            line = self.line
            if last is None:
                head = node
            else:
                self.add(last, REST, node, line)
            self.add(node, FIRST, self.object(), line)
            last = node
        if last is not None:
            self.add(last, REST, NIL, self.line)
        self.take()
        return head


def unescape(text: str) -> str:
    """Return a text with the characters that its escapes stand for."""

    def character(found: re.Match[str]) -> str:
        if code := found[1] or found[2]:
            return chr(int(code, 16))
        return _ESCAPES.get(found[3], found[3])

    return _ESCAPED.sub(character, text)


def parse(text: str, language: str, base: str = "") -> Iterator[TripleInGraph]:
    """Yield what a text in Turtle or TriG says, in its order; of nodes in brackets first what
    stands in them. Raises Misread.
    """
    yield from Reader(text, language, base).read()
