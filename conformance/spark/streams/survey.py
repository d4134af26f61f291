"""The first pass over a stream. It finds for each file how many triples come at which time, and how
many lines or rows are no triples.

Nothing else of the stream is kept: a part of it reads again what it needs, from the files that have
something of its time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pyarrow

from conformance.spark.part_plan import ArrivalHistogram
from conformance.spark.streams.rows import batch
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidStream

SCHEMA = (
    "file string, times array<long>, counts array<long>, last long, canonical long, "
    "faults long, error string, index array<array<long>>"
)
BUCKETS = 50_000  # of a stream's time that are told apart
FEWEST = 100  # of a file's


class TimeHistogram:
    """A histogram of arrival times. Bucket widths are powers of two, so at most `max_buckets` are
    kept; each bucket knows its first instant and its count. `last` is the last instant of all.
    """

    def __init__(self, max_buckets: int = BUCKETS) -> None:
        self.max_buckets = max_buckets
        self.shift = 0
        self.last = -TIME_BOUND
        self.buckets: dict[int, tuple[int, int]] = {}

    def add(self, times: Iterable[tuple[int, int]], last: int = -TIME_BOUND) -> None:
        """Add instants, each with how many triples come then; `last` is the last instant of what is
        added, where the instants are those of another histogram.
        """
        for time, count in times:
            bucket = time >> self.shift
            first, before = self.buckets.get(bucket, (time, 0))
            self.buckets[bucket] = min(first, time), before + count
            last = max(last, time)
            if len(self.buckets) > self.max_buckets:
                self._widen()
        self.last = max(self.last, last)

    def _widen(self) -> None:
        """Make each bucket twice as wide."""
        narrower = self.buckets
        self.buckets = {}
        self.shift += 1
        self.add(narrower.values())

    @property
    def first(self) -> int:
        """The first instant of all."""
        return min(first for first, _ in self.buckets.values())

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(sorted(self.buckets.values()))


@dataclass
class File:
    """A file of a stream, as the first pass finds it: its name as Spark has it, the times of its
    triples, how many of these are written as the model has them, how many rows or lines are no
    triples, why it cannot be read at all, if so, and an index of the pieces that are read together,
    with their digests.
    """

    name: str
    instants: TimeHistogram = field(default_factory=TimeHistogram)
    canonical: int = 0
    faults: int = 0
    error: str | None = None
    index: list[Sequence[int]] = field(default_factory=list)

    @property
    def triples(self) -> int:
        """How many triples there are."""
        return sum(count for _, count in self.instants)

    def as_batch(self) -> pyarrow.RecordBatch:
        """Return the file as a row of SCHEMA, which leaves a worker."""
        row = (
            self.name,
            [time for time, _ in self.instants],
            [count for _, count in self.instants],
            self.instants.last,
            self.canonical,
            self.faults,
            self.error,
            self.index,
        )
        return batch(SCHEMA, [row])


def max_buckets(files: int) -> int:
    """Return the most buckets that the histogram of one file has, if there are so many files. All
    files together have a few times as many as the stream.
    """
    return min(BUCKETS, max(FEWEST, 4 * BUCKETS // max(1, files)))


def files(rows: pyarrow.Table) -> list[File]:
    """Return the files of rows of SCHEMA, in the order of their names. Raises InvalidStream for one
    that cannot be read.
    """
    files = []
    for row in sorted(rows.to_pylist(), key=lambda row: path_of(row["file"])):
        if row["error"]:
            raise InvalidStream(row["error"], rule="IO-1", place=path_of(row["file"]))
        instants = TimeHistogram()
        instants.add(zip(row["times"], row["counts"], strict=True), row["last"])
        files.append(
            File(row["file"], instants, row["canonical"], row["faults"], None, row["index"])
        )
    return files


def digest(*pieces: Any) -> int:
    """Return a digest of 64 bits of pieces of bytes. A part that does not find it again knows that
    the file has been changed.
    """
    state = hashlib.blake2b(digest_size=8)
    for piece in pieces:
        state.update(piece)
    return int.from_bytes(state.digest(), signed=True)


def change_error(name: str) -> InvalidStream:
    """Return the error for a file that has been changed."""
    return InvalidStream("has been changed since it was surveyed", rule="IO-1", place=path_of(name))


def path_of(name: str) -> str:
    """Return a file's name for its user: on this machine its path, else the URL."""
    return re.sub("^file:/+", "/", unquote(name))


@dataclass(frozen=True)
class StreamExtent:
    """The extent of a stream: how many triples it has, its first and its last instant, and for each
    bucket of its time that has triples the first instant and the count.
    """

    triples: int
    first: int
    last: int
    instants: tuple[int, ...]
    counts: tuple[int, ...]

    def histogram(self, stream: str) -> ArrivalHistogram:
        """Return the histogram of arrival times of the stream, which has this name."""
        return ArrivalHistogram(self.instants, self.counts, {stream: self.first})


def extent(files: Iterable[File], path: str) -> StreamExtent:
    """Return the extent of a stream of files. Raises InvalidStream if it has no triple."""
    instants = TimeHistogram()
    for file in files:
        instants.add(file.instants, file.instants.last)
    if not instants.buckets:
        raise InvalidStream("no triple", rule="IO-1", place=path)
    times, counts = zip(*instants, strict=True)
    return StreamExtent(sum(counts), times[0], instants.last, times, counts)
