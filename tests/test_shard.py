"""The suite over Spark, classic and Connect, is the suite: whatever is killed on the way, and however often it is begun again."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from conformance import corpus, suite
from conformance.spark import folder, session, shard
from conformance.suite import Asked
from refengine.errors import RefengineError

ROOT = Path(__file__).resolve().parent.parent
SMOKE = Asked(["reference"], smoke=True, keep=True)
JAVA = {"JAVA_TOOL_OPTIONS": session.LIGHT, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
spark = pytest.mark.xdist_group("shard")  # one server, and what was not sharded, for all

# Answers nothing, and notes which process asks it what. It takes its time, so that there is a middle to be killed in.
SILENT = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["command"] == "register":
        with open(LOG, "a") as log:
            print(os.getpid(), os.getppid(), asked["query"].encode().hex(), file=log)
        time.sleep(0.2)
    more = {"start": {"protocol": 1, "engine": "silent", "version": "1"}, "stop": {}}.get(asked["command"], {"relations": []})
    print(json.dumps({"seq": asked["seq"], "reply": "result", **more}), flush=True)
    if asked["command"] == "stop":
        break
"""


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "conformance", "shard", *map(str, words)]


def run(words: list[str], code: int, **more: object) -> subprocess.CompletedProcess:
    """A command that ends with this code, and with no stack."""
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, **more)
    assert found.returncode == code, found.stdout + found.stderr
    assert "Traceback" not in found.stdout + found.stderr
    return found


def pytest_on(*words: object) -> list[str]:
    return [sys.executable, "-m", "pytest", "conformance", "-q", "-p", "no:cacheprovider", *map(str, words)]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def until(done: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def alive(pid: str) -> bool:
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


# What needs Spark


@pytest.fixture(scope="module")
def installed() -> None:
    """Spark; where it or Java is not installed its tests are skipped, in CI they fail."""
    try:
        session.check("local[2]")
    except session.NoSpark as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("shard")


@pytest.fixture(scope="module")
def engine(place) -> Path:
    """An engine that answers nothing: `log` is what it was asked."""
    (place / "silent.py").write_text(SILENT.replace("LOG", repr(str(place / "log"))))
    path = place / "silent.toml"
    keys = {"title": "Silent", "command": ["{python}", "{here}/silent.py"], "dialect": "rspql"}
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()) + '[semantics]\nprofile = "csparql"\nt0 = 0\n')
    return path


@pytest.fixture(scope="module")
def unsharded(place, engine) -> bytes:
    """The results of both engines, by pytest."""
    run(pytest_on("-p", "no:xdist", "--engine=reference", f"--engine={engine}", "--smoke", f"--results={place / 'unsharded.ndjson'}"), 1)
    return (place / "unsharded.ndjson").read_bytes()


