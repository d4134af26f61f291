"""§7 rdflib as a witness: its own evaluation of SPARQL over our terms, with its work counted and
its known faults in reach mended.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

import rdflib
from rdflib import BNode, Dataset, Graph, URIRef
from rdflib import Literal as RdflibLiteral
from rdflib.plugins.sparql.algebra import translatePrologue, translateQuery, traverse
from rdflib.plugins.sparql.evaluate import evalQuery
from rdflib.plugins.sparql.evalutils import _eval
from rdflib.plugins.sparql.operators import register_custom_function
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue, Expr
from rdflib.plugins.sparql.sparql import FrozenDict, QueryContext, SPARQLError
from rdflib.plugins.sparql.sparql import Query as RdflibQuery
from rdflib.plugins.stores.memory import Memory, SimpleMemory
from rdflib.term import Identifier, Variable

from refengine.model.elements import XSD, Relation, Term, is_blank, literal, parse_literal
from refengine.model.elements import Dataset as Statements
from refengine.sparql.algebra import Call, Query, walk
from refengine.sparql.algebra import Graph as GraphPattern
from refengine.sparql.evaluation import ask_answer, construct_answer, select_answer
from refengine.sparql.evaluation.join_order import order_by_shared_variables
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.witnesses import NoSay

if TYPE_CHECKING:
    from pyparsing import ParseResults

RdflibTriple = tuple[Identifier, ...]

MOST_LOOKUPS = 1_000_000  # requests for triples by rdflib for one answer
MOST_WORK = 1_000_000  # solutions that rdflib may make or compare: it joins lists in nested loops


class Work:
    """How many solutions rdflib has made and compared for an answer: it has no limit of its own."""

    done = 0

    @classmethod
    def counting(cls, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a method of rdflib's that each such step calls. Raises NoSay
        when they are too many.
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
    """A store of several graphs, which counts how often it is asked for triples."""

    lookups = 0

    def triples(self, triple_pattern: Any, context: Any = None) -> Generator[Any, None, None]:
        """Return what matches a pattern."""
        self.lookups = one_lookup_more(self.lookups)
        return super().triples(triple_pattern, context)


class CountedSimpleMemory(SimpleMemory):
    """A store of one graph, which counts, too, and looks up no graph for each triple."""

    lookups = 0

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[Any]:
        """Return what matches a pattern."""
        self.lookups = one_lookup_more(self.lookups)
        return super().triples(triple_pattern, context)


@contextmanager
def silenced() -> Iterator[None]:
    """Have rdflib log nothing in here: it logs each literal that it cannot
    read, with a traceback.
    """
    logger = logging.getLogger("rdflib.term")

    def drop(record: logging.LogRecord) -> bool:
        return False

    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)


@silenced()
def answer(query: Query, text: str, dataset: Statements) -> Relation:
    """Return rdflib's answer, to its algebra as `_prepared` mends it."""
    prepared = _prepared(text)
    is_one_graph = all(len(statement) == 3 for statement in dataset)
    is_plain = is_one_graph and not needs_dataset(query)
    graph = graph_of(dataset) if is_plain else dataset_of(dataset)
    Work.done = 0
    with counting():
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
def needs_dataset(query: Query) -> bool:
    """Return whether a body asks for named graphs, or for the times of triples."""
    return any(
        isinstance(node, GraphPattern) or (isinstance(node, Call) and node.name == TIMESTAMP)
        for node in walk(query.pattern)
    )


def graph_of(triples: Statements) -> Graph:
    """Return triples as one graph of rdflib's, filled in a fixed order: sums of doubles depend on
    it.
    """
    graph = Graph(store=CountedSimpleMemory())
    for triple in sorted(triples):
        subject, predicate, object_ = map(to_rdflib, triple)
        graph.store.add((subject, predicate, object_), graph)
    return graph


