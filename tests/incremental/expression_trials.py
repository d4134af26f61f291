"""Bodies with expressions of every kind where SPARQL has them: filters, BIND, SELECT, keys, HAVING,
arguments of aggregates; VALUES, CONSTRUCT and ASK. Drawn by a seed, as in `body_trials`.
"""

from __future__ import annotations

from random import Random

from body_trials import IRIS, NUMBERS, OTHERS, PREDICATES, BodyTrial

from refengine import literal
from refengine.model.elements import XSD

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
AGGREGATES = (
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
            r.choice(AGGREGATES).format(self.operand() if r.randrange(2) else r.choice(self.names))
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
