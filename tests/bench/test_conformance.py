"""The runners against evidence that nobody here wrote (beside the checkout), and against our own
engines (always).
"""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from suite_run import run_suite

from conformance import schemas
from conformance.__main__ import main
from conformance.bench.recordings import csrbench, own_engines
from conformance.command_line.processes import run_in_processes
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from refengine import profile
from refengine.dialects import render
from refengine.oracle import explanations, judge
from refengine.oracle.explanations import Explanations
from refengine.rdf.recordings import read_recording


@pytest.mark.long
@pytest.mark.needs_shared
def test_the_21_cells_of_table_2(csrbench_recordings, capsys, monkeypatch):
    """Of the second run of C-SPARQL's Q3, one row that came late explains as much as three that
    came early (ORA-9).
    """
    folder = csrbench_recordings
    # the search takes longer than all else, and changes no verdict; `make evidence` has it
    monkeypatch.setattr(explanations, "find_explanations", lambda *_, **__: Explanations())
    # one process, in which the engines share the answers of their windows
    assert main(["csrbench", "--data", str(folder), "--format", "tsv", "--jobs", "1"]) == 0
    err = capsys.readouterr().err
    assert "All 21 cells equal Table 2 of CSRBench's paper.\n" in err
    assert "csparql Q3 rerun\nfail" in err
    for line in (
        "first divergence, relation 7 of 9: window [25000, 29000) at t=28999",
        "lacking: {obs: sens-obs:Observation_RelativeHumidity_C0810",
        "one window late: row {obs: sens-obs:Observation_RelativeHumidity_C0810",
        "completed by the last element of its window [25000, 29000), at 28000",
    ):
        assert line in err
    assert len(err.splitlines()) <= 24  # one screen


def test_the_queries_may_be_texts_in_a_dialect(tmp_path, capsys, monkeypatch):
    """The same verdicts from C-SPARQL's texts, ours and a folder's; a
    folder without them is named.
    """
    # which no wrong engine but one fails, so that the self-check complains
    monkeypatch.setattr(csrbench, "QUERIES", ("Q3",))
    # other semantics would be looked for three times, over the same streams
    monkeypatch.setattr(explanations, "find_explanations", lambda *_, **__: Explanations())
    (tmp_path / "Q3.cqels").write_text(render(csrbench.query("Q3"), "cqels"))
    main(["csrbench", "--format", "json"])
    wanted = capsys.readouterr().out
    main(["csrbench", "--format", "json", "--dialect", "csparql"])
    assert capsys.readouterr().out == wanted
    main(["csrbench", "--format", "json", "--dialect", "cqels", "--queries", str(tmp_path)])
    assert capsys.readouterr().out == wanted and '"fail"' in wanted
    assert main(["csrbench", "--dialect", "rspql", "--queries", str(tmp_path), "--jobs", "1"]) == 2
    assert (
        capsys.readouterr().err
        == f"conformance: {tmp_path}/Q3.rspql: QRY-1: cannot be read: No such file or directory\n"
    )


@pytest.mark.needs_shared
def test_golden_vectors(secret_vectors, capsys):
    assert main(["secret", *map(str, sorted(secret_vectors.glob("*.jsonl")))]) == 0
    assert capsys.readouterr().out == "1270 of 1270 agree\n"


@pytest.mark.needs_shared
def test_a_recording_is_an_item(csrbench_recordings):
    answers = f"--answers={csrbench_recordings}"
    assert "7 tests collected" in run_suite("--engine=cqels", answers, "--collect-only").stdout
    run = run_suite("--engine=cqels", answers, "-k", "Q2 or Q7")
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert "test_engine[cqels-Q7]" in run.stdout and "first divergence" in run.stdout


@pytest.mark.long
def test_our_engines_right_and_wrong(tmp_path, capsys):
    path = tmp_path / "results.ndjson"
    # one process, in which the engines share the answers of their windows
    words = ["csrbench", "--format", "tsv", "--results", str(path), "--jobs", "1"]
    assert main(words) == 0
    header, *lines = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    columns = dict(zip(header, zip(*lines, strict=True), strict=True))
    assert columns["query"] == csrbench.QUERIES
    engines = [name for name in header if name != "query"]
    assert [e for e in engines if e.startswith("reference/")] == [
        "reference/cqels",
        "reference/csparql",
        "reference/sparqlstream",
    ]
    assert sum(e.startswith("wrong/") for e in engines) == 3
    for engine in engines:
        assert ("fail" in columns[engine]) == engine.startswith("wrong/"), engine
        assert set(columns[engine]) <= {"pass", "fail"}
    results = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(results) == 42 and all(
        result["explanation"].startswith(result["outcome"]) for result in results
    )
    explained = {
        (
            result["engine"],
            re.split("[;\n]", result["explanation"].partition("would be explained by ")[2])[0],
        )
        for result in results
    }
    assert {
        ("wrong/ENG-2", "missed_instants=latest"),
        ("wrong/R2R-2", "collection=set"),
    } <= explained, "two of them are other semantics"


