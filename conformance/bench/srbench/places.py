"""The static data of SRBench: where the stations are, in the shapes of LinkedSensorMetadata,
GeoNames and DBpedia.

Two stations are near the same place. Places are cities, each in a county, in a state, in a country;
some have an airport, a shore or a heritage site. All of it is ours, but for the names of states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random

from conformance.bench.srbench.observations import (
    OM_OWL,
    SSW,
    TYPE,
    WEATHER,
    XSD,
    climate_of,
    name_of_station,
    write_tenths,
)
from refengine.model.elements import Dataset, Term, Triple, literal

WGS84 = "http://www.w3.org/2003/01/geo/wgs84_pos#"
GN = "http://www.geonames.org/ontology#"
FEATURE = "http://sws.geonames.org/"
OWL = "http://www.w3.org/2002/07/owl#"
DBO = "http://dbpedia.org/ontology/"
DBR = "http://dbpedia.org/resource/"

STATIONS_OF_A_PLACE = 2
PLACES_OF_A_COUNTY = 2
STATES = ("Georgia", "Alabama", "Florida")  # of places, in turn
PLACES_PER_AIRPORT = 2  # every second place has an airport, from the second on
PLACES_PER_SITE = 3  # every third place has a heritage site, from the first on
COASTAL = "Florida"  # its places have shores
# where the station is that Q8 and Q9 ask for: altitude (feet), latitude and longitude
FIRST_POSITION = ("6300", "32.892", "-116.4199")
HURRICANES = (75, 120, 150)  # their greatest winds, in miles an hour
LARGE, SMALL = (20_000, 2_000_000), (500, 15_000)  # inhabitants of a city, in turn


def place_of(station: int) -> int:
    """Return the number of the place near which a station is."""
    return station // STATIONS_OF_A_PLACE


def places_of(stations: int) -> range:
    """Return the numbers of the places of so many stations."""
    return range(place_of(stations - 1) + 1)


def state_of(place: int) -> str:
    """Return the name of the state of a place."""
    return STATES[place % len(STATES)]


def describe_sensors(seed: int, stations: int) -> Iterator[Triple]:
    """Yield what LinkedSensorMetadata says of each station: what it measures, its position, and
    near which place it is.
    """
    random = Random(f"{seed} sensors")
    for station in range(stations):
        name = name_of_station(station)
        sensor, point, near = (
            f"<{SSW}{kind}{name}>" for kind in ("System_", "point_", "LocatedNearRel")
        )
        altitude, latitude, longitude = _position(random)
        if station == 0:
            altitude, latitude, longitude = FIRST_POSITION
        distance = write_tenths(random.randrange(1, 100))
        yield sensor, f"<{TYPE}>", f"<{OM_OWL}System>"
        yield sensor, f"<{OM_OWL}ID>", literal(name)
        yield sensor, f"<{OM_OWL}processLocation>", point
        yield sensor, f"<{OM_OWL}hasLocatedNearRel>", near
        for phenomenon in climate_of(station):
            observed = f"<{WEATHER}{phenomenon.observed_property}>"
            yield sensor, f"<{OM_OWL}parameter>", observed
        yield point, f"<{TYPE}>", f"<{WGS84}Point>"
        yield point, f"<{WGS84}alt>", literal(altitude, XSD + "float")
        yield point, f"<{WGS84}lat>", literal(latitude, XSD + "float")
        yield point, f"<{WGS84}long>", literal(longitude, XSD + "float")
        yield near, f"<{TYPE}>", f"<{OM_OWL}LocatedNearRel>"
        yield near, f"<{OM_OWL}hasLocation>", city(place_of(station))
        yield near, f"<{OM_OWL}distance>", literal(distance, XSD + "float")
        yield near, f"<{OM_OWL}uom>", f"<{WEATHER}miles>"


def _position(random: Random) -> tuple[str, str, str]:
    """Draw a position: its altitude in feet, its latitude and its longitude."""
    latitude, longitude = random.randrange(2_500, 4_900), random.randrange(6_700, 12_500)
    return (
        str(random.randrange(9_000)),
        f"{latitude // 100}.{latitude % 100:02}",
        f"-{longitude // 100}.{longitude % 100:02}",
    )


def city(place: int) -> Term:
    """Return GeoNames' IRI of the city of a place."""
    return f"<{FEATURE}{5_000_000 + place}/>"


