"""Draws expressions: every operator and function of SPARQL 1.1 §17, mostly on operands of the type
that they take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tools.arq.terms import ABSENT, NODES, THEMES, Palette, write_term
from tools.arq.tree import Node, node

OFF_TYPE = 0.06  # how often an operand is of another type than the function takes
NUMBERS = ("integers", "decimals", "doubles", "derived")
CASTS = ("boolean", "double", "float", "decimal", "integer", "dateTime", "string")
PATTERNS = (
    "a",
    "^a",
    "b.",
    "A",
    ".",
    "[a-c]+",
    "(a)(b)",
    "x|b",
    "^$",
    "\\\\s",
    "é",
    "a.b",
    "b$",
    "(a|b)*c",
    "\\\\d+",
    "B",
    "^b",
    "(",
    "a{2,}",
)
REPLACEMENTS = ("", "X", "$1", "$0-", "\\\\$", "[$1]", "\\\\\\\\", "$2$1", "$")
FLAGS = ("i", "s", "m", "x", "", "is", "q", "im")
RANGES = ("en", "*", "EN-gb", "fr", "", "en-", "de-DE", "de")
HASHES = ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")
# What gives a string: functions, "hash", "cast" and "if". Those with more to try stand twice.
STRING_FUNCTIONS = (
    "STR",
    "STR",
    "LANG",
    "SUBSTR",
    "SUBSTR",
    "UCASE",
    "LCASE",
    "STRBEFORE",
    "STRAFTER",
    "ENCODE_FOR_URI",
    "CONCAT",
    "CONCAT",
    "REPLACE",
    "REPLACE",
    "hash",
    "STRDT",
    "STRLANG",
    "cast",
    "TZ",
    "if",
)
# Functions of one argument that is no string: the function's name in a query, and the kind.
ONE_ARGUMENT = {"STR": ("STR", "any"), "cast": ("xsd:string", "any"), "TZ": ("TZ", "date")}
DATE_PARTS = ("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS")


@dataclass
class Expressions:
    """Draws expressions over some variables.

    `exists` draws the group of an EXISTS; None where none may stand. `unbound` says whether a
    variable may be named that no pattern binds; beside aggregates it may not.
    """

    random: Random
    palette: Palette
    variables: Sequence[str]
    exists: Callable[[Sequence[str]], Node] | None = None
    unbound: bool = True

    def draw(self, kind: str = "any", depth: int = 2) -> Node:
        """Return an expression that is mostly of a kind: boolean, number, string, date, iri or
        any.
        """
        if kind == "any" or self.random.random() < OFF_TYPE:
            kind = self.random.choice(
                ("boolean", "number", "number", "string", "string", "date", "iri", "term", "term")
            )
        if depth <= 0 or kind == "term" or self.random.random() < 0.25:
            return self.atom(kind)
        drawn: Node = getattr(self, f"_{kind}")(depth - 1)
        return drawn

    def atom(self, kind: str) -> Node:
        """Return a variable, in most cases, or a term of the kind."""
        random = self.random
        if self.variables and random.random() < 0.65:
            return node("expr", random.choice(self.variables))
        if self.unbound and random.random() < 0.05:
            return node("expr", "?unbound")
        themes = {
            "number": NUMBERS,
            "string": ("strings", "strings", "languages"),
            "date": ("dates",),
            "boolean": ("booleans",),
        }
        if kind == "iri":
            return node("expr", write_term(random.choice([*NODES, ABSENT])))
        if kind in themes and random.random() < 0.6:
            return node(
                "expr", write_term(random.choice(THEMES[random.choice(themes[kind])]), random)
            )
        return node("expr", write_term(self.palette.value(random), random))

    def _call(self, name: str, *arguments: Node) -> Node:
        """Return a call of a function."""
        parts: list[str | Node] = [f"{name}("]
        for i, argument in enumerate(arguments):
            if i:
                parts.append(", ")
            parts.append(argument)
        return node("expr", *parts, ")")

    def _infix(self, left: Node, operator: str, right: Node) -> Node:
        """Return an operator between two expressions, in brackets."""
        return node("expr", "(", left, f" {operator} ", right, ")")

    def _boolean(self, depth: int) -> Node:
        """Return an expression that is mostly boolean."""
        random = self.random
        choices: list[tuple[int, Callable[[int], Node]]] = [
            (10, self._comparison),
            (4, self._logical),
            (2, self._membership),
            (2, self._test),
            (3, self._string_test),
            (2, self._conditional),
            (1, self._cast_boolean),
            (2 * (self.exists is not None), self._exists),
        ]
        return random.choices([f for _, f in choices], [w for w, _ in choices])[0](depth)

    def _comparison(self, depth: int) -> Node:
        """Return a comparison of two values, mostly of one kind."""
        random = self.random
        kind = random.choice(
            ("number", "number", "string", "date", "boolean", "any", "term", "term")
        )
        operator = random.choice(("=", "=", "!=", "<", "<=", ">", ">="))
        return self._infix(self.draw(kind, depth), operator, self.draw(kind, depth))

    def _logical(self, depth: int) -> Node:
        """Return a conjunction, a disjunction or a negation."""
        if self.random.random() < 0.3:
            return node("expr", "(!", self.draw("boolean", depth), ")")
        return self._infix(
            self.draw("boolean", depth),
            self.random.choice(("||", "&&")),
            self.draw("boolean", depth),
        )

    def _membership(self, depth: int) -> Node:
        """Return IN or NOT IN with a list."""
        kind = self.random.choice(("number", "string", "any"))
        left = self.draw(kind, depth)
        items: list[str | Node] = []
        for i in range(self.random.choice((0, 1, 2, 2, 3))):
            if i:
                items.append(", ")
            items.append(self.draw(kind, 0))
        return node("expr", "(", left, self.random.choice((" IN (", " NOT IN (")), *items, "))")

    def _test(self, depth: int) -> Node:
        """Return a function that asks what a term is."""
        name = self.random.choice(
            ("isIRI", "isURI", "isBlank", "isLiteral", "isNumeric", "BOUND", "sameTerm")
        )
        if name == "BOUND" and (self.unbound or self.variables):
            return node(
                "expr",
                f"BOUND({self.random.choice([*self.variables, *['?unbound'] * self.unbound])})",
            )
        if name == "BOUND":
            name = "isIRI"
        count = 1
        if name == "sameTerm":
            count = 2
        arguments = [self.draw("any", depth) for _ in range(count)]
        return self._call(name, *arguments)

    def _string_test(self, depth: int) -> Node:
        """Return a function that asks what a string is like."""
        random = self.random
        match random.choice(("REGEX", "REGEX", "LANGMATCHES", "STRSTARTS", "STRENDS", "CONTAINS")):
            case "REGEX":
                flags = self._flags(0.4)
                return self._call(
                    "REGEX",
                    self.draw("string", depth),
                    node("expr", f'"{random.choice(PATTERNS)}"'),
                    *flags,
                )
            case "LANGMATCHES":
                if random.random() < 0.8:
                    language = self._call("LANG", self.draw("string", depth - 1))
                else:
                    language = self.draw("string", 0)
                return self._call(
                    "LANGMATCHES", language, node("expr", f'"{random.choice(RANGES)}"')
                )
            case name:
                return self._call(name, self.draw("string", depth), self.draw("string", depth - 1))

    def _conditional(self, depth: int, kind: str = "boolean") -> Node:
        """Return IF or COALESCE, mostly of a kind."""
        if self.random.random() < 0.5:
            return self._call(
                "IF", self.draw("boolean", depth), self.draw(kind, depth), self.draw(kind, depth)
            )
        return self._call(
            "COALESCE", *(self.draw(kind, depth) for _ in range(self.random.choice((1, 2, 2, 3))))
        )

    def _cast_boolean(self, depth: int) -> Node:
        """Return a cast to a boolean."""
        return self._call("xsd:boolean", self.draw("any", depth))

    def _exists(self, depth: int) -> Node:
        """Return EXISTS or NOT EXISTS."""
        assert self.exists is not None  # else none is drawn
        word = self.random.choice(("EXISTS ", "NOT EXISTS "))
        return node("expr", "(", word, self.exists(self.variables), ")")

    def _number(self, depth: int) -> Node:
        """Return an expression that is mostly a number."""
        random = self.random
        match random.choice(
            ("infix", "infix", "infix", "sign", "round", "STRLEN", "part", "cast", "cast", "if")
        ):
            case "infix":
                return self._infix(
                    self.draw("number", depth), random.choice("+-*/"), self.draw("number", depth)
                )
            case "sign":
                return node("expr", f"({random.choice('-+')} ", self.draw("number", depth), ")")
            case "round":
                return self._call(
                    random.choice(("ABS", "ROUND", "CEIL", "FLOOR")), self.draw("number", depth)
                )
            case "STRLEN":
                return self._call("STRLEN", self.draw("string", depth))
            case "part":
                return self._call(random.choice(DATE_PARTS), self.draw("date", depth))
            case "cast":
                return self._call(
                    f"xsd:{random.choice(('integer', 'decimal', 'double', 'float'))}",
                    self.draw("any", depth),
                )
            case _:
                return self._conditional(depth, "number")

    def _flags(self, chance: float) -> list[Node]:
        """Return the flags of a regular expression, with some chance, or none."""
        if self.random.random() >= chance:
            return []
        return [node("expr", f'"{self.random.choice(FLAGS)}"')]

    def _string(self, depth: int) -> Node:
        """Return an expression that is mostly a string."""
        random = self.random
        name = random.choice(STRING_FUNCTIONS)
        match name:
            case "SUBSTR":
                numbers = [self._small() for _ in range(random.choice((1, 2)))]
                return self._call(name, self.draw("string", depth), *numbers)
            case "STRBEFORE" | "STRAFTER":
                return self._call(name, self.draw("string", depth), self.draw("string", depth - 1))
            case "CONCAT":
                count = random.choice((0, 1, 2, 2, 2, 3))
                return self._call(name, *(self.draw("string", depth) for _ in range(count)))
            case "REPLACE":
                return self._replace(depth)
            case "hash":
                return self._call(random.choice(HASHES), self.draw("string", depth))
            case "STRDT":
                datatype = node(
                    "expr", random.choice(("xsd:integer", "xsd:double", ":dt", "xsd:string"))
                )
                return self._call(name, self.draw("string", depth), datatype)
            case "STRLANG":
                return self._call(
                    name,
                    self.draw("string", depth),
                    node("expr", random.choice(('"en"', '"EN-GB"', '"fr"', '""'))),
                )
            case "if":
                return self._conditional(depth, "string")
            case _:
                function, kind = ONE_ARGUMENT.get(name, (name, "string"))
                return self._call(function, self.draw(kind, depth))

    def _replace(self, depth: int) -> Node:
        """Return a call of REPLACE."""
        flags = self._flags(0.3)
        pattern = node("expr", f'"{self.random.choice(PATTERNS)}"')
        replacement = node("expr", f'"{self.random.choice(REPLACEMENTS)}"')
        return self._call("REPLACE", self.draw("string", depth), pattern, replacement, *flags)

    def _small(self) -> Node:
        """Return a position or a length."""
        random = self.random
        if random.random() < 0.2:
            return self.draw("number", 1)
        return node(
            "expr",
            random.choice(
                ("0", "1", "2", "3", "-1", "1.5", "0.5", "2.5e0", '"NaN"^^xsd:double', "100")
            ),
        )

    def _date(self, depth: int) -> Node:
        """Return an expression that is mostly a date and time."""
        match self.random.choice(("cast", "cast", "TIMEZONE", "if", "STRDT")):
            case "cast":
                return self._call(
                    "xsd:dateTime", self.draw(self.random.choice(("date", "string")), depth)
                )
            case "TIMEZONE":
                return self._call("TIMEZONE", self.draw("date", depth))
            case "STRDT":
                return self._call(
                    "STRDT",
                    self._call("STR", self.draw("date", depth)),
                    node("expr", "xsd:dateTime"),
                )
            case _:
                return self._conditional(depth, "date")

    def _iri(self, depth: int) -> Node:
        """Return an expression that is mostly an IRI."""
        random = self.random
        match random.choice(("IRI", "URI", "DATATYPE", "DATATYPE", "BNODE", "if")):
            case "DATATYPE":
                return self._call("DATATYPE", self.draw("any", depth))
            case "BNODE":
                if random.random() < 0.4:
                    return node("expr", "BNODE()")
                return self._call("BNODE", self.draw("string", depth))
            case "if":
                return self._conditional(depth, "iri")
            case name:
                text = self._call("STR", self.draw("term", 0))
                argument = self._call("CONCAT", node("expr", '"urn:"'), text)
                if random.random() >= 0.5:
                    argument = self.draw("iri", depth)
                return self._call(name, argument)
