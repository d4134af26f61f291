"""No verdict where an engine may have a t0 beyond 64 bits (ORA-2, condition 11)."""

from __future__ import annotations

from collections import Counter

import pytest

from refengine import (
    UNKNOWN,
    Between,
    InvalidSemantics,
    OneOf,
    Relation,
    Stream,
    Unsupported,
    from_table,
    profile,
    row,
    stream,
)
from refengine.oracle.judge import Judgement, judge

LEAST = -(2**63)
GREATEST = 2**63 - 1
OPEN = profile("csparql").but(t0=UNKNOWN, horizon="flush")
NO_VERDICT = "ORA-2: t0 may be -?[0-9]+, which is beyond 64 bits and cannot be tried"


def elements(**times: int) -> Stream:
    """An element with a subject of its own at each of the times."""
    return stream([((f"<urn:{name}>", "<urn:p>", "<urn:y>"), at) for name, at in times.items()])


def relation(names: str) -> Relation:
    """The subjects with these names."""
    return Relation(("x",), Counter(row({"x": f"<urn:{name}>"}) for name in names))


def verdict(source: Stream, own=OPEN, *answers: str, lag: int = 0, windows=()) -> Judgement:
    """Judge answers, each given by its subjects, over windows of 10 every 10 instants."""
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    if lag:
        window["lag"] = lag
    query = from_table({"windows": [window], "body": "SELECT ?x { ?x <urn:p> ?y }"})
    recorded = [relation(names) for names in answers]
    return judge(query, {"s": source}, own, recorded, missing=0, windows=windows)


# t0 = LEAST gives [LEAST, LEAST + 10) with a and b, then c. It is the only value of the range that
# is within 64 bits. t0 = LEAST - 5 gives [LEAST - 5, LEAST + 5) with a, then b and c.
THREE = elements(a=LEAST, b=LEAST + 5, c=LEAST + 10)


def test_a_value_within_64_bits_explains_the_answers():
    assert verdict(THREE, OPEN, "ab", "c").trial.semantics.t0 == LEAST


def test_a_value_beyond_64_bits_may_explain_the_answers():
    with pytest.raises(Unsupported, match=NO_VERDICT):
        verdict(THREE, OPEN, "a", "bc")


def test_a_value_beyond_64_bits_may_have_the_stated_windows():
    stated = [(LEAST - 5, LEAST + 5), (LEAST + 5, LEAST + 15)]
    with pytest.raises(Unsupported, match=NO_VERDICT):
        verdict(THREE, OPEN, "a", "bc", windows=stated)
    # The relations are right by t0 = LEAST, which does not give the stated windows. Both LEAST - 15
    # and LEAST - 5 give them, and the former is tried first.
    with pytest.raises(Unsupported, match=str(LEAST - 15)):
        verdict(THREE, OPEN, "ab", "c", windows=stated)


def test_a_value_beyond_64_bits_in_a_class_with_one_within_changes_nothing():
    """Of an element at LEAST + 18 the range begins at LEAST - 1, and the values from there to
    LEAST + 8 give the same reports.
    """
    assert not verdict(elements(a=LEAST + 18), OPEN, "b").passed


def test_a_class_with_one_value_within_may_have_the_stated_windows_beyond():
    """Of an element at LEAST + 15, all values from LEAST - 2 to LEAST hold it in the second of two
    windows that close until the horizon, LEAST + 27. Those that are stated begin at LEAST - 1.
    """
    own = OPEN.but(report="window-close")
    stated = [(LEAST + start, LEAST + start + 10) for start in (-1, 9)]
    with pytest.raises(Unsupported, match=str(LEAST - 1)):
        verdict(elements(a=LEAST + 15), own, "", "a", windows=stated)
    within = [(opens + 1, closes + 1) for opens, closes in stated]
    assert verdict(elements(a=LEAST + 15), own, "", "a", windows=within).passed


def test_a_listed_value_beyond_64_bits_is_refused():
    with pytest.raises(InvalidSemantics, match="SEM-1: t0 must be within 64 bits"):
        OPEN.but(t0=OneOf((LEAST - 1, LEAST)))


def test_a_range_within_64_bits_has_a_verdict():
    assert not verdict(elements(a=LEAST + 19), OPEN, "b").passed
    assert not verdict(THREE, OPEN.but(t0=Between(LEAST, LEAST + 3)), "a", "bc").passed


def test_a_policy_may_give_a_value_beyond_64_bits():
    """first-reach gives LEAST - 10."""
    with pytest.raises(Unsupported, match=str(LEAST - 10)):
        verdict(THREE, OPEN.but(t0="first-reach"), "ab", "c")
    either = OPEN.but(t0=OneOf(("first-reach", LEAST)))
    assert verdict(THREE, either, "ab", "c").passed
    with pytest.raises(Unsupported, match=str(LEAST - 10)):
        verdict(THREE, either, "a", "bc")


def test_a_lag_may_move_every_value_beyond_64_bits():
    """An element at GREATEST is seen from GREATEST + 30 on, so the range begins after 2^63."""
    with pytest.raises(Unsupported, match=NO_VERDICT):
        verdict(elements(a=GREATEST), OPEN, "a", lag=30)