def resource_of_city(place: int) -> Term:
    """Return DBpedia's IRI of the city of a place."""
    return f"<{DBR}City_{place}>"


def population_of(seed: int, place: int) -> int:
    """Return the number of inhabitants of a city. Large and small cities take turns."""
    least, most = (LARGE, SMALL)[place % 2]
    return Random(f"{seed} population {place}").randrange(least, most)


def describe_places(seed: int, stations: int) -> Iterator[Triple]:
    """Yield what GeoNames says: cities with their inhabitants, and the counties, states and the
    country around them; airports and shores.
    """
    country, states = f"<{FEATURE}6252001/>", {}
    yield from _feature(country, "A.PCLI", "United States")
    for number, name in enumerate(STATES):
        states[name] = f"<{FEATURE}{4_000_000 + number}/>"
        yield from _feature(states[name], "A.ADM1", name, country)
    for place in places_of(stations):
        state = state_of(place)
        # the places of a county are of the same state
        county_number = place // (len(STATES) * PLACES_OF_A_COUNTY) * len(STATES)
        county_number += place % len(STATES)
        county = f"<{FEATURE}{4_500_000 + county_number}/>"
        yield from _feature(county, "A.ADM2", f"County {county_number}", states[state])
        yield from _feature(city(place), "P.PPL", f"City {place}", county)
        inhabitants = literal(str(population_of(seed, place)), XSD + "integer")
        yield city(place), f"<{GN}population>", inhabitants
        if place % PLACES_PER_AIRPORT == 1:
            airport = f"<{FEATURE}{6_300_000 + place}/>"
            yield from _feature(airport, "S.AIRP", f"Airport {place}", city(place))
        if state == COASTAL:
            shore = f"<{FEATURE}{7_000_000 + place}/>"
            yield from _feature(shore, "T.SHOR", f"Shore {place}", city(place))


def _feature(feature: Term, code: str, name: str, parent: Term | None = None) -> Iterator[Triple]:
    """Yield what GeoNames says of every feature: its code, its name, and what it is a part of."""
    yield feature, f"<{TYPE}>", f"<{GN}Feature>"
    yield feature, f"<{GN}featureCode>", f"<{GN}{code}>"
    yield feature, f"<{GN}name>", literal(name)
    if parent is not None:
        yield feature, f"<{GN}parentFeature>", parent


def describe_resources(seed: int, stations: int) -> Iterator[Triple]:
    """Yield what DBpedia says: which of its resources are the cities, how many people live there,
    heritage sites, and hurricanes with their greatest winds.
    """
    for number, speed in enumerate(HURRICANES):
        hurricane = f"<{DBR}Hurricane_{number}>"
        yield hurricane, f"<{TYPE}>", f"<{DBO}Hurricane>"
        yield hurricane, f"<{DBO}maximumWindSpeed>", literal(str(speed), XSD + "integer")
    for place in places_of(stations):
        resource = resource_of_city(place)
        inhabitants = literal(str(population_of(seed, place)), XSD + "integer")
        yield city(place), f"<{OWL}sameAs>", resource
        yield resource, f"<{DBO}populationTotal>", inhabitants
        if place % PLACES_PER_SITE == 0:
            site = f"<{DBR}Site_{place}>"
            yield site, f"<{TYPE}>", f"<{DBO}WorldHeritageSite>"
            yield site, f"<{DBO}location>", resource


GRAPHS: dict[str, Callable[[int, int], Iterable[Triple]]] = {
    "sensors": describe_sensors,
    "geonames": describe_places,
    "dbpedia": describe_resources,
}


def static_data(names: Iterable[str], seed: int, stations: int) -> Dataset:
    """Return the triples of static graphs, by their names in `GRAPHS`, for so many stations."""
    return frozenset(triple for name in names for triple in GRAPHS[name](seed, stations))
