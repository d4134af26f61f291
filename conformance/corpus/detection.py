"""What a pass of a case shows: whether a wrong engine of the case's rule would have failed it.

A case is there to catch engines that break its rule. Wrong engines stand for these. But no case
catches all of them under every semantics. An example: if t0 is unknown, windows that begin at 0 are
right, so the wrong engine that always begins at 0 passes. And an engine without periodic reports
cannot break the rule of periods. A pass of a case that no wrong engine would fail says nothing
about the rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import islice
from typing import Any

from conformance.corpus.case_file import Case, query_of, question_of, semantics_of
from conformance.corpus.check_case import differences_of_reports
from conformance.wrong_engines import WRONG_ENGINES, WrongEngine
from refengine.core import engine, r2r
from refengine.core.engine import Report
from refengine.core.profile import Profile
from refengine.core.question import Question, Setting
from refengine.core.semantics import Semantics
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import assignments
from refengine.oracle.judge import judge_recording
from refengine.oracle.trial import RecordingToJudge

REPORTS_BOUND = 1_000  # reports of a wrong engine; no case expects as many
ASSIGNMENTS_BOUND = 200  # assignments from which that of the wrong engines is chosen
# what a case may expect of a report, and a reply of the protocol does not show
NOT_IN_A_REPLY = ("evaluation", "late")

# packages whose functions compute no report
NOT_OF_AN_ENGINE = ("refengine.oracle", "refengine.dialects", "refengine.incremental")
# what is broken there changes over which contents the body is asked, and not what it answers
NOT_OF_ANSWERS = (
    "refengine.core.window",
    "refengine.core.schedule",
    "refengine.core.evaluations",
    "refengine.core.firings",
    "refengine.core.keys",
    "refengine.core.plan",
    "refengine.core.tick",
    "refengine.core.report",
    "refengine.core.r2s",
)
# makes a question from a case; a wrong engine may read the case wrongly, too
MakeQuestion = Callable[[], Question]
# judges the reports of a wrong engine: True for a pass
Passes = Callable[[list[Report]], bool]


def find_wrong_engine_that_fails(
    rule: str,
    make_question: MakeQuestion,
    profile: Profile,
    missing: int,
    states_windows: bool,
) -> str:
    """Return the first wrong engine of a rule that would fail a question under a profile, by its
    full name (`WIN-8 nothing expires`). It is empty if all of them would pass.

    Each wrong engine answers under the same assignment of the profile, the one whose t0 is nearest
    to 0. Its answers are judged as those of the engine: `missing` outputs may be missing at each
    end, and `states_windows` says whether it states its windows.
    """
    question = make_question()
    semantics = choose_assignment(question, profile)
    if semantics is None:
        return ""

    def passes(reports: list[Report]) -> bool:
        windows = [report.window for report in reports] if states_windows else []
        relations = [report.relation for report in reports]
        recorded = RecordingToJudge.of(
            question,
            relations,
            missing=missing,
            windows=windows,
            window_closure=semantics.closure,
        )
        return judge_recording(recorded, profile, SharedAnswers(), ()).passed

    return _first_failing(rule, make_question, semantics, passes)


def find_wrong_engine_that_differs(case: Case) -> str:
    """Return the first wrong engine of a case's rule whose reports differ from those that the case
    expects, by its full name. It is empty if all of them give what is expected.

    Only what a reply of the protocol shows is compared.
    """
    query = query_of(case)
    for block in case.table.get("expect", []):
        if "max_reports" in block:
            continue
        visible_block = _visible_part(block)
        semantics = semantics_of(block["semantics"])

        def passes(reports: list[Report], block: Mapping[str, Any] = visible_block) -> bool:
            return not differences_of_reports(block, query, reports)

        if name := _first_failing(case.rule, partial(question_of, case), semantics, passes):
            return name
    return ""


def _first_failing(
    rule: str,
    make_question: MakeQuestion,
    semantics: Semantics,
    passes: Passes,
) -> str:
    """Return the full name of the first wrong engine of a rule whose reports do not pass."""
    for wrong_engine in wrong_engines_of(rule):
        try:
            with wrong_engine.installed():
                reports = _evaluate(make_question().under(semantics), _who_answers(wrong_engine))
        except RefengineError:
            # It refuses what a right engine answers, or its own witnesses contradict it.
            return wrong_engine.full_name
        try:
            if not passes(reports):
                return wrong_engine.full_name
        except RefengineError:
            # No verdict: the case does not catch this wrong engine.
            continue
    return ""


def wrong_engines_of(rule: str) -> list[WrongEngine]:
    """Return the wrong engines of a rule that may report anything else than the right one."""
    return [one for one in _wrong_engines_by_rule().get(rule, ()) if _changes_reports(one)]


def _changes_reports(wrong_engine: WrongEngine) -> bool:
    """Whether a wrong engine may report anything else than the right one. Those that read files or
    judge wrongly do not.
    """
    module = wrong_engine.replaced.__module__
    return not module.startswith(NOT_OF_AN_ENGINE)


@cache
def _wrong_engines_by_rule() -> Mapping[str, list[WrongEngine]]:
    """Return the wrong engines of each rule."""
    by_rule: dict[str, list[WrongEngine]] = defaultdict(list)
    for wrong_engine in WRONG_ENGINES:
        for rule in wrong_engine.rules:
            by_rule[rule].append(wrong_engine)
    return by_rule


def _who_answers(wrong_engine: WrongEngine) -> engine.EvaluateBody:
    """Return who answers a body while a wrong engine is installed: the SPARQL evaluator, and where
    that may be broken, a witness must confirm its answer.
    """
    functions = (wrong_engine.replaced, *wrong_engine.besides)
    if all(function.__module__ in NOT_OF_ANSWERS for function in functions):
        return r2r.defined_answer
    return r2r.confirmed_answer


def _evaluate(setting: Setting, answer: engine.EvaluateBody) -> list[Report]:
    """Return the first reports of a question under a semantics."""
    reports = engine.evaluate(
        setting.query,
        setting.streams,
        setting.semantics,
        static=setting.static,
        answer=answer,
    )
    return list(islice(reports, REPORTS_BOUND))


def choose_assignment(question: Question, profile: Profile) -> Semantics | None:
    """Return the semantics of the profile's assignment whose t0 is nearest to 0; None if the
    profile has no meaning with this question.
    """
    try:
        allowed = assignments(question, profile, SharedAnswers().plan)
        candidates = [semantics for semantics, _ in islice(allowed, ASSIGNMENTS_BOUND)]
    except RefengineError:
        return None
    return min(candidates, key=_distance_of_t0, default=None)


def _distance_of_t0(semantics: Semantics) -> float:
    """Return how far t0 is from 0. A policy, which is no number, comes last."""
    if isinstance(semantics.t0, int):
        return abs(semantics.t0)
    return float("inf")


def _visible_part(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block of expectations without what a reply of the protocol does not show."""
    reports = [
        {key: value for key, value in report.items() if key not in NOT_IN_A_REPLY}
        for report in block["reports"]
    ]
    return {**block, "reports": reports}
