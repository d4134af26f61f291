"""A mistake of a harness is an error of the case in which it was made: not of the one before, and
not of the next one, which may notice it first.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from suite_run import ROOT, run_suite

from conformance.harness.pool import Harnesses
from conformance.spark import shard
from conformance.suite import Item, SuiteOptions
from conformance.suite.exchange import PreparedQuestion
from conformance.suite.item import with_late_faults
from conformance.verdict.results import Outcome, Result, from_json
from refengine.model.errors import RefengineError

# three cases in which the engine is right, in the order in which they are asked
BEFORE = "ENG-6-a-row-goes-when-any-of-its-triples-does"
MARKED = "ENG-6-a-sum-is-that-of-what-is-there-whatever-was-there-before"
AFTER = "ENG-6-a-triple-of-two-elements-goes-with-the-last-of-them"
CASES = (BEFORE, MARKED, AFTER)
ASKED = ("-k", " or ".join(CASES))
BEFORE_THE_REPLY = (
    "next seq",
    "seq before",
    "old seq",
    "no reply of the protocol",
    "no JSON",
    "another line",
    "two replies at once",
    "end before the reply",
    "closed output before the reply",
)
AFTER_THE_REPLY = (
    "end after the reply",
    "end soon after the reply",
    "line soon after the reply",
    "reply again soon after",
    "closed output after the reply",
    "closed output soon after the reply",
)


def write_engine(folder: Path, fault: str, command: str) -> Path:
    """Write the file of an engine that makes a mistake at a command of the marked case."""
    program = ROOT / "tests" / "harnesses" / "faulty_once.py"
    words = [sys.executable, str(program), str(folder), fault, command]
    path = folder / "faulty.toml"
    path.write_text(
        f'title = "Faulty"\ncommand = {json.dumps(words)}\ndialect = "table"\nheartbeat = 5\n'
        '[semantics]\nprofile = "csparql"\nhorizon = "flush"\nt0 = 0\n'
    )
    [marked] = [item for item in items_of(path) if item.case == MARKED]
    assert marked.prepare is not None
    [prepared] = marked.prepare()
    assert isinstance(prepared, PreparedQuestion)
    (folder / "query").write_text(prepared.engine_query.text)
    return path


def items_of(path: Path, repeat: int = 1) -> list[Item]:
    """The three items of an engine."""
    every = SuiteOptions([str(path)], repeat=repeat).items()
    return [item for item in every if item.case in CASES]


def ask(path: Path, cases: tuple[str, ...] = CASES, repeat: int = 1) -> dict[str, Result]:
    """Ask an engine some of the cases one after the other; return the results by case."""
    harnesses = Harnesses()
    try:
        asked = [item for item in items_of(path, repeat) if item.case in cases]
        results = [item.run(harnesses) for item in asked]
    finally:
        harnesses.stop()
    late = harnesses.take_late_faults()
    return {result.case: result for result in with_late_faults(results, late)}


def results_in(path: Path) -> dict[str, Result]:
    """The results in a file, by case."""
    results = map(from_json, map(json.loads, path.read_text().splitlines()))
    return {result.case: result for result in results}


def assert_marked_is_blamed(results: dict[str, Result], cases: tuple[str, ...] = CASES) -> None:
    """Assert that the marked case is an error, and each other one as right as the engine is."""
    outcomes = {case: result.outcome for case, result in results.items()}
    assert outcomes == {**dict.fromkeys(cases, Outcome.PASS), MARKED: Outcome.ERROR}, [
        result.explanation for result in results.values()
    ]


@pytest.mark.parametrize("command", ["register", "push", "advance", "end"])
@pytest.mark.parametrize("fault", BEFORE_THE_REPLY)
def test_a_mistake_within_a_case_is_of_that_case(tmp_path, fault, command):
    results = ask(write_engine(tmp_path, fault, command))
    assert (tmp_path / "made").exists()
    assert_marked_is_blamed(results)
    assert results[MARKED].explanation.startswith(f"{command}: ")


@pytest.mark.parametrize("cases", [CASES, CASES[:2], CASES[1:]], ids=["between", "last", "first"])
@pytest.mark.parametrize("fault", AFTER_THE_REPLY)
def test_what_comes_after_the_last_reply_is_of_the_case_before(tmp_path, fault, cases):
    """And the next one, which it may hit, is asked again."""
    results = ask(write_engine(tmp_path, fault, "end"), cases)
    assert_marked_is_blamed(results, cases)
    explanation = results[MARKED].explanation
    if fault.startswith("end"):
        assert explanation == "the process ended with exit code 3 after the reply to `end`"
    elif fault.startswith("closed"):
        assert explanation == (
            "its process runs on, but its standard output was closed after the reply to `end`"
        )
    else:
        assert explanation.startswith("wrote a line after the reply to `end`: ")


@pytest.mark.parametrize("fault", AFTER_THE_REPLY)
def test_of_several_runs_one_case_has_the_mistake_in_one(tmp_path, fault):
    results = ask(write_engine(tmp_path, fault, "end"), repeat=3)
    assert results[MARKED].outcome is Outcome.UNSTABLE
    assert results[MARKED].explanation.startswith("unstable: error, pass, pass\n")
    assert {results[case].outcome for case in (BEFORE, AFTER)} == {Outcome.PASS}


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["alone", "two-workers"])
@pytest.mark.parametrize("fault", ["seq before", "end after the reply"])
def test_a_run_of_pytest_blames_the_case(tmp_path, fault, words):
    engine = write_engine(tmp_path, fault, "end")
    results = tmp_path / "results.ndjson"
    run = run_suite(f"--engine={engine}", f"--results={results}", *ASKED, *words)
    assert run.returncode == 1
    assert_marked_is_blamed(results_in(results))


@pytest.mark.parametrize("fault", ["seq before", "end after the reply"])
def test_a_shard_of_spark_blames_the_case(tmp_path, fault):
    options = SuiteOptions([str(write_engine(tmp_path, fault, "end"))])
    work = {
        "asked": asdict(options),
        "versions": shard.versions(options),
        "keys": [["faulty", "corpus", case] for case in CASES],
        "folder": str(tmp_path),
        "classpaths": {},
    }
    results = map(shard.result_of, shard._run_items(work))
    assert_marked_is_blamed({result.case: result for result in results})


def test_the_end_between_two_queries_of_one_case_is_of_that_case(tmp_path):
    """A case may put several queries to an engine that is sent its semantics."""
    path = write_engine(tmp_path, "end after the reply", "end")
    text = path.read_text().partition("[semantics]")[0].replace("heartbeat = 5\n", "")
    path.write_text(text)
    several = [
        item
        for item in SuiteOptions([str(path)]).items()
        if item.prepare is not None and len(_queries(item)) > 1
    ]
    one, two = several[:2]
    (tmp_path / "query").write_text(_queries(two)[0])
    harnesses = Harnesses()
    try:
        first, second = (item.run(harnesses) for item in (one, two))
    finally:
        harnesses.stop()
    assert (tmp_path / "made").exists() and harnesses.take_late_faults() == []
    assert second.outcome is Outcome.ERROR and first.outcome is not Outcome.ERROR


def _queries(item: Item) -> list[str]:
    """The texts of the queries of an item's question; none if it is not expressible."""
    assert item.prepare is not None
    try:
        questions = list(item.prepare())
    except RefengineError:
        return []
    return [one.engine_query.text for one in questions if isinstance(one, PreparedQuestion)]
