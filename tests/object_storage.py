"""Input and output of ground truth in an object store, over s3a: `make s3`, a minute.

The store is a server of S3 on this machine, which the test starts.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import ROOT, bound, until

from conformance.spark import judge, register_formats, session, truth
from refengine import from_table, profile, stream
from refengine.core import engine

PLACE = ROOT / "build" / "s3"
COLUMNS = "time long, element long, subject string, predicate string, object string"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
EACH = [(at, 1, f"<urn:{at}>", "<urn:p>", '"1"') for at in (1, 5, 11, 12, 25)]


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a server of S3, which has a bucket."""
    if not (PLACE / "ready.stamp").exists():
        pytest.skip("build/s3 is not there: make s3")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with open(tmp_path / "server.log", "wb") as log:
        words = [str(PLACE / "venv" / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(port)]
        server = bound(words, stdout=log, stderr=log, start_new_session=True)
    try:
        until(lambda: session._answers("127.0.0.1", port) or server.poll() is not None, 60)
        assert server.poll() is None, (tmp_path / "server.log").read_text()[-2000:]
        for name, value in {**KEYS, "AWS_ENDPOINT_URL": url}.items():
            monkeypatch.setenv(name, value)
        from pyarrow import fs

        store = fs.S3FileSystem(endpoint_override=url, allow_bucket_creation=True)
        store.create_dir("bucket")
        yield url
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


@pytest.fixture
def over_s3(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """A classic session whose s3a:// is the server."""
    config = {
        "endpoint": endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "input.stream.type": "classic",  # the other one needs one more library
    }
    words = ["--jars", ",".join(map(str, sorted((PLACE / "jars").glob("*.jar"))))]
    for name, value in config.items():
        words += ["--conf", f"spark.hadoop.fs.s3a.{name}={value}"]
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", " ".join([*words, "pyspark-shell"]))
    with session.open_session("local[2]", light=True) as found:
        register_formats(found)
        yield found


def test_streams_and_reports_are_in_a_bucket(over_s3):
    """Parquet and lines are read and written; what is written is read again, and judged."""
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    query = from_table({"body": "SELECT ?x { ?x <urn:p> ?y }", "windows": [window]})
    fields = {"t0": 0, "horizon": "none", "report": "window-close", "tick": "tuple"}
    semantics = profile("csparql").but(**fields).semantics()
    triples = over_s3.createDataFrame(EACH, COLUMNS)
    triples.write.parquet("s3a://bucket/triples")
    triples.write.format("n3t").mode("append").save("s3a://bucket/lines")
    elements = stream([(row[2:], row[0]) for row in EACH])
    due = [
        [dict(row)["x"] for row in sorted(report.relation.rows)]
        for report in engine.evaluate(query, {"s": elements}, semantics)
    ]
    for kind, folder in (("parquet", "triples"), ("n3t", "lines")):
        stored = over_s3.read.format(kind).load(f"s3a://bucket/{folder}")
        place = f"s3a://bucket/reports-of-{kind}"
        truth(stored, query, semantics, parts=2).write.parquet(place)
        reports = over_s3.read.parquet(place)
        rows = reports.orderBy("part", "number").collect()
        found = [[row["x"] for row in each["bindings"]] for each in rows]
        assert found == due == [["<urn:1>", "<urn:5>"], ["<urn:11>", "<urn:12>"]]
        place_of_row = "row_number() OVER (ORDER BY part, number) AS number"
        recorded = reports.selectExpr(place_of_row, "bindings")
        assert judge(recorded, reports).first()["outcome"] == "pass"
