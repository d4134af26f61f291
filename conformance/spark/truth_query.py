"""The question whose ground truth is computed over Spark, as it goes to executors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from refengine.core import r2r
from refengine.core.query import Body, Query
from refengine.core.semantics import Semantics
from refengine.model.elements import Dataset, Relation
from refengine.model.errors import Unsupported
from refengine.sparql.witnesses import WITNESSES


@dataclass(frozen=True)
class TruthQuery:
    """A query whose ground truth is computed: with its complete semantics, its static data, and the
    witnesses that confirm the answers of the SPARQL evaluator. Answers are computed incrementally,
    or by the SPARQL evaluator if that is asked for.

    Raises Unsupported for what neither a stored stream nor the columns of reports can say: elements
    that come late for a window (a stored stream is in the order of time), and reports that take one
    back.
    """

    query: Query
    semantics: Semantics
    static: Dataset = frozenset()
    witnesses: tuple[str, ...] = tuple(WITNESSES)
    is_evaluator_requested: bool = False

    def __post_init__(self) -> None:
        late_for, panes = self.semantics.late_for, self.semantics.panes
        if late_for.keeps_arrival_order:
            reason = f"a stored stream is in the order of time, and has no late_for={late_for}"
            raise Unsupported(f"{reason}; write late_for=stream", rule="MOD-5", place="late_for")
        if panes.takes_back((0, 0), (0, 1)):
            reason = f"no column of reports says which are taken back, as panes={panes} asks"
            raise Unsupported(f"{reason}; write panes=accumulating", rule="REP-16", place="panes")

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
