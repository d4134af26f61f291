"""A stream of `.n3t` files (N-Triples with a time). The files follow each other in time in the
order of their names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow

from conformance.spark.streams import survey
from conformance.spark.streams.files import Files, buffers
from conformance.spark.streams.rows import FAULT, LONGEST, Reader, Row, batch, check_time
from conformance.spark.streams.survey import File, path_of
from refengine.model.elements import TIME_BOUND, Triple
from refengine.model.errors import InvalidStream, RefengineError
from refengine.rdf.lines import parse_line_with_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

END = re.compile(rb"\r\n|\r|\n")  # as when a text file is read
LINES = 10_000  # of a segment


class Segment(NamedTuple):
    """A segment of a file, whose lines are read together: its first byte, its length in bytes, the
    number of its first line, the t_app before it, its first and last t_app, and a digest.
    """

    offset: int
    length: int
    line: int
    before: int
    first: int
    last: int
    digest: int


SegmentsOf = dict[str, tuple[int, list[Segment]]]  # of a file by its name: its number, segments


@dataclass(frozen=True)
class Lines:
    """A stream of `.n3t` files."""

    files: Files

    def survey(self) -> list[File]:
        """Return the files. Raises InvalidStream for what cannot be read, and for files that are
        not one after the other.
        """
        files = self.files.survey(_surveys)
        for before, after in pairwise(file for file in files if file.triples):
            last = before.instants.last
            first = after.instants.first
            if first < last:
                raise InvalidStream(
                    f"t_app decreases from {last}, of {path_of(before.name)}, to {first}; "
                    "files come in the order of time, and of names",
                    rule="MOD-2",
                    place=path_of(after.name),
                )
        return files

    def faults(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the lines of files that are no triples: file, line, error."""
        return self.files.faults(names, _faults)

    def part(self, files: Sequence[File], since: int, stop: int) -> tuple[DataFrame, Reader]:
        """Return a DataFrame with the rows in [since, stop), and the function that reads them in a
        worker.
        """
        segments_of: SegmentsOf = {}
        for number, file in enumerate(files):
            segments = [Segment(*segment) for segment in file.index]
            segments_of_part = [
                segment for segment in segments if segment.first < stop and segment.last >= since
            ]
            segments_of[file.name] = number, segments_of_part
        return self.files.contents(segments_of), partial(_rows, segments_of, since, stop)


def _segments(content: memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield first byte, number of bytes, and number of the first line of each segment."""
    begins = 0
    line = 1
    for number, end in enumerate(END.finditer(content), 1):
        if number % LINES == 0:
            yield begins, end.end() - begins, line
            begins = end.end()
            line = number + 1
    if begins < len(content):
        yield begins, len(content) - begins, line


def _lines(
    content: pyarrow.Buffer, line: int, before: int
) -> Iterator[tuple[int, int, Triple | None, str | None]]:
    """Yield for each of some lines that is not empty, from this number and t_app on: number, t_app
    so far, and the triple or why it is none.
    """
    for number, raw in enumerate(END.split(bytes(content)), line):
        try:
            timed = parse_line_with_time(raw.decode(_encoding(number)), "")
            if timed is None:
                continue
            triple, time = timed
            check_time(before, time)
        except UnicodeDecodeError as error:
            yield number, before, None, f"IO-1: not UTF-8: {error.reason}"
        except RefengineError as error:
            yield number, before, None, str(error)[:LONGEST]
        else:
            before = time
            yield number, time, triple, None


def _encoding(line: int) -> str:
    """Return the encoding of a line by its number: a file may begin with a byte order mark."""
    if line == 1:
        return "utf-8-sig"
    return "utf-8"


# In a worker


def _surveys(
    max_buckets: int, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Survey files in a worker, and yield what is found, file by file."""
    for name, content in buffers(batches):
        file = File(name, survey.TimeHistogram(max_buckets))
        before = -TIME_BOUND
        for offset, length, line in _segments(memoryview(content)):
            piece = content[offset : offset + length]
            times: Counter[int] = Counter()
            for _, time, triple, _ in _lines(piece, line, before):
                if triple is None:
                    file.faults += 1
                else:
                    times[time] += 1
            if times:
                file.instants.add(times.items())
                first = min(times)
                last = max(times)
                digest = survey.digest(piece)
                file.index.append(Segment(offset, length, line, before, first, last, digest))
                before = last
        yield file.as_batch()


def _faults(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Find lines that are no triples in a worker, and yield them as batches of FAULT."""
    for name, content in buffers(batches):
        before = -TIME_BOUND
        for offset, length, line in _segments(memoryview(content)):
            faults = []
            for number, now, triple, why in _lines(content[offset : offset + length], line, before):
                before = now
                if triple is None:
                    faults.append((name, number, why))
            if faults:
                yield batch(FAULT, faults)


def _rows(
    segments_of: SegmentsOf, since: int, stop: int, batches: Iterable[pyarrow.RecordBatch]
) -> list[Row]:
    """Return the rows in [since, stop). Raises InvalidStream for a file that has been changed."""
    rows = []
    for name, content in buffers(batches):
        file, segments = segments_of[name]
        for offset, length, line, before, *_, digest in segments:
            piece = content[offset : offset + length]
            if survey.digest(piece) != digest:
                raise survey.change_error(name)
            rows += [
                (time, (file, number), triple)
                for number, time, triple, _ in _lines(piece, line, before)
                if triple is not None and since <= time < stop
            ]
    return sorted(rows)  # a task's files are in any order
