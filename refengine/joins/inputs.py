"""§14 What a bounded join joins: the inputs of a query, and the bindings that elements give them.

A `BoundedQuery` is read from a continuous query whose body joins triple patterns (BND-1).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, cast

from refengine.core.consumption import Bindings, have_equal_terms, match_pattern
from refengine.core.r2r import scope_blank_nodes
from refengine.model.elements import Element, Row, Term, Triple, row, valid
from refengine.sparql.algebra import (
    AlgebraQuery,
    Expression,
    Join,
    TriplePattern,
    Variable,
    all_variables,
)
from refengine.sparql.choices import one_answer
from refengine.sparql.expressions import standalone

NO_QUERY = AlgebraQuery("SELECT", Join(()), ())  # expressions need one for its base
MOST_REMEMBERED = 1 << 16  # results of a condition
Terms = tuple[Term, ...]
Condition = Callable[[Terms], bool]


class Binding(NamedTuple):
    """What an element gives a source: a term for each variable of the source's patterns.

    `source` is the index of the source, and `terms` are in the order in which the variables first
    stand in the patterns. `start` and `end` are the first and the last instant of the element's
    validity. `number` counts the bindings of all sources, in the order in which they came, from 1.
    """

    source: int
    terms: Terms
    start: int
    end: int
    number: int


@dataclass(frozen=True)
class Source:
    """Triple patterns with one subject, over a stream, and the conditions on their variables alone.

    The variables are named by their positions, `0`, `1` and so on, so that two inputs of a
    self-join have one source.
    """

    stream: str
    patterns: tuple[TriplePattern, ...]
    conditions: frozenset[Expression]


@dataclass(frozen=True)
class Input:
    """One side of the join: the index of its source, and the query's name for each variable of it.

    A binding is in the input's window at t iff its last instant is not before t - `reach`. A reach
    of None is that of a window that never ends.
    """

    source: int
    variables: tuple[str, ...]
    reach: int | None

    def holds(self, binding: Binding, t: int) -> bool:
        """BND-2: Return whether a binding that came by t is in the input's window at t.

        >>> reading = Binding(0, ("<urn:s>", '"12"'), start=100, end=100, number=1)
        >>> Input(0, ("sensor", "speed"), reach=200).holds(reading, 300)
        True
        >>> Input(0, ("sensor", "speed"), reach=200).holds(reading, 301)
        False
        """
        return self.reach is None or binding.end >= t - self.reach


@dataclass(frozen=True)
class BoundedQuery:
    """A join: its sources, its inputs, the conditions on the variables of several inputs, and the
    variables of its rows.
    """

    sources: tuple[Source, ...]
    inputs: tuple[Input, ...]
    conditions: tuple[Expression, ...]
    variables: tuple[str, ...]

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams that the inputs read, each once."""
        return tuple(dict.fromkeys(source.stream for source in self.sources))

    def row(self, bindings: Sequence[Binding]) -> Row:
        """Return the row of a result, which has a binding for each input."""
        terms = solution_of(self.inputs, bindings)
        return row({name: terms[name] for name in self.variables if name in terms})


def solution_of(inputs: Iterable[Input], bindings: Iterable[Binding]) -> dict[str, Term]:
    """Return the term of each variable of some inputs, of which each has a binding."""
    terms: dict[str, Term] = {}
    for one, binding in zip(inputs, bindings, strict=True):
        terms.update(zip(one.variables, binding.terms, strict=True))
    return terms


# Bindings of an element


def holds_for(condition: Expression, solution: Mapping[str, Term]) -> bool:
    """Return whether a condition is true for a solution. Raises NoSingleAnswer where evaluators of
    SPARQL may answer differently.
    """
    return one_answer(
        lambda choices: standalone(NO_QUERY, choices).holds(condition, solution), operator.eq
    )


