"""Why a row is in an answer: the solutions of a body's WHERE clause, each with the triples that
support it.

The oracle needs supports to reason about arrival orders (ORA-5 to ORA-7) and to say which element a
row came from (ORA-9). Covered: basic graph patterns without property paths, joins, unions, filters
without EXISTS, and BIND; a body with anything else has no derivations here and is handled without
them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from refengine.core.query import Body, Form
from refengine.model.compare import equal
from refengine.model.elements import Row, Term, Triple, row
from refengine.model.errors import refuse_deep_nesting
from refengine.sparql.algebra import (
    Basic,
    Call,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Group,
    Join,
    OrderBy,
    Pattern,
    Project,
    Reduced,
    Slice,
    TriplePattern,
    Union,
    Var,
    walk,
    without_path,
)
from refengine.sparql.choices import Choices, one_answer
from refengine.sparql.evaluation import output
from refengine.sparql.expressions import Expressions, LabelledNodes, standalone
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.graphs import Index
from refengine.sparql.values import ERROR, same

_ABOVE = Project | Distinct | Reduced | OrderBy | Slice | Extend | Group
_UNSAFE = frozenset({"BNODE", TIMESTAMP})

Solution = dict[str, Term]


@dataclass(frozen=True)
class Derivation:
    """A row of the answer and the triples that it rests on."""

    row: Row
    support: frozenset[Triple]


Supported = tuple[Solution, frozenset[Triple]]


@lru_cache(maxsize=64)
def pattern(body: Body) -> Pattern | None:
    """Return the WHERE clause as algebra, below projection and aggregation; None if it is not
    covered.
    """
    node = body.algebra.pattern
    while isinstance(node, _ABOVE):
        if not _is_safe(tuple(part for name, part in vars(node).items() if name != "pattern")):
            return None
        node = node.pattern
    return node if _is_covered(node) else None


@lru_cache(maxsize=64)
def projects(body: Body) -> bool:
    """Return whether the answer is the bag of the WHERE clause's solutions projected: a SELECT
    without DISTINCT or aggregates.
    """
    node = body.algebra.pattern
    return body.form is Form.SELECT and isinstance(node, Project) and pattern(body) is node.pattern


def _is_covered(node: Pattern) -> bool:
    match node:
        case Basic(triples):
            return all(isinstance(triple.predicate, Var | str) for triple in triples)
        case Join(parts) | Union(parts):
            return all(map(_is_covered, parts))
        case Filter(expressions, inner) | Extend(inner, expressions):
            return _is_covered(inner) and _is_safe(expressions)
        case _:
            return False


def _is_safe(expressions: Any) -> bool:
    """Return whether expressions look at a solution alone, and make nothing new."""
    return not any(
        isinstance(node, Exists) or (isinstance(node, Call) and node.name in _UNSAFE)
        for node in walk(expressions)
    )


@refuse_deep_nesting
def derivations(body: Body, graph: Iterable[Triple] | Index, known: Row = ()) -> list[Derivation]:
    """Return the derivations of the WHERE clause over a graph; rows are projected to the body's
    variables. With `known`, those alone that agree with it in its IRIs (its literals may be written
    in another way).

    Raises ValueError for a body that is not covered; Unsupported (QRY-3) where an expression has no
    single answer.
    """
    node = pattern(body)
    if node is None:
        raise ValueError("the body is not covered; ask pattern() first")
    index = (
        graph
        if isinstance(graph, Index)
        else Index(statement for statement in graph if len(statement) == 3)
    )
    bound = {name: term for name, term in known if term.startswith("<") and name in bindable(body)}
    wanted = set(body.variables)

    def run(choices: Choices) -> list[Derivation]:
        found = Solver(index, standalone(body.algebra, choices)).solutions(node, bound)
        return [
            Derivation(
                row((name, output(term)) for name, term in solution.items() if name in wanted),
                support,
            )
            for solution, support in found
        ]

    return one_answer(run, are_equal)


def are_equal(some: Iterable[Derivation], others: Iterable[Derivation]) -> bool:
    """Return whether two lists derive, from each set of triples, rows that are equal by value
    (CMP-1).
    """
    ours, theirs = rows_by_support(some), rows_by_support(others)
    return ours.keys() == theirs.keys() and all(
        equal(rows, theirs[support]) for support, rows in ours.items()
    )


def rows_by_support(derivations: Iterable[Derivation]) -> dict[frozenset[Triple], Counter[Row]]:
    """Return the bag of rows that rest on each set of triples."""
    rows: dict[frozenset[Triple], Counter[Row]] = defaultdict(Counter)
    for derivation in derivations:
        rows[derivation.support][derivation.row] += 1
    return rows


def bindable(body: Body) -> frozenset[str]:
    """Return the variables that a known row can bind beforehand: those of a basic graph pattern
    under filters alone, where no filter of an inner group could see them too early.
    """
    node = pattern(body)
    while isinstance(node, Filter):
        node = node.pattern
    if not isinstance(node, Basic):
        return frozenset()
    return frozenset(
        term.name
        for triple in node.triples
        for term in triple
        if isinstance(term, Var) and not term.is_hidden
    )


class Solver:
    """The solutions of patterns over a graph, each with the triples that support it."""

    def __init__(self, index: Index, expressions: Expressions) -> None:
        self.index = index
        self.expressions = expressions

    def solutions(self, node: Pattern, bound: Solution) -> list[Supported]:
        """Return the solutions of a pattern that agree with what is bound beforehand."""
        match node:
            case Basic(triples):
                return list(self.matches(list(triples), bound, frozenset()))
            case Join(parts):
                found: list[Supported] = [({}, frozenset())]
                for part in parts:
                    right = self.solutions(part, bound)
                    found = [
                        (a | b, s | t) for a, s in found for b, t in right if _is_compatible(a, b)
                    ]
                return found
            case Union(parts):
                return [solution for part in parts for solution in self.solutions(part, bound)]
            case Filter(condition, inner):
                return [
                    (a, s)
                    for a, s in self.solutions(inner, bound)
                    if self.expressions.holds(condition, a)
                ]
            case Extend(inner, bindings):
                return [(self.extended(a, bindings), s) for a, s in self.solutions(inner, bound)]
            case _:
                raise AssertionError(node)

    def matches(
        self, todo: list[TriplePattern], bound: Solution, support: frozenset[Triple]
    ) -> Iterator[Supported]:
        """Yield the matches of a basic graph pattern, the most selective triple pattern first."""
        if not todo:
            yield bound, support
            return
        matches = [
            self.index.match(
                *(bound.get(t.name) if isinstance(t, Var) else t for t in without_path(pattern))
            )
            for pattern in todo
        ]
        best = min(range(len(todo)), key=lambda i: len(matches[i]))
        rest = todo[:best] + todo[best + 1 :]
        for triple in matches[best]:
            extended = _unified(todo[best], triple, bound)
            if extended is not None:
                yield from self.matches(rest, extended, support | {triple})

    def extended(self, solution: Solution, bindings: Iterable[tuple[Var, Expression]]) -> Solution:
        """Bind each variable whose expression is no error."""
        for variable, expression in bindings:
            result = self.expressions.result(expression, solution, LabelledNodes(expression))
            if result is not ERROR:
                solution = {**solution, variable.name: result}
        return solution


def _unified(pattern: TriplePattern, triple: Triple, bound: Solution) -> Solution | None:
    extended = dict(bound)
    for wanted, term in zip(pattern, triple, strict=True):
        if isinstance(wanted, Var) and extended.setdefault(wanted.name, term) != term:
            return None
    return extended


def _is_compatible(a: Solution, b: Solution) -> bool:
    return all(same(b[name], term) for name, term in a.items() if name in b)
