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

from conformance.spark.streams import survey
from conformance.spark.streams.files import Files, buffers
from conformance.spark.streams.rows import FAULT, KINDS, LONGEST, Reader, Row, batch, check_time
from conformance.spark.streams.survey import File
from refengine.model.elements import TIME_BOUND, Triple
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import display, plain
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

# of a file by its name: the digests of its groups of rows, by number, and whether all terms are
# written as the model has them
GroupsOf = dict[str, tuple[Mapping[int, int], bool]]


@dataclass(frozen=True)
class TripleTable:
    """A stream of Parquet files."""

    files: Files

    def survey(self) -> list[File]:
        """Return the files, with the number of each group of rows, its first and last instant and a
        digest. Raises InvalidStream for what is no such file.
        """
        return self.files.survey(_surveys)

    def faults(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the rows of files that are no triples: file, number of the row, error."""
        return self.files.faults(names, _faults)

    def part(self, files: Sequence[File], since: int, stop: int) -> tuple[DataFrame, Reader]:
        """Return a DataFrame with the rows in [since, stop), and the function that reads them in a
        worker.
        """
        groups_of: GroupsOf = {}
        for file in files:
            groups = {
                number: digest
                for number, first, last, digest in file.index
                if first < stop and last >= since
            }
            is_canonical = file.canonical == file.triples and not file.faults
            groups_of[file.name] = groups, is_canonical
        return self.files.contents(groups_of), partial(_rows, groups_of, since, stop)


def ordered(rows: pyarrow.Table) -> Iterator[Row]:
    """Return rows of SCHEMA in order. All of them must be triples as they stand. A term that many
    rows have is one string.
    """
    order = compute.sort_indices(rows, [("time", "ascending"), ("element", "ascending")])
    time, element, *terms = (_take(column, order) for column in rows.columns)
    return zip(time, element, zip(*terms, strict=True), strict=True)


def _take(column: pyarrow.ChunkedArray, order: pyarrow.Array) -> list[Any]:
    """Return the values of a column in an order; equal texts are one string."""
    if not types.is_string(column.type):
        values: list[Any] = column.take(order).to_pylist()
        return values
    encoded = column.dictionary_encode().combine_chunks()
    terms = encoded.dictionary.to_pylist()
    return [terms[index] for index in encoded.indices.take(order).to_pylist()]


def triple(
    time: int | None, element: int | None, subject: str, predicate: str, object_: str
) -> Triple:
    """Return the triple of a row, as the model has it. Raises RefengineError for what is none."""
    terms = subject, predicate, object_
    if time is None or None in (element, *terms):
        raise InvalidStream("a row has a null", rule="IO-1")
    check_time(-TIME_BOUND, time)
    if parse_line_with_time(f'{subject} {predicate} {object_} "{time}" .', "") == (terms, time):
        return terms
    return _canonical_term(terms, 0), _canonical_term(terms, 1), _canonical_term(terms, 2)


def _canonical_term(terms: tuple[str, str, str], position: int) -> str:
    """Return a term that is not canonical, or more than one, as the model has it, read by itself.
    Raises RefengineError for what is none.

    It is read with two times: what brings a time of its own has the same twice.
    """
    others = set(range(3)) - {position}
    words = [*OTHERS[:position], terms[position], *OTHERS[position + 1 :]]
    lines = [parse_line_with_time(f'{" ".join(words)} "{time}" .', "") for time in (0, 1)]
    for time, line in enumerate(lines):
        is_one_term = (
            line is not None
            and line[1] == time
            and all(line[0][other] == OTHERS[other] for other in others)
        )
        if not is_one_term:
            raise InvalidStream("subject, predicate and object must be one term each", rule="IO-1")
    assert lines[0] is not None
    return lines[0][0][position]


def _open(content: pyarrow.Buffer) -> parquet.ParquetFile:
    """Return the file of some bytes. Raises InvalidStream for what is none with these columns."""
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content))
        names = file.schema_arrow.names
        kinds = file.schema_arrow.types
    except UNREADABLE as error:
        raise _unreadable(error) from None
    wrong = [
        f"{name} {kind}"
        for name, kind in COLUMNS.items()
        if names.count(name) != 1 or not _fits(kinds[names.index(name)], kind)
    ]
    if wrong:
        has = display(", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True)))
        raise InvalidStream(
            f"needs the columns {', '.join(wrong)}, each once; has {has}", rule="IO-1"
        )
    return file


def _fits(kind: pyarrow.DataType, needed: pyarrow.DataType) -> bool:
    """Whether values of a type can be cast to another."""
    if not types.is_string(needed):
        return bool(types.is_signed_integer(kind))
    if types.is_dictionary(kind):
        return _fits(kind.value_type, needed)
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _batches(file: parquet.ParquetFile, groups: Sequence[int]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of groups, as SCHEMA has them. Raises InvalidStream."""
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
    """Return a digest of the bytes of a group of rows that are read, and of what its columns
    are.
    """
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


def _tuples(rows: pyarrow.RecordBatch) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in rows.columns), strict=True)


