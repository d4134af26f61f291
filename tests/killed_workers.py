"""Two workers of a standalone cluster on this machine, one of which is killed in the middle: `make
cluster`, a few minutes.

What comes of the run is what a run without Spark, or without a cluster, comes to.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet
import pytest
from cluster import alive, bound, classic, lines, run, shell, until

from conformance.spark import session
from tools import sg1

QUERY = """
body = '''
PREFIX : <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
SELECT ?sensor ?value { ?obs :procedure ?sensor ; :result [ :floatValue ?value ] FILTER(?value > 50) }'''
windows = [{ stream = "s", kind = "time", size = 5000, slide = 5000 }]
"""  # noqa: E501


class Cluster:
    """A master and two workers, each a process with a core."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder, self.home, self.started = folder, Path(pyspark.__file__).parent, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def start(self) -> None:
        """The master first."""
        folder = self.folder
        self._start("master.Master", "--host", "127.0.0.1", "--port", self.port, "--webui-port", 0)
        until(lambda: session._answers("127.0.0.1", self.port))
        self.workers = [
            self._start(
                "worker.Worker",
                "--host",
                "127.0.0.1",
                "--cores",
                1,
                "--memory",
                "2g",
                "--work-dir",
                folder / f"work{n}",
                "--webui-port",
                0,
                self.url,
            )
            for n in (1, 2)
        ]
        until(
            lambda: all(
                "Successfully registered" in (folder / f"{worker.pid}.log").read_text()
                for worker in self.workers
            )
        )

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def _start(self, name: str, *words: object) -> subprocess.Popen:
        log = self.folder / "new.log"
        with open(log, "wb") as into:
            started = bound(
                [
                    self.home / "bin" / "spark-class",
                    f"org.apache.spark.deploy.{name}",
                    *map(str, words),
                ],
                stdout=into,
                stderr=into,
                start_new_session=True,
                env={**classic(), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable},
            )
        self.started.append(started)
        log.rename(self.folder / f"{started.pid}.log")
        return started

    def executors(self, worker: int) -> list[int]:
        """The processes of a worker's executors."""
        found = []
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = place.read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in words and os.path.realpath(
                place.parent / "cwd"
            ).startswith(f"{self.folder}/work{worker}/"):
                found.append(int(place.parent.name))
        return found

    def kill(self, worker: int) -> None:
        """A worker and its executors, by force."""
        executors = self.executors(worker)
        assert executors, "it had none: nothing ran there"
        for pid in (self.workers[worker - 1].pid, *executors):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not any(alive(str(pid)) for pid in executors))

    def stop(self) -> None:
        """Ends what was begun."""
        for process in self.started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def two_workers(tmp_path) -> Iterator[Cluster]:
    session.check_master("local[1]")
    found = Cluster(tmp_path)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def test_ground_truth_outlives_a_worker(two_workers, tmp_path):
    stream = tmp_path / "stream"
    stream.mkdir()
    for n in range(6):
        some = sg1.observations(
            parameters := sg1.Parameters(stations=1000, interval=1000, duration=30_000),
            rounds=range(5 * n, 5 * n + 5),
        )
        (stream / f"part-{n}.n3t").write_text("".join(map(sg1.lines, some)))
    (tmp_path / "query.toml").write_text(QUERY)
    words = shell(
        "truth",
        tmp_path / "query.toml",
        "--stream",
        stream,
        "--parts",
        6,
        "--semantics",
        "cqels",
        "t0=0",
    )
    alone = run([*words, "--spark", "local[2]", "-o", tmp_path / "alone"], 0, env=classic())
    assert alone.stdout.startswith(f"{parameters.triples} triples, 6 parts, ")
    out = tmp_path / "out"
    running = bound(
        [*words, "--spark", two_workers.url, "-o", out],
        env={**classic(), "PYSPARK_PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        text=True,
    )
    until(
        lambda: any((out / "reports").glob("part=*")) or running.poll() is not None,
        120,
    )
    two_workers.kill(1)
    assert len(list((out / "reports").glob("part=*"))) < 6
    assert running.communicate(timeout=300)[0] == alone.stdout and running.returncode == 0
    tables = [pyarrow.parquet.read_table(place / "reports") for place in (tmp_path / "alone", out)]
    rows = [
        sorted(table.to_pylist(), key=lambda row: (row["part"], row["number"])) for table in tables
    ]
    assert rows[0] == rows[1]


def test_the_suite_outlives_a_worker(two_workers, tmp_path):
    pytest_words = [
        sys.executable,
        "-m",
        "pytest",
        "conformance",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--engine=reference",
    ]
    run([*pytest_words, f"--results={tmp_path / 'alone.ndjson'}"], 0)
    out = tmp_path / "out"
    running = bound(
        [
            *shell(
                "shard",
                "--engine=reference",
                "--parallel",
                8,
                "--spark",
                two_workers.url,
                "-o",
                out,
            )
        ],
        env={**classic(), "PYSPARK_PYTHON": sys.executable},
        stdout=subprocess.DEVNULL,
    )
    until(lambda: lines(out / "journal.ndjson") or running.poll() is not None, 120)
    two_workers.kill(2)
    done = len(lines(out / "journal.ndjson"))
    assert running.wait(300) == 0
    assert (out / "results.ndjson").read_bytes() == (tmp_path / "alone.ndjson").read_bytes()
    told = [json.loads(line) for line in lines(out / "journal.ndjson")]
    assert done < len(told) and {
        *Counter((one["engine"], one["suite"], one["case"]) for one in told).values()
    } == {1}
