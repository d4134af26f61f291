"""Bodies that incremental evaluation covers, or nearly, with triples for them. They are drawn by a
seed, which takes so little time that thousands can be compared with the SPARQL evaluator.

`draw_trial` draws patterns, joins and aggregates, `draw_expression_trial` expressions of every kind
where SPARQL has them, and `draw_mixed_trial` all together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import NamedTuple

from refengine import Body, literal
from refengine.model.elements import XSD, Triple
from refengine.model.errors import RefengineError

IRIS = ("<urn:a>", "<urn:b>", "<urn:c>")
PREDICATES = ("<urn:p>", "<urn:p>", "<urn:p>", "<urn:q>")
PATHS = (
    "(<urn:p>|^<urn:q>)",
    "((<urn:p>/<urn:q>)|<urn:p>)",
    "(<urn:p>?/<urn:q>)",
    "^(<urn:p>/^<urn:q>)",
    "!<urn:p>",
    "!(<urn:q>|^<urn:p>)",
    "<urn:p>?",
    "<urn:p>*",
    "<urn:p>+",
    "(<urn:p>|<urn:q>)+",
    "(<urn:p>/^<urn:p>?)*",
    "(^<urn:p>*)?",
)
NUMBERS = [
    literal(text, XSD + kind)
    for kind, texts in {
        "integer": ("0", "1", "01", "2", "5", "-1", "16777217", "9007199254740993"),
        "decimal": ("1.0", "1.50", "0.1", "-0.5"),
        "double": ("1", "2.5", "0.1", "0.3", "-0.0", "1e308"),
        "float": ("3", "0.1", "16777216"),
    }.items()
    for text in texts
]
OTHERS = [
    *(literal(text, XSD + "double") for text in ("NaN", "INF")),
    literal("abc", XSD + "integer"),
    literal("1", XSD + "byte"),
    literal("300", XSD + "byte"),
    literal("true", XSD + "boolean"),
    *(literal("2000-01-01T00:00:00" + zone, XSD + "dateTime") for zone in ("", "Z")),
    literal("2000-01-01", XSD + "date"),
    literal("x"),
    literal("y"),
    literal("x", language="en"),
    literal("x", "urn:t"),
    "_:b",
]
AGGREGATES = ("COUNT(*)", "COUNT({})", "SUM({})", "AVG({})", "MIN({})", "MAX({})")
DISTINCT_AGGREGATES = tuple(text.replace("({}", "(DISTINCT {}") for text in AGGREGATES[1:])

IRI_CONDITIONS = (
    "BOUND(?a)",
    "?a = ?b",
    "?a != <urn:a>",
    "?a = <urn:b>",
    "?a != ?b",
    "!(?a = <urn:a>)",
    "(?a = <urn:a> || ?b != <urn:b>)",
    "(?a != <urn:c> && ?b != <urn:b>)",
)
NUMBER_CONDITIONS = (
    "?a > 1",
    "?a <= 2",
    "?a = 1.0",
    "?a < ?b",
    "?a != 1e0",
    "?a + 1 > ?b",
    "-?a < 0",
    "?a * ?b - 1 < 2",
    "!(?a > 1)",
    "(?a > 1 || BOUND(?b))",
    "(?a > 0.1 && ?b < 3)",
)

FORMS = (
    "{} OPTIONAL {{ {} }}",
    "{} OPTIONAL {{ {} }}",
    "{{ {} }} UNION {{ {} }}",
    "{{ {} }} {{ {} }}",
    "{{ {} }} . {}",
    "{} MINUS {{ {} }}",
    "{} MINUS {{ {} }}",
    "{} OPTIONAL {{ {} }}",
)


class BodyTrial(NamedTuple):
    """A body's text, and the triples that come and go."""

    text: str
    triples: tuple[Triple, ...]


def draw_trial(r: Random, graphs: Sequence[str] = ()) -> BodyTrial:
    """Draw a body and triples. The objects are IRIs, or numbers too, or terms of any kind. Most
    conditions suit them, since a run ends at the first value that is not covered.

    The body may have MINUS, EXISTS, subselects, and joins on variables that may be unbound or are
    compared by value. If there are names of `graphs`, parts of the body stand in GRAPH.
    """
    pool = r.choice([list(IRIS), NUMBERS, NUMBERS + OTHERS])
    objects = [*r.sample(pool, r.randint(2, 3)), r.choice(IRIS)]
    if len(pool) == len(IRIS):
        conditions = IRI_CONDITIONS
    else:
        conditions = NUMBER_CONDITIONS + IRI_CONDITIONS[:2]
    subjects = [*IRIS, "_:b"] if not r.randrange(5) else list(IRIS)
    triples = tuple(
        (r.choice(subjects), r.choice(PREDICATES), r.choice(objects))
        for _ in range(r.randint(3, 9))
    )
    conditions += ("?a = ?b",) * 4
    return BodyTrial(_valid_body(r, BodyDraw(r, conditions, graphs)), triples)


