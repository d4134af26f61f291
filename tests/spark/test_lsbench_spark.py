"""LSBench over Spark: the streams that tasks make are those of the generator, and the truth of a
query over them is that of one process.
"""

from __future__ import annotations

from collections import Counter

import pytest
from cluster import spark

from conformance.bench.lsbench.activity import Parameters, events
from conformance.bench.lsbench.data import IRIS, lines_of, streams_of
from conformance.bench.lsbench.declaration import SEMANTICS, queries
from conformance.bench.lsbench.static_data import static_triples
from conformance.spark import ground_truth
from refengine import incremental
from refengine.core import r2r
from refengine.core.query import from_table
from refengine.model.elements import stream
from tools import lsbench_spark

PARAMETERS = Parameters(60, 1)


@spark
@pytest.mark.parametrize("name", ["posts", "gps"])
def test_the_parts_of_a_stream_are_its_lines(connected, name):
    parameters = Parameters(200, 1)
    frame = lsbench_spark.stream_frame(connected, parameters, name, 3)
    rows = frame.orderBy("time", "element").toArrow().to_pylist()
    lines = [
        f'{row["subject"]} {row["predicate"]} {row["object"]} "{row["time"]}" .' for row in rows
    ]
    assert lines == list(lines_of(parameters, name)) and len(lines) > 500


@spark
@pytest.mark.parametrize("name", ["Q3", "Q11"])
def test_the_truth_of_a_query_is_that_of_one_process(connected, name):
    """Q3 has static data, and Q11 two streams. In each, every triple is an element."""
    query = from_table(queries()[name].table)
    static = frozenset(static_triples(PARAMETERS)) if queries()[name].graphs else frozenset()
    semantics = SEMANTICS.semantics()
    frame = lsbench_spark.question_frame(connected, PARAMETERS, query, 2)
    reports = ground_truth.truth(frame, query, semantics, static=static, parts=2)
    rows = reports.orderBy("part", "number").toArrow().to_pylist()

    streams = {
        IRIS[stream_name]: stream(
            [
                (triple, event.time)
                for event in events(PARAMETERS, stream_name)
                for triple in event.triples
            ]
        )
        for stream_name in streams_of(queries()[name].table["windows"])
    }
    expected = list(
        incremental.evaluate(query, streams, semantics, static=static, answer=r2r.defined_answer)
    )
    assert [row["evaluation"] for row in rows] == [report.evaluation for report in expected]
    assert [
        Counter(tuple(sorted(dict(binding).items())) for binding in row["bindings"]) for row in rows
    ] == [report.relation.rows for report in expected]
    assert any(row["bindings"] for row in rows)
