"""YABench's generator SG1 as its Java code runs, draw by draw of one java.util.Random, with its
quirks: the first observation is at 0 whatever the phase of its station is, and an observation at
the very end is in the stream.

`tools/sg1.py` makes streams of the same shape, from draws of its own; here the streams are those
that YABench published figures of. The figures of the generator are public (YABench/yabench,
yabench-generator); java.util.Random's algorithm is in its documentation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

SSW = "http://knoesis.wright.edu/ssw/"
WEATHER = SSW + "ont/weather.owl#"
OM_OWL = SSW + "ont/sensor-observation.owl#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
FLOAT = "http://www.w3.org/2001/XMLSchema#float"

MULTIPLIER, INCREMENT, BITS = 0x5DEECE66D, 0xB, 48
MODULUS = 1 << BITS


class JavaRandom:
    """A generator of the numbers that java.util.Random gives, as far as SG1 asks for them. It is
    linear congruential, with 48 bits.
    """

    def __init__(self, seed: int):
        self.state = (seed ^ MULTIPLIER) % MODULUS

    def next(self, bits: int) -> int:
        """Draw the upper `bits` of the next state, as an unsigned number."""
        self.state = (self.state * MULTIPLIER + INCREMENT) % MODULUS
        return self.state >> (BITS - bits)

    def next_int(self, bound: int) -> int:
        """Draw a number in [0, bound). Draws of the last, incomplete range of `bound` numbers are
        drawn again.
        """
        if bound & (bound - 1) == 0:
            return (bound * self.next(31)) >> 31

        while True:
            drawn = self.next(31)
            number = drawn % bound
            if drawn - number + bound <= 2**31:
                return number


class Observation(NamedTuple):
    """What a station measures at an instant (ms)."""

    time: int
    station: int
    temperature: int


@dataclass(frozen=True)
class Parameters:
    """The parameters of a stream: the duration of the stream and the interval between two
    observations of a station, both in ms, and temperatures in [lowest, highest), in whole degrees.
    """

    seed: int
    stations: int
    duration: int
    interval: int = 1000
    lowest: int = 0
    highest: int = 100


def observations(parameters: Parameters) -> Iterator[Observation]:
    """Make the observations of a stream in its order, which is that of time.

    Each station draws its phase, in [0, interval); those of one phase stay in the order of their
    numbers. The first observation is at 0, whatever its station's phase, and one at the very end of
    the duration is in the stream.
    """
    random = JavaRandom(parameters.seed)
    interval = parameters.interval
    phases = [(random.next_int(interval), station) for station in range(parameters.stations)]
    waiting = deque(sorted(phases, key=lambda one: one[0]))

    time = 0
    while time <= parameters.duration:
        due, station = waiting.popleft()
        drawn = random.next_int(parameters.highest - parameters.lowest)
        yield Observation(time, station, drawn + parameters.lowest)
        waiting.append((due + interval, station))
        time = waiting[0][0]


def lines(observation: Observation) -> Iterator[str]:
    """Write an observation's seven triples, each with its time; the literal has no quotes."""
    time, station, temperature = observation
    subject = f"{SSW}Observation_AirTemperature_A{station}_{time}"
    measure = f"{SSW}MeasureData_AirTemperature_A{station}_{time}"
    triples = (
        (subject, TYPE, f"<{WEATHER}TemperatureObservation>"),
        (subject, f"{OM_OWL}observedProperty", f"<{WEATHER}_AirTemperature>"),
        (subject, f"{OM_OWL}procedure", f"<{SSW}System_A{station}>"),
        (subject, f"{OM_OWL}result", f"<{measure}>"),
        (measure, TYPE, f"<{OM_OWL}MeasureData>"),
        (measure, f"{OM_OWL}floatValue", f"{temperature}.0^^<{FLOAT}>"),
        (measure, f"{OM_OWL}uom", f"<{WEATHER}fahrenheit>"),
    )
    for subject, predicate, written in triples:
        yield f'<{subject}> <{predicate}> {written} "{time}" .'


def stream_lines(parameters: Parameters) -> Iterator[str]:
    """Yield the lines of a stream's file."""
    for observation in observations(parameters):
        yield from lines(observation)