def _valid_body(r: Random, drawing: BodyDraw) -> str:
    """Draw a body until SPARQL allows it: it may bind one variable twice."""
    while True:
        text = draw_select(r, drawing.group(0))
        with suppress(RefengineError):
            return Body(text).text


class BodyDraw:
    """What draws the groups of one body. Blank nodes have a label of their own in each pattern."""

    def __init__(self, r: Random, conditions: tuple[str, ...], graphs: Sequence[str]) -> None:
        self.r = r
        self.conditions = conditions
        self.graphs = graphs
        self.number = 0

    def group(self, depth: int) -> str:
        """Draw a group: patterns, other groups beside them, and filters."""
        r = self.r
        text = " . ".join(self._pattern() for _ in range(r.choice([1, 1, 2, 2, 2, 3])))
        if depth < 2:
            for _ in range(r.choice([0, 0, 0, 1] if depth else [0, 0, 1, 2])):
                text = r.choice(FORMS).format(text, self.group(depth + 1))
            if not r.randrange(3):
                text = f"{{ {text} }} {{ {self._subselect(depth + 1)} }}"
        names = variables_of(text)
        for _ in range(r.choice([0, 0, 1, 1, 2])):
            condition = r.choice(self.conditions)
            a, b = r.choice(names), r.choice(names)
            text += f" FILTER({condition.replace('?a', a).replace('?b', b)})"
        if not r.randrange(3):
            a, b = r.choice(names), r.choice(names)
            test = f"{r.choice(['', '!'])}EXISTS {{ {self.group(depth + 1)} }}"
            condition = r.choice(self.conditions).replace("?a", a).replace("?b", b)
            text += (
                f" FILTER({r.choice(['{1}', '{0} || {1}', '{1} && {0}']).format(condition, test)})"
            )
        if self.graphs and r.random() < 0.6:
            # a variable of the pattern, too, which then has a name as its term, or none
            name = r.choice([*self.graphs, "?g", "?g", "?g", r.choice(names)])
            return f"GRAPH {name} {{ {text} }}"
        return text

    def _subselect(self, depth: int) -> str:
        """Draw a subselect, whose aggregates may have the names of another one's."""
        text = draw_select(self.r, self.group(depth))
        for i in range(2):
            text = text.replace(f"?r{i}", f"?s{i + self.r.randrange(2)}")
        return text

    def _pattern(self) -> str:
        r = self.r
        self.number += 1
        subject = r.choice(["?x", "?x", "?x", "?y", "?y", "?z", "<urn:a>"])
        predicate = r.choice([*PREDICATES, "?p", r.choice(PATHS)])
        objects = ["?y", "?z", "?y", "?z", "?v", "?x", f"_:k{self.number}", "<urn:a>", "1"]
        return f"{subject} {predicate} {r.choice(objects)}"


def _slice(r: Random, names: list[str]) -> str:
    """Draw LIMIT and OFFSET, or none. Without conditions for all variables they rarely have a
    single answer.
    """
    if r.random() < 0.7:
        return ""
    conditions = [r.choice(["{}", "DESC({})"]).format(name) for name in r.sample(names, len(names))]
    bounds = r.choice(["LIMIT 1", "LIMIT 2", "LIMIT 3 OFFSET 1", "OFFSET 1"])
    return f" ORDER BY {' '.join(conditions)} {bounds}"


def variables_of(text: str) -> list[str]:
    """Return the variables of a group, such as ?x; ?x alone if it has none."""
    return sorted(set(re.findall(r"\?\w+", text))) or ["?x"]


