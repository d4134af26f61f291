"""§7 pyoxigraph as a witness: its own evaluation of SPARQL over our terms, but for the joins that
nothing could stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import cast

import pyoxigraph

from refengine.model.elements import Dataset as Statements
from refengine.model.elements import Quad, Relation, Term, Triple, is_blank, literal, parse_literal
from refengine.sparql import algebra
from refengine.sparql.algebra import AlgebraQuery, Join, Pattern, always_bound, visible, walk
from refengine.sparql.datasets import changing_part, is_time, static_part, times_of_triples
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.solutions import ask_answer, construct_answer, select_answer
from refengine.sparql.witnesses.defects import NoSay

# Joins that pyoxigraph makes in nested loops, which nothing can interrupt


# solutions of one side times those of the other that pyoxigraph may join in nested loops
MOST_PAIRS = 10**8
MOST_SOLUTIONS = 200_000  # of an operator, as `sparql.evaluate` holds no more


def refuse_nested_loops(query: AlgebraQuery, triples: int) -> None:
    """Raise NoSay for a body that pyoxigraph may join in nested loops over many solutions, which
    nothing can interrupt.

    It hashes only by variables that both sides always bind. A product of sides that share none
    makes the rows that `sparql.evaluate` makes, too, and is bounded by that.
    """
    if not has_joins(query):
        return
    for left, right in pairs_of_sides(query):
        pairs = most_solutions(left, triples) * most_solutions(right, triples)
        if pairs > MOST_PAIRS and is_in_nested_loops(left, right):
            raise NoSay(
                "a join by variables that OPTIONAL, UNION or UNDEF may leave "
                f"unbound, of more than {MOST_PAIRS} pairs"
            )


@lru_cache(maxsize=64)
def has_joins(query: AlgebraQuery) -> bool:
    """Return whether there is a join in a body, other than of triple patterns with one another."""
    return any(True for _ in pairs_of_sides(query))


def pairs_of_sides(query: AlgebraQuery) -> Iterator[tuple[Pattern, Pattern]]:
    """Yield the two sides of each join of a body, of a chain of joins each part with all before."""
    for node in walk(query.pattern):
        match node:
            case Join(members):
                yield from ((Join(members[:i]), part) for i, part in enumerate(members) if i)
            case algebra.LeftJoin(left, right, _) | algebra.Minus(left, right):
                yield left, right


def is_in_nested_loops(left: Pattern, right: Pattern) -> bool:
    """Return whether pyoxigraph compares each solution of one side with each of the other: they
    share variables, but none that both always bind.
    """
    shares_variables = bool(visible(left).keys() & visible(right).keys())
    return shares_variables and always_bound(left).isdisjoint(always_bound(right))


def most_solutions(pattern: Pattern, triples: int) -> int:
    """Estimate how many solutions a pattern may have over so many triples if no variable is shared:
    a path counts as a triple pattern, and the rows of several VALUES are added.
    """
    rows = sum(len(node.rows) for node in walk(pattern) if isinstance(node, algebra.Values))
    patterns = sum(len(node.triples) for node in walk(pattern) if isinstance(node, algebra.Basic))
    many: int = (rows or 1) * max(triples, 1) ** min(patterns, 20)
    return min(MOST_SOLUTIONS, many)


# Answers


OxigraphTerm = pyoxigraph.BlankNode | pyoxigraph.NamedNode | pyoxigraph.Literal
Function = Callable[..., OxigraphTerm | pyoxigraph.Triple | None]

FEW_STATEMENTS = 10_000  # that a store may have removed, however little is static

TIMESTAMP_NODE = pyoxigraph.NamedNode(TIMESTAMP)


class StoreOverStatic:
    """A store that is loaded with static data once. The other statements of a dataset are added for
    one answer, and then removed.

    pyoxigraph keeps what it has removed in memory, and passes over it. So the store is made anew
    when it has removed more statements than are static. A named graph stays when its last statement
    is removed, and GRAPH would find it, so it is removed as well.
    """

    def __init__(self, static: Statements) -> None:
        self.static = static
        self.load()

    def load(self) -> None:
        """Make the store anew."""
        self.removed = 0
        self.store = pyoxigraph.Store()
        self.store.extend(map(_to_quad, sorted(self.static)))
        self.static_graphs = {pyoxigraph.DefaultGraph(), *self.store.named_graphs()}

    @contextmanager
    def holding(self, statements: Iterable[Triple | Quad]) -> Iterator[pyoxigraph.Store]:
        """Yield the store with other statements, none of which may be static."""
        quads = [_to_quad(statement) for statement in sorted(statements)]
        if self.removed > max(len(self.static), FEW_STATEMENTS):
            self.load()
        try:
            self.store.extend(quads)
            yield self.store
        finally:
            for quad in quads:
                self.store.remove(quad)
            for name in {quad.graph_name for quad in quads} - self.static_graphs:
                self.store.remove_graph(name)
            self.removed += len(quads)


@lru_cache(maxsize=1)
def store_over(static: Statements) -> StoreOverStatic:
    """Return the store of static data, which is loaded at the first answer of a run."""
    return StoreOverStatic(static)


@contextmanager
def store_of(dataset: Statements) -> Iterator[pyoxigraph.Store]:
    """Yield a store of a dataset's graphs, for one answer."""
    statements = [statement for statement in changing_part(dataset) if not is_time(statement)]
    if static := static_part(dataset):
        with store_over(static).holding(statements) as store:
            yield store
    else:
        store = pyoxigraph.Store()
        store.extend(map(_to_quad, sorted(statements)))
        yield store


