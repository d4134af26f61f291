"""Semantics as text, and what the open fields of a profile may be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from refengine import Between, InvalidSemantics, OneOf, UnknownField, profile
from refengine.core.semantics import described_values


def test_a_semantics_reads_as_its_fields():
    """SEM-1: in the order of SPEC.md's table, each as it is written in a profile."""
    semantics = profile("csparql").but(t0=-3, period=5, anchor=0, report="periodic").semantics()
    assert str(semantics) == (
        "t0=-3 offset=none closure=[) slide=stated partial=suppressed report=periodic "
        "close_rule=reached period=5 anchor=0 change_baseline=last-report change_scope=elements "
        "expiry_seen=replayed missed_instants=all tick=tuple trigger=any collection=bag "
        "consumption=unrestricted "
        "r2s=Rstream base=none empty=emit horizon=flush instant=close allowed_lateness=reject"
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
            "missed_instants must be one of all, latest, got 'al'; did you mean 'all'",
        ),
        ("period", "x", "period must be an integer or none, got 'x'"),
        ("t0", 2**63, "t0 must be within 64 bits"),
        ("horizon", "never", "horizon must be an integer or one of "),
        ("nothing", 1, "unknown key 'nothing'"),
    ],
)
def test_a_wrong_value_is_refused_with_those_that_are_right(field, value, reason):
    with pytest.raises(InvalidSemantics) as caught:
        profile("csparql").but(**{field: value})
    assert str(caught.value).startswith("SEM-1: ") and reason in str(caught.value)


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
