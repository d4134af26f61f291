"""A stream of weather observations in the shape of LinkedSensorData, of any size.

Stations observe, each at an interval, what their climate has. An observation is eleven triples,
or ten if it does not say its unit; LinkedSensorData's hurricane Charley has 10.9 triples for each.
All values are drawn with a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from heapq import merge
from random import Random
from typing import NamedTuple

STREAM = "http://www.cwi.nl/SRBench/observations"
SSW = "http://knoesis.wright.edu/ssw/"
OM_OWL = SSW + "ont/sensor-observation.owl#"
WEATHER = SSW + "ont/weather.owl#"
OWL_TIME = "http://www.w3.org/2006/time#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD = "http://www.w3.org/2001/XMLSchema#"
BEGIN = datetime(2004, 8, 13, tzinfo=UTC)  # what time 0 of the stream stands for


class Phenomenon(NamedTuple):
    """What is observed: the class of its observations, the property, and the unit."""

    kind: str
    observed_property: str
    unit: str


AIR = Phenomenon("TemperatureObservation", "_AirTemperature", "fahrenheit")
WIND = Phenomenon("WindSpeedObservation", "_WindSpeed", "milesPerHour")
DIRECTION = Phenomenon("WindDirectionObservation", "_WindDirection", "degrees")
HUMIDITY = Phenomenon("HumidityObservation", "_RelativeHumidity", "percent")
PRECIPITATION = Phenomenon("PrecipitationObservation", "_Precipitation", "inches")
RAIN = Phenomenon("RainfallObservation", "_Rainfall", "centimeters")
SNOW = Phenomenon("SnowfallObservation", "_Snowfall", "centimeters")
SIGHT = Phenomenon("VisibilityObservation", "_Visibility", "centimeters")


class Distribution(NamedTuple):
    """A triangular distribution of values: the sum of a centre and of two draws from -half to half,
    all in tenths.
    """

    centre: int
    half: int

    def draw(self, random: Random) -> int:
        """Draw a value, in tenths."""
        first = random.randint(-self.half, self.half)
        return self.centre + first + random.randint(-self.half, self.half)


Climate = dict[Phenomenon, Distribution]
EVERYWHERE: Climate = {DIRECTION: Distribution(1800, 899), HUMIDITY: Distribution(600, 190)}
# Stations have these climates in turn.
CLIMATES: dict[str, Climate] = {
    "mild": {
        AIR: Distribution(700, 100),
        WIND: Distribution(80, 30),
        RAIN: Distribution(20, 9),
        PRECIPITATION: Distribution(10, 4),
        SIGHT: Distribution(300, 90),
    },
    "hurricane": {
        AIR: Distribution(800, 40),
        WIND: Distribution(1000, 80),
        RAIN: Distribution(350, 100),
        PRECIPITATION: Distribution(140, 40),
    },
    "blizzard": {
        AIR: Distribution(200, 50),
        WIND: Distribution(500, 45),
        SNOW: Distribution(50, 20),
        SIGHT: Distribution(80, 35),
    },
    "fog": {AIR: Distribution(450, 40), WIND: Distribution(30, 14), SIGHT: Distribution(60, 25)},
    "breeze": {
        AIR: Distribution(750, 40),
        WIND: Distribution(320, 30),
        PRECIPITATION: Distribution(10, 4),
    },
}
NAMES = tuple(CLIMATES)
SILENT_CLIMATE = "fog"  # its stations fall silent
RAIN_PER_MISSING_UNIT = 4  # every fourth observation of rain of a station has no unit


@dataclass(frozen=True)
class Parameters:
    """The parameters of a stream: its seed, the number of stations, its duration, and the interval
    between two observations of a station, both in ms.
    """

    seed: int
    stations: int
    duration: int
    interval: int


class Observation(NamedTuple):
    """What a station measures at an instant (ms): `value` is in tenths of the unit of its
    `phenomenon`.
    """

    time: int
    station: int
    phenomenon: Phenomenon
    value: int
    has_unit: bool = True


def climate_of(station: int) -> Climate:
    """Return the climate of a station."""
    return {**EVERYWHERE, **CLIMATES[NAMES[station % len(NAMES)]]}


def observations_of_station(parameters: Parameters, station: int) -> Iterator[Observation]:
    """Make the observations of a station in their order. They depend on the seed and on the station
    alone, so that stations can be made apart.

    A station draws its phase, in [0, interval), and observes all that its climate has at the same
    instants. Every fifth station, of the climate fog, is silent from half of the duration on.
    """
    random = Random(f"{parameters.seed} {station}")
    climate = sorted(climate_of(station).items())
    phase = random.randrange(parameters.interval)
    end = parameters.duration
    if NAMES[station % len(NAMES)] == SILENT_CLIMATE:
        end //= 2
    for number, time in enumerate(range(phase, end, parameters.interval)):
        for phenomenon, spread in climate:
            has_unit = phenomenon is not RAIN or (number + 1) % RAIN_PER_MISSING_UNIT != 0
            yield Observation(time, station, phenomenon, spread.draw(random), has_unit)


def observations(parameters: Parameters, stations: range | None = None) -> Iterator[Observation]:
    """Make the observations of all stations, or of some, in the order of time, and of the stations'
    numbers.
    """
    chosen = range(parameters.stations) if stations is None else stations
    of_stations = (observations_of_station(parameters, station) for station in chosen)
    return merge(*of_stations, key=lambda one: (one.time, one.station))


def name_of_station(station: int) -> str:
    """Return the identifier of a station, as in the IRIs about it."""
    return f"S{station:05}"


def lines(observation: Observation) -> Iterator[str]:
    """Write the triples of an observation, each with its time."""
    time, station, phenomenon, value, has_unit = observation
    name = name_of_station(station)
    key = f"{phenomenon.observed_property[1:]}_{name}_{time}"
    sensor, observed = f"{SSW}System_{name}", f"{SSW}Observation_{key}"
    measured, instant = f"{SSW}MeasureData_{key}", f"{SSW}Instant_{key}"
    date = (BEGIN + timedelta(milliseconds=time)).isoformat(timespec="seconds")
    triples = [
        (observed, TYPE, f"<{WEATHER}{phenomenon.kind}>"),
        (observed, OM_OWL + "observedProperty", f"<{WEATHER}{phenomenon.observed_property}>"),
        (observed, OM_OWL + "procedure", f"<{sensor}>"),
        (observed, OM_OWL + "result", f"<{measured}>"),
        (observed, OM_OWL + "samplingTime", f"<{instant}>"),
        (instant, TYPE, f"<{OWL_TIME}Instant>"),
        (instant, OWL_TIME + "inXSDDateTime", f'"{date}"^^<{XSD}dateTime>'),
        (measured, TYPE, f"<{OM_OWL}MeasureData>"),
        (measured, OM_OWL + "floatValue", f'"{write_tenths(value)}"^^<{XSD}float>'),
        (measured, OM_OWL + "uom", f"<{WEATHER}{phenomenon.unit}>"),
        (sensor, OM_OWL + "generatedObservation", f"<{observed}>"),
    ]
    for subject, predicate, written in triples:
        if has_unit or predicate != OM_OWL + "uom":
            yield f'<{subject}> <{predicate}> {written} "{time}" .'


def write_tenths(value: int) -> str:
    """Return a value in tenths as a decimal number: `-0.5` for -5."""
    sign = "-" if value < 0 else ""
    return f"{sign}{abs(value) // 10}.{abs(value) % 10}"


def stream_lines(parameters: Parameters, stations: range | None = None) -> Iterator[str]:
    """Yield the lines of a stream's file, or of its part by some stations."""
    for observation in observations(parameters, stations):
        yield from lines(observation)


def parts_of_stream(parameters: Parameters, count: int) -> list[Callable[[], Iterator[str]]]:
    """Return about so many parts of a stream, each by some stations."""
    count = min(count, parameters.stations)
    return [
        partial(
            stream_lines,
            parameters,
            range(parameters.stations * k // count, parameters.stations * (k + 1) // count),
        )
        for k in range(count)
    ]
