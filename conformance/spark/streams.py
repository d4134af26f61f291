"""Streams as DataFrames: a row a triple, with its time and its place in the order of arrival, and what is no triple beside them.

A stream is a folder of `.n3t` files (or one), N-Triples with a time, whose files come one after the other in the order of their
names; or Parquet with the columns `time` (ms), `element` (the order within an instant; the triples of an element share it),
`subject`, `predicate` and `object`, in N-Triples; or what `refengine.io.read_stream` reads, which the driver does.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow

from conformance.spark.jobs import collected, told
from conformance.spark.rows import batch
from conformance.spark.session import NoSpark
from refengine import io, model
from refengine.errors import InvalidStream, RefengineError, Unsupported
from refengine.model import TIME_BOUND
from refengine.texts import shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "time long, place long, subject string, predicate string, object string, file string, line long, error string"
COLUMNS = ("time", "element", "subject", "predicate", "object")
BATCH = 10_000  # rows that go to Spark at once
OTHERS = ("<x:s>", "<x:p>", "<x:o>")
FILE = 32  # bits of a place that count lines; those above count files
BUCKETS = 50_000  # instants that the first pass keeps
LONGEST = 500  # characters of a reason that are kept


@dataclass(frozen=True)
class Stream:
    """A stream's rows (SCHEMA; of those with an `error` nothing else but `file` and `line` is set), cached; `located` are the same,
    read anew, where the cached ones do not tell file and line."""

    rows: DataFrame
    located: Callable[[], DataFrame] | None = None
    ordered: bool = False  # whether a place has the number of a file, which come one after the other
    unread: int = 0  # how many files there are of other kinds

    @property
    def triples(self) -> DataFrame:
        """time, place, subject, predicate, object."""
        return self.rows.where("error is null").select("time", "place", "subject", "predicate", "object")

    def files(self) -> list[dict[str, Any]]:
        """Of each file, by its number, `first` and `last` instant, how many `triples`, and a `digest` of them; and of number None how
        many `faults`."""
        from pyspark.sql import functions as F

        number = F.shiftright("place", FILE) if self.ordered else F.when(F.col("error").isNull(), 0)
        found = self.rows.groupBy(number.alias("file")).agg(
            F.min("time").alias("first"), F.max("time").alias("last"), F.count("time").alias("triples"), F.count("error").alias("faults"),
            F.bit_xor(F.xxhash64("time", "place", "subject", "predicate", "object")).alias("digest"),
        )  # fmt: skip
        return collected(found).to_pylist()

    def faults(self) -> list[dict[str, Any]]:
        """What is no triple: file, line, error; in order."""
        rows = self.rows if self.located is None else self.located()
        found = collected(rows.where("error is not null").select("file", "line", "error")).to_pylist()
        for one in found if self.located else ():
            one["file"] = unquote(one["file"])  # a URL
        return sorted(found, key=lambda one: (one["file"], one["line"]))


@dataclass(frozen=True)
class Extent:
    """What the first pass finds: how many triples there are, the first and the last instant, and of up to `BUCKETS` equal
    stretches of time, those with triples in them, the first instant and how many there are."""

    triples: int
    first: int
    last: int
    instants: tuple[int, ...]
    counts: tuple[int, ...]

    def cuts(self, parts: int) -> list[int]:
        """Instants at which the stream falls into at most so many parts, of about as many triples."""
        sums, parts = list(accumulate(self.counts)), min(parts, 2 * len(self.counts))
        found = []
        for n in range(1, parts):
            place = bisect_left(sums, -(-n * self.triples // parts))
            found.append(self.instants[min(place + 1, len(self.instants) - 1)])
        return sorted({cut for cut in found if self.first < cut <= self.last})


def read(spark: SparkSession, path: str) -> Stream:
    """A stream, cached; it is read when it is first used. Raises InvalidStream for what is none."""
    place = _url(path)
    there = _names(spark, place)
    names, tables = ([name for name in there if name.endswith(end)] for end in (".n3t", ".parquet"))
    if names and tables:
        raise InvalidStream(f"{len(names)} files of .n3t and {len(tables)} of .parquet; which are the stream? name a folder of one kind", rule="IO-1", place=path)
    unread = len(there) - len(names) - len(tables)
    if names:
        files = spark.read.format("binaryFile").option("pathGlobFilter", "*.n3t").load(place)
        rows = files.select("path", "content").mapInArrow(_lines({name: number for number, name in enumerate(names)}), SCHEMA)
        return Stream(rows.persist(), ordered=True, unread=unread)
    if tables:
        return Stream(_of_parquet(spark, place, False).persist(), partial(_of_parquet, spark, place, True), unread=unread)
    if re.match(r"[a-z0-9+]+://", path):
        raise InvalidStream("neither .n3t nor .parquet files", rule="IO-1", place=path)
    return Stream(spark.createDataFrame(_table(io.read_stream(path)), SCHEMA).persist())


def _url(path: str) -> str:
    """A path of this machine for Spark, whatever the default file system, and whatever would be a pattern in it; URLs as they are."""
    return path if re.match(r"[a-z0-9+]+:/", path) else "file://" + re.sub(r"([\\*?{}\[\]])", r"\\\1", os.path.abspath(path))


def _names(spark: SparkSession, place: str) -> list[str]:
    def ask() -> pyarrow.Table:
        return spark.read.format("binaryFile").load(place).select("path").toArrow()

    try:
        return sorted(told(ask)["path"].to_pylist())
    except NoSpark as error:
        if "PATH_NOT_FOUND" not in str(error.__cause__):
            raise
        raise InvalidStream("no such file or folder", rule="IO-1", place=place) from None


def _lines(numbers: dict[str, int]) -> Callable[[Iterable[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """From files to rows; `numbers` is the order of the files."""

    def rows(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for some in batches:
            for path, content in zip(some.column("path").to_pylist(), some.column("content"), strict=True):
                yield from _batches(_of_file(path, numbers[path] << FILE, content.as_buffer()))

    return rows


def _of_file(path: str, first: int, content: Any) -> Iterator[tuple]:
    before = -TIME_BOUND
    for number, raw in enumerate(re.split(rb"\r\n|\r|\n", bytes(content)), 1):  # as when a text file is read
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            found = io.timed(text, "")
            if found is None:
                continue
            triple, time = found
            _timely(before, time)
        except (UnicodeDecodeError, RefengineError) as error:
            reason = f"IO-1: not UTF-8: {error.reason}" if isinstance(error, UnicodeDecodeError) else str(error)
            yield None, None, None, None, None, path, number, reason[:LONGEST]
            continue
        before = time
        yield time, first + number, *triple, None, None, None


def _timely(before: int, time: int) -> None:
    if not -TIME_BOUND <= time < TIME_BOUND:
        raise InvalidStream("t_app must be within 64 bits", rule="MOD-1")
    if time < before:
        raise InvalidStream(f"t_app decreases from {before} to {time}", rule="MOD-2")


def _of_parquet(spark: SparkSession, place: str, located: bool) -> DataFrame:
    """Where a row is stands in no column, and costs more to tell of each than the row itself: it is told where it is asked."""
    from pyspark.sql import functions as F

    try:
        found = told(lambda: spark.read.parquet(place))
        kinds = told(lambda: dict(found.dtypes))
    except NoSpark as error:
        raise InvalidStream(f"cannot be read as Parquet: {error.reason.partition(': ')[2]}", rule="IO-1", place=place) from None
    if "_metadata" in kinds:
        raise InvalidStream("a column _metadata, which hides where rows stand", rule="IO-1", place=place)
    wanted = {name: "bigint" if name in ("time", "element") else "string" for name in COLUMNS}
    if wrong := [f"{name} {kind}" for name, kind in wanted.items() if kinds.get(name) not in (kind, "int" if kind == "bigint" else kind)]:
        raise InvalidStream(f"needs the columns {', '.join(wrong)}; has {shown(', '.join(map(' '.join, found.dtypes)))}", rule="IO-1", place=place)
    where = [F.col("_metadata.file_path").alias("file"), F.col("_metadata.row_index").alias("line")] if located else []
    picked = [F.col(name).cast("bigint") if kind == "bigint" else F.col(name) for name, kind in wanted.items()]
    return found.select(*picked, *where).mapInArrow(_checked, SCHEMA)


def _checked(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for some in batches:
        yield from _batches(map(_of_row, *(column.to_pylist() for column in some.columns)))


def _of_row(time: int | None, element: int | None, subject: str, predicate: str, object_: str, file: str | None = None, row: int = 0) -> tuple:
    given = subject, predicate, object_
    try:
        if None in (time, element, *given):
            raise InvalidStream("a null", rule="IO-1")
        triple = _triple(given, time)
        _timely(-TIME_BOUND, time)
    except RefengineError as error:
        return None, None, None, None, None, file, row + 1, str(error)[:LONGEST]
    return time, element, *triple, None, None, None


def _triple(given: tuple[str, str, str], time: int) -> tuple[str, str, str]:
    found = io.timed(f'{" ".join(given)} "{time}" .', "")
    return given if found == (given, time) else tuple(_term(given, position) for position in range(3))


def _term(given: tuple[str, str, str], position: int) -> str:
    """A term that is not canonical, or more than one, by itself. With two times: what brings one of its own has the same twice."""
    one = [*OTHERS[:position], given[position], *OTHERS[position + 1 :]]
    found = [io.timed(f'{" ".join(one)} "{time}" .', "") for time in (0, 1)]
    for time, told in enumerate(found):
        if told is None or told[1] != time or any(told[0][i] != OTHERS[i] for i in range(3) if i != position):
            raise InvalidStream("subject, predicate and object are a term each", rule="IO-1")
    return found[0][0][position]


def _batches(rows: Iterator[tuple]) -> Iterator[pyarrow.RecordBatch]:
    while some := list(islice(rows, BATCH)):
        yield batch(SCHEMA, some)


def _table(stream: model.Stream) -> pyarrow.Table:
    """A stream that the driver has read. Raises Unsupported for what a row does not hold."""
    if not stream.elements:
        raise InvalidStream("no element", rule="IO-1")
    if any(element.end not in (None, element.app) for element in stream):
        raise Unsupported("rows have a time, and no interval", rule="MOD-3", place="end")
    if any(not element.graph for element in stream):
        raise Unsupported("an element without triples is no row", rule="MOD-1")
    rows = ((e.app, e.sys, *triple, None, None, None) for e in stream for triple in sorted(e.graph))
    return pyarrow.Table.from_batches(_batches(rows))


def extent(stream: Stream, files: Iterable[Mapping[str, Any]]) -> Extent:
    """What the first pass finds, by what is known of the files. Raises InvalidStream for a stream without triples, and for files
    that are not one after the other."""
    from pyspark.sql import functions as F

    triples = stream.triples
    found = sorted((one for one in files if one["triples"]), key=lambda one: one["file"])
    if not found:
        raise InvalidStream("no triple", rule="IO-1")
    for a, b in pairwise(found):
        if b["first"] < a["last"]:
            reason = f"t_app decreases from {a['last']} to {b['first']}, from one file to the next; files come in the order of time, and of names"
            raise InvalidStream(reason, rule="MOD-2", place=f"files {a['file'] + 1} and {b['file'] + 1}")
    first, last = found[0]["first"], found[-1]["last"]
    width = max(1, -((first - last - 1) // BUCKETS))
    buckets = triples.groupBy(F.expr(f"(cast(time as decimal(20)) - {first}) div {width}").alias("bucket")).agg(F.min("time").alias("at"), F.count("*").alias("triples"))
    some = collected(buckets).sort_by("bucket")
    return Extent(sum(one["triples"] for one in found), first, last, tuple(some["at"].to_pylist()), tuple(some["triples"].to_pylist()))
