"""The answers of an engine to a case, taken from the evidence of its result, to be judged again
under another semantics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from conformance.corpus import Case, profile_of
from conformance.harness.engine_file import Deviation, Engine
from conformance.suite.deviations import Claim, broken_rules, grant_fields, merge_fields
from conformance.suite.exchange import asked_question
from conformance.suite.simple_defects import SimpleDefect, are_equal
from conformance.verdict.results import Result
from refengine.core.engine import Report, evaluate
from refengine.core.profile import Profile
from refengine.core.question import Question, Setting
from refengine.core.r2r import defined_answer
from refengine.core.values import Closure, Empty
from refengine.model.elements import Bag, Relation
from refengine.model.errors import RefengineError
from refengine.model.terms import Term
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import assignments
from refengine.oracle.comparison import Borders
from refengine.oracle.explanations.changes import find_explaining_trial
from refengine.oracle.trial import Missing, RecordingToJudge
from refengine.rdf.recordings import relation_from_json

ASSIGNMENTS_BOUND = 100  # assignments of a changed profile that are tried
OUTPUTS_BOUND = 4  # assignments whose outputs are computed for a simple defect
MISSING_AT_END = 3  # empty reports that may be missing where a stream ends otherwise
REPORTS_BOUND = 1_000  # outputs of one assignment
INSTANTS_BOUND = 10_000  # from 0 or the first element to the last: some wrong engines visit each


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedCase:
    """The `relations` that an engine answered to the question of a case.

    `tested` is the engine. A configurable engine claims the semantics that it was sent for this
    case. `windows` are the borders of the window that the engine states for each relation, None
    where it states none; `window_closure` says which of them belong to the window. `instants` are
    those of the relations, None where the engine states none. `answers` are shared by all trials
    under a changed semantics: one for the query as it is, and one for the query without its R2S
    operator. `outputs` has the right outputs under each semantics that was tried for a simple
    defect. So many reports may be missing as the engine's file says, and `missing_at_end` after the
    last one.
    """

    tested: Engine
    result: Result
    question: Question
    relations: tuple[Relation, ...]
    windows: tuple[Borders | None, ...]
    window_closure: Closure | None
    instants: tuple[int | None, ...] = ()
    answers: tuple[SharedAnswers, SharedAnswers] = field(
        default_factory=lambda: (SharedAnswers(), SharedAnswers())
    )
    outputs: dict[object, Sequence[Bag]] = field(default_factory=dict)
    missing_at_end: int = 0

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
        claim = Claim.of(self.tested, self.question.query)
        return broken_rules(deviation, self.result.rule, claim)

    @property
    def size_and_id(self) -> tuple[int, str]:
        """The key by which cases are sorted from the smallest on."""
        return sum(map(len, self.question.streams.values())), self.id

    @property
    def is_short(self) -> bool:
        """Whether the instants from 0 to the last element, or from the first one if it is earlier,
        are few enough for a wrong engine: some visit each of them.
        """
        times = [element.app for stream in self.question.streams.values() for element in stream]
        return max([0, *times]) - min([0, *times]) <= INSTANTS_BOUND

    @cached_property
    def with_other_ends(self) -> Sequence[RecordedCase]:
        """A fail as it would be if the stream ended otherwise: without its last report, without the
        last two, and without the empty ones at its end, where some more may be missing. Empty if it
        is a pass.
        """
        if not self.result.is_fail_without_known_deviation:
            return ()
        number = len(self.relations)
        with_rows = max((at for at, one in enumerate(self.relations, 1) if one.rows), default=0)
        others = [self._first_reports(length) for length in (number - 1, number - 2) if length > 0]
        if with_rows:
            others.append(replace(self._first_reports(with_rows), missing_at_end=MISSING_AT_END))
        return others

    @cached_property
    def is_right_but_for_its_end(self) -> bool:
        """Whether it is right with another end, as far as is known."""
        return any(one.is_explained_by({}) is not False for one in self.with_other_ends)

    def _first_reports(self, length: int) -> RecordedCase:
        """Return the case with so many of its reports."""
        return replace(
            self,
            relations=self.relations[:length],
            windows=self.windows[:length],
            instants=self.instants[:length],
        )

    def is_explained_by(
        self,
        changes: Mapping[str, Any],
        defects: Sequence[SimpleDefect] = (),
        *,
        is_by_wrong_engine: bool = False,
        has_wrong_windows: bool = False,
    ) -> bool | None:
        """Return whether the answers are those of an engine with other values in some fields of the
        semantics than it claims, and with some defects; all known deviations of the engine that can
        be granted are in force as well. None if that is not known: the semantics has no meaning
        with the question, or a bound is reached.

        `is_by_wrong_engine` says that wrong engines are installed. Then no answer is shared with
        other trials, and none is computed incrementally. Of simultaneous elements only the order is
        tried in which they were pushed, since the search for others is that of a right engine. With
        `has_wrong_windows` the windows that the engine states are not looked at.
        """
        fields = {**merge_fields(self.tested.deviations), **changes}
        answers = self.answers["r2s" in fields]
        if defects or is_by_wrong_engine:
            answers = SharedAnswers()
            answers.may_be_incremental = not is_by_wrong_engine
        try:
            question, profile = grant_fields(self.tested, self.question, fields)
            for defect in defects:
                question = replace(question, query=defect.change_query(question.query))
            if is_by_wrong_engine:
                question = _in_order_of_pushes(question)
            recorded = self._recording(question, has_wrong_windows)
            if not any(defect.changes_reports for defect in defects):
                found = find_explaining_trial(recorded, profile, answers, ASSIGNMENTS_BOUND)
                return found.explains_recording if found.tried else None
            listed = islice(assignments(question, profile, answers.plan), OUTPUTS_BOUND + 1)
            settings = [question.under(semantics) for semantics, _ in listed]
        except RefengineError:
            return None
        if not settings:
            return None
        outputs = self.outputs
        if is_by_wrong_engine:
            outputs = {}
        for setting in settings[:OUTPUTS_BOUND]:
            can_be = self._can_be_reported(setting, defects, outputs)
            if can_be or can_be is None:
                return can_be
        return False if len(settings) <= OUTPUTS_BOUND else None

    def times_of_reports(self, changes: Mapping[str, Any]) -> list[tuple[int, int]] | None:
        """Return the instant and the trigger of each report of an engine with other values in some
        fields of the semantics than it claims. None if that has no meaning with the question.
        """
        try:
            question, profile = grant_fields(self.tested, self.question, changes)
            setting = question.under(profile.semantics())
            return [(report.instant, report.trigger) for report in _reports_of(setting)]
        except RefengineError:
            return None

    def _recording(self, question: Question, has_wrong_windows: bool) -> RecordingToJudge:
        """Return the answers as a recording, with the windows that the engine states unless these
        are known to be wrong.
        """
        deviations = self.tested.deviations
        if has_wrong_windows or any(one.misstates == "window" for one in deviations):
            windows: Sequence[Borders | None] = ()
        else:
            windows = self.windows
        return RecordingToJudge.of(
            question,
            self.relations,
            missing=Missing(
                self.tested.unreported, max(self.tested.unreported, self.missing_at_end)
            ),
            windows=windows,
            window_closure=self.window_closure,
        )

    def _can_be_reported(
        self,
        setting: Setting,
        defects: Sequence[SimpleDefect],
        right_outputs: dict[object, Sequence[Bag]],
    ) -> bool | None:
        """Whether an engine that makes other reports of its right outputs can give the answers;
        None if there are no right outputs. What is computed of these is kept in `right_outputs`.
        """
        key = setting.query.r2s, setting.query.windows, setting.semantics
        if key not in right_outputs:
            try:
                right_outputs[key] = _right_outputs(setting)
            except RefengineError:
                return None
        outputs = right_outputs[key]
        for defect in defects:
            outputs = defect.change_outputs(outputs)
        if setting.semantics.empty.is_never:
            outputs = [output for output in outputs if output]
        rows = [relation.rows for relation in self.relations]
        # a defect that leaves open what is reported decides, if there is one
        can_report = [one.can_report for one in defects if one.can_report is not are_equal]
        return len(can_report) < 2 and (can_report or [are_equal])[0](outputs, rows)


def _in_order_of_pushes(question: Question) -> Question:
    """Return a question in which the order of simultaneous elements is known."""
    streams = {name: replace(one, ordered=True) for name, one in question.streams.items()}
    return replace(question, streams=streams)


def _right_outputs(setting: Setting) -> Sequence[Bag]:
    """Return the first outputs of a right engine, with the empty ones that its semantics would
    leave out. Raises RefengineError.
    """
    semantics = setting.semantics
    if semantics.empty.is_never:
        semantics = replace(semantics, empty=Empty.EMIT)
    reports = _reports_of(replace(setting, semantics=semantics))
    return [report.relation.rows for report in reports]


def _reports_of(setting: Setting) -> Iterator[Report]:
    """Yield the first reports of a right engine. Raises RefengineError."""
    reports = evaluate(
        setting.query,
        setting.streams,
        setting.semantics,
        static=setting.static,
        answer=defined_answer,
    )
    return islice(reports, REPORTS_BOUND)


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
        closure = tested.window_closure
        if "semantics" in evidence:
            closure = profile_of(evidence["semantics"]).fields.get("closure")
        relations = tuple(
            relation_from_json(
                report["rows"], question.query.body.variables, f"reports[{number}]", labels
            )
            for number, report in enumerate(reports)
        )
    except RefengineError:
        return None
    windows = tuple(
        (report["window"][0], report["window"][1]) if "window" in report else None
        for report in reports
    )
    instants = tuple(report.get("instant") for report in reports)
    return RecordedCase(
        tested=tested,
        result=result,
        question=question,
        relations=relations,
        windows=windows,
        window_closure=closure,
        instants=instants,
    )
