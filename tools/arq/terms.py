"""Pools of terms that data and queries share, so that patterns match: themes of values, and what
each draw takes from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from refengine.model.elements import XSD, Dataset, Quad, Triple, is_blank, literal, parse_literal
from refengine.model.terms import Term

# one begins another: their order differs with brackets around them
NODES = ["<urn:a>", "<urn:b>", "<urn:a1>"]
ABSENT = "<urn:absent>"  # in no dataset
PREDICATES = ["<urn:p>", "<urn:q>", "<urn:r>"]
GRAPHS = ["<urn:g>", "<urn:h>"]
BLANKS = ["_:b0", "_:b1"]


def _typed(datatype: str, *lexicals: str) -> list[Term]:
    """Return literals of a datatype of XSD."""
    return [literal(lexical, XSD + datatype) for lexical in lexicals]


BIG = [
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
]
THEMES: dict[str, list[Term]] = {
    "integers": _typed(
        "integer", "0", "1", "2", "3", "-1", "-7", "01", "+1", "-0", "10", "007", *BIG
    ),
    "decimals": _typed(
        "decimal",
        "1.0",
        "1",
        "0.5",
        "-2.5",
        "1.50",
        ".5",
        "-0.0",
        "+3.0",
        "2.25",
        "0.1",
        "1e3",
        "0.1234567890123456789",
        "12345678901234567890.5",
        "0.000001",
        "100.00",
    ),
    "doubles": [
        *_typed(
            "double",
            "1.0E0",
            "1",
            "1e0",
            "-0.0",
            "0",
            "NaN",
            "INF",
            "-INF",
            "+INF",
            "2.5",
            "1.0E1",
            "1E300",
            "1e-7",
            "0.1",
        ),
        *_typed("float", "1", "1.0", "0.1", "NaN", "-0.0", "16777217", "3.5"),
    ],
    "derived": [
        *_typed("byte", "5", "1", "-128", "300"),
        *_typed("unsignedInt", "7", "1", "-1"),
        *_typed("int", "1", "2147483648"),
        *_typed("nonNegativeInteger", "0", "+2"),
        *_typed("positiveInteger", "0", "3"),
        *_typed("long", "1", "9223372036854775807"),
        *_typed("negativeInteger", "-3"),
        *_typed("short", "2"),
        *_typed("unsignedByte", "255", "256"),
    ],
    "strings": [
        literal(text)
        for text in (
            "",
            "a",
            "b",
            "abc",
            "ABC",
            "Hello World",
            "a.b",
            'a"b',
            "line\nbreak",
            "tab\tx",
            "back\\slash",
            "été",
            "e\u0301",
            "\U0001d11e",
            "x\U0001f600y",
            "ß",
            "İ",
            "日本",
            "a/b c?d&e",
            "1",
            "01",
            "true",
            "  sp  ",
            "2020-01-01T00:00:00Z",
            "1.5",
            "1e3",
            "NaN",
            "http://x/ y",
            "urn:a",
            "aXbXc",
            "$1",
            "\r",
        )
    ],
    "languages": [
        literal(text, language=tag)
        for text, tag in (
            ("a", "en"),
            ("a", "en-gb"),
            ("a", "fr"),
            ("abc", "en"),
            ("", "en"),
            ("été", "fr"),
            ("b", "de-latn-de"),
            ("A", "en"),
            ("\U0001d11e", "en"),
        )
    ],
    "booleans": _typed("boolean", "true", "false", "1", "0", "maybe", "TRUE"),
    "dates": [
        *_typed(
            "dateTime",
            "2020-01-01T00:00:00Z",
            "2020-01-01T00:00:00",
            "2020-01-01T01:00:00+01:00",
            "2019-12-31T24:00:00Z",
            "2020-02-29T12:30:45.5-05:00",
            "2021-02-29T00:00:00Z",
            "2020-13-01T00:00:00",
            "-0044-03-15T00:00:00Z",
            "2020-01-01T13:00:00",
            "2020-06-15T23:59:59.999+14:00",
            "2020-01-01T00:00:00-00:00",
            "12020-01-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
        ),
        *_typed("date", "2020-01-01", "2020-01-01Z"),
        *_typed("time", "12:00:00"),
        *_typed("dayTimeDuration", "PT1H"),
        *_typed("gYear", "2020"),
    ],
    "odd": [
        *_typed("integer", "abc", "1.0", "", " 1 "),
        *_typed("double", "x"),
        *_typed("decimal", "1E0"),
        *_typed("dateTime", "now"),
        *(literal(text, "urn:dt") for text in ("a", "b", "1")),
        literal("a", "urn:dt2"),
    ],
}
WEIGHTS = {
    "integers": 8,
    "decimals": 5,
    "doubles": 5,
    "derived": 3,
    "strings": 8,
    "languages": 4,
    "booleans": 4,
    "dates": 5,
    "odd": 3,
}
SIMPLE = [*_typed("integer", "1", "2", "3"), literal("a"), literal("abc")]


@dataclass(frozen=True)
class Palette:
    """The few literals of one draw."""

    literals: tuple[Term, ...]

    def value(self, random: Random) -> Term:
        """Return a literal or, sometimes, an IRI."""
        if random.random() < 0.2:
            return random.choice(NODES)
        return random.choice(self.literals)


def palette(random: Random) -> Palette:
    """Return three to seven literals, most of them of one or two themes."""
    themes = random.choices(list(WEIGHTS), list(WEIGHTS.values()), k=random.choice([1, 2, 2, 3]))
    drawn = [random.choice(THEMES[random.choice(themes)]) for _ in range(random.randint(2, 5))]
    return Palette((*drawn, random.choice(SIMPLE), random.choice(SIMPLE)))


def dataset(random: Random, colours: Palette) -> Dataset:
    """Return up to a dozen triples in the default graph, and sometimes some in one or two named
    graphs.
    """
    count = random.choice([0, *range(1, 13), *range(8, 13), *range(8, 13), *range(8, 13)])
    names: list[tuple[()] | tuple[Term]] = [()]
    if random.random() < 0.4:
        names += [(), (), *((name,) for name in GRAPHS[: random.randint(1, 2)])]
    statements: list[Triple | Quad] = []
    for _ in range(count):
        subject = random.choice([*NODES, *NODES, *NODES[:1] * 3, *BLANKS])
        predicate = random.choice([*PREDICATES, *PREDICATES[:2], PREDICATES[0]])
        chance = 0.7
        if predicate == PREDICATES[1]:
            chance = 0.3
        to_value = random.random() < chance
        objects: Sequence[Term] = [*NODES, *BLANKS]
        if to_value:
            objects = colours.literals
        object_ = random.choice(objects)
        statements.append((subject, predicate, object_, *random.choice(names)))
    return frozenset(statements)


PREFIXES = f"PREFIX : <urn:>\nPREFIX xsd: <{XSD}>\n"


# Literals that a query may write without quotes and datatype, by datatype.
PLAIN_LITERALS = {
    XSD + "integer": {"0", "1", "2", "3", "10", "01", "007"},
    XSD + "boolean": {"true", "false"},
    XSD + "decimal": {"1.0", "0.5"},
    XSD + "double": {"1.0E0", "1e0"},
}


def write_term(term: Term, random: Random | None = None) -> str:
    """Return a term as a query writes it: with a prefix, and some numbers and booleans without
    quotes. With `random`, a language tag is sometimes in upper case.

    Raises ValueError for a blank node, which has no name in a query.
    """
    if is_blank(term):
        raise ValueError("a blank node of the data has no name in a query")
    if term.startswith("<urn:"):
        return f":{term[5:-1]}"
    if term.startswith("<"):
        return term
    lexical, datatype, language = parse_literal(term)
    if lexical in PLAIN_LITERALS.get(datatype, ()):
        return lexical

    text = literal(lexical).replace("\t", "\\t")
    if language:
        if random and random.random() < 0.2:
            language = language.upper()
        return f"{text}@{language}"
    if datatype == XSD + "string":
        return text
    if datatype.startswith(XSD):
        return f"{text}^^xsd:{datatype.removeprefix(XSD)}"
    return f"{text}^^<{datatype}>"


def nquads(graph: Dataset) -> str:
    """Return a dataset as N-Quads, in a fixed order."""
    return "".join(" ".join(statement) + " .\n" for statement in sorted(graph))
