"""The run of a benchmark: streams that are kept with their digest, samples, resuming, and what is
written. Nothing timed is asserted.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import conformance
from conformance.__main__ import main
from conformance.bench import streams
from conformance.bench.benchmark import Choice
from conformance.bench.catalogue import BENCHMARKS
from conformance.bench.csrbench import CSRBENCH
from conformance.bench.feeding import (
    START_SECONDS,
    BenchmarkHarnesses,
    ClockPacing,
    ImmediatePacing,
)
from conformance.bench.figures import table_of_runs, worst_of
from conformance.bench.judging import measure_windows
from conformance.bench.metrics.run import Reading
from conformance.bench.page import page
from conformance.bench.run import BenchmarkPlan, folder_of
from conformance.bench.tables import Cell, Table, as_text
from conformance.bench.yabench import YABENCH
from conformance.harness import engine_file
from conformance.harness.client import Limits
from conformance.harness.play import join_instants
from conformance.harness.resources import ResourceSampler, ResourceUse, Sample
from conformance.report.drawings.boxplots import boxplots
from conformance.schemas import validator
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import BenchmarkRun, KnownDeviation, Outcome, Result, from_json
from refengine import from_table, profile, stream
from refengine.core import engine
from refengine.model.errors import Disputed, RefengineError, TooManyReports
from refengine.oracle.judge import judge
from refengine.oracle.trial import Missing

LIVE_ENGINES = Path(conformance.__file__).parent / "engines" / "for_benchmarks"


def read_results(folder: Path) -> list[Result]:
    lines = (folder / "results.ndjson").read_text(encoding="utf-8").splitlines()
    return [from_json(json.loads(line)) for line in lines]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["csrbenhc", "--engine=reference"], "did you mean 'csrbench'"),
        (["csrbench"], "name an engine with --engine"),
        (["csrbench", "--engine=reference", "--scale=big"], "--scale: usage: expected small"),
        (["csrbench", "--engine=reference", "--scale=0"], "--scale: usage: expected small"),
        (["csrbench", "--engine=reference", f"--scale={'9' * 10}"], "from 1 to 999999999"),
        (
            ["csrbench", "--engine=reference", f"--scale={'9' * 5_000}"],
            "--scale: usage: expected small",
        ),
        (["csrbench", "--engine=reference", "--scale=paper"], "give its folder with --data"),
        (["csrbench", "--engine=reference", "--only=Q8"], "--only: usage: CSRBench has no exp"),
        (["csrbench", "--engine=refrence"], "did you mean 'reference'"),
        (["csrbench", "--engine=reference", "--runs=0"], "--runs must be > 0, got 0"),
        (
            ["csrbench", "--engine=reference", "--runs=100000000"],
            "--runs: usage: must be <= 10000, got 100000000",
        ),
        (
            ["csrbench", "--engine=reference", "--classpath=refrence=/x"],
            "--classpath: usage: 'refrence' is no engine that is run; did you mean 'reference'",
        ),
        (
            ["nosuch", "--engine=reference"],
            "no benchmark 'nosuch'; valid: citybench, csrbench, lsbench, srbench, yabench\n",
        ),
        (
            ["csrbench", "--engine=reference", "--only=nosuch"],
            "CSRBench has no experiment 'nosuch'; valid: Q1, Q2, Q3, Q4, Q5, Q6, Q7\n",
        ),
        (["csrbench", "--engine=reference", "--config=x"], "CSRBench has no configuration"),
        (
            ["yabench", "--engine=reference", "--config=x", "--only=1"],
            "--only: usage: chooses among the benchmark's own experiments",
        ),
        (
            ["yabench", "--engine=reference", "--config=x", "--scale=paper"],
            "--scale: usage: paper is the scale of the benchmark's own experiments",
        ),
        (
            ["csrbench", "--engine=reference", "--data=/no/such/stream"],
            "/no/such/stream: IO-1: cannot be read",
        ),
    ],
)
def test_bad_input_is_one_error_and_nothing_is_written(tmp_path, capsys, words, message):
    assert main(["bench", *words, "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "word",
    [
        "--scale=60",
        "--only=Q1",
        "--runs=3",
        "--live",
        "--explain",
        "--verdict-seconds=9",
        "--data=x",
        "--config=x",
        "--classpath=reference=x",
        "--resume",
    ],
)
def test_options_of_a_run_are_refused_beside_a_recording(tmp_path, capsys, word):
    words = ["bench", "csrbench", f"--recorded={tmp_path}", word, "-o", str(tmp_path / "out")]
    assert main(words) == 2
    option = re.match("--[a-z-]+", word)[0]
    assert f"{option}: usage: says how an engine is run, and --rec" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_engine_of_recordings_is_a_profile(tmp_path, capsys):
    words = ["bench", "yabench", "--engine=reference", f"--recorded={tmp_path}"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("conformance: --engine: SEM-1: unknown profile 'reference'; valid: ")
    assert error.endswith("; with --recorded the engine is a profile that its runs are held to\n")


def test_two_engines_of_one_name_are_refused(tmp_path, capsys):
    shipped = Path(conformance.__file__).parent / "engines" / "reference.toml"
    words = ["bench", "csrbench", "--engine=reference", f"--engine={shipped}"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 2
    assert "each engine has a name of its own" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "benchmark", "other"),
    [("cqels-live", "yabench", "cqels-rows"), ("cqels-rows", "srbench", "cqels-live")],
)
def test_a_file_that_is_not_for_a_benchmark_is_refused_and_the_other_named(
    tmp_path, capsys, file, benchmark, other
):
    """What one answer is differs: a row, or the rows that come while a triple is given."""
    words = ["bench", benchmark, f"--engine={LIVE_ENGINES / file}.toml"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert f"is not for {benchmark}: take --engine {LIVE_ENGINES / other}.toml" in error
    assert error.count("\n") == 1 and not (tmp_path / "out").exists()


def test_the_file_that_is_named_in_place_of_another_is_for_that_benchmark():
    files = [engine_file.read_engine_file(path) for path in sorted(LIVE_ENGINES.glob("*.toml"))]
    allowed = validator("engine").schema["properties"]["instead"]["properties"]
    assert {*allowed} == {*BENCHMARKS}
    named = [(name, other) for file in files for name, other in file.file_for_benchmark.items()]
    assert len(named) == 5
    for name, other in named:
        assert name in BENCHMARKS
        assert name not in engine_file.read_engine_file(other).file_for_benchmark


def test_an_interrupted_run_goes_on_where_it_ended(tmp_path, capsys, monkeypatch):
    from conformance.bench import run

    done = []

    def run_until_interrupted(runner, task):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(task.workload.name)
        return Result(
            engine="reference", suite="csrbench", case=task.workload.name, outcome=Outcome.PASS
        )

    monkeypatch.setattr(run.TaskRunner, "run", run_until_interrupted)
    words = ["bench", "csrbench", "--engine=reference", "-o", str(tmp_path)]
    assert main(words) == 130
    error = capsys.readouterr().err
    assert "2 of 7 runs are done" in error
    assert "conformance: csrbench: run 3 of 7 begins: reference Q3\n" in error
    assert not (tmp_path / "results.ndjson").exists()

    monkeypatch.setattr(
        run.TaskRunner,
        "run",
        lambda runner, task: Result(
            engine="reference", suite="csrbench", case=task.workload.name, outcome=Outcome.FAIL
        ),
    )
    assert main([*words, "--scale=60", "--resume"]) == 2
    assert "results of another run" in capsys.readouterr().err
    assert main([*words, "--resume"]) == 0
    outcomes = [str(result.outcome) for result in read_results(tmp_path)]
    assert outcomes == ["pass"] * 2 + ["fail"] * 5
    assert not (tmp_path / "results.ndjson.partial").exists()


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (Disputed("the witnesses disagree", rule="R2R-5"), Outcome.DISPUTED),
        (TooManyReports("more reports than 10", rule="ENG-3"), Outcome.UNSUPPORTED),
    ],
)
def test_a_run_that_cannot_be_judged_has_a_result_and_the_others_go_on(
    tmp_path, monkeypatch, error, outcome
):
    from conformance.bench import run

    def judge_all_but_q2(benchmark, tested, fed, *_, **__):
        if fed.workload.name == "Q2":
            raise error
        return Result(
            engine="reference", suite="csrbench", case=fed.workload.name, outcome=Outcome.PASS
        )

    monkeypatch.setattr(run, "feed", lambda *_: None)
    monkeypatch.setattr(run, "judge_run", judge_all_but_q2)
    words = ["bench", "csrbench", "--engine=reference", "--only=Q2", "--only=Q7"]
    assert main([*words, "-o", str(tmp_path)]) == 0
    found = {result.case: result for result in read_results(tmp_path)}
    assert found["Q2"].outcome is outcome and found["Q2"].explanation == str(error)
    assert found["Q7"].outcome is Outcome.PASS


def test_a_run_is_another_if_anything_changes_on_which_its_results_depend(tmp_path):
    """The stream of the user, the file of the engine, and the query beside a configuration."""
    data, file = tmp_path / "SG_x", tmp_path / "mine.toml"
    query, config = tmp_path / "oracle.query", tmp_path / "config.json"
    engine = 'title = "Mine"\ncommand = ["true"]\ndialect = "csparql"\n[semantics]\nprofile = '
    data.write_text('<urn:a> <urn:p> <urn:b> "5" .\n')
    file.write_text(f'{engine}"csparql"\n')
    query.write_text("SELECT * WHERE { ?x <urn:p> ?y }")
    config.write_text('{"inputstream": "SG_x", "vars": {"WSIZE": "5s"}, "tests": [{"name": "t"}]}')

    def fingerprint_of_run() -> str:
        choice = Choice(config=config)
        tested = engine_file.engine(str(file))
        return BenchmarkPlan(YABENCH, choice, [tested], tmp_path / "out").fingerprint()

    found = [fingerprint_of_run()]
    assert fingerprint_of_run() == found[0]
    for path, text in [
        (data, '<urn:a> <urn:p> <urn:b> "6" .\n'),
        (file, f'{engine}"cqels"\n'),
        (query, "SELECT ?x WHERE { ?x <urn:p> ?y }"),
        (config, config.read_text().replace('"name"', '"graceful": "false", "name"')),
    ]:
        path.write_text(text)
        found.append(fingerprint_of_run())
    assert len(set(found)) == 5


def test_a_generated_stream_is_kept_and_made_anew_if_it_is_not_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))
    made = []

    def lines():
        made.append(1)
        yield '<urn:a> <urn:p> <urn:b> "5" .'

    source = streams.GeneratedStream("s.n3t", lines)
    first = source.load()
    assert [element.app for element in first.stream] == [5]
    assert source.load().digest == first.digest and len(made) == 1
    first.path.write_text('<urn:a> <urn:p> <urn:b> "6" .\n')
    assert source.load().digest == first.digest and len(made) == 2


def test_the_processes_that_a_harness_starts_are_told_apart():
    """A process without children is all the harness's; with one, that one is the engine's share."""
    import subprocess

    alone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE)
    try:
        with (
            ResourceSampler(alone.pid, 0.01) as of_alone,
            ResourceSampler(parent.pid, 0.01) as both,
        ):
            while not (of_alone.samples and both.samples and both.samples[-1].engine):
                assert parent.poll() is None
        assert of_alone.samples[-1].engine is None
        last = both.samples[-1]
        assert 0 < last.engine.rss < last.rss and 0 < last.engine.threads < last.threads
        assert both.cost > 0
    finally:
        for process in (alone, parent):
            process.communicate(b"\n")
    assert Sample(1.0, 2, 0.5, 1).as_json() == {"at": 1.0, "rss": 2, "cpu": 0.5, "threads": 1}
    assert Sample(1.0, 2, 0.5, 1, ResourceUse(1, 0.25, 1)).as_json()["engine"] == {
        "rss": 1,
        "cpu": 0.25,
        "threads": 1,
    }


def test_a_run_by_the_clock_waits_until_an_instant_is_due(monkeypatch):
    from conformance.bench import feeding

    slept = []
    now = [100.0]
    monkeypatch.setattr(feeding.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(feeding.time, "sleep", slept.append)
    pacing = ClockPacing()
    assert pacing.note_reply_and_tell_time() is None
    pacing.wait_until(5000)
    now[0] = 100.25
    pacing.wait_until(6000)
    assert slept == [0.0, 0.75] and pacing.note_reply_and_tell_time() == 5250
    now[0] = 109.0
    pacing.wait_until(7000)
    # due at 102
    assert slept[-1] == 0.0 and pacing.sent_late == 7000
    assert ImmediatePacing().sent_late is None


def test_elements_of_one_instant_are_sent_together():
    """In the order of their arrival. But not a triple that comes again at its instant, nor what has
    a batch id or an interval.
    """
    b_at_1, a_at_1, c_at_2, a_at_2 = (
        ("push", {"stream": "s", "at": at, "graph": f"<urn:{name}> <urn:p> <urn:o> .\n"})
        for name, at in [("b", 1), ("a", 1), ("c", 2), ("a", 2)]
    )
    with_end = ("push", {**a_at_2[1], "end": 5})
    with_batch = ("push", {**a_at_2[1], "batch": 1})
    both = b_at_1[1]["graph"] + a_at_1[1]["graph"]
    end = ("end", {})
    for given, sent in [
        ([b_at_1, a_at_1, c_at_2], [("push", {**a_at_1[1], "graph": both}), c_at_2]),
        ([c_at_2, c_at_2, end], [c_at_2, c_at_2, end]),
        ([c_at_2, with_end, with_batch], [c_at_2, with_end, with_batch]),
        ([with_batch, with_batch], [with_batch, with_batch]),
    ]:
        assert list(join_instants(given)) == sent


def test_the_five_numbers_of_a_box():
    """Of 0, 1/4, 1/2 and 1: the median 3/8, and quartiles a quarter of the way, 3/16 and 5/8."""
    runs = [[{"precision": value, "recall": 1.0, "delay": None}] for value in (0.0, 0.25, 0.5, 1.0)]
    titled = dict(boxplots(runs))
    assert list(titled) == [
        "Precision of each window over 4 runs",
        "Recall of each window over 4 runs",
    ]
    [box] = [
        shape
        for shape in titled["Precision of each window over 4 runs"].shapes
        if "box" in str(shape.attributes["class"])
    ]
    assert box.title == "0, 0.1875, 0.375, 0.625, 1"


def test_a_table_is_text_in_columns():
    table = Table("T", ("a", "bcd"), ((Cell("xyz"), Cell("1", "pass")),), "note")
    assert list(as_text(table)) == ["T", "a    bcd", "xyz  1", "note"]


def test_the_texts_of_an_engine_are_escaped_in_the_page():
    bad = "</pre><script>alert(1)</script>\u202e"
    result = Result(engine=bad, suite="csrbench", case="Q1", outcome=Outcome.FAIL, explanation=bad)
    text = page(CSRBENCH, CSRBENCH.tables([result]), [result])
    assert "<script" not in text and "\u202e" not in text and "&lt;script&gt;" in text


def test_of_several_runs_the_verdict_is_the_worst():
    results = [
        replace(
            Result(engine="e", suite="csrbench", case=f"Q1 run {n:02d}", outcome=outcome),
            benchmark_run=BenchmarkRun("Q1", "Q1", n),
        )
        for n, outcome in enumerate((Outcome.PASS, Outcome.FAIL, Outcome.PASS), 1)
    ]
    verdicts = CSRBENCH.tables(results)[0]
    assert verdicts.rows[0] == (Cell("Q1"), Cell("fail", "fail"))
    assert len(table_of_runs(results).rows) == 3


def test_a_fail_is_not_hidden_by_a_run_that_was_not_judged():
    outcomes = (Outcome.PASS, Outcome.UNSUPPORTED, Outcome.ERROR, Outcome.FAIL, Outcome.FAIL)
    results = [
        Result(engine="e", suite="csrbench", case=f"Q1 run {n:02d}", outcome=outcome)
        for n, outcome in enumerate(outcomes, 1)
    ]
    assert worst_of(reversed(results)) is results[3]
    known = replace(results[3], known=(KnownDeviation("why", ""),))
    assert worst_of([results[1], known]) is known and worst_of([known, results[2]]) is results[2]


def test_a_folder_of_recordings_without_the_engine_is_refused(tmp_path):
    (tmp_path / "csparql-answer-1.json").write_text('{"relations": []}')
    with pytest.raises(
        RefengineError, match="has no recording of 'cqels'; it has those of csparql"
    ):
        CSRBENCH.judge_recordings(tmp_path, ["cqels"])


def test_a_number_as_scale_takes_the_first_elements():
    [workload, *_] = CSRBENCH.workloads(Choice(scale=3))
    [source] = workload.streams.values()
    assert len(source.load().stream) == 3


def test_the_files_of_a_run_lie_below_its_folder():
    assert folder_of(Path("out"), "..", "a/../b") == Path("out/files/_./a_.._b")


def test_a_column_of_numbers_is_known():
    rows = tuple(
        (Cell(name), Cell(amount), Cell("–"), Cell(why))
        for name, amount, why in [("1", "1,024.5", "2 of 3"), ("2", "–", "–")]
    )
    table = Table("t", ("test", "amount", "nothing", "why"), rows)
    assert [table.is_numeric(column) for column in range(4)] == [False, True, True, False]


def test_two_engines_with_one_folder_are_refused(tmp_path):
    """In the name of a folder characters other than letters, digits, - and . become `_`."""
    engines = [engine_file.command("cat", "rspql", "csparql") for _ in range(2)]
    engines = [
        replace(tested, name=name) for tested, name in zip(engines, ("a b", "a_b"), strict=True)
    ]
    plan = BenchmarkPlan(CSRBENCH, Choice(), engines, tmp_path)
    with pytest.raises(RefengineError, match="'a b' and 'a_b' would be in the same folder, a_b"):
        plan.tasks()


def test_an_answer_stands_beside_the_window_that_its_verdict_gives_it():
    """By hand: a row in each of four windows. The recording lacks the first one, which the verdict
    allows, so each answer is as expected. If it allows none, the first answer is beside the first
    window, and nothing is.
    """
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    query = from_table({"body": "SELECT ?x { ?x <urn:p> ?y }", "windows": [window]})
    elements = [((f"<urn:{k}>", "<urn:p>", "<urn:o>"), 10 * k + 1) for k in range(4)]
    streams_of_query = {"s": stream(elements)}
    csparql = profile("csparql").but(t0=0)
    reports = list(engine.evaluate(query, streams_of_query, csparql.semantics()))
    relations = [report.relation for report in reports[1:]]
    answers = [EngineReport(relation) for relation in relations]
    workload = CSRBENCH.workloads(Choice())[0]
    for before, is_passed in ((1, True), (0, False)):
        judgement = judge(query, streams_of_query, csparql, relations, missing=Missing(before, 1))
        entries = measure_windows(workload, answers, judgement, Reading.PAPER)
        assert judgement.passed == is_passed
        found = [(entry["precision"], entry["recall"]) for entry in entries]
        assert found == [(float(is_passed),) * 2] * len(found) and len(found) >= 2


# A harness that can be started and stopped.
STUB = """
import json, sys
replies = {"start": {"protocol": 1, "engine": "stub", "version": "1"}, "stop": {}}
for line in sys.stdin:
    asked = json.loads(line)
    reply = {"seq": asked["seq"], "reply": "result", **replies[asked["command"]]}
    print(json.dumps(reply), flush=True)
