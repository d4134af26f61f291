"""Opening a session of Spark. What it needs is looked for first, so that the message about
something that is missing is one line.

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
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from refengine.model.errors import RefengineError
from refengine.model.messages import display, plain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17  # the oldest version on which Spark 4 runs
NEEDS_JAVA = f"Spark needs {JAVA} or newer"
CONNECT_PORT = 15002
RETRIES = 4  # how often a task is tried, in one process as on a cluster
TIMEOUT = 10  # seconds in which a master must answer
# halves the CPU time of a run of a minute: more would be compiled than is used
LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
UNPACKED = "environment"  # the folder into which executors unpack the archive
WORKERS_PYTHON = "PYSPARK_PYTHON"  # the variable that names the interpreter of the workers
MODES = frozenset({"SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"})
FORMS = "local[2], spark://HOST:PORT, sc://HOST:PORT (Spark Connect), yarn or k8s://URL"


class NoSpark(RefengineError):
    """The error that Spark is not installed, does not start or answer, or has given a job up."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason, rule="spark", place=place)


@contextmanager
def open_session(
    master: str | None,
    log: Path | None = None,
    light: bool = False,
    environment: Path | None = None,
) -> Iterator[SparkSession]:
    """Open a session of Spark. It ends with the context, and so do the jobs that still run.

    `master` is by default that of Spark's own configuration (spark-submit, SPARK_REMOTE, or all
    cores of this machine). Spark's log is appended to the file `log`, or dropped without one. With
    `light` Java leaves the cores to Python, which does the work, if all is on one machine.
    `environment` is an archive with Python for the executors, as venv-pack makes it. Raises
    NoSpark, also if Spark ends before the context does.
    """
    is_remote = check_master(master, environment)
    master = _or_configured(master)
    from pyspark.errors import PySparkException

    modes = MODES & {*os.environ}
    # pyspark's and py4j's loggers print errors that are raised as well
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_not_of_py4j)
    builder = _builder(master, is_remote, light, environment)
    _let_connect_use_own_python(master)
    try:
        with _delay_interrupts() as interrupts, _stderr_to(log):
            spark = builder.getOrCreate()
        if environment is not None and is_remote:  # a session of Connect has its own
            spark.addArtifacts(f"{environment.absolute()}#{UNPACKED}", archive=True)
            spark.conf.set("spark.sql.execution.pyspark.python", f"{UNPACKED}/bin/python")
    except (PySparkException, OSError, RuntimeError) as error:
        raise NoSpark(first_line_of_error(error), place=master or "") from None
    except Exception as error:  # py4j and gRPC have bases of their own
        raise NoSpark(
            f"{type(error).__name__}: {first_line_of_error(error)}", place=master or ""
        ) from None
    _silence_accumulators(spark)
    _let_workers_use_own_python(spark)
    try:
        if interrupts:
            raise KeyboardInterrupt
        if environment is not None and not is_remote:
            _check_environment(spark.sparkContext.master, environment)
        yield spark
    except Exception as error:
        if is_loss(error):
            raise error_of_lost_spark(error) from error
        raise
    finally:
        # pyspark sets these; the next session, also in child processes, would use Connect, too
        if is_remote:
            for name in MODES - modes:
                os.environ.pop(name, None)
        _stop(spark)