@pytest.mark.needs_shared
@pytest.mark.parametrize("query", ["Q1", "Q2", "Q3", "Q4", "Q5"])
def test_what_cqels_was_seen_to_do_explains_its_recordings(csrbench_recordings, query):
    """Q4 fails by CSRBench's table, and all of its 15 answers are those of the content of [t − ω,
    t] at every arrival.
    """
    folder, asked = csrbench_recordings, csrbench.query(query)
    streams = {asked.windows[0].stream: csrbench.stream(folder)}
    recording = read_recording(folder / "answers" / f"cqels-answer-{query[1]}.json").relations
    # one witness is enough to confirm an answer (R2R-5), and rdflib takes four times as long
    found = judge.judge(
        asked, streams, profile("cqels-observed"), recording, witnesses=("pyoxigraph",)
    )
    assert (
        found.passed
        and found.trial.accepting_state.before == found.trial.accepting_state.after == 0
    )


@pytest.mark.needs_shared
def test_what_csparql_was_seen_to_do_explains_its_start_up(csrbench_recordings):
    """By CSRBench's table Q5 fails at its first answer; with partial windows it is right up to an
    element on a border.
    """
    folder, asked = csrbench_recordings, csrbench.query("Q5")
    streams = {asked.windows[0].stream: csrbench.stream(folder)}
    recording = read_recording(folder / "answers" / "csparql-answer-5.json").relations
    where = judge.judge(asked, streams, profile("csparql-observed"), recording).trial.divergence
    assert not judge.judge(asked, streams, profile("csparql"), recording).passed
    assert (where.index, where.window) == (
        16,
        (12_000, 17_000),
    ) and where.expected.total() - where.actual.total() == 1


def test_the_reference_engine_through_pytest():
    run = run_suite("--engine=reference", "-k", "Q1")
    assert run.returncode == 0 and "3 passed" in run.stdout, run.stdout


def test_pytest_says_what_it_needs():
    assert "no engine named" in run_suite("-rs").stdout
    run = run_suite("--engine=sparqlstream")
    assert run.returncode == 4 and "give its recordings with --answers=DIR" in run.stderr
    run = run_suite("--engine=cqels", "--answers=nowhere")
    assert run.returncode == 4 and "nowhere: IO-1: no such folder" in run.stderr


def test_self_check_notices():
    def result(engine: str, outcome: Outcome) -> Result:
        return Result(engine=engine, suite="csrbench", case="Q1", outcome=outcome)

    assert own_engines.self_check([result("reference/cqels", Outcome.FAIL)]) == [
        "reference/cqels must pass every query"
    ]
    assert own_engines.self_check([result("wrong/WIN-2", Outcome.PASS)]) == [
        "wrong/WIN-2 must fail a query"
    ]


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


