"""§7 From a body's syntax tree to SPARQL's algebra, from the bottom up: terms, triples and
expressions, with the checks that its grammar cannot make.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

from lark import Token, Tree

from refengine.model.elements import XSD, Term, literal
from refengine.model.errors import InvalidQuery, RefengineError, Unsupported, require
from refengine.model.iris import has_scheme, resolve
from refengine.model.messages import nearest
from refengine.sparql import algebra
from refengine.sparql.algebra import Aggregate, Call, Expression, Path, TriplePattern, Variable
from refengine.sparql.functions import ARITIES, ARITIES_BY_IRI
from refengine.sparql.grammar import place_in_body, read_escapes

# lark's trees


def trees(tree: Tree[Token] | None) -> list[Tree[Token]]:
    """Return the children of a node that are nodes themselves."""
    if tree is None:
        return []
    return [node for node in tree.children if isinstance(node, Tree)]


def child(tree: Tree[Token] | list[Tree[Token]] | None, name: str) -> Tree[Token] | None:
    """Return the first child of a node that has a name, if there is one."""
    nodes = trees(tree) if not isinstance(tree, list) else tree
    return next((node for node in nodes if node.data == name), None)


def leaf(tree: Tree[Token], position: int = 0) -> Token:
    """Return a child that the grammar says is a token."""
    return cast(Token, tree.children[position])


def branch(tree: Tree[Token], position: int) -> Tree[Token]:
    """Return a child that the grammar says is a node."""
    return cast("Tree[Token]", tree.children[position])


# Terms and variables of a body (SPARQL 1.1 §4), and what all of a body's reading shares: its
# prefixes, its labels, its errors


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
        self.graphs: tuple[algebra.GraphClause, ...] = ()  # FROM and FROM NAMED
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


# Triples


TYPE: Term = f"<{RDF}type>"
MOST_STEPS = 1_000  # of a property path


class TripleReader(TermReader):
    """The reading of a body's triples."""

    def triples(self, block: Tree[Token] | None) -> tuple[TriplePattern, ...]:
        """Translate a block of triples; `;`, `,`, `[…]` and `(…)` are written out."""
        patterns: list[TriplePattern] = []
        for node in trees(block):
            head, *lists = trees(node)
            subject = self.node(head, patterns)
            for listed in lists:
                self.properties(subject, listed, patterns)
        return tuple(patterns)

    def properties(
        self, subject: Variable | Term, listed: Tree[Token], patterns: list[TriplePattern]
    ) -> None:
        """Translate a subject's verbs and objects."""
        for entry in trees(listed):
            verb, objects = trees(entry)
            predicate = self.verb(verb)
            for tree in trees(objects):
                patterns += self.write_out_path(subject, predicate, self.node(tree, patterns))

    def verb(self, tree: Tree[Token]) -> Variable | Path:
        """Translate a verb: a variable, an IRI, `a` or a path."""
        if tree.data == "verb":
            if trees(tree):
                return self.term(trees(tree)[0])
            return TYPE
        if tree.data == "var":
            return self.term(tree)
        return self.path(tree)

    def write_out_path(
        self, subject: Variable | Term, path: Variable | Path, end: Variable | Term
    ) -> Iterator[TriplePattern]:
        """Write a path out as far as triple patterns can (§18.2.2.4): inverses are turned,
        sequences get variables in between.
        """
        match path:
            case algebra.Inverse(inner):
                yield from self.write_out_path(end, inner, subject)
            case algebra.Sequence(steps):
                places = [subject, *(self.fresh("_:") for _ in steps[1:]), end]
                for start, step, stop in zip(places, steps, places[1:], strict=False):
                    yield from self.write_out_path(start, step, stop)
            case _:
                yield TriplePattern(subject, path, end)

    def node(self, tree: Tree[Token], patterns: list[TriplePattern]) -> Variable | Term:
        """Translate a subject or an object, and add the triples that it stands for."""
        if tree.data in ("graph_node", "graph_node_path", "triples_node", "triples_node_path"):
            return self.node(trees(tree)[0], patterns)
        if tree.data.startswith("blank_property_list"):
            subject = self.fresh("_:")
            self.properties(subject, trees(tree)[0], patterns)
            return subject
        if tree.data.startswith("collection"):
            return self.collection(tree, patterns)
        return self.term(tree)

    def collection(self, tree: Tree[Token], patterns: list[TriplePattern]) -> Variable:
        """Translate a collection, and add the triples of its cells (§4.2.3)."""
        cells = [self.fresh("_:") for _ in trees(tree)]
        rests: list[Variable | Term] = [*cells[1:], f"<{RDF}nil>"]
        for cell, rest, member in zip(cells, rests, trees(tree), strict=True):
            patterns.append(TriplePattern(cell, f"<{RDF}first>", self.node(member, patterns)))
            patterns.append(TriplePattern(cell, f"<{RDF}rest>", rest))
        return cells[0]

    def path(self, tree: Tree[Token]) -> Path:
        """Translate a property path (§9.1)."""
        match tree.data:
            case "path":
                paths = tuple(map(self.path, trees(tree)))
                if len(paths) == 1:
                    return paths[0]
                return algebra.Alternative(paths)
            case "path_sequence":
                return self.sequence(tree)
            case "path_elt_or_inverse":
                return self.path(trees(tree)[0])
            case "inverse":
                return algebra.Inverse(self.path(trees(tree)[0]))
            case "path_elt":
                return self.repetition(tree)
            case "path_primary" if not trees(tree):
                return TYPE
            case "path_primary":
                return self.path(trees(tree)[0])
            case "negated_set":
                return self.negated_set(tree)
            case _:
                return self.constant(tree)

    def sequence(self, tree: Tree[Token]) -> Path:
        """Translate a sequence of paths, or its only step."""
        steps = tuple(map(self.path, trees(tree)))
        if len(steps) > MOST_STEPS:
            raise self.fault(tree, f"a path of more than {MOST_STEPS} steps", Unsupported, "R2R-17")
        if len(steps) == 1:
            return steps[0]
        return algebra.Sequence(steps)

    def repetition(self, tree: Tree[Token]) -> Path:
        """Translate a path with `?`, `*` or `+` behind it, or with nothing."""
        inner = self.path(trees(tree)[0])
        if len(tree.children) == 1:
            return inner
        sign = str(tree.children[1])
        return algebra.Repeated(inner, least=int(sign == "+"), is_at_most_once=sign == "?")

    def negated_set(self, tree: Tree[Token]) -> algebra.NegatedSet:
        """Translate a negated property set; a side is None where none of the set is of it
        (§18.2.2.3).
        """
        sides: dict[str, list[Term]] = {"forward": [], "backward": []}
        for member in trees(tree):
            predicate = TYPE
            if trees(member):
                predicate = self.constant(trees(member)[0])
            sides[str(member.data)].append(predicate)
        forward = tuple(sides["forward"])
        backward = tuple(sides["backward"])
        if not backward:
            return algebra.NegatedSet(forward, None)
        return algebra.NegatedSet(forward or None, backward)