def draw_select(r: Random, group: str) -> str:
    """Draw a SELECT over a group, with or without aggregates."""
    names = variables_of(group)
    distinct = r.choice(["", "", "DISTINCT "])
    if r.random() < 0.6:
        some = " ".join(r.sample(names, r.randint(1, len(names))))
        return f"SELECT {distinct}{r.choice(['*', some])} {{ {group} }}{_slice(r, names)}"
    aggregates = [
        r.choice(AGGREGATES + DISTINCT_AGGREGATES).format(r.choice(names))
        for _ in range(r.choice([1, 1, 2]))
    ]
    shown = " ".join(f"({aggregate} AS ?r{i})" for i, aggregate in enumerate(aggregates))
    keys = " ".join(r.sample(names, min(len(names), r.choice([0, 0, 1, 1, 2]))))
    text = f"SELECT {distinct}{r.choice([keys, ''])} {shown} {{ {group} }}"
    if keys:
        text += f" GROUP BY {keys}"
    if r.random() < 0.3:
        having = r.choice(["COUNT(*) > 1", "{} > 1", "!({} < 2)", "{} * 2 > 1", "-{} < 0"])
        text += f" HAVING({having.format(aggregates[0])})"
    return text


PLAIN_NUMBERS = [
    *(literal(text, XSD + "integer") for text in ("1", "01", "2", "7")),
    *(literal(text, XSD + "decimal") for text in ("1.0", "2.5")),
]
TEXTS = [*(literal(text) for text in ("x", "y", "x1", "")), literal("x", language="en")]
MOMENTS = [
    literal(f"2001-0{month}-01T00:00:0{month}{zone}", XSD + "dateTime")
    for month in (1, 2)
    for zone in ("", "Z")
]
FRACTIONS = [
    *(literal(text, XSD + "double") for text in ("0.1", "0.2", "2", "2.0", "-0.3", "0")),
    *(literal(text, XSD + "decimal") for text in ("2", "2.0", "0.5")),
]
POOLS = (
    PLAIN_NUMBERS,
    PLAIN_NUMBERS,
    FRACTIONS,
    FRACTIONS,
    NUMBERS,
    [*IRIS, *TEXTS],
    [*PLAIN_NUMBERS, *IRIS],
    [*MOMENTS, *TEXTS],
    [*NUMBERS, *OTHERS, *TEXTS, *IRIS],
)
OPERANDS = (
    "?a",
    "?a + ?b",
    "?a * 2",
    "?a / 2",
    "?a - 1.5",
    "-?a",
    "IF(?a > 1, ?b, 'less')",
    "IF(?a > 1, ?a, ?a * 1.0)",
    "IF(?a = ?b, ?a, ?b + 0.0)",
    "COALESCE(?u, ?a * 1e0)",
    "IF(BOUND(?b), ?a, 0)",
    "COALESCE(?b, ?u, 'none')",
    "COALESCE(?a / 0, ?a)",
    "STR(?a)",
    "STRLEN(STR(?a))",
    "UCASE(?a)",
    "CONCAT(STR(?a), '-', STR(?b))",
    "STRAFTER(STR(?a), 'urn:')",
    "SUBSTR(STR(?a), 1, 5)",
    "REPLACE(STR(?a), '[0-9]', '#')",
    "LANG(?a)",
    "DATATYPE(?a)",
    "YEAR(?a)",
    "ABS(?a)",
    "FLOOR(?a)",
    "ROUND(?a / 2)",
    "xsd:integer(?a)",
    "xsd:double(?a)",
    "xsd:string(?a)",
    "IRI(CONCAT('urn:', STR(?a)))",
    "?u",
    "'k'",
    "?a = ?b",
    "?a > 1",
    "1",
    "2.0",
)
CONDITIONS = (
    "?a > 1",
    "?a < ?b",
    "?a != ?b",
    "?a = 'x'",
    "?a",
    "!?a",
    "true",
    "?u",
    "BOUND(?u)",
    "!BOUND(?b)",
    "?a IN (1, ?b, <urn:a>)",
    "?a NOT IN (2, 'x')",
    "?b IN (?u, <urn:b>)",
    "REGEX(STR(?a), '^[ux1]')",
    "ISIRI(?a)",
    "ISNUMERIC(?a) || ?b = <urn:a>",
    "LANGMATCHES(LANG(?a), '*')",
    "CONTAINS(STR(?a), '1')",
    "STRSTARTS(STR(?a), 'urn:')",
    "sameTerm(?a, ?b)",
    "?a / 2 > 0.5",
    "DATATYPE(?a) = xsd:integer",
    "IF(?a > 1, ?b != 2, true)",
    "COALESCE(?a > 1, false)",
    "MONTH(?a) = 1",
    "?u > 1 || ?a < 5",
)
AGGREGATES_OF_EXPRESSIONS = (
    "COUNT(*)",
    "COUNT(DISTINCT *)",
    "COUNT({})",
    "COUNT(DISTINCT {})",
    "SUM({})",
    "SUM(DISTINCT {})",
    "AVG({})",
    "MIN({})",
    "MAX({})",
    "MIN({})",
    "MAX({})",
    "SAMPLE({})",
    "GROUP_CONCAT({})",
    "GROUP_CONCAT(DISTINCT {}; SEPARATOR='|')",
)
ROWS = (
    "VALUES ?x { <urn:a> <urn:b> <urn:b> }",
    "VALUES (?x ?k) { (<urn:a> 1) (<urn:a> 'one') (<urn:c> UNDEF) }",
    "VALUES ?k { 1 2.0 }",
    "VALUES (?y ?k) { (2.0 1) (2e0 1) (1 1) (<urn:a> 1) }",
    "VALUES ?x { }",
)
PREFIX = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


