"""The question whose ground truth is computed over Spark, as it goes to executors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from refengine.core import r2r
from refengine.core.query import Body, Query
from refengine.core.semantics import Semantics
from refengine.model.elements import Dataset, Relation
from refengine.sparql.witnesses import WITNESSES


@dataclass(frozen=True)
class TruthQuery:
    """A query whose ground truth is computed: with its complete semantics, its static data, and the
    witnesses that confirm the answers of the SPARQL evaluator. Answers are computed incrementally,
    or by the SPARQL evaluator if that is asked for.
    """

    query: Query
    semantics: Semantics
    static: Dataset = frozenset()
    witnesses: tuple[str, ...] = tuple(WITNESSES)
    is_evaluator_requested: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is pickled. The parsed body is not: its text is parsed again in the other
        process.
        """
        given = {field.name: getattr(self.query, field.name) for field in fields(self.query)}
        return _parse_again, (
            given | {"body": self.query.body.text},
            self.semantics,
            self.static,
            self.witnesses,
            self.is_evaluator_requested,
        )

    @property
    def name(self) -> str:
        """The name of the first window's stream."""
        return self.query.windows[0].stream

    @property
    def stream_names(self) -> tuple[str, ...]:
        """The names of the streams that the windows range over, each once, in their order."""
        return tuple(dict.fromkeys(spec.stream for spec in self.query.windows))

    def answer(self, body: Any, dataset: Dataset) -> Relation:
        """Return the SPARQL evaluator's answer, which one of the witnesses confirms (R2R-5). Raises
        Disputed if none does.
        """
        return r2r.confirmed_answer(body, dataset, self.witnesses)


def _parse_again(given: Mapping[str, Any], *rest: Any) -> TruthQuery:
    """Return the query of which the fields are given, with the text of its body."""
    return TruthQuery(Query(**{**given, "body": Body(given["body"])}), *rest)
