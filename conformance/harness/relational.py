"""Queries for engines over rows: the matches of one triple pattern in one window, or aggregates
over these.

A row is a triple. Its terms are in the columns s, p and o, and the number that o is, if it is one,
is in the column n.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from refengine.core.query import Form, Query, WindowKind
from refengine.model import elements
from refengine.model.elements import XSD, Row
from refengine.model.errors import Unsupported
from refengine.model.terms import Term
from refengine.model.xsd import INTEGERS
from refengine.rdf.lines import triples_of
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
    Variable,
)

COLUMNS = "spo"
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")
NUMBER = "decimal(38, 18)"  # the type of n in SQL
EXACT = {*INTEGERS, XSD + "decimal"}
NUMERIC = {*EXACT, XSD + "double", XSD + "float"}
# over no rows they are null in SQL, and 0 in SPARQL (R2R-6)
NONE = {"sum": "coalesce({}, 0)", "avg": "coalesce({}, 0)"}


class Aggregate(NamedTuple):
    """An aggregate: its function (count, sum, avg, min, max), its column, and whether it is of
    DISTINCT values.
    """

    function: str
    column: str
    distinct: bool

    @property
    def sql(self) -> str:
        """The expression of SQL."""
        column = self.column
        if self.distinct:
            column = f"DISTINCT {column}"
        return NONE.get(self.function, "{}").format(f"{self.function}({column})")

    def term(self, value: Any) -> Term:
        """Return the literal for a value of the aggregate."""
        if isinstance(value, Decimal):
            return elements.literal(format(value, "f"), XSD + "decimal")
        return elements.literal(str(value), XSD + "integer")


class Program(NamedTuple):
    """A query over the rows of a window.

    It takes the rows that have `terms` in their columns, and equal terms in each pair of `equal`
    columns. The answer has `variables`. Without aggregates `columns` gives the column of each
    variable, and `distinct` removes equal rows. With `aggregates`, by variable, the rows are
    grouped by `columns`.
    """

    terms: dict[str, Term]
    equal: list[tuple[str, str]]
    columns: dict[str, str]
    variables: tuple[str, ...]
    distinct: bool = False
    aggregates: dict[str, Aggregate] | None = None

    def rows(self, graph: str) -> list[dict[str, Any]]:
        """Return the triples of a text in N-Triples as rows. In the column n null stands for what
        is no number: SQL leaves it out of sums and averages, where SPARQL has an error (R2R-16).
        Raises Unsupported for a number that does not fit into n, and for any other term if MIN or
        MAX would have to order it.
        """
        rows: list[dict[str, str | None]] = []
        for terms in triples_of(graph):
            rows.append(dict(zip(COLUMNS, terms, strict=True)))
        for row in rows:
            object_ = str(row["o"])
            row["n"] = number(object_)
            if row["n"] is None and self._matches(row) and self._needs_number(object_):
                raise Unsupported(
                    f"a column of type {NUMBER} does not hold {object_}",
                    rule="CMP-1",
                    place="graph",
                )
        return rows

    def _matches(self, row: Mapping[str, str | None]) -> bool:
        """Whether the program's pattern matches a row."""
        return all(row[column] == term for column, term in self.terms.items()) and all(
            row[a] == row[b] for a, b in self.equal
        )

    def _needs_number(self, term: Term) -> bool:
        """Whether an aggregate would be wrong because the column n cannot hold a term."""
        aggregates = (self.aggregates or {}).values()
        functions = {aggregate.function for aggregate in aggregates if aggregate.column == "n"}
        if functions & {"min", "max"}:
            return True
        return bool(functions) and _datatype(term) in NUMERIC

    def mapping(self, keys: Mapping[str, Term], values: Mapping[str, Any]) -> Row:
        """Return the solution mapping for terms by variable and values of aggregates by variable. A
        null value is unbound.
        """
        aggregates = self.aggregates or {}
        terms = {
            name: aggregates[name].term(value)
            for name, value in values.items()
            if value is not None
        }
        return elements.row(
            (name, term) for name, term in {**keys, **terms}.items() if name in self.variables
        )


