"""Tests that are ended leave no Java behind, whichever of their processes ends first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import cluster
import psutil
import pytest
from cluster import ROOT, alive, classic, until

pytestmark = cluster.spark
NUMBERS = (signal.SIGINT, signal.SIGKILL)
HELD = '''
import signal
from pathlib import Path
from time import sleep

import psutil
import pytest
from cluster import submitted, until

MASTER = "--class org.apache.spark.deploy.master.Master spark-internal --webui-port 0"

@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server as the other tests have it, of which Java runs sooner."""
    words = [*MASTER.split(), "--host", "127.0.0.1", "--port", "0"]
    with submitted(tmp_path_factory.mktemp("server"), *words) as server:
        until(lambda: psutil.Process(server.pid).name() == "java")
        yield

def test_that_waits(server):
    """As one that waits for Spark in C, where no interrupt is looked for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Path("ready").touch()
    sleep(600)
'''


def controller_in(folder: Path) -> subprocess.Popen:
    """Begin a run of pytest whose one worker holds a Spark."""
    (folder / "test_held.py").write_text(HELD)
    words = ["-m", "pytest", "-n", "1", "-q", "-p", "no:cacheprovider", "-p", "xdist"]
    return cluster.bound(
        [sys.executable, *words, "test_held.py"],
        cwd=folder,
        env={
            **classic(),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests"))),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def ended(installed, tmp_path_factory):
    """By signal: a controller to which it was sent, the processes it had begun, if one was Java.

    All begin at once, and so do their ends: a worker waits some ten seconds for its test.
    """
    folders = {number: tmp_path_factory.mktemp(number.name) for number in NUMBERS}
    with ExitStack() as stack:
        controllers = {}
        for number, folder in folders.items():
            controllers[number] = controller_in(folder)
            stack.callback(controllers[number].wait)
            stack.callback(controllers[number].kill)

        until(lambda: all((folder / "ready").exists() for folder in folders.values()))
        found = {}
        for number, controller in controllers.items():
            begun = psutil.Process(controller.pid).children(recursive=True)
            has_java = any(Path(process.exe()).name == "java" for process in begun)
            found[number] = controller, begun, has_java
        for number, controller in controllers.items():
            controller.send_signal(number)
        yield found


@pytest.mark.long
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.name)
def test_a_controller_that_is_ended_leaves_no_java(ended, number):
    """SIGINT to the controller alone, as a tool sends it, reaches no worker and no server."""
    controller, begun, has_java = ended[number]
    assert has_java and len(begun) > 1
    controller.wait(60)
    until(lambda: not any(alive(str(process.pid)) for process in begun), 60)
