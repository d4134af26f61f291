"""`make cards`: the card of the reference engine under each profile, asked through its harness and
without a claim, has that profile's values.
"""

from __future__ import annotations

import sys
from statistics import median

import pytest

from conformance.card.asking import first_semantics
from conformance.card.maker import make_card_of
from conformance.card.prediction import Predictions
from conformance.harness.engine_file import ADAPTERS, Engine
from refengine.core.profiles import PROFILES
from refengine.core.semantics import FIELDS, show

ANSWERED: list[int] = []
PREDICTIONS = Predictions()
KNOWN = {
    "coral8": "it takes only elements with batches, which two questions have",
    "kafka-streams": "an answer by a period is a contradiction, though all values are right",
}


@pytest.fixture(autouse=True)
def mark_known(request: pytest.FixtureRequest) -> None:
    name = getattr(request.node, "callspec", None) and request.node.callspec.params["name"]
    if name in KNOWN:
        request.applymarker(pytest.mark.xfail(reason=KNOWN[name], strict=True))


@pytest.mark.parametrize("name", PROFILES)
def test_the_card_gives_the_profile_back(name: str) -> None:
    semantics = first_semantics(PROFILES[name])
    words = [f"{field}={show(getattr(semantics, field))}" for field in FIELDS]
    command = (sys.executable, str(ADAPTERS / "reference.py"), "csparql", *words)
    card = make_card_of(Engine(name, name, command, "table"), PREDICTIONS)
    ANSWERED.append(card.answered)
    wrong = [
        (one.name, show(getattr(semantics, one.name)), one.values)
        for one in card.fields
        # the instant of a report is no part of its content
        if show(getattr(semantics, one.name)) not in one.values and one.name != "instant"
    ]
    assert (wrong, card.contradictions) == ([], ())


def test_half_of_the_cards_need_few_questions() -> None:
    assert median(ANSWERED) < 25
