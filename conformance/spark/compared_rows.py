"""What executors compute to compare recorded relations with reports: batches in, batches out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow

from conformance.bench.metrics import lsbench, yabench
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row, row
from refengine.model.terms import canonical

Binding = Sequence[tuple[str, str]]  # a map from variables to terms, as Arrow gives it

_MAPS = pyarrow.list_(pyarrow.map_(pyarrow.string(), pyarrow.string()))
COMPARED = (
    "expected long, actual long, is_equal boolean, precision double, recall double, "
    "lacking array<map<string, string>>, too_many array<map<string, string>>"
)
_COMPARED = [
    pyarrow.field("expected", pyarrow.int64()),
    pyarrow.field("actual", pyarrow.int64()),
    pyarrow.field("is_equal", pyarrow.bool_()),
    pyarrow.field("precision", pyarrow.float64()),
    pyarrow.field("recall", pyarrow.float64()),
    pyarrow.field("lacking", _MAPS),
    pyarrow.field("too_many", _MAPS),
]
SHOWN = 10  # rows that lack, and as many that are too many, of one report
KEYED = "number long, key string, line map<string, string>, count long"
FOUND = "number long, count long, line string, numbers array<long>"
LOST = "lost long, rows long"
_FOUND = pyarrow.schema(
    [
        pyarrow.field("number", pyarrow.int64()),
        pyarrow.field("count", pyarrow.int64()),
        pyarrow.field("line", pyarrow.string()),
        pyarrow.field("numbers", pyarrow.list_(pyarrow.int64())),
    ]
)


def compare_pairs(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Compare the last two columns of batches, the rows of a report and of a relation, and yield
    the other columns with those of COMPARED. Where one of the two is not there, it is null, and
    nothing is equal to it. Raises RefengineError for rows that no rule compares.
    """
    for batch in batches:
        pairs = zip(*(column.to_pylist() for column in batch.columns[-2:]), strict=True)
        compared = list(zip(*(_compare(*pair) for pair in pairs), strict=True))
        if not compared:
            continue
        arrays = [
            pyarrow.array(values, field.type)
            for values, field in zip(compared, _COMPARED, strict=True)
        ]
        schema = pyarrow.schema([*batch.schema][:-2] + _COMPARED)
        yield pyarrow.RecordBatch.from_arrays([*batch.columns[:-2], *arrays], schema=schema)


def _compare(due: Sequence[Binding] | None, came: Sequence[Binding] | None) -> tuple[Any, ...]:
    """Return the values of COMPARED for the rows of a report and of a relation."""
    expected = bag_of(due or ())
    actual = bag_of(came or ())
    is_equal = due is not None and came is not None and compare.equal(expected, actual)
    score = yabench.score(expected, actual)
    lacking, too_many = Counter[Row](), Counter[Row]()
    if not is_equal and due is not None and came is not None:
        lacking, too_many = compare.difference(expected, actual, Mode.VALUE)
    return (
        expected.total(),
        actual.total(),
        is_equal,
        float(score.precision),
        float(score.recall),
        sorted(lacking.elements())[:SHOWN],
        sorted(too_many.elements())[:SHOWN],
    )


def bag_of(bindings: Iterable[Binding]) -> Bag:
    """Return the bag of rows that maps from variables to terms are, with canonical terms. Raises
    InvalidStream for what is no term.
    """
    return Counter(row((name, canonical(term)) for name, term in binding) for binding in bindings)


def keys_of_rows(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the columns number, key, row and count: for each relation, with number and bindings,
    and each different row of it how often it is there. Rows that are equal have the same key
    (CMP-2: beside it only numbers must be near).
    """
    for batch in batches:
        found = [
            (number, repr(compare.split(line)[0]), line, count)
            for number, bindings in zip(*(c.to_pylist() for c in batch.columns), strict=True)
            for line, count in sorted(bag_of(bindings).items())
        ]
        if found:
            numbers, keys, lines, counts = zip(*found, strict=True)
            yield pyarrow.RecordBatch.from_arrays(
                [
                    pyarrow.array(numbers, pyarrow.int64()),
                    pyarrow.array(keys, pyarrow.string()),
                    pyarrow.array(lines, _MAPS.value_type),
                    pyarrow.array(counts, pyarrow.int64()),
                ],
                ["number", "key", "line", "count"],
            )


def find_rows(first: pyarrow.Table, second: pyarrow.Table) -> pyarrow.Table:
    """Return where the rows of the first output are in the second one, as a table of FOUND. Both
    tables have the columns of `keys_of_rows`, for one key.

    A row of many relations names the relations of the second output in the first of them alone.
    Raises Unsupported for blank nodes.
    """
    rows = first.sort_by("number").to_pylist()
    wanted = [row(entry["line"]) for entry in rows]
    there = [row(binding) for binding in second["line"].to_pylist()]
    lsbench.refuse_blank_nodes([Counter(wanted)], [Counter(there)])
    relations = second["number"].to_pylist()
    positions = compare.find_positions_of_equal_rows(there, wanted)
    names: dict[Row, str] = {}
    found = []
    for entry, line in zip(rows, wanted, strict=True):
        numbers = None
        if line not in names:
            names[line] = f"{entry['key']} {len(names)}"
            numbers = sorted({relations[position] for position in positions[line]})
        values = (entry["number"], entry["count"], names[line], numbers)
        found.append(dict(zip(_FOUND.names, values, strict=True)))
    return pyarrow.Table.from_pylist(found, _FOUND)


def walk_through(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Walk through rows of FOUND in the order of their numbers, and yield how many rows are lost
    and how many there are (`conformance.bench.metrics.lsbench.mm`), as a batch of LOST.
    """
    search = lsbench.MismatchSearch()
    rows = 0
    numbers_of: dict[str, list[int]] = {}
    entries = (
        entry
        for batch in batches
        for entry in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    for _, block in groupby(entries, key=itemgetter(0)):
        counted = []
        for _, count, line, numbers in block:
            rows += count
            if numbers is not None:
                numbers_of[line] = numbers
            counted.append((count, numbers_of[line]))
        search.pass_block(counted)
    yield pyarrow.RecordBatch.from_pydict({"lost": [search.lost], "rows": [rows]})
