"""A session of Spark: what it needs is looked for before it is started, so that what is missing is
one line.

Nothing but DataFrames is used, so that it may be of Spark Classic or of Spark Connect.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from refengine.model.errors import RefengineError
from refengine.model.messages import plain, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17  # the oldest that Spark 4 runs on
CONNECT_PORT = 15002
RETRIES = 4  # how often a task is tried, in one process as on a cluster
REACHED = 10  # seconds within which a master answers
# halves the CPU of a minute's run: the rest would be compiled and never used
LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
UNPACKED = "environment"  # where executors have an archive
MODES = frozenset({"SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"})
FORMS = "local[2], spark://HOST:PORT, sc://HOST:PORT (Spark Connect), yarn or k8s://URL"


class NoSpark(RefengineError):
    """There is no Spark here, or none answers."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason, rule="spark", place=place)


@contextmanager
def opened(
    master: str | None,
    log: Path | None = None,
    light: bool = False,
    environment: Path | None = None,
) -> Iterator[SparkSession]:
    """A session with a master, by default that of Spark's own configuration (spark-submit,
    SPARK_REMOTE, or all cores of this machine); it ends with the context, and so does what it still
    runs. What Spark logs goes to the end of a file, by default nowhere. `light`: Python does the
    work, so that Java, if it is in one process, is to leave it the cores. `environment` is an
    archive with the Python of executors, as venv-pack makes it. Raises NoSpark.
    """
    master = _meant(master)
    remote = check(master)
    if environment is not None and not environment.is_file():
        raise NoSpark("no such archive", place=str(environment))
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder, modes = SparkSession.builder.appName("conformance"), MODES & {*os.environ}
    if remote:
        assert master is not None  # it is one of Connect
        builder = builder.remote(master)
    else:
        config = _config(master, light)
        if environment is not None:
            config["archives"] = f"{environment.absolute()}#{UNPACKED}"
            os.environ["PYSPARK_PYTHON"] = f"./{UNPACKED}/bin/python"
        for key, value in config.items():
            builder = builder.config(f"spark.{key}", value)
    # it prints what is raised, too
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    try:
        with _held() as interrupted, _logged(log):
            spark = builder.getOrCreate()
        if environment is not None and remote:  # a session of Connect has its own
            spark.addArtifacts(f"{environment.absolute()}#{UNPACKED}", archive=True)
            spark.conf.set("spark.sql.execution.pyspark.python", f"{UNPACKED}/bin/python")
    except (PySparkException, OSError, RuntimeError) as error:
        raise NoSpark(first_line(error), place=master or "") from None
    except Exception as error:  # py4j and gRPC have bases of their own
        raise NoSpark(f"{type(error).__name__}: {first_line(error)}", place=master or "") from None
    try:
        if interrupted:
            raise KeyboardInterrupt
        yield spark
    finally:
        # what pyspark sets would make the next session one of Connect, too, in processes begun from
        # here as well
        if remote:
            for name in MODES - modes:
                os.environ.pop(name, None)
        if not hasattr(spark, "sparkContext"):  # of Connect, which would let its jobs run on
            with suppress(Exception):
                spark.interruptAll()
        spark.stop()


@contextmanager
def _held() -> Iterator[list[int]]:
    """An interrupt waits: one that comes while Java is started would leave it behind."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def hold(number: int, _: object) -> None:
        came.append(number)

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield came
    finally:
        if signal.getsignal(signal.SIGINT) is hold:  # else it is pyspark's by now
            signal.signal(signal.SIGINT, before)


def _meant(master: str | None) -> str | None:
    """The master, or the server of Connect that the environment names."""
    named = os.environ.get("SPARK_REMOTE", "")
    return named if master is None and named.startswith("sc://") else master


def check(master: str | None) -> bool:
    """Whether a master is one of Spark Connect. Raises NoSpark for what is no master, does not
    answer, or has no Java or pyspark here.
    """
    for name in ("pyspark", "pandas", "pyarrow"):
        if find_spec(name) is None:  # else it would be missed in the middle of a run
            raise NoSpark(f"{name} is not installed: pip install 'refengine[suite,spark]'")
    master = _meant(master)
    kind, hosts = _parsed(master)
    if hosts and not any(_answers(host, port) for host, port in hosts):
        raise NoSpark(
            f"no Spark answers at {', '.join(f'{host}:{port}' for host, port in hosts)}",
            place=shown(master),
        )
    remote = kind == "sc" or (master is None and "SPARK_REMOTE" in os.environ)
    if not remote:
        _check_java()
    return kind == "sc"


def _parsed(master: str | None) -> tuple[str, list[tuple[str, int]]]:
    """A master's kind, and where it is to be reached."""
    if (
        master is None
        or master == "yarn"
        or master.startswith("k8s://")
        or re.fullmatch(r"local(\[(\*|[1-9][0-9]*)(,[1-9][0-9]*)?\])?", master)
    ):
        return "", []
    if match := re.fullmatch(r"sc://([^:/;]+)(?::([0-9]{1,5}))?(/.*)?", master):
        return "sc", [(match[1], int(match[2] or CONNECT_PORT))]
    if match := re.fullmatch(r"spark://([^:/,]+:[0-9]{1,5}(?:,[^:/,]+:[0-9]{1,5})*)", master):
        return "spark", [
            (host, int(port))
            for host, _, port in (place.rpartition(":") for place in match[1].split(","))
        ]
    raise NoSpark(f"no master {shown(master)}; write {FORMS}")


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=REACHED):
            return True
    except (OSError, OverflowError, UnicodeError):
        return False


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if java is None:
        where = f"JAVA_HOME={plain(home)}" if home else "the path"
        raise NoSpark(f"no Java on {where}; Spark needs {JAVA} or newer")
    try:
        told = subprocess.run(
            [java, "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            errors="replace",
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSpark(f"Java does not run: {first_line(error)}", place=java) from None
    match = re.search(r'version "(?:1\.)?([0-9]+)', told)
    if match is None or int(match[1]) < JAVA:
        found = f"Java {match[1]}" if match else f"no Java: {shown(told[:200])}"
        raise NoSpark(f"{found}; Spark needs {JAVA} or newer", place=java)


def _config(master: str | None, light: bool = False) -> dict[str, str]:
    """What is set for a classic session. On one machine workers run the driver's interpreter, and a
    task whose worker is killed is tried again, as it is on a cluster.
    """
    config = {"ui.showConsoleProgress": "false"}
    if master is None:
        return config
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        cores = re.fullmatch(r"local(?:\[([^,]*)\])?", master)
        master = f"local[{cores[1] or 1},{RETRIES}]" if cores else master
        config |= {
            "ui.enabled": "false",
            "driver.host": "127.0.0.1",
            "driver.bindAddress": "127.0.0.1",
        }
        config |= {"driver.extraJavaOptions": LIGHT} if light else {}
    return {**config, "master": master}


@contextmanager
def _logged(log: Path | None) -> Iterator[None]:
    """Java is started with its standard error there, and keeps it."""
    sys.stderr.flush()
    kept, into = (
        os.dup(2),
        os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666),
    )
    try:
        os.dup2(into, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(into)


def first_line(error: BaseException) -> str:
    """An error's first line, bounded."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:500]
