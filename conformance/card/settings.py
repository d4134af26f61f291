"""The settings of a library on its card: each is asked about the streams of the card that show the
fields which its documentation says that it sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.card.asking import inquiry_into, running
from conformance.card.card import (
    Asked,
    Card,
    CardSetting,
    asked_of,
    find_divergence,
    find_stamp,
    likeliest,
)
from conformance.card.inquiry import Fate, Reply
from conformance.card.prediction import Predictions
from conformance.card.questions import CardQuestion, Moment
from conformance.harness.engine_file import Engine, Setting
from refengine.core.semantics import show


def with_settings(card: Card, engine: Engine, predictions: Predictions) -> Card:
    """Return the card of an engine with its settings, each of which is asked."""
    return replace(
        card, settings=tuple(_observe(card, engine, one, predictions) for one in engine.settings)
    )


def _observe(card: Card, engine: Engine, setting: Setting, predictions: Predictions) -> CardSetting:
    """Return a setting as a card has it. Those that the card is of need not be asked again."""
    documented = {name: show(value) for name, value in setting.fields.items()}
    if setting.stamp:
        documented["stamp"] = setting.stamp
    observed = {one.name: one.value for one in card.fields} | {"stamp": card.stamp}
    asked: dict[int, Asked] = {}
    divergence = None
    if setting.arguments:
        with running(engine.with_setting(setting)) as asker:
            inquiry = inquiry_into(asker, predictions)
            numbers = list(_numbers_of(card))
            inquiry.run_near(question_of(card.asked[number]) for number in numbers)
            semantics = likeliest(inquiry)
            observed = {name: show(getattr(semantics, name)) for name in setting.fields}
            observed["stamp"] = find_stamp(inquiry.replies)
            divergence = find_divergence(inquiry, inquiry.start)
            asked = dict(_answers(card, numbers, inquiry.every_reply))
    return CardSetting(
        setting.words,
        setting.sentence,
        documented,
        {name: observed.get(name, "") for name in documented},
        not setting.arguments,
        asked,
        divergence,
    )


def _numbers_of(card: Card) -> Iterator[int]:
    """Yield the numbers of the questions about elements in order that were answered."""
    for number, one in enumerate(card.asked):
        times = [element["at"] for element in one.elements]
        if one.fate is Fate.ANSWERED and times == sorted(times):
            yield number


def _answers(card: Card, numbers: list[int], replies: list[Reply]) -> Iterator[tuple[int, Asked]]:
    """Yield what a setting answered to questions of the card, with their numbers."""
    by_question = {one.asked: one for one in replies}
    for number in numbers:
        if (reply := by_question.get(question_of(card.asked[number]))) is not None:
            yield number, asked_of(reply)


def question_of(asked: Asked) -> CardQuestion:
    """Return the question that was asked."""
    moments = [
        Moment(one["at"], one.get("key", ""), one.get("number"), one.get("batch"))
        for one in asked.elements
    ]
    return CardQuestion.of(asked.window, moments)