def program(query: Query, static: str = "") -> Program:
    """Translate a query into a program. Raises Unsupported, which says what the query would have to
    be.
    """
    _has(len(query.windows) == 1 and query.windows[0].name is None, "one window, without a name")
    _has(query.windows[0].kind is WindowKind.TIME, "windows over time")
    _has(query.body.form is Form.SELECT, "SELECT")
    _has(query.r2s is None or query.r2s.emits_whole_answers, f"Rstream, not {query.r2s}")
    _has(not static, "no static data")
    node = query.body.algebra.pattern
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
        return _grouped(query, node, named)
    terms, equal, columns = _pattern(node)
    _has(not named, "no expressions and no BIND")
    variables = {name: columns[name] for name in query.body.variables if name in columns}
    return Program(terms, equal, variables, query.body.variables, distinct)


def _pattern(node: Pattern) -> tuple[dict[str, Term], list[tuple[str, str]], dict[str, str]]:
    """Return what one triple pattern asks of rows: terms by column, pairs of equal columns, and the
    first column of each variable.
    """
    _has(node != Join(()), "one triple pattern, not 0")
    _has(
        isinstance(node, Basic),
        f"one triple pattern and nothing around it, not {type(node).__name__}",
    )
    assert isinstance(node, Basic)
    _has(len(node.triples) == 1, f"one triple pattern, not {len(node.triples)}")
    _has(isinstance(node.triples[0].predicate, Variable | str), "no property paths")
    terms: dict[str, Term] = {}
    equal: list[tuple[str, str]] = []
    first: dict[Variable, str] = {}
    for column, term in zip(COLUMNS, node.triples[0], strict=True):
        if not isinstance(term, Variable):
            assert isinstance(term, str)  # no path
            terms[column] = term
        elif first.setdefault(term, column) != column:
            equal.append((first[term], column))
    return (
        terms,
        equal,
        {variable.name: column for variable, column in first.items() if not variable.is_hidden},
    )


def _grouped(query: Query, node: Group, named: Mapping[str, Expression]) -> Program:
    """Translate a query with aggregates, with or without keys. `named` has the expressions to which
    SELECT gives names.
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
    for name in query.body.variables:
        if name in keys:
            continue
        what = named[name]
        _has(what not in [Variable(key) for key in keys], "keys under their own names")
        _has(
            isinstance(what, Variable) and what in functions,
            f"?{name} as an aggregate of a variable of the pattern, and no other expression",
        )
        assert isinstance(what, Variable)
        aggregates[name] = _aggregate(name, functions[what], columns)
    return Program(
        terms,
        equal,
        {name: columns[name] for name in keys},
        query.body.variables,
        aggregates=aggregates,
    )


def _aggregate(name: str, function: SetFunction, columns: Mapping[str, str]) -> Aggregate:
    """Translate an aggregate of a variable into one of a column."""
    argument = function.argument
    is_plain = argument is None or (isinstance(argument, Variable) and argument.name in columns)
    _has(is_plain, f"?{name} as an aggregate of a variable of the pattern, and no other expression")
    _has(argument is not None or not function.is_distinct, "DISTINCT of a variable, not of *")
    _has(function.name in FUNCTIONS, f"{', '.join(FUNCTIONS)}, not {function.name}")
    column = "s"
    if isinstance(argument, Variable):
        column = columns[argument.name]
    if function.name != "COUNT":
        _has(column == "o", f"{function.name} of objects")
        column = "n"
    return Aggregate(function.name.lower(), column, function.is_distinct)


def _has(holds: bool, what: str) -> None:
    """Raise Unsupported, naming what the query would have to be, if it does not hold."""
    if not holds:
        raise Unsupported(
            f"engines over rows can be asked only for {what}",
            rule="QRY-1",
            place="query",
        )


def number(term: Term) -> str | None:
    """Return an integer or a decimal in plain digits, or None: for other terms, and for numbers
    with more than 20 digits before the point or 18 after it.
    """
    if _datatype(term) not in EXACT:
        return None
    lexical = elements.parse_literal(term)[0]
    if not re.fullmatch(r"[+-]?(?=\.?[0-9])0*[0-9]{0,20}(\.[0-9]{0,18}0*)?", lexical):
        return None
    return format(Decimal(lexical), "f")


def _datatype(term: Term) -> str:
    """Return the datatype of a literal; nothing for any other term."""
    if not term.startswith('"'):
        return ""
    return elements.parse_literal(term)[1]
