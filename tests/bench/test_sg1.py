"""tools/sg1.py: YABench's stream SG1, by hand, by count, in parts, and the same everywhere."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from heapq import merge
from itertools import islice
from pathlib import Path

import pytest

from refengine import evaluate, profile
from refengine.rdf.queries import read_query
from refengine.rdf.streams import read_stream
from tools import sg1
from tools.sg1 import Parameters

ROOT = Path(__file__).resolve().parents[2]
QUERIES = ROOT / "conformance" / "queries" / "csrbench"
SMALL = Parameters(stations=9, interval=1000, duration=4000, seed=7, lowest=-3, highest=90)

# Of one station that can only measure 54, in rounds at 0 and 1000: no draw decides anything.
BY_HAND = """\
<http://knoesis.wright.edu/ssw/Observation_AirTemperature_A0_0> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://knoesis.wright.edu/ssw/ont/weather.owl#TemperatureObservation> "0" .
<http://knoesis.wright.edu/ssw/Observation_AirTemperature_A0_0> <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#observedProperty> <http://knoesis.wright.edu/ssw/ont/weather.owl#_AirTemperature> "0" .
<http://knoesis.wright.edu/ssw/Observation_AirTemperature_A0_0> <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#procedure> <http://knoesis.wright.edu/ssw/System_A0> "0" .
<http://knoesis.wright.edu/ssw/Observation_AirTemperature_A0_0> <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#result> <http://knoesis.wright.edu/ssw/MeasureData_AirTemperature_A0_0> "0" .
<http://knoesis.wright.edu/ssw/MeasureData_AirTemperature_A0_0> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#MeasureData> "0" .
<http://knoesis.wright.edu/ssw/MeasureData_AirTemperature_A0_0> <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#floatValue> "54.0"^^<http://www.w3.org/2001/XMLSchema#float> "0" .
<http://knoesis.wright.edu/ssw/MeasureData_AirTemperature_A0_0> <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#uom> <http://knoesis.wright.edu/ssw/ont/weather.owl#fahrenheit> "0" .
"""  # noqa: E501


def text(parameters: Parameters) -> str:
    return "".join(f"{line}\n" for line in sg1.stream_lines(parameters))


def test_an_observation_is_seven_lines_in_the_shape_of_linked_sensor_data():
    certain = Parameters(
        stations=1, interval=1000, duration=2000, lowest=54, highest=55, together=True
    )
    second = BY_HAND.replace('"0"', '"1000"').replace("A0_0", "A0_1000")
    assert text(certain) == BY_HAND + second


def test_the_generator_is_split_mix_64():
    """Outputs of Vigna's splitmix64.c for the seed 1234567, as Rosetta Code prints them."""
    assert [sg1.split_mix(1234567, n) for n in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_a_station_draws_from_a_generator_of_its_own():
    """Its phase, then its temperatures in turn: the same as drawn one after the other, by the upper
    32 bits' share of a range.
    """
    expected = []
    for station in range(SMALL.stations):
        seed = sg1.split_mix(SMALL.seed, station)
        first, *draws = (sg1.split_mix(seed, n) >> 32 for n in range(1 + SMALL.rounds))
        phase = first * 1000 // 2**32
        expected += [
            (k * 1000 + phase, station, draw * 93 // 2**32 - 3) for k, draw in enumerate(draws)
        ]
    assert list(sg1.observations(SMALL)) == sorted(expected)


def test_every_station_observes_once_an_interval_at_its_phase_within_the_range():
    seen = list(sg1.observations(SMALL))
    phases = {station: time for time, station, _ in seen[:9]}
    assert len(set(phases.values())) > 5 and all(0 <= phase < 1000 for phase in phases.values())
    assert sorted((time, station) for time, station, _ in seen) == sorted(
        (p + 1000 * k, s) for s, p in phases.items() for k in range(4)
    )
    assert all(-3 <= temperature < 90 for *_, temperature in seen)


def test_both_ends_of_the_range_of_temperatures_are_drawn_and_the_maximum_is_not():
    drawn = {
        o.temperature
        for o in sg1.observations(
            Parameters(stations=50, interval=1, duration=20, lowest=-2, highest=3)
        )
    }
    assert drawn == {-2, -1, 0, 1, 2}
    assert '"-2.0"^^' in sg1.lines(sg1.Observation(0, 0, -2))


def test_together_changes_the_times_alone():
    together = Parameters(**vars(SMALL) | {"together": True})
    assert {o.time for o in sg1.observations(together)} == {0, 1000, 2000, 3000}
    assert sorted(
        (o.station, o.time // 1000, o.temperature) for o in sg1.observations(together)
    ) == sorted((o.station, o.time // 1000, o.temperature) for o in sg1.observations(SMALL))


@pytest.mark.parametrize(
    ("stations", "interval", "duration"), [(1, 1, 1), (3, 7, 70), (50, 1000, 30_000)]
)
def test_the_count_is_stations_by_rounds_by_seven(stations, interval, duration):
    parameters = Parameters(stations=stations, interval=interval, duration=duration)
    assert (
        text(parameters).count("\n") == parameters.triples == stations * (duration // interval) * 7
    )


@pytest.mark.parametrize("together", [False, True])
def test_parts_of_stations_and_rounds_merged_are_the_whole(together):
    """The order is that of time, then station; of an observation's triples, as they stand."""
    parameters = Parameters(**vars(SMALL) | {"together": together})
    cuts = [(a, b, c, d) for a, b in ((0, 1), (1, 6), (6, 6), (6, 9)) for c, d in ((0, 3), (3, 4))]
    parts = [list(sg1.observations(parameters, range(a, b), range(c, d))) for a, b, c, d in cuts]
    assert [len(part) for part in parts] == [(b - a) * (d - c) for a, b, c, d in cuts]
    assert "".join(map(sg1.lines, merge(*parts))) == text(parameters)
    assert "".join(map(sg1.lines, sorted(o for part in parts for o in part))) == text(parameters)


def test_a_part_costs_nothing_for_what_comes_before():
    endless = Parameters(stations=3, interval=1, duration=2**53, lowest=54, highest=55)
    last = sg1.observations(endless, range(2, 3), range(2**53 - 1, 2**53))
    assert list(last) == [(2**53 - 1, 2, 54)]
    assert [o.time for o in islice(sg1.observations(endless), 4)] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("stations", "rounds"),
    [(range(0, 10), None), (range(-1, 2), None), (None, range(2, 5)), (range(0, 9, 2), None)],
)
def test_a_part_beyond_the_stream_is_refused(stations, rounds):
    with pytest.raises(ValueError, match=r"must be a range within \[0, "):
        sg1.observations(SMALL, stations, rounds)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_bytes_are_those_of_every_other_platform(hash_seed):
    """A pin of determinism, not an expectation: the hash is of this generator's own output."""
    code = (
        "from tools.sg1 import *; p = Parameters(stations=600, interval=1000, duration=10_000, "
        "seed=5); print(*stream_lines(p), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    assert done.stdout.count(b"\n") == 42_000
    digest = hashlib.sha256(done.stdout).hexdigest()
    assert digest == "6a923fe94a97ec7d5df35683adc3933566f631364eb33191252061d7d0fcc860"


def test_the_stream_is_read_as_it_was_made(tmp_path):
    (tmp_path / "SG1.n3t").write_text(text(SMALL))
    elements = read_stream(tmp_path / "SG1.n3t").elements
    assert len(elements) == SMALL.triples and all(len(element.graph) == 1 for element in elements)
    assert [element.app for element in elements] == [
        o.time for o in sg1.observations(SMALL) for _ in range(7)
    ]


@pytest.mark.parametrize("name", ["Q1", "Q4", "Q6"])
def test_the_benchmarks_queries_have_answers(tmp_path, name):
    parameters = Parameters(stations=12, interval=1000, duration=20_000)
    (tmp_path / "SG1.n3t").write_text(text(parameters))
    streams = {"observations": read_stream(tmp_path / "SG1.n3t")}
    reports = list(
        evaluate(
            read_query(QUERIES / f"{name}.toml"), streams, profile("csparql").but(t0=0).semantics()
        )
    )
    assert len(reports) == {"Q1": 2, "Q4": 5, "Q6": 4}[name] and all(
        report.relation for report in reports
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"stations": 0}, "stations must be an integer in [1, 10000000], got 0"),
        ({"stations": "x"}, "stations must be an integer in [1, 10000000], got 'x'"),
        ({"interval": 0}, "interval must be an integer in [1, "),
        ({"interval": 2000, "duration": 7000}, "must divide the duration, got 2000 ms and 7000 ms"),
        ({"lowest": 9, "highest": 9}, "temperatures are in [lowest, highest), got [9, 9)"),
        ({"seed": 2**64}, "seed must be an integer in [0, "),
    ],
)
def test_bad_parameters_are_one_error(changes, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        Parameters(**vars(SMALL) | changes)
