"""A stream that Spark reads: what kind it is of, one pass over it, and what each part needs of it.

It is a folder of `.n3t` files, or one (lines.py); or of Parquet (table.py); or what `refengine.io.read_stream` reads, which the driver does
(held.py).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow

from conformance.spark import survey
from conformance.spark.files import Files
from conformance.spark.held import Held, held
from conformance.spark.jobs import told
from conformance.spark.lines import Lines
from conformance.spark.rows import Reader
from conformance.spark.session import NoSpark
from conformance.spark.survey import Extent, File
from conformance.spark.table import Table
from refengine import io
from refengine.errors import InvalidStream
from refengine.model import TIME_BOUND

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

URL = re.compile(r"[a-z0-9+]+:/")


@dataclass(frozen=True)
class Stream:
    """A stream by its path; `identity` is that of its files, or of what the driver holds; `unread` is how many files there are of other
    kinds."""

    path: str
    source: Lines | Table | Held
    identity: str
    unread: int = 0

    @cached_property
    def files(self) -> list[File]:
        """What the first pass finds, which is done when it is asked for first. Raises InvalidStream."""
        return self.source.survey()

    @cached_property
    def extent(self) -> Extent:
        """Its time. Raises InvalidStream if it has no triple."""
        return survey.extent(self.files, self.path)

    def faults(self) -> list[dict[str, Any]]:
        """What is no triple: file, line (or row), error; in order."""
        names = [file.name for file in self.files if file.faults]
        found = self.source.faults(names) if names else []
        return sorted(({**one, "file": survey.path_of(one["file"])} for one in found), key=lambda one: (one["file"], one["line"]))

    def part(self, since: int | None, stop: int | None) -> tuple[DataFrame, Reader]:
        """What has the rows with t_app in [since, stop), None being no bound, and what finds them there, in a worker, in one task."""
        since = max(-TIME_BOUND if since is None else since, -TIME_BOUND)
        stop = TIME_BOUND if stop is None else stop
        files = [file for file in self.files if file.instants.stretches and file.instants.first < stop and file.instants.last >= since]
        rows, reader = self.source.part(files, since, stop)
        return rows.coalesce(1), reader


def read(spark: SparkSession, path: str) -> Stream:
    """What kind of stream is there. Raises InvalidStream for what is none."""
    place = _url(path)
    there = _files(spark, place)
    lines, tables = ([file for file in there if file[0].endswith(end)] for end in (".n3t", ".parquet"))
    if lines and tables:
        raise InvalidStream(f"{len(lines)} files of .n3t and {len(tables)} of .parquet; which are the stream? name a folder of one kind", rule="IO-1", place=path)
    if chosen := lines or tables:
        _check_names(path)
        found = spark.read.format("binaryFile").option("pathGlobFilter", "*.n3t" if lines else "*.parquet").load(place)
        files = Files(found, place.startswith("file:"), len(chosen))
        return Stream(path, Lines(files) if lines else Table(files), _digest(chosen), len(there) - len(chosen))
    if URL.match(path):
        raise InvalidStream("neither .n3t nor .parquet files", rule="IO-1", place=path)
    source = held(spark, io.read_stream(path))
    return Stream(path, source, _digest(source.rows))


def _url(path: str) -> str:
    """A path of this machine for Spark, whatever the default file system, and whatever would be a pattern in it; URLs as they are."""
    return path if URL.match(path) else "file://" + re.sub(r"([\\*?{}\[\]])", r"\\\1", os.path.abspath(path))


def _files(spark: SparkSession, place: str) -> list[tuple[str, int, int]]:
    """The path of each, how many bytes it has, and when it was modified (us)."""

    def ask() -> pyarrow.Table:
        return spark.read.format("binaryFile").load(place).selectExpr("path", "length", "unix_micros(modificationTime)").toArrow()

    try:
        return sorted(zip(*(column.to_pylist() for column in told(ask).columns), strict=True))
    except NoSpark as error:
        if "PATH_NOT_FOUND" not in str(error.__cause__):
            raise
        raise InvalidStream("no such file or folder", rule="IO-1", place=place) from None


def _digest(told: Sequence[tuple]) -> str:
    return hashlib.sha256(repr(told).encode()).hexdigest()


def _check_names(path: str) -> None:
    """Spark reads no file whose name begins with _ or ., and says nothing. Raises InvalidStream for such a one, on this machine."""
    for name in sorted(os.listdir(path)) if os.path.isdir(path) else ():
        if name[0] in "_." and Path(name).suffix in (".n3t", ".parquet"):
            raise InvalidStream("Spark reads no file whose name begins with _ or .: rename it, or take it away", rule="IO-1", place=os.path.join(path, name))