# Expressions (SPARQL 1.1 §17)


OPERATORS = {
    "conditional_or": "||",
    "conditional_and": "&&",
    "negation": "!",
    "plus": "unary +",
    "minus_sign": "unary -",
}


class ExpressionReader(TermReader, ABC):
    """The reading of a body's expressions."""

    @abstractmethod
    def group(self, tree: Tree[Token]) -> algebra.Pattern:
        """Translate a group graph pattern, that of EXISTS."""

    def expression(self, tree: Tree[Token], with_aggregates: bool = True) -> Expression:
        """Translate an expression; in FILTER, BIND and GROUP BY without aggregates (§11.1, §19.8
        note 13).
        """
        expression = self.operand(tree)
        if not with_aggregates and any(
            isinstance(node, Aggregate) for node in algebra.own_parts(expression)
        ):
            raise self.fault(tree, "an aggregate may stand only in SELECT, HAVING and ORDER BY")
        return expression

    def operand(self, tree: Tree[Token]) -> Expression:
        """Translate an expression or a part of one."""
        match tree.data:
            case "var" | "literal":
                return self.term(tree)
            case "conditional_or" | "conditional_and" | "negation" | "plus" | "minus_sign":
                return Call(OPERATORS[tree.data], self.operands(trees(tree)))
            case "comparison":
                left, sign, right = tree.children
                return Call(str(sign), self.operands([left, right]))
            case "membership":
                condition = Call("IN", self.operands([tree.children[0], *trees(branch(tree, -1))]))
                return negate_if(len(tree.children) > 3, condition)
            case "additive_chain" | "multiplicative_chain":
                return self.chain(tree)
            case "signed_number":
                return number_literal(leaf(tree))
            case _:
                return self.primary(tree)

    def primary(self, tree: Tree[Token]) -> Expression:
        """Translate a call, brackets or EXISTS: what is an operand without an operator."""
        match tree.data:
            case "iri_or_function" | "function_call":
                return self.by_iri(tree)
            case "bracketted_expression" | "order_condition":
                return self.operand(trees(tree)[0])
            case "exists":
                inner = self.group(trees(tree)[0])
                condition = algebra.Exists(inner, size=sum(1 for _ in algebra.walk(inner)))
                return negate_if(len(tree.children) > 2, condition)
            case "builtin_call":
                return self.builtin(tree)
            case "count" | "aggregate" | "group_concat":
                return self.aggregate(tree)
            case _:
                raise AssertionError(tree.data)

    def operands(self, nodes: Iterable[Any]) -> tuple[Expression, ...]:
        """Translate several expressions."""
        return tuple(map(self.operand, nodes))

    def chain(self, tree: Tree[Token]) -> Expression:
        """Translate a chain of sums or products, from left to right. `?x -1` is a sum with the
        number -1 (§19.8 note on [116]).
        """
        left = self.operand(branch(tree, 0))
        sign = "+"
        position = 1
        while position < len(tree.children):
            item = tree.children[position]
            position += 1
            if isinstance(item, Token):
                sign = str(item)
                continue
            operand = self.operand(item)
            if item.data == "signed_number":
                # the products that the number begins bind tighter than the sum
                while position < len(tree.children) and tree.children[position] in ("*", "/"):
                    factor = self.operand(branch(tree, position + 1))
                    operand = Call(str(tree.children[position]), (operand, factor))
                    position += 2
                sign = "+"
            left = Call(sign, (left, operand))
        return left

    def builtin(self, tree: Tree[Token]) -> Call:
        """Translate a call of a function that SPARQL names."""
        token = leaf(tree)
        name = token.upper()
        operands = self.operands(trees(branch(tree, 1)))
        fewest, most = ARITIES[name]
        if len(operands) < fewest or (most is not None and len(operands) > most):
            counts = show_counts(fewest, most)
            raise self.fault(token, f"{name} takes {counts} arguments, got {len(operands)}")
        if name == "BOUND" and not isinstance(operands[0], Variable):
            raise self.fault(token, "BOUND takes a variable")
        return Call(name, operands)

    def by_iri(self, tree: Tree[Token]) -> Expression:
        """Translate an IRI, or a call of a function by its IRI: a cast, or C-SPARQL's timestamp."""
        name, *rest = trees(tree)
        iri = self.iri(leaf(name))
        if not rest:
            return f"<{iri}>"
        if iri not in ARITIES_BY_IRI:
            raise self.fault(
                name,
                f"no function <{iri}> is defined here{nearest(iri, ARITIES_BY_IRI)}",
                Unsupported,
                "R2R-14",
            )
        operands = self.operands(trees(rest[0]))
        if any(isinstance(item, Token) for item in rest[0].children):
            raise self.fault(rest[0], "DISTINCT may stand only in aggregates")
        if len(operands) != ARITIES_BY_IRI[iri]:
            raise self.fault(
                name, f"<{iri}> takes {ARITIES_BY_IRI[iri]} arguments, got {len(operands)}"
            )
        return Call(iri, operands)

    def aggregate(self, tree: Tree[Token]) -> Aggregate:
        """Translate an aggregate."""
        inner = trees(tree)
        operand = None
        if inner and inner[0].data != "string":
            operand = self.expression(inner[0])
        if any(isinstance(node, Aggregate) for node in algebra.own_parts(operand)):
            raise self.fault(tree, "an aggregate may not contain another one")
        words = [token for token in tree.children if isinstance(token, Token)]
        name = words[0].upper()
        separator = " "
        if len(inner) > 1:
            separator = self.string(leaf(inner[1]))
        return Aggregate(name, operand, any(word.type == "DISTINCT" for word in words), separator)


def negate_if(is_negated: bool, condition: Expression) -> Expression:
    """Return a condition, or its negation where NOT stands before it."""
    if is_negated:
        return Call("!", (condition,))
    return condition


def show_counts(fewest: int, most: int | None) -> str:
    """Name how many arguments a function takes; None: as many as one likes."""
    if fewest == most:
        return f"{fewest}"
    if most is None:
        return f"{fewest} or more"
    return f"{fewest} to {most}"


def conjunction(conditions: list[Expression]) -> Expression:
    """Return the condition that is true iff all of these are."""
    if len(conditions) == 1:
        return conditions[0]
    return Call("&&", tuple(conditions))


def has_aggregate(expression: Expression) -> bool:
    """Return whether an aggregate stands in an expression, EXISTS left aside."""
    return any(isinstance(node, Aggregate) for node in algebra.own_parts(expression))
