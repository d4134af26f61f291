"""A stream of `.n3t` files, N-Triples with a time, which come one after the other in the order of
their names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow

from conformance.spark import survey
from conformance.spark.files import Files, buffers
from conformance.spark.rows import FAULT, LONGEST, Reader, Row, batch, timely
from conformance.spark.survey import File, path_of
from refengine.model.elements import TIME_BOUND, Triple
from refengine.model.errors import InvalidStream, RefengineError
from refengine.rdf.lines import parse_line_with_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

END = re.compile(rb"\r\n|\r|\n")  # as when a text file is read
LINES = 10_000  # of a segment


class Segment(NamedTuple):
    """Some lines of a file that are read together: their first byte, how many bytes they are, the
    number of the first, what t_app was before them, the first and the last of theirs, and a digest.
    """

    offset: int
    length: int
    line: int
    before: int
    first: int
    last: int
    digest: int


@dataclass(frozen=True)
class Lines:
    """Such files."""

    files: Files

    def survey(self) -> list[File]:
        """The files. Raises InvalidStream for what cannot be read, and for files that are not one
        after the other.
        """
        found = self.files.survey(_surveyed)
        for before, after in pairwise(file for file in found if file.triples):
            a, b = before.instants.last, after.instants.first
            if b < a:
                reason = (
                    f"t_app decreases from {a}, of {path_of(before.name)}, to {b}; files come "
                    "in the "
                    "order of time, and of names"
                )
                raise InvalidStream(reason, rule="MOD-2", place=path_of(after.name))
        return found

    def faults(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """What is no triple in files: file, line, error."""
        return self.files.faults(names, _faults)

    def part(self, files: Sequence[File], since: int, stop: int) -> tuple[DataFrame, Reader]:
        """What has the rows in [since, stop), and what finds them there."""
        wanted = {}
        for number, file in enumerate(files):
            segments = [Segment(*one) for one in file.index]
            wanted[file.name] = (
                number,
                [one for one in segments if one.first < stop and one.last >= since],
            )
        return self.files.contents(wanted), partial(_rows, wanted, since, stop)


def _segments(content: memoryview) -> Iterator[tuple[int, int, int]]:
    """First byte, number of bytes, and number of the first line."""
    begins, line = 0, 1
    for number, end in enumerate(END.finditer(content), 1):
        if number % LINES == 0:
            yield begins, end.end() - begins, line
            begins, line = end.end(), number + 1
    if begins < len(content):
        yield begins, len(content) - begins, line


def _lines(
    content: pyarrow.Buffer, line: int, before: int
) -> Iterator[tuple[int, int, Triple | None, str | None]]:
    """Of some lines, from this number and t_app on, those that are not empty: number, t_app so far,
    and the triple or why it is none.
    """
    for number, raw in enumerate(END.split(bytes(content)), line):
        try:
            found = parse_line_with_time(raw.decode("utf-8-sig" if number == 1 else "utf-8"), "")
            if found is None:
                continue
            triple, time = found
            timely(before, time)
        except UnicodeDecodeError as error:
            yield number, before, None, f"IO-1: not UTF-8: {error.reason}"
        except RefengineError as error:
            yield number, before, None, str(error)[:LONGEST]
        else:
            before = time
            yield number, time, triple, None


def _surveyed(
    resolution: int, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    for name, content in buffers(batches):
        file, before = File(name, survey.Instants(resolution)), -TIME_BOUND
        for offset, length, line in _segments(memoryview(content)):
            times: Counter[int] = Counter()
            for _, time, triple, _ in _lines(content[offset : offset + length], line, before):
                if triple is None:
                    file.faults += 1
                else:
                    times[time] += 1
            if times:
                file.instants.add(times.items())
                last = max(times)
                file.index.append(
                    Segment(
                        offset,
                        length,
                        line,
                        before,
                        min(times),
                        last,
                        survey.digest(content[offset : offset + length]),
                    )
                )
                before = last
        yield file.told()


def _faults(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for name, content in buffers(batches):
        before = -TIME_BOUND
        for offset, length, line in _segments(memoryview(content)):
            found = []
            for number, now, triple, why in _lines(content[offset : offset + length], line, before):
                before = now
                if triple is None:
                    found.append((name, number, why))
            if found:
                yield batch(FAULT, found)


def _rows(
    wanted: Mapping[str, tuple[int, list[Segment]]],
    since: int,
    stop: int,
    batches: Iterable[pyarrow.RecordBatch],
) -> list[Row]:
    found = []
    for name, content in buffers(batches):
        file, segments = wanted[name]
        for offset, length, line, before, *_, digest in segments:
            piece = content[offset : offset + length]
            if survey.digest(piece) != digest:
                raise survey.changed(name)
            lines = _lines(piece, line, before)
            found += [
                (time, (file, number), triple)
                for number, time, triple, _ in lines
                if triple is not None and since <= time < stop
            ]
    return sorted(found)  # a task's files are in any order