def _builder(
    master: str | None, is_remote: bool, light: bool, environment: Path | None
) -> SparkSession.Builder:
    """Return the builder of a session, of Connect or a classic one."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("conformance")
    if is_remote:
        assert master is not None  # it is one of Connect
        return builder.remote(master)
    if _is_local_connect(master):
        return builder  # its server is started here, and takes no configuration of ours
    config = _config(master, light)
    if environment is not None:
        config["archives"] = f"{environment.absolute()}#{UNPACKED}"
        os.environ[WORKERS_PYTHON] = f"./{UNPACKED}/bin/python"
    for key, value in config.items():
        builder = builder.config(f"spark.{key}", value)
    return builder


def _is_local_connect(master: str | None) -> bool:
    """Whether pyspark starts a server of Connect on this machine, as the environment asks it to."""
    return master is None and os.environ.get("SPARK_REMOTE", "").startswith("local")


def _let_connect_use_own_python(master: str | None) -> None:
    """Let the workers of a server of Connect that is started here run this interpreter, unless the
    user has chosen another. The server reads it from the environment.
    """
    if _is_local_connect(master):
        os.environ.setdefault(WORKERS_PYTHON, sys.executable)


def _let_workers_use_own_python(spark: SparkSession) -> None:
    """Let the workers of a classic session on this machine run this interpreter, unless the user
    has chosen another: pyspark would take the `python3` of the path. Workers on other machines run
    what is there.
    """
    context = spark.sparkContext if hasattr(spark, "sparkContext") else None
    if context is None or WORKERS_PYTHON in os.environ:
        return
    if not (context.master or "").startswith("local"):
        return
    context.pythonExec = context.getConf().get("spark.pyspark.python") or sys.executable


def _stop(spark: SparkSession) -> None:
    """End a session and the jobs that it still runs. One whose Spark has ended is left as it is."""
    if not hasattr(spark, "sparkContext"):  # of Connect, which would let its jobs run on
        with suppress(Exception):
            spark.interruptAll()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Java cannot be ended, where it has ended
            spark.stop()
    except Exception as error:
        if not is_loss(error):
            raise


def _silence_accumulators(spark: SparkSession) -> None:
    """Let pyspark's server of accumulators print nothing. It prints a traceback when Java is gone,
    and nothing here uses it. A session of Connect has none.
    """
    context = getattr(spark, "sparkContext", None)
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: None


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Whether a record may be printed: py4j's are not, since it logs a traceback each time that
    Java is gone.
    """
    return "py4j" not in Path(record.pathname).parts


def is_loss(error: BaseException) -> bool:
    """Whether an error of pyspark says that the Spark it asks, Java or a server of Spark Connect,
    is not there any more.
    """
    from py4j.protocol import Py4JError, Py4JJavaError

    if isinstance(error, Py4JError):
        return not isinstance(error, Py4JJavaError)  # which is an exception that Java answers with
    if isinstance(error, ConnectionRefusedError | ConnectionResetError):
        return True
    return "StatusCode.UNAVAILABLE" in str(error)  # of gRPC


def error_of_lost_spark(error: BaseException) -> NoSpark:
    """Return the error that Spark has ended in the middle of a run."""
    reason = f"Spark ended in the middle of the run: {first_line_of_error(error)}"
    return NoSpark(reason)


@contextmanager
def _delay_interrupts() -> Iterator[list[int]]:
    """Delay interrupts until the context ends, and add them to the list that is given. One that
    came while Java starts would leave Java behind.
    """
    interrupts: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return

    def delay(number: int, _: object) -> None:
        interrupts.append(number)

    before = signal.signal(signal.SIGINT, delay)
    try:
        yield interrupts
    finally:
        if signal.getsignal(signal.SIGINT) is delay:  # else it is pyspark's by now
            signal.signal(signal.SIGINT, before)


def _or_configured(master: str | None) -> str | None:
    """Return the master, by default the server of Connect that the environment names, or the master
    that spark-submit has chosen.
    """
    if master is not None:
        return master
    server = os.environ.get("SPARK_REMOTE", "")
    if server.startswith("sc://"):
        return server
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return None
    # spark-submit has started Java, which knows the master, and has begun this process
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return SparkConf().get("spark.master")


def check_master(master: str | None, environment: Path | None = None) -> bool:
    """Whether a master is a server of Spark Connect. Raises NoSpark if it is malformed or does not
    answer, if pyspark, or the Java that it needs, is missing, or if the executors cannot unpack the
    archive `environment`.
    """
    for name in ("pyspark", "pandas", "pyarrow"):
        if find_spec(name) is None:  # else it would be missed in the middle of a run
            raise NoSpark(f"{name} is not installed: pip install 'refengine[suite,spark]'")
    master = _or_configured(master)
    kind, hosts = _kind_and_hosts(master)
    if environment is not None:
        _check_environment(master, environment)
    if hosts and not any(_answers(host, port) for host, port in hosts):
        places = ", ".join(f"{host}:{port}" for host, port in hosts)
        raise NoSpark(f"no Spark answers at {places}", place=display(master))
    is_remote = kind == "sc" or (master is None and "SPARK_REMOTE" in os.environ)
    if not is_remote:
        _check_java()
    return kind == "sc"


