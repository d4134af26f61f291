"""Why a row is in an answer: the solutions of a body's WHERE clause, each with the triples that support it.

The oracle needs supports to reason about arrival orders (ORA-5 to ORA-7) and to say which element a row came from (ORA-9).
Covered: basic graph patterns without property paths, joins, unions, filters without EXISTS, and BIND; a body with
anything else has no derivations here and is handled without them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rdflib.plugins.sparql.evalutils import _ebv, _eval
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import FrozenBindings, QueryContext, SPARQLError
from rdflib.term import BNode, Identifier, Literal, URIRef, Variable

from refengine.errors import Disputed
from refengine.model import Row, Term, Triple, row
from refengine.query import Body, Form
from refengine.sparql.witnesses import from_rdflib, to_rdflib

_ABOVE = frozenset(
    "SelectQuery AskQuery ConstructQuery Project Distinct Reduced OrderBy Slice Extend AggregateJoin Group".split()
)
_UNSAFE = frozenset({"Builtin_EXISTS", "Builtin_NOTEXISTS", "Builtin_BNODE"})

Solution = dict[str, Term]


@dataclass(frozen=True)
class Derivation:
    """A row of the answer and the triples that it rests on."""

    row: Row
    support: frozenset[Triple]


@lru_cache(maxsize=64)
def pattern(body: Body) -> CompValue | None:
    """The WHERE clause as algebra, below projection and aggregation; None if it is not covered."""
    node = body.algebra.algebra
    while node.name in _ABOVE:
        if not all(_safe(node[part]) for part in ("expr", "A") if part in node):
            return None
        node = node.p
    return node if _covered(node) else None


@lru_cache(maxsize=64)
def projects(body: Body) -> bool:
    """Whether the answer is the bag of the WHERE clause's solutions projected: a SELECT without DISTINCT or aggregates."""
    node = body.algebra.algebra
    return body.form is Form.SELECT and node.p.name == "Project" and pattern(body) is node.p.p


def _covered(node: CompValue) -> bool:
    match node.name:
        case "BGP":
            return all(isinstance(term, Identifier) for triple in node.triples for term in triple)
        case "Join" | "Union":
            return _covered(node.p1) and _covered(node.p2)
        case "Filter" | "Extend":
            return _covered(node.p) and _safe(node.expr)
        case _:
            return False


def _safe(expression: object) -> bool:
    if isinstance(expression, CompValue):
        return expression.name not in _UNSAFE and all(map(_safe, expression.values()))
    return not isinstance(expression, list) or all(map(_safe, expression))


def derivations(body: Body, graph: Iterable[Triple] | Index, known: Row = ()) -> list[Derivation]:
    """The derivations of the WHERE clause over a graph; rows are projected to the body's variables. With `known`, those
    alone that agree with it in its IRIs (its literals may be written in another way)."""
    node = pattern(body)
    if node is None:
        raise ValueError("the body is not covered; ask pattern() first")
    try:
        return _derivations(body, node, graph, known)
    except Exception as error:  # a library's own failure on an expression
        reason = f"rdflib cannot evaluate an expression: {type(error).__name__}: {str(error)[:200]}"
        raise Disputed(reason, rule="R2R-5", place="body") from error


def _derivations(body: Body, node: CompValue, graph: Iterable[Triple] | Index, known: Row) -> list[Derivation]:
    index = graph if isinstance(graph, Index) else Index(graph)
    bound = {name: term for name, term in known if term.startswith("<") and name in bindable(body)}
    wanted = set(body.variables)
    return [
        Derivation(row((name, term) for name, term in solution.items() if name in wanted), support)
        for solution, support in _solve(node, index, bound)
    ]


def bindable(body: Body) -> frozenset[str]:
    """The variables that a known row can bind beforehand: those of a basic graph pattern under filters alone, where no
    filter of an inner group could see them too early."""
    node = pattern(body)
    while node is not None and node.name == "Filter":
        node = node.p
    if node is None or node.name != "BGP":
        return frozenset()
    return frozenset(str(term) for triple in node.triples for term in triple if isinstance(term, Variable))