@pytest.mark.parametrize("is_folder", [True, False])
def test_nothing_to_compare_is_no_agreement(tmp_path, capsys, is_folder):
    path = tmp_path
    if not is_folder:
        path = tmp_path / "v.jsonl"
        path.write_text("\n")
    assert main(["secret", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err == (
        f"conformance: {path}: vector: has no vectors, so nothing is compared; give a file of "
        "them, or a folder of *.jsonl files\n"
    )


VECTOR = {
    "window": "time",
    "size": 2,
    "slide": 2,
    "t0": 0,
    "report": ["window-close"],
    "tick": "tuple",
    "stream": [[1, 1, 1, 1], [2, 2, 3, 1]],
    "reports": [{"tsys": 2, "content": [1]}],
}


@pytest.mark.parametrize(
    ("change", "agrees", "text"),
    [
        ({}, True, "1 of 1 agree"),
        ({"reports": [{"tsys": 2, "content": []}]}, False, "expected (2, ()), got (2, (1,))"),
        ({"reports": []}, False, "expected no report, got (2, (1,))"),
        ({"size": 0}, None, "WIN-1"),
        ({"report": ["windowclose"]}, None, "did you mean 'window-close'"),
        (
            {"stream": [[1, 1, 5, 1], [2, 2, 3, 1]]},
            None,
            "element 2: MOD-2: t_app decreases from 5 to 3",
        ),
        ({"report": ["periodic"]}, None, "SEM-2"),
    ],
)
def test_vectors(tmp_path, capsys, change, agrees, text):
    path = tmp_path / "v.jsonl"
    path.write_text(json.dumps({**VECTOR, **change}))
    assert main(["secret", str(path)]) == {True: 0, False: 1, None: 2}[agrees]
    out, err = capsys.readouterr()
    assert text in out + err


@pytest.fixture
def benched(tmp_path):
    """A folder in CSRBench's layout: a stream without an answer to Q1, and the recording of an
    engine that gave none.
    """
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "sparqlstream-answer-1.json").write_text('{"relations": []}')
    (tmp_path / "data_00.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("csparql-answer-1.json", "{", "csparql-answer-1.json:1: IO-2: not JSON"),
        ("csparql-answer-9.json", "{}", "a recording is named ENGINE-answer-N.json"),
        ("csparql-answer-x y.json", "{}", "a recording is named ENGINE-answer-N.json"),
        ("-answer-1.json", "{}", "a recording is named ENGINE-answer-N.json"),
        ("csparkl-answer-1.json", "{}", "did you mean 'csparql'"),
        ("csparql-answer-1.json", '{"relations": [{}]}', "relations[0]"),
        ("csparql-answer-1.json", "[]", 'got []; valid: {"relations": [...]}'),
        ("csparql-answer-1-b.json", "[]", 'got []; valid: {"relations": [...]}'),
    ],
)
def test_a_bad_recording_costs_its_cell(benched, capsys, name, text, reason):
    """Its result is an error that names file and place; the other recording is judged, and all is
    written.
    """
    (benched / "answers" / name).write_text(text)
    results = benched / "results.ndjson"
    assert (
        main(
            [
                "csrbench",
                str(benched),
                "--jobs",
                "1",
                "--witness",
                "rdflib",
                "--results",
                str(results),
            ]
        )
        == 0
    )
    out, err = capsys.readouterr()
    told = {found["engine"]: found for found in map(json.loads, results.read_text().splitlines())}
    assert len(told) == 2 and told.pop("sparqlstream")["outcome"] == "pass" and not err
    [bad] = told.values()
    assert bad["outcome"] == "error" and str(benched / "answers" / name) in bad["explanation"]
    assert reason in bad["explanation"] and bad["explanation"] in out
    assert schemas.accepts("result")(bad)


def test_the_table_has_a_cell_in_error(benched, capsys):
    """And none for a recording of no query."""
    for name in ("csparql-answer-2.json", "cqels-answer-0.json"):
        (benched / "answers" / name).write_text("{")
    assert main(["csrbench", str(benched), "--witness", "rdflib", "--format", "tsv"]) == 0
    out, err = capsys.readouterr()
    assert out == "query\tcsparql\tsparqlstream\nQ1\t-\tpass\nQ2\terror\t-\n"
    assert err.startswith("csparql Q2\n") and "not JSON" in err
    assert "\ncqels cqels-answer-0.json\n" in err and "a recording is named" in err


def test_a_folder_without_recordings_ends_the_run(tmp_path, capsys):
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "csparql-answers.json").write_text("{}")
    assert main(["csrbench", str(tmp_path)]) == 2
    assert (
        "neither in answers nor in src/main/resources/answers nor in the folder itself"
        in capsys.readouterr().err
    )


def test_a_stream_that_cannot_be_read_ends_the_run(benched, capsys):
    (benched / "data_00.ttl").write_text("<urn:a>")
    results = benched / "results.ndjson"
    assert main(["csrbench", str(benched), "--results", str(results)]) == 2
    out, err = capsys.readouterr()
    assert "data_00.ttl:1: IO-1: " in err and not out and not results.exists()


def test_results_in_a_folder_that_is_not_there(tmp_path, capsys):
    assert main(["csrbench", "--results", str(tmp_path / "no" / "results.ndjson")]) == 2
    assert "cannot write" in capsys.readouterr().err


# What ends a run


def _asleep(seconds: float, interrupted: bool) -> list:
    """A task; it may have its parent interrupted, as Ctrl-C would interrupt both."""
    if interrupted:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getppid(), signal.SIGINT)
    time.sleep(seconds)
    return []


