"""Profiles and semantics: complete, sourced, and as published."""

from __future__ import annotations

import json
from itertools import product

import pytest

from refengine import (
    Between,
    Body,
    InvalidSemantics,
    OneOf,
    Query,
    Stream,
    UnknownField,
    Window,
    WindowKind,
    plan,
    profile,
)
from refengine.core.engine import evaluations
from refengine.core.profiles import PROFILES
from refengine.core.semantics import FIELDS, Condition, Semantics, parse_field, show
from refengine.core.window import origin
from refengine.model.elements import Element

ANY = Body("SELECT * { ?s ?p ?o }")
ENGINES = {
    "Coral8": "coral8",
    "StreamBase": "streambase",
    "OracleCEP": "oracle-cep",
    "STREAM": "stream",
    "Flink": "flink",
    "Dataflow": "dataflow",
    "Storm": "storm",
    "KafkaStreams": "kafka-streams",
    "Spark16": "spark-1.6",
}


@pytest.mark.needs_shared
def test_the_secret_profiles_give_the_published_experiments(secret_vectors):
    """Each engine's profile alone (its t0 formula, report and tick) gives the reported contents of
    all 70.
    """
    seen = 0
    for line in (secret_vectors / "experiments.jsonl").read_text().splitlines():
        table = json.loads(line)
        name = ENGINES[table["engine"]]
        if table["window"] == "tuple" and f"{name}-tuple" in PROFILES:
            name = f"{name}-tuple"
        semantics = profile(name).semantics()
        spec = Window("s", WindowKind(table["window"]), table["size"], table["slide"])
        elements = tuple(
            Element(frozenset(), app, sys, batch) for sys, _, app, batch in table["stream"]
        )
        assert origin(spec, semantics, elements[0].app) == table["t0"], line
        assert semantics.report == set(table["report"]) and semantics.tick == table["tick"], line
        contents = [
            [table["stream"][i][1] for i in at.content]
            for at in evaluations(plan(Query((spec,), ANY), {"s": Stream(elements)}, semantics))
        ]
        assert contents == table["contents"], line
        seen += 1
    assert seen == 70


OPEN = {
    "csparql": "t0",
    "cqels": "t0",
    "sparqlstream": "t0",
    "csparql-observed": "closure",
    "yasper": "r2s base",
    "etalis": "closure consumption",
}


def test_every_profile_has_a_source_and_opens_what_its_source_leaves_open():
    for name, found in PROFILES.items():
        assert name == found.name and found.source
        assert set(found.fields) == set(FIELDS)
        assert found.unknown == tuple(OPEN.get(name, "").split())


def test_fields_read_back_from_their_text():
    for found in PROFILES.values():
        for name in FIELDS:
            given = found.fields[name]
            for value in (
                given.values if isinstance(given, OneOf) else [] if given == "unknown" else [given]
            ):
                assert parse_field(name, show(value)) == value


def test_the_15_conjunctions_are_values():
    reports = {
        frozenset(c for c, on in zip(Condition, bits, strict=True) if on)
        for bits in product((0, 1), repeat=4)
    }
    for report in reports - {frozenset()}:
        periodic = {"period": 2, "anchor": 0} if Condition.PERIODIC in report else {}
        assert profile("csparql").but(t0=0, report=report, **periodic).semantics().report == report
    with pytest.raises(InvalidSemantics, match="SEM-1: report must name at least one"):
        profile("csparql").but(report=[])


def test_open_fields_are_quantified():
    open_profile = profile("csparql").but(
        t0=Between(0, 1), closure="unknown", horizon=OneOf(("none", 50))
    )
    assert open_profile.unknown == ("t0", "closure", "horizon")
    with pytest.raises(UnknownField, match="leaves t0, closure, horizon unknown"):
        open_profile.semantics()
    found = [Semantics(**fields) for fields in open_profile.assignments((0, 1))]
    assert len(found) == len(set(found)) == 2 * 4 * 2
    with pytest.raises(UnknownField, match="horizon is open without bounds"):
        list(profile("csparql").but(horizon="unknown").assignments((0,)))


def test_semantics_have_no_defaults():
    with pytest.raises(TypeError):
        Semantics(t0=0)
