"""A stream that Spark reads: its kind, one first pass over it, and the rows for each part.

It is one or several `.n3t` files (lines.py), or Parquet files (table.py). Anything else that
`refengine.rdf.streams.read_stream` reads is read by the driver (in_memory.py).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from conformance.spark.jobs import ask
from conformance.spark.session import NoSpark
from conformance.spark.streams import survey
from conformance.spark.streams.files import Files
from conformance.spark.streams.in_memory import InMemory, in_memory
from conformance.spark.streams.lines import Lines
from conformance.spark.streams.rows import Reader
from conformance.spark.streams.survey import File, StreamExtent
from conformance.spark.streams.table import TripleTable
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidStream
from refengine.rdf.streams import read_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

URL = re.compile(r"[a-z0-9+]+:/")
N3T, PARQUET = ".n3t", ".parquet"  # the endings of files of each kind
HIDDEN = (
    "by Spark: it is empty, or leads nowhere, or a name of its path begins with _ or . "
    "or is not of the locale (LC_ALL=C.UTF-8)"
)


@dataclass(frozen=True)
class Stream:
    """A stream: its path, the source of its rows, and the number of files of other kinds."""

    path: str
    source: Lines | TripleTable | InMemory
    unread: int = 0

    @cached_property
    def files(self) -> list[File]:
        """The files as the first pass finds them. The pass is made at the first access. Raises
        InvalidStream.
        """
        return self.source.survey()

    @cached_property
    def extent(self) -> StreamExtent:
        """The extent of the stream in time. Raises InvalidStream if it has no triple."""
        return survey.extent(self.files, self.path)

    @property
    def identity(self) -> str:
        """A digest of the stream's content."""
        content = repr([(file.name, file.faults, file.index) for file in self.files])
        return hashlib.sha256(content.encode()).hexdigest()

    def faults(self) -> list[dict[str, Any]]:
        """Return the lines or rows that are no triples, in order: file, line, error."""
        names = [file.name for file in self.files if file.faults]
        if not names or isinstance(self.source, InMemory):
            return []
        faults = [
            {**fault, "file": survey.path_of(fault["file"])} for fault in self.source.faults(names)
        ]
        return sorted(faults, key=lambda fault: (fault["file"], fault["line"]))

    def part(self, since: int | None, stop: int | None) -> tuple[DataFrame, Reader]:
        """Return a DataFrame of one task with the rows whose t_app is in [since, stop), and the
        function that reads them in a worker. None is no bound.
        """
        if since is None or since < -TIME_BOUND:
            since = -TIME_BOUND
        if stop is None:
            stop = TIME_BOUND
        files = [
            file
            for file in self.files
            if file.instants.buckets and file.instants.first < stop and file.instants.last >= since
        ]
        rows, reader = self.source.part(files, since, stop)
        return rows.coalesce(1), reader


def open_stream(spark: SparkSession, path: str) -> Stream:
    """Find out what kind of stream is at a path, and return it. Raises InvalidStream."""
    place = _url(path)
    there = _files(spark, place)
    lines = [name for name in there if name.endswith(N3T)]
    tables = [name for name in there if name.endswith(PARQUET)]
    if lines and tables:
        raise InvalidStream(
            f"{len(lines)} files of .n3t and {len(tables)} of .parquet; which "
            "are the stream? name a folder of one kind",
            rule="IO-1",
            place=path,
        )
    if not URL.match(path):
        _check_all_read(path, there)
    if lines:
        source = Lines(_files_of_kind(spark, place, N3T, len(lines)))
        return Stream(path, source, len(there) - len(lines))
    if tables:
        rows = TripleTable(_files_of_kind(spark, place, PARQUET, len(tables)))
        return Stream(path, rows, len(there) - len(tables))
    if URL.match(path):
        raise InvalidStream("neither .n3t nor .parquet files", rule="IO-1", place=path)
    return Stream(path, in_memory(spark, read_stream(path)))


def _url(path: str) -> str:
    """Return a path as a URL for Spark: a path of this machine with `file://`, and with escapes for
    the characters of patterns. A URL stays as it is.
    """
    if URL.match(path):
        return path
    return "file://" + re.sub(r"([\\*?{}\[\]])", r"\\\1", os.path.abspath(path))


def _reader(spark: SparkSession) -> DataFrameReader:
    """Return a reader of all files in a folder and its subfolders. The names of folders make no
    columns.
    """
    return spark.read.format("binaryFile").option("recursiveFileLookup", "true")


def _files_of_kind(spark: SparkSession, place: str, ending: str, count: int) -> Files:
    source = _reader(spark).option("pathGlobFilter", f"*{ending}").load(place)
    return Files(source, place.startswith("file:"), count)


def _files(spark: SparkSession, place: str) -> list[str]:
    """Return the names of all files at a place, sorted. Raises InvalidStream if there are none, and
    NoSpark.
    """
    try:
        paths = ask(lambda: _reader(spark).load(place).select("path").toArrow())
        return sorted(paths["path"].to_pylist())
    except NoSpark as error:
        if "PATH_NOT_FOUND" not in str(error.__cause__):
            raise
        reason = "no such file or folder"
        if os.path.exists(place.removeprefix("file://")):
            reason = f"is not found {HIDDEN}"
        raise InvalidStream(reason, rule="IO-1", place=place) from None


def _check_all_read(path: str, there: Iterable[str]) -> None:
    """Raise InvalidStream if a file of this machine is not among those that Spark has found, since
    Spark would leave it out without a word.
    """
    known = {os.path.realpath(re.sub("^file:/+", "/", name)) for name in there}
    for folder, _, names in os.walk(path):
        for name in sorted(names):
            place = os.path.join(folder, name)
            is_of_kind = name.endswith((N3T, PARQUET)) and not _is_empty(place)
            if is_of_kind and os.path.realpath(place) not in known:
                raise InvalidStream(f"is not read {HIDDEN}", rule="IO-1", place=place)


def _is_empty(place: str) -> bool:
    """Whether a file is an `.n3t` file without lines."""
    return place.endswith(N3T) and os.path.exists(place) and not os.path.getsize(place)
