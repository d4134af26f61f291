"""The conformance suite, run by pytest inside a test."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORDS = ("-q", "-p", "no:cacheprovider")
# As a run ends, the plugin of Hypothesis imports all of it: in a process of its own for nothing.
WORDS_ALONE = (*WORDS, "-p", "no:hypothesispytest")


def run_suite(*words: str, with_xdist: bool = False) -> subprocess.CompletedProcess[str]:
    """Run pytest on the suite within this process, and return what it printed and its exit code.
    pytest-xdist is there if it is asked for, or if the words have its option; its workers are
    processes of their own.

    Nothing is imported a second time, which takes longer than most of these runs.
    """
    out = io.StringIO()
    err = io.StringIO()
    command = ["conformance", *WORDS, *words]
    if "-n" not in words and not with_xdist:
        command += ["-p", "no:xdist"]

    # As it ends, pytest collects garbage twice: of this run, not of all that other tests hold.
    gc.freeze()
    try:
        with (
            contextlib.chdir(ROOT),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = pytest.main(command)
    finally:
        gc.unfreeze()
    return subprocess.CompletedProcess(command, int(code), out.getvalue(), err.getvalue())


def run_suite_alone(
    *words: str,
    folder: Path = ROOT,
    suite: str = "conformance",
    with_xdist: bool = False,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run pytest on the suite in a process of its own, as a user does. pytest-xdist is there
    if it is asked for, or if the words have its option.
    """
    command = [sys.executable, "-m", "pytest", suite, *WORDS_ALONE, *words]
    if "-n" not in words and not with_xdist:
        command += ["-p", "no:xdist"]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
