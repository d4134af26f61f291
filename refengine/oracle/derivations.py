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
    Variable,
    walk,
    without_path,
)
from refengine.sparql.choices import Choices, one_answer
from refengine.sparql.datasets import Index
from refengine.sparql.expressions import Expressions, LabelledNodes, standalone
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.solutions import output
from refengine.sparql.values import ERROR, same

# What may stand above the WHERE clause in a query's algebra.
_ABOVE = Project | Distinct | Reduced | OrderBy | Slice | Extend | Group
# Functions whose result does not depend on the solution alone.
_UNSAFE = frozenset({"BNODE", TIMESTAMP})

Solution = dict[str, Term]


@dataclass(frozen=True)
class Derivation:
    """A row of the answer, and the triples that it rests on: with these alone, the body has it."""

    row: Row
    support: frozenset[Triple]


Supported = tuple[Solution, frozenset[Triple]]


@lru_cache(maxsize=64)
def pattern(body: Body) -> Pattern | None:
    """Return the WHERE clause as algebra, without the projection, aggregation and modifiers above
    it. None if it has something that this module does not cover.
    """
    node = body.algebra.pattern
    while isinstance(node, _ABOVE):
        parts = tuple(part for name, part in vars(node).items() if name != "pattern")
        if not _is_safe(parts):
            return None
        node = node.pattern
    if not _is_covered(node):
        return None
    return node


@lru_cache(maxsize=64)
def projects(body: Body) -> bool:
    """Whether the answer is the bag of the WHERE clause's solutions, projected: a SELECT without
    DISTINCT or aggregates, and with a covered WHERE clause.
    """
    node = body.algebra.pattern
    return body.form is Form.SELECT and isinstance(node, Project) and pattern(body) is node.pattern


def _is_covered(node: Pattern) -> bool:
    """Whether each solution of a pattern rests on triples of its own, so that this module can list
    them.
    """
    match node:
        case Basic(triples):
            return all(isinstance(triple.predicate, Variable | str) for triple in triples)
        case Join(parts) | Union(parts):
            return all(map(_is_covered, parts))
        case Filter(expressions, inner) | Extend(inner, expressions):
            return _is_covered(inner) and _is_safe(expressions)
        case _:
            return False


def _is_safe(expressions: Any) -> bool:
    """Whether the results of expressions depend on the solution alone, and make no new blank
    nodes.
    """
    return not any(
        isinstance(node, Exists) or (isinstance(node, Call) and node.name in _UNSAFE)
        for node in walk(expressions)
    )


@refuse_deep_nesting
def derivations(body: Body, graph: Iterable[Triple] | Index, known: Row = ()) -> list[Derivation]:
    """Return the derivations of the WHERE clause over a graph. Their rows are projected to the
    body's variables.

    With `known`, only derivations of rows are looked for that have the same IRIs. Literals are not
    compared, since equal ones may be written in several ways.

    Raises ValueError for a body that is not covered (see `pattern`), and Unsupported (QRY-3) where
    an expression has no single answer.
    """
    node = pattern(body)
    if node is None:
        raise ValueError("the body is not covered; ask pattern() first")
    index = graph
    if not isinstance(index, Index):
        index = Index(statement for statement in index if len(statement) == 3)
    bound = {name: term for name, term in known if term.startswith("<") and name in bindable(body)}
    variables = set(body.variables)

    def derive(choices: Choices) -> list[Derivation]:
        """Return the derivations, where implementations may choose, for one of their choices."""
        solver = Solver(index, standalone(body.algebra, choices))
        return [
            Derivation(_projected(solution, variables), support)
            for solution, support in solver.solutions(node, bound)
        ]

    return one_answer(derive, are_equal)


def _projected(solution: Solution, variables: set[str]) -> Row:
    """Return the row of a solution: its terms for these variables."""
    return row((name, output(term)) for name, term in solution.items() if name in variables)


def are_equal(some: Iterable[Derivation], others: Iterable[Derivation]) -> bool:
    """Whether two lists derive the same rows from each set of triples, compared by value
    (CMP-1).
    """
    ours = rows_by_support(some)
    theirs = rows_by_support(others)
    return ours.keys() == theirs.keys() and all(
        equal(rows, theirs[support]) for support, rows in ours.items()
    )


