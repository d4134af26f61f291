"""The workload `constructs`: a query for each construct of SPARQL that benchmarks of streams ask
for, over a stream of triples that all match one of its patterns.

The number of subjects, of values to compare and of chains grows with the window. So an element has
about as many partners in a join whatever the window's size is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from refengine import literal
from refengine.core.question import Setting
from refengine.model.elements import XSD, Dataset, Triple
from tools.bench.generated import (
    Arrival,
    TimeWindow,
    WorkloadQuery,
    decimal,
    integer,
    make_setting,
    with_times,
)

SEED = 1
KINDS = ("p", "q", "r", "whole", "decimal", "next", "date", "name")  # predicates of streams
OF_A_SUBJECT = 2  # triples of a subject and predicate in a window
CHAIN = 6  # nodes of a chain of `next`
AREAS = 64
NAMED_GRAPHS = 4


class Construct(NamedTuple):
    """A body, and its windows: each a stream, the window's name (None: the default graph) and by
    what the size of all windows is divided.
    """

    body: str
    windows: tuple[tuple[str, str | None, int], ...] = (("s", None, 1),)


NAMED = (("s", "urn:w", 1),)
TWO_NAMED = (("s", "urn:w", 1), ("s", "urn:v", 2))
TWO_STREAMS = (("s", None, 1), ("r", None, 1))

CONSTRUCTS: Mapping[str, Construct] = {
    "named window": Construct("SELECT * { GRAPH :w { ?x :p ?v } }", NAMED),
    "GRAPH ?w": Construct("SELECT * { GRAPH ?w { ?x :p ?v . ?x :q ?u } }", TWO_NAMED),
    "two windows": Construct("SELECT * { GRAPH :w { ?x :p ?v } GRAPH :v { ?x :q ?u } }", TWO_NAMED),
    "two streams": Construct("SELECT * { ?x :p ?v . ?x :q ?u }", TWO_STREAMS),
    "static default graph": Construct("SELECT * { ?x :p ?v . ?x :in ?area }"),
    "static named graphs": Construct("SELECT * { ?x :p ?v GRAPH ?g { ?x :label ?name } }"),
    "BIND": Construct("SELECT * { ?x :p ?v BIND(?v * 2 + 1 AS ?w) }"),
    "expressions in SELECT": Construct(
        "SELECT (STRAFTER(STR(?x), 'urn:') AS ?name) (?v / 3 AS ?third) { ?x :p ?v }"
    ),
    "VALUES": Construct("SELECT * { ?x :p ?v VALUES ?v { 1 2 3 5 8 13 } }"),
    "EXISTS": Construct("SELECT * { ?x :p ?v FILTER EXISTS { ?x :q ?u FILTER(?u > ?v) } }"),
    "NOT EXISTS": Construct("SELECT * { ?x :p ?v FILTER NOT EXISTS { ?x :q ?u } }"),
    "MINUS": Construct("SELECT * { ?x :p ?v MINUS { ?x :q ?u } }"),
    "OPTIONAL": Construct("SELECT * { ?x :p ?v OPTIONAL { ?x :q ?u FILTER(?u > ?v) } }"),
    "joins of unbound variables": Construct(
        "SELECT * { { ?x :p ?v OPTIONAL { ?x :q ?y } } { ?x :r ?u OPTIONAL { ?x :q ?y } } }"
    ),
    "subselect with aggregate": Construct(
        "SELECT * { ?x :p ?v { SELECT ?x (AVG(?u) AS ?mean) { ?x :q ?u } GROUP BY ?x } "
        "FILTER(?v > ?mean) }"
    ),
    "CONSTRUCT": Construct(
        "CONSTRUCT { ?x :low ?v . ?x :high ?u } { ?x :p ?v . ?x :q ?u FILTER(?v < ?u) }"
    ),
    "ASK": Construct("ASK { ?x :p ?v . ?x :q ?u FILTER(?v + ?u > 37) }"),
    "path over static data": Construct("SELECT * { ?x :p ?v . ?x :in/:part_of* ?area }"),
    "path over a window": Construct("SELECT * { ?x :next+ ?y }"),
    "ORDER BY with LIMIT": Construct("SELECT * { ?x :p ?v } ORDER BY DESC(?v) ?x LIMIT 10"),
    "IF": Construct(
        "SELECT ?x (IF(?v > 14, 'high', IF(?v > 7, 'middle', 'low')) AS ?l) { ?x :p ?v }"
    ),
    "COALESCE": Construct(
        "SELECT ?x (COALESCE(?u, ?v) AS ?c) { ?x :p ?v OPTIONAL { ?x :q ?u FILTER(?u > ?v) } }"
    ),
    "IN": Construct("SELECT * { ?x :p ?v FILTER(?v IN (1, 2, 3, 5, 8, 13)) }"),
    "string functions": Construct(
        "SELECT ?x (UCASE(SUBSTR(?n, 1, 6)) AS ?u) { ?x :name ?n "
        "FILTER(CONTAINS(?n, '7') || REGEX(?n, '3$')) }"
    ),
    "number functions": Construct(
        "SELECT ?x (FLOOR(?v / 4) AS ?w) { ?x :p ?v FILTER(ABS(?v - 10) < 5) }"
    ),
    "date functions": Construct(
        "SELECT ?x (HOURS(?d) AS ?h) { ?x :date ?d FILTER(MINUTES(?d) >= 30) }"
    ),
    "equality in FILTER": Construct("SELECT * { ?a :whole ?x . ?b :decimal ?y FILTER(?x = ?y) }"),
    "MIN and MAX of strings": Construct(
        "SELECT (MIN(?n) AS ?first) (MAX(?n) AS ?last) { ?x :name ?n }"
    ),
    "MIN and MAX by subject": Construct(
        "SELECT ?x (MIN(?n) AS ?first) (MAX(?n) AS ?last) { ?x :name ?n } GROUP BY ?x"
    ),
}


def setting(query: str, elements: int, window: int) -> Setting:
    """Return a construct's query over so many elements, one a millisecond, with windows of so many
    milliseconds.
    """
    body, extents = CONSTRUCTS[query]
    windows = tuple(
        TimeWindow(stream, max(1, window // divisor), name) for stream, name, divisor in extents
    )
    asked = WorkloadQuery("PREFIX : <urn:>\n" + body, windows)
    streams = list(dict.fromkeys(stream for stream, _, _ in extents))
    content = WindowContent(kinds_of(body), window)
    arrivals = with_times(streams, content.draw_arrivals(streams), elements)
    return make_setting(asked, arrivals, static_data(content.subjects))


def kinds_of(body: str) -> list[str]:
    """Return the predicates of the stream that a body asks for."""
    return [kind for kind in KINDS if re.search(rf":{kind}\b", body)]


class WindowContent:
    """What a stream brings, for windows of `size` elements: triples with predicates of `kinds`."""

    def __init__(self, kinds: Sequence[str], size: int) -> None:
        self.kinds = kinds
        self.size = size
        of_a_kind = size // len(kinds)
        self.subjects = max(1, of_a_kind // OF_A_SUBJECT)
        self.chains = max(1, of_a_kind // CHAIN)
        self.values = max(1, size // 2)

    def draw_arrivals(self, streams: Sequence[str]) -> Iterator[Sequence[Arrival]]:
        """Yield the triples that arrive, without end."""
        random = Random(SEED)
        number = 0
        while True:
            yield [(random.choice(streams), self.draw_triple(random, number))]
            number += 1

    def draw_triple(self, random: Random, number: int) -> Triple:
        """Return the triple that arrives after so many others."""
        kind = random.choice(self.kinds)
        subject = f"<urn:s{random.randrange(self.subjects)}>"
        predicate = f"<urn:{kind}>"
        match kind:
            case "whole":
                return f"<urn:e{number}>", predicate, integer(random.randrange(self.values))
            case "decimal":
                return f"<urn:e{number}>", predicate, decimal(10 * random.randrange(self.values))
            case "next":
                chain = random.randrange(self.chains)
                node = random.randrange(CHAIN - 1)
                return f"<urn:n{chain}.{node}>", predicate, f"<urn:n{chain}.{node + 1}>"
            case "date":
                minutes = random.randrange(24 * 60)
                time = f"{minutes // 60:02}:{minutes % 60:02}:00"
                return subject, predicate, literal(f"2026-01-01T{time}Z", XSD + "dateTime")
            case "name":
                return subject, predicate, literal(f"name {random.randrange(self.values)}")
            case _:
                return subject, predicate, integer(random.randrange(20))


def static_data(subjects: int) -> Dataset:
    """Return the static data: each subject is in an area, areas are parts of areas, and subjects
    have labels in named graphs.
    """
    parts = {
        (f"<urn:area{area}>", "<urn:part_of>", f"<urn:area{area // 2}>") for area in range(1, AREAS)
    }
    areas = {
        (f"<urn:s{subject}>", "<urn:in>", f"<urn:area{subject % AREAS}>")
        for subject in range(subjects)
    }
    labels = {
        (
            f"<urn:s{subject}>",
            "<urn:label>",
            literal(f"label {subject}"),
            f"<urn:g{subject % NAMED_GRAPHS}>",
        )
        for subject in range(subjects)
    }
    return frozenset(parts | areas | labels)
