"""The reports that a judgement carries: each computed once, for all that show or measure it."""

import pytest

from conformance.verdict import evidence
from conformance.verdict.engine_report import EngineReport
from refengine import evaluate, from_table, incremental, profile, stream
from refengine.core import engine
from refengine.core.question import Question
from refengine.oracle.judge import judge
from refengine.oracle.trial import Reports

QUERY = from_table(
    {
        "body": "SELECT ?x {?x <urn:p> ?y}",
        "windows": [{"stream": "s", "kind": "time", "size": 5, "slide": 5}],
    }
)
STREAM = stream(
    [((f"<urn:{name}>", "<urn:p>", "<urn:o>"), at) for name, at in (("a", 1), ("b", 6), ("c", 11))]
)
PROFILE = profile("csparql").but(t0=0)
QUESTION = Question(QUERY, {"s": STREAM})


def test_reports_are_computed_when_they_are_asked_for_and_once():
    asked = []

    def coming():
        for number in range(4):
            asked.append(number)
            yield number

    reports = Reports(coming())
    assert asked == []
    assert reports.get(1) == 1 and asked == [0, 1]
    assert reports.first(1) == (0,) and reports.computed(1) == (0, 1) and asked == [0, 1]
    assert reports.first(9) == (0, 1, 2, 3) and reports.get(4) is None and reports.first(-1) == ()
    assert asked == [0, 1, 2, 3]


def test_a_question_under_a_semantics_has_its_parts():
    setting = QUESTION.under(PROFILE.semantics())
    assert (setting.query, setting.streams, setting.static) == (QUERY, {"s": STREAM}, frozenset())


@pytest.mark.parametrize("lost", [0, 1])
def test_evidence_and_measures_evaluate_a_pass_no_second_time(monkeypatch, lost):
    """Of a recording that is whole, and of one that lacks the first report."""
    reports = list(evaluate(QUERY, QUESTION.streams, PROFILE.semantics()))
    relations = [report.relation for report in reports[lost:]]
    judgement = judge(QUERY, QUESTION.streams, PROFILE, relations)
    assert judgement.passed

    def again(*_, **__):
        raise AssertionError("the reports are evaluated again")

    monkeypatch.setattr(engine, "steps", again)
    monkeypatch.setattr(incremental, "cached_steps", again)
    monkeypatch.setattr(incremental, "evaluate", again)
    found = evidence.of_benchmark(QUESTION, list(map(EngineReport, relations)), judgement)
    assert [report["window"] for report in found["expected"]] == [[0, 5], [5, 10], [10, 15]]
    assert found.get("before", 0) == lost
    assert [entry["precision"] for entry in found["metrics"]] == [1.0] * len(relations)
