"""A standalone cluster of two workers on this machine, on which executors, a worker and the driver
are killed in the middle of runs: `make cluster`, some minutes.

What comes of a run is what the engine gives, or a run without Spark: nothing is lost, and
nothing is there twice, be it a report, a result or a count.
"""

from __future__ import annotations

import glob
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from cluster import alive, bound, classic, lines, rows_of_reports, rows_of_spark, run, shell, until

from conformance.spark import session
from refengine import incremental, profile, stream
from refengine.model.elements import Stream
from refengine.rdf.lines import parse_line_with_time
from refengine.rdf.queries import read_query
from tools import sg1

SEMANTICS = profile("cqels").but(t0=0).semantics()
BROKEN = "<urn:x> nonsense\n"
QUERY = """
body = '''
PREFIX : <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
SELECT ?sensor ?value { ?obs :procedure ?sensor ; :result [ :floatValue ?value ] FILTER(?value > 50) }'''
windows = [{ stream = "s", kind = "time", size = 5000, slide = 5000 }]
"""  # noqa: E501


def environment() -> dict[str, str]:
    """Return the environment of the driver's Java, of the workers' and of their Pythons."""
    return {**classic(), "JAVA_TOOL_OPTIONS": session.LIGHT, "PYSPARK_PYTHON": sys.executable}


class Cluster:
    """A master and two workers, each a process with a core."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder = folder
        self.home = Path(pyspark.__file__).parent
        self.started: list[subprocess.Popen] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def start(self) -> None:
        """Start the master first."""
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
                env={**environment(), "SPARK_LOCAL_IP": "127.0.0.1"},
            )
        self.started.append(started)
        log.rename(self.folder / f"{started.pid}.log")
        return started

    def executors(self, worker: int) -> list[int]:
        """Return the processes of a worker's executors."""
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

    def kill_executors(self, worker: int) -> None:
        """Kill the executors of a worker by force. The worker starts others."""
        executors = self.executors(worker)
        assert executors, "it had none: nothing ran there"
        for pid in executors:
            os.kill(pid, signal.SIGKILL)
        until(lambda: not any(alive(str(pid)) for pid in executors))

    def kill(self, worker: int) -> None:
        """Kill a worker and its executors by force."""
        os.kill(self.workers[worker - 1].pid, signal.SIGKILL)
        self.kill_executors(worker)

    def stop(self) -> None:
        """End what was begun."""
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


