"""The queries of the benchmarks: that of YABench's experiment 1, and CSRBench's."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

STREAM = "observations"
FOLDER = Path(__file__).resolve().parents[2] / "conformance" / "queries" / "csrbench"
TEMPERATURE = """\
PREFIX om-owl: <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
PREFIX weather: <http://knoesis.wright.edu/ssw/ont/weather.owl#>
SELECT ?sensor ?obs ?value WHERE {
  ?obs om-owl:observedProperty weather:_AirTemperature ;
    om-owl:procedure ?sensor ;
    om-owl:result [ om-owl:floatValue ?value ] .
  FILTER (?value > 50)
}"""

COUNTS = """\
PREFIX om-owl: <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
PREFIX weather: <http://knoesis.wright.edu/ssw/ont/weather.owl#>
SELECT ?sensor (COUNT(?obs) AS ?count) WHERE {
  ?obs om-owl:observedProperty weather:_AirTemperature ;
    om-owl:procedure ?sensor ;
    om-owl:result [ om-owl:floatValue ?value ] .
  FILTER (?value > 50)
} GROUP BY ?sensor"""


class BenchmarkQuery(NamedTuple):
    """A query's table, and a profile with the fields that are replaced."""

    query: dict[str, Any]
    profile: str
    fields: dict[str, Any]


def temperatures(
    kind: str = "time", size: int | None = 5000, slide: int | None = 5000, **more: Any
) -> BenchmarkQuery:
    """Return the query for air temperatures above 50, over tumbling windows of 5 s or others.

    It reports at each triple by which the content changes, as Istream, with empty answers
    suppressed, closure [o, c) and t0 = 0. Windows of kind `range` begin with the first element;
    else they would begin when the first one is full. Sessions are reported whole, as Rstream.
    """
    window = {"stream": STREAM, "kind": kind, "size": size, "slide": slide} | more
    fields: dict[str, int | str | None] = {"t0": 0}
    if kind == "range":
        fields["t0"] = "first-reach"
    if kind == "session":
        fields |= {"reported_windows": "every", "r2s": "Rstream", "base": None}
    elif kind not in ("time", "tuple", "range", "landmark"):
        fields["closure"] = None
    table = {
        "windows": [{key: value for key, value in window.items() if value is not None}],
        "body": TEMPERATURE,
    }
    return BenchmarkQuery(table, "cqels", fields)


def counts() -> BenchmarkQuery:
    """Return the query for the number of such temperatures of each sensor in the last 5 s, with the
    same reports.
    """
    asked = temperatures("range", slide=None)
    return asked._replace(query=asked.query | {"body": COUNTS})


def csrbench(name: str) -> BenchmarkQuery:
    """Return a query of CSRBench. It reports when a window with content closes, as Rstream, with
    empty answers emitted, closure [o, c) and t0 = 0.
    """
    return BenchmarkQuery(
        tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")), "csparql", {"t0": 0}
    )
