"""A run of the suite on RSP-JS, at whose results several tests look."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from suite_run import run_suite_alone

from conformance.verdict.results import Result, from_json

group = pytest.mark.xdist_group("rsp-js")  # one worker, and so one run, for all


class Run(NamedTuple):
    """How pytest ended, and the results that it wrote."""

    ended: subprocess.CompletedProcess[str]
    results: list[Result]


def run(path: Path) -> Run:
    """Run all items of RSP-JS, spread over two processes, and write their results to a path."""
    ended = run_suite_alone("--engine=rsp-js", f"--results={path}", "-n", "2")
    assert path.exists(), ended.stdout + ended.stderr
    lines = path.read_text(encoding="utf-8").splitlines()
    return Run(ended, [from_json(json.loads(line)) for line in lines])
