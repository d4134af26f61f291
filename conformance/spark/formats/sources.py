"""The formats n3t, nt, nquads and trig as data sources of Spark (Python Data Source API)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from conformance.spark.formats import records
from conformance.spark.formats.pieces import (
    BYTES_OF_PIECE,
    Piece,
    cut_into_pieces,
    group_pieces,
)
from conformance.spark.formats.records import Columns, Mode, ParseLine
from conformance.spark.formats.writing import LineWriter
from conformance.spark.jobs import check_workers
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import did_you_mean, display, integer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

CORRUPT = "_corrupt_record"
KINDS = {"long": "bigint", "string": "string"}
ARROW = {"bigint": pyarrow.int64(), "string": pyarrow.string()}
TRIPLE = "subject string, predicate string, object string"
OPTIONS = ("path", "paths", "mode", "columnNameOfCorruptRecord", "pathGlobFilter", "splitBytes")


def register_formats(spark: SparkSession) -> None:
    """Make the formats n3t, nt, nquads and trig known to a session, for reading and writing.

    `spark.read.format("n3t").load("stream/")` then gives the columns of `conformance.spark.truth`.
    """
    check_workers(spark)
    for source in (TimedTriples, Triples, Quads, Graphs):
        spark.dataSource.register(source)


class PiecesOfInput(InputPartition):
    """The pieces of files that a task reads."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        super().__init__(pieces)
        self.pieces = pieces


class RecordReader(DataSourceReader):
    """What reads the records of the files of a source: its pieces, and the rows of each."""

    def __init__(
        self, options: Mapping[str, str], columns: Columns, parse: ParseLine | None
    ) -> None:
        self.options = dict(options)
        self.columns = columns
        self.parse = parse  # a line; None if files are read whole

    def partitions(self) -> Sequence[PiecesOfInput]:
        """Return the pieces of all files. Raises RefengineError for options that are none."""
        paths = json.loads(self.options.get("paths", "[]"))
        if "path" in self.options:
            paths.append(self.options["path"])
        if not paths:
            raise RefengineError("no path; write .load(PATH)", rule="usage")
        size = self.options.get("splitbytes", str(BYTES_OF_PIECE))
        count = integer(size)
        if count is None or count < 1:
            reason = f"splitBytes must be an integer > 0, got {display(size)}"
            raise RefengineError(reason, rule="usage")
        pattern = self.options.get("pathglobfilter", "*")
        pieces = cut_into_pieces(paths, count, pattern, self.parse is not None)
        groups = group_pieces(pieces, count) or [[]]  # Spark fails at a source without a partition
        return [PiecesOfInput(group) for group in groups]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Yield the records of some pieces."""
        assert isinstance(partition, PiecesOfInput)
        for piece in partition.pieces:
            if self.parse is None:
                yield from records.batches_of_graphs(piece, self.columns)
            else:
                yield from records.batches_of_lines(piece, self.columns, self.parse)


class RecordFormat(DataSource):
    """A format of RDF. The columns are `columns`. A schema may name some of them, and the column of
    corrupt records, `_error` (what is wrong with one), `_file` and `_offset` (bytes) beside them.
    """

    columns = ""
    parse: ParseLine | None = None
    positions: Sequence[str] = ()  # the columns of a line that is written; none: nothing is

    def schema(self) -> str:
        """Return the columns if no schema is given."""
        return self.columns

    def reader(self, schema: StructType) -> RecordReader:
        """Return the reader. Raises RefengineError for a schema or an option that is none."""
        known = {name.lower() for name in OPTIONS}
        for name in self.options:
            if name.lower() not in known:
                reason = f"no option {display(name)}{did_you_mean(name, OPTIONS)}"
                raise RefengineError(reason, rule="usage")
        return RecordReader(self._options(), self._columns(schema), type(self).parse)

    def writer(self, schema: StructType, overwrite: bool) -> LineWriter:
        """Return the writer of files of lines. Raises RefengineError for other columns."""
        positions = type(self).positions
        if not positions:
            reason = f"{self.name()} is not written; write nquads, which has the same statements"
            raise RefengineError(reason, rule="usage")
        lacking = [name for name in positions if name not in schema.names]
        if lacking and lacking != ["graph"]:
            has = display(", ".join(schema.names))
            reason = f"needs the columns {', '.join(lacking)}; has {has}"
            raise InvalidStream(reason, rule="IO-1", place=self.name())
        return LineWriter(self._options()["path"], self.name(), positions, overwrite)

    def _options(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.options.items()}

    def _columns(self, schema: StructType) -> Columns:
        options = self._options()
        corrupt = options.get("columnnameofcorruptrecord", CORRUPT)
        word = options.get("mode", Mode.PERMISSIVE).upper()
        if word not in list(Mode):
            reason = f"no mode {display(word)}{did_you_mean(word, Mode)}"
            raise RefengineError(reason, rule="usage")
        types = {name: KINDS[kind] for name, kind in map(str.split, self.columns.split(", "))}
        types |= {"_file": "string", "_offset": "bigint", "_error": "string", corrupt: "string"}
        for field in schema.fields:
            if types.get(field.name) != field.dataType.simpleString():
                stated = f"{field.name} {field.dataType.simpleString()}"
                columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
                reason = f"no column {display(stated)} in {self.name()}; it has {columns}"
                raise InvalidStream(reason, rule="IO-1", place="schema")
        fields = [(field.name, ARROW[field.dataType.simpleString()]) for field in schema.fields]
        return Columns(pyarrow.schema(fields), corrupt, Mode(word))


class TimedTriples(RecordFormat):
    """Lines `s p o "ms" .`, as YABench's streams have them. The number of an element is the number
    of its file among all, and in it the place of its line.
    """

    columns = f"time long, element long, {TRIPLE}"
    parse = partial(records.parse_timed_triple)
    positions = ("subject", "predicate", "object", "time")

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "n3t"


class Triples(RecordFormat):
    """N-Triples."""

    columns = TRIPLE
    parse = partial(records.parse_triple)
    positions = ("subject", "predicate", "object")

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "nt"


class Quads(RecordFormat):
    """N-Quads; the default graph is null."""

    columns = f"{TRIPLE}, graph string"
    parse = partial(records.parse_quad)
    positions = ("subject", "predicate", "object", "graph")

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "nquads"


class Graphs(RecordFormat):
    """TriG, whose files are read whole; the default graph is null."""

    columns = f"{TRIPLE}, graph string"

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "trig"
