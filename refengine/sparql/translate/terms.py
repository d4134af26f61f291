"""Terms and variables of a body (SPARQL 1.1 §4), and what all of a body's reading shares: its
prefixes, its labels, its errors.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from lark import Token, Tree

from refengine.model.elements import XSD, Term, literal
from refengine.model.errors import InvalidQuery, RefengineError, Unsupported, require
from refengine.model.iris import has_scheme, resolve
from refengine.sparql.algebra import GraphClause, Variable
from refengine.sparql.grammar import place_in_body, read_escapes
from refengine.sparql.translate.trees import leaf

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
MOST_VARIABLES = 1_000  # and blank nodes of a body


class NamedPattern(NamedTuple):
    """A GRAPH or WINDOW pattern of a body: what it names, and the offsets at which it starts, its
    group starts, and it has ended.
    """

    name: Variable | Term
    of_windows: bool
    start: int
    group: int
    end: int


class TermReader:
    """The reading of one body, as far as its terms: its text, its base and prefixes, and the blank
    nodes that were seen.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.base = ""
        self.prefixes: dict[str, str] = {}
        # a blank node's label -> the number of its basic graph pattern
        self.labels: dict[str, int] = {}
        self.basic_number = 0  # of the basic graph pattern that is read: a label belongs to one
        self.made = 0
        self.names: set[str] = set()  # of variables
        self.tags: set[str] = set()  # language tags with letters in upper case
        self.graphs: tuple[GraphClause, ...] = ()  # FROM and FROM NAMED
        self.window_depth = 0  # of WINDOW patterns around what is read
        self.named_patterns: list[NamedPattern] = []  # GRAPH and WINDOW
        # start, end, and the text to put there for the witnesses
        self.edits: list[tuple[int, int, str]] = []

    # Errors and fresh names

    def fault(
        self,
        node: Tree[Token] | Token,
        reason: str,
        kind: type[RefengineError] = InvalidQuery,
        rule: str = "QRY-1",
    ) -> RefengineError:
        """Return the error of a rule at a node of the text."""
        return kind(reason, rule=rule, place=place_in_body(self.text, start_of(node)))

    def fresh(self, kind: str) -> Variable:
        """Return a hidden variable that stands nowhere else."""
        self.made += 1
        self.check_variables()
        return Variable(f"{kind}.{self.made}")

    def check_variables(self) -> None:
        """R2R-17: Refuse a body of so many variables and blank nodes that a solution is no small
        thing.
        """
        if len(self.names) + len(self.labels) + self.made > MOST_VARIABLES:
            raise Unsupported(
                f"more than {MOST_VARIABLES} variables and blank nodes", rule="R2R-17", place="body"
            )

    # Terms

    def variable(self, tree: Tree[Token]) -> Variable:
        """Translate a variable."""
        token = leaf(tree)
        name = read_escapes(token[1:], token, self.text)
        self.names.add(name)
        self.check_variables()
        return Variable(name)

    def term(self, tree: Tree[Token]) -> Variable | Term:
        """Translate a variable, an IRI, a literal in the form that it is written in, or a blank
        node, which is a hidden variable.
        """
        match tree.data:
            case "var":
                return self.variable(tree)
            case "iri":
                return f"<{self.iri(leaf(tree))}>"
            case "literal":
                return self.literal(tree)
            case "nil":
                return f"<{RDF}nil>"
            case "blank_node":
                return self.blank(tree)
            case _:
                raise AssertionError(tree.data)

    def constant(self, tree: Tree[Token]) -> Term:
        """Translate what the grammar says is no variable."""
        return cast("Term", self.term(tree))

    def blank(self, tree: Tree[Token]) -> Variable:
        """Translate a blank node. A label belongs to one basic graph pattern (§5.1.1)."""
        if not tree.children:
            return self.fresh("_:")
        token = leaf(tree)
        label = read_escapes(token[2:], token, self.text)
        if self.labels.setdefault(label, self.basic_number) != self.basic_number:
            raise self.fault(
                token, f"_:{label} stands in another basic graph pattern, too; use a variable"
            )
        self.check_variables()
        return Variable(f"_:{label}")

    def iri(self, token: Token) -> str:
        """Read an IRI or a prefixed name."""
        if token.type == "IRIREF":
            return self.resolve_iri(token)
        prefix, _, local = token.partition(":")
        prefix = read_escapes(prefix, token, self.text)
        if prefix not in self.prefixes:
            raise self.fault(
                token, f"prefix {prefix!r} is not declared; write PREFIX {prefix}: <…>"
            )
        iri = self.prefixes[prefix] + read_escapes(local, token, self.text)
        if local.count(".") > 1:
            self.edits.append((require(token.start_pos), require(token.end_pos), f"<{iri}>"))
        return iri

    def resolve_iri(self, token: Token) -> str:
        """Resolve an IRI reference against the base (§4.1.1.2)."""
        reference = read_escapes(token[1:-1], token, self.text)
        if not self.base and not has_scheme(reference):
            reason = f"relative IRI <{reference}>; write it in full, or give BASE (option --base)"
            raise self.fault(token, reason)
        return resolve(self.base, reference)

    def literal(self, tree: Tree[Token]) -> Term:
        """Read a literal. Its lexical form stays as it is written: 01 is another term than 1."""
        first, *rest = tree.children
        if isinstance(first, Token):
            return literal(str(first).lower(), XSD + "boolean")
        token = leaf(first)
        if first.data == "number":
            return number_literal(token)
        lexical = self.string(token)
        if not rest:
            return literal(lexical)
        if isinstance(rest[0], Token):
            tag = rest[0][1:]
            if tag != tag.lower():
                self.tags.add(tag)
            return literal(lexical, language=tag)
        datatype = self.iri(leaf(rest[0]))
        if datatype == RDF + "langString":
            raise self.fault(
                rest[0], 'rdf:langString needs a language; write "…"@en', Unsupported, "R2R-10"
            )
        return literal(lexical, datatype)

    def string(self, token: Token) -> str:
        """Return the characters of a string, without its quotes and escapes (§4.1.2)."""
        is_long = token[:3] in ('"""', "'''") and len(token) >= 6
        if is_long:
            return read_escapes(token[3:-3], token, self.text)
        return read_escapes(token[1:-1], token, self.text)


def start_of(node: Tree[Token] | Token) -> int:
    """Return the offset at which a node of the text begins, 0 of a node without a text."""
    if isinstance(node, Token):
        return node.start_pos or 0
    if node.meta.empty:
        return 0
    return node.meta.start_pos


def number_literal(token: Token) -> Term:
    """Return the literal of a number as it is written, signed or not; the kind of its token is its
    datatype.
    """
    return literal(str(token), XSD + token.type.removeprefix("SIGNED_").lower())
