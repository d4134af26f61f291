"""Generated data of CityBench's shape: what sensors of a city report, of any size, and the static
data. All values are drawn with a seed; the names of sensors are those that the queries name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from conformance.bench.citybench import sensors
from conformance.bench.citybench.schema import (
    CULTURE_GRAPH,
    LIBRARY_GRAPH,
    SENSOR_GRAPH,
    SERVICES,
    SSN,
    describe_event,
    describe_property,
    double,
    service,
    write_position,
)
from conformance.bench.citybench.sensors import (
    DISTANCE,
    LOCATION,
    PARKING,
    POLLUTANTS,
    POLLUTION,
    TRAFFIC,
    USER,
    WEATHER,
    Columns,
    Report,
)
from refengine.model.elements import Dataset, Triple

SEED = 2015
REAL_INTERVAL = 300_000  # ms: how often a real sensor of traffic reports
PLACES = 6  # of events of a kind
SPACES = 40  # of a car park
SILENCE = 3_000  # ms: sensors of weather report for so long, and are silent for so long, in turn
MIDDLE = (300, 701)  # car parks are there, in thousandths of the city's extent
CENTRE = (56.15, 10.20)  # latitude and longitude of the city
# Degrees on either side. A generated city is larger than a real one: the texts of CityBench call
# near what is within 0.32 degrees, and not everything in the city is.
SPAN = 0.5


@dataclass(frozen=True)
class Parameters:
    """The parameters of a sensor's stream: its name, the duration (ms), and the interval between
    two reports (ms).
    """

    sensor: str
    duration: int
    interval: int


def draw_walk(random: Random, start: int, step: int, most: int) -> Iterator[int]:
    """Yield a random walk in whole steps of at most `step`, within [0, most], without end."""
    value = start
    while True:
        yield value
        value = min(most, max(0, value + random.randint(-step, step)))


def _draw_traffic(random: Random) -> Iterator[Columns]:
    """Yield reports on a road, without end: vehicles, and their speed and time, which is given by
    the length of the road.
    """
    length = random.randrange(500, 3_000)
    speeds = draw_walk(random, random.randrange(40, 60), 5, 90)
    for count in draw_walk(random, random.randrange(10, 30), 6, 60):
        speed = max(5, next(speeds))
        yield {
            DISTANCE: length,
            "vehicleCount": count,
            "avgSpeed": speed,
            "avgMeasuredTime": round(length * 3.6 / speed),
        }


def _draw_parking(random: Random) -> Iterator[Columns]:
    """Yield reports on a car park, without end. It is full at first, and now and then."""
    for count in draw_walk(random, SPACES, 3, SPACES):
        yield {"vehiclecount": count, "totalspaces": SPACES}


def _draw_pollution(random: Random) -> Iterator[Columns]:
    """Yield the indices of pollutants, without end, each a walk within [15, 215]."""
    walks = [draw_walk(random, random.randrange(20, 100), 6, 200) for _ in POLLUTANTS]
    while True:
        yield {name: 15 + next(walk) for name, walk in zip(POLLUTANTS, walks, strict=True)}


def _draw_weather(random: Random) -> Iterator[Columns]:
    """Yield humidity in percent, temperature in degrees and wind in km/h, without end."""
    degrees = draw_walk(random, random.randrange(10, 20), 1, 35)
    winds = draw_walk(random, random.randrange(30, 120), 8, 400)
    for percent in draw_walk(random, random.randrange(40, 80), 3, 100):
        yield {"hum": percent, "tempm": next(degrees), "wspdm": next(winds) / 10}


def _draw_places(random: Random) -> Iterator[Columns]:
    """Yield where a user is, without end, walking through the city."""
    north, east = draw_walk(random, 500, 40, 1_000), draw_walk(random, 500, 40, 1_000)
    while True:
        yield place_in_city(next(north), next(east))


def place_in_city(north: int, east: int) -> Columns:
    """Return a place by how far it is north and east of the city's corner, in thousandths of its
    extent.
    """
    return {
        "latitude": round(CENTRE[0] - SPAN + 2 * SPAN * north / 1_000, 6),
        "longitude": round(CENTRE[1] - SPAN + 2 * SPAN * east / 1_000, 6),
    }


DRAWS: Mapping[str, Callable[[Random], Iterator[Columns]]] = {
    TRAFFIC.prefix: _draw_traffic,
    PARKING.prefix: _draw_parking,
    POLLUTION.prefix: _draw_pollution,
    WEATHER.prefix: _draw_weather,
    LOCATION.prefix: _draw_places,
}


def reports(parameters: Parameters) -> Iterator[tuple[int, Report]]:
    """Yield the reports of a sensor with their times (ms), in order. They depend on the sensor's
    name alone.

    A sensor draws its phase, in [0, interval). Sensors of weather are silent for 3 s after each
    3 s, so that Q11 has an answer.
    """
    random = Random(f"{SEED} {parameters.sensor}")
    kind = sensors.kind_of(parameters.sensor)
    phase = random.randrange(parameters.interval)
    draws = DRAWS[kind.prefix](random)
    for number, time in enumerate(range(phase, parameters.duration, parameters.interval)):
        columns = next(draws)
        is_silent = kind is WEATHER and time // SILENCE % 2 == 1
        if not is_silent:
            yield time, Report(parameters.sensor, number, columns)


def stream_lines(parameters: Parameters) -> Iterator[str]:
    """Yield the lines of a sensor's stream."""
    properties = sensors.properties_of(parameters.sensor)
    for time, report in reports(parameters):
        yield from sensors.timed_lines(sensors.write_report(report, properties), time)


