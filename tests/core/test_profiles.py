"""Profiles and semantics: complete, sourced, and as published."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from refusals import refusal

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
from refengine.core.semantics import FIELDS, Semantics, described_values, parse_field, show
from refengine.core.values import Condition, MissedInstants
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


def test_a_semantics_reads_as_its_fields():
    """SEM-1: in the order of SPEC.md's table, each as it is written in a profile."""
    semantics = profile("csparql").but(t0=-3, period=5, anchor=0, report="periodic").semantics()
    assert str(semantics) == (
        "t0=-3 offset=none closure=[) slide=stated partial=suppressed exact_gap=parts "
        "expired_session=gone session_border=gap report=periodic "
        "close_rule=reached period=5 anchor=0 change_baseline=last-report change_scope=elements "
        "expiry_seen=replayed missed_instants=all tick=tuple trigger=any "
        "reported_windows=active early_count=none early_period=none panes=accumulating "
        "collection=bag consumption=unrestricted "
        "r2s=Rstream base=none empty=emit horizon=flush instant=close allowed_lateness=reject "
        "late_for=stream watermark=none watermark_delay=none expiry_rule=none clock=stream"
    )
    again = profile("csparql").but(**dict(word.split("=") for word in str(semantics).split()))
    assert again.semantics() == semantics


def test_a_range_opens_any_integer_and_an_open_t0_takes_what_it_is_given():
    """SEM-3: both ends of a range are values; t0's values are the oracle's (ORA-2)."""
    opened = profile("csparql").but(t0=Between(-9, 9), period=Between(3, 5), anchor=OneOf((0, 2)))
    assert opened.choices("period", ()) == (3, 4, 5)
    assert opened.choices("anchor", ()) == (0, 2)
    assert opened.choices("t0", (-1, 4)) == (-1, 4)
    assert opened.choices("missed_instants", ()) == profile("csparql").choices(
        "missed_instants", ()
    )
    assert profile("csparql").but(t0=7).choices("t0", (-1, 4)) == (7,)


def test_what_has_no_bounds_cannot_be_quantified():
    """SEM-3: the reason names the field and how to close it."""
    with pytest.raises(UnknownField, match=r"SEM-3: period is open without bounds.*give period=…"):
        profile("csparql").but(period="unknown").choices("period", ())


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        (
            "missed_instants",
            "al",
            f"must be one of {', '.join(MissedInstants)}, got 'al'; did you mean 'all'",
        ),
        ("period", "x", "period must be an integer or none, got 'x'"),
        ("t0", 2**63, "t0 must be within 64 bits"),
        ("horizon", "never", "horizon must be an integer or one of "),
        ("nothing", 1, "unknown key 'nothing'"),
    ],
)
def test_a_wrong_value_is_refused_with_those_that_are_right(field, value, reason):
    message = refusal(lambda: profile("csparql").but(**{field: value}), InvalidSemantics)
    assert message.startswith("SEM-1: ") and reason in message


@pytest.mark.parametrize("horizon", [-(2**63) - 1, 2**63])
def test_an_integer_beyond_64_bits_is_refused_however_the_semantics_is_made(horizon: int):
    """But a t0 may be so: by a policy it is a window's size before the first element."""
    semantics = profile("csparql").but(t0=0).semantics()
    with pytest.raises(InvalidSemantics, match="horizon must be within 64 bits"):
        replace(semantics, horizon=horizon)
    within = horizon + 1 if horizon < 0 else horizon - 1
    assert replace(semantics, horizon=within).horizon == within
    assert replace(semantics, t0=horizon).t0 == horizon


def test_values_are_described_in_words():
    assert described_values("period", ["none"]) == "an integer or none"
    assert described_values("closure", ["[)", "(]"]) == "one of [), (]"
    assert described_values("horizon", ["a", "b"]) == "an integer or one of a, b"
