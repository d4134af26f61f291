"""A relational program as a DataFrame of Spark Structured Streaming, and the relations in its
micro-batches.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from conformance.harness.relational import COLUMNS, NUMBER, Program
from refengine import Relation, Window
from refengine.model.elements import Bag
from refengine.rdf.recordings import relation_to_json

CONFIG = {
    "ui.enabled": "false",
    "ui.showConsoleProgress": "false",
    "driver.host": "127.0.0.1",
    "driver.bindAddress": "127.0.0.1",
    "sql.shuffle.partitions": "1",
    "sql.session.timeZone": "UTC",
    "sql.caseSensitive": "true",
    # For speed alone, as are the options of Java (below): files without checksums, for each of
    # which Hadoop starts a process.
    "hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}


def settings(folder: Path) -> dict[str, bool | float | int | str | None]:
    """Return the settings of a session whose files are in a folder."""
    # Java for a short run: the quick compiler alone, since most code runs too seldom to be worth
    # more, and the serial collector, which starts no threads of its own.
    own = {
        "local.dir": str(folder),
        "sql.warehouse.dir": str(folder / "warehouse"),
        "driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
        f"-Djava.io.tmpdir={folder}",
    }
    return {f"spark.{key}": value for key, value in {**CONFIG, **own}.items()}


def frame_of(program: Program, window: Window, session: SparkSession, elements: Path) -> DataFrame:
    """Return the DataFrame of a program over the files of a folder, each of which is an element.
    Its rows have the borders of their windows.

    A row that the program does not match keeps only its time: it must still move the watermark, and
    count as a content of its window.
    """
    schema = f"at long, s string, p string, o string, n {NUMBER}"
    source = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    at = sql.timestamp_millis("at").alias("at")
    rows = source.json(str(elements)).select(at, *matched_columns(program))
    rows = rows.withWatermark("at", "0 seconds")
    extent = sql.window("at", f"{window.size} milliseconds", f"{window.slide} milliseconds")
    if program.aggregates is None:
        columns: Iterable[str] = COLUMNS  # a graph has a triple once
        if program.distinct:
            columns = sorted(set(program.columns.values()))
        row = sql.when(sql.col("s").isNotNull(), sql.struct(sql.lit(1), *columns))
        grouped = rows.groupBy(extent).agg(sql.collect_set(row).alias("rows"))
    else:
        keys = [sql.col(column).alias(f"?{name}") for name, column in program.columns.items()]
        values = [
            sql.expr(aggregate.sql).alias(f"?{name}")
            for name, aggregate in program.aggregates.items()
        ]
        grouped = rows.groupBy(extent, *keys).agg(*values)
    borders = {"opens": sql.unix_millis("window.start"), "closes": sql.unix_millis("window.end")}
    # Python's dates end with the year 9999; the borders are numbers instead.
    return grouped.withColumns(borders).drop("window")


def matched_columns(program: Program) -> list[Column]:
    """Return the columns of a triple; they are null if the program's pattern does not match it."""
    terms = [sql.col(column) == term for column, term in program.terms.items()]
    equal = [sql.col(a) == sql.col(b) for a, b in program.equal]
    matches = reduce(lambda a, b: a & b, [*terms, *equal], sql.col("s").isNotNull())
    return [sql.when(matches, sql.col(column)).alias(column) for column in (*COLUMNS, "n")]


def relations(frame: DataFrame, program: Program) -> list[dict[str, Any]]:
    """Return the relations of one micro-batch for a reply: those of the windows that the watermark
    has passed, in the order of time.
    """
    windows: dict[tuple[int, int], Bag] = defaultdict(Counter)
    for group in frame.collect():
        rows = windows[group.opens, group.closes]
        if program.aggregates is None:
            for row in group.rows:
                terms = {name: row[column] for name, column in program.columns.items()}
                rows[program.mapping(terms, {})] += 1
            continue
        keys = {name: group[f"?{name}"] for name in program.columns}
        if None not in keys.values():  # it is a row that matches
            values = {name: group[f"?{name}"] for name in program.aggregates}
            rows[program.mapping(keys, values)] += 1
    return [
        {"rows": bindings(Relation(program.variables, rows)), "window": list(borders)}
        for borders, rows in sorted(windows.items())
    ]


def bindings(relation: Relation) -> list[dict[str, Any]]:
    """Return the rows of a relation as SPARQL's JSON has them."""
    rows: list[dict[str, Any]] = relation_to_json(relation)["results"]["bindings"]
    return rows