def make_condition(condition: Expression, names: Sequence[str]) -> Condition:
    """Return a condition as a function of the terms of its variables. It remembers its results."""

    @lru_cache(maxsize=MOST_REMEMBERED)
    def holds(terms: Terms) -> bool:
        return holds_for(condition, dict(zip(names, terms, strict=True)))

    return holds


class SourceReader:
    """Finds the bindings that an element gives a source."""

    def __init__(self, query: BoundedQuery, index: int) -> None:
        self.source = source = query.sources[index]
        self.scope = ""
        if len(query.streams) > 1:
            self.scope = str(query.streams.index(source.stream))
        self.size = len({part for one in source.patterns for part in variables_of(one)})
        self._conditions = []
        for condition in sorted(source.conditions, key=repr):
            positions = sorted(int(one.name) for one in all_variables(condition))
            names = [str(position) for position in positions]
            self._conditions.append((positions, make_condition(condition, names)))
        self._constants, self._places = _plain_pattern(source)

    def read(self, element: Element) -> list[Terms]:
        """BND-1: Return the terms of each binding that an element gives the source, sorted."""
        graph = element.graph
        if self.scope:
            graph = scope_graph(graph, self.scope)
        found = self._match_one(graph) if self._places else self._match_all(graph)
        if len(found) > 1:
            found = sorted(set(found))
        if self._conditions:
            return [terms for terms in found if self.is_selected(terms)]
        return found

    def _match_one(self, graph: frozenset[Triple]) -> list[Terms]:
        """Return the terms of the only pattern, in which no variable stands twice."""
        constants, places = self._constants, self._places
        return [
            tuple([triple[k] for k in places])
            for triple in graph
            if all([triple[k] == term for k, term in constants])
        ]

    def _match_all(self, graph: frozenset[Triple]) -> list[Terms]:
        """Return the terms of the solutions of all patterns."""
        partial: list[Bindings] = [{}]
        for pattern in self.source.patterns:
            matches = [match_pattern(pattern, triple) for triple in graph]
            partial = [
                before | match
                for before in partial
                for match in matches
                if match is not None and have_equal_terms(before, match)
            ]
        return [tuple(bindings[Variable(str(k))] for k in range(self.size)) for bindings in partial]

    def is_selected(self, terms: Terms) -> bool:
        """Return whether terms fulfil the source's own conditions."""
        return all(
            holds(tuple(terms[position] for position in positions))
            for positions, holds in self._conditions
        )


def variables_of(pattern: TriplePattern) -> Iterator[Variable]:
    """Yield the variables of a triple pattern."""
    return (part for part in pattern if isinstance(part, Variable))


def _plain_pattern(source: Source) -> tuple[list[tuple[int, Term]], list[int]]:
    """Return the terms of a source's only pattern with their places in a triple, and the places of
    its variables. Both are empty if there are several patterns, or a variable stands twice.
    """
    pattern = source.patterns[0]
    variables = list(variables_of(pattern))
    if len(source.patterns) > 1 or len({*variables}) < len(variables):
        return [], []
    constants = [(k, part) for k, part in enumerate(pattern) if isinstance(part, str)]
    return constants, [k for k, part in enumerate(pattern) if isinstance(part, Variable)]


def scope_graph(graph: frozenset[Triple], scope: str) -> frozenset[Triple]:
    """Return a graph whose blank nodes are those of one stream (R2R-8)."""
    if any([triple[0][0] == "_" or triple[2][0] == "_" for triple in graph]):
        return cast("frozenset[Triple]", scope_blank_nodes(graph, scope))
    return graph


def read_bindings(
    readers: Sequence[SourceReader], stream: str, element: Element, count: int
) -> list[Binding]:
    """Return the bindings that an element of a stream gives each source, source by source. `count`
    is how many bindings came before.
    """
    start, end = valid(element)
    found: list[Binding] = []
    for index, reader in enumerate(readers):
        if reader.source.stream == stream:
            for terms in reader.read(element):
                found.append(Binding(index, terms, start, end, count + len(found) + 1))
    return found
