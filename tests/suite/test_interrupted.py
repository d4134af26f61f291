"""A command that is interrupted while a harness hangs leaves no process: neither the harness nor
what it has started, in its own session or in another one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import cluster
import pytest
from cluster import alive, classic, until
from suite_run import ROOT, run_suite

SUITE = ("pytest", "conformance/", "--engine=ENGINE", "--smoke", "-q", "-p", "no:cacheprovider")
BENCH = ("conformance", "bench", "csrbench", "--engine=ENGINE", "--only=Q1", "-oout")
DOCTOR = ("conformance", "engines", "doctor", "ENGINE")
REPLAY = ("conformance", "replay", "RESULTS", "CASE", "--engine=ENGINE")


def write_engine(folder: Path, command: str) -> Path:
    """Write the file of an engine whose harness hangs at a command, for as long as one waits."""
    words = [sys.executable, str(ROOT / "tests/harnesses/hangs_at.py"), str(folder), command]
    path = folder / "hangs.toml"
    path.write_text(
        f'title = "Hangs"\ncommand = {json.dumps(words)}\ndialect = "rspql"\nheartbeat = 5\n'
        'suites = ["corpus", "csrbench"]\nlimits = { start = 500, reply = 500, whole = 500 }\n'
        '[semantics]\nprofile = "csparql"\nt0 = 0\n'
    )
    return path


@pytest.fixture(scope="module")
def earlier(tmp_path_factory) -> tuple[str, str]:
    """A file of results, and a case in it."""
    path = tmp_path_factory.mktemp("earlier") / "results.ndjson"
    run_suite("--engine=reference", "--smoke", "-k", "REP-6", f"--results={path}")
    return str(path), json.loads(path.read_text().splitlines()[0])["case"]


def interrupt(folder: Path, words: list[str], number: signal.Signals) -> int:
    """Interrupt a command, with all in its process group, when its harness hangs; return its exit
    code when nothing is left of the harness.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=ROOT if words[0] == "pytest" else folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**classic(), "JAVA_TOOL_OPTIONS": cluster.JAVA["JAVA_TOOL_OPTIONS"]},
    )
    try:
        until(lambda: (folder / "hangs").exists() or process.poll() is not None, 120)
        assert process.poll() is None
        os.killpg(process.pid, number)
        code = process.wait(100)
    finally:
        process.kill()
        process.wait()
    children = (folder / "children").read_text().split()
    assert len(children) >= 2
    until(lambda: not any(map(alive, children)), 20)
    return code


def with_names(words: tuple[str, ...], folder: Path, command: str, earlier: tuple[str, str]):
    """The words of a command with the names of files in them."""
    names = {"ENGINE": str(write_engine(folder, command)), "RESULTS": earlier[0]}
    names["CASE"] = earlier[1]
    for name, value in names.items():
        words = tuple(word.replace(name, value) for word in words)
    return list(words)


@pytest.mark.parametrize(
    ("words", "command", "code"),
    [
        *(((*SUITE, "-p", "no:xdist"), at, 2) for at in ("start", "register", "push", "advance")),
        *(((*SUITE, "-p", "no:xdist"), at, 2) for at in ("end", "stop")),
        ((*SUITE, "-n2"), "push", 2),
        ((*SUITE, "-p", "no:xdist", "--repeat=2"), "push", 2),
        *((words, at, 130) for words in (BENCH, DOCTOR, REPLAY) for at in ("start", "push")),
    ],
)
def test_an_interrupt_leaves_no_process(tmp_path, earlier, words, command, code):
    asked = with_names(words, tmp_path, command, earlier)
    assert interrupt(tmp_path, asked, signal.SIGINT) == code


@pytest.mark.parametrize("words", [BENCH, DOCTOR, REPLAY])
def test_a_command_that_is_told_to_end_does_not_wait_for_a_reply(tmp_path, earlier, words):
    asked = with_names(words, tmp_path, "push", earlier)
    code = 128 + signal.SIGTERM
    assert interrupt(tmp_path, asked, signal.SIGTERM) == code


@cluster.spark
@pytest.mark.usefixtures("installed")
def test_an_interrupt_leaves_no_process_of_a_shard(tmp_path, earlier):
    """Its harnesses are children of Spark's workers, which Spark ends."""
    words = ("conformance", "shard", "--engine=ENGINE", "--smoke", "--spark=local[1]", "-oout")
    asked = with_names(words, tmp_path, "push", earlier)
    assert interrupt(tmp_path, asked, signal.SIGINT) == 130
