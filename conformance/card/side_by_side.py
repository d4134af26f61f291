"""Cards of several engines side by side, a row of CSRBench's Table 1, and what an engine's file
would say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from conformance.card.card import Card, CardField, Standing
from conformance.card.inquiry import Fate
from conformance.card.text import stream_text
from refengine.core.profiles import PROFILES
from refengine.core.semantics import FIELDS, parse_field, show
from refengine.core.values import R2S, Condition
from refengine.model.messages import plain

MARKS = {
    Standing.BOTH: "",
    Standing.OBSERVED: " (observed)",
    Standing.DOCUMENTED: " (documented)",
    Standing.CONTRADICTING: " (against its documentation)",
    Standing.UNDETERMINED: " (not seen)",
}
KIND_KEYS = "keys"


def lines_of(cards: Sequence[Card], form: str = "text") -> Iterator[str]:
    """Yield the lines of cards as text, as JSON or as what engines' files would say (toml)."""
    if form == "json":
        tables = [card.as_json() for card in cards]
        yield json.dumps(tables[0] if len(tables) == 1 else tables, indent=1, ensure_ascii=False)
    elif form == "toml":
        for card in cards:
            yield from engine_block(card)
    elif len(cards) == 1:
        yield from card_lines(cards[0])
    else:
        yield from side_by_side(cards)


def card_lines(card: Card) -> Iterator[str]:
    """Yield the lines of a card for the author of an engine: each field with its value, how it is
    known, and the stream that shows it.
    """
    yield plain(f"{card.title}: asked {len(card.asked)}, answered {card.answered}")
    for one in card.fields:
        if one.standing is Standing.UNDETERMINED and len(one.values) == 1:
            continue
        shown = ""
        if one.shown_by is not None:
            shown = f"  [{stream_text(card.asked[one.shown_by])}]"
        yield f"  {one.name} = {value_text(one)}{shown}"
    for number in card.contradictions:
        yield f"  no semantics that was thought of explains: {stream_text(card.asked[number])}"
    yield f"  CSRBench, Table 1: {' | '.join(row_of_table_1(card))}"


def value_text(field: CardField) -> str:
    """Write the values of a field, how they are known, and why there are several."""
    if field.standing is Standing.CONTRADICTING:
        return f"{field.value}, and its documentation says {field.documented}"
    others = [one for one in field.values if one != field.value]
    text = field.value + MARKS[field.standing]
    if others:
        text += f"; or {', '.join(others)}: {field.why}"
    return text


def row_of_table_1(card: Card) -> list[str]:
    """Return the row of CSRBench's Table 1 that the card gives: the conditions of its report, its
    operator, whether it sends empty relations, and its tick.
    """
    report = parse_field("report", card.field("report").value)
    names = {
        Condition.CHANGE: "content change",
        Condition.CLOSE: "window close",
        Condition.NON_EMPTY: "non-empty content",
        Condition.PERIODIC: "periodic",
        Condition.ARRIVAL: "arrival",
    }
    conditions = " & ".join(text for one, text in names.items() if one in report)
    sends_empty = "no" if card.field("empty").value == "suppress" else "yes"
    return [
        f"report {conditions}",
        f"operator {R2S(card.field('r2s').value)}",
        f"empty relations {sends_empty}",
        f"tick {card.field('tick').value}",
    ]


def engine_block(card: Card) -> Iterator[str]:
    """Yield the lines of an engine's file that say what the card shows: the nearest profile, the
    fields that differ from it, and the kinds of windows that were answered.
    """
    values = {one.name: one.value for one in card.fields if one.name != "instant"}
    name, differing = min(
        ((each, _differing(each, values)) for each in PROFILES), key=lambda pair: len(pair[1])
    )
    yield "[semantics]"
    yield f'profile = "{name}"'
    for field, value in differing.items():
        written = value if value.lstrip("-").isdigit() else json.dumps(value)
        yield f"{field} = {written}"
    kinds = dict.fromkeys(
        str(one.window["kind"]) for one in card.asked if one.fate is Fate.ANSWERED
    )
    if any("by" in one.window for one in card.asked if one.fate is Fate.ANSWERED):
        kinds[KIND_KEYS] = None
    yield ""
    yield "[capabilities]"
    yield f"kinds = {json.dumps(list(kinds))}"


def _differing(profile: str, values: dict[str, str]) -> dict[str, str]:
    """Return the fields in which values differ from those of a profile."""
    fields = PROFILES[profile].fields
    return {
        name: value
        for name, value in values.items()
        if name not in fields or show(fields[name]) != value
    }


def side_by_side(cards: Sequence[Card]) -> Iterator[str]:
    """Yield a table in Markdown: a row for each field that some stream showed, and a column for
    each engine.
    """
    yield f"| | {' | '.join(plain(card.engine) for card in cards)} |"
    yield f"|---{'|---' * len(cards)}|"
    for name in FIELDS:
        fields = [card.field(name) for card in cards]
        is_said = any({*one.values} != {"none"} for one in fields)
        if is_said and any(one.shown_by is not None for one in fields):
            cells = " | ".join(_cell(one, card) for one, card in zip(fields, cards, strict=True))
            yield f"| `{name}` | {cells} |"
    if all(card.field("r2s").shown_by is None for card in cards):
        return
    rows = [row_of_table_1(card) for card in cards]
    yield f"| Table 1 of CSRBench | {' | '.join(', '.join(row) for row in rows)} |"


def _cell(field: CardField, card: Card) -> str:
    """Write a field in a cell of a table: its value, how it is known, and the stream."""
    if field.standing is Standing.UNDETERMINED:
        return "not seen"
    text = f"`{field.value}`{MARKS[field.standing]}"
    if field.standing is Standing.CONTRADICTING:
        text += f", `{field.documented}`"
    if field.shown_by is not None:
        text += f"<br>{stream_text(card.asked[field.shown_by])}"
    return text
