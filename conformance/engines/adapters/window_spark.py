"""The windows of Spark Structured Streaming: `window_function.py window_spark.py append|update`.

A row is a file of a file source, and so a micro-batch of its own. If it moves the watermark, a
micro-batch without data follows, which gives the windows that are over and sees to it that the next
row is late by this watermark. The harness waits for both.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming.query import StreamingQuery
from window_function import Element, Refused, Report, Window

from conformance.harness.serving import remove_at_end
from conformance.harness.spark_program import settings

NAME, VERSION = "spark", pyspark.__version__
[MODE] = sys.argv[1:]
DELAYS = {"append": 0, "update": 5}  # of the watermark, in ms
FOLDER = tempfile.mkdtemp(prefix="refengine-spark-")
REMOVER = remove_at_end(FOLDER)
MOST = 2**63 // 1000  # its timestamps are microseconds in 64 bits


def session() -> SparkSession:
    """Return a session of a Spark of its own."""
    for name in ("SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        os.environ.pop(name, None)
    builder = SparkSession.builder.master("local[1]").config(map=settings(Path(FOLDER)))
    started = builder.getOrCreate()
    started.sparkContext.setLogLevel("OFF")
    return started


SESSION = session()


class Windows:
    """The windows of a case. Raises Refused, with Spark's own words, if Spark refuses it."""

    running: StreamingQuery | None = None  # of the case before
    cases = 0

    def __init__(self, window: Window) -> None:
        if Windows.running is not None:
            Windows.running.stop()
        Windows.cases += 1
        self.folder = Path(FOLDER, str(Windows.cases))
        (self.folder / "rows").mkdir(parents=True)
        self.window = window
        self.keys: dict[str, int] = {}  # numbers of the keys
        try:
            sink = self._frame().writeStream.outputMode(MODE).foreachBatch(self._keep)
            sink = sink.option("checkpointLocation", str(self.folder / "checkpoint"))
            Windows.running = sink.start()
        except PySparkException as error:
            raise Refused(f"Spark refuses it: {str(error).splitlines()[0]}") from None

    def push(self, element: Element) -> list[Report]:
        """Give Spark an element, and return the windows that it gives."""
        if element.end not in (None, element.at):
            raise Refused("its rows have a time, and no interval")
        if abs(element.at) + self.window.size >= MOST:
            raise Refused(
                f"its timestamps are microseconds in 64 bits, and none is {element.at} ms"
            )
        self.keys.setdefault(element.key, len(self.keys))
        self.reports: list[Report] = []
        row = {"at": element.at, "key": element.key, "number": element.number}
        whole = self.folder / f"{element.number}.json"
        whole.write_text(json.dumps(row), encoding="utf-8")
        whole.rename(self.folder / "rows" / whole.name)
        assert Windows.running is not None  # a push comes after a register
        Windows.running.processAllAvailable()
        return self.reports

    def end(self) -> None:
        """Do nothing: time is that of the rows."""

    def _frame(self) -> DataFrame:
        """Return the windows over the rows."""
        source = SESSION.readStream.schema("at long, key string, number int")
        read = source.option("maxFilesPerTrigger", 1).json(str(self.folder / "rows"))
        timed = read.withColumn("at", sql.timestamp_millis("at"))
        late = timed.withWatermark("at", f"{DELAYS[MODE]} milliseconds")
        size, slide = f"{self.window.size} milliseconds", f"{self.window.slide} milliseconds"
        is_session = self.window.kind == "session"
        extent = sql.session_window("at", size) if is_session else sql.window("at", size, slide)
        grouped = late.groupBy("key", extent.alias("window"))
        return grouped.agg(sql.collect_list("number").alias("numbers")).select(
            "key",
            sql.unix_millis("window.start").alias("opens"),
            sql.unix_millis("window.end").alias("closes"),
            "numbers",
        )

    def _keep(self, frame: DataFrame, _: int) -> None:
        """Keep the windows of a micro-batch. Spark promises no order of rows: they are ordered by
        when their keys came first, and by their borders.
        """

        def place(row: Any) -> tuple[int, int, int]:
            return self.keys[row.key], row.closes, row.opens

        for row in sorted(frame.collect(), key=place):
            key = row.key if self.window.by else None
            self.reports.append(Report(sorted(row.numbers), (row.opens, row.closes), key=key))
