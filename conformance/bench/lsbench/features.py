"""The features of a query as Table 1 of LSBench names them, computed from its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from refengine.core.query import Query
from refengine.sparql.algebra import (
    Aggregate,
    Basic,
    Call,
    Exists,
    Filter,
    Graph,
    LeftJoin,
    Minus,
    Project,
    Slice,
    TriplePattern,
    Union,
    Variable,
    walk,
)

FEATURES = {
    "F": "filter",
    "J": "join",
    "E": "nested query",
    "N": "negation",
    "T": "top-k",
    "U": "union",
    "A": "aggregation",
    "S": "static data",
}
# The features that a query has if there is a node of one of these kinds in its algebra.
KINDS: Mapping[str, tuple[type, ...]] = {
    "N": (Minus, Exists),
    "T": (Slice,),
    "U": (Union,),
    "A": (Aggregate,),
}


class QueryClass(NamedTuple):
    """The class of a query: how many patterns it has and how many streams it reads, and the letters
    of its features, in the order of FEATURES.
    """

    patterns: int
    streams: int
    features: str


def class_of(query: Query) -> QueryClass:
    """Return the class of a query whose windows all have names, so that a pattern outside them asks
    for static data.

    A query of one pattern has a filter if its subject or object is given: that selects as a filter
    does, and Table 1 counts it as one (Q1).
    """
    pattern = query.body.algebra.pattern
    nodes = list(walk(pattern))
    triples = [node for node in nodes if isinstance(node, TriplePattern)]
    has = {
        letter: any(isinstance(node, kinds) for node in nodes) for letter, kinds in KINDS.items()
    }
    has["F"] = _is_selection(triples) or any(map(_is_comparison, nodes))
    has["J"] = len(triples) > 1
    has["E"] = sum(isinstance(node, Project) for node in nodes) > 1
    has["S"] = any(_static_patterns(pattern))
    streams = {window.stream for window in query.windows}
    features = "".join(letter for letter in FEATURES if has[letter])
    return QueryClass(len(triples), len(streams), features)


def _is_selection(triples: Sequence[TriplePattern]) -> bool:
    """Whether there is one pattern, whose subject or object is given."""
    if len(triples) != 1:
        return False
    [triple] = triples
    return not (isinstance(triple.subject, Variable) and isinstance(triple.object, Variable))


def _is_comparison(node: Any) -> bool:
    """Whether a node is a filter by anything but that a pattern exists, or that it does not. A
    filter in OPTIONAL is the condition of its LeftJoin.
    """
    if not isinstance(node, Filter | LeftJoin) or node.condition is None:
        return False
    condition = node.condition
    while isinstance(condition, Call) and len(condition.arguments) == 1:
        [condition] = condition.arguments
    return not isinstance(condition, Exists)


def _static_patterns(node: Any) -> Iterator[TriplePattern]:
    """Yield the triple patterns that stand outside every named graph."""
    match node:
        case Graph() | Variable() | str() | bool() | int() | None:
            return
        case Basic(triples):
            yield from triples
        case tuple():
            for child in node:
                yield from _static_patterns(child)
        case _:
            for child in vars(node).values():
                yield from _static_patterns(child)
