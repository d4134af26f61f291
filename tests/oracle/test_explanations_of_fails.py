"""What a fail says to an engine's author, and the bound of what may be missing, as the command
lines take it.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.bench.recordings import csrbench, own_engines, yabench
from conformance.verdict.outcomes import Judging, Outcome, judge_relations
from refengine import (
    Body,
    Query,
    Relation,
    Window,
    WindowKind,
    evaluate,
    literal,
    profile,
    row,
    stream,
)
from refengine.core.question import Question
from refengine.oracle.trial import Missing
from refengine.rdf.recordings import relation_to_json

EXAMPLE = "http://example.org/"
QUERY = Query(
    (Window("s", WindowKind.TIME, 10, 10),), Body(f"PREFIX : <{EXAMPLE}> SELECT ?x {{ ?x :p ?y }}")
)


def element(name: str, at: int) -> tuple:
    """An element with one triple."""
    return (f"<{EXAMPLE}{name}>", f"<{EXAMPLE}p>", "<urn:o>"), at


def test_a_literals_own_text_is_left_as_it_is():
    """Only a datatype is shortened, and IRIs: not those that a literal's text holds."""
    text = "see http://www.w3.org/2001/XMLSchema#integer"
    wrong = Relation(
        ("x",),
        Counter(
            [
                row({"x": literal(text)}),
                row({"x": literal("7", "http://www.w3.org/2001/XMLSchema#byte")}),
            ]
        ),
    )
    found = judge_relations(
        Question(QUERY, {"s": stream([element("a", 3)])}), profile("csparql").but(t0=0), [wrong]
    )
    assert f'{{x: "{text}"}}' in found.explanation
    assert '{x: "7"^^<xsd:byte>}' in found.explanation
    assert "lacking: {x: :a}" in found.explanation


def windows_from_the_first_element() -> tuple[Question, list[Relation]]:
    """CSRBench's Q5 over the embedded stream, from an engine whose windows begin with the first
    element.
    """
    asked, folder = csrbench.query("Q5"), own_engines.embedded()
    streams = {asked.windows[0].stream: csrbench.stream(folder)}
    semantics = profile("csparql").but(t0="first-element").semantics()
    relations = [report.relation for report in evaluate(asked, streams, semantics)]
    return Question(asked, streams), relations


def test_an_engine_that_begins_with_the_first_element_is_right():
    """ORA-2: with a slide of a fifth of the size, four windows that hold the first element are not
    reported.
    """
    question, recording = windows_from_the_first_element()
    assert (
        judge_relations(question, profile("csparql"), recording, missing=0).outcome is Outcome.PASS
    )


def test_two_outputs_that_are_missing_are_said_and_can_be_allowed(tmp_path, capsys):
    """ORA-3, ORA-9, ORA-13: of a recording that is right but for its first two relations."""
    question, recording = windows_from_the_first_element()
    found = judge_relations(question, profile("csparql"), recording[2:])
    assert found.outcome is Outcome.FAIL
    assert (
        "every relation is right, and 2 outputs are missing before the first; the bound is 1"
        in found.explanation
    )

    folder = tmp_path / "bench"
    (folder / "answers").mkdir(parents=True)
    (folder / "data").symlink_to(own_engines.embedded() / "data")
    told = [{"timestamp": 0, **relation_to_json(relation)} for relation in recording[2:]]
    (folder / "answers" / "csparql-answer-5.json").write_text(json.dumps({"relations": told}))
    for bound, outcome in ((1, "fail"), (2, "pass")):
        assert main(["csrbench", str(folder), "--format", "tsv", "--missing", str(bound)]) == 0
        assert f"Q5\t{outcome}" in capsys.readouterr().out
    assert main(["csrbench", str(folder), "--missing", "-1"]) == 2
    assert "--missing: ORA-3: must be >= 0, got -1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("size", "slide", "report", "t0"),
    [
        (5, 5, "window-close", 0),
        (4, 2, "window-close", -2),
        (5, 2, "window-close", -3),
        (5, 5, "content-change", 0),
    ],
)
def test_yabenchs_first_window(size: int, slide: int, report: str, t0: int):
    """The k-th window ends at k slides, for k = 1, 2, …; under content change the first begins with
    the stream.
    """
    query = Query((Window("s", WindowKind.TIME, size, slide),), QUERY.body)
    assert yabench.t0_of_first_window(query, profile("csparql").but(report=report)) == t0


CSPARQL = """REGISTER QUERY q AS PREFIX : <http://example.org/>
SELECT ?x FROM STREAM <urn:s> [RANGE 5s STEP 5s] WHERE { ?x :p ?y }"""


def run_of(folder: Path, relations: list[list[str]]) -> yabench.RecordedRun:
    """A run of YABench over a, b and c at 1, 6 and 11 s, with these relations, each told 100 ms
    after its window's end.
    """
    lines = [
        f'<{EXAMPLE}{name}> <{EXAMPLE}p> <urn:o> "{at}" .'
        for name, at in (("a", 1000), ("b", 6000), ("c", 11_000))
    ]
    (folder / "SG_small1").write_text("\n".join(lines) + "\n")
    (folder / "QUERY_small1").write_text(CSPARQL)
    answers = ["1000", "x\t"]
    for number, names in enumerate(relations, 1):
        answers.append(str(1000 + 5000 * number + 100))
        answers += [f"{EXAMPLE}{name}\t" for name in names]
    (folder / "QR_small1").write_text("\n".join(answers) + "\n")
    (run,) = yabench.recorded_runs("csparql", folder)
    return run


def test_yabenchs_figures_of_a_fail_are_of_its_own_windows(tmp_path):
    """b is lost. The i-th relation stands beside the i-th window, whatever other t0 would explain,
    and the first is never missing.
    """
    found = yabench.judge_recorded_run(run_of(tmp_path, [["a"], [], ["c"]]), Judging(keep=True))
    assert found.outcome is Outcome.FAIL and "nearest: t0=0 " in found.explanation
    figures = [
        (one["window"], one["precision"], one["recall"], one["delay"])
        for one in found.evidence["metrics"]
    ]
    assert figures == [
        ([0, 5000], 1.0, 1.0, 100),
        ([5000, 10_000], 0.0, 0.0, 100),
        ([10_000, 15_000], 1.0, 1.0, 100),
    ]

    found = yabench.judge_recorded_run(run_of(tmp_path, [["b"], ["c"]]), Judging(keep=True))
    assert found.outcome is Outcome.FAIL
    assert (
        yabench.judge_recorded_run(run_of(tmp_path, [["b"], ["c"]]), Judging(missing=1)).outcome
        is Outcome.PASS
    )
    assert (
        yabench.judge_recorded_run(run_of(tmp_path, [["a"], ["b"]]), Judging()).outcome
        is Outcome.PASS
    )


def test_a_bound_is_of_both_ends_or_of_each():
    assert Missing.of(2) == Missing(2, 2) and str(Missing.of(2)) == "2 at each end"
    assert (
        Missing.of(Missing(0, 1)) == Missing(0, 1)
        and str(Missing(0, 1)) == "0 before the first and 1 after the last"
    )
