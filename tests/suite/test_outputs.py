"""The files that a run writes: none of them is an input of the run, and none is taken for an output
of this run that is of an earlier one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from suite_run import run_suite

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
    ask = item._run_case
    asked = []

    def interrupt_at_second_case(*words):
        asked.append(words)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return ask(*words)

    monkeypatch.setattr(item, "_run_case", interrupt_at_second_case)
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
    words = [f"--report={tmp_path}/page.html", f"--diagnose={tmp_path}/new", "-k", "upper-border"]
    run = run_suite(*SMOKE, *words)
    assert run.returncode == 0 and "of an earlier run" not in run.stdout
