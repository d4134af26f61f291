"""YABench: the streams of its generator, what it published of them, and its measures by a script of
their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yabench_literal
from conftest import draws

from conformance.bench.metrics import run
from conformance.bench.metrics.run import Reading, of_run
from conformance.bench.metrics.yabench import EngineOutput
from conformance.bench.recordings.yabench import RecordedRun
from conformance.bench.yabench import generator
from conformance.bench.yabench.generator import Parameters
from refengine import evaluate, from_table, literal, profile
from refengine.core import r2r
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.incremental.answer_cache import SupportedSolutions
from refengine.model.elements import XSD, row
from refengine.model.errors import InvalidQuery
from refengine.rdf.streams import read_stream

FAST = r2r.defined_answer

# The generator


def write(path: Path, parameters: Parameters) -> None:
    path.write_text("".join(f"{line}\n" for line in generator.stream_lines(parameters)))


def test_javas_random():
    """Of Random(42): the first numbers below 10; a power of two, which the upper bits decide; and a
    bound that half of all draws are beyond, where they are drawn again.
    """
    random = generator.JavaRandom(42)
    assert [random.next_int(10) for _ in range(5)] == [0, 3, 8, 4, 0]
    random = generator.JavaRandom(42)
    first = random.next(31)
    assert generator.JavaRandom(42).next_int(8) == first >> 28
    bound = 2**30 + 1
    assert all(0 <= generator.JavaRandom(seed).next_int(bound) < bound for seed in range(50))


def test_the_generators_quirks():
    """One station: the first observation is at 0, those after it at its phase, 31, and a second
    later each. A station whose phase is 0 has one at the very end, at 2000.
    """
    assert [one.time for one in generator.observations(Parameters(1430236808, 1, 3000))] == [
        0,
        1031,
        2031,
    ]
    assert [one.time for one in generator.observations(Parameters(1430236808, 1, 2000, 1))] == list(
        range(2001)
    )


def test_an_observation_is_read_as_it_was_drawn(tmp_path):
    path = tmp_path / "SG_small1"
    write(path, Parameters(1430236808, stations=1, duration=1031))
    stream = list(read_stream(path))
    assert [element.app for element in stream] == [0] * 7 + [1031] * 7
    values = [
        triple[2]
        for element in stream
        for triple in element.graph
        if triple[1] == f"<{generator.OM_OWL}floatValue>"
    ]
    assert values == [literal("27.0", XSD + "float"), literal("77.0", XSD + "float")]


def test_a_file_over_spark_has_the_same_lines(tmp_path):
    pytest.importorskip("pyarrow")
    from conformance.spark.formats import pieces, records

    path = tmp_path / "s.n3t"
    write(path, Parameters(7, stations=3, duration=2000))
    lines = pieces.read_lines(pieces.Piece(str(path), 0))
    found = [records.parse_timed_triple(line.decode()) for _, line in lines]
    assert [
        (row["time"], frozenset([(row["subject"], row["predicate"], row["object"])]))
        for row in found
    ] == [(one.app, one.graph) for one in read_stream(path)]


# What was published: expected rows and triples of each window, columns 4 and 5 of the ORACLE_ files
# of YABench/YABench-One

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
    "experiment 1, medium": (
        HOT,
        1430236906,
        1000,
        30_000,
        35_021,
        [2462, 2463, 2422, 2497, 2452, 2518],
    ),
    "experiment 3, small": (FALLING, 1430236808, 50, 30_000, 1757, [501, 501, 501, 498, 498, 499]),
    "experiment 3, medium": (
        FALLING,
        1430236808,
        200,
        30_000,
        7007,
        [1988, 1986, 1987, 1978, 1985, 1992],
    ),
    "experiment 4": (FALLING, 1430236808, 1, 20_000, 35, [10, 10, 10, 10]),
}


def tumbling(body: str) -> Query:
    return from_table(
        {"body": body, "windows": [{"stream": "s", "kind": "time", "size": 5000, "slide": 5000}]}
    )


@pytest.mark.long
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_expected_sizes_are_those_that_yabench_published(tmp_path, name):
    body, seed, stations, duration, triples, rows = PUBLISHED[name]
    path = tmp_path / "SG_published"
    write(path, Parameters(seed, stations, duration))

    query, streams = tumbling(body), {"s": read_stream(path)}
    semantics = profile("csparql").but(t0=0, closure="[]").semantics()
    answer = cache(FAST)  # the measures ask for the windows that were reported
    reports = list(evaluate(query, streams, semantics, answer=answer))[: len(rows)]
    assert [report.relation.rows.total() for report in reports] == rows
    assert [report.window for report in reports] == [
        (end - 5000, end) for end in range(5000, duration + 1, 5000)
    ]

    # of another engine gracious mode would try every shift
    exact = [report.relation.rows for report in reports]
    found = of_run(
        Question(query, streams).under(semantics),
        reports,
        EngineOutput(exact),
        reading=Reading.CODE,
        answer=answer,
    )
    assert [(one["expected"], one["elements"]) for one in found] == [
        (size, triples) for size in rows
    ]


@pytest.mark.long
def test_an_exact_engine_has_the_published_figures_under_content_change(tmp_path):
    """Experiment 1, small, for CQELS, which was exact in it: each window from its opening to its
    last new row, with its rows and the triples of the whole window. Each row came by itself, and at
    once.
    """
    _, seed, stations, duration, triples, rows = PUBLISHED["experiment 1, small"]
    path = tmp_path / "SG_small1"
    write(path, Parameters(seed, stations, duration))
    streams = {"s": read_stream(path)}
    hot = [
        one
        for one in generator.observations(Parameters(seed, stations, duration))
        if one.temperature > 50
    ]
    actual = [bag([(one.station, one.time, one.temperature)]) for one in hot]
    semantics = profile("cqels").but(t0=0).semantics()
    clocks = [one.time for one in hot]
    found = of_run(
        Question(tumbling(HOT), streams).under(semantics),
        [],
        EngineOutput(actual, clocks),
        reading=Reading.CODE,
        answer=FAST,
        is_incremental=True,
    )
    assert [one["window"] for one in found] == [
        [0, 4981],
        [5000, 9973],
        [10_000, 14_968],
        [15_000, 19_981],
        [20_000, 24_968],
        [25_000, 29_981],
    ]
    assert [(one["precision"], one["recall"], one["elements"]) for one in found] == [
        (1, 1, triples)
    ] * 6
    assert [one["expected"] for one in found] == [one["actual"] for one in found] == rows


# The measures under window close, beside a script that shares nothing with them

DEFECTS = (
    "drop a row",
    "double a row",
    "move a row",
    "change a row",
    "drop a relation",
    "add a relation",
)


def wrong_output(random: Random, relations: list[list[tuple]]) -> list[list[tuple]]:
    """Spoil an exact output, by one to six defects."""
    relations = [list(rows) for rows in relations]
    for defect in random.choices(DEFECTS, k=random.randint(1, 6)):
        place = random.randrange(len(relations))
        rows = relations[place]
        match defect:
            case "drop a relation" if len(relations) > 1:
                del relations[place]
            case "add a relation":
                relations.insert(place, list(random.choice(relations)))
            case "drop a row" if rows:
                rows.pop(random.randrange(len(rows)))
            case "double a row" if rows:
                rows.append(random.choice(rows))
            case "move a row" if rows:
                relations[(place + 1) % len(relations)].append(
                    rows.pop(random.randrange(len(rows)))
                )
            case "change a row" if rows:
                station, time, degrees = rows.pop(random.randrange(len(rows)))
                rows.append((station, time, degrees + 1))
    return relations


def bag(rows: list[tuple]) -> Counter:
    """Write the script's rows as ours."""
    return Counter(
        row(
            {
                "station": f"<{generator.SSW}System_A{station}>",
                "seen": f"<{generator.SSW}Observation_AirTemperature_A{station}_{time}>",
                "degrees": literal(f"{degrees}.0", XSD + "float"),
            }
        )
        for station, time, degrees in rows
    )


