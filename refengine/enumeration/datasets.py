"""SPEC.md §7, datasets: what a body is asked over, and whether its answer is a bag or a set.

What a body answers is not said here (`refengine.sparql` says it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from refengine.core.query import Window
from refengine.core.values import Collection
from refengine.enumeration.firings import Firings
from refengine.enumeration.inputs import Content
from refengine.model.elements import Bag, Dataset


class Datasets(Firings):
    """§7: what is around the answer of a body."""

    def graph(self, window: Window, content: Content) -> Dataset:
        """R2R-8: Return the triples of a content, in the default graph or in the graph that the
        window names.
        """
        triples = self.triples(window, content)
        if window.name is None:
            return triples
        return frozenset((*triple, f"<{window.name}>") for triple in triples)

    def dataset(self, contents: Sequence[Content]) -> Dataset:
        """R2R-8: Return the dataset of an evaluation: the triples in the windows' contents and the
        static data.
        """
        return self.static.union(*map(self.graph, self.windows, contents))

    def collect(self, answer: Bag) -> Bag:
        """R2R-9: Return all rows of an answer, or one of each."""
        match self.semantics.collection:
            case Collection.BAG:
                return answer
            case Collection.SET:
                return Counter(set(answer))
