"""Incremental evaluation gives the reports of the definition: on all that is drawn, and on what was
once found to differ.
"""

from __future__ import annotations

import pytest
from conftest import draws
from hypothesis import given, settings
from incremental_trials import (
    N,
    P,
    agree,
    asked,
    chosen,
    collect,
    covered,
    double,
    trials,
)

from refengine import (
    incremental,
    literal,
    profile,
    stream,
)
from refengine.core import engine
from refengine.model.elements import XSD
from refengine.oracle import judge
from refengine.strategies import bodies


@settings(max_examples=draws(400))
@given(trials(covered()))
def test_incremental_is_the_definition(trial):
    agree(*trial)


@settings(max_examples=draws(120))
@given(trials(bodies(names=(), graph_variable=False)))
def test_incremental_is_the_definition_for_every_body(trial):
    agree(*trial)


# What was found to differ


ISTREAM = {"r2s": "Istream", "base": "previous"}
UNBOUNDED = {"report": "content-change", "closure": "none", **ISTREAM}
FOUND = {
    "BIND beside FILTER": (
        "SELECT ?x ?z {?x <urn:p> ?y BIND(?y AS ?z) FILTER(?x != ?y)}",
        [(("<urn:a>", P, "<urn:b>"), 1)],
        {},
        {},
    ),
    "a sum beyond all doubles": (
        "SELECT ?k {?k <urn:p> ?x . ?x <urn:n> ?v} GROUP BY ?k HAVING(SUM(?v) > 0e0)",
        [
            ([("<urn:A>", P, f"<urn:{i}>"), (f"<urn:{i}>", N, double(text))], 1)
            for i, text in enumerate(("1e308", "1.5e308"))
        ],
        {},
        {},
    ),
    "a double near two others": (
        "SELECT ?v {?x <urn:n> ?v}",
        [
            ((f"<urn:{i}>", N, term), at)
            for i, (term, at) in enumerate(
                (
                    (double("7.0"), 1),
                    (double("7.0000000035"), 1),
                    (double("7.0"), 3),
                    (double("6.9999999965"), 3),
                )
            )
        ],
        {},
        ISTREAM,
    ),
    "which of two near doubles is new": (
        "SELECT ?v {?x <urn:n> ?v}",
        [
            ((f"<urn:{i}>", N, double(text)), at)
            for i, (text, at) in enumerate((("1.0000000009", 1), ("1.0000000018", 1), ("1.0", 2)))
        ],
        {"kind": "unbounded"},
        UNBOUNDED,
    ),
    "which of two small decimals is new": (
        "SELECT ?v {?x <urn:n> ?v}",
        [
            ((f"<urn:{i}>", N, literal(text, XSD + "decimal")), at)
            for i, (text, at) in enumerate(
                (("0.0000000000000000009", 1), ("0.0000000000000000018", 1), ("0.0", 2))
            )
        ],
        {"kind": "unbounded"},
        UNBOUNDED,
    ),
    "an integer beyond all doubles": (
        "SELECT ?v {?x <urn:n> ?v}",
        [
            ((f"<urn:{i}>", N, term), 1)
            for i, term in enumerate(
                (
                    literal("1" + "0" * 400, XSD + "integer"),
                    double("1e0"),
                    literal("2" + "0" * 400, XSD + "integer"),
                )
            )
        ],
        {},
        ISTREAM,
    ),
    "sums that rounding tells apart": (
        "SELECT DISTINCT (SUM(?v) AS ?r) {?k <urn:p> ?x . ?x <urn:n> ?v} GROUP BY ?k",
        [([("<urn:A>", P, f"<urn:{i}>"), (f"<urn:{i}>", N, double("0.1"))], 1) for i in range(6)]
        + [([("<urn:B>", P, "<urn:b>"), ("<urn:b>", N, double("0.6000000000000001"))], 1)],
        {},
        {},
    ),
    "averages that digits tell apart": (
        "SELECT DISTINCT (AVG(?v) AS ?r) {?k <urn:p> ?x . ?x <urn:n> ?v} GROUP BY ?k",
        [
            (
                [
                    (f"<urn:{k}>", P, f"<urn:{k}{i}>"),
                    (f"<urn:{k}{i}>", N, literal(text, XSD + "decimal")),
                ],
                1,
            )
            for k, texts in (
                ("A", ("1000000000000000000", "0.0", "0.000000000000000001")),
                ("B", ("1000000000000000000", "0.1", "0.0")),
            )
            for i, text in enumerate(texts)
        ],
        {},
        {},
    ),
    "a variable twice": ("SELECT ?x ?x {?x <urn:p> ?y}", [(("<urn:a>", P, "<urn:b>"), 1)], {}, {}),
    "a gap's elements at one instant": (
        "SELECT ?x {?x <urn:p> ?y}",
        [
            ((f"<urn:{name}>", P, "<urn:x>"), at)
            for name, at in (("b", 2), ("c", 2), ("d", 3), ("e", 4), ("f", 9))
        ],
        {"size": 2, "slide": 3},
        {"report": "content-change"},
    ),
    "an arrival at s0 less the one instant by which it is early": (
        "SELECT ?x {?x <urn:p> ?y}",
        [((f"<urn:{name}>", P, "<urn:x>"), at) for name, at in (("b", -1), ("c", 0), ("d", 0))],
        {"size": 5, "slide": 1},
        {"report": "content-change", "partial": "reported", "close_rule": "passed"},
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name):
    body, items, window, fields = FOUND[name]
    agree(asked(body, **window), {"s": stream(items)}, chosen(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"close_rule": "passed"},
        {"close_rule": "passed", "expiry_seen": "eager"},
        {"close_rule": "passed", "tick": "time"},
    ],
)
@pytest.mark.parametrize("slide", [1, 3, 4, 7])
@pytest.mark.parametrize("t0", [-2, -1, 0])
def test_elements_of_one_instant(t0, slide, fields):
    """Arrivals at one instant see one another one by one, and the bound on reports names the one
    that exceeds it (ENG-3).
    """
    items = [
        ((f"<urn:{i}>", P, "<urn:x>"), at)
        for i, at in enumerate((-1, -1, -1, 0, 0, 0, 0, 1, 3, 3, 3, 9, 9))
    ]
    semantics = chosen(
        **{"t0": t0, "report": "content-change", "tick": "tuple", "partial": "reported", **fields}
    )
    planned = engine.plan(
        asked("SELECT ?x {?x <urn:p> ?y}", size=4, slide=slide), {"s": stream(items)}, semantics
    )
    for bound in (0, 1, 5, 6, 7, 11, engine.MAX_REPORTS):
        evaluations, error = collect(incremental.schedule_evaluations, planned, bound)
        expected, expected_error = collect(engine.evaluations, planned, bound)
        assert evaluations == expected, f"with a bound of {bound}"
        assert str(error) == str(expected_error), f"with a bound of {bound}"


def test_the_oracle_passes_what_the_definition_gives():
    """BIND beside FILTER, under Dstream: the base of the difference was wrong, and what was told
    last was not.
    """
    body, items, _, _ = FOUND["BIND beside FILTER"]
    query, streams = asked(body), {"s": stream(items)}
    fields = {"r2s": "Dstream", "base": "previous", "empty": "suppress"}
    recorded = [report.relation for report in engine.evaluate(query, streams, chosen(**fields))]
    assert judge.judge(
        query,
        streams,
        profile("csparql").but(report="window-close", tick="time", horizon=100, **fields),
        recorded,
    ).passed