# Static data


def static_data(names: tuple[str, ...], named: tuple[str, ...], background: int) -> Dataset:
    """Return the triples of static graphs, by their names. The graph of sensors describes those
    that a query names, and `background` further ones of traffic.
    """
    graphs: dict[str, Callable[[], Iterator[Triple]]] = {
        SENSOR_GRAPH: lambda: describe_sensors([*named, *background_sensors(background)]),
        CULTURE_GRAPH: lambda: describe_events(CULTURE_GRAPH),
        LIBRARY_GRAPH: lambda: describe_events(LIBRARY_GRAPH),
    }
    return frozenset(triple for name in names for triple in graphs[name]())


def background_sensors(count: int) -> list[str]:
    """Return the names of sensors of traffic that no query names."""
    return [f"{TRAFFIC.prefix}{900_000 + number}" for number in range(count)]


def describe_sensors(names: list[str]) -> Iterator[Triple]:
    """Yield what the repository says of sensors: what each observes, and where."""
    for name in names:
        random = Random(f"{SEED} place of {name}")
        feature = f"<{SERVICES}FoI-{sensors.short_name(name)}>"
        extent = MIDDLE if name.startswith(PARKING.prefix) else (0, 1_001)
        position = place_in_city(random.randrange(*extent), random.randrange(*extent))
        latitude, longitude = double(position["latitude"]), double(position["longitude"])
        for observed, observed_property in sensors.properties_of(name).items():
            yield service(name), f"<{SSN}observes>", observed_property
            yield from describe_property(observed_property, observed, feature)
        if name != USER:
            yield from write_position(feature, latitude, longitude, "hasStart")


def describe_events(kind: str) -> Iterator[Triple]:
    """Yield events of a kind with their places and prices. Each third is free of charge."""
    for number in range(PLACES):
        random = Random(f"{SEED} {kind} {number}")
        event, feature, node = (f"<{SERVICES}{kind}-{part}{number}>" for part in ("e", "f", "n"))
        price = random.randrange(50, 300) if number % 3 else 0
        yield from describe_event(event, feature, node, f"Title: {kind} {number} Price: {price}")
        position = place_in_city(random.randrange(1_001), random.randrange(1_001))
        yield from write_position(node, double(position["latitude"]), double(position["longitude"]))
