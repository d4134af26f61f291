"""Tables (IO-1): CSV and TSV. A row is a quad with its time, or what `--columns` makes of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Literal

from refengine.model.elements import Stream, Term
from refengine.model.errors import InvalidStream
from refengine.model.messages import display
from refengine.rdf.forms.columns import Columns, read_columns
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.forms.quads import (
    REQUIRED,
    REQUIRED_OF_A_ROW,
    TimedQuad,
    build_stream_of_quads,
    check_quad_keys,
    parse_quad,
)
from refengine.rdf.forms.reading import Reading
from refengine.rdf.sources import Source, read_text, suffix_of
from refengine.rdf.terms import Fault
from refengine.rdf.times import Zones

DELIMITERS = {".csv": ",", ".tsv": "\t"}
QUOTING: dict[str, Literal[0, 3]] = {".csv": csv.QUOTE_MINIMAL, ".tsv": csv.QUOTE_NONE}


def read_table(source: Source, reading: Reading) -> Stream:
    """IO-3: Return the stream of a table, whose first row names its columns. Without `columns` they
    are a quad's keys, and its terms are in N-Triples' syntax. With `columns`, a file that says what
    becomes of a row, each row is an element. Raises InvalidStream.
    """
    rows = _read_rows(source)
    columns = reading.options.columns
    if columns is None:
        quads = _read_quads(source, rows, reading.zones)
        return build_stream_of_quads(reading, quads, "column")

    return build_stream(_map_rows(source, rows, read_columns(columns), reading))


def _read_rows(source: Source) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows after the first, each with its line and its cells by their columns; an empty
    cell is left out. The first that is yielded has the names of the columns alone.
    """
    text = read_text(source, InvalidStream, "IO-1")
    end = suffix_of(source)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=DELIMITERS[end],
        quoting=QUOTING[end],
        strict=True,
    )
    names: list[str] = []
    try:
        for row in reader:
            if not row:
                continue
            if not names:
                names = row
                _check_names(names)
                yield reader.line_num, dict.fromkeys(names, "")
                continue
            if len(row) != len(names):
                raise Fault(f"{len(row)} cells, but {len(names)} columns")
            cells = zip(names, row, strict=True)
            yield reader.line_num, {name: cell for name, cell in cells if cell}
    except (csv.Error, Fault) as error:
        place = f"{source}:{reader.line_num}"
        kind = "not a table: " * isinstance(error, csv.Error)
        raise InvalidStream(f"{kind}{error}", rule="IO-1", place=place) from None
    if not names:
        reason = "no columns: the first row of a table names them"
        raise InvalidStream(reason, rule="IO-1", place=str(source))


def _check_names(names: list[str]) -> None:
    for number, name in enumerate(names):
        if not name:
            raise Fault(f"column {number + 1} has no name")
        if name in names[:number]:
            raise Fault(f"two columns are called {display(name)}")


def _read_quads(
    source: Source, rows: Iterator[tuple[int, dict[str, str]]], zones: Zones
) -> Iterator[TimedQuad]:
    labels: dict[str, Term] = {}
    is_header = True
    for line, cells in rows:
        place = f"{source}:{line}"
        try:
            check_quad_keys(cells, "column", REQUIRED if is_header else REQUIRED_OF_A_ROW)
        except Fault as fault:
            if is_header:
                fault = Fault(f"{fault}; --columns FILE says what other columns mean")
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None
        if is_header:
            is_header = False
            continue
        try:
            yield parse_quad(cells, labels, place, zones)
        except Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None


def _map_rows(
    source: Source,
    rows: Iterator[tuple[int, dict[str, str]]],
    mapping: Columns,
    reading: Reading,
) -> Iterator[ReadElement]:
    is_header = True
    for line, cells in rows:
        if is_header:
            mapping.check_names(cells)
            is_header = False
            continue
        place = f"{source}:{line}"
        try:
            times = mapping.times(cells, reading.zones)
            triples = frozenset(mapping.triples(cells))
        except Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None
        if times is None:
            reading.set_aside(triples, f"column {mapping.time!r}: no time", place)
            continue
        app, batch, end = times
        yield ReadElement(triples, app, place, batch, end)