def dataset_of(statements: Statements) -> QuietDataset:
    """Return statements as a dataset of rdflib's, with the times of triples (R2R-21) beside it."""
    dataset = QuietDataset(store=CountedMemory(), default_union=False)
    dataset.times = {}
    for statement in sorted(statements):
        subject, predicate, object_, *name = map(to_rdflib, statement)
        if name and isinstance(name[0], RdflibLiteral):
            dataset.times[subject, predicate, object_] = name[0]
        else:
            graph = dataset.graph(*name) if name else dataset.default_graph
            graph.add((subject, predicate, object_))
    return dataset


@contextmanager
def counting() -> Iterator[None]:
    """Have rdflib count its work in here."""
    methods = [(FrozenDict, "compatible"), (FrozenDict, "__init__"), (QueryContext, "__init__")]
    before = [getattr(owner, name) for owner, name in methods]
    for (owner, name), function in zip(methods, before, strict=True):
        setattr(owner, name, Work.counting(function))
    try:
        yield
    finally:
        for (owner, name), function in zip(methods, before, strict=True):
            setattr(owner, name, function)


@lru_cache(maxsize=64)
def _prepared(text: str) -> RdflibQuery:
    """Parse a body with rdflib and return its algebra, with literals as they are written, and with
    prefixed names resolved: rdflib keeps one prefix a namespace only.
    """
    before, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        tree = parseQuery(text)
    finally:
        rdflib.NORMALIZE_LITERALS = before
    bases = cast("ParseResults", [node for node in tree[0] if node.name == "Base"])
    prologue = translatePrologue(bases, None)
    names = {
        _prefix(node): prologue.absolutize(node["iri"])
        for node in tree[0]
        if node.name == "PrefixDecl"
    }

    def resolved(node: Any) -> URIRef | None:
        if isinstance(node, CompValue) and node.name == "pname" and _prefix(node) in names:
            # rdflib's own `get` gives a variable where there is no local name
            local = node["localname"] if "localname" in node else ""  # noqa: SIM401
            return URIRef(str(names[_prefix(node)]) + str(local))
        return None

    tree[1] = traverse(tree[1], visitPost=resolved)
    algebra = translateQuery(tree)
    algebra.algebra = _adapted(algebra.algebra)
    return algebra


def _prefix(node: CompValue) -> str:
    return str(node["prefix"]) if "prefix" in node else ""


def _adapted(node: Any) -> Any:
    """Return rdflib's algebra, changed in three ways: triple patterns in a feasible order, no group
    where GROUP BY has no solutions (R2R-6), and NoSay for a regular expression that may take long.
    Changes it in place.
    """
    if isinstance(node, list):
        return [_adapted(item) for item in node]
    if not isinstance(node, CompValue):
        return node
    for key, value in node.items():
        node[key] = _adapted(value)
    if node.name == "BGP":
        node["triples"] = in_join_order(node.triples)
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


def in_join_order(patterns: Sequence[RdflibTriple]) -> list[RdflibTriple]:
    """Order triple patterns as rdflib should join them, which joins them as they stand. Its own
    order prefers patterns with many constants: two observations of one sensor become all pairs of
    observations.
    """
    return order_by_shared_variables(
        patterns, _variables_of, lambda _, new_variables: new_variables
    )


def _variables_of(pattern: RdflibTriple) -> set[Identifier]:
    return {term for term in pattern if isinstance(term, Variable | BNode)}


def _guarded(function: Callable[[Expr, Any], Any]) -> Callable[[Expr, Any], Any]:
    """Wrap rdflib's REGEX or REPLACE, which use Python's `re`: that may take exponential time."""

    def guarded(expression: Expr, context: Any) -> Any:
        text = expression["text" if "text" in expression else "arg"]
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
    datatype = None if parts.datatype == XSD + "string" else URIRef(parts.datatype)
    return RdflibLiteral(parts.lexical, datatype=datatype, normalize=False)


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