def _all_gone() -> bool:
    """Whether every worker ends within 60 s. A join is no proof: the pool's own thread waits for
    the same process, and of two that wait one is told nothing.
    """
    deadline = time.monotonic() + 60
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not multiprocessing.active_children()


def test_an_interrupt_ends_the_workers_too(capfd):
    with pytest.raises(KeyboardInterrupt):
        list(run_in_processes([(_asleep, 600, False), (_asleep, 600, True)], 10**20))
    assert _all_gone() and capfd.readouterr().err == ""


def test_an_error_in_a_worker_ends_the_others():
    with pytest.raises(TypeError):
        list(run_in_processes([(_asleep, "x", False), (_asleep, 600, False)], 2))
    assert _all_gone()


@pytest.fixture
def nothing_to_judge(monkeypatch):
    """The command without its work, which takes a while."""
    result = Result(
        engine="reference/cqels",
        suite="csrbench",
        case="Q1",
        outcome=Outcome.PASS,
        explanation="pass",
    )
    monkeypatch.setattr(
        "conformance.command_line.csrbench.run_in_processes", lambda tasks, jobs: [[result]]
    )


def test_results_go_where_the_link_points_with_the_mode_of_the_file(tmp_path, nothing_to_judge):
    real, link, new = tmp_path / "real.ndjson", tmp_path / "link", tmp_path / "new"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert main(["csrbench", "--results", str(link)]) == 0
    assert link.is_symlink() and json.loads(real.read_text())["outcome"] == "pass"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        assert main(["csrbench", "--results", str(new)]) == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    assert {path.name for path in tmp_path.iterdir()} == {"real.ndjson", "link", "new"}


def test_no_draft_is_left(tmp_path, capsys, monkeypatch, nothing_to_judge):
    def replace(*_):
        assert len(list(tmp_path.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replace)
    assert main(["csrbench", "--results", str(tmp_path / "new")]) == 130
    assert (
        capsys.readouterr().err == "conformance: interrupted; nothing was written\n"
        and not list(tmp_path.iterdir())
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--results", "x" * 300], ": usage: cannot write: File name too long"),
        (["--results", ""], "IO-1: an empty path"),
        (["--results", "/dev/null"], "/dev/null: usage: cannot write: not a regular file"),
        ([""], "IO-1: an empty path"),
        ([__file__], "test_conformance.py: IO-1: not a folder"),
        (["x" * 300], "IO-1: no such folder"),
        (["--jobs", "0"], "usage: --jobs must be > 0, got 0"),
    ],
)
def test_bad_words(capsys, words, reason, nothing_to_judge):
    assert main(["csrbench", *words]) == 2
    out, err = capsys.readouterr()
    assert reason in err and not out and len(err.splitlines()) == 1


def test_a_folder_of_recordings_that_may_not_be_read(tmp_path, capsys, monkeypatch):
    def listdir(folder):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "listdir", listdir)  # root may read every folder
    assert main(["csrbench", str(tmp_path)]) == 2
    assert "IO-2: cannot be read: Permission denied" in capsys.readouterr().err


def test_what_is_not_installed_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert main(["csrbench"]) == 2
    assert (
        capsys.readouterr().err
        == "conformance: usage: tqdm is not installed: pip install 'refengine[suite]'\n"
    )


# The pytest plugin


@pytest.fixture
def recorded(tmp_path) -> Path:
    """A folder with a recording that is none."""
    (tmp_path / "data_00.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    (tmp_path / "csparql-answer-1.json").write_text("{")
    return tmp_path


def test_a_malformed_recording_is_an_error_of_its_item(recorded, tmp_path):
    results = tmp_path / "results.ndjson"
    run = run_suite("--engine=csparql", f"--answers={recorded}", f"--results={results}")
    assert run.returncode == 1 and "csparql-answer-1.json:1: IO-2: not JSON" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr
    assert json.loads(results.read_text())["outcome"] == "error"


def test_the_witnesses_are_named(recorded):
    (recorded / "csparql-answer-1.json").write_text('{"relations": []}')
    assert (
        "conformance: witnesses rdflib, pyoxigraph\n"
        in run_suite("--engine=csparql", f"--answers={recorded}", "-v").stdout
    )


def test_a_project_with_options_of_the_same_names_does_not_notice(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--engine', default='sqlite')\n"
    )
    (tmp_path / "test_it.py").write_text(
        "def test_it(pytestconfig):\n    assert pytestconfig.getoption('--engine') in 'sqlite'\n"
    )
    for words in ([], ["--engine=lite"]):
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            *words,
        ]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stdout + run.stderr
