"""Quads with their time (IO-1), which lines of JSON and rows of tables give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from refengine.model.elements import Stream, Term, Triple, is_blank
from refengine.model.errors import InvalidStream, require
from refengine.model.messages import display, nearest
from refengine.model.terms import canonical, graph_name
from refengine.rdf.forms.dating import Times
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.forms.reading import Reading
from refengine.rdf.recordings import parse_term
from refengine.rdf.terms import Fault, make, make_triple
from refengine.rdf.times import Zones, parse_time

REQUIRED = ("subject", "predicate", "object", "time")
OPTIONAL = ("graph", "end", "batch")
REQUIRED_OF_A_ROW = REQUIRED[:3]  # one without a time is set aside


@dataclass(frozen=True)
class TimedQuad:
    """A triple with its graph (None: the default graph), its times (None: it has none), and the
    place to name in an error.
    """

    triple: Triple
    graph: Term | None
    times: Times | None
    place: str


def check_quad_keys(keys: Iterable[Any], where: str, required: Iterable[str] = REQUIRED) -> None:
    """Check that keys are those of a quad. Raises Fault, which calls a key `where`, for one that is
    unknown, and for a required one that is missing.
    """
    found = list(keys)
    for key in found:
        if key not in REQUIRED + OPTIONAL:
            raise Fault(f"unknown {where} {display(key)}{nearest(key, REQUIRED + OPTIONAL)}")
    for key in required:
        if key not in found:
            raise Fault(_missing(key, where))


def _missing(key: str, where: str) -> str:
    return f"{where} {key!r} is missing; a quad has {', '.join(REQUIRED)}"


def parse_quad(
    values: Mapping[str, Any], labels: dict[str, Term], place: str, zones: Zones
) -> TimedQuad:
    """Return the quad of values by their keys. A term is a text in N-Triples' syntax or an object
    of SPARQL JSON; `labels` are the blank nodes seen so far. Raises Fault.
    """
    graph = None
    if values.get("graph") is not None:
        graph = make(graph_name, _parse_term("graph", values["graph"], labels))
    triple = make_triple(*(_parse_term(key, values[key], labels) for key in REQUIRED[:3]))
    app, batch, end = (_parse_number(key, values, zones) for key in ("time", "batch", "end"))
    return TimedQuad(triple, graph, None if app is None else (app, batch, end), place)


def _parse_term(key: str, value: Any, labels: dict[str, Term]) -> Term:
    if not isinstance(value, str):
        try:
            return parse_term(value, key, labels)
        except InvalidStream as error:
            raise Fault(f"{error.place}: {error.reason}") from None
    try:
        term = make(canonical, value)
    except Fault as fault:
        raise Fault(f"{key}: {fault}") from None
    if is_blank(term):
        return labels.setdefault(term[2:], f"_:b{len(labels) + 1}")
    return term


def _parse_number(key: str, values: Mapping[str, Any], zones: Zones) -> int | None:
    value = values.get(key)
    if value is None:
        return None
    try:
        return parse_time(value, zones)
    except Fault as fault:
        raise Fault(f"{key}: {fault}") from None


def build_stream_of_quads(reading: Reading, quads: Iterable[TimedQuad], where: str) -> Stream:
    """IO-3: Return the stream of quads in their order: a quad without a graph is an element, and so
    are all quads of one graph together, at the place of the first. Raises InvalidStream for a graph
    with two times, and for a quad without a time, whose key it calls `where`, unless those are set
    aside.
    """
    elements: list[tuple[TimedQuad, set[Triple]]] = []
    graphs: dict[Term, tuple[TimedQuad, set[Triple]]] = {}
    for quad in quads:
        if quad.times is None:
            statement = quad.triple if quad.graph is None else (*quad.triple, quad.graph)
            reading.set_aside([statement], _missing("time", where), quad.place)
            continue
        if quad.graph is None or quad.graph not in graphs:
            elements.append((quad, {quad.triple}))
            if quad.graph is not None:
                graphs[quad.graph] = elements[-1]
            continue

        first, triples = graphs[quad.graph]
        if quad.times != first.times:
            reason = (
                f"graph {quad.graph} has another time, end or batch before, at {first.place}; "
                "all quads of one graph are one element"
            )
            raise InvalidStream(reason, rule="IO-1", place=quad.place)
        triples.add(quad.triple)

    return build_stream(
        ReadElement(frozenset(triples), app, first.place, batch, end)
        for first, triples in elements
        for app, batch, end in [require(first.times)]
    )
