"""Ground truth over Spark: a stream cut in time, of each part the reports (ENG-7), each part's file
written as soon as it is there.

The definition of what a part is, and from where its elements have to be given, is
refengine.incremental.parts; here are jobs and files.
"""

from __future__ import annotations

import gc
import json
import pickle
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow

from conformance.spark import jobs, streams
from conformance.spark.rows import Reader, Row, batch
from conformance.spark.survey import Extent
from refengine import incremental
from refengine.core import r2r, window
from refengine.core.engine import Report
from refengine.core.query import Body, Query
from refengine.core.semantics import Semantics
from refengine.incremental import parts
from refengine.incremental.parts import Part, Short
from refengine.model.canonical import CanonicalElements
from refengine.model.elements import Dataset, Element, Relation, Stream
from refengine.model.errors import RefengineError, Unsupported
from refengine.rdf.recordings import relation_to_json
from refengine.sparql.witnesses import WITNESSES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A report: the instants of its evaluation, its trigger and its stamp, the borders of its first
# window (null: it has none), how many elements its windows hold, and its rows (bindings of SPARQL
# 1.1 JSON). One row more says how the part ended: `done` with the provenance, `short`, or `error`,
# and which.
SCHEMA = (
    "evaluation long, trigger long, instant long, opens long, closes long, elements "
    "long, rows string, ended string, told string"
)
COLUMNS = tuple(column.split()[0] for column in SCHEMA.split(", "))
BATCH = 1_000  # reports that go to Spark at once
REPORT = COLUMNS[:7]
TRIED = 100  # instants for a cut


@dataclass(frozen=True)
class Asked:
    """What the truth is asked of: a query over one stream, under a complete semantics, by some
    witnesses.
    """

    query: Query
    semantics: Semantics
    static: Dataset = frozenset()
    witnesses: tuple[str, ...] = tuple(WITNESSES)

    def __reduce__(self) -> tuple[Any, ...]:
        """What is parsed of a body crosses no process border: it is parsed again."""
        return _asked, (
            self.query.body.text,
            replace(self.query, body=None),  # type: ignore[arg-type]  # `_asked` gives it back
            self.semantics,
            self.static,
            self.witnesses,
        )

    @property
    def name(self) -> str:
        """The stream's name."""
        return self.query.windows[0].stream

    def answer(self, body: Any, dataset: Dataset) -> Relation:
        """Return the definition's answer, which one of its witnesses confirms (R2R-5). Raises
        Disputed.
        """
        return r2r.confirmed(body, dataset, self.witnesses)


def _asked(text: str, query: Query, *rest: Any) -> Asked:
    return Asked(replace(query, body=Body(text)), *rest)


def cuts(asked: Asked, extent: Extent, count: int) -> tuple[list[int], str | None]:
    """Where the stream is cut, and why it is not, if it is not. Within a slide, a cut is where the
    part needs the fewest elements from before it.
    """
    if reason := parts.refused(asked.query, asked.semantics):
        return [], reason
    slide = max(window.slide(spec, asked.semantics.slide).step for spec in asked.query.windows)
    found = set()
    for cut in extent.cuts(count):
        first, last = bisect_left(extent.instants, cut), bisect_left(extent.instants, cut + slide)
        places = range(first, max(first + 1, last), max(1, (last - first) // TRIED))
        found.add(
            min((extent.instants[place] for place in places), key=partial(_before, asked, extent))
        )
    return sorted(found), None


def _before(asked: Asked, extent: Extent, at: int) -> int:
    """For how long before a part its elements are needed, or so it seems."""
    since = next(_since(asked, extent, at))
    return at - (extent.first if since is None else since)


def evaluate(
    asked: Asked, stream: streams.Stream, at: Sequence[int], todo: Iterable[int], parallel: int
) -> Iterator[tuple[int, pyarrow.Table, str]]:
    """Of each part to do its number, its reports (a row each, REPORT) and their provenance, as they
    come. A part for which what is given begins too late is given more. Raises the RefengineError of
    a part, and NoSpark.
    """
    borders = list(zip([None, *at], [*at, None], strict=True))
    from_where = {number: _since(asked, stream.extent, borders[number][0]) for number in todo}
    left = {number: next(candidates) for number, candidates in from_where.items()}
    while left:
        work = {
            number: _job(asked, stream, Part(*borders[number], since))
            for number, since in left.items()
        }
        left = {}
        for number, table in jobs.run(work, parallel):
            ended, told = table["ended"][-1].as_py(), table["told"][-1].as_py()
            if ended == "short":
                left[number] = next(from_where[number])
            elif ended == "error":
                raise rebuilt(told)
            else:
                yield number, table.select(REPORT).slice(0, table.num_rows - 1), told


def _since(asked: Asked, extent: Extent, start: int | None) -> Iterator[int | None]:
    if start is None or parts.refused(asked.query, asked.semantics):
        return iter([None])
    return parts.candidates(
        asked.query, asked.semantics, {asked.name: extent.first}, start, extent.instants
    )


def _job(asked: Asked, stream: streams.Stream, part: Part) -> Callable[[], DataFrame]:
    def frame() -> DataFrame:
        rows, reader = stream.part(part.since, part.stop)
        return rows.mapInArrow(partial(_reports, asked, stream.extent.first, part, reader), SCHEMA)

    return frame


def _reports(
    asked: Asked, first: int, part: Part, reader: Reader, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """What a part gives, in a worker."""
    # elements live as long as the part: looking for what does not is a fifth of the time
    gc.set_threshold(50_000, 20, 50)
    try:
        stream = Stream(CanonicalElements(elements(reader(batches))))
        found: Iterator[Report]
        if parts.refused(asked.query, asked.semantics):
            found = run = incremental.evaluate(
                asked.query,
                {asked.name: stream},
                asked.semantics,
                static=asked.static,
                answer=asked.answer,
            )
        else:
            found, run = parts.reports(
                asked.query,
                {asked.name: stream},
                asked.semantics,
                {asked.name: first},
                part,
                static=asked.static,
                answer=asked.answer,
            )
        rows = map(_row, found)
        while some := list(islice(rows, BATCH)):
            yield batch(SCHEMA, some)
        ended = "done", str(run.provenance)
    except Short:
        ended = "short", ""
    except RefengineError as error:
        ended = "error", told_of(error)
    except OverflowError:
        ended = (
            "error",
            told_of(Unsupported("a report whose times need more than 64 bits", rule="MOD-1")),
        )
    yield batch(SCHEMA, [(*[None] * len(REPORT), *ended)])


def elements(rows: Iterable[Row]) -> Iterator[Element]:
    """The elements of sorted rows."""
    for number, ((time, _), some) in enumerate(groupby(rows, key=itemgetter(0, 1)), 1):
        yield Element(frozenset([triple for _, _, triple in some]), time, number)


def _row(report: Report) -> tuple[Any, ...]:
    opens, closes = report.window or (None, None)
    rows = json.dumps(
        relation_to_json(report.relation)["results"]["bindings"], separators=(",", ":")
    )
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


def told_of(error: RefengineError) -> str:
    """An error as a text that leaves a worker."""
    return pickle.dumps(error, 0).decode("latin-1")


def rebuilt(told: str) -> RefengineError:
    """The error of such a text."""
    error = pickle.loads(told.encode("latin-1"))
    assert isinstance(error, RefengineError)
    return error
