"""§7 rdflib as a witness: its own evaluation of SPARQL over our terms, with its work counted, and
with the known faults of its algebra in reach mended.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, reduce
from itertools import chain
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

from rdflib import BNode, Dataset, Graph, URIRef
from rdflib import Literal as RdflibLiteral
from rdflib.paths import Path
from rdflib.plugins.sparql import CUSTOM_EVALS
from rdflib.plugins.sparql.algebra import translatePrologue, translateQuery, traverse
from rdflib.plugins.sparql.evaluate import evalBGP, evalQuery
from rdflib.plugins.sparql.evalutils import _eval
from rdflib.plugins.sparql.operators import register_custom_function
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue, Expr
from rdflib.plugins.sparql.sparql import FrozenDict, QueryContext, SPARQLError
from rdflib.plugins.sparql.sparql import Query as RdflibQuery
from rdflib.plugins.stores.memory import Memory, SimpleMemory
from rdflib.store import Store
from rdflib.term import Identifier, Variable

from refengine.model.elements import XSD, Relation, Term, is_blank, literal, parse_literal
from refengine.model.elements import Dataset as Statements
from refengine.model.libraries import keeping_lexical_forms
from refengine.sparql.algebra import AlgebraQuery, Call, walk
from refengine.sparql.algebra import Graph as GraphPattern
from refengine.sparql.datasets import changing_part, static_part
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.matching import (
    order_by_shared_variables,
    postpone_unconnected,
    split_by_shared_variables,
)
from refengine.sparql.solutions import ask_answer, construct_answer, select_answer
from refengine.sparql.witnesses.defects import NoSay

if TYPE_CHECKING:
    from pyparsing import ParseResults

# rdflib's algebra of a body

RdflibTriple = tuple[Identifier, ...]


@lru_cache(maxsize=512)
def prepare(text: str) -> RdflibQuery:
    """Parse a body with rdflib and return its algebra, with literals as they are written, and with
    prefixed names resolved: rdflib keeps one prefix a namespace only.
    """
    with keeping_lexical_forms():
        tree = parseQuery(text)
    bases = cast("ParseResults", [node for node in tree[0] if node.name == "Base"])
    prologue = translatePrologue(bases, None)
    names = {
        _prefix(node): prologue.absolutize(node["iri"])
        for node in tree[0]
        if node.name == "PrefixDecl"
    }

    def resolve_name(node: Any) -> URIRef | None:
        if isinstance(node, CompValue) and node.name == "pname" and _prefix(node) in names:
            # rdflib's own `get` gives a variable where there is no local name
            local = node["localname"] if "localname" in node else ""  # noqa: SIM401
            return URIRef(str(names[_prefix(node)]) + str(local))
        return None

    tree[1] = traverse(tree[1], visitPost=resolve_name)
    algebra = translateQuery(tree)
    algebra.algebra = adapt(algebra.algebra)
    return algebra


def _prefix(node: CompValue) -> str:
    """Return the prefix of a name, "" where there is none."""
    if "prefix" not in node:
        return ""
    return str(node["prefix"])


def adapt(node: Any) -> Any:
    """Return rdflib's algebra, changed in three ways: triple patterns, and joins of them, in a
    feasible order, no group where GROUP BY has no solutions (R2R-6), and NoSay for a regular
    expression that may take long. Changes it in place.
    """
    if isinstance(node, list):
        return [adapt(item) for item in node]
    if not isinstance(node, CompValue):
        return node
    for key, value in node.items():
        node[key] = adapt(value)
    if node.name == "BGP":
        node["triples"] = order_patterns(node.triples)
    if node.name == "Join":
        return order_joins(node)
    if node.name in ("Builtin_REGEX", "Builtin_REPLACE"):
        node._evalfn = MethodType(_guarded(node._evalfn.__func__), node)
    if node.name != "AggregateJoin" or node.p.expr is None:
        return node
    # grouping no solutions by a key gives no group, but rdflib gives one empty row
    members = Variable("__members__")
    node.A.append(CompValue("Aggregate_Count", vars="*", res=members, distinct=None))
    return CompValue("Filter", expr=members, p=node, _vars={members, *_variables_within(node)})


def _variables_within(node: CompValue) -> set[Variable]:
    """Return the variables that rdflib has noted of a node of its algebra, if it has noted any.

    `CompValue.get` takes no default: it gives a key that is missing as a variable's name.
    """
    if "_vars" not in node:
        return set()
    return cast("set[Variable]", node["_vars"])


def order_patterns(patterns: Sequence[RdflibTriple]) -> list[RdflibTriple]:
    """Order triple patterns as rdflib should join them, which joins them as they stand. Its own
    order prefers patterns with many constants: two observations of one sensor become all pairs of
    observations.
    """
    return order_by_shared_variables(
        patterns, _variables_of, lambda _, new_variables: new_variables
    )


def order_joins(join: CompValue) -> CompValue:
    """Reorder a join whose operands are all basic graph patterns, each in the default graph or in
    GRAPH. rdflib evaluates the left side first, and the right one for each of its solutions.

    Triple patterns that share no variable become operands of their own, since their solutions
    together are all pairs. Any other join is returned as it is.
    """
    operands = _operands(join)
    patterns = [_basic_pattern_of(operand) for operand in operands]
    if not all(pattern is not None and not _has_path(pattern) for pattern in patterns):
        return join
    groups = [group for operand in operands for group in _unconnected(operand)]
    if not groups:
        return join
    return reduce(_join_lazily, postpone_unconnected(groups, _variables_within))


def _operands(node: CompValue) -> list[CompValue]:
    """Return the patterns that a node joins, if rdflib joins them one by one (`lazy`)."""
    if node.name == "Join" and node.lazy:
        return _operands(node.p1) + _operands(node.p2)
    return [node]


def _basic_pattern_of(node: CompValue) -> CompValue | None:
    """Return the basic graph pattern of a node: the node itself, or what is inside its GRAPH; None
    for any other node.
    """
    inner = node.p if node.name == "Graph" else node
    return inner if inner.name == "BGP" else None


def _has_path(pattern: CompValue) -> bool:
    """Return whether a basic graph pattern has a property path. rdflib answers a path of no steps
    in another way where a term is bound before.
    """
    return any(isinstance(predicate, Path) for _, predicate, _ in pattern.triples)


def _unconnected(operand: CompValue) -> list[CompValue]:
    """Return the parts of a basic graph pattern that share no variable. A GRAPH is one part."""
    if operand.name != "BGP":
        return [operand]
    return [
        CompValue("BGP", triples=group, _vars=set().union(*map(_variables_of, group)))
        for group in split_by_shared_variables(operand.triples, _variables_of)
    ]


def _join_lazily(left: CompValue, right: CompValue) -> CompValue:
    """Return a join for which rdflib evaluates the right side for each solution of the left."""
    variables = _variables_within(left) | _variables_within(right)
    return CompValue("Join", p1=left, p2=right, lazy=True, _vars=variables)


def _variables_of(pattern: RdflibTriple) -> set[Identifier]:
    """Return the variables and blank nodes of a triple pattern."""
    return {term for term in pattern if isinstance(term, Variable | BNode)}


def _guarded(function: Callable[[Expr, Any], Any]) -> Callable[[Expr, Any], Any]:
    """Wrap rdflib's REGEX or REPLACE, which use Python's `re`: that may take exponential time."""

    def guarded(expression: Expr, context: Any) -> Any:
        operand = "text" if "text" in expression else "arg"
        text = expression[operand]
        if may_be_slow(str(expression["pattern"]), len(str(text))):
            raise NoSay("a regular expression that may take long with Python's re")
        return function(expression, context)

    return guarded


def may_be_slow(pattern: str, length: int) -> bool:
    """Return whether a backtracking matcher may take long: a repeated group that repeats or
    chooses, or many repetitions on a long text.
    """
    repetitions = len(re.findall(r"[*+{]", pattern))
    is_nested = re.search(r"\)[*+{]", pattern) is not None and (repetitions > 1 or "|" in pattern)
    return (is_nested and length > 20) or max(length, 1) ** repetitions > 10**7


# Answers


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