def _check_environment(master: str | None, environment: Path) -> None:
    """Raise NoSpark for an archive that is not there, and for a master on this machine, which
    unpacks none. Nothing is raised for a master that is not known before Spark has started (None).
    """
    if not environment.is_file():
        raise NoSpark("no such archive", place=str(environment))
    if master is not None and master.startswith("local"):
        reason = (
            f"{master} has no executors that unpack an archive: unpack it, and run this command "
            "with its bin/python, without --environment"
        )
        raise NoSpark(reason, place=str(environment))


def _kind_and_hosts(master: str | None) -> tuple[str, list[tuple[str, int]]]:
    """Return a master's kind, and where it is to be reached. Raises NoSpark for what is none."""
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
    raise NoSpark(f"no master {display(master)}; write {FORMS}")


def _answers(host: str, port: int) -> bool:
    """Whether something takes a connection there."""
    try:
        with socket.create_connection((host, port), timeout=TIMEOUT):
            return True
    except (OSError, OverflowError, UnicodeError):
        return False


def _check_java() -> None:
    """Raise NoSpark if there is no Java that Spark runs on."""
    java = _find_java()
    try:
        answer = subprocess.run(
            [java, "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            errors="replace",
        ).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSpark(f"Java does not run: {first_line_of_error(error)}", place=java) from None
    match = re.search(r'version "(?:1\.)?([0-9]+)', answer)
    if match is None:
        raise NoSpark(f"no Java: {display(answer[:200])}; {NEEDS_JAVA}", place=java)
    if int(match[1]) < JAVA:
        raise NoSpark(f"Java {match[1]}; {NEEDS_JAVA}", place=java)


def _find_java() -> str:
    """Return the path of Java. Raises NoSpark if there is none."""
    path, where = None, "the path"
    home = os.environ.get("JAVA_HOME")
    if home:
        path, where = os.path.join(home, "bin"), f"JAVA_HOME={plain(home)}"
    java = shutil.which("java", path=path)
    if java is None:
        raise NoSpark(f"no Java on {where}; {NEEDS_JAVA}")
    return java


def _config(master: str | None, light: bool = False) -> dict[str, str]:
    """Return the configuration of a classic session. On one machine a task whose worker is killed
    is tried again, as on a cluster.
    """
    config = {"ui.showConsoleProgress": "false"}
    if master is None:
        return config
    if master.startswith("local"):
        if cores := re.fullmatch(r"local(?:\[([^,]*)\])?", master):
            master = f"local[{cores[1] or 1},{RETRIES}]"
        config["ui.enabled"] = "false"
        config["driver.host"] = "127.0.0.1"
        config["driver.bindAddress"] = "127.0.0.1"
        if light:
            config["driver.extraJavaOptions"] = LIGHT
            # each shuffle would be a job by itself, after which the rest is planned anew
            config["sql.adaptive.enabled"] = "false"
            config["sql.shuffle.partitions"] = str(_count_cores(master))
    config["master"] = master
    return config


def _count_cores(master: str) -> int:
    """Return how many tasks run at once on a master of this machine.

    >>> _count_cores("local"), _count_cores("local[3]"), _count_cores("local[2,4]")
    (1, 3, 2)
    """
    cores = re.match(r"local\[([0-9]+)", master)
    if cores is not None:
        return int(cores[1])
    if "*" in master:
        return os.cpu_count() or 1
    return 1


@contextmanager
def _stderr_to(log: Path | None) -> Iterator[None]:
    """Redirect standard error to the end of a file until the context ends. Java, which is started
    meanwhile, keeps it.
    """
    sys.stderr.flush()
    own = os.dup(2)
    file = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)
        os.close(file)


def first_line_of_error(error: BaseException) -> str:
    """Return the first line of an error's message, of bounded length."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:500]
