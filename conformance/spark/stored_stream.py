"""The triples of stored streams as one DataFrame, read by Spark's readers, and the records that are
no triples as another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow

from conformance.spark.blocks import COLUMNS, POSITIONS
from conformance.spark.formats.pieces import URL, list_files
from conformance.spark.formats.records import Columns, Mode, parse_timed_triple
from conformance.spark.formats.sources import ARROW, CORRUPT, PiecesOfInput, RecordReader
from conformance.spark.ground_truth import TYPES, check_columns
from conformance.spark.offsets import with_offsets
from conformance.verdict.wording import count_text
from refengine.model.elements import Stream
from refengine.model.errors import InvalidStream, RefengineError, Unsupported
from refengine.model.messages import display, nearest, plain
from refengine.model.terms import PLAIN_TRIPLES, canonical, triple_of
from refengine.rdf.streams import read_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

N3T = "n3t"
PARQUET = "parquet"
ENDINGS = {N3T: (".n3t", ".n3t.gz", ".n3t.zst"), PARQUET: (".parquet",)}
PATTERNS = {N3T: "*.n3t*", PARQUET: "*.parquet"}
# formats that Spark reads by a package of others
FORMATS_OF_PACKAGES = ("avro", "delta", "iceberg")
FORMATS_WITHOUT_TIMES = ("nquads", "nt", "trig")
FORMATS = (*FORMATS_OF_PACKAGES, N3T, "csv", "json", "orc", PARQUET, "text")
# the name of Spark's error for a format that it does not have
NO_FORMAT = re.compile(r"\[\w*DATA_SOURCE_NOT_(FOUND|ENABLED)\]")
WITH_METADATA = (PARQUET, "orc", "delta")  # formats that say which file a row is of
FAULT_TYPES = {"file": "string", "place": "bigint", "record": "string", "error": "string"}
FAULT_COLUMNS = tuple(FAULT_TYPES)
# the columns of a line of `n3t` that they are made of, in the order of FAULT_COLUMNS
SOURCES_OF_FAULT = ("_file", "_offset", CORRUPT, "_error")
LONGEST = 500  # characters of a record and of an error that are kept
SHOWN = 5  # faults, in an error
CHUNK_BITS = 24  # lines whose places differ in these bits alone (16 MiB) are numbered together

_TYPES_OF_LINE = TYPES | dict(zip(SOURCES_OF_FAULT, FAULT_TYPES.values(), strict=True))
_TYPES_OF_RECORD = {name: TYPES.get(name, "string") for name in COLUMNS} | FAULT_TYPES


def _spark_schema(types: Mapping[str, str]) -> str:
    """Return the schema of columns whose types are given as Spark names them, as a text of SQL."""
    return ", ".join(f"{name} {kind}" for name, kind in types.items())


def _arrow_schema(types: Mapping[str, str]) -> pyarrow.Schema:
    """Return the schema of columns whose types are given as Spark names them."""
    return pyarrow.schema([(name, ARROW[kind]) for name, kind in types.items()])


class StoredSource(NamedTuple):
    """Where a stream is stored: its name (None if the rows have it, in a column `stream`), its path
    or URL, and its format as Spark names it (None: what the names of the files say).
    """

    name: str | None
    path: str
    format_name: str | None = None


class StoredFormat(NamedTuple):
    """The format of a source: its name as Spark has it (None for a file that the driver reads), and
    how many files of other formats are there, which are not read.
    """

    name: str | None
    unread: int = 0


def find_format(source: StoredSource) -> StoredFormat:
    """Return the format of a source: the one that is stated, or else that of its files. Raises
    RefengineError for a stated format whose records have no times, and InvalidStream as
    `_format_of_files` does.
    """
    if source.format_name is None:
        return _format_of_files(source.path)
    if source.format_name in FORMATS_WITHOUT_TIMES:
        reason = (
            f"{source.format_name} has no columns time and element; write the stream as {N3T}, or "
            "as a table with these columns"
        )
        raise RefengineError(reason, rule="usage", place="--format")
    return StoredFormat(source.format_name)


def _format_of_files(path: str) -> StoredFormat:
    """Return the format that the names of the files at a path say. Raises InvalidStream if nothing
    is at the path, if the files are of two formats, if Spark does not read a file of that name, or
    if a URL has no files of a known format.
    """
    names = [name for name, _ in list_files(path)]
    counts = {
        format_name: sum(name.endswith(endings) for name in names)
        for format_name, endings in ENDINGS.items()
    }
    found = [format_name for format_name, count in counts.items() if count]
    if len(found) > 1:
        there = " and ".join(count_text(count, f".{name} file") for name, count in counts.items())
        reason = (
            f"has {there}; name a folder with files of one format, or say with --format which to "
            "read"
        )
        raise InvalidStream(reason, rule="IO-1", place=path)
    if os.path.isdir(os.path.join(path, "_delta_log")):
        return StoredFormat("delta")
    if found == [PARQUET]:
        _check_names(path, names)
    if found:
        return StoredFormat(found[0], len(names) - counts[found[0]])
    if URL.match(path):
        reason = "has no .n3t or .parquet files; say its format with --format"
        raise InvalidStream(reason, rule="IO-1", place=path)
    return StoredFormat(None)


def _check_names(path: str, names: Iterable[str]) -> None:
    """Raise InvalidStream for the name of a file that Spark does not read: Hadoop takes what is
    before a colon for the scheme of a URL, and a file whose name begins with _ or a dot is left
    out, even if it is the path that was given.
    """
    for name in names:
        own = name.rpartition("/")[2]
        if ":" in own:
            raise InvalidStream(
                "Spark reads no file with a colon in its name; rename it, for instance to "
                + display(own.replace(":", "-")),
                rule="IO-1",
                place=name,
            )
        if name == path and own.startswith(("_", ".")):
            raise InvalidStream(
                "Spark reads no file whose name begins with _ or a dot; rename it, for instance to "
                + display(own.lstrip("_.")),
                rule="IO-1",
                place=name,
            )


def read_sources(
    spark: SparkSession, sources: Sequence[StoredSource], format_names: Sequence[str | None]
) -> DataFrame:
    """Return the records of all sources together. `format_names` has the name of the format of each
    (`find_format`). Raises RefengineError.

    The columns are those that `conformance.spark.truth` reads, and four more: the `file` that a
    record is of and its `place` there (bytes), null where not known; and, for a record that could
    not be read, its text `record` and the `error`, which are null for others.

    The lines of a single `n3t` source are numbered by their places in bytes. Where there are
    several sources, elements of different streams are compared (MOD-1), so the lines of each `n3t`
    source are numbered by their positions in it, from 1. Rows of tables keep their `element`, and
    elements that the driver reads have the numbers that it gave them.
    """
    are_several = len(sources) > 1
    frames = [
        _read_source(spark, source, format_name, are_several)
        for source, format_name in zip(sources, format_names, strict=True)
    ]
    return reduce(lambda one, other: one.unionByName(other), frames)


def _read_source(
    spark: SparkSession, source: StoredSource, format_name: str | None, is_one_of_several: bool
) -> DataFrame:
    """Return the records of a source, as `read_sources` does. Raises RefengineError."""
    from pyspark.sql import functions as f

    nothing = f.lit(None).cast("string")
    places = [nothing.alias("file"), f.lit(None).cast("long").alias("place")]
    places += [nothing.alias("record"), nothing.alias("error")]
    if format_name is None:
        rows = spark.createDataFrame(_table_of(read_stream(source.path)))
    elif format_name == N3T:
        rows = _lines_of(spark, source.path)
        if is_one_of_several:
            rows = _with_positions(rows)
        places = [
            f.col(name).alias(other)
            for name, other in zip(SOURCES_OF_FAULT, FAULT_COLUMNS, strict=True)
        ]
    else:
        reader = spark.read.format(format_name)
        if format_name in PATTERNS:
            reader = reader.option("recursiveFileLookup", "true")
            reader = reader.option("pathGlobFilter", PATTERNS[format_name])
        rows = _load(reader, format_name, source.path)
    check_columns(rows.schema, source.name is None, source.path)
    if format_name in WITH_METADATA:
        places[0] = f.col("_metadata.file_path").alias("file")
    name = f.lit(source.name)
    if dict(rows.dtypes).get("stream") == "string":
        name = f.col("stream")
        if source.name is not None:  # rows of other streams are not read
            rows = rows.where((name == source.name) | name.isNull())
    return rows.select(
        f.col("time").cast("long").alias("time"),
        f.col("element").cast("long").alias("element"),
        name.alias("stream"),
        *(f.col(position) for position in POSITIONS),
        *places,
    )


def _lines_of(spark: SparkSession, path: str) -> DataFrame:
    """Return the lines of a source, as the format `n3t` reads them. Raises InvalidStream for a path
    at which nothing is.

    The driver cuts the files into pieces here. Spark would ask the format for them in the Python of
    the executors, which the driver does not have if it comes in an archive.
    """
    columns = Columns(_arrow_schema(_TYPES_OF_LINE), CORRUPT, Mode.PERMISSIVE)
    options = {"path": _absolute(path), "pathglobfilter": PATTERNS[N3T]}
    reader = RecordReader(options, columns, parse_timed_triple)
    partitions = reader.partitions()
    count = len(partitions)
    tasks = spark.range(0, count, 1, count)
    return tasks.mapInArrow(
        partial(_read_pieces, reader, partitions), _spark_schema(_TYPES_OF_LINE)
    )


def _load(reader: DataFrameReader, format_name: str, path: str) -> DataFrame:
    """Return the rows of a format of Spark. Raises RefengineError for a format that Spark does not
    have.
    """
    try:
        rows = reader.load(url_of(path))
        _ = rows.schema  # Spark Connect looks for the format only now
    except Exception as error:  # of Spark or py4j
        if NO_FORMAT.search(str(error)) is None:
            raise
        reason = f"Spark has no format {display(format_name)}{nearest(format_name, FORMATS)}"
        if format_name in FORMATS_OF_PACKAGES:
            reason = (
                f"Spark reads {format_name} only with an extra package; name that package in "
                "spark.jars.packages"
            )
        raise RefengineError(reason, rule="usage", place="--format") from None
    return rows


def _with_positions(lines: DataFrame) -> DataFrame:
    """Return lines with the position of each triple among all as its `element`, from 1, as the
    driver's readers number elements.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    chunk = f.shiftright("element", CHUNK_BITS)
    read = lines.where(f.col("element").isNotNull()).withColumn("chunk", chunk)
    in_chunk = Window.partitionBy("chunk").orderBy("element")
    position = f.col("offset") + f.row_number().over(in_chunk)
    numbered = with_offsets(read, "chunk").withColumn("element", position)
    unread = lines.where(f.col("element").isNull())
    return numbered.select(*lines.columns).unionByName(unread)


