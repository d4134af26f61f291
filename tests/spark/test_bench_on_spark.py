"""A benchmark's streams and truth over Spark are those that it has in one process."""

from __future__ import annotations

import pytest
from cluster import spark

from conformance.bench import streams
from refengine import incremental
from refengine.model.errors import RefengineError
from tools import bench_on_spark
from tools.bench_on_spark import find_workload, parts_of, rows_of_part


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Streams are kept in a folder of the tests."""
    folder = tmp_path_factory.getbasetemp() / "bench-streams"
    monkeypatch.setattr(streams, "cache_folder", lambda: folder)


def lines_of(rows):
    """The rows as lines of a stream's file, in the order of time and element."""
    ordered = sorted(rows, key=lambda row: (row[2], row[0], row[1]))
    return [f'{" ".join(triple)} "{time}" .' for time, _, _, *triple in ordered]


@pytest.mark.parametrize("count", [1, 3, 100])
@pytest.mark.parametrize(("name", "test"), [("srbench", "Q12"), ("citybench", "Q5")])
def test_the_parts_of_a_stream_are_the_stream(name, test, count):
    workload = find_workload(name, test, 7)
    parts = parts_of(workload, count)
    rows = [row for part in parts for row in rows_of_part(part)]
    [source] = workload.streams.values()
    assert lines_of(rows) == list(source.lines())
    assert len(parts) == (min(count, 7) if name == "srbench" else 1)


def test_an_unknown_test_is_one_error_that_names_the_nearest():
    with pytest.raises(RefengineError, match="no test 'Q18'"):
        find_workload("srbench", "Q18", 5)


@spark
@pytest.mark.parametrize(("name", "test", "scale"), [("srbench", "Q12", 7), ("citybench", "Q1", 7)])
def test_the_truth_of_a_query_is_that_of_one_process(connected, name, test, scale):
    """Q12 has static data and a path, and of its seven stations two are silent for a part of the
    time; Q1 has two streams.
    """
    workload = find_workload(name, test, scale)
    streams_of_query = {name: one.load().stream for name, one in workload.streams.items()}
    triples = bench_on_spark.triples_of(connected, workload, 3)
    assert triples.count() == sum(map(len, streams_of_query.values()))
    rows = bench_on_spark.truth_of(triples, workload).orderBy("part", "number").collect()
    expected = incremental.evaluate(
        workload.query,
        streams_of_query,
        workload.semantics.semantics(),
        static=workload.static_source.load(),
    )
    found = [
        (row["instant"], sorted(map(sorted, map(dict.items, row["bindings"])))) for row in rows
    ]
    assert found == [
        (report.instant, sorted(map(sorted, report.relation.rows.elements())))
        for report in expected
    ]
    assert any(bindings for _, bindings in found)


@spark
def test_a_folder_that_is_there_is_one_error(connected, tmp_path):
    triples = bench_on_spark.triples_of(connected, find_workload("srbench", "Q12", 5), 1)
    bench_on_spark.write_frame(triples.limit(3), str(tmp_path / "stream"))
    assert connected.read.parquet(str(tmp_path / "stream")).count() == 3
    with pytest.raises(RefengineError, match="stream: usage: is there already; name another"):
        bench_on_spark.write_frame(triples, str(tmp_path / "stream"))