def draw_expression_trial(r: Random) -> BodyTrial:
    """Draw a body with expressions, and triples whose objects suit some of them."""
    pool = r.choice(POOLS)
    objects = [r.choice(pool) for _ in range(r.randint(2, 4))] + [r.choice(IRIS)]
    subjects = [*IRIS, "_:b"] if not r.randrange(5) else list(IRIS)
    triples = tuple(
        (r.choice(subjects), r.choice(PREDICATES), r.choice(objects))
        for _ in range(r.randint(3, 9))
    )
    return BodyTrial(PREFIX + ExpressionDraw(r).body(), triples)


class ExpressionDraw:
    """What draws one body. `names` are the variables that its group binds so far."""

    def __init__(self, r: Random) -> None:
        self.r = r
        self.names: list[str] = []
        self.count = 0

    def body(self) -> str:
        """Draw a body of any form."""
        group = self.group()
        draw = self.r.choice(
            [self.rows, self.rows, self.groups, self.groups, self.groups, self.triples, self.ask]
        )
        return draw(group)

    def group(self) -> str:
        """Draw a group: patterns, then BIND, VALUES, OPTIONAL, UNION, and filters."""
        r = self.r
        if not r.randrange(25):
            text = ""
        else:
            text = r.choice(
                [
                    "?x <urn:p> ?y",
                    "?x <urn:p> ?y",
                    "?x <urn:p> ?y . ?x <urn:q> ?z",
                    "?x <urn:p> ?y . ?z <urn:q> ?y",
                    "?x ?p ?y",
                ]
            )
        self.names = sorted(set(text.split()) & {"?x", "?y", "?z"}) or ["?x"]
        for _ in range(r.choice([0, 1, 1, 2])):
            text += " " + r.choice([self.bind, self.bind, self.values, self.optional, self.union])()
        for _ in range(r.choice([0, 0, 1, 1, 2])):
            text += f" FILTER({self.filled(r.choice(CONDITIONS))})"
        return text

    def filled(self, text: str) -> str:
        """Return an expression with drawn variables for ?a and ?b; ?u is bound nowhere."""
        a = self.r.choice(self.names)
        return text.replace("?a", a).replace("?b", self.r.choice(self.names))

    def operand(self) -> str:
        """Draw an expression."""
        return self.filled(self.r.choice(OPERANDS))

    def fresh(self) -> str:
        """Return a new variable."""
        self.count += 1
        return f"?v{self.count}"

    def bind(self) -> str:
        """Draw BIND."""
        variable = self.fresh()
        text = f"BIND({self.operand()} AS {variable})"
        self.names.append(variable)
        return text

    def values(self) -> str:
        """Draw VALUES, by itself or of a variable that BIND has renamed."""
        if self.r.randrange(4):
            return self.r.choice(ROWS)
        variable = self.fresh()
        renamed = self.r.choice(self.names)
        return f"BIND({renamed} AS {variable}) VALUES {variable} {{ 2.0 2e0 1 <urn:a> }}"

    def optional(self) -> str:
        """Draw OPTIONAL, with or without a filter."""
        variable = self.fresh()
        condition = self.filled(self.r.choice(CONDITIONS)).replace("?u", variable)
        text = f"OPTIONAL {{ ?x <urn:q> {variable} "
        text += self.r.choice(["", f"FILTER({condition})"]) + " }"
        self.names.append(variable)
        return text

    def union(self) -> str:
        """Draw a UNION of a pattern and a BIND."""
        variable = self.fresh()
        text = f"{{ ?x <urn:q> {variable} }} UNION {{ ?x <urn:p> ?w BIND(2.0 AS {variable}) }}"
        self.names.append(variable)
        return text

    def rows(self, group: str) -> str:
        """Draw a SELECT without aggregates."""
        shown = self.r.sample(self.names, self.r.randint(1, len(self.names)))
        shown += [f"({self.operand()} AS {self.fresh()})" for _ in range(self.r.randrange(3))]
        order = self.r.choice(["", f"ORDER BY {self.r.choice(self.names)}"])
        head = self.r.choice(["", "", "DISTINCT "])
        return f"SELECT {head}{' '.join(shown)} {{ {group} }} {order}"

    def groups(self, group: str) -> str:
        """Draw a SELECT of aggregates, with keys that are variables or expressions."""
        r = self.r
        keys = []
        shown = []
        for _ in range(r.choice([0, 1, 1, 2])):
            if r.randrange(2):
                variable = r.choice(self.names)
                if variable not in keys:
                    keys.append(variable)
                    shown.append(variable)
            else:
                variable = self.fresh()
                keys.append(f"({self.operand()} AS {variable})")
                shown.append(variable)
        aggregates = [
            r.choice(AGGREGATES_OF_EXPRESSIONS).format(
                self.operand() if r.randrange(2) else r.choice(self.names)
            )
            for _ in range(r.randint(1, 2))
        ]
        forms = ["{}", "{}", "{}", "{} + 1", "{} / 2", "STR({})", "IF({} > 1, 1, 2.0)"]
        shown += [f"({r.choice(forms).format(each)} AS {self.fresh()})" for each in aggregates]
        text = f"SELECT {r.choice(['', '', 'DISTINCT '])}{' '.join(shown)} {{ {group} }}"
        if keys:
            text += f" GROUP BY {' '.join(keys)}"
        if not r.randrange(3):
            having = r.choice(["{} > 1", "STR({}) != '1'", "!({} < 2)", "{} IN (1, 2)", "{} = {}"])
            text += f" HAVING({having.replace('{}', aggregates[0])})"
        if not r.randrange(6):
            text += " VALUES ?w { 1 2 }"
        return text

    def triples(self, group: str) -> str:
        """Draw a CONSTRUCT."""
        some = [self.r.choice([*self.names, *self.names, "<urn:c>", "?u"]) for _ in range(4)]
        template = f"{some[0]} <urn:made> {some[1]} . {some[2]} ?p {some[3]} . "
        return f"CONSTRUCT {{ {template} <urn:c> <urn:made> 2.0 }} WHERE {{ {group} }}"

    def ask(self, group: str) -> str:
        """Draw an ASK, cut by LIMIT and OFFSET or not."""
        return f"ASK {{ {group} }} {self.r.choice(['', '', 'OFFSET 1', 'LIMIT 0', 'LIMIT 2'])}"


