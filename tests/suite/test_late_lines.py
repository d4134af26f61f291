"""A line that a harness writes after its last reply about a case is an error of that case, and of
no other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from suite_run import ROOT, run_suite

from conformance.harness.client import PRINTS
from conformance.suite import NonConformance, check_engine, questions
from conformance.verdict.results import Outcome, Result, from_json

LATE = f"wrote a line after the reply to `end`: 'the stream has ended'; {PRINTS}"


def write_engine(folder: Path, word: str, processes: int = 1) -> Path:
    """Write the file of an engine that writes late, and return its path. The file `parents`
    beside it gets a line for each process of the engine: the process that has started it.
    """
    program = str(ROOT / "tests" / "harnesses" / "writes_late.py")
    command = [sys.executable, program, word, str(folder / "parents")]
    path = folder / "late.toml"
    path.write_text(
        f'title = "Late"\ncommand = {json.dumps(command)}\ndialect = "rspql"\n'
        f'processes = {processes}\n[semantics]\nprofile = "csparql"\nt0 = 0\n'
    )
    return path


def results_in(path: Path) -> dict[str, Result]:
    """The results in a file, by case."""
    results = map(from_json, map(json.loads, path.read_text().splitlines()))
    return {result.case: result for result in results}


def smoke_results(folder: Path, word: str) -> dict[str, Result]:
    """The results of the cases for a first look, of an engine that writes late in the cases of the
    queries that a word is in.
    """
    results = folder / f"{word}.ndjson"
    run_suite(f"--engine={write_engine(folder, word)}", "--smoke", f"--results={results}")
    return results_in(results)


def test_each_case_is_blamed_for_its_own_line(tmp_path):
    """Whatever is asked next, and at the end of the run: no case is blamed for another, and what
    the engine refuses before `end` is judged as without a late line.
    """
    quiet = smoke_results(tmp_path, "no query has this")
    late = smoke_results(tmp_path, "SELECT")
    asked = {case for case, result in quiet.items() if result.outcome is not Outcome.UNSUPPORTED}
    assert {case for case, result in late.items() if result.explanation == LATE} == asked and asked
    for case in asked:
        assert late[case].outcome is Outcome.ERROR and late[case].evidence is None
    for case in quiet.keys() - asked:
        assert late[case] == quiet[case]


TWO_CASES = ("-k", "ENG-1-an-empty or WIN-7-a-formula")


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    """The results of an engine that is right in two cases, and writes nothing late."""
    folder = tmp_path_factory.mktemp("right")
    results = folder / "results.ndjson"
    engine = write_engine(folder, "no query has this")
    found = run_suite(f"--engine={engine}", f"--results={results}", *TWO_CASES)
    assert found.returncode == 0, found.stdout
    right = results_in(results)
    assert len(right) > 1 and {result.outcome for result in right.values()} == {Outcome.PASS}
    return right


@pytest.mark.parametrize(
    ("with_xdist", "words", "parents"),
    [(False, (), 1), (True, ("-n", "0"), 1), (True, (), 2)],
    ids=["without-xdist", "by-n-0", "two-workers-by-its-file"],
)
def test_a_run_fails_in_which_nothing_else_is_wrong(right, tmp_path, with_xdist, words, parents):
    """Its cases are right but for the line, and the tests have passed when the line comes.

    The engine's file states two processes. Where xdist is there, and the command line leaves it
    open, two workers ask, each a process of its own. Whoever asks a case: its result is written
    once.
    """
    results = tmp_path / "results.ndjson"
    engine = write_engine(tmp_path, "SELECT", processes=2)
    asked = (f"--engine={engine}", f"--results={results}", *TWO_CASES, *words)
    found = run_suite(*asked, with_xdist=with_xdist)
    assert found.returncode == 1, found.stdout + found.stderr
    assert len({*(tmp_path / "parents").read_text().split()}) == parents
    wrong = results_in(results)
    assert {case: result.explanation for case, result in wrong.items()} == dict.fromkeys(
        right, LATE
    )
    assert len(results.read_text().splitlines()) == len(right)
    for case in right:
        assert f"conformance: late: error: {case}: {LATE}" in found.stdout
    assert f"conformance: late: {len(right)} error" in found.stdout


def test_an_engine_that_is_checked_from_python(tmp_path):
    with pytest.raises(NonConformance) as found:
        check_engine(write_engine(tmp_path, "SELECT"), smoke=True)
    lines = [result for result in found.value.results if result.explanation == LATE]
    assert lines and all(result.outcome is Outcome.ERROR for result in lines)
    assert {result.case for result in lines} < {case.id for case in questions()}
