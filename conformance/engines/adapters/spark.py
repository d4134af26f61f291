"""Spark Structured Streaming behind the protocol: `python spark.py`, with pyspark and a JDK.

A query over rows (conformance.harness.relational) becomes a DataFrame program with groups by
event-time windows, in append mode, and a watermark without delay. An element is a file of a file
source with a row for each triple, and so a micro-batch of its own. If the watermark moves, a
micro-batch without data follows, for which the reply waits, too. The rows of a window are one
relation.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from conformance.harness.relational import program
from conformance.harness.serving import remove_at_end
from conformance.harness.spark_program import frame_of, relations, settings
from refengine import Unsupported, from_table


class Spark:
    """A session of Spark, and the query that runs in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.case = folder / "case"
        self.running: StreamingQuery | None = None

    def start(self) -> None:
        """Start Java. Raises PySparkException."""
        for name in ("SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
            os.environ.pop(name, None)  # what is tested is a Spark of its own
        builder = SparkSession.builder.master("local[1]").config(map=settings(self.folder))
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    def register(self, query: str, dialect: str, streams: list[str], static: str = "") -> None:
        """Start the query of a new case. Raises Unsupported, with Spark's own words, if Spark
        refuses it.
        """
        self.forget()
        parsed_query = from_table(json.loads(query))
        self.program = program(parsed_query, static)
        self.window = parsed_query.windows[0]
        self.elements = 0  # how many have been pushed
        (self.case / "elements").mkdir(parents=True)
        try:
            rows = frame_of(self.program, self.window, self.session, self.case / "elements")
            sink = rows.writeStream.outputMode("append").foreachBatch(self._batch)
            self.running = sink.option("checkpointLocation", str(self.case / "checkpoint")).start()
        except PySparkException as error:
            reason = f"Spark refuses it: {str(error).splitlines()[0]}"
            raise Unsupported(reason, rule="QRY-1", place="query") from None

    def _batch(self, frame: DataFrame, _: int) -> None:
        """Add the relations of one micro-batch to those of the current push."""
        self.new += relations(frame, self.program)

    def push(
        self, stream: str, at: int, graph: str, batch: int | None = None, end: int | None = None
    ) -> list[dict[str, Any]]:
        """Write an element as a whole file, and return the relations that Spark answers."""
        if stream != self.window.stream:
            return []
        if end not in (None, at):
            raise Unsupported("its rows have a time, and no interval", rule="MOD-3", place="end")
        if abs(at) + self.window.span >= 2**63 // 1000:
            reason = f"its timestamps are microseconds in 64 bits, and none is {at} ms"
            raise Unsupported(reason, rule="MOD-1", place="at")
        self.elements += 1
        self.new: list[dict[str, Any]] = []  # relations, since the last push
        whole = self.case / f"{self.elements}.json"
        rows = [json.dumps({"at": at, **cells}) for cells in self.program.rows(graph) or [{}]]
        whole.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        whole.rename(self.case / "elements" / whole.name)
        assert self.running is not None  # a push comes after a register
        self.running.processAllAvailable()
        return self.new

    def forget(self) -> None:
        """Stop the query of the case before, and remove its files."""
        running = self.running
        self.running = None
        if running is not None:
            running.stop()
        shutil.rmtree(self.case, ignore_errors=True)


def reply_to(spark: Spark, /, seq: int, command: str = "", **fields: Any) -> dict[str, Any]:
    """Return the reply to a command. `advance` and `end` have no effect: in append mode time is
    that of the rows, and there is no end.
    """
    try:
        match command:
            case "start":
                spark.start()
                name = {"engine": "spark", "version": pyspark.__version__}
                return {"seq": seq, "reply": "result", "protocol": 1, **name}
            case "stop":
                spark.forget()
                spark.session.stop()
                return {"seq": seq, "reply": "result"}
            case "register":
                spark.register(**fields)
                return {"seq": seq, "reply": "result", "relations": []}
            case "push":
                return {"seq": seq, "reply": "result", "relations": spark.push(**fields)}
            case "advance" | "end":
                return {"seq": seq, "reply": "result", "relations": []}
            case _:
                raise ValueError(f"no command {command!r}")
    except Exception as error:  # whatever it is, it is of this case
        # of a sum that Spark's decimals do not hold
        overflow = "".join(str(error).partition("[ARITHMETIC_OVERFLOW]")[1:])
        if isinstance(error, Unsupported) or overflow:
            reason = overflow.partition("\n")[0] or str(error)
            return {"seq": seq, "reply": "unsupported", "reason": reason}
        return {"seq": seq, "reply": "error", "context": f"{type(error).__name__}: {error}"[:2000]}


if __name__ == "__main__":
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Spark prints is no reply
    sys.excepthook = lambda kind, error, _: print(
        f"spark: no command: {kind.__name__}: {error}", file=sys.stderr
    )
    tempfile.tempdir = tempfile.mkdtemp(prefix="spark-")  # for what pyspark makes, too
    engine = Spark(Path(tempfile.tempdir))
    with suppress(KeyboardInterrupt, BrokenPipeError), remove_at_end(tempfile.tempdir):
        for message in map(json.loads, sys.stdin):
            print(json.dumps(reply_to(engine, **message)), file=replies, flush=True)
            if message.get("command") == "stop":
                break
