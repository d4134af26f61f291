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
    """Draws the patterns of one query. The variables that are in scope come back with each pattern,
    so that the query is legal.
    """

    random: Random
    palette: Palette
    fresh: int = 0
    _labels: int = field(default=0, repr=False)

    def chance(self, share: float) -> bool:
        """Return True with a probability of `share`."""
        return self.random.random() < share

    def new_variable(self) -> str:
        """Return a variable that the query does not have yet."""
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
        """Return a group graph pattern. `outer`: variables of a group around it, which filters of
        OPTIONAL and EXISTS may name.
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
            (2, 6, 4, 2, 3, 6, 1, 2 if depth else 0, 2, 2, 1),
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
        items, scope = (
            [node("triple", f"?x {predicate} ?z .")],
            ["?x", "?z", *([predicate] if predicate == "?w" else [])],
        )
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
        """Return a group, a small one when it is deep inside."""
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
                parts[2] = "?z" if parts[0] != "?z" else "?w"
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
        (left, some), (right, others) = self._pattern(depth, ()), self._pattern(depth, ())
        return node("element", left, node("item", " UNION ", right, droppable=True)), [
            *some,
            *others,
        ]

    def _graph(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        name = (
            self.random.choice(("?g", "?g", *NAMES))
            if self.chance(0.6)
            else write_term(self.random.choice([*GRAPHS, GRAPHS[0], ABSENT]))
        )
        group, more = self._pattern(depth, ())
        return node("element", f"GRAPH {name} ", group), [
            *more,
            *([name] if name.startswith("?") else []),
        ]

    def _filter(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        if self.chance(0.15):
            word = self.random.choice(("EXISTS", "NOT EXISTS"))
            return node("element", f"FILTER {word} ", self._exists_group([*scope, *outer])), []
        condition = Expressions(
            self.random, self.palette, [*scope, *outer] or NAMES, self._exists_group
        ).draw("boolean", 3)
        return node("element", "FILTER(", condition, ")"), []

    def _exists_group(self, outer: Sequence[str]) -> Node:
        return self._pattern(
            1 if self.chance(0.3) else 0, [name for name in outer if name.startswith("?")]
        )[0]

    def _bind(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        free: list[str] = []
        if self.chance(0.2):
            free = [name for name in NAMES if name not in scope]
        name = free[0] if free else self.new_variable()
        value = Expressions(
            self.random, self.palette, scope, self._exists_group if self.chance(0.1) else None
        ).draw("any", 3)
        return node("element", "BIND(", value, f" AS {name})"), [name]

    def _values(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        return self.values()

    def values(self) -> tuple[Node, list[str]]:
        """Return VALUES over one variable or two, with UNDEF."""

        def cell(name: str) -> str:
            if self.chance(0.15):
                return "UNDEF"
            is_node = name in ("?x", "?y") and self.chance(0.7)
            return write_term(
                self.random.choice(NODES) if is_node else self.palette.value(self.random),
                self.random,
            )

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
        inner = self.grouped(min(depth, 1)) if self.chance(0.35) else self.select(min(depth, 1))
        return node("group", "{ ", inner.text, " }"), inner.variables

    def _path(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        ends = []
        for names in (AS_SUBJECT, AS_OBJECT):
            ends.append(
                self.random.choice(names)
                if self.chance(0.8)
                else write_term(self.random.choice([*NODES, ABSENT]))
            )
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
