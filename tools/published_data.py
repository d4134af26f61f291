"""Data for CityBench's and LSBench's published query texts, in the vocabularies that these use.

All is drawn with a seed, and ours: nothing is taken from the benchmarks but the names that their
texts ask for. Streams and static graphs are known by the last part of their IRIs, since each source
of texts has them at another address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from conformance.bench.citybench.schema import (
    describe_event,
    describe_property,
    write_observation,
    write_position,
)
from refengine.model.elements import Term, Triple
from tools import published_network as social
from tools.bench.generated import Arrival, decimal, integer

SEED = 25

DATA = "http://example.org/city/"

SERVICES = {  # what a sensor measures, and the greatest value
    "AarhusTrafficData182955": ("CongestionLevel", 9),
    "AarhusTrafficData158505": ("CongestionLevel", 9),
    "AarhusTrafficData186979": ("CongestionLevel", 9),
    "AarhusWeatherData0": ("Temperature", 20),
    "AarhusParkingDataKALKVAERKSVEJ": ("ParkingVacancy", 3),
    "AarhusParkingDataSKOLEBAKKEN": ("ParkingVacancy", 3),
    "AarhusPollutionData201399": ("API", 99),
    "AarhusPollutionData184892": ("API", 99),
    "AarhusPollutionData197626": ("API", 99),
}
USER = "UserLocationService"
PLACES = 6  # of cultural events, and of events in libraries

USERS, TAGS = 10, 4  # so few that a few hundred elements have answers


@dataclass(frozen=True)
class BenchmarkData:
    """What happens on the streams, by their names, and the static graphs, by the last part of their
    IRIs. `default` is the graph that an engine without FROM has loaded.
    """

    events: Iterable[Sequence[Arrival]]
    graphs: Mapping[str, frozenset[Triple]]
    default: str


def city_data(services: str) -> BenchmarkData:
    """Return data for CityBench, whose sensors are services in this namespace."""
    random = Random(SEED)
    sensors = _describe_sensors(random)
    culture = _describe_events(random, "culture")
    library = _describe_events(random, "library")
    graphs = {
        "SensorRepository.rdf": sensors,
        "AarhusCulturalEvents.rdf": culture,
        "culturalevents": culture,
        "AarhusLibraryEvents.rdf": library,
        "libraryevents": library,
    }
    return BenchmarkData(_observe(services), graphs, "SensorRepository.rdf")


def _observe(services: str) -> Iterator[Sequence[Arrival]]:
    """Yield what the sensors observe and where a user is, without end."""
    random = Random(SEED + 1)
    number = 0
    while True:
        service = random.choice([*SERVICES, USER])
        number += 1
        observation, place = f"<{DATA}observation{number}>", f"<{DATA}place{number}>"
        measured, value, more = service, place, _position(random, place)
        if service in SERVICES:
            value, more = integer(random.randint(0, SERVICES[service][1])), []
            # every third observation is of something that the static data does not describe
            measured += random.choice(["", "", "-undescribed"])
        triples = write_observation(
            observation, f"<{services}{service}>", f"<{DATA}measured-{measured}>", value
        )
        yield [(service, triple) for triple in [*triples, *more]]


def _position(random: Random, place: Term, prefix: str = "has") -> list[Triple]:
    """Return the latitude and longitude of a place in a town."""
    latitude = decimal(561_000 + random.randrange(5_000), 4)
    return write_position(place, latitude, decimal(101_000 + random.randrange(5_000), 4), prefix)


def _describe_sensors(random: Random) -> frozenset[Triple]:
    """Return what each sensor measures, and where."""
    triples: list[Triple] = []
    for service, (measured, _) in SERVICES.items():
        described, feature = f"<{DATA}measured-{service}>", f"<{DATA}feature-{service}>"
        triples += [
            *describe_property(described, measured, feature),
            *_position(random, feature, "hasStart"),
        ]
    return frozenset(triples)


def _describe_events(random: Random, kind: str) -> frozenset[Triple]:
    """Return events with a title and a place. An event is an observation, too: some texts ask for a
    type that events and observations share.
    """
    triples: list[Triple] = []
    for number in range(PLACES):
        event, feature, node = (f"<{DATA}{kind}-{what}{number}>" for what in ("e", "f", "n"))
        triples += [
            *describe_event(event, feature, node, f"{kind} {number}"),
            *_position(random, node),
        ]
    return frozenset(triples)


# the streams of the network, as LSBench's texts name them
SOCIAL_STREAMS = {
    social.POSTS: "poststream",
    social.POST_LIKES: "likedpoststream",
    social.PHOTOS: "photostream",
    social.PHOTO_LIKES: "likedphotostream",
    social.PLACES: "gpsstream",
}
SIB = "http://www.ins.cwi.nl/sib/"


def social_data() -> BenchmarkData:
    """Return data for LSBench: a network of ten users, of whom u984
    is the one whom the texts ask for.
    """
    network = social.SmallNetwork(social.TRIPLES_OF_A_USER * 5 * USERS)
    static = frozenset(_as_lsbench(triple[:3]) for triple in network.static_data())
    events = (
        [(SOCIAL_STREAMS[stream], _as_lsbench(triple)) for stream, triple in event]
        for event in network.events()
    )
    return BenchmarkData(events, {"sib.rdf": static}, "sib.rdf")


def _as_lsbench(triple: Triple) -> Triple:
    """Return a triple with the IRIs that LSBench gives to users, persons and tags."""
    subject, predicate, thing = map(_rename, triple)
    return subject, predicate, thing


def _rename(term: Term) -> Term:
    found = re.fullmatch(rf"<{social.DATA}(user|person|tag)(\d+)>", term)
    if found is None:
        return term
    kind, number = found[1], int(found[2])
    if kind == "tag":
        return f"<{SIB}tag/t{number % TAGS}>"
    return f"<{SIB}{kind}/{kind[0]}{980 + number % USERS}>"
