"""CityBench's knobs, and the tests that a user chooses: the experiments of `experiments.toml`, or
those of a user's own file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from conformance.bench.citybench.generator import REAL_INTERVAL
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest, why
from refengine.rdf.sources import read_text

EXPERIMENTS = Path(__file__).with_name("experiments.toml")
REPOSITORY_SENSORS = 449  # of traffic, which CityBench's repository describes


@dataclass(frozen=True)
class Knobs:
    """How a query is asked.

    `frequency` is how many reports each sensor makes in a second. `rate` is how many times faster
    than the real sensors they report; at 1 the frequency counts instead, as in CityBench's own
    program. `duration` is in seconds. `duplicates` is how many instances of the query run side by
    side. `background` is how many sensors the static data describe beside those that the query
    names. `window` is the size of the windows in seconds; None leaves that of the query.
    """

    query: str
    frequency: float = 1.0
    rate: float = 1.0
    duration: int = 6
    duplicates: int = 1
    background: int = 0
    window: int | None = None

    @property
    def interval(self) -> int:
        """The time between two reports of a sensor, in ms."""
        if self.rate != 1.0:
            return max(1, round(REAL_INTERVAL / self.rate))
        return max(1, round(1000 / self.frequency))

    def table(self, table: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the query with windows of this size."""
        if self.window is None:
            return table
        windows = [{**window, "size": self.window * 1000} for window in table["windows"]]
        return {**table, "windows": windows}


KNOBS = {field.name: field.type for field in fields(Knobs)}
REAL = ("frequency", "rate")  # numbers; the others are whole


# The knobs of some queries: Q12 asks for more than three reports in three seconds, which one report
# a second never makes.
OF_QUERIES: Mapping[str, Mapping[str, Any]] = {"Q12": {"frequency": 2.0}}


def small_setup(query: str) -> Knobs:
    """Return how a query is asked at the small scale."""
    return replace(Knobs(query), **OF_QUERIES.get(query, {}))


def paper_setup(query: str) -> Knobs:
    """Return how a query is asked at the scale `paper`: for 15 minutes, as in the published log
    files, with the sensors of traffic of CityBench's repository in the background.
    """
    return replace(small_setup(query), duration=900, background=REPOSITORY_SENSORS)


def read_experiments(path: Path, base: Knobs) -> list[tuple[str, str, Knobs]]:
    """Return the tests of a file of experiments: the experiment, the test's name, which says what
    its lists have, and the knobs. `base` has the values of knobs that the file leaves out. Raises
    RefengineError, which names the file and the key.
    """
    try:
        content = tomllib.loads(read_text(path, RefengineError, "configuration"))
    except (ValueError, RecursionError) as error:
        raise RefengineError(
            f"not TOML: {why(error)}", rule="configuration", place=str(path)
        ) from None
    try:
        return list(_tests(content, base))
    except RefengineError as error:
        raise error.at(str(path)) from None


def _tests(content: Mapping[str, Any], base: Knobs) -> Iterator[tuple[str, str, Knobs]]:
    """Yield the tests of a file's content. Raises RefengineError."""
    entries = content.get("experiment")
    if not isinstance(entries, list) or not entries:
        raise _fault("experiment", "expected a list of experiments")
    for number, entry in enumerate(entries):
        place = f"experiment[{number}]"
        if not isinstance(entry.get("name"), str):
            raise _fault(f"{place}.name", "expected the name of the experiment")
        lists = {key: _as_list(key, entry[key], place) for key in entry if key != "name"}
        if "query" not in lists:
            raise _fault(f"{place}.query", "expected the name of a query, or a list of names")
        for values in product(*lists.values()):
            chosen = dict(zip(lists, values, strict=True))
            swept = [f"{key} {chosen[key]}" for key in lists if _is_swept(key, entry)]
            test = " ".join([chosen["query"], *swept])
            yield entry["name"], test, replace(base, **chosen)


def _is_swept(key: str, entry: Mapping[str, Any]) -> bool:
    """Whether a test's name says the value of a key: its values are a list."""
    return key != "query" and isinstance(entry[key], list)


def _as_list(key: str, value: Any, place: str) -> Sequence[Any]:
    """Return the values of a knob. Raises RefengineError for a knob that there is not, and for a
    value that it cannot have.
    """
    if key not in KNOBS:
        raise _fault(f"{place}.{key}", f"unknown key{nearest(key, KNOBS)}")
    values = value if isinstance(value, list) else [value]
    for one in values:
        _check_value(key, one, f"{place}.{key}")
    return values


def _check_value(key: str, value: Any, place: str) -> None:
    """Raise RefengineError for a value that a knob cannot have."""
    if key == "query":
        if not isinstance(value, str):
            raise _fault(place, f"expected the name of a query, got {display(value)}")
        return
    kinds: tuple[type, ...] = (int, float) if key in REAL else (int,)
    least = 0 if key == "background" else 1
    if key in REAL:
        is_valid = type(value) in kinds and 0 < value < 10**6
    else:
        is_valid = type(value) in kinds and least <= value < 10**9
    if not is_valid:
        what = "a number > 0" if key in REAL else f"a whole number >= {least}"
        raise _fault(place, f"expected {what}, got {display(value)}")


def _fault(place: str, reason: str) -> RefengineError:
    """Return the error of a malformed configuration."""
    return RefengineError(reason, rule="configuration", place=place)
