"""Bodies that incremental evaluation covers, or nearly, with triples for them. They are drawn by a
seed, which takes so little time that thousands can be compared with the definition.
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
)
MORE_FORMS = ("{} MINUS {{ {} }}", "{} MINUS {{ {} }}", "{} OPTIONAL {{ {} }}")


class BodyTrial(NamedTuple):
    """A body's text, and the triples that come and go."""

    text: str
    triples: tuple[Triple, ...]


def draw_trial(r: Random, has_joins: bool = False, graphs: Sequence[str] = ()) -> BodyTrial:
    """Draw a body and triples. The objects are IRIs, or numbers too, or terms of any kind. Most
    conditions suit them, since a run ends at the first value that is not covered.

    With `has_joins` the body may have MINUS, EXISTS, subselects, and joins on variables that may be
    unbound or are compared by value. If there are names of `graphs`, parts of the body stand in
    GRAPH.
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
    if has_joins:
        conditions += ("?a = ?b",) * 4
    return BodyTrial(_valid_body(r, BodyDraw(r, conditions, has_joins, graphs)), triples)


def _valid_body(r: Random, drawing: BodyDraw) -> str:
    """Draw a body until SPARQL allows it: it may bind one variable twice."""
    while True:
        text = draw_select(r, drawing.group(0))
        with suppress(RefengineError):
            return Body(text).text


class BodyDraw:
    """What draws the groups of one body. Blank nodes have a label of their own in each pattern.
    With `has_joins` there are MINUS, EXISTS and subselects, too.
    """

    def __init__(
        self, r: Random, conditions: tuple[str, ...], has_joins: bool, graphs: Sequence[str]
    ) -> None:
        self.r = r
        self.has_joins = has_joins
        self.forms = FORMS + MORE_FORMS if has_joins else FORMS
        self.conditions = conditions
        self.graphs = graphs
        self.number = 0

    def group(self, depth: int) -> str:
        """Draw a group: patterns, other groups beside them, and filters."""
        r = self.r
        text = " . ".join(self._pattern() for _ in range(r.choice([1, 1, 2, 2, 2, 3])))
        if depth < 2:
            for _ in range(r.choice([0, 0, 0, 1] if depth else [0, 0, 1, 2])):
                text = r.choice(self.forms).format(text, self.group(depth + 1))
            if self.has_joins and not r.randrange(3):
                text = f"{{ {text} }} {{ {self._subselect(depth + 1)} }}"
        names = variables_of(text)
        for _ in range(r.choice([0, 0, 1, 1, 2])):
            condition = r.choice(self.conditions)
            a, b = r.choice(names), r.choice(names)
            text += f" FILTER({condition.replace('?a', a).replace('?b', b)})"
        if self.has_joins and not r.randrange(3):
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