def answer_by_pyoxigraph(query: AlgebraQuery, text: str, dataset: Statements) -> Relation:
    """Return pyoxigraph's answer."""
    refuse_nested_loops(query, len(dataset))
    times = times_of_triples(dataset)
    functions = {}
    if times:
        functions = {TIMESTAMP_NODE: _timestamp_by(times)}
    with store_of(dataset) as store:
        return _as_relation(query, store.query(text, custom_functions=functions))


def _as_relation(
    query: AlgebraQuery,
    result: pyoxigraph.QueryBoolean | pyoxigraph.QueryTriples | pyoxigraph.QuerySolutions,
) -> Relation:
    """Return a result of pyoxigraph's as the relation that a body answers."""
    match result:
        case pyoxigraph.QueryBoolean():
            return ask_answer(bool(result))
        case pyoxigraph.QueryTriples():
            return construct_answer(map(_triple_of, result))
        case pyoxigraph.QuerySolutions():
            names = [variable.value for variable in result.variables]
            return select_answer(
                query.variables, (_bound_terms(names, solution) for solution in result)
            )


def _timestamp_by(times: Mapping[Triple, Term]) -> Function:
    """Return the function that gives the time of a triple (R2R-21), as pyoxigraph calls it."""

    def timestamp(subject: object, predicate: object, object_: object) -> OxigraphTerm | None:
        triple = from_pyoxigraph(subject), from_pyoxigraph(predicate), from_pyoxigraph(object_)
        if triple not in times:
            return None
        return to_pyoxigraph(times[triple])

    return timestamp


def _triple_of(triple: pyoxigraph.Triple) -> Triple:
    """Return pyoxigraph's triple as texts."""
    return (
        from_pyoxigraph(triple.subject),
        from_pyoxigraph(triple.predicate),
        from_pyoxigraph(triple.object),
    )


def _bound_terms(names: Sequence[str], solution: pyoxigraph.QuerySolution) -> dict[str, Term]:
    """Return what a solution of pyoxigraph's binds, by the names of its variables."""
    return {
        name: from_pyoxigraph(term)
        for name, term in zip(names, solution, strict=True)
        if term is not None
    }


@lru_cache(maxsize=2**18)
def _to_quad(statement: Triple | Quad) -> pyoxigraph.Quad:
    """Return a statement as pyoxigraph has it."""
    make = cast("Callable[..., pyoxigraph.Quad]", pyoxigraph.Quad)  # it refuses a wrong term
    return make(*map(to_pyoxigraph, statement))


def to_pyoxigraph(term: Term) -> OxigraphTerm:
    """Return a term as pyoxigraph has it."""
    if is_blank(term):
        return pyoxigraph.BlankNode(term[2:])
    if term.startswith("<"):
        return pyoxigraph.NamedNode(term[1:-1])
    parts = parse_literal(term)
    if parts.language:
        return pyoxigraph.Literal(parts.lexical, language=parts.language)
    return pyoxigraph.Literal(parts.lexical, datatype=pyoxigraph.NamedNode(parts.datatype))


def from_pyoxigraph(term: object) -> Term:
    """Return pyoxigraph's term as text."""
    match term:
        case pyoxigraph.BlankNode():
            return f"_:{term.value}"
        case pyoxigraph.NamedNode():
            return f"<{term.value}>"
        case pyoxigraph.Literal():
            return literal(term.value, term.datatype.value, term.language or "")
        case _:
            raise AttributeError(f"no term: {term!r}")
