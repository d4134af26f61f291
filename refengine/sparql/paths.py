"""§7 Property paths (SPARQL 1.1 §9, §18.4): which pairs of nodes a path connects, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from refengine.model.elements import Term
from refengine.sparql.algebra import (
    Alternative,
    Inverse,
    NegatedSet,
    Path,
    Repeated,
    Sequence,
)
from refengine.sparql.graphs import Index, Spend

Pair = tuple[Term, Term]


def pairs(
    graph: Index, path: Path, start: Term | None, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """R2R-18: Yield the pairs of nodes that a path connects, from `start` and to `end` where they
    are given (None: any node).

    Alternatives and sequences give a pair as often as they have ways; `?`, `*` and `+` give it once
    (§18.4). A path of length zero connects a given term with itself, be it in the graph or not.
    """
    spend(1)
    match path:
        case str():
            for subject, _, object in graph.match(start, path, end):
                spend(1)
                yield subject, object
        case Inverse(inner):
            yield from ((a, b) for b, a in pairs(graph, inner, end, start, spend))
        case Alternative(paths):
            for one in paths:
                yield from pairs(graph, one, start, end, spend)
        case Sequence(steps):
            yield from _sequence(graph, steps, start, end, spend)
        case NegatedSet():
            yield from _negated(graph, path, start, end, spend)
        case Repeated():
            yield from _repeated(graph, path, start, end, spend)


def _sequence(
    graph: Index, steps: tuple[Path, ...], start: Term | None, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """Yield the pairs that steps connect, one after the other.

    A sequence is a join by a variable between each two steps (§18.4). A step with variables at both
    ends connects nodes of the graph alone, so that P*/Q* does not connect a term that is no node
    with itself.
    """
    if start is None and end is not None:
        backwards = tuple(Inverse(step) for step in reversed(steps))
        yield from ((a, b) for b, a in _sequence(graph, backwards, end, None, spend))
        return
    first, *rest = steps
    for begin, middle in pairs(graph, first, start, None, spend):
        for _, stop in _following(graph, rest, middle, end, spend):
            spend(1)
            yield begin, stop


def _following(
    graph: Index, steps: list[Path], middle: Term, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """Yield the pairs that the steps behind a first one connect, from a term that a variable stands
    for.
    """
    first, *rest = steps
    goal = None if rest else end
    for begin, stop in pairs(graph, first, middle, goal, spend):
        if goal is None and (begin not in graph.nodes or stop not in graph.nodes):
            continue
        if not rest:
            yield begin, stop
            continue
        for _, last in _following(graph, rest, stop, end, spend):
            spend(1)
            yield begin, last


def _negated(
    graph: Index, path: NegatedSet, start: Term | None, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """Yield the ends of the triples with any predicate but those of the set, in the direction of
    its members (§9.1).
    """
    if path.forward is not None:
        for subject, predicate, object in graph.match(start, None, end):
            spend(1 + len(path.forward) // 16)
            if predicate not in path.forward:
                yield subject, object
    if path.backward is not None:
        for subject, predicate, object in graph.match(end, None, start):
            spend(1 + len(path.backward) // 16)
            if predicate not in path.backward:
                yield object, subject


def _repeated(
    graph: Index, path: Repeated, start: Term | None, end: Term | None, spend: Spend
) -> Iterator[Pair]:
    """Yield each pair that `?`, `*` or `+` connects, once (§18.4, ZeroOrOnePath to ALP)."""
    if start is None and end is not None:
        inverse = Repeated(Inverse(path.path), path.least, path.is_at_most_once)
        yield from ((a, b) for b, a in _repeated(graph, inverse, end, None, spend))
        return
    nodes = [start] if start is not None else graph.nodes
    spend(len(nodes))
    for begin in nodes:
        for stop in _reached(graph, path, begin, spend):
            if end is None or stop == end:
                yield begin, stop


def _reached(graph: Index, path: Repeated, begin: Term, spend: Spend) -> Iterable[Term]:
    """Return the nodes that a repeated path reaches from a node, each once."""

    def steps(node: Term) -> Iterator[Term]:
        spend(1)
        return (stop for _, stop in pairs(graph, path.path, node, None, spend))

    if path.is_at_most_once:
        return dict.fromkeys((begin, *steps(begin)))
    # P* reaches its start without a step, P+ only if it comes back to it.
    reached: dict[Term, None] = {} if path.least else {begin: None}
    waiting = [begin]
    while waiting:
        for node in steps(waiting.pop()):
            if node not in reached:
                reached[node] = None
                waiting.append(node)
    return reached
