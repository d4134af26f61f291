"""Loops written by hand, each for one query over YABench's stream SG1 (tools/sg1.py): what a
program costs that can do nothing else. Nothing of the engine is used.

They may do so little since they rely on what this stream guarantees: times do not decrease, a
reading's triples have one time and come once each, there are no others, and no term has a space in
it. An instant is the one at which the engine evaluates.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from math import inf
from typing import NamedTuple

OM_OWL = "<http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#"
PROPERTY = OM_OWL + "observedProperty>"
SENSOR = OM_OWL + "procedure>"
MEASURE = OM_OWL + "result>"
VALUE = OM_OWL + "floatValue>"
AIR_TEMPERATURE = "<http://knoesis.wright.edu/ssw/ont/weather.owl#_AirTemperature>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
SECOND = 1000  # ms
SECONDS = 5  # of a window

Row = tuple[str, ...]  # terms in the order of the query's variables
Reported = tuple[int, Mapping[Row, int]]  # an instant, and how often each row is reported then


class Reading(NamedTuple):
    """An air temperature, with the time of its triples."""

    time: int
    sensor: str
    observation: str
    value: str

    def is_above(self, bound: float) -> bool:
        """Whether the temperature is above a bound."""
        return float(self.value.split('"')[1]) > bound


def complete_readings(lines: Iterable[str]) -> Iterator[Reading]:
    """Yield each reading when the last of its triples arrives, in whatever order these come."""
    is_air: set[str] = set()
    sensors: dict[str, str] = {}
    measures: dict[str, str] = {}
    observations: dict[str, str] = {}  # by measure
    values: dict[str, str] = {}  # by measure
    for line in lines:
        subject, predicate, term, time, _ = line.split()
        observation: str | None = subject
        if predicate == VALUE:
            values[subject] = term
            observation = observations.get(subject)
        elif predicate == MEASURE:
            measures[subject] = term
            observations[term] = subject
        elif predicate == SENSOR:
            sensors[subject] = term
        elif predicate == PROPERTY and term == AIR_TEMPERATURE:
            is_air.add(subject)
        else:
            continue
        if observation in is_air and observation in sensors and observation in measures:
            measure = measures[observation]
            if measure in values:
                is_air.remove(observation)
                del measures[observation], observations[measure]
                yield Reading(
                    int(time[1:-1]), sensors.pop(observation), observation, values.pop(measure)
                )


def report_arrivals(lines: Iterable[str]) -> Iterator[Reported]:
    """Yield each reading above 50 when it arrives: YABench's query. A reading is in one window, and
    new there, so no window is kept.
    """
    for reading in complete_readings(lines):
        if reading.is_above(50):
            yield reading.time, {(reading.sensor, reading.observation, reading.value): 1}


def report_windows(lines: Iterable[str]) -> Iterator[Reported]:
    """Yield the readings above 80 of each window that holds any, when it closes: CSRBench's Q5.
    Windows slide by a second, so the rows of a second are kept together.
    """
    held: dict[int, Mapping[Row, int]] = {}  # rows by second
    opening = 0  # the second with which the next window begins

    def close_window() -> Iterator[Reported]:
        seconds = range(opening, opening + SECONDS)
        contents = [held[second] for second in seconds if second in held]
        if contents:
            rows = {row: count for content in contents for row, count in content.items()}
            yield seconds.stop * SECOND - 1, rows
        held.pop(opening, None)

    by_second = groupby(complete_readings(lines), lambda reading: reading.time // SECOND)
    for second, readings in by_second:
        while opening + SECONDS <= second:
            yield from close_window()
            opening += 1
        held[second] = {
            (reading.sensor, reading.observation): 1 for reading in readings if reading.is_above(80)
        }
    while held:
        yield from close_window()
        opening += 1


def report_counts(lines: Iterable[str]) -> Iterator[Reported]:
    """Yield how many readings above 50 a sensor has had in the last 5 s, when that changes and is
    not 0.
    """
    counts: Counter[str] = Counter()
    held: deque[Reading] = deque()

    def expire(now: float) -> Iterator[Reported]:
        while held and held[0].time + SECONDS * SECOND <= now:
            time = held[0].time
            changed = set()
            while held and held[0].time == time:
                sensor = held.popleft().sensor
                counts[sensor] -= 1
                changed.add(sensor)
            rows = {_count_row(sensor, counts): 1 for sensor in changed if counts[sensor]}
            if rows:
                yield time + SECONDS * SECOND, rows

    for reading in complete_readings(lines):
        if reading.is_above(50):
            yield from expire(reading.time)
            held.append(reading)
            counts[reading.sensor] += 1
            yield reading.time, {_count_row(reading.sensor, counts): 1}
    yield from expire(inf)


def _count_row(sensor: str, counts: Mapping[str, int]) -> Row:
    return sensor, f'"{counts[sensor]}"^^{INTEGER}'


LOOPS: Mapping[str, Callable[[Iterable[str]], Iterator[Reported]]] = {
    "medium": report_arrivals,
    "Q5": report_windows,
    "counts": report_counts,
}
