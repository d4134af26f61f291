"""What a first pass over a stream finds, file by file: how many triples come when, and what is no
triple.

Nothing else of the stream is kept: a part of it reads again what it needs, from the files that have
something of its time.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

import pyarrow

from conformance.spark.rows import batch
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidStream

SCHEMA = (
    "file string, times array<long>, counts array<long>, last long, canonical long, "
    "faults long, error string, index array<array<long>>"
)
STRETCHES = 50_000  # of a stream's time that are told apart
FEWEST = 100  # of a file's


class Instants:
    """How many triples come when: of stretches of time as long as a power of two, so long that
    there are at most so many, the first instant with a triple and how many triples; and the last
    instant of all.
    """

    def __init__(self, most: int = STRETCHES) -> None:
        self.most, self.shift = most, 0
        self.last = -TIME_BOUND
        self.stretches: dict[int, tuple[int, int]] = {}

    def add(self, times: Iterable[tuple[int, int]], last: int = -TIME_BOUND) -> None:
        """Instants, and how many triples come then; of stretches, the last instant, too."""
        for time, count in times:
            stretch = time >> self.shift
            first, before = self.stretches.get(stretch, (time, 0))
            self.stretches[stretch] = min(first, time), before + count
            last = max(last, time)
            if len(self.stretches) > self.most:
                shorter, self.stretches = self.stretches, {}
                self.shift += 1
                self.add(shorter.values())
        self.last = max(self.last, last)

    @property
    def first(self) -> int:
        """The first instant of all."""
        return min(first for first, _ in self.stretches.values())

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(sorted(self.stretches.values()))


@dataclass
class File:
    """A file: its name as Spark has it, when its triples come, how many of them are written as the
    model has them, how many rows or lines are no triple, or why it cannot be read at all, and an
    index of what is read together, with digests.
    """

    name: str
    instants: Instants = field(default_factory=Instants)
    canonical: int = 0
    faults: int = 0
    error: str | None = None
    index: list[Sequence[int]] = field(default_factory=list)

    @property
    def triples(self) -> int:
        """How many there are."""
        return sum(count for _, count in self.instants)

    def told(self) -> pyarrow.RecordBatch:
        """As it leaves a worker."""
        times, counts = zip(*self.instants, strict=True) if self.instants.stretches else ((), ())
        return batch(
            SCHEMA,
            [
                (
                    self.name,
                    times,
                    counts,
                    self.instants.last,
                    self.canonical,
                    self.faults,
                    self.error,
                    self.index,
                )
            ],
        )


def resolution(files: int) -> int:
    """How many stretches of a file are told apart, where there are so many files: all together some
    times as many as of the stream.
    """
    return min(STRETCHES, max(FEWEST, 4 * STRETCHES // max(1, files)))


def files(told: pyarrow.Table) -> list[File]:
    """The files, in the order of their names. Raises InvalidStream for one that cannot be read."""
    found = []
    for row in sorted(told.to_pylist(), key=lambda row: path_of(row["file"])):
        if row["error"]:
            raise InvalidStream(row["error"], rule="IO-1", place=path_of(row["file"]))
        instants = Instants()
        instants.add(zip(row["times"], row["counts"], strict=True), row["last"])
        found.append(
            File(row["file"], instants, row["canonical"], row["faults"], None, row["index"])
        )
    return found


def digest(*pieces: Any) -> int:
    """Of bytes that are read together, which has 64 bits: a part finds it again, or the file has
    been changed.
    """
    found = hashlib.blake2b(digest_size=8)
    for piece in pieces:
        found.update(piece)
    return int.from_bytes(found.digest(), signed=True)


def changed(name: str) -> InvalidStream:
    """What is raised for such a file."""
    return InvalidStream("has been changed since it was surveyed", rule="IO-1", place=path_of(name))


def path_of(name: str) -> str:
    """A file's name for its user: on this machine its path, else the URL."""
    return re.sub("^file:/+", "/", unquote(name))


@dataclass(frozen=True)
class Extent:
    """How many triples a stream has, its first and its last instant, and of stretches of its time,
    those with triples in them, the first instant and how many there are.
    """

    triples: int
    first: int
    last: int
    instants: tuple[int, ...]
    counts: tuple[int, ...]

    def cuts(self, parts: int) -> list[int]:
        """Instants at which the stream falls into at most so many parts, of
        about as many triples.
        """
        sums, parts = list(accumulate(self.counts)), min(parts, 2 * len(self.counts))
        found = []
        for n in range(1, parts):
            place = bisect_left(sums, -(-n * self.triples // parts))
            found.append(self.instants[min(place + 1, len(self.instants) - 1)])
        return sorted({cut for cut in found if self.first < cut <= self.last})


def extent(files: Iterable[File], path: str) -> Extent:
    """That of a stream. Raises InvalidStream if it has no triple."""
    instants = Instants()
    for file in files:
        instants.add(file.instants, file.instants.last)
    if not instants.stretches:
        raise InvalidStream("no triple", rule="IO-1", place=path)
    times, counts = zip(*instants, strict=True)
    return Extent(sum(counts), times[0], instants.last, times, counts)
