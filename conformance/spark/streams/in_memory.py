"""A stream that the driver has read, and from which it gives each part its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow

from conformance.spark.streams import survey
from conformance.spark.streams.rows import Reader, Row, batch
from conformance.spark.streams.survey import File
from conformance.spark.streams.table import SCHEMA, ordered
from refengine.model import elements
from refengine.model.errors import InvalidStream, Unsupported

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class InMemory:
    """The sorted rows of a stream in the driver's memory."""

    spark: SparkSession
    rows: Sequence[Row]

    def survey(self) -> list[File]:
        """Return what a first pass would find if the rows were one file."""
        file = File("", canonical=len(self.rows), index=[[survey.digest(repr(self.rows).encode())]])
        file.instants.add(Counter(time for time, _, _ in self.rows).items())
        return [file]

    def part(self, _: Sequence[File], since: int, stop: int) -> tuple[DataFrame, Reader]:
        """Return a DataFrame with the rows in [since, stop), and the function that reads them in a
        worker.
        """
        some = [(time, place, *triple) for time, place, triple in self.rows if since <= time < stop]
        rows = pyarrow.Table.from_batches([batch(SCHEMA, some)])
        return self.spark.createDataFrame(rows, SCHEMA), _rows


def in_memory(spark: SparkSession, stream: elements.Stream) -> InMemory:
    """Return a stream's rows. Raises InvalidStream for a stream without elements, Unsupported for
    what a row does not hold.
    """
    if not stream.elements:
        raise InvalidStream("no element", rule="IO-1")
    if any(element.end not in (None, element.app) for element in stream):
        raise Unsupported("rows have a time, and no interval", rule="MOD-3", place="end")
    if any(not element.graph for element in stream):
        raise Unsupported("an element without triples is no row", rule="MOD-1")
    rows = [
        (element.app, element.sys, triple) for element in stream for triple in sorted(element.graph)
    ]
    return InMemory(spark, rows)


def _rows(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[Row]:
    return ordered(pyarrow.Table.from_batches(batches))
