"""Draws group graph patterns: every operator of SPARQL 1.1 §§5 to 13."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from tools.arq.expressions import Expressions
from tools.arq.terms import ABSENT, GRAPHS, NODES, PREDICATES, Palette, write_term
from tools.arq.tree import Node, joined, node

NAMES = ("?x", "?y", "?z", "?w")
# by habit, so that parts of a query join
AS_SUBJECT = ("?x", "?x", "?x", "?x", "?x", "?y", "?y", "?z")
AS_OBJECT = ("?z", "?z", "?z", "?w", "?w", "?y", "?y", "?x")


class Select(NamedTuple):
    """A SELECT and its variables."""

    text: Node
    variables: list[str]


@dataclass
class Patterns(ABC):
    """Draws the patterns of one query. Each pattern is returned with the variables that it puts in
    scope, so that the query can be a legal one.
    """

    random: Random
    palette: Palette
    fresh: int = 0
    _labels: int = field(default=0, repr=False)

    def chance(self, share: float) -> bool:
        """Draw whether something happens that happens in this share of cases."""
        return self.random.random() < share

    def new_variable(self) -> str:
        """Return a variable that is nowhere in the query yet."""
        self.fresh += 1
        return f"?v{self.fresh}"

    @abstractmethod
    def select(self, depth: int, top: bool = False) -> Select:
        """Return a SELECT without groups."""

    @abstractmethod
    def grouped(self, depth: int, top: bool = False) -> Select:
        """Return a SELECT with groups."""

    # Patterns: each gives a node and the variables in scope.

    def group(self, depth: int, outer: Sequence[str] = ()) -> tuple[Node, list[str]]:
        """Return a group graph pattern. `outer` are the variables of a group around it, which the
        filters of OPTIONAL and EXISTS may name.
        """
        scope: list[str] = []
        items: list[Node] = []
        if depth > 0 and self.chance(0.015):
            return node("group", "{}"), []
        if self.chance(0.5):
            return self._plain()
        kinds = []
        if self.chance(0.85):
            kinds.append("triples")
        kinds += self.random.choices(
            (
                "triples",
                "optional",
                "union",
                "minus",
                "filter",
                "bind",
                "values",
                "subselect",
                "graph",
                "path",
                "group",
            ),
            (2, 6, 4, 2, 3, 6, 1, 2 * bool(depth), 2, 2, 1),
            k=self.random.choice((0, 1, 1, 1, 2, 2, 3)),
        )
        for kind in kinds or ["path"]:
            item, more = getattr(self, f"_{kind}")(depth - 1, scope, outer)
            scope += [name for name in more if name not in scope]
            items.append(node("element", " ", item, droppable=True))
        return node("group", "{", *items, " }"), scope

    def _plain(self) -> tuple[Node, list[str]]:
        """Return a group that nearly always has solutions: a triple pattern, perhaps an optional
        one, and perhaps a BIND or a FILTER.
        """
        predicate = self.random.choice((":p", ":p", ":q", "?w"))
        items = [node("triple", f"?x {predicate} ?z .")]
        scope = ["?x", "?z"]
        if predicate == "?w":
            scope.append(predicate)
        if self.chance(0.4):
            items.append(
                node(
                    "element",
                    f"OPTIONAL {{ ?x {write_term(self.random.choice(PREDICATES))} ?y . }}",
                    droppable=True,
                )
            )
            scope.append("?y")
        count = self.random.choice((0, 1, 1, 2))
        for kind in self.random.choices(
            ("bind", "filter", "minus", "optional", "path"), (8, 3, 1, 2, 1), k=count
        ):
            item, more = getattr(self, f"_{kind}")(0, scope, ())
            scope += [name for name in more if name not in scope]
            items.append(node("element", item, droppable=True))
        return node("group", "{ ", *(part for item in items for part in (item, " ")), "}"), scope

    def _pattern(self, depth: int, outer: Sequence[str]) -> tuple[Node, list[str]]:
        """Return a group; if `depth` is used up, a small one with a basic graph pattern alone."""
        if depth > 0:
            return self.group(depth, outer)
        item, scope = self._triples(0, [], ())
        if self.chance(0.25):
            condition = Expressions(self.random, self.palette, [*scope, *outer]).draw("boolean", 2)
            return node(
                "group",
                "{ ",
                item,
                node("element", " FILTER(", condition, ")", droppable=True),
                " }",
            ), scope
        return node("group", "{ ", item, " }"), scope

    def _triples(
        self, depth: int, scope: list[str], outer: Sequence[str]
    ) -> tuple[Node, list[str]]:
        triples: list[Node] = []
        variables: list[str] = []
        self._labels += 1
        for _ in range(self.random.choice((1, 1, 1, 1, 2, 2, 3))):
            parts = [self._subject(), self._predicate(), self._object()]
            if parts[2] == parts[0] and self.chance(0.8):
                parts[2] = "?z"
                if parts[0] == "?z":
                    parts[2] = "?w"
            variables += [part for part in parts if part.startswith("?")]
            triples.append(node("triple", " ".join(parts) + " .", droppable=True))
        return node("basic", *(part for triple in triples for part in (triple, " "))), variables

    def _blank(self) -> str:
        return self.random.choice((f"_:n{self._labels}", f"_:n{self._labels}", "[]"))

    def _subject(self) -> str:
        kind = self.random.random()
        if kind < 0.85:
            return self.random.choice(AS_SUBJECT)
        if kind < 0.91:
            return self._blank()
        return write_term(self.random.choice(NODES))

    def _predicate(self) -> str:
        kind = self.random.random()
        if kind < 0.8:
            return write_term(self.random.choice(PREDICATES))
        if kind < 0.95:
            return "?w"
        return self.random.choice(NAMES)

    def _object(self) -> str:
        kind = self.random.random()
        if kind < 0.82:
            return self.random.choice(AS_OBJECT)
        if kind < 0.88:
            return self._blank()
        return write_term(self.palette.value(self.random), self.random)

    def _optional(
        self, depth: int, scope: list[str], outer: Sequence[str]
    ) -> tuple[Node, list[str]]:
        group, more = self._pattern(depth, scope)
        return node("element", "OPTIONAL ", group), more

    def _minus(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        return node("element", "MINUS ", self._pattern(depth, ())[0]), []

    def _group(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        return self._pattern(depth, ())

    def _union(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        left, variables = self._pattern(depth, ())
        right, more = self._pattern(depth, ())
        union = node("element", left, node("item", " UNION ", right, droppable=True))
        return union, [*variables, *more]

    def _graph(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        if self.chance(0.6):
            name = self.random.choice(("?g", "?g", *NAMES))
        else:
            name = write_term(self.random.choice([*GRAPHS, GRAPHS[0], ABSENT]))
        group, more = self._pattern(depth, ())
        scope_of_all = list(more)
        if name.startswith("?"):
            scope_of_all.append(name)
        return node("element", f"GRAPH {name} ", group), scope_of_all

    def _filter(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        if self.chance(0.15):
            word = self.random.choice(("EXISTS", "NOT EXISTS"))
            return node("element", f"FILTER {word} ", self._exists_group([*scope, *outer])), []
        condition = Expressions(
            self.random, self.palette, [*scope, *outer] or NAMES, self._exists_group
        ).draw("boolean", 3)
        return node("element", "FILTER(", condition, ")"), []

    def _exists_group(self, outer: Sequence[str]) -> Node:
        """Return the group of an EXISTS inside a group with these variables."""
        depth = int(self.chance(0.3))
        variables = [name for name in outer if name.startswith("?")]
        return self._pattern(depth, variables)[0]

    def _value(self, scope: Sequence[str]) -> Node:
        """Return an expression whose value is bound to a variable, sometimes with an EXISTS."""
        exists = None
        if self.chance(0.1):
            exists = self._exists_group
        return Expressions(self.random, self.palette, scope, exists).draw("any", 3)

    def _bind(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        free: list[str] = []
        if self.chance(0.2):
            free = [name for name in NAMES if name not in scope]
        if free:
            return self._binding(free[0], scope)
        return self._binding(self.new_variable(), scope)

    def _binding(self, name: str, scope: Sequence[str]) -> tuple[Node, list[str]]:
        """Return the BIND of a variable to an expression."""
        return node("element", "BIND(", self._value(scope), f" AS {name})"), [name]

    def _values(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        return self.values()

    def values(self) -> tuple[Node, list[str]]:
        """Return VALUES over one variable or two, with UNDEF."""

        def cell(name: str) -> str:
            if self.chance(0.15):
                return "UNDEF"
            if name in ("?x", "?y") and self.chance(0.7):
                term = self.random.choice(NODES)
            else:
                term = self.palette.value(self.random)
            return write_term(term, self.random)

        names = self.random.sample(NAMES, self.random.choice((1, 1, 2)))
        rows = range(self.random.choice((0, 1, 2, 2, 2, 3, 3, 3, 3)))
        if len(names) == 1 and self.chance(0.5):
            cells = [node("item", f" {cell(names[0])}", droppable=True) for _ in rows]
            return node("element", f"VALUES {names[0]} {{", *cells, " }"), names
        lines = [
            node("item", f" ({' '.join(cell(name) for name in names)})", droppable=True)
            for _ in rows
        ]
        return node("element", f"VALUES ({' '.join(names)}) {{", *lines, " }"), names

    def _subselect(
        self, depth: int, scope: list[str], outer: Sequence[str]
    ) -> tuple[Node, list[str]]:
        draw = self.select
        if self.chance(0.35):
            draw = self.grouped
        inner = draw(min(depth, 1))
        return node("group", "{ ", inner.text, " }"), inner.variables

    def _path(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        ends = []
        for names in (AS_SUBJECT, AS_OBJECT):
            if self.chance(0.8):
                ends.append(self.random.choice(names))
            else:
                ends.append(write_term(self.random.choice([*NODES, ABSENT])))
        if self.chance(0.1):
            ends[1] = write_term(self.palette.value(self.random), self.random)
        return node("triple", f"{ends[0]} ", self.path(3), f" {ends[1]} ."), [
            end for end in ends if end.startswith("?")
        ]

    def path(self, depth: int) -> Node:
        """Return a property path."""
        predicate = write_term(self.random.choice(PREDICATES))
        if depth == 0 or self.chance(0.1):
            return node("path", predicate)
        match self.random.choice(("^", "/", "/", "|", "|", "*", "*", "+", "+", "?", "!", "!")):
            case "^":
                return node("path", "^(", self.path(depth - 1), ")")
            case "/" | "|" as operator:
                return node("path", "(", self.path(depth - 1), operator, self.path(depth - 1), ")")
            case "!":
                members = [
                    node(
                        "item",
                        self.random.choice(("", "", "^"))
                        + write_term(self.random.choice(PREDICATES)),
                    )
                    for _ in range(self.random.choice((1, 1, 2, 3)))
                ]
                return node("path", "!(", joined("set", members, "|"), ")")
            case modifier:
                return node("path", "(", self.path(depth - 1), f"){modifier}")
