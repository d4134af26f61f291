"""What long runs need: results as they come, going on after an interrupt, engines that do not
answer the same every time, and what has changed since an earlier run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from reports import bare
from suite_run import ROOT, WORDS_ALONE, run_suite

from conformance.report import baseline, source
from conformance.suite import Item, SuiteOptions, why_unexpected
from conformance.suite.item import asked_repeatedly, common_result
from conformance.suite.suite_options import fingerprint_of_run
from conformance.verdict import journal
from conformance.verdict.results import KnownDeviation, Outcome
from refengine.model.errors import RefengineError

# Answers nothing; from its COUNT-th query on it waits for ever.
WAITS = """
    import json, sys, time
    asked = 0
    for line in sys.stdin:
        command = json.loads(line)
        asked += command["command"] == "register"
        if asked == COUNT:
            open(sys.argv[1], "w").close()
            time.sleep(600)
        more = {"start": {"protocol": 1, "engine": "mine", "version": "1"}, "stop": {}}
        fields = more.get(command["command"], {"relations": []})
        print(json.dumps({"seq": command["seq"], "reply": "result", **fields}), flush=True)
        if command["command"] == "stop":
            break
"""


def write_engine(folder: Path, count: int) -> Path:
    """Write an engine that waits from its `count`-th query on, and return its file."""
    (folder / "mine.py").write_text(textwrap.dedent(WAITS).replace("COUNT", str(count)))
    command = [sys.executable, "{here}/mine.py", str(folder / "waiting")]
    path = folder / "mine.toml"
    path.write_text(
        f'title = "Mine"\ncommand = {json.dumps(command)}\ndialect = "rspql"\n'
        'limits = { reply = 500 }\n[semantics]\nprofile = "csparql"\nt0 = 0\n'
    )
    return path


def keys_in(path: Path) -> list[str]:
    """The cases of the results in a file, without its heading."""
    tables = [json.loads(line) for line in path.read_text().splitlines()]
    return [table["case"] for table in tables if "case" in table]


def test_a_killed_run_loses_no_result_and_can_be_resumed(tmp_path):
    engine = write_engine(tmp_path, 6)
    results = tmp_path / "results.ndjson"
    words = [f"--engine={engine}", "--smoke", f"--results={results}"]
    command = [sys.executable, "-m", "pytest", "conformance/", *WORDS_ALONE, *words]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)
    while not (tmp_path / "waiting").exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    so_far = tmp_path / "results.ndjson.partial"
    assert not results.exists()
    before = keys_in(so_far)
    assert before

    # The harness would wait again if one of the first questions were asked again.
    engine.with_name("mine.py").write_text(textwrap.dedent(WAITS).replace("COUNT", "1000"))
    found = run_suite(*words, "--resume")
    assert found.returncode == 1, found.stdout  # an engine that answers nothing fails
    cases = keys_in(results)
    assert set(before) < set(cases) and len(cases) == len(set(cases)) == 12
    assert not so_far.exists()


def test_only_the_same_run_is_resumed(tmp_path):
    engine = write_engine(tmp_path, 1000)
    results = tmp_path / "results.ndjson"
    so_far = journal.journal_path(results)
    so_far.write_text('{"run": "another"}\n')
    found = run_suite(f"--engine={engine}", "--smoke", f"--results={results}", "--resume")
    assert found.returncode == 4 and "has results of another run" in found.stderr + found.stdout
    found = run_suite(f"--engine={engine}", "--smoke", "--resume")
    assert found.returncode == 4 and "--resume" in found.stderr + found.stdout


def test_results_of_recordings_that_have_changed_are_not_taken_over(tmp_path):
    """A result of the first recording would stand for the second."""
    recording = tmp_path / "answers" / "mine-answer-1.json"
    recording.parent.mkdir()
    recording.write_text('{"relations": []}')
    options = SuiteOptions(engines=["csparql"], answers=str(tmp_path))
    before = fingerprint_of_run(options)
    assert fingerprint_of_run(options) == before
    recording.write_text('{"relations": [{}]}')
    changed = fingerprint_of_run(options)
    recording.rename(recording.with_name("mine-answer-2.json"))
    assert len({before, changed, fingerprint_of_run(options)}) == 3
    assert fingerprint_of_run(SuiteOptions(csrbench=str(tmp_path))) != fingerprint_of_run(
        SuiteOptions(csrbench=str(tmp_path / "answers"))
    )


def test_a_line_that_was_half_written_is_left_out(tmp_path):
    result = bare(rule="WIN-1")
    target = tmp_path / "results.ndjson"
    written = journal.Journal(target, "1", journal.RESULTS)
    written.add(result)
    written.close()
    with written.path.open("a") as file:
        file.write('{"engine": "e", "suite": "cor')
    assert journal.read_journal(target, "1", journal.RESULTS) == {result.key: result}
    assert journal.read_journal(tmp_path / "none.ndjson", "1", journal.RESULTS) == {}
    with pytest.raises(RefengineError, match="another run"):
        journal.read_journal(target, "2", journal.RESULTS)


# Engines that do not answer the same every time


def test_verdicts_that_differ_are_unstable():
    passed = bare(rule="WIN-1", explanation="pass")
    failed = bare(outcome="fail", rule="WIN-1", explanation="fail")
    known = bare(
        outcome="fail", rule="WIN-1", explanation="fail", known=(KnownDeviation("r", "l"),)
    )
    assert common_result([passed, passed]) is passed
    assert common_result([failed, failed, failed]) is failed
    broken = bare(outcome="error", rule="WIN-1", explanation="error")
    assert common_result([failed, broken]) is failed, "it was wrong each time"
    assert common_result([known, failed, known]) is failed
    for runs in ([passed, failed], [failed, passed], [known, known, passed]):
        unstable = common_result(runs)
        assert unstable.outcome is Outcome.UNSTABLE and not unstable.known
        assert unstable.explanation.startswith(f"unstable: {runs[0].outcome}, {runs[1].outcome}")


def test_a_question_is_asked_as_often_as_is_said():
    outcomes = iter([Outcome.PASS, Outcome.PASS, Outcome.FAIL])
    item = Item(
        engine="e",
        suite="corpus",
        case="c",
        run=lambda _: bare(outcome=next(outcomes)),
    )
    unstable = asked_repeatedly(item, 3).run(None)
    assert unstable.outcome is Outcome.UNSTABLE
    assert why_unexpected(item, unstable) == ""
    assert next(outcomes, None) is None


def test_an_unstable_case_is_named_and_neither_passes_nor_fails(tmp_path):
    code = """
        import json, sys
        queries = 0
        for line in sys.stdin:
            command = json.loads(line)
            queries += command["command"] == "register"
            more = {"start": {"protocol": 1, "engine": "mine", "version": "1"}, "stop": {}}
            reply = {"reply": "result", **more.get(command["command"], {"relations": []})}
            if command["command"] == "register" and queries % 2 == 0:
                reply = {"reply": "unsupported", "reason": "every second query"}
            print(json.dumps({"seq": command["seq"], **reply}), flush=True)
            if command["command"] == "stop":
                break
    """
    (tmp_path / "mine.py").write_text(textwrap.dedent(code))
    engine = tmp_path / "mine.toml"
    engine.write_text(
        f'title = "Mine"\ncommand = ["{sys.executable}", "{{here}}/mine.py"]\ndialect = "rspql"\n'
        '[semantics]\nprofile = "csparql"\nt0 = 0\n'
    )
    results = tmp_path / "results.ndjson"
    name = "WIN-2-an-element-on-the-upper-border"
    words = ["-k", name, f"--results={results}", "--repeat=2", "--allow-missing"]
    found = run_suite(f"--engine={engine}", *words)
    outcomes = {json.loads(line)["outcome"] for line in results.read_text().splitlines()}
    assert outcomes == {"unstable"}
    assert found.returncode == 0, found.stdout
    assert "2 cases unstable, as WIN-2-an-element-on-the-upper-border" in found.stdout
    found = run_suite(f"--engine={engine}", "--repeat=0")
    assert found.returncode == 4 and "--repeat" in found.stderr + found.stdout


# What has changed


def entries(**outcomes: str) -> list[source.Entry]:
    """Results of one engine, by case; `known` is a fail that a known deviation explains."""
    made = []
    for case, word in outcomes.items():
        known = (("r", "l"),) if word == "known" else ()
        outcome = Outcome("fail" if word == "known" else word)
        made.append(bare(case, outcome, known=known))
    return source.of(made).entries


def test_changes_are_named():
    before = entries(a="pass", b="fail", c="known", d="error", e="pass", gone="pass")
    after = entries(a="fail", b="pass", c="pass", d="error", e="pass", f="pass")
    assert list(baseline.describe_changes(before, after)) == [
        "broken since the baseline: 1",
        "  e a (pass → fail)",
        "fixed since the baseline: 1",
        "  e b (fail → pass)",
        "changed since the baseline: 1",
        "  e c (known → pass)",
        "new since the baseline: 1",
        "  e f (pass)",
    ]
    assert list(baseline.describe_changes(before, before)) == [
        "no result has changed since the baseline"
    ]


def test_a_baseline_of_another_engine_is_said():
    before = entries(a="pass")
    after = source.of([bare("b", engine="f")]).entries
    first, *_ = baseline.describe_changes(before, after)
    assert first == "the baseline has nothing of f; it has e"
    first, *_ = baseline.describe_changes([], after)
    assert first == "the baseline has nothing of f; it has no results"


def test_the_baseline_is_compared_at_the_end_of_a_run(tmp_path):
    first = tmp_path / "first.ndjson"
    words = ["--engine=reference", "--smoke", "-k", "REP-6 or WIN-10"]
    assert run_suite(*words, f"--results={first}").returncode == 0
    found = run_suite(*words, f"--baseline={first}")
    assert "no result has changed since the baseline" in found.stdout
    lines = first.read_text().splitlines()
    first.write_text(lines[0].replace('"outcome": "pass"', '"outcome": "fail"') + "\n")
    found = run_suite(*words, f"--baseline={first}")
    assert "fixed since the baseline: 1" in found.stdout
    assert f"new since the baseline: {len(lines) - 1}" in found.stdout
    found = run_suite(*words, f"--baseline={tmp_path / 'none'}")
    assert found.returncode == 4
