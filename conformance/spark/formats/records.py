"""Rows of a format: the lines of a piece of a file, or the statements of a whole file, as batches
with the columns of a schema. What is no record is treated as Spark's own readers do (`Mode`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pyarrow

from conformance.spark.formats.pieces import Piece, read_lines, read_whole
from refengine.model.elements import TIME_BOUND, Term
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import display
from refengine.rdf import lines
from refengine.rdf.documents import LANGUAGES
from refengine.rdf.sources import Text

ROWS = 20_000  # of a batch
LONGEST = 10_000  # characters of a corrupt record that are kept
FILE_BITS = 20  # of an element's number; the other bits are the place in the file

Value = str | int | None
# the values of a record by column; None for a line without one, such as a comment
ParseLine = Callable[[str], dict[str, Value] | None]


class Mode(StrEnum):
    """What becomes of a record that is none: a row of nulls, which has its text if the schema has
    the column for it; an error; or nothing.
    """

    PERMISSIVE = "PERMISSIVE"
    FAILFAST = "FAILFAST"
    DROPMALFORMED = "DROPMALFORMED"


@dataclass(frozen=True)
class Columns:
    """The columns of the rows, in the order of the schema, with their types, the name of the column
    for the text of a record that is none, and what becomes of such a record.
    """

    schema: pyarrow.Schema
    corrupt: str
    mode: Mode

    def batch(self, rows: Sequence[dict[str, Value]]) -> pyarrow.RecordBatch:
        """Return rows as a batch."""
        arrays = [
            pyarrow.array([row.get(field.name) for row in rows], field.type)
            for field in self.schema
        ]
        return pyarrow.RecordBatch.from_arrays(arrays, schema=self.schema)

    def malformed(
        self, piece: Piece, place: int, text: str, error: RefengineError | ValueError
    ) -> list[dict[str, Value]]:
        """Return the row of a record that is none, if there is to be one. Raises InvalidStream
        under FAILFAST.
        """
        if self.mode is Mode.DROPMALFORMED:
            return []
        if self.mode is Mode.FAILFAST:
            where = f"{piece.path}: byte {place}"
            raise InvalidStream(str(error)[:LONGEST], rule="IO-1", place=where) from None
        return [
            {
                self.corrupt: text[:LONGEST],
                "_error": str(error)[:LONGEST],
                "_file": piece.path,
                "_offset": place,
            }
        ]


def batches_of_lines(
    piece: Piece, columns: Columns, parse: ParseLine
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the records of the lines of a piece. Raises InvalidStream under FAILFAST."""
    rows: list[dict[str, Value]] = []
    for place, raw in read_lines(piece):
        try:
            record = parse(raw.decode())
        except (RefengineError, ValueError) as error:  # a Fault, or not UTF-8
            rows += columns.malformed(piece, place, raw.decode(errors="replace"), error)
        else:
            if record is not None:
                record["element"] = (piece.number << (63 - FILE_BITS)) + place
                record["_file"] = piece.path
                record["_offset"] = place
                rows.append(scope_blanks(record, piece.number) if "time" not in record else record)
        if len(rows) >= ROWS:
            yield columns.batch(rows)
            rows = []
    if rows:
        yield columns.batch(rows)


def batches_of_graphs(piece: Piece, columns: Columns) -> Iterator[pyarrow.RecordBatch]:
    """Yield the statements of a whole file of TriG. Raises InvalidStream under FAILFAST."""
    content = read_whole(piece)
    try:
        parts = LANGUAGES[".trig"](Text("stream.trig", content.decode("utf-8-sig")), "").parts
    except (RefengineError, ValueError) as error:
        text = content[:LONGEST].decode(errors="replace")
        rows = columns.malformed(piece, 0, text, error)
    else:
        rows = [
            scope_blanks(
                {**_terms(*statement.triple), "graph": statement.graph, "_file": piece.path},
                piece.number,
            )
            for part in parts
            for statement in part
            if statement.triple is not None
        ]
    for start in range(0, len(rows), ROWS):
        yield columns.batch(rows[start : start + ROWS])


def parse_timed_triple(line: str) -> dict[str, Value] | None:
    """Return the record of a line `s p o "ms" .`; None for an empty line and a comment. Raises
    RefengineError.
    """
    timed = lines.parse_line_with_time(line, "")
    if timed is None:
        return None
    triple, time = timed
    if not -TIME_BOUND <= time < TIME_BOUND:
        raise InvalidStream(f"t_app must be within 64 bits, got {display(time)}", rule="MOD-1")
    return {**_terms(*triple), "time": time}


def parse_triple(line: str) -> dict[str, Value] | None:
    """Return the record of a line of N-Triples; None for an empty line and a comment. Raises
    ValueError.
    """
    return _parse_quad(line, has_graphs=False)


def parse_quad(line: str) -> dict[str, Value] | None:
    """Return the record of a line of N-Quads; None for an empty line and a comment. Raises
    ValueError.
    """
    return _parse_quad(line, has_graphs=True)


def _parse_quad(line: str, has_graphs: bool) -> dict[str, Value] | None:
    if not line.strip(" \t") or line.lstrip(" \t").startswith("#"):
        return None
    graph, triple = lines.parse_quad(line, has_graphs)
    record = _terms(*triple)
    if has_graphs:
        record["graph"] = graph
    return record


def _terms(subject: Term, predicate: Term, object_: Term) -> dict[str, Value]:
    return {"subject": subject, "predicate": predicate, "object": object_}


def scope_blanks(record: dict[str, Value], number: int) -> dict[str, Value]:
    """Return a record of a dataset whose blank nodes are those of its file alone."""
    names = [name for name in ("subject", "object", "graph") if _is_blank(record.get(name))]
    for name in names:
        record[name] = f"_:f{number}-{str(record[name])[2:]}"
    return record


def _is_blank(value: Value) -> bool:
    return isinstance(value, str) and value.startswith("_:")
