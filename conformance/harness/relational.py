"""Queries as engines over rows have them: of one window the matches of one triple pattern, or
aggregates over these.

A row is a triple: its terms in the columns s, p and o, and in n what o is as a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import pyoxigraph

from refengine.core.query import Form, Query, WindowKind
from refengine.core.semantics import R2S
from refengine.model import elements
from refengine.model.elements import XSD, Row
from refengine.model.errors import Unsupported
from refengine.model.terms import Term
from refengine.model.xsd import INTEGERS
from refengine.sparql.algebra import Aggregate as SetFunction
from refengine.sparql.algebra import (
    Basic,
    Distinct,
    Expression,
    Extend,
    Group,
    Join,
    Pattern,
    Project,
    Var,
)
from refengine.sparql.witnesses.pyoxigraph_witness import from_pyoxigraph

COLUMNS = "spo"
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")
NUMBER = "decimal(38, 18)"  # the type of n in SQL
EXACT = {*INTEGERS, XSD + "decimal"}
NUMERIC = {*EXACT, XSD + "double", XSD + "float"}
# of no rows they are null in SQL, and 0 in SPARQL (R2R-6)
NONE = {"sum": "coalesce({}, 0)", "avg": "coalesce({}, 0)"}


class Aggregate(NamedTuple):
    """A function (count, sum, avg, min, max), its column, and whether it is of DISTINCT values."""

    function: str
    column: str
    distinct: bool

    @property
    def sql(self) -> str:
        """As an expression of SQL."""
        return NONE.get(self.function, "{}").format(
            f"{self.function}({'DISTINCT ' * self.distinct}{self.column})"
        )

    def term(self, value: Any) -> Term:
        """The literal that a value is."""
        return (
            elements.literal(format(value, "f"), XSD + "decimal")
            if isinstance(value, Decimal)
            else elements.literal(str(value), XSD + "integer")
        )


class Program(NamedTuple):
    """What is asked of a window's rows: of those with these `terms` by column, and with the same in
    both of each of the `equal` columns, the `columns` by variable, of which `shown` are told, or,
    grouped by these columns, the `aggregates` by variable.
    """

    terms: dict[str, Term]
    equal: list[tuple[str, str]]
    columns: dict[str, str]
    shown: tuple[str, ...]
    distinct: bool = False
    aggregates: dict[str, Aggregate] | None = None

    def rows(self, graph: str) -> list[dict[str, Any]]:
        """The triples of N-Triples as rows. What is no number is null, which SQL's sums and
        averages leave out; SPARQL's are an error (R2R-16). Raises Unsupported for a number that
        does not fit, and for what MIN or MAX would have to order otherwise.
        """
        of = {one.function for one in (self.aggregates or {}).values() if one.column == "n"}
        parsed = pyoxigraph.parse(graph, pyoxigraph.RdfFormat.N_TRIPLES)
        triples = [tuple(map(from_pyoxigraph, (t.subject, t.predicate, t.object))) for t in parsed]
        rows: list[dict[str, str | None]] = [
            {**dict(zip(COLUMNS, triple, strict=True)), "n": number(triple[2])}
            for triple in triples
        ]
        for triple, cells in zip(triples, rows, strict=True):
            matches = all(cells[c] == term for c, term in self.terms.items()) and all(
                cells[a] == cells[b] for a, b in self.equal
            )
            if (
                of
                and matches
                and cells["n"] is None
                and (of & {"min", "max"} or _datatype(triple[2]) in NUMERIC)
            ):
                raise Unsupported(
                    f"a column of type {NUMBER} does not hold {cells['o']}",
                    rule="CMP-1",
                    place="graph",
                )
        return rows

    def mapping(self, keys: Mapping[str, Term], values: Mapping[str, Any]) -> Row:
        """A solution mapping: of terms by variable, and of what the aggregates came to; null is
        unbound.
        """
        aggregates = self.aggregates or {}
        terms = {
            name: aggregates[name].term(value)
            for name, value in values.items()
            if value is not None
        }
        return elements.row(
            (name, term) for name, term in {**keys, **terms}.items() if name in self.shown
        )


def program(asked: Query, static: str = "") -> Program:
    """A query as a program. Raises Unsupported, with what would have to be otherwise."""
    _has(len(asked.windows) == 1 and asked.windows[0].name is None, "one window, without a name")
    _has(asked.windows[0].kind is WindowKind.TIME, "windows over time")
    _has(asked.body.form is Form.SELECT, "SELECT")
    _has(asked.r2s in (None, R2S.RSTREAM), f"Rstream, not {asked.r2s}")
    _has(not static, "no static data")
    node = asked.body.algebra.pattern
    if distinct := isinstance(node, Distinct):
        node = node.pattern
    _has(isinstance(node, Project), f"no {type(node).__name__} around the projection")
    assert isinstance(node, Project)
    node = node.pattern
    named: dict[str, Expression] = {}
    if isinstance(node, Extend):
        named = {variable.name: expression for variable, expression in node.bindings}
        node = node.pattern
    if isinstance(node, Group):
        _has(not distinct, "no DISTINCT around aggregates")
        return _grouped(asked, node, named)
    terms, equal, columns = _pattern(node)
    _has(not named, "no expressions and no BIND")
    shown = {name: columns[name] for name in asked.body.variables if name in columns}
    return Program(terms, equal, shown, asked.body.variables, distinct)


def _pattern(node: Pattern) -> tuple[dict[str, Term], list[tuple[str, str]], dict[str, str]]:
    """Return of one triple pattern the terms by column, the columns that are equal, and the first
    column of each variable.
    """
    _has(node != Join(()), "one triple pattern, not 0")
    _has(
        isinstance(node, Basic),
        f"one triple pattern and nothing around it, not {type(node).__name__}",
    )
    assert isinstance(node, Basic)
    _has(len(node.triples) == 1, f"one triple pattern, not {len(node.triples)}")
    _has(isinstance(node.triples[0].predicate, Var | str), "no property paths")
    terms: dict[str, Term] = {}
    equal: list[tuple[str, str]] = []
    first: dict[Var, str] = {}
    for column, term in zip(COLUMNS, node.triples[0], strict=True):
        if not isinstance(term, Var):
            assert isinstance(term, str)  # no path
            terms[column] = term
        elif first.setdefault(term, column) != column:
            equal.append((first[term], column))
    return (
        terms,
        equal,
        {variable.name: column for variable, column in first.items() if not variable.is_hidden},
    )


def _grouped(asked: Query, node: Group, named: Mapping[str, Expression]) -> Program:
    """Return the program of aggregates, of all rows or by keys; `named` is what SELECT gives a name
    to.
    """
    terms, equal, columns = _pattern(node.pattern)
    keys = [
        variable.name
        for variable, expression in node.keys or ()
        if variable == expression and variable.name in columns
    ]
    _has(len(keys) == len(node.keys or ()), "GROUP BY variables of the pattern")
    functions = dict(node.aggregates)
    aggregates = {}
    for name in asked.body.variables:
        if name in keys:
            continue
        what = named[name]
        _has(what not in [Var(key) for key in keys], "keys under their own names")
        _has(
            isinstance(what, Var) and what in functions,
            f"?{name} as an aggregate of a variable of the pattern, and no other expression",
        )
        assert isinstance(what, Var)
        aggregates[name] = _aggregate(name, functions[what], columns)
    return Program(
        terms,
        equal,
        {name: columns[name] for name in keys},
        asked.body.variables,
        aggregates=aggregates,
    )


def _aggregate(name: str, function: SetFunction, columns: Mapping[str, str]) -> Aggregate:
    """Return an aggregate as a row's columns have it."""
    argument = function.argument
    is_plain = argument is None or (isinstance(argument, Var) and argument.name in columns)
    _has(is_plain, f"?{name} as an aggregate of a variable of the pattern, and no other expression")
    _has(argument is not None or not function.is_distinct, "DISTINCT of a variable, not of *")
    _has(function.name in FUNCTIONS, f"{', '.join(FUNCTIONS)}, not {function.name}")
    column = columns[argument.name] if isinstance(argument, Var) else "s"
    _has(function.name == "COUNT" or column == "o", f"{function.name} of objects")
    return Aggregate(
        function.name.lower(), column if function.name == "COUNT" else "n", function.is_distinct
    )


def _has(holds: bool, what: str) -> None:
    if not holds:
        raise Unsupported(f"engines over rows are asked for {what}", rule="QRY-1", place="query")


def number(term: Term) -> str | None:
    """An integer or a decimal in plain digits, if it has at most 20 before the point and 18 after
    it; any other term is none.
    """
    lexical = elements.parse_literal(term)[0] if _datatype(term) else ""
    fits = re.fullmatch(r"[+-]?(?=\.?[0-9])0*[0-9]{0,20}(\.[0-9]{0,18}0*)?", lexical)
    return format(Decimal(lexical), "f") if fits and _datatype(term) in EXACT else None


def _datatype(term: Term) -> str:
    """Of a literal; nothing of any other term."""
    return elements.parse_literal(term)[1] if term.startswith('"') else ""