@pytest.mark.parametrize("seed", range(draws(80)))
def test_measures_are_those_of_the_literal_script(tmp_path, seed):
    """Row for row, as the paper reads them and as the code does; some observations are on borders,
    which the first reads for one window and the second for two.

    Of the two readings one asks the SPARQL evaluator for the answers over shifted windows, and the
    other incremental evaluation, by turns.
    """
    random = Random(seed)
    size, slide = random.choice([(5000, 5000), (4000, 2000), (6000, 2000)])
    stations, duration, interval = (
        random.randint(1, 6),
        random.choice([8000, 12_000]),
        random.choice([500, 1000]),
    )
    path = tmp_path / "SG_drawn"
    drawn = generator.observations(Parameters(seed, stations, duration, interval))
    # of the instants: on coarse ones many observations are on a border
    step = random.choice([1, 250, 500])
    observations = [one._replace(time=one.time // step * step) for one in drawn]
    path.write_text("\n".join(line for one in observations for line in generator.lines(one)))

    streams = {"s": read_stream(path)}
    query = from_table(
        {"body": HOT, "windows": [{"stream": "s", "kind": "time", "size": size, "slide": slide}]}
    )
    semantics = profile("csparql").but(t0=0, partial="clipped").semantics()
    answer = cache(FAST)  # the measures ask for the windows that were reported
    reports = list(evaluate(query, streams, semantics, answer=answer))
    closes = [report.window[1] for report in reports]
    assert closes == [k * slide for k in range(1, len(reports) + 1)]

    exact = [
        yabench_literal.expected_rows(observations, max(0, close - size), close, False)
        for close in closes
    ]
    relations = wrong_output(random, exact)
    clocks = [number * slide + random.randint(-20, 400) for number in range(1, len(relations) + 1)]
    for number, (reading, script) in enumerate(
        [
            (Reading.PAPER, yabench_literal.as_the_paper),
            (Reading.CODE, yabench_literal.as_the_code),
        ]
    ):
        found = of_run(
            Question(query, streams).under(semantics),
            reports,
            EngineOutput(list(map(bag, relations)), clocks),
            reading=reading,
            answer=answer,
            is_incremental=(seed + number) % 2 == 0,
        )
        expected = script(observations, size, slide, len(reports), relations, clocks)
        assert [
            {name: one[name] for name in ("precision", "recall", "expected", "actual", "delay")}
            for one in found
        ] == expected


def test_a_query_is_read_as_a_table_in_json(tmp_path):
    """As the reference engine is sent it. The window is [0, 10), whose answer is the row a."""
    table = {
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
        "body": "SELECT ?x { ?x <urn:p> ?y }",
    }
    path = tmp_path / "QUERY_x"
    path.write_text(json.dumps(table))
    run = RecordedRun("csparql", tmp_path, "x")
    assert run.query == from_table(table)
    for text, message in (
        ("{", "QUERY_x: IO-2: not JSON: "),
        ("[" * 100_000, "QUERY_x"),
        ('{"body": "SELECT * {}"}', "QUERY_x: query: QRY-1: "),
    ):
        path.write_text(text)
        with pytest.raises(InvalidQuery, match=message):
            print(run.query)


@pytest.mark.parametrize("is_exact", [True, False])
def test_the_stream_is_joined_only_if_an_answer_is_not_exact(
    is_exact: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """An exact answer stays at its window, so no other window's answer is asked for."""
    write(tmp_path / "SG1.n3t", Parameters(1, 5, 20_000))
    query = tumbling(HOT)
    streams = {query.windows[0].stream: read_stream(tmp_path / "SG1.n3t")}
    semantics = profile("csparql").but(t0=0).semantics()
    reports = list(evaluate(query, streams, semantics))
    rows = [Counter(report.relation.rows) for report in reports]
    if not is_exact:
        row_lost = next(bag for bag in rows if bag)
        row_lost.popitem()
    made = []
    monkeypatch.setattr(run, "SupportedSolutions", _noting(made))
    setting = Question(query, streams).under(semantics)
    found = of_run(setting, reports, EngineOutput(rows), answer=FAST, is_incremental=True)
    assert all(entry["recall"] == 1 for entry in found) is is_exact
    assert len(made) == (not is_exact)


def _noting(made: list[SupportedSolutions]) -> Callable[..., SupportedSolutions]:
    """Return what makes solutions, and adds them to a list."""

    def make(*arguments: Any) -> SupportedSolutions:
        made.append(SupportedSolutions(*arguments))
        return made[-1]

    return make
