"""Take the oracle into a test suite: `pytest examples/oracle_in_a_fixture.py`.

The fixture answers a query over elements; each test compares what the system under test answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from rdflib import Graph, Literal, URIRef

from refengine import equal, evaluate, from_table, profile, row, stream

P = URIRef("http://example.org/speed")
Elements = Sequence[tuple[Graph, int]]
Answers = list[tuple[int, Counter[Any]]]
Averages = list[tuple[int, float]]


def my_averages(elements: Elements) -> Averages:
    """The system under test: the end of each window of ten that holds something, and the average of
    its values.
    """
    found: dict[int, list[float]] = {}
    for graph, time in elements:
        for _, _, value in graph:
            found.setdefault(time // 10 * 10 + 10, []).append(float(str(value)))
    return [(end, sum(values) / len(values)) for end, values in sorted(found.items())]


@pytest.fixture
def oracle() -> Callable[[Elements], Answers]:
    """What is right: the output instant of each report, and its rows."""
    query = from_table(
        windows=[{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
        body=f"SELECT (AVG(?v) AS ?average) {{ ?car <{P}> ?v }}",
    )
    semantics = profile("csparql").but(t0=0).semantics()

    def answer(elements: Elements) -> Answers:
        reports = evaluate(query, {"s": stream(elements)}, semantics)
        return [(report.instant, report.relation.rows) for report in reports]

    return answer


def speed(car: str, value: float) -> Graph:
    """Return a graph with one speed."""
    graph = Graph()
    graph.add((URIRef(f"http://example.org/{car}"), P, Literal(value)))
    return graph


def test_averages(oracle: Callable[[Elements], Answers]) -> None:
    """Numbers are compared by value, so that 20 and 2.0E1 are the same."""
    elements = [(speed("a", 10.5), 1), (speed("b", 29.5), 9), (speed("a", 50.0), 10)]
    mine, expected = my_averages(elements), oracle(elements)
    assert [end for end, _ in mine] == [end for end, _ in expected]
    for (_, average), (_, rows) in zip(mine, expected, strict=True):
        term = f'"{average}"^^<http://www.w3.org/2001/XMLSchema#double>'
        assert equal(rows, Counter([row({"average": term})]))
