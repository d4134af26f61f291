"""§7 A graph as patterns ask for it: triples by any of their terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import itemgetter

from refengine.model.elements import Term, Triple

# the terms at one position or at two, as `itemgetter` gives them
Key = Term | tuple[Term, ...]


class Index:
    """The triples of a graph, by the terms that a pattern gives; each index is made when it is
    first asked for.
    """

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.triples = sorted(triples)
        self.present = frozenset(self.triples)
        self._by: dict[tuple[int, ...], dict[Key, list[Triple]]] = {}

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
        if positions not in self._by:
            self._by[positions] = self._indexed(positions)
        terms = [term for term in given if term is not None]
        key: Key = terms[0] if len(terms) == 1 else tuple(terms)
        return self._by[positions].get(key, ())

    def _indexed(self, positions: tuple[int, ...]) -> dict[Key, list[Triple]]:
        """Return the triples by their terms at some positions."""
        key_of: Callable[[Triple], Key] = itemgetter(*positions)
        index: dict[Key, list[Triple]] = defaultdict(list)
        for triple in self.triples:
            index[key_of(triple)].append(triple)
        return dict(index)

    @cached_property
    def nodes(self) -> dict[Term, None]:
        """The terms that are a subject or an object, in order (§18.4)."""
        return dict.fromkeys(
            sorted({term for subject, _, end in self.triples for term in (subject, end)})
        )


Spend = Callable[[int], None]
