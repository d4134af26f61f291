"""Workloads of a sweep: a join, its streams for each seed, and how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from conformance.bench.clock.generators import (
    MINUTE,
    ViewingParameters,
    WindParameters,
    generate_viewing,
    generate_wind,
)
from refengine.core.query import from_table
from refengine.joins import BoundedQuery, Selection, bounded_query
from refengine.joins.measures import Measuring
from refengine.model.elements import Stream

PREFIX = "PREFIX : <http://example.org/>\n"
REPORTS = "FILTER(?a != ?b && ?x >= 10 && ?y >= 10)"
WIND_NEAR = {
    "body": f"{PREFIX}SELECT ?a ?b WHERE {{ ?a :reports ?x . ?b :reports ?y {REPORTS} }}",
    "windows": [{"stream": "wind", "kind": "range", "size": 200}],
}
WIND_SIGNED = {
    "body": f"{PREFIX}SELECT ?a ?b WHERE {{ GRAPH <urn:1> {{ ?a :reports ?x }} "
    f"GRAPH <urn:2> {{ ?b :reports ?y }} {REPORTS} }}",
    "windows": [
        {"stream": "wind", "kind": "unbounded", "name": "urn:1"},
        {"stream": "wind", "kind": "range", "size": 200, "name": "urn:2"},
    ],
}
# as the simulation of the paper's authors joins: equal speeds, more than 100 and less than 500 ms
# after one another
WIND_CODED = {
    "body": f"{PREFIX}SELECT ?a ?b WHERE {{ ?a :reports ?x ; :at ?s . ?b :reports ?x ; :at ?t "
    "FILTER(?a != ?b && ?x >= 10 && ?t - ?s > 100 && ?t - ?s < 500) }",
    "windows": [{"stream": "wind", "kind": "range", "size": 499}],
}
VIEWING = {
    "body": f"{PREFIX}SELECT ?u ?p WHERE {{ GRAPH <urn:log> {{ ?u :watches ?c }} "
    "GRAPH <urn:guide> { ?c :plays ?p } }",
    "windows": [
        {"stream": "log", "kind": "now", "name": "urn:log"},
        {"stream": "guide", "kind": "now", "name": "urn:guide"},
    ],
}


@dataclass(frozen=True)
class JoinWorkload:
    """A join to measure.

    `query` is what is joined, and `query_text` shows it. `streams_of` gives the streams of a seed;
    if they are the same for each seed, `is_drawn` is false. `memories` are those of the paper, if
    the workload is one of the paper's: shares of the memory that is needed, such as `60%`.
    """

    name: str
    title: str
    query: BoundedQuery
    query_text: str
    streams_of: Callable[[int], Mapping[str, Stream]]
    measuring: Measuring
    memories: tuple[str, ...] = ()
    is_drawn: bool = True


def _wind_of(seed: int) -> Mapping[str, Stream]:
    return generate_wind(WindParameters(), seed)


def _stamped_wind_of(seed: int) -> Mapping[str, Stream]:
    return generate_wind(WindParameters(rounds=48, stamped=True), seed)


def _viewing_of(seed: int) -> Mapping[str, Stream]:
    return generate_viewing(ViewingParameters(), seed)


def _viewing_of_many_channels(seed: int) -> Mapping[str, Stream]:
    lengths = (15, 20, 25, 30, 35, 45, 60, 90, 120)
    parameters = ViewingParameters(channels=200, lengths=lengths, staggered=True)
    return generate_viewing(parameters, seed)


SHARES_OF_WIND = ("60%", "40%", "20%", "10%", "5%")
SHARES_OF_VIEWING = ("50%", "25%", "15%", "1%")
WORKLOADS = {
    workload.name: workload
    for workload in (
        JoinWorkload(
            "wind",
            "Wind, T1 - T2 <= 200 ms with its sign",
            bounded_query(from_table(WIND_SIGNED), Selection.AT_THE_JOIN),
            str(WIND_SIGNED["body"]),
            _wind_of,
            Measuring(MINUTE),
            SHARES_OF_WIND,
        ),
        JoinWorkload(
            "wind-near",
            "Wind, |T1 - T2| <= 200 ms",
            bounded_query(from_table(WIND_NEAR), Selection.AT_THE_JOIN),
            str(WIND_NEAR["body"]),
            _wind_of,
            Measuring(MINUTE),
            SHARES_OF_WIND,
        ),
        JoinWorkload(
            "viewing",
            "Viewership log and programme guide",
            bounded_query(from_table(VIEWING)),
            str(VIEWING["body"]),
            _viewing_of,
            Measuring(15 * MINUTE),
            SHARES_OF_VIEWING,
        ),
        JoinWorkload(
            "wind-coded",
            "Wind, as the authors' code joins it",
            bounded_query(from_table(WIND_CODED), Selection.AT_THE_JOIN),
            str(WIND_CODED["body"]),
            _stamped_wind_of,
            Measuring(MINUTE, Fraction(0)),
            SHARES_OF_WIND,
        ),
        JoinWorkload(
            "viewing-coded",
            "Viewership log stored whole, programme guide in bounded memory, as in the code",
            bounded_query(from_table(VIEWING)),
            str(VIEWING["body"]),
            _viewing_of_many_channels,
            Measuring(15 * MINUTE),
            SHARES_OF_VIEWING,
        ),
    )
}
