"""Draws queries with data: every operator of SPARQL 1.1, on small datasets, the same for the same seed everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from refengine.model import Dataset
from tools.arq.expressions import Expressions
from tools.arq.terms import ABSENT, GRAPHS, NODES, PREDICATES, PREFIXES, Palette, dataset, palette, written
from tools.arq.tree import Node, joined, node

NAMES = ("?x", "?y", "?z", "?w")
AS_SUBJECT = ("?x", "?x", "?x", "?x", "?x", "?y", "?y", "?z")  # by habit, so that parts of a query join
AS_OBJECT = ("?z", "?z", "?z", "?w", "?w", "?y", "?y", "?x")
AGGREGATES = ("COUNT", "COUNT", "SUM", "SUM", "MIN", "MAX", "AVG", "AVG", "MIN", "MAX", *("COUNT", "SUM", "AVG", "MIN", "MAX") * 3, "SAMPLE", "GROUP_CONCAT")


class Draw(NamedTuple):
    """A query as a tree, and the data that it is asked of."""

    query: Node
    data: Dataset

    @property
    def text(self) -> str:
        return PREFIXES + str(self.query)


def draw(seed: int, number: int) -> Draw:
    """One draw; it depends on the seed and its number alone."""
    random = Random(f"{seed}/{number}")
    colours = palette(random)
    return Draw(Queries(random, colours).query(), dataset(random, colours))


class Select(NamedTuple):
    """A SELECT and its variables."""

    text: Node
    variables: list[str]


@dataclass
class Queries:
    """Draws the parts of one query. The variables that are in scope come back with each pattern, so that the query is legal."""

    random: Random
    palette: Palette
    fresh: int = 0
    _labels: int = field(default=0, repr=False)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def new_variable(self) -> str:
        self.fresh += 1
        return f"?v{self.fresh}"

    def query(self) -> Node:
        """A whole query."""
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
        return node("modifier", "\n", self.values()[0], droppable=True)

    # Patterns: each gives a node and the variables in scope.

    def group(self, depth: int, outer: Sequence[str] = ()) -> tuple[Node, list[str]]:
        """A group graph pattern. `outer`: variables of a group around it, which filters of OPTIONAL and EXISTS may name."""
        scope: list[str] = []
        items: list[Node] = []
        if depth > 0 and self.chance(0.015):
            return node("group", "{}"), []
        if self.chance(0.5):
            return self._plain()
        kinds = ["triples"] if self.chance(0.85) else []
        kinds += self.random.choices(
            ("triples", "optional", "union", "minus", "filter", "bind", "values", "subselect", "graph", "path", "group"),
            (2, 6, 4, 2, 3, 6, 1, 2 if depth else 0, 2, 2, 1), k=self.random.choice((0, 1, 1, 1, 2, 2, 3)),
        )
        for kind in kinds or ["path"]:
            item, more = getattr(self, f"_{kind}")(depth - 1, scope, outer)
            scope += [name for name in more if name not in scope]
            items.append(node("element", " ", item, droppable=True))
        return node("group", "{", *items, " }"), scope

    def _plain(self) -> tuple[Node, list[str]]:
        """A group that nearly always has solutions: a triple pattern, perhaps an optional one, and perhaps a BIND or a FILTER."""
        predicate = self.random.choice((":p", ":p", ":q", "?w"))
        items, scope = [node("triple", f"?x {predicate} ?z .")], ["?x", "?z", *([predicate] if predicate == "?w" else [])]
        if self.chance(0.4):
            items.append(node("element", f"OPTIONAL {{ ?x {written(self.random.choice(PREDICATES))} ?y . }}", droppable=True))
            scope.append("?y")
        for kind in self.random.choices(("bind", "filter", "minus", "optional", "path"), (8, 3, 1, 2, 1), k=self.random.choice((0, 1, 1, 2))):
            item, more = getattr(self, f"_{kind}")(0, scope, ())
            scope += [name for name in more if name not in scope]
            items.append(node("element", item, droppable=True))
        return node("group", "{ ", *(part for item in items for part in (item, " ")), "}"), scope

    def _pattern(self, depth: int, outer: Sequence[str]) -> tuple[Node, list[str]]:
        """A group, a small one when it is deep inside."""
        if depth > 0:
            return self.group(depth, outer)
        item, scope = self._triples(0, [], ())
        if self.chance(0.25):
            condition = Expressions(self.random, self.palette, [*scope, *outer]).draw("boolean", 2)
            return node("group", "{ ", item, node("element", " FILTER(", condition, ")", droppable=True), " }"), scope
        return node("group", "{ ", item, " }"), scope

    def _triples(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
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
        return self.random.choice(AS_SUBJECT) if kind < 0.85 else self._blank() if kind < 0.91 else written(self.random.choice(NODES))

    def _predicate(self) -> str:
        kind = self.random.random()
        return written(self.random.choice(PREDICATES)) if kind < 0.8 else "?w" if kind < 0.95 else self.random.choice(NAMES)

    def _object(self) -> str:
        kind = self.random.random()
        if kind < 0.82:
            return self.random.choice(AS_OBJECT)
        return self._blank() if kind < 0.88 else written(self.palette.value(self.random), self.random)

    def _optional(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        group, more = self._pattern(depth, scope)
        return node("element", "OPTIONAL ", group), more

    def _minus(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        return node("element", "MINUS ", self._pattern(depth, ())[0]), []

    def _group(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        return self._pattern(depth, ())

    def _union(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        (left, some), (right, others) = self._pattern(depth, ()), self._pattern(depth, ())
        return node("element", left, node("item", " UNION ", right, droppable=True)), [*some, *others]

    def _graph(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        name = self.random.choice(("?g", "?g", *NAMES)) if self.chance(0.6) else written(self.random.choice([*GRAPHS, GRAPHS[0], ABSENT]))
        group, more = self._pattern(depth, ())
        return node("element", f"GRAPH {name} ", group), [*more, *([name] if name.startswith("?") else [])]

    def _filter(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        if self.chance(0.15):
            word = self.random.choice(("EXISTS", "NOT EXISTS"))
            return node("element", f"FILTER {word} ", self._exists_group([*scope, *outer])), []
        condition = Expressions(self.random, self.palette, [*scope, *outer] or NAMES, self._exists_group).draw("boolean", 3)
        return node("element", "FILTER(", condition, ")"), []

    def _exists_group(self, outer: Sequence[str]) -> Node:
        return self._pattern(1 if self.chance(0.3) else 0, [name for name in outer if name.startswith("?")])[0]

    def _bind(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        free = [name for name in NAMES if name not in scope] if self.chance(0.2) else []
        name = free[0] if free else self.new_variable()
        value = Expressions(self.random, self.palette, scope, self._exists_group if self.chance(0.1) else None).draw("any", 3)
        return node("element", "BIND(", value, f" AS {name})"), [name]

    def _values(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        return self.values()

    def values(self) -> tuple[Node, list[str]]:
        """VALUES over one variable or two, with UNDEF."""
        def cell(name: str) -> str:
            if self.chance(0.15):
                return "UNDEF"
            return written(self.random.choice(NODES) if name in ("?x", "?y") and self.chance(0.7) else self.palette.value(self.random), self.random)

        names = self.random.sample(NAMES, self.random.choice((1, 1, 2)))
        rows = range(self.random.choice((0, 1, 2, 2, 2, 3, 3, 3, 3)))
        if len(names) == 1 and self.chance(0.5):
            cells = [node("item", f" {cell(names[0])}", droppable=True) for _ in rows]
            return node("element", f"VALUES {names[0]} {{", *cells, " }"), names
        lines = [node("item", f" ({' '.join(cell(name) for name in names)})", droppable=True) for _ in rows]
        return node("element", f"VALUES ({' '.join(names)}) {{", *lines, " }"), names

    def _subselect(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        inner = self.grouped(min(depth, 1)) if self.chance(0.35) else self.select(min(depth, 1))
        return node("group", "{ ", inner.text, " }"), inner.variables

    def _path(self, depth: int, scope: list[str], outer: Sequence[str]) -> tuple[Node, list[str]]:
        ends = []
        for names in (AS_SUBJECT, AS_OBJECT):
            ends.append(self.random.choice(names) if self.chance(0.8) else written(self.random.choice([*NODES, ABSENT])))
        if self.chance(0.1):
            ends[1] = written(self.palette.value(self.random), self.random)
        return node("triple", f"{ends[0]} ", self.path(3), f" {ends[1]} ."), [end for end in ends if end.startswith("?")]

    def path(self, depth: int) -> Node:
        """A property path."""
        predicate = written(self.random.choice(PREDICATES))
        if depth == 0 or self.chance(0.1):
            return node("path", predicate)
        match self.random.choice(("^", "/", "/", "|", "|", "*", "*", "+", "+", "?", "!", "!")):
            case "^":
                return node("path", "^(", self.path(depth - 1), ")")
            case "/" | "|" as operator:
                return node("path", "(", self.path(depth - 1), operator, self.path(depth - 1), ")")
            case "!":
                members = [node("item", self.random.choice(("", "", "^")) + written(self.random.choice(PREDICATES)))
                           for _ in range(self.random.choice((1, 1, 2, 3)))]
                return node("path", "!(", joined("set", members, "|"), ")")
            case modifier:
                return node("path", "(", self.path(depth - 1), f"){modifier}")

    # Forms.

    def select(self, depth: int, top: bool = False) -> Select:
        """A SELECT without groups."""
        group, scope = self.group(depth)
        scope = list(dict.fromkeys(scope))
        quantity = self.random.choices(("", " DISTINCT", " REDUCED"), (6, 3, 1 if top else 0))[0]
        names, head = scope, node("select", "*")
        if not scope or self.chance(0.8):
            kept = self.random.sample(scope, self.random.randint(0, min(3, len(scope))))
            items = [node("item", name) for name in kept]
            names, known = list(kept), list(scope)
            for _ in range(self.random.choice((0, 0, 1, 1, 2, 3)) or not kept):
                name = self.new_variable()
                value = Expressions(self.random, self.palette, known, self._exists_group if self.chance(0.1) else None).draw("any", 3)
                items.append(node("item", "(", value, f" AS {name})"))
                names.append(name)
                known.append(name)
            head = joined("select", items, " ")
        text = node("query", f"SELECT{quantity} ", head, " WHERE ", group, self.order(names, scope, slices=quantity != " REDUCED"))
        return Select(text, names)

    def order(self, names: Sequence[str], scope: Sequence[str], slices: bool = True) -> Node:
        """ORDER BY with LIMIT and OFFSET, over all the variables that are projected; or nothing."""
        if not names or self.chance(0.8):
            return node("modifier")
        keys = []
        if self.chance(0.2):
            keys.append(node("item", "(", Expressions(self.random, self.palette, list(names)).draw("any", 2), ")"))
        keys += [node("item", self._directed(name)) for name in self.random.sample(list(names), len(names))]
        limits = ""
        if slices and self.chance(0.7):
            limits = f" LIMIT {self.random.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4))}"
        if slices and self.chance(0.3):
            limits += f" OFFSET {self.random.choice((0, 1, 1, 2, 3))}"
        return node("modifier", "\nORDER BY ", joined("keys", keys, " "), node("modifier", limits, droppable=True), droppable=True)

    def _directed(self, name: str) -> str:
        return self.random.choice((name, name, f"DESC({name})", f"ASC({name})"))

    def aggregate(self, scope: Sequence[str]) -> Node:
        """One aggregate."""
        name = self.random.choice(AGGREGATES)
        distinct = "DISTINCT " if self.chance(0.3) else ""
        if name == "COUNT" and self.chance(0.4):
            return node("aggregate", f"COUNT({distinct}*)")
        inside = node("expr", self.random.choice(scope)) if scope and self.chance(0.75) else \
            Expressions(self.random, self.palette, scope).draw("any", 2)
        tail = self.random.choice(('; SEPARATOR=","', "", '; SEPARATOR=""')) if name == "GROUP_CONCAT" else ""
        return node("aggregate", f"{name}({distinct}", inside, f"{tail})")

    def _of_aggregates(self, scope: Sequence[str], keys: Sequence[str]) -> Node:
        """An expression over aggregates and keys, mostly one aggregate alone."""
        if self.chance(0.75):
            return node("expr", self.aggregate(scope))
        if self.chance(0.6):
            operator = self.random.choice(("+", "/", "=", "<", "*", "-"))
            other = node("expr", self.aggregate(scope)) if self.chance(0.5) else Expressions(self.random, self.palette, keys, unbound=False).draw("number", 1)
            return node("expr", "(", node("expr", self.aggregate(scope)), f" {operator} ", other, ")")
        return node("expr", self.random.choice(("STR", "COALESCE", "ABS", "isNumeric", "DATATYPE")), "(", node("expr", self.aggregate(scope)), ")")

    def keys(self, scope: Sequence[str]) -> tuple[list[Node], list[str]]:
        """The conditions of a GROUP BY and the variables that name them."""
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
        """GROUP BY, or nothing, which makes one group of everything; and the keys that have names."""
        if not always and self.chance(0.3):
            return node("modifier"), []
        conditions, names = self.keys(scope)
        return node("modifier", "\nGROUP BY ", joined("keys", conditions, " "), droppable=True), names

    def having(self, scope: Sequence[str], keys: Sequence[str]) -> Node:
        if self.chance(0.85):
            return node("modifier")
        if self.chance(0.2):
            condition = Expressions(self.random, self.palette, keys, unbound=False).draw("boolean", 2)
        else:
            bound = Expressions(self.random, self.palette, keys, unbound=False).draw("number", 0)
            operator = self.random.choice((">", "<", "=", ">=", "!="))
            condition = node("expr", "(", node("expr", self.aggregate(scope)), f" {operator} ", bound, ")")
        return node("modifier", "\nHAVING (", condition, ")", droppable=True)

    def grouped(self, depth: int, top: bool = False) -> Select:
        """A SELECT with groups."""
        group, scope = self.group(depth)
        grouping, keys = self.grouping(scope)
        having = self.having(scope, keys)
        items, names = [node("item", name) for name in keys if self.chance(0.8)], []
        names += [str(item) for item in items]
        for _ in range(self.random.choice((1, 1, 2, 3)) if self.chance(0.95) or not items else 0):
            name = self.new_variable()
            items.append(node("item", "(", self._of_aggregates(scope, keys), f" AS {name})"))
            names.append(name)
        distinct = "DISTINCT " if self.chance(0.1) else ""
        text = node("query", f"SELECT {distinct}", joined("select", items, " "), " WHERE ", group, grouping, having, self.order(names, names))
        return Select(text, names)

    def ask(self) -> Node:
        """ASK, sometimes with groups."""
        group, scope = self.group(2)
        if self.chance(0.2):
            grouping, keys = self.grouping(scope, always=True)
            return node("query", "ASK ", group, grouping, self.having(scope, keys))
        return node("query", "ASK ", group)

    def construct(self) -> Node:
        """CONSTRUCT, with a template or WHERE alone, sometimes with groups."""
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
            predicate = self._template_term(visible, (":made",)) if self.chance(0.3) else ":made"
            object_ = self._template_term(visible, ("_:t", "_:u", "1", '"01"^^xsd:integer', '"a"@en', ":x"))
            triples.append(node("item", f" {subject} {predicate} {object_} .", droppable=True))
        return node("query", "CONSTRUCT {", *triples, " } WHERE ", group, tail)

    def _template_term(self, visible: Sequence[str], others: Sequence[str]) -> str:
        return self.random.choice(list(visible)) if visible and self.chance(0.6) else self.random.choice(list(others))
