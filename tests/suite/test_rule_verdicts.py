"""The verdict on each rule: holds, broken, not shown or not asked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from reports import bare

from conformance.corpus import Case, cases, detection, question_of
from conformance.harness.engine_file import Engine, InvalidEngine, engine
from conformance.suite import questions, summary
from conformance.suite.item import Item, live_items
from conformance.suite.summary import examine_results
from conformance.verdict.results import KnownDeviation, Outcome, Result, from_json
from conformance.verdict.rules import CaseResult, RuleStatus, judge_rules, summarize_rules
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.judge import judge_recording
from refengine.oracle.trial import RecordingToJudge

CLOSED = KnownDeviation("windows are closed", "https://example.org/1", ("WIN-2",), True)
LAST_ONLY = KnownDeviation("only the last window", "https://example.org/2", ("REP-10",), False)


def found(
    rule: str,
    outcome: str = "pass",
    *known: KnownDeviation,
    case: str = "",
    rows: int = 1,
    size: int = 3,
    caught_wrong_engine: str = "WIN-8 nothing expires",
) -> CaseResult:
    """A result; without more a pass with a row, of a case that catches a wrong engine."""
    result = bare(
        case or f"{rule}-a",
        outcome,
        engine="mine",
        rule=rule,
        known=known,
        caught_wrong_engine=caught_wrong_engine,
        caught_when_granted=caught_wrong_engine if known else "",
    )
    evidence: dict[str, Any] = {"actual": [{"total": rows}], "elements_total": size}
    return CaseResult.of(result, evidence)


def statuses(*results: CaseResult) -> dict[str, tuple[str, str]]:
    """{rule: its status, and the case that shows it or the reason}."""
    return {
        verdict.rule: (str(verdict.status), verdict.case or verdict.reason)
        for verdict in judge_rules(results)
    }


def test_a_rule_holds_where_a_case_with_rows_passes_that_catches_a_wrong_engine() -> None:
    larger = found("WIN-8", case="WIN-8-large", size=9)
    smaller = found("WIN-8", case="WIN-8-small", size=2)
    assert statuses(larger, smaller) == {"WIN-8": ("holds", "WIN-8-small")}


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (found("WIN-8", rows=0), "1 case silent"),
        (found("WIN-8", "error"), "1 case in error"),
        (found("WIN-8", "disputed"), "1 case disputed"),
        (found("WIN-8", "unstable"), "1 case unstable"),
        (found("WIN-8", "fail", LAST_ONLY), "1 case wrong by REP-10"),
    ],
)
def test_a_rule_is_not_shown_where_no_right_answer_has_rows(
    result: CaseResult, reason: str
) -> None:
    assert statuses(result)["WIN-8"] == ("not shown", reason)


def test_a_rule_of_which_all_cases_are_unsupported_is_not_in_reach() -> None:
    assert statuses(found("WIN-8", "unsupported"))["WIN-8"] == (
        "not in reach",
        "1 case unsupported",
    )
    silent, unsupported = found("WIN-8", rows=0), found("WIN-8", "unsupported")
    assert statuses(silent, unsupported)["WIN-8"] == (
        "not shown",
        "1 case silent, 1 case unsupported",
    )


def test_a_pass_that_every_wrong_engine_would_pass_shows_nothing() -> None:
    (verdict,) = judge_rules([found("WIN-8", caught_wrong_engine="")])
    assert verdict.status is RuleStatus.NOT_ASKED


def test_a_fail_without_a_cause_says_that_its_rule_fails_and_not_that_it_is_broken() -> None:
    """The real reason may be another rule, which the case needs as well."""
    failed = [found("WIN-8", "fail", case=f"WIN-8-{name}", size=5) for name in "cb"]
    assert statuses(found("WIN-8"), *failed) == {"WIN-8": ("fails, unexplained", "WIN-8-b")}
    [verdict] = judge_rules(failed)
    assert verdict.reason == "2 cases fail, and no cause is known"


def test_a_rule_of_the_suite_is_none_of_an_engines() -> None:
    """Its cases pass and fail, and nobody breaks it: neither by a fail nor by a known deviation."""
    judged = KnownDeviation("as ORA-3", "https://example.org/3", ("ORA-3",), False)
    assert judge_rules([found("ORA-9", "fail"), found("IO-1"), found("DIA-6")]) == []
    assert statuses(found("WIN-8", "fail", judged)) == {
        "WIN-8": ("not shown", "1 case wrong by another rule")
    }
    assert statuses(found("CMP-2"))["CMP-2"] == ("holds", "CMP-2-a"), "an Istream compares"


@pytest.mark.parametrize("outcome", ["pass", "fail", "error", "unstable", "disputed"])
@pytest.mark.parametrize("known", [(), (CLOSED,), (LAST_ONLY,)])
@pytest.mark.parametrize("rows", [0, 1])
def test_the_rules_in_reach_do_not_depend_on_what_an_engine_answered(
    outcome: str, known: tuple[KnownDeviation, ...], rows: int
) -> None:
    """What is broken elsewhere is named, and is not in reach for that."""
    verdicts = judge_rules(
        [
            found("WIN-8", outcome, *known, rows=rows),
            found("REP-4", outcome, *known, rows=rows, caught_wrong_engine=""),
            found("WIN-14", "unsupported"),
        ]
    )
    assert [verdict.rule for verdict in verdicts if verdict.is_in_reach] == ["WIN-8"]
    beyond = {verdict.rule for verdict in verdicts if verdict.is_beyond_reach}
    assert beyond <= {"REP-4", "WIN-2", "REP-10"}
    assert ("REP-4" in beyond) == (outcome == "fail" and not known)


def test_a_result_of_an_older_file_shows_what_it_showed() -> None:
    """There one wrong engine stands for both."""
    table = found("WIN-8", "fail", CLOSED).result.as_json()
    del table["caught_when_granted"]
    assert from_json(table).caught_when_granted == "WIN-8 nothing expires"


def test_a_file_of_an_older_version_calls_the_explanation_an_argument():
    table = bare(outcome="fail", rule="WIN-1", explanation="fail: as it is").as_json()
    table["argument"] = table.pop("explanation")
    assert from_json(table).explanation == "fail: as it is"


def test_a_known_deviation_in_the_semantics_breaks_its_own_rule_alone() -> None:
    """Once the closure is changed, the rest of the answer is right, and so the case shows what it
    is about.
    """
    assert statuses(found("WIN-8", "fail", CLOSED)) == {
        "WIN-2": ("broken, known", "WIN-8-a"),
        "WIN-8": ("holds", "WIN-8-a"),
    }
    shows_nothing = replace(found("WIN-8", "fail", CLOSED).result, caught_when_granted="")
    [_, verdict] = judge_rules([CaseResult(shows_nothing, True, 3)])
    assert (verdict.status, verdict.is_in_reach) == (RuleStatus.NOT_SHOWN, True)


def test_a_rule_that_holds_though_its_case_fails_names_the_rules_by_which_it_does() -> None:
    failing = found("WIN-8", "fail", CLOSED)
    [_, verdict] = judge_rules([failing])
    assert verdict.other_rules == ("WIN-2",)
    assert verdict.reason == (
        "the wrong engine 'WIN-8 nothing expires' would have failed; the answers are wrong by "
        "WIN-2 alone"
    )


def test_a_case_that_passes_shows_a_rule_rather_than_a_smaller_one_that_fails() -> None:
    failing = found("WIN-8", "fail", CLOSED, case="WIN-8-small", size=1)
    passing = found("WIN-8", case="WIN-8-large", size=9)
    [_, verdict] = judge_rules([failing, passing])
    assert (verdict.case, verdict.other_rules) == ("WIN-8-large", ())


def test_a_known_deviation_in_no_field_hides_the_rule_of_its_case() -> None:
    assert statuses(found("WIN-8", "fail", LAST_ONLY)) == {
        "REP-10": ("broken, known", "WIN-8-a"),
        "WIN-8": ("not shown", "1 case wrong by REP-10"),
    }


def test_the_summary_counts_rules_and_names_those_that_do_not_hold() -> None:
    assert summarize_rules(
        judge_rules(
            [
                found("WIN-8"),
                found("WIN-9", rows=0),
                found("REP-1", "fail"),
                found("MOD-1", "fail", LAST_ONLY, caught_wrong_engine=""),
                found("REP-4", caught_wrong_engine=""),
                found("WIN-14", "unsupported"),
            ]
        )
    ) == [
        "mine: 3 rules in reach: holds 1, broken 0, unexplained 1, not shown 1",
        "  WIN-9 not shown: 1 case silent",
        "  broken by known deviations: REP-10",
        "  fail, unexplained: REP-1",
        "  of these beyond its reach, and not counted: REP-10",
    ]


def test_cases_that_pass_are_examined_before_smaller_ones_that_fail_by_other_rules() -> None:
    failing = found("WIN-8", "fail", CLOSED, case="WIN-8-small", size=1)
    large = found("WIN-8", case="WIN-8-large", size=9)
    medium = found("WIN-8", case="WIN-8-medium", size=5)
    silent = found("WIN-8", case="WIN-8-silent", rows=0, size=0)
    ordered = sorted([silent, failing, large, medium], key=summary._examination_order)
    assert ordered == [medium, large, failing, silent]


def test_no_rule_holds_for_an_engine_that_never_answers() -> None:
    """It passes many cases, and none of them shows a rule."""
    silent = engine("rsp-js")
    results = [_silent_result(silent, case) for case in questions()[::3]]
    assert sum(result.outcome is Outcome.PASS for result in results) > 40
    examined = examine_results(results, _items(silent))
    verdicts = judge_rules([CaseResult.of(result, result.evidence) for result in examined])
    assert {verdict.status for verdict in verdicts} == {
        RuleStatus.UNEXPLAINED,
        RuleStatus.NOT_SHOWN,
        RuleStatus.NOT_ASKED,
    }


def _silent_result(tested: Engine, case: Case) -> Result:
    """Return the result of an engine that answers a case with nothing."""
    outcome = Outcome.UNSUPPORTED
    question = question_of(case)
    with suppress(RefengineError):
        profile = tested.profile_for(question.query)
        recorded = RecordingToJudge.of(question, [], missing=0)
        judgement = judge_recording(recorded, profile, SharedAnswers(), ())
        outcome = Outcome.PASS if judgement.passed else Outcome.FAIL
    evidence = {"actual": [], "elements_total": 1}
    return bare(case.id, outcome, engine=tested.name, rule=case.rule, evidence=evidence)


def _items(tested: Engine) -> list[Item]:
    """Return an item of an engine, from which its file is known."""
    return [
        Item(
            engine=tested.name, suite="corpus", case="c", run=lambda harnesses: None, tested=tested
        )
    ]  # type: ignore


def test_a_deviation_that_breaks_an_unknown_rule_is_refused() -> None:
    mine = engine("rsp-js")
    wrong = replace(mine.deviations[0], fields={}, breaks=("WIN-99",))
    with pytest.raises(InvalidEngine, match=r"rsp-js: deviations: engine: no rule 'WIN-99'"):
        live_items(replace(mine, deviations=(wrong,)))


def test_a_deviation_of_an_unknown_case_is_refused_with_cases_of_its_rule() -> None:
    """And with the file, if the engine was named by its file."""
    mine = engine("rsp-js")
    wrong = replace(mine.deviations[0], cases=("WIN-3-nosuch",))
    said = r"^mine\.toml: deviations: engine: no case 'WIN-3-nosuch'; valid: (WIN-3-[^ ,]+, ){4}… "
    with pytest.raises(InvalidEngine, match=said):
        live_items(replace(mine, deviations=(wrong,), file="mine.toml"))


def test_a_case_catches_a_wrong_engine_that_differs_in_what_a_reply_shows() -> None:
    by_id = {case.id: case for case in cases()}
    expiry = next(case for case in by_id.values() if case.rule == "WIN-9")
    assert detection.find_wrong_engine_that_differs(expiry).startswith("WIN-")
    of_the_oracle = next(case for case in questions() if case.rule == "ORA-2")
    assert detection.find_wrong_engine_that_differs(of_the_oracle) == ""
