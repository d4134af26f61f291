"""rdflib as a witness: its own evaluation of SPARQL over our terms, with its work counted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import Any

from rdflib import BNode, Dataset, Graph, URIRef
from rdflib import Literal as RdflibLiteral
from rdflib.plugins.sparql import CUSTOM_EVALS
from rdflib.plugins.sparql.evaluate import evalBGP, evalQuery
from rdflib.plugins.sparql.evalutils import _eval
from rdflib.plugins.sparql.operators import register_custom_function
from rdflib.plugins.sparql.parserutils import CompValue, Expr
from rdflib.plugins.sparql.sparql import FrozenDict, QueryContext, SPARQLError
from rdflib.plugins.stores.memory import Memory, SimpleMemory
from rdflib.store import Store
from rdflib.term import Identifier, Variable

from refengine.model.elements import XSD, Relation, Term, is_blank, literal, parse_literal
from refengine.model.elements import Dataset as Statements
from refengine.sparql.algebra import AlgebraQuery, Call, walk
from refengine.sparql.algebra import Graph as GraphPattern
from refengine.sparql.datasets import changing_part, static_part
from refengine.sparql.evaluation import ask_answer, construct_answer, select_answer
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.witnesses.asking import NoSay
from refengine.sparql.witnesses.rdflib_algebra import prepare

RdflibTriple = tuple[Identifier, ...]

MOST_LOOKUPS = 1_000_000  # requests for triples by rdflib for one answer
MOST_WORK = 1_000_000  # solutions that rdflib may make or compare: it joins lists in nested loops


class Work:
    """How many solutions rdflib has made and compared for an answer: it has no limit of its own."""

    done = 0

    @classmethod
    def count_calls_of(cls, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a method of rdflib's that each such step calls. It raises NoSay when they are too
        many.
        """

        def wrapper(*args: Any, **options: Any) -> Any:
            cls.done += 1
            if cls.done > MOST_WORK:
                raise NoSay(f"rdflib makes or compares more than {MOST_WORK} solutions")
            return function(*args, **options)

        return wrapper


class QuietDataset(Dataset):
    """A dataset that does not warn of what is deprecated in rdflib, which its own evaluator still
    uses. `times` has the time of each triple (R2R-21).
    """

    default_context = Dataset.default_graph
    contexts = Dataset.graphs
    times: dict[tuple[Identifier, ...], Identifier]


def one_lookup_more(lookups: int) -> int:
    """Return how often a store was asked for triples by now. Raises NoSay when it is too often."""
    if lookups >= MOST_LOOKUPS:
        raise NoSay(f"rdflib asks for triples more than {MOST_LOOKUPS} times")
    return lookups + 1


class CountedMemory(Memory):
    """A store of several graphs, over one of static data that other answers share. It counts how
    often it is asked for triples.
    """

    lookups = 0

    def __init__(self, static: Store) -> None:
        super().__init__()
        self.static = static

    def triples(  # type: ignore[override]
        self, triple_pattern: Any, context: Any = None
    ) -> Iterator[Any]:
        """Return what matches a pattern, in a graph."""
        self.lookups = one_lookup_more(self.lookups)
        return chain(
            self.static.triples(triple_pattern, context), super().triples(triple_pattern, context)
        )


class CountedSimpleMemory(SimpleMemory):
    """A store of one graph, which counts, too, and looks up no graph for each triple."""

    lookups = 0

    def __init__(self, static: Store) -> None:
        super().__init__()
        self.static = static

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[Any]:
        """Return what matches a pattern."""
        self.lookups = one_lookup_more(self.lookups)
        return chain(self.static.triples(triple_pattern), super().triples(triple_pattern))


@contextmanager
def without_logs() -> Iterator[None]:
    """Drop what rdflib logs until the context ends: each literal that it cannot read, with a
    traceback.
    """
    logger = logging.getLogger("rdflib.term")

    def drop(record: logging.LogRecord) -> bool:
        return False

    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)


@without_logs()
def answer_by_rdflib(query: AlgebraQuery, text: str, dataset: Statements) -> Relation:
    """Return rdflib's answer, to its algebra as `prepare` mends it."""
    prepared = prepare(text)
    is_one_graph = all(len(statement) == 3 for statement in dataset)
    is_plain = is_one_graph and not needs_dataset(query)
    graph = rdflib_graph(dataset) if is_plain else dataset_of(dataset)
    Work.done = 0
    with count_work(), keep_order_of_joins():
        result = evalQuery(graph, prepared)
        match query.form:
            case "ASK":
                return ask_answer(bool(result["askAnswer"]))
            case "CONSTRUCT":
                return construct_answer(
                    (from_rdflib(s), from_rdflib(p), from_rdflib(o)) for s, p, o in result["graph"]
                )
            case _:
                bound = (
                    {str(v): from_rdflib(t) for v, t in b.items() if t is not None}
                    for b in result["bindings"]
                )
                return select_answer(query.variables, bound)


