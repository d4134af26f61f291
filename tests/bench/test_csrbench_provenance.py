"""The verdicts on CSRBench say who computed the answers, and are the same if none is computed
incrementally.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from unittest.mock import patch

import pytest

from conformance.__main__ import main
from conformance.bench.recordings import csrbench_table, own_engines
from conformance.verdict.outcomes import Judging, Outcome
from conformance.verdict.results import Result, from_json
from refengine import incremental


@cache
def judge(is_evaluator_requested: bool) -> tuple[list[Result], int]:
    """Judge the reference engine as C-SPARQL on Q1, and one that never forgets; and count how often
    one of them was recorded incrementally.
    """
    chosen = [
        recorder
        for recorder in own_engines.recorders()
        if recorder.name in ("reference/csparql", "wrong/WIN-8")
    ]
    judging = Judging(("pyoxigraph",), is_evaluator_requested=is_evaluator_requested)
    with patch.object(own_engines.incremental, "evaluate", wraps=incremental.evaluate) as recording:
        results = own_engines.judge_ours("Q1", judging, chosen)
    return results, recording.call_count


def test_the_verdicts_by_the_evaluator_are_the_same():
    (quick, _), (plain, _) = judge(False), judge(True)
    assert [result.outcome for result in quick] == [Outcome.PASS, Outcome.FAIL]
    assert {result.computed_by for result in quick} == {"incremental evaluation"}
    asked = "the SPARQL evaluator (it was asked for)"
    assert {result.computed_by for result in plain} == {asked}
    assert [
        replace(
            result,
            computed_by=asked,
            explanation=result.explanation.replace("incremental evaluation", asked),
        )
        for result in quick
    ] == plain


@pytest.mark.parametrize("is_evaluator_requested", [False, True])
def test_the_reference_engine_is_recorded_incrementally(is_evaluator_requested):
    _, recorded = judge(is_evaluator_requested)
    assert recorded == (not is_evaluator_requested), "a wrong engine computes each answer anew"


def result(case: str, computed_by: str) -> Result:
    """A pass of the reference engine as CQELS, which is what the self-check of our engines asks."""
    return Result(
        engine="reference/cqels",
        suite="csrbench",
        case=case,
        outcome=Outcome.PASS,
        explanation="pass",
        computed_by=computed_by,
    )


def test_the_footer_counts_who_computed_what(capsys, monkeypatch):
    verdicts = [
        result("Q1", "incremental evaluation"),
        result("Q2", "incremental evaluation"),
        result("Q3", "the SPARQL evaluator (a property path)"),
        result("Q4", ""),
    ]
    footer = (
        "Verdicts by who computed their answers (ORA-8): 2 by incremental evaluation, 1 by the "
        "SPARQL evaluator (a property path)."
    )
    assert csrbench_table.describe_provenance(verdicts) == footer
    assert csrbench_table.describe_provenance(verdicts[3:]).endswith(": none.")
    monkeypatch.setattr(
        "conformance.command_line.csrbench.run_in_processes", lambda tasks, jobs: [verdicts]
    )
    assert main(["csrbench"]) == 0
    assert footer in capsys.readouterr().out.splitlines()
    assert main(["csrbench", "--format", "tsv"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [footer] and len(out.splitlines()) == 5


def test_the_option_reaches_the_judge(monkeypatch):
    asked = []

    def run_in_processes(tasks, jobs):
        asked.extend(judging for _, _, judging, *_ in tasks)
        return [[result("Q1", "incremental evaluation")]]

    monkeypatch.setattr("conformance.command_line.csrbench.run_in_processes", run_in_processes)
    for words in ([], ["--definition"]):
        assert main(["csrbench", *words]) == 0
    assert [judging.is_evaluator_requested for judging in asked] == [False] * 7 + [True] * 7


def test_who_computed_is_written_and_read():
    one = result("Q1", "incremental evaluation")
    assert from_json(one.as_json()) == one
    older = one.as_json()
    del older["computed_by"]
    assert from_json(older).computed_by == ""
