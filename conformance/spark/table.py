"""A stream of Parquet files with the columns `time` (ms), `element` (the order within an instant;
the triples of an element share it), `subject`, `predicate` and `object`, in N-Triples; its rows are
in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import compute, parquet, types

from conformance.spark import survey
from conformance.spark.files import Files, buffers
from conformance.spark.rows import FAULT, KINDS, LONGEST, Reader, Row, batch, timely
from conformance.spark.survey import File
from refengine.model.elements import TIME_BOUND, Triple
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import plain, shown
from refengine.model.terms import PLAIN_IRI
from refengine.rdf.lines import PLAIN_OBJECT, parse_line_with_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SCHEMA = "time long, element long, subject string, predicate string, object string"
COLUMNS = {name: KINDS[kind] for name, kind in (column.split() for column in SCHEMA.split(", "))}
BATCH = 5_000  # rows that are read at once
PLAIN = re.compile(rf"(?:{PLAIN_IRI}\t{PLAIN_IRI}\t{PLAIN_OBJECT}\n)*+")
UNREADABLE = (OSError, UnicodeDecodeError, pyarrow.ArrowException)
OTHERS = ("<x:s>", "<x:p>", "<x:o>")


@dataclass(frozen=True)
class Table:
    """Such files."""

    files: Files

    def survey(self) -> list[File]:
        """The files, with the number of each group of rows, its first and last instant and a
        digest. Raises InvalidStream for what is no such file.
        """
        return self.files.survey(_surveyed)

    def faults(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """What is no triple in files: file, number of the row, error."""
        return self.files.faults(names, _faults)

    def part(self, files: Sequence[File], since: int, stop: int) -> tuple[DataFrame, Reader]:
        """What has the rows in [since, stop), and what finds them there."""
        wanted = {}
        for file in files:
            groups = {
                number: digest
                for number, first, last, digest in file.index
                if first < stop and last >= since
            }
            wanted[file.name] = groups, file.canonical == file.triples and not file.faults
        return self.files.contents(wanted), partial(_rows, wanted, since, stop)


def ordered(rows: pyarrow.Table) -> Iterator[Row]:
    """Rows of SCHEMA, all of them triples as they stand, sorted; a term that many have is one
    string.
    """
    order = compute.sort_indices(rows, [("time", "ascending"), ("element", "ascending")])
    time, element, *terms = (_taken(column, order) for column in rows.columns)
    return zip(time, element, zip(*terms, strict=True), strict=True)


def _taken(column: pyarrow.ChunkedArray, order: pyarrow.Array) -> list[Any]:
    if not types.is_string(column.type):
        values: list[Any] = column.take(order).to_pylist()
        return values
    encoded = column.dictionary_encode().combine_chunks()
    terms = encoded.dictionary.to_pylist()
    return [terms[index] for index in encoded.indices.take(order).to_pylist()]


def triple(
    time: int | None, element: int | None, subject: str, predicate: str, object_: str
) -> Triple:
    """The triple of a row, as the model has it. Raises RefengineError for what is none."""
    given = subject, predicate, object_
    if time is None or None in (element, *given):
        raise InvalidStream("a null", rule="IO-1")
    timely(-TIME_BOUND, time)
    found = parse_line_with_time(f'{subject} {predicate} {object_} "{time}" .', "")
    return given if found == (given, time) else (_term(given, 0), _term(given, 1), _term(given, 2))


def _term(given: tuple[str, str, str], position: int) -> str:
    """A term that is not canonical, or more than one, by itself. With two times: what brings one of
    its own has the same twice.
    """
    one = [*OTHERS[:position], given[position], *OTHERS[position + 1 :]]
    found = [parse_line_with_time(f'{" ".join(one)} "{time}" .', "") for time in (0, 1)]
    terms = []
    for time, told in enumerate(found):
        if (
            told is None
            or told[1] != time
            or any(told[0][i] != OTHERS[i] for i in range(3) if i != position)
        ):
            raise InvalidStream("subject, predicate and object are a term each", rule="IO-1")
        terms.append(told[0][position])
    return terms[0]


def _opened(content: pyarrow.Buffer) -> parquet.ParquetFile:
    """Raises InvalidStream for what is no such file."""
    try:
        found = parquet.ParquetFile(pyarrow.BufferReader(content))
        names, kinds = found.schema_arrow.names, found.schema_arrow.types
    except UNREADABLE as error:
        raise _unreadable(error) from None
    if wrong := [
        f"{name} {kind}"
        for name, kind in COLUMNS.items()
        if names.count(name) != 1 or not _fits(kinds[names.index(name)], kind)
    ]:
        has = shown(", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True)))
        raise InvalidStream(
            f"needs the columns {', '.join(wrong)}, each once; has {has}", rule="IO-1"
        )
    return found


def _fits(kind: pyarrow.DataType, wanted: pyarrow.DataType) -> bool:
    if types.is_string(wanted):
        return (
            types.is_string(kind)
            or types.is_large_string(kind)
            or (types.is_dictionary(kind) and _fits(kind.value_type, wanted))
        )
    return bool(types.is_signed_integer(kind))


def _batches(file: parquet.ParquetFile, groups: Sequence[int]) -> Iterator[pyarrow.RecordBatch]:
    """The rows of groups, as SCHEMA has them. Raises InvalidStream."""
    try:
        for some in file.iter_batches(
            BATCH, row_groups=groups, columns=list(COLUMNS), use_threads=False
        ):
            rows = pyarrow.RecordBatch.from_arrays(
                [some[name].cast(kind) for name, kind in COLUMNS.items()], list(COLUMNS)
            )
            rows.validate(full=True)
            yield rows
    except UNREADABLE as error:
        raise _unreadable(error) from None


def _unreadable(error: Exception) -> InvalidStream:
    return InvalidStream(f"cannot be read as Parquet: {plain(str(error))[:LONGEST]}", rule="IO-1")


def _digest(file: parquet.ParquetFile, content: pyarrow.Buffer, number: int) -> int:
    """Of the bytes of a group of rows that are read, and of what its columns are."""
    group = file.metadata.row_group(number)
    columns = [
        column
        for column in map(group.column, range(group.num_columns))
        if column.path_in_schema in COLUMNS
    ]
    begins = [column.dictionary_page_offset or column.data_page_offset for column in columns]
    pieces = [
        content[start : start + column.total_compressed_size]
        for start, column in zip(begins, columns, strict=True)
    ]
    return survey.digest(str(file.schema_arrow).encode(), *pieces)


def _of(some: pyarrow.RecordBatch) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in some.columns), strict=True)


def _surveyed(
    resolution: int, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    for name, content in buffers(batches):
        file = File(name, survey.Instants(resolution))
        try:
            opened = _opened(content)
            for number in range(opened.num_row_groups):
                group = survey.Instants()
                for some in _batches(opened, [number]):
                    _survey(file, group, some)
                if group.stretches:
                    file.instants.add(group, group.last)
                    file.index.append(
                        (number, group.first, group.last, _digest(opened, content, number))
                    )
        except InvalidStream as error:
            file.error = error.reason
        yield file.told()


def _survey(file: File, group: survey.Instants, rows: pyarrow.RecordBatch) -> None:
    if _plain(rows):
        times = rows["time"].value_counts().flatten()
        file.canonical += rows.num_rows
        group.add(zip(*(column.to_pylist() for column in times), strict=True))
        return
    for row in _of(rows):
        try:
            file.canonical += triple(*row) == row[2:]
        except RefengineError:
            file.faults += 1
        else:
            group.add([(row[0], 1)])


def _plain(rows: pyarrow.RecordBatch) -> bool:
    """Whether all rows are as most are, in one look at all of them, with separators that are in
    none of their terms.
    """
    if any(column.null_count for column in rows.columns):
        return False
    terms = (rows[name].to_pylist() for name in ("subject", "predicate", "object"))
    found = "".join([f"{s}\t{p}\t{o}\n" for s, p, o in zip(*terms, strict=True)])
    return found.count("\n") == rows.num_rows and PLAIN.fullmatch(found) is not None


def _faults(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for name, content in buffers(batches):
        opened, number = _opened(content), 0
        for some in _batches(opened, range(opened.num_row_groups)):
            found = []
            for row in _of(some):
                number += 1
                try:
                    triple(*row)
                except RefengineError as error:
                    found.append((name, number, str(error)[:LONGEST]))
            if found:
                yield batch(FAULT, found)


def _rows(
    wanted: Mapping[str, tuple[Mapping[int, int], bool]],
    since: int,
    stop: int,
    batches: Iterable[pyarrow.RecordBatch],
) -> Iterator[Row]:
    found = []
    for name, content in buffers(batches):
        groups, canonical = wanted[name]
        for some in _groups(name, content, groups):
            some = some.filter(
                compute.and_(
                    compute.greater_equal(some["time"], since),
                    compute.less_equal(some["time"], stop - 1),
                )
            )
            found.append(some if canonical else _canonical(some))
    return ordered(pyarrow.Table.from_batches(found, pyarrow.schema(COLUMNS.items())))


def _groups(
    name: str, content: pyarrow.Buffer, groups: Mapping[int, int]
) -> Iterator[pyarrow.RecordBatch]:
    try:
        opened = _opened(content)
        if any(
            number >= opened.num_row_groups or _digest(opened, content, number) != digest
            for number, digest in groups.items()
        ):
            raise survey.changed(name)
        yield from _batches(opened, list(groups))
    except InvalidStream:  # it could be read
        raise survey.changed(name) from None


def _canonical(some: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    found = []
    for row in _of(some):
        try:
            found.append((*row[:2], *triple(*row)))
        except RefengineError:  # it is set aside
            continue
    return batch(SCHEMA, found) if found else some.slice(0, 0)
