"""Triples and property paths of a body (SPARQL 1.1 §4.2, §9): what is written short is written
out.
"""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token, Tree

from refengine.model.elements import Term
from refengine.model.errors import Unsupported
from refengine.sparql.algebra import (
    Alternative,
    Inverse,
    NegatedSet,
    Path,
    Repeated,
    Sequence,
    TriplePattern,
    Variable,
)
from refengine.sparql.translate.terms import RDF, TermReader
from refengine.sparql.translate.trees import trees

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
            case Inverse(inner):
                yield from self.write_out_path(end, inner, subject)
            case Sequence(steps):
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
                return Alternative(paths)
            case "path_sequence":
                return self.sequence(tree)
            case "path_elt_or_inverse":
                return self.path(trees(tree)[0])
            case "inverse":
                return Inverse(self.path(trees(tree)[0]))
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
        return Sequence(steps)

    def repetition(self, tree: Tree[Token]) -> Path:
        """Translate a path with `?`, `*` or `+` behind it, or with nothing."""
        inner = self.path(trees(tree)[0])
        if len(tree.children) == 1:
            return inner
        sign = str(tree.children[1])
        return Repeated(inner, least=int(sign == "+"), is_at_most_once=sign == "?")

    def negated_set(self, tree: Tree[Token]) -> NegatedSet:
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
            return NegatedSet(forward, None)
        return NegatedSet(forward or None, backward)
