"""Wind speeds of LinkedSensorData's dumps are joined as the paper's."""

from __future__ import annotations

import json

import pytest

from conformance.__main__ import main
from conformance.bench.clock.observations import read_wind
from refengine.model.errors import InvalidStream

HEAD = """
@prefix om-owl: <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#> .
@prefix weather: <http://knoesis.wright.edu/ssw/ont/weather.owl#> .
@prefix obs: <http://knoesis.wright.edu/ssw/> .
@prefix owl-time: <http://www.w3.org/2006/time#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
OBSERVATION = """
obs:O{n} om-owl:procedure obs:S{n} ; om-owl:observedProperty weather:{what} ;
  om-owl:result obs:M{n} ; om-owl:samplingTime obs:I{n} .
obs:M{n} om-owl:floatValue "{speed}"^^xsd:float .
obs:I{n} owl-time:inXSDDateTime "2004-08-13T06:00:0{at}Z"^^xsd:dateTime .
"""


@pytest.fixture
def dumps(tmp_path):
    def write(*observations):
        text = HEAD + "".join(
            OBSERVATION.format(n=n, what=what, speed=speed, at=at)
            for n, (what, speed, at) in enumerate(observations)
        )
        (tmp_path / "dumps").mkdir()
        (tmp_path / "dumps" / "A.n3").write_text(text)
        return tmp_path / "dumps"

    return write


def test_speeds_have_their_sensor_and_their_time(dumps):
    folder = dumps(
        ("_WindSpeed", "12.0", 3), ("_AirTemperature", "70.0", 1), ("_WindSpeed", "4", 1)
    )
    elements = list(read_wind(folder))
    assert [(one.app % 60_000, sorted(one.graph)[0][0]) for one in elements] == [
        (1000, "<http://knoesis.wright.edu/ssw/S2>"),
        (3000, "<http://knoesis.wright.edu/ssw/S0>"),
    ]


def test_dumps_without_wind_are_refused(dumps):
    with pytest.raises(InvalidStream, match="no observation of the wind's speed"):
        read_wind(dumps(("_AirTemperature", "70.0", 1)))


def test_the_command_joins_the_users_dumps(dumps, tmp_path, capsys):
    """At 6:00:01 two sensors are at 10 or more, at 6:00:02 a third one: one pair at 6:00:01 in both
    directions within 200 ms; with the sign also both earlier ones before the third.
    """
    folder = dumps(("_WindSpeed", "12", 1), ("_WindSpeed", "11", 1), ("_WindSpeed", "15", 2))
    words = ["--policy", "fifo", "--memory", "100%", "--observations", str(folder)]
    out = ["-o", str(tmp_path / "out")]
    assert main(["bounded", "--reproduce", "all", *words, *out]) == 2
    assert "viewing joins no wind speeds of dumps" in capsys.readouterr().err
    names = ["--reproduce", "wind", "--reproduce", "wind-near"]
    assert main(["bounded", *names, *words, *out]) == 0
    lines = (tmp_path / "out" / "results.ndjson").read_text().splitlines()
    runs = [json.loads(line) for line in lines]
    # the first of the three elements warms up, and completes nothing
    assert {run["workload"]: run["expected"] for run in runs} == {"wind": 4, "wind-near": 2}
