"""The queries that are run: YABench's of experiment 1, and CSRBench's from its files."""

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


class BenchmarkQuery(NamedTuple):
    """A query's table, and a profile with the fields that are replaced."""

    query: dict[str, Any]
    profile: str
    fields: dict[str, Any]


def temperatures(
    kind: str = "time", size: int | None = 5000, slide: int | None = 5000, **more: Any
) -> BenchmarkQuery:
    """Return air temperatures above 50, over 5 s that tumble or another window: a report at each
    triple by which the content changes, Istream, empty answers suppressed, [o, c), t0 = 0. Range
    begins with the first element, or it would begin when it is full.
    """
    window = {"stream": STREAM, "kind": kind, "size": size, "slide": slide} | more
    fields: dict[str, int | str | None] = {"t0": 0}
    if kind == "range":
        fields["t0"] = "first-reach"
    if kind not in ("time", "tuple", "range", "landmark"):
        fields["closure"] = None
    table = {
        "windows": [{key: value for key, value in window.items() if value is not None}],
        "body": TEMPERATURE,
    }
    return BenchmarkQuery(table, "cqels", fields)


def csrbench(name: str) -> BenchmarkQuery:
    """Return a query of CSRBench with its window, when that closes with content: Rstream, empty
    answers emitted, [o, c), t0 = 0.
    """
    return BenchmarkQuery(
        tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")), "csparql", {"t0": 0}
    )
