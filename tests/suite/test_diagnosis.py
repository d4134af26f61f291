"""One diagnosis for an engine: what it does otherwise is found from its answers alone.

The engine that is diagnosed is the reference engine under a changed semantics, or a wrong engine.
It claims the unchanged semantics.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from conftest import PROFILE
from reports import bare

from conformance.corpus import Case, question_of
from conformance.harness.deviation_entry import write_entry
from conformance.harness.engine_file import Deviation, Engine, engine, read_engine_file
from conformance.suite import questions
from conformance.suite.candidate_scores import Comparison
from conformance.suite.candidates import (
    LINK,
    Candidate,
    changes_of_field,
    explained_by,
    fields_of_change,
    makes_recorded_instants,
    simple_defect_candidates,
    visits_every_instant,
    wrong_engine_candidates,
)
from conformance.suite.diagnosis import Diagnosis, diagnose
from conformance.suite.item import Item
from conformance.suite.recorded_case import RecordedCase, restore_recorded_case
from conformance.suite.summary import describe_diagnosis
from conformance.verdict import evidence
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import Outcome, Result
from conformance.wrong_engines import HABITS, WRONG_ENGINES, WrongEngine
from refengine.core.engine import Report, evaluate
from refengine.core.profile import Profile
from refengine.core.question import Question
from refengine.core.r2r import defined_answer
from refengine.core.values import R2S, T0, Closure, Empty
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.comparison import Borders
from refengine.oracle.explanations import FIELDS_TRIED, FieldChange, apply_changes
from refengine.oracle.judge import judge_recording
from refengine.oracle.trial import RecordingToJudge

RULES = ("WIN-2", "WIN-3", "WIN-8", "R2S-1", "R2S-5")
# the rules whose cases show what the habits do
RULES_OF_HABITS = (
    *("ENG-1", "ENG-2", "ENG-5", "QRY-4", "R2R-1", "R2R-2", "R2R-8", "R2R-9", "R2S-2", "R2S-4"),
    *("IO-2", "REP-1", "REP-2", "REP-10", "REP-12", "R2S-7", "WIN-1", "WIN-7", "WIN-9"),
)
NATURAL = Path(__file__).parents[1] / "natural_engine"
CLOSED = FieldChange("closure", Closure.CLOSED)
FIRST = FieldChange("t0", T0.FIRST)
REACHED = FieldChange("t0", T0.REACH)
NEWS = FieldChange("r2s", R2S.ISTREAM)
EMPTY = FieldChange("empty", Empty.EMIT)


@cache
def every_case() -> dict[str, Case]:
    """Return the cases by their ids. The memo of `questions` is cleared by each wrong engine."""
    return {case.id: case for case in questions()}


def claiming() -> Engine:
    """Return an engine that claims windows [o, c) from 0 on, each reported when it closes."""
    tested = engine("rsp-js")
    assert tested.profile is not None
    profile = tested.profile.but(t0=0, offset=None, horizon="flush")
    return replace(tested, name="mine", profile=profile, deviations=(), has_sentinels=False)


def diagnosis_of(
    *changes: FieldChange,
    wrong_engine: WrongEngine | None = None,
    state_window: Callable[[Borders], Borders] | None = None,
    tested: Engine | None = None,
    rules: Collection[str] = RULES,
) -> Diagnosis | None:
    """Return the diagnosis of an engine that does what it claims but for some changes. With
    `state_window` it states the windows of its reports, as that makes of them. It is asked the
    cases of some rules.
    """
    tested = tested or claiming()
    results = list(results_of(tested, changes, wrong_engine, state_window, rules))
    item = Item(engine="mine", suite="corpus", case="any", run=lambda _: results[0], tested=tested)
    return next(iter(diagnose(results, [item])), None)


def results_of(
    tested: Engine,
    changes: Sequence[FieldChange],
    wrong_engine: WrongEngine | None,
    state_window: Callable[[Borders], Borders] | None,
    rules: Collection[str],
) -> Iterator[Result]:
    """Yield the results of the engine that `diagnosis_of` diagnoses."""
    visits_instants = wrong_engine is not None and visits_every_instant(wrong_engine)
    for case in every_case().values():
        question = question_of(case)
        if case.rule not in rules or (visits_instants and _is_long(question)):
            continue
        try:
            reports = [
                EngineReport(report.relation, None, _stated(report.window, state_window))
                for report in _reports(tested, question, changes, wrong_engine)
            ]
            passes = _passes(tested, question, reports)
        except RefengineError:
            continue
        outcome = Outcome.PASS if passes else Outcome.FAIL
        table = evidence.evidence(question, reports, None, None)
        yield bare(case.id, outcome, engine="mine", rule=case.rule, evidence=table)


def _stated(
    window: Borders | None, state_window: Callable[[Borders], Borders] | None
) -> Borders | None:
    """Return the window that the engine states for a report with a window."""
    if window is None or state_window is None:
        return None
    return state_window(window)


class RecordedCaseDouble:
    """Stands for a recorded case: it is explained by everything, or by nothing."""

    is_short = True
    is_right_but_for_its_end = False
    with_other_ends = ()

    def __init__(self, is_explained: bool) -> None:
        self.profile = claiming().profile
        self.is_explained = is_explained

    def is_explained_by(self, *_: object, **__: object) -> bool:
        """Return what it was made with."""
        return self.is_explained


def every_change(profile: Profile) -> list[FieldChange]:
    """Return every change of a profile that a diagnosis may find."""
    return [change for name in FIELDS_TRIED for change in changes_of_field(profile, name)]


def _is_long(question: Question) -> bool:
    """Whether a wrong engine may take very long with the streams."""
    times = [element.app for stream in question.streams.values() for element in stream]
    return max(times, default=0) - min(times, default=0) > 1000


def _reports(
    tested: Engine,
    question: Question,
    changes: Sequence[FieldChange],
    wrong_engine: WrongEngine | None,
) -> list[Report]:
    """Return what the engine reports for a question."""
    semantics = apply_changes(tested.profile_for(question.query), *changes).semantics()
    with nullcontext() if wrong_engine is None else wrong_engine.installed():
        return list(
            evaluate(
                question.query,
                question.streams,
                semantics,
                static=question.static,
                answer=defined_answer,
            )
        )


def _passes(tested: Engine, question: Question, reports: Sequence[EngineReport]) -> bool:
    """Whether the reports are right under the semantics that the engine claims."""
    recorded = RecordingToJudge.of(
        question,
        [report.relation for report in reports],
        missing=0,
        windows=[report.window for report in reports],
    )
    return judge_recording(recorded, tested.profile_for(question.query), SharedAnswers(), ()).passed


@pytest.mark.parametrize(
    "change", [CLOSED, FIRST, NEWS, EMPTY], ids=lambda change: f"{change.field}={change.value}"
)
def test_one_defect_is_one_cause_that_explains_all_fails(change: FieldChange) -> None:
    diagnosis = diagnosis_of(change)
    assert diagnosis is not None
    (cause,) = diagnosis.causes
    assert cause.deviation.fields[change.field] == change.value
    assert len(cause.cases) == len(diagnosis.fails) > 3
    assert not diagnosis.unexplained


@pytest.mark.parametrize(
    "changes",
    [(CLOSED, EMPTY), (FIRST, EMPTY)],
    ids=lambda changes: " ".join(change.field for change in changes),
)
def test_two_defects_are_two_causes(changes: tuple[FieldChange, FieldChange]) -> None:
    diagnosis = diagnosis_of(*changes)
    assert diagnosis is not None
    found = {
        (name, value)
        for cause in diagnosis.causes
        for name, value in cause.deviation.fields.items()
    }
    assert set(changes) <= found


def test_two_changes_of_which_neither_explains_much_alone_are_found_as_a_pair() -> None:
    diagnosis = diagnosis_of(CLOSED, REACHED)
    assert diagnosis is not None
    fields = [dict(cause.deviation.fields) for cause in diagnosis.causes]
    assert fields == [{"closure": Closure.CLOSED}, {"t0": T0.REACH}]
    assert not diagnosis.unexplained


def test_an_integer_for_t0_and_a_habit_are_found_as_a_pair() -> None:
    """To lose the elements on borders is to have the closure ()."""
    lost = next(one for one in HABITS if one.name == "elements on any border are lost")
    diagnosis = diagnosis_of(FieldChange("t0", 3), wrong_engine=lost)
    assert diagnosis is not None
    integer, closure = diagnosis.causes
    assert integer.deviation.fields == {"t0": 3}
    assert closure.deviation.fields == {"closure": "()"}
    assert not diagnosis.unexplained


def test_a_defect_in_no_field_is_the_wrong_engine_that_has_it() -> None:
    nothing_expires = next(one for one in WRONG_ENGINES if one.name == "nothing expires")
    diagnosis = diagnosis_of(wrong_engine=nothing_expires)
    assert diagnosis is not None
    assert diagnosis.causes[0].text.startswith("the wrong engine 'WIN-8 nothing expires'")
    assert diagnosis.causes[0].rules == ("WIN-8",)


def engine_with_habit(habit: WrongEngine) -> Engine:
    """Return an engine whose claim lets a habit be seen."""
    claim = "csparql"
    if habit.name == "only a new element evaluates":  # which a window that closes does not show
        claim = "cqels"
    return replace(engine(str(NATURAL / f"{claim}.toml")), name="mine", deviations=())


def rules_of_habit(habit: WrongEngine) -> set[str]:
    """Return the rules whose cases an engine with a habit is asked."""
    return {*RULES, *RULES_OF_HABITS, *habit.rules}


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.name)
def test_a_habit_explains_the_fails_that_it_makes(habit: WrongEngine) -> None:
    """The first three. `test_a_habit_is_found` searches for it among all others."""
    tested = engine_with_habit(habit)
    results = results_of(tested, (), habit, lambda window: window, rules_of_habit(habit))
    failing = (result for result in results if result.outcome is Outcome.FAIL)
    fails = [
        restore_recorded_case(tested, every_case()[result.case], result)
        for result in islice(failing, 3)
    ]
    assert fails
    [candidate] = [one for one in wrong_engine_candidates(()) if one.wrong_engine is habit]
    assert explained_by([candidate], fails) == fails


# A search takes seconds: every third habit is searched for here, and all in `make draws`.
@pytest.mark.parametrize(
    "habit", HABITS[::3] if PROFILE == "ci" else HABITS, ids=lambda habit: habit.name
)
def test_a_habit_is_found(habit: WrongEngine) -> None:
    diagnosis = diagnosis_of(
        wrong_engine=habit,
        state_window=lambda window: window,
        tested=engine_with_habit(habit),
        rules=rules_of_habit(habit),
    )
    assert diagnosis is not None
    assert diagnosis.causes[0].text.startswith(f"the wrong engine '{habit.full_name}'")
    assert set(diagnosis.causes[0].rules) == set(habit.rules)
    assert not diagnosis.unexplained


def test_windows_that_are_stated_wrongly_are_the_only_cause_where_the_answers_are_right() -> None:
    diagnosis = diagnosis_of(state_window=lambda window: (window[0] + 1, window[1]))
    assert diagnosis is not None
    (cause,) = diagnosis.causes
    assert cause.deviation.misstates == "window"
    assert len(cause.cases) == len(diagnosis.fails) > 3


def test_windows_that_a_defect_moves_are_not_called_wrongly_stated() -> None:
    diagnosis = diagnosis_of(FIRST, state_window=lambda window: window)
    assert diagnosis is not None
    assert [cause.deviation.fields for cause in diagnosis.causes] == [{"t0": T0.FIRST}]
    assert not diagnosis.unexplained


def test_other_windows_make_the_instants_that_are_recorded_of_them() -> None:
    tested = claiming()
    case = next(case for case in questions() if case.id.startswith("WIN-3-windows-are-counted"))
    question = question_of(case)
    instants = tuple(report.instant for report in _reports(tested, question, (FIRST,), None))
    assert instants != tuple(report.instant for report in _reports(tested, question, (), None))
    result = bare(case.id, "fail", engine="mine", rule=case.rule)
    recorded = RecordedCase(
        tested=tested,
        result=result,
        question=question,
        relations=(),
        windows=(),
        window_closure=None,
        instants=instants,
    )
    explaining = [
        candidate.text
        for candidate in (
            Candidate("t0=first-element", FIRST),
            Candidate("closure=[]", CLOSED),
            Candidate("r2s=Istream", NEWS),
            *simple_defect_candidates(),
        )
        if makes_recorded_instants(candidate, recorded)
    ]
    assert explaining == ["t0=first-element"]


def test_what_many_passes_contradict_is_no_cause() -> None:
    tried = [RecordedCaseDouble(True)] * 4
    passing = [RecordedCaseDouble(True)] * 3
    contradicting = [RecordedCaseDouble(False)]
    candidate = Candidate("closure=[]", CLOSED)
    bounds = [Comparison([], tried, passing + contradicting * count) for count in (1, 2)]
    scores = [comparison.score([candidate], 4) for comparison in bounds]
    assert [score.contradicted_share for score in scores] == [1 / 4, 2 / 5]
    assert [score.is_credible for score in scores] == [True, False]


def test_a_cause_of_few_fails_is_contradicted_by_one_pass() -> None:
    passes = [RecordedCaseDouble(True)] * 9 + [RecordedCaseDouble(False)]
    candidate = Candidate("closure=[]", CLOSED)
    few, more = ([RecordedCaseDouble(True)] * count for count in (2, 3))
    assert not Comparison([], few, passes).score([candidate], 2).is_credible
    assert Comparison([], few, passes[:-1]).score([candidate], 2).is_credible
    assert Comparison([], more, passes).score([candidate], 3).is_credible


PERIODIC = {"report": "periodic", "period": 5, "anchor": "t0"}


@pytest.mark.parametrize("claimed", [{}, PERIODIC], ids=["window-close", "periodic"])
def test_an_entry_that_is_put_into_the_file_makes_the_profile_that_was_found(
    claimed: dict[str, object], tmp_path: Path
) -> None:
    """Some fields change others: an operator its baseline, a report its period."""
    tested = claiming()
    assert tested.profile is not None
    profile = tested.profile.but(**claimed)
    head = 'title = "mine"\ncommand = ["true"]\ndialect = "rspql"\n'
    file = tmp_path / "mine.toml"
    for change in every_change(profile):
        deviation = Deviation("its semantics", LINK, ("a",), fields_of_change(profile, change))
        file.write_text(head + "\n".join(write_entry(deviation)))
        (stated,) = read_engine_file(file).deviations
        assert profile.but(**stated.fields) == apply_changes(profile, change), change
        assert stated.cases == ("a",)


def test_an_entry_reads_back_as_the_deviation_that_it_states(tmp_path: Path) -> None:
    deviation = Deviation('a "wrong" engine \x7f', LINK, ("a", "b"), breaks=("WIN-8",))
    file = tmp_path / "mine.toml"
    entry = "\n".join(write_entry(deviation))
    file.write_text('title = "mine"\ncommand = ["true"]\ndialect = "rspql"\n' + entry)
    (stated,) = read_engine_file(file).deviations
    assert stated == deviation


def test_an_engine_without_an_unexplained_fail_has_no_diagnosis() -> None:
    assert diagnosis_of() is None


def test_the_lines_state_the_cause_the_smallest_case_and_an_entry_for_the_file() -> None:
    diagnosis = diagnosis_of(CLOSED)
    assert diagnosis is not None
    cause = diagnosis.causes[0]
    count = len(diagnosis.fails)
    lines = list(describe_diagnosis(diagnosis))
    assert lines[0] == (
        f"mine: closure=[] explains {count} of {count} fails (WIN-2); "
        f"smallest case {cause.cases[0]}"
    )
    (entry,) = tomllib.loads(cause.entry)["deviations"]
    assert entry["fields"] == {"closure": "[]"}
    assert entry["cases"] == [cause.cases[0]]


def test_two_deviations_with_one_reason_are_refused(tmp_path: Path) -> None:
    deviation = Deviation("slow answers", LINK, ("a",), breaks=("WIN-8",))
    file = tmp_path / "mine.toml"
    head = 'title = "mine"\ncommand = ["true"]\ndialect = "rspql"\n'
    entry = "\n".join(write_entry(deviation))
    file.write_text(f"{head}{entry}\n{entry}\n")
    with pytest.raises(RefengineError, match="2 entries have the reason 'slow answers'"):
        read_engine_file(file)
