"""Ground truth of a stream that does not end gives the reports of the batch, however the rows come
in micro-batches; and goes on from its checkpoint.
"""

from __future__ import annotations

import pyarrow
import pyarrow.parquet
import pytest
from cluster import rows_of_reports, rows_of_spark, spark
from conftest import draws
from hypothesis import event, given, settings
from hypothesis import strategies as st
from incremental.incremental_trials import collect, cut
from test_ground_truth import EACH, asked, batch, rows_of

from conformance.spark import streaming, truth
from conformance.spark.part_reports import batches_of_reports
from conformance.spark.streaming import StreamState
from conformance.spark.truth_query import TruthQuery
from refengine import incremental, stream
from refengine.core import engine
from refengine.incremental import parts as in_parts
from refengine.model.elements import Stream
from refengine.model.errors import InvalidStream, Unsupported


def take_all(truth_query: TruthQuery, lateness: int, micro_batches: list[list[tuple]]):
    """The reports that come with micro-batches, and the state after the last."""
    state = StreamState()
    found = []
    for rows in micro_batches:
        tables = [pyarrow.Table.from_batches([batch(rows)])] if rows else []
        state, reports = streaming.take_rows(truth_query, lateness, state, tables)
        found += [
            row
            for some in batches_of_reports(0, reports, len(found) + 1)
            for row in some.to_pylist()
        ]
    return found, state


@settings(max_examples=draws(150))
@given(cut(), st.data())
def test_micro_batches_are_the_batch(trial, data):
    """Over drawn queries, of two streams too, and drawn semantics. Rows come up to 3 late, in
    micro-
    batches of any size. What is not final yet is not reported.
    """
    query, streams, semantics, _, _ = trial
    if in_parts.why_not_in_parts(query, semantics):
        return
    full = {
        name: Stream(tuple(element for element in elements if element.graph), elements.ordered)
        for name, elements in streams.items()
    }
    truth_query = TruthQuery(query, semantics)
    expected, error = collect(incremental.evaluate, query, full, semantics)
    if error is not None or not rows_of(full, truth_query.stream_names):
        return
    lateness = data.draw(st.integers(0, 3))
    delayed = [
        (row[0] + data.draw(st.integers(0, lateness)), row)
        for row in rows_of(full, truth_query.stream_names)
    ]
    rows = [row for _, row in sorted(delayed)]
    borders = sorted(data.draw(st.sets(st.integers(0, len(rows)), max_size=6)))
    micro_batches = [
        rows[start:stop] for start, stop in zip([0, *borders], [*borders, len(rows)], strict=True)
    ]
    found, state = take_all(truth_query, lateness, micro_batches)
    due = [
        report for report in expected if state.start is not None and report.trigger < state.start
    ]
    assert rows_of_spark(found) == rows_of_reports(due)
    assert [row["number"] for row in found] == list(range(1, len(found) + 1))
    event(f"elements are forgotten: {state.halo_start is not None}")


def test_what_is_reported_when():
    """By hand. Windows [0, 10), [10, 20), …; 11 closes the first one, but with a lateness of 2 an
    element at 10 may still come before it. 14 says that all before 12 is there.
    """
    query, semantics = asked(report="window-close", tick="tuple")
    a, b, c, d = ((at, 1, 0, f"<urn:{at}>", "<urn:p>", "<urn:o>") for at in (1, 11, 10, 14))
    found = [
        len(take_all(TruthQuery(query, semantics), 2, given)[0])
        for given in (
            [[a, b]],
            [[a, b], [c]],
            [[a, b], [c], [d]],
            [[a, b, c, d]],
            [[a], [b], [], [d, c]],
        )
    ]
    assert found == [0, 0, 1, 1, 1]


def test_a_row_that_comes_too_late_ends_the_query():
    query, semantics = asked(report="window-close", tick="tuple")
    rows = [(at, 1, 0, "<urn:a>", "<urn:p>", "<urn:o>") for at in (1, 20, 19, 9)]
    with pytest.raises(
        InvalidStream,
        match="triples: MOD-2: an element at 9 comes after everything before 17 was reported",
    ):
        take_all(TruthQuery(query, semantics), 3, [rows[:3], rows[3:]])


# What needs Spark


@spark
def test_a_stream_goes_on_from_its_checkpoint(connected, tmp_path):
    """Files that come one after the other; the query is ended in between, and loses nothing. By
    hand:
    26 closes [0, 20), 31 closes [10, 30), and 47, the last element, may have another beside it.
    """
    schema = "time long, element long, subject string, predicate string, object string"
    folder = tmp_path / "stream"
    folder.mkdir()
    items = [((f"<urn:{at}>", "<urn:p>", "<urn:o>"), at) for at in (1, 5, 12, 18, 26, 31, 47)]
    window = {"stream": "s", "kind": "time", "size": 20, "slide": 10}
    fields = {"report": "window-close", "r2s": "Istream", "base": "previous", "tick": "tuple"}
    query, semantics = asked(EACH, [window], **fields)

    def run(number: int, some: list) -> None:
        rows = {
            "time": [at for _, at in some],
            "element": [1] * len(some),
            **{
                name: [triple[place] for triple, _ in some]
                for place, name in enumerate(("subject", "predicate", "object"))
            },
        }
        pyarrow.parquet.write_table(pyarrow.table(rows), folder / f"{number}.parquet")
        triples = connected.readStream.schema(schema).parquet(str(folder))
        writing = truth(triples, query, semantics).writeStream.format("parquet")
        writing = writing.option("checkpointLocation", str(tmp_path / "checkpoint"))
        started = writing.trigger(availableNow=True).start(str(tmp_path / "reports"))
        assert started.awaitTermination(120)

    def reported() -> list[dict]:
        reports = connected.read.parquet(str(tmp_path / "reports")).orderBy("number")
        return reports.toArrow().to_pylist()

    run(1, items[:6])
    assert [row["trigger"] for row in reported()] == [26]
    run(2, items[6:])
    found = reported()
    whole = engine.evaluate(query, {"s": stream(items)}, semantics)
    assert rows_of_spark(found) == rows_of_reports(
        [report for report in whole if report.trigger < 47]
    )
    assert [row["trigger"] for row in found] == [26, 31]


@spark
def test_a_query_that_is_not_cut_is_not_streamed(connected):
    rate = connected.readStream.format("rate").load()
    triples = rate.selectExpr(
        "value AS time", "value AS element", "'' AS subject", "'' AS predicate", "'' AS object"
    )
    windows = [{"stream": "s", "kind": "rows", "size": 2}]
    query, semantics = asked(windows=windows, closure=None, report="content-change")
    with pytest.raises(Unsupported, match="triples: ENG-7: over a stream: windows of kind rows"):
        truth(triples, query, semantics)
    with pytest.raises(InvalidStream, match="lateness: MOD-2: must be >= 0, got -1"):
        truth(triples, *asked(), lateness=-1)
