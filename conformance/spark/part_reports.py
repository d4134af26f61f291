"""The reports of one part of a stream, computed on an executor, as rows of a DataFrame."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow

from conformance.spark.blocks import streams_of_blocks
from conformance.spark.part_plan import is_halo_enough
from conformance.spark.truth_query import TruthQuery
from refengine import incremental
from refengine.core import engine
from refengine.core.reports import Report
from refengine.incremental import parts
from refengine.incremental.parts import Part
from refengine.model.elements import Row, Stream
from refengine.model.errors import Unsupported

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REPORTS = (
    "part int, number long, evaluation long, trigger long, instant long, "
    "windows array<struct<opens: long, closes: long, elements: long>>, "
    "bindings array<map<string, string>>, computed_by string"
)
ENOUGH = "part int, is_enough boolean"
BATCH = 1_000  # reports that are given to Spark at once
Batches = Iterator[pyarrow.RecordBatch]
# a report, and who computed it: incremental evaluation, or the SPARQL evaluator for a reason
ComputedReport = tuple[Report, str]
# Spark finds out from the types of its parameters how it is called
WorkOnPart = Callable[[tuple[pyarrow.Scalar, ...], Batches], Batches]

_LONG = pyarrow.int64()
_WINDOWS = pyarrow.list_(pyarrow.struct([("opens", _LONG), ("closes", _LONG), ("elements", _LONG)]))
_BINDINGS = pyarrow.list_(pyarrow.map_(pyarrow.string(), pyarrow.string()))
SCHEMA = pyarrow.schema(
    [
        ("part", pyarrow.int32()),
        *((name, _LONG) for name in ("number", "evaluation", "trigger", "instant")),
        ("windows", _WINDOWS),
        ("bindings", _BINDINGS),
        ("computed_by", pyarrow.string()),
    ]
)


def reports_of_blocks(
    truth_query: TruthQuery, firsts: Mapping[str, int], chosen: Mapping[int, Part]
) -> WorkOnPart:
    """Return the function that computes the reports of a part, whose number is its key, from its
    blocks: batches of REPORTS. It raises RefengineError.
    """

    def compute(
        key: tuple[pyarrow.Scalar, ...], blocks: Iterator[pyarrow.RecordBatch]
    ) -> Iterator[pyarrow.RecordBatch]:
        number = key[0].as_py()
        return compute_part(truth_query, firsts, number, chosen[number], blocks)

    return compute


def compute_part(
    truth_query: TruthQuery,
    firsts: Mapping[str, int],
    number: int,
    part: Part,
    blocks: Iterable[pyarrow.RecordBatch],
) -> Batches:
    """Return the reports of a part from its blocks: batches of REPORTS. Raises RefengineError."""
    # elements live as long as the part: with fewer collections of garbage it is a fifth faster
    gc.set_threshold(50_000, 20, 50)
    streams = streams_of_blocks(truth_query.stream_names, part, blocks)
    return batches_of_reports(number, reports_of_part(truth_query, firsts, part, streams))


def ask_which_halos_are_enough(
    blocks: DataFrame,
    truth_query: TruthQuery,
    firsts: Mapping[str, int],
    empty_parts: Mapping[int, Part],
) -> set[int]:
    """Return the numbers of the parts whose halos are enough (`part_plan.choose_halos`), which
    executors find out. `blocks` has for each block of a halo the number of the `part`, and as its
    last column the bytes of the `block`.
    """
    work = make_halo_check(truth_query, firsts, empty_parts)
    found = blocks.groupBy("part").applyInArrow(work, ENOUGH).toArrow().to_pylist()
    return {answer["part"] for answer in found if answer["is_enough"]}


def make_halo_check(
    truth_query: TruthQuery, firsts: Mapping[str, int], empty_parts: Mapping[int, Part]
) -> WorkOnPart:
    """Return the function that checks from its blocks whether the halo of a part, whose number is
    its key, is enough to compute it: a batch of ENOUGH. The parts have no elements of their own.
    """

    def check(
        key: tuple[pyarrow.Scalar, ...], blocks: Iterator[pyarrow.RecordBatch]
    ) -> Iterator[pyarrow.RecordBatch]:
        number = key[0].as_py()
        part = empty_parts[number]
        elements = streams_of_blocks(truth_query.stream_names, part, blocks)
        query, semantics = truth_query.query, truth_query.semantics
        is_enough = is_halo_enough(query, semantics, firsts, part, elements)
        columns = [pyarrow.array([number], pyarrow.int32()), pyarrow.array([is_enough])]
        yield pyarrow.RecordBatch.from_arrays(columns, ["part", "is_enough"])

    return check


def reports_of_part(
    truth_query: TruthQuery, firsts: Mapping[str, int], part: Part, streams: Mapping[str, Stream]
) -> Iterator[ComputedReport]:
    """Yield the reports of a part, or of the whole stream if the query is not computed in parts,
    each with who computed it. Raises RefengineError.
    """
    query = truth_query.query
    reports: Iterable[Report]
    if parts.why_not_in_parts(query, truth_query.semantics) is None:
        reports, run = parts.reports_of_part(
            query,
            streams,
            truth_query.semantics,
            firsts,
            part,
            truth_query.is_evaluator_requested,
            static=truth_query.static,
            answer=truth_query.answer,
        )
    else:
        reports = run = incremental.evaluate_plan(
            query,
            engine.plan(query, streams, truth_query.semantics),
            static=truth_query.static,
            answer=truth_query.answer,
            is_evaluator_requested=truth_query.is_evaluator_requested,
        )
    return ((report, run.provenance.last_computed_by) for report in reports)


def batches_of_reports(number: int, reports: Iterable[ComputedReport], first: int = 1) -> Batches:
    """Yield the reports of a part as batches of REPORTS, numbered from `first` on. Raises
    Unsupported for a time that needs more than 64 bits.
    """
    left = iter(reports)
    while some := list(islice(left, BATCH)):
        try:
            yield _batch(number, first, some)
        except OverflowError:
            reason = "a report whose times need more than 64 bits"
            raise Unsupported(reason, rule="MOD-1") from None
        first += len(some)


def _batch(number: int, first: int, computed: Sequence[ComputedReport]) -> pyarrow.RecordBatch:
    """Return some reports of a part as a batch, of which the first has this number."""
    count = len(computed)
    reports, computed_by = zip(*computed, strict=True)
    columns = [
        pyarrow.array([number] * count, pyarrow.int32()),
        pyarrow.array(range(first, first + count), _LONG),
        *(pyarrow.array([value(report) for report in reports], _LONG) for value in _INSTANTS),
        pyarrow.array([_windows(report) for report in reports], _WINDOWS),
        _bindings([bindings(report) for report in reports]),
        pyarrow.array(computed_by, pyarrow.string()),
    ]
    return pyarrow.RecordBatch.from_arrays(columns, schema=SCHEMA)


_INSTANTS: tuple[Callable[[Report], int], ...] = (
    lambda report: report.evaluation,
    lambda report: report.trigger,
    lambda report: report.instant,
)


def _windows(report: Report) -> list[dict[str, int | None]]:
    """Return the borders of each window, which are None for a window that has none, and the number
    of its elements.
    """
    windows = []
    for borders, contents in zip(report.windows, report.contents, strict=True):
        opens, closes = borders or (None, None)
        windows.append({"opens": opens, "closes": closes, "elements": len(contents)})
    return windows


def bindings(report: Report) -> list[Row]:
    """Return the rows of a report's relation in the order of their text, each as often as it is
    there.
    """
    return sorted(report.relation.rows.elements())


def _bindings(reports: Sequence[Sequence[Row]]) -> pyarrow.ListArray:
    """Return the rows of reports as an Arrow array, of maps from variables to terms."""
    rows_before = [0]
    bound_before = [0]
    names: list[str] = []
    terms: list[str] = []
    for rows in reports:
        for row in rows:
            for name, term in row:
                names.append(name)
                terms.append(term)
            bound_before.append(len(names))
        rows_before.append(len(bound_before) - 1)
    maps = pyarrow.MapArray.from_arrays(
        pyarrow.array(bound_before, pyarrow.int32()),
        pyarrow.array(names, pyarrow.string()),
        pyarrow.array(terms, pyarrow.string()),
    )
    return pyarrow.ListArray.from_arrays(pyarrow.array(rows_before, pyarrow.int32()), maps)