COMPUTED = (
    "IF(?x = <urn:a>, ?y, ?y + 0.0)",
    "IF(?y > 1, ?y, ?y * 1.0)",
    "IF(?x = <urn:a>, ?y, ?y * 1e0)",
    "IF(?x = <urn:a>, -?y, ?y * -1e0)",
    "?y / 3",
    "COALESCE(?y + 0.0, ?y)",
)
WITH_COMPUTED = (
    "SELECT DISTINCT ?k {{ {} }}",
    "SELECT DISTINCT ?x ?k {{ {} }}",
    "SELECT ?x ?k {{ {} }}",
    "SELECT ?k (COUNT(*) AS ?n) {{ {} }} GROUP BY ?k",
    "SELECT (COUNT(*) AS ?n) {{ {} }} GROUP BY ?x (?k * 2.0)",
    "SELECT (COUNT(DISTINCT ?k) AS ?n) (SUM(DISTINCT ?k) AS ?m) {{ {} }}",
    "SELECT (COUNT(DISTINCT *) AS ?n) {{ {} }}",
    "SELECT (MIN(?k) AS ?n) (MAX(?k) AS ?m) {{ {} }}",
    "SELECT (STR(MIN(?k)) AS ?n) (STR(MAX(?y)) AS ?m) {{ {} }}",
    "SELECT ?x (SAMPLE(?k) AS ?n) {{ {} }} GROUP BY ?x",
    "SELECT (SUM(?k) AS ?n) (AVG(?k) * 2 AS ?m) {{ {} }}",
    "SELECT DISTINCT (IF(COUNT(*) > 2, SUM(?k), MIN(?y)) AS ?n) {{ {} }} GROUP BY ?x",
    "SELECT (COUNT(*) AS ?n) {{ {} }} GROUP BY ?x HAVING(STR(MAX(?y)) = '2' || MIN(?k) = 2)",
    "CONSTRUCT {{ <urn:c> <urn:made> ?k , 2.0 , ?y }} WHERE {{ {} }}",
    "CONSTRUCT {{ ?k <urn:made> ?x }} WHERE {{ {} }}",
    "SELECT ?x ?k ?z {{ {} OPTIONAL {{ ?x <urn:q> ?z }} FILTER(STR(?k) != '1') }}",
)


