"""A stream that Spark reads: what kind it is of, one pass over it, and what each part needs of it.

It is a folder of `.n3t` files, or one (lines.py); or of Parquet (table.py); or what
`refengine.rdf.streams.read_stream` reads, which the driver does (held.py).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from conformance.spark import survey
from conformance.spark.files import Files
from conformance.spark.held import Held, held
from conformance.spark.jobs import told
from conformance.spark.lines import Lines
from conformance.spark.rows import Reader
from conformance.spark.session import NoSpark
from conformance.spark.survey import Extent, File
from conformance.spark.table import Table
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidStream
from refengine.rdf.streams import read_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

URL = re.compile(r"[a-z0-9+]+:/")
KINDS = (".n3t", ".parquet")
HIDDEN = (
    "by Spark: it is empty, or leads nowhere, or a name of its path begins with _ or . "
    "or is not of the locale (LC_ALL=C.UTF-8)"
)


@dataclass(frozen=True)
class Stream:
    """A stream by its path; `unread` is how many files there are of other kinds."""

    path: str
    source: Lines | Table | Held
    unread: int = 0

    @cached_property
    def files(self) -> list[File]:
        """What the first pass finds, which is done when it is asked for first. Raises
        InvalidStream.
        """
        return self.source.survey()

    @cached_property
    def extent(self) -> Extent:
        """Its time. Raises InvalidStream if it has no triple."""
        return survey.extent(self.files, self.path)

    @property
    def identity(self) -> str:
        """A digest of what it has."""
        return hashlib.sha256(
            repr([(file.name, file.faults, file.index) for file in self.files]).encode()
        ).hexdigest()

    def faults(self) -> list[dict[str, Any]]:
        """What is no triple: file, line (or row), error; in order."""
        names = [file.name for file in self.files if file.faults]
        if not names or isinstance(self.source, Held):
            return []
        found = self.source.faults(names)
        return sorted(
            ({**one, "file": survey.path_of(one["file"])} for one in found),
            key=lambda one: (one["file"], one["line"]),
        )

    def part(self, since: int | None, stop: int | None) -> tuple[DataFrame, Reader]:
        """What has the rows with t_app in [since, stop), None being no bound, and what finds them
        there, in a worker, in one task.
        """
        since = max(-TIME_BOUND if since is None else since, -TIME_BOUND)
        stop = TIME_BOUND if stop is None else stop
        files = [
            file
            for file in self.files
            if file.instants.stretches
            and file.instants.first < stop
            and file.instants.last >= since
        ]
        rows, reader = self.source.part(files, since, stop)
        return rows.coalesce(1), reader


def read(spark: SparkSession, path: str) -> Stream:
    """What kind of stream is there. Raises InvalidStream for what is none."""
    place = _url(path)
    there = _files(spark, place)
    lines, tables = ([name for name in there if name.endswith(end)] for end in KINDS)
    if lines and tables:
        raise InvalidStream(
            f"{len(lines)} files of .n3t and {len(tables)} of .parquet; which "
            "are the stream? name a folder of one kind",
            rule="IO-1",
            place=path,
        )
    if not URL.match(path):
        _check_all_read(path, there)
    if chosen := lines or tables:
        files = Files(
            _listed(spark).option("pathGlobFilter", f"*{KINDS[not lines]}").load(place),
            place.startswith("file:"),
            len(chosen),
        )
        return Stream(path, Lines(files) if lines else Table(files), len(there) - len(chosen))
    if URL.match(path):
        raise InvalidStream("neither .n3t nor .parquet files", rule="IO-1", place=path)
    return Stream(path, held(spark, read_stream(path)))


def _url(path: str) -> str:
    """A path of this machine for Spark, whatever the default file system, and whatever would be a
    pattern in it; URLs as they are.
    """
    return (
        path
        if URL.match(path)
        else "file://" + re.sub(r"([\\*?{}\[\]])", r"\\\1", os.path.abspath(path))
    )


def _listed(spark: SparkSession) -> DataFrameReader:
    """Of all files of a folder, and of those in it; what folders are called brings no columns."""
    return spark.read.format("binaryFile").option("recursiveFileLookup", "true")


def _files(spark: SparkSession, place: str) -> list[str]:
    try:
        return sorted(
            told(lambda: _listed(spark).load(place).select("path").toArrow())["path"].to_pylist()
        )
    except NoSpark as error:
        if "PATH_NOT_FOUND" not in str(error.__cause__):
            raise
        reason = (
            f"is not found {HIDDEN}"
            if os.path.exists(place.removeprefix("file://"))
            else "no such file or folder"
        )
        raise InvalidStream(reason, rule="IO-1", place=place) from None


def _check_all_read(path: str, there: Iterable[str]) -> None:
    """Raises InvalidStream for a file of this machine that Spark says nothing about, and would not
    read.
    """
    read = {os.path.realpath(re.sub("^file:/+", "/", name)) for name in there}
    for folder, _, names in os.walk(path):
        for name in sorted(names):
            place = os.path.join(folder, name)
            empty = name.endswith(KINDS[0]) and os.path.exists(place) and not os.path.getsize(place)
            if name.endswith(KINDS) and not empty and os.path.realpath(place) not in read:
                raise InvalidStream(f"is not read {HIDDEN}", rule="IO-1", place=place)
