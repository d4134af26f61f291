"""The answers of an engine to a case, taken from the evidence of its result, to be judged again
under another semantics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.corpus import Case, profile_of
from conformance.harness.engine_file import Deviation, Engine
from conformance.suite.deviations import broken_rules, claimed_fields, grant_fields, merge_fields
from conformance.suite.exchange import asked_question
from conformance.verdict.results import Result
from conformance.wrong_engines import WrongEngine
from refengine.core.question import Question
from refengine.core.semantics import Profile
from refengine.model.elements import Relation
from refengine.model.errors import RefengineError
from refengine.model.terms import Term
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.explanations.changes import find_explaining_trial
from refengine.oracle.trial import RecordingToJudge
from refengine.rdf.recordings import relation_from_json

ASSIGNMENTS_BOUND = 100  # assignments of a changed profile that are tried
WINDOWS_BOUND = 1_000  # slides from the first element to the last, where a wrong engine is tried


@dataclass(frozen=True, eq=False)
class RecordedCase:
    """The `relations` that an engine answered to the question of a case.

    `tested` is the engine; one that is sent its semantics claims the one that it was sent for this
    case.
    The windows that the engine states are left out, since wrong ones are a deviation of their own;
    `states_windows` says whether it states any. `answers` are shared by all trials under a changed
    semantics: one for the query as it is, and one for the query without its R2S operator.
    """

    tested: Engine
    result: Result
    question: Question
    relations: tuple[Relation, ...]
    states_windows: bool
    answers: tuple[SharedAnswers, SharedAnswers] = field(
        default_factory=lambda: (SharedAnswers(), SharedAnswers())
    )

    @property
    def profile(self) -> Profile:
        """The semantics that the engine claims."""
        assert self.tested.profile is not None
        return self.tested.profile

    @property
    def id(self) -> str:
        """The id of the case."""
        return self.result.case

    def rules_broken_by(self, deviation: Deviation) -> tuple[str, ...]:
        """Return the rules that the engine breaks in this case by a deviation."""
        claimed = claimed_fields(self.tested, self.question.query)
        return broken_rules(deviation, self.result.rule, claimed)

    @property
    def is_short(self) -> bool:
        """Whether the stream is short beside its windows, so that a wrong engine, too, comes to an
        end with it. One that skips nothing would look at each window of a gap of 10^12.
        """
        times = [element.app for stream in self.question.streams.values() for element in stream]
        steps = [window.slide for window in self.question.query.windows if window.slide]
        return not times or max(times) - min(times) <= WINDOWS_BOUND * min(steps, default=1)

    def is_explained_by(
        self, changes: Mapping[str, Any], wrong_engines: Sequence[WrongEngine] = ()
    ) -> bool:
        """Whether the answers are right if some fields of the semantics have other values than the
        engine claims; with wrong engines, whether these can give them. All known deviations of the
        engine that can be granted are in force as well.
        """
        fields = {**merge_fields(self.tested.deviations), **changes}
        answers = self.answers["r2s" in fields]
        if wrong_engines:
            answers = SharedAnswers()
            answers.may_be_incremental = False
        try:
            question, profile = grant_fields(self.tested, self.question, fields)
            recorded = RecordingToJudge.of(question, self.relations, missing=self.tested.unreported)
            with ExitStack() as installed:
                for wrong_engine in wrong_engines:
                    installed.enter_context(wrong_engine.installed())
                found = find_explaining_trial(recorded, profile, answers, ASSIGNMENTS_BOUND)
        except RefengineError:
            return False
        return found.trial is not None


def restore_recorded_case(tested: Engine, case: Case, result: Result) -> RecordedCase | None:
    """Return the answers of a result, to be judged again. None if the result does not have all of
    them, or if they are about nothing that can be judged.
    """
    evidence = result.evidence
    if evidence is None or evidence["cut"]:
        return None
    reports = evidence["actual"]
    labels: dict[Term, Term] = {}  # a blank node is the same in all reports of a case
    try:
        if tested.is_configurable:
            tested = replace(tested, profile=profile_of(evidence["semantics"]))
        question = asked_question(tested, case)
        relations = tuple(
            relation_from_json(
                report["rows"], question.query.body.variables, f"reports[{number}]", labels
            )
            for number, report in enumerate(reports)
        )
    except RefengineError:
        return None
    states_windows = any("window" in report for report in reports)
    return RecordedCase(tested, result, question, relations, states_windows)
