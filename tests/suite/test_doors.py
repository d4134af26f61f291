"""Wrong uses of the suite's options and of the sub-commands: one line that names what is wrong, and
the exit code that is documented, 4 of pytest's usage errors and 2 of bad input.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from suite_run import ROOT, run_suite

from conformance.__main__ import main

ENGINE = (
    'title = "Mine"\ncommand = ["cat"]\ndialect = "rspql"\n'
    '[semantics]\nprofile = "csparql"\nt0 = 0\n'
)
FILES = {
    "ok.toml": ENGINE,
    "inside/ok.toml": ENGINE,
    "empty.toml": "",
    "word.toml": ENGINE.replace('["cat"]', '"cat"'),
    "number.toml": ENGINE.replace('"Mine"', "5"),
    "deep.toml": "a = " + "[" * 100_000,
    "field.toml": ENGINE.replace("t0 = 0", "tzero = 0"),
    "suite.toml": ENGINE.replace("[semantics]", 'suites = ["corpsu"]\n[semantics]'),
    "none.ndjson": "",
    "wrong.ndjson": '{"engine": 1}\n',
    "deep.ndjson": "[" * 100_000 + "\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with wrong files, which is the current one."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("folder", "folder.toml", "bytes"):
        (tmp_path / name).mkdir()
    (tmp_path / "bytes.toml").write_bytes(bytes(range(256)))
    (tmp_path / "bytes.ndjson").write_bytes(b"\xff\0\n")
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.toml")).write_text("")
    os.mkfifo(tmp_path / "pipe.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


OK = "--engine=FOLDER/ok.toml"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--engine="], "no engine ''"),
        (["--engine=refrence"], "did you mean 'reference'?"),
        (["--engine=FOLDER/nothing.toml"], "nothing.toml: engine: cannot be read: No such file"),
        (
            ["--engine=FOLDER/folder.toml"],
            "folder.toml: engine: cannot be read: not a regular file",
        ),
        (["--engine=FOLDER/bytes.toml"], "bytes.toml"),
        (["--engine=FOLDER/empty.toml"], "empty.toml: engine: key 'command' is missing"),
        (["--engine=FOLDER/loop.toml"], "loop.toml: engine: cannot be read: Too many levels"),
        (["--engine=FOLDER/word.toml"], "word.toml: command: engine: "),
        (["--engine=FOLDER/number.toml"], "number.toml: title: engine: "),
        (["--engine=FOLDER/deep.toml"], "deep.toml: engine: not TOML: nested too deeply"),
        (["--engine=FOLDER/field.toml"], "field.toml: SEM-1: unknown key 'tzero'; valid: "),
        (["--engine=FOLDER/suite.toml"], "corpsu"),
        (["--engine=FOLDER/\udcff.toml"], r"\udcff.toml: engine: "),
        ([OK, "--engine=FOLDER/inside/ok.toml"], "ok: engine: 2 engines have this name"),
        ([OK, "--results=FOLDER/folder"], "folder: usage: cannot write: not a regular file"),
        ([OK, "--results=FOLDER/no/file"], "no/file: usage: cannot write: No such file"),
        ([OK, "--report=FOLDER/folder"], "cannot write: not a regular file"),
        ([OK, "--baseline=FOLDER/nothing"], "nothing: "),
        ([OK, "--baseline=FOLDER/bytes.ndjson"], "bytes.ndjson"),
        ([OK, "--repeat=0"], "--repeat: usage: must be from 1 to 1000, got 0"),
        ([OK, f"--repeat={10**30}"], "--repeat: usage: must be from 1 to 1000, got 1000000000"),
        ([OK, "--missing=-1"], "--missing: ORA-3: must be >= 0, got -1"),
        ([OK, "--resume"], "--resume: usage: needs --results=FILE"),
        ([OK, "--csrbench=FOLDER/nothing"], "--csrbench: usage: no engine that is run is asked"),
        ([OK, "--answers=FOLDER/nothing"], "nothing: IO-1: no such folder"),
        (["--engine-command="], "the engine's command is empty"),
        (["--engine-command='"], "cannot be read: No closing quotation"),
        (["--engine-command=cat", "--engine-dialect=cspraql"], "did you mean 'csparql'?"),
        (["--engine-command=cat", "--engine-semantics=csparql t0"], "expected key=value"),
        ([OK, "--engine-classpath=ok"], "expected NAME=PATH"),
        ([OK, "--spark=nowhere"], "no master 'nowhere'; write local[2]"),
        (["--smoke"], "no engine named: give --engine=NAME"),
    ],
)
def test_a_wrong_run_is_one_line(folder, words, reason):
    run = run_suite(*(word.replace("FOLDER", str(folder)) for word in words))
    assert run.returncode == pytest.ExitCode.USAGE_ERROR, run.stdout
    assert reason in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1 and len(run.stderr) < 3_000


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["engines", "doctor", "refrence"], "did you mean 'reference'?"),
        (["engines", "doctor", "folder.toml"], "not a regular file"),
        (["engines", "add", "mine", "nothing.toml"], "nothing.toml"),
        (["engines", "remove", "nothing"], "nothing"),
        (["report", "nothing", "-ox"], "nothing"),
        (["report", "none.ndjson", "-ox"], "none.ndjson"),
        (["report", "bytes.ndjson", "-ox"], "bytes.ndjson"),
        (["report", "wrong.ndjson", "-ox"], "wrong.ndjson"),
        (["report", "deep.ndjson", "-ox"], "deep.ndjson"),
        (["report", "wrong.ndjson"], "nothing to write"),
        (["report", "wrong.ndjson", "-ofolder"], "not a regular file"),
        (["replay", "nothing", "x"], "nothing"),
        (["replay", "none.ndjson", "x"], "none.ndjson"),
        (["case", "bytes.ndjson", "x"], "bytes.ndjson"),
        (["new", "X Y", "--language=python"], "the name of an engine has small letters"),
        (["new", "mine", "--language=python", "--folder=folder"], "exists already"),
        (["new", "mine", "--language=python", "--folder=no/folder"], "cannot be made"),
        (["bench", "csrbanch"], "did you mean 'csrbench'?"),
        (["bench", "csrbench"], "name an engine with --engine"),
        (["bench", "csrbench", "--engine=ok.toml", "--only=Q8"], "has no experiment 'Q8'"),
        (["bench", "csrbench", "--engine=ok.toml", "-ook.toml"], "ok.toml"),
        (["bench", "csrbench", "--recorded=nothing"], "nothing"),
        (["bench", "csrbench", "--recorded=folder"], "folder"),
        (["bounded"], "give a QUERY and its streams"),
        (["bounded", "empty.toml", "--stream=none.ndjson"], "empty.toml"),
        (["adaptive", "--seconds=0"], "--seconds must be > 0"),
        (["csrbench", "folder"], "folder"),
        (["csrbench", "--queries=folder"], "folder"),
        (["secret", "folder"], "has no vectors"),
        (["shard", "--engine=ok.toml", "-ook.toml"], "ok.toml"),
        (["shard", "--engine=refrence", "-oout"], "did you mean 'reference'?"),
        (["truth", "nothing", "--stream=x", "--semantics", "csparql", "t0=0", "-oout"], "nothing"),
    ],
)
def test_a_wrong_command_is_one_line(folder, capsys, words, reason):
    before = sorted(folder.iterdir())
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("conformance: ") and reason in error
    assert error.count("\n") == 1 and len(error) < 3_000
    assert sorted(folder.iterdir()) == before


def test_a_reader_that_has_gone_ends_a_command_silently():
    words = [sys.executable, "-m", "conformance", "engines", "list"]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize(("engine", "lacks"), [("rsp-js", "node"), ("esper", "java")])
def test_without_node_or_java_an_engine_is_skipped_with_the_next_step(
    folder, monkeypatch, engine, lacks
):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    run = run_suite(f"--engine={engine}", "--smoke", "-rs")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert lacks in run.stdout.lower() and "Traceback" not in run.stdout
    assert f"every item of {engine} was skipped (exit code 4; 0 with --allow-missing)" in run.stdout


def test_without_java_spark_is_one_line(folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    run = run_suite("--engine=reference", "--smoke", "--spark=local[1]")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert run.stderr.strip() == "ERROR: spark: no Java on the path; Spark needs 17 or newer"
