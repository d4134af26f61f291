"""Ground truth over Spark: a stream is cut in time, and a job computes the reports of each part
(ENG-7).

What a part is, and from which instant its elements are needed, is defined in
refengine.incremental.parts. This module makes the cuts, and runs the jobs.
"""

from __future__ import annotations

import gc
import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow

from conformance.spark import jobs
from conformance.spark.part_plan import best_cuts
from conformance.spark.streams.rows import Reader, Row, batch
from conformance.spark.streams.stream import Stream
from conformance.spark.streams.survey import StreamExtent
from conformance.spark.truth_query import TruthQuery
from refengine import incremental
from refengine.core import engine
from refengine.core.engine import Report
from refengine.incremental import parts
from refengine.incremental.parts import HaloTooShort, Part
from refengine.model.canonical import CanonicalElements
from refengine.model.elements import Element
from refengine.model.elements import Stream as ElementStream
from refengine.model.errors import RefengineError, Unsupported
from refengine.rdf.recordings import relation_to_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A row is a report: the instants of its evaluation, its trigger and its stamp, the borders of its
# first window (null if it has none), the number of elements in its windows, and its rows (bindings
# of SPARQL 1.1 JSON). One last row says in `end` and `detail` how the part ended: `done` and the
# provenance; `short` if its elements began too late; or `error` and the error.
SCHEMA = (
    "evaluation long, trigger long, instant long, opens long, closes long, elements "
    "long, rows string, end string, detail string"
)
COLUMNS = tuple(column.split()[0] for column in SCHEMA.split(", "))
BATCH = 1_000  # reports that are given to Spark at once
REPORT = COLUMNS[:7]


def cuts(truth_query: TruthQuery, extent: StreamExtent, count: int) -> tuple[list[int], str | None]:
    """Return the instants at which a stream is cut into at most `count` parts, and why it is not
    cut, if it is not.
    """
    if reason := parts.why_not_in_parts(truth_query.query, truth_query.semantics):
        return [], reason
    histogram = extent.histogram(truth_query.name)
    return best_cuts(truth_query.query, truth_query.semantics, histogram, count), None


def evaluate(
    truth_query: TruthQuery, stream: Stream, at: Sequence[int], todo: Iterable[int], parallel: int
) -> Iterator[tuple[int, pyarrow.Table, str]]:
    """Compute the parts in `todo`, `parallel` at a time. `at` are the instants of the cuts.

    Yields the number of each part, its reports (a row each, REPORT) and their provenance, when it
    ends. A part that ends `short` is run again with elements from an earlier instant. Raises the
    RefengineError of a part, and NoSpark.
    """
    borders = list(zip([None, *at], [*at, None], strict=True))
    starts = {
        number: _halo_starts(truth_query, stream.extent, borders[number][0]) for number in todo
    }
    todo_since = {number: next(of_part) for number, of_part in starts.items()}
    while todo_since:
        work = {
            number: _job(truth_query, stream, Part(*borders[number], since))
            for number, since in todo_since.items()
        }
        todo_since = {}
        for number, table in jobs.run_jobs(work, parallel):
            end = table["end"][-1].as_py()
            detail = table["detail"][-1].as_py()
            if end == "short":
                todo_since[number] = next(starts[number])
            elif end == "error":
                raise unpickle_error(detail)
            else:
                yield number, table.select(REPORT).slice(0, table.num_rows - 1), detail


def _halo_starts(
    truth_query: TruthQuery, extent: StreamExtent, start: int | None
) -> Iterator[int | None]:
    """Return instants from which the elements for a part that begins at `start` may be needed, the
    likeliest first. None is the beginning of the stream.
    """
    if start is None or parts.why_not_in_parts(truth_query.query, truth_query.semantics):
        return iter([None])
    return parts.halo_starts(
        truth_query.query,
        truth_query.semantics,
        {truth_query.name: extent.first},
        start,
        extent.instants,
    )


def _job(truth_query: TruthQuery, stream: Stream, part: Part) -> Callable[[], DataFrame]:
    """Return a function that makes the DataFrame of a part's reports."""

    def frame() -> DataFrame:
        rows, reader = stream.part(part.halo_start, part.stop)
        return rows.mapInArrow(
            partial(_reports, truth_query, stream.extent.first, part, reader), SCHEMA
        )

    return frame


def _reports(
    truth_query: TruthQuery,
    first: int,
    part: Part,
    reader: Reader,
    batches: Iterable[pyarrow.RecordBatch],
) -> Iterator[pyarrow.RecordBatch]:
    """Compute the reports of a part in a worker, and yield them as batches of SCHEMA."""
    # elements live as long as the part: with fewer collections of garbage it is a fifth faster
    gc.set_threshold(50_000, 20, 50)
    try:
        streams = {truth_query.name: ElementStream(CanonicalElements(elements(reader(batches))))}
        reports: Iterator[Report]
        if parts.why_not_in_parts(truth_query.query, truth_query.semantics):
            reports = run = incremental.evaluate_plan(
                truth_query.query,
                engine.plan(truth_query.query, streams, truth_query.semantics),
                static=truth_query.static,
                answer=truth_query.answer,
                is_definition_asked=truth_query.is_definition_asked,
            )
        else:
            reports, run = parts.reports_of_part(
                truth_query.query,
                streams,
                truth_query.semantics,
                {truth_query.name: first},
                part,
                truth_query.is_definition_asked,
                static=truth_query.static,
                answer=truth_query.answer,
            )
        rows = map(_row, reports)
        while some := list(islice(rows, BATCH)):
            yield batch(SCHEMA, some)
        end = "done", str(run.provenance)
    except HaloTooShort:
        end = "short", ""
    except RefengineError as error:
        end = "error", pickle_error(error)
    except OverflowError:
        too_long = Unsupported("a report whose times need more than 64 bits", rule="MOD-1")
        end = "error", pickle_error(too_long)
    yield batch(SCHEMA, [(*[None] * len(REPORT), *end)])


def elements(rows: Iterable[Row]) -> Iterator[Element]:
    """Yield the elements of sorted rows; the rows of an element have its time and number."""
    for number, ((time, _), some) in enumerate(groupby(rows, key=itemgetter(0, 1)), 1):
        yield Element(frozenset([triple for _, _, triple in some]), time, number)


def _row(report: Report) -> tuple[Any, ...]:
    """Return a report as a row of SCHEMA."""
    opens, closes = report.window or (None, None)
    bindings = relation_to_json(report.relation)["results"]["bindings"]
    rows = json.dumps(bindings, separators=(",", ":"))
    return (
        report.evaluation,
        report.trigger,
        report.instant,
        opens,
        closes,
        sum(map(len, report.contents)),
        rows,
        None,
        None,
    )


def pickle_error(error: RefengineError) -> str:
    """Return an error as a text, in which it can leave a worker."""
    return pickle.dumps(error, 0).decode("latin-1")


def unpickle_error(text: str) -> RefengineError:
    """Return the error in a text that `pickle_error` has written."""
    error = pickle.loads(text.encode("latin-1"))
    assert isinstance(error, RefengineError)
    return error
