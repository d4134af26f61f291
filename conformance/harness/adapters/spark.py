"""Spark Structured Streaming behind the protocol: `python spark.py`, with pyspark and a JDK.

A query over rows (conformance.harness.relational) becomes a DataFrame program: event-time windows,
grouped, in append mode, with a watermark without delay. An element is a file of a file source, with
a row a triple, and so a micro-batch of its own; a reply waits for the micro-batch without data,
too, that follows where the watermark moved on. The rows of a window are one relation.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.streaming.query import StreamingQuery

from conformance.harness.relational import COLUMNS, NUMBER, program
from refengine import Relation, Unsupported, from_table
from refengine.model.elements import Bag
from refengine.rdf import files

CONFIG = {
    "ui.enabled": "false",
    "ui.showConsoleProgress": "false",
    "driver.host": "127.0.0.1",
    "driver.bindAddress": "127.0.0.1",
    "sql.shuffle.partitions": "1",
    "sql.session.timeZone": "UTC",
    "sql.caseSensitive": "true",
    # For speed alone, with the quicker compiler (below): files without checksums, for each of which
    # Hadoop starts a process.
    "hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}


class Spark:
    """A session of Spark, and the case that it is in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.case = folder, folder / "case"
        self.running: StreamingQuery | None = None

    def start(self) -> None:
        """Starts Java. Raises PySparkException."""
        own = {
            "local.dir": self.folder,
            "sql.warehouse.dir": self.folder / "warehouse",
            "driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -Djava.io.tmpdir={self.folder}",
        }
        self.session = (
            SparkSession.builder.master("local[1]")
            .config(map={f"spark.{key}": str(value) for key, value in {**CONFIG, **own}.items()})
            .getOrCreate()
        )
        self.session.sparkContext.setLogLevel("OFF")

    def register(self, query: str, dialect: str, streams: list[str], static: str = "") -> None:
        """Starts the query of a new case. What Spark refuses is unsupported, in its own words."""
        self.forget()
        asked = from_table(json.loads(query))
        self.program, self.window, self.elements = program(asked, static), asked.windows[0], 0
        (self.case / "elements").mkdir(parents=True)
        try:
            sink = self._frame().writeStream.outputMode("append").foreachBatch(self._batch)
            self.running = sink.option("checkpointLocation", str(self.case / "checkpoint")).start()
        except PySparkException as error:
            raise Unsupported(
                f"Spark refuses it: {str(error).splitlines()[0]}", rule="QRY-1", place="query"
            ) from None

    def _frame(self) -> DataFrame:
        """The program. A row that it does not match keeps its time alone: it moves the watermark,
        and is in its window.
        """
        asked, window = self.program, self.window
        source = self.session.readStream.schema(
            f"at long, s string, p string, o string, n {NUMBER}"
        ).option("maxFilesPerTrigger", 1)
        conditions = [functions.col(c) == term for c, term in asked.terms.items()] + [
            functions.col(a) == functions.col(b) for a, b in asked.equal
        ]
        matched = [
            functions.when(
                reduce(lambda a, b: a & b, conditions, functions.col("s").isNotNull()),
                functions.col(c),
            ).alias(c)
            for c in (*COLUMNS, "n")
        ]
        rows = source.json(str(self.case / "elements")).select(
            functions.timestamp_millis("at").alias("at"), *matched
        )
        rows, own = (
            rows.withWatermark("at", "0 seconds"),
            functions.window("at", f"{window.size} milliseconds", f"{window.slide} milliseconds"),
        )
        if asked.aggregates is None:  # a graph has a triple once
            which = sorted(set(asked.columns.values())) if asked.distinct else COLUMNS
            found = rows.groupBy(own).agg(
                functions.collect_set(
                    functions.when(
                        functions.col("s").isNotNull(), functions.struct(functions.lit(1), *which)
                    )
                ).alias("rows")
            )
        else:
            keys = [
                functions.col(column).alias(f"?{name}") for name, column in asked.columns.items()
            ]
            found = rows.groupBy(own, *keys).agg(
                *(
                    functions.expr(one.sql).alias(f"?{name}")
                    for name, one in asked.aggregates.items()
                )
            )
        return found.withColumns(
            {
                "opens": functions.unix_millis("window.start"),
                "closes": functions.unix_millis("window.end"),
            }
        )

    def _batch(self, frame: DataFrame, _: int) -> None:
        """What one micro-batch puts out: the windows that the watermark has passed, in the order of
        time.
        """
        windows: dict[tuple[int, int], Bag] = defaultdict(Counter)
        asked = self.program
        for found in frame.collect():
            rows = windows[found.opens, found.closes]
            if asked.aggregates is None:
                rows.update(
                    asked.mapping(
                        {name: each[column] for name, column in asked.columns.items()}, {}
                    )
                    for each in found.rows
                )
            # else what does not match
            elif None not in (keys := {name: found[f"?{name}"] for name in asked.columns}).values():
                rows[
                    asked.mapping(keys, {name: found[f"?{name}"] for name in asked.aggregates})
                ] += 1
        for borders, rows in sorted(windows.items()):
            self.told.append(
                {
                    "rows": files.relation_to_json(Relation(asked.shown, rows))["results"][
                        "bindings"
                    ],
                    "window": list(borders),
                }
            )

    def push(
        self, stream: str, at: int, graph: str, batch: int | None = None, end: int | None = None
    ) -> list[dict[str, Any]]:
        """An element as a file, which appears whole, and what comes of it."""
        if stream != self.window.stream:
            return []
        if end not in (None, at):
            raise Unsupported("its rows have a time, and no interval", rule="MOD-3", place="end")
        if abs(at) + self.window.span >= 2**63 // 1000:
            raise Unsupported(
                f"its timestamps are microseconds in 64 bits, and none is {at} ms",
                rule="MOD-1",
                place="at",
            )
        self.elements += 1
        self.told: list[dict[str, Any]] = []
        whole = self.case / f"{self.elements}.json"
        whole.write_text(
            "".join(
                f"{json.dumps({'at': at, **cells})}\n" for cells in self.program.rows(graph) or [{}]
            ),
            encoding="utf-8",
        )
        whole.rename(self.case / "elements" / whole.name)
        assert self.running is not None  # a push comes after a register
        self.running.processAllAvailable()
        return self.told

    def forget(self) -> None:
        """Ends the query of the case before."""
        running, self.running = self.running, None
        if running is not None:
            running.stop()
        shutil.rmtree(self.case, ignore_errors=True)


