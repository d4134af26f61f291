"""What a semantics answers to a question of a card, and whether an engine answers that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
from refengine.oracle.inference.choices import ReadSemantics
from refengine.oracle.trial import first_and_last_instant

MOST_REPORTS = 200  # that a question has an answer of


class Silence(Enum):
    """Why a semantics answers nothing to a question: it refuses an element, or it gives the
    question no meaning, such as sessions where the active window alone is reported.
    """

    REFUSES = "refuses"
    NO_MEANING = "no meaning"


class Shown(NamedTuple):
    """A report as it is compared: its rows, its window, whether it takes back an earlier one, and
    its key.
    """

    rows: frozenset[tuple[Row, int]]
    window: Borders | None = None
    takes_back: bool = False
    key: tuple[str, ...] | None = None


Predicted = tuple[Shown, ...] | Silence


class View(NamedTuple):
    """What an engine states of its reports beside the rows: their windows, and their keys. Windows
    are compared by their borders or, if the engine's file says which closure they are stated by, by
    their first and last instants. So many reports as `unreported` may lack at each end.
    """

    has_windows: bool = True
    closure: Closure | None = None
    has_keys: bool = True
    unreported: int = 0

    def of_semantics(self, predicted: Predicted, closure: Closure | None) -> Predicted:
        """Return what an engine that states no more would show of what a semantics with a closure
        answers.
        """
        if isinstance(predicted, Silence):
            return predicted
        return tuple(
            one._replace(
                window=self._window(one.window, closure),
                key=one.key if self.has_keys else None,
            )
            for one in predicted
        )

    def of_engine(self, reports: Sequence[EngineReport]) -> Predicted:
        """Return reports of an engine as they are compared."""
        return tuple(
            Shown(
                frozenset(report.relation.rows.items()),
                self._window(report.window, self.closure),
                report.takes_back,
                report.key if self.has_keys else None,
            )
            for report in reports
        )

    def _window(self, borders: Borders | None, closure: Closure | None) -> Borders | None:
        """Return the borders of a window by which it is compared."""
        if not self.has_windows:
            return None
        return borders if self.closure is None else first_and_last_instant(borders, closure)


@dataclass
class _Read:
    """What is known of a question once some fields have been read: the field that is read next,
    with what is known for each value of it; or, at the end, what is answered.
    """

    name: str = ""
    by_value: dict[object, _Read] = field(default_factory=dict)
    predicted: Predicted | None = None


class Predictions:
    """What semantics answer to questions. It is computed once for all semantics that agree in the
    fields that the computation reads.
    """

    def __init__(self) -> None:
        self._read: dict[int, _Read] = {}
        self._questions: list[Question] = []  # kept, so that no other one gets the id of one
        self._answers: dict[tuple[str, Dataset], Relation] = {}
        self.computed = 0

    def of(self, question: Question, semantics: Semantics) -> Predicted:
        """Return what a semantics answers to a question."""
        if id(question) not in self._read:
            self._questions.append(question)
            self._read[id(question)] = _Read()
        read = self._read[id(question)]
        while read.name:
            read = read.by_value.setdefault(getattr(semantics, read.name), _Read())
        if read.predicted is None:
            read = self._compute(question, semantics)
        assert read.predicted is not None
        return read.predicted

    def _compute(self, question: Question, semantics: Semantics) -> _Read:
        """Compute what a semantics answers, and keep it by the fields that were read."""
        self.computed += 1
        read = self._read[id(question)]
        names: list[str] = []

        def choose(name: str) -> object:
            names.append(name)
            return getattr(semantics, name)

        predicted = self._run(question, ReadSemantics(choose))
        for name in names:
            read.name = name
            read = read.by_value.setdefault(getattr(semantics, name), _Read())
        read.predicted = predicted
        return read

    def _run(self, question: Question, semantics: Semantics) -> Predicted:
        try:
            reports = engine.evaluate(
                question.query, question.streams, semantics, answer=self._answer
            )
            return tuple(
                Shown(
                    frozenset(one.relation.rows.items()),
                    one.window,
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