def _absolute(path: str) -> str:
    """Return a path that is the same wherever it is opened on this machine. A URL stays."""
    if URL.match(path):
        return path
    return os.path.abspath(path)


def url_of(path: str) -> str:
    """Return a path as a URL for Spark: a path of this machine with `file://`, and with escapes for
    the characters of patterns. A URL stays as it is.
    """
    if URL.match(path):
        return path
    return "file://" + re.sub(r"([\\*?{}\[\]])", r"\\\1", os.path.abspath(path))


def _table_of(stream: Stream) -> pyarrow.Table:
    """Return the rows of a stream that the driver has read. Raises InvalidStream for a stream
    without elements, and Unsupported for what a row does not hold.
    """
    if not stream.elements:
        raise InvalidStream("no element", rule="IO-1")
    if any(element.end not in (None, element.app) for element in stream):
        raise Unsupported("rows have a time, and no interval", rule="MOD-3", place="end")
    if any(not element.graph for element in stream):
        raise Unsupported("an element without triples is no row", rule="MOD-1")
    rows = [
        (element.app, element.sys, *triple)
        for element in stream
        for triple in sorted(element.graph)
    ]
    schema = _arrow_schema(TYPES)
    arrays = [
        pyarrow.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def only_triples(records: DataFrame) -> DataFrame:
    """Return the records (`read_sources`) that are triples."""
    return records.mapInArrow(partial(_split, False), _spark_schema(_TYPES_OF_RECORD))


def faults_of(records: DataFrame) -> DataFrame:
    """Return the records (`read_sources`) that are no triples: file, place, text and error."""
    faults = records.mapInArrow(partial(_split, True), _spark_schema(_TYPES_OF_RECORD))
    return faults.select(*FAULT_COLUMNS)


def error_of_faults(records: DataFrame) -> InvalidStream | None:
    """Return the error for the first record that is no triple, with the next ones as notes; None if
    all are triples.
    """
    faults = faults_of(records)
    first = faults.orderBy("file", "place", "record").limit(SHOWN).toArrow().to_pylist()
    if not first:
        return None
    rule, _, reason = first[0]["error"].partition(": ")
    error = InvalidStream(
        f"{reason}: {display(first[0]['record'])}", rule=rule, place=_place(first[0])
    )
    for fault in first[1:]:
        error.add_note(plain(f"{_place(fault)}: {fault['error']}: {display(fault['record'])}"))
    count = faults.count()
    if count > 1:
        error.add_note(f"{count} records are no triples; --on-error=quarantine sets them aside")
    return error


def _place(fault: dict[str, Any]) -> str:
    """Return where a record is: the file, and the place in it if that is known."""
    file = re.sub("^file:/+", "/", fault["file"] or "")
    if fault["place"] is None:
        return file
    return f"{file}: byte {fault['place']}"


# On an executor


def _read_pieces(
    reader: RecordReader,
    partitions: Sequence[PiecesOfInput],
    batches: Iterable[pyarrow.RecordBatch],
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the records of the partitions whose numbers are in a column `id`."""
    for batch in batches:
        for number in batch["id"].to_pylist():
            yield from reader.read(partitions[number])


def _split(
    wants_faults: bool, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the records that are triples, or those that are none, with their text and error."""
    for batch in batches:
        if _is_plain(batch):
            if not wants_faults:
                yield batch
            continue
        rows = batch.to_pylist()
        errors = [_error_of(row) for row in rows]
        chosen = []
        for row, error in zip(rows, errors, strict=True):
            if (error is not None) != wants_faults:
                continue
            if wants_faults and row["record"] is None:
                row["record"] = " ".join(str(row[name]) for name in (*POSITIONS, "time"))
            chosen.append(row | {"error": error})
            if wants_faults:
                chosen[-1]["record"] = row["record"][:LONGEST]
        if chosen:
            yield pyarrow.RecordBatch.from_pylist(chosen, batch.schema)


def _is_plain(batch: pyarrow.RecordBatch) -> bool:
    """Return whether one regular expression accepts all records of a batch."""
    if any(batch[name].null_count for name in COLUMNS):
        return False
    terms = (batch[name].to_pylist() for name in POSITIONS)
    text = "".join([f"{s}\n{p}\n{o}\n" for s, p, o in zip(*terms, strict=True)])
    is_one_each = text.count("\n") == 3 * batch.num_rows
    return is_one_each and PLAIN_TRIPLES.fullmatch(text) is not None


def _error_of(row: dict[str, Any]) -> str | None:
    """Return what is wrong with a record, None for a triple."""
    if row["error"] is not None:
        return str(row["error"])[:LONGEST]
    if any(row[name] is None for name in COLUMNS):
        return "IO-1: a row has a null"
    try:
        triple_of(*(canonical(row[name]) for name in POSITIONS))
    except RefengineError as error:
        return str(error)[:LONGEST]
    return None
