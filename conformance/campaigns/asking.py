"""Putting a drawn case to an engine, and saying what is wrong with its answer in a few words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from conformance.campaigns.drawn_case import DrawnCase, profile_of, query_table
from conformance.harness.client import Broken, Limits
from conformance.harness.engine_file import Deviation, Engine
from conformance.harness.play import Declined, EngineQuery
from conformance.harness.pool import Harnesses
from conformance.suite.deviations import find_explaining_deviations
from conformance.suite.exchange import (
    BenchmarkQuery,
    Exchange,
    PreparedQuestion,
    prepare_question,
)
from conformance.verdict import outcomes
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import Outcome, Result
from conformance.verdict.wording import printable_line
from refengine.core.engine import Report, evaluate
from refengine.core.profile import Profile
from refengine.core.r2r import defined_answer
from refengine.core.values import Closure
from refengine.model import compare
from refengine.model.errors import InvalidStream, RefengineError, TooManyReports
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.divergence import LACKING, LATE, OTHER_WINDOW, REPEATED
from refengine.oracle.judge import EVERY_WITNESS, Judgement
from refengine.oracle.trial import first_and_last_instant

SUITE = "fuzz"
HANG = ("no reply within", "the case takes more than")  # of the messages of a harness
MORE_EVALUATIONS = 1_000  # that a right engine may make without a report for it
NO_CASE = BenchmarkQuery("fuzz", "", "a drawn case", suite=SUITE)  # no known deviation lists it
REPORT_LACKING = "a report is lacking"
REPORT_TOO_MANY = "a report is too many"
ROWS_LACKING = "something is lacking in a report"
ROWS_TOO_MANY = "something is too much in a report"
ROWS_OTHER = "a report has something else"
OTHER_WINDOWS = "a report states another window"
OTHER_STAMP = "a report states another instant, key or kind"
NOT_REFUSED = "an element that must be refused is accepted"
# what a symptom may become in a smaller case that shows the same
MAY_BECOME = {
    ROWS_OTHER: {ROWS_LACKING, ROWS_TOO_MANY},
    OTHER_WINDOWS: set[str](),
}


@dataclass(frozen=True)
class CaseVerdict:
    """What an engine made of a case, and the verdict.

    `outcome` is `unsupported` where nothing can be said. `symptom` says of a fail or an error in a
    few words what is wrong, alike for all cases that show it. `result` has the judgement,
    `exchange` the answers; both are None for an error. `known` are the known deviations that
    explain a fail.
    """

    case: DrawnCase
    outcome: Outcome
    symptom: str = ""
    explanation: str = ""
    exchange: Exchange | None = None
    result: Result | None = None
    profile: Profile | None = None
    known: tuple[Deviation, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether the engine is wrong here, whether or not that is known."""
        return self.outcome in (Outcome.FAIL, Outcome.ERROR)

    @property
    def is_hang(self) -> bool:
        """Whether the engine was waited for until a limit of time."""
        return self.outcome is Outcome.ERROR and any(text in self.explanation for text in HANG)

    @property
    def judgement(self) -> Judgement | None:
        """The judgement, if the oracle came to one."""
        return None if self.result is None else self.result.judgement

    @property
    def answers(self) -> list[EngineReport]:
        """The reports of the engine; none for an error."""
        return [] if self.exchange is None else self.exchange.answers

    def shows(self, other: CaseVerdict) -> bool:
        """Whether this shows what another verdict does, as far as symptom and known deviations
        say.
        """
        is_alike = self.symptom == other.symptom or self.symptom in MAY_BECOME.get(
            other.symptom, ()
        )
        reasons = [one.reason for one in self.known]
        return self.is_wrong and is_alike and reasons == [one.reason for one in other.known]


def with_reply_limit(tested: Engine, seconds: float) -> Engine:
    """Return an engine whose replies are waited for so many seconds, unless its file states a limit
    of its own.
    """
    if tested.limits.reply_seconds != Limits.reply_seconds:
        return tested
    return replace(tested, limits=replace(tested.limits, reply_seconds=seconds))