class Driver:
    """A command that is run on the cluster, and may be killed."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.begin()

    def begin(self) -> None:
        """Run the command."""
        self.running = bound(
            self.words,
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until(self, done: Callable[[], object]) -> None:
        """Wait for something that the command does before it ends."""
        until(lambda: done() or self.running.poll() is not None)
        assert self.running.poll() is None, "it ended before it could be killed"

    def kill(self) -> None:
        """Kill the command by force. Its Java ends with it."""
        self.running.kill()
        self.running.communicate()

    def output(self) -> str:
        """Return what the command prints, when it has ended well."""
        text = self.running.communicate(timeout=600)[0]
        assert self.running.returncode == 0
        return text


def write_query_and_make_stream(folder: Path, stations: int) -> tuple[list[list[str]], Stream]:
    """Write the query to a folder. Return the lines of 30 rounds of SG1, in six lists of five
    rounds each, and the same as a stream.
    """
    (folder / "query.toml").write_text(QUERY)
    parameters = sg1.Parameters(stations=stations, interval=1000, duration=30_000)
    texts = [
        [
            line
            for one in sg1.observations(parameters, rounds=range(5 * n, 5 * n + 5))
            for line in sg1.lines(one).splitlines(keepends=True)
        ]
        for n in range(6)
    ]
    items = [parse_line_with_time(line, "") for lines_of in texts for line in lines_of]
    return texts, stream(items)


def reports_of(folder: Path, elements: Stream) -> list:
    """Return the reports of the query in a folder, as one process computes them."""
    query = read_query(folder / "query.toml")
    return list(incremental.evaluate(query, {"s": elements}, SEMANTICS))


def find_committed(out: Path, pattern: str) -> set[Path]:
    """Return the files, or the folders of parts, that tasks have committed in jobs that have not
    ended.
    """
    found = glob.glob(
        f"{out}/_attempts/*/_temporary/*/task_*/{pattern}"
    )  # folders may go meanwhile
    return set(map(Path, found))


def test_ground_truth_survives_kills_of_executors_worker_and_driver(two_workers, tmp_path):
    """Killed are, in this order:

    - executors, while records are set aside;
    - the driver, while blocks are written;
    - executors, while the driver that was started again writes the blocks;
    - the driver, while parts are computed;
    - a worker with its executors, while the driver that was started again computes the others.

    Each of the six files is packed, so that it is read by a task of its own. Its second line is no
    triple.
    """
    texts, elements = write_query_and_make_stream(tmp_path, stations=300)
    (tmp_path / "stream").mkdir()
    for n, [first, *others] in enumerate(texts):
        content = "".join([first, BROKEN, *others]).encode()
        (tmp_path / "stream" / f"part-{n}.n3t.gz").write_bytes(gzip.compress(content))
    out = tmp_path / "out"
    words = ["truth", tmp_path / "query.toml", "--stream", tmp_path / "stream", "--parts", 8]
    words += ["--semantics", "cqels", "t0=0", "--on-error", "quarantine"]
    driver = Driver(shell(*words, "--spark", two_workers.url, "-o", out, "--resume"))
    parts = out / "reports"

    driver.wait_until(lambda: find_committed(out, "*.parquet"))
    two_workers.kill_executors(1)
    assert not (out / "quarantine").exists()

    driver.wait_until(lambda: find_committed(out, "part=*"))
    driver.kill()
    assert (out / "quarantine").exists() and not (out / "blocks").exists()

    driver.begin()
    before = find_committed(out, "part=*")
    driver.wait_until(lambda: find_committed(out, "part=*") - before)
    two_workers.kill_executors(2)
    assert not (out / "blocks").exists()

    driver.wait_until(lambda: any(parts.glob("part=*")))
    driver.kill()
    done = len(list(parts.glob("part=*")))

    driver.begin()
    driver.wait_until(lambda: len(list(parts.glob("part=*"))) > done)
    two_workers.kill(1)
    number = len(json.loads((out / "plan.json").read_text())["parts"])
    assert len(list(parts.glob("part=*"))) < number <= 8

    expected = rows_of_reports(reports_of(tmp_path, elements))
    assert driver.output() == (
        f"{len(elements)} triples, {number} parts, {len(expected)} reports; by incremental\n"
        "no triples, and set aside in quarantine: 6 records\n"
    )
    rows = pyarrow.parquet.read_table(parts).to_pylist()
    rows.sort(key=lambda row: (row["part"], row["number"]))
    assert rows_of_spark(rows) == expected
    faults = pyarrow.parquet.read_table(out / "quarantine").to_pylist()
    found = sorted((Path(each["file"]).name, each["place"], each["record"]) for each in faults)
    assert found == [
        (f"part-{n}.n3t.gz", len(first), BROKEN.strip()) for n, [first, *_] in enumerate(texts)
    ]


STREAMING = """
import sys
from conformance.spark import session, truth
from refengine import profile
from refengine.rdf.queries import read_query

master, folder = sys.argv[1:]
columns = "time long, element long, subject string, predicate string, object string"
query = read_query(f"{folder}/query.toml")
semantics = profile("cqels").but(t0=0).semantics()
with session.open_session(master) as spark:
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    reader = spark.readStream.schema(columns).option("maxFilesPerTrigger", 1)
    reports = truth(reader.parquet(f"file://{folder}/stream"), query, semantics)
    writer = reports.writeStream.format("parquet")
    writer = writer.option("checkpointLocation", f"file://{folder}/checkpoint")
    writer.trigger(availableNow=True).start(f"file://{folder}/reports").awaitTermination()