# In a worker


def _surveys(
    max_buckets: int, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield what a first pass finds, file by file."""
    for name, content in buffers(batches):
        file = File(name, survey.TimeHistogram(max_buckets))
        try:
            contents = _open(content)
            for number in range(contents.num_row_groups):
                group = survey.TimeHistogram()
                for rows in _batches(contents, [number]):
                    _survey_rows(file, group, rows)
                if group.buckets:
                    file.instants.add(group, group.last)
                    digest = _digest(contents, content, number)
                    file.index.append((number, group.first, group.last, digest))
        except InvalidStream as error:
            file.error = error.reason
        yield file.as_batch()


def _survey_rows(file: File, group: survey.TimeHistogram, rows: pyarrow.RecordBatch) -> None:
    """Add what some rows are to what is known of their file and of their group."""
    if _plain(rows):
        times = rows["time"].value_counts().flatten()
        file.canonical += rows.num_rows
        group.add(zip(*(column.to_pylist() for column in times), strict=True))
        return
    for row in _tuples(rows):
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
    text = "".join([f"{s}\t{p}\t{o}\n" for s, p, o in zip(*terms, strict=True)])
    return text.count("\n") == rows.num_rows and PLAIN.fullmatch(text) is not None


def _faults(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yield what is no triple, with FAULT's columns."""
    for name, content in buffers(batches):
        contents = _open(content)
        number = 0
        for rows in _batches(contents, range(contents.num_row_groups)):
            faults = []
            for row in _tuples(rows):
                number += 1
                try:
                    triple(*row)
                except RefengineError as error:
                    faults.append((name, number, str(error)[:LONGEST]))
            if faults:
                yield batch(FAULT, faults)


def _rows(
    groups_of: GroupsOf, since: int, stop: int, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[Row]:
    """Return the rows in [since, stop), sorted. Raises InvalidStream for a file that has been
    changed.
    """
    tables = []
    for name, content in buffers(batches):
        groups, is_canonical = groups_of[name]
        for rows in _groups(name, content, groups):
            is_after = compute.greater_equal(rows["time"], since)
            is_before = compute.less_equal(rows["time"], stop - 1)
            rows = rows.filter(compute.and_(is_after, is_before))
            if not is_canonical:
                rows = _canonical(rows)
            tables.append(rows)
    return ordered(pyarrow.Table.from_batches(tables, pyarrow.schema(COLUMNS.items())))


def _groups(
    name: str, content: pyarrow.Buffer, groups: Mapping[int, int]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of groups, whose digests are given. Raises InvalidStream for a file that has
    been changed.
    """
    try:
        file = _open(content)
        for number, digest in groups.items():
            if number >= file.num_row_groups or _digest(file, content, number) != digest:
                raise survey.change_error(name)
        yield from _batches(file, list(groups))
    except InvalidStream:  # it could be read
        raise survey.change_error(name) from None


def _canonical(rows: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """Return the rows that are triples, as the model has them."""
    triples = []
    for row in _tuples(rows):
        try:
            triples.append((*row[:2], *triple(*row)))
        except RefengineError:  # it is set aside
            continue
    if not triples:
        return rows.slice(0, 0)
    return batch(SCHEMA, triples)
