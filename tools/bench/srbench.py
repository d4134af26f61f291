"""The workload `srbench`: weather stations in the shape of LinkedSensorData, and queries after the
descriptions of SRBench's Q1 to Q10 (Zhang et al., SRBench: A Streaming RDF/SPARQL Benchmark, ISWC
2012). The texts of the queries and the generator are ours.

A window holds an hour; a station observes about three times in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from refengine import literal
from refengine.core.question import Setting
from refengine.model.elements import Dataset, Term, Triple
from tools.bench.generated import (
    HOUR,
    Arrival,
    TimeWindow,
    WorkloadQuery,
    decimal,
    integer,
    make_setting,
    with_times,
)

SEED = 2012
STATIONS = 500
STATES = 50
STEP = 400  # ms from one element to the next: 9,000 elements an hour
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
OM = "http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#"
WEATHER = "http://knoesis.wright.edu/ssw/ont/weather.owl#"
DATA = "http://example.org/weather/"
PREFIXES = f"PREFIX om: <{OM}> PREFIX w: <{WEATHER}> PREFIX : <{DATA}>\n"

STREAM = "observations"
# what is measured: the least value and the one above the greatest, in tenths, and the unit
MEASURED = {
    "Rainfall": (0, 300, "centimeters"),
    "Snowfall": (0, 300, "centimeters"),
    "WindSpeed": (0, 1200, "milesPerHour"),
    "Temperature": (0, 1000, "fahrenheit"),
    "Visibility": (0, 200, "miles"),
}
STRENGTHS = (1, 4, 8, 13, 18, 25, 31, 39, 47, 55, 64, 73)  # Beaufort 1 to 12 begins there


def read_value(kind: str, value: str, sensor: str = "?sensor") -> str:
    """Return the pattern of an observation of a kind."""
    return f"[] a w:{kind}Observation ; om:procedure {sensor} ; om:floatValue {value} . "


def beaufort(value: str) -> str:
    """Return the expression for the strength of a wind, which is an IF in an IF and so on."""
    expression = "12"
    for strength in range(len(STRENGTHS) - 1, -1, -1):
        expression = f"IF({value} < {STRENGTHS[strength]}, {strength}, {expression})"
    return expression


WINDOWS = (TimeWindow(STREAM, HOUR),)
BODIES: Mapping[str, str] = {
    # who measures rain, and how much
    "Q1": f"SELECT DISTINCT ?sensor ?value {{ {read_value('Rainfall', '?value')} }}",
    # the same with the unit, if it is known
    "Q2": "SELECT DISTINCT ?sensor ?value ?unit { ?o a w:RainfallObservation ; "
    "om:procedure ?sensor ; om:floatValue ?value OPTIONAL { ?o om:uom ?unit } }",
    # whether there is a hurricane somewhere
    "Q3": "ASK { { SELECT ?sensor (AVG(?value) AS ?mean) { "
    f"{read_value('WindSpeed', '?value')} }} GROUP BY ?sensor HAVING(AVG(?value) >= 74) }} }}",
    # the mean wind where it is warmer than 32 degrees
    "Q4": "SELECT ?sensor (AVG(?wind) AS ?mean) { "
    f"{read_value('Temperature', '?heat')} {read_value('WindSpeed', '?wind')} "
    "FILTER(?heat > 32) } GROUP BY ?sensor",
    # blizzards: snow, and much wind in the mean
    "Q5": "CONSTRUCT { ?sensor :observes :Blizzard } { "
    f"{read_value('Snowfall', '?snow')} FILTER(?snow > 10) "
    f"{{ SELECT ?sensor {{ {read_value('WindSpeed', '?wind')} }} "
    "GROUP BY ?sensor HAVING(AVG(?wind) >= 35) } }",
    # bad sight for one of three reasons
    "Q6": "SELECT ?sensor { "
    f"{{ {read_value('Visibility', '?value')} FILTER(?value < 1) }} UNION "
    f"{{ {read_value('Rainfall', '?value')} FILTER(?value > 29) }} UNION "
    f"{{ {read_value('Snowfall', '?value')} FILTER(?value > 29) }} }}",
    # stations that measure rain and say nothing of the wind
    "Q7": f"SELECT DISTINCT ?sensor {{ {read_value('Rainfall', '?value')} "
    "FILTER NOT EXISTS { ?o a w:WindSpeedObservation ; om:procedure ?sensor } }",
    # the least and the greatest temperature at each place of a state
    "Q8": "SELECT ?place (MIN(?value) AS ?least) (MAX(?value) AS ?most) { "
    f"{read_value('Temperature', '?value')} ?sensor om:locatedAt ?place . ?place :in :state7 }} "
    "GROUP BY ?place",
    # the mean wind of each sensor as Beaufort has it
    "Q9": f"SELECT ?sensor ({beaufort('AVG(?value)')} AS ?strength) {{ "
    f"{read_value('WindSpeed', '?value')} }} GROUP BY ?sensor",
    # where much snow falls
    "Q10": "SELECT DISTINCT ?place ?latitude ?longitude { "
    f"{read_value('Snowfall', '?value')} ?sensor om:locatedAt ?place . "
    "?place :latitude ?latitude ; :longitude ?longitude FILTER(?value > 25) }",
}


def setting(query: str, elements: int, stations: int = STATIONS) -> Setting:
    """Return a query over so many elements, five an observation, of so many stations."""
    arrivals = with_times([STREAM], draw_weather(stations), elements, STEP)
    asked = WorkloadQuery(PREFIXES + BODIES[query], WINDOWS)
    return make_setting(asked, arrivals, static_data(stations))


def sensor(number: int) -> Term:
    """Return a station's sensor."""
    return f"<{DATA}sensor{number}>"


def draw_weather(stations: int) -> Iterator[Sequence[Arrival]]:
    """Yield observations without end. Every third does not say its unit."""
    random = Random(SEED)
    number = 0
    while True:
        kind = random.choice(list(MEASURED))
        least, above, unit = MEASURED[kind]
        value = random.randrange(least, above)
        subject = f"<{DATA}observation{number}>"
        triples: list[Triple] = [
            (subject, TYPE, f"<{WEATHER}{kind}Observation>"),
            (subject, f"<{OM}procedure>", sensor(random.randrange(stations))),
            (subject, f"<{OM}samplingTime>", integer(number)),
            (subject, f"<{OM}floatValue>", decimal(value)),
        ]
        if number % 3:
            triples.append((subject, f"<{OM}uom>", f"<{WEATHER}{unit}>"))
        yield [(STREAM, triple) for triple in triples]
        number += 1


def static_data(stations: int) -> Dataset:
    """Return where the stations are: places in states, with their coordinates."""
    statements: set[Triple] = set()
    for number in range(stations):
        place = f"<{DATA}place{number}>"
        statements |= {
            (sensor(number), f"<{OM}locatedAt>", place),
            (place, f"<{DATA}in>", f"<{DATA}state{number % STATES}>"),
            (place, f"<{DATA}name>", literal(f"place {number}")),
            (place, f"<{DATA}latitude>", decimal(250_000 + 17 * number, 4)),
            (place, f"<{DATA}longitude>", decimal(650_000 + 31 * number, 4)),
        }
    return frozenset(statements)
