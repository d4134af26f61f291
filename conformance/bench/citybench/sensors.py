"""CityBench's sensors, and the observations that come of what they report.

A report is a row of a sensor's CSV file. Its observations are those of CityBench's own programs:
one for each property of the sensor, with the value that the programs compute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from conformance.bench.citybench.schema import (
    SERVICES,
    double,
    service,
    write_observation,
    write_position,
)
from refengine.model.elements import Term, Triple

Columns = Mapping[str, float]  # the numbers of a report, by the names of the file's columns

USER = "UserLocationService"
DISTANCE = "DISTANCE_IN_METERS"  # of a road, which CityBench's file of roads has


def estimate_time(report: Columns) -> float:
    """Return the estimated time of a road: its length over the average speed, -1 for a speed of 0.
    Lengths are in meters and speeds in km/h: the unit is CityBench's own.
    """
    if report["avgSpeed"] == 0:
        return -1.0
    return report[DISTANCE] / report["avgSpeed"]


def congestion_level(report: Columns) -> float:
    """Return the congestion of a road: vehicles by its length in meters, -1 for a length of 0."""
    if report[DISTANCE] == 0:
        return -1.0
    return report["vehicleCount"] / report[DISTANCE]


def vacancies(report: Columns) -> float:
    """Return how many spaces of a car park are free."""
    return report["totalspaces"] - report["vehiclecount"]


POLLUTANTS = (
    "ozone",
    "particullate_matter",
    "carbon_monoxide",
    "sulfure_dioxide",
    "nitrogen_dioxide",
)


def pollution_index(report: Columns) -> float:
    """Return the air pollution index: that of the worst pollutant."""
    return max(report[pollutant] for pollutant in POLLUTANTS)


def column(name: str) -> Callable[[Columns], float]:
    """Return the function that reads a column."""
    return lambda report: report[name]


class Kind(NamedTuple):
    """A kind of sensors.

    `prefix` begins their names, `columns` are those of their files, and `time` is the column with
    the time. `observed` are the properties that they observe, by their classes, with the function
    that gives the value.
    """

    prefix: str
    columns: tuple[str, ...]
    time: str
    observed: Mapping[str, Callable[[Columns], float]]


TRAFFIC = Kind(
    "AarhusTrafficData",
    ("avgSpeed", "vehicleCount", "avgMeasuredTime"),
    "TIMESTAMP",
    {
        "AvgSpeed": column("avgSpeed"),
        "CongestionLevel": congestion_level,
        "EstimatedTime": estimate_time,
        "MeasureTime": column("avgMeasuredTime"),
        "VehicleCount": column("vehicleCount"),
    },
)
PARKING = Kind(
    "AarhusParkingData",
    ("vehiclecount", "totalspaces"),
    "updatetime",
    {"ParkingVacancy": vacancies},
)
POLLUTION = Kind("AarhusPollutionData", POLLUTANTS, "timestamp", {"API": pollution_index})
WEATHER = Kind(
    "AarhusWeatherData",
    ("hum", "tempm", "wspdm"),
    "TIMESTAMP",
    {"Humidity": column("hum"), "Temperature": column("tempm"), "WindSpeed": column("wspdm")},
)
# A user's location has no columns: its file has a line for each place.
LOCATION = Kind(USER, ("latitude", "longitude"), "", {"Location": column("latitude")})
KINDS = (TRAFFIC, PARKING, POLLUTION, WEATHER, LOCATION)


def kind_of(sensor: str) -> Kind:
    """Return the kind of a sensor by its name. Raises KeyError."""
    for kind in KINDS:
        if sensor.startswith(kind.prefix):
            return kind
    raise KeyError(sensor)


def property_of(sensor: str, observed: str) -> Term:
    """Return the property of a class that a sensor observes, in generated data."""
    return f"<{SERVICES}{observed}-{short_name(sensor)}>"


def short_name(sensor: str) -> str:
    """Return what tells a sensor from the others of its kind: `158505`."""
    return re.sub(r"^Aarhus[A-Za-z]+?Data", "", sensor)


@dataclass(frozen=True)
class Report:
    """What a sensor reports: the number of the report, and its columns."""

    sensor: str
    number: int
    columns: Columns


Properties = Mapping[str, Term]  # of a sensor, by their classes


def properties_of(sensor: str) -> Properties:
    """Return the properties that a sensor observes, in generated data."""
    return {observed: property_of(sensor, observed) for observed in kind_of(sensor).observed}


def write_report(report: Report, properties: Properties) -> Iterator[Triple]:
    """Yield the triples of the observations of a report, in the order of the properties' classes.
    `properties` are those of the sensor.
    """
    kind = kind_of(report.sensor)
    for observed in sorted(properties):
        name = f"{report.sensor}-{report.number}"
        if kind is not LOCATION:
            name += f"-{observed}"
        observation = f"<{SERVICES}{name}>"
        place = f"<{SERVICES}{name}-place>"
        value = place
        if kind is not LOCATION:
            value = double(kind.observed[observed](report.columns))
        sensor = service(report.sensor)
        yield from write_observation(observation, sensor, properties[observed], value)
        if kind is LOCATION:
            position = double(report.columns["latitude"]), double(report.columns["longitude"])
            yield from write_position(place, *position)


def timed_lines(triples: Sequence[Triple] | Iterator[Triple], time: int) -> Iterator[str]:
    """Yield the lines of a stream's file for triples of one time (ms)."""
    for triple in triples:
        yield f'{" ".join(triple)} "{time}" .'
