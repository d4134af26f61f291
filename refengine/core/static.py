"""§3 Static data by its IRI: what FROM and FROM NAMED of a body add to the dataset (QRY-2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from refengine.core.query import ABSOLUTE, Body, Query, refuse_no_query
from refengine.core.r2r import scope_blank_nodes
from refengine.model.elements import Dataset, Quad, Statements, Triple, canonical_dataset
from refengine.model.errors import ForbiddenAccess, InvalidStream
from refengine.model.held import IRIS, kind_of, text_of
from refengine.model.messages import display, nearest
from refengine.sparql.grammar import place_in_body

# data for every query, or by the IRIs of their graphs
Static = Statements | Mapping[Any, Statements]


def resolve_static(
    query: Query, static: Static, always: Dataset = frozenset()
) -> tuple[Query, Dataset]:
    """QRY-2: Return a query without its clauses FROM and FROM NAMED, and the static data that it is
    asked beside.

    `static` has data by the IRIs of their graphs, of which the clauses name some. `always` is data
    that no clause needs to name. Where `static` is no mapping, it is such data too, and the query
    is returned as it is.

    Raises ForbiddenAccess for a clause whose IRI is not given, and InvalidStream for data of an IRI
    that have other named graphs, and for what is no term (MOD-4).
    """
    refuse_no_query(query)
    if not isinstance(static, Mapping):
        return query, canonical_dataset(static) | always
    static = {text_of(iri) if kind_of(iri) in IRIS else iri: data for iri, data in static.items()}
    for iri in static:
        check_iri(iri)
    refuse_unknown_graphs(query.body, static)
    if not query.body.graphs:
        return query, always
    named = sorted({clause.graph for clause in query.body.graphs})
    graphs = {
        iri: scope_blank_nodes(graph_of_static_data(iri, static[iri]), str(number))
        for number, iri in enumerate(named, 1)
    }
    found: set[Triple | Quad] = set(scope_blank_nodes(canonical_dataset(always), "0"))
    for clause in query.body.graphs:
        if clause.is_named:
            found |= {(*triple, f"<{clause.graph}>") for triple in graphs[clause.graph]}
        else:
            found |= graphs[clause.graph]
    return replace(query, body=without_graphs(query.body)), frozenset(found)


def names_of_graphs(data: Dataset) -> frozenset[str]:
    """Return the IRIs of the named graphs of static data."""
    return frozenset(statement[3][1:-1] for statement in data if len(statement) == 4)


def check_iri(iri: str) -> None:
    """Check that static data is given by an absolute IRI. Raises InvalidStream."""
    if not isinstance(iri, str) or not re.fullmatch(ABSOLUTE, iri):
        reason = f"static data is given by an absolute IRI, such as urn:g, got {display(iri)}"
        raise InvalidStream(reason, rule="QRY-2", place="static data")


def refuse_unknown_graphs(body: Body, given: Collection[str] = ()) -> None:
    """QRY-2: Refuse FROM and FROM NAMED of an IRI for which no data is given. Raises
    ForbiddenAccess, which names the option that gives it.
    """
    for clause in body.graphs:
        if clause.graph not in given:
            reason = (
                f"{clause} would reach the network or the disk; give the data by --static "
                f"{clause.graph}=FILE, or in Python by static={{{clause.graph!r}: …}}"
            )
            if given:
                reason += nearest(clause.graph, given)
            place = place_in_body(body.text, clause.start)
            raise ForbiddenAccess(reason, rule="QRY-2", place=place)


def graph_of_static_data(iri: str, data: Statements) -> frozenset[Triple]:
    """QRY-2: Return the graph of an IRI: the default graph of its data, and their named graph of
    the same IRI. Raises InvalidStream for data with another named graph.
    """
    triples: set[Triple] = set()
    for statement in sorted(canonical_dataset(data)):
        if len(statement) == 4 and statement[3] != f"<{iri}>":
            reason = (
                f"the data has another named graph, {statement[3]}, which FROM <{iri}> does not "
                "name; give each graph a file of its own, or the file without an IRI"
            )
            raise InvalidStream(reason, rule="QRY-2", place=f"static data <{iri}>")
        triples.add((statement[0], statement[1], statement[2]))
    return frozenset(triples)


def without_graphs(body: Body) -> Body:
    """Return a body without its clauses FROM and FROM NAMED. Blanks stand in their place, so that
    each place in the text stays what it was.
    """
    text = body.text
    for clause in body.graphs:
        blanks = re.sub(r"\S", " ", text[clause.start : clause.end])
        text = text[: clause.start] + blanks + text[clause.end :]
    return Body(text)
