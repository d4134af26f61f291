"""The runners against evidence that nobody here wrote (beside the checkout), and against our own engines (always)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import csrbench, secret
from conformance.__main__ import main
from conformance.judge import Outcome

ROOT = Path(__file__).parents[1]


def pytest_run(*arguments: str) -> subprocess.CompletedProcess:
    """pytest on the suite, as a user runs it."""
    command = [sys.executable, "-m", "pytest", "conformance", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.needs_shared
def test_the_21_cells_of_table_2(shared, capsys):
    folder = shared / "data" / "csrbench"
    assert main(["csrbench", str(folder), "--format", "tsv"]) == 0
    out, err = capsys.readouterr()
    assert out == (folder / "expected.tsv").read_text()
    assert "csparql Q3 rerun\nfail" in err
    for line in (
        "one window early: element at 20000: {obs: sens-obs:Observation_RelativeHumidity_C1190",
        "one window early: element at 32000: {obs: sens-obs:Observation_RelativeHumidity_C1122",
        "one window early: element at 32000: {obs: sens-obs:Observation_RelativeHumidity_C1190",
        "in place: element at 28000:",
        "no closure explains it: those at 20000, 32000 (twice) moved, those at 28000 did not",
    ):
        assert line in err
    assert len(err.splitlines()) <= 24  # one screen


@pytest.mark.needs_shared
def test_golden_vectors(shared, capsys):
    assert main(["secret", *map(str, sorted((shared / "data" / "secret").glob("*.jsonl")))]) == 0
    assert capsys.readouterr().out == "1270 of 1270 agree\n"


@pytest.mark.needs_shared
def test_golden_experiments_alone(shared):
    vectors = list(secret.read(shared / "data" / "secret" / "experiments.jsonl"))
    assert len(vectors) == 70
    assert [vector.name for vector in vectors if secret.disagreement(vector)] == []


@pytest.mark.needs_shared
def test_a_recording_is_an_item(shared):
    answers = f"--answers={shared / 'data' / 'csrbench'}"
    assert "7 tests collected" in pytest_run("--engine=cqels", answers, "--collect-only").stdout
    run = pytest_run("--engine=cqels", answers, "-k", "Q2 or Q4")
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert "test_csrbench[cqels-Q4]" in run.stdout and "first divergence" in run.stdout


def test_our_engines_right_and_wrong(tmp_path, capsys):
    path = tmp_path / "results.ndjson"
    assert main(["csrbench", "--format", "tsv", "--results", str(path)]) == 0
    header, *lines = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    columns = dict(zip(header, zip(*lines, strict=True), strict=True))
    assert columns["query"] == csrbench.QUERIES
    engines = [name for name in header if name != "query"]
    assert [e for e in engines if e.startswith("reference/")] == ["reference/cqels", "reference/csparql", "reference/sparqlstream"]
    assert sum(e.startswith("wrong/") for e in engines) == 3
    for engine in engines:
        assert ("fail" in columns[engine]) == engine.startswith("wrong/"), engine
        assert set(columns[engine]) <= {"pass", "fail"}
    results = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(results) == 42 and all(result["argument"].startswith(result["outcome"]) for result in results)


def test_the_reference_engine_through_pytest():
    run = pytest_run("--engine=reference", "-k", "Q1")
    assert run.returncode == 0 and "3 passed" in run.stdout, run.stdout


def test_pytest_says_what_it_needs():
    assert "no engine named" in pytest_run("-rs").stdout
    run = pytest_run("--engine=cqels")
    assert run.returncode == 4 and "give --answers=DIR" in run.stderr
    run = pytest_run("--engine=cqels", "--answers=nowhere")
    assert run.returncode == 4 and "nowhere: IO-1: no such folder" in run.stderr


def test_self_check_notices():
    def result(engine: str, outcome: Outcome) -> csrbench.Result:
        return csrbench.Result(engine, "Q1", "", outcome, "")

    assert csrbench.self_check([result("reference/cqels", Outcome.FAIL)]) == ["reference/cqels must pass every query"]
    assert csrbench.self_check([result("wrong/WIN-2", Outcome.PASS)]) == ["wrong/WIN-2 must fail a query"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "is not of type 'object'"),
        ('{"window":"time"}', "'size' is a required property"),
    ],
)
def test_a_bad_vector_names_its_line(tmp_path, capsys, line, reason):
    path = tmp_path / "v.jsonl"
    path.write_text(f"\n{line}\n")
    assert main(["secret", str(path)]) == 2
    err = capsys.readouterr().err
    assert f"{path}:2" in err and "vector: " in err and reason in err


VECTOR = {
    "window": "time", "size": 2, "slide": 2, "t0": 0, "report": ["window-close"], "tick": "tuple",
    "stream": [[1, 1, 1, 1], [2, 2, 3, 1]], "reports": [{"tsys": 2, "content": [1]}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "agrees", "text"),
    [
        ({}, True, "1 of 1 agree"),
        ({"reports": [{"tsys": 2, "content": []}]}, False, "expected (2, ()), got (2, (1,))"),
        ({"reports": []}, False, "expected no report, got (2, (1,))"),
        ({"size": 0}, None, "WIN-1"),
        ({"report": ["windowclose"]}, None, "did you mean 'window-close'"),
        ({"stream": [[1, 1, 5, 1], [2, 2, 3, 1]]}, None, "element 2: MOD-1: t_app decreases from 5 to 3"),
        ({"report": ["periodic"]}, None, "SEM-2"),
    ],
)
def test_vectors(tmp_path, capsys, change, agrees, text):
    path = tmp_path / "v.jsonl"
    path.write_text(json.dumps({**VECTOR, **change}))
    assert main(["secret", str(path)]) == {True: 0, False: 1, None: 2}[agrees]
    out, err = capsys.readouterr()
    assert text in out + err


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("csparql-answer-1.json", "{", "csparql-answer-1.json:1: IO-2: not JSON"),
        ("csparql-answer-9.json", "{}", "a recording is named ENGINE-answer-N.json"),
        ("csparkl-answer-1.json", "{}", "did you mean 'csparql'"),
        ("csparql-answer-1.json", '{"relations": [{}]}', "relations[0]"),
    ],
)
def test_a_bad_recording_names_its_place(tmp_path, capsys, name, text, reason):
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / name).write_text(text)
    (tmp_path / "data_00.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    results = tmp_path / "results.ndjson"
    assert main(["csrbench", str(tmp_path), "--jobs", "1", "--results", str(results)]) == 2
    out, err = capsys.readouterr()
    assert reason in err and not out and not results.exists()


def test_results_in_a_folder_that_is_not_there(tmp_path, capsys):
    assert main(["csrbench", "--results", str(tmp_path / "no" / "results.ndjson")]) == 2
    assert "cannot write" in capsys.readouterr().err
