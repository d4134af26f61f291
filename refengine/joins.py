"""§7 The order in which a witness joins triple patterns, which is no part of the answer."""

from __future__ import annotations

from collections.abc import Sequence

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Variable


def connect_patterns(node: object) -> object:
    """Order the triple patterns of every basic graph pattern so that each shares a variable with one before it, if any does.

    rdflib joins them as they stand, and its own order prefers patterns with many constants: two observations of one sensor
    become all pairs of observations. Takes and returns a node of rdflib's algebra, or a list of nodes.
    """
    if isinstance(node, list):
        return [connect_patterns(item) for item in node]
    if not isinstance(node, CompValue):
        return node
    for key, value in node.items():
        node[key] = connect_patterns(value)
    if node.name == "BGP":
        node["triples"] = _connected(node.triples)
    return node


def _connected(patterns: Sequence[tuple]) -> list[tuple]:
    """The patterns, each after one with which it shares a variable; of several the one with the fewest unbound variables."""
    todo = list(patterns)
    found: list[tuple] = []
    bound: set = set()
    while todo:
        best = min(todo, key=lambda pattern: _preference(pattern, bound))
        todo.remove(best)
        found.append(best)
        bound |= _variables(best)
    return found


def _preference(pattern: tuple, bound: set) -> tuple[bool, int]:
    """What is joined first: patterns that share a bound variable, then those with the fewest unbound ones."""
    own = _variables(pattern)
    is_apart = bool(bound) and bool(own) and not own & bound
    return is_apart, len(own - bound)


def _variables(pattern: tuple) -> set:
    return {term for term in pattern if isinstance(term, Variable | BNode)}
