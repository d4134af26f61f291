"""Ground truth as a function from DataFrame to DataFrame.

The driver sees of a stream only a histogram of its arrival times, and whether parts have the
elements that they need. From these it plans the parts (ENG-7). Executors give each part its rows,
and compute its reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, cast

from conformance.spark.blocks import BLOCK, COLUMNS, NOT_READ, POSITIONS, blocks_of_parts
from conformance.spark.jobs import check_workers, slots
from conformance.spark.part_plan import (
    ArrivalHistogram,
    bucket_shift,
    choose_halos,
    join_halos,
    merge_buckets,
    plan_parts,
)
from conformance.spark.part_reports import REPORTS, ask_which_halos_are_enough, reports_of_blocks
from conformance.spark.read_triples import compares_graphs, predicates_read
from conformance.spark.streaming import reports_of_stream
from conformance.spark.truth_query import TruthQuery
from refengine.core.plan import plan_without_elements
from refengine.core.query import Query
from refengine.core.semantics import Semantics
from refengine.core.static import Static, resolve_static
from refengine.incremental.parts import Part
from refengine.model.elements import Dataset, canonical_dataset
from refengine.model.errors import InvalidStream
from refengine.model.messages import display

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# of a part if the number of parts is not given: at most, and at least if there are several
TRIPLES_OF_PART = 500_000
TRIPLES_WORTH_A_PART = 50_000
BUCKETS = 1_000_000  # of a histogram, at most
MOST_TASKS = 1_000  # that compute parts; with more parts, a task computes several
TYPES = {
    "time": "bigint",
    "element": "bigint",
    "subject": "string",
    "predicate": "string",
    "object": "string",
}
INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})


def truth(
    triples: DataFrame,
    query: Query,
    semantics: Semantics,
    *,
    static: Static | DataFrame | None = None,
    parts: int | None = None,
    lateness: int = 0,
) -> DataFrame:
    """Return the reports of a query over a stream of triples, as a DataFrame.

    `triples` has the columns `time` (an integer, by default milliseconds), `element` (the order of
    the elements within an instant; the triples of an element share it), `subject`, `predicate` and
    `object` (N-Triples); and, if the windows range over several streams, `stream` (the name). Rows
    are in any order. Other columns are not read.

    `static` is data that never changes: a set of triples and quads; one for each IRI that FROM and
    FROM NAMED of the body name; or a DataFrame with `subject`, `predicate`, `object` and, for named
    graphs, `graph`. The driver holds it, and sends it to the executors.

    `parts` is into how many parts the stream is cut in time, at most. The default is a multiple of
    the number of slots for tasks: the least with which a part has some 500,000 triples at most. A
    stream so short that parts would have fewer than 50,000 is cut into fewer.

    A report is a row. `part` and `number` (from 1 in each part) give the order of reports;
    `evaluation`, `trigger` and `instant` are those of `refengine.Report`; `windows` has for each
    window of the query where it opens and closes (null without a window) and how many elements it
    holds; `bindings` are the rows of the relation, each a map from its bound variables to terms.

    The times are counted, and what parts need from before their start is sought, before this
    returns. The reports, and errors in rows, come when the result is asked for.

    If `triples` is a streaming DataFrame, so is the result, and nothing is read at once: a report
    comes as soon as nothing that may still come can change it. Rows may come in any order, but an
    element may come at most `lateness` after a later one, in the unit of `time`. One whose time is
    before what is final already ends the query. `part` is then 0.

    Raises what `refengine.evaluate` raises of the query, InvalidStream for other columns and for a
    stream without triples, Unsupported for a stream if the query is not computed in parts, and
    NoSpark if the session's workers lack this project.
    """
    refuse_no_dataframe(triples, "triples")
    check_workers(triples.sparkSession)
    if hasattr(static, "toArrow"):
        dataset = _collect_static(cast("DataFrame", static))
    else:
        query, dataset = resolve_static(query, static or {})
    truth_query = TruthQuery(query, semantics, canonical_dataset(dataset))
    if triples.isStreaming:
        check_query(truth_query)
        return reports_of_stream(rows_of_streams(triples, truth_query), truth_query, lateness)
    return reports_of(triples, truth_query, parts)


def refuse_no_dataframe(value: object, place: str) -> None:
    """IO-1: Refuse what is no DataFrame, where one is needed. Raises InvalidStream."""
    if not hasattr(value, "toArrow"):
        reason = f"must be a DataFrame of Spark, got {display(value)}"
        raise InvalidStream(reason, rule="IO-1", place=place)


def _collect_static(static: DataFrame) -> Dataset:
    """Return the triples and quads of a DataFrame. Raises InvalidStream for other columns."""
    names = ["subject", "predicate", "object"]
    if not {*names} <= {*static.columns}:
        has = display(", ".join(static.columns))
        reason = f"needs the columns {', '.join(names)}, and graph for named graphs; has {has}"
        raise InvalidStream(reason, rule="IO-1", place="static")
    if "graph" not in static.columns:
        columns = static.select(*names).toArrow().to_pydict().values()
        return frozenset(zip(*columns, strict=True))
    columns = static.select(*names, "graph").toArrow().to_pydict().values()
    return frozenset(
        (*triple, graph) if graph is not None else tuple(triple)
        for *triple, graph in zip(*columns, strict=True)
    )


def reports_of(triples: DataFrame, truth_query: TruthQuery, parts: int | None) -> DataFrame:
    """Return the reports of `truth` for a query with its options."""
    query, semantics = truth_query.query, truth_query.semantics
    check_query(truth_query)
    rows = rows_of_streams(triples, truth_query)
    histogram = count_arrivals(rows, truth_query)
    if parts is None:
        parts = usual_number_of_parts(histogram.triples, slots(triples.sparkSession))
    planned = plan_parts(query, semantics, histogram, parts)
    chosen = choose_halos(
        planned, partial(_find_enough_halos_in_rows, rows, truth_query, histogram.firsts)
    )
    work = reports_of_blocks(truth_query, histogram.firsts, chosen)
    tasks = min(max(chosen) + 1, MOST_TASKS)  # each part is computed in one of them
    blocks = _blocks_of(rows, chosen).repartitionById(tasks, "part")
    return blocks.groupBy("part").applyInArrow(work, REPORTS)


def check_query(truth_query: TruthQuery) -> None:
    """Raise RefengineError for a query and a semantics that mean nothing together."""
    plan_without_elements(truth_query.query, truth_query.stream_names, truth_query.semantics)


def rows_of_streams(triples: DataFrame, truth_query: TruthQuery) -> DataFrame:
    """Return the rows of the streams that the windows range over, with the columns `time`,
    `element`, `stream` (the place of its name among those of the query, from 0), `subject`,
    `predicate` and `object`. The terms of triples that the query cannot read are left out.
    """
    from pyspark.sql import functions as f

    names = truth_query.stream_names
    check_columns(triples.schema, len(names) > 1, "triples")
    stream = f.lit(0)
    if "stream" in triples.columns:
        triples = triples.where(f.col("stream").isin(*names))
        for place, name in enumerate(names[1:], 1):
            stream = f.when(f.col("stream") == name, place).otherwise(stream)
    terms = {name: f.col(name) for name in POSITIONS}
    predicates = predicates_read(truth_query.query, truth_query.semantics)
    if predicates is not None:
        # a predicate with escapes may be another text of one that is read; a null is an error
        is_read = terms["predicate"].isin(*sorted(predicates))
        is_read = is_read | terms["predicate"].contains("\\") | terms["predicate"].isNull()
        terms = {name: f.when(is_read, term).otherwise(NOT_READ) for name, term in terms.items()}
    return triples.select(
        f.col("time").cast("long").alias("time"),
        f.col("element").cast("long").alias("element"),
        stream.alias("stream"),
        *(term.alias(name) for name, term in terms.items()),
    )


def check_columns(schema: StructType, has_several_streams: bool, place: str) -> None:
    """Raise InvalidStream if columns are missing or of other types. `place` says of what."""
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    needed = dict(TYPES)
    if has_several_streams:
        needed["stream"] = "string"
    wrong = [
        f"{name} {kind}"
        for name, kind in needed.items()
        if types.get(name) != kind and not (kind == "bigint" and types.get(name) in INTEGERS)
    ]
    if wrong:
        has = display(", ".join(f"{name} {kind}" for name, kind in types.items()))
        reason = f"needs the columns {', '.join(wrong)}; has {has}"
        raise InvalidStream(reason, rule="IO-1", place=place)


def count_arrivals(rows: DataFrame, truth_query: TruthQuery) -> ArrivalHistogram:
    """Return the histogram of arrival times of all streams together. Raises InvalidStream for rows
    without a time, and if there is no triple.
    """
    from pyspark.sql import functions as f

    shift = bucket_shift(truth_query.query, truth_query.semantics)
    while True:
        bucket = f.shiftright("time", shift).alias("bucket")
        counted = rows.groupBy("stream", bucket).agg(f.min("time"), f.count("*"))
        columns = counted.limit(BUCKETS + 1).toArrow().to_pydict().values()
        streams, buckets, firsts, counts = map(list, columns)
        if len(buckets) <= BUCKETS:
            break
        shift += 4  # there are more buckets than the driver should hold: wider ones
    if None in buckets:
        raise InvalidStream("a row has no time", rule="IO-1", place="column time")
    if not buckets:
        raise InvalidStream("no triple", rule="IO-1", place="triples")
    names = [truth_query.stream_names[stream] for stream in streams]
    return merge_buckets(zip(names, buckets, firsts, counts, strict=True))


def usual_number_of_parts(triples: int, slots: int) -> int:
    """Return into how many parts a stream is cut if nothing else is said: as many for each slot,
    and so many that a part has up to `TRIPLES_OF_PART` triples. With fewer triples than
    `TRIPLES_WORTH_A_PART` a part's job costs more than the work that it takes over; so there are at
    most so many parts that each has `TRIPLES_WORTH_A_PART` on average, but one at least.

    >>> usual_number_of_parts(2_100_000, 2), usual_number_of_parts(42_000, 2)
    (6, 1)
    """
    count = max(1, -(-triples // (TRIPLES_OF_PART * slots))) * slots
    return min(count, max(1, triples // TRIPLES_WORTH_A_PART))


def _find_enough_halos_in_rows(
    rows: DataFrame,
    truth_query: TruthQuery,
    firsts: Mapping[str, int],
    empty_parts: Mapping[int, Part],
) -> set[int]:
    """Return the numbers of the parts whose halos are enough (`choose_halos`). Executors find it
    out from the elements of each halo. Their triples are read only if graphs are compared
    (`compares_graphs`).
    """
    from pyspark.sql import functions as f

    # `stop` is not in a range, and `between` includes both bounds
    in_ranges = [
        f.col("time").between(since, stop - 1) for since, stop in join_halos(empty_parts.values())
    ]
    rows = rows.where(reduce(or_, in_ranges))
    if not compares_graphs(truth_query.semantics):
        rows = rows.select(*COLUMNS[:3], *(f.lit(NOT_READ).alias(name) for name in POSITIONS))
    return ask_which_halos_are_enough(
        _blocks_of(rows, empty_parts), truth_query, firsts, empty_parts
    )


def _blocks_of(rows: DataFrame, chosen: Mapping[int, Part]) -> DataFrame:
    """Return the blocks of rows (BLOCK) for some parts."""
    return rows.mapInArrow(partial(blocks_of_parts, list(chosen.items())), BLOCK)
