"""CSRBench: which of its queries engines with a defect pass, and the scores beside the verdicts,
derived by hand.

Six observations of more than 80 degrees: a at 1 s, b at 4 s, c at 10 s, d at 13 s, e at 20 s and
f at 25 s. Q1 has windows of 10 s that slide by 10 s, and Q5 windows of 5 s that slide by 1 s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import pytest

from conformance.bench.benchmark import Choice, Feeding, Run
from conformance.bench.csrbench import CSRBENCH
from conformance.bench.judging import judge_run
from conformance.harness.engine_file import Deviation, command
from conformance.suite.exchange import Exchange
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import Outcome, Result
from conformance.verdict.time_limit import VerdictLimit
from refengine.core import r2r
from refengine.core.question import Question
from refengine.model.elements import Relation, row

SECONDS = {"a": 1, "b": 4, "c": 10, "d": 13, "e": 20, "f": 25}
OM = "http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#"
WEATHER = "http://knoesis.wright.edu/ssw/ont/weather.owl#"
FLOAT = "http://www.w3.org/2001/XMLSchema#float"

# [0, 10), [10, 20), [20, 30)
RIGHT_Q1 = ["ab", "cd", "ef"]
# [k - 5, k) for k = 2 to 9, 11 to 18 and 21 to 30; those that close at 10, 19 and 20 are empty
RIGHT_Q5 = [*"aaa", "ab", "ab", *"bbb", *"ccc", "cd", "cd", *"ddd", *"eeeee", *"fffff"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the stream."""
    lines = []
    for name, at in SECONDS.items():
        observation, result = f"<urn:{name}>", f"<urn:{name}-result>"
        triples = [
            f"{observation} <{OM}observedProperty> <{WEATHER}_AirTemperature>",
            f"{observation} <{OM}procedure> <urn:sensor>",
            f"{observation} <{OM}result> {result}",
            f"{result} <{OM}floatValue> 90.0^^<{FLOAT}>",
        ]
        lines += [f'{triple} "{1000 * at}" .\n' for triple in triples]
    path = tmp_path / "observations.n3t"
    path.write_text("".join(lines))
    return path


def judge(
    stream: Path,
    query: str,
    answers: Sequence[str],
    late: int = 0,
    verdict_limit: VerdictLimit | None = None,
    deviations: tuple[Deviation, ...] = (),
    is_fail_explained: bool = False,
) -> Result:
    """Return the result of an engine that gives rows of these observations, a relation for each
    text. It gives Q1's answers so many ms after their windows have closed. `verdict_limit` has the
    answers that verdicts share, and `deviations` are what is known of the engine.
    """
    [workload] = CSRBENCH.workloads(Choice(data=stream, only=(query,)))
    loaded = {name: source.load().stream for name, source in workload.streams.items()}
    reports = []
    for number, names in enumerate(answers, 1):
        rows = Counter(row({"sensor": "<urn:sensor>", "obs": f"<urn:{name}>"}) for name in names)
        relation = Relation(workload.query.body.variables, rows)
        reports.append(EngineReport(relation, 10_000 * number + late))
    exchange = Exchange(Question(workload.query, loaded), reports, "the query")
    run = Run(workload, "theirs", 1, Feeding(exchange, 0, 1.0, [], 0.0, False))
    tested = replace(command("true", "csparql", "csparql"), deviations=deviations)
    return judge_run(
        CSRBENCH, tested, run, {}, verdict_limit=verdict_limit, is_fail_explained=is_fail_explained
    )


def scores(result: Result) -> list[tuple[float, float]]:
    metrics: Sequence[Mapping[str, Any]] = (result.evidence or {})["metrics"]
    return [(one["precision"], one["recall"]) for one in metrics]


def verdicts(results: Sequence[Result]) -> dict[str, str]:
    """Return the cells of the table of verdicts, by query, where there is one."""
    [table, *_] = CSRBENCH.tables(results)
    cells = {name.text: cell.text for name, cell in table.rows}
    return {name: text for name, text in cells.items() if text != "–"}


def test_a_right_engine_passes(folder: Path) -> None:
    results = [judge(folder, "Q1", RIGHT_Q1), judge(folder, "Q5", RIGHT_Q5)]
    assert verdicts(results) == {"Q1": "pass", "Q5": "pass"}
    assert scores(results[0]) == [(1, 1)] * 3
    assert scores(results[1]) == [(1, 1)] * 26


def test_an_engine_that_loses_elements_on_a_border_fails_both(folder: Path) -> None:
    """Its windows have neither border. By Q1 c and e are lost, each one of two rows. By Q5 each
    observation is on the opening border of the last window that holds it.
    """
    q5 = [*"aaa", "ab", *"bbb", *"ccc", "cd", *"ddd", *"eeee", *"ffff"]
    results = [judge(folder, "Q1", ["ab", "d", "f"]), judge(folder, "Q5", q5)]
    assert verdicts(results) == {"Q1": "fail", "Q5": "fail"}
    assert scores(results[0]) == [(1, 1), (1, 0.5), (1, 0.5)]


