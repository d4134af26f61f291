"""Which triples of a stream a query can read. The terms of the others need not be moved.

An element stays in its stream whatever it holds: that it arrives moves time on, and it counts in
the contents of windows. So only its triples are left out, and only where nothing but the triple
patterns of the body looks at them.
"""

from __future__ import annotations

from refengine.core.query import Query
from refengine.core.semantics import Semantics
from refengine.core.values import Condition
from refengine.incremental.parts import BOUNDED
from refengine.model.elements import Term
from refengine.sparql.algebra import (
    Alternative,
    Graph,
    Inverse,
    Path,
    Repeated,
    Sequence,
    TriplePattern,
    Variable,
    walk,
)


def predicates_read(query: Query, semantics: Semantics) -> frozenset[Term] | None:
    """Return the predicates of all triples that a query can read; None if it can read any triple.

    A query can read any triple where one of these holds:

    - content change compares graphs (REP-9), so that each triple may be a change;
    - elements are consumed (R2R-22), or a window counts or partitions them by their triples;
    - the body asks for times (R2R-21);
    - a pattern has a variable as its predicate, a negated set, or a path that may have no step: it
      starts and ends at each node of the graph;
    - a pattern stands in GRAPH: a graph without triples is none, and with triples it is one.

    `SELECT ?x { ?x <urn:p>/<urn:q> ?y }` reads `<urn:p>` and `<urn:q>`.
    """
    has_other_windows = any(spec.kind not in BOUNDED for spec in query.windows)
    if compares_graphs(semantics) or has_other_windows or semantics.is_consuming:
        return None
    if query.body.asks_for_times:
        return None
    found: set[Term] = set()
    for node in walk(query.body.algebra.pattern):
        if isinstance(node, Graph):
            return None
        if isinstance(node, TriplePattern):
            predicates = _predicates_of(node.predicate)
            if predicates is None:
                return None
            found |= predicates
    return frozenset(found)


def compares_graphs(semantics: Semantics) -> bool:
    """Whether content change compares the graphs of contents (REP-9), not their elements."""
    has_change = Condition.CHANGE in semantics.report
    return has_change and semantics.change_scope.reads_graphs


def _predicates_of(path: Variable | Path) -> set[Term] | None:
    """Return the predicates of the triples that a predicate or a path can pass; None for any."""
    match path:
        case str():
            return {path}
        case Inverse(inner):
            return _predicates_of(inner)
        case Sequence(inners) | Alternative(inners):
            each = [_predicates_of(inner) for inner in inners]
            found: set[Term] = set()
            for predicates in each:
                if predicates is None:
                    return None
                found |= predicates
            return found
        case Repeated(inner, least) if least > 0:
            return _predicates_of(inner)
        case _:  # a variable, a negated set, a path that may have no step
            return None
