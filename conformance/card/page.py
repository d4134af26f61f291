"""The page of windows: libraries beside one another, from cards that were kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.card.card import Asked, Card, CardSetting
from conformance.card.side_by_side import side_by_side
from conformance.card.text import report_lines, stream_text
from refengine.model.messages import plain


def tables(cards: Sequence[Card]) -> Iterator[str]:
    """Yield the tables of the page: the fields of all libraries, and the settings of each."""
    yield from side_by_side(cards)
    for card in cards:
        if card.settings:
            yield ""
            yield f"**{plain(card.title)}**"
            yield ""
            yield "| setting | says | does | shown by |"
            yield "|---|---|---|---|"
            yield from (_setting_row(one, card) for one in card.settings)


def _setting_row(setting: CardSetting, card: Card) -> str:
    """Return the row of a setting."""
    documented, observed = map(_values_text, (setting.documented, setting.observed))
    does = "the same" if observed == documented else observed
    shown = ""
    if setting.divergence is not None:
        does = "otherwise"
        shown = _answer_text(setting.divergence.asked, setting, card)
    elif (asked := _telling(setting, card)) is not None:
        shown = _answer_text(asked, setting, card)
    words = plain(setting.words).replace("|", "\\|")
    return f"| `{words}` | {documented} | {does} | {shown} |"


def _values_text(values: Mapping[str, str]) -> str:
    """Write fields and their values."""
    return " ".join(f"`{name}={value}`" for name, value in values.items())


def _telling(setting: CardSetting, card: Card) -> Asked | None:
    """Return what a setting answered to the smallest stream to which the library without it answers
    otherwise; None if there is none.
    """
    telling = [
        one for number, one in setting.asked.items() if one.reports != card.asked[number].reports
    ]
    return min(telling, key=lambda one: len(one.elements), default=None)


def _answer_text(asked: Asked, setting: CardSetting, card: Card) -> str:
    """Write a stream and the answer to it, in a cell."""
    closure = setting.observed.get("closure", card.field("closure").value)
    stamped = "stamp" in setting.documented
    answers = (line.strip() for line in report_lines(asked, closure, stamped))
    return f"{stream_text(asked)}: {'; '.join(answers)}"
