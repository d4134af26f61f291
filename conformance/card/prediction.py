"""What a semantics answers to a question of a card, and whether an engine answers that."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import islice
from typing import NamedTuple

from conformance.verdict.engine_report import EngineReport
from refengine.core import engine, r2r
from refengine.core.query import Body
from refengine.core.question import Question
from refengine.core.semantics import Semantics
from refengine.core.values import Closure
from refengine.model.elements import Dataset, Relation, Row
from refengine.model.errors import InvalidStream, RefengineError
from refengine.oracle.comparison import Borders
from refengine.oracle.trial import first_and_last_instant

MOST_REPORTS = 200  # that a question has an answer of


class Silence(Enum):
    """Why a semantics answers nothing to a question: it refuses an element, or it gives the
    question no meaning, such as sessions where the active window alone is reported.
    """

    REFUSES = "refuses"
    NO_MEANING = "no meaning"


class Shown(NamedTuple):
    """A report as it is compared: its rows, the first and the last instant of its window, whether
    it takes back an earlier one, and its key.
    """

    rows: frozenset[tuple[Row, int]]
    instants: Borders | None = None
    takes_back: bool = False
    key: tuple[str, ...] | None = None


Predicted = tuple[Shown, ...] | Silence


class View(NamedTuple):
    """What an engine states of its reports beside the rows: their windows, by which closure (None:
    that of its semantics), and their keys. So many reports as `unreported` may lack at each end.
    """

    has_windows: bool = True
    closure: Closure | None = None
    has_keys: bool = True
    unreported: int = 0

    def of_semantics(self, predicted: Predicted) -> Predicted:
        """Return what an engine that states no more would show of a prediction."""
        if isinstance(predicted, Silence) or (self.has_windows and self.has_keys):
            return predicted
        return tuple(
            one._replace(
                instants=one.instants if self.has_windows else None,
                key=one.key if self.has_keys else None,
            )
            for one in predicted
        )

    def of_engine(self, reports: Sequence[EngineReport], closure: Closure | None) -> Predicted:
        """Return reports of an engine as a semantics with a closure would predict them."""
        return tuple(
            Shown(
                frozenset(report.relation.rows.items()),
                first_and_last_instant(report.window, self.closure or closure)
                if self.has_windows
                else None,
                report.takes_back,
                report.key if self.has_keys else None,
            )
            for report in reports
        )


class Predictions:
    """What semantics answer to questions; each is computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Semantics], Predicted] = {}
        self._questions: list[Question] = []  # kept, so that no other one gets the id of one
        self._answers: dict[tuple[str, Dataset], Relation] = {}
        self.computed = 0

    def of(self, question: Question, semantics: Semantics) -> Predicted:
        """Return what a semantics answers to a question."""
        key = (id(question), semantics)
        if key not in self._known:
            self._questions.append(question)
            self._known[key] = self._compute(question, semantics)
            self.computed += 1
        return self._known[key]

    def _compute(self, question: Question, semantics: Semantics) -> Predicted:
        try:
            reports = engine.evaluate(
                question.query, question.streams, semantics, answer=self._answer
            )
            return tuple(
                Shown(
                    frozenset(one.relation.rows.items()),
                    first_and_last_instant(one.window, semantics.closure),
                    one.takes_back,
                    one.key,
                )
                for one in islice(reports, MOST_REPORTS)
            )
        except InvalidStream:
            return Silence.REFUSES
        except RefengineError as error:
            return Silence.REFUSES if error.rule == "TICK-3" else Silence.NO_MEANING

    def _answer(self, body: Body, graph: Dataset) -> Relation:
        """Return the answer of a body over a content, which is computed once."""
        key = (body.text, graph)
        if key not in self._answers:
            self._answers[key] = r2r.defined_answer(body, graph)
        return self._answers[key]
