"""The shapes of CityBench's data: what its streams say of an observation, and what its static data
say of sensors and of events.
"""

from __future__ import annotations

from refengine.model.elements import XSD, Term, Triple, literal

RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SSN = "http://purl.oclc.org/NET/ssnx/ssn#"
SAO = "http://purl.oclc.org/NET/sao/"
CITY = "http://www.insight-centre.org/citytraffic#"
SERVICES = "http://www.insight-centre.org/dataset/SampleEventService#"

SENSOR_GRAPH, CULTURE_GRAPH, LIBRARY_GRAPH = "sensors", "culturalevents", "libraryevents"


def service(name: str) -> Term:
    """Return the sensor of a name, such as AarhusTrafficData158505. It is its stream's IRI, too."""
    return f"<{SERVICES}{name}>"


def double(number: float) -> Term:
    """Return an xsd:double."""
    return literal(repr(float(number)), XSD + "double")


def write_observation(
    observation: Term, sensor: Term, observed_property: Term, value: Term
) -> list[Triple]:
    """Return what a stream says of an observation."""
    return [
        (observation, RDF_TYPE, f"<{SSN}Observation>"),
        (observation, f"<{SSN}observedBy>", sensor),
        (observation, f"<{SSN}observedProperty>", observed_property),
        (observation, f"<{SAO}hasValue>", value),
    ]


def write_position(
    place: Term, latitude: Term, longitude: Term, prefix: str = "has"
) -> list[Triple]:
    """Return the latitude and the longitude of a place. Of a sensor's feature it is where the
    feature starts: then `prefix` is `hasStart`.
    """
    return [
        (place, f"<{CITY}{prefix}Latitude>", latitude),
        (place, f"<{CITY}{prefix}Longitude>", longitude),
    ]


def describe_property(observed_property: Term, kind: str, feature: Term) -> list[Triple]:
    """Return what is said of a property that a sensor observes: its class, such as
    CongestionLevel, and of what it is a property.
    """
    return [
        (observed_property, RDF_TYPE, f"<{CITY}{kind}>"),
        (observed_property, f"<{SSN}isPropertyOf>", feature),
    ]


def describe_event(event: Term, feature: Term, node: Term, title: str) -> list[Triple]:
    """Return what is said of an event in the city: its title, and its place, which is a node."""
    return [
        (event, RDF_TYPE, f"<{SAO}Point>"),
        (event, RDF_TYPE, f"<{SSN}Observation>"),
        (event, f"<{SSN}featureOfInterest>", feature),
        (event, f"<{SAO}value>", literal(title)),
        (feature, f"<{CITY}hasFirstNode>", node),
    ]
