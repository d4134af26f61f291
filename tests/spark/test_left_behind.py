"""Tests that are ended leave no Java behind, whichever of their processes ends first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import cluster
import psutil
import pytest
from cluster import ROOT, alive, classic, installed, until  # noqa: F401  fixtures

pytestmark = cluster.spark
HELD = '''
import signal
from pathlib import Path
from time import sleep
from cluster import connect, installed, server_folder

def test_that_waits(connect):
    """As one that waits for Spark in C, where no interrupt is looked for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Path("ready").touch()
    sleep(600)
'''


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_a_controller_that_is_ended_leaves_no_java(installed, tmp_path, number):  # noqa: F811
    """SIGINT to the controller alone, as a tool sends it, reaches no worker and no server."""
    (tmp_path / "test_held.py").write_text(HELD)
    words = ["-m", "pytest", "-n", "1", "-q", "-p", "no:cacheprovider", "-p", "no:conformance"]
    controller = cluster.bound(
        [sys.executable, *words, "test_held.py"],
        cwd=tmp_path,
        env={**classic(), "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests")))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until((tmp_path / "ready").exists)
    begun = psutil.Process(controller.pid).children(recursive=True)
    assert any(Path(process.exe()).name == "java" for process in begun) and len(begun) > 1
    controller.send_signal(number)
    controller.wait(60)
    until(lambda: not any(alive(str(process.pid)) for process in begun), 60)
