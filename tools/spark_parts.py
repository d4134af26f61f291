"""Generated streams as jobs of Spark: each task makes the rows of some parts, and they are written
as the Parquet that `python -m conformance truth --stream` reads.

The columns are time (ms), element (the order within an instant), subject, predicate and object
(N-Triples); for several streams together also the stream.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Any

from conformance.spark import jobs
from conformance.spark.formats.pieces import URL
from refengine.model.errors import RefengineError
from refengine.model.messages import plain

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "time long, element long, subject string, predicate string, object string"
ROWS = 14_000  # that go to Spark at once

SCHEMA_OF_STREAMS = (
    "time long, element long, stream string, subject string, predicate string, object string"
)

StreamRow = tuple[int, int, str, str, str]
RowOfStreams = tuple[int, int, str, str, str, str]  # of SCHEMA_OF_STREAMS


def batch_of_rows(schema: str, rows: Sequence[tuple[Any, ...]]) -> pyarrow.RecordBatch:
    """Return rows of a schema as Spark writes it: `time long, subject string`."""
    import pyarrow

    kinds = {"long": pyarrow.int64(), "string": pyarrow.string()}
    fields = [column.split() for column in schema.split(", ")]
    arrays = [
        pyarrow.array(column, kinds[kind])
        for column, (_, kind) in zip(zip(*rows, strict=True), fields, strict=True)
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, [name for name, _ in fields])


def rows_of_parts(
    rows: Callable[..., Iterator[StreamRow | RowOfStreams]],
    work: Sequence[tuple[Any, ...]],
    schema: str,
    batches: Iterable[pyarrow.RecordBatch],
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of some parts, in a worker of Spark. `batches` are the numbers of the parts,
    `work` has what `rows` is called with for each part.
    """
    for some in batches:
        for number in some.column(0).to_pylist():
            part = rows(*work[number])
            while lines := list(islice(part, ROWS)):
                yield batch_of_rows(schema, lines)


def frame_of_parts(
    spark: SparkSession,
    rows: Callable[..., Iterator[StreamRow | RowOfStreams]],
    work: Sequence[tuple[Any, ...]],
    modules: Iterable[ModuleType],
    schema: str = SCHEMA,
) -> DataFrame:
    """Return a stream, or several by SCHEMA_OF_STREAMS, as a DataFrame, of which each part is made
    by a task when it is needed.

    `rows` makes the rows of a part, and `work` has its arguments for each part; those of a stream
    are sorted, and its parts in the order of time. `modules` are those that `rows` needs.
    """
    from pyspark import cloudpickle

    # The executors need not have these modules installed: they are sent with the job.
    for module in (*modules, sys.modules[__name__]):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]  # it has none
    return spark.range(0, len(work), 1, len(work)).mapInArrow(
        partial(rows_of_parts, rows, work, schema), schema
    )


def url_of(out: str) -> str:
    """Return the URL of a folder, which may be a path of this machine."""
    if URL.match(out):
        return out
    return f"file://{os.path.abspath(out)}"


def write_frame(frame: DataFrame, out: str) -> None:
    """Write a DataFrame, such as a stream, as Parquet to a folder or URL. Raises RefengineError if
    it cannot be made or written.
    """
    from pyspark.errors import PySparkException

    try:
        frame.write.parquet(url_of(out))
    except PySparkException as error:
        reason = jobs.reason(error)
        if "PATH_ALREADY_EXISTS" in str(error):
            reason = "is there already; name another folder"
        raise RefengineError(plain(reason), rule="usage", place=out) from None
