"""Answers a small part of SPARQL: graph patterns, OPTIONAL, UNION, GRAPH, FILTER, sums, counts."""

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = ("uri", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SIZES = ("long", "int", "short", "byte", "unsignedLong", "unsignedInt", "unsignedShort")
SIGNS = ("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger")
EXACT = {"integer", "decimal", "unsignedByte", *SIZES, *SIGNS}
BROAD = {"double", "float"}

# ("uri", value), ("bnode", value), ("literal", value, datatype, language) or ("var", name)
Term = tuple[str, ...]
Row = dict[str, Term]
Graph = set[tuple[Term, ...]]
Expression = tuple[Any, ...]


class Unsupported(Exception):
    """Says what this engine lacks."""


class Failure(Exception):
    """Is the error of an expression."""


TOKEN = re.compile(
    r"""\s+|\#[^\n]*
    |(?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    |(?P<var>[?$]\w+)
    |(?P<text>"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
    |(?P<lang>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+|[+-]?\d*\.\d+|[+-]?\d+)
    |(?P<blank>_:\w+)
    |(?P<name>(?:[A-Za-z][\w-]*)?:(?:[\w-](?:[\w.-]*[\w-])?)?)
    |(?P<word>[A-Za-z]+)
    |(?P<sign>\^\^|&&|\|\||!=|<=|>=|[{}()\[\].;,=<>!*])""",
    re.VERBOSE,
)
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def unescape(text: str) -> str:
    """Reads the escapes of a string or an IRI."""

    def replace(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if code[0] in "uU" else ESCAPES.get(code, code)

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", replace, text)


def literal(value: str, datatype: str = "", language: str = "") -> Term:
    """Makes a literal; xsd:string is left out."""
    return ("literal", value, "" if datatype == XSD + "string" else datatype, language.lower())


class Reader:
    """Reads a query."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.prefixes: dict[str, str] = {}
        self.blanks = 0
        place = 0
        while place < len(text):
            match = TOKEN.match(text, place)
            if match is None:
                raise Unsupported(f"the query at {text[place : place + 10]!r}")
            if match.lastgroup:
                self.tokens.append((match.lastgroup, match[0]))
            place = match.end()
        self.tokens.append(("end", ""))
        self.place = 0

    def is_next(self, *words: str) -> bool:
        """Says whether one of these words or signs comes next."""
        kind, text = self.tokens[self.place]
        return kind in ("word", "sign") and text.upper() in words

    def accept(self, word: str) -> bool:
        """Takes this word or sign if it comes next."""
        found = self.is_next(word)
        self.place += found
        return found

    def expect(self, word: str) -> None:
        """Takes this word or sign."""
        if not self.accept(word):
            raise Unsupported(f"{self.tokens[self.place][1]!r} where {word} is expected")

    def take(self, *kinds: str) -> str:
        """Takes a token of one of these kinds."""
        kind, text = self.tokens[self.place]
        if kind not in kinds:
            raise Unsupported(f"{text!r} in a query")
        self.place += 1
        return text

    def read(self) -> "Select":
        """Reads SELECT."""
        while self.accept("PREFIX"):
            name = self.take("name")
            self.prefixes[name[:-1]] = unescape(self.take("iri")[1:-1])
        self.expect("SELECT")
        distinct = self.accept("DISTINCT")
        columns: list[tuple[str, Expression]] = []
        everything = self.accept("*")
        while not everything and not self.is_next("WHERE", "{"):
            columns.append(self.column())
        self.accept("WHERE")
        pattern = self.group()
        keys = []
        if self.accept("GROUP"):
            self.expect("BY")
            while self.tokens[self.place][0] == "var":
                keys.append(self.take("var")[1:])
        self.take("end")
        return Select(distinct, None if everything else columns, pattern, keys)

    def column(self) -> tuple[str, Expression]:
        """Reads a variable or an aggregate of SELECT."""
        if self.tokens[self.place][0] == "var":
            name = self.take("var")[1:]
            return name, ("var", name)
        self.expect("(")
        function = self.take("word").upper()
        if function not in ("COUNT", "SUM", "AVG"):
            raise Unsupported(function)
        self.expect("(")
        of: Expression = ("all",) if self.accept("*") else ("var", self.take("var")[1:])
        self.expect(")")
        self.expect("AS")
        name = self.take("var")[1:]
        self.expect(")")
        return name, ("aggregate", function, of)

    def group(self) -> list[Expression]:
        """Reads a group in braces."""
        self.expect("{")
        parts: list[Expression] = []
        while not self.accept("}"):
            if self.accept("OPTIONAL"):
                parts.append(("optional", self.group()))
            elif self.accept("GRAPH"):
                parts.append(("graph", self.term(), self.group()))
            elif self.accept("FILTER"):
                if not self.is_next("("):
                    raise Unsupported("FILTER without brackets")
                parts.append(("filter", self.expression()))
            elif self.is_next("{"):
                branches = [self.group()]
                while self.accept("UNION"):
                    branches.append(self.group())
                parts.append(("union", branches))
            else:
                self.triples(parts)
            self.accept(".")
        return parts

    def triples(self, parts: list[Expression]) -> None:
        """Reads the triple patterns of one subject."""
        subject = self.term()
        while True:
            verb = RDF_TYPE if self.tokens[self.place] == ("word", "a") else self.term()
            self.place += verb is RDF_TYPE
            while True:
                parts.append(("triple", (subject, verb, self.term())))
                if not self.accept(","):
                    break
            if not self.accept(";"):
                return
            if self.is_next(".", "}"):
                return

    def term(self) -> Term:
        """Reads a term; a blank node is a variable that no name reaches."""
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "iri":
            return ("uri", self.absolute(unescape(text[1:-1])))
        if kind == "name":
            prefix, _, local = text.partition(":")
            if prefix not in self.prefixes:
                raise Unsupported(f"the prefix {prefix}")
            return ("uri", self.absolute(self.prefixes[prefix] + local))
        if kind == "var":
            return ("var", text[1:])
        if kind == "blank":
            return ("var", " " + text)
        if kind == "number":
            form = "double" if "e" in text.lower() else "decimal" if "." in text else "integer"
            return literal(text, XSD + form)
        if kind == "word" and text.lower() in ("true", "false"):
            return literal(text.lower(), XSD + "boolean")
        if kind == "text":
            return self.string(unescape(text[1:-1]))
        raise Unsupported(f"{text!r} in a pattern")

    def absolute(self, iri: str) -> str:
        if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", iri):
            raise Unsupported("relative IRIs")
        return iri

    def string(self, value: str) -> Term:
        if self.tokens[self.place][0] == "lang":
            return literal(value, "", self.take("lang")[1:])
        return literal(value, self.term()[1]) if self.accept("^^") else literal(value)

    def expression(self) -> Expression:
        """Reads an expression."""
        left = self.conjunction()
        while self.accept("||"):
            left = ("or", left, self.conjunction())
        return left

    def conjunction(self) -> Expression:
        left = self.comparison()
        while self.accept("&&"):
            left = ("and", left, self.comparison())
        return left

    def comparison(self) -> Expression:
        left = self.operand()
        if self.is_next("=", "!=", "<", ">", "<=", ">="):
            sign = self.take("sign")
            return ("compare", sign, left, self.operand())
        return left

    def operand(self) -> Expression:
        if self.accept("!"):
            return ("not", self.operand())
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if self.accept("BOUND"):
            self.expect("(")
            name = self.take("var")[1:]
            self.expect(")")
            return ("bound", name)
        return ("term", self.term())


def number(term: Term) -> Fraction | float | None:
    """Gives the value of a numeric literal, or None."""
    if term[0] != "literal" or not term[2].startswith(XSD):
        return None
    kind, text = term[2][len(XSD) :], term[1].strip()
    if kind in EXACT:
        form = r"[+-]?(\d+\.?\d*|\.\d+)" if kind == "decimal" else r"[+-]?\d+"
        return Fraction(text) if re.fullmatch(form, text, re.ASCII) else None
    if kind in BROAD and re.fullmatch(
        r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?INF|NaN", text, re.ASCII
    ):
        return float(text)
    return None


def simplest(term: Term) -> Term:
    """Gives terms of one value the same key."""
    value = number(term)
    if value is None:
        return term
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return ("number", str(value))
        value = Fraction(value)
    return ("number", str(value))


class Select:
    """Is a query; `answer` evaluates it."""

    def __init__(
        self,
        distinct: bool,
        columns: list[tuple[str, Expression]] | None,
        pattern: list[Expression],
        keys: list[str],
    ) -> None:
        self.distinct, self.columns, self.pattern, self.keys = distinct, columns, pattern, keys
        self.has: Callable[[str], bool] = lambda _: False
        self.named: dict[str, Graph] = {}

    def answer(self, default: Graph, named: dict[str, Graph]) -> list[Row]:
        """Gives the rows over a dataset."""
        self.named = named
        solutions = self.solve(self.pattern, default, [{}])
        if self.columns is None:
            rows = [{n: t for n, t in row.items() if n[0] != " "} for row in solutions]
        elif self.keys or any(of[0] == "aggregate" for _, of in self.columns):
            rows = self.grouped(solutions)
        else:
            names = [name for name, _ in self.columns]
            rows = [{n: row[n] for n in names if n in row} for row in solutions]
            if self.has("unbound-as-empty-text"):
                rows = [{n: row.get(n, literal("")) for n in names} for row in rows]
        if self.distinct and not self.has("distinct-ignored"):
            rows = list({tuple(sorted(row.items())): row for row in rows}.values())
        return rows

    def grouped(self, solutions: list[Row]) -> list[Row]:
        groups: dict[tuple[Term | None, ...], list[Row]] = {}
        if not self.keys:
            groups[()] = []
        for row in solutions:
            groups.setdefault(tuple(row.get(key) for key in self.keys), []).append(row)
        if self.has("no-group-over-nothing"):
            groups = {key: rows for key, rows in groups.items() if rows}
        answers = []
        for key, rows in groups.items():
            answer = {n: t for n, t in zip(self.keys, key, strict=True) if t is not None}
            shown: Row = {}
            for name, of in self.columns or []:
                term = self.aggregate(of, rows) if of[0] == "aggregate" else answer.get(name)
                if term is not None:
                    shown[name] = term
            answers.append(shown)
        return answers

    def aggregate(self, of: Expression, rows: list[Row]) -> Term | None:
        """Gives COUNT, SUM or AVG of some rows."""
        _, function, what = of
        terms = [row[what[1]] for row in rows if what[0] == "var" and what[1] in row]
        if function == "COUNT":
            count = len(rows) if what == ("all",) else len(terms)
            return literal(str(count), XSD + "integer")
        values = [number(term) for term in terms]
        if len(terms) < len(rows) or any(value is None for value in values):
            return None  # an error leaves the variable unbound
        if any(isinstance(value, float) for value in values):
            raise Unsupported("sums of doubles and floats")
        total = sum((Fraction(value) for value in values if value is not None), Fraction(0))
        exact = all(term[2] != XSD + "decimal" for term in terms)
        if function == "SUM" or not values:
            return written(total, exact)
        if self.has("average-of-integers-truncated") and exact:
            return written(Fraction(int(total / len(values))), True)
        return written(total / len(values), False)

    def solve(self, parts: list[Expression], graph: Graph, rows: list[Row]) -> list[Row]:
        """Evaluates a group, beginning with some solutions."""
        filters = [part[1] for part in parts if part[0] == "filter"]
        for part in parts:
            if part[0] == "triple":
                rows = self.match(part[1], graph, rows)
            elif part[0] == "union":
                found = [row for branch in part[1] for row in self.solve(branch, graph, [{}])]
                rows = joined(rows, found)
            elif part[0] == "graph":
                rows = joined(rows, list(self.in_graphs(part[1], part[2])))
            elif part[0] == "optional":
                rows = self.optional(rows, part[1], graph)
        return [row for row in rows if all(self.holds(test, row) for test in filters)]

    def in_graphs(self, name: Term, parts: list[Expression]) -> Iterator[Row]:
        for iri, graph in self.named.items():
            if name[0] == "var":
                yield from joined(self.solve(parts, graph, [{}]), [{name[1]: ("uri", iri)}])
            elif name[1] == iri:
                yield from self.solve(parts, graph, [{}])

    def optional(self, rows: list[Row], parts: list[Expression], graph: Graph) -> list[Row]:
        inner = [part for part in parts if part[0] != "filter"]
        tests = [part[1] for part in parts if part[0] == "filter"]
        right = self.solve(inner, graph, [{}])
        result = []
        for row in rows:
            found = [
                both
                for both in joined([row], right)
                if all(self.holds(test, both) for test in tests)
            ]
            result += found or ([] if self.has("optional-as-join") else [row])
        return result

    def match(self, pattern: tuple[Term, ...], graph: Graph, rows: list[Row]) -> list[Row]:
        """Extends solutions by the triples that match a pattern."""
        result = []
        for row in rows:
            found = []
            for triple in graph:
                extended: Row | None = dict(row)
                for wanted, term in zip(pattern, triple, strict=True):
                    extended = self.bind(extended, wanted, term)
                    if extended is None:
                        break
                if extended is not None:
                    found.append(extended)
            if self.has("product-gives-first-partner") and row:
                shared = any(term[0] == "var" and term[1] in row for term in pattern)
                found = found if shared else sorted(found, key=str)[:1]
            result += found
        return result

    def bind(self, row: Row | None, wanted: Term, term: Term) -> Row | None:
        if row is None:
            return None
        if wanted[0] != "var":
            if self.has("numbers-match-by-value"):
                return row if simplest(wanted) == simplest(term) else None
            return row if wanted == term else None
        if row.setdefault(wanted[1], term) != term:
            if not self.has("repeated-variable-not-compared"):
                return None
            row[wanted[1]] = term
        return row

    def holds(self, test: Expression, row: Row) -> bool:
        try:
            return truth(self.value(test, row))
        except Failure:
            return self.has("filter-error-is-true")

    def value(self, test: Expression, row: Row) -> Term:
        """Evaluates an expression."""
        kind = test[0]
        if kind == "term":
            if test[1][0] != "var":
                return test[1]  # type: ignore[no-any-return]
            if test[1][1] not in row:
                raise Failure
            return row[test[1][1]]
        if kind == "bound":
            return boolean(test[1] in row)
        if kind == "not":
            return boolean(not truth(self.value(test[1], row)))
        if kind == "compare":
            left, right = self.value(test[2], row), self.value(test[3], row)
            if self.has("filter-compares-text"):
                return boolean(compared(test[1], left[1], right[1]))
            return boolean(compare(test[1], left, right))
        return boolean(self.either(test, row))

    def either(self, test: Expression, row: Row) -> bool:
        decisive = test[0] == "or"
        failed = False
        for part in test[1:]:
            try:
                if truth(self.value(part, row)) == decisive:
                    return decisive
            except Failure:
                failed = True
        if failed:
            raise Failure
        return not decisive


def joined(left: list[Row], right: list[Row]) -> list[Row]:
    """Joins two bags of solutions."""
    return [
        one | other
        for one in left
        for other in right
        if all(one.get(name, term) == term for name, term in other.items())
    ]


def written(value: Fraction, whole: bool) -> Term:
    """Writes a number as an integer or a decimal."""
    if whole:
        return literal(str(int(value)), XSD + "integer")
    above, below = Decimal(value.numerator), Decimal(value.denominator)
    text = format(Context(prec=60).divide(above, below), "f")
    return literal(text if "." in text else text + ".0", XSD + "decimal")


def boolean(value: bool) -> Term:
    """Makes a literal of a truth value."""
    return literal("true" if value else "false", XSD + "boolean")


def truth(term: Term) -> bool:
    """Gives the effective boolean value."""
    if term[0] != "literal":
        raise Failure
    if term[2] == XSD + "boolean":
        return term[1] in ("true", "1")
    if term[2].startswith(XSD) and term[2][len(XSD) :] in EXACT | BROAD:
        value = number(term)
        return value is not None and value == value and value != 0
    if not term[2] and not term[3]:
        return term[1] != ""
    raise Failure


def compared(sign: str, left: Any, right: Any) -> bool:
    """Compares two values."""
    results: dict[str, Callable[[], bool]] = {
        "=": lambda: left == right,
        "!=": lambda: left != right,
        "<": lambda: left < right,
        ">": lambda: left > right,
        "<=": lambda: left <= right,
        ">=": lambda: left >= right,
    }
    return results[sign]()


def compare(sign: str, left: Term, right: Term) -> bool:
    """Compares two terms as the operators of FILTER do."""
    ours, theirs = number(left), number(right)
    if ours is not None and theirs is not None:
        if isinstance(ours, float) or isinstance(theirs, float):
            raise Unsupported("comparing doubles and floats")
        return compared(sign, ours, theirs)
    kinds = {term[2:] for term in (left, right)}
    if left[0] == right[0] == "literal" and kinds == {("", "")}:
        return compared(sign, left[1], right[1])
    if XSD + "dateTime" in left[2:3] + right[2:3]:
        raise Unsupported("comparing dates")
    if sign not in ("=", "!="):
        raise Failure
    if left[0] == right[0] == "literal" and left != right and not (left[3] or right[3]):
        raise Failure
    return (left == right) == (sign == "=")


def read_statements(text: str, scope: str) -> Iterable[list[Term]]:
    """Reads N-Triples or N-Quads; blank nodes are those of a scope."""
    form = re.compile(
        r'\s*(?:<([^>]*)>|(_:[^\s<"]*[^\s<".])|"((?:[^"\\]|\\.)*)"'
        r"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?)"
    )
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place, terms = 0, []
        while match := form.match(line, place):
            iri, blank, value, language, datatype = match.groups()
            if iri is not None:
                terms.append(("uri", unescape(iri)))
            elif blank is not None:
                terms.append(("bnode", scope + blank[2:]))
            else:
                terms.append(literal(unescape(value), unescape(datatype or ""), language or ""))
            place = match.end()
        yield terms