@dataclass
class LiveEngine:
    """An engine whose harness runs: it is asked cases, and its answers are judged.

    `asked` counts how often it was asked, `named` is what its harness says that engine and version
    are, and `late_fault` what the harness did after its last reply about the case before.
    """

    tested: Engine
    harnesses: Harnesses
    asked: int = 0
    late_fault: str = field(default="", init=False)
    named: dict[str, str] = field(default_factory=dict, init=False)

    def start(self) -> None:
        """Start the harness, and note what it says that the engine and its version are. Raises
        RefengineError if it does not start.
        """
        try:
            self.named = self.harnesses.of(self.tested).named
        except Broken as error:
            raise RefengineError(str(error), rule="engine", place=self.tested.name) from None

    def ask(
        self, case: DrawnCase, *, is_confirmed: bool = False, is_settled: bool = False
    ) -> CaseVerdict:
        """Put a case to the engine, and return the verdict. If it `is_confirmed`, the witnesses are
        asked about what a fail rests on (ORA-8). If it `is_settled`, what the harness does after
        its last reply is waited for, and is an error of this case.
        """
        self.asked += 1
        item = (self.tested.name, SUITE, str(self.asked))
        self.late_fault = ""
        try:
            harness = self.harnesses.of(self.tested, item)
            prepared = self.prepare(case)
            exchange = self.exchange(prepared, prepared.ask(harness))
            verdict = self.judge(case, exchange, is_confirmed=is_confirmed)
        except Broken as error:
            verdict = self.error(case, str(error))
        except (Declined, RefengineError) as error:
            verdict = CaseVerdict(case, Outcome.UNSUPPORTED, explanation=str(error))
        faults = self.harnesses.take_late_faults()
        self._refuse_dead_harness()
        if any(fault.item != item for fault in faults):
            self.late_fault = faults[0].explanation
            if verdict.outcome is Outcome.ERROR:  # it may be the fault of the case before
                return self.ask(case, is_confirmed=is_confirmed, is_settled=is_settled)
        if is_settled and (fault := self.harnesses.settle(self.tested)):
            return self.error(case, fault)
        return verdict

    def error(self, case: DrawnCase, explanation: str) -> CaseVerdict:
        """Return the error with which a harness ended. It says nothing about an engine that was
        asked what has no answer under its semantics.
        """
        try:
            self.judge(case, Exchange(case.question, []))
            self._answer_to_the_end(case)
        except RefengineError as error:
            return CaseVerdict(case, Outcome.UNSUPPORTED, explanation=str(error))
        return CaseVerdict(
            case,
            Outcome.ERROR,
            error_symptom(explanation),
            printable_line(explanation),
            profile=self.profile(case),
        )

    def _answer_to_the_end(self, case: DrawnCase) -> None:
        """Raise RefengineError where a report has no answer (QRY-3), even one after those at which
        a verdict is reached. Where the semantics is open this is not looked for.
        """
        profile = self.profile(case)
        if profile.unknown:
            return
        question = case.question
        semantics = profile.semantics()
        for _ in evaluate(question.query, question.streams, semantics, static=question.static):
            pass

    def profile(self, case: DrawnCase) -> Profile:
        """Return the semantics under which the engine is judged: its own, or the one it is sent."""
        if case.semantics is None:
            return self.tested.profile_for(case.query)
        return profile_of(case.semantics)

    def _refuse_dead_harness(self) -> None:
        """Raise RefengineError if the harness has failed to start twice in a row."""
        failures = self.harnesses.failures.get(self.tested.name, [])
        if len(failures) > 1:
            raise RefengineError(
                f"it has failed to start twice: {failures[-1]}",
                rule="engine",
                place=self.tested.name,
            )

    def prepare(self, case: DrawnCase) -> PreparedQuestion:
        """Return the question of a case as it is put to the engine. Raises RefengineError."""
        table = query_table(case.query)
        if case.semantics is None:
            return prepare_question(self.tested, case.question, table)
        text = self.tested.text(case.query, bool(case.question.static), table)
        query = EngineQuery(case.query, text, self.tested.dialect, case.semantics)
        return PreparedQuestion(case.question, query)

    def exchange(self, prepared: PreparedQuestion, answers: list[EngineReport]) -> Exchange:
        """Return the exchange in which the engine gave some answers to a question."""
        return Exchange(
            prepared.question,
            answers,
            prepared.engine_query.text,
            self.tested.window_closure,
            self.tested.unreported,
        )

    def judge(
        self, case: DrawnCase, exchange: Exchange, *, is_confirmed: bool = False
    ) -> CaseVerdict:
        """Judge an exchange. Raises RefengineError."""
        profile = self.profile(case)
        if (plain := _is_plainly_right(case, exchange, profile)) is not None:
            return plain
        answers = SharedAnswers()
        is_asked = is_confirmed and not case.is_of_windows  # contents need no witness
        witnesses = EVERY_WITNESS if is_asked else ()
        try:
            result = outcomes.judge_relations(
                exchange.question,
                profile,
                exchange.relations,
                witnesses=witnesses,
                answers=answers,
                is_fail_explained=False,
                **exchange.judgement_options,
            )
        except InvalidStream as error:
            if error.rule != "MOD-2":
                raise
            return CaseVerdict(case, Outcome.FAIL, NOT_REFUSED, str(error), exchange, None, profile)
        verdict = CaseVerdict(
            case, result.outcome, "", result.explanation, exchange, result, profile
        )
        if result.outcome is Outcome.PASS and case.semantics is not None:
            return _compare_stamps(verdict)
        if result.outcome is not Outcome.FAIL:
            return verdict
        assert result.judgement is not None  # of a fail
        known: tuple[Deviation, ...] = ()
        if case.semantics is None:
            known = find_explaining_deviations(self.tested, NO_CASE, exchange, answers, witnesses)
        return replace(verdict, symptom=symptom_of(result.judgement), known=known)


