"""A stream of rows: Parquet with the columns `time` (ms), `element` (the order within an instant; the triples of an element share
it), `subject`, `predicate` and `object`, in N-Triples; or what the driver has read, which it gives to each part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import compute

from conformance.spark import survey
from conformance.spark.jobs import collected, told
from conformance.spark.rows import FAULT, LONGEST, Reader, Row, batch, named, timely
from conformance.spark.session import NoSpark
from conformance.spark.survey import File
from refengine import io, model
from refengine.errors import InvalidStream, RefengineError, Unsupported
from refengine.model import TIME_BOUND, Triple
from refengine.texts import shown

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

KINDS = {"time": "bigint", "element": "bigint", "subject": "string", "predicate": "string", "object": "string"}
SCHEMA = "time long, element long, subject string, predicate string, object string"
NUMBER = "xxhash64(_metadata.file_path)"  # a row with its file's name takes a third longer
PLAIN = re.compile(rf"(?:{io.PLAIN_IRI}\t{io.PLAIN_IRI}\t{io.PLAIN_OBJECT}\n)*+")
OTHERS = ("<x:s>", "<x:p>", "<x:o>")


@dataclass(frozen=True)
class Table:
    """`source` is as Parquet is read; `names` are those of the files, by NUMBER."""

    source: DataFrame
    names: Mapping[int, str]

    def survey(self) -> list[File]:
        """The files."""
        from pyspark.sql import functions as F

        rows = self.source.select(*_columns(), F.expr(NUMBER).alias("file"))
        pieces = collected(rows.mapInArrow(partial(_surveyed, survey.resolution(len(self.names))), survey.SCHEMA))
        return sorted((replace(file, name=self.names[int(file.name)]) for file in survey.files(pieces)), key=attrgetter("name"))

    def faults(self, files: Sequence[File]) -> list[dict[str, Any]]:
        """What is no triple in them: file, number of the row, error. Where a row stands costs more than the row, so no other pass tells it."""
        rows = self.source.where(named(files)).select(*_columns(), "_metadata.file_path", "_metadata.row_index")
        return collected(rows.mapInArrow(_faults, FAULT)).to_pylist()

    def part(self, files: Sequence[File], since: int, stop: int) -> tuple[DataFrame, Reader]:
        """What has the rows in [since, stop), and what finds them there."""
        from pyspark.sql import functions as F

        time = F.col("time")
        chosen = self.source.where(named(files)).where((time >= F.lit(since)) & (time <= F.lit(stop - 1)))
        canonical = all(file.canonical == file.triples and not file.faults for file in files)
        return chosen.select(*_columns()), _rows if canonical else _checked


@dataclass(frozen=True)
class Held:
    """A stream that the driver holds, sorted."""

    spark: SparkSession
    rows: list[Row]

    def survey(self) -> list[File]:
        """As if it were a file."""
        file = File("", canonical=len(self.rows))
        file.instants.add(Counter(time for time, _, _ in self.rows).items())
        return [file]

    def part(self, _: Sequence[File], since: int, stop: int) -> tuple[DataFrame, Reader]:
        """What has the rows in [since, stop), and what finds them there."""
        some = [(time, place, *triple) for time, place, triple in self.rows if since <= time < stop]
        return self.spark.createDataFrame(pyarrow.Table.from_batches([batch(SCHEMA, some)]), SCHEMA), _rows


def table(spark: SparkSession, place: str, names: Mapping[int, str]) -> Table:
    """A stream in Parquet, whose files have these names, by NUMBER. Raises InvalidStream for what is none."""
    try:
        found = told(lambda: spark.read.option("pathGlobFilter", "*.parquet").parquet(place))
        kinds = told(lambda: dict(found.dtypes))
    except NoSpark as error:
        raise InvalidStream(f"cannot be read as Parquet: {error.reason.partition(': ')[2]}", rule="IO-1", place=place) from None
    if "_metadata" in kinds:
        raise InvalidStream("a column _metadata, which hides where rows stand", rule="IO-1", place=place)
    if wrong := [f"{name} {kind}" for name, kind in KINDS.items() if kinds.get(name) not in (kind, "int" if kind == "bigint" else kind)]:
        raise InvalidStream(f"needs the columns {', '.join(wrong)}; has {shown(', '.join(map(' '.join, found.dtypes)))}", rule="IO-1", place=place)
    return Table(found, names)


def held(spark: SparkSession, stream: model.Stream) -> Held:
    """A stream that the driver has read. Raises Unsupported for what a row does not hold."""
    if not stream.elements:
        raise InvalidStream("no element", rule="IO-1")
    if any(element.end not in (None, element.app) for element in stream):
        raise Unsupported("rows have a time, and no interval", rule="MOD-3", place="end")
    if any(not element.graph for element in stream):
        raise Unsupported("an element without triples is no row", rule="MOD-1")
    return Held(spark, [(element.app, element.sys, triple) for element in stream for triple in sorted(element.graph)])


def _columns() -> list[Column]:
    from pyspark.sql import functions as F

    return [F.col(name).cast(kind) if kind == "bigint" else F.col(name) for name, kind in KINDS.items()]


def triple(time: int | None, element: int | None, subject: str, predicate: str, object_: str) -> Triple:
    """The triple of a row, as the model has it. Raises RefengineError for what is none."""
    given = subject, predicate, object_
    if None in (time, element, *given):
        raise InvalidStream("a null", rule="IO-1")
    timely(-TIME_BOUND, time)
    found = io.timed(f'{subject} {predicate} {object_} "{time}" .', "")
    return given if found == (given, time) else tuple(_term(given, position) for position in range(3))


def _term(given: tuple[str, str, str], position: int) -> str:
    """A term that is not canonical, or more than one, by itself. With two times: what brings one of its own has the same twice."""
    one = [*OTHERS[:position], given[position], *OTHERS[position + 1 :]]
    found = [io.timed(f'{" ".join(one)} "{time}" .', "") for time in (0, 1)]
    for time, told in enumerate(found):
        if told is None or told[1] != time or any(told[0][i] != OTHERS[i] for i in range(3) if i != position):
            raise InvalidStream("subject, predicate and object are a term each", rule="IO-1")
    return found[0][0][position]


def _of(some: pyarrow.RecordBatch) -> Iterator[tuple]:
    return zip(*(column.to_pylist() for column in some.columns), strict=True)


def _surveyed(resolution: int, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    files: dict[int, File] = {}
    for some in batches:
        for number in some["file"].unique().to_pylist():
            file = files.setdefault(number, File(str(number), survey.Instants(resolution)))
            _survey(file, some.filter(compute.equal(some["file"], number)).drop_columns("file"))
    if files:
        yield survey.pieces(files.values())


def _survey(file: File, rows: pyarrow.RecordBatch) -> None:
    if _plain(rows):
        times = rows["time"].value_counts().flatten()
        file.canonical += rows.num_rows
        file.instants.add(zip(*(column.to_pylist() for column in times), strict=True))
        return
    for row in _of(rows):
        try:
            file.canonical += triple(*row) == row[2:]
        except RefengineError:
            file.faults += 1
        else:
            file.instants.add([(row[0], 1)])


def _plain(rows: pyarrow.RecordBatch) -> bool:
    """Whether all rows are as most are, in one look at all of them, with separators that are in none of their terms."""
    if any(column.null_count for column in rows.columns):
        return False
    text = compute.binary_join_element_wise(rows["subject"], rows["predicate"], compute.binary_join_element_wise(rows["object"], "", "\n"), "\t")
    found = "".join(text.to_pylist())
    return found.count("\n") == rows.num_rows and PLAIN.fullmatch(found) is not None


def _faults(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for some in batches:
        found = []
        for *row, name, number in _of(some):
            try:
                triple(*row)
            except RefengineError as error:
                found.append((name, number + 1, str(error)[:LONGEST]))
        if found:
            yield batch(FAULT, found)


def _checked(batches: Iterable[pyarrow.RecordBatch]) -> list[Row]:
    found = []
    for some in batches:
        for row in _of(some):
            try:
                found.append((*row[:2], triple(*row)))
            except RefengineError:  # it is set aside
                continue
    return sorted(found)


def _rows(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[Row]:
    """Where all are triples as they stand; a term that many have is one string."""
    whole = pyarrow.Table.from_batches(batches)
    order = compute.sort_indices(whole, [("time", "ascending"), ("element", "ascending")])
    time, element, *terms = (_taken(column, order) for column in whole.columns)
    return zip(time, element, zip(*terms, strict=True), strict=True)


def _taken(column: pyarrow.ChunkedArray, order: pyarrow.Array) -> list:
    if not pyarrow.types.is_string(column.type):
        return column.take(order).to_pylist()
    encoded = column.dictionary_encode().combine_chunks()
    terms = encoded.dictionary.to_pylist()
    return [terms[index] for index in encoded.indices.take(order).to_pylist()]
