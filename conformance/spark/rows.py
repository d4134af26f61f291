"""Rows of a schema as Arrow batches, which is how Spark takes them."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow

KINDS = {"long": pyarrow.int64(), "string": pyarrow.string(), "boolean": pyarrow.bool_(), "double": pyarrow.float64()}


def batch(schema: str, rows: Iterable[tuple]) -> pyarrow.RecordBatch:
    """At least one row, of a schema as Spark writes it: `time long, subject string`."""
    names, kinds = zip(*(column.split() for column in schema.split(", ")), strict=True)
    columns = zip(*rows, strict=True)
    return pyarrow.RecordBatch.from_arrays([pyarrow.array(column, KINDS[kind]) for column, kind in zip(columns, kinds, strict=True)], names)