def _is_plainly_right(case: DrawnCase, exchange: Exchange, profile: Profile) -> CaseVerdict | None:
    """Return the pass of an engine whose semantics is known in all fields, and whose reports are
    those that the SPARQL evaluator gives over the reference engine's contents, one by one; None
    for any other answers: the oracle judges these. Raises RefengineError.
    """
    if profile.unknown:
        return None
    semantics = case.semantics or profile.semantics()
    question = exchange.question
    reports = evaluate(
        question.query,
        question.streams,
        semantics,
        static=question.static,
        answer=defined_answer,
        max_reports=len(exchange.answers) + MORE_EVALUATIONS,
    )
    closure = exchange.window_closure or semantics.closure
    try:
        for report, answer in zip_longest(reports, exchange.answers):
            if (
                report is None
                or answer is None
                or not _is_that_report(
                    report, answer, semantics.closure, closure, case.semantics is not None
                )
            ):
                return None
    except TooManyReports:
        return None
    return CaseVerdict(case, Outcome.PASS, exchange=exchange, profile=profile)


def _is_that_report(
    report: Report,
    answer: EngineReport,
    closure: Closure | None,
    stated: Closure | None,
    has_stamps: bool,
) -> bool:
    """Whether an answer is a report in all that it states. Windows have a closure, and those that
    the engine states another one. Stamps are compared if it `has_stamps` of its own semantics.
    """
    if report.relation.rows != answer.relation.rows:
        return False
    if answer.window is not None:
        instants = first_and_last_instant(report.window, closure)
        if instants != first_and_last_instant(answer.window, stated):
            return False
    return not has_stamps or not list(_differences_in_stamps([report], [answer]))


def symptom_of(judgement: Judgement) -> str:
    """Say in a few words how a recording differs from what is due."""
    if judgement.is_right_but_for_windows:
        return OTHER_WINDOWS
    trial = judgement.trial
    if trial is None or trial.divergence is None:
        return ROWS_OTHER
    where = trial.divergence
    if where.reason == OTHER_WINDOW:
        return OTHER_WINDOWS
    if where.reason in LACKING or where.reason == LATE or where.actual is None:
        return REPORT_LACKING
    if where.reason == REPEATED or where.expected is None:
        return REPORT_TOO_MANY
    lacking, surplus = compare.difference(where.expected, where.actual, judgement.mode)
    if lacking and surplus:
        return ROWS_OTHER
    return ROWS_LACKING if lacking else ROWS_TOO_MANY


def _compare_stamps(verdict: CaseVerdict) -> CaseVerdict:
    """Return the answer of an engine that is sent its semantics, whose relations and windows are
    right: as a fail if it states another instant or key than its semantics says, or does not say
    rightly what is taken back.
    """
    judgement = verdict.judgement
    assert judgement is not None  # of a pass
    if judgement.trial is None or judgement.trial.reports is None:
        return verdict
    reports = judgement.reports.first(len(verdict.answers))
    differences = list(_differences_in_stamps(reports, verdict.answers))
    if not differences:
        return verdict
    explanation = "\n".join(differences)
    return replace(verdict, outcome=Outcome.FAIL, symptom=OTHER_STAMP, explanation=explanation)


def _differences_in_stamps(due: Sequence[Report], answers: Sequence[EngineReport]) -> Iterator[str]:
    """Yield a line for each stamp that is not that of the report."""
    for number, (report, answer) in enumerate(zip(due, answers, strict=False), 1):
        pairs: Mapping[str, tuple[Any, Any]] = {
            "instant": (report.instant, answer.instant),
            "key": (report.key or None, answer.key or None),
            "takes_back": (report.takes_back, answer.takes_back),
        }
        for name, (expected, stated) in pairs.items():
            if stated is not None and stated != expected:
                yield f"report {number}: expected {name} {expected}, got {stated}"


def error_symptom(explanation: str) -> str:
    """Return the beginning of an error's text, without what differs from case to case: numbers and
    texts in quotes, and what the harness said on standard error.

    >>> error_symptom("push: KeyError: '17'; it said: …")
    "push: KeyError: '…'"
    >>> error_symptom("end: no reply within 10 s")
    'end: no reply within # s'
    """
    first = printable_line(explanation.partition("; it said")[0].partition("\n")[0])
    without_texts = re.sub(r"'[^']*'", "'…'", re.sub(r'"[^"]*"', '"…"', first))
    return re.sub(r"\d+", "#", without_texts)[:120]