def draw_computed_trial(r: Random) -> BodyTrial:
    """Draw a body in which a computed number may stand where the data's number of the same value
    does, or another of its forms.
    """
    group = f"?x <urn:p> ?y BIND({r.choice(COMPUTED)} AS ?k)"
    objects = r.sample(FRACTIONS + PLAIN_NUMBERS, 3)
    triples = tuple(
        (r.choice(IRIS), r.choice(PREDICATES), r.choice(objects)) for _ in range(r.randint(3, 9))
    )
    return BodyTrial(r.choice(WITH_COMPUTED).format(group), triples)


ALL_CONDITIONS = (*IRI_CONDITIONS, *NUMBER_CONDITIONS, *CONDITIONS, *("?a = ?b",) * 8)
SLICES = ("", "", "", " ORDER BY {0} {1} LIMIT 2", " ORDER BY ({2}) {0} {1} LIMIT 1 OFFSET 1")


def draw_mixed_trial(r: Random, graphs: Sequence[str] = ()) -> BodyTrial:
    """Draw a body and triples. If there are names of `graphs`, parts of it stand in GRAPH."""
    pool = r.choice([list(IRIS), list(IRIS), PLAIN_NUMBERS, *POOLS])
    objects = [*(r.choice(pool) for _ in range(r.randint(2, 3))), r.choice(IRIS)]
    subjects = [*IRIS, "_:b"] if not r.randrange(5) else list(IRIS)
    triples = tuple(
        (r.choice(subjects), r.choice(PREDICATES), r.choice(objects))
        for _ in range(r.randint(3, 9))
    )
    drawing = MixedDraw(r, graphs)
    while True:  # until SPARQL allows it: it may bind one variable twice
        text = PREFIX + drawing.body()
        with suppress(RefengineError):
            return BodyTrial(Body(text).text, triples)


class MixedDraw(BodyDraw):
    """What draws one body. `expressions` draws the expressions of its groups."""

    def __init__(self, r: Random, graphs: Sequence[str]) -> None:
        super().__init__(r, ALL_CONDITIONS, graphs)
        self.expressions = ExpressionDraw(r)

    def body(self) -> str:
        """Draw a body of any form."""
        r = self.r
        group = self.group(0)
        if r.randrange(2):
            return draw_select(r, group)
        self.expressions.names = variables_of(group)
        draw = r.choice(
            [
                self.expressions.rows,
                self.expressions.groups,
                self.expressions.triples,
                self.expressions.ask,
            ]
        )
        text = draw(group)
        if text.startswith("SELECT") and "ORDER BY" not in text and "VALUES ?w" not in text:
            names = self.expressions.names
            text += r.choice(SLICES).format(
                r.choice(names), r.choice(names), self.expressions.operand()
            )
        return text

    def group(self, depth: int) -> str:
        """Draw a group, with BIND, VALUES and EXISTS in a BIND behind it."""
        text = super().group(depth)
        for _ in range(self.r.choice([0, 0, 0, 1, 1, 2])):
            self.expressions.names = variables_of(text)
            text += " " + self.r.choice([self._bind, self._bind, self._values, self._test])(depth)
        return text

    def _bind(self, depth: int) -> str:
        return self.expressions.bind()

    def _values(self, depth: int) -> str:
        return self.r.choice(ROWS)

    def _test(self, depth: int) -> str:
        """Draw a BIND of EXISTS, with a group of one level alone."""
        if depth > 1:
            return ""
        return f"BIND(EXISTS {{ {super().group(2)} }} AS {self.expressions.fresh()})"