def test_an_engine_that_repeats_its_rows_fails_both(folder: Path) -> None:
    """Of twice as many rows half pair up."""
    results = [
        judge(folder, "Q1", [2 * names for names in RIGHT_Q1]),
        judge(folder, "Q5", [2 * names for names in RIGHT_Q5]),
    ]
    assert verdicts(results) == {"Q1": "fail", "Q5": "fail"}
    assert scores(results[0]) == [(0.5, 1)] * 3


def test_an_engine_that_ignores_the_slide_fails_where_it_is_not_the_size(folder: Path) -> None:
    """Its windows of Q5 are [0, 5), [10, 15), [20, 25) and [25, 30)."""
    results = [judge(folder, "Q1", RIGHT_Q1), judge(folder, "Q5", ["ab", "cd", "e", "f"])]
    assert verdicts(results) == {"Q1": "pass", "Q5": "fail"}


def test_a_late_engine_passes_and_is_late(folder: Path) -> None:
    """A verdict does not look at instants (ORA-1). Where the windows begin is left open, so a delay
    is known only beside that of an engine that is in time.
    """
    results = [judge(folder, "Q1", RIGHT_Q1), judge(folder, "Q1", RIGHT_Q1, late=3000)]
    assert [verdicts([result]) for result in results] == [{"Q1": "pass"}] * 2
    in_time, late = ((result.evidence or {})["metrics"] for result in results)
    more = [one["delay"] - other["delay"] for one, other in zip(late, in_time, strict=True)]
    assert more == [3000, 3000, 3000]


def test_verdicts_on_several_engines_ask_witnesses_once(folder: Path, monkeypatch) -> None:
    """The answers that they share change nothing in the result of a fail."""
    wrong = ["ab", "d", "f"]
    alone = judge(folder, "Q1", wrong)

    asked = []
    hear_witnesses = r2r.hear_witnesses
    monkeypatch.setattr(
        r2r, "hear_witnesses", lambda *words: asked.append(words) or hear_witnesses(*words)
    )
    verdict_limit = VerdictLimit()
    judge(folder, "Q1", RIGHT_Q1, verdict_limit=verdict_limit)
    first_asked = len(asked)
    assert first_asked and judge(folder, "Q1", wrong, verdict_limit=verdict_limit) == alone
    contents = [graph for _, graph, *_ in asked]
    assert len(contents) == len({*contents}) and len(asked) > first_asked


def one_second_for_each_answer(seconds: float) -> VerdictLimit:
    """A limit by a clock that goes on by a second whenever it is looked at."""
    return VerdictLimit(seconds, count().__next__)


def test_a_verdict_that_takes_too_long_is_none_and_the_next_goes_on(folder: Path) -> None:
    """Three answers take three seconds. What was computed until then can be used further."""
    for answers in (RIGHT_Q1, ["ab", "d", "f"]):
        alone = judge(folder, "Q1", answers)
        verdict_limit = one_second_for_each_answer(3)
        ended = judge(folder, "Q1", answers, verdict_limit=verdict_limit)
        assert ended.outcome is Outcome.UNSUPPORTED
        assert ended.explanation == (
            "no verdict: profile csparql; judging ended after 3 s of CPU time and 3 answers "
            "(a greater --verdict-seconds allows more)"
        )
        assert ended.evidence is not None and ended.evidence["run"]["answers"] == len(answers)
        verdict_limit.seconds = inf
        assert judge(folder, "Q1", answers, verdict_limit=verdict_limit) == alone


IGNORED = Deviation("the slide is ignored", "https://example.org/", (), {"slide": "ignored"})


def test_a_fail_stays_if_it_takes_too_long_to_grant_a_deviation(folder: Path) -> None:
    """With the slide ignored, a window begins at each instant, and each start within 10,000 ms is
    tried. The verdict looks at fewer than a thousand answers.
    """
    wrong = ["ab", "d", "f"]
    alone = judge(folder, "Q1", wrong)
    verdict_limit = one_second_for_each_answer(1_000)
    ended = judge(folder, "Q1", wrong, verdict_limit=verdict_limit, deviations=(IGNORED,))
    assert ended.outcome is Outcome.FAIL and not ended.known
    *before, line = ended.explanation.splitlines()
    assert line == (
        "  whether a known deviation explains it is not known: judging ended after 1000 s of CPU "
        "time and 1,000 answers, while slide=ignored was tried"
    )
    assert before == alone.explanation.splitlines()[:-1]


def test_a_fail_stays_if_it_takes_too_long_to_explain_it(folder: Path) -> None:
    wrong = ["ab", "d", "f"]
    verdict_limit = one_second_for_each_answer(200)
    ended = judge(folder, "Q1", wrong, verdict_limit=verdict_limit, is_fail_explained=True)
    assert ended.outcome is Outcome.FAIL
    assert "what would explain it was not found: judging ended after 200 s" in ended.explanation
