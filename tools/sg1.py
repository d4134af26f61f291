"""YABench's stream generator SG1: air temperature observations of weather stations, as a `.n3t`
stream.

Each station observes once an interval, at a phase of its own in [0, interval): observation k of a
station is at k · interval + phase, so that `stations` · duration / interval observations fall into
[0, duration). An observation is the seven triples below, all with its time (ms); a line of the file
is a triple and its time, in the order of time, station and triple. The temperature is a whole
number of [min, max), written with one decimal as xsd:float.

The same parameters give the same bytes on every platform and Python: all is integer arithmetic.
What is drawn for an observation depends on the seed, the station and k alone, so that any part of a
stream can be made by itself (`observations`). A station has a SplitMix64 of its own (Steele, Lea,
Flood, OOPSLA 2014), seeded by the output number `station` of SplitMix64(seed); of its outputs
number 0 draws the phase and number k + 1 the temperature of observation k.

Source: YABench's SG1 and its template (Kolchin, Wetz et al., ICWE 2016), from which the defaults,
the phases, the triples and the half-open range of temperatures are. It differs where that generator
does not do what it means: there a literal is without quotes, the first observation is at 0 whatever
its station's phase, and one at the very end of the duration is in the stream. And its draws are one
sequence of Java's generator, which has to be made from the start. Decided here: an interval divides
the duration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

TRIPLES = 7  # of an observation
SSW = "http://knoesis.wright.edu/ssw/"
WEATHER = SSW + "ont/weather.owl#"
OM_OWL = SSW + "ont/sensor-observation.owl#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
FLOAT = "http://www.w3.org/2001/XMLSchema#float"

WORD = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def split_mix(seed: int, n: int) -> int:
    """Return output number n, from 0, of SplitMix64(seed)."""
    z = (seed + (n + 1) * GAMMA) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """A stream's parameters: the interval of a station and the duration in ms; temperatures in
    [lowest, highest). `together`: every phase is 0, so that all stations observe at once and
    windows have observations on their borders.

    Raises ValueError for what no stream has.
    """

    duration: int
    stations: int = 10
    interval: int = 300_000
    seed: int = 1
    lowest: int = 0
    highest: int = 100
    together: bool = False

    def __post_init__(self) -> None:
        for name, least, most in (
            ("stations", 1, 10**7),
            ("interval", 1, 2**32),
            ("duration", 1, 2**53),
            ("seed", 0, WORD),
            ("lowest", -(10**6), 10**6),
            ("highest", -(10**6), 10**6),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ValueError(f"{name} must be an integer in [{least}, {most}], got {value!r}")
        if self.lowest >= self.highest:
            raise ValueError(
                f"temperatures are in [lowest, highest), got [{self.lowest}, {self.highest})"
            )
        if self.duration % self.interval:
            raise ValueError(
                f"the interval must divide the duration, got {self.interval} ms "
                f"and {self.duration} ms"
            )

    @property
    def rounds(self) -> int:
        """How often each station observes."""
        return self.duration // self.interval

    @property
    def triples(self) -> int:
        """The length of the stream."""
        return self.stations * self.rounds * TRIPLES


class Observation(NamedTuple):
    """An observation; as a tuple it sorts as in the stream."""

    time: int
    station: int
    temperature: int


def observations(
    parameters: Parameters, stations: range | None = None, rounds: range | None = None
) -> Iterator[Observation]:
    """Return the observations of some stations and rounds (ranges within those of the stream, from
    0; by default all), sorted. Those of round k are in [k · interval, (k + 1) · interval). Nothing
    that comes before is made: parts, merged, are the whole.
    """
    stations = _within("stations", stations, parameters.stations)
    rounds = _within("rounds", rounds, parameters.rounds)
    seeds = ((station, split_mix(parameters.seed, station)) for station in stations)
    order = sorted((_phase(parameters, seed), station, seed) for station, seed in seeds)
    return _rounds(parameters, order, rounds)


def _rounds(
    parameters: Parameters, order: list[tuple[int, int, int]], rounds: range
) -> Iterator[Observation]:
    lowest, bound = parameters.lowest, parameters.highest - parameters.lowest
    for k in rounds:
        start = k * parameters.interval
        for phase, station, seed in order:
            yield Observation(
                start + phase, station, lowest + _below(bound, split_mix(seed, k + 1))
            )


def _phase(parameters: Parameters, seed: int) -> int:
    if parameters.together:
        return 0
    return _below(parameters.interval, split_mix(seed, 0))


def _below(bound: int, draw: int) -> int:
    """Return an integer in [0, bound), bound <= 2**32, from the upper 32 bits of a draw."""
    return (draw >> 32) * bound >> 32


def _within(name: str, part: range | None, count: int) -> range:
    if part is None:
        part = range(count)
    if part.step != 1 or (part and not 0 <= part.start <= part.stop <= count):
        raise ValueError(f"{name} must be a range within [0, {count}), got {part}")
    return part


def lines(observation: Observation) -> str:
    """Return the seven lines of an observation."""
    time, station, temperature = observation
    subject = f"<{SSW}Observation_AirTemperature_A{station}_{time}>"
    measure = f"<{SSW}MeasureData_AirTemperature_A{station}_{time}>"
    return (
        f'{subject} {TYPE} <{WEATHER}TemperatureObservation> "{time}" .\n'
        f'{subject} <{OM_OWL}observedProperty> <{WEATHER}_AirTemperature> "{time}" .\n'
        f'{subject} <{OM_OWL}procedure> <{SSW}System_A{station}> "{time}" .\n'
        f'{subject} <{OM_OWL}result> {measure} "{time}" .\n'
        f'{measure} {TYPE} <{OM_OWL}MeasureData> "{time}" .\n'
        f'{measure} <{OM_OWL}floatValue> "{temperature}.0"^^<{FLOAT}> "{time}" .\n'
        f'{measure} <{OM_OWL}uom> <{WEATHER}fahrenheit> "{time}" .\n'
    )


def stream_lines(parameters: Parameters) -> Iterator[str]:
    """Yield the lines of the stream."""
    for observation in observations(parameters):
        yield from lines(observation).splitlines()
