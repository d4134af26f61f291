"""The card of an engine, and what `refengine window` prints of it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance import schemas
from conformance.card.asking import running
from conformance.card.card import Card, Standing, characterise
from conformance.card.inquiry import Fate, Reply
from conformance.card.maker import make_card_of
from conformance.card.prediction import Predictions, Silence
from conformance.card.questions import GROUPS
from conformance.card.settings import with_settings
from conformance.card.text import window_card_lines
from conformance.harness import engine_file
from conformance.harness.engine_file import Engine
from conformance.verdict.engine_report import EngineReport
from refengine.core import engine
from refengine.core.profiles import profile
from refengine.core.semantics import show
from refengine.model.errors import RefengineError

TINY = f"""
title = "Tiny 1"
command = [
  "{sys.executable}", "{{adapters}}/window_function.py",
  "{Path(__file__).parents[1] / "harnesses" / "tiny_windows.py"}",
]
dialect = "window"
suites = ["windows"]

[semantics]
profile = "csparql"
t0 = "epoch"
offset = 0
closure = "CLOSURE"
allowed_lateness = 9223372036854775807

[[settings]]
words = "closed=left"
fields = {{ closure = "[)" }}
sentence = "which side is closed"

[[settings]]
words = "closed=right"
arguments = ["closed=right"]
fields = {{ closure = "(]" }}
sentence = "which side is closed"

[[settings]]
words = "closed=wrong"
arguments = ["closed=wrong"]
fields = {{ closure = "(]" }}
sentence = "also which side is closed"

[capabilities]
kinds = ["time"]
"""


@pytest.fixture(scope="module")
def predictions() -> Predictions:
    return Predictions()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory, predictions) -> Card:
    path = tmp_path_factory.mktemp("tiny") / "tiny.toml"
    path.write_text(TINY.replace("CLOSURE", "[)"))
    tested = engine_file.engine(str(path))
    with running(tested) as asker:
        card = characterise(asker, predictions)
    return with_settings(card, tested, predictions)


class Truth:
    """An engine in this process, which has a semantics and claims none."""

    is_of_windows_alone = True

    def __init__(self, semantics) -> None:
        self.engine = Engine("truth", "Truth", (), "window", suites=("windows",))
        self.semantics = semantics

    def prepare(self, asked):
        return asked.question

    def ask(self, asked):
        question = asked.question
        try:
            reports = list(engine.evaluate(question.query, question.streams, self.semantics))
        except Exception as error:
            return Reply(asked, question, Fate.REFUSED, reason=str(error))
        answered = (EngineReport(one.relation, window=one.window, key=one.key) for one in reports)
        return Reply(asked, question, Fate.ANSWERED, tuple(answered))


@pytest.mark.parametrize(
    "semantics",
    [
        profile("csparql").but(t0="first-element", closure="[]", allowed_lateness=0),
        profile("rsp-js").but(horizon="flush", empty="emit"),
    ],
    ids=["closed at both ends", "rsp-js"],
)
def test_a_card_has_the_values_of_the_engine(semantics, predictions):
    truth = semantics.semantics()
    card = characterise(Truth(truth), predictions)
    assert not card.contradictions
    # the instant of a report is no part of its content: a card has it as its stamp
    wrong = [
        (one.name, one.values)
        for one in card.fields
        if show(getattr(truth, one.name)) not in one.values and one.name != "instant"
    ]
    assert not wrong
    assert card.answered < 25


def test_a_shown_value_is_shown_by_an_answered_question(tiny):
    shown = [one for one in tiny.fields if one.shown_by is not None]
    assert {"closure", "t0", "report", "allowed_lateness"} <= {one.name for one in shown}
    assert all(tiny.asked[one.shown_by].fate is Fate.ANSWERED for one in shown)


def test_what_the_file_claims_and_the_answers_show_is_both(tiny):
    assert tiny.field("closure").standing is Standing.BOTH
    assert tiny.field("closure").values == ("[)",)
    assert tiny.divergence is None


def test_what_was_refused_is_left_open(tiny):
    gap = tiny.field("exact_gap")
    assert (gap.standing, set(gap.values)) == (Standing.DOCUMENTED, {"joins", "parts"})
    assert gap.why == "it refuses sessions"


def test_labels_are_found_from_the_instants(tiny):
    assert tiny.stamp == "opening"


def test_a_setting_is_observed(tiny):
    _, right, _ = tiny.settings
    assert right.observed == {"closure": "(]"}
    assert right.divergence is None


def test_a_setting_that_does_otherwise_than_documented_is_shown_by_the_smallest_stream(tiny):
    """WIN-2: an element on a border is in the window that opens there, and by the documentation in
    the one that closes there.
    """
    *_, wrong = tiny.settings
    assert wrong.divergence is not None
    (element,) = wrong.divergence.asked.elements
    at = element["at"]
    assert at % 10 == 0
    assert wrong.divergence.asked.reports[0]["window"] == [at, at + 10]
    assert wrong.divergence.due == ({"elements": [0], "window": [at - 10, at]},)


def test_a_user_reads_what_each_setting_does(tiny):
    text = "\n".join(window_card_lines(tiny))
    borders = text.partition("BORDERS")[2].partition("\n\n")[0]
    left, right, wrong = borders.split("  closed=")[1:]
    assert "An element at the lower border is in the window, one at the upper is not." in left
    assert "[0, 10): 0" in left
    assert "(-10, 0]: 0" in right
    assert "“also which side is closed”" in wrong


def test_a_claim_that_does_not_hold_is_contradicted(tmp_path, predictions):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.replace("CLOSURE", "(]"))
    with running(engine_file.engine(str(path))) as asker:
        card = characterise(asker, predictions)
    closure = card.field("closure")
    assert (closure.values, closure.documented) == (("[)",), "(]")
    assert closure.standing is Standing.CONTRADICTING
    assert card.divergence is not None
    assert "Not what its file claims: closure = (]" in "\n".join(window_card_lines(card))


@pytest.mark.parametrize("program", ["false", "yes", "/no/such/program"])
def test_an_engine_that_never_answers_has_no_card(tmp_path, program):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.replace("CLOSURE", "(]"))
    silent = replace(engine_file.engine(str(path)), command=(program,))
    with pytest.raises(RefengineError, match="tiny: engine: it never answered: "):
        make_card_of(silent)


def test_a_card_is_the_same_after_json(tiny):
    assert not schemas.problems("card", tiny.as_json())
    assert Card.of_json(tiny.as_json()) == tiny


def test_no_semantics_refuses_elements_in_order():
    """So a refusal says something only of a stream with a late element."""
    semantics = profile("csparql").but(t0=0).semantics()
    predictions = Predictions()
    for group in GROUPS.values():
        for asked in group:
            if not asked.is_out_of_order:
                assert predictions.of(asked.question, semantics) is not Silence.REFUSES


@pytest.mark.parametrize("group", GROUPS)
def test_no_question_is_there_twice(group):
    assert len(set(GROUPS[group])) == len(GROUPS[group])