def reply(spark: Spark, /, seq: int, command: str = "", **fields: Any) -> dict[str, Any]:
    """The reply to a command. Append mode knows of no end, and of no time but that of rows."""
    try:
        match command:
            case "start":
                spark.start()
                return {
                    "seq": seq,
                    "reply": "result",
                    "protocol": 1,
                    "engine": "spark",
                    "version": pyspark.__version__,
                }
            case "stop":
                spark.forget()
                spark.session.stop()
                return {"seq": seq, "reply": "result"}
            case "register" | "push" | "advance" | "end":
                relations = (
                    getattr(spark, command)(**fields) if command in ("register", "push") else None
                )
                return {"seq": seq, "reply": "result", "relations": relations or []}
            case _:
                raise ValueError(f"no command {command!r}")
    except Exception as error:  # whatever it is, it is of this case
        # of a sum that Spark's decimals do not hold
        overflow = "".join(str(error).partition("[ARITHMETIC_OVERFLOW]")[1:])
        if isinstance(error, Unsupported) or overflow:
            return {
                "seq": seq,
                "reply": "unsupported",
                "reason": overflow.partition("\n")[0] or str(error),
            }
        return {"seq": seq, "reply": "error", "context": f"{type(error).__name__}: {error}"[:2000]}


if __name__ == "__main__":
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Spark prints is no reply
    sys.excepthook = lambda kind, error, _: print(
        f"spark: no command: {kind.__name__}: {error}", file=sys.stderr
    )
    tempfile.tempdir = tempfile.mkdtemp(prefix="spark-")  # for what pyspark makes, too
    engine = Spark(Path(tempfile.tempdir))
    # at the end of its input, so when this is killed, too
    clean = ["sh", "-c", 'cat; rm -rf "$0"', tempfile.tempdir]
    with (
        suppress(KeyboardInterrupt, BrokenPipeError),
        subprocess.Popen(clean, stdin=subprocess.PIPE, start_new_session=True),
    ):
        for asked in map(json.loads, sys.stdin):
            print(json.dumps(reply(engine, **asked)), file=replies, flush=True)
            if asked.get("command") == "stop":
                break
