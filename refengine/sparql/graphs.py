"""§7 A graph as patterns ask for it: triples by any of their terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import cast

from refengine.model.elements import Term, Triple

# the terms at one position or at two, as `itemgetter` gives them
Key = Term | tuple[Term, ...]


class Index:
    """The triples of a graph, by the terms that a pattern gives; each index is made when it is
    first asked for.
    """

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.triples: Sequence[Triple] = sorted(triples)
        self.present = frozenset(self.triples)
        self._by: dict[tuple[Term | None, tuple[int, ...]], dict[Key, list[Triple]]] = {}

    def match(
        self, subject: Term | None, predicate: Term | None, object: Term | None
    ) -> Sequence[Triple]:
        """Return the triples that have the given terms, in order; None stands for any."""
        given = (subject, predicate, object)
        positions = tuple([position for position, term in enumerate(given) if term is not None])
        if not positions:
            return self.triples
        if len(positions) == 3:
            return (given,) if given in self.present else ()
        if len(positions) == 1 or predicate is None:
            terms = [term for term in given if term is not None]
            return self._look_up(None, positions, terms[0] if len(terms) == 1 else tuple(terms))
        # a body asks for few predicates, and no other triples are indexed by another term
        if subject is not None:
            return self._look_up(predicate, (0,), subject)
        return self._look_up(predicate, (2,), cast("Term", object))

    def _look_up(
        self, predicate: Term | None, positions: tuple[int, ...], key: Key
    ) -> Sequence[Triple]:
        """Return the triples that have the terms of a key at some positions: of those with a
        predicate, or of all.
        """
        name = (predicate, positions)
        if name not in self._by:
            triples = self.triples
            if predicate is not None:
                triples = self._look_up(None, (1,), predicate)
            self._by[name] = index_triples(triples, positions)
        return self._by[name].get(key, ())

    def __len__(self) -> int:
        return len(self.triples)

    @cached_property
    def nodes(self) -> dict[Term, None]:
        """The terms that are a subject or an object, in order (§18.4)."""
        return dict.fromkeys(sorted(nodes_of(self.triples)))


class IndexOverStatic(Index):
    """The triples of a graph, of which some are static: these are in an index of their own, which
    may be that of several evaluations. No triple may be in both.
    """

    def __init__(self, triples: Iterable[Triple], static: Index) -> None:
        super().__init__(triples)
        self.static = static

    def match(
        self, subject: Term | None, predicate: Term | None, object: Term | None
    ) -> Sequence[Triple]:
        """Return the triples that have the given terms, in order; None stands for any."""
        changing = super().match(subject, predicate, object)
        static = self.static.match(subject, predicate, object)
        if changing and static:
            return sorted((*changing, *static))
        return changing or static

    def __len__(self) -> int:
        return len(self.triples) + len(self.static)

    @cached_property
    def nodes(self) -> dict[Term, None]:
        """The terms that are a subject or an object, in order (§18.4)."""
        return dict.fromkeys(sorted(nodes_of(self.triples) | self.static.nodes.keys()))


def nodes_of(triples: Iterable[Triple]) -> set[Term]:
    """Return the terms that are a subject or an object."""
    return {term for subject, _, end in triples for term in (subject, end)}


def index_triples(triples: Iterable[Triple], positions: tuple[int, ...]) -> dict[Key, list[Triple]]:
    """Return triples by their terms at some positions."""
    key_of: Callable[[Triple], Key] = itemgetter(*positions)
    index: dict[Key, list[Triple]] = defaultdict(list)
    for triple in triples:
        index[key_of(triple)].append(triple)
    return dict(index)


Spend = Callable[[int], None]