def rows_by_support(derivations: Iterable[Derivation]) -> dict[frozenset[Triple], Counter[Row]]:
    """Return, for each set of triples, the bag of rows that rest on it."""
    rows: dict[frozenset[Triple], Counter[Row]] = defaultdict(Counter)
    for derivation in derivations:
        rows[derivation.support][derivation.row] += 1
    return rows


def bindable(body: Body) -> frozenset[str]:
    """Return the variables that may be bound to the terms of a known row before the search.

    They are those of a basic graph pattern with nothing but filters above it. With other patterns,
    the filter of an inner group could see a binding that it must not see.
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
        if isinstance(term, Variable) and not term.is_hidden
    )


class Solver:
    """The solutions of patterns over a graph, each with the triples that support it."""

    def __init__(self, index: Index, expressions: Expressions) -> None:
        self.index = index
        self.expressions = expressions

    def solutions(self, node: Pattern, bound: Solution) -> list[Supported]:
        """Return the solutions of a covered pattern that have the terms in `bound`, each with its
        triples.
        """
        match node:
            case Basic(triples):
                return list(self.matches(list(triples), bound, frozenset()))
            case Join(parts):
                return self._join([self.solutions(part, bound) for part in parts])
            case Union(parts):
                return [solution for part in parts for solution in self.solutions(part, bound)]
            case Filter(condition, inner):
                return self._filter(condition, self.solutions(inner, bound))
            case Extend(inner, bindings):
                return [(self.extend(a, bindings), s) for a, s in self.solutions(inner, bound)]
            case _:
                raise AssertionError(node)

    def _join(self, parts: Iterable[list[Supported]]) -> list[Supported]:
        """Return the compatible combinations of one solution of each part."""
        joined: list[Supported] = [({}, frozenset())]
        for right in parts:
            joined = [(a | b, s | t) for a, s in joined for b, t in right if _is_compatible(a, b)]
        return joined

    def _filter(self, condition: Any, solutions: Iterable[Supported]) -> list[Supported]:
        """Return the solutions for which a condition holds."""
        return [(a, s) for a, s in solutions if self.expressions.holds(condition, a)]

    def matches(
        self, todo: list[TriplePattern], bound: Solution, support: frozenset[Triple]
    ) -> Iterator[Supported]:
        """Yield the matches of the triple patterns in `todo` that agree with `bound`.

        `support` are the triples matched so far. The most selective pattern is matched first.
        """
        if not todo:
            yield bound, support
            return
        matches = [self.index.match(*_terms(pattern, bound)) for pattern in todo]
        best = min(range(len(todo)), key=lambda i: len(matches[i]))
        rest = todo[:best] + todo[best + 1 :]
        for triple in matches[best]:
            extended = _unified(todo[best], triple, bound)
            if extended is not None:
                yield from self.matches(rest, extended, support | {triple})

    def extend(
        self, solution: Solution, bindings: Iterable[tuple[Variable, Expression]]
    ) -> Solution:
        """Return a solution in which each variable is bound whose expression is no error."""
        for variable, expression in bindings:
            result = self.expressions.result(expression, solution, LabelledNodes(expression))
            if result is not ERROR:
                solution = {**solution, variable.name: result}
        return solution


def _terms(pattern: TriplePattern, bound: Solution) -> list[Term | None]:
    """Return the terms of a triple pattern; None for a variable that is not bound."""
    terms: list[Term | None] = []
    for part in without_path(pattern):
        if isinstance(part, Variable):
            terms.append(bound.get(part.name))
        else:
            terms.append(part)
    return terms


def _unified(pattern: TriplePattern, triple: Triple, bound: Solution) -> Solution | None:
    """Return `bound` with the variables of a pattern bound to the terms of a triple; None if a
    variable has another term already.
    """
    solution = dict(bound)
    for part, term in zip(pattern, triple, strict=True):
        if isinstance(part, Variable) and solution.setdefault(part.name, term) != term:
            return None
    return solution


def _is_compatible(a: Solution, b: Solution) -> bool:
    """Whether two solutions have the same term for each variable that both bind."""
    return all(same(b[name], term) for name, term in a.items() if name in b)