class Index:
    """A graph's triples by every pattern of bound positions that a join asks for."""

    def __init__(self, graph: Iterable[Triple]):
        self.triples = sorted(statement for statement in graph if len(statement) == 3)
        self.by: dict[tuple[int, ...], dict[tuple[Term, ...], list[Triple]]] = {}

    def match(self, bound: tuple[tuple[int, Term], ...]) -> list[Triple]:
        if not bound:
            return self.triples
        positions = tuple([position for position, _ in bound])
        if positions not in self.by:
            index = self.by[positions] = defaultdict(list)
            for triple in self.triples:
                index[tuple(triple[p] for p in positions)].append(triple)
        return self.by[positions].get(tuple([term for _, term in bound]), [])


def _solve(node: CompValue, index: Index, bound: Solution) -> list[tuple[Solution, frozenset[Triple]]]:
    match node.name:
        case "BGP":
            patterns = [tuple(map(_position, triple)) for triple in node.triples]
            return list(_basic(patterns, bound, frozenset(), index))
        case "Join":
            right = _solve(node.p2, index, bound)
            return [(a | b, s | t) for a, s in _solve(node.p1, index, bound) for b, t in right if _compatible(a, b)]
        case "Union":
            return _solve(node.p1, index, bound) + _solve(node.p2, index, bound)
        case "Filter":
            return [(a, s) for a, s in _solve(node.p, index, bound) if _holds(node.expr, a)]
        case _:
            return [(_extended(a, node), s) for a, s in _solve(node.p, index, bound)]


class _Position(NamedTuple):
    """A place in a triple pattern: a variable (a blank node is one that cannot be projected) or a term."""

    variable: str | None
    term: Term | None


def _position(term: Identifier) -> _Position:
    match term:
        case Variable():
            return _Position(str(term), None)
        case BNode():
            return _Position(f"_:{term}", None)
        case _:
            return _Position(None, from_rdflib(term))


Pattern = tuple[_Position, ...]


def _basic(
    todo: list[Pattern], bound: Solution, support: frozenset[Triple], index: Index
) -> Iterator[tuple[Solution, frozenset[Triple]]]:
    """The matches of a basic graph pattern, the most selective triple pattern first."""
    if not todo:
        yield bound, support
        return
    matches = [index.match(_ground(pattern, bound)) for pattern in todo]
    best = min(range(len(todo)), key=lambda i: len(matches[i]))
    rest = todo[:best] + todo[best + 1 :]
    for triple in matches[best]:
        extended = _unify(todo[best], triple, bound)
        if extended is not None:
            yield from _basic(rest, extended, support | {triple}, index)


def _ground(pattern: Pattern, bound: Solution) -> tuple[tuple[int, Term], ...]:
    """The positions whose term is known, with that term."""
    known = ((i, bound.get(p.variable) if p.variable is not None else p.term) for i, p in enumerate(pattern))
    return tuple((i, term) for i, term in known if term is not None)


def _unify(pattern: Pattern, triple: Triple, bound: Solution) -> Solution | None:
    extended = dict(bound)
    for position, term in zip(pattern, triple, strict=True):
        if position.variable is not None and extended.setdefault(position.variable, term) != term:
            return None
    return extended


def _compatible(a: Solution, b: Solution) -> bool:
    return all(b.get(name, term) == term for name, term in a.items())


def _bindings(solution: Solution) -> FrozenBindings:
    return FrozenBindings(QueryContext(initBindings={}), {Variable(n): to_rdflib(t) for n, t in solution.items() if not n.startswith("_:")})


def _holds(expression: object, solution: Solution) -> bool:
    return bool(_ebv(expression, _bindings(solution)))


def _extended(solution: Solution, node: CompValue) -> Solution:
    try:
        value = _eval(node.expr, _bindings(solution))
    except SPARQLError:
        return solution
    return {**solution, str(node.var): from_rdflib(value)} if isinstance(value, URIRef | Literal | BNode) else solution
