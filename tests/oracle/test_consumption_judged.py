"""R2R-22 under the oracle: a policy explains its own outputs, another policy is named where it
would, and no order is searched of elements that are consumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest

from refengine import evaluate, from_table, profile, stream
from refengine.core.profile import OneOf, Profile
from refengine.core.question import Question
from refengine.core.values import Consumption
from refengine.model.elements import Relation, Stream
from refengine.model.errors import Unsupported
from refengine.oracle import explanations
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.judge import judge
from refengine.oracle.trial import RecordingToJudge

QUERY = from_table(
    {
        "body": "SELECT ?x ?y { ?x <urn:a> ?u . ?y <urn:b> ?v }",
        "windows": [{"stream": "s", "kind": "range", "size": 10}],
    }
)
# Unrestricted joins b1 with a1 and a2, recent with a2, chronological with a1.
ELEMENTS = (("a1", "a", 0), ("a2", "a", 5), ("b1", "b", 8), ("b2", "b", 9))


def etalis(policy: object, **fields: Any) -> Profile:
    return profile("etalis").but(closure="[]", consumption=policy, **fields)


def source(elements: Sequence[tuple[str, str, int]] = ELEMENTS, ordered: bool = True) -> Stream:
    triples = [((f"<urn:{s}>", f"<urn:{p}>", "<urn:k>"), at) for s, p, at in elements]
    return Stream(stream(triples).elements, ordered)


def outputs(policy: Consumption, streamed: Stream | None = None, **fields: Any) -> list[Relation]:
    semantics = etalis(policy, **fields).semantics()
    found = evaluate(QUERY, {"s": streamed or source()}, semantics)
    return [report.relation for report in found]


@pytest.mark.parametrize("policy", Consumption)
@pytest.mark.parametrize("t0", ["first-reach", "unknown"])
def test_a_policy_explains_its_own_outputs_alone(policy: Consumption, t0: str):
    """One table of answers serves all three: no answer of one is taken for another's."""
    answers = SharedAnswers()
    for _ in range(2):
        for other in Consumption:
            found = judge(
                QUERY, {"s": source()}, etalis(policy, t0=t0), outputs(other), answers=answers
            )
            assert found.passed == (policy is other)


def test_an_open_policy_is_tried():
    for policy in Consumption:
        found = judge(QUERY, {"s": source()}, etalis(OneOf.every("consumption")), outputs(policy))
        assert found.passed and found.setting.semantics.consumption is policy


@pytest.mark.parametrize("policy", Consumption)
def test_another_policy_is_named_where_it_would_explain(policy: Consumption):
    for other in set(Consumption) - {policy}:
        recorded = RecordingToJudge.of(Question(QUERY, {"s": source()}), outputs(other))
        found = explanations.find_explanations(recorded, etalis(policy))
        assert explanations.FieldChange("consumption", other) in found.changes


@pytest.mark.parametrize("tick", ["tuple", "time"])
def test_no_order_is_searched(tick: str):
    """ORA-4, ORA-7: under the time tick, too, since what is joined depends on the order."""
    tied = (("a1", "a", 0), ("a2", "a", 0), ("b1", "b", 1))
    policy = Consumption.CHRONOLOGICAL
    every = {
        tuple(
            tuple(sorted(relation.rows)) for relation in outputs(policy, source(order), tick=tick)
        )
        for order in permutations(tied)
        if [at for *_, at in order] == [0, 0, 1]
    }
    assert len(every) == 2
    recording = outputs(policy, source(tied), tick=tick)
    unordered = {"s": source(tied, ordered=False)}
    with pytest.raises(Unsupported, match=r"ORA-7: .* with consumption=chronological"):
        judge(QUERY, unordered, etalis(policy, tick=tick), recording)
    plain = etalis(Consumption.UNRESTRICTED, tick=tick)
    whole = outputs(Consumption.UNRESTRICTED, source(tied), tick=tick)
    assert judge(QUERY, unordered, plain, whole).passed


def test_elements_that_never_tie_need_no_order():
    recording = outputs(Consumption.RECENT)
    assert judge(QUERY, {"s": source(ordered=False)}, etalis("recent"), recording).passed
