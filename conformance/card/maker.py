"""Making the cards of engines: each is asked in a process of its own."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.card.asking import running
from conformance.card.card import Card, characterise
from conformance.card.inquiry import Fate
from conformance.card.prediction import Predictions
from conformance.card.settings import with_settings
from conformance.harness.engine_file import Engine
from refengine.model.errors import RefengineError


def make_card_of(engine: Engine, predictions: Predictions | None = None) -> Card:
    """Ask an engine, and return its card. Raises RefengineError for one that breaks down at each
    question.
    """
    with running(engine) as asker:
        card = characterise(asker, predictions or Predictions())
    broken = [one.reason for one in card.asked if one.fate is Fate.BROKE]
    if broken and all(one.fate is not Fate.ANSWERED for one in card.asked):
        raise RefengineError(f"it never answered: {broken[0]}", rule="engine", place=engine.name)
    return card


def make_cards(engines: Iterable[Engine]) -> list[Card]:
    """Ask engines, one after the other, and return their cards."""
    predictions = Predictions()
    return [make_card_of(engine, predictions) for engine in engines]


def card_with_settings(engine: Engine) -> Card:
    """Ask an engine, and then with each of its settings, and return its card."""
    predictions = Predictions()
    return with_settings(make_card_of(engine, predictions), engine, predictions)
