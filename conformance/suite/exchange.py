"""Putting a question to an engine: the exchange of question and answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance import corpus
from conformance.corpus import Case
from conformance.harness.client import Harness
from conformance.harness.engine_file import Engine
from conformance.harness.heartbeat import Heartbeat, heartbeat_for
from conformance.harness.play import (
    Command,
    EngineQuery,
    Pacing,
    commands,
    join_instants,
    play_commands,
)
from conformance.suite.sentinel import with_sentinels
from conformance.verdict.engine_report import EngineReport
from refengine.core.question import Question
from refengine.core.semantics import Closure
from refengine.model.elements import Relation
from refengine.oracle.trial import JudgementOptions, Missing


class BenchmarkQuery(NamedTuple):
    """A query of a benchmark, with id, rule and name as a case has them, and its table (QRY-1)."""

    id: str
    rule: str
    name: str
    table: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Exchange:
    """A question, and the reports that an engine answered to it.

    `text` is the query as it was sent to the engine. `window_closure` says which borders belong to
    the windows that the engine states, and `missing` how many outputs may be missing at each end.
    """

    question: Question
    answers: list[EngineReport]
    text: str = ""
    window_closure: Closure | None = None
    missing: int | Missing = 0

    @property
    def relations(self) -> list[Relation]:
        """The relations that are judged, in order."""
        return [answer.relation for answer in self.answers]

    @property
    def judgement_options(self) -> JudgementOptions:
        """The terms on which the answers are judged: how many outputs may be missing, and the
        windows that the engine states.
        """
        return {
            "missing": self.missing,
            "windows": [answer.window for answer in self.answers],
            "window_closure": self.window_closure,
        }


@dataclass(frozen=True)
class PreparedQuestion:
    """A question as it is put to an engine: with sentinels, if the engine has no end of a stream;
    the query in the engine's language; and the heartbeat, for an engine that is sent the time. If
    `is_sent_by_instant`, elements of one instant are sent together (`play.join_instants`).
    """

    question: Question
    engine_query: EngineQuery
    heartbeat: Heartbeat | None = None
    is_sent_by_instant: bool = False

    def commands(self) -> Iterator[Command]:
        """Yield the commands that put the question to an engine."""
        question = self.question
        every = commands(self.engine_query, question.streams, question.static, self.heartbeat)
        if self.is_sent_by_instant:
            return join_instants(every)
        return every

    def ask(self, harness: Harness, pacing: Pacing | None = None) -> list[EngineReport]:
        """Put the question to an engine, and return its reports. `pacing` is that of `play`. Raises
        Declined and Broken.
        """
        variables = self.engine_query.query.body.variables
        return play_commands(harness, self.commands(), variables, pacing)


def prepare_question(
    tested: Engine,
    question: Question,
    table: Mapping[str, Any] | None,
) -> PreparedQuestion:
    """Return a question as it is put to an engine that has a semantics of its own. `table` is the
    table from which the query was made. Raises Unrenderable.
    """
    if tested.has_sentinels:
        question = with_sentinels(question)
    text = tested.text(question.query, bool(question.static), table)
    engine_query = EngineQuery(question.query, text, tested.dialect)
    return PreparedQuestion(question, engine_query, heartbeat_for(tested, question))


def asked_question(tested: Engine, case: Case) -> Question:
    """Return the question of a case as it is put to an engine: with sentinels, if it has no end of
    a stream.
    """
    question = corpus.question_of(case)
    if tested.has_sentinels:
        question = with_sentinels(question)
    return question


def ask_case(tested: Engine, harness: Harness, case: Case) -> Exchange:
    """Put the question of a case to an engine, and return the exchange. Raises RefengineError for a
    case that is bad input, and Declined and Broken.
    """
    return ask_question(tested, harness, corpus.question_of(case), corpus.query_table(case))


def ask_question(
    tested: Engine,
    harness: Harness,
    question: Question,
    table: Mapping[str, Any] | None,
) -> Exchange:
    """Put a question to an engine, and return the exchange. `table` is the table from which the
    query was made. For an engine that has no end of a stream, the question of the exchange has
    sentinels. Raises Unrenderable, Declined and Broken.
    """
    prepared = prepare_question(tested, question, table)
    answers = prepared.ask(harness)
    return Exchange(
        prepared.question,
        answers,
        prepared.engine_query.text,
        tested.window_closure,
        tested.unreported,
    )
