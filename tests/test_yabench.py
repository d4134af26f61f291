"""YABench: the streams of its generator, what it published of them, and its measures by a script of their own."""

from __future__ import annotations

from functools import partial

import pytest
import yabench_generator as generator

from conformance.metrics.run import Reading, of_run
from refengine import evaluate, from_table, io, literal, profile, r2r
from refengine.model import XSD
from refengine.query import Query

FAST = partial(r2r.ask, r2r.FASTEST)

# The generator


def test_javas_random():
    """Of Random(42): the first numbers below 10; a power of two, which the upper bits decide; and a bound
    that half of all draws are beyond, where they are drawn again."""
    random = generator.JavaRandom(42)
    assert [random.next_int(10) for _ in range(5)] == [0, 3, 8, 4, 0]
    random = generator.JavaRandom(42)
    first = random.next(31)
    assert generator.JavaRandom(42).next_int(8) == first >> 28
    bound = 2**30 + 1
    assert all(0 <= generator.JavaRandom(seed).next_int(bound) < bound for seed in range(50))


def test_the_generators_quirks():
    """One station: the first observation is at 0, those after it at its phase, 31, and a second later each. A station whose phase
    is 0 has one at the very end, at 2000."""
    assert [one.time for one in generator.observations(1430236808, 1, 3000)] == [0, 1031, 2031]
    assert [one.time for one in generator.observations(1430236808, 1, 2000, interval=1)] == list(range(2001))


def test_an_observation_is_read_as_it_was_drawn(tmp_path):
    path = tmp_path / "SG_small1"
    generator.write(path, seed=1430236808, stations=1, duration=1031)
    stream = list(io.read_stream(path))
    assert [element.app for element in stream] == [0] * 7 + [1031] * 7
    values = [triple[2] for element in stream for triple in element.graph if triple[1] == f"<{generator.OM_OWL}floatValue>"]
    assert values == [literal("27.0", XSD + "float"), literal("77.0", XSD + "float")]


# What was published: expected rows and triples of each window, columns 4 and 5 of the ORACLE_ files of YABench/YABench-One

HOT = """
    PREFIX om: <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
    PREFIX w: <http://knoesis.wright.edu/ssw/ont/weather.owl#>
    SELECT ?station ?seen ?degrees WHERE {
      ?seen om:observedProperty w:_AirTemperature ; om:procedure ?station ; om:result ?measure .
      ?measure om:floatValue ?degrees .
      FILTER(?degrees > 50.0)
    }
"""
FALLING = """
    PREFIX om: <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
    PREFIX w: <http://knoesis.wright.edu/ssw/ont/weather.owl#>
    SELECT ?station ?warm ?degrees ?cold WHERE {
      ?warm om:procedure ?station ; om:observedProperty w:_AirTemperature ; om:result ?one .
      ?one om:floatValue ?degrees .
      ?cold om:procedure ?station ; om:observedProperty w:_AirTemperature ; om:result ?other .
      ?other om:floatValue ?less .
      FILTER(?degrees - ?less > 0.0)
    }
"""
PUBLISHED = {
    "experiment 1, small": (HOT, 1430236906, 50, 30_000, 1750, [119, 137, 128, 117, 120, 121]),
    "experiment 1, medium": (HOT, 1430236906, 1000, 30_000, 35_021, [2462, 2463, 2422, 2497, 2452, 2518]),
    "experiment 3, small": (FALLING, 1430236808, 50, 30_000, 1757, [501, 501, 501, 498, 498, 499]),
    "experiment 3, medium": (FALLING, 1430236808, 200, 30_000, 7007, [1988, 1986, 1987, 1978, 1985, 1992]),
    "experiment 4": (FALLING, 1430236808, 1, 20_000, 35, [10, 10, 10, 10]),
}


def tumbling(body: str) -> Query:
    return from_table({"body": body, "windows": [{"stream": "s", "kind": "time", "size": 5000, "slide": 5000}]})


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_expected_sizes_are_those_that_yabench_published(tmp_path, name):
    body, seed, stations, duration, triples, rows = PUBLISHED[name]
    path = tmp_path / "SG_published"
    generator.write(path, seed, stations, duration)

    query, streams = tumbling(body), {"s": io.read_stream(path)}
    semantics = profile("csparql").but(t0=0, closure="[]").semantics()
    reports = list(evaluate(query, streams, semantics, answer=FAST))[: len(rows)]
    assert [report.relation.rows.total() for report in reports] == rows
    assert [report.window for report in reports] == [(end - 5000, end) for end in range(5000, duration + 1, 5000)]

    exact = [report.relation.rows for report in reports]  # of another engine gracious mode would try every shift
    found = of_run(query, streams, semantics, reports, exact, reading=Reading.CODE, answer=FAST)
    assert [(one["expected"], one["elements"]) for one in found] == [(size, triples) for size in rows]