"""


def committed_rows(folder: Path) -> list[dict]:
    """Return the rows of a table that a streaming query writes, in the files that its log names.
    What else is in the folder was written by a micro-batch that was killed.
    """
    logs = [path for path in (folder / "_spark_metadata").iterdir() if path.name[0] != "."]
    entries = [json.loads(line) for path in logs for line in lines(path)[1:]]
    files = sorted({entry["path"].removeprefix("file://") for entry in entries})
    rows = [row for file in files for row in pyarrow.parquet.read_table(file).to_pylist()]
    return sorted(rows, key=lambda row: row["number"])


def test_truth_of_a_stream_survives_kills_of_executors_worker_and_driver(two_workers, tmp_path):
    """Each of 30 files is a micro-batch. Executors are killed after some micro-batches, and the
    driver after some more. A worker is killed after the driver has been started again and has
    committed two.
    """
    texts, elements = write_query_and_make_stream(tmp_path, stations=20)
    items = [parse_line_with_time(line, "") for some in texts for line in some]
    (tmp_path / "stream").mkdir()
    size = len(items) // 30
    for n in range(30):
        some = range(n * size, n * size + size)
        table = {"time": [items[i][1] for i in some], "element": list(some)}
        for place, name in enumerate(("subject", "predicate", "object")):
            table[name] = [items[i][0][place] for i in some]
        path = tmp_path / "stream" / f"{n}.parquet"
        pyarrow.parquet.write_table(pyarrow.table(table), path)
        os.utime(path, (n, n))  # files are read in the order in which they came
    (tmp_path / "driver.py").write_text(STREAMING)
    driver = Driver([sys.executable, str(tmp_path / "driver.py"), two_workers.url, str(tmp_path)])

    def count_committed() -> int:
        """How many micro-batches are committed."""
        names = [path.name for path in (tmp_path / "checkpoint" / "commits").glob("*")]
        return max([int(name) for name in names if name.isdecimal()], default=-1) + 1

    driver.wait_until(lambda: count_committed() >= 2)
    (running_on,) = [number for number in (1, 2) if two_workers.executors(number)][:1]
    two_workers.kill_executors(running_on)
    done = count_committed()
    driver.wait_until(lambda: count_committed() >= done + 3)
    driver.kill()
    done = count_committed()
    assert done < 25
    driver.begin()
    driver.wait_until(lambda: count_committed() >= done + 2)
    two_workers.kill(1)
    assert count_committed() < 30
    driver.output()

    assert count_committed() == 30
    final = [each for each in reports_of(tmp_path, elements) if each.trigger < items[-1][1]]
    rows = committed_rows(tmp_path / "reports")
    assert rows_of_spark(rows) == rows_of_reports(final)
    assert [row["number"] for row in rows] == list(range(1, len(final) + 1))


def test_the_suite_survives_kills_of_worker_and_driver(two_workers, tmp_path):
    """A worker is killed with its executors, and then the driver. What was done is not repeated."""
    words = [sys.executable, "-m", "pytest", "conformance", "-q", "-p", "no:cacheprovider"]
    words += ["-p", "no:xdist", "--engine=reference"]
    run([*words, f"--results={tmp_path / 'alone.ndjson'}"], 0)
    out = tmp_path / "out"
    journal = out / "journal.ndjson"
    words = ["--engine=reference", "--parallel", 8, "--spark", two_workers.url, "-o", out]
    driver = Driver(shell("shard", *words, "--resume"))

    driver.wait_until(lambda: lines(journal))
    two_workers.kill(2)
    done = len(lines(journal))
    driver.wait_until(lambda: len(lines(journal)) > done)
    driver.kill()
    done = lines(journal)
    driver.begin()
    driver.output()

    assert (out / "results.ndjson").read_bytes() == (tmp_path / "alone.ndjson").read_bytes()
    records = [json.loads(line) for line in lines(journal)]
    assert len(done) < len(records) and lines(journal)[: len(done)] == done
    counts = Counter((record["engine"], record["suite"], record["case"]) for record in records)
    assert set(counts.values()) == {1}