@lru_cache(maxsize=64)
def needs_dataset(query: AlgebraQuery) -> bool:
    """Return whether a body asks for named graphs, or for the times of triples."""
    return any(
        isinstance(node, GraphPattern) or (isinstance(node, Call) and node.name == TIMESTAMP)
        for node in walk(query.pattern)
    )


def rdflib_graph(triples: Statements) -> Graph:
    """Return triples as one graph of rdflib's. Those that are static are loaded once."""
    graph = Graph(store=CountedSimpleMemory(static_store(static_part(triples))))
    fill_graph(graph, changing_part(triples))
    return graph


@lru_cache(maxsize=1)
def static_store(static: Statements) -> Store:
    """Return the triples of static data in a store of one graph."""
    graph = Graph(store=SimpleMemory())
    fill_graph(graph, static)
    return graph.store


def fill_graph(graph: Graph, triples: Statements) -> None:
    """Add triples to a graph in a fixed order: sums of doubles depend on it."""
    for triple in sorted(triples):
        subject, predicate, object_ = map(to_rdflib, triple)
        graph.store.add((subject, predicate, object_), graph)


def dataset_of(statements: Statements) -> QuietDataset:
    """Return statements as a dataset of rdflib's, with the times of triples (R2R-21) beside it.
    Those that are static are loaded once.
    """
    static = static_dataset(static_part(statements))
    dataset = QuietDataset(store=CountedMemory(static.store), default_union=False)
    for graph in static.graphs():
        dataset.graph(graph.identifier)
    fill_dataset(dataset, changing_part(statements))
    return dataset


@lru_cache(maxsize=1)
def static_dataset(static: Statements) -> QuietDataset:
    """Return static data as a dataset of rdflib's."""
    dataset = QuietDataset(store=Memory(), default_union=False)
    fill_dataset(dataset, static)
    return dataset


def fill_dataset(dataset: QuietDataset, statements: Statements) -> None:
    """Add statements to the graphs of a dataset, and the times of triples beside it."""
    dataset.times = {}
    for statement in sorted(statements):
        subject, predicate, object_, *name = map(to_rdflib, statement)
        if name and isinstance(name[0], RdflibLiteral):
            dataset.times[subject, predicate, object_] = name[0]
        elif name:
            dataset.graph(*name).add((subject, predicate, object_))
        else:
            dataset.default_graph.add((subject, predicate, object_))


@contextmanager
def count_work() -> Iterator[None]:
    """Count what rdflib does until the context ends, and end it when it is too much."""
    methods = [(FrozenDict, "compatible"), (FrozenDict, "__init__"), (QueryContext, "__init__")]
    before = [getattr(owner, name) for owner, name in methods]
    for (owner, name), function in zip(methods, before, strict=True):
        setattr(owner, name, Work.count_calls_of(function))
    try:
        yield
    finally:
        for (owner, name), function in zip(methods, before, strict=True):
            setattr(owner, name, function)


@contextmanager
def keep_order_of_joins() -> Iterator[None]:
    """Replace rdflib's order of joins until the context ends: it joins the triple patterns of a
    body as `prepare` ordered them.
    """
    CUSTOM_EVALS["refengine"] = _join_in_our_order
    try:
        yield
    finally:
        del CUSTOM_EVALS["refengine"]


def _join_in_our_order(context: QueryContext, part: CompValue) -> Any:
    """Join triple patterns as they stand, where no variable is bound before the first of them.

    rdflib would sort them by the number of their variables, and so undo the order of `prepare`.
    Raises NotImplementedError for all else, by which rdflib knows that the part is its own.
    """
    if part.name != "BGP":
        raise NotImplementedError
    for pattern in part.triples:
        for term in pattern:
            if isinstance(term, Variable | BNode) and context[term] is not None:
                raise NotImplementedError
    return evalBGP(context, part.triples)


def _timestamp(expression: Expr, context: Any) -> Identifier:
    """Return the time of a triple (R2R-21), as rdflib calls its functions."""
    triple = tuple(_eval(part, context) for part in expression.expr)
    times: dict[tuple[Identifier, ...], Identifier] = context.ctx.dataset.times
    if triple not in times:
        raise SPARQLError("no such triple")
    return times[triple]


register_custom_function(URIRef(TIMESTAMP), _timestamp, raw=True)


@lru_cache(maxsize=2**18)
def to_rdflib(term: Term) -> Identifier:
    """Return a term as rdflib has it."""
    if is_blank(term):
        return BNode(term[2:])
    if term.startswith("<"):
        return URIRef(term[1:-1])
    parts = parse_literal(term)
    if parts.language:
        return RdflibLiteral(parts.lexical, lang=parts.language)
    if parts.datatype == XSD + "string":
        return RdflibLiteral(parts.lexical, normalize=False)
    return RdflibLiteral(parts.lexical, datatype=URIRef(parts.datatype), normalize=False)


def from_rdflib(term: Identifier) -> Term:
    """Return rdflib's term as text."""
    match term:
        case BNode():
            return f"_:{term}"
        case URIRef():
            return f"<{term}>"
        case RdflibLiteral():
            return literal(str(term), str(term.datatype or XSD + "string"), term.language or "")
        case _:
            raise AttributeError(f"no term: {term!r}")
