"""The files that a run writes: none of them is an input of the run, and none is taken for an output
of this run that is of an earlier one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from suite_run import run_suite

from conformance.__main__ import main
from conformance.bench.recordings import csrbench, own_engines
from conformance.harness.engine_file import FILES
from conformance.suite import item
from conformance.verdict import results
from conformance.verdict.outputs import check_outputs
from refengine.model.errors import RefengineError

SMOKE = ("--engine=reference", "--smoke")
KEPT = "# kept\n"


def contents(folder: Path) -> dict[str, bytes]:
    """The contents of the files in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--diagnose=mine.toml"], "mine.toml: usage: this output would replace the input mine"),
        (["--report=link.toml"], "link.toml: usage: this output would replace the input mine.toml"),
        (["--junitxml=./mine.toml"], "mine.toml: usage: this output would replace the input"),
        (["--results=harness.sh"], "harness.sh: usage: this output would replace the input"),
        (["--baseline=old.ndjson", "--results=old.ndjson"], "would replace the input old.ndjson"),
        (["--results=x", "--junitxml=x"], "usage: two outputs would go to one file"),
        (["--results=x", "--diagnose=x.partial"], "usage: two outputs would go to one file"),
        (["--report=x", "--diagnose=./x"], "usage: two outputs would go to one file"),
    ],
)
def test_no_output_replaces_an_input_or_another_output(tmp_path, monkeypatch, words, reason):
    text = (FILES / "reference.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("command =")]
    harness = tmp_path / "harness.sh"
    harness.write_text(KEPT)
    (tmp_path / "mine.toml").write_text("\n".join([f'command = ["sh", "{harness}"]', *lines]))
    (tmp_path / "old.ndjson").write_text("")
    (tmp_path / "link.toml").symlink_to("mine.toml")
    before = contents(tmp_path)
    inside = [word.replace("=", f"={tmp_path}/") for word in words]
    found = run_suite(f"--engine={tmp_path}/mine.toml", *inside)
    assert found.returncode == 4
    message = found.stderr.replace(f"{tmp_path}/", "")
    assert reason in message and len(message.strip().splitlines()) == 1
    assert contents(tmp_path) == before


def test_the_file_of_a_shipped_engine_is_an_input():
    with pytest.raises(RefengineError, match="would replace the input"):
        check_outputs([FILES / ".." / "engines" / "roxi.toml"], [FILES / "roxi.toml"])
    before = (FILES / "reference.toml").read_bytes()
    found = run_suite(*SMOKE, f"--report={FILES / 'reference.toml'}")
    assert found.returncode == 4 and "this output would replace the input" in found.stderr
    assert (FILES / "reference.toml").read_bytes() == before


def test_other_names_of_one_file_are_noticed(tmp_path):
    (tmp_path / "a").write_text("")
    os.link(tmp_path / "a", tmp_path / "b")
    with pytest.raises(RefengineError, match="two outputs would go to one file"):
        check_outputs([tmp_path / "a", tmp_path / "b"], [])
    shutil.copy(tmp_path / "a", tmp_path / "c")
    check_outputs([tmp_path / "a", tmp_path / "d"], [tmp_path / "c", tmp_path / "nowhere"])


def test_a_pipe_is_refused_by_the_path_that_was_given(tmp_path):
    """As /dev/stdout is, if the command stands in front of another."""
    reading, writing = os.pipe()
    link = tmp_path / "out"
    link.symlink_to(f"/dev/fd/{writing}")
    with pytest.raises(RefengineError) as refused:
        results.target(link)
    assert str(refused.value) == f"{link}: usage: cannot write: not a regular file"
    os.close(reading)
    os.close(writing)


def test_a_file_that_has_no_name_any_more_is_refused(tmp_path):
    """As /dev/stdout is within pytest, which keeps what is printed in such a file."""
    with open(tmp_path / "gone", "w", encoding="utf-8") as file:
        (tmp_path / "gone").unlink()
        with pytest.raises(RefengineError, match=r"cannot write: not a regular file$"):
            results.target(Path(f"/dev/fd/{file.fileno()}"))


def test_an_interrupted_run_says_which_files_are_of_an_earlier_one(tmp_path, monkeypatch):
    ask = item._ask
    asked = []

    def interrupt_at_second_case(*words):
        asked.append(words)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return ask(*words)

    monkeypatch.setattr(item, "_ask", interrupt_at_second_case)
    diagnosis, found = tmp_path / "diagnosis.toml", tmp_path / "found.ndjson"
    for path in (diagnosis, found):
        path.write_text(KEPT)
    run = run_suite(*SMOKE, f"--diagnose={diagnosis}", f"--results={found}")
    assert run.returncode == 2
    line = f"conformance: --diagnose: not written; {diagnosis} is of an earlier run"
    assert run.stdout.count("is of an earlier run") == 1 and line in run.stdout
    assert diagnosis.read_text() == KEPT
    assert len(found.read_text().splitlines()) == 1
    assert f"not all results are written; {found}.partial has 1: the same" in run.stdout
    assert f"conformance: {found} has no more than these\n" in run.stdout


def test_a_run_that_writes_its_files_says_nothing_of_earlier_ones(tmp_path):
    (tmp_path / "page.html").write_text(KEPT)
    words = [f"--report={tmp_path}/page.html", f"--diagnose={tmp_path}/new", "-k", "WIN-10"]
    run = run_suite(*SMOKE, *words)
    assert run.returncode == 0 and "of an earlier run" not in run.stdout


# Every command that writes


HARNESS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    more = {"start": {"protocol": 1, "engine": "mine", "version": "1"}, "stop": {}}
    fields = more.get(asked["command"], {"relations": []})
    print(json.dumps({"seq": asked["seq"], "reply": "result", **fields}), flush=True)
"""
QUERY = """
body = "SELECT ?u ?p { ?u <urn:watches> ?c . ?c <urn:plays> ?p }"
windows = [{ stream = "s", KIND }]
"""
JOIN = QUERY.replace("KIND", 'kind = "unbounded"')
WINDOW = QUERY.replace("KIND", 'kind = "time", size = 10, slide = 10')
ELEMENT = '{"subject": "<urn:a>", "predicate": "<urn:plays>", "object": "<urn:b>", "time": 0}\n'
RECORDING = "rec/csparql-answer-1.json"
TRUTH = ("truth", "window.toml", "--stream=s.ndjson")
BENCH = ("bench", "csrbench", "--only=Q1", "-o.")


def suite_rows() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Each option of pytest that names an output, with each input of an engine."""
    for option in ("--results", "--report", "--diagnose", "--junitxml"):
        for suite in ("corpus", "csrbench", "joins"):
            for place in ("mine.toml", "harness.py", "library.jar", "other.jar", "needed.txt"):
                yield suite, ("pytest", "--engine=mine.toml", f"{option}={place}"), place


# the suite of the engine in mine.toml, the words of a command, and an input that one of the words
# makes an output
WRITING = [
    *suite_rows(),
    *(
        ("csrbench", ("pytest", "--engine=mine.toml", "--csrbench=data", f"--results={name}"), name)
        for name in ("data/data/data_01.ttl", "linked.ttl")
    ),
    ("corpus", ("pytest", "--engine=csparql", "--answers=rec", f"--report={RECORDING}"), RECORDING),
    ("corpus", ("csrbench", "rec", f"--results={RECORDING}"), RECORDING),
    ("corpus", ("csrbench", "--queries=queries", "--results=queries/Q1.toml"), "queries/Q1.toml"),
    *(
        ("corpus", ("report", "a", "--baseline=b", "--html=x.html", f"--{form}={name}"), name)
        for form in ("html", "earl", "markdown", "badge")
        for name in ("a", "b")
    ),
    ("corpus", (*BENCH, "--engine=tables.txt.toml"), "tables.txt"),
    (
        "corpus",
        ("bench", "yabench", "--engine=mine.toml", "--config=tables.txt", "-o."),
        "tables.txt",
    ),
    ("corpus", ("bench", "csrbench", "--recorded=files/rec", "-o."), f"files/{RECORDING}"),
    ("corpus", (*BENCH, "--engine=mine.toml", "--data=files/data"), "files/data/data/data_01.ttl"),
    (
        "corpus",
        ("bounded", "tables.txt", "--stream=s.ndjson", "-o."),
        "tables.txt",
    ),
    (
        "corpus",
        ("bounded", "join.toml", "--stream=s=results.ndjson", "-o."),
        "results.ndjson",
    ),
    ("corpus", ("case", "a", "TICK-1", "-o", "a"), "a"),
    ("corpus", ("new", "yours", "--language=python", "--folder=data"), "data/data/data_01.ttl"),
    ("corpus", ("shard", "--engine=mine.toml", "-o", "data"), "data/data/data_01.ttl"),
    (
        "corpus",
        (*TRUTH, "--semantics", "csparql", "t0=0", "-o", "data"),
        "data/data/data_01.ttl",
    ),
]


@pytest.fixture(scope="module")
def results_of_a_run(tmp_path_factory):
    """The content of a file of results."""
    path = tmp_path_factory.mktemp("run") / "results.ndjson"
    assert run_suite(*SMOKE, "-k", "WIN-10", f"--results={path}").returncode == 0
    return path.read_bytes()


def write_inputs(folder: Path, suite: str, results_of_a_run: bytes) -> None:
    """Write to a folder what the commands read."""
    (folder / "harness.py").write_text(HARNESS)
    jars = os.pathsep.join(f"{folder}/{name}.jar" for name in ("library", "other"))
    command = [sys.executable, str(folder / "harness.py"), f"-cp={jars}", jars]
    engine = (
        f'title = "Mine"\ncommand = {json.dumps(command)}\nneeds = ["{folder}/needed.txt"]\n'
        f'dialect = "{"join" if suite == "joins" else "csparql"}"\nsuites = ["{suite}"]\n'
    )
    if suite != "joins":
        engine += '[semantics]\nprofile = "csparql"\nt0 = 0\n'
    for name in ("mine.toml", "tables.txt.toml"):
        (folder / name).write_text(engine)
    (folder / "tables.txt.toml").write_text(engine.replace(jars, f"{folder}/tables.txt"))
    for name in ("library.jar", "other.jar", "needed.txt"):
        (folder / name).write_text(KEPT)
    (folder / "join.toml").write_text(JOIN)
    (folder / "window.toml").write_text(WINDOW)
    (folder / "tables.txt").write_text(JOIN)
    for name in ("s.ndjson", "results.ndjson"):
        (folder / name).write_text(ELEMENT)
    for name in ("a", "b"):
        (folder / name).write_bytes(results_of_a_run)
    for inside in (folder, folder / "files"):
        shutil.copytree(own_engines.embedded(), inside / "data")
        shutil.copytree(own_engines.embedded() / "data", inside / "rec")
        (inside / RECORDING).write_text('{"relations": []}')
    (folder / "linked.ttl").symlink_to(folder / "data" / "data" / "data_01.ttl")
    shutil.copytree(csrbench.OURS.folder, folder / "queries")


@pytest.mark.parametrize(("suite", "words", "named"), WRITING, ids=lambda value: None)
def test_no_command_replaces_an_input(
    tmp_path, monkeypatch, capsys, results_of_a_run, suite, words, named
):
    write_inputs(tmp_path, suite, results_of_a_run)
    before = (tmp_path / named).read_bytes()
    monkeypatch.chdir(tmp_path)
    if words[0] == "pytest":
        inside = [re.sub(r"=(?!csparql)", f"={tmp_path}/", word) for word in words[1:]]
        run = run_suite(*inside)
        code, error = run.returncode, run.stderr
    else:
        code = main(list(words))
        error = capsys.readouterr().err
    assert (tmp_path / named).read_bytes() == before
    assert code == (4 if words[0] == "pytest" else 2), error
    message = error.replace(f"{tmp_path}/", "")
    assert len(message.strip().splitlines()) == 1
    reasons = ("would replace the input", "exists already", "not empty")
    assert any(reason in message for reason in reasons), message
