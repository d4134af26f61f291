"""Queries as engines over rows have them: of one window the matches of one triple pattern, or aggregates over these.

A row is a triple: its terms in the columns s, p and o, and in n what o is as a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import pyoxigraph
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Identifier, Variable

from refengine import model
from refengine.errors import Unsupported
from refengine.model import XSD, Row, Term
from refengine.query import Form, Query, WindowKind
from refengine.sparql.witnesses import from_pyoxigraph, from_rdflib
from refengine.semantics import R2S
from refengine.xsd import INTEGERS

COLUMNS = "spo"
NUMBER = "decimal(38, 18)"  # the type of n in SQL
EXACT = {*INTEGERS, XSD + "decimal"}
NUMERIC = {*EXACT, XSD + "double", XSD + "float"}
NONE = {"sum": "coalesce({}, 0)", "avg": "coalesce({}, 0)"}  # of no rows they are null in SQL, and 0 in SPARQL (R2R-6)


class Aggregate(NamedTuple):
    """A function (count, sum, avg, min, max), its column, and whether it is of DISTINCT values."""

    function: str
    column: str
    distinct: bool

    @property
    def sql(self) -> str:
        """As an expression of SQL."""
        return NONE.get(self.function, "{}").format(f"{self.function}({'DISTINCT ' * self.distinct}{self.column})")

    def term(self, value: Any) -> Term:
        """The literal that a value is."""
        return model.literal(format(value, "f"), XSD + "decimal") if isinstance(value, Decimal) else model.literal(str(value), XSD + "integer")


class Program(NamedTuple):
    """What is asked of a window's rows: of those with these `terms` by column, and with the same in both of each of the `equal`
    columns, the `columns` by variable, of which `shown` are told, or, grouped by these columns, the `aggregates` by variable."""

    terms: dict[str, Term]
    equal: list[tuple[str, str]]
    columns: dict[str, str]
    shown: tuple[str, ...]
    distinct: bool = False
    aggregates: dict[str, Aggregate] | None = None

    def rows(self, graph: str) -> list[dict[str, Any]]:
        """The triples of N-Triples as rows. What is no number is null, which sums and averages leave out, as one of the witnesses
        does (R2R-5). Raises Unsupported for a number that does not fit, and for what MIN or MAX would have to order otherwise."""
        of = {one.function for one in (self.aggregates or {}).values() if one.column == "n"}
        parsed = pyoxigraph.parse(graph, pyoxigraph.RdfFormat.N_TRIPLES)
        triples = [tuple(map(from_pyoxigraph, (t.subject, t.predicate, t.object))) for t in parsed]
        rows = [{**dict(zip(COLUMNS, triple, strict=True)), "n": number(triple[2])} for triple in triples]
        for cells in rows:
            matches = all(cells[c] == term for c, term in self.terms.items()) and all(cells[a] == cells[b] for a, b in self.equal)
            if of and matches and cells["n"] is None and (of & {"min", "max"} or _datatype(cells["o"]) in NUMERIC):
                raise Unsupported(f"a column of type {NUMBER} does not hold {cells['o']}", rule="CMP-1", place="graph")
        return rows

    def mapping(self, keys: Mapping[str, Term], values: Mapping[str, Any]) -> Row:
        """A solution mapping: of terms by variable, and of what the aggregates came to; null is unbound."""
        terms = {name: self.aggregates[name].term(value) for name, value in values.items() if value is not None}
        return model.row((name, term) for name, term in {**keys, **terms}.items() if name in self.shown)


def program(asked: Query, static: str = "") -> Program:
    """A query as a program. Raises Unsupported, with what would have to be otherwise."""
    _has(len(asked.windows) == 1 and asked.windows[0].name is None, "one window, without a name")
    _has(asked.windows[0].kind is WindowKind.TIME, "windows over time")
    _has(asked.body.form is Form.SELECT, "SELECT")
    _has(asked.r2s in (None, R2S.RSTREAM), f"Rstream, not {asked.r2s}")
    _has(not static, "no static data")
    node = asked.body.algebra.algebra.p
    if distinct := node.name == "Distinct":
        node = node.p
    _has(node.name == "Project", f"no {node.name} around the projection")
    node, named = node.p, {}
    while node.name == "Extend":
        named[str(node.var)], node = node.expr, node.p
    if node.name == "AggregateJoin":
        _has(not distinct, "no DISTINCT around aggregates")
        return _grouped(asked, node, named)
    terms, equal, columns = _pattern(node)
    _has(not named, "no expressions and no BIND")
    shown = {name: columns[name] for name in asked.body.variables if name in columns}
    return Program(terms, equal, shown, asked.body.variables, distinct)


def _pattern(node: CompValue) -> tuple[dict[str, Term], list[tuple[str, str]], dict[str, str]]:
    """Of one triple pattern the terms by column, the columns that are equal, and the first column of each variable."""
    _has(node.name == "BGP", f"one triple pattern and nothing around it, not {node.name}")
    _has(len(node.triples) == 1, f"one triple pattern, not {len(node.triples)}")
    _has(all(isinstance(term, Identifier) for term in node.triples[0]), "no property paths")
    cells = list(zip(COLUMNS, node.triples[0], strict=True))
    terms = {column: from_rdflib(term) for column, term in cells if not isinstance(term, Variable | BNode)}
    first: dict[Identifier, str] = {}
    for column, term in cells:
        first.setdefault(term, column)
    equal = [(first[term], column) for column, term in cells if column not in terms and first[term] != column]
    return terms, equal, {str(term): column for term, column in first.items() if isinstance(term, Variable)}


def _grouped(asked: Query, node: CompValue, named: Mapping[str, Any]) -> Program:
    """Aggregates, of all rows or by keys. SPARQL's algebra has a key that is projected as the SAMPLE of itself."""
    terms, equal, columns = _pattern(node.p.p)
    made, keys = {each.res: each for each in node.A}, node.p.expr or []
    _has(all(isinstance(key, Variable) and str(key) in columns for key in keys), "GROUP BY variables of the pattern")
    aggregates = {}
    for name in asked.body.variables:
        of = made.get(named.get(name)) if isinstance(named.get(name), Variable) else None
        plain = of is not None and (of.vars == "*" or isinstance(of.vars, Variable) and str(of.vars) in columns)
        _has(plain, f"?{name} as an aggregate of a variable of the pattern, and no other expression")
        _has(not (of.vars == "*" and of.distinct), "DISTINCT of a variable, not of *")
        function, column = of.name.removeprefix("Aggregate_").lower(), "s" if of.vars == "*" else columns[str(of.vars)]
        if function == "sample":
            _has(of.vars in keys and str(of.vars) == name, "keys under their own names")
        else:
            _has(function == "count" or column == "o", f"{function.upper()} of objects")
            aggregates[name] = Aggregate(function, column if function == "count" else "n", bool(of.distinct))
    return Program(terms, equal, {str(key): columns[str(key)] for key in keys}, asked.body.variables, aggregates=aggregates)


def _has(holds: bool, what: str) -> None:
    if not holds:
        raise Unsupported(f"engines over rows are asked for {what}", rule="QRY-1", place="query")


def number(term: Term) -> str | None:
    """An integer or a decimal in plain digits, if it has at most 20 before the point and 18 after it; any other term is none."""
    lexical = model.parse_literal(term)[0] if _datatype(term) else ""
    fits = re.fullmatch(r"[+-]?(?=\.?[0-9])0*[0-9]{0,20}(\.[0-9]{0,18}0*)?", lexical)
    return format(Decimal(lexical), "f") if fits and _datatype(term) in EXACT else None


def _datatype(term: Term) -> str:
    """Of a literal; nothing of any other term."""
    return model.parse_literal(term)[1] if term.startswith('"') else ""
