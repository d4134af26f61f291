"""Runs with --results whose disk is full, whose file of the results so far is damaged, or which are
cut short: one clear line, and no result is lost.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from reports import bare
from suite_run import ROOT, WORDS_ALONE, run_suite

from conformance.engines.installation import brought_engines, places
from conformance.harness import engine_file
from conformance.plugin import run_results
from conformance.suite import SuiteOptions
from conformance.suite.suite_options import fingerprint_of_run
from conformance.verdict import journal
from conformance.verdict.results import Result
from refengine.model.errors import RefengineError

REFERENCE = ("--engine=reference", "--smoke")
# Passes nothing; the process that has started it is killed at the query whose number is COUNT.
KILLS = """
    import json, os, signal, sys
    asked = 0
    for line in sys.stdin:
        command = json.loads(line)
        asked += command["command"] == "register"
        if asked == COUNT and not os.path.exists(sys.argv[1]):
            open(sys.argv[1], "w").close()
            os.kill(os.getppid(), signal.SIGKILL)
        more = {"start": {"protocol": 1, "engine": "mine", "version": "1"}, "stop": {}}
        fields = more.get(command["command"], {"relations": []})
        print(json.dumps({"seq": command["seq"], "reply": "result", **fields}), flush=True)
"""


def result_of(case: str, explanation: str = "") -> Result:
    """A result of one engine."""
    return bare(case, rule="WIN-1", explanation=explanation)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> list[str]:
    """The lines of a run of the smoke cases that nothing interrupts."""
    results = tmp_path_factory.mktemp("whole") / "results.ndjson"
    assert run_suite(*REFERENCE, f"--results={results}").returncode == 0
    return results.read_text(encoding="utf-8").split("\n")


def begin_run(target: Path, so_far: list[str]) -> list[str]:
    """Leave what an interrupted run of the smoke cases leaves that has reached some results, and
    return their cases.
    """
    run = fingerprint_of_run(SuiteOptions(["reference"], smoke=True, keep=True))
    heading = json.dumps({"run": run})
    journal.journal_path(target).write_text("\n".join([heading, *so_far, ""]), encoding="utf-8")
    return [json.loads(line)["case"] for line in so_far]


def cases_in(path: Path) -> set[str]:
    """The cases of the results in a file."""
    tables = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {table["case"] for table in tables if "case" in table}


# The file of the results so far


def test_a_line_that_is_cut_within_a_character_is_left_out(tmp_path):
    target = tmp_path / "results.ndjson"
    written = journal.Journal(target, "1", journal.RESULTS)
    written.add(result_of("a", "ü\u2028\x85"))
    written.add(result_of("b", "ü"))
    written.close()
    content = written.path.read_bytes()
    written.path.write_bytes(content[: content.rindex("ü".encode()) + 1])
    so_far = journal.read_journal(target, "1", journal.RESULTS)
    assert list(so_far.values()) == [result_of("a", "ü\u2028\x85")]


def test_a_line_that_is_no_result_is_left_out(tmp_path):
    target = tmp_path / "results.ndjson"
    lines = ['{"run": "1"}', '{"engine": "e"}', "[]", "[" * 100_000, "\ufeff", "\0"]
    journal.journal_path(target).write_text("\n".join(lines))
    assert journal.read_journal(target, "1", journal.RESULTS) == {}


@pytest.mark.parametrize("content", [b"", b"\n", b'{"ru', b"\xff\n", b"[]\n", b'{"engine": "e"}\n'])
def test_a_file_without_its_heading_is_refused(tmp_path, content):
    target = tmp_path / "results.ndjson"
    journal.journal_path(target).write_bytes(content)
    with pytest.raises(RefengineError, match="does not begin as the results so far"):
        journal.read_journal(target, "1", journal.RESULTS)


def test_a_folder_in_its_place_is_said_before_the_run(tmp_path):
    target = tmp_path / "results.ndjson"
    journal.journal_path(target).mkdir()
    found = run_suite(*REFERENCE, f"--results={target}")
    assert found.returncode == 4 and "results.ndjson.partial: usage: cannot" in found.stderr
    assert "INTERNALERROR" not in found.stdout


def test_what_a_symbolic_link_names_stays_as_it_is(tmp_path):
    target = tmp_path / "results.ndjson"
    other = tmp_path / "other"
    other.write_text("mine")
    journal.journal_path(target).symlink_to(other)
    assert run_suite(*REFERENCE, f"--results={target}").returncode == 0
    assert other.read_text() == "mine" and len(cases_in(target)) == 9


def test_the_fingerprint_changes_with_the_file_of_an_added_engine(tmp_path, monkeypatch):
    monkeypatch.setenv(places.DATA, str(tmp_path / "engines"))
    file = tmp_path / "mine.toml"
    text = 'title = "Mine"\ncommand = ["x"]\ndialect = "csparql"\n'
    file.write_text(text)
    brought_engines.keep_engine_file("mine", str(file))
    assert engine_file.path_of_engine("mine") == file
    before = fingerprint_of_run(SuiteOptions(["mine"]))
    file.write_text(text.replace("Mine", "Yours"))
    assert fingerprint_of_run(SuiteOptions(["mine"])) != before


# Runs that are cut short


@pytest.mark.parametrize("words", [("-k", "no_such_case"), ("-k", "R2R"), ("--collect-only",)])
def test_a_smaller_run_loses_no_result_of_the_one_that_it_resumes(tmp_path, whole, words):
    target = tmp_path / "results.ndjson"
    before = begin_run(target, whole[:7])
    found = run_suite(*REFERENCE, f"--results={target}", "--resume", *words)
    assert found.returncode in (0, 5)
    assert cases_in(journal.journal_path(target)) >= set(before)
    assert run_suite(*REFERENCE, f"--results={target}", "--resume").returncode == 0
    assert len(cases_in(target)) == 9 and not journal.journal_path(target).exists()


@pytest.mark.parametrize("words", [("-k", "no_such_case"), ("--collect-only",)])
def test_a_run_of_no_items_leaves_the_results_of_an_earlier_one(tmp_path, whole, words):
    target = tmp_path / "results.ndjson"
    begin_run(target, whole[:3])
    content = journal.journal_path(target).read_bytes()
    run_suite(*REFERENCE, f"--results={target}", *words)
    assert journal.journal_path(target).read_bytes() == content


def test_results_are_written_if_the_summary_breaks(tmp_path, monkeypatch):
    """A mistake of ours in the diagnosis does not cost the user the run."""

    def summarize_wrongly(*_: object, **__: object) -> None:
        raise TypeError("a mistake of the diagnosis")

    monkeypatch.setattr(run_results, "summarize_run", summarize_wrongly)
    path = tmp_path / "results.ndjson"
    words = ("--engine=reference", "-k", "TICK-4", f"--results={path}")
    with pytest.raises(TypeError, match="a mistake of the diagnosis"):
        run_suite(*words)
    outcomes = {json.loads(line)["outcome"] for line in path.read_text().splitlines()}
    assert outcomes == {"pass"}


def test_a_full_disk_ends_the_run_in_one_line_and_it_can_be_resumed(tmp_path):
    target = tmp_path / "results.ndjson"
    words = [*REFERENCE, f"--results={target}"]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "conformance/", *WORDS_ALONE, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
    )
    assert found.returncode == 4, found.stdout
    assert "Traceback" not in found.stdout + found.stderr
    assert "INTERNALERROR" not in found.stdout
    so_far = journal.journal_path(target)
    assert f"{so_far}: usage: cannot write: File too large" in found.stdout
    assert "--resume goes on" in found.stdout
    assert not target.exists()
    assert run_suite(*words, "--resume").returncode == 0
    assert len(cases_in(target)) == 9 and not so_far.exists()


def test_the_item_of_a_killed_worker_is_asked_again(tmp_path):
    code = textwrap.dedent(KILLS).replace("COUNT", "3")
    (tmp_path / "mine.py").write_text(code)
    command = [sys.executable, "{here}/mine.py", str(tmp_path / "killed")]
    engine = tmp_path / "mine.toml"
    engine.write_text(
        f'title = "Mine"\ncommand = {json.dumps(command)}\ndialect = "rspql"\n'
        '[semantics]\nprofile = "csparql"\nt0 = 0\n'
    )
    target = tmp_path / "results.ndjson"
    four_cases = ("--smoke", "-k", "ENG-2 or ENG-7 or R2R-8")
    words = [f"--engine={engine}", f"--results={target}", *four_cases]
    found = run_suite(*words, "-n", "1")
    assert found.returncode == 1 and "crashed while running" in found.stdout
    assert "--resume goes on" in found.stdout
    assert len(cases_in(target)) == 3
    found = run_suite(*words, "--resume")
    assert found.returncode == 1, found.stdout
    assert len(cases_in(target)) == 4 and not journal.journal_path(target).exists()


@pytest.mark.parametrize(
    "option", ["--resume", "--baseline=x", "--repeat=2", "--missing=1", "--spark", "--csrbench=x"]
)
def test_an_option_without_an_engine_is_said(option):
    found = run_suite(option)
    assert found.returncode == 4 and "no engine named: give --engine=NAME" in found.stderr
