"""What tests that need Spark share: a server of Spark Connect, commands that are run, and killed,
and reports as rows.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from conformance.harness import client
from conformance.spark import session

ROOT = Path(__file__).resolve().parent.parent
JAVA = {
    "JAVA_TOOL_OPTIONS": session.LIGHT,
    "PYSPARK_PYTHON": sys.executable,
    "PYTHONPATH": str(ROOT),
}
# gRPC, which Spark Connect uses, would meddle with each process that is begun beside it, and end it
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
spark = pytest.mark.xdist_group("spark")  # one worker, and so one server, for all


def shell(*words: object) -> list[str]:
    """`python -m conformance …`."""
    return [sys.executable, "-m", "conformance", *map(str, words)]


def classic() -> dict[str, str]:
    """The environment of a command that is to begin a classic Spark,
    whatever session is open here.
    """
    return {name: value for name, value in os.environ.items() if name not in session.MODES}


def bound(words: list[str], **more: Any) -> subprocess.Popen:
    """Start a command that is killed when this process ends, however it ends: no Java is to be left
    of tests that were killed. Its own Java, and the workers of that, end with it.
    """
    return subprocess.Popen(words, preexec_fn=client.DIE_WITH_PARENT, **more)


def run(words: list[str], code: int, **more: object) -> subprocess.CompletedProcess:
    """A command that ends with this code, and with no stack."""
    found = subprocess.run(
        words,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=client.DIE_WITH_PARENT,
        **{"env": classic(), **more},
    )
    assert found.returncode == code, found.stdout + found.stderr
    assert "Traceback" not in found.stdout + found.stderr
    return found


def lines(path: Path) -> list[str]:
    """The lines of a file that may not be there."""
    return path.read_text().splitlines() if path.exists() else []


def until(done: Callable[[], object], seconds: float = 300) -> None:
    """Waits."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def alive(pid: str) -> bool:
    """Whether a process runs."""
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def rows_of_reports(reports) -> list[tuple]:
    """Return reports of refengine as tuples (evaluation, trigger, instant, windows, bindings), to
    be compared with those of `rows_of_spark`.
    """
    return [
        (
            report.evaluation,
            report.trigger,
            report.instant,
            [
                (*(borders or (None, None)), len(content))
                for borders, content in zip(report.windows, report.contents, strict=True)
            ],
            [dict(row) for row in sorted(report.relation.rows.elements())],
        )
        for report in reports
    ]


def rows_of_spark(rows: list[dict]) -> list[tuple]:
    """Return reports that Spark has computed as tuples, to be compared with `rows_of_reports`: the
    columns of their table without `part`, `number` and `computed_by`.
    """
    return [
        (
            row["evaluation"],
            row["trigger"],
            row["instant"],
            [(window["opens"], window["closes"], window["elements"]) for window in row["windows"]],
            [dict(binding) for binding in row["bindings"]],
        )
        for row in rows
    ]


# a session whose Java has used what most sessions use of Spark
FIRST_SESSION = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.range(9).selectExpr("id % 3 AS key").groupBy("key").count().collect()
spark.stop()
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Iterator[None]:
    """Spark; where it or Java is not installed its tests are skipped, in CI they fail.

    In a run of many tests the first Java writes an archive of Spark's classes. Those that start
    after it read it, and need half the CPU time to start.
    """
    try:
        session.check_master("local[2]")
    except session.NoSpark as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    archive = tmp_path_factory.mktemp("java") / "spark.jsa"
    options = f"{session.LIGHT} -Xlog:disable"  # without warnings where an archive does not fit
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", f"{options} -XX:ArchiveClassesAtExit={archive}")
        words = [sys.executable, "-c", FIRST_SESSION]
        subprocess.run(words, env=classic(), capture_output=True, timeout=300, check=True)
        patch.setenv("SPARK_SUBMIT_OPTS", f"{options} -XX:SharedArchiveFile={archive}")
        yield
    archive.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def master(installed, request) -> str:
    """What the tests of this run are run on: a server of Spark Connect, or, with
    CONFORMANCE_SPARK=classic, a classic Spark.
    """
    return (
        "local[1]"
        if os.environ.get("CONFORMANCE_SPARK") == "classic"
        else request.getfixturevalue("connect")
    )


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def connect(installed, server_folder) -> Iterator[str]:
    """A server of Spark Connect on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = {
        "connect.grpc.binding.port": port,
        "connect.grpc.binding.address": "127.0.0.1",
        "ui.enabled": "false",
    }
    config |= {
        "driver.host": "127.0.0.1",
        "driver.bindAddress": "127.0.0.1",
        "sql.shuffle.partitions": 2,
        # plans are interpreted: to compile them costs more than to run them over few rows
        "sql.codegen.wholeStage": "false",
        "sql.codegen.factoryMode": "NO_CODEGEN",
        "sql.adaptive.enabled": "false",  # each shuffle would be a job, and planned anew
        "log.level": "WARN",
    }
    words = [word for key, value in config.items() for word in ("--conf", f"spark.{key}={value}")]
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    with submitted(server_folder, *words) as server:
        until(lambda: session._answers("127.0.0.1", port) or server.poll() is not None)
        assert server.poll() is None, (server_folder / "server.log").read_text()[-2000:]
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def submitted(folder: Path, *words: str) -> Iterator[subprocess.Popen]:
    """What spark-submit starts with these words on this machine, until the context ends."""
    import pyspark

    submit = [
        Path(pyspark.__file__).parent / "bin" / "spark-submit",
        "--master",
        f"local[1,{session.RETRIES}]",
    ]
    with open(folder / "server.log", "wb") as log:
        server = bound(
            [*submit, *words],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, **JAVA},
            start_new_session=True,
        )
    try:
        yield server
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


@pytest.fixture(scope="session")
def connected(master) -> Iterator[Any]:
    """A session in this process, one for all tests: each one would start workers of its own."""
    from conformance.spark import register_formats

    with session.open_session(master, light=True) as found:
        register_formats(found)
        yield found
