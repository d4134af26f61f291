"""Ground truth of a stream that does not end: each micro-batch makes a part of it final (ENG-7).

The state between micro-batches is the elements that the next part needs, and those that are not
final yet. Spark keeps it in its checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import compute

from conformance.spark.blocks import (
    COLUMNS,
    checked_tables,
    pack,
    rows_between,
    streams_of_rows,
    unpack,
)
from conformance.spark.part_plan import is_halo_enough
from conformance.spark.part_reports import (
    REPORTS,
    ComputedReport,
    batches_of_reports,
    reports_of_part,
)
from conformance.spark.truth_query import TruthQuery
from refengine.incremental import parts
from refengine.incremental.parts import Part
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidStream, Unsupported

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.state import GroupState

STATE = "rows binary, facts string"


@dataclass(frozen=True)
class StreamState:
    """What is known of a stream between two micro-batches.

    `rows` are the packed rows that are not final yet, and the final ones from `halo_start` on,
    which the next part needs (None: all final ones). All arrivals before `start` have been computed
    (None: nothing has). `firsts` is the first instant of each stream so far, and `number` how many
    reports there were.
    """

    rows: bytes = b""
    start: int | None = None
    halo_start: int | None = None
    firsts: Mapping[str, int] = field(default_factory=dict)
    number: int = 0


def reports_of_stream(rows: DataFrame, truth_query: TruthQuery, lateness: int) -> DataFrame:
    """Return the reports of a streaming DataFrame, with the columns of `rows_of_streams`, each as
    soon as nothing that may still come can change it. Raises Unsupported for a query that is not
    computed in parts, and InvalidStream for a negative `lateness`.
    """
    from pyspark.sql import functions as f

    reason = parts.why_not_in_parts(truth_query.query, truth_query.semantics)
    if reason is not None:
        raise Unsupported(f"over a stream: {reason}", rule="ENG-7", place="triples")
    if lateness < 0:
        raise InvalidStream(f"must be >= 0, got {lateness}", rule="MOD-2", place="lateness")

    def take(key: tuple[Any, ...], batches: Iterator[Any], state: GroupState) -> Iterator[Any]:
        before = StreamState()
        if state.exists:
            packed, facts = state.get
            before = StreamState(packed, **json.loads(facts))
        tables = [pyarrow.Table.from_pandas(some, preserve_index=False) for some in batches]
        after, reports = take_rows(truth_query, lateness, before, tables)
        for batch in batches_of_reports(0, reports, before.number + 1):
            after = replace(after, number=after.number + batch.num_rows)
            yield batch.to_pandas(maps_as_pydicts="strict")  # as Spark takes maps
        facts = {name: value for name, value in vars(after).items() if name != "rows"}
        state.update((after.rows, json.dumps(facts)))

    one_group = rows.withColumn("group", f.lit(0)).groupBy("group")
    return one_group.applyInPandasWithState(take, REPORTS, STATE, "append", "NoTimeout")


def take_rows(
    truth_query: TruthQuery, lateness: int, state: StreamState, tables: Sequence[pyarrow.Table]
) -> tuple[StreamState, Iterator[ComputedReport]]:
    """Take the rows of a micro-batch (COLUMNS), and return the state after it and the reports that
    are final now.

    Final are the arrivals before the latest instant less `lateness`, as soon as each stream has one
    of them: where its windows open may depend on its first element. Raises InvalidStream for a row
    that comes too late.
    """
    rows = _with_new_rows(state, tables)
    if not rows.num_rows:
        return state, iter(())
    stop = compute.max(rows["time"]).as_py() - lateness
    firsts = dict(state.firsts)
    names = truth_query.stream_names
    for place, name in enumerate(names):
        times = rows.filter(compute.equal(rows["stream"], place))["time"]
        if state.start is None and len(times):
            firsts[name] = compute.min(times).as_py()
    is_known = all(firsts.get(name, TIME_BOUND) < stop for name in names)
    if not is_known or (state.start is not None and stop <= state.start):
        return replace(state, rows=pack(rows)), iter(())
    part = Part(state.start, stop, state.halo_start)
    streams = streams_of_rows(names, [rows_between(rows, None, stop)])
    reports = reports_of_part(truth_query, firsts, part, streams)
    halo_start = _next_halo_start(truth_query, firsts, part, rows)
    after = StreamState(
        pack(rows_between(rows, halo_start, None)), stop, halo_start, firsts, state.number
    )
    return after, reports


def _with_new_rows(state: StreamState, tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """Return the rows of the state and new ones. Raises InvalidStream for a new row that comes too
    late, or that has a null.
    """
    batches = (batch for table in tables for batch in table.select(list(COLUMNS)).to_batches())
    new = list(checked_tables(batches))
    for table in new:
        earliest = compute.min(table["time"]).as_py()
        if state.start is not None and earliest < state.start:
            reason = (
                f"an element at {earliest} comes after everything before {state.start} was "
                "reported; give a greater lateness"
            )
            raise InvalidStream(reason, rule="MOD-2", place="triples")
    encoded = [unpack(pack(table)) for table in new]  # terms are checked
    if state.rows:
        encoded.insert(0, unpack(state.rows))
    if not encoded:
        return pyarrow.table({name: [] for name in COLUMNS})
    return pyarrow.concat_tables(encoded).unify_dictionaries()


def _next_halo_start(
    truth_query: TruthQuery, firsts: Mapping[str, int], part: Part, rows: pyarrow.Table
) -> int | None:
    """Return the instant from which the part after this one needs elements: the latest candidate
    that is enough, or else that of this part, which is always enough.
    """
    assert part.stop is not None
    query, semantics = truth_query.query, truth_query.semantics
    instants: Iterable[int] = compute.unique(rows["time"]).to_pylist()
    arrived = sorted(instant for instant in instants if instant < part.stop)
    for halo_start in parts.halo_starts(query, semantics, firsts, part.stop, arrived):
        if halo_start is None or (part.halo_start is not None and halo_start <= part.halo_start):
            break
        elements = streams_of_rows(
            truth_query.stream_names, [rows_between(rows, halo_start, part.stop)]
        )
        empty_part = Part(part.stop, part.stop, halo_start)
        if is_halo_enough(query, semantics, firsts, empty_part, elements):
            return halo_start
    return part.halo_start
