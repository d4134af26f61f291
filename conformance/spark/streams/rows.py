"""The rows of a stream, and rows of any schema as Arrow batches, which is how Spark takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow

from refengine.model.elements import TIME_BOUND, Triple
from refengine.model.errors import InvalidStream

KINDS = {
    "long": pyarrow.int64(),
    "string": pyarrow.string(),
    "boolean": pyarrow.bool_(),
    "double": pyarrow.float64(),
}
KINDS["array<long>"] = pyarrow.list_(KINDS["long"])
KINDS["array<array<long>>"] = pyarrow.list_(KINDS["array<long>"])
FAULT = "file string, line long, error string"  # what is no triple
LONGEST = 500  # characters of an error that are kept

Row = tuple[int, Any, Triple]  # t_app, the place among what has the same, and a triple
Reader = Callable[[Iterable[pyarrow.RecordBatch]], Iterable[Row]]  # in a worker; sorted


def batch(schema: str, rows: Iterable[tuple[Any, ...]]) -> pyarrow.RecordBatch:
    """Return rows, at least one, of a schema as Spark writes it: `time long, subject string`."""
    names, kinds = zip(*(column.split() for column in schema.split(", ")), strict=True)
    columns = zip(*rows, strict=True)
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, KINDS[kind]) for column, kind in zip(columns, kinds, strict=True)],
        names,
    )


def check_time(before: int, time: int) -> None:
    """Raise InvalidStream for a t_app that cannot come after another one."""
    if not -TIME_BOUND <= time < TIME_BOUND:
        raise InvalidStream("t_app must be within 64 bits", rule="MOD-1")
    if time < before:
        raise InvalidStream(f"t_app decreases from {before} to {time}", rule="MOD-2")
