"""Blocks of a stream: the rows of one part from one place of the input, as the bytes of an Arrow
stream. A shuffle moves few large blocks instead of many rows.

Each term that many rows of a block have is stored once, and is checked once (MOD-4).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow
from pyarrow import compute, ipc, types

from refengine.incremental.parts import Part
from refengine.model.elements import TIME_BOUND, CanonicalElements, Element, Stream, Term
from refengine.model.errors import InvalidStream
from refengine.model.terms import PLAIN_TRIPLES, canonical, triple_of

BLOCK = "part int, first long, last long, triples long, block binary"
ROWS = 200_000  # of the input, from which one block for each part is made
POSITIONS = ("subject", "predicate", "object")
COLUMNS = ("time", "element", "stream", *POSITIONS)
NOT_READ = ""  # instead of each term of a triple that the query cannot read
OTHERS = ("<urn:s>", "<urn:p>", "<urn:o>")
_BLOCK = pyarrow.schema(
    [
        ("part", pyarrow.int32()),
        *((name, pyarrow.int64()) for name in ("first", "last", "triples")),
        ("block", pyarrow.binary()),
    ]
)


def blocks_of_parts(
    parts: Sequence[tuple[int, Part]], batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """Give each part the rows (COLUMNS) that it needs, from its halo on up to its end, and yield
    batches of BLOCK: the number of the part, the first and last instant of the block, how many
    triples it has, and its bytes. A row goes to the part in whose time it
    comes, and to each later part whose halo holds it. Raises InvalidStream for a row that is no
    triple.
    """
    for table in checked_tables(batches):
        rows = table.combine_chunks().sort_by("time")
        times = rows["time"].to_pylist()
        for number, part in parts:
            first = 0
            if part.halo_start is not None:
                first = bisect_left(times, part.halo_start)
            end = len(times)
            if part.stop is not None:
                end = bisect_left(times, part.stop)
            if first < end:
                yield _block(number, rows[first:end])


def _block(number: int, rows: pyarrow.Table) -> pyarrow.RecordBatch:
    """Return a batch of BLOCK, with one block of a part. The rows are in the order of time."""
    times = rows["time"]
    values = [number, times[0].as_py(), times[-1].as_py(), rows.num_rows, pack(rows)]
    arrays = [
        pyarrow.array([value], kind) for value, kind in zip(values, _BLOCK.types, strict=True)
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=_BLOCK)


def streams_of_blocks(
    names: Sequence[str], part: Part, batches: Iterable[pyarrow.RecordBatch]
) -> dict[str, Stream]:
    """Return the streams of the rows in blocks that a part needs (`streams_of_rows`)."""
    blocks = (block for batch in batches for block in batch.column(batch.num_columns - 1))
    tables = (unpack(block.as_buffer()) for block in blocks)
    return streams_of_rows(
        names, [rows_between(table, part.halo_start, part.stop) for table in tables]
    )


def streams_of_rows(names: Sequence[str], tables: Sequence[pyarrow.Table]) -> dict[str, Stream]:
    """Return the streams of rows that have been unpacked. Rows with the same time, number of the
    element and stream are one element. Simultaneous elements come in the order of their numbers.
    """
    elements: dict[str, list[Element]] = {name: [] for name in names}
    for place, stream, rows in _group_by_element(_sorted_rows(tables)):
        graph = frozenset([row[3:] for row in rows if row[4] != NOT_READ])
        elements[names[stream]].append(Element(graph, rows[0][0], place))
    return {name: Stream(CanonicalElements(some)) for name, some in elements.items()}


def checked_tables(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.Table]:
    """Yield the rows of batches in tables of some `ROWS` rows, checked to have no null."""
    waiting: list[pyarrow.RecordBatch] = []
    count = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        for name in COLUMNS:
            if batch[name].null_count:
                raise InvalidStream("a row has a null", rule="IO-1", place=f"column {name}")
        waiting.append(batch)
        count += batch.num_rows
        if count >= ROWS:
            yield pyarrow.Table.from_batches(waiting)
            waiting = []
            count = 0
    if waiting:
        yield pyarrow.Table.from_batches(waiting)


def rows_between(rows: pyarrow.Table, since: int | None, stop: int | None) -> pyarrow.Table:
    """Return the rows with a time in [since, stop), of which None is no bound."""
    if since is not None:
        rows = rows.filter(compute.greater_equal(rows["time"], max(since, -TIME_BOUND)))
    if stop is not None:
        rows = rows.filter(compute.less(rows["time"], stop))
    return rows


def pack(rows: pyarrow.Table) -> bytes:
    """Return rows (COLUMNS) as the bytes of an Arrow stream, with canonical terms, each of them
    once. Raises InvalidStream.
    """
    columns = {name: rows[name].combine_chunks() for name in COLUMNS[:3]}
    for position, name in enumerate(POSITIONS):
        columns[name] = _encode(rows[name], position)
    encoded = pyarrow.table(columns)
    sink = pyarrow.BufferOutputStream()
    options = ipc.IpcWriteOptions(compression="lz4")
    with ipc.new_stream(sink, encoded.schema, options=options) as writer:
        writer.write_table(encoded)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpack(block: Any) -> pyarrow.Table:
    """Return the rows that `pack` has packed. Each column of terms is a dictionary."""
    return ipc.open_stream(block).read_all()


def _encode(column: pyarrow.ChunkedArray, position: int) -> pyarrow.DictionaryArray:
    """Return a column of terms, each kept once, and canonical. Raises InvalidStream."""
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pyarrow.ChunkedArray):
        encoded = encoded.combine_chunks()
    terms = _canonical_terms(encoded.dictionary.to_pylist(), position)
    return pyarrow.DictionaryArray.from_arrays(
        encoded.indices, pyarrow.array(terms, pyarrow.string())
    )


def _canonical_terms(terms: list[Term], position: int) -> list[Term]:
    """Return terms as the model has them, which stand at a position of triples: 0 is the subject.
    Raises InvalidStream, with the first term that is none, or that cannot stand there.
    """
    before = "".join(f"{term}\n" for term in OTHERS[:position])
    after = "".join(f"{term}\n" for term in OTHERS[position + 1 :])
    texts = [term for term in terms if term != NOT_READ]
    text = "".join([f"{before}{term}\n{after}" for term in texts])
    if text.count("\n") == 3 * len(texts) and PLAIN_TRIPLES.fullmatch(text):
        return terms
    return [term and _canonical_term(term, position) for term in terms]


def _canonical_term(term: Term, position: int) -> Term:
    triple = [*OTHERS]
    triple[position] = canonical(term)
    return triple_of(triple[0], triple[1], triple[2])[position]


def _sorted_rows(tables: Sequence[pyarrow.Table]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of tables, with COLUMNS, sorted by time, by number of the element and by
    stream. A term that many rows have is one string.
    """
    if not tables:
        return iter(())
    rows = pyarrow.concat_tables(tables).unify_dictionaries().combine_chunks()
    order = compute.sort_indices(rows, [(name, "ascending") for name in COLUMNS[:3]])
    columns: list[Iterable[Any]] = [rows[name].take(order).to_pylist() for name in COLUMNS[:3]]
    for name in POSITIONS:
        (encoded,) = rows[name].chunks
        terms = encoded.dictionary.to_pylist()
        columns.append(map(terms.__getitem__, encoded.indices.take(order).to_pylist()))
    return zip(*columns, strict=True)


def _group_by_element(
    rows: Iterable[tuple[Any, ...]],
) -> Iterator[tuple[int, int, list[tuple[Any, ...]]]]:
    """Yield the rows of each element, with its place in the arrival order and its stream. Elements
    of several streams with the same time and number have the same place.
    """
    place = 0
    before: tuple[int, int] | None = None
    for (time, number, stream), some in groupby(rows, key=itemgetter(0, 1, 2)):
        if (time, number) != before:
            place += 1
            before = time, number
        yield place, stream, list(some)