"""


def test_a_process_is_kept_for_the_next_run_unless_it_is_fresh_or_broke_down(tmp_path):
    """What is kept is stopped at the end, and what is not at once."""
    (tmp_path / "stub.py").write_text(STUB)
    tested = engine_file.command(f"{sys.executable} {tmp_path}/stub.py", "rspql", "csparql")
    harnesses = BenchmarkHarnesses(are_kept=True)
    with harnesses.of(tested) as first:
        first.start_others([])
    with harnesses.of(tested) as second:
        assert second is first and second.usable
        second._process.kill()
        second._process.wait(10)
    with harnesses.of(tested) as third:
        assert third is not first and not first.alive
    harnesses.stop()
    assert not third.alive

    for one, are_kept in ((replace(tested, fresh=True), True), (tested, False)):
        harnesses = BenchmarkHarnesses(are_kept)
        with harnesses.of(one) as harness:
            pass
        assert not harness.alive


def test_a_harness_may_start_slowly_in_a_benchmark(tmp_path):
    """The limit of the engine's file counts only where it is greater than that of benchmarks."""
    (tmp_path / "stub.py").write_text(f"import time; time.sleep(0.5)\n{STUB}")
    tested = engine_file.command(f"{sys.executable} {tmp_path}/stub.py", "rspql", "csparql")
    for file_seconds, seconds in ((0.1, START_SECONDS), (1000, 1000)):
        one = replace(tested, limits=Limits(start_seconds=file_seconds))
        with BenchmarkHarnesses().of(one) as harness:
            assert harness.has_started and harness.limits.start_seconds == seconds
