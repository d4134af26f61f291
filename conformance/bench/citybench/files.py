"""Reading CityBench's own files, where a user has a checkout of them: the sensors' reports in
`streams/`, and static data in `dataset/`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.bench.citybench import sensors
from conformance.bench.citybench.schema import (
    CITY,
    CULTURE_GRAPH,
    LIBRARY_GRAPH,
    RDF_TYPE,
    SENSOR_GRAPH,
    SSN,
    service,
)
from conformance.bench.citybench.sensors import DISTANCE, LOCATION, TRAFFIC, Kind, Report
from refengine.core.r2r import scope_blank_nodes
from refengine.model.elements import Dataset
from refengine.model.errors import InvalidStream
from refengine.model.messages import display
from refengine.rdf.documents import read_turtle
from refengine.rdf.terms import Fault
from refengine.rdf.times import parse_time

STREAMS, DATASET = "streams", "dataset"
ROADS = Path(DATASET, "MetaData", "trafficMetaData.csv")
GRAPH_FILES = {
    SENSOR_GRAPH: "SensorRepository.n3",
    CULTURE_GRAPH: "AarhusCulturalEvents.n3",
    LIBRARY_GRAPH: "AarhusLibraryEvents.n3",
}


def file_of_sensor(folder: Path, sensor: str) -> Path:
    """Return the file of a sensor's reports in a checkout."""
    return folder / STREAMS / f"{sensor}.stream"


def read_reports(folder: Path, sensor: str) -> Iterator[tuple[int, Report]]:
    """Yield the reports of a sensor with their times, in ms from the first one, in the file's
    order. The file is a CSV with a head, or for a user's location lines `USER|LATITUDE,LONGITUDE`
    without a time: those are numbered. Raises InvalidStream, which names the line.
    """
    kind = sensors.kind_of(sensor)
    file = file_of_sensor(folder, sensor)
    try:
        with open(file, encoding="utf-8", newline="") as lines:
            if kind is LOCATION:
                yield from _read_places(lines, sensor, file)
            else:
                yield from _read_rows(lines, sensor, folder, file)
    except OSError as error:
        raise _invalid(f"cannot be read: {error.strerror}", file) from None
    except UnicodeDecodeError:
        raise _invalid("is not in UTF-8", file) from None


def _read_rows(
    lines: Iterator[str], sensor: str, folder: Path, file: Path
) -> Iterator[tuple[int, Report]]:
    """Yield the reports of a CSV file."""
    kind = sensors.kind_of(sensor)
    rows = csv.DictReader(lines)
    for name in (*kind.columns, kind.time):
        if name not in (rows.fieldnames or ()):
            raise _invalid(f"has no column {name!r}", file)
    more: dict[str, float] = {}
    first = None
    for number, row in enumerate(rows):
        place = f"{file}:{rows.line_num}"
        if kind is TRAFFIC and not more:
            more[DISTANCE] = length_of_road(folder, row.get("REPORT_ID", ""))
        time = _parse_time(row[kind.time], place)
        if first is None:
            first = time
        numbers = {name: _parse_number(row[name], name, place) for name in kind.columns}
        yield time - first, Report(sensor, number, {**numbers, **more})


def _read_places(lines: Iterator[str], sensor: str, file: Path) -> Iterator[tuple[int, Report]]:
    """Yield the places of a user. As the file has no times, they are a second apart."""
    for number, line in enumerate(lines):
        place = f"{file}:{number + 1}"
        latitude, comma, longitude = line.strip().partition("|")[2].partition(",")
        if not comma:
            raise _invalid(f"expected USER|LATITUDE,LONGITUDE, got {display(line.strip())}", place)
        columns = {
            "latitude": _parse_number(latitude, "latitude", place),
            "longitude": _parse_number(longitude, "longitude", place),
        }
        yield 1_000 * number, Report(sensor, number, columns)


def _parse_time(text: str | None, place: str) -> int:
    """Return a time in ms since 1970, as IO-1 reads a cell. Raises InvalidStream."""
    try:
        return parse_time(text or "")
    except Fault:
        raise _invalid(
            f"a time must be a date such as 2014-08-01T07:50:00, got {display(text)}", place
        ) from None


def _parse_number(text: str | None, name: str, place: str) -> float:
    """Return the number of a column. Raises InvalidStream."""
    try:
        return float(text or "")
    except ValueError:
        raise _invalid(f"{name} must be a number, got {display(text)}", place) from None


def length_of_road(folder: Path, report_id: str) -> float:
    """Return the length in meters of the road that a sensor of traffic is about, by its REPORT_ID.
    Raises InvalidStream if CityBench's file of roads does not have it.
    """
    file = folder / ROADS
    try:
        with open(file, encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                if row.get("REPORT_ID") == report_id:
                    return _parse_number(row.get(DISTANCE), DISTANCE, str(file))
    except OSError as error:
        raise _invalid(f"cannot be read: {error.strerror}", file) from None
    raise _invalid(f"has no road with REPORT_ID {display(report_id)}", file)


def read_graph(folder: Path, name: str) -> Dataset:
    """Return a static graph of a checkout, by its name. Raises InvalidStream."""
    file = folder / DATASET / GRAPH_FILES[name]
    statements = read_turtle(file, "Turtle", "b")
    triples = frozenset(one.triple for one in statements if one.triple is not None)
    return scope_blank_nodes(triples, name)


def stored_properties(sensor: str, repository: Dataset) -> Mapping[str, str]:
    """Return the properties that a repository says a sensor observes, by their classes, as far as
    its kind has them. Raises InvalidStream if there is none.
    """
    kind: Kind = sensors.kind_of(sensor)
    observed = {o for s, p, o, *_ in repository if (s, p) == (service(sensor), f"<{SSN}observes>")}
    classes = {f"<{CITY}{name}>": name for name in kind.observed}
    found = {
        classes[thing]: subject
        for subject, predicate, thing, *_ in repository
        if subject in observed and predicate == RDF_TYPE and thing in classes
    }
    if not found:
        raise _invalid(f"says nothing of what {sensor} observes", GRAPH_FILES[SENSOR_GRAPH])
    return found


def _invalid(reason: str, place: Path | str) -> InvalidStream:
    """Return the error of a malformed file."""
    return InvalidStream(reason, rule="IO-1", place=str(place))
