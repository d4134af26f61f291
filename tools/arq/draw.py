"""Draws queries with data: every operator of SPARQL 1.1, on small datasets, the same for the same
seed everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from refengine.model.elements import Dataset
from tools.arq.expressions import Expressions
from tools.arq.patterns import Patterns, Select
from tools.arq.terms import PREFIXES, dataset, palette
from tools.arq.tree import Node, joined, node

AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX") * 5 + ("SAMPLE", "GROUP_CONCAT")


class Draw(NamedTuple):
    """A query as a tree, and the data that it is asked of."""

    query: Node
    data: Dataset

    @property
    def text(self) -> str:
        """The query with its prefixes, as text."""
        return PREFIXES + str(self.query)


def draw(seed: int, number: int) -> Draw:
    """Return one draw; it depends on the seed and its number alone."""
    random = Random(f"{seed}/{number}")
    colours = palette(random)
    return Draw(Queries(random, colours).query(), dataset(random, colours))


class Queries(Patterns):
    """Draws a query, of any form."""

    def query(self) -> Node:
        """Return a whole query."""
        match self.random.choices(("select", "aggregate", "ask", "construct"), (12, 5, 2, 3))[0]:
            case "select":
                form = self.select(depth=2, top=True).text
            case "aggregate":
                form = self.grouped(depth=2, top=True).text
            case "ask":
                form = self.ask()
            case _:
                form = self.construct()
        if self.chance(0.06):
            form = node("query", form, self.values_clause())
        return form

    def values_clause(self) -> Node:
        """Return VALUES after a query."""
        return node("modifier", "\n", self.values()[0], droppable=True)

    def select(self, depth: int, top: bool = False) -> Select:
        """Return a SELECT without groups."""
        group, scope = self.group(depth)
        scope = list(dict.fromkeys(scope))
        reduced = int(top)  # its weight; inside a query, the rows must not be left open
        quantity = self.random.choices(("", " DISTINCT", " REDUCED"), (6, 3, reduced))[0]
        names, head = scope, node("select", "*")
        if not scope or self.chance(0.8):
            kept = self.random.sample(scope, self.random.randint(0, min(3, len(scope))))
            items = [node("item", name) for name in kept]
            names, known = list(kept), list(scope)
            for _ in range(self.random.choice((0, 0, 1, 1, 2, 3)) or not kept):
                name = self.new_variable()
                value = self._value(known)
                items.append(node("item", "(", value, f" AS {name})"))
                names.append(name)
                known.append(name)
            head = joined("select", items, " ")
        text = node(
            "query",
            f"SELECT{quantity} ",
            head,
            " WHERE ",
            group,
            self.order(names, scope, slices=quantity != " REDUCED"),
        )
        return Select(text, names)

    def order(self, names: Sequence[str], scope: Sequence[str], slices: bool = True) -> Node:
        """Return ORDER BY with LIMIT and OFFSET, over all variables that are projected; or nothing.

        Over all of them, so that equal keys are equal rows and it does not matter which come first.
        """
        if not names or self.chance(0.8):
            return node("modifier")
        keys = []
        if self.chance(0.2):
            keys.append(
                node(
                    "item",
                    "(",
                    Expressions(self.random, self.palette, list(names)).draw("any", 2),
                    ")",
                )
            )
        keys += [
            node("item", self._directed(name))
            for name in self.random.sample(list(names), len(names))
        ]
        limits = ""
        if slices and self.chance(0.7):
            limits = f" LIMIT {self.random.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4))}"
        if slices and self.chance(0.3):
            limits += f" OFFSET {self.random.choice((0, 1, 1, 2, 3))}"
        return node(
            "modifier",
            "\nORDER BY ",
            joined("keys", keys, " "),
            node("modifier", limits, droppable=True),
            droppable=True,
        )

    def _directed(self, name: str) -> str:
        """Return a key of ORDER BY, sometimes with its direction."""
        return self.random.choice((name, name, f"DESC({name})", f"ASC({name})"))

    def aggregate(self, scope: Sequence[str]) -> Node:
        """Return one aggregate."""
        name = self.random.choice(AGGREGATES)
        distinct = ""
        if self.chance(0.3):
            distinct = "DISTINCT "
        if name == "COUNT" and self.chance(0.4):
            return node("aggregate", f"COUNT({distinct}*)")
        if scope and self.chance(0.75):
            inside = node("expr", self.random.choice(scope))
        else:
            inside = Expressions(self.random, self.palette, scope).draw("any", 2)
        tail = ""
        if name == "GROUP_CONCAT":
            tail = self.random.choice(('; SEPARATOR=","', "", '; SEPARATOR=""'))
        return node("aggregate", f"{name}({distinct}", inside, f"{tail})")

    def _of_aggregates(self, scope: Sequence[str], keys: Sequence[str]) -> Node:
        """Return an expression over aggregates and keys, mostly one aggregate alone."""
        if self.chance(0.75):
            return node("expr", self.aggregate(scope))
        if self.chance(0.6):
            operator = self.random.choice(("+", "/", "=", "<", "*", "-"))
            if self.chance(0.5):
                other = node("expr", self.aggregate(scope))
            else:
                other = Expressions(self.random, self.palette, keys, unbound=False).draw(
                    "number", 1
                )
            return node(
                "expr", "(", node("expr", self.aggregate(scope)), f" {operator} ", other, ")"
            )
        name = self.random.choice(("STR", "COALESCE", "ABS", "isNumeric", "DATATYPE"))
        return node("expr", f"{name}(", node("expr", self.aggregate(scope)), ")")

    def keys(self, scope: Sequence[str]) -> tuple[list[Node], list[str]]:
        """Return the conditions of a GROUP BY and the variables that name them."""
        conditions, names = [], []
        for _ in range(self.random.choice((1, 1, 1, 2))):
            if scope and self.chance(0.7):
                name = self.random.choice(scope)
                conditions.append(node("item", name))
                names.append(name)
                continue
            value = Expressions(self.random, self.palette, scope).draw("any", 2)
            if self.chance(0.75):
                name = self.new_variable()
                conditions.append(node("item", "(", value, f" AS {name})"))
                names.append(name)
            else:
                conditions.append(node("item", "(", value, ")"))
        return conditions, list(dict.fromkeys(names))

    def grouping(self, scope: Sequence[str], always: bool = False) -> tuple[Node, list[str]]:
        """Return GROUP BY and the keys that have names. Without GROUP BY there is one group of all
        solutions.
        """
        if not always and self.chance(0.3):
            return node("modifier"), []
        conditions, names = self.keys(scope)
        return node(
            "modifier", "\nGROUP BY ", joined("keys", conditions, " "), droppable=True
        ), names

    def having(self, scope: Sequence[str], keys: Sequence[str]) -> Node:
        """Return HAVING with a condition, or nothing."""
        if self.chance(0.85):
            return node("modifier")
        if self.chance(0.2):
            condition = Expressions(self.random, self.palette, keys, unbound=False).draw(
                "boolean", 2
            )
        else:
            bound = Expressions(self.random, self.palette, keys, unbound=False).draw("number", 0)
            operator = self.random.choice((">", "<", "=", ">=", "!="))
            condition = node(
                "expr", "(", node("expr", self.aggregate(scope)), f" {operator} ", bound, ")"
            )
        return node("modifier", "\nHAVING (", condition, ")", droppable=True)

    def grouped(self, depth: int, top: bool = False) -> Select:
        """Return a SELECT with groups."""
        group, scope = self.group(depth)
        grouping, keys = self.grouping(scope)
        having = self.having(scope, keys)
        items = [node("item", name) for name in keys if self.chance(0.8)]
        names = [str(item) for item in items]
        count = 0
        if self.chance(0.95) or not items:
            count = self.random.choice((1, 1, 2, 3))
        for _ in range(count):
            name = self.new_variable()
            items.append(node("item", "(", self._of_aggregates(scope, keys), f" AS {name})"))
            names.append(name)
        distinct = ""
        if self.chance(0.1):
            distinct = "DISTINCT "
        head = joined("select", items, " ")
        return Select(
            node(
                "query",
                f"SELECT {distinct}",
                head,
                " WHERE ",
                group,
                grouping,
                having,
                self.order(names, names),
            ),
            names,
        )

    def ask(self) -> Node:
        """Return an ASK, sometimes with groups."""
        group, scope = self.group(2)
        if self.chance(0.2):
            grouping, keys = self.grouping(scope, always=True)
            return node("query", "ASK ", group, grouping, self.having(scope, keys))
        return node("query", "ASK ", group)

    def construct(self) -> Node:
        """Return a CONSTRUCT, with a template or WHERE alone, sometimes with groups."""
        if self.chance(0.15):
            return node("query", "CONSTRUCT WHERE { ", self._triples(0, [], ())[0], "}")
        group, scope = self.group(2)
        tail, visible = node("modifier"), list(scope)
        if self.chance(0.2):
            grouping, visible = self.grouping(scope, always=True)
            tail = node("modifier", grouping, self.having(scope, visible))
        triples = []
        for _ in range(self.random.choice((1, 1, 2, 3))):
            subject = self._template_term(visible, ("_:t", "_:t", "[]", ":new"))
            predicate = ":made"
            if self.chance(0.3):
                predicate = self._template_term(visible, (":made",))
            object_ = self._template_term(
                visible, ("_:t", "_:u", "1", '"01"^^xsd:integer', '"a"@en', ":x")
            )
            triples.append(node("item", f" {subject} {predicate} {object_} .", droppable=True))
        return node("query", "CONSTRUCT {", *triples, " } WHERE ", group, tail)

    def _template_term(self, visible: Sequence[str], others: Sequence[str]) -> str:
        """Return a term of a template: a visible variable, or one of the others."""
        if visible and self.chance(0.6):
            return self.random.choice(list(visible))
        return self.random.choice(list(others))