@pytest.fixture(scope="module")
def connect(installed, place) -> Iterator[str]:
    """A server of Spark Connect on this machine."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = {"connect.grpc.binding.port": port, "connect.grpc.binding.address": "127.0.0.1", "ui.enabled": "false"}
    config |= {"driver.host": "127.0.0.1", "driver.bindAddress": "127.0.0.1"}
    submit = [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", f"local[2,{session.RETRIES}]"]
    words = [word for key, value in config.items() for word in ("--conf", f"spark.{key}={value}")]
    with open(place / "server.log", "wb") as log:
        server = subprocess.Popen(
            [*submit, *words, "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"],
            cwd=place, stdout=log, stderr=log, env={**os.environ, **JAVA}, start_new_session=True,
        )  # fmt: skip
    try:
        until(lambda: session._answers("127.0.0.1", port) or server.poll() is not None, 120)
        assert server.poll() is None, (place / "server.log").read_text()[-2000:]
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def the_same(out: Path, unsharded: bytes) -> None:
    """As the run that was not sharded, row for row; each item was done once."""
    from pyarrow import parquet

    assert (out / "results.ndjson").read_bytes() == unsharded
    rows = parquet.read_table(out / "results.parquet").to_pylist()
    for row in rows:
        row["evidence"] = row["evidence"] and json.loads(row["evidence"])
    assert rows == [json.loads(line) for line in unsharded.splitlines()]
    assert {*Counter(shard.key(json.loads(line)) for line in lines(out / "journal.ndjson")).values()} == {1}


@spark
@pytest.mark.parametrize("kind", ["local[2]", "connect"])
def test_what_is_sharded_is_the_same(kind, request, installed, engine, unsharded, tmp_path):
    master = request.getfixturevalue("connect") if kind == "connect" else kind
    found = run(command("--engine", "reference", "--engine", engine, "--smoke", "--spark", master, "-o", tmp_path / "out"), 1, env={**os.environ, **JAVA})
    the_same(tmp_path / "out", unsharded)
    assert found.stdout.splitlines()[-2:] == ["conformance: reference: 12 pass", "conformance: silent: 12 fail"]
    assert sum(line.startswith("silent-") for line in found.stdout.splitlines()) == 12
    assert "conformance: 24 items in " in found.stderr.splitlines()[-1]


@spark
def test_pytest_waits_for_what_executors_find(connect, engine, unsharded, tmp_path):
    """Of the items that are left after -k."""
    results = tmp_path / "results.ndjson"
    words = pytest_on("--engine=reference", f"--engine={engine}", "--smoke", f"--spark={connect}", f"--results={results}", "-k", "WIN-2 or silent-R2R")
    found = run(words, 1)
    kept = results.read_bytes().splitlines()
    assert [line for line in unsharded.splitlines() if line in kept] == kept and 0 < len(kept) < 24
    failed = sum(b'"fail"' in line for line in kept)
    assert f"{failed} failed, {len(kept) - failed} passed, {24 - len(kept)} deselected" in found.stdout, found.stdout


@spark
def test_a_worker_that_is_killed_is_replaced_and_nothing_comes_twice(connect, engine, unsharded, place, tmp_path):
    (place / "log").unlink(missing_ok=True)
    words = command("--engine", engine, "--smoke", "--spark", connect, "--parallel", 1, "-o", tmp_path / "out")
    running = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: len(lines(place / "log")) > 2)
    first, worker, _ = lines(place / "log")[0].split()
    os.kill(int(worker), signal.SIGKILL)
    assert running.wait(120) == 1, running.stderr.read()
    running.stderr.close()
    the_same(tmp_path / "out", b"".join(line + b"\n" for line in unsharded.splitlines() if b'"engine": "silent"' in line))
    asked = [line.split() for line in lines(place / "log")]
    assert len(asked) > 12 and len({worker for _, worker, _ in asked}) == 2, "it was begun anew"
    assert not [pid for pid, _, _ in asked if alive(pid)]


def limited() -> None:
    """A disk with room for little."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))


@spark
def test_whatever_ends_a_run_it_can_be_resumed(connect, engine, unsharded, place, tmp_path):
    """A full disk, Ctrl-C, a driver that is killed: what is done is not done again."""
    (place / "log").unlink(missing_ok=True)
    out, journal = tmp_path / "out", tmp_path / "out" / "journal.ndjson"
    words = command("--engine", engine, "--smoke", "--spark", connect, "--parallel", 6, "-o", out)

    found = run(words, 2, preexec_fn=limited)
    assert found.stderr == f"conformance: {journal}: usage: cannot write: File too large\n"
    assert journal.read_bytes().count(b"\n") in range(1, 12) and not (out / "results.ndjson").exists()

    for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        before = len(lines(journal))
        running = subprocess.Popen([*words, "--resume"], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until(lambda: len(lines(journal)) > before)  # noqa: B023
        running.send_signal(number)
        said = running.communicate(timeout=60)[1]
        done = len(lines(journal))
        assert running.returncode == code, said
        if number == signal.SIGINT:
            assert said == f"conformance: interrupted; {done} of 12 items are done: the same command with --resume goes on\n"

    until(lambda: not any(alive(line.split()[0]) for line in lines(place / "log")))
    with open(journal, "ab") as torn:
        torn.write(b'{"engine": "sil')
    asked, done = len(lines(place / "log")), len(lines(journal)) - 1
    assert done < 12, "nothing is left to be resumed"
    run([*words, "--resume"], 1)
    the_same(out, b"".join(line + b"\n" for line in unsharded.splitlines() if b'"engine": "silent"' in line))
    assert len(lines(place / "log")) == asked + 12 - done
    run([*words, "--resume"], 1, env={**os.environ, "PATH": ""})  # all is done, and no Spark is needed
