"""§9 The question: a query with its data; and a setting, which adds a semantics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from refengine.core.query import Query, refuse_no_query
from refengine.core.semantics import Semantics
from refengine.model.elements import (
    Dataset,
    Statements,
    Stream,
    canonical_dataset,
    refuse_no_stream,
    refuse_no_streams,
)
from refengine.model.errors import InvalidQuery
from refengine.model.messages import display


@dataclass(frozen=True, init=False)
class Question:
    """A continuous query and the data that it is asked over.

    `streams` are by name. `static` is the data that never changes: triples of the default graph and
    quads of named graphs. What the question means is left open: a semantics says that.

    Raises InvalidQuery and InvalidStream for values of other types, and for what is no term in the
    static data, whose terms are made canonical (MOD-4).
    """

    query: Query
    streams: Mapping[str, Stream]
    static: Dataset

    def __init__(
        self, query: Query, streams: Mapping[str, Stream], static: Statements = frozenset()
    ) -> None:
        refuse_no_query(query)
        refuse_no_streams(streams)
        for name, stream in streams.items():
            refuse_no_stream(name, stream)
        found = {"query": query, "streams": streams, "static": canonical_dataset(static)}
        for field, value in found.items():
            object.__setattr__(self, field, value)

    def under(self, semantics: Semantics) -> Setting:
        """Return the question with the semantics under which it is answered."""
        return Setting(self, semantics)


def refuse_no_question(value: object) -> None:
    """QRY-1: Refuse what is no question, where one is needed. Raises InvalidQuery."""
    if not isinstance(value, Question):
        reason = f"must be a Question, got {display(value)}; write Question(query, streams)"
        raise InvalidQuery(reason, rule="QRY-1", place="question")


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
