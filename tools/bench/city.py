"""The workload `city`: sensors of a city in the shape of CityBench's, and queries for the patterns
that it asks for (Ali, Gao, Mileo, CityBench: A Configurable Benchmark to Evaluate RSP Engines Using
Smart City Datasets, ISWC 2015). The queries, and the generator, are ours.

Sensors of traffic, parking, pollution and weather observe; a user moves. A static description says
what each sensor measures, on which road and in which district it is, and where. Windows hold three
seconds, which are 3,000 elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from refengine.core.question import Setting
from refengine.model.elements import Dataset, Term, Triple
from tools.bench.generated import (
    SECOND,
    Arrival,
    TimeWindow,
    WorkloadQuery,
    decimal,
    integer,
    make_setting,
    with_times,
)

SEED = 2015
SENSORS = 450  # of each kind
ROADS = 150
DISTRICTS = 30
KINDS = ("traffic", "parking", "pollution", "weather")
SSN = "http://purl.oclc.org/NET/ssnx/ssn#"
SAO = "http://purl.oclc.org/NET/UNIS/sao/sao#"
DATA = "http://example.org/city/"
PREFIXES = f"PREFIX ssn: <{SSN}> PREFIX sao: <{SAO}> PREFIX : <{DATA}>\n"
USER = "user"


def read_sensor(kind: str, sensor: str, value: str) -> str:
    """Return the pattern of an observation in the named window of its kind."""
    return f"GRAPH :{kind} {{ [] ssn:observedBy {sensor} ; sao:hasValue {value} }} "


def windows(*streams: str) -> tuple[TimeWindow, ...]:
    """Return a named window for each stream."""
    return tuple(TimeWindow(stream, 3 * SECOND, DATA + stream) for stream in streams)


QUERIES: Mapping[str, WorkloadQuery] = {
    # how much traffic there is on two roads of a way
    "two roads": WorkloadQuery(
        f"SELECT ?here ?there {{ {read_sensor('traffic', '?a', '?here')} ?a :on_road :road7 . "
        f"{read_sensor('traffic', '?b', '?there')} ?b :on_road :road8 }}",
        windows("traffic"),
    ),
    # traffic and weather of a district
    "traffic and weather": WorkloadQuery(
        f"SELECT ?district ?cars ?heat {{ {read_sensor('traffic', '?a', '?cars')} "
        f"?a :in_district ?district . ?b :in_district ?district . "
        f"{read_sensor('weather', '?b', '?heat')} ?a :on_road :road7 }}",
        windows("traffic", "weather"),
    ),
    # the mean of each road
    "mean of a road": WorkloadQuery(
        f"SELECT ?road (AVG(?cars) AS ?mean) {{ {read_sensor('traffic', '?a', '?cars')} "
        "?a :on_road ?road } GROUP BY ?road HAVING(AVG(?cars) > 40)",
        windows("traffic"),
    ),
    # the count, the least and the greatest value of each sensor
    "values of a sensor": WorkloadQuery(
        "SELECT ?a (COUNT(?level) AS ?n) (MIN(?level) AS ?least) (MAX(?level) AS ?most) { "
        f"{read_sensor('pollution', '?a', '?level')} }} GROUP BY ?a",
        windows("pollution"),
    ),
    # free places near a user
    "parking near a user": WorkloadQuery(
        "SELECT ?a ?free { GRAPH :parking { [] ssn:observedBy ?a ; sao:hasValue ?free "
        "FILTER(?free > 95) } ?a :x ?u ; :y ?v GRAPH :user { ?fix :x ?x ; :y ?y } "
        "FILTER((?x - ?u) * (?x - ?u) + (?y - ?v) * (?y - ?v) < 0.01) }",
        (TimeWindow("parking", 3 * SECOND, DATA + "parking"), TimeWindow(USER, 100, DATA + USER)),
    ),
    # car parks with what is known of the pollution in their district
    "parking, OPTIONAL pollution": WorkloadQuery(
        f"SELECT ?a ?free ?level {{ {read_sensor('parking', '?a', '?free')} ?a :on_road ?road "
        f"OPTIONAL {{ ?b :on_road ?road . {read_sensor('pollution', '?b', '?level')} "
        "FILTER(?level > 90) } FILTER(?free > 90) }",
        windows("parking", "pollution"),
    ),
    # a sensor of one kind measures what one of another kind measures
    "equal values": WorkloadQuery(
        f"SELECT ?a ?b ?cars {{ {read_sensor('traffic', '?a', '?cars')} "
        f"{read_sensor('pollution', '?b', '?level')} FILTER(?cars = ?level) "
        "?a :on_road ?road . ?b :on_road ?road }",
        windows("traffic", "pollution"),
    ),
    # the same, where nothing else joins the two streams
    "equality alone": WorkloadQuery(
        f"SELECT ?a ?b ?cars {{ {read_sensor('traffic', '?a', '?cars')} "
        f"{read_sensor('pollution', '?b', '?level')} FILTER(?cars = ?level && ?cars > 98) }}",
        windows("traffic", "pollution"),
    ),
}


def setting(query: str, elements: int, sensors: int = SENSORS) -> Setting:
    """Return a query over so many elements of its streams, one a millisecond, from so many sensors
    of each kind.
    """
    asked = QUERIES[query]
    streams = list(dict.fromkeys(window.stream for window in asked.windows))
    arrivals = with_times(streams, draw_city(sensors), elements)
    return make_setting(asked._replace(body=PREFIXES + asked.body), arrivals, static_data(sensors))


def name_sensor(kind: str, number: int) -> Term:
    """Return the sensor of a kind with a number."""
    return f"<{DATA}{kind}{number}>"


def draw_city(sensors: int) -> Iterator[Sequence[Arrival]]:
    """Yield observations and the places of users, without end."""
    random = Random(SEED)
    number = 0
    while True:
        stream = random.choice((*KINDS, USER))
        subject = f"<{DATA}observation{number}>"
        yield [(stream, triple) for triple in draw_triples(random, stream, subject, sensors)]
        number += 1


def draw_triples(random: Random, stream: str, subject: Term, sensors: int) -> Sequence[Triple]:
    """Return the triples of an observation."""
    if stream == USER:
        x, y = random.randrange(10_000), random.randrange(10_000)
        return [(subject, f"<{DATA}x>", decimal(x, 4)), (subject, f"<{DATA}y>", decimal(y, 4))]
    by = name_sensor(stream, random.randrange(sensors))
    value = integer(random.randrange(100))
    if stream == "pollution":
        value = decimal(10 * random.randrange(100))
    return [(subject, f"<{SSN}observedBy>", by), (subject, f"<{SAO}hasValue>", value)]


def static_data(sensors: int) -> Dataset:
    """Return the description of all sensors."""
    random = Random(SEED + 1)
    statements: set[Triple] = set()
    for kind in KINDS:
        for number in range(sensors):
            sensor = name_sensor(kind, number)
            statements |= {
                (sensor, f"<{SSN}observes>", f"<{DATA}{kind}>"),
                (sensor, f"<{DATA}on_road>", f"<{DATA}road{number % ROADS}>"),
                (sensor, f"<{DATA}in_district>", f"<{DATA}district{number % DISTRICTS}>"),
                (sensor, f"<{DATA}x>", decimal(random.randrange(10_000), 4)),
                (sensor, f"<{DATA}y>", decimal(random.randrange(10_000), 4)),
            }
    return frozenset(statements)
