"""§9 The question: a query with its data; and a setting, which adds a semantics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from refengine.core.query import Query
from refengine.core.semantics import Semantics
from refengine.model.elements import Dataset, Stream


@dataclass(frozen=True)
class Question:
    """A continuous query and the data that it is asked over.

    `streams` are by name. `static` is the data that never changes: triples of the default graph and
    quads of named graphs. What the question means is left open: a semantics says that.
    """

    query: Query
    streams: Mapping[str, Stream]
    static: Dataset = frozenset()

    def under(self, semantics: Semantics) -> Setting:
        """Return the question with the semantics under which it is answered."""
        return Setting(self, semantics)


@dataclass(frozen=True)
class Setting:
    """A question under a semantics: all that its reports depend on."""

    question: Question
    semantics: Semantics

    @property
    def query(self) -> Query:
        """The continuous query."""
        return self.question.query

    @property
    def streams(self) -> Mapping[str, Stream]:
        """The streams by name."""
        return self.question.streams

    @property
    def static(self) -> Dataset:
        """The data that never changes."""
        return self.question.static
